# SPDX-License-Identifier: BSD-2-Clause
"""What one user's clients can make the agent hold."""

import json
import os
import signal
import socket
import subprocess

from lib.agent import NOBODY, OTHER, AgentCase, user
from lib.live import wait_for

SAMPLED = True
PROCESSES = 200  # in each run; a sample of all is some 50 KB
RUNS, LISTENERS, SUBSCRIBERS = 2, 7, 40
USER_BYTES = 8 << 20
OWN_BYTES = 64 << 10  # of each queue, beside it
OTHERS_BYTES = 4 << 20  # what else the agent needs for these
READ_BYTES = 5 << 20


class Memory(AgentCase):
    CONFIG = f"[limits]\nrequests_per_second = 10000\nuser_bytes = {USER_BYTES}\n"

    def start_run(self, number, uid=NOBODY):
        """The name of its socket."""
        out = self.dir / f"{number}.jsonl"
        command = ["sh", "-c", f"for i in $(seq {PROCESSES}); do sleep 1000 & done; wait"]
        null = subprocess.DEVNULL
        run = self.agent.bpfmon(
            "-q", "-i", "0.05", "-o", out, "--", *command, uid=uid, stdout=null, stderr=null, start_new_session=True
        )
        self.addCleanup(run.wait)
        self.addCleanup(os.killpg, run.pid, signal.SIGKILL)
        wait_for(lambda: out.exists() and out.read_bytes().count(b"\n") > 3, "its samples", 60)
        return json.loads(out.read_text().splitlines()[0])["live_socket"]

    def look(self, name, uid=NOBODY):
        """Listens to all live processes of a run."""
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(client.close)
        with user(uid):
            client.connect("\0" + name[1:])
        client.send(b'{"live":"processes"}')
        client.settimeout(60)
        return client

    def test_subscribers_that_do_not_read_share_the_bound_of_their_user(self):
        names = [self.start_run(i) for i in range(RUNS)]
        before = self.agent.private_bytes()
        reader = self.look(names[0], 0)
        for name in names:
            for _ in range(LISTENERS):
                self.look(name)
        for _ in range(SUBSCRIBERS):
            self.client(NOBODY).listen()
        # what root reads of the run, each of its listeners would have waiting, too
        text = b""
        while len(text) < READ_BYTES:
            packet = reader.recv(1 << 16)
            self.assertTrue(packet, "root's connection was closed")
            text += packet
        queues = RUNS * (LISTENERS + 1) + SUBSCRIBERS
        self.assertLess(self.agent.private_bytes(), before + USER_BYTES + queues * OWN_BYTES + OTHERS_BYTES)
        kinds = [json.loads(line)["kind"] for line in text.splitlines()[:-1]]
        whole = "".join(kind[0] for kind in kinds if kind != "meta").split("s")[1:-1]
        self.assertGreater(len(whole), 4)
        for processes in whole[len(whole) // 2 :]:  # all have been started by then
            self.assertGreater(len(processes), PROCESSES)
        self.assert_served(OTHER)
        self.assert_served(0)
