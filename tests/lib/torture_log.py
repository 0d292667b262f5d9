# SPDX-License-Identifier: BSD-2-Clause
"""The log of a torture run as bounds: the least and the most that each address space held over time.

Of a change that is under way only the two ends are known; so it counts as not yet done in one bound
and as done in the other. A line of the log: NS PROCESS SPACE WORD..., CLOCK_MONOTONIC.
"""

import bisect
import collections
import dataclasses
import math

RSS_KINDS = "afs"  # anonymous, file, shmem; h (hugetlb) is not resident memory
KINDS = RSS_KINDS + "h"
EVER = math.inf
PAGE = 4096
# What no change accounts for: stack, data and heap. 64 KiB at the start of an image, by its own statm
ANON_BASE_BYTES = 256 << 10
# Pages in which groups of processes wait for each other, one a group
SHMEM_BASE_BYTES = 64 << 10
# The launcher's own pages, which the command's process has until its exec
LAUNCHER_BYTES = 32 << 20


class Steps:
    """A number over time that changes in steps, from 0."""

    def __init__(self, changes=()):
        self.times, self.values = [-EVER], [0]
        for ns, delta in sorted(changes, key=lambda c: c[0]):
            self.times.append(ns)
            self.values.append(self.values[-1] + delta)

    def within(self, first_ns, last_ns):
        """Its values from first to last."""
        return self.values[bisect.bisect_right(self.times, first_ns) - 1 : bisect.bisect_right(self.times, last_ns)]


@dataclasses.dataclass
class Use:
    """A process in an address space: from begin to gone possibly, from sure to until certainly."""

    process: "Process"
    space: "Space"
    begin: float
    sure: float = EVER
    until: float = EVER
    gone: float = EVER

    def surely_throughout(self, first, last):
        return self.sure <= first and last <= self.until


@dataclasses.dataclass
class Process:
    name: str
    uses: list = dataclasses.field(default_factory=list)
    pid: int = 0
    execs: int = 0
    threads: int = 0  # of which creation has begun
    threads_begun: int = 0
    resets: bool = False
    begin: float = -EVER  # its birth is between these two
    born: float = EVER
    inherited: tuple = (0, 0)
    used: tuple = None  # CPU in us and minor faults, as wait4() had them: with those that it had waited for
    waited_for: list = dataclasses.field(default_factory=list)

    @property
    def gone(self):
        return self.uses[-1].gone

    def used_itself(self):
        """The most CPU in us, and the minor faults; None: nothing has waited for it and logged that."""
        of_others = [other.used for other in self.waited_for]
        if not self.used or None in of_others:
            return None
        cut_off = 2 * len(of_others)  # user and system time are whole us each
        return self.used[0] - sum(cpu for cpu, _ in of_others) + cut_off, self.used[1] - sum(n for _, n in of_others)

    def shares(self):
        """Whether it ever shared an address space."""
        return any(len(use.space.uses) > 1 for use in self.uses)


class Space:
    """An address space and the bounds of what it holds."""

    def __init__(self, name, file_base_bytes):
        self.name = name
        self.uses = []
        self.parent = None  # the space that fork copied, and the time that it took
        self.fork = (EVER, EVER)
        self.file_base_bytes = file_base_bytes
        self.changes = {}  # number: [kind, least, most, begin, end]
        self.lower, self.upper = {}, {}  # kind, or "rss": Steps
        self.extra_bytes = 0
        self.reset_ns = -EVER  # when its mark was last reset
        self.at_start = (0, 0)  # anonymous and of files, as its own statm said when the image began

    def begin(self):
        return min(use.begin for use in self.uses)

    def gone(self):
        return max(use.gone for use in self.uses)

    def build(self):
        low, high = collections.defaultdict(list), collections.defaultdict(list)
        begin, first = self.begin(), min(use.sure for use in self.uses)
        if self.parent:
            # the kernel copies mappings that have anonymous pages, and those of huge pages
            for kind in "ah":
                high[kind].append((begin, max(self.parent.upper[kind].within(*self.fork))))
            if first < EVER:
                low["a"].append((first, max(0, min(self.parent.lower["a"].within(*self.fork)))))
        for kind, least, most, begun, ended in self.changes.values():
            low[kind].append((begun if least < 0 else ended, least))
            high[kind].append((begun if most > 0 else ended, most))
        for kind in KINDS:
            self.lower[kind], self.upper[kind] = Steps(low[kind]), Steps(high[kind])
        self.lower["rss"] = Steps(sum((low[k] for k in RSS_KINDS), []))
        self.upper["rss"] = Steps(sum((high[k] for k in RSS_KINDS), []))

    def bounds(self, kind, first, last):
        """The least and the most that it held from first to last, if it was there throughout."""
        least = max(0, min(self.lower[kind].within(first, last)))
        return least, max(self.upper[kind].within(first, last)) + self.base(kind)

    def freed_as_it_grew(self):
        """Whether pages were freed while others were touched: the kernel's mark lacks the growth in that time."""
        changes = [(least, most, begun, ended) for _kind, least, most, begun, ended in self.changes.values()]
        freed = [(begun, ended) for least, _most, begun, ended in changes if least < 0]
        grew = [(begun, ended) for _least, most, begun, ended in changes if most > 0]
        return any(a[0] < b[1] and b[0] < a[1] for a in freed for b in grew if a != b)

    def base(self, kind):
        """The constant allowance."""
        anon = ANON_BASE_BYTES + self.extra_bytes
        bases = {"a": anon, "f": self.file_base_bytes, "s": SHMEM_BASE_BYTES, "h": 0}
        return bases[kind] if kind in bases else sum(bases.values())

    def surely_there(self):
        """The spans in which one of its users certainly is in it, joined."""
        joined = []
        for first, last in sorted((u.sure, u.until) for u in self.uses if u.sure < u.until):
            if joined and first <= joined[-1][1]:
                joined[-1][1] = max(joined[-1][1], last)
            else:
                joined.append([first, last])
        return joined


class Log:
    """All processes and address spaces of a run."""

    def __init__(self, text, file_base_bytes=1 << 20):
        self.processes, self.spaces = {}, {}
        self.left = []  # (process, until, bytes): seen of what one that has ended still had
        self.file_base_bytes = file_base_bytes
        self.by_pid = {}
        self.first_ns = None
        lines = [line.split() for line in text.splitlines()]
        for ns, process, space, word, *rest in sorted(lines, key=lambda line: int(line[0])):
            if self.first_ns is None:
                self.first_ns = int(ns)
            getattr(self, "do_" + word)(int(ns), process, self.space(space), *rest)
        self.end_all()
        for space in sorted(self.spaces.values(), key=Space.begin):
            space.build()
            self.note_inherited(space)

    def space(self, name):
        if name not in self.spaces:
            self.spaces[name] = Space(name, self.file_base_bytes)
        return self.spaces[name]

    def end_all(self):
        """Leaves out births that did not happen: another thread of the process ended the new one."""
        self.processes = {name: p for name, p in self.processes.items() if p.pid}
        for space in self.spaces.values():
            space.uses = [use for use in space.uses if use.process.pid]
        self.spaces = {name: space for name, space in self.spaces.items() if space.uses}

    def note_inherited(self, space):
        if space.parent:
            owner = space.uses[0].process
            owner.inherited = (
                max(0, min(space.parent.lower["a"].within(*space.fork))),
                max(space.parent.upper["a"].within(*space.fork)) + space.base("a"),
            )

    def enter(self, process, space, begin, sure=EVER):
        use = Use(process, space, begin, sure)
        process.uses.append(use)
        space.uses.append(use)
        return use

    def do_fork(self, ns, _process, space, name):
        child = self.processes[name] = Process(name, begin=ns)
        own = self.space(name + ".0")
        own.parent, own.fork = space, (ns, EVER)
        self.enter(child, own, ns)

    def do_share(self, ns, _process, space, name):
        child = self.processes[name] = Process(name, begin=ns)
        self.enter(child, space, ns)

    def do_forked(self, ns, _process, _space, name, pid):
        self.met(self.processes[name], ns, int(pid))

    def do_born(self, ns, name, _space, pid):
        process = self.processes[name]
        process.uses[-1].sure = ns
        self.met(process, ns, int(pid))

    def met(self, process, ns, pid):
        """It exists: all copies for it are complete."""
        process.pid = pid
        if ns < process.born:
            process.born = ns
            own = process.uses[0].space
            if own.parent and own.fork[1] == EVER:
                own.fork = (own.fork[0], ns)
        if process.gone == EVER:
            self.by_pid[pid] = process

    def do_image(self, ns, name, space, pid):
        process = self.processes.get(name)
        if not process:  # the first of all
            process = self.processes[name] = Process(name)
            before = self.space("launcher.0")
            before.extra_bytes = LAUNCHER_BYTES
            self.enter(process, before, -EVER).gone = ns
            begin = -EVER
        else:
            begin = process.uses[-1].until if process.uses[-1].until < EVER else process.uses[-1].begin
            process.uses[-1].gone = ns
            process.uses[-1].until = min(process.uses[-1].until, begin)
        process.execs += 1
        self.enter(process, space, begin, ns)
        self.met(process, ns, int(pid))

    def do_exec(self, ns, name, _space):
        self.ends(self.processes[name], ns)

    def do_exit(self, ns, name, _space):
        self.ends(self.processes[name], ns)

    def do_kill(self, ns, _process, _space, name):
        self.ends(self.processes[name], ns)

    def ends(self, process, ns):
        process.uses[-1].until = min(process.uses[-1].until, ns)

    def do_reaped(self, ns, reaper, _space, pid, *used):
        process = self.by_pid.pop(int(pid))
        process.used = tuple(map(int, used)) or None
        self.processes[reaper].waited_for.append(process)
        process.uses[-1].gone = ns
        self.ends(process, ns)

    def do_change(self, ns, _process, space, number, kind, least, most):
        space.changes[number] = [kind, int(least), int(most), ns, EVER]

    def do_changed(self, ns, _process, space, number):
        space.changes[number][4] = ns

    def do_left(self, _ns, _process, _space, name, until, size):
        self.left.append((self.processes[name], int(until), int(size)))

    def do_reset(self, ns, name, space):
        space.reset_ns = ns
        for use in space.uses:
            use.process.resets = True
        self.processes[name].resets = True

    def do_thread(self, _ns, name, _space):
        self.processes[name].threads += 1

    def do_threaded(self, _ns, name, _space):
        self.processes[name].threads_begun += 1

    def do_base(self, _ns, _process, space, _vms, resident, in_files, *_rest):
        space.at_start = (int(resident) - int(in_files)) * PAGE, int(in_files) * PAGE

    def do_leader(self, *_unused):
        pass
