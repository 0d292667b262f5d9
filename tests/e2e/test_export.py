# SPDX-License-Identifier: BSD-2-Clause
"""Exports of a run, each read as the program reads it whose format it is."""

import csv
import io
import json
import os
import re
import shlex
import subprocess

from lib import prmonfile
from lib.bpfmon import BPFMON, read_lines
from lib.exports import HOSTILE, SPANS, WORK, ExportCase, kind
from lib.permitted import BPF, ROOT, needs
from lib.store import StoreCase

NEEDS = ()
CPUS = os.cpu_count()
GNU_TIME = "/usr/bin/time"
PSRECORD_COLUMNS = "elapsed_time,nproc,cpu,mem_real,mem_virtual,read_count,write_count,read_bytes,write_bytes"
RMONITOR_UNITS = {
    **dict.fromkeys(["start", "end", "wall_time", "cpu_time"], "s"),
    **dict.fromkeys(["memory", "virtual_memory", "swap_memory", "bytes_read", "bytes_written"], "MB"),
    **dict.fromkeys(["cores", "cores_avg", "machine_cpus"], "cores"),
    **dict.fromkeys(["max_concurrent_processes", "total_processes"], "procs"),
    "context_switches": "switches",
}
MIB = 1 << 20


def mean_over_time(samples, key):
    """Each value holds until the next sample."""
    pairs = list(zip(samples, samples[1:]))
    took = [b["elapsed_seconds"] - a["elapsed_seconds"] for a, b in pairs]
    return sum(a[key] * ns for (a, _), ns in zip(pairs, took)) / sum(took)


class Formats(ExportCase):
    def test_json_lines_come_out_as_bpfmon_wrote_them(self):
        path, _ = self.record("--pss", "--exact-peak")
        self.assertEqual(self.export(path, "jsonl"), path.read_bytes())

    def test_csv_comes_out_as_bpfmon_writes_it(self):
        live = self.dir / "live.csv"
        path, _ = self.record("-o", str(live))
        self.assertEqual(self.export(path, "csv"), live.read_bytes())

    def test_one_document_has_all_lines_in_their_places(self):
        path, lines = self.record()
        document = json.loads(self.export(path, "json"))
        self.assertEqual(document["meta"], lines[0])
        self.assertEqual(document["samples"], kind(lines, "sample"))
        self.assertEqual(document["processes"], kind(lines, "process"))
        self.assertEqual(document["events"], kind(lines, "event"))
        self.assertEqual(document["others"], [])
        self.assertEqual(document["summary"], lines[-1])

    def test_csv_of_spans_has_a_row_for_each_with_the_values_of_its_line(self):
        spans = kind(read_lines(SPANS), "span")
        rows = list(csv.DictReader(io.StringIO(self.export(SPANS, "csv-spans").decode(), newline="")))
        self.assertEqual([row["name"] for row in rows], [span["name"] for span in spans])
        for row, span in zip(rows, spans):
            self.assertEqual(json.loads(row.pop("tags")), span["tags"])
            for key, cell in row.items():
                v = span.get(key)
                if key == "in_place":
                    v = v or False
                if isinstance(v, float):
                    self.assertEqual(float(cell), v)
                else:
                    self.assertEqual(cell, "" if v is None else str(v).lower() if isinstance(v, bool) else str(v))
            left_out = set(span) - set(row) - {"kind", "tags", "losses"}
            self.assertEqual(left_out, set())

    def test_a_run_that_was_cut_off_gets_a_summary(self):
        path, lines = self.record()
        cut = self.dir / "cut.jsonl"
        cut.write_bytes(path.read_bytes()[: -len(json.dumps(lines[-1])) // 2])
        done = subprocess.run([BPFMON, "export", str(cut), "-f", "json"], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertIn(b"truncated", done.stderr)
        document = json.loads(done.stdout)
        self.assertFalse(document["summary"]["complete"])
        last = kind(lines, "sample")[-1]
        self.assertEqual(document["summary"]["cpu_seconds"], last["cpu_seconds"])
        self.assertEqual(document["summary"]["wall_seconds"], last["elapsed_seconds"])

    def test_a_run_is_read_from_a_pipe(self):
        path, _ = self.record()
        done = subprocess.run(
            [BPFMON, "export", "-f", "jsonl", "-"], input=path.read_bytes(), capture_output=True, timeout=60, check=False
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, path.read_bytes(), b""))

    def test_an_argument_of_100_kb_is_exported_in_every_format(self):
        path = self.dir / "run.jsonl"
        argument = "x'\"\\\n" * 20000
        subprocess.run([BPFMON, "-q", "-o", str(path), "--", "true", argument], timeout=60, check=True)
        meta = json.loads(self.export(path, "json"))["meta"]
        self.assertEqual(meta["command"], ["true", argument])
        inert = argument.replace("\n", "?")
        self.assertEqual(json.loads(self.export(path, "rmonitor"))["command"], f"true {inert}")
        self.assertIn(f'\tCommand being timed: "true {inert}"\n'.encode(), self.export(path, "gnu-time"))
        for form in ("influx", "openmetrics", "psrecord"):
            self.assertNotIn(b"x'", self.export(path, form))


class Names(ExportCase):
    def test_a_name_of_a_file_is_as_long_as_recording_allows(self):
        """In OpenMetrics it is in each line: of 4 MiB it would be 4 MiB a value."""
        run = self.dir / "hostile.jsonl"
        meta, *lines = SPANS.read_text().splitlines()
        tags = {f"k{i}": "v" * 1000 for i in range(5000)}
        run.write_text("\n".join([json.dumps({**json.loads(meta), "name": "n" * 4 * MIB, "tags": tags}), *lines]) + "\n")
        for form, most in (("openmetrics", 13000), ("influx", 80000)):
            out = self.export(run, form).splitlines()
            self.assertLess(max(map(len, out)), most, form)

    def points(self, run):
        """The names of the tags and of the fields of each point; of runs whose values hold no blank."""
        for line in self.export(run, "influx").decode().splitlines():
            tags, fields, _ = re.fullmatch(r"(\S+) (\S+) (\d+)", line).groups()
            yield tuple({pair.split("=")[0] for pair in part.split(",")} for part in (tags.split(",", 1)[1], fields))

    def test_no_tag_of_a_run_has_the_name_of_a_field(self):
        path, lines = self.record("--tag", "mine=1")
        start = lines[0]["start_time"]
        killed = {"pid": 7, "comm": "ld", "is_command": False, "rss_bytes": 1, "limit_bytes": 2, "cgroup": "a"}
        events = ({"event": "oom_kill", **killed}, {"event": "mark", "text": "t", "pid": 7}, {"event": "lost", "count": 1, "reason": "r"})
        lines[0]["command"] = ["sh"]
        lines[-1:-1] = [{"kind": "event", "time": start + 1, **event} for event in events]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        names = set().union(*(fields for _, fields in self.points(path)))
        self.assertLess({"pid", "text", "alive", "limit_bytes", "cpu_seconds"}, names)
        lines[0]["tags"].update(dict.fromkeys(names, "x"))
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        for tags, fields in self.points(path):
            self.assertEqual(tags & fields, set())
            self.assertLessEqual(fields, names)  # it is the tags that give way
            self.assertLessEqual({f"tag_{name}" for name in names} | {"mine"}, tags)


    def test_no_tag_of_a_span_has_the_name_of_a_field_and_each_span_is_a_point(self):
        path, lines = self.record("--tag", "mine=1")
        start = lines[0]["start_time"]
        lines[0]["command"] = ["sh"]
        used = {key: v for key, v in lines[-1].items() if key not in ("kind", "programs", "self", "losses", "reason")}
        tags = dict.fromkeys(["mine", "span_name", "pid", "open", "time", "run", *used][:16], "x")
        spans = [
            {"kind": "span", "id": i, "name": "a", "tags": tags, "pid": 7, "start_time": start, "end_time": start + 1, **used} for i in range(1, 5)
        ]
        lines[-1:-1] = spans
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        points = [line for line in self.export(path, "influx").decode().splitlines() if line.startswith("bpfmon_span,")]
        self.assertEqual(len({point.rsplit(" ", 1)[1] for point in points}), len(spans))
        for tags, fields in self.points(path):
            self.assertEqual(tags & fields, set())
        self.assertIn(",span_name=a,", points[0])
        self.assertIn(",tag_span_name=x", points[0])


class Stored(StoreCase):
    def test_a_run_of_the_store_is_exported_as_the_file_of_it(self):
        out = self.dir / "run.jsonl"
        tags = ["--name", "al'ign", "--job", "47", "--tag", "sample=A 7"]
        self.record("-i", "0.05", *tags, "-o", out, command=("sh", "-c", WORK), code=3)
        done = self.bpfmon("export", "al'ign", "-f", "jsonl")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # the store has the samples before the processes
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(out.read_text().splitlines()))
        for form in ("csv", "openmetrics", "gnu-time", "psrecord", "rmonitor"):
            self.assertEqual(self.bpfmon("export", "1", "-f", form).stdout, self.bpfmon("export", out, "-f", form).stdout)
        point = self.bpfmon("export", "1", "-f", "influx").stdout.split(" elapsed_seconds")[0]
        self.assertRegex(point, r"^bpfmon,run=[0-9a-f-]+,name=al'ign,host=[^,]+,user=[^,]+,job=47,sample=A\\ 7$")


class Peers(ExportCase):
    def test_prmons_columns_are_read_by_its_names_and_units(self):
        path, lines = self.record("--pss")
        self.export_base(path, self.dir / "peer")
        columns = prmonfile.load(self.dir / "peer.txt")
        samples = kind(lines, "sample")
        self.assertEqual(set(columns), {"Time", *prmonfile.UNITS})
        for name, key in (("rss", "rss_bytes"), ("vmem", "vms_bytes"), ("swap", "swap_bytes")):
            self.assertEqual(columns[name], [sample[key] // 1024 * 1024 for sample in samples])
        for name, key in (("rchar", "rchar_bytes"), ("write_bytes", "write_bytes"), ("nprocs", "processes")):
            self.assertEqual(columns[name], [sample[key] for sample in samples])
        for name, key in (("utime", "user_seconds"), ("stime", "system_seconds"), ("wtime", "elapsed_seconds")):
            self.assertEqual(columns[name], [round(s[key] * 1e9) // 10**6 / 1000 for s in samples])
        self.assertEqual(columns["Time"], [round(sample["time"] * 1e6) // 1000 / 1000 for sample in samples])
        self.assertGreater(max(prmonfile.rates(columns, "rchar")), 0)

    def test_prmons_summary_has_the_peaks_and_totals(self):
        path, lines = self.record()
        self.export_base(path, self.dir / "peer")
        peer, summary = json.loads((self.dir / "peer.json").read_text()), lines[-1]
        samples = kind(lines, "sample")
        self.assertEqual(peer["Max"]["rss"], summary["rss_peak_bytes"] // 1024)
        self.assertEqual(peer["Max"]["rchar"], summary["rchar_bytes"])
        self.assertEqual(peer["Max"]["nprocs"], max(sample["processes"] for sample in samples))
        self.assertEqual(peer["Max"]["utime"], int(summary["user_seconds"]))
        self.assertEqual(peer["Max"]["wtime"], int(summary["wall_seconds"]))
        self.assertAlmostEqual(peer["Avg"]["nprocs"], mean_over_time(samples, "processes"), places=2)
        self.assertAlmostEqual(peer["Avg"]["vmem"], mean_over_time(samples, "vms_bytes") / 1024, places=2)
        self.assertAlmostEqual(peer["Avg"]["wchar"], summary["wchar_bytes"] / summary["wall_seconds"], places=2)
        self.assertNotIn("pss", peer["Max"])
        self.assertEqual(peer["HW"]["mem"]["MemTotal"], lines[0]["system"]["memory_bytes"] // 1024)

    def test_one_process_is_one_on_average_however_short_the_run(self):
        path = self.dir / "run.jsonl"  # with a sample at its beginning and one at its end
        subprocess.run([BPFMON, "-q", "-i", "60", "-o", str(path), "--", "sleep", "0.1"], timeout=60, check=True)
        self.export_base(path, self.dir / "peer")
        self.assertEqual(json.loads((self.dir / "peer.json").read_text())["Avg"]["nprocs"], 1)

    @needs(ROOT, BPF)
    def test_the_exact_peak_goes_before_what_samples_saw(self):
        path, lines = self.record("--exact-peak")
        self.export_base(path, self.dir / "peer")
        peak = lines[-1]["rss_peak_exact_bytes"]
        self.assertEqual(json.loads((self.dir / "peer.json").read_text())["Max"]["rss"], peak // 1024)
        peer = json.loads(self.export(path, "rmonitor"))
        self.assertLess(0, peer["memory"][0] * MIB - peak + 1)
        self.assertAlmostEqual(peer["memory"][0], peak / MIB, places=2)
        self.assertAlmostEqual(peer["peak_times"]["memory"][0], lines[-1]["rss_peak_exact_elapsed_seconds"], places=2)

    def time_block(self, text):
        """Labels and values of a block of time -v, in order."""
        found = (re.fullmatch(r"\t(.*?(?:\(h:mm:ss or m:ss\)|[^:]*)): (.*)", line) for line in text.splitlines())
        return {match[1]: match[2] for match in found if match}

    def test_gnu_times_block_has_its_labels_and_the_summarys_values(self):
        real = subprocess.run([GNU_TIME, "-v", "sh", "-c", "exit 3"], stderr=subprocess.PIPE, timeout=60, check=False)
        path, lines = self.record()
        text, summary = self.export(path, "gnu-time").decode(), lines[-1]
        block = self.time_block(text)
        expected = list(self.time_block(real.stderr.decode()))
        expected.remove("Page size (bytes)")  # the run does not say it
        self.assertEqual(list(block), expected)
        self.assertEqual(text.splitlines()[0], real.stderr.decode().splitlines()[0])
        self.assertEqual(block["Command being timed"], f'"{" ".join(lines[0]["command"])}"')
        self.assertEqual(block["Maximum resident set size (kbytes)"], str(summary["process_rss_peak_bytes"] // 1024))
        self.assertEqual(block["Voluntary context switches"], str(summary["nvcsw"]))
        self.assertEqual(block["Minor (reclaiming a frame) page faults"], str(summary["minflt"]))
        self.assertEqual(block["User time (seconds)"], f"{int(summary['user_seconds'] * 100) / 100:.2f}")
        self.assertEqual(block["Exit status"], "3")

    def test_gnu_times_block_of_a_killed_command_begins_as_its_own(self):
        command = ["sh", "-c", "kill -9 $$"]
        real = subprocess.run([GNU_TIME, "-v", *command], stderr=subprocess.PIPE, timeout=60, check=False)
        path = self.dir / "run.jsonl"
        subprocess.run([BPFMON, "-q", "-o", str(path), "--", *command], timeout=60, check=False)
        text = self.export(path, "gnu-time").decode()
        self.assertEqual(text.splitlines()[0], real.stderr.decode().splitlines()[0])
        self.assertEqual(self.time_block(text)["Exit status"], self.time_block(real.stderr.decode())["Exit status"])

    def test_psrecords_csv_has_its_columns(self):
        path, lines = self.record()
        text = self.export(path, "psrecord").decode()
        self.assertEqual(text.splitlines()[0], PSRECORD_COLUMNS)
        rows = list(csv.DictReader(io.StringIO(text)))
        for row, sample in zip(rows, kind(lines, "sample"), strict=True):
            self.assertEqual(float(row["elapsed_time"]), sample["elapsed_seconds"])
            self.assertAlmostEqual(float(row["mem_real"]), sample["rss_bytes"] / MIB, places=5)
            self.assertAlmostEqual(float(row["mem_virtual"]), sample["vms_bytes"] / MIB, places=5)
            self.assertEqual(row["read_count"], str(sample["syscr"]))
            self.assertEqual(row["write_bytes"], str(sample["write_bytes"]))
        self.assert_told_over_5_ms(kind(lines, "sample"), [row["cpu"] for row in rows])

    def assert_told_over_5_ms(self, samples, percents):
        """Each is what was used since some sample (or the start) that is long enough ago, or is left out."""
        moments = [(0, 0), *((s["elapsed_seconds"], s["cpu_seconds"]) for s in samples)]
        for (at, used), percent in zip(moments[1:], percents, strict=True):
            rates = [(used - before) / (at - since) for since, before in moments if at - since >= 0.005]
            rates = [min(rate, CPUS) for rate in rates]
            self.assertEqual(percent != "", bool(rates))
            self.assertLess(min(abs(rate - float(percent or 0) / 100) for rate in rates or [0]), 0.005)

    def test_psrecords_plain_log_has_columns_of_12_characters(self):
        path, lines = self.record()
        header, *rows = self.export(path, "psrecord-plain").decode().splitlines()
        self.assertTrue(header.startswith("# Elapsed time   CPU (%)     Real (MB)   Virtual (MB)"))
        for row, sample in zip(rows, kind(lines, "sample"), strict=True):
            cells = [float(row[at : at + 12]) for at in range(0, 8 * 13, 13)]
            self.assertAlmostEqual(cells[0], sample["elapsed_seconds"], places=2)
            self.assertAlmostEqual(cells[2], sample["rss_bytes"] / MIB, places=2)
            self.assertEqual(cells[4:6], [sample["syscr"], sample["syscw"]])

    def test_resource_monitors_values_have_its_units(self):
        path, lines = self.record()
        peer, summary = json.loads(self.export(path, "rmonitor")), lines[-1]
        self.assertEqual({name: pair[1] for name, pair in peer.items() if isinstance(pair, list)}, RMONITOR_UNITS)
        self.assertEqual((peer["exit_type"], peer["exit_status"]), ("normal", 3))
        self.assertEqual(peer["command"], " ".join(lines[0]["command"]))
        self.assertLess(0, peer["memory"][0] * MIB - summary["rss_peak_bytes"] + 1)
        self.assertAlmostEqual(peer["memory"][0], summary["rss_peak_bytes"] / MIB, places=2)
        self.assertAlmostEqual(peer["cpu_time"][0], summary["cpu_seconds"], places=5)
        self.assertEqual(peer["context_switches"][0], summary["nvcsw"] + summary["nivcsw"])
        self.assertEqual(peer["total_processes"][0], len(kind(lines, "process")))
        self.assertAlmostEqual(peer["end"][0] - peer["start"][0], peer["wall_time"][0], places=4)
        self.assertAlmostEqual(peer["peak_times"]["memory"][0], summary["rss_peak_elapsed_seconds"], places=2)

    def test_cores_between_marks_are_over_times_that_are_long_enough(self):
        path = self.dir / "run.jsonl"
        script = f"for i in 1 2 3 4 5 6; do {BPFMON} mark $i; done; sleep 0.2; {BPFMON} mark a; {BPFMON} mark b"
        subprocess.run([BPFMON, "-q", "--marks", "-o", str(path), "--", "sh", "-c", script], timeout=60, check=True)
        lines = read_lines(path)
        peer, summary, samples = json.loads(self.export(path, "rmonitor")), lines[-1], kind(lines, "sample")
        self.assertEqual(peer["cores"][0], summary["cores_peak"])
        self.assertGreaterEqual(summary["cores_peak"], summary["cores_mean"])
        percents = [row["cpu"] for row in csv.DictReader(io.StringIO(self.export(path, "psrecord").decode()))]
        self.assert_told_over_5_ms(samples, percents)
        self.assertGreaterEqual(peer["cores"][0] + 1e-9, max(map(float, filter(None, percents))) / 100)
        self.assertGreaterEqual(peer["peak_times"]["cores"][0], 0.005)

    def test_a_killed_commands_signal_is_as_resource_monitor_has_it(self):
        peer = json.loads(self.export(HOSTILE, "rmonitor"))
        self.assertEqual((peer["exit_type"], peer["signal"], peer["exit_status"]), ("signal", 11, 139))


class Commands(ExportCase):
    def test_the_help_names_every_format(self):
        said = subprocess.run([BPFMON, "export", "--help"], capture_output=True, timeout=60, check=True).stdout.decode()
        for form in re.findall(r"^  ([a-z][a-z-]+)  ", said, re.M):
            if form != "prmon":
                self.assertTrue(self.export(HOSTILE, form), form)
        self.assertIn("  openmetrics ", said)

    def test_hostile_strings_cannot_steer_a_terminal(self):
        for form in ("jsonl", "csv", "json", "influx", "openmetrics", "gnu-time", "psrecord", "rmonitor"):
            self.assertNotIn(b"\x1b", self.export(HOSTILE, form), shlex.quote(form))
        self.assertEqual(len(read_lines(HOSTILE)), 11)
