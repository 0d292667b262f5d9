# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon-exporter: what it serves, to whom, and what it does about a bad agent or a bad client."""

import base64
import contextlib
import errno
import http.client
import pathlib
import pwd
import re
import signal
import socket
import subprocess
import time

from lib.bpfmon import BPFMON
from lib.endpoint import AS_USER, EXPORTER, EndpointCase, until
from lib.hoarder import hoard
from lib.permitted import ROOT, needs
from lib.servers import addresses_of_localhost, free_port

PROMETHEUS = (  # as Prometheus 2.42 sends it
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
SOON_SECONDS = 10  # half of what a connection may be idle
JOB = '{job="slurm/815",user="alice",kind="slurm",name="815"}'
ALICE = 'bpfmon_user_cpu_seconds_total{user="alice",kind="slurm"}'


class Served(EndpointCase):
    def test_values_are_those_of_the_stream(self):
        endpoint = self.start()
        self.agent.begin("node", kind="node", user="")
        self.agent.begin("815")
        self.agent.sample("node", cpu_seconds=100.000000001, rss_bytes=5000)
        self.agent.sample("815", cpu_seconds=1.25, rss_bytes=4096, cores=0.5, majflt=3)
        self.agent.say(kind="agent", run="agent", time=3, cpu_seconds=0.5, jobs=1, losses={"tasks": 2})
        values = endpoint.read()
        self.assertEqual(values["bpfmon_node_cpu_seconds_total"], 100.000000001)
        self.assertEqual(values["bpfmon_node_rss_bytes"], 5000)
        self.assertEqual(values[f"bpfmon_job_cpu_seconds_total{JOB}"], 1.25)
        self.assertEqual(values[f"bpfmon_job_rss_bytes{JOB}"], 4096)
        self.assertEqual(values[f"bpfmon_job_cores{JOB}"], 0.5)
        self.assertEqual(values['bpfmon_user_majflt_total{user="alice",kind="slurm"}'], 3)
        self.assertEqual(values["bpfmon_agent_cpu_seconds_total"], 0.5)
        self.assertEqual(values['bpfmon_agent_losses_total{what="tasks"}'], 2)
        self.assertEqual(values["bpfmon_agent_up"], 1)

    def test_a_client_gets_the_format_that_it_asks_for(self):
        endpoint = self.start()
        _, headers, text = endpoint.ask(Accept=PROMETHEUS)
        self.assertEqual(headers["Content-Type"], "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertTrue(text.endswith("# EOF\n"))
        self.assertIn("# TYPE bpfmon_exporter_lines counter\n", text)
        _, headers, text = endpoint.ask()
        self.assertEqual(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        self.assertIn("# TYPE bpfmon_exporter_lines_total counter\n", text)

    def test_there_are_three_paths_and_two_methods(self):
        endpoint = self.start()
        self.assertEqual(endpoint.ask("/-/healthy")[0], 200)
        self.assertEqual(endpoint.ask("/")[0], 200)
        for path in ("/x", "/metrics/", "//metrics", "/metrics/../", "/%2e%2e/etc/passwd"):
            self.assertEqual(endpoint.ask(path)[0], 404, path)
        status, headers, text = endpoint.ask("/metrics", "HEAD")
        self.assertEqual((status, text), (200, ""))
        self.assertGreater(int(headers["Content-Length"]), 100)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X"):
            status, headers, _ = endpoint.ask("/metrics", method, "a=b" if method == "POST" else None)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), method)

    def test_the_help_has_its_texts_in_one_column(self):
        done = subprocess.run([EXPORTER, "--help"], stdout=subprocess.PIPE, text=True, check=True)
        rows = [line for line in done.stdout.splitlines() if line.startswith("  --")]
        self.assertEqual({re.match(r"  --.*?  +", row).end() for row in rows}, {29})
        self.assertIn("agent:SOCKET", done.stdout)

    def test_the_page_is_links(self):
        endpoint = self.start()
        self.agent.begin("<b>job</b>")
        endpoint.read()
        status, headers, text = endpoint.ask("/")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertEqual(re.findall(r'<a href="(.*?)">', text), ["/metrics", "/-/healthy"])
        for path in ("/metrics", "/-/healthy"):
            self.assertEqual(endpoint.ask(path)[0], 200)
        self.assertIn("bpfmon serve", text)
        self.assertNotIn("job</b>", text)
        self.assertIn('<html lang="en">', text)
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])


class Stream(EndpointCase):
    def test_totals_go_on_when_the_agent_is_restarted(self):
        endpoint = self.start()
        self.agent.begin("815")
        self.agent.sample("815", cpu_seconds=10, rss_bytes=1)
        self.agent.begin("short")
        self.agent.end("short", cpu_seconds=2)
        self.assertEqual(endpoint.read()[ALICE], 12)
        self.agent.close()
        down = until(lambda: endpoint.values()["bpfmon_agent_up"] == 0 and endpoint.values())
        self.assertEqual(down[ALICE], 12)
        self.assertNotIn(f"bpfmon_job_rss_bytes{JOB}", down)
        self.agent.listen()
        self.agent.accept()
        self.agent.begin("815", run="another", start=99, readopted=True)
        self.agent.sample("another", cpu_seconds=1, rss_bytes=2)
        values = endpoint.read()
        self.assertEqual(values["bpfmon_agent_up"], 1)
        self.assertEqual(values[ALICE], 13)
        self.assertEqual(values[f"bpfmon_job_cpu_seconds_total{JOB}"], 11)
        self.assertEqual(values[f"bpfmon_job_rss_bytes{JOB}"], 2)

    def test_an_agent_that_says_nothing_more_is_not_up(self):
        endpoint = self.start()
        self.agent.begin("815", interval_seconds=1)
        self.agent.sample("815", cpu_seconds=10, rss_bytes=1)
        until(lambda: f"bpfmon_job_rss_bytes{JOB}" in endpoint.values())
        silent = until(lambda: endpoint.values()["bpfmon_agent_up"] == 0 and endpoint.values())
        self.assertNotIn(f"bpfmon_job_rss_bytes{JOB}", silent)
        self.assertEqual(silent[ALICE], 10)
        self.assertLess(silent["bpfmon_agent_last_line_time_seconds"], time.time() - 2.5)
        self.agent.sample("815", cpu_seconds=11, rss_bytes=2)
        until(lambda: endpoint.values().get(f"bpfmon_job_rss_bytes{JOB}") == 2)

    def test_an_ended_job_is_shown_with_its_figures(self):
        endpoint = self.start()
        self.agent.begin("815", start=time.time() + 1)
        self.agent.sample("815", cpu_seconds=1, rss_bytes=4096)
        values = endpoint.read()
        self.assertEqual(values[f"bpfmon_job_cpu_seconds_total{JOB}"], 0)  # its increase is whole
        self.assertEqual(values[f"bpfmon_job_running{JOB}"], 1)
        self.agent.end("815", cpu_seconds=2.5, wall_seconds=3, rss_peak_bytes=8192)
        values = endpoint.read()
        self.assertEqual(values[f"bpfmon_job_cpu_seconds_total{JOB}"], 2.5)
        self.assertEqual(values[f"bpfmon_job_running{JOB}"], 0)
        for key, value in {"wall_seconds": 3, "cpu_seconds": 2.5, "rss_peak_bytes": 8192, "complete": 1}.items():
            self.assertEqual(values[f"bpfmon_job_ended_{key}{JOB}"], value, key)

    def test_a_stream_that_breaks_off_adds_nothing_twice(self):
        endpoint = self.start()
        for _ in range(3):
            self.agent.begin("815")
            self.agent.sample("815", cpu_seconds=10)
            self.agent.connection.sendall(b'{"kind":"sample","run":"815","cpu_seconds":9')  # not to its end
            self.agent.hang_up()
            self.agent.accept()
        self.assertEqual(endpoint.read()[ALICE], 10)

    def test_garbage_and_floods_change_nothing(self):
        endpoint = self.start()
        self.agent.begin("815")
        self.agent.write(b"\n\0\n{\n[1]\n\xff\xfe\n" + b"[" * 5000 + b"\n")
        self.agent.write(b'{"kind":"sample","run":"815","cpu_seconds":"x"}\n{"kind":"sample","run":"815"}\n')
        self.agent.write(b'{"kind":"meta","run":{},"node_job":[]}\n{"kind":"agent","losses":7}\n')
        self.agent.write(b'{"kind":"' + b"x" * (6 << 20) + b'"}\n')
        process = b'{"kind":"process","run":"815","pid":4711,"comm":"true","cpu_seconds":0.001}\n'
        for _ in range(50):
            self.agent.write(process * 1000)
        self.agent.sample("815", cpu_seconds=3)
        values = endpoint.read()
        self.assertEqual(values[f"bpfmon_job_cpu_seconds_total{JOB}"], 3)
        self.assertEqual(values["bpfmon_exporter_lines_refused_total"], 8)
        self.assertEqual(values["bpfmon_exporter_lines_total"], self.agent.lines)
        self.assertLess(int(endpoint.status("VmHWM").split()[0]), 64 << 10)  # kB

    def test_it_waits_for_an_agent_that_is_not_there_yet(self):
        self.agent.close()
        with subprocess.Popen(
            [EXPORTER, *AS_USER, "--stream", f"unix:{self.agent.path}", "--listen", f"127.0.0.1:{free_port()}"],
            stderr=subprocess.PIPE,
        ) as process:
            try:
                self.assertIn(b"cannot open the stream", process.stderr.readline())
                self.agent.listen()
                self.agent.accept()
            finally:
                process.kill()


class Clients(EndpointCase):
    def connect(self, endpoint):
        client = socket.create_connection(("127.0.0.1", endpoint.port), timeout=60)
        self.addCleanup(client.close)
        return client

    def test_slow_clients_hold_up_neither_others_nor_the_stream(self):
        endpoint = self.start()
        for i in range(200):
            self.agent.begin(f"{i}")
            self.agent.sample(f"{i}", **{key: 1 for key in ("cpu_seconds", "rss_bytes", "minflt", "majflt", "cores")})
        endpoint.read()
        for request in (b"", b"GET /metr", b"GET /metrics HTTP/1.1\r\nHost: a\r\nX: ") * 6:
            self.connect(endpoint).sendall(request)
        for _ in range(4):  # and do not read the answer
            client = self.connect(endpoint)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for i in range(200):
            self.agent.sample(f"{i}", cpu_seconds=2)
        values = endpoint.read()
        self.assertEqual(values[ALICE], 400)

    def test_more_connections_than_it_takes_are_refused_and_the_stream_is_read(self):
        endpoint = self.start()
        self.agent.begin("815")
        held = []
        for _ in range(50):
            with contextlib.suppress(ConnectionResetError):  # a refusal may come before connect() has returned
                held.append(self.connect(endpoint))
        self.agent.sample("815", cpu_seconds=7)
        for client in held:
            client.close()
        until(lambda: self.values_unless_refused(endpoint).get(ALICE) == 7)

    @needs(ROOT)
    def test_connections_of_another_user_keep_no_scrape_waiting(self):
        endpoint = self.start()
        for i in range(200):
            self.agent.begin(f"{i}")
            self.agent.sample(f"{i}", cpu_seconds=1)
        endpoint.read()
        for request in ("", "GET /metr", "GET /metrics HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n"):
            with hoard(endpoint.port, request):
                for _ in range(10):
                    begin = time.monotonic()
                    self.assertEqual(endpoint.ask()[0], 200)
                    self.assertLess(time.monotonic() - begin, SOON_SECONDS)

    def test_only_own_names_are_answered(self):
        """A page of a site, whose name its owner makes lead to loopback, reads nothing."""
        own = socket.gethostname()
        endpoint = self.start("--host", "proxy.example", "--host", "node7")
        at = f":{endpoint.port}"
        for host in ("localhost" + at, "LOCALHOST", "127.0.0.1" + at, "[::1]" + at, "10.1.2.3", own, "proxy.example", "node7:80"):
            self.assertEqual(endpoint.ask(Host=host)[0], 200, host)
        for host in ("evil.example" + at, "localhost.evil.example", "127.0.0.1.evil.example", f"{own}.evil.example", "node"):
            for path in ("/metrics", "/", "/-/healthy"):
                self.assertEqual(endpoint.ask(path, Host=host)[0], 421, host)
        with socket.create_connection(("127.0.0.1", endpoint.port), timeout=60) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
            self.assertIn(b" 400 ", client.recv(4096).split(b"\r\n")[0])
        with socket.create_connection(("127.0.0.1", endpoint.port), timeout=60) as client:
            client.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")  # no browser
            self.assertIn(b" 200 ", client.recv(4096).split(b"\r\n")[0])

    def test_both_addresses_of_localhost_are_its_own(self):
        endpoint = self.start()
        for family, address in addresses_of_localhost():
            with self.assertRaises(OSError), socket.socket(family) as other:
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                other.bind((address, endpoint.port))
                other.listen()
            with socket.create_connection((address, endpoint.port), timeout=60) as client:
                client.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b" 200 ", client.recv(4096).split(b"\r\n")[0])

    def values_unless_refused(self, endpoint):
        try:
            return endpoint.values()
        except (OSError, http.client.HTTPException):
            return {}

    def test_large_and_broken_requests_are_refused(self):
        endpoint = self.start()
        for request in (
            b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
            b"\0" * 1000 + b"\r\n\r\n",
        ):
            client = self.connect(endpoint)
            try:
                client.sendall(request)
                client.shutdown(socket.SHUT_WR)
                self.assertNotIn(b" 200 ", client.recv(64))
            except ConnectionError:
                pass
            except OSError as error:  # it was refused before its end, which shutdown() says in another way
                if error.errno != errno.ENOTCONN:
                    raise
        self.assertEqual(endpoint.ask("/-/healthy")[0], 200)


class Guarded(EndpointCase):
    def hash(self, password):
        argv = ["openssl", "passwd", "-6", password]
        return subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()

    def basic(self, user, password):
        return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}

    def passwords(self):
        path = self.dir / "passwords"
        path.write_text(f"# users\nada:{self.hash('secret:1')}\n\nbob:{self.hash('b')}\n")
        path.chmod(0o600)
        return ["--password-file", str(path)]

    def check_passwords(self, endpoint):
        for path in ("/metrics", "/", "/-/healthy", "/x"):
            status, headers, _ = endpoint.ask(path)
            self.assertEqual(status, 401)
            self.assertIn("Basic", headers["WWW-Authenticate"])
        for user, password in (("ada", "b"), ("ada", ""), ("", ""), ("eve", "secret:1"), ("ADA", "secret:1")):
            self.assertEqual(endpoint.ask(**self.basic(user, password))[0], 401, user)
        self.assertEqual(endpoint.ask(Authorization="Basic !!!")[0], 401)
        self.assertEqual(endpoint.ask(Authorization="Bearer x")[0], 401)
        self.assertEqual(endpoint.ask(**self.basic("ada", "secret:1"))[0], 200)
        self.assertEqual(endpoint.ask(**self.basic("bob", "b"))[0], 200)

    def test_passwords_are_asked_for(self):
        self.check_passwords(self.start(*self.passwords()))

    def test_tls_with_passwords(self):
        key, certificate = str(self.dir / "key.pem"), str(self.dir / "certificate.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-keyout", key, "-out", certificate],
            stderr=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        endpoint = self.start("--certificate", certificate, "--key", key, *self.passwords(), tls=True)
        self.check_passwords(endpoint)
        # a client without TLS gets nothing
        with socket.create_connection(("127.0.0.1", endpoint.port), timeout=60) as plain:
            plain.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
            self.assertNotIn(b"200", plain.recv(64))

    def refused(self, *options, status=1, user=None):
        stream = ["--stream", f"unix:{self.agent.path}"]
        argv = [EXPORTER, *stream, *(AS_USER if user is None else user), *options]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    @needs(ROOT)
    def test_root_must_name_an_ordinary_user(self):
        self.assertIn("name the user to run as with --user", self.refused(user=()))
        self.assertIn("expects an ordinary user", self.refused(user=("--user", "root")))
        self.assertIn("no user 'nobody-here'", self.refused(user=("--user", "nobody-here")))
        endpoint = self.start()
        nobody = pwd.getpwnam("nobody")
        self.assertEqual(endpoint.status("Uid").split(), [str(nobody.pw_uid)] * 4)
        self.assertEqual(endpoint.status("CapPrm"), "0000000000000000")

    def test_what_cannot_be_is_refused_with_a_reason(self):
        self.assertIn("which other machines can reach", self.refused("--listen", "0.0.0.0:9"))
        self.assertIn("which other machines can reach", self.refused("--listen", "[::]:9", *self.passwords()))
        self.assertIn("numeric address", self.refused("--listen", "localhost", status=2))
        self.assertIn("numeric address", self.refused("--listen", "127.0.0.1:http", status=2))
        self.assertIn("both --certificate and --key", self.refused("--key", "/dev/null", status=2))
        self.assertIn("expects a whole number", self.refused("--series", "0", status=2))
        self.assertIn("expects a whole number", self.refused("--keep", "5m", status=2))
        self.assertIn("unexpected argument 'x'", self.refused("x", status=2))
        self.assertIn("/nowhere", self.refused("--password-file", "/nowhere"))
        bad = self.dir / "bad"
        bad.touch(0o600)
        for text in ("ada\n", "ada:secret\n", ":x\n", "ada:$1$abc$0123456789012345678901\n", ""):
            bad.write_text(text)
            self.assertRegex(self.refused("--password-file", str(bad)), f"{bad}(:1: expected| has no line)", text)
        bad.write_text("no certificate")
        listen = ["--listen", f"127.0.0.1:{free_port()}"]
        self.assertIn("HTTP server", self.refused(*listen, "--certificate", bad, "--key", bad))
        bad.chmod(0o604)
        self.assertIn("as a secret", self.refused(*listen, "--certificate", bad, "--key", bad))
        self.assertIn("as a secret", self.refused(*listen, "--password-file", bad))
        done = subprocess.run([EXPORTER], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--stream", done.stderr)


class Configured(EndpointCase):
    def configure(self, *lines):
        path = self.dir / "agent.conf"
        path.write_text("\n".join(["[agent]", f"socket = {self.agent.path}", "[exporter]", *lines, ""]))
        return str(path)

    def test_the_agents_configuration_says_what_to_serve(self):
        port = free_port()
        config = self.configure(f"listen = 127.0.0.1:{port}", "series = 1", "keep = 1h")
        endpoint = self.start("--stream", f"unix:{self.agent.path}", config=config, port=port)
        for job, seconds in (("815", 9), ("816", 2), ("817", 1)):
            self.agent.begin(job)
            self.agent.sample(job, cpu_seconds=seconds)
        values = until(lambda: (found := endpoint.values()).get(ALICE) == 12 and found)
        other = values['bpfmon_job_cpu_seconds_total{job="other",kind="other"}']
        own = [value for name, value in values.items() if name.startswith('bpfmon_job_cpu_seconds_total{job="slurm')]
        self.assertEqual(len(own), 1)
        self.assertEqual(own[0] + other, 12)

    def test_options_override_it(self):
        config = self.configure("listen = 127.0.0.1:1")
        port = free_port()
        endpoint = self.start(
            "--listen", f"127.0.0.1:{port}", "--stream", f"unix:{self.agent.path}", config=config, port=port
        )
        self.assertEqual(endpoint.ask("/-/healthy")[0], 200)

    def run_with(self, *lines):
        argv = [EXPORTER, "--config", self.configure(*lines)]
        return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)

    def test_what_is_wrong_in_it_is_said(self):
        done = self.run_with("series = many")
        self.assertEqual(done.returncode, 2)
        self.assertIn("agent.conf:4: series = many", done.stderr)
        done = self.run_with("listen =")
        self.assertEqual((done.returncode, "no address to listen on" in done.stderr), (0, True))


@needs(ROOT)
class Rights(EndpointCase):
    def test_it_keeps_no_rights(self):
        endpoint = self.start()
        until(lambda: endpoint.status("Seccomp") == "2")  # the last of its restrictions: it connects before that
        self.assertNotIn("0", endpoint.status("Uid").split())
        for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(endpoint.status(key), 16), 0, key)
        self.assertEqual(endpoint.status("NoNewPrivs"), "1")
        for task in pathlib.Path(f"/proc/{endpoint.process.pid}/task").iterdir():
            self.assertRegex((task / "status").read_text(), r"Seccomp:\s+2\n")

    def test_signals_end_it(self):
        for sig in (signal.SIGTERM, signal.SIGINT):
            endpoint = self.start()
            self.assertEqual(endpoint.stop(sig), 0)

    def test_bpfmon_itself_has_none_of_its_libraries(self):
        needed = subprocess.run(["readelf", "-d", BPFMON], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertNotIn("microhttpd", needed)
        self.assertNotIn("crypt", needed)
