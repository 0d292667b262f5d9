# SPDX-License-Identifier: BSD-2-Clause
"""The heaviest live processes at each sample, against what /proc says of them at the same time."""

import os
import pathlib
import re
import signal
import sys
import time

from lib.account import AccountCase
from lib.attach import AttachCase
from lib.bpfmon import read_lines, truth
from lib.cgroups import UNIFIED, CgroupCase
from lib.live import LiveCase, executable_of, is_alive, wait_for

SAMPLED = True
MIB = 1 << 20

# Children that hold so many MiB each, burn a little CPU, say their PIDs, and wait for the end of stdin.
STAIRS = """
import os, sys, time
pids = []
for mib in map(int, sys.argv[2:]):
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        hoard = b"x" * (mib << 20)
        end = time.process_time() + 0.02
        while time.process_time() < end: pass
        os.write(write, b".")
        sys.stdin.read()
        os._exit(0)
    os.close(write)
    os.read(read, 1)
    pids.append(pid)
with open(sys.argv[1] + ".new", "w") as file: print(os.getpid(), *pids, file=file)
os.rename(sys.argv[1] + ".new", sys.argv[1])
sys.stdin.read()
for pid in pids: os.waitpid(pid, 0)
"""


def status(pid):
    """The lines of /proc/PID/status that are sizes, in bytes."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return {key: int(size) * 1024 for key, size in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.M)}


def heaviest_of(lines):
    """(sample, its process samples) in the order of the lines."""
    found = []
    for line in lines:
        if line["kind"] == "sample":
            found.append((line, []))
        elif line["kind"] == "process_sample":
            found[-1][1].append(line)
    return found


class SamplesCase(AccountCase):
    def stairs(self, *mibs):
        self.told = self.dir / f"pids-{time.monotonic_ns()}"
        return [sys.executable, "-c", STAIRS, str(self.told), *map(str, mibs)]

    def pids_told(self):
        return wait_for(lambda: self.told.exists() and list(map(int, self.told.read_text().split())), "the PIDs")

    def after(self, out, moment):
        """The first sample from then on that is known to be whole, and the processes reported with it."""
        def look():
            found = [pair for pair in heaviest_of(read_lines(out)) if pair[0]["time"] > moment]
            return found[0] if len(found) > 1 else None

        return wait_for(look, "two samples more")

    def assert_well_formed(self, run, most):
        """What is true of any run."""
        records = {(p["pid"], p["start_time"]): p for p in run.processes}
        longest = run.summary["self"]["drain_seconds_max"]
        for sample, rows in heaviest_of(run.lines):
            self.assertLessEqual(len(rows), most)
            self.assertEqual(rows, sorted(rows, key=lambda row: (-row["rss_bytes"], row["pid"])))
            self.assertEqual(len({row["pid"] for row in rows}), len(rows))
            self.assertLessEqual(sum(row["rss_bytes"] for row in rows), sample["rss_bytes"])
            for row in rows:
                self.assertEqual(row["time"], sample["time"])
                self.assertEqual(row["elapsed_seconds"], sample["elapsed_seconds"])
                record = records[row["pid"], row["start_time"]]
                self.assertLessEqual(row.get("cpu_seconds", 0), record["cpu_seconds"])
                self.assertGreater(row["rss_bytes"], 0)
                if record["end_time"] is not None:  # it was met before the end of the drain
                    self.assertLessEqual(row["time"], record["end_time"] + longest + 0.001)

    def assert_as_proc_says(self, rows, pids, most):
        said = {pid: status(pid) for pid in pids}
        in_order = sorted(pids, key=lambda pid: (-said[pid]["VmRSS"], pid))[:most]
        self.assertEqual([row["pid"] for row in rows], in_order)
        for row in rows:
            of_it = said[row["pid"]]
            self.assert_near(row["rss_bytes"], of_it["VmRSS"])
            self.assert_near(row["rss_anon_bytes"], of_it["RssAnon"])
            self.assertEqual(row["swap_bytes"], of_it["VmSwap"])
            self.assertEqual(row["comm"], pathlib.Path(f"/proc/{row['pid']}/comm").read_text().rstrip("\n"))


class Heaviest(SamplesCase):
    def check_stairs(self, most, options=()):
        command = self.stairs(10, 40, 20, 50, 30)
        with self.running(command, ["-i", "0.05", "--process-samples", str(most), *options]) as live:
            pids = self.pids_told()
            _sample, rows = self.after(live.out, time.time())
            self.assertEqual(len(rows), min(most, 6))
            self.assert_as_proc_says(rows, pids, most)
            for row in rows:  # of a process that sleeps: run time in ns, of one thread
                ran = int(pathlib.Path(f"/proc/{row['pid']}/schedstat").read_text().split()[0])
                row["ran"] = ran / 1e9
            self.command = pids[0]
        return rows

    def check_ran(self, rows):
        """What the command's own process did before its exec is bpfmon's, and little."""
        for row in rows:
            if row["pid"] != self.command:
                self.assertEqual(row["cpu_seconds"], row["ran"])
            self.assertLessEqual(row["cpu_seconds"], row["ran"])
            self.assertGreaterEqual(row["cpu_seconds"], row["ran"] - 0.010)

    def test_they_are_what_proc_says_and_in_order(self):
        self.check_ran(self.check_stairs(3))

    def test_n_is_more_than_there_are(self):
        self.check_ran(self.check_stairs(1000))

    def test_process_samples_have_memory_without_memory_metrics(self):
        self.check_stairs(3, ["--metrics", "cpu_seconds"])
        rows = self.check_stairs(3, ["--metrics", "minflt"])
        self.assertTrue(all("cpu_seconds" not in row for row in rows))

    def test_all_of_them_add_up_to_the_sample(self):
        run = self.run_bpfmon([truth("liveprocs"), "40", "0.5"], ["-i", "0.02", "--process-samples", "1000"])
        self.assert_complete(run)
        self.assert_well_formed(run, 1000)
        all_there = [(s, rows) for s, rows in heaviest_of(run.lines) if s["processes"] == 41 and len(rows) == 41]
        self.assertTrue(all_there)
        for sample, rows in all_there:
            self.assertEqual(sum(row["rss_bytes"] for row in rows), sample["rss_bytes"])

    def test_each_that_held_in_turn(self):
        run = self.run_bpfmon([truth("hoarders"), "turn", "5", "30", "500"], ["-i", "0.02", "--process-samples", "1"])
        self.assert_complete(run)
        self.assert_well_formed(run, 1)
        heavy = [rows[0]["pid"] for _, rows in heaviest_of(run.lines) if rows and rows[0]["rss_bytes"] > 30 * MIB]
        command = self.only(p["pid"] for p in run.processes if p["execs"])
        children = sorted((p for p in run.processes if p["ppid"] == command), key=lambda p: p["start_time"])
        self.assertEqual(len(children), 5)
        self.assertEqual(list(dict.fromkeys(heavy)), [p["pid"] for p in children])

    def test_a_storm_of_short_ones(self):
        run = self.run_bpfmon([truth("forkstorm"), "4", "300"], ["-i", "0.01", "--process-samples", "10"])
        self.assert_complete(run)
        self.assert_well_formed(run, 10)

    def test_an_address_space_counts_once_for_its_oldest_process(self):
        run = self.run_bpfmon([truth("sharers"), "50", "3", "400", "vm"], ["-i", "0.02", "--process-samples", "10"])
        self.assert_complete(run)
        self.assert_well_formed(run, 10)
        parent = self.only(p["pid"] for p in run.processes if p["execs"])
        shared = [(s, rows) for s, rows in heaviest_of(run.lines) if s["processes"] == 4]
        self.assertTrue(shared)
        for sample, rows in shared:
            self.assertEqual([row["pid"] for row in rows], [parent])
            self.assertEqual(rows[0]["rss_bytes"], sample["rss_bytes"])

    def test_a_process_of_many_threads_is_one(self):
        run = self.run_bpfmon([truth("livethreads"), "500", "0.4"], ["-i", "0.05", "--process-samples", "20"])
        self.assert_complete(run)
        self.assert_well_formed(run, 20)
        all_alive = [(s, rows) for s, rows in heaviest_of(run.lines) if s["threads"] == 501]
        self.assertTrue(all_alive)
        for sample, rows in all_alive:
            self.assertEqual(len(rows), 1)
            self.assertEqual(rows[0]["rss_bytes"], sample["rss_bytes"])
            self.assertEqual(rows[0]["cpu_seconds"], sample["cpu_seconds"])


class Attached(SamplesCase, CgroupCase):
    def check(self, start, attach):
        process = start(*self.stairs(30, 10, 20), stdin=-1)
        pids = self.pids_told()
        run = attach(process.pid)
        self.wait_until_attached(run)
        _sample, rows = self.after(run.out, time.time())
        self.assert_as_proc_says(rows, pids, 2)
        self.assertEqual(len(rows), 2)
        process.stdin.close()
        run.send_signal(signal.SIGINT)
        self.assert_well_formed(self.finish(run), 2)

    def test_to_a_process(self):
        options = ["-i", "0.05", "--process-samples", "2"]
        self.check(self.start, lambda pid: self.attach([pid], options))

    def test_to_a_cgroup(self):
        group = self.group(UNIFIED)
        options = ["-i", "0.05", "--process-samples", "2"]
        self.check(lambda *argv, **popen: self.start_in(group, *argv, **popen),
                   lambda pid: self.attach_to(["--cgroup", str(group)], options))


class Behind(LiveCase):
    def test_process_samples_are_dropped_first(self):
        live = self.live([truth("liveprocs"), "300", "3"], ["-q", "-i", "0.01", "--process-samples", "1000"])
        wait_for(live.lines, "the first line")
        recorder = live.role(lambda pid, stat, has_bpf: stat and stat[3] == pid and not has_bpf)
        command = live.role(lambda pid, stat, has_bpf: executable_of(pid) == truth("liveprocs"))
        os.kill(recorder, signal.SIGSTOP)
        wait_for(lambda: not is_alive(command), "the end of the command")  # 60 kB a sample: 20 fill the queue
        os.kill(recorder, signal.SIGCONT)
        run = live.finish()
        self.assertEqual(list(run.summary["losses"]), ["process_samples"])
        self.assertIs(run.summary["complete"], False)
        self.assertEqual(len(run.samples), run.summary["samples"])
        told = sum(len(rows) for _, rows in heaviest_of(run.lines))
        self.assertGreater(run.summary["losses"]["process_samples"], 0)
        self.assertGreater(told, 0)
