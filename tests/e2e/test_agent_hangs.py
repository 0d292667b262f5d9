# SPDX-License-Identifier: BSD-2-Clause
"""Clients of an agent that does not answer: each says so in one line after ten seconds, and goes on as without an agent."""

import json
import os
import signal
import socket
import subprocess
import threading
import time

from lib.agent import FAILED, NOBODY, PACKET, READY
from lib.agent import AT_USUAL_PLACE, AgentCase
from lib.bpfmon import BPFMON
from lib.live import PATIENCE

SAMPLED = True
AGENTS_SECONDS = 10
HANGS = "the agent has not answered for 10 s"


class SlowAgent:
    """Answers the ping of a client after some seconds, and its request with a refusal; without one, never."""

    def __init__(self, path, seconds, refusal):
        self.seconds, self.refusal = seconds, refusal
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listening.bind(str(path))
        self.listening.listen()
        path.chmod(0o666)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        client, _ = self.listening.accept()
        with client:
            client.recv(PACKET.size)
            time.sleep(self.seconds)
            client.send(PACKET.pack(READY, 0, 0, b""))
            client.recv(PACKET.size)
            if self.refusal:
                client.send(PACKET.pack(FAILED, -1, 0, self.refusal))
            while client.recv(PACKET.size):
                pass


class Hangs(AgentCase):
    def setUp(self):
        super().setUp()
        self.new_agent()
        (self.agent.folder / "agent.sock").hardlink_to(self.agent.socket)
        self.clients = {}

    def begin(self, name, *words, at=None):
        env = {"BPFMON_AGENT": str(at or self.agent.socket)}
        self.clients[name] = self.agent.bpfmon(*words, env=env), time.monotonic()

    def begin_at_usual_place(self, name, *words):
        ordinary = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        argv = ["unshare", "-m", "sh", "-c", AT_USUAL_PLACE, self.agent.folder, *ordinary, BPFMON, *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.clients[name] = subprocess.Popen(list(map(str, argv)), cwd="/", **pipes), time.monotonic()

    def end_of(self, name, at_least=0.0):
        """Its exit status, output and lines on stderr."""
        process, began = self.clients[name]
        out, said = process.communicate(timeout=PATIENCE)
        self.assertGreaterEqual(time.monotonic() - began, at_least, (name, said))
        return process.returncode, out, said.decode().splitlines()

    def test_one_that_hangs_during_a_run_is_given_up_after_its_end(self):
        go = self.agent.folder / "go"
        script = f"while [ ! -e {go} ]; do sleep 0.01; done; exit 7"
        self.begin("run", "-q", "-i", "0.05", "-o", "-", "--", "sh", "-c", f"exec >/dev/null; {script}")
        process, _ = self.clients["run"]
        self.assertIn(b'"kind":"meta"', process.stdout.readline())
        self.agent.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.agent.process.send_signal, signal.SIGCONT)
        go.touch()
        code, lines, said = self.end_of("run", at_least=AGENTS_SECONDS)
        self.assertEqual(code, 7, said)
        self.assertIn(HANGS, said[0])
        summary = json.loads(lines.splitlines()[-1])
        self.assertEqual((summary["complete"], summary["reason"].partition(":")[0]), (False, "the agent ended or hangs"))

    def test_one_that_hangs_during_an_attachment_is_given_up(self):
        sleeper = subprocess.Popen(["sleep", "600"], user=NOBODY, group=NOBODY, extra_groups=[])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        self.begin("attach", "attach", "--pid", sleeper.pid, "-q", "-o", "-")
        process, _ = self.clients["attach"]
        self.assertIn(b'"kind":"meta"', process.stdout.readline())
        self.agent.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.agent.process.send_signal, signal.SIGCONT)
        code, _, said = self.end_of("attach", at_least=AGENTS_SECONDS)
        self.assertEqual(code, 2, said)
        self.assertIn(HANGS, said[0])

    def test_one_whose_stream_nobody_reads_is_there(self):
        """The recorder waits for the reader of its output, and the agent for the recorder."""
        # a little more than a pipe holds: at the end the agent waits for 12 s only until a recorder has taken all
        self.begin("run", "-q", "-i", "0.13", "-o", "-", "--", "sh", "-c", "exec >/dev/null; sleep 8")
        process, _ = self.clients["run"]
        time.sleep(AGENTS_SECONDS + 14)
        self.assertIsNone(process.poll())
        code, lines, said = self.end_of("run")
        self.assertEqual((code, said), (0, []))
        summary = json.loads(lines.splitlines()[-1])
        self.assertIs(summary["complete"], True, summary.get("reason"))

    def test_one_that_is_stopped_keeps_no_client_for_long(self):
        self.begin("served", "-q", "--", "true")
        self.assertEqual(self.end_of("served"), (0, b"", []))
        self.agent.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.agent.process.send_signal, signal.SIGCONT)
        self.begin("run", "--", "echo", "ran")
        self.begin("attach", "attach", "--pid", os.getpid())
        self.begin("jobs", "jobs", "--agent", self.agent.socket)
        self.begin_at_usual_place("fallback", "-q", "--", "echo", "ran")
        self.begin_at_usual_place("bare", "--if-unavailable", "bare", "--", "echo", "ran")
        self.begin_at_usual_place("fail", "--if-unavailable", "fail", "--", "echo", "ran")
        ends = {"run": (125, b""), "fail": (125, b""), "attach": (2, b""), "jobs": (2, b"")}
        ends |= {"fallback": (0, b"ran\n"), "bare": (0, b"ran\n")}
        for name, expected in ends.items():
            *end, said = self.end_of(name, AGENTS_SECONDS)
            self.assertEqual(tuple(end), expected, (name, said))
            self.assertEqual([HANGS in line for line in said], [True], (name, said))

    def test_one_that_stops_answering_later_and_one_that_is_only_slow(self):
        later, slow = self.dir / "later", self.dir / "slow"
        SlowAgent(later, 0, None)
        SlowAgent(slow, AGENTS_SECONDS * 0.7, b"not today")
        self.begin("later", "--", "echo", "ran", at=later)
        self.begin("slow", "--", "echo", "ran", at=slow)
        code, out, said = self.end_of("later", AGENTS_SECONDS)
        self.assertEqual((code, out, len(said)), (125, b"", 1), said)
        self.assertIn(HANGS, said[0])
        self.assertEqual(self.end_of("slow"), (125, b"", ["bpfmon: not today"]))
