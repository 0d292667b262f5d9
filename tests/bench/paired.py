# SPDX-License-Identifier: BSD-2-Clause
"""Paired ratios: the same workload with and without a monitor, in turns."""

import time

import stats

WIDTH = 0.02		# an interval narrower than this is good enough
LEAST = 10		# pairs before the width is looked at


class Limits:
    """relative: the width counts as a share of the ratio. For a tool that multiplies the time,
    0.02 of the bare time cannot be reached and would mean nothing."""

    def __init__(self, pairs, seconds, relative=False):
        self.pairs = pairs
        self.seconds = seconds
        self.relative = relative


def measure(bare, monitored, limits, say):
    """Alternates bare() and monitored(), each a run as Runner.run() gives it, until the interval
    of the workload ratio is narrow enough or a limit is reached. Returns the raw pairs.

    The order within the pair is swapped each time, so that a drift of the machine's speed and
    what the first run leaves in the caches weigh on both sides alike. The rule to stop looks only
    at the width of the interval, never at where it lies; still, stopping at the first narrow one
    makes the true confidence somewhat lower than the nominal 95 %."""
    pairs = []
    end = time.monotonic() + limits.seconds
    monitored()		# not counted: the first one fills the page cache
    while len(pairs) < limits.pairs and time.monotonic() < end:
        if len(pairs) % 2 == 0:
            without = bare()
            with_it = monitored()
        else:
            with_it = monitored()
            without = bare()
        pairs.append({"bare": without, "monitored": with_it})
        found = stats.describe(ratios(pairs, "seconds"))
        say(f"pair {len(pairs)}: {text(found)}")
        if len(pairs) >= LEAST and is_narrow(found, limits.relative):
            break
    return pairs


def width(found, relative):
    return WIDTH * max(1.0, found["median"]) if relative else WIDTH


def is_narrow(found, relative):
    return found["low"] is not None and found["high"] - found["low"] < width(found, relative)


def ratios(pairs, key):
    return [p["monitored"][key] / p["bare"][key] for p in pairs if p["bare"][key] > 0]


def text(found):
    if found["low"] is None:
        return f"{found['median']:.4f}"
    return f"{found['median']:.4f} [{found['low']:.4f}, {found['high']:.4f}]"


def evaluate(pairs, target, limits):
    """What the table shows of a row; only the workload ratio has a target."""
    work = stats.describe(ratios(pairs, "seconds"))
    cpu = ratios(pairs, "cpu")
    return {"workload": work,
            "whole": stats.describe(ratios(pairs, "whole")),
            "cpu": stats.describe(cpu) if cpu else None,
            "bare_seconds": stats.median([p["bare"]["seconds"] for p in pairs]),
            "pairs": len(pairs), "target": target,
            "verdict": stats.verdict(work, target, width(work, limits.relative))}
