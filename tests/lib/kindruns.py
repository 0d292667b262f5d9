# SPDX-License-Identifier: BSD-2-Clause
"""Runs of six kinds, and of one more, from a seed: their figures are drawn about those of their kind, not measured.

Of a kind each figure is log-normal about its own middle; sizes are independent of the kind. `call` and `recall` do
nearly the same, so that a classifier has something to mistake; all others are several spreads apart.
"""

import math
import random

from lib import manyruns
from lib.manyruns import MIB, Made, write  # noqa: F401

# shares and rates per CPU second: user, cores, faults, bytes read, bytes written, bytes a call, processes, course of memory, program
KINDS = {
    "align": (0.95, 7, 3e3, 2e7, 1e6, 65536, 0.05, "plateau", "aligner"),
    "sort": (0.6, 1.5, 3e4, 4e8, 4e8, 262144, 0.02, "grows", "sort"),
    "call": (0.9, 1, 1e3, 5e6, 2e5, 8192, 0.01, "plateau", "caller"),
    "recall": (0.88, 1, 1.3e3, 4e6, 2.4e5, 8192, 0.011, "plateau", "caller"),
    "build": (0.75, 3.5, 1.2e5, 1.5e7, 3e6, 4096, 30, "waves", "cc1"),
    "train": (0.98, 12, 200, 5e5, 1e4, 1 << 20, 0.002, "grows", "python3"),
}  # fmt: skip
STRANGER = (0.2, 0.1, 10, 1e9, 1, 1 << 22, 3, "falls", "stranger")
SPREAD = 0.12  # of the logarithm of a rate
SHAPES = {
    "plateau": lambda at: min(1, 0.3 + 5 * at),
    "grows": lambda at: 0.1 + 0.9 * at,
    "waves": lambda at: 0.6 + 0.35 * math.sin(20 * at),
    "falls": lambda at: 1 - 0.9 * at,
}


def counters_of(rng, figures, cpu):
    user, _, faults, read, written, size, processes, _, _ = figures
    about = lambda rate: rng.lognormvariate(math.log(rate), SPREAD)
    share = min(max(rng.gauss(user, 0.01), 0), 1)
    rchar, wchar = int(about(read) * cpu), int(about(written) * cpu)
    calls = lambda amount: max(1, int(amount / about(size)))
    total = max(1, round(about(processes) * cpu))
    return {
        "processes_total": total, "cpu_seconds": round(cpu, 6), "user_seconds": round(cpu * share, 6),
        "system_seconds": round(cpu * (1 - share), 6), "minflt": int(about(faults) * cpu), "majflt": 0, "nvcsw": int(about(100) * cpu),
        "rchar_bytes": rchar, "wchar_bytes": wchar, "syscr": calls(rchar), "syscw": calls(wchar), "execs": total, "threads_created": 0,
    }  # fmt: skip


def samples_of(rng, meta, wall, peak, shape):
    samples = []
    for i in range(16):
        rss = int(peak * SHAPES[shape](i / 15) * rng.uniform(0.97, 1))
        elapsed = round(wall * i / 15, 6)
        samples.append({"kind": "sample", "time": meta["start_time"] + elapsed, "elapsed_seconds": elapsed, "cpu_seconds": elapsed, "rss_bytes": rss,
                        "rss_anon_bytes": rss // 2})  # fmt: skip
    return samples


def run(rng, kind, number):
    """One of `kind`, or a stranger."""
    figures = KINDS.get(kind, STRANGER)
    meta = manyruns.meta_of(rng, number)
    meta |= {"name": kind, "command": [f"./{kind}.sh", str(number)]}
    cpu = rng.lognormvariate(5, 1)  # however large
    wall = round(cpu / rng.lognormvariate(math.log(figures[1]), SPREAD), 6)
    peak = int(rng.lognormvariate(6, 1) * MIB)
    samples = samples_of(rng, meta, wall, peak, figures[7])
    program = {"exe": f"/opt/bin/{figures[8]}", "processes": 1, "cpu_seconds": round(cpu, 6)}
    summary = {
        "kind": "summary", "complete": True, "losses": {}, "exit_code": 0, "signal": None, "wall_seconds": wall, "samples": len(samples),
        **counters_of(rng, figures, cpu), "rss_peak_bytes": max(sample["rss_bytes"] for sample in samples), "programs": [program],
    }  # fmt: skip
    return Made(meta, samples, [], summary)


def runs(count, seed=1):
    rng = random.Random(seed)
    return [run(rng, rng.choice(list(KINDS)), i) for i in range(count)]
