# SPDX-License-Identifier: BSD-2-Clause
"""What a tree holds is found however its threads end, which processes share it, and however slowly it goes."""

import os
import pathlib
import sys
import time

from lib.account import AccountCase
from lib.bpfmon import cgroup, truth

SAMPLED = True
MIB = 1 << 20
PAGE = os.sysconf("SC_PAGESIZE")
HUGE_PAGES = pathlib.Path("/proc/sys/vm/nr_hugepages")

POOLS = """
import concurrent.futures, time
held = bytearray(200 << 20)
for i in range(0, len(held), 4096): held[i] = 1
print(time.clock_gettime(time.CLOCK_REALTIME), flush=True)
for batch in range(30):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: time.sleep(0.01), range(4)))
print(time.clock_gettime(time.CLOCK_REALTIME), flush=True)
"""


def mark_error(processes):
    """What the kernel's marks of so many processes may be too low by: see docs/RUN.md."""
    cpus = os.cpu_count()
    return processes * 3 * cpus * max(32, 2 * cpus) * PAGE


class Samples(AccountCase):
    def assert_held(self, run, since, until, size, key="rss_bytes"):
        """All samples in that time have it, give or take the drain of the last."""
        until -= run.summary["self"]["drain_seconds_max"]
        inside = [s for s in run.samples if since + 0.01 < s["time"] < until - 0.01]
        self.assertGreater(len(inside), 3, run.samples)
        for sample in inside:
            self.assertGreaterEqual(sample[key], size, sample)

    def check_churn(self, how, key="rss_bytes", options=()):
        run = self.run_bpfmon([truth("churn"), "200", "1", *how], ["-i", "0.02", *options])
        self.skip_if_lacking(run)
        self.assert_complete(run)
        since, until = (self.realtime(run.witness[k]) for k in ("held_seconds", "freed_seconds"))
        self.assert_held(run, since, until, 200 * MIB, key)
        return run

    def realtime(self, boottime):
        return boottime + time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(time.CLOCK_BOOTTIME)

    def test_threads_that_begin_and_end_all_the_time(self):
        run = self.check_churn([])
        self.assertGreater(run.summary["threads_created"], 100)
        self.assertGreaterEqual(run.summary["rss_peak_upper_bytes"], 200 * MIB - mark_error(1))

    def test_a_process_whose_first_thread_has_ended(self):
        self.check_churn(["exit"])

    def test_proportional_memory_of_a_process_whose_first_thread_has_ended(self):
        """Within its budget: at a busy moment what was read before has to do."""
        run = self.check_churn(["exit"], options=["--pss=50"])
        alive = [s for s in run.samples if s["rss_bytes"] >= 200 * MIB and s["pss_unread"] == 0]
        self.assertTrue(alive, run.samples)
        self.assertGreater(min(s["pss_bytes"] for s in alive), 0)
        self.assertGreaterEqual(max(s["pss_bytes"] for s in alive), 200 * MIB)

    def test_a_pool_of_threads_for_each_batch(self):
        run = self.run_bpfmon([sys.executable, "-c", POOLS], ["-i", "0.02"])
        self.assert_complete(run)
        since, until = (float(line) for line in run.stdout.split())
        self.assert_held(run, since, until, 200 * MIB)

    def test_huge_pages_are_a_column_of_their_own(self):
        before = HUGE_PAGES.read_text()
        self.addCleanup(HUGE_PAGES.write_text, before)
        HUGE_PAGES.write_text(str(int(before) + 110))
        if int(HUGE_PAGES.read_text()) < int(before) + 100:
            self.skipTest("the machine has no 200 MiB of contiguous memory free for huge pages (vm.nr_hugepages)")
        run = self.check_churn(["huge"], "hugetlb_bytes")
        self.assertEqual(run.summary["hugetlb_peak_bytes"], 200 * MIB)
        self.assertLess(run.summary["rss_peak_bytes"], 50 * MIB)


class Bounds(AccountCase):
    def test_processes_that_share_an_address_space_have_had_others_before(self):
        run = self.run_bpfmon([truth("execsharers"), "4", "60", "500"], ["-i", "0.3"])
        self.assert_complete(run)
        self.assertGreaterEqual(run.summary["rss_peak_upper_bytes"], 240 * MIB - mark_error(9))

    def test_memory_that_is_still_given_back_counts(self):
        """The kernel's own peak of the cgroup is the witness; it has the kernel's memory in it."""
        with cgroup("memory") as group:
            run = self.run_bpfmon([truth("incgroup"), str(group), truth("slowexit"), "300"], ["-i", "5"])
            self.assert_complete(run)
            peak = self.peak_of(group)
        self.assertGreaterEqual(peak, 600 * MIB)
        self.assertGreaterEqual(run.summary["rss_peak_upper_bytes"], peak - 16 * MIB)

    def peak_of(self, group):
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            if (pathlib.Path(group) / name).exists():
                return int((pathlib.Path(group) / name).read_text())
        return self.fail(f"{group} does not tell its peak")

    def test_the_exact_peak_is_within_the_bound(self):
        run = self.run_bpfmon([truth("slowexit"), "300"], ["-i", "5", "--exact-peak"])
        self.assert_complete(run)
        upper = run.summary["rss_peak_upper_bytes"] + mark_error(4)
        self.assertGreaterEqual(upper, run.summary["rss_peak_exact_bytes"])


class Exactness(AccountCase):
    def grown(self, *how):
        run = self.run_bpfmon([truth("grow"), *how, truth("execnames")], ["-i", "5"])
        self.assert_complete(run)
        return self.by_pid(run, run.witness["child"])

    def test_what_a_child_touches_itself_before_its_exec_is_its_own(self):
        child = self.grown("0", "300")
        self.assertGreaterEqual(child["rss_peak_bytes"], 300 * MIB - mark_error(1))
        self.assertLess(child["rss_peak_bytes"], 310 * MIB)

    def test_what_a_child_inherits_besides_is_not(self):
        child = self.grown("100", "300")
        self.assertGreaterEqual(child["rss_peak_bytes"], 300 * MIB - mark_error(1))
        self.assertLess(child["rss_peak_bytes"], 310 * MIB)

    def test_a_peak_is_not_exact_where_what_was_inherited_may_have_gone_before(self):
        child = self.grown("100", "300", "shrink")
        self.assertIs(child["rss_peak_exact"], False)
        self.assertGreaterEqual(child["rss_peak_bytes"], 200 * MIB - mark_error(1))

    def test_a_mark_that_was_reset(self):
        run = self.run_bpfmon([truth("resetmark"), "200", "300"], ["-i", "0.05"])
        self.assert_complete(run)
        self.assert_not_exact(run, self.only(run.processes))

    def test_a_mark_that_was_reset_of_what_was_inherited(self):
        """Between two samples: that it was so much is known from its birth."""
        run = self.run_bpfmon([truth("resetmark"), "200", "1", "child"], ["-i", "10"])
        self.assert_complete(run)
        self.assert_not_exact(run, self.by_pid(run, run.witness["child"]))

    def assert_not_exact(self, run, process):
        self.assertIs(process["rss_peak_exact"], False)
        self.assertGreaterEqual(process["rss_peak_bytes"], 200 * MIB)
        self.assertNotIn("rss_peak_upper_bytes", run.summary)
        self.assertIs(run.summary["marks_reset"], True)
        self.assertIn("no upper bound: a process reset its high-water mark", run.stderr)
