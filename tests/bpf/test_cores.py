# SPDX-License-Identifier: BSD-2-Clause
"""The cores in use: no sample, however late or close to another, says more than the CPUs there are."""

import os
import subprocess
import sys

from lib.account import AccountCase
from lib.bpfmon import BPFMON, read_lines, truth
from lib.marks import SENDER

ALONE = True

CPUS = len(os.sched_getaffinity(0))
MARKS = SENDER + """
import time
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    s.send(b"mark m")
    time.sleep(0.007)
"""


class Cores(AccountCase):
    def beside(self, *argv):
        process = subprocess.Popen(argv)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_busy(self, number, ms, *prefix):
        """So many busy processes, and marks; bpfmon runs as @prefix lets it."""
        out = self.dir / "run.jsonl"
        burn = f"for i in $(seq {number}); do chrt -o 0 {truth('spin')} {ms} & done"
        script = f'{burn}; chrt -o 0 "$0" -c "$1" 1; wait'
        subprocess.run([*prefix, BPFMON, "-q", "-i", "0.01", "--marks", "-o", str(out), "--", "sh", "-c", script,
                        sys.executable, MARKS], check=True, timeout=120)
        lines = read_lines(out)
        (self.summary,) = [line for line in lines if line["kind"] == "summary"]
        self.samples = [line for line in lines if line["kind"] == "sample"]
        self.assertTrue(self.summary["complete"], self.summary)

    def check_bounded(self):
        cores = [sample["cores"] for sample in self.samples if "cores" in sample]
        self.assertGreater(len(cores), 10)
        self.assertLessEqual(max(cores), CPUS)
        self.assertLessEqual(self.summary["cores_peak"], CPUS)
        self.assertGreaterEqual(self.summary["cores_peak"], self.summary["cores_mean"])

    def test_busy_cpus_and_marks(self):
        self.run_busy(2 * CPUS, 400)
        self.check_bounded()

    def test_a_collector_that_hardly_gets_a_cpu(self):
        """It is idle work beside hundreds of busy processes, and is preempted in the middle of its drains."""
        self.run_busy(200 * CPUS, 10, "chrt", "-i", "0")
        self.check_bounded()

    def test_one_busy_core_is_one(self):
        """Also where the collector shares its CPU with others; a tick more or less is the kernel's."""
        cpus = sorted(os.sched_getaffinity(0))
        first, last = cpus[0], cpus[-1]
        for _ in range(2):
            self.beside("taskset", "-c", str(last), truth("spin"), "20000")
        out = self.dir / "one.jsonl"
        subprocess.run(["taskset", "-c", str(last), BPFMON, "-q", "-i", "0.1", "-o", str(out), "--", "taskset", "-c",
                        str(first), truth("spin"), "2000"], check=True, timeout=120)
        (summary,) = [line for line in read_lines(out) if line["kind"] == "summary"]
        self.assertLessEqual(summary["cores_peak"], 1.2)
