# SPDX-License-Identifier: BSD-2-Clause
"""Processes outside a run that get the memory of its ended tasks: nothing of theirs is charged to the run."""

import contextlib
import subprocess

from lib.account import AccountCase, net_counters
from lib.bpfmon import truth

ALONE = True
SAMPLED = True

STRANGERS = 2
STRANGER_MIB = 200
CHILDREN = 1000
# a fault on a page of a file maps those around it, too, as far as they are in memory (fault_around_bytes)
FAULT_BYTES = 64 << 10
# no drain meanwhile: it would close the entries that were left behind
OPTIONS = ["--inject-free-misses", "700", "-i", "20", "--net"]


class Strangers(AccountCase):
    """The last events of most tasks of the run are missed, so that its entries are left behind."""

    @contextlib.contextmanager
    def strangers(self):
        """They take less time to touch their memory than bpfmon does to begin."""
        all_of_them = [subprocess.Popen([truth("stranger"), str(STRANGER_MIB)]) for _ in range(STRANGERS)]
        try:
            yield
        finally:
            for stranger in all_of_them:
                stranger.kill()
                stranger.wait()

    def run_beside(self, *options):
        with self.strangers():
            run = self.run_bpfmon([truth("vforker"), str(CHILDREN), truth("execnames")], [*OPTIONS, *options])
        self.assertEqual(run.code, 0, run.stderr)
        self.assertEqual(len(run.processes), CHILDREN + 1)
        return run

    def assert_no_more_than_its_own(self, run):
        """What a process held it has had from its parent, or one of its faults has mapped."""
        peaks = {p["pid"]: p["rss_peak_bytes"] for p in run.processes}
        for p in run.processes:
            most = peaks.get(p["ppid"], 0) + (p["minflt"] + p["majflt"]) * FAULT_BYTES
            self.assertLessEqual(p["rss_peak_bytes"], most, p)

    def assert_no_bytes(self, run):
        for line in [*run.samples, *run.processes, run.summary]:
            moved = {key: line[key] for key in net_counters() if line.get(key)}
            self.assertEqual(moved, {}, line)

    def test_no_process_has_the_peak_of_a_stranger(self):
        run = self.run_beside()
        self.assert_no_more_than_its_own(run)
        self.assertLess(run.summary["rss_peak_bytes"], STRANGER_MIB << 20)

    def test_no_process_has_moved_the_bytes_of_a_stranger(self):
        self.assert_no_bytes(self.run_beside())

    def test_the_exact_peak_has_what_grows_after_tasks_that_were_left_behind(self):
        """Their processes left the memory that they shared with their parent at their ends, and leave it once."""
        command = [truth("sharers"), "20", "40", "20", "vm", "grow"]
        run = self.run_bpfmon(command, ["--inject-free-misses", "900", "-i", "20", "--exact-peak"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assertGreaterEqual(run.summary["rss_peak_exact_bytes"], 0.98 * run.witness["touched_kb"] * 1024)

    def test_the_exact_peak_has_no_memory_of_a_stranger(self):
        run = self.run_beside("--exact-peak")
        self.assert_no_more_than_its_own(run)
        self.assertLess(run.summary["rss_peak_exact_bytes"], STRANGER_MIB << 20)
