# SPDX-License-Identifier: BSD-2-Clause
"""The endpoint with a real agent: what it serves is what the agent says, and it comes back after a restart of the agent."""

from lib.agent import AgentCase
from lib.endpoint import Endpoint, free_port, until


class Served(AgentCase):
    def test_the_node_and_a_restart_of_the_agent(self):
        agent, port = self.new_agent(), free_port()
        agent.path = agent.socket  # as the fake one calls it
        endpoint = Endpoint(
            agent, self.dir, "--listen", f"127.0.0.1:{port}", config=str(agent.folder / "agent.conf"), port=port
        )
        self.addCleanup(endpoint.stop)
        values = until(lambda: (found := endpoint.values()).get("bpfmon_node_cpu_seconds_total") and found)
        self.assertEqual(values["bpfmon_agent_up"], 1)
        self.assertGreater(values["bpfmon_node_rss_bytes"], 0)
        self.assertEqual(values["bpfmon_agent_max_tasks"], agent.report()["max_tasks"])
        self.assertEqual(values['bpfmon_agent_losses_total{what="tasks"}'], 0)
        agent.end()
        until(lambda: endpoint.values()["bpfmon_agent_up"] == 0)
        agent.start()
        until(lambda: endpoint.values()["bpfmon_agent_up"] == 1)
