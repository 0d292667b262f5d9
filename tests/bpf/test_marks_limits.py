# SPDX-License-Identifier: BSD-2-Clause
"""How much of what is pushed is taken; that the account does not pay for the rest, and no sender waits."""

import errno
import json
import os
import signal
import subprocess

from lib.live import PATIENCE, descriptor_links, wait_for
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


LATE = """
for i in range(1500):
    s.send(b"mark " + b"x" * 1000)
if os.fork():
    os._exit(43)
while os.getppid() == parent:
    pass
try:
    while True:
        s.send(b"mark late")
except OSError as e:
    with open(sys.argv[1] + ".new", "w") as f:
        f.write(str(e.errno))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
"""


class Late(MarksCase):
    def test_a_sender_after_the_end_does_not_wait_for_a_slow_recorder(self):
        fifo, told = self.dir / "fifo", self.dir / "told"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        late = python("parent = os.getpid()" + LATE, told)
        live = self.live(late, ["--marks", "-o", f"jsonl:{fifo}"], out=False, stdout=subprocess.DEVNULL)
        wait_for(told.exists, "an error for the daemon")
        # shut down first, then closed
        self.assertIn(int(told.read_text()), (errno.EPIPE, errno.ECONNREFUSED))
        self.assertIsNone(live.process.poll())  # the marks do not fit into what is between here and there
        os.set_blocking(reader, True)
        text = b"".join(iter(lambda: os.read(reader, 1 << 20), b""))
        self.assertEqual(live.process.wait(PATIENCE), 43)
        self.assertTrue(json.loads(text.splitlines()[-1])["complete"])
