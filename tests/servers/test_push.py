# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon-push and the databases that take its lines."""

import re
import subprocess
import time

from lib import servers
from lib.account import listed_metrics
from lib.bpfmon import TOP
from lib.documents import blocks_of, commands_in
from lib.push import PushCase, every_metric, until

JOBS = 300


class Influxdb(PushCase):
    def setUp(self):
        super().setUp()
        self.serve()

    def serve(self):
        self.server = servers.influxdb(self.dir)
        self.addCleanup(self.server.stop)
        self.url = f"{self.server.url}/write?db=bpfmon"

    def query(self, text):
        return servers.influxdb_rows(self.server, text)

    def count(self):
        (row,) = self.query("SELECT count(wall_seconds) FROM bpfmon_job_ended") or [{"count": 0}]
        return row["count"]

    def test_every_ended_job_is_a_row_once_whatever_happens_to_the_sender(self):
        """Many end in the same millisecond; bpfmon-push is killed again and again."""
        pushes = self.push(self.url)
        start = time.time()
        for number in range(JOBS):
            self.job(f"job{number}", start=start, seconds=1 + number // 30 / 1000, cpu_seconds=number / 4)
            if number % 60 == 59:
                lines = self.agent.lines
                until(lambda: self.count() >= number // 2)  # some of it
                until(lambda lines=lines: pushes.process.poll() is None and lines)
                time.sleep(1.2)  # what has not been read from the socket is lost with its reader
                pushes.kill()
                self.again(pushes)
        until(lambda: self.count() >= JOBS)
        time.sleep(1)
        rows = self.query("SELECT * FROM bpfmon_job_ended")
        self.assertEqual(sorted(row["cpu_seconds"] for row in rows), [number / 4 for number in range(JOBS)])
        self.assertEqual({row["job"] for row in rows}, {f"slurm/job{number}" for number in range(JOBS)})
        # the number of series does not grow with that of jobs
        self.assertEqual(len(self.query("SHOW SERIES FROM bpfmon_job_ended")), 1)
        pushes.end()

    def test_what_came_while_it_was_down_is_there_afterwards(self):
        pushes = self.push(self.url)
        self.job("before")
        until(lambda: self.count() == 1)
        self.server.stop()
        self.agent.begin("long", start=time.time() - 5)
        for value in range(5):
            self.agent.sample("long", cpu_seconds=value)
            self.job(f"meanwhile{value}")
            self.until_kept(pushes)
        pushes.kill()
        self.again(pushes)
        self.agent.begin("long", start=time.time() - 5)
        self.agent.sample("long", cpu_seconds=5)
        self.until_kept(pushes)
        self.serve_again()
        until(lambda: self.count() == 6)
        until(lambda: {0, 1, 2, 3, 4, 5} <= {row["cpu_seconds_total"] for row in self.query("SELECT cpu_seconds_total FROM bpfmon_job")})
        pushes.end()

    def until_kept(self, pushes):
        """Until a sample that was begun after this moment is in the spool, and so are the rows of before. No server takes them out."""

        def size():
            return sum(path.stat().st_size for path in pushes.folder.glob("samples-*"))

        for _ in range(2):
            before = size()
            until(lambda before=before: size() > before)

    def serve_again(self):
        """The same database at the same port."""
        argv = self.server.process.args
        again = servers.Server(argv, int(self.server.url.rsplit(":", 1)[1]), "/ping", self.dir / "log2")
        self.addCleanup(again.stop)

    def test_every_metric_arrives_with_one_type_for_good(self):
        pushes = self.push(self.url, metrics="all", tags="cluster=alpha")
        self.agent.begin("node", kind="node", user="")
        self.agent.sample("node", **every_metric(9))
        self.agent.begin("815")
        self.agent.sample("815", **every_metric(1))
        until(lambda: self.query("SELECT * FROM bpfmon_node"))
        self.agent.sample("815", **{key: int(value) + 2 for key, value in every_metric(1).items()})
        until(lambda: len(self.query("SELECT * FROM bpfmon_job")) > 2)
        row = self.query("SELECT * FROM bpfmon_job ORDER BY time ASC LIMIT 1")[0]
        self.assertEqual((row["job"], row["user"], row["cluster"], row["instance"]), ("slurm/815", "alice", "alpha", "node1"))
        node = self.query("SELECT * FROM bpfmon_node LIMIT 1")[0]
        for key, (_, kind) in listed_metrics().items():
            name = f"{key}_total" if kind == "counter" else key
            self.assertEqual(node[name], every_metric(9)[key], name)
            if not key.startswith(("host_", "energy_unapportioned")):  # of the node
                self.assertEqual(row[name], every_metric(1)[key], name)
        self.assertNotIn("refuses", pushes.said())
        pushes.end()


class Victoriametrics(PushCase):
    def setUp(self):
        super().setUp()
        self.server = servers.victoriametrics(self.dir)
        self.addCleanup(self.server.stop)

    def values(self, query):
        return self.server.get_json("/api/v1/query", query=query)["data"]["result"]

    def test_names_are_those_of_the_exporter(self):
        for path in ("/write", "/api/v2/write"):
            pushes = self.push(self.server.url + path, instance=path.split("/")[1], metrics="all")
            self.agent.begin("815", start=time.time() + 0.001)
            time.sleep(0.1)
            self.agent.sample("815", **every_metric(1))
            self.agent.begin("short", start=time.time() - 0.5)
            self.agent.end("short", cpu_seconds=0.125, wall_seconds=0.5, memory_needed_bytes=4096)
            instance = f'instance="{path.split("/")[1]}"'
            until(lambda instance=instance: self.values(f'bpfmon_job_ended_wall_seconds{{name="short",{instance}}}'))
            (ended,) = self.values(f'bpfmon_job_ended_memory_needed_bytes{{job="slurm/short",{instance}}}')
            self.assertEqual((ended["value"][1], ended["metric"]["user"]), ("4096", "alice"))
            for key, (_, kind) in listed_metrics().items():
                if key.startswith(("host_", "energy_unapportioned")):  # of the node
                    continue
                name = f"bpfmon_job_{key}" + "_total" * (kind == "counter")
                (one,) = until(lambda name=name, instance=instance: self.values(f'{name}{{job="slurm/815",{instance}}}'))
                self.assertEqual(float(one["value"][1]), every_metric(1)[key])
            # the counter began at 0: all of it is an increase
            (grown,) = self.values(f"increase(bpfmon_job_minflt_total{{{instance}}}[1m])")
            self.assertEqual(float(grown["value"][1]), every_metric(1)["minflt"])
            pushes.end()
            self.agent.hang_up()


class Documented(PushCase):
    """What docs/FLEET.md shows, on the jobs of a push."""

    def feed(self, url):
        self.push(url, tags="cluster=alpha")
        self.agent.begin("node", kind="node", user="")
        limits = {"limits": {"memory_max_bytes": 1 << 30}}
        self.agent.begin("814", start=time.time() - 100, **limits)
        self.agent.end("814", wall_seconds=90, cpu_seconds=45, memory_needed_bytes=1 << 28)
        for number in range(3):
            self.agent.sample("node", **every_metric(number))
            for job in ("815", "816"):
                if not number:
                    self.agent.begin(job, start=time.time() - 100, **limits)
                self.agent.sample(job, **every_metric(number))
            time.sleep(1)
        self.agent.end("816", cpu_seconds=3000, wall_seconds=100)

    def queries(self, language, document="FLEET"):
        """With steps of a second, as the jobs of the test are short."""
        text = re.sub(r"time\(1m\)|:15s\]", lambda m: m[0].replace("1m", "1s").replace("15s", "1s"), (TOP / f"docs/{document}.md").read_text())
        return [line.split(" #")[0].strip() for block in re.findall(rf"```{language}\n(.*?)```", text, re.S) for line in block.splitlines()]

    def execute(self, host, server):
        """The commands of the document that ask this host."""
        commands = [command for block in blocks_of((TOP / "docs/FLEET.md").read_text()) for command in commands_in(block)]
        mine = [command.replace(f"http://{host}", server.url) for command in commands if f"http://{host}" in command]
        return [subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout for command in mine]

    def test_every_query_for_influxdb_has_rows(self):
        server = servers.influxdb(self.dir)
        self.addCleanup(server.stop)

        def ask(query):
            (result,) = server.get_json("/query", db="bpfmon", q=query)["results"]
            return [dict(zip(one["columns"], row)) | one.get("tags", {}) for one in result.get("series", []) for row in one["values"]]

        self.feed(f"{server.url}/write?db=bpfmon")
        until(lambda: ask("SELECT * FROM bpfmon_job WHERE job = 'slurm/816' AND running = 0"))
        queries = self.queries("influxql")
        self.assertEqual(len(queries), 4)
        live, cores, ended, hours = (until(lambda query=query: ask(query)) for query in queries)
        self.assertEqual([row["job"] for row in live], ["slurm/815"])
        self.assertLessEqual({"slurm/815"}, {row["job"] for row in cores})
        (row,) = (row for row in ended if row["job"] == "slurm/814")
        self.assertEqual((row["cores"], row["memory"], row["user"]), (0.5, 0.25, "alice"))
        self.assertEqual([(row["user"], row["hours"]) for row in hours], [("alice", 3045 / 3600)])
        made, found = self.execute("influx:8086", server)
        self.assertIn('"results"', made)
        self.assertRegex(found, r'"instance":"node1".*"last"')

    def test_every_query_for_victoriametrics_has_rows(self):
        server = servers.victoriametrics(self.dir)
        self.addCleanup(server.stop)

        def ask(query):
            return server.get_json("/api/v1/query", query=query)["data"]["result"]

        self.feed(f"{server.url}/api/v2/write")
        until(lambda: ask('bpfmon_job_running{job="slurm/816"} == 0'))
        queries = self.queries("promql")
        self.assertGreater(len(queries), 5)
        rows = [until(lambda query=query: ask(query)) for query in queries]
        self.assertEqual([row["metric"]["job"] for row in rows[0]], ["slurm/815"])
        self.assertEqual([(row["metric"]["job"], row["value"][1]) for row in rows[3]], [("slurm/814", "0.25")])
        for query in self.queries("promql", "NODE"):  # hold here, too
            until(lambda query=query: ask(query))
        (found,) = self.execute("victoria:8428", server)
        self.assertIn('"bpfmon_push_samples_total"', found)
