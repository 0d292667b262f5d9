# SPDX-License-Identifier: BSD-2-Clause
"""What bpfmon itself costs, in absolute figures: start-up, its own CPU, memory, drains."""

import os

import attached
import stats

MIB = 1024			# in KiB


def field(summary, *path):
    """A number deep in the summary's "self", or None where it is absent."""
    at = summary.get("self")
    for key in path:
        at = at.get(key) if isinstance(at, dict) else None
    return at if isinstance(at, (int, float)) and not isinstance(at, bool) else None


def figure(name, values, unit, target=None, note=""):
    """A line of the table; values that bpfmon did not report are None."""
    known = [v for v in values if v is not None]
    row = {"name": name, "unit": unit, "target": target, "note": note, "values": known}
    if not known:
        return {**row, "median": None, "verdict": "absent"}
    middle = stats.median(known)
    enclosed = stats.interval(known)
    # With fewer than six values, their range stands in for the interval.
    low, high = enclosed or (min(known), max(known))
    word = "-" if target is None else "reaches target" if middle <= target else "not met"
    return {**row, "median": middle, "low": low, "high": high,
            "interval": "95 %" if enclosed else "range", "verdict": word}


def startup(runner, count, say):
    """The whole command under bpfmon minus the bare one, for a command that does nothing."""
    extra = []
    argv = ["/bin/true"]
    runner.monitored("1", argv, reports=False)
    for i in range(count):
        if i % 2 == 0:
            bare = runner.run(argv, reports=False)
            full = runner.monitored("1", argv, reports=False)
        else:
            full = runner.monitored("1", argv, reports=False)
            bare = runner.run(argv, reports=False)
        extra.append((full["whole"] - bare["whole"]) * 1e3)
        say(f"run {i + 1}: {extra[-1]:.1f} ms")
    return [figure("start-up and end, `/bin/true`", extra, "ms", 60)]


def difference(long, short, seconds):
    """% of a core in the time a long run has more than a short one; None where absent."""
    if long is None or short is None:
        return None
    return 100 * (long - short) / seconds


def idle(runner, build, seconds, count, say):
    """100 sleeping processes at -i 1. A run of one second holds all of the fixed cost; what a
    longer one has more is the cost of monitoring."""
    def hold(length):
        argv = [os.path.join(build, "threadhold"), "-p", "100", str(length)]
        return runner.monitored("1", argv)

    keys = {"collector and recorder": ("cpu_seconds",),
            "collector alone": ("collector", "cpu_seconds"),
            "recorder alone": ("recorder", "cpu_seconds")}
    short, full = [], []
    for i in range(max(3, count)):
        short.append(hold(1))
        say(f"short run {i + 1}")
    for i in range(count):
        full.append(hold(seconds))
        say(f"run {i + 1} of {seconds} s")
    rows = []
    for name, path in keys.items():
        known = [v for v in (field(r["summary"], *path) for r in short) if v is not None]
        fixed = stats.median(known) if known else None
        used = [difference(field(r["summary"], *path), fixed, seconds - 1) for r in full]
        rows.append(figure(f"own CPU, 100 sleepers, -i 1, {name}", used, "% of a core",
                           0.1 if path == ("cpu_seconds",) else None))
    # The sleepers use no CPU while they sleep, so the kernel's accounts of all that was reaped
    # must tell the same, if bpfmon reaps its other role.
    fixed = stats.median([r["whole_cpu"] for r in short])
    used = [difference(r["whole_cpu"], fixed, seconds - 1) for r in full]
    rows.append(figure("the same by wait4, to compare", used, "% of a core"))
    for role, target in (("collector", 24 * MIB), ("recorder", 8 * MIB)):
        rss = [kib(field(r["summary"], role, "rss_bytes")) for r in full]
        rows.append(figure(f"RSS of the {role}", rss, "KiB", target))
    rows.append(figure("BPF maps", [kib(field(r["summary"], "map_bytes")) for r in full], "KiB"))
    return rows


def kib(value):
    return None if value is None else value / 1024


def drain(runner, build, seconds, count, say):
    """The time of one drain with that many live threads, at -i 0.1 to have many of them."""
    rows = []
    for tasks, target in ((10, 0.2), (1000, 1.0)):
        typical, longest = [], []
        name = "median"
        for i in range(count):
            argv = [os.path.join(build, "threadhold"), str(tasks), str(seconds)]
            summary = runner.monitored("0.1", argv)["summary"]
            value = field(summary, "drain_seconds_median")
            if value is None:
                name = "mean"
                value = field(summary, "drain_seconds_mean")
            typical.append(milli(value))
            longest.append(milli(field(summary, "drain_seconds_max")))
            say(f"{tasks} tasks, run {i + 1}")
        rows.append(figure(f"drain, {tasks} live tasks, {name} of a run", typical, "ms", target))
        rows.append(figure(f"drain, {tasks} live tasks, longest of a run", longest, "ms"))
    return rows


def cgroup(runner, build, seconds, count, say):
    """A sample of a cgroup with 1,000 tasks: its drain, and all the CPU that a sample takes, which
    is what a longer attachment has more than one of a second."""
    rows = []
    hold = os.path.join(build, "threadhold")
    shapes = (("20 processes", [[hold, "50", "600"]] * 20, 2.0),
              ("1,000 processes", [[hold, "-p", "1000", "600"]], 4.0))
    for name, programs, target in shapes:
        typical, used = [], []
        for i in range(count):
            short = attached.inside(runner, programs, 1000, 1)
            full = attached.inside(runner, programs, 1000, 1 + seconds)
            typical.append(milli(field(full, "drain_seconds_median")))
            more = full["samples"] - short["samples"]
            cpu = difference(field(full, "cpu_seconds"), field(short, "cpu_seconds"), more)
            used.append(None if cpu is None else cpu * 10)
            say(f"{name}, run {i + 1}")
        rows.append(figure(f"drain, a cgroup of 1,000 tasks in {name}", typical, "ms", target))
        rows.append(figure(f"CPU of a sample, a cgroup of 1,000 tasks in {name}", used, "ms", target))
    return rows


STORE_SHAPES = {
    "without": ("--no-store",),
    "with": (),
    "with 20 process samples": ("--process-samples", "20"),
}


def store(runner, build, seconds, count, say):
    """What the store costs with 100 sleeping processes at -i 0.1, by runs with and without it one
    after the other. As for idle, a run of a second holds the fixed cost."""
    def hold(length, options):
        argv = [os.path.join(build, "threadhold"), "-p", "100", str(length)]
        return runner.monitored("0.1", argv, options=options)["summary"]

    def rates(options):
        short, full = hold(1, options), hold(1 + seconds, options)
        return {role: difference(field(full, *path), field(short, *path), seconds)
                for role, path in (("recorder", ("recorder", "cpu_seconds")), ("both", ("cpu_seconds",)))}

    found = []
    for i in range(count):
        found.append({name: rates(options) for name, options in STORE_SHAPES.items()})
        say(f"round {i + 1}")
    rows = []
    for name, title, target in (("with", "the store", 1.0),
                                ("with 20 process samples", "the store and 20 process samples", 2.0)):
        for role, of in (("recorder", "recorder"), ("both", "collector and recorder")):
            more = [less(f[name][role], f["without"][role]) for f in found]
            rows.append(figure(f"{title}, 100 sleepers, -i 0.1, {of}", more, "% of a core", target))
    return rows


def less(a, b):
    return None if a is None or b is None else a - b


def milli(value):
    return None if value is None else value * 1e3


NAMES = ("startup", "idle", "store", "drain", "cgroup", "spans", "tests", "keys", "bench", "limits", "jobs")
