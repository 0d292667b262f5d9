# SPDX-License-Identifier: BSD-2-Clause
"""The total CPU is what the kernel charged to a cgroup that holds just the tree."""

from lib.account import AccountCase, read_json
from lib.bpfmon import cgroup, truth


ENV = ["env", "-u", "TRUTH_BEFORE"]  # threadexec would write to it, too


class AgainstCpuacct(AccountCase):
    def check(self, command, interval="1"):
        """The run's total, less what ran before the join, against cpuacct.usage."""
        before = self.dir / "before.json"
        with cgroup() as group:
            run = self.run_bpfmon(
                [truth("incgroup"), str(group), *ENV, truth(command[0]), *command[1:]],
                ["-i", interval],
                env={"TRUTH_BEFORE": str(before)},
            )
            self.skip_if_lacking(run)
            self.assertEqual(run.code, 0, run.stderr)
            self.assertEqual((group / "cgroup.procs").read_text(), "")
            usage = int((group / "cpuacct.usage").read_text()) / 1e9
        self.assert_complete(run)
        cpu = run.summary["cpu_seconds"] - read_json(before)["cpu_joined_seconds"]
        self.assert_cpu(cpu, usage)
        self.assert_sums(run)
        return run

    def test_many_short_threads(self):
        self.check(["threads", "3000", "0"])

    def test_a_storm_of_forks(self):
        run = self.check(["forkstorm", "6", "300"], "0.01")
        self.assert_counts(run, 1807, 450)

    def test_children_that_no_wait_ever_sees(self):
        self.check(["ignchld", "50", "10"])

    def test_a_daemon(self):
        self.check(["daemon", "-w", "300"])

    def test_threads_killed_by_an_exec(self):
        self.check(["threadexec", truth("spin"), "100"], "0.01")

    def test_kernel_workers_of_io_uring(self):
        self.check(["iouring", "8000", str(self.dir)])

    def test_many_execs(self):
        self.check(["vforker", "300", truth("execnames")], "0.01")

    def test_the_teardown_of_a_gigabyte(self):
        self.check(["teardown", "1024"])


class Teardown(AccountCase):
    def test_the_cpu_of_giving_memory_back_is_the_childs(self):
        run = self.run_witnessed([truth("teardown"), "1024"])
        self.assert_counts(run, 3, 0)
        child = self.only(p for p in self.inside(run) if p["pid"] != run.wait4["pid"])
        total = run.witness["child"]["cpu_seconds"]
        teardown = total - run.witness["child_cpu_before_exit_seconds"]
        self.assertGreater(teardown, 0.020)  # else this shows nothing
        self.assert_cpu(child["cpu_seconds"], total)
        self.assert_cpu(run.summary["cpu_seconds"], run.wait4["cpu_seconds"])
        self.assertGreaterEqual(child["rss_peak_bytes"], 1 << 30)
