# SPDX-License-Identifier: BSD-2-Clause
"""What a run of bpfmon bench costs above fork and exec, and how often it calls a command different from itself."""

import os
import re

from runner import Broken
from selfcost import figure

RUNS = 100
PER_RUN_TARGET = 0.005
SAME = 50			# benchmarks of a command against itself
SAME_TARGET = 5			# of them, at 5 %


def benchmark(runner, runs, *commands):
    """The seconds of all of it, start, loading and table included."""
    return runner.run([runner.bpfmon, "bench", "-N", "-n", str(runs), *commands], reports=False)["whole"]


def per_run(runner, build, count, say):
    """Each pair: the same number of runs bare, and between a short and a long benchmark."""
    above = []
    for i in range(count):
        say(f"pair {i + 1} of {count}")
        bare = runner.run([os.path.join(build, "forkexec"), str(RUNS)])["seconds"] / RUNS
        whole = benchmark(runner, RUNS + 1, "true") - benchmark(runner, 1, "true")
        above.append(whole / RUNS - bare)
    return above


def called_different(runner, say):
    """How many of SAME comparisons of a command with itself end in "more than noise"."""
    path = os.path.join(runner.tmp, "bench.txt")
    number = 0
    for i in range(SAME):
        say(f"{i + 1} of {SAME} commands against themselves, {number} called different")
        shell = 'exec "$0" bench -N -n 10 true true >"$1"'
        runner.run(["sh", "-c", shell, runner.bpfmon, path], reports=False)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        verdict = re.search(r" x \d[^:\n]*: (more than noise|may be noise|equal)", text)
        if not verdict:
            raise Broken(f"bench gives no verdict: {text}")
        number += verdict[1] == "more than noise"
    return number


def bench(runner, build, count, say):
    rows = [figure("bpfmon bench -N true, a run above fork and exec", per_run(runner, build, count, say), "s",
                   PER_RUN_TARGET, f"{RUNS} runs, their storing and reading included")]
    rows.append(figure(f"of {SAME} benchmarks of true against true, called different", [called_different(runner, say)], "1",
                       SAME_TARGET))
    return rows
