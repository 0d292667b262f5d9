# SPDX-License-Identifier: BSD-2-Clause
"""Clients that send the agent what no bpfmon sends: it stays up, serves others, and keeps nothing of them."""

import os
import random
import re
import select
import socket
import struct
import time

from lib.agent import DESCRIPTION, ENDED, FAILED, NOBODY, OTHER, PACKET, READY, REQUEST, START, STOP, SUMMARY
from lib.agent import AgentCase, hello
from lib.live import wait_for

SAMPLED = True


class Messages(AgentCase):
    CONFIG = "[limits]\nrequests_per_second = 10000\n"

    def setUp(self):
        super().setUp()
        self.before = self.state()
        self.addCleanup(lambda: self.assert_sound(self.before))  # when its clients have been closed

    def refusals(self):
        return self.agent.report()["refused"] - self.before["refused"]

    def drops(self):
        return self.agent.report()["clients_dropped"] - self.before["clients_dropped"]

    def assert_refused(self, client, pattern):
        text = client.is_refused()
        self.assertRegex(text, pattern)
        self.assertNotIn("\n", text)
        self.assertIsNone(client.answer())

    def test_garbage_of_all_sizes_is_dropped_and_counted(self):
        chance = random.Random(1)
        sent = 0
        for i in range(1000):
            c = self.client()
            try:
                for _ in range(10):
                    size = chance.choice((1, 4, 8, 16, 1039, 1040, 1041, 4096, chance.randrange(1, 20000)))
                    data = chance.randbytes(size)
                    if size == PACKET.size and i % 2:  # a right frame with anything in it
                        data = struct.pack("=IiQ", chance.randrange(12), chance.randrange(-2, 1100), i) + data[16:]
                    c.send(data)
                    sent += 1
            except OSError:
                pass
            c.close()
        self.assertGreater(sent, 1000)
        wait_for(lambda: self.clients() == 1, "the end of all")
        self.assertGreater(self.drops(), 900)

    def test_the_log_is_bounded_and_counts_what_it_leaves_out(self):
        begun, sent, before = time.monotonic(), 0, len(self.agent.said())

        def said():  # without what clients of other tests have caused
            return self.agent.said()[before:]

        def send():
            nonlocal sent
            c = self.client(NOBODY)
            c.send(b"x")
            wait_for(lambda: self.drops() > sent, "its end")
            sent += 1
            c.close()

        def lines():
            return said().count(f"dropped a client of user {NOBODY}")

        while sent < 400:
            send()
        self.assertLessEqual(lines(), 200 + 10 * (time.monotonic() - begun + 1))
        while sent > lines() + sum(int(n) for n in re.findall("([0-9]+) messages suppressed here", said())):
            time.sleep(0.2)  # until there is room for a line
            send()

    def test_other_versions_and_wrong_requests_are_refused_with_one_line(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            fd = theirs.fileno()
            for text, fds, pattern in (
                (hello("node", ["stream"], version=2), [fd], "version 1"),
                (hello("node", ["stream"], version="1"), [fd], "version 1"),
                (b"[" * 60000, [fd], "JSON"),
                (b'{"a":' * 10000, [fd], "JSON"),
                (b"\0" * 100, [fd], "JSON"),
                (b"{}", [fd], "kind"),
                (hello("node", ["stream"], kind="hallo"), [fd], "kind"),
                (hello("other", ["stream"]), [fd], "follow"),
                (hello("node", []), [], "stream"),
                (hello("node", ["stream"]), [fd, fd], "descriptors"),
                (hello("node", ["stream", "stream"]), [fd, fd], "descriptors"),
                (hello("node", ["stream", "process"]), [fd, fd], "descriptors"),
                (hello("command", ["stream"]), [fd], "descriptors"),
                (hello("command", ["stream", "process", "process"]), [fd] * 3, "descriptors"),
                (hello("processes", ["stream"] + ["process"] * 65), [fd] * 66, "descriptors"),
                (hello("job", ["stream"]), [fd], "job"),
                (hello("job", ["stream"], job="x" * 600), [fd], "job"),
                (hello("node", ["stream"], interval_ns=1), [fd], "interval_ns"),
                (hello("node", ["stream"], unknown=1), [fd], "unknown"),
                (hello("command", ["stream", "process"], spans="/tmp/.X11-unix/X0"), [fd, fd], "spans"),
                (hello("command", ["stream", "process"], spans="bpfmon-span-0123456789abcdeF"), [fd, fd], "spans"),
                (hello("command", ["stream", "process"], spans="bpfmon-span-0123456789abcdef0"), [fd, fd], "spans"),
            ):
                with self.subTest(text=text[:80]):
                    c = self.client(NOBODY)
                    c.message(REQUEST, text, fds)
                    self.assert_refused(c, pattern)
        self.assertEqual(self.refusals(), 22)

    def test_messages_in_a_wrong_order_are_told_so(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            for kind in (START, ENDED, STOP, READY, FAILED, 0, 99):
                with self.subTest(kind=kind):
                    c = self.client(NOBODY)
                    c.packet(kind)
                    self.assert_refused(c, "invalid request")
            for kind in (DESCRIPTION, SUMMARY):
                with self.subTest(kind=kind):
                    c = self.client(NOBODY)
                    c.message(kind, b"{}", [theirs.fileno()])
                    self.assert_refused(c, "invalid request")
            c = self.client(NOBODY)
            text = hello("node", ["stream"])
            c.message(REQUEST, text, [theirs.fileno()])
            self.assertEqual(c.answer()[0], READY)
            c.message(REQUEST, text, [theirs.fileno()])
            wait_for(lambda: self.clients() == 1, "its end")
        self.assertEqual(self.drops(), 10)

    def test_descriptors_of_every_kind_in_every_place(self):
        fifo = self.dir / "fifo"
        os.mkfifo(fifo)
        made = []

        def keep(thing):
            made.append(thing)
            return thing if isinstance(thing, int) else thing.fileno()

        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(str(self.dir / "listening"))
        listening.listen(1)
        ours, theirs = socket.socketpair()
        shut, other = socket.socketpair()
        shut.shutdown(socket.SHUT_RDWR)
        made.extend((ours, other))
        sleeper = self.start("sleep", "60")
        things = {
            "file": keep(open(self.dir / "file", "w", encoding="utf-8")),
            "folder": keep(os.open("/", os.O_RDONLY)),
            "path": keep(os.open("/proc/self", os.O_PATH)),
            "pipe": keep(os.pipe()[0]),
            "fifo": keep(os.open(fifo, os.O_RDWR)),
            "epoll": keep(select.epoll()),
            "event": keep(os.eventfd(0)),
            "tcp": keep(socket.socket(socket.AF_INET, socket.SOCK_STREAM)),
            "udp": keep(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)),
            "datagram": keep(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)),
            "packets": keep(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)),
            "agent": keep(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)),
            "unconnected": keep(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)),
            "listening": keep(listening),
            "shut": keep(shut),
            "right": keep(theirs),
            "process": self.pidfd(sleeper.pid),
            "null": keep(os.open("/dev/null", os.O_RDWR)),
            "terminal": keep(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)),
        }
        socket.socket(fileno=os.dup(things["agent"])).connect(str(self.agent.socket))
        right = {"stream": "right", "process": "process"}
        for place in ("stream", "process", "marks", "udp", "spans", "cgroup"):
            for name, fd in things.items():
                with self.subTest(place=place, thing=name):
                    named = {**right, place: name}
                    c = self.client(NOBODY)
                    c.message(
                        REQUEST, hello("command", named, wait_tree=True), [things[thing] for thing in named.values()]
                    )
                    kind, _, text = c.answer()
                    if kind == READY:
                        c.packet(START, when_ns=time.monotonic_ns())
                        c.packet(STOP)
                    else:
                        self.assertEqual(kind, FAILED)
                        self.assertTrue(text and "\n" not in text, text)
                    c.close()
        for thing in made:
            os.close(thing) if isinstance(thing, int) else thing.close()
        self.assertIsNone(sleeper.poll())

    def test_descriptors_with_other_packets_and_parts_are_closed(self):
        ours, theirs = socket.socketpair()
        fds = [theirs.fileno()] * 72
        for kind in (START, STOP, 77):
            c = self.client(NOBODY)
            c.packet(kind, fds=fds)
            c.close()
        c = self.client(NOBODY)
        text = hello("node", ["stream"] * 72) + b" " * 3000
        c.packet(REQUEST, 1023, len(text) - 1023, text[:1023], fds)
        c.packet(REQUEST, 1023, len(text) - 2046, text[1023:2046], fds)
        c.close()
        theirs.close()
        ours.settimeout(60)
        self.assertEqual(ours.recv(1), b"")  # no descriptor of the other end is left

    def test_sizes_that_are_no_sizes(self):
        for value, when in ((-1, 0), (0, 0), (1024, 0), (1, 1 << 63), (1023, (1 << 64) - 1), (1, 65536), (1, 2 << 20)):
            c = self.client(NOBODY)
            c.packet(REQUEST, value, when, b"x")
            self.assert_refused(c, "invalid message")
        self.assertEqual(self.drops(), 7)

    def run_with(self, description):
        """A run of a process that sleeps, with this description."""
        sleeper = self.start("sleep", "60")
        c = self.client(NOBODY).request("command", [("process", self.pidfd(sleeper.pid))])
        self.assertEqual(c.answer()[0], READY)
        c.message(DESCRIPTION, description)
        c.packet(START, when_ns=time.monotonic_ns())
        c.packet(STOP)
        lines = c.lines(lambda line: line["kind"] == "summary")
        c.close()
        return lines

    def test_descriptions_of_any_depth_and_size(self):
        for text in (
            b"{" + b'"a":{' * 100000,
            b"[" * 1000000,
            b'{"kind":"description","tags":[' + b"[]," * 300000 + b"[]]}",
            b'{"kind":"description","name":"' + b"n" * 1000000 + b'"}',
        ):
            lines = self.run_with(text)
            self.assertEqual((lines[0]["kind"], lines[-1]["kind"]), ("meta", "summary"))
            self.assertFalse(lines[-1]["complete"])
        c = self.client(NOBODY)
        c.request("command", [("process", self.pidfd(self.start("sleep", "60").pid))])
        self.assertEqual(c.answer()[0], READY)
        c.packet(DESCRIPTION, 1, 2 << 20, b"x")
        self.assert_refused(c, "invalid message")

    def test_clients_that_leave_at_each_step(self):
        for step in range(6):
            for _ in range(5):
                sleeper = self.start("sleep", "60")
                c = self.client(NOBODY)
                if step == 1:
                    c.packet(REQUEST, 1000, 5000, b"{")
                if step >= 2:
                    c.request("command", [("process", self.pidfd(sleeper.pid))])
                if step >= 3:
                    answer = c.answer()
                    self.assertEqual(answer[0], READY, answer)
                if step >= 4:
                    c.message(DESCRIPTION, b"{}")
                if step >= 5:
                    c.packet(START, when_ns=time.monotonic_ns())
                c.close()
