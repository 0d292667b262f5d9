# SPDX-License-Identifier: BSD-2-Clause
"""Without BPF: what processes use that nothing waits for, as their parent ignores SIGCHLD."""

import json
import os
import pathlib
import subprocess
import time

from lib.bpfmon import AS_USER, truth
from lib.fromproc import OrdinaryUser
from lib.live import LiveCase, descendants_of, descriptor_links, wait_for
from lib.permitted import ROOT, needs

SAMPLED = True
NEEDS = ()
TICK = 1 / os.sysconf("SC_CLK_TCK")
# each of two threads starts a process that starts another and ends before it; all four report their own clocks
THREADS = """
import json, os, signal, sys, threading, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
reports, report = os.pipe()
go = threading.Event()

def burn():
    while time.process_time() < 0.05:
        pass
    os.write(report, b"%.9f\\n" % time.process_time())

def start():
    go.wait()
    if not os.fork():
        burn()
        if not os.fork():
            burn()
        os._exit(0)

threads = [threading.Thread(target=start) for _ in range(2)]
for thread in threads:
    thread.start()
print(flush=True)
sys.stdin.readline()
go.set()
for thread in threads:
    thread.join()
os.close(report)
children = sum(map(float, os.fdopen(reports)))
with open(os.environ["TRUTH_OUT"], "w") as file:
    json.dump({"children_cpu_seconds": children, "cpu_seconds": children + time.process_time()}, file)
"""


def taken():
    """Seconds that interrupts and a hypervisor have taken of all CPUs, since boot."""
    return sum(map(int, pathlib.Path("/proc/stat").read_text().split()[6:9])) * TICK


class Unwaited(OrdinaryUser, LiveCase):
    def wait_until_seen(self, live):
        """Until there is a sample of the command as it is when it writes a line."""
        live.process.stdout.readline()
        since = time.time() + 0.001
        wait_for(lambda: any(sample["time"] > since for sample in live.samples()), "a sample")

    def run_when_seen(self, command):
        """A run of a command that writes when it ignores SIGCHLD, and goes on after a sample of that."""
        said = self.dir / "witness.json"
        before = taken()
        live = self.live(command, ["-i", "0.02", "--wait", "tree"], cwd="/", stdin=subprocess.PIPE,
                         env={**os.environ, "TRUTH_OUT": str(said)}, **AS_USER)
        self.wait_until_seen(live)
        live.process.stdin.write(b"\n")
        live.process.stdin.flush()
        run = live.finish()
        self.assertEqual(run.code, 0, run.stderr)
        run.witness = json.loads(said.read_text())
        run.taken = taken() - before + 3 * TICK
        return run

    def assert_has_all(self, run):
        cpu = run.summary["cpu_seconds"]
        self.assertGreaterEqual(cpu, 0.995 * run.witness["children_cpu_seconds"] - 0.002 - run.taken)
        self.assertLessEqual(cpu, 1.1 * run.witness["cpu_seconds"] + 0.014)  # twice would be more
        for key in ("cpu_seconds", "user_seconds", "system_seconds", "minflt"):
            self.assertEqual(run.summary["bounds"][key], "at_least")
        values = [sample["cpu_seconds"] for sample in run.samples]
        self.assertEqual(values, sorted(values))
        self.assertEqual(values[-1], cpu)
        self.assertIn("totals (a process ignored SIGCHLD)", run.stderr)

    def test_cpu_time_of_children_that_nothing_waits_for_is_in_the_total(self):
        self.needs_task_clock()
        self.assert_has_all(self.run_when_seen([truth("ignchld"), "20", "50", "wait"]))

    def test_what_threads_start_and_what_is_orphaned_counts_once(self):
        self.needs_task_clock()
        self.assert_has_all(self.run_when_seen(["python3", "-c", THREADS]))

    def test_without_perf_events_the_total_is_a_bound_all_the_same(self):
        for error in ("EPERM", "ENOSYS"):
            run = self.run_bpfmon([truth("ignchld"), "10", "20"], ["-i", "0.02"], cwd="/", before=[truth("nobpf"), error], **AS_USER)
            self.skip_if_lacking(run)
            self.assertEqual(run.code, 0, run.stderr)
            self.assertLess(run.summary["cpu_seconds"], 0.5 * run.witness["children_cpu_seconds"])
            self.assertEqual(run.summary["bounds"]["cpu_seconds"], "at_least")
            self.assertIn("totals (a process ignored SIGCHLD)", run.stderr)

    @needs(ROOT)
    def test_a_tree_in_which_all_is_waited_for_has_no_perf_event(self):
        self.needs_task_clock()
        for command, has_event in ((["sh", "-c", "echo; read -r go"], False), ([truth("ignchld"), "0", "0", "wait"], True)):
            live = self.live(command, ["-i", "0.02"], cwd="/", stdin=subprocess.PIPE, **AS_USER)
            self.wait_until_seen(live)
            links = [link for pid in descendants_of(live.pid) for link in descriptor_links(pid).values()]
            self.assertEqual("anon_inode:[perf_event]" in links, has_event)
            live.finish()
