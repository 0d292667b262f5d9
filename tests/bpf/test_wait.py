# SPDX-License-Identifier: BSD-2-Clause
"""The run is over with the command, or with its whole tree; what is alive then is told as alive."""

import pathlib
import subprocess
import sys
import time

from lib.account import AccountCase, ns
from lib.bpfmon import BPFMON, read_lines, truth
from lib.live import children_of, descriptor_links, status_of, wait_for

# Leaves a daemon that has burnt 200 ms and lives until its stdin is closed.
LEAVER = """
import os, sys, time
ready, said = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while time.process_time() < 0.2: pass
        os.write(said, b"x")
        sys.stdin.buffer.read()
        os._exit(9)
    os._exit(0)
os.wait()
os.read(ready, 1)
os._exit(4)
"""


class Wait(AccountCase):
    def run_leaver(self, *options):
        """Starts bpfmon on LEAVER; gives it and the path of its output."""
        out = self.dir / "left.jsonl"
        bpfmon = subprocess.Popen(
            [BPFMON, "-o", str(out), *options, "--", sys.executable, "-c", LEAVER],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(bpfmon.stderr.close)
        self.addCleanup(bpfmon.stdin.close)
        return bpfmon, out

    def test_for_the_tree_of_a_daemon(self):
        for options in (["--wait=tree"], ["--wait", "tree", "-i", "0.01"]):
            with self.subTest(options=options):
                run = self.run_bpfmon([truth("daemon"), "300"], options)
                self.assertEqual(run.code, 0)
                self.assert_counts(run, 3, 0)
                self.assertEqual(run.summary["outlived"], 0)
                self.assertGreaterEqual(run.summary["wall_seconds"], 0.3)
                after = self.after_witness(run.witness, run.processes)
                self.assert_cpu(run.summary["cpu_seconds"], run.witness["cpu_seconds"], after)
                self.assertTrue(all(p["end_time"] and p["exit_code"] == 0 for p in run.processes))
                self.assert_sums(run)

    def test_the_end_of_a_tree_is_an_event_and_nothing_else_wakes_the_collector(self):
        """The last process ends long before the next tick, and is long asleep before that."""
        sleeper = subprocess.Popen(["sleep", "600"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        bpfmon = subprocess.Popen([BPFMON, "attach", "-q", "-i", "600", "--pid", str(sleeper.pid)])
        self.addCleanup(bpfmon.wait)
        self.addCleanup(bpfmon.kill)
        collector = wait_for(lambda: self.collector_of(bpfmon.pid), "the collector")
        wait_for(lambda: self.sleeps(collector), "its first sample")
        before = self.switches(collector)
        time.sleep(2)
        self.assertLessEqual(self.switches(collector) - before, 1)
        sleeper.kill()
        self.assertEqual(bpfmon.wait(60), 0)

    @staticmethod
    def collector_of(launcher):
        """While it is one: it has given up root, and waits."""
        for pid in children_of(launcher):
            if any("bpf-prog" in link for link in descriptor_links(pid).values()) and "timerfd" in str(descriptor_links(pid)):
                return pid
        return None

    @staticmethod
    def switches(pid):
        return int(status_of(pid)["voluntary_ctxt_switches"])

    def sleeps(self, pid):
        before = self.switches(pid)
        time.sleep(0.2)
        return self.switches(pid) == before

    def test_for_the_tree_the_status_is_the_commands(self):
        bpfmon, out = self.run_leaver("--wait=tree")
        bpfmon.stdin.close()
        self.assertEqual(bpfmon.wait(60), 4)
        (summary,) = [line for line in read_lines(out) if line["kind"] == "summary"]
        self.assertEqual((summary["exit_code"], summary["outlived"]), (4, 0))
        codes = sorted(p["exit_code"] for p in read_lines(out) if p["kind"] == "process")
        self.assertEqual(codes, [0, 4, 9])

    def test_for_the_command_a_daemon_outlives(self):
        bpfmon, out = self.run_leaver()
        self.assertEqual(bpfmon.wait(60), 4)  # the daemon has its stdin still
        lines = read_lines(out)
        summary, last = lines[-1], [line for line in lines if line["kind"] == "sample"][-1]
        processes = [line for line in lines if line["kind"] == "process"]
        self.assertEqual((summary["exit_code"], summary["outlived"]), (4, 1))
        self.assertIs(summary["complete"], True)
        self.assertEqual((last["processes"], last["exits"]), (1, 2))
        self.assertEqual(len(processes), 3)
        daemon = self.only(p for p in processes if p["end_time"] is None)
        self.assertIn(daemon["state"], "RSD")
        self.assertIsNone(daemon["exit_code"])
        self.assertIsNone(daemon["signal"])
        self.assertGreaterEqual(daemon["cpu_seconds"], 0.2)
        self.assertGreater(daemon["rss_peak_bytes"], 1 << 20)
        self.assertTrue(pathlib.Path(f"/proc/{daemon['pid']}").exists())
        for key in ("cpu_seconds", "user_seconds", "minflt", "syscr", "rchar_bytes"):
            self.assertEqual(sum(ns(p[key]) for p in processes), ns(summary[key]), key)

    def test_for_the_command_without_a_daemon(self):
        run = self.run_bpfmon([truth("daemon"), "-w", "50"])
        self.assert_counts(run, 3, 0)
        self.assertEqual(run.summary["outlived"], 0)
