# SPDX-License-Identifier: BSD-2-Clause
"""What calls move, counted by an agent for its clients: if its configuration says so."""

from lib.agent import AgentCase
from lib.bpfmon import truth

COMMAND = (truth("sockets"), "tcp", "send", "recv", "1000000", "10000")


class Counts(AgentCase):
    CONFIG = "[agent]\nnet = yes\nio_kinds = yes\n"

    def test_a_users_run_has_what_its_sockets_moved(self):
        code, said, lines = self.run_through(*COMMAND, options=["--net"])
        self.assertEqual(code, 0, said)
        summary = lines[-1]
        self.assertEqual((summary["net_rx_tcp_bytes"], summary["net_tx_tcp_bytes"]), (1000000, 1000000))
        self.assertEqual((summary["net_connects"], summary["net_accepts"]), (1, 1))

    def test_who_does_not_ask_for_it_does_not_get_it(self):
        code, said, lines = self.run_through(*COMMAND)
        self.assertEqual(code, 0, said)
        self.assertNotIn("net_rx_bytes", lines[-1])


    def test_a_users_run_has_what_it_wrote_by_kind(self):
        code, said, lines = self.run_through("sh", "-c", "echo four | cat >/dev/null", options=["--io-kinds"])
        self.assertEqual(code, 0, said)
        summary = lines[-1]
        self.assertEqual((summary["rchar_pipes_bytes"], summary["wchar_pipes_bytes"]), (5, 5))
        self.assertEqual(summary["wchar_other_bytes"], 5)


class CountsNot(AgentCase):
    CONFIG = "[agent]\nnet = no\n"

    def test_it_says_what_to_configure(self):
        code, said, lines = self.run_through("true", options=["--net"])
        self.assertEqual(code, 125)
        self.assertIn("net = yes", said)
        self.assertFalse(lines)
        code, said, lines = self.run_through("true", options=["--io-kinds"])
        self.assertEqual(code, 125)
        self.assertIn("io_kinds = yes", said)
