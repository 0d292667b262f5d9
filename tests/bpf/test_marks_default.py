# SPDX-License-Identifier: BSD-2-Clause
"""Marks of a run without --marks: they take the way of spans, which is always there."""

import ast
import json
import os
import subprocess
import sys

from lib.bpfmon import BPFMON
from lib.live import descriptor_links, wait_for
from lib.marks import MarksCase, marks, texts

SAMPLED = True
SENDER = """
import os, socket, sys

def send(data):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect("\\0" + os.environ["BPFMON_SPAN_SOCKET"][1:])
        s.send(data)
        return s.recv(256)
"""


def python(code):
    return [sys.executable, "-c", SENDER + code]


class Default(MarksCase):
    def script(self, script, options=(), **kwargs):
        """A shell script, in which "$0" is bpfmon."""
        return self.run_bpfmon(["bash", "-c", script, BPFMON], options, **kwargs)

    def test_marks_and_metrics_are_taken_without_any_option(self):
        run = self.script('"$0" mark one; "$0" mark "two words"; "$0" mark --metric "loss,a=b value=0.5"; echo "[$BPFMON_MARK_SOCKET]"')
        self.assertEqual((run.code, run.stdout), (0, b"[]\n"))
        self.assert_pushed(run, marks=2, metrics=1)
        self.assertEqual(texts(run), ["one", "two words"])
        words = {p["args"][-1]: p["pid"] for p in run.processes if p["args"][1:2] == ["mark"]}
        self.assertEqual({line["text"]: line["pid"] for line in marks(run)}, {text: words[text] for text in texts(run)})

    def test_a_run_that_nothing_was_pushed_to_says_nothing_of_it(self):
        self.assertNotIn("pushed", self.script("true").summary)

    def test_a_sample_is_taken_at_each_mark(self):
        run = self.script('"$0" mark one; "$0" mark two', ["-i", "60"])
        for mark in marks(run):
            self.assertTrue(any(0 <= s["elapsed_seconds"] - mark["elapsed_seconds"] < 1 for s in run.samples), mark)
        # at the start, for the marks, which share one if both come before it, and at the end
        self.assertGreaterEqual(len(run.samples), 3)

    def test_the_last_thing_that_a_command_does_is_kept(self):
        run = self.run_bpfmon(python("send(b'mark bye'); os._exit(7)"))
        self.assertEqual(run.code, 7)
        self.assert_pushed(run, marks=1)

    def test_many_at_once_are_kept(self):
        run = self.script('for i in $(seq 60); do "$0" mark "p$i" & done; wait')
        self.assert_pushed(run, marks=60)
        self.assertEqual(set(texts(run)), {f"p{i}" for i in range(1, 61)})

    def test_garbage_is_counted_and_refused_and_does_no_harm(self):
        sent = {
            b"mark ok": "0",
            b"mark " + b"x" * 1024 + b"\n": "0",
            b"mark " + b"x" * 1025: "the mark has 1025 bytes; the limit is 1024",
            b"mark ": "the mark has no text",
            b"nonsense": "neither a mark nor valid Influx line protocol",
            b"a b=1\n# c\n\na b=2": "0",
            b"a b=1\nbad": "invalid Influx line protocol in 1 of 2 lines",
            b"x" * 8193: "more than 8192 bytes",
            b"{}": "the message has neither begin nor end",
            b"{": "the message is not a JSON object",
        }
        run = self.run_bpfmon(python(f"print([send(d).decode() for d in {list(sent)}])"))
        for said, (message, expected) in zip(ast.literal_eval(run.stdout.decode()), sent.items(), strict=True):
            if message == b"{}":
                self.assertRegex(said, "begin nor end$")
            else:
                self.assertEqual(said, expected)
        self.assert_pushed(run, marks=2, metrics=3, malformed=4)

    def test_a_flood_is_counted(self):
        run = self.run_bpfmon(python("for i in range(3000): send(b'mark %d' % i)"), ["-i", "0.1"])
        pushed = run.summary["pushed"]
        self.assert_pushed(run, marks=pushed["marks"], dropped=3000 - pushed["marks"])
        self.assertGreaterEqual(pushed["marks"], 2000)

    def test_a_stranger_is_refused(self):
        said = self.dir / "socket"
        live = self.live(["bash", "-c", f'echo "$BPFMON_SPAN_SOCKET" >"{said}.new"; mv "{said}.new" "{said}"; read line; "$0" mark ours', BPFMON], stdin=subprocess.PIPE)
        wait_for(said.exists, "the start of the command")
        env = {**os.environ, "BPFMON_SPAN_SOCKET": said.read_text().strip()}
        done = subprocess.run([BPFMON, "mark", "theirs"], env=env, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (2, "bpfmon: mark: refused by the run: the process is not part of this run\n"))
        live.process.stdin.write(b"\n")
        run = live.finish()
        self.assert_pushed(run, marks=1)
        self.assertEqual(texts(run), ["ours"])

    def test_a_process_of_another_user_in_the_run_may_mark(self):
        run = self.script('setpriv --reuid=65534 --clear-groups "$0" mark x')
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_pushed(run, marks=1)

    def test_a_run_inside_of_a_run_has_marks_of_its_own(self):
        inner = self.dir / "inner.jsonl"
        for options in ([], ["--marks"]):
            run = self.script(f'"$0" mark outer; "$0" -q --force -o {inner} -- "$0" mark inner; "$0" mark again', options)
            self.assertEqual(texts(run), ["outer", "again"])
            lines = [json.loads(line) for line in inner.read_text().splitlines()]
            self.assertEqual([line["text"] for line in lines if line.get("event") == "mark"], ["inner"])

    def test_descriptors_that_are_sent_along_are_not_kept(self):
        kept = self.dir / "kept"
        kept.touch()
        code = f"""
f = os.open('{kept}', os.O_RDONLY)
for i in range(50):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect("\\0" + os.environ["BPFMON_SPAN_SOCKET"][1:])
        try:
            socket.send_fds(s, [b"mark y"], [f] * 10)
            s.recv(256)
        except PermissionError:  # from Linux 6.16 on
            s.send(b"mark x")
            s.recv(256)
sys.stdin.read()"""
        live = self.live(python(code), stdin=subprocess.PIPE)
        collector = live.role(lambda pid, stat, has_bpf: has_bpf)
        wait_for(lambda: sum(line.get("event") == "mark" for line in live.lines()) == 50, "50 marks")
        self.assertNotIn(str(kept), descriptor_links(collector).values())
        self.assert_pushed(live.finish(), marks=50)

    def test_a_connection_that_says_nothing_takes_no_marks_away(self):
        code = """
silent = []
for i in range(80):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("\\0" + os.environ["BPFMON_SPAN_SOCKET"][1:])
    silent.append(s)
send(b"mark x")"""
        self.assert_pushed(self.run_bpfmon(python(code)), marks=1)
