# SPDX-License-Identifier: BSD-2-Clause
"""The dashboards and rules that bpfmon comes with: each query has an answer in real engines."""

import json
import re
import subprocess
import time

from lib import servers
from lib.account import listed_metrics
from lib.bpfmon import BUILD, TOP
from lib.endpoint import Agent, EndpointCase, until
from lib.push import PushCase, Pushes

INFLUXDB = TOP / "share/bpfmon/grafana/bpfmon-influxdb.json"
DASHBOARDS = sorted(set((TOP / "share/bpfmon/grafana").glob("*.json")) - {INFLUXDB})
RULES = TOP / "share/bpfmon/rules/bpfmon.yml"
CHOSEN = {"$__rate_interval": "30s", "$__range": "5m", "$instance": ".*", "$user": ".*", "$kind": ".*", "$job": "slurm/815"}
LIMIT = 1 << 30
ENDED = {
    "cpu_seconds": 3, "wall_seconds": 2, "user_seconds": 2, "system_seconds": 1, "runqueue_wait_seconds": 0.5,
    "memory_needed_bytes": LIMIT // 4, "rss_peak_bytes": LIMIT // 4, "read_bytes": 5, "write_bytes": 6, "processes_total": 7,
    "oom_kills": 0,
}  # fmt: skip
OF_AGENT = "cpu_seconds rss_bytes tasks max_tasks accounts max_accounts jobs late_ticks lines_dropped".split()


def queries(dashboard):
    """(panel, query with its variables replaced, labels that the panel needs)"""
    for panel in json.loads(dashboard.read_text())["panels"]:
        for target in panel.get("targets", []):  # a row has none
            query = target["expr"]
            for name, value in CHOSEN.items():
                query = query.replace(name, value)
            yield panel, query, set(re.findall(r"{{(\w+)}}", target["legendFormat"]))


class Dashboards(EndpointCase):
    def feed(self):
        endpoint = self.start()
        self.write(self.agent)
        return endpoint

    def write(self, agent):
        values = {key: i + 1 for i, key in enumerate(listed_metrics())}
        values |= {"rss_anon_bytes": LIMIT // 2}
        agent.begin("node", kind="node", user="")
        agent.sample("node", **values)
        for job in ("815", "816"):
            agent.begin(job, limits={"memory_max_bytes": LIMIT})
            agent.sample(job, **values)
        agent.begin("814", limits={"memory_max_bytes": LIMIT})
        agent.end("814", **ENDED)
        agent.begin("813")  # without a limit, of which no part is needed or not
        agent.end("813", **ENDED)
        agent.say(kind="agent", run="agent", time=3, losses={"tasks": 2}, **dict.fromkeys(OF_AGENT, 3))

    def send(self, server):
        """The same jobs on another node, by bpfmon-push."""
        (self.dir / "sender").mkdir(mode=0o755)
        agent = Agent(self.dir / "sender")
        self.addCleanup(agent.close)
        Pushes(self, agent.path, f"{server.url}/api/v2/write", metrics="all").start()
        agent.accept()
        self.write(agent)

    def ask(self, server, query):
        return server.get_json("/api/v1/query", query=query)["data"]["result"]

    def assert_answers(self, server, is_sent_to=True):
        for dashboard in DASHBOARDS:
            of_tables = {}
            for panel, query, labels in queries(dashboard):
                if not is_sent_to and query.count("bpfmon_push_") > query.count("bpfmon_exporter_"):
                    continue
                with self.subTest(dashboard=dashboard.name, panel=panel["title"], query=query):
                    rows = until(lambda query=query: self.ask(server, query))
                    self.assertTrue(any(labels <= row["metric"].keys() for row in rows), rows)
                    if panel["type"] == "table":  # rows of all queries are joined by their labels
                        own = [row["metric"].keys() - {"__name__"} for row in rows if row["metric"].get("job") != "other"]
                        keys = set(map(frozenset, own))
                        self.assertEqual(keys, of_tables.setdefault(panel["id"], keys))
            for variable in json.loads(dashboard.read_text())["templating"]["list"]:
                if variable["type"] == "query":
                    metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"]).groups()
                    self.assertTrue(until(lambda: server.get_json(f"/api/v1/label/{label}/values", **{"match[]": metric})["data"]))

    def test_every_panel_has_data_in_prometheus(self):
        endpoint = self.feed()
        (self.dir / "blocks").mkdir()
        server = servers.prometheus(self.dir, self.dir / "blocks", scraped=endpoint.port)
        self.addCleanup(server.stop)
        self.assert_answers(server, is_sent_to=False)  # it takes no line protocol
        values = {q: self.ask(server, q) for p, q, _ in queries(TOP / "share/bpfmon/grafana/bpfmon-jobs.json") if p["type"] == "table"}
        of_limit = next(rows for query, rows in values.items() if "rss_anon" in query)
        self.assertEqual({row["metric"]["job"]: row["value"][1] for row in of_limit}, {"slurm/815": "0.5", "slurm/816": "0.5"})
        of_user = {q: self.ask(server, q) for _, q, _ in queries(TOP / "share/bpfmon/grafana/bpfmon-users.json") if "memory_needed" in q}
        self.assertEqual({rows[0]["value"][1] for rows in of_user.values()}, {"0.25", str(LIMIT * 3 // 4)})
        needed = next(rows for query, rows in values.items() if "needed" in query and "limit" in query)
        self.assertEqual({row["metric"]["job"]: row["value"][1] for row in needed}, {"slurm/814": "0.25"})

    def test_every_panel_has_data_in_victoriametrics(self):
        server = servers.victoriametrics(self.dir, scraped=self.feed().port)
        self.addCleanup(server.stop)
        self.send(server)
        self.assert_answers(server)


class Influxdb(PushCase):
    """What bpfmon-push sends, as the queries in InfluxQL find it."""

    def setUp(self):
        super().setUp()
        self.server = servers.influxdb(self.dir)
        self.addCleanup(self.server.stop)

    def begin(self, name, age=0, **about):
        """Counters of a job that began before bpfmon-push do not begin at 0."""
        node_job = {"id": f"slurm/{name}", "kind": "slurm", "name": name, "user": "alice", "uid": 1000} | about
        run = {"run": name, "start_time": time.time() - age, "interval_seconds": 100, "limits": {"memory_max_bytes": LIMIT}}
        self.agent.say(kind="meta", schema="bpfmon/1", node_job=node_job, **run)

    def feed(self):
        pushes = self.push(f"{self.server.url}/write?db=bpfmon", metrics="all", tags="cluster=alpha")
        values = {key: i + 1 for i, key in enumerate(listed_metrics())}
        values |= {"rss_anon_bytes": LIMIT // 2, "rss_bytes": LIMIT // 2, "cpu_seconds": 20}
        self.begin("node", id="node", kind="node", user="")
        self.agent.begin("other", kind="other", user="", start=time.time())  # is first, and has no limit
        self.begin("815")
        self.begin("816")
        self.begin("815.step", nested=True)
        self.begin("817")
        for run in ("node", "other", "815", "816", "815.step", "817"):
            self.agent.sample(run, **values)
        of_agent = dict.fromkeys(OF_AGENT, 3) | {"tasks": 1, "max_tasks": 4}
        self.agent.say(kind="agent", run="agent", time=time.time(), losses={"tasks": 2}, **of_agent)
        until(lambda: len(self.rows('SELECT "running" FROM "bpfmon_job" WHERE "job" = \'slurm/817\'')) > 1)
        self.agent.say(kind="agent", run="agent", time=time.time(), losses={"tasks": 5}, **of_agent)
        self.agent.end("817", **ENDED | {"cpu_seconds": 20, "wall_seconds": 0.5})
        self.begin("814", age=20)
        self.agent.end("814", **ENDED)
        self.agent.begin("813", start=time.time() - 9)  # without a limit
        self.agent.end("813", **ENDED)
        self.feed_second_node()
        until(lambda: self.rows('SELECT "running" FROM "bpfmon_job" WHERE "running" = 0'))
        until(lambda: len(self.rows('SELECT "job" FROM "bpfmon_job_ended"')) == 3)
        return pushes

    def feed_second_node(self):
        """All that it has are jobs without a limit: fields that some series lack must not disturb others."""
        labels = {"other": "kind=other", "slurm/815": "kind=slurm,name=815,user=alice"}
        begin = time.time_ns() - 9 * 10**9
        lines = [
            f"bpfmon_job,cluster=alpha,instance=node2,job={job},{more} running=1i,rss_bytes=4096i,cpu_seconds_total={age * 2:.1f} {begin + age * 10**9}"
            for job, more in labels.items()
            for age in (1, 5)
        ]
        self.assertEqual(self.server.post("/write", "\n".join(lines).encode(), db="bpfmon")[0], 204)

    def ask(self, query, **chosen):
        """The series of the answer. Grafana escapes values of variables for a regular expression, unless it is that of all."""
        chosen = {"instance": ".*", "user": ".*", "kind": "(other|slurm)", "job": r"slurm\/815"} | chosen
        for name, value in chosen.items():
            query = query.replace(f"${{{name}:regex}}", value)
        now = time.time_ns() // 1_000_000
        for name, value in {"$timeFilter": f"time >= {now - 600_000}ms and time <= {now}ms", "$__interval": "2s", "${__to}": str(now)}.items():
            query = query.replace(name, value)
        self.assertNotRegex(query, r"\$[{\w]")
        (result,) = self.server.get_json("/query", db="bpfmon", q=query)["results"]
        self.assertNotIn("error", result, query)
        return result.get("series", [])

    def rows(self, query, **chosen):
        """With tags as columns, as Grafana's tables have them."""
        series = self.ask(query, **chosen)
        return [one.get("tags", {}) | dict(zip(one["columns"], values)) for one in series for values in one["values"]]

    def merged(self, title, **chosen):
        """The rows of a table, by their jobs and nodes, or users."""
        found = {}
        for query in self.panel(title, "table"):
            for row in self.rows(query, **chosen):
                key = tuple(row[key] for key in ("job", "instance", "user") if key in row)[:2]
                found.setdefault(key, {}).update(row)
        return found

    def panel(self, title, kind):
        panels = json.loads(INFLUXDB.read_text())["panels"]
        (found,) = (one for one in panels if (one["title"], one["type"]) == (title, kind))
        return [target["query"] for target in found["targets"]]

    def assert_has_what_the_panel_shows(self, panel):
        columns = {"ended"}
        tags_of_all = set()
        for target in panel["targets"]:
            with self.subTest(panel=panel["title"], query=target["query"]):
                series = until(lambda target=target: self.ask(target["query"]))
                tags = set(series[0].get("tags", {}))
                self.assertLessEqual(set(re.findall(r"\$tag_(\w+)", target.get("alias", ""))), tags)
                rows = self.rows(target["query"])
                columns |= rows[0].keys()
                for column in rows[0].keys() - {"user", "nested"}:  # a node has no user
                    self.assertTrue([row for row in rows if row[column] not in {None, ""}], column)
                tags_of_all.add(frozenset(tags))
        if panel["type"] == "table":
            self.assertEqual(len(tags_of_all), 1)  # rows of all queries are joined by their tags
            shown = {one["matcher"]["options"] for one in panel["fieldConfig"]["overrides"] if one["properties"][0]["id"] == "unit"}
            self.assertLessEqual(shown, columns)
        labels = re.findall(r"labels\.(\w+)", panel["fieldConfig"]["defaults"].get("displayName", ""))
        self.assertLessEqual(set(labels), columns)

    def test_every_panel_and_variable_has_data(self):
        pushes = self.feed()
        dashboard = json.loads(INFLUXDB.read_text())
        for panel in dashboard["panels"]:
            if panel["type"] != "row":
                self.assert_has_what_the_panel_shows(panel)
        found = {one["name"]: self.rows(one["query"]) for one in dashboard["templating"]["list"] if one["type"] == "query"}
        values = {name: {row["value"] for row in rows} for name, rows in found.items()}
        self.assertEqual(values["job"] - {"other"}, {"slurm/815", "slurm/816", "slurm/817"})
        self.assertEqual((values["user"], values["instance"]), ({"alice"}, {"node1"}))
        self.assertIn("slurm", values["kind"])
        pushes.end()

    def test_values_are_those_of_the_jobs(self):
        self.feed()
        running = self.merged("Running jobs")  # neither those that ended nor what is in another
        values = {job: (row["of its limit"], row["memory"], row["name"]) for job, row in running.items()}
        of_node1 = (0.5, LIMIT // 2)
        self.assertEqual(values.pop(("other", "node1"))[0], None)
        self.assertEqual(values.pop(("other", "node2")), (None, 4096, ""))
        self.assertEqual(values.pop(("slurm/815", "node2")), (None, 4096, "815"))
        self.assertEqual(values, {("slurm/815", "node1"): (*of_node1, "815"), ("slurm/816", "node1"): (*of_node1, "816")})
        self.assertEqual({running[job, "node2"]["cores"] for job in ("other", "slurm/815")}, {2})
        self.assertEqual(self.merged("Running jobs", user="(bob|carol)"), {})
        self.assertEqual([row["count"] for row in self.rows(*self.panel("Running jobs", "stat"))], [3])
        ended = self.merged("Jobs that ended")
        of_ended = {job: (row["cores"], row["needed of limit"], row["OOM kills"]) for (job, _), row in ended.items()}
        self.assertEqual(of_ended, {"slurm/817": (40, 0.25, 0), "slurm/814": (1.5, 0.25, 0), "slurm/813": (1.5, None, 0)})
        alice = self.merged("Users")["alice",]
        self.assertEqual((alice["jobs that ended"], alice["memory not needed"], alice["needed of limits"]), (3, 2 * LIMIT * 3 // 4, 0.25))
        self.assertAlmostEqual(alice["CPU hours"] * 3600, 20 * 3 + 3 * 2)
        agent = self.merged("Agents")["node1",]
        self.assertEqual((agent["answers"], agent["tasks of the most"]), (1, 0.25))
        until(lambda: self.merged("bpfmon-push of each node")["node1",]["samples sent"])
        self.assertEqual(self.merged("bpfmon-push of each node")["node1",]["rows dropped"], 0)

    def test_curves_sum_a_job_over_its_nodes(self):
        """No two nodes have the same jobs, and none writes at the same time."""
        begin = (time.time_ns() // 10**10 - 3) * 10**10
        lines = [
            f"bpfmon_job,instance=node{node},job={job},kind=slurm,name={job},user=u{job % 2} "
            f"rss_bytes={10**job}i,cpu_seconds_total={at * job}.0 {begin + at * 10**9 + node * 10**8}"
            for at in range(20)
            for node in range(3)
            for job in range(1, 5)
            if (node + job) % 4
        ]
        self.assertEqual(self.server.post("/write", "\n".join(lines).encode(), db="bpfmon")[0], 204)
        nodes = {job: sum(bool((node + job) % 4) for node in range(3)) for job in range(1, 5)}
        for title, column, of_node in (("Cores", "cores", lambda job: job), ("Memory", "memory", lambda job: 10**job)):
            rows = self.rows(*self.panel(f"{title} of the ten largest jobs", "timeseries"))
            self.assertEqual(len({row["time"] for row in rows}) * 4, len(rows))
            for row in rows:
                job = int(row["job"])
                self.assertAlmostEqual(row[column], nodes[job] * of_node(job))
                self.assertEqual(row["user"], f"u{job % 2}")


class Rules(EndpointCase):
    def test_rules_react_to_what_they_are_for_and_to_nothing_else(self):
        servers.need("promtool", "vmalert")
        for argv in (
            ["promtool", "check", "rules", RULES],
            ["promtool", "test", "rules", TOP / "tests/data/rules/bpfmon_test.yml"],
            ["vmalert", "-dryRun", f"-rule={RULES}", "-loggerLevel=ERROR"],
        ):
            done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_metric_of_a_rule_exists_and_every_rule_is_tested(self):
        said = subprocess.run([BUILD / "bpfmon-exporter", "--metrics"], capture_output=True, text=True, check=True).stdout
        rules = RULES.read_text()
        counts = re.findall(r"^PUSH_COUNT\((\w+), (\w+)", (TOP / "user/push/push_counts.def").read_text(), re.M)
        sent = {f"bpfmon_push_{key}" + "_total" * (kind == "COUNTER") for key, kind in counts}
        self.assertLessEqual(set(re.findall(r"\bbpfmon_\w+", rules)), set(re.findall(r"`(bpfmon_\w+)`", said)) | sent)
        tests = (TOP / "tests/data/rules/bpfmon_test.yml").read_text()
        for kind, name in re.findall(r"- (alert|record): (\S+)", rules):
            self.assertIn(f"alertname: {name}\n" if kind == "alert" else f"expr: {name}\n", tests)
