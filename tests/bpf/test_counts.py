# SPDX-License-Identifier: BSD-2-Clause
"""Every process is counted once, and its CPU time with it."""

from lib.bpfmon import Case, truth

CHILDREN = 'i=0; while [ $i -lt 2000 ]; do /bin/true; i=$((i + 1)); done'


class Shell(Case):
    def check_storm(self, interval):
        run = self.run_witnessed(["sh", "-c", CHILDREN], ["-i", interval])
        self.assertEqual(run.code, 0)
        self.assert_complete(run)
        self.assertEqual(run.summary["processes_total"], 2002)  # with the witness
        self.assertEqual(len(run.processes), 2002)
        inner = sum(p["cpu_seconds"] for p in run.processes if p["comm"] != "witness")
        self.assertAlmostEqual(inner / run.wait4["cpu_seconds"], 1, delta=0.001)

    def test_two_thousand_children_at_one_second(self):
        self.check_storm("1")

    def test_two_thousand_children_at_ten_milliseconds(self):
        self.check_storm("0.01")
