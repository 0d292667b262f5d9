# SPDX-License-Identifier: BSD-2-Clause
"""Attaching to what runs: all of it from then on, nothing of what was before, and it does not notice."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from lib import sweep
from lib.attach import AttachCase, Usage
from lib.bpfmon import BPFMON, cgroup, truth
from lib.live import wait_for

SAMPLED = True
CPUS = os.cpu_count()


def own_cpu(pid):
    """Seconds of CPU that the kernel has for a process: with its ended threads, without its children."""
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    user, system = stat[stat.rindex(")") + 2 :].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Processes(AttachCase):
    def test_a_process_from_then_on(self):
        spin = self.start(truth("spin"), "1500")
        time.sleep(0.4)
        run = self.finish(self.attach([spin.pid]))
        self.assertEqual(run.code, 0)
        self.assertEqual(spin.wait(), 0)
        self.assert_complete(run)
        process = self.by_pid(run, spin.pid)
        self.assertEqual(process["exit_code"], 0)
        self.assertEqual(process["exe"], truth("spin"))
        self.assertEqual(process["args"], [truth("spin"), "1500"])
        before = run.meta["baseline"]["cpu_seconds"]
        self.assertGreater(before, 0.05)
        self.assert_cpu(before + process["cpu_seconds"], 1.5, above=0.02)
        self.assertEqual(run.summary["cpu_seconds"], process["cpu_seconds"])
        self.assertEqual(run.meta["attached"]["pids"], [spin.pid])
        self.assertTrue(run.summary["attached"])
        self.assertFalse(process["rss_peak_exact"])  # it may be of before

    def attach_to_all_of(self, program, number, what):
        """It stands still from when its children or threads are there until bpfmon has attached."""
        process = self.start(truth(program), number, "1")
        tasks = f"/proc/{process.pid}/task"
        if what == "children":
            wait_for(lambda: len(pathlib.Path(f"{tasks}/{process.pid}/children").read_text().split()) == int(number), what)
        else:
            wait_for(lambda: len(os.listdir(tasks)) == int(number) + 1, what)
        process.send_signal(signal.SIGSTOP)
        attached = self.attach([process.pid], ["-i", "0.05"])
        self.wait_until_attached(attached)
        process.send_signal(signal.SIGCONT)
        return self.finish(attached)

    def test_its_children_of_before_and_after_and_its_threads(self):
        """40 children are there, and are killed and reaped while we look."""
        run = self.attach_to_all_of("liveprocs", "40", "children")
        self.assert_complete(run)
        self.assertEqual(run.summary["processes_total"], 41)
        self.assertEqual(run.summary["forks"], 0)
        self.assertEqual(run.meta["attached"]["tasks"], 41)
        self.assertEqual(sum(p["signal"] == signal.SIGKILL for p in run.processes), 40)
        run = self.attach_to_all_of("livethreads", "60", "threads")
        self.assertEqual(run.samples[0]["threads"], 61)
        self.assertEqual(run.summary["threads_created"], 0)
        self.assertEqual(run.meta["attached"]["tasks"], 61)

    def test_what_ended_threads_had_used_is_in_the_baseline(self):
        script = f"{truth('spin')} 300; exec {truth('threads')} 10 200"
        shell = self.start("sh", "-c", script)
        wait_for(lambda: own_cpu(shell.pid) > 0.5, "the end of its child and of two threads")
        run = self.finish(self.attach([shell.pid]))
        used = run.meta["baseline"]["cpu_seconds"] + run.summary["cpu_seconds"]
        self.assert_cpu(used, 2.0, above=0.1)  # not what its reaped child had used

    def test_io_of_children_is_not_in_the_baseline(self):
        """The kernel has it in one sum with that of ended threads: with both, neither is told."""
        copy = "head -c 20000000 /dev/zero > /dev/null"
        shell = self.start("sh", "-c", f"{copy}; exec {truth('spin')} 700")
        script = f"import os, threading, sys; t = threading.Thread(target=len, args=('',)); t.start(); t.join(); " \
                 f"os.system('{copy}'); os.execv(sys.argv[1], sys.argv[1:])"
        python = self.start(sys.executable, "-c", script, truth("spin"), "700")
        time.sleep(0.4)
        baseline = self.finish(self.attach([shell.pid])).meta["baseline"]
        self.assertLess(baseline["rchar_bytes"], 1_000_000)
        baseline = self.finish(self.attach([python.pid])).meta["baseline"]
        self.assertNotIn("rchar_bytes", baseline)
        self.assertIn("minflt", baseline)

    def test_two_trees_at_once(self):
        spins = [self.start(truth("spin"), "600") for _ in range(2)]
        time.sleep(0.2)
        run = self.finish(self.attach([s.pid for s in spins]))
        self.assertEqual({p["pid"] for p in run.processes}, {s.pid for s in spins})
        self.assertEqual(run.summary["processes_total"], 2)

    def test_it_is_left_as_it_is(self):
        sleeper = self.start("sleep", "30")
        for how in (["--duration", "0.3"], signal.SIGINT, signal.SIGTERM):
            if isinstance(how, list):
                run = self.finish(self.attach([sleeper.pid], how))
            else:
                watcher = self.attach([sleeper.pid])
                self.wait_until_attached(watcher)
                watcher.send_signal(how)
                run = self.finish(watcher)
            self.assertEqual(run.code, 0, run.stderr)
            self.assert_complete(run)
            self.assertIsNone(sleeper.poll())
            process = self.only(run.processes)
            self.assertIsNone(process["end_time"])
            self.assertEqual(process["state"], "S")
        status = pathlib.Path(f"/proc/{sleeper.pid}/status").read_text()
        self.assertIn("TracerPid:\t0", status)


class Storms(AttachCase):
    def test_at_any_moment_of_a_storm(self):
        """What the tree has used since then is what its cgroup says; no process is met twice."""
        for _ in range(sweep.often(4, 100)):
            with cgroup("cpuacct") as group:
                self.check_storm(group)

    def check_storm(self, group):
        storm = self.start(truth("incgroup"), str(group), truth("forkstorm"), "4", "400")
        time.sleep(random.uniform(0.02, 0.15))
        usage = Usage(group)
        self.addCleanup(usage.is_over.set)
        run = self.finish(self.attach([storm.pid], ["-i", "0.05"]))
        total = usage.stop()
        self.assertEqual(run.code, 0, run.stderr)
        low, high = usage.between(run.meta["start_time"])
        slack = max(0.01 * total, 0.010) + CPUS * run.meta["attached"]["seeding_seconds"]
        used = run.summary["cpu_seconds"]
        self.assertLessEqual(used, total - low + slack)
        self.assertGreaterEqual(used, total - high - slack)
        ids = {(p["pid"], p["start_time"]) for p in run.processes}
        self.assertEqual(len(ids), len(run.processes))
        self.assertEqual(len(run.processes), run.summary["processes_total"])
        self.assertEqual(run.summary["exits"], run.summary["processes_total"])


class Refusals(AttachCase):
    def test_one_clear_sentence(self):
        gone = self.start("true")
        gone.wait()
        for options, word in (
            ([], "--pid"),
            (["-p", str(gone.pid)], f"no process {gone.pid}"),
            (["-p", "0"], "--pid"),
            (["-p", "abc"], "--pid"),
            (["-p", "1", "--duration", "0"], "--duration"),
            (["-p", "1", "--wait", "tree"], "--wait"),
            (["-p", "1", "extra"], "extra"),
        ):
            self.check_refused(options, word)

    def test_a_thread_names_its_process(self):
        threads = self.start(truth("livethreads"), "2", "5")
        time.sleep(0.3)
        tids = {int(t) for t in os.listdir(f"/proc/{threads.pid}/task")} - {threads.pid}
        self.check_refused(["-p", str(min(tids))], str(threads.pid))

    def test_one_that_the_pass_over_all_tasks_does_not_find_is_an_error(self):
        """The roles are in a PID namespace of their own, /proc is of ours."""
        process, out = self.start("sleep", "600"), self.dir / "out"
        argv = ["unshare", "--pid", BPFMON, "attach", "-o", out, "-p", str(process.pid), "--duration", "0.1"]
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn(f"process {process.pid} exists, but is not visible to BPF programs", done.stderr)
        self.assertFalse(out.exists())

    def test_one_that_ends_meanwhile_is_followed_to_its_end_or_an_error(self):
        """It lives when we are started, and ends before the programs are loaded."""
        short = self.start("sleep", "0.02")
        run = self.finish(self.attach([short.pid]))
        if run.code == 2:
            self.assertRegex(run.stderr, "no process|has just ended")
        else:
            self.assertEqual(run.code, 0, run.stderr)
            self.assertEqual(run.summary["processes_total"], 1)
