# SPDX-License-Identifier: BSD-2-Clause
"""The dashboards and rules that bpfmon comes with: each query has an answer in real engines."""

import json
import re
import subprocess

from lib import servers
from lib.account import metric_kinds
from lib.bpfmon import BUILD, TOP
from lib.endpoint import Agent, EndpointCase, until
from lib.push import Pushes

DASHBOARDS = sorted((TOP / "share/bpfmon/grafana").glob("*.json"))
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
        values = {key: i + 1 for i, key in enumerate(metric_kinds())}
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
