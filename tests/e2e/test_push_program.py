# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon-push as a program: its rights, its configuration, its secrets, where it sends to, and what it sends of jobs."""

import base64
import collections
import os
import pathlib
import socket
import subprocess
import threading
import time

from lib.permitted import ROOT, needs
from lib.push import AS_USER, PUSH, PushCase, Server, fields, until

DATAGRAM_BYTES = 1400


class ProgramCase(PushCase):
    def run_with(self, *lines, user=AS_USER):
        path = self.dir / "agent.conf"
        path.write_text("\n".join(["[push]", *lines, ""]))
        argv = [PUSH, "--config", path, "--stream", f"unix:{self.agent.path}", *user]
        return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


class Configuration(ProgramCase):
    def test_what_is_wrong_is_said_with_its_line(self):
        wrong = (
            "url = ftp://host/write",
            "url = host:8086",
            "url = http://",
            "url = http://host:8086/write?db=a&precision=s",
            "url = unix:/run/socket?precision=s",
            "url = http://USER:PASSWORD@host/write",
            "url = unix:socket",
            "tags = job=1",
            "tags = cluster=a instance=b",
            "tags = cluster",
            "tags = 1a=b",
            "dialect = graphite",
            "metrics = some",
            "interval = 0",
            "series = 0",
            "spool = 1K",
        )
        for line in wrong:
            done = self.run_with("folder = /tmp", line)
            self.assertEqual(done.returncode, 2, (line, done.stderr))
            (said,) = done.stderr.splitlines()
            self.assertIn(f"{self.dir}/agent.conf:3: {line}", said)

    def test_a_port_of_udp_that_is_none(self):
        for url in ("udp://host:port", "udp://host:", "udp://host:123456"):
            done = self.run_with(f"url = {url}")
            self.assertNotEqual(done.returncode, 0)
            (said,) = done.stderr.splitlines()
            self.assertIn(url, said)

    def test_without_a_server_it_ends_in_peace(self):
        done = self.run_with("url =")
        self.assertEqual(done.returncode, 0)
        self.assertIn("nowhere to send to", done.stderr)

    def test_secrets_that_cannot_be_read(self):
        path = self.dir / "token"
        for text, mode, why in ((None, 0, "No such file"), ("abc", 0o644, "secret"), ("", 0o600, "1 to"), ("\n", 0o600, "1 to")):
            if text is not None:
                path.write_text(text)
                path.chmod(mode)
            done = self.run_with("url = http://127.0.0.1:1/", f"token_file = {path}")
            self.assertNotEqual(done.returncode, 0)
            (said,) = done.stderr.splitlines()
            self.assertIn(str(path), said)
            self.assertIn(why, said)


@needs(ROOT)
class Rights(ProgramCase):
    def test_root_must_name_an_ordinary_user(self):
        for user, why in (((), "name the user to run as with --user"), (("--user", "root"), "expects an ordinary user")):
            done = self.run_with("url = http://127.0.0.1:1/", user=user)
            self.assertEqual(done.returncode, 1)
            self.assertIn(why, done.stderr)

    def test_it_keeps_no_rights(self):
        server = Server(self)
        pushes = self.push(server.url)
        until(lambda: server.lines)
        for key in ("Uid", "Gid"):
            self.assertNotIn("0", pushes.status(key).split())
        for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(pushes.status(key), 16), 0, key)
        self.assertEqual((pushes.status("NoNewPrivs"), pushes.status("Seccomp")), ("1", "2"))
        pushes.end()


class Secrets(PushCase):
    def test_a_token_is_sent_as_it_is_written_and_shown_nowhere(self):
        basic = "Basic " + base64.b64encode(b"ada:secret1").decode()
        cases = (
            ("secret1", "/write?db=a", "Bearer secret1"),
            ("secret1", "/api/v2/write?bucket=a", "Token secret1"),
            ("Token secret1", "/write", "Token secret1"),
            ("ada:secret1", "/write", basic),
        )
        token = self.dir / "token"
        for text, path, header in cases:
            token.write_text(text + "\n")
            token.chmod(0o600)
            server = Server(self)
            server.answer = lambda text: 401
            pushes = self.push(f"http://127.0.0.1:{server.port}{path}", token_file=token)
            (at, headers, _) = until(lambda server=server: server.requests)[0]
            self.assertEqual((at, headers["Authorization"]), (path, header))
            until(lambda pushes=pushes: "401" in pushes.said())
            command = pathlib.Path(f"/proc/{pushes.process.pid}/cmdline").read_bytes()
            for shown in (pushes.said(), command.decode()):
                self.assertNotIn("secret1", shown)
                self.assertNotIn(base64.b64encode(b"ada:secret1").decode(), shown)
            pushes.end()
            self.agent.hang_up()


class Places(PushCase):
    def test_a_socket_in_the_file_system(self):
        path = str(self.dir / "influx.sock")
        server = Server(self, unix=path)
        os.chmod(path, 0o666)
        pushes = self.push(f"unix:{path}?db=jobs")
        self.job("815")
        until(lambda: server.names() == ["815"])
        self.assertEqual(set(server.paths), {"/ping", "/write?db=jobs"})
        pushes.end()

    def receive(self):
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        receiver.bind(("127.0.0.1", 0))
        self.addCleanup(receiver.close)
        datagrams = []

        def run():
            while True:
                try:
                    datagrams.append(receiver.recv(65536))
                except OSError:
                    return

        threading.Thread(target=run, daemon=True).start()
        return receiver.getsockname()[1], datagrams

    def test_datagrams(self):
        port, datagrams = self.receive()
        pushes = self.push(f"udp://127.0.0.1:{port}")
        names = self.jobs(100)

        def lines():
            return [line for one in datagrams for line in one.decode().splitlines() if line.startswith("bpfmon_job_ended")]

        until(lambda: len(lines()) == len(names))
        counts = collections.Counter(fields(line)[2]["name"] for line in lines())
        self.assertEqual(counts, {f'"{name}"': 1 for name in names})
        self.assertLessEqual(max(map(len, datagrams)), DATAGRAM_BYTES)
        self.assertEqual({one[-1:] for one in datagrams}, {b"\n"})
        until(lambda: any(b"rows_total=100i" in one for one in datagrams))
        pushes.end()

    def test_datagrams_without_a_receiver(self):
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        receiver.bind(("127.0.0.1", 0))
        port = receiver.getsockname()[1]
        receiver.close()
        pushes = self.push(f"udp://127.0.0.1:{port}")
        for number in range(3):
            self.job(f"job{number}")
            time.sleep(1)
        self.assertIsNone(pushes.process.poll())
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as again:
            again.bind(("127.0.0.1", port))
            again.settimeout(60)
            data = b""
            while b"bpfmon_push," not in data:
                data = again.recv(65536)
        (own,) = [line for line in data.decode().splitlines() if line.startswith("bpfmon_push,")]
        values = fields(own)[2]
        self.assertEqual(int(values["rows_total"][:-1]) + int(values["rows_dropped_total"][:-1]), 3)
        pushes.end()

    def test_a_host_for_datagrams_that_is_not_found(self):
        pushes = self.push("udp://nowhere.invalid:8089")
        self.job("815")
        until(lambda: "lines are dropped" in pushes.said())
        self.assertEqual(pushes.said().count("lines are dropped"), 1)
        pushes.end()


class Samples(PushCase):
    """What is sent of jobs, live and ended."""

    def of_job(self, server, name):
        return [one for one in map(fields, server.of("bpfmon_job")) if one[1].get("name") == name]

    def live(self, name, start, elapsed=1, **values):
        self.agent.begin(name, start=start)
        self.agent.say(kind="sample", run=name, time=2.5, elapsed_seconds=elapsed, **values)

    def test_young_jobs_have_only_rows(self):
        server = Server(self)
        pushes = self.push(server.url, min_seconds="5s")
        self.live("young", time.time() - 1, 4.9, cpu_seconds=1)
        self.live("old", time.time() - 9, 5, cpu_seconds=2)
        until(lambda: self.of_job(server, "old"))
        self.agent.end("young", wall_seconds=5, cpu_seconds=1.5)
        until(lambda: server.names() == ["young"])
        time.sleep(1.2)
        self.assertEqual(self.of_job(server, "young"), [])
        # what it used is not missing in the sum
        until(lambda: any(float(fields(line)[2]["cpu_seconds_total"]) == 3.5 for line in server.of("bpfmon_user")))
        pushes.end()

    def test_more_jobs_than_series_are_summed(self):
        server = Server(self)
        pushes = self.push(server.url, series=2)
        for number, seconds in enumerate((8, 4, 2, 1)):
            self.live(f"job{number}", time.time() - 9, cpu_seconds=seconds)
        (other, *_) = until(lambda: [one for one in map(fields, server.of("bpfmon_job")) if one[1]["job"] == "other"])
        self.assertEqual(other[1], {"instance": "node1", "job": "other", "kind": "other"})
        at = other[3]
        until(lambda: any(fields(line)[3] == at for line in server.of("bpfmon_push")))
        values = [float(one[2]["cpu_seconds_total"]) for one in map(fields, server.of("bpfmon_job")) if one[3] == at]
        self.assertEqual(sum(values), 15)
        self.assertEqual(len(values), 3)
        pushes.end()

    def test_the_first_line_of_a_new_job_is_of_its_start_and_the_last_of_its_end(self):
        server = Server(self)
        pushes = self.push(server.url)
        until(lambda: server.lines)
        start = time.time()
        self.live("new", start, cpu_seconds=1.5, rss_bytes=4096, majflt=3)
        first, second, *_ = until(lambda: len(self.of_job(server, "new")) > 1 and self.of_job(server, "new"))
        self.assertEqual(first[2], {"cpu_seconds_total": "0", "majflt_total": "0i"})
        self.assertEqual(first[3], int(start * 1000) * 1_000_000)
        self.assertEqual((float(second[2]["cpu_seconds_total"]), second[2]["running"]), (1.5, "1i"))
        self.assertGreater(second[3], first[3])
        wall = round(time.time() - start, 3)
        self.agent.end("new", wall_seconds=wall, cpu_seconds=2.5)
        last = until(lambda: (found := self.of_job(server, "new")[-1]) and found[2].get("running") == "0i" and found)
        self.assertEqual(float(last[2]["cpu_seconds_total"]), 2.5)
        end = int((start + wall) * 1000) * 1_000_000
        previous = self.of_job(server, "new")[-2][3]
        self.assertGreater(last[3], previous)
        if end > previous + 2_000_000:
            self.assertLessEqual(abs(last[3] - end), 1_000_000)
        time.sleep(2.5)
        self.assertEqual(self.of_job(server, "new")[-1], last)
        pushes.end()

    def test_a_job_from_before_the_stream_has_no_line_of_its_start(self):
        server = Server(self)
        pushes = self.push(server.url)
        self.live("old", time.time() - 60, cpu_seconds=1.5)
        (one, *_) = until(lambda: self.of_job(server, "old"))
        self.assertEqual(float(one[2]["cpu_seconds_total"]), 1.5)
        pushes.end()

    def test_tags_of_the_configuration_are_in_all_lines(self):
        server = Server(self)
        pushes = self.push(server.url, tags="cluster=alpha rack=7", instance="n1")
        self.live("815", time.time() - 9, cpu_seconds=1)
        self.job("816")
        until(lambda: server.names() and self.of_job(server, "815"))
        for tags in (fields(line)[1] for line in server.lines):
            self.assertEqual((tags["instance"], tags["cluster"], tags["rack"]), ("n1", "alpha", "7"))
        pushes.end()
