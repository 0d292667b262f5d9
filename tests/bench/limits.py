# SPDX-License-Identifier: BSD-2-Clause
"""By how much a program that grows by 2 GB a second is above its limit when it has ended."""

import json
import os
import subprocess

from runner import Broken
from selfcost import figure

LIMIT = 500_000_000
RATE = 2000  # MB a second
TARGET = 1.10  # of the limit
ENDED_BY_LIMIT = 124


def peak(runner, build, options, key):
    """The most that it has held, in limits."""
    command = [runner.bpfmon, "-q", "--no-store", "--force", "-o", runner.trace, "--limit", f"rss<{LIMIT}B", *options, "--"]
    command += [os.path.join(build, "grow"), str(RATE)]
    done = subprocess.run(command, env=runner.env, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != ENDED_BY_LIMIT:
        raise Broken(f"{command}: {done.returncode}: {done.stderr}")
    with open(runner.trace, encoding="utf-8") as f:
        summary = json.loads(f.read().splitlines()[-1])
    return summary[key] / LIMIT


def limits(runner, build, count, say):
    rows = []
    for options, key, note in (
        (["--exact-peak"], "rss_peak_exact_bytes", "the exact peak of the tree"),
        (["--own-cgroup"], "process_rss_peak_bytes", "the kernel's high-water mark of the process"),
    ):
        values = []
        for i in range(count):
            say(f"{options[0]}, run {i + 1} of {count}")
            values.append(peak(runner, build, options, key))
        rows.append(figure(f"grows by 2 GB/s beyond 500 MB with {options[0]}, its largest", [max(values)], "x limit", TARGET, f"{count} runs; {note}"))
        rows.append(figure(f"grows by 2 GB/s beyond 500 MB with {options[0]}", values, "x limit", TARGET))
    return rows
