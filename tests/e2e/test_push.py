# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon-push: what each answer of a server means for the lines."""

import math
import subprocess
import time

from lib.push import PushCase, Server, first, is_rows, names_in, until

PARTIAL = b'{"error":"partial write: field type conflict: input field is type float dropped=3"}'
BAD_LINE = b'{"error":"unable to parse: missing field value"}'


class Refused(PushCase):
    """What the server refuses for good is counted, and the rest goes on."""

    def test_part_of_a_batch_is_refused(self):
        for answer, rejected in (((400, PARTIAL), 3), ((422, b"dropped=2"), 2), ((422, b"no"), 1)):
            server = Server(self, first(answer))
            pushes = self.push(server.url)
            start = time.time() - 9
            lines = [f"part{number}" for number in range(6)]
            for name in lines:
                self.job(name, start=start)
            until(lambda server=server: any(is_rows(text) for _, _, text in server.requests))
            (refused, *_) = [text for _, _, text in server.requests if is_rows(text)]
            self.job("next")
            until(lambda server=server: "next" in server.names())
            values = server.own(rows_rejected_total=1, rows_total=7 - min(rejected, len(refused.splitlines())))
            self.assertEqual(values["rows_rejected_total"], min(rejected, len(refused.splitlines())))
            self.assertEqual(values["rows_total"] + values["rows_rejected_total"], 7)
            self.assertEqual(values["misconfigured"], 0)
            self.assertIn("refuses some of", pushes.said())
            pushes.end()
            self.agent.hang_up()

    def test_samples_that_are_refused_are_counted_as_such(self):
        server = Server(self, first((400, PARTIAL), of=lambda text: text.count("\n") >= 8))
        pushes = self.push(server.url)
        for number in range(10):
            self.agent.begin(f"live{number}")
            self.agent.sample(f"live{number}", cpu_seconds=number)
        values = server.own(samples_rejected_total=1)
        self.assertEqual((values["samples_rejected_total"], values["rows_rejected_total"]), (3, 0))
        pushes.end()

    def test_a_bad_line_is_found_by_halving_and_dropped_once(self):
        server = Server(self, lambda text: (400, BAD_LINE) if '"bad"' in text else 204)
        pushes = self.push(server.url)
        good = self.jobs(300, "before")
        self.job("bad")
        good += self.jobs(300, "after")
        self.all_arrive_once(server, good)
        values = server.own(rows_total=len(good))
        self.assertEqual(values["rows_rejected_total"], 1)
        rows = [text for _, _, text in server.requests if is_rows(text)]
        bad = [text.count("\n") for text in rows if '"bad"' in text]
        self.assertEqual(bad[-1], 1)
        self.assertLessEqual(len(bad), math.ceil(math.log2(bad[0])) + 1)
        self.assertEqual(pushes.said().count("refuses a line, which is dropped"), 1)
        self.assertIn("unable to parse", pushes.said())
        pushes.end()

    def test_after_sixteen_refused_lines_nothing_more_is_dropped(self):
        """In one batch, and in many of few lines."""
        for size in (40, 3):
            server = Server(self, lambda text: (400, BAD_LINE))
            pushes = self.push(server.url)
            names = self.jobs(size, f"job{size}x0x")
            while "section [push]" not in pushes.said() and len(names) < 200:
                time.sleep(1.1)
                names += self.jobs(3, f"job{size}x{len(names)}x")
            self.assertIn("section [push]", pushes.said())
            self.assertEqual(pushes.said().count("refuses a line, which is dropped"), 16)
            pushes.end()
            waiting = set(names_in(pushes.spooled("rows")))
            self.assertGreaterEqual(len(waiting), len(names) - 16)
            self.agent.hang_up()
            server.settle()
            server.answer = lambda text: 204
            self.again(pushes)
            until(lambda server=server, waiting=waiting: set(server.names()) == waiting)
            pushes.end()
            self.agent.hang_up()

    def test_what_is_too_large_is_halved_and_that_size_kept(self):
        server = Server(self, lambda text: 413 if text.count("\n") > 20 else 204)
        pushes = self.push(server.url)
        names = self.jobs(200, "one")
        self.all_arrive_once(server, names)
        refused = self.too_large(server)
        self.assertLessEqual(len(refused), 5)
        names += self.jobs(200, "two")
        self.all_arrive_once(server, names)
        self.assertEqual(self.too_large(server), refused)
        self.assertEqual(server.own(rows_total=400)["rows_rejected_total"], 0)
        pushes.end()

    def too_large(self, server):
        return [text.count("\n") for _, _, text in server.requests if text.count("\n") > 20]

    def test_a_line_that_is_too_large_by_itself_is_dropped(self):
        server = Server(self, lambda text: 413 if '"huge"' in text else 204)
        pushes = self.push(server.url)
        self.job("huge")
        good = self.jobs(20)
        self.all_arrive_once(server, good)
        self.assertEqual(server.own(rows_total=20, rows_rejected_total=1)["rows_rejected_total"], 1)
        pushes.end()


class Misconfigured(PushCase):
    """Nothing is lost until the configuration is changed."""

    def waits(self, pushes, names):
        """The program has said what is wrong, goes on, and all rows are on the disk."""
        until(lambda: "check the section [push]" in pushes.said())
        until(lambda: set(names) <= set(names_in(pushes.spooled("rows"))))
        self.assertIsNone(pushes.process.poll())
        self.assertEqual(pushes.said().count("check the section [push]"), 1)
        pushes.end()
        self.agent.hang_up()

    def test_status_of_http(self):
        for status in (401, 403, 404, 301, 302, 307):
            other = Server(self)
            headers = {"Location": other.url} if status < 400 else {}
            server = Server(self, lambda text, status=status, headers=headers: (status, b"no", headers))
            pushes = self.push(server.url)
            names = self.jobs(3, f"job{status}x")
            self.waits(pushes, names)
            for before, after in zip(server.times, server.times[1:]):
                self.assertGreaterEqual(after - before, 59)
            self.assertIn(f"HTTP status {status}", pushes.said())
            self.assertEqual(other.paths, [])
            server.settle()
            server.answer = lambda text: 204
            self.again(pushes)
            self.all_arrive_once(server, names)
            pushes.end()
            self.agent.hang_up()

    def test_it_is_said_also_if_the_server_was_down_before(self):
        server = Server(self, first(503, then=401, of=lambda text: True))
        pushes = self.push(server.url)
        self.waits(pushes, self.jobs(2))
        self.assertIn("HTTP status 503", pushes.said())

    def test_it_is_a_figure_of_its_own_afterwards(self):
        """The line was made while the server refused all."""
        server = Server(self, lambda text: 403)
        pushes = self.push(server.url)
        until(lambda: any("misconfigured=1i" in line for line in pushes.spooled("samples")))
        pushes.end()
        self.agent.hang_up()
        server.settle()
        server.answer = lambda text: 204
        self.again(pushes)
        until(lambda: any("misconfigured=1i" in line for line in server.of("bpfmon_push")))
        self.assertIn("misconfigured=0i", until(lambda: "misconfigured=0i" in server.of("bpfmon_push")[-1] and server.of("bpfmon_push")[-1]))
        pushes.end()

    def certificate(self, name):
        files = [str(self.dir / f"{name}-key.pem"), str(self.dir / f"{name}.pem")]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=test", "-addext", f"subjectAltName={name}", "-keyout", files[0], "-out", files[1]],
            stderr=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        (self.dir / f"{name}.pem").chmod(0o644)
        return files[1], files[0]

    def test_certificates(self):
        right, wrong = self.certificate("IP:127.0.0.1"), self.certificate("DNS:elsewhere.example")
        for case, files, ca_file in (("unknown", right, ""), ("wrong", wrong, wrong[0])):
            server = Server(self, files=files)
            pushes = self.push(server.url, **({"ca_file": ca_file} if ca_file else {}))
            names = self.jobs(3, case)
            self.waits(pushes, names)
            self.assertEqual(server.paths, [])
        server = Server(self, files=right)
        pushes = self.push(server.url, ca_file=right[0])  # with the same spool
        self.all_arrive_once(server, [f"{case}{number}" for case in ("unknown", "wrong") for number in range(3)])
        pushes.end()
