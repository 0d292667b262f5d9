# SPDX-License-Identifier: BSD-2-Clause
"""The workloads: how they are built, started and sized."""

import os
import subprocess

import project
from runner import Broken

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ("forkexec", "pingpong", "mmaptouch", "threadhold", "timed", "socketpong", "grow")
CFLAGS = "-O2 -std=gnu11 -Wall -Wextra -Werror -pthread -static".split()
SHORTEST, WISHED, LONGEST = 0.5, 0.9, 1.5	# seconds a run should take


class Workload:
    """argv(count) starts it with that many iterations; a fixed one ignores the count."""

    def __init__(self, name, argv, count, target, **asked):
        self.name = name
        self.argv = argv
        self.count = count
        self.target = target		# of the workload ratio at -i 1
        self.asked = asked		# the same with an option that it was made for
        self.sized = False

    def command(self, scale=1.0):
        return self.argv(max(1, round((self.count or 1) * scale)))

    def size(self, run):
        """Fits the iterations to this machine where the usual number takes too short or long."""
        if self.sized or self.count is None:
            return
        run(self.command())		# not counted: warms up
        seconds = run(self.command())["seconds"]
        if not SHORTEST <= seconds <= LONGEST:
            self.count = max(1, round(self.count * WISHED / seconds))
        self.sized = True


def compile_programs(build):
    os.makedirs(build, exist_ok=True)
    for name in PROGRAMS:
        output = os.path.join(build, name)
        sources = [os.path.join(HERE, name + ".c"), os.path.join(HERE, "bench.h")]
        if os.path.exists(output) and all(os.path.getmtime(s) < os.path.getmtime(output)
                                          for s in sources):
            continue
        argv = ["gcc", *CFLAGS, sources[0], "-o", output]
        try:
            subprocess.run(argv, check=True)
        except (OSError, subprocess.CalledProcessError) as e:
            raise Broken(f"{name}.c cannot be compiled: {e}") from e


def make_all(build, tmp):
    """The workloads by name. The programs are compiled, the project is written into tmp."""
    def program(name, *more):
        path = os.path.join(build, name)
        return lambda count: [path, str(count), *more]

    def socket(over, size, *more):
        path = os.path.join(build, "socketpong")
        return lambda count: [path, over, str(size), str(count), *more]

    def on_one_cpu(argv):
        return lambda count: ["taskset", "-c", cpu, *argv(count)]

    folder = os.path.join(tmp, "project")
    project.generate(folder)
    build_it = [os.path.join(build, "timed"), "make", "-s", "-B", "-j2", "-C", folder]
    cpu = str(min(os.sched_getaffinity(0)))
    found = [
        Workload("forkexec", program("forkexec"), 1200, 1.02),
        Workload("pingpong", program("pingpong"), 15000, 1.01, kinds=None),
        # Both processes on one CPU: no idle CPU is woken, so the same hooks weigh far more.
        Workload("pingpong-1cpu", program("pingpong", cpu), 150000, 1.01, kinds=None),
        Workload("mmaptouch", program("mmaptouch"), 1700, 1.01),
        *(Workload(f"pong-{over}", socket(over, 1), 15000, 1.01, net=1.05) for over in ("tcp", "udp", "unix")),
        *(Workload(f"pong-{over}-1cpu", on_one_cpu(socket(over, 1)), 70000, 1.01, net=1.05)
          for over in ("tcp", "udp", "unix")),
        *(Workload(f"stream-{over}", socket(over, 65536, "stream"), 80000, 1.01, net=1.01)
          for over in ("tcp", "unix")),
        Workload("compile", lambda count: build_it, None, 1.01, kinds=None),
    ]
    return {w.name: w for w in found}


SOCKETS = ("pong-tcp", "pong-udp", "pong-unix", "pong-tcp-1cpu", "pong-udp-1cpu", "pong-unix-1cpu", "stream-tcp",
           "stream-unix")
NAMES = ("forkexec", "pingpong", "pingpong-1cpu", "mmaptouch", *SOCKETS, "compile")
