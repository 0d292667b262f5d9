#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs seeds of torture for a time and ends with 1 if bpfmon said anything that cannot be.

Usage: run.py [--seconds N] [--seed FIRST] [--count N] [--check FOLDER] [--keep FOLDER] [--source procfs]
"""

import argparse
import collections
import pathlib
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from lib import torture  # noqa: E402

MOST_TOLD = 20  # violations of a check are printed, the others are counted
MOST_WRONG = 5  # seeds with violations, or that do not run, end the run


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="the first (default: by the time)")
    parser.add_argument("--count", type=int, default=0, help="that many, however long it takes")
    parser.add_argument("--source", default="bpf", choices=torture.SOURCES, help="of the numbers (default: bpf)")
    parser.add_argument("--bpfmon", default=torture.BPFMON)
    parser.add_argument("--keep", default=None, help="the folder for what was found to be wrong")
    parser.add_argument("--check", default=None, help="only look again at a run that was kept")
    parser.add_argument("--go-on", action="store_true", help=f"also after {MOST_WRONG} seeds with violations")
    return parser.parse_args()


class Tally:
    """What was found so far."""

    def __init__(self, source):
        self.source = source
        self.seeds = self.wrong = self.failed = self.incomplete = 0
        self.counts, self.firsts = collections.Counter(), {}

    def add(self, seed, folder, found, said):
        self.incomplete += not said.is_complete
        self.wrong += bool(found)
        for name, text in found:
            if self.counts[name] < MOST_TOLD:
                print(f"seed {seed}: {name}: {text}")
            self.counts[name] += 1
            self.firsts.setdefault(name, self.seeds)
        if found:
            print(f"seed {seed}: {len(found)} violations, kept in {folder}")
            again = "" if self.source == "bpf" else f" SOURCE={self.source}"
            print(f"  again: make torture SEED={seed} COUNT=1{again}    look: {sys.argv[0]} --check {folder}", flush=True)

    def tell(self):
        for name in torture.SOURCES[self.source].CHECKS:
            first = f", first in run {self.firsts[name]}" if name in self.firsts else ""
            print(f"{name:16} {self.counts[name]:5} violations{first}")
        print(
            f"{self.seeds} seeds, {self.wrong} with violations, {sum(self.counts.values())} violations, "
            f"{self.failed} that did not run, {self.incomplete} incomplete"
        )
        return 1 if self.wrong or self.failed else 0


def one(seed, folder, args, tally, kinds):
    tally.seeds += 1
    try:
        torture.run(seed, torture.fresh(folder), args.bpfmon, source=args.source)
        found, said, _log = torture.check(folder, kinds)
    except torture.Failed as e:
        print(f"seed {seed}: {e}", flush=True)
        tally.failed += 1
        return
    tally.add(seed, folder, found, said)
    if not found:
        torture.fresh(folder)


def look_again(folder):
    found, _said, _log = torture.check(folder)
    for name, text in found:
        print(f"{name}: {text}")
    return 1 if found else 0


def main():
    args = arguments()
    if args.check:
        return look_again(args.check)
    signal.signal(signal.SIGTERM, lambda *_unused: sys.exit(143))  # what was set and begun is undone
    first = args.seed or int(time.time())
    keep = pathlib.Path(args.keep or tempfile.mkdtemp(prefix="bpfmon-torture-"))
    keep.chmod(0o755)  # an ordinary user's run is below it
    tally, kinds, end = Tally(args.source), torture.metric_kinds(), time.monotonic() + args.seconds
    print(f"from seed {first} on, with {args.bpfmon}", flush=True)
    with torture.huge_pages():
        while tally.seeds < args.count if args.count else time.monotonic() < end:
            seed = first + tally.seeds
            one(seed, keep / str(seed), args, tally, kinds)
            if tally.wrong + tally.failed >= MOST_WRONG and not args.go_on:
                break
    return tally.tell()


if __name__ == "__main__":
    sys.exit(main())
