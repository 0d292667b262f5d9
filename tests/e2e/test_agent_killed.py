# SPDX-License-Identifier: BSD-2-Clause
"""Clients of the agent that are killed or stopped in mid-run."""

import json
import os
import signal

from lib.agent import NOBODY, OTHER, READY, START, STOP
from lib.agent import AgentCase
from lib.live import PATIENCE, children_of, sockets_of, stat_of, wait_for

SAMPLED = True


class Killed(AgentCase):
    CONFIG = "[agent]\ninterval = 100ms\n[limits]\nrequests_per_second = 10000\nqueue_bytes = 64K\n"

    def setUp(self):
        super().setUp()
        self.before = self.state()
        self.addCleanup(lambda: self.assert_sound(self.before))

    def run_of(self):
        out = self.dir / "run"
        out.touch()
        os.chown(out, NOBODY, NOBODY)
        stop = self.dir / "stop"
        script = 'while [ ! -e "$0" ]; do sleep 0.02; done; exit 43'
        process = self.agent.bpfmon("--force", "-o", out, "-i", "0.1", "--", "sh", "-c", script, stop)
        self.addCleanup(process.communicate)
        self.addCleanup(stop.touch)
        wait_for(lambda: out.read_text().count('"kind":"sample"') > 1, "samples")
        return process, out, stop

    def recorder(self, process):
        """The child in a session of its own."""
        found = [p for p in children_of(process.pid) if (stat := stat_of(p)) and stat[3] == p and sockets_of(p)]
        return found[0]

    def test_the_launcher_is_killed(self):
        process, out, _ = self.run_of()
        process.kill()
        process.wait()
        wait_for(lambda: '"kind":"summary"' in out.read_text(), "the summary")
        summary = json.loads(out.read_text().splitlines()[-1])
        self.assertFalse(summary["complete"])
        self.assertEqual(summary["reason"], "the launcher was killed")

    def test_the_recorder_is_killed(self):
        process, _, stop = self.run_of()
        os.kill(self.recorder(process), signal.SIGKILL)
        self.assert_served(OTHER)
        stop.touch()
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 43)

    def test_the_recorder_is_stopped_and_goes_on(self):
        process, out, stop = self.run_of()
        recorder = self.recorder(process)
        os.kill(recorder, signal.SIGSTOP)
        for _ in range(5):
            self.assert_served(OTHER)
        os.kill(recorder, signal.SIGCONT)
        stop.touch()
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 43)
        self.assertEqual(json.loads(out.read_text().splitlines()[-1])["exit_code"], 43)

    def test_the_launcher_is_stopped_and_goes_on(self):
        process, out, stop = self.run_of()
        os.kill(process.pid, signal.SIGSTOP)
        stop.touch()
        self.assert_served(OTHER)
        os.kill(process.pid, signal.SIGCONT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 43)
        self.assertTrue(json.loads(out.read_text().splitlines()[-1])["complete"])

    def test_a_command_that_has_ended_before_the_start(self):
        p = self.start("sleep", "60")
        c = self.client(NOBODY).request("command", [("process", self.pidfd(p.pid))])
        self.assertEqual(c.answer()[0], READY)
        p.kill()
        p.wait()
        c.packet(START)
        c.packet(STOP)
        self.assertEqual(c.lines(lambda l: l["kind"] == "summary")[-1]["processes_total"], 1)
