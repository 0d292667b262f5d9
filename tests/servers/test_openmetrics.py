# SPDX-License-Identifier: BSD-2-Clause
"""OpenMetrics as Prometheus imports it, and as the reference parser of the format reads it."""

import json
import subprocess

from lib import servers
from lib.account import listed_metrics
from lib.exports import HOSTILE, ExportCase, kind, metrics_of

PYTHON = "/usr/bin/python3"  # whose packages are the distribution's
# releases of the parser compare the seconds or the fractions of two times, not both
PARSER = """
import json, sys
from prometheus_client import samples
samples.Timestamp.__gt__ = lambda a, b: (a.sec, a.nsec) > (b.sec, b.nsec)
from prometheus_client.openmetrics.parser import text_string_to_metric_families
text = sys.stdin.buffer.read().decode()
print(json.dumps([[f.name, f.type, f.unit, [[s.name, s.labels, s.value, float(s.timestamp)] for s in f.samples]]
                  for f in text_string_to_metric_families(text)]))
"""


def kept(samples, key):
    """The values that are exported: within 2 ms, where Prometheus takes one, a counter's last, a gauge's first."""
    found = []
    for sample in samples:
        if key not in sample:
            continue
        at = round(sample["elapsed_seconds"] * 1e9)
        if not found or at - found[-1][0] >= 2_000_000:
            found.append((at, sample[key]))
        elif listed_metrics()[key][1] == "counter":
            found[-1] = (at, sample[key])
    return [value for _, value in found]


class Openmetrics(ExportCase):
    def imported(self, text):
        """A Prometheus that has imported it."""
        servers.need("promtool")
        exported, blocks = self.dir / "run.om", self.dir / "blocks"
        exported.write_bytes(text)
        argv = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(exported), str(blocks)]
        done = subprocess.run(argv, capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        server = servers.prometheus(self.dir, blocks)
        self.addCleanup(server.stop)
        return server

    def values(self, server, name, at):
        """The labels and the points (time, text of the value) of the only series of the name."""
        found = server.get_json("/api/v1/query", query=f"{name}[1h]", time=at)["data"]["result"]
        (one,) = found
        return one["metric"], one["values"]

    def test_prometheus_gives_back_every_value_of_every_sample(self):
        path, lines = self.record()
        server = self.imported(self.export(path, "openmetrics"))
        samples = kind(lines, "sample")
        end = samples[-1]["time"] + 1
        for key in sorted({key for sample in samples for key in metrics_of(sample)}):
            suffix = "_total" if listed_metrics()[key][1] == "counter" else ""
            labels, points = self.values(server, f"bpfmon_{key}{suffix}", end)
            self.assertEqual(labels["run"], lines[0]["run"])
            self.assertEqual(labels["host"], lines[0]["host"])
            self.assertEqual([float(value) for _, value in points], kept(samples, key))

    def test_prometheus_takes_hostile_strings(self):
        server = self.imported(self.export(HOSTILE, "openmetrics"))
        labels, points = self.values(server, "bpfmon_rss_bytes", 1763690010)
        self.assertEqual(labels["name"], 'a"b\\c,d=e f\n?[2J</script>\u00e9\ufffd?')
        self.assertEqual(labels["job"], '47\\11 "x"')
        self.assertEqual([value for _, value in points], ["1048576", "3145728"])  # the last is too close

    def parsed(self, run):
        done = subprocess.run(
            [PYTHON, "-c", PARSER], input=self.export(run, "openmetrics"), capture_output=True, timeout=120, check=False
        )
        if b"No module named" in done.stderr:
            self.skipTest("python3-prometheus-client is not installed; tools/install-deps.sh servers")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_reference_parser_finds_nothing_wrong(self):
        path, lines = self.record()
        families = {name: (kind_, unit, points) for name, kind_, unit, points in self.parsed(path)}
        samples = kind(lines, "sample")
        keys = {key for sample in samples for key in metrics_of(sample)}
        self.assertEqual(set(families), {f"bpfmon_{key}" for key in keys})
        for key in keys:
            kind_, unit, points = families[f"bpfmon_{key}"]
            self.assertEqual(kind_, listed_metrics()[key][1])
            self.assertEqual(unit, {"s": "seconds", "bytes": "bytes", "J": "joules", "W": "watts", "Hz": "hertz"}.get(lines[0]["units"][key], ""))
            self.assertEqual([value for _, _, value, _ in points], kept(samples, key))

    def test_the_reference_parser_reads_hostile_strings(self):
        ((_, labels, _, _), *_) = self.parsed(HOSTILE)[0][3]
        self.assertEqual(labels["name"], 'a"b\\c,d=e f\n?[2J</script>\u00e9\ufffd?')
