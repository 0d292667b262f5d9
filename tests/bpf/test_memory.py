# SPDX-License-Identifier: BSD-2-Clause
"""Peaks are each process's own; the gauges are what /proc says and count a shared space once."""

import os
import pathlib
import re
import subprocess
import sys

from lib.account import AccountCase
from lib.bpfmon import truth

SAMPLED = True
MIB = 1 << 20
PAGE = os.sysconf("SC_PAGESIZE")

# A child of posix_spawn() shares our memory until its exec: it waits for the FIFO before that.
SPAWNER = """
import os, sys
hoard = bytearray(100 << 20)
for i in range(0, len(hoard), 4096): hoard[i] = 1
said, fifo = sys.argv[1:]
with open(said + ".new", "w") as file: file.write(str(os.getpid()))
os.rename(said + ".new", said)
actions = [(os.POSIX_SPAWN_OPEN, 9, fifo, os.O_RDONLY, 0)]
pid = os.posix_spawn("/bin/true", ["true"], {}, file_actions=actions)
os.waitpid(pid, 0)
sys.stdin.read()
"""


def statm(pid):
    """Virtual and resident bytes."""
    vms, rss, *_rest = pathlib.Path(f"/proc/{pid}/statm").read_text().split()
    return int(vms) * PAGE, int(rss) * PAGE


def rollup(pid):
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Rss:\s+(\d+) kB", text, re.M)[1]) * 1024


# Holds memory of each kind, says so, and waits.
KINDS = """
import mmap, sys, tempfile
def touch(m, write):
    for i in range(0, len(m), 4096):
        if write: m[i] = 1
        else: m[i]
anon = mmap.mmap(-1, 40 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
shared = mmap.mmap(-1, 30 << 20)
file = tempfile.TemporaryFile()
file.truncate(20 << 20)
mapped = mmap.mmap(file.fileno(), 20 << 20, access=mmap.ACCESS_READ)
for m, write in ((anon, True), (shared, True), (mapped, False)): touch(m, write)
print("READY", flush=True)
sys.stdin.read()
"""


def status(pid):
    """The lines of /proc/PID/status that are sizes, in bytes."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return {key: int(size) * 1024 for key, size in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.M)}


class Peaks(AccountCase):
    def check_small_children(self, program):
        run = self.run_bpfmon([truth("bigparent"), "400", "100", program])
        self.assert_complete(run)
        parent = self.only(p for p in run.processes if p["comm"] == "bigparent")
        children = [p for p in run.processes if p is not parent]
        self.assertEqual(len(children), 100)
        for child in children:
            self.assertLess(child["rss_peak_bytes"], 4 * MIB)
            self.assertGreater(child["rss_peak_bytes"], 0)
            self.assertIs(child["rss_peak_exact"], True)
        self.assertGreaterEqual(parent["rss_peak_bytes"], 400 * MIB)
        self.assert_near(parent["rss_peak_bytes"], run.witness["maxrss_kb"] * 1024)
        self.assertEqual(run.summary["process_rss_peak_bytes"], parent["rss_peak_bytes"])
        self.assertGreaterEqual(run.summary["rss_peak_bytes"], parent["rss_peak_bytes"])

    def test_the_small_static_child_of_a_big_parent_is_small(self):
        self.check_small_children(truth("execnames"))

    def test_the_small_dynamic_child_of_a_big_parent_is_small(self):
        self.check_small_children("/bin/true")

    def check_touch(self, how):
        run = self.run_witnessed([truth("touch"), "500", "20", how])
        self.assert_complete(run)
        process = self.by_pid(run, run.wait4["pid"])
        self.assertIs(process["rss_peak_exact"], True)
        self.assert_near(process["rss_peak_bytes"], run.wait4["maxrss_kb"] * 1024)
        self.assertGreaterEqual(process["rss_peak_bytes"], 500 * MIB)

    def test_a_peak_that_was_given_back(self):
        self.check_touch("free")

    def test_a_peak_at_the_end(self):
        self.check_touch("exit")

    def test_the_peak_of_an_image_that_execs_a_smaller_one(self):
        script = "import os, sys; b = b'x' * (150 << 20); os.execv(sys.argv[1], sys.argv[1:])"
        run = self.run_witnessed([sys.executable, "-c", script, truth("execnames")])
        self.assert_complete(run)
        process = self.by_pid(run, run.wait4["pid"])
        self.assertEqual(process["execs"], 2)
        self.assert_near(process["rss_peak_bytes"], run.wait4["maxrss_kb"] * 1024)

    def test_a_child_that_never_execs_has_its_inherited_image(self):
        run = self.run_bpfmon([truth("teardown"), "64"])
        pids = {p["pid"] for p in run.processes}
        child = self.only(p for p in run.processes if p["ppid"] in pids)
        self.assertGreaterEqual(child["rss_peak_bytes"], 64 * MIB)


class Gauges(AccountCase):
    def test_the_memory_of_one_process(self):
        pidfile = self.dir / "pid"
        script = f"echo $$ > {pidfile}; exec {truth('touch')} 100 2500 exit"
        with self.running(["sh", "-c", script], ["-i", "0.02"]) as live:
            pid = int(live.until(lambda: pidfile.exists() and pidfile.read_text()))
            live.until(lambda: rollup(pid) >= 100 * MIB)
            sample = live.next_sample()
            self.assert_near(sample["rss_bytes"], rollup(pid))
            vms, rss = statm(pid)
            self.assert_near(sample["rss_bytes"], rss)
            self.assertEqual(sample["vms_bytes"], vms)

    def test_the_kinds_of_memory_are_what_proc_says(self):
        pidfile = self.dir / "pid"
        script = f"echo $$ > {pidfile}; exec {sys.executable} -c '{KINDS}'"
        with self.running(["sh", "-c", script], ["-i", "0.02"], stdout=subprocess.PIPE) as live:
            self.assertEqual(live.process.stdout.readline(), b"READY\n")
            live.process.stdout.close()
            sample, said = live.next_sample(), status(int(pidfile.read_text()))
            self.assertGreaterEqual(said["RssAnon"], 40 * MIB)
            self.assertGreaterEqual(said["RssShmem"], 30 * MIB)
            self.assertGreaterEqual(said["RssFile"], 20 * MIB)
            for key, name in (("rss", "VmRSS"), ("rss_anon", "RssAnon"), ("rss_file", "RssFile"),
                              ("rss_shmem", "RssShmem"), ("vms", "VmSize"), ("page_tables", "VmPTE"),
                              ("swap", "VmSwap")):
                self.assertEqual(sample[key + "_bytes"], said[name], key)

    def test_the_memory_of_many_processes_is_their_sum(self):
        with self.running([truth("liveprocs"), "40", "2"], ["-i", "0.02"]) as live:
            live.next_sample(lambda s: s["processes"] == 41)  # the last may be born after its pass
            pids = [p for p in os.listdir("/proc") if p.isdigit() and self.is_below(p, live)]
            self.assertEqual(len(pids), 41)
            sample = live.next_sample()
            self.assert_near(sample["rss_bytes"], sum(statm(p)[1] for p in pids))
            self.assertEqual(sample["vms_bytes"], sum(statm(p)[0] for p in pids))

    def is_below(self, pid, live):
        """Is @pid the command of @live or a child of it? (bpfmon's own are not liveprocs)"""
        try:
            stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return False
        if "(liveprocs)" not in stat:
            return False
        parent = int(stat[stat.rindex(")") + 2 :].split()[1])
        return parent == live.process.pid or self.is_below(parent, live)

    def test_the_memory_of_threads_counts_once(self):
        run = self.run_witnessed([truth("livethreads"), "500", "0.3"], ["-i", "0.05"])
        all_alive = [s for s in run.samples if s["threads"] == 502]
        self.assertTrue(all_alive, run.samples)
        for sample in all_alive:
            once = run.wait4["maxrss_kb"] * 1024
            self.assertGreaterEqual(sample["rss_bytes"], 0.97 * once)
            self.assertLess(sample["rss_bytes"], 2 * once)  # the witness is in it

    def test_a_child_that_shares_its_parents_memory_counts_once(self):
        pidfile, fifo = self.dir / "pid", self.dir / "fifo"
        os.mkfifo(fifo)
        command = [sys.executable, "-c", SPAWNER, str(pidfile), str(fifo)]
        with self.running(command, ["-i", "0.02"]) as live:
            pid = int(live.until(lambda: pidfile.exists() and pidfile.read_text()))
            shared = live.next_sample(lambda s: s["processes"] == 2)
            witnessed = statm(pid)[1]
            opened = os.open(fifo, os.O_RDWR)
            after = live.next_sample(lambda s: s["processes"] == 1)
            os.close(opened)
            self.assertGreater(witnessed, 100 * MIB)
            self.assert_near(shared["rss_bytes"], witnessed)
            self.assert_near(after["rss_bytes"], statm(pid)[1])
