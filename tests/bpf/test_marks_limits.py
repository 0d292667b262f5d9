# SPDX-License-Identifier: BSD-2-Clause
"""How much of what is pushed is taken, and that the account of the run does not pay for the rest."""

import os
import signal
import subprocess

from lib.live import descriptor_links
from lib.marks import MarksCase, python, texts

LARGE = """
import subprocess, time
line = b"a v=" + b'"' + %s * (8000 // len(%s)) + b'"'
for i in range(%d):
    s.send(b"\\n".join([line] * 8))
    time.sleep(%f)
for i in range(200):
    subprocess.run(["true"])
s.send(b"mark after")
"""


class Bytes(MarksCase):
    def flood(self, letter, datagrams):
        return self.run_marks(python(LARGE % (letter, letter, datagrams, 0)), ["-i", "0.1"])

    def assert_bounded(self, run, lines):
        """All lines are accounted for, and what was taken of them is what a burst and the time may bring."""
        pushed = run.summary["pushed"]
        self.assert_pushed(run, marks=1, metrics=pushed["metrics"], dropped=lines - pushed["metrics"])
        self.assertEqual(texts(run), ["after"])
        self.assertGreater(pushed["metrics"], 0)
        self.assertEqual(len([p for p in run.processes if p["comm"] == "true"]), 200)
        return pushed["metrics"]

    def test_large_lines_are_dropped_and_the_run_is_complete(self):
        run = self.flood("b'x'", 240)
        taken = self.assert_bounded(run, 240 * 8)
        self.assertLess(taken * 8000, (1 << 20) + (64 << 10) * (run.summary["wall_seconds"] + 1))

    def test_lines_that_grow_when_they_are_written_are_counted_as_written(self):
        run = self.flood("b'\\1'", 60)
        taken = self.assert_bounded(run, 60 * 8)
        self.assertLess(taken * 48000, (1 << 20) + (64 << 10) * (run.summary["wall_seconds"] + 1))

    def test_a_recorder_that_is_behind_costs_pushed_lines_only(self):
        code = "sys.stdin.readline()" + LARGE % ("b'x'", "b'x'", 240, 0.003) + "print('sent', flush=True)\nsys.stdin.readline()"
        live = self.live(python(code), ["--marks", "-i", "0.1"], stdin=subprocess.PIPE)
        recorder = live.role(lambda pid, stat, has_bpf: str(live.out) in descriptor_links(pid).values())
        live.remember()
        os.kill(recorder, signal.SIGSTOP)
        live.process.stdin.write(b"\n")
        live.process.stdin.flush()
        self.assertEqual(live.process.stdout.readline(), b"sent\n")
        os.kill(recorder, signal.SIGCONT)
        self.assert_bounded(live.finish(), 240 * 8)
