# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon inside a time namespace: the kernel's programs know no namespaces, its own clocks do."""

import os
import pathlib
import subprocess
import sys
import time

from lib.account import AccountCase
from lib.attach import AttachCase
from lib.bpfmon import BPFMON, cgroup, read_lines, truth
from lib.live import wait_for

SAMPLED = True
MIB = 1 << 20
AHEAD = (100000, 50000)  # seconds that are added to the boot time, and to the monotonic clock
HOLDER = '''import subprocess, sys, time
held = b"x" * (64 << 20)
input()
subprocess.run([sys.argv[1], "64", "100"])
time.sleep(60)'''
SLACK = 0.05  # the wall clock may be slewed meanwhile


def behind():
    """Clocks that have begun within the last second."""
    return tuple(-int(time.clock_gettime(clock)) for clock in (time.CLOCK_BOOTTIME, time.CLOCK_MONOTONIC))


def inside(offsets):
    boot, mono = offsets
    return ["unshare", "--time", f"--boottime={boot}", f"--monotonic={mono}", "--fork", "--kill-child"]


class TimeNamespace(AccountCase):
    def setUp(self):
        super().setUp()
        if not os.path.exists("/proc/self/ns/time"):
            self.skipTest("the kernel has no time namespaces (CONFIG_TIME_NS)")
        self.out = self.dir / "run.jsonl"

    def records(self, kind="process"):
        return [line for line in read_lines(self.out) if line["kind"] == kind]

    def run_inside(self, offsets, *argv):
        self.began = time.time()
        done = subprocess.run([*inside(offsets), BPFMON, "-q", "-o", str(self.out), *argv], stderr=subprocess.PIPE,
                              check=False, timeout=60)
        self.ended = time.time()
        self.assertNotIn(b"bpfmon", done.stderr)
        (self.summary,) = self.records("summary")
        self.assertTrue(self.summary["complete"], self.summary)
        return done.returncode

    def assert_between(self, low, at, high):
        self.assertGreaterEqual(at, low - SLACK)
        self.assertLessEqual(at, high + SLACK)

    def assert_times(self, processes):
        for process in processes:
            self.assert_between(self.began, process["start_time"], self.ended)
            self.assert_between(process["start_time"] - SLACK, process["end_time"], self.ended)


class Run(TimeNamespace):
    def check_peak(self, offsets):
        """Four children whose 64 MiB each are there at no sample."""
        self.run_inside(offsets, "--exact-peak", "--", truth("hoarders"), "together", "4", "64", "20")
        self.assertGreaterEqual(self.summary["rss_peak_upper_bytes"], 4 * 64 * MIB)
        self.assertLess(self.summary["rss_peak_upper_bytes"], 4 * 80 * MIB)
        self.assertGreater(self.summary["rss_peak_exact_elapsed_seconds"], 0)
        self.assertLessEqual(self.summary["rss_peak_exact_elapsed_seconds"], self.summary["wall_seconds"])
        self.assertEqual(len(self.records()), 5)
        self.assert_times(self.records())

    def test_ahead(self):
        self.check_peak(AHEAD)

    def test_behind(self):
        self.check_peak(behind())

    def test_marks_come_from_processes_that_lived_then(self):
        script = 'for i in 1 2 3; do "$0" mark "m$i" || exit 1; done'
        self.assertEqual(self.run_inside(AHEAD, "--marks", "--", "sh", "-c", script, BPFMON), 0)
        self.assertEqual(self.summary["pushed"]["marks"], 3)
        self.assertEqual(self.summary["pushed"]["refused"], 0)

    def test_out_of_memory(self):
        with cgroup("memory") as group:
            (group / "memory.limit_in_bytes").write_text(str(50 * MIB))
            self.run_inside(behind(), "--", "sh", "-c", '"$@"; exit 3', "sh", truth("incgroup"), str(group),
                            truth("touch"), "200", "10")
        event = self.only(self.records("event"))
        self.assertEqual(event["event"], "oom_kill")
        self.assert_between(self.began, event["time"], self.ended)

    def test_a_command_in_a_namespace_of_its_own(self):
        """Its start times are those of our clocks, as in our /proc."""
        self.began = time.time()
        run = self.run_bpfmon([*inside(AHEAD), truth("seqchildren"), "3", "10"])
        self.ended = time.time()
        self.assert_complete(run)
        self.assertEqual(len(run.processes), 5)
        self.assert_times(run.processes)


class Attach(TimeNamespace, AttachCase):
    def wait_for_meta(self, watcher):
        wait_for(lambda: watcher.poll() or (self.out.exists() and self.records("meta")), "the first line")
        self.assertIsNone(watcher.poll())

    def check_attachment(self, offsets):
        """To a process that holds memory and is older than the second clocks; its child lives between samples."""
        before = time.time()
        holder = self.start(sys.executable, "-c", HOLDER, truth("touch"), stdin=subprocess.PIPE)
        time.sleep(1.2)
        watcher = self.start(*inside(offsets()), BPFMON, "attach", "-q", "-o", str(self.out), "-p", str(holder.pid),
                             "--duration", "1.5")
        self.wait_for_meta(watcher)
        attached = time.time()
        holder.stdin.write(b"\n")
        holder.stdin.flush()
        self.assertEqual(watcher.wait(60), 0)
        ended = time.time()
        (summary,) = self.records("summary")
        self.assertTrue(summary["complete"], summary)
        child, root = sorted(self.records(), key=lambda p: p["start_time"], reverse=True)
        self.assert_between(before, root["start_time"], attached - 1)
        self.assert_between(before + 1.2, root["joined_time"], attached)
        self.assert_between(attached, child["start_time"], ended)
        self.assert_between(attached + 0.1, child["end_time"], ended)
        self.assertGreaterEqual(summary["rss_peak_upper_bytes"], 128 * MIB)

    def test_ahead(self):
        self.check_attachment(lambda: AHEAD)

    def test_behind(self):
        self.check_attachment(behind)

    def test_the_end_of_a_cgroup(self):
        began = time.time()
        with cgroup() as group:
            keeper = self.start(truth("incgroup"), str(group), "sleep", "60")
            wait_for(lambda: (pathlib.Path(group) / "cgroup.procs").read_text(), "the keeper")
            watcher = self.start(*inside(AHEAD), BPFMON, "attach", "-q", "-o", str(self.out), "--cgroup", str(group),
                                 "--duration", "2")
            self.wait_for_meta(watcher)
            keeper.kill()
            keeper.wait()
        self.assertEqual(watcher.wait(60), 0)
        (event,) = [e for e in self.records("event") if e["event"] == "cgroup_removed"]
        self.assert_between(began, event["time"], time.time())
