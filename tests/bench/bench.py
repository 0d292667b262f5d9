#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What bpfmon costs: paired ratios of workloads with and without it, and absolute figures.

Without names everything runs except `none`. Names narrow this down: workloads and tools are
combined (a side without a name stands for all of it), figures run only when named then."""

import argparse
import json
import os
import platform
import sys
import tempfile

sys.dont_write_bytecode = True	# no __pycache__ of root in the source folder

import attached
import benches
import jobs
import limits
import paired
import peers
import selfcost
import spans
import table
import testspans
import topkeys
import workloads
from runner import Broken, Runner

INTERVALS = ("1", "0.01")
FINE_TARGET = 1.03		# of every workload at -i 0.01
ASKED = {"net": "--net", "kinds": "--io-kinds"}		# options that cost something
TOOLS = ("bpfmon", *ASKED, "elsewhere", "none", *peers.ALL)
ELSEWHERE_TARGET = 1.01		# of a workload outside of a cgroup that is followed


def arguments():
    every = (*workloads.NAMES, *TOOLS, *selfcost.NAMES)
    p = argparse.ArgumentParser(description=__doc__, epilog="NAME: " + " ".join(every) +
                                ". `none` pairs the bare workload with itself: the noise of this "
                                "machine.",
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bpfmon", required=True, metavar="FILE", help="the program to measure")
    p.add_argument("--build", required=True, metavar="DIR", help="where the workloads are built")
    p.add_argument("--quick", action="store_true", help="few pairs and short runs: a first look")
    p.add_argument("--max-pairs", type=int, metavar="N", help="of a bpfmon row (60; quick: 6)")
    p.add_argument("--peer-pairs", type=int, metavar="N", help="of another tool (15; quick: 3)")
    p.add_argument("--row-seconds", type=float, default=240, metavar="S",
                   help="after this time a row starts no more pairs (%(default)s)")
    p.add_argument("--json", metavar="FILE", help="write the raw data there")
    p.add_argument("names", nargs="*", metavar="NAME")
    args = p.parse_args()
    unknown = [n for n in args.names if n not in every]
    if unknown:
        p.error(f"no such name: {' '.join(unknown)}")
    args.max_pairs = args.max_pairs or (6 if args.quick else 60)
    args.peer_pairs = args.peer_pairs or (3 if args.quick else 15)
    if args.max_pairs < 1 or args.peer_pairs < 1:
        p.error("at least one pair is needed")
    return args


def select(names):
    """(workloads, tools, figures) to run for the names given."""
    works = [n for n in workloads.NAMES if n in names]
    tools = [n for n in TOOLS if n in names]
    figures = [n for n in selfcost.NAMES if n in names]
    all_tools = [n for n in TOOLS if n != "none"]
    if not names:
        return list(workloads.NAMES), all_tools, list(selfcost.NAMES)
    if works or tools:
        return works or list(workloads.NAMES), tools or all_tools, figures
    return [], [], figures


class Bench:
    def __init__(self, args, tmp):
        self.args = args
        self.runner = Runner(os.path.abspath(args.bpfmon), tmp, timeout=600)
        self.build = os.path.abspath(args.build)
        workloads.compile_programs(self.build)
        self.works = workloads.make_all(self.build, tmp)
        self.results = {"machine": describe_machine(), "arguments": vars(args), "ratios": [],
                        "figures": [], "skipped": {}, "broken": []}

    def run(self):
        works, tools, figures = select(self.args.names)
        for name in figures:
            self.attempt(name, lambda n=name: self.figure(n))
        for tool in tools:
            if tool in peers.ALL:
                reason = peers.ALL[tool].missing(self.runner)
                if reason:
                    self.results["skipped"][tool] = reason
                    continue
            for name in works:
                self.rows(self.works[name], tool)

    def attempt(self, name, action):
        """A broken run ends its row, not the benchmark; the exit code tells."""
        try:
            action()
        except Broken as e:
            self.results["broken"].append(f"{name}: {e}")
            progress("", end="")
            print(f"bench: {name}: {e}", file=sys.stderr)

    def figure(self, name):
        def say(text):
            progress(f"{name}: {text}")

        quick = self.args.quick
        if name == "startup":
            rows = selfcost.startup(self.runner, 8 if quick else 20, say)
        elif name == "idle":
            rows = selfcost.idle(self.runner, self.build, 6 if quick else 20,
                                 1 if quick else 3, say)
        elif name == "spans":
            rows = spans.spans(self.runner, self.build, 3 if quick else 10, say)
        elif name == "tests":
            rows = testspans.tests(self.runner, 6 if quick else 20, say)
        elif name == "keys":
            rows = topkeys.keys(self.runner, self.build, 40 if quick else 100, say)
        elif name == "bench":
            rows = benches.bench(self.runner, self.build, 4 if quick else 20, say)
        elif name == "limits":
            rows = limits.limits(self.runner, self.build, 6 if quick else 20, say)
        elif name == "jobs":
            rows = jobs.jobs(self.runner, 20 if quick else 60, 1 if quick else 3, say)
        elif name == "store":
            rows = selfcost.store(self.runner, self.build, 6 if quick else 20, 1 if quick else 3, say)
        else:
            measure = selfcost.drain if name == "drain" else selfcost.cgroup
            rows = measure(self.runner, self.build, 1 if quick else 3, 1 if quick else 3, say)
        self.results["figures"] += rows

    def rows(self, work, tool):
        run = self.runner.run
        if tool == "bpfmon":
            for interval in INTERVALS:
                target = work.target if interval == "1" else FINE_TARGET
                self.attempt(f"{work.name} at -i {interval}", lambda i=interval, t=target: self.row(
                    work, f"bpfmon -i {i}", 1.0,
                    lambda argv: self.runner.monitored(i, argv), t))
        elif tool in work.asked:
            option = ASKED[tool]
            self.attempt(f"{work.name} with {option}", lambda: self.row(
                work, f"bpfmon {option}", 1.0,
                lambda argv: self.runner.monitored("1", argv, options=[option]), work.asked[tool]))
        elif tool in ASKED:
            pass
        elif tool == "elsewhere":
            self.attempt(f"{work.name} elsewhere", lambda: self.row(
                work, "bpfmon attached elsewhere", 1.0,
                lambda argv: attached.outside(self.runner, argv), ELSEWHERE_TARGET))
        elif tool == "none":
            self.attempt(f"{work.name} bare", lambda: self.row(work, "nothing", 1.0, run, None))
        else:
            peer = peers.ALL[tool]
            self.attempt(f"{work.name} under {tool}", lambda: self.row(
                work, tool, peer.scale(work),
                lambda argv: run(peer.command(argv, self.runner.tmp)), None))

    def row(self, work, tool, scale, monitored, target):
        def say(text):
            progress(f"{work.name}, {tool}: {text}")

        say("")
        work.size(self.runner.run)
        argv = work.command(scale)
        most = self.args.peer_pairs if tool in peers.ALL else self.args.max_pairs
        limits = paired.Limits(most, self.args.row_seconds, relative=tool in peers.ALL)
        pairs = paired.measure(lambda: self.runner.run(argv), lambda: monitored(argv), limits, say)
        row = {"workload_name": work.name, "tool": tool, "command": argv}
        row.update(paired.evaluate(pairs, target, limits))
        row["raw"] = pairs
        self.results["ratios"].append(row)


def describe_machine():
    model = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            model = next((line.split(":", 1)[1].strip() for line in f
                          if line.startswith("model name")), model)
    except OSError:
        pass
    load = os.getloadavg()
    return {"kernel": platform.release(), "cpus": len(os.sched_getaffinity(0)), "model": model,
            "load_before": load, "load_after": load}


def progress(text, end=""):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end=end, file=sys.stderr, flush=True)


def main():
    args = arguments()
    if os.geteuid() != 0:
        print("bench: bpfmon needs root, and so does its benchmark.", file=sys.stderr)
        return 1
    stopped = False
    with tempfile.TemporaryDirectory(prefix="bpfmon-bench-") as tmp:
        try:
            bench = Bench(args, tmp)
        except Broken as e:
            print(f"bench: {e}", file=sys.stderr)
            return 1
        try:
            bench.run()
        except KeyboardInterrupt:
            stopped = True
            bench.results["skipped"]["the rest"] = "interrupted"
        progress("")
    bench.results["machine"]["load_after"] = os.getloadavg()
    print(table.markdown(bench.results))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(bench.results, f, indent=1)
            f.write("\n")
    broken = bench.results["broken"]
    if broken:
        print(f"bench: {len(broken)} row(s) could not be measured: {broken[0]}", file=sys.stderr)
    return 130 if stopped else 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
