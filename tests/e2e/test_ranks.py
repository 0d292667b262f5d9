# SPDX-License-Identifier: BSD-2-Clause
"""A bpfmon for each rank of a node is warned about."""

from lib.bpfmon import Case

NEEDS = ()
VARIABLES = ("SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_LOCAL_RANK")


class Ranks(Case):
    def test_a_later_rank_of_a_node_gets_one_line_and_runs(self):
        for variable in VARIABLES:
            run = self.run_bpfmon(["sh", "-c", "exit 3"], ["-q"], env={variable: "2"})
            self.assertEqual(run.code, 3)
            self.assertRegex(run.stderr, rf"\Abpfmon: warning: {variable} is not 0, so .*bpfmon span.*\n\Z")

    def test_the_first_rank_gets_none(self):
        run = self.run_bpfmon(["true"], ["-q"], env=dict.fromkeys(VARIABLES, "0"))
        self.assertEqual((run.code, run.stderr), (0, ""))
