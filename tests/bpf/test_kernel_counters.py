# SPDX-License-Identifier: BSD-2-Clause
"""I/O, faults, context switches and waiting for a CPU: to the last one what the kernel counted."""

import json
import os
import pathlib
import sys
import tempfile

from lib.account import AccountCase, exact, read_json
from lib.bpfmon import truth

SAMPLED = True
IO_KEYS = {
    "rchar": "rchar_bytes",
    "wchar": "wchar_bytes",
    "syscr": "syscr",
    "syscw": "syscw",
    "read_bytes": "read_bytes",
    "write_bytes": "write_bytes",
    "cancelled_write_bytes": "cancelled_write_bytes",
}

# Competes with a spinner for one CPU, then tells how long it has waited for that, and ends.
WAITER = """
import os, subprocess, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
spinner = subprocess.Popen([sys.argv[1], "200"])
while time.process_time() < 0.3: pass
spinner.wait()
fd = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
out = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT)
os.write(out, os.read(fd, 100))
os._exit(0)
"""

# A process of a real-time priority takes its CPU for a while. Prints from when to when it has not run, if it did not sleep.
OUSTED = """
import json, os, resource, time
def slept(): return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
longest, last = (0, 0, 0), (time.time(), slept())
child = os.fork()
if not child:
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        os._exit(77)
    end = time.monotonic() + 0.7
    while time.monotonic() < end: pass
    os._exit(0)
while not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
    now = time.time(), slept()
    if now[1] == last[1]: longest = max(longest, (now[0] - last[0], last[0], now[0]))
    last = now
now = time.time(), slept()
if now[1] == last[1]: longest = max(longest, (now[0] - last[0], last[0], now[0]))
print(json.dumps(longest[1:]))
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

SLEEPER = """
import time
for _ in range(100): time.sleep(0.0005)
"""


class InputOutput(AccountCase):
    def check(self, folder, witness_folder):
        """The record has what /proc/self/io said, plus the last read and write (see the README)."""
        with tempfile.TemporaryDirectory(dir=witness_folder) as place:
            said = pathlib.Path(place) / "io.json"
            run = self.run_bpfmon([truth("iobytes"), str(folder)], env={"TRUTH_OUT": str(said)})
            self.assertEqual(run.code, 0, run.stderr)
            self.assert_complete(run)
            witness = read_json(said)
        process = self.only(run.processes)
        expected = {key: witness[name] for name, key in IO_KEYS.items()}
        expected["rchar_bytes"] += witness["witness_read_bytes"]
        expected["wchar_bytes"] += witness["witness_bytes"]
        expected["syscr"] += 1
        expected["syscw"] += 1
        for line in (process, run.summary, run.samples[-1]):
            self.assertEqual({key: line[key] for key in expected}, expected)
        return witness

    def test_everything_on_a_disk(self):
        witness = self.check(self.dir, "/dev/shm")
        self.assertGreaterEqual(witness["write_bytes"], 1 << 20)  # else this shows nothing

    def test_everything_on_tmpfs(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            self.check(folder, "/dev/shm")  # writes access times: of files that are new, or that a day has not read
            witness = self.check(folder, "/dev/shm")
        self.assertEqual(witness["write_bytes"], 0)

    def test_a_childs_bytes_are_the_childs(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            command = f"{truth('iobytes')} {folder}; exit 0"
            run = self.run_bpfmon(["sh", "-c", command], env={"TRUTH_OUT": f"{folder}/io.json"})
        child = self.only(p for p in run.processes if p["comm"] == "iobytes")
        shell = self.only(p for p in run.processes if p["comm"] == "sh")
        self.assertGreater(child["rchar_bytes"], 2 << 20)
        self.assertLess(shell["rchar_bytes"], 1 << 20)
        self.assertEqual(run.summary["rchar_bytes"], child["rchar_bytes"] + shell["rchar_bytes"])


class Faults(AccountCase):
    def test_minor_faults(self):
        for n in (1, 5000):
            with self.subTest(n=n):
                run = self.run_witnessed([truth("faults"), str(n)])
                self.assert_complete(run)
                process = self.by_pid(run, run.wait4["pid"])
                self.assertEqual(run.witness["minflt_delta"], n)
                self.assertEqual(process["minflt"], run.wait4["minflt"])
                self.assertEqual(process["majflt"], run.wait4["majflt"])

    def test_the_faults_of_a_tree(self):
        run = self.run_witnessed([truth("seqchildren"), "50", "0"], ["-i", "0.01"])
        for key in ("minflt", "majflt"):
            self.assertEqual(sum(p[key] for p in self.inside(run)), run.wait4[key], key)


class Scheduling(AccountCase):
    def check_switches(self, command, key, least):
        """wait4() may come before the last switch of each process, away from it for ever."""
        run = self.run_witnessed(command)
        self.assert_complete(run)
        inside = self.inside(run)
        self.assertGreaterEqual(run.wait4[key], least)
        counted = sum(p[key] for p in inside)
        self.assertGreaterEqual(counted, run.wait4[key])
        self.assertLessEqual(counted, run.wait4[key] + len(inside))

    def test_voluntary_switches(self):
        self.check_switches([sys.executable, "-c", SLEEPER], "nvcsw", 100)

    def test_involuntary_switches(self):
        cpu = str(min(os.sched_getaffinity(0)))
        spins = f"{truth('spin')} 300 & {truth('spin')} 300 & wait"
        self.check_switches(["taskset", "-c", cpu, "sh", "-c", spins], "nivcsw", 5)

    def test_a_wait_that_goes_on_is_in_the_samples(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("needs two CPUs: bpfmon runs on the other one")
        run = self.run_bpfmon([sys.executable, "-c", OUSTED], ["-i", "0.02"])
        if run.code == 77:
            self.skipTest("real-time priorities are not permitted here")
        self.assert_complete(run)
        begin, end = json.loads(run.stdout)
        during = [sample["runqueue_wait_seconds"] for sample in run.samples if begin < sample["time"] < end]
        self.assertGreater(len(during), 1, (begin, end))  # else this shows nothing
        self.assertGreater(during[-1], during[0])
        self.assertGreaterEqual(run.summary["runqueue_wait_seconds"], during[-1])

    def test_the_wait_for_a_cpu(self):
        said = self.dir / "schedstat"
        run = self.run_witnessed([sys.executable, "-c", WAITER, truth("spin"), str(said)])
        self.assert_complete(run)
        cpu, waited, _slices = (int(n) for n in said.read_text().split())
        process = self.only(p for p in run.processes if "python" in p["exe"])
        counted = exact("runqueue_wait_seconds", process["runqueue_wait_seconds"])
        self.assertGreaterEqual(waited, 50_000_000)  # else this shows nothing
        self.assertGreaterEqual(counted, waited)
        self.assertLessEqual(counted, waited + 50_000_000)
        self.assertGreaterEqual(exact("cpu_seconds", process["cpu_seconds"]), cpu)
