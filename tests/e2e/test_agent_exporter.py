# SPDX-License-Identifier: BSD-2-Clause
"""The endpoint with a real agent: what it serves is what the agent says, also after a restart of the agent."""

import time

from lib.agent import AgentCase
from lib.endpoint import ADMINS, Endpoint, free_port, until

NODE_CPU = "bpfmon_node_cpu_seconds_total"


class Served(AgentCase):
    def exporter(self, agent):
        port = free_port()
        agent.path = agent.socket  # as the fake one calls it
        listen = ("--listen", f"127.0.0.1:{port}")
        endpoint = Endpoint(agent, self.dir, *listen, config=str(agent.folder / "agent.conf"), port=port)
        self.addCleanup(endpoint.stop)
        return endpoint

    def test_the_node_and_restarts_of_the_agent(self):
        agent = self.new_agent(f"[agent]\nadmin_group = {ADMINS}\n")
        endpoint = self.exporter(agent)
        values = until(lambda: (found := endpoint.values()).get(NODE_CPU) and found)
        self.assertEqual(values["bpfmon_agent_up"], 1)
        self.assertGreater(values["bpfmon_node_rss_bytes"], 0)
        self.assertEqual(values["bpfmon_agent_max_tasks"], agent.report()["max_tasks"])
        self.assertEqual(values['bpfmon_agent_losses_total{what="tasks"}'], 0)
        self.assertAlmostEqual(values["bpfmon_agent_last_line_time_seconds"], time.time(), delta=60)
        for _ in range(2):
            agent.end()
            down = until(lambda: (found := endpoint.values())["bpfmon_agent_up"] == 0 and found)
            agent.start()
            until(lambda: endpoint.values()["bpfmon_agent_up"] == 1)
            # with the rights of its user it still sees all: the counters go on
            until(lambda before=down[NODE_CPU]: endpoint.values()[NODE_CPU] > before)
            self.assertIn("bpfmon_node_rss_bytes", endpoint.values())

    def test_a_user_who_is_no_admin_is_told(self):
        endpoint = self.exporter(self.new_agent())
        until(lambda: "members of its admin_group only" in endpoint.log.read_text())
        self.assertNotIn(NODE_CPU, endpoint.values())
        self.assertEqual(endpoint.log.read_text().count("admin_group"), 1)
