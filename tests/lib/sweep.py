# SPDX-License-Identifier: BSD-2-Clause
"""The part of exhaustive tests that a run takes: all with BPFMON_TESTS=long, else a random one, which SEED repeats.

The runner chooses a seed and prints it where none is given.
"""

import os
import random
import time

LONG = os.environ.get("BPFMON_TESTS") == "long"
SEED = int(os.environ.setdefault("SEED", str(time.time_ns() % 1_000_000)))


def often(usual, long):
    """How often, or for how many seconds."""
    return long if LONG else usual


def part(items, every, offset=0):
    """All items, or one in so many, each of which some seed takes; others with another offset."""
    items = list(items)
    return items if LONG else items[(SEED + offset) % every :: every]


def takes(name):
    """Whether the run takes this test of those of which it takes one in four."""
    return LONG or random.Random(f"{SEED} {name}").randrange(4) == 0


def chance():
    """A source of random numbers that the seed repeats."""
    return random.Random(SEED)
