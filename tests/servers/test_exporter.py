# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon-exporter as Prometheus scrapes it, and as its own checker and the reference parser read it."""

import json
import re
import subprocess
import time

from lib import servers
from lib.account import every_metric, listed_metrics
from lib.bpfmon import BUILD, TOP
from lib.endpoint import EndpointCase, until

PYTHON = "/usr/bin/python3"  # whose packages are the distribution's
OPENMETRICS = "application/openmetrics-text; version=1.0.0"
PARSER = """
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
text = sys.stdin.buffer.read().decode()
print(json.dumps({f.name: [f.type, f.unit, [[s.name, s.labels, s.value] for s in f.samples]]
                  for f in text_string_to_metric_families(text)}))
"""
HOSTILE = 'a"b\\c\n\x1b[2J{}=, \u00e9'
AGENT = (
    "cpu_seconds rss_bytes map_bytes tasks max_tasks accounts max_accounts jobs clients clients_dropped refused "
    "lines_dropped drain_seconds drain_max_seconds drains late_ticks cgroups runs jobs_begun repaired unrepaired"
).split()


class Scraped(EndpointCase):
    def feed(self):
        """An endpoint that shows every metric there is."""
        endpoint = self.start()
        self.agent.begin("node", kind="node", user="")
        self.agent.sample("node", **every_metric(9))
        for number, (job, kind) in enumerate([("815", "slurm"), ("nginx", "service"), (HOSTILE, "slurm")]):
            self.agent.begin(job, kind=kind, run=f"run{number}")
            self.agent.sample(f"run{number}", **every_metric(number + 1))
        self.agent.begin("short")
        self.agent.end("short", cpu_seconds=0.125, wall_seconds=0.5, memory_needed_bytes=4096)
        agent = dict.fromkeys(AGENT, 3)
        self.agent.say(kind="agent", run="agent", time=3, losses={"tasks": 2, "free_events": 0}, **agent)
        endpoint.read()
        return endpoint

    def test_its_checker_finds_nothing_wrong(self):
        servers.need("promtool")
        text = self.feed().text()
        self.assertIn("bpfmon_agent_late_ticks_total 3\n", text)
        argv = ["promtool", "check", "metrics"]
        done = subprocess.run(argv, input=text, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_the_reference_parser_reads_openmetrics(self):
        text = self.feed().text(Accept=OPENMETRICS)
        argv = [PYTHON, "-c", PARSER]
        done = subprocess.run(argv, input=text.encode(), capture_output=True, timeout=60, check=False)
        if b"No module named" in done.stderr:
            self.skipTest("python3-prometheus-client is not installed; tools/install-deps.sh servers")
        self.assertEqual(done.returncode, 0, done.stderr)
        families = json.loads(done.stdout)
        for key, (_, kind) in listed_metrics().items():
            unit = key.rsplit("_", 1)[-1]
            kind_, unit_, samples = families[f"bpfmon_node_{key}"]
            self.assertEqual((kind_, unit_), (kind, unit if unit in {"seconds", "bytes", "joules", "watts", "hertz"} else ""))
            self.assertEqual([value for _, _, value in samples], [every_metric(9)[key]])
        names = {labels.get("name") for _, labels, _ in families["bpfmon_job_cpu_seconds"][2]}
        self.assertEqual(names, {"815", "nginx", None, 'a"b\\c\n?[2J{}=, \u00e9'})  # None: of other
        self.assertEqual([labels["name"] for _, labels, _ in families["bpfmon_job_ended_cpu_seconds"][2]], ["short"])
        self.assertEqual({frozenset(labels) for _, labels, _ in families["bpfmon_user_forks"][2]}, {frozenset({"user", "kind"})})

    def test_prometheus_has_the_values_of_the_stream(self):
        endpoint = self.feed()
        (self.dir / "blocks").mkdir()
        server = servers.prometheus(self.dir, self.dir / "blocks", scraped=endpoint.port)
        self.addCleanup(server.stop)

        def stored():
            found = server.get_json("/api/v1/query", query='{__name__=~"bpfmon_.*"}')["data"]["result"]
            return {json.dumps(one["metric"], sort_keys=True): float(one["value"][1]) for one in found}

        def value(metric, **labels):
            labels |= {"__name__": metric, "instance": f"127.0.0.1:{endpoint.port}"}
            labels.setdefault("job", "bpfmon")
            return json.dumps(labels, sort_keys=True)

        values = until(stored)
        for key, (_, kind) in listed_metrics().items():
            suffix = "_total" if kind == "counter" else ""
            self.assertEqual(values[value(f"bpfmon_node_{key}{suffix}")], every_metric(9)[key])
            if key.startswith(("host_", "energy_unapportioned")):  # of the node
                continue
            job = {"job": "slurm/815", "user": "alice", "kind": "slurm", "name": "815"}
            self.assertEqual(values[value(f"bpfmon_job_{key}{suffix}", **job)], every_metric(1)[key])
            if kind == "counter":
                total = every_metric(1)[key] + every_metric(3)[key] + 0.125 * (key == "cpu_seconds")
                self.assertEqual(values[value(f"bpfmon_user_{key}_total", user="alice", kind="slurm")], total)
        # later values arrive, too, and what is known of each name
        self.agent.sample("run1", **every_metric(50))
        nginx = value("bpfmon_job_minflt_total", job="service/nginx", user="alice", kind="service", name="nginx")
        until(lambda: stored()[nginx] == every_metric(50)["minflt"])
        about = server.get_json("/api/v1/metadata")["data"]
        self.assertEqual(about["bpfmon_job_cpu_seconds"][0]["type"], "counter")
        self.assertEqual(about["bpfmon_job_cpu_seconds"][0]["unit"], "seconds")

    def test_every_documented_query_has_an_answer(self):
        endpoint = self.feed()
        (self.dir / "blocks").mkdir()
        server = servers.prometheus(self.dir, self.dir / "blocks", scraped=endpoint.port)
        self.addCleanup(server.stop)
        text = (TOP / "docs/NODE.md").read_text()
        queries = [line.split(" #")[0].strip() for block in re.findall(r"```promql\n(.*?)```", text, re.S) for line in block.splitlines()]
        self.assertGreater(len(queries), 4)
        for query in queries:
            until(lambda query=query: server.get_json("/api/v1/query", query=query)["data"]["result"])
        alerts = "\n".join(block for block in re.findall(r"```yaml\n(.*?)```", text, re.S) if "alert:" in block)
        (self.dir / "alerts.yml").write_text(alerts)
        argv = ["promtool", "check", "rules", str(self.dir / "alerts.yml")]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_increase_of_a_job_that_began_after_the_exporter_is_whole(self):
        endpoint = self.start()
        (self.dir / "blocks").mkdir()
        server = servers.prometheus(self.dir, self.dir / "blocks", scraped=endpoint.port)
        self.addCleanup(server.stop)

        def value(query):
            found = server.get_json("/api/v1/query", query=query)["data"]["result"]
            return float(found[0]["value"][1]) if found else None

        cpu = 'bpfmon_job_cpu_seconds_total{job="slurm/815"}'
        self.agent.begin("815", start=time.time() + 1)
        self.agent.sample("815", cpu_seconds=1)
        until(lambda: value(cpu) == 0)
        self.agent.end("815", cpu_seconds=7.5, wall_seconds=2)
        until(lambda: value(cpu) == 7.5)
        # the engine extrapolates increase(): the difference of the samples is what it has to go by
        self.assertEqual(value(f"max_over_time({cpu}[1h]) - min_over_time({cpu}[1h])"), 7.5)
        self.assertGreaterEqual(value(f"increase({cpu}[1h])"), 7.5)
        self.assertEqual(value('max_over_time(bpfmon_job_ended_cpu_seconds{job="slurm/815"}[1h])'), 7.5)

    def test_every_metric_is_in_the_table_that_the_program_prints(self):
        text = self.feed().text()
        table = subprocess.run([BUILD / "bpfmon-exporter", "--metrics"], stdout=subprocess.PIPE, text=True, check=True).stdout
        for name in re.findall(r"^# TYPE (\S+) ", text, re.M):
            self.assertIn(f"\n| `{name}` |", table)
