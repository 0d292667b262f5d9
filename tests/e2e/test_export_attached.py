# SPDX-License-Identifier: BSD-2-Clause
"""Exports of an attachment: counters since the start of the process, where the format has them so."""

import csv
import io
import json
import os
import signal
import subprocess
import time

from lib import prmonfile
from lib.attach import AttachCase
from lib.exports import ExportCase, kind

SAMPLED = True
TICK = 1 / os.sysconf("SC_CLK_TCK")
WHOLE_MS = 0.001  # what a column of whole milliseconds leaves out
# reads and computes before it says so, and once more for each line that comes
WORKER = """
import sys
while True:
    for _ in range(30):
        with open("/dev/zero", "rb", buffering=0) as zero:
            zero.read(1 << 20)
    sum(range(3_000_000))
    print("done", flush=True)
    if not sys.stdin.readline():
        break
"""


class Attached(AttachCase, ExportCase):
    def work(self, worker):
        self.assertEqual(worker.stdout.readline(), "done\n")

    def used(self, pid):
        """What /proc says that it has used since its start: seconds of CPU time, calls and bytes."""
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        with open(f"/proc/{pid}/io", encoding="ascii") as file:
            counts = {key: int(value) for key, value in (line.split(": ") for line in file)}
        return {"cpu": (int(fields[11]) + int(fields[12])) * TICK, "start": int(fields[19]) * TICK, **counts}

    def age(self):
        """Of the worker, in seconds; its start is known to a tick."""
        return time.clock_gettime(time.CLOCK_BOOTTIME) - self.before["start"]

    def setUp(self):
        super().setUp()
        worker = subprocess.Popen(["python3", "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(worker.stdout.close)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.stdin.close)
        self.work(worker)
        self.before = self.used(worker.pid)
        attached = self.attach([worker.pid], ["-q", "-i", "0.05"])
        self.wait_until_attached(attached)
        print("more", file=worker.stdin, flush=True)
        self.work(worker)
        self.after = self.used(worker.pid)
        at_least = self.age()
        attached.send_signal(signal.SIGINT)
        self.lines = self.finish(attached).lines
        self.ages = (at_least - TICK, self.age() + TICK)
        self.path = attached.out

    def test_prmon_has_what_proc_has(self):
        self.export_base(self.path, self.dir / "peer")
        columns, peer = prmonfile.load(self.dir / "peer.txt"), json.loads((self.dir / "peer.json").read_text())
        for key in ("rchar", "wchar", "read_bytes", "write_bytes"):
            self.assertGreaterEqual(columns[key][0], self.before[key])
            self.assertEqual((columns[key][-1], peer["Max"][key]), (self.after[key], self.after[key]))
        self.assertGreaterEqual(self.before["rchar"], 30 << 20)
        self.assertLessEqual(abs(columns["utime"][-1] + columns["stime"][-1] - self.after["cpu"]), 2 * TICK)
        self.assertEqual(peer["Max"]["utime"], int(columns["utime"][-1]))
        wall = columns["wtime"][-1]
        self.assertTrue(self.ages[0] - WHOLE_MS <= wall <= self.ages[1], (self.ages, wall))
        age = wall - self.lines[-1]["wall_seconds"]  # when the run began
        for at, sample in zip(columns["wtime"], kind(self.lines, "sample"), strict=True):
            self.assertAlmostEqual(at - age, sample["elapsed_seconds"], delta=0.002)
        averaged = self.after["rchar"] / peer["Avg"]["rchar"]  # the seconds that the average is of
        self.assertTrue(self.ages[0] <= averaged <= self.ages[1], (self.ages, averaged))

    def test_psrecords_counts_are_those_of_proc(self):
        rows = list(csv.DictReader(io.StringIO(self.export(self.path, "psrecord").decode())))
        plain = self.export(self.path, "psrecord-plain").decode().splitlines()[-1].split()
        keys = ("syscr", "syscw", "read_bytes", "write_bytes")
        expected = [str(self.after[key]) for key in keys]
        self.assertEqual([rows[-1][key] for key in ("read_count", "write_count", "read_bytes", "write_bytes")], expected)
        self.assertEqual(plain[4:], expected)
        self.assertEqual(float(rows[-1]["elapsed_time"]), kind(self.lines, "sample")[-1]["elapsed_seconds"])

    def test_resource_monitors_values_are_those_of_the_attachment(self):
        peer, summary = json.loads(self.export(self.path, "rmonitor")), self.lines[-1]
        self.assertAlmostEqual(peer["cpu_time"][0], summary["cpu_seconds"], places=5)
        self.assertAlmostEqual(peer["wall_time"][0], summary["wall_seconds"], places=5)
