# SPDX-License-Identifier: BSD-2-Clause
"""The line protocol as InfluxDB and VictoriaMetrics take it, and what they then say of the run."""

import json
import math

from lib import servers
from lib.bpfmon import read_lines
from lib.exports import HOSTILE, PUSHED, ExportCase, kind, metrics_of
from lib.live import wait_for


class Influxdb(ExportCase):
    def setUp(self):
        super().setUp()
        self.server = servers.influxdb(self.dir)
        self.addCleanup(self.server.stop)

    def write(self, run):
        status, said = self.server.post("/write", self.export(run, "influx"), db="bpfmon", precision="ns")
        self.assertEqual((status, said), (204, ""))

    def query(self, text):
        """The rows of the answer as dictionaries; times are in ns."""
        (result,) = self.server.get_json("/query", db="bpfmon", q=text, epoch="ns")["results"]
        (series,) = result["series"]
        return [dict(zip(series["columns"], row)) for row in series["values"]]

    def test_every_value_of_every_sample_comes_back(self):
        path, lines = self.record()
        self.write(path)
        start_ns = round(kind(lines, "meta")[0]["start_time"] * 1e6) * 1000
        rows = self.query("SELECT * FROM bpfmon")
        samples = kind(lines, "sample")
        self.assertEqual(len(rows), len(samples))
        for row, sample in zip(rows, samples):
            self.assertEqual(row["time"], start_ns + round(sample["elapsed_seconds"] * 1e9))
            self.assertEqual({key: row[key] for key in metrics_of(sample)}, metrics_of(sample))
            self.assertEqual(row["run"], lines[0]["run"])
            self.assertEqual(row["host"], lines[0]["host"])

    def test_every_process_comes_back_with_its_counters(self):
        path, lines = self.record()
        self.write(path)
        rows = self.query("SELECT * FROM bpfmon_process")
        processes = kind(lines, "process")
        self.assertEqual({row["pid"] for row in rows}, {process["pid"] for process in processes})
        self.assertEqual(len(rows), len(processes))
        by_pid = {row["pid"]: row for row in rows}
        for process in processes:
            row = by_pid[process["pid"]]
            self.assertEqual({key: row[key] for key in metrics_of(process)}, metrics_of(process))
            self.assertEqual((row["comm"], row["exe"]), (process["comm"], process["exe"]))
            self.assertEqual(row["exit_code"], process["exit_code"])

    def test_what_programs_pushed_comes_back_with_the_tags_of_the_run(self):
        self.write(PUSHED)
        first, second, third = self.query("SELECT * FROM loss ORDER BY time")
        self.assertEqual([row["phase"] for row in (first, second, third)], ["train", "train", None])
        self.assertEqual((first["value"], first["step"], first["best"], first["note"]), (0.5, 7, True, 'say "so"\\'))
        self.assertEqual((second["value"], third["value"], float(third["step"])), (1, 1e300, float(2**63)))
        self.assertEqual({(row["run"], row["host"], row["lr"]) for row in (first, second, third)}, {(first["run"], "node7", "0.1")})
        self.assertEqual([row["time"] // 1000 for row in (first, second, third)], [1763690001000000, 1763690001000000, 1763690001050000])
        (taken,) = self.query("SELECT * FROM pushed_bpfmon")
        self.assertEqual((taken["rss_bytes"], taken["host"], taken["tag_host"], taken["tag_lr"], taken["field_time"]), (1, "node7", "other", "mine", 2))
        (odd,) = self.query("SELECT * FROM /pushed_#/")
        self.assertEqual((odd["v"], odd["tag_host"]), (0.25, "x"))

    def test_hostile_strings_are_taken_and_come_back(self):
        self.write(HOSTILE)
        first, *_ = self.query("SELECT * FROM bpfmon")
        self.assertEqual(first["name"], 'a"b/c,d=e f  [2J</script>\u00e9\ufffd ')
        self.assertEqual(first["host"], "love=lace")
        self.assertEqual(first["job"], '47/11 "x"')
        self.assertEqual(first["k 1,="], "v/")
        self.assertEqual(first["tag_host"], "mine")
        self.assertEqual(first["lines"], "one two")
        self.assertEqual(first["slash/key"], "/,")
        self.assertEqual(first["long"], "\u00fc" * 256)
        event, _ = self.query("SELECT * FROM bpfmon_event")
        self.assertEqual(event["note"], 'a"b\\c,d=e f  [2J</script>\u00e9\ufffd \\')
        self.assertEqual(event["event"], 'a"b/c,d=e f  [2J</script>\u00e9\ufffd ')
        self.assertEqual((event["count"], event["cpu_seconds"], event["flag"]), (3, 2, True))

    def test_numbers_beyond_what_a_double_holds_stay_whole(self):
        self.write(HOSTILE)
        last = self.query("SELECT * FROM bpfmon")[-1]
        self.assertEqual(last["rchar_bytes"], 2**53 + 1)

    def test_two_runs_do_not_replace_each_other(self):
        path, lines = self.record()
        self.write(path)
        self.write(HOSTILE)
        (row,) = self.query("SELECT count(elapsed_seconds) FROM bpfmon")
        self.assertEqual(row["count"], len(kind(lines, "sample")) + len(kind(read_lines(HOSTILE), "sample")))


class Victoriametrics(ExportCase):
    def setUp(self):
        super().setUp()
        self.server = servers.victoriametrics(self.dir)
        self.addCleanup(self.server.stop)

    def series(self, run, name, points):
        """Labels, and values by time in ms, of what is called so, when so many points can be read."""
        status, _ = self.server.post("/write", self.export(run, "influx"), db="bpfmon", precision="ns")
        self.assertEqual(status, 204)

        def read():
            self.server.get("/internal/force_flush")
            found = [json.loads(line) for line in self.server.get("/api/v1/export", **{"match[]": name}).splitlines()]
            return found if sum(len(one["values"]) for one in found) >= points else None

        return wait_for(read, f"{points} points of {name}")

    def test_every_value_of_every_sample_comes_back(self):
        path, lines = self.record()
        samples = kind(lines, "sample")
        keys = {key for sample in samples for key in metrics_of(sample)}
        points = sum(len(metrics_of(sample)) + 1 for sample in samples)  # and elapsed_seconds
        series = self.series(path, '{__name__=~"bpfmon_.*",comm=""}', points)
        found = {one["metric"]["__name__"]: one for one in series}
        for key in keys:
            values = [sample[key] for sample in samples if key in sample]
            one = found[f"bpfmon_{key}"]
            self.assertEqual(one["metric"]["run"], lines[0]["run"])
            self.assertEqual(len(one["values"]), len(values))
            self.assertTrue(all(map(lambda a, b: math.isclose(a, b, rel_tol=1e-12), one["values"], values)), key)

    def test_every_process_comes_back(self):
        path, lines = self.record()
        found = self.series(path, "bpfmon_process_pid", len(kind(lines, "process")))
        pids = sorted(int(value) for one in found for value in one["values"])
        self.assertEqual(pids, sorted(process["pid"] for process in kind(lines, "process")))

    def test_hostile_strings_are_taken_and_come_back(self):
        (found,) = self.series(HOSTILE, "bpfmon_rss_bytes", 3)
        self.assertEqual(len(found["values"]), 3)
        self.assertEqual(found["metric"]["name"], 'a"b/c,d=e f  [2J</script>\u00e9\ufffd ')
        self.assertEqual(found["metric"]["k 1,="], "v/")
        self.assertEqual(found["metric"]["slash/key"], "/,")
