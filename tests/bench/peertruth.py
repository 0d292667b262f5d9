#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What bpfmon, with BPF and from /proc, and other monitors report of programs whose CPU time and memory are known (as root).

Usage: peertruth.py [--interval S] [--repeat N] [--only EXPRESSION] PRMON PSRECORD TIME
Truth for CPU time is the cgroup of each run, with what the command used before it joined. "prmon beside" is attached to
the same run that bpfmon measures from /proc, so that both could have seen the same. A line that begins with OUT is a
figure of the run from /proc that is neither right (0.5 % + 2 ms) nor called a bound, or a peak below that of prmon.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from monitors import BPFMON, FromProc, GnuTime, Prmon, Psrecord, WithBpf
from table import lines

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from lib.bpfmon import NOBODY, cgroup, truth  # pylint: disable=wrong-import-position

MIB = 1 << 20
DEEP = [word for _ in range(20) for word in (truth("spawner"), "1")]
# name, argv, MiB that are certainly held at the peak
WORKLOADS = (
    ("one process", ["spin", "2500"], None),
    ("150 short children", ["seqchildren", "150", "20"], None),
    ("storm of 1600 forks", ["forkstorm", "8", "200"], None),
    ("2000 empty children", ["forkonly", "2000"], None),
    ("daemon", ["daemon", "3000"], None),
    ("SIGCHLD ignored", ["ignchld", "100", "30"], None),
    ("deep tree of 21", [*DEEP, truth("spin"), "1500"], None),
    ("CLONE_PARENT", ["cloneparent", "800"], None),
    ("vfork + exec x 300", ["vforker", "300", "/bin/true"], None),
    ("threads", ["threads", "100", "20"], None),
    ("200 live threads", ["livethreads", "200", "1.5"], None),
    ("exec by a thread", ["env", "-u", "TRUTH_BEFORE", truth("threadexec"), truth("spin"), "1200"], None),
    ("leader ends first", ["leaderfirst", "1500"], 20),
    ("killed child", ["killed", "1200"], None),
    ("kills itself", ["sh", "-c", f"{truth('spin')} 1200; kill -9 $$"], None),
    ("zombie, never reaped", ["zombie", "800", "1"], None),
    ("200,000 faults", ["faults", "200000"], 781),
    ("I/O", ["iobytes", "/tmp"], None),
    ("spike of 500 MiB, 20 ms", ["touch", "500", "20", "free"], 500),
    ("teardown of 500 MiB", ["teardown", "500"], 500),
    ("8 x 50 MiB at once, 300 ms", ["hoarders", "together", "8", "50", "300"], 400),
    ("8 x 50 MiB at once, 2 s", ["hoarders", "together", "8", "50", "2000"], 400),
    ("8 x 50 MiB in turn, 300 ms", ["hoarders", "turn", "8", "50", "300"], 50),
    ("4 x 100 MiB, then exec", ["execsharers", "4", "100", "1000"], 400),
    ("8 share 100 MiB, 1 s", ["sharers", "100", "8", "1000"], 100),
    ("400 MiB parent, 20 x true", ["bigparent", "400", "20", "/bin/true"], 400),
)


class Measured:
    def __init__(self, monitor, argv, interval, beside=None):
        with tempfile.TemporaryDirectory(prefix="bpfmon-peers-") as folder, cgroup() as group:
            out = pathlib.Path(folder)
            os.chown(out, NOBODY, NOBODY)
            os.chown(group / "cgroup.procs", NOBODY, NOBODY)
            before = out / "before"
            command = [truth("incgroup"), str(group), *argv]
            environment = {**os.environ, "TRUTH_BEFORE": str(before), "TRUTH_OUT": "/dev/null", "BPFMON_NO_CONFIG": "1"}
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL, "cwd": folder}
            process = subprocess.Popen(monitor.command(out, interval, command), env=environment, **quiet)
            other = self.attach(beside, out, interval, group, process, quiet)
            process.wait()
            while (group / "cgroup.procs").read_text():
                time.sleep(0.02)
            if other:
                other.wait()
            self.truth = int((group / "cpuacct.usage").read_text()) / 1e9 + json.loads(before.read_text())["cpu_joined_seconds"]
            self.said = monitor.read(out)
            self.beside = beside.read(out) if other else None

    def attach(self, beside, out, interval, group, process, quiet):
        while beside and process.poll() is None:
            pids = (group / "cgroup.procs").read_text().split()
            if pids:
                return subprocess.Popen(beside.attach(out, interval, pids[0]), **quiet)
        return None


def cell(value, scale=1.0, digits=2):
    return "-" if value is None else f"{value / scale:.{digits}f}"


def faults_of(run, known):
    """In words, what is out of the tolerance in a run from /proc."""
    said, prmon = run.said, run.beside
    off = said["cpu"] - run.truth
    bound = said["bounds"].get("cpu_seconds")
    if abs(off) > 0.005 * run.truth + 0.002 and not (bound == "at_least" and off < 0):
        yield f"CPU {said['cpu']:.4f} s, truth {run.truth:.4f} s, off by {1e3 * off:+.1f} ms, bound: {bound}"
    if known and said["peak"] < known * MIB and said["bounds"].get("rss_peak_bytes") != "at_least":
        yield f"peak {said['peak'] / MIB:.1f} MiB, {known} MiB were held, and it is called no bound"
    if known and said["upper"] > said["peak"] and said["upper"] < known * MIB:
        yield f"upper bound of the peak {said['upper'] / MIB:.1f} MiB, {known} MiB were held"
    if prmon and prmon["peak"] and said["peak"] < prmon["peak"]:
        yield f"peak {said['peak'] / MIB:.1f} MiB, prmon saw {prmon['peak'] / MIB:.1f} MiB of the same run"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("peers", nargs=3)
    parser.add_argument("--interval", type=float, default=1)
    parser.add_argument("--repeat", type=int, default=1, help="of runs from /proc; the first is in the table")
    parser.add_argument("--only", default="", help="workloads whose name has this expression")
    args = parser.parse_args()
    prmon, psrecord, gnu_time = (kind(path) for kind, path in zip((Prmon, Psrecord, GnuTime), args.peers))
    cpu, peaks = [], []
    for name, argv, known in WORKLOADS:
        if not re.search(args.only, name):
            continue
        argv = [argv[0] if argv[0] in ("sh", "env") or "/" in argv[0] else truth(argv[0]), *argv[1:]]
        proc = [Measured(FromProc(BPFMON), argv, args.interval, prmon) for _ in range(args.repeat)]
        for i, run in enumerate(proc):
            for fault in faults_of(run, known):
                print(f"OUT {name}, run {i + 1}: {fault}", flush=True)
        bpf = Measured(WithBpf(BPFMON), argv, args.interval)
        others = [Measured(monitor, argv, args.interval) for monitor in (prmon, psrecord, gnu_time)]
        cpu.append([name, cell(proc[0].truth, 1, 3)])
        peaks.append([name, str(known or "-")])
        for run in (bpf, proc[0]):
            least = "at least " if run.said["bounds"].get("cpu_seconds") else ""
            cpu[-1].append(f"{least}{run.said['cpu']:.3f} ({1e3 * (run.said['cpu'] - run.truth):+.1f} ms)")
            upper = f" to {cell(run.said['upper'], MIB, 1)}" if run.said["upper"] != run.said["peak"] else ""
            peaks[-1].append(cell(run.said["peak"], MIB, 1) + upper)
        peaks[-1].append(cell(proc[0].beside and proc[0].beside["peak"], MIB, 1))
        cpu[-1] += [cell(run.said["cpu"]) for run in others]
        peaks[-1] += [cell(run.said["peak"], MIB, 1) for run in others]
        print(f"{' | '.join(cpu[-1])} || {' | '.join(peaks[-1][1:])}", file=sys.stderr, flush=True)
    names = ["bpfmon", "bpfmon from /proc"], ["prmon", "psrecord", "GNU time"]
    print(lines(["CPU time, s", "truth", *names[0], *names[1]], cpu))
    print(lines(["peak memory, MiB", "held", *names[0], "prmon beside", *names[1]], peaks))


if __name__ == "__main__":
    sys.exit(main())
