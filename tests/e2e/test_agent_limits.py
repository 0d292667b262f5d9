# SPDX-License-Identifier: BSD-2-Clause
"""Limits of a run through the agent: the user's own bpfmon ends it, with the user's rights."""

from lib.agent import AgentCase


class Limits(AgentCase):
    CONFIG = ""

    def test_a_user_without_rights_has_limits(self):
        script = "setsid sleep 300 & sleep 300"
        options = ["--limit", "wall<0.3s", "--limit-grace", "60", "-i", "3600"]
        code, said, lines = self.run_through("sh", "-c", script, options=options)
        self.assertEqual(code, 124, said)
        self.assertIn("beyond the limit wall<0.3s", said)
        summary = lines[-1]
        self.assertTrue(summary["complete"], summary)
        self.assertEqual(summary["limit"]["limit"], "wall<0.3s")
        ended = [p for p in lines if p["kind"] == "process" and p["comm"] == "sleep"]
        self.assertEqual([p["signal"] for p in ended], [15, 15])
        self.assert_served()

    def test_a_limit_that_no_request_may_have(self):
        with self.client() as client:
            client.request("command", limits=[{"text": "x", "of": "", "keys": ["none"], "most": 1, "soft": False}])
            self.assertIn("limits", client.is_refused())
