# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon-push and failures of a server that pass, and which database it takes the server for."""

import collections
import socket
import threading
import time

from lib.push import PushCase, Server, first, is_rows, until


def closes(connection):
    connection.shutdown(socket.SHUT_RDWR)


def slowly(connection):
    """One byte a second, for longer than an answer may take."""
    for byte in b"HTTP/1.1 204 No Content\r\n\r\n":
        connection.sendall(bytes([byte]))
        time.sleep(1)


def without_end(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"x" * 4096)


def slow_body(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
    for _ in range(100):
        connection.sendall(b"x")
        time.sleep(1)


class Later(PushCase):
    """What is no answer, or one that asks to wait, costs nothing but time."""

    def test_failures_that_pass(self):
        failures = {
            "500": 500,
            "502": (502, b"<html>bad gateway</html>"),
            "408": 408,
            "closed": ("raw", closes, None),
            "garbage": ("raw", lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n"), None),
            "binary": ("raw", lambda connection: connection.sendall(bytes(range(256)) * 64), None),
            "cut": ("raw", lambda connection: connection.sendall(b"HTTP/1.1 2"), None),
            "slow": ("raw", slowly, None),
        }
        for name, failure in failures.items():
            server = Server(self, first(failure, failure))
            pushes = self.push(server.url)
            self.all_arrive_once(server, self.jobs(3, f"job{name}x"))
            self.assertIn("cannot send to", pushes.said(), name)
            until(lambda pushes=pushes: "accepts lines again" in pushes.said())
            self.assertNotIn("[push]", pushes.said(), name)
            pushes.end()
            self.agent.hang_up()

    def test_a_server_says_how_long_to_wait(self):
        for status in (429, 503):
            server = Server(self, first((status, b"", {"Retry-After": "2"})))
            pushes = self.push(server.url)
            until(lambda server=server: server.requests)
            self.job(f"job{status}")
            self.all_arrive_once(server, [f"job{status}"])
            at = [one for one, (_, _, text) in zip(server.times, server.requests) if is_rows(text)]
            self.assertGreaterEqual(at[1] - at[0], 2)
            pushes.end()
            self.agent.hang_up()

    def test_the_status_decides_also_if_the_body_has_no_end(self):
        for body in (without_end, slow_body):
            server = Server(self, first(("raw", body, None)))
            pushes = self.push(server.url)
            self.job("one")
            until(lambda server=server: [text for _, _, text in server.requests if is_rows(text)])
            time.sleep(1.2)
            self.job("two")
            until(lambda server=server: "two" in server.names())
            texts = [text for _, _, text in server.requests if is_rows(text)]
            self.assertEqual([text.count('"one"') for text in texts], [1, 0])
            server.own(rows_total=2)
            pushes.end()
            self.agent.hang_up()

    def test_what_came_while_no_server_listened(self):
        server = Server(self)
        pushes = self.push(server.url)
        self.job("first")
        until(lambda: "first" in server.names())
        for turn in range(2):
            server.stop()
            names = self.jobs(5, f"down{turn}x")
            until(lambda: len(pushes.spooled("rows")) >= 10)
            server.start()
            until(lambda names=names: set(names) <= set(server.names()))
        self.assertEqual(collections.Counter(server.names()).most_common(1)[0][1], 1)
        pushes.end()

    def test_a_host_that_is_not_found(self):
        pushes = self.push("http://nowhere.invalid/")
        names = self.jobs(3)
        until(lambda: "resolve host" in pushes.said())
        until(lambda: len(pushes.spooled("rows")) == 6)
        pushes.end()
        self.agent.hang_up()
        server = Server(self)
        pushes = self.push(server.url)
        self.all_arrive_once(server, names)
        pushes.end()

    def test_a_host_is_looked_up(self):
        server = Server(self)
        pushes = self.push(server.url.replace("127.0.0.1", "localhost"))
        self.all_arrive_once(server, self.jobs(3))
        self.assertNotIn("cannot send", pushes.said())
        pushes.end()

    def test_the_stream_is_read_while_a_server_never_answers(self):
        release = threading.Event()
        self.addCleanup(release.set)
        server = Server(self, lambda text: ("raw", lambda connection: release.wait(600), None))
        pushes = self.push(server.url)
        until(lambda: server.requests)
        self.agent.begin("busy")
        line = b'{"kind":"sample","run":"busy","time":2.5,"elapsed_seconds":1,"cpu_seconds":1}\n'
        for _ in range(20):
            self.agent.write(line * (1_000_000 // len(line)))
        self.assertEqual(server.lines, [])
        self.assertIsNone(pushes.process.poll())
        pushes.end()


class Dialects(PushCase):
    def row(self, **server):
        server = Server(self, **server)
        pushes = self.push(server.url)
        self.job("815")
        (line,) = until(lambda: server.of("bpfmon_job_ended"))
        pushes.end()
        self.agent.hang_up()
        return line

    def test_the_ping_says_how_rows_are_written(self):
        tags = "bpfmon_job_ended,instance=node1,"
        line = self.row(version="1.8")
        self.assertTrue(line.startswith(tags + 'user=alice,kind=slurm job="slurm/815",name="815",'), line)
        line = self.row(version=None)
        self.assertTrue(line.startswith(tags + "job=slurm/815,name=815,user=alice,kind=slurm "), line)

    def test_nothing_is_sent_before_the_ping_is_answered(self):
        server = Server(self)
        server.ping = lambda: 503
        pushes = self.push(server.url)
        names = self.jobs(3)
        until(lambda: len(server.paths) >= 2)
        until(lambda: len(pushes.spooled("rows")) == 6)
        self.assertEqual(set(server.paths), {"/ping"})
        server.ping = lambda: 204
        self.all_arrive_once(server, names)
        pushes.end()

    def test_a_dialect_that_is_named_is_not_asked_for(self):
        server = Server(self)
        pushes = self.push(server.url, dialect="victoriametrics")
        self.job("815")
        (line,) = until(lambda: server.of("bpfmon_job_ended"))
        self.assertIn("job=slurm/815", line)
        self.assertNotIn("/ping", server.paths)
        pushes.end()
