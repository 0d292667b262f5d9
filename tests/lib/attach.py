# SPDX-License-Identifier: BSD-2-Clause
"""Attaching to running processes, and a witness of the usage of a cgroup."""

import pathlib
import subprocess
import threading
import time

from lib.account import AccountCase
from lib.bpfmon import BPFMON, Run, read_lines
from lib.live import wait_for


class Usage(threading.Thread):
    """The usage of a cgroup over time."""

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
        """The total usage at the end."""
        self.is_over.set()
        self.join()
        return int(self.file.read_text()) / 1e9

    def between(self, moment):
        """Lower and upper bound of the usage at @moment."""
        low = max((used for _, after, used in self.points if after <= moment), default=0.0)
        high = min((used for before, _, used in self.points if before >= moment), default=float("inf"))
        return low, high


class AttachCase(AccountCase):
    def start(self, *argv, **popen):
        process = subprocess.Popen(argv, **popen)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def attach(self, pids, options=(), **popen):
        return self.attach_to([word for pid in pids for word in ("-p", str(pid))], options, **popen)

    def attach_to(self, which, options=(), stderr=subprocess.PIPE, **popen):
        out = self.dir / f"attach-{time.monotonic_ns()}.jsonl"
        argv = [BPFMON, "attach", "-o", str(out), *which, *options]
        process = self.start(*argv, stdout=subprocess.PIPE, stderr=stderr, **popen)
        process.out = out
        return process

    def wait_for_start(self, which, options=()):
        """The same, when the programs in the kernel are attached: nothing that begins then is missed."""
        said = self.dir / f"said-{time.monotonic_ns()}"
        with open(said, "wb") as file:
            process = self.attach_to([*which, "--wait-start"], ["-v", *options], file)
        process.said = said
        wait_for(lambda: "loaded and attached" in said.read_text(), "the programs in the kernel")
        return process

    def finish(self, process):
        stdout, stderr = process.communicate(timeout=60)
        stderr = stderr if stderr is not None else process.said.read_bytes()
        lines = read_lines(process.out) if process.out.exists() else []
        return Run(process.returncode, stdout, stderr.decode(errors="replace"), lines, None)

    def wait_until_attached(self, process):
        """The meta line is written when all earlier processes are known."""
        wait_for(lambda: process.out.exists() and read_lines(process.out), "the first line")

    def check_refused(self, options, word):
        """One line with the word, and exit status 2."""
        done = subprocess.run([BPFMON, "attach", *options], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(word, done.stderr)
