# SPDX-License-Identifier: BSD-2-Clause
"""Runs of an ordinary user, who has no BPF: measured from /proc and by wait4()."""

from lib.bpfmon import AS_USER, Case, give_to_user


class OrdinaryUser(Case):
    def setUp(self):
        super().setUp()
        give_to_user(self.dir)

    def run_unprivileged(self, command, options=(), **kwargs):
        return self.run_bpfmon(command, options, cwd="/", **AS_USER, **kwargs)

    def assert_cpu(self, run, least, own=0.012):
        """Within 0.5 % and 2 ms of what is known, and what the programs use that report it."""
        self.assertGreaterEqual(run.summary["cpu_seconds"], 0.995 * least - 0.002)
        self.assertLessEqual(run.summary["cpu_seconds"], 1.005 * least + 0.002 + own)
