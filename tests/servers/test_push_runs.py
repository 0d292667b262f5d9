# SPDX-License-Identifier: BSD-2-Clause
"""Runs that are sent to databases while they go on (-o influx:URL), and stored ones (bpfmon push)."""

import json
import os
import socket
import subprocess

from lib import servers
from lib.bpfmon import BPFMON
from lib.push import PUSH
from lib.exports import HOSTILE, ExportCase
from lib.live import wait_for

TRAINING = """
for step in 1 2 3; do
    "$BPFMON" mark "step $step"
    "$BPFMON" mark --metric "loss value=0.$step"
    sleep 0.2
done
"""


class PushesRuns(ExportCase):
    def run_bpfmon(self, *words):
        env = os.environ | {"HOME": str(self.dir), "XDG_STATE_HOME": str(self.dir), "BPFMON": BPFMON}
        return subprocess.run([BPFMON, *map(str, words)], env=env, capture_output=True, text=True, timeout=120, check=False)


class Influxdb(PushesRuns):
    def setUp(self):
        super().setUp()
        self.server = servers.influxdb(self.dir)
        self.addCleanup(self.server.stop)
        self.url = f"{self.server.url}/write?db=bpfmon"

    def query(self, text):
        return servers.influxdb_rows(self.server, text)

    def everything(self):
        return {name: self.query(f'SELECT * FROM "{name}"') for name in ("bpfmon", "bpfmon_process", "bpfmon_event", "bpfmon_by", "loss")}

    def test_a_running_run_has_the_points_of_the_stored_one(self):
        path = self.dir / "run.jsonl"
        done = self.run_bpfmon("-q", "-i", "0.1", "--marks", "--tag", "experiment_id=7", "-o", path, "-o", f"influx:{self.url}", "--", "sh", "-c", TRAINING)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        live = self.everything()
        self.assertEqual({row["experiment_id"] for row in live["bpfmon"]}, {"7"})
        self.assertEqual(len([row for row in live["bpfmon_event"] if row["event"] == "mark"]), 3)
        done = self.run_bpfmon("push", path, "--url", self.url)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.everything(), live)  # each point is there, and once

    def test_hostile_names_arrive(self):
        done = self.run_bpfmon("push", HOSTILE, "--url", self.url)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(self.query("SELECT * FROM bpfmon"))

    def test_a_database_that_does_not_exist_is_said_and_the_command_unharmed(self):
        url = f"{self.server.url}/write?db=nowhere"
        done = self.run_bpfmon("-q", "-o", f"influx:{url}", "--", "sh", "-c", "echo out; exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, "out\n"))
        self.assertIn("HTTP status 404", done.stderr)
        self.assertIn("lines were not sent to", done.stderr)
        long = self.dir / "long.jsonl"  # more than a pipe takes
        meta, *rest = HOSTILE.read_text().splitlines(keepends=True)
        sample = next(line for line in rest if '"kind":"sample"' in line)
        long.write_text(meta + sample * 3000)
        for run in (HOSTILE, long):
            done = self.run_bpfmon("push", run, "--url", url)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("HTTP status 404", done.stderr)


class NoServer(PushesRuns):
    def test_a_server_that_is_down_is_a_warning(self):
        url = f"http://127.0.0.1:{servers.free_port()}/write"
        done = self.run_bpfmon("-q", "-o", f"influx:{url}", "--", "sh", "-c", "echo out; exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, "out\n"))
        self.assertRegex(done.stderr, "warning: cannot send to .*\n.* lines were not sent to ")

    def test_more_than_memory_holds_ends_too_and_says_how_much_was_not_sent(self):
        lines = "".join(f"m value={number:060} {number}\n" for number in range(100_000))
        argv = [PUSH, "--lines", "--patience", "1"]
        env = os.environ | {"BPFMON_URL": f"http://127.0.0.1:{servers.free_port()}/write?p=secret"}
        done = subprocess.run(argv, input=lines, env=env, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("100000 of 100000 lines were not sent", done.stderr)
        self.assertNotIn("secret", done.stderr)

    def test_what_is_no_url_is_refused_before_the_command_runs(self):
        mark = self.dir / "ran"
        for url in ("run.txt", "http://", "http://host/?precision=s", "http://me:secret@host/", "ftp://host/"):
            done = self.run_bpfmon("-o", f"influx:{url}", "--", "touch", mark)
            self.assertEqual(done.returncode, 125)
            self.assertIn("it expects influx:URL, where URL is http://", done.stderr)
            self.assertFalse(mark.exists())

    def test_push_without_a_url_or_run_says_what_to_do(self):
        done = self.run_bpfmon("push")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no --url given; try: bpfmon push --url 'http", done.stderr)
        done = self.run_bpfmon("push", "nosuch", "--url", "http://127.0.0.1:1/")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no run 'nosuch'", done.stderr)

    def test_lines_over_udp_fit_into_datagrams(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
            receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            receiver.bind(("127.0.0.1", 0))
            receiver.settimeout(60)
            path, _ = self.record("--io-kinds")
            lines = self.export(path, "influx").decode().splitlines()
            done = self.run_bpfmon("push", path, "--url", f"udp://127.0.0.1:{receiver.getsockname()[1]}")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            got = []
            while len(got) < len(lines):
                datagram = receiver.recv(65536)
                self.assertTrue(len(datagram) <= 1400 or datagram.count(b"\n") == 1)
                got += datagram.decode().splitlines()
            self.assertEqual(got, lines)


class Victoriametrics(PushesRuns):
    """The request of the first users: line protocol by UDP and by HTTP, and a program's own metric beside its memory."""

    def test_by_udp_and_by_http(self):
        port = servers.free_port()
        server = servers.victoriametrics(self.dir, options=[f"-influxListenAddr=127.0.0.1:{port}"])
        self.addCleanup(server.stop)
        for number, url in enumerate((f"udp://127.0.0.1:{port}", f"{server.url}/api/v2/write")):
            options = ("-q", "-i", "0.1", "--marks", "--tag", f"experiment_id={number}", "-o", f"influx:{url}")
            done = self.run_bpfmon(*options, "--", "sh", "-c", TRAINING)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            query = f'last_over_time({{__name__=~"loss_value|bpfmon_rss_bytes", experiment_id="{number}"}}[1h])'

            def found(query=query):
                rows = server.get_json("/api/v1/query", query=query)["data"]["result"]
                return len(rows) == 2 and rows

            rows = wait_for(found, "both metrics")
            self.assertEqual(rows[0]["metric"]["host"], rows[1]["metric"]["host"], json.dumps(rows))
