# SPDX-License-Identifier: BSD-2-Clause
"""Attaching to what runs, and a witness of what a cgroup has used."""

import pathlib
import subprocess
import threading
import time

from lib.account import AccountCase
from lib.bpfmon import BPFMON, Run, read_lines
from lib.live import wait_for


class Usage(threading.Thread):
    """What a cgroup has used, over time."""

    def __init__(self, group):
        super().__init__()
        self.file = pathlib.Path(group) / "cpuacct.usage"
        self.points = []
        self.is_over = threading.Event()
        self.start()

    def run(self):
        while not self.is_over.wait(0.0005):
            before = time.time()
            used = int(self.file.read_text()) / 1e9
            self.points.append((before, time.time(), used))

    def stop(self):
        """Everything that was used, in the end."""
        self.is_over.set()
        self.join()
        return int(self.file.read_text()) / 1e9

    def between(self, moment):
        """At least and at most so much had been used at @moment."""
        low = max((used for _, after, used in self.points if after <= moment), default=0.0)
        high = min((used for before, _, used in self.points if before >= moment), default=float("inf"))
        return low, high


class AttachCase(AccountCase):
    def start(self, *argv, **popen):
        process = subprocess.Popen(argv, **popen)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def attach(self, pids, options=()):
        return self.attach_to([word for pid in pids for word in ("-p", str(pid))], options)

    def attach_to(self, which, options=()):
        out = self.dir / f"attach-{time.monotonic_ns()}.jsonl"
        argv = [BPFMON, "attach", "-o", str(out), *which, *options]
        process = self.start(*argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.out = out
        return process

    def finish(self, process):
        stdout, stderr = process.communicate(timeout=60)
        lines = read_lines(process.out) if process.out.exists() else []
        return Run(process.returncode, stdout, stderr.decode(errors="replace"), lines, None)

    def wait_until_attached(self, process):
        """The meta line is written when all that was there before is known."""
        wait_for(lambda: process.out.exists() and read_lines(process.out), "the first line")

    def check_refused(self, options, word):
        """One line that has the word, and exit status 2."""
        done = subprocess.run([BPFMON, "attach", *options], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(word, done.stderr)
