# SPDX-License-Identifier: BSD-2-Clause
"""Other tools that account for a command, at their defaults, as far as they are installed."""

import os
import shutil

from runner import Broken


class Peer:
    """scales: the share of the usual iterations, for workloads the tool slows down many times."""

    def __init__(self, name, program, options, scales=None, outfile=True):
        self.name = name
        self.program = program
        self.options = options
        self.scales = scales or {}
        self.outfile = outfile

    def command(self, argv, tmp):
        out = [os.path.join(tmp, self.name + ".out")] if self.outfile else []
        end = [] if self.outfile else ["-e"]
        return [self.program, *self.options, *out, *end, *argv]

    def scale(self, workload):
        return self.scales.get(workload.name, 1.0)

    def missing(self, runner):
        """Why the tool cannot be measured here, or None."""
        if not shutil.which(self.program):
            return "not installed"
        try:
            runner.run(self.command(["/bin/true"], runner.tmp), reports=False)
        except Broken as e:
            return f"does not work here: {e}"
        return None


STRACE = {"forkexec": 0.1, "pingpong": 0.1, "pingpong-1cpu": 0.05, "mmaptouch": 0.5}

ALL = {p.name: p for p in (
    Peer("time", "/usr/bin/time", ["-v", "-o"]),
    Peer("perf", "perf", ["stat", "-o"]),
    Peer("strace", "strace", ["-f", "-c", "-o"], STRACE),
    Peer("pidstat", "pidstat", ["1"], outfile=False),
)}
