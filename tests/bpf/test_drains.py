# SPDX-License-Identifier: BSD-2-Clause
"""A drain meets each process that lives exactly once, however many there are and whatever is born and ends meanwhile."""

import json
import subprocess

from lib.bpfmon import BUILD, Case

ALONE = True
SAMPLED = True

FEW_ROWS = 24  # in 4 KiB: a drain of more tasks takes several runs of its program


class Drains(Case):
    def drains(self, processes, rows, times):
        argv = [str(BUILD / "drains"), str(processes), str(rows), str(times)]
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=500, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        got = json.loads(done.stdout)
        self.assertEqual(got["lost"], 0)
        for drain in got["drains"]:
            self.assertEqual((drain["none"], drain["one"], drain["several"]), (0, processes, 0), got)
            self.assertTrue(drain["all"], got)

    def test_one_process(self):
        self.drains(1, 0, 50)

    def test_a_thousand_processes(self):
        self.drains(1000, 0, 50)

    def test_thirty_thousand_processes(self):
        self.drains(30_000, 0, 3)

    def test_with_room_for_few_rows(self):
        for processes, times in ((1, 50), (1000, 10), (30_000, 1)):
            self.drains(processes, FEW_ROWS, times)
