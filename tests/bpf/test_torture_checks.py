# SPDX-License-Identifier: BSD-2-Clause
"""The checks of torture runs find what is wrong: each with a run that was right, until one number was changed."""

import copy
import unittest

from lib.torture_checks import CHECKS, violations
from lib.torture_log import Log
from lib.torture_said import Said

MIB = 1 << 20
OFFSET_NS = 1_700_000_000_000_000_000  # of the epoch, to the log's clock
KINDS = {
    "cpu_seconds": ("cpu", "counter"), "minflt": ("mem", "counter"), "rss_bytes": ("mem", "gauge"),
    "net_tx_bytes": ("net", "counter"),
}  # fmt: skip


def ms(n):
    return 1_000_000_000 + n * 1_000_000


# 1 holds 100 MiB, and forks 2, which touches 50 more; it executes a small image, and ends.
# 1 forks 3, which ends at once, but all of its 100 MiB are still there when 4 has touched 60.
LOG = [
    (ms(1), "1 1.1 image 11"),
    (ms(2), f"1 1.1 change 1 a {100 * MIB} {100 * MIB}"),
    (ms(20), "1 1.1 changed 1"),
    (ms(110), "1 1.1 fork 2"),
    (ms(111), "1 1.1 forked 2 12"),
    (ms(112), "2 2.0 born 12"),
    (ms(113), f"2 2.0 change 2 a {50 * MIB} {50 * MIB}"),
    (ms(130), "2 2.0 changed 2"),
    (ms(150), "2 2.0 exec"),
    (ms(151), "2 2.1 image 12"),
    (ms(250), "2 2.1 exit"),
    (ms(251), "1 1.1 reaped 12"),
    (ms(255), "1 1.1 fork 3"),
    (ms(256), "1 1.1 forked 3 13"),
    (ms(257), "3 3.0 born 13"),
    (ms(258), "3 3.0 exit"),
    (ms(260), "1 1.1 fork 4"),
    (ms(261), "1 1.1 forked 4 14"),
    (ms(262), "4 4.0 born 14"),
    (ms(263), f"4 4.0 change 2 a {60 * MIB} {60 * MIB}"),
    (ms(275), "4 4.0 changed 2"),
    (ms(281), f"1 1.1 left 3 {ms(280)} {100 * MIB}"),
    (ms(282), "1 1.1 reaped 13"),
    (ms(283), "4 4.0 exit"),
    (ms(285), "1 1.1 reaped 14"),
    (ms(290), "1 1.1 exit"),
]


def sample(elapsed, rss, processes, forks, exits, cpu):
    return {
        "kind": "sample", "elapsed_seconds": elapsed, "rss_bytes": rss * MIB, "rss_anon_bytes": rss // 100 * 100 * MIB,
        "rss_file_bytes": 0, "rss_shmem_bytes": 0, "processes": processes, "forks": forks, "exits": exits,
        "cpu_seconds": cpu, "minflt": int(cpu * 1000),
    }  # fmt: skip


def record(pid, born, peak, execs, cpu):
    return {
        "kind": "process", "pid": pid, "start_time": (OFFSET_NS + born) / 1e9, "rss_peak_bytes": peak * MIB,
        "rss_peak_exact": True, "execs": execs, "threads_total": 1, "cpu_seconds": cpu, "minflt": int(cpu * 1000),
    }  # fmt: skip


def right_run():
    """What a right bpfmon says of it, with --exact-peak and --process-samples."""
    return [
        {"kind": "meta", "start_time": (OFFSET_NS + ms(0)) / 1e9, "interval_seconds": 0.1, "system": {"cpus": 2}},
        sample(0.1001, 100, 1, 0, 0, 0.1),
        sample(0.2001, 101, 2, 1, 0, 0.2),
        sample(0.2901, 0, 0, 3, 4, 0.4),
        {"kind": "process_sample", "elapsed_seconds": 0.1001, "pid": 11, "rss_bytes": 100 * MIB},
        record(11, ms(-1), 100, 1, 0.1),
        record(12, ms(111), 50, 1, 0.1),
        record(13, ms(256), 100, 0, 0.1),
        record(14, ms(261), 160, 0, 0.1),
        {
            "kind": "summary", "complete": True, "losses": {}, "processes_total": 4, "late_ticks": 0,
            "cpu_seconds": 0.4, "minflt": 400, "rss_peak_bytes": 160 * MIB, "rss_peak_upper_bytes": 362 * MIB,
            "rss_peak_exact_bytes": 361 * MIB, "rss_peak_exact_elapsed_seconds": 0.2755, "rss_peak_holders": [{"pid": 14, "rss_bytes": 161 * MIB}],
            "rss_peak_others": {"rss_bytes": 200 * MIB}, "self": {"drain_seconds_max": 0.0001},
        },
    ]  # fmt: skip


class Checks(unittest.TestCase):
    def setUp(self):
        text = "".join(f"{ns} {rest}\n" for ns, rest in LOG)
        self.log = Log(text)
        self.lines = copy.deepcopy(right_run())

    def found(self):
        said = Said(self.lines, OFFSET_NS, KINDS)
        return list(violations(said, self.log))

    def assert_finds(self, *checks):
        names = {name for name, _text in self.found()}
        self.assertTrue(names.issuperset(checks), names)

    def line(self, kind, number=0):
        return [line for line in self.lines if line["kind"] == kind][number]

    def test_a_run_that_is_right_has_no_violation(self):
        self.assertEqual(self.found(), [])

    def test_a_sample_that_is_too_low(self):
        self.line("sample", 0)["rss_bytes"] = 90 * MIB
        self.assert_finds("samples")

    def test_a_sample_that_is_too_high(self):
        self.line("sample", 1)["rss_anon_bytes"] = 110 * MIB
        self.assert_finds("samples")

    def test_a_sample_whose_memory_is_of_the_wrong_kind(self):
        self.line("sample", 1)["rss_shmem_bytes"] = 10 * MIB
        self.assert_finds("samples")

    def test_memory_of_one_process_that_it_did_not_have(self):
        self.line("process_sample")["rss_bytes"] = 105 * MIB
        self.assert_finds("process_samples")

    def test_an_upper_bound_that_forgets_what_shares(self):
        self.line("summary")["rss_peak_upper_bytes"] = 200 * MIB
        self.assert_finds("upper_bound", "exact_peak")

    def test_an_upper_bound_that_forgets_teardown(self):
        self.line("summary")["rss_peak_upper_bytes"] = 262 * MIB
        self.assert_finds("upper_bound")

    def test_an_upper_bound_that_is_absent_for_no_reason(self):
        del self.line("summary")["rss_peak_upper_bytes"]
        self.assert_finds("upper_bound")

    def test_an_upper_bound_is_absent_if_memory_was_freed_as_more_was_touched(self):
        del self.line("summary")["rss_peak_upper_bytes"]
        for begun, is_right in (124, True), (131, False):  # it touches until 130
            freed = f"{ms(begun)} 2 2.0 change 3 a {-40 * MIB} {-40 * MIB}\n{ms(begun + 2)} 2 2.0 changed 3\n"
            self.log = Log("".join(f"{ns} {rest}\n" for ns, rest in LOG) + freed)
            self.assertEqual("upper_bound" not in {name for name, _text in self.found()}, is_right, begun)

    def test_a_lower_bound_that_is_too_high(self):
        self.line("summary")["rss_peak_bytes"] = 380 * MIB
        self.assert_finds("lower_bound", "exact_peak")

    def test_a_lower_bound_below_a_sample(self):
        self.line("summary")["rss_peak_bytes"] = 99 * MIB
        self.assert_finds("lower_bound")

    def test_an_exact_peak_that_is_too_low(self):
        self.line("summary")["rss_peak_exact_bytes"] = 262 * MIB
        self.assert_finds("exact_peak")

    def test_holders_that_do_not_add_up(self):
        self.line("summary")["rss_peak_others"]["rss_bytes"] += 4096
        self.assert_finds("exact_peak")

    def test_a_holder_that_never_had_so_much(self):
        self.line("summary")["rss_peak_holders"] = [{"pid": 11, "rss_bytes": 161 * MIB}]
        self.assert_finds("exact_peak")

    def test_a_peak_that_is_called_exact_and_is_of_the_last_image_only(self):
        self.line("process", 1)["rss_peak_bytes"] = 1 * MIB
        self.assert_finds("record_peaks")

    def test_a_peak_that_is_called_exact_and_has_what_was_inherited(self):
        self.line("process", 1)["rss_peak_bytes"] = 150 * MIB
        self.assert_finds("record_peaks")

    def test_a_peak_that_is_not_called_exact_may_be_anything(self):
        self.line("process", 1).update(rss_peak_bytes=1 * MIB, rss_peak_exact=False)
        self.assertEqual(self.found(), [])

    def test_a_peak_that_is_a_strangers(self):
        self.line("process", 2).update(rss_peak_bytes=301 * MIB, rss_peak_exact=False)
        self.assert_finds("explained_peaks")
        self.line("summary").update(complete=False, losses={"stale_tasks": 1})
        self.assert_finds("explained_peaks")

    def test_bytes_without_a_call(self):
        self.line("process", 2)["net_tx_bytes"] = 65536
        self.assert_finds("moved_bytes")

    def test_a_process_without_a_record(self):
        self.lines.remove(self.line("process", 2))
        self.assert_finds("records", "sums")

    def test_a_process_with_two_records(self):
        self.lines.insert(-1, copy.deepcopy(self.line("process", 2)))
        self.assert_finds("records", "sums")

    def test_an_exec_that_was_not_counted(self):
        self.line("process", 1)["execs"] = 0
        self.assert_finds("records")

    def test_a_counter_that_falls(self):
        self.line("sample", 1)["cpu_seconds"] = 0.05
        self.assert_finds("monotony")

    def test_totals_that_are_not_the_sums_of_records(self):
        self.line("process", 0)["minflt"] += 1
        self.assert_finds("sums")

    def test_incomplete_without_a_loss(self):
        self.line("summary")["complete"] = False
        self.assert_finds("completeness")

    def test_huge_pages_that_no_process_had(self):
        self.line("summary")["hugetlb_peak_bytes"] = 2 * MIB
        self.assert_finds("hugetlb_peak")

    def test_each_check_is_tried_here(self):
        text = open(__file__, encoding="utf-8").read()
        for name in CHECKS:
            self.assertIn(f'"{name}"', text)
