# SPDX-License-Identifier: BSD-2-Clause
"""Exports in the formats of workflow engines, beside what these write themselves."""

import csv
import io
import json
import pathlib
import subprocess

from lib.bpfmon import BPFMON, read_lines
from lib.exports import ExportCase
from lib.permitted import BPF, ROOT, needs
from lib.runs import write_run

SAMPLED = True
NEEDS = ()
MIB = 1 << 20
# of Nextflow's documentation and its wrapper script, version 2 of the format: each is a whole number
NEXTFLOW_KEYS = ["realtime", "%cpu", "cpu_model", "rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "%mem", "vmem", "rss"]
NEXTFLOW_KEYS += ["peak_vmem", "peak_rss", "vol_ctxt", "inv_ctxt"]
SNAKEFILE = 'rule a:\n    output: "out"\n    benchmark: "bench.tsv"\n    shell: "dd if=/dev/zero of=out bs=1M count=20 conv=fsync 2>/dev/null; sleep 1"\n'


class Snakemake(ExportCase):
    def rows(self, text):
        return list(csv.DictReader(io.StringIO(text), delimiter="\t"))

    def benchmark_of_snakemake(self):
        """The table that Snakemake itself writes."""
        (self.dir / "Snakefile").write_text(SNAKEFILE)
        done = subprocess.run(["/usr/bin/snakemake", "--cores", "1", "-q"], cwd=self.dir, capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.dir / "bench.tsv").read_text()

    def test_header_and_cells_are_those_of_snakemake(self):
        theirs = self.benchmark_of_snakemake()
        path, _ = self.record("--pss")
        ours = self.export(path, "snakemake").decode()
        self.assertEqual(ours.split("\n")[0], theirs.split("\n")[0])
        patterns = {"s": r"\d+\.\d{4}", "h:m:s": r"\d+:\d\d:\d\d"}
        for table in (theirs, ours):
            for key, cell in self.rows(table)[0].items():
                self.assertRegex(cell, f"^(?:{patterns.get(key, r'[0-9]+[.][0-9]{2}|[0-9]+|NA')})$", key)

    def test_values_are_those_of_the_summary(self):
        path, lines = self.record("--pss")
        row, summary = self.rows(self.export(path, "snakemake").decode())[0], lines[-1]
        samples = [line for line in lines if line["kind"] == "sample"]
        self.assertEqual(row["s"], f"{summary['wall_seconds']:.4f}")
        self.assertEqual(row["max_rss"], f"{summary['rss_peak_bytes'] / MIB:.2f}")
        self.assertEqual(row["max_pss"], f"{max(s['pss_bytes'] for s in samples if 'pss_bytes' in s) / MIB:.2f}")
        self.assertEqual(row["io_in"], f"{summary['read_bytes'] / MIB:.2f}")
        self.assertEqual(row["cpu_time"], f"{summary['cpu_seconds']:.2f}")
        self.assertAlmostEqual(float(row["mean_load"]), 100 * summary["cpu_seconds"] / summary["wall_seconds"], delta=0.01)

    @needs(ROOT, BPF)
    def test_memory_that_the_samples_of_a_short_run_missed_is_not_available(self):
        path = self.dir / "short.jsonl"
        command = ["python3", "-c", "b = bytearray(b'x' * 50_000_000)"]
        subprocess.run([BPFMON, "-q", "--pss", "-i", "5", "-o", path, "--no-store", "--", *command], timeout=60, check=True)
        row = self.rows(self.export(path, "snakemake").decode())[0]
        peak = read_lines(path)[-1]["rss_peak_bytes"]
        self.assertGreater(peak, 50_000_000)
        self.assertEqual(row["max_rss"], f"{peak / MIB:.2f}")
        self.assertTrue(row["max_vms"] == "NA" or float(row["max_vms"]) * MIB >= peak - MIB / 100, row)
        for key in ("max_pss", "max_uss"):
            self.assertTrue(row[key] == "NA" or float(row[key]) > 0, row)

    def test_samples_that_cannot_be_the_peak_say_nothing(self):
        line = {"kind": "sample", "time": 1763690000, "elapsed_seconds": 0, "rss_bytes": 16 << 10, "vms_bytes": 400 << 10, "pss_bytes": 0}
        path = pathlib.Path(write_run(self.dir / "run.jsonl", wall_seconds=1, rss_peak_bytes=60 << 20))
        head, end = path.read_text().splitlines()
        path.write_text("\n".join([head, json.dumps(line), end, ""]))
        (row,) = self.rows(self.export(path, "snakemake").decode())
        self.assertEqual((row["max_rss"], row["max_vms"], row["max_pss"]), ("60.00", "NA", "NA"))
        keys = dict(line.split("=") for line in self.export(path, "nextflow").decode().splitlines()[1:])
        self.assertEqual((keys["rss"], keys["peak_rss"]), ("61440", "61440"))
        self.assertNotIn("vmem", keys)
        path.write_text("\n".join([head, json.dumps(line | {"vms_bytes": 70 << 20, "pss_bytes": 1 << 20}), end, ""]))
        (row,) = self.rows(self.export(path, "snakemake").decode())
        self.assertEqual((row["max_vms"], row["max_pss"]), ("70.00", "1.00"))

    def test_what_was_not_read_is_not_available(self):
        path = write_run(self.dir / "run.jsonl", wall_seconds=90061.5)
        (row,) = self.rows(self.export(path, "snakemake").decode())
        self.assertEqual((row["s"], row["h:m:s"]), ("90061.5000", "1 day, 1:01:01"))
        self.assertEqual({row[key] for key in row if key not in ("s", "h:m:s")}, {"NA"})

    def test_runs_are_repetitions_below_one_header(self):
        paths = [write_run(self.dir / f"{i}.jsonl", wall_seconds=i, cpu_seconds=1) for i in (1, 2, 3)]
        rows = self.rows(self.export(paths[0], "snakemake", *paths[1:]).decode())
        self.assertEqual([row["s"] for row in rows], ["1.0000", "2.0000", "3.0000"])


class Nextflow(ExportCase):
    def test_the_file_has_the_keys_and_values_of_the_format(self):
        path, lines = self.record()
        head, *rest = self.export(path, "nextflow").decode().splitlines()
        self.assertEqual(head, "nextflow.trace/v2")
        values = dict(line.split("=", 1) for line in rest)
        self.assertEqual(len(values), len(rest))
        self.assertEqual([key for key in NEXTFLOW_KEYS if key in values], list(values))
        for key, value in values.items():
            if key != "cpu_model":
                self.assertRegex(value, "^[0-9]+$", key)
        summary = lines[-1]
        self.assertEqual(values["realtime"], str(int(summary["wall_seconds"] * 1000)))
        self.assertEqual(values["peak_rss"], str(-(-summary["rss_peak_bytes"] // 1024)))
        self.assertEqual(values["vol_ctxt"], str(summary["nvcsw"]))
        self.assertEqual(values["rchar"], str(summary["rchar_bytes"]))

    def test_a_name_of_a_cpu_adds_no_line(self):
        path = write_run(self.dir / "run.jsonl", meta={"system": {"cpu_model": "a\nrealtime=1"}}, wall_seconds=2)
        self.assertEqual(self.export(path, "nextflow").decode(), "nextflow.trace/v2\nrealtime=2000\n")
