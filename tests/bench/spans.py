# SPDX-License-Identifier: BSD-2-Clause
"""What spans cost a build: make -j8 of 300 files, each recipe a span, against the same without spans."""

import json
import os

import project
import stats
from runner import Broken
from selfcost import figure

FILES = 300
TARGET = 1.02			# of the wall time without spans


def nanoseconds(seconds):
    return round(seconds * 1e9)


def topmost(spans, number):
    while number and "parent" in spans[number]:
        number = spans[number]["parent"]
    return number


def check_sum(path):
    """The spans, what their processes used before, and the other processes are the run, to the ns."""
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    spans = {line["id"]: line for line in lines if line["kind"] == "span"}
    records = {}
    for line in lines:
        if line["kind"] == "process":
            top = topmost(spans, line.get("span", 0))
            records[top] = records.get(top, 0) + nanoseconds(line["cpu_seconds"])
    inside = {n: nanoseconds(s["cpu_seconds"]) for n, s in spans.items() if "parent" not in s}
    before = sum(records[number] - used for number, used in inside.items())
    total = nanoseconds(lines[-1]["cpu_seconds"])
    if len(spans) != FILES + 2:		# of each file, of main.c, and of the program
        raise Broken(f"there are {len(spans)} spans of {FILES + 2} recipes")
    if any(records[number] < used for number, used in inside.items()):
        raise Broken("a span used more than its processes")
    if total != sum(inside.values()) + before + records.get(0, 0):
        raise Broken("the spans and the rest are not the run")


def pairs_of(runner, count, without, within, say):
    """Ratios of wall time and of all CPU, the monitor's included; the order is swapped each time."""
    wall, cpu = [], []
    for i in range(count):
        sides = [("without", without), ("with", within)]
        found = {}
        for name, argv in sides if i % 2 == 0 else reversed(sides):
            found[name] = runner.monitored("1", argv)
            if name == "with":
                check_sum(runner.trace)
        wall.append(found["with"]["seconds"] / found["without"]["seconds"])
        cpu.append(found["with"]["whole_cpu"] / found["without"]["whole_cpu"])
        say(f"pair {i + 1}: wall {stats.median(wall):.4f}, CPU {stats.median(cpu):.4f}")
    return wall, cpu


def spans(runner, build, count, say):
    folder = os.path.join(runner.tmp, "project-of-spans")
    project.generate(folder, FILES)
    wrapper = os.path.join(os.path.dirname(runner.bpfmon), "libexec", "bash")
    make = [os.path.join(build, "timed"), "make", "-s", "-B", "-j8", "-C", folder]
    runner.run([*make, "SHELL=/bin/bash"])		# not counted: fills the page cache
    rows = []
    for name, options, target in (("bash", ["SHELL=/bin/bash"], TARGET), ("no shell", [], None)):
        wall, cpu = pairs_of(runner, count, [*make, *options], [*make, f"SHELL={wrapper}"], say)
        title = f"make -j8 of {FILES} files, spans against {name}"
        rows.append(figure(f"{title}, wall time", wall, "x", target))
        rows.append(figure(f"{title}, CPU of all", cpu, "x"))
    return rows
