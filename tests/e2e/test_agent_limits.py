# SPDX-License-Identifier: BSD-2-Clause
"""Limits of a run through the agent: the user's own bpfmon ends it, with the user's rights."""

import subprocess

from lib.agent import AgentCase
from lib.bpfmon import BPFMON

SAMPLED = True


class Limits(AgentCase):
    CONFIG = ""

    def test_a_user_without_rights_has_limits(self):
        script = "setsid sleep 300 & sleep 300"
        options = ["--limit", "wall<0.3s", "--limit-grace", "60", "-i", "3600"]
        code, said, lines = self.run_through("sh", "-c", script, options=options)
        self.assertEqual(code, 124, said)
        self.assertIn("limit exceeded: wall<0.3s", said)
        summary = lines[-1]
        self.assertTrue(summary["complete"], summary)
        self.assertEqual(summary["limit"]["limit"], "wall<0.3s")
        ended = [p for p in lines if p["kind"] == "process" and p["comm"] == "sleep"]
        self.assertEqual([p["signal"] for p in ended], [15, 15])
        self.assert_served()

    def test_processes_of_another_namespace_cannot_be_named(self):
        """The launcher would signal whatever has the same number there."""
        done = self.bpfmon_in_namespace("--limit", "wall<0.3s", "--", "sleep", "60")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("its pid namespace differs from the agent's", done.stderr)
        done = self.bpfmon_in_namespace("--soft-limit", "wall<0.1s", "--", "sleep", "0.3")
        self.assertEqual(done.returncode, 0, done.stderr)

    def bpfmon_in_namespace(self, *words):
        argv = ["unshare", "-p", "-f", "--mount-proc", BPFMON, "--agent", str(self.agent.socket), "-q", "--no-store", *words]
        return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)

    def test_a_limit_that_no_request_may_have(self):
        with self.client() as client:
            client.request("command", limits=[{"text": "x", "of": "", "keys": ["none"], "most": 1, "soft": False}])
            self.assertIn("limits", client.is_refused())
