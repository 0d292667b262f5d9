# SPDX-License-Identifier: BSD-2-Clause
"""What calls move, counted by an agent for its clients: if its configuration says so."""

import os
import signal
import socket
import subprocess

from lib.agent import NOBODY, AgentCase
from lib.bpfmon import AS_USER, read_lines, truth
from lib.live import wait_for

SAMPLED = True
COMMAND = (truth("sockets"), "tcp", "send", "recv", "1000000", "10000")

SERVER = """
import socket
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(50)
print(listening.getsockname()[1], flush=True)
held = []
while True:
    held.append(listening.accept()[0])
    held[-1].sendall(held[-1].recv(100))
"""


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

class FindsServers(AgentCase):
    def ask(self, port, number):
        for _ in range(number):
            client = socket.create_connection(("127.0.0.1", port))
            self.addCleanup(client.close)
            client.sendall(b"x" * 10)
            client.recv(10, socket.MSG_WAITALL)

    def test_an_attachment_to_a_server_that_listened_before_the_agent_began(self):
        python = ["/usr/bin/python3", "-c", SERVER]  # that of root is not executed by others
        server = subprocess.Popen(python, cwd="/", stdout=subprocess.PIPE, text=True, **AS_USER)
        for end in (server.wait, server.kill, server.stdout.close):
            self.addCleanup(end)
        port = int(server.stdout.readline())
        self.ask(port, 3)
        self.new_agent("[agent]\nnet = yes\n")
        self.ask(port, 4)
        out = self.dir / "o"
        words = ("attach", "--net", "-i", "0.2", "-o", out, "--pid", server.pid)
        process = self.agent.bpfmon(*words, uid=NOBODY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        wait_for(lambda: out.exists() and read_lines(out), "the first line")
        self.ask(port, 5)
        wait_for(lambda: read_lines(out)[-1].get("net_sockets") == 1 + 3 + 4 + 5, "all its sockets in a sample")
        process.send_signal(signal.SIGINT)
        process.wait()
        summary = read_lines(out)[-1]
        self.assertEqual((summary["net_accepts"], summary["net_rx_tcp_bytes"]), (5, 50))
        self.assertEqual(summary["losses"], {})


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


class Reloaded(AgentCase):
    def test_what_needs_a_restart_is_named_and_not_offered_before(self):
        agent = self.new_agent("[agent]\ninterval = 200ms\n")
        agent.configure("[agent]\ninterval = 200ms\nnet = yes\nio_kinds = yes\nblock_io = yes\n[history]\nkeep_days = 3\n")
        os.kill(agent.pid, signal.SIGHUP)
        wait_for(lambda: "reloaded the configuration" in agent.said(), "the new configuration")
        self.assertIn("not in effect until the agent is restarted: net, io_kinds, block_io, keep_days\n", agent.said())
        for option, key in (("--net", "net"), ("--io-kinds", "io_kinds")):
            code, said, _ = self.run_through("true", options=[option])
            self.assertEqual(code, 125)
            self.assertIn(f"set {key} = yes in its configuration and restart it", said)
        agent.end()
        agent.start()
        code, said, lines = self.run_through(*COMMAND, options=["--net"])
        self.assertEqual((code, lines[-1]["net_tx_tcp_bytes"]), (0, 1000000), said)
