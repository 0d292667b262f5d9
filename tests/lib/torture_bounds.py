# SPDX-License-Identifier: BSD-2-Clause
"""Sums over the address spaces of a torture run: at a moment, and the largest of all moments."""

from lib.torture_log import EVER, KINDS


def of_sample(log, kind, first, last):
    """Lower and upper bound of a sample that was taken from first to last.

    It reads one space after the other, each at a moment of its own. A process that is born, ends or
    executes meanwhile may be missing.
    """
    least = most = 0
    for space in log.spaces.values():
        begin, gone = space.begin(), space.gone()
        if begin > last or gone < first:
            continue
        low, high = space.bounds(kind, max(first, begin), min(last, gone))
        most += high
        if any(use.surely_throughout(first, last) for use in space.uses):
            least += low
    return least, most


def of_process(log, pid, first, last):
    """The same for one process; the upper bound over all of its address spaces."""
    least, most, found = EVER, 0, False
    for process in log.processes.values():
        if process.pid != pid:
            continue
        for use in process.uses:
            if use.begin > last or use.gone < first:
                continue
            found = True
            low, high = use.space.bounds("rss", max(first, use.begin), min(last, use.gone))
            least = min(least, low if use.surely_throughout(first, last) else 0)
            most = max(most, high)
    return (least, most) if found else None


def sweep(edges, falls_first):
    """The largest sum of pieces that exist at the same time: (sum, when, of how many).

    An edge: (when, by how much the sum changes, by how many those that it is of). Which of two at the
    same nanosecond comes first is not known: what is certain has falls first, what is possible rises.
    """
    total = count = 0
    best = (0, -EVER, 0)
    for when, change, one in sorted(edges, key=lambda e: (e[0], e[1] if falls_first else -e[1])):
        total += change
        count += one
        if total > best[0]:
            best = (total, when, count)
    return best


def edges_of(steps, first, last, more=0):
    """A piece that exists from first to last: its steps, and an allowance."""
    if first >= last:
        return
    value = max(0, steps.within(first, first)[-1]) + more
    yield first, value, 1
    for when in steps.times:
        if first < when < last:
            changed = max(0, steps.within(when, when)[-1]) + more
            yield when, changed - value, 0
            value = changed
    yield last, -value, -1


def sure_peak(log, kind="rss"):
    """Lower bound of their sum at some moment: teardown counts where it was observed."""
    edges = []
    for space in log.spaces.values():
        for first, last in space.surely_there():
            edges += edges_of(space.lower[kind], first, last)
    if kind == "rss":
        for first, last, size in teardown(log):
            edges += [(first, size, 1), (last, -size, -1)]
    return sweep(edges, falls_first=True)


def teardown(log):
    """Observed memory of ended processes, as pieces: what is left was there before."""
    seen = {}
    for process, until, size in sorted(log.left, key=lambda look: look[1]):
        begin = seen.get(process.name, process.uses[-1].until)
        if until > begin:
            yield begin, until, size
            seen[process.name] = until


def possible_peak(log, held_ns, kind="rss"):
    """Upper bound of their sum at any moment, where each may be held for @held_ns after its last process."""
    edges = []
    for space in log.spaces.values():
        edges += edges_of(space.upper[kind], space.begin(), space.gone() + held_ns, space.base(kind))
    return sweep(edges, falls_first=False)


def check_log(log):
    """What must be true of any log: an image begins with no more than its base has room for, with half
    of the anonymous part left for later; and a lower bound is never above the upper one."""
    for space in log.spaces.values():
        if space.at_start[0] > space.base("a") / 2 or space.at_start[1] > space.base("f"):
            yield f"space {space.name} begins with {space.at_start} bytes"
        times = {t for k in KINDS for t in space.lower[k].times if space.begin() <= t <= space.gone()}
        for t in times:
            for kind in KINDS:
                low, high = space.bounds(kind, t, t)
                if low > high:
                    yield f"space {space.name}: {kind} at {t} at least {low}, at most {high}"
