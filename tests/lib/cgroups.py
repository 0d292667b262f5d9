# SPDX-License-Identifier: BSD-2-Clause
"""Cgroups for tests, their members, and attaching to them."""

import os
import pathlib
import signal

from lib.attach import AttachCase
from lib.bpfmon import cgroup, truth
from lib.live import wait_for

CPUS = os.cpu_count()
UNIFIED = next(p for p in ("unified", "") if (pathlib.Path("/sys/fs/cgroup") / p / "cgroup.controllers").exists())


def move(group, pid, file="cgroup.procs"):
    (group / file).write_text(f"{pid}\n")


def used(group):
    """CPU time of the cgroup, from its own file."""
    v1 = group / "cpuacct.usage"
    if v1.exists():
        return int(v1.read_text()) / 1e9
    line = next(l for l in (group / "cpu.stat").read_text().splitlines() if l.startswith("usage_usec"))
    return int(line.split()[1]) / 1e6


class CgroupCase(AttachCase):
    def group(self, kind):
        """A new cgroup; it is removed at the end, after the processes that were started in it."""
        manager = cgroup(kind)
        group = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return group

    def below(self, group, name):
        sub = group / name
        sub.mkdir()
        self.addCleanup(sub.rmdir)
        return sub

    def start_in(self, group, *argv, **popen):
        return self.start(truth("incgroup"), str(group), *argv, **popen)

    def keeper(self, group):
        """A process that stays in the cgroup and does nothing."""
        process = self.start_in(group, "sleep", "60")
        wait_for(lambda: (group / "cgroup.procs").read_text(), "the keeper")
        return process

    def end(self, process):
        process.kill()
        process.wait()

    def attach_cgroup(self, group, *options):
        process = self.attach_to(["--cgroup", str(group)], ["-i", "0.1", *options])
        self.wait_until_attached(process)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        return self.finish(process)

    def events(self, run, name):
        return [e for e in run.kind("event") if e["event"] == name]

    def assert_agrees(self, run, expected, name="cpu_seconds"):
        """Within 1 % or 10 ms, plus what the CPUs can do during a look for members."""
        slack = max(0.01 * expected, 0.010) + CPUS * run.meta["attached"]["seeding_seconds"]
        self.assertAlmostEqual(run.summary[name], expected, delta=slack)

    def assert_sound(self, run):
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        self.assertEqual(self.events(run, "cgroup_differs"), [])
        self.assertEqual(len(run.processes), run.summary["processes_total"])
        total = sum(p["cpu_seconds"] for p in run.processes)
        self.assertAlmostEqual(total, run.summary["cpu_seconds"], delta=1e-6)
