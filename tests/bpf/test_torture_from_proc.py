# SPDX-License-Identifier: BSD-2-Clause
"""Random trees measured from /proc: what bpfmon says of them is never impossible, and each check of that can fail."""

import copy
import unittest

import test_torture
from lib.bpfmon import Case
from lib.torture_from_proc import CHECKS, violations
from lib.torture_log import Log
from lib.torture_said import Said
from test_torture_checks import KINDS, LOG, MIB, OFFSET_NS, ms

ALONE = True

USED = {11: "100000 100", 12: "100000 100", 13: "100000 100", 14: "100000 100"}
WAITED = {
    "cpu_seconds": 0.4, "user_seconds": 0.3, "system_seconds": 0.1, "minflt": 400, "majflt": 0, "nvcsw": 4, "nivcsw": 4,
}  # fmt: skip


class Torture(Case):
    def test_numbers_from_proc_about_random_trees_are_within_their_bounds(self):
        test_torture.search(self, "procfs", test_torture.SECONDS / 2)


def with_usage(line):
    words = line.split()
    return f"{line} {USED[int(words[3])]}" if words[2] == "reaped" else line


def sample(elapsed, rss, cpu):
    return {"kind": "sample", "elapsed_seconds": elapsed, "rss_bytes": rss * MIB, "cpu_seconds": cpu,
            "minflt": int(cpu * 1000)}  # fmt: skip


def record(pid, born, cpu):
    return {"kind": "process", "pid": pid, "start_time": (OFFSET_NS + born) / 1e9, "comm": "torture", "uid": 65534,
            **dict.fromkeys(WAITED, 0), "cpu_seconds": cpu, "user_seconds": cpu, "minflt": int(cpu * 1000)}  # fmt: skip


def right_run():
    return [
        {"kind": "meta", "start_time": (OFFSET_NS + ms(0)) / 1e9, "interval_seconds": 0.1, "system": {"cpus": 2},
         "source": "procfs"},
        sample(0.1001, 100, 0.1),
        sample(0.2001, 101, 0.4),
        record(11, ms(-1), 0.09),
        record(12, ms(111), 0.1),
        {"kind": "summary", **WAITED, "complete": True, "losses": {}, "late_ticks": 0, "processes_total": 2, "exit_code": 7,
         "rss_peak_bytes": 101 * MIB, "bounds": {"processes_total": "at_least"},
         "self": {"drain_seconds_max": 0.0001}},
    ]  # fmt: skip


class Checks(unittest.TestCase):
    def setUp(self):
        self.log = Log("".join(f"{ns} {with_usage(rest)}\n" for ns, rest in LOG))
        self.lines = copy.deepcopy(right_run())
        self.code = 7

    def found(self):
        said = Said(self.lines, OFFSET_NS, KINDS)
        said.setup, said.code, said.wait4 = {"code": 7, "uid": 65534, "others": 2}, self.code, WAITED
        return list(violations(said, self.log))

    def assert_finds(self, check):
        self.assertIn(check, {name for name, _text in self.found()})

    def line(self, kind, number=0):
        return [line for line in self.lines if line["kind"] == kind][number]

    def test_a_run_that_is_right_has_no_violation(self):
        self.assertEqual(self.found(), [])

    def test_another_exit_status(self):
        self.code = 0
        self.assert_finds("end")

    def test_a_number_of_processes_that_is_said_to_be_exact_and_is_not(self):
        del self.line("summary")["bounds"]["processes_total"]
        self.assert_finds("births")

    def test_a_loss(self):
        self.line("summary")["complete"] = False
        self.assert_finds("end")

    def test_more_cpu_than_was_used(self):
        self.line("summary")["cpu_seconds"] = 0.42
        self.assert_finds("totals")

    def test_less_cpu_than_was_used(self):
        self.line("summary")["cpu_seconds"] = 0.399
        self.assert_finds("totals")

    def test_less_is_right_for_a_lower_bound(self):
        for line in (self.line("summary"), self.line("sample", 1)):
            line["cpu_seconds"] = 0.399
        self.line("summary")["bounds"]["cpu_seconds"] = "at_least"
        self.assertEqual(self.found(), [])

    def test_more_faults_than_there_were(self):
        self.line("summary")["minflt"] = 1000
        self.assert_finds("totals")

    def test_a_process_with_two_records(self):
        self.lines.insert(-1, copy.deepcopy(self.line("process", 1)))
        self.assert_finds("records")

    def test_a_record_of_no_process(self):
        self.line("process", 1)["pid"] = 99
        self.assert_finds("records")

    def test_another_user(self):
        self.line("process", 1)["uid"] = 0
        self.assert_finds("records")

    def test_another_start(self):
        self.line("process", 1)["start_time"] += 0.03
        self.assert_finds("records")

    def test_a_record_with_more_than_its_process_used(self):
        self.line("process", 1)["cpu_seconds"] = 0.101
        self.assert_finds("claims")

    def test_records_with_more_than_the_total(self):
        self.line("process", 0)["system_seconds"] = 0.11
        self.assert_finds("claims")

    def test_a_counter_that_falls(self):
        self.line("sample", 0)["minflt"] = 500
        self.assert_finds("monotony")

    def test_a_last_sample_that_is_not_the_summary(self):
        self.line("sample", 1)["cpu_seconds"] = 0.3
        self.assert_finds("monotony")

    def test_a_peak_below_a_sample(self):
        self.line("summary")["rss_peak_bytes"] = 100 * MIB
        self.assert_finds("peak")

    def test_more_memory_than_all_can_have_had(self):
        self.line("sample", 1)["rss_bytes"] = self.line("summary")["rss_peak_bytes"] = 900 * MIB
        self.assert_finds("peak")

    def test_each_check_is_tried_here(self):
        text = open(__file__, encoding="utf-8").read()
        for name in CHECKS:
            self.assertIn(f'assert_finds("{name}")', text)
