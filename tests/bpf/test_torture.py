# SPDX-License-Identifier: BSD-2-Clause
"""Random trees of processes that know what they hold: what bpfmon says of them is never impossible.

For longer, and with other seeds: make torture SECONDS=3600.
"""

import time

from lib import sweep, torture
from lib.bpfmon import BUILD, Case

SECONDS = sweep.often(20, 600)
FIRST_SEED = sweep.often(sweep.SEED, 1)
LEAST_SEEDS = 5
KEPT = BUILD / "torture"  # the files of seeds with violations


def search(case, source, seconds):
    """Runs seeds for so long, and fails if one has violations."""
    case.enterContext(torture.huge_pages())
    kinds, end, seed, wrong = torture.metric_kinds(), time.monotonic() + seconds, FIRST_SEED, []
    while time.monotonic() < end or seed < FIRST_SEED + LEAST_SEEDS:
        folder = torture.fresh(KEPT / f"{source}-{seed}")
        torture.run(seed, folder, source=source)
        found, _said, _log = torture.check(folder, kinds)
        wrong += [f"seed {seed}: {name}: {text}" for name, text in found]
        if not found:
            torture.fresh(folder)
        seed += 1
    print(f"seeds {FIRST_SEED} to {seed - 1}; one of them again: make torture SEED={FIRST_SEED} COUNT=1 SOURCE={source}")
    case.assertEqual(wrong, [], "\n".join(wrong[:40]))


class Torture(Case):
    def test_numbers_about_random_trees_are_within_their_bounds(self):
        search(self, "bpf", SECONDS)

    def test_numbers_are_the_same_while_an_agent_is_restarted(self):
        search(self, "restarts", SECONDS / 2)
