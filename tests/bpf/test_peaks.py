# SPDX-License-Identifier: BSD-2-Clause
"""The tree's peak: what samples saw, what the marks allow, and exactly, event by event."""

import sys

from lib.account import AccountCase
from lib.bpfmon import truth

MIB = 1 << 20
EXACT = ["--exact-peak"]


class TreePeak(AccountCase):
    def check_enclosed(self, run, exact):
        summary = run.summary
        self.assert_complete(run)
        found = summary["rss_peak_exact_bytes"]
        self.assertGreaterEqual(found, 0.98 * exact)
        self.assertLessEqual(found, 1.02 * exact)
        # a sample, and the marks of the kernel, are as exact as a batch of its counters
        batch = 64 * 4096 * (summary["processes_total"] + 1)
        self.assertLessEqual(summary["rss_peak_bytes"], found + batch)
        self.assertGreaterEqual(summary["rss_peak_upper_bytes"], found - batch)
        self.assertLessEqual(summary["rss_peak_exact_elapsed_seconds"], summary["wall_seconds"])

    def check_held(self, run, sizes):
        """The processes that held it, and that this is all of it."""
        held = [h["rss_bytes"] for h in run.summary["rss_peak_holders"]]
        self.assertEqual(held, sorted(held, reverse=True))
        for found, size in zip(held, sizes):
            self.assertGreaterEqual(found, 0.98 * size)
            self.assertLessEqual(found, 1.02 * size)
        others = run.summary["rss_peak_others"]["rss_bytes"]
        self.assertEqual(sum(held) + others, run.summary["rss_peak_exact_bytes"])
        for holder in run.summary["rss_peak_holders"][: len(sizes)]:
            self.assertEqual(holder["exe"], truth("hoarders"))
            self.assertIn(holder["pid"], [p["pid"] for p in run.processes])

    def test_processes_that_hoard_together(self):
        run = self.run_bpfmon([truth("hoarders"), "together", "4", "200", "20"], EXACT)
        self.check_enclosed(run, 800 * MIB)
        self.check_held(run, [200 * MIB] * 4)

    def test_processes_that_hoard_in_turn(self):
        run = self.run_bpfmon([truth("hoarders"), "turn", "4", "200", "20"], EXACT)
        self.check_enclosed(run, 200 * MIB)
        self.check_held(run, [200 * MIB])

    def test_more_holders_than_are_named(self):
        run = self.run_bpfmon([truth("hoarders"), "together", "14", "20", "20"], EXACT)
        self.check_enclosed(run, 14 * 20 * MIB)
        self.check_held(run, [20 * MIB] * 10)
        self.assertGreaterEqual(run.summary["rss_peak_others"]["processes"], 4)

    def test_the_bounds_without_the_exact_mode(self):
        for how, truly in (("together", 800), ("turn", 200)):
            run = self.run_bpfmon([truth("hoarders"), how, "4", "200", "20"])
            self.assertNotIn("rss_peak_exact_bytes", run.summary)
            self.assertNotIn("rss_peak_holders", run.summary)
            self.assertLessEqual(run.summary["rss_peak_bytes"], 1.01 * truly * MIB)
            self.assertGreaterEqual(run.summary["rss_peak_upper_bytes"], 0.99 * truly * MIB)

    def test_processes_in_turn_are_not_added_up(self):
        """The upper bound takes only processes that lived at the same time."""
        run = self.run_bpfmon([truth("hoarders"), "turn", "8", "50", "5"], ["-i", "10"])
        self.assertLessEqual(run.summary["rss_peak_upper_bytes"], 60 * MIB)


class Images(AccountCase):
    def test_what_a_child_inherits_is_held_until_its_exec(self):
        """Fork copies 400 MB: two hold them, for the moment until one execs."""
        run = self.run_bpfmon([truth("bigparent"), "400", "1", truth("execnames")], EXACT)
        self.assertGreaterEqual(run.summary["rss_peak_exact_bytes"], 0.98 * 800 * MIB)
        self.assertLessEqual(run.summary["rss_peak_exact_bytes"], 1.02 * 800 * MIB)
        self.assertGreaterEqual(run.summary["rss_peak_upper_bytes"], 0.98 * 800 * MIB)
        child = self.only(p for p in run.processes if p["comm"] == "execnames")
        self.assertLess(child["rss_peak_bytes"], 4 * MIB)

    def test_memory_that_is_shared_until_exec_counts_once(self):
        """vfork: the child borrows its parent's address space."""
        script = 'import os; b = b"x" * (200 << 20); os.posix_spawn("/bin/true", ["true"], {}); os.wait()'
        run = self.run_bpfmon([sys.executable, "-c", script], EXACT)
        self.assertLessEqual(run.summary["rss_peak_exact_bytes"], 240 * MIB)
        self.assertGreaterEqual(run.summary["rss_peak_exact_bytes"], 200 * MIB)

    def test_an_image_that_execs_another_no_longer_holds_memory(self):
        script = (
            'import os, sys; b = b"x" * (150 << 20); os.execv(sys.executable, '
            '[sys.executable, "-c", "b = b\\"x\\" * (100 << 20)"])'
        )
        run = self.run_bpfmon([sys.executable, "-c", script], EXACT)
        self.assertLessEqual(run.summary["rss_peak_exact_bytes"], 190 * MIB)
        self.assertGreaterEqual(run.summary["rss_peak_exact_bytes"], 150 * MIB)

    def test_a_storm_leaves_nothing_behind(self):
        """Each of 600 ended processes gives back what it was found to hold: else the sum creeps up."""
        run = self.run_bpfmon([truth("forkstorm"), "6", "100"], EXACT)
        alive = run.summary["rss_peak_upper_bytes"]
        self.assertLessEqual(run.summary["rss_peak_exact_bytes"], alive + 8 * MIB)
        self.assertEqual(run.summary["losses"], {})
