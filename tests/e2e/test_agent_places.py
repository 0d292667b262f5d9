# SPDX-License-Identifier: BSD-2-Clause
"""What one user does with connections and descriptors does not keep others from being served."""

import os
import pathlib
import signal
import time
import socket
import struct

from lib.agent import NOBODY, OTHER, READY, REQUEST, START, STOP
from lib.agent import AgentCase, hello
from lib.live import PATIENCE, wait_for

SAMPLED = True


class Places(AgentCase):
    def silent(self, count, uid=NOBODY):
        return [self.client(uid) for _ in range(count)]

    def test_silent_connections_of_one_user_do_not_lock_out_others(self):
        self.new_agent("[limits]\nclients = 32\nrequests_per_second = 1000\n")
        self.silent(100)
        self.assert_served(OTHER)
        self.assert_served(NOBODY)
        self.assertGreater(self.agent.report()["clients_dropped"], 60)

    def test_runs_keep_their_places(self):
        self.new_agent("[limits]\nclients = 32\njobs_per_user = 8\nrequests_per_second = 1000\n")
        sleeper = self.start("sleep", "60", uid=OTHER)
        run = self.client(OTHER).request("processes", [("process", self.pidfd(sleeper.pid))])
        self.assertEqual(run.answer()[0], READY)
        run.packet(START)
        self.silent(100)
        run.packet(STOP)
        self.assertEqual(run.lines(lambda l: l["kind"] == "summary")[-1]["kind"], "summary")

    def agent_with_descriptors(self, soft, hard, config=""):
        return self.new_agent(config, before=["prlimit", f"--nofile={soft}:{hard}"])

    def test_descriptors_of_one_user_do_not_lock_out_others(self):
        self.agent_with_descriptors(400, 400, "[limits]\nrequests_per_second = 1000\n")
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        self.addCleanup(theirs.close)
        for _ in range(12):
            c = self.client(NOBODY)
            try:
                c.packet(REQUEST, 1000, 20000, b"{" * 1000, [theirs.fileno()] * 72)
            except OSError:
                pass
        self.assert_served(OTHER)

    def test_the_agent_takes_all_descriptors_that_it_may_have(self):
        agent = self.agent_with_descriptors(256, 512)
        limits = pathlib.Path(f"/proc/{agent.pid}/limits").read_text()
        self.assertRegex(limits, r"Max open files +512 +512 ")

    def test_without_descriptors_it_waits_instead_of_turning_in_circles(self):
        agent = self.agent_with_descriptors(200, 200)
        listeners = []
        while agent.descriptors() < 200:
            c = self.client()
            c.request("node")
            c.socket.settimeout(0.2)
            try:
                c.answer()
            except TimeoutError:
                pass
            listeners.append(c)
        waiting = self.client()
        self.assert_idle()
        for c in (waiting, *listeners):
            c.close()
        self.assert_served()


class Stopping(AgentCase):
    def test_clients_that_come_while_it_stops_do_not_hold_it(self):
        agent = self.new_agent("[limits]\nrequests_per_second = 1000\n")
        slow = self.client().request("node", room=1)  # it does not read yet: the agent waits for it
        self.assertEqual(slow.answer()[0], READY)
        sleeper = self.start("sleep", "60")
        run = self.client(NOBODY).request("processes", [("process", self.pidfd(sleeper.pid))])
        self.assertEqual(run.answer()[0], READY)
        run.packet(START)
        run.lines(lambda l: l["kind"] == "sample")
        time.sleep(1)  # the queue for the slow one fills
        os.kill(agent.pid, 15)
        of_run = run.lines(lambda l: l["kind"] == "summary")[-1]
        self.assertEqual(of_run["reason"], "the agent was stopped")
        self.assertTrue(agent.is_alive())
        late = self.client(NOBODY).request("processes", [("process", self.pidfd(sleeper.pid))])
        late.packet(START)
        slow.lines(lambda l: False)  # up to the end
        self.assertEqual(agent.process.wait(PATIENCE), 0)


class Kept(AgentCase):
    """A client may keep what it has passed: to close it is not enough for the kernel to forget it."""

    CONFIG = "[limits]\nrequests_per_second = 1000\n"

    def ask(self, follow, descriptors=(), **wishes):
        ours, theirs = socket.socketpair()
        self.addCleanup(theirs.close)
        c = self.client(NOBODY)
        named = [("stream", theirs.fileno()), *descriptors]
        c.message(REQUEST, hello(follow, [n for n, _ in named], **wishes), [fd for _, fd in named])
        self.assertEqual(c.answer()[0], READY)
        return c, ours

    def assert_forgotten(self, *sockets):
        wait_for(lambda: self.clients() == 1, "the end of the client")
        for s in sockets:
            s.close()
        self.assert_idle()
        self.assert_served()

    def test_the_stream_of_a_listener(self):
        self.assert_forgotten(*self.ask("node", once=True))

    def test_the_stream_of_a_run(self):
        sleeper = self.start("sleep", "60")
        c, ours = self.ask("processes", [("process", self.pidfd(sleeper.pid))])
        c.packet(START)
        c.packet(STOP)
        self.assert_forgotten(c.socket, ours)
