#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a run without BPF costs: in pairs, two bpfmon's or bpfmon and another monitor, in turns. No part of `make bench`.

Usage: fromproc.py BPFMON [OTHER] [--pairs N] [--seconds N] [--processes N]
OTHER is a second bpfmon, or prmon or psrecord by its path; as root, and all run as an ordinary user. Each figure is the
CPU time of all of the monitor's processes: of what wait4() has, less what the sleeping command uses. A run of one second is
subtracted from one of N seconds, so that only what goes on is left; the start is measured with `true`.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

import stats
from monitors import NOBODY, monitor_of

INTERVALS = (1, 0.01)
TOP = pathlib.Path(__file__).resolve().parents[2]


def run(argv):
    """Wall and CPU seconds of the command and all that it has waited for."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)]
    began = time.monotonic()
    _pid, status, used = os.wait4(os.posix_spawnp(argv[0], argv, os.environ, file_actions=quiet), 0)
    if status:
        raise SystemExit(f"it failed: {' '.join(argv)}")
    return time.monotonic() - began, used.ru_utime + used.ru_stime


def monitored(monitor, interval, command):
    with tempfile.TemporaryDirectory(prefix="bpfmon-cost-") as folder:
        os.chown(folder, 65534, 65534)
        return run(["env", "-C", folder, *monitor_of(monitor).command(folder, interval, command)])


def sleepers(args, seconds):
    return [str(args.build / "truth" / "liveprocs"), str(args.processes), str(seconds)]


def going_on(args, monitor, interval):
    """CPU per second while it goes on, in %."""
    used = [monitored(monitor, interval, sleepers(args, seconds))[1] for seconds in (1 + args.seconds, 1)]
    return 100 * (used[0] - used[1]) / args.seconds


def start(monitor):
    """Wall and CPU ms more than those of plain `true`."""
    bare, whole = run(["env", "-C", "/", *NOBODY, "true"]), monitored(monitor, 1, ["true"])
    return tuple(1e3 * (b - a) for a, b in zip(bare, whole))


def show(what, monitor, values, unit):
    low, high = stats.interval(values) or (min(values), max(values))
    print(f"{what:34} {monitor:32} {stats.median(values):8.2f} {unit}  ({low:.2f} to {high:.2f}; least {min(values):.2f})",
          flush=True)


def in_turns(monitors, pairs, measure):
    """The values of each; who is first changes from pair to pair."""
    values = {monitor: [] for monitor in monitors}
    for i in range(pairs):
        for monitor in monitors if i % 2 == 0 else reversed(monitors):
            values[monitor].append(measure(monitor))
    return values


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("monitors", nargs="+", type=os.path.abspath)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--processes", type=int, default=20)
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build")
    args = parser.parse_args()
    for interval in INTERVALS:  # prmon's shortest is 1 s
        monitors = [m for m in args.monitors if interval >= 1 or os.path.basename(m) != "prmon"]
        for monitor, found in in_turns(monitors, args.pairs, lambda m: going_on(args, m, interval)).items():
            show(f"{args.processes} processes, -i {interval}", monitor, found, "% of a CPU")
    print(f"load {os.getloadavg()[0]:.1f}")
    for monitor, found in in_turns(args.monitors, 10 * args.pairs, start).items():
        show("start and end, wall", monitor, [wall for wall, _cpu in found], "ms")
        show("start and end, CPU", monitor, [cpu for _wall, cpu in found], "ms")


if __name__ == "__main__":
    sys.exit(main())
