# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon serve: what it shows of a store, as a run goes on, and to whom."""

import contextlib
import gzip
import http.client
import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import time

from lib.bpfmon import BPFMON
from lib.fakeagent import FakeAgent, Job
from lib.hoarder import hoard
from lib.live import wait_for
from lib.permitted import ROOT, needs
from lib.servers import addresses_of_localhost
from lib.store import StoreCase
from lib.web import Web

NEEDS = ()
SOON_SECONDS = 10  # half of what a connection may be idle
GARBAGE = int(os.environ.get("GARBAGE", "300"))  # requests that are none


class WebCase(StoreCase):
    def setUp(self):
        super().setUp()
        self.record("--name", "first", "--tag", "threads=8", "-i", "0.01", command=("sleep", "0.2"))
        self.record("--name", "second", command=("true",))
        self.web = Web(self.store)
        self.addCleanup(self.web.close)

    def goes_on(self, number):
        """Makes the run one that this process records."""
        with contextlib.closing(sqlite3.connect(self.store)) as db, db:
            start = pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]
            boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            alive = f"{boot} {os.readlink('/proc/self/ns/pid')} {os.getpid()} {start}"
            db.execute("UPDATE run SET ended = 0, writer = ? WHERE id = ?", (alive, number))
            db.execute("UPDATE run_text SET summary = NULL WHERE run = ?", (number,))

    def ends(self, number):
        with contextlib.closing(sqlite3.connect(self.store)) as db, db:
            db.execute("UPDATE run SET ended = 1 WHERE id = ?", (number,))

    def last_ns(self, number):
        return self.ask("SELECT max(elapsed_ns) FROM sample WHERE run = ?", number)[0][0]

    def grow(self, number, by_ns=1_000_000_000, count=1):
        """Samples more: the last one again, later, each with 100 page faults."""
        at = self.last_ns(number)
        with contextlib.closing(sqlite3.connect(self.store)) as db, db:
            names = [row[1] for row in db.execute("PRAGMA table_info(sample)")]
            later = {"elapsed_ns": f"elapsed_ns + {by_ns}", "minflt": "minflt + 100"}
            for i in range(count):
                db.execute(
                    f"INSERT INTO sample({', '.join(names)}) SELECT {', '.join(later.get(name, name) for name in names)}"
                    " FROM sample WHERE run = ? AND elapsed_ns = ?",
                    (number, at + i * by_ns),
                )
        return at + count * by_ns

    def event(self, number, name, **members):
        """An event of the run, as its recorder keeps it."""
        line = json.dumps({"kind": "event", "time": 1, "event": name, **members})
        with contextlib.closing(sqlite3.connect(self.store)) as db, db:
            db.execute(
                "INSERT INTO event(run, seq, elapsed_ns, kind, event, line)"
                " VALUES (?1, (SELECT coalesce(max(seq), 0) + 1 FROM event WHERE run = ?1), 0, 'event', ?2, ?3)",
                (number, name, line),
            )

    def json(self, path, status=200):
        said = self.web.request(path)
        self.assertEqual(said.status, status, said.text)
        return json.loads(said.text)


class Pages(WebCase):
    def test_the_list_is_that_of_list_with_the_same_filters(self):
        said = self.json("/runs.json")
        self.assertEqual((said["total"], said["runs"]), (2, self.list()))
        self.assertEqual([run["name"] for run in self.json("/runs.json?search=FIRST")["runs"]], ["first"])
        self.assertEqual([run["name"] for run in self.json("/runs.json?tag=threads%3D8&state=finished")["runs"]], ["first"])
        page = self.json("/runs.json?limit=1&offset=1")
        self.assertEqual((page["total"], [run["id"] for run in page["runs"]]), (2, [1]))
        self.assertIn("--state does not accept 'lost'", self.json("/runs.json?state=lost", 400)["said"])
        self.assertEqual(self.json("/runs.json?store=/etc/passwd&output=x")["total"], 2)  # no filters: ignored

    def test_every_download_is_what_export_writes(self):
        for format in self.json("/formats.json"):
            name, part = format["name"], format["part"]
            said = self.web.request(f"/runs/1/export?format={name}&part={part}")
            words = ["export", "1", "-q", "-f", name, *(["-o", self.dir / "run"] if part else []), "--force"]
            done = self.bpfmon(*words[: None if part else -1], text=None, errors=None)
            expected = (self.dir / f"run{part}").read_bytes() if part else done.stdout
            self.assertEqual(said.text, expected, name)
            self.assertIn(f"run-1{part or '.' + name}", said.headers["Content-Disposition"])
        self.assertEqual(self.web.request("/runs/1/export?format=nothing").status, 400)
        self.assertEqual(self.web.request("/runs/9/export?format=csv").status, 404)

    def test_answers_are_compressed_for_those_who_accept_it(self):
        pages = ["/runs.json", "/formats.json", "/runs/1/export?format=csv", "/compare?run=1&run=2", "/sparks.json?run=1"]
        for path in pages:
            plain, packed = self.web.request(path), self.web.request(path, Accept_Encoding="deflate, gzip;q=0.5, br")
            self.assertIsNone(packed.headers["Content-Encoding"], path)
            packed = self.web.request(path, Accept_Encoding="deflate, gzip")
            if len(plain.text) < 512:  # not worth it
                self.assertEqual((packed.headers["Content-Encoding"], packed.text), (None, plain.text), path)
                continue
            self.assertEqual(packed.headers["Content-Encoding"], "gzip", path)
            text = gzip.decompress(packed.text)
            if path.startswith("/compare"):  # each has its own nonce
                self.assertEqual(text[:60], plain.text[:60])
            else:
                self.assertEqual(text, plain.text, path)
            self.assertLess(len(packed.text), len(plain.text))
        page, packed = self.web.request("/runs/1"), self.web.request("/runs/1", Accept_Encoding="gzip")
        self.assertLess(2 * len(packed.text), len(page.text))
        self.assertIn(b"</html>", gzip.decompress(packed.text))

    def test_curves_of_the_list_are_of_the_runs_that_were_asked_for(self):
        curves = self.json("/sparks.json?run=1&run=9&run=..%2F1&run=--html")
        self.assertEqual(list(curves), ["1"])
        self.assertEqual(len(curves["1"]), 40)
        wall, cpu = self.ask("SELECT wall_ns, cpu_ns FROM run WHERE id = 1")[0]
        self.assertAlmostEqual(sum(curves["1"]) / 40, cpu / wall, delta=0.02 + 0.2 * cpu / wall)
        icon = self.web.request("/favicon.svg")
        self.assertEqual((icon.status, icon.headers["Content-Type"]), (200, "image/svg+xml"))
        self.assertIn(b'<link rel="icon" href="/favicon.svg">', self.web.request("/").text)
        self.assertNotIn(b'rel="icon"', self.bpfmon("report", "1", "-o", "-", text=None, errors=None).stdout)

    def test_a_comparison_is_the_page_of_compare(self):
        said = self.web.request("/compare?run=1&run=2")
        self.assertEqual(said.status, 200)
        self.assertIn(b"bpfmon comparison", said.text)
        for bad in ("run=1", "run=1&run=..%2Fx", "run=1&run=--html", "run=first&run=second"):
            self.assertEqual(self.web.request(f"/compare?{bad}").status, 400, bad)

    def test_names_tags_and_notes_are_changed_by_a_page_of_ours_alone(self):
        said = self.web.edit(1, ("name", "better"), ("note", "with a patch"), ("tag", "threads=9"), ("tag", "k=v=w"))
        self.assertEqual((said.status, said.text), (200, b"1 run changed\n"))
        row = self.list()[1]
        self.assertEqual((row["name"], row["note"], row["tags"]), ("better", "with a patch", {"k": "v=w", "threads": "9"}))
        before = self.list()
        for refused, status in (
            (self.web.edit(1, ("name", "x"), Origin=None), 403),
            (self.web.edit(1, ("name", "x"), Origin="null"), 403),
            (self.web.edit(1, ("name", "x"), Origin="http://evil.example"), 403),
            (self.web.edit(1, ("name", "x"), cookie=False), 401),
            (self.web.edit(1, ("store", "/tmp/x")), 400),
            (self.web.edit(1, ("name", "x" * 9000)), 400),
            (self.web.edit(1), 400),
            (self.web.edit(9, ("name", "x")), 409),
            (self.web.edit("..%2F1", ("name", "x")), 404),
            (self.web.request("/runs/1/edit?name=x"), 404),
            (self.web.request("/runs/1", "DELETE"), 405),
        ):
            self.assertEqual(refused.status, status, refused.text)
        self.assertEqual(self.list(), before)


class Agents(WebCase):
    def test_the_agent_of_the_variable_is_asked_for_jobs(self):
        agent = FakeAgent(self, Job(1, "slurm/78"), Job(2, "slurm/79"))
        for env, jobs in (({"BPFMON_AGENT": str(agent.path)}, ["slurm/78", "slurm/79"]), ({"BPFMON_AGENT": str(self.dir / "none")}, [])):
            web = Web(self.store, env={**os.environ, **env})
            self.addCleanup(web.close)
            self.assertEqual(json.loads(web.request("/runs.json").text)["has_agent"], bool(jobs))
            self.assertEqual(sorted(run["job"] for run in json.loads(web.request("/runs.json?of=node").text)["runs"]), jobs)


class Live(WebCase):
    def test_samples_come_as_they_are_stored_once_each_until_the_end(self):
        self.goes_on(1)
        self.assertIn(b'"running":true', self.web.request("/runs/1").text)
        known = self.last_ns(1)
        events = self.web.follow(1, known)
        seen = []
        for _ in range(3):
            at = self.grow(1)
            event, number, text = next(events)
            said = json.loads(text)
            self.assertEqual((event, int(number), said["sample"]["elapsed_seconds"]), ("message", at, at / 1e9))
            self.assertEqual(said["charts"]["faults"]["minflt"], 100)
            self.assertEqual(said["sample"]["minflt"], self.ask("SELECT max(minflt) FROM sample WHERE run = 1")[0][0])
            seen.append(number)
        events.close()
        # a client that comes back has what came since, and another one all
        resumed = self.web.follow(1, 0, last=seen[0])
        self.assertEqual([next(resumed)[1] for _ in range(2)], seen[1:])
        other = self.web.follow(1, known)
        self.assertEqual([next(other)[1] for _ in range(3)], seen)
        self.ends(1)
        self.assertEqual([next(resumed)[0], next(other)[0]], ["end", "end"])

    def test_a_stalled_run_says_so_until_it_goes_on(self):
        self.goes_on(1)
        stalled = {"since_time": 1763690000.25, "reason": "4712 flock waits for a lock held by 4711 sh"}
        events = self.web.follow(1, self.last_ns(1))
        self.grow(1)
        self.assertNotIn("stalled", json.loads(next(events)[2]))
        self.assertNotIn("stalled", self.json("/runs.json?state=running")["runs"][0])
        self.event(1, "stalled", **stalled)
        self.grow(1)
        self.assertEqual(json.loads(next(events)[2])["stalled"], stalled)
        self.assertEqual(self.json("/runs.json?state=running")["runs"][0]["stalled"], stalled)
        self.assertIn(json.dumps({"stalled": stalled}, separators=(",", ":"))[1:-1].encode(), self.web.request("/runs/1").text)
        self.event(1, "resumed")
        self.grow(1)
        self.assertNotIn("stalled", json.loads(next(events)[2]))
        self.assertNotIn("stalled", self.json("/runs.json?state=running")["runs"][0])
        self.assertNotIn(b'"running":true,"stalled"', self.web.request("/runs/1").text)

    def test_a_run_that_has_ended_is_not_stalled(self):
        self.event(1, "stalled", since_time=1763690000.25)
        self.assertNotIn("stalled", self.list()[1])
        self.assertNotIn(b'"stalled":{', self.web.request("/runs/1").text)

    def test_what_a_client_has_missed_is_fetched_with_the_page(self):
        self.goes_on(1)
        self.grow(1, 1_000_000, 300)  # more than are looked back to
        self.assertEqual(next(self.web.follow(1, 1))[0], "reload")

    def test_many_clients_cost_little_and_leave_nothing(self):
        self.goes_on(1)
        known = self.last_ns(1)
        fds = self.descriptors()
        clients = [self.web.follow(1, known) for _ in range(20)]
        at = self.grow(1)
        self.assertEqual({next(client)[1] for client in clients}, {str(at)})
        for client in clients:
            client.close()
        self.until_at_most(fds + 4)  # the store is kept open for a while

    def test_twenty_clients_take_two_percent_of_a_core(self):
        self.goes_on(1)
        clients = [self.web.follow(1, self.last_ns(1)) for _ in range(20)]
        samples = 50
        before = self.cpu_seconds()
        for _ in range(samples):
            at = str(self.grow(1))
            self.assertEqual({next(client)[1] for client in clients}, {at})
        self.assertLess(self.cpu_seconds() - before, 0.02 * samples)  # of one a second

    def test_a_run_that_is_looked_at_is_recorded_whole(self):
        script = "while ! read -t 0.1 line; do true; done"
        run = subprocess.Popen([BPFMON, "-q", "-i", "0.05", "--store", self.store, "--", "bash", "-c", script], stdin=subprocess.PIPE)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        wait_for(lambda: self.ask("SELECT 1 FROM sample WHERE run = 3"), "a sample")
        clients = [self.web.follow(3, self.last_ns(3)) for _ in range(20)]
        seen = [[next(client)[1] for _ in range(20)] for client in clients]
        run.communicate(b"\n")
        seen = [ids + [number for event, number, _ in client if event == "message"] for ids, client in zip(seen, clients, strict=True)]
        stored = [str(row[0]) for row in self.ask("SELECT elapsed_ns FROM sample WHERE run = 3 ORDER BY 1")]
        for ids in seen:
            self.assertEqual(ids, stored[-len(ids) :])
        summary = json.loads(self.ask("SELECT summary FROM run_text WHERE run = 3")[0][0])
        self.assertEqual((summary["complete"], summary["losses"]), (True, {}))

    def test_the_page_of_a_day_takes_less_than_two_seconds_of_cpu(self):
        self.goes_on(1)
        self.grow_to_a_day(1)
        before = self.cpu_seconds()
        page = self.web.request("/runs/1")
        self.assertLess(self.cpu_seconds() - before, 2)
        self.assertIn(b'"samples":86', page.text)
        events = self.web.follow(1, self.last_ns(1))
        for _ in range(2):
            at = self.grow(1)
            self.assertEqual(next(events)[1], str(at))

    def grow_to_a_day(self, number, seconds=86400):
        """One sample a second, each with more page faults than the one before."""
        at = self.last_ns(number)
        with contextlib.closing(sqlite3.connect(self.store)) as db, db:
            names = [row[1] for row in db.execute("PRAGMA table_info(sample)")]
            later = {"elapsed_ns": "elapsed_ns + k * 1000000000", "minflt": "minflt + k * k % 997"}
            db.execute(
                f"INSERT INTO sample({', '.join(names)})"
                " WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < ?)"
                f" SELECT {', '.join(later.get(name, name) for name in names)} FROM n, sample WHERE run = ? AND elapsed_ns = ?",
                (seconds, number, at),
            )

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.web.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.web.process.pid}/fd"))

    def until_at_most(self, number):
        for _ in range(600):
            if self.descriptors() <= number:
                return
            self.grow(1)  # what shows that they are gone
            time.sleep(0.1)
        self.fail(f"{self.descriptors()} descriptors, not {number}")


class Guard(WebCase):
    def test_the_first_visit_becomes_a_cookie(self):
        said = self.web.request(f"/runs/1?token={self.web.token}", cookie=False)
        self.assertEqual((said.status, said.headers["Location"]), (303, "/runs/1"))
        cookie = said.headers["Set-Cookie"]
        for word in (f"bpfmon-{self.web.port}={self.web.token}", "HttpOnly", "SameSite=Strict"):
            self.assertIn(word, cookie)
        for path in ("//evil.example/", "/%09/evil.example", "/%0a/evil.example", "/%5cevil.example", "/%2f/evil.example"):
            elsewhere = self.web.request(f"{path}?token={self.web.token}", cookie=False)
            self.assertEqual((elsewhere.status, elsewhere.headers["Location"]), (303, "/"), path)

    def test_pages_allow_no_script_but_their_own(self):
        for path in ("/", "/runs/1", "/compare?run=1&run=2", "/runs.json", "/nothing"):
            policy = self.web.request(path).headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertIn("frame-ancestors 'none'", policy)

    def test_whoever_is_not_asked_for_is_refused(self):
        host = self.web.host
        for path in ("/", "/runs.json", "/runs/1", "/runs/1/live", "/runs/1/export?format=csv", "/compare?run=1&run=2"):
            self.assertEqual(self.web.request(path, cookie=False).status, 401, path)
            self.assertEqual(self.web.request(path, cookie="0" * 48).status, 401, path)
            self.assertEqual(self.web.request(path, Host="evil.example").status, 421, path)
            self.assertEqual(self.web.request(path, Host=host.replace("127.0.0.1", "evil.example")).status, 421, path)
            self.assertEqual(self.web.request(path, Origin="http://evil.example").status, 403, path)
        self.assertEqual(self.web.request("/?token=wrong", cookie=False).status, 401)
        self.assertEqual(self.web.request("/", Host=f"localhost:{self.web.port}").status, 200)
        for path in ("/runs/../../etc/passwd", "/runs/..%2f..%2fetc%2fpasswd", "/runs/%2Fetc", "/runs/first", "/runs/-1", "/etc/passwd"):
            self.assertEqual(self.web.request(path).status, 404, path)

    def test_two_hosts_are_refused(self):
        cookie = f"Cookie: bpfmon-{self.web.port}={self.web.token}"
        for hosts in ((self.web.host, "evil.example"), ("evil.example", self.web.host), (self.web.host,) * 2):
            said = self.send_raw(f"GET / HTTP/1.1\r\nHost: {hosts[0]}\r\n{cookie}\r\nhost: {hosts[1]}\r\n\r\n")
            self.assertIn(b" 400 ", said.split(b"\r\n")[0])

    def send_raw(self, text):
        with socket.create_connection(("127.0.0.1", self.web.port), timeout=60) as s:
            s.sendall(text.encode())
            return s.recv(4096)

    @needs(ROOT)
    def test_connections_of_another_user_keep_none_from_the_owner(self):
        for request in ("", "GET / HTTP/1.1\\r\\nHost: a\\r\\nX: ", "GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"):
            with hoard(self.web.port, request):
                for _ in range(10):
                    begin = time.monotonic()
                    self.assertEqual(self.web.request("/formats.json").status, 200)
                    self.assertLess(time.monotonic() - begin, SOON_SECONDS)

    def test_garbage_is_refused_and_leaves_nothing(self):
        pieces = [b"\x00\xff\x16\x03\x01", b"GET / HTTP/9.9\r\n\r\n", b"GET\r\n\r\n", b"A" * 40000 + b"\r\n\r\n",
                  b"POST /runs/1/edit HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nCookie: " + b"a=b;" * 500 + b"\r\n\r\n"]  # fmt: skip
        self.send(pieces, len(pieces))
        before = self.resources()
        self.send(pieces, GARBAGE)
        self.assertEqual(self.web.request("/").status, 200)
        for _ in range(300):
            if self.resources()[0] <= before[0]:
                break
            time.sleep(0.1)
        fds, kib = self.resources()
        self.assertLessEqual(fds, before[0])
        self.assertLess(kib, before[1] + 8192)

    def send(self, pieces, number):
        for i in range(number):
            with socket.create_connection(("127.0.0.1", self.web.port), timeout=60) as s, contextlib.suppress(OSError):
                s.sendall(pieces[i % len(pieces)])
                s.shutdown(socket.SHUT_WR)
                s.recv(1)

    def resources(self):
        """Descriptors, and KiB of memory."""
        process = pathlib.Path(f"/proc/{self.web.process.pid}")
        status = (process / "status").read_text()
        return len(os.listdir(process / "fd")), int(status.split("VmRSS:")[1].split()[0])


class Start(StoreCase):
    def serve(self, *words):
        return subprocess.run([BPFMON, "serve", *words], capture_output=True, text=True, timeout=60, check=False)

    def test_other_machines_are_served_by_a_name_alone(self):
        self.assert_refused(self.serve("--listen", "0.0.0.0"), "refusing to listen on 0.0.0.0, which other machines", "--host")
        self.assert_refused(self.serve("--listen", "example.org"), "'example.org'", "numeric address")
        self.assert_refused(self.serve("--host", "a/b"), "--host")
        self.assert_refused(self.serve("--store", self.dir / "none.sqlite"), "none.sqlite", "No such file")

    def test_the_warning_has_the_port_that_was_chosen(self):
        web = Web(None, "--listen", "0.0.0.0", "--host", "127.0.0.1")
        self.addCleanup(web.close)
        self.assertIn(f"other machines can reach 0.0.0.0:{web.port}", web.process.stderr.readline())

    def test_no_other_user_gets_what_is_sent_to_localhost(self):
        addresses = addresses_of_localhost()
        for listen in [address for _, address in addresses]:
            web = Web(None, "--listen", listen)
            self.addCleanup(web.close)
            for family, address in addresses:
                with self.assertRaises(OSError), socket.socket(family) as other:
                    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    other.bind((address, web.port))
                    other.listen()
                connection = http.client.HTTPConnection(address, web.port, timeout=60)
                connection.request("GET", "/", headers={"Host": f"localhost:{web.port}"})
                self.assertEqual(connection.getresponse().status, 401)
                connection.close()
            web.close()
        family, address = addresses[-1]
        with socket.create_server((address, 0), family=family) as other:
            port = other.getsockname()[1]
            self.assert_refused(self.serve("--port", str(port)), f"{port}", "in use")

    def test_the_address_that_is_printed_is_where_it_listens(self):
        web = Web(None, "--listen", "127.0.0.5")
        self.addCleanup(web.close)
        self.assertIn(f"//127.0.0.5:{web.port}/", web.url)
        connection = http.client.HTTPConnection("127.0.0.5", web.port, timeout=60)
        for host, status in ((f"127.0.0.5:{web.port}", 401), (f"localhost:{web.port}", 421)):
            connection.request("GET", "/", headers={"Host": host})
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, status, host)
        connection.close()
        named = Web(None, "--host", "node7.example")
        self.addCleanup(named.close)
        self.assertIn("//127.0.0.1:", named.url)
        self.assertEqual(named.request("/", Host=f"node7.example:{named.port}").status, 200)

    def test_a_port_that_is_taken_is_said(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            self.assert_refused(self.serve("--port", str(port)), f"127.0.0.1:{port}", "in use")
