# SPDX-License-Identifier: BSD-2-Clause
"""Tens of thousands of processes that share a thousand pids or two are tens of thousands of processes."""

import pathlib

from lib.account import AccountCase, ns, read_json
from lib.bpfmon import cgroup, truth

PID_MAX = pathlib.Path("/proc/sys/kernel/pid_max")
USES = 15  # of each pid


class PidReuse(AccountCase):
    def lower_pid_max(self):
        """Leaves about a thousand pids beyond those in use; puts the old limit back at the end."""
        old = PID_MAX.read_text()
        used = [int(p.name) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit()]
        limit = 1000 + 2 * len(used)
        if limit >= int(old):
            self.skipTest(f"kernel.pid_max is {int(old)}, which {len(used)} live processes leave no room to lower")
        self.addCleanup(PID_MAX.write_text, old)
        PID_MAX.write_text(str(limit))
        return limit

    def test_each_of_them_is_counted_and_none_has_what_another_used(self):
        limit = self.lower_pid_max()
        children = USES * limit
        before = self.dir / "before.json"
        with cgroup() as group:
            run = self.run_bpfmon(
                [truth("incgroup"), str(group), truth("forkonly"), str(children)],
                ["-i", "0.1"],
                env={"TRUTH_BEFORE": str(before)},
                timeout=300,
            )
            usage = int((group / "cpuacct.usage").read_text()) / 1e9
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_counts(run, children + 1, 0)
        self.assertGreater(children, 10 * len({p["pid"] for p in run.processes}))
        self.assertLess(max(p["pid"] for p in run.processes), limit)
        self.assert_sums(run)
        cpu = run.summary["cpu_seconds"] - read_json(before)["cpu_joined_seconds"]
        self.assert_cpu(cpu, usage)
        root = self.only(p for p in run.processes if p["execs"])
        born = [p for p in run.processes if p is not root]
        self.assertEqual({p["ppid"] for p in born}, {root["pid"]})
        self.assertLess(max(ns(p["cpu_seconds"]) for p in born), 50_000_000)
        for child in born:
            self.assertEqual((child["threads_total"], child["exit_code"]), (1, 0))
            self.assertEqual(child["rchar_bytes"], 0)
            self.assertGreater(child["cpu_seconds"], 0)
