# SPDX-License-Identifier: BSD-2-Clause
"""What bpfmon-push sends as OTLP, decoded by the classes that OpenTelemetry publishes, against the stream and the exporter."""

import base64
import json
import pathlib
import re
import subprocess
import time

from lib.endpoint import Agent, Endpoint
from lib.push import PUSH, PushCase, Pushes, Server, every_metric, until

DECODER = pathlib.Path(__file__).parent / "otlp.mjs"
NS = 10**9
CUMULATIVE = 2
NO_RECORDED_VALUE = 1
UNITS = {"seconds": "s", "bytes": "By", "joules": "J", "watts": "W", "hertz": "Hz", None: "1"}  # of OpenMetrics, and of UCUM
FRACTIONS, OF_FRACTIONS = {"s", "J", "W"}, ("_cores", "_gpus_used", "_gpu_device_busy")
RESOURCE = {"service.name": "bpfmon", "service.instance.id": "node1", "host.name": "node1", "cluster": "alpha"}


def decode(requests):
    """(path, message) of each request."""
    lines = [json.dumps({"path": path, "base64": base64.b64encode(body).decode()}) for path, _, body in requests]
    done = subprocess.run(["node", DECODER], input="\n".join(lines), capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return [(path, json.loads(line)) for (path, _, _), line in zip(requests, done.stdout.splitlines(), strict=True)]


def attributes(of):
    return {one["key"]: one["value"]["stringValue"] for one in of.get("attributes", [])}


def points(messages):
    """The data points as dictionaries, in their order."""
    found = []
    for number, (_, message) in enumerate(messages):
        for resource in message.get("resourceMetrics", []):
            (scope,) = resource["scopeMetrics"]
            for metric in scope["metrics"]:
                data = metric.get("sum") or metric["gauge"]
                (point,) = data["dataPoints"]
                found.append(
                    {
                        "request": number,
                        "resource": attributes(resource["resource"]),
                        "scope": scope["scope"]["name"],
                        "name": metric["name"],
                        "help": metric["description"],
                        "unit": metric["unit"],
                        "sum": metric.get("sum") and (metric["sum"]["aggregationTemporality"], metric["sum"]["isMonotonic"]),
                        "labels": attributes(point),
                        "start": int(point.get("startTimeUnixNano", 0)),
                        "time": int(point["timeUnixNano"]),
                        "value": point.get("asDouble", "asInt" in point and int(point["asInt"])),
                        "has": {"asDouble", "asInt"} & set(point),
                        "flags": point.get("flags", 0),
                    }
                )
    return found


def logs(messages):
    """The log records with their resources."""
    return [
        (attributes(resource["resource"]), record)
        for _, message in messages
        for resource in message.get("resourceLogs", [])
        for record in resource["scopeLogs"][0]["logRecords"]
    ]


def ticks(pushes):
    """The CPU time of the process."""
    text = pathlib.Path(f"/proc/{pushes.process.pid}/stat").read_text()
    return sum(map(int, text.rsplit(")", 1)[1].split()[11:13]))


class Otlp(PushCase):
    def setUp(self):
        super().setUp()
        self.server = Server(self, answer=lambda body: 200)
        self.url = f"http://127.0.0.1:{self.server.port}/otel"

    def push(self, url=None, **config):
        return super().push(url or self.url, **({"dialect": "otlp", "tags": "cluster=alpha"} | config))

    def sent(self, path, *texts):
        """The requests to a path, of which one has all the texts."""
        return until(lambda: any(all(text in body for text in texts) for at, _, body in self.of(path)) and self.of(path))

    def of(self, path):
        return [one for one in list(self.server.requests) if one[0] == path]

    def seen(self):
        return points(decode(self.of("/otel/v1/metrics")))

    def last(self, name):
        """The last value of a metric without labels of its own; None: there is none yet."""
        return ([None] + [one["value"] for one in self.seen() if one["name"] == name])[-1]

    def test_every_metric_is_that_of_the_exporter(self):
        (self.dir / "exporter").mkdir(mode=0o755)
        other = Agent(self.dir / "exporter")
        self.addCleanup(other.close)
        endpoint = Endpoint(other, self.dir / "exporter")
        self.addCleanup(endpoint.stop)
        other.accept()
        self.push(metrics="all")
        for agent in (self.agent, other):
            agent.begin("node", kind="node", user="")
            agent.sample("node", **every_metric(9))
            agent.begin("815", limits={"memory_max_bytes": 4096})
            agent.sample("815", **every_metric(1))
        endpoint.read()
        text = endpoint.text(Accept="application/openmetrics-text; version=1.0.0")
        until(lambda: b"bpfmon_node_" in b"".join(body for *_, body in self.server.requests))
        found = points(decode(self.sent("/otel/v1/metrics", b"bpfmon_node_", b"slurm/815")))
        ours = {(one["name"], tuple(sorted(one["labels"].items()))): one for one in found if not one["name"].startswith("bpfmon_push")}
        helps, types, units = (dict(re.findall(rf"^# {word} (\S+) (.*)$", text, re.M)) for word in ("HELP", "TYPE", "UNIT"))
        count = 0
        for name, of_it, value in re.findall(r"^([a-z_]+)(\{.*\})? (\S+)$", text, re.M):
            if name.startswith(("bpfmon_exporter", "bpfmon_agent_last_line")):
                continue
            labels = dict(re.findall(r'([a-z]+)="([^"]*)"', of_it)) | {"instance": "node1"}
            one = ours[name, tuple(sorted(labels.items()))]
            bare = name.removesuffix("_total")
            is_counter, unit = types[bare] == "counter", UNITS[units.get(bare)]
            self.assertEqual((one["value"], one["help"]), (float(value), helps[bare]), name)
            self.assertEqual(one["sum"], (CUMULATIVE, True) if is_counter else None, name)
            self.assertEqual((one["unit"], one["has"]), (unit, {"asDouble"} if unit in FRACTIONS or bare.endswith(OF_FRACTIONS) else {"asInt"}), name)
            self.assertEqual(one["resource"], RESOURCE)
            self.assertEqual(one["scope"], "bpfmon")
            if is_counter and name.startswith(("bpfmon_job", "bpfmon_user", "bpfmon_node")):
                self.assertEqual(one["start"], int(1.5 * NS), name)
            self.assertAlmostEqual(one["time"] / NS, time.time(), delta=60)
            count += 1
        self.assertGreater(count, 2.5 * len(every_metric(0)))

    def test_series_of_a_job_begins_at_its_start_and_ends_with_its_totals(self):
        pushes = self.push(metrics="all")
        start = time.time() - 3
        self.agent.begin("815", start=start)
        self.agent.sample("815", cpu_seconds=0.5, rss_bytes=4096)
        self.sent("/otel/v1/metrics", b"slurm/815")
        self.agent.end("815", cpu_seconds=2.25, minflt=7, wall_seconds=4)
        until(lambda: any(one["flags"] for one in self.seen()))
        of_job = [one for one in self.seen() if one["labels"].get("job") == "slurm/815"]
        cpu = [one for one in of_job if one["name"] == "bpfmon_job_cpu_seconds_total"]
        (begin,) = {one["start"] for one in cpu}
        self.assertAlmostEqual(begin / NS, start, delta=0.001)
        self.assertEqual(cpu[0]["value"], 0.5)
        *_, last, marker = cpu
        self.assertEqual((last["value"], last["flags"]), (2.25, 0))
        self.assertEqual((marker["has"], marker["flags"]), (set(), NO_RECORDED_VALUE))
        self.assertEqual((marker["time"] - last["time"], marker["request"]), (NS // 1000, last["request"]))
        # each metric that the series has had ends, and no other
        self.assertEqual({one["name"] for one in of_job if one["flags"]}, {one["name"] for one in of_job})
        self.assertEqual(len([one for one in of_job if one["flags"]]), len({one["name"] for one in of_job}))
        self.assertIn("bpfmon_job_rss_bytes", {one["name"] for one in of_job if one["flags"]})
        pushes.end()

    def test_ended_job_is_a_log_record(self):
        pushes = self.push()
        start = time.time() - 100
        self.job("815", start=start, seconds=50, memory_needed_bytes=4096, cpu_seconds=1.25)
        self.job("816", start=start, seconds=60)
        until(lambda: len(logs(decode(self.of("/otel/v1/logs")))) == 2)
        (path, headers, _), *_ = self.of("/otel/v1/logs")
        self.assertEqual((headers["Content-Type"], headers["Content-Encoding"]), ("application/x-protobuf", "gzip"))
        (resource, record), _ = logs(decode(self.of(path)))
        self.assertEqual(resource, RESOURCE)
        self.assertEqual(attributes(record), {"job": "slurm/815", "user": "alice", "kind": "slurm", "name": "815"})
        self.assertEqual((record["severityNumber"], record["severityText"], record["eventName"]), (9, "INFO", "bpfmon.job.ended"))
        self.assertAlmostEqual(int(record["timeUnixNano"]) / NS, start + 50, delta=0.001)
        self.assertAlmostEqual(int(record["observedTimeUnixNano"]) / NS, time.time(), delta=60)
        body = json.loads(record["body"]["stringValue"])
        self.assertAlmostEqual(body.pop("start_time_seconds"), start, delta=0.001)
        expected = {"job": "slurm/815", "name": "815", "user": "alice", "kind": "slurm", "wall_seconds": 50, "cpu_seconds": 1.25}
        self.assertEqual(body, expected | {"memory_needed_bytes": 4096, "complete": 1})
        pushes.end()

    def test_what_a_server_refuses_partly_is_counted_and_not_sent_again(self):
        refused = b"\x0a\x0b\x08\x01\x12\x07too old"  # one, in a partial_success
        said = []
        self.server.answer = lambda body: (200, refused) if b"slurm/815" in body and not said.append(1) and len(said) == 1 else 200
        pushes = self.push()
        self.job("815")
        until(lambda: self.of("/otel/v1/logs"))
        until(lambda: self.last("bpfmon_push_rows_rejected_total") == 1)
        self.assertEqual(len(self.of("/otel/v1/logs")), 1)
        self.assertIn("refuses some of 1 lines: HTTP status 200: too old", pushes.said())
        pushes.end()

    def test_record_that_a_server_cannot_take_is_found_and_dropped(self):
        is_down = [True]
        bad = b"\x08\x03\x12\x08bad name"  # a Status
        self.server.answer = lambda body: 503 if is_down else (400, bad) if b"slurm/bad" in body else 200
        pushes = self.push()
        for number in range(7):
            self.job(f"good{number}")
        self.job("bad")
        time.sleep(1.5)
        is_down.clear()
        until(lambda: self.last("bpfmon_push_rows_rejected_total") == 1)
        accepted = [body for _, _, body in self.of("/otel/v1/logs") if b"slurm/bad" not in body]
        self.assertEqual({n for n in range(7) if any(b"slurm/good%d" % n in body for body in accepted)}, set(range(7)))
        self.assertIn("refuses a line, which is dropped: HTTP status 400: bad name\n", pushes.said())
        pushes.end()

    def test_what_waits_in_another_dialect_is_dropped(self):
        self.server.answer = lambda text: 503
        pushes = self.push(f"{self.url}/write", dialect="influxdb")
        for number in range(3):
            self.job(f"first{number}")
            time.sleep(1.2)
        pushes.kill()
        count = len(self.server.requests)
        self.server.answer = lambda body: 200
        pushes = self.push()
        self.job("815")
        self.sent("/otel/v1/logs", b"slurm/815")
        until(lambda: self.last("bpfmon_push_rows_rejected_total") == 3)
        self.assertGreaterEqual(self.last("bpfmon_push_samples_rejected_total"), 3)
        self.assertNotIn(b"first0", b"".join(body for *_, body in self.server.requests[count:]))
        self.assertEqual(pushes.said().count("was written for another dialect: it is dropped"), 1)
        pushes.end()

    def test_samples_go_on_where_no_logs_are_taken(self):
        """A collector without a pipeline for logs has no such path."""
        self.server.answer = lambda body: 404 if b"bpfmon.job.ended" in body else 200
        pushes = self.push()
        self.job("815")
        until(lambda: self.last("bpfmon_push_misconfigured") == 1)
        count = len(self.of("/otel/v1/metrics"))
        before = ticks(pushes)
        until(lambda: len(self.of("/otel/v1/metrics")) > count + 2)
        self.assertLess(ticks(pushes) - before, 50)  # of 300 ticks: it waits
        self.assertEqual((len(self.of("/otel/v1/logs")), self.last("bpfmon_push_misconfigured")), (1, 1))
        self.assertEqual(pushes.said().count("cannot send"), 1)
        self.assertIn(f"cannot send ended jobs to {self.url}: HTTP status 404", pushes.said())
        # it is still there
        pushes.end()
        self.server.answer = lambda body: 200
        pushes = self.push()
        until(lambda: len(self.of("/otel/v1/logs")) == 2)
        until(lambda: self.last("bpfmon_push_rows_total") == 1)
        self.assertEqual(self.last("bpfmon_push_misconfigured"), 0)
        pushes.end()

    def test_url_of_the_metrics_gives_that_of_the_logs(self):
        for path, metrics, logs_path in (
            ("", "/v1/metrics", "/v1/logs"),
            ("/", "/v1/metrics", "/v1/logs"),
            ("/a/v1/metrics?x=1", "/a/v1/metrics?x=1", "/a/v1/logs?x=1"),
            ("/b/?x=1", "/b/v1/metrics?x=1", "/b/v1/logs?x=1"),
        ):
            pushes = self.push(f"http://127.0.0.1:{self.server.port}{path}")
            self.job("815")
            self.sent(logs_path, b"slurm/815")
            self.sent(metrics, b"bpfmon_push_rows_total")
            pushes.end()
            self.server.requests.clear()
            self.agent.hang_up()

    def test_what_cannot_be_otlp_is_said(self):
        pushes = Pushes(self, self.agent.path, "udp://127.0.0.1:9", dialect="otlp").start()
        self.assertEqual(pushes.process.wait(30), 1)
        self.assertIn("url = udp://127.0.0.1:9: dialect = otlp needs http:, https: or unix:", pushes.said())
        done = subprocess.run([PUSH, "--config", pushes.config, "--lines", "--url", self.url], input=b"a b=1\n", capture_output=True, check=False)
        self.assertEqual((done.returncode, self.server.requests), (1, []))
        self.assertIn(b"dialect = otlp takes no lines", done.stderr)
