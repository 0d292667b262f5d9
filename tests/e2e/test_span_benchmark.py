# SPDX-License-Identifier: BSD-2-Clause
"""Spans beside Snakemake's own benchmark files: a span has what wait4() says, whatever Snakemake sampled."""

import csv
import json
import os
import pathlib
import shutil
import subprocess

from lib.bpfmon import BPFMON, BUILD, Case, read_lines, truth

SAMPLED = True
SPLIT_PAGES = max(32, 2 * os.cpu_count()) * os.cpu_count()
WORK = {
    "steady": "touch 100 4000",
    "children": "seqchildren 50 20",
    "spike": "touch 500 20 free",
    "daemon": "daemon -w 1000",
}
RULE = """
rule {name}:
    output: "{name}.json"
    benchmark: "{name}.tsv"
    shell: "TRUTH_OUT={name}.truth {witness} {{output}} {program}"
"""


class Benchmark(Case):
    """Each rule's command below `witness`, which reaps it."""

    @classmethod
    def setUpClass(cls):
        cls.found = None

    def setUp(self):
        super().setUp()
        if not shutil.which("snakemake"):
            self.skipTest("needs snakemake: tools/install-deps.sh spans")
        if not Benchmark.found:
            Benchmark.found = self.run_rules()

    def run_rules(self):
        """By name of the rule: its span, the records of its processes, witnesses, benchmark."""
        rules = [
            RULE.format(name=name, witness=truth("witness"), program=f"{BUILD}/truth/{words}") for name, words in WORK.items()
        ]
        first = "rule all:\n    input: " + ", ".join(f'"{name}.json"' for name in WORK) + "\n"
        (self.dir / "Snakefile").write_text(first + "".join(rules))
        path = f"{BUILD}/libexec:/usr/bin:{os.environ['PATH']}"
        done = subprocess.run(
            [BPFMON, "-q", "-o", "run.jsonl", "--", "env", f"PATH={path}", "snakemake", "--cores", "1"],
            cwd=self.dir, env={**os.environ, "HOME": str(self.dir)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900, check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout.decode())
        lines = read_lines(self.dir / "run.jsonl")
        return {name: self.rule(name, lines) for name in WORK}

    def rule(self, name, lines):
        witness = json.loads((self.dir / f"{name}.json").read_text())
        said = self.dir / f"{name}.truth"
        (top,) = [p for p in lines if p["kind"] == "process" and p["pid"] == witness["pid"]]
        (span,) = [line for line in lines if line["kind"] == "span" and line["id"] == top["span"]]
        records = [p for p in lines if p["kind"] == "process" and p.get("span") == span["id"]]
        around = [p for p in records if pathlib.Path(p["exe"]).name in ("bash", "witness")]
        with open(self.dir / f"{name}.tsv", encoding="ascii") as f:
            (benchmark,) = csv.DictReader(f, delimiter="\t")
        truth_said = json.loads(said.read_text()) if said.exists() else {}
        return {"span": span, "wait4": witness, "around": around, "benchmark": benchmark, "truth": truth_said}

    def assert_cpu(self, rule, expected):
        """What the program used, and the shell and `witness` around it, which no witness here covers."""
        around = sum(p["cpu_seconds"] for p in rule["around"])
        self.assertGreaterEqual(rule["span"]["cpu_seconds"], expected * 0.999 - 0.001)
        self.assertLessEqual(rule["span"]["cpu_seconds"], expected * 1.001 + 0.001 + around)

    def test_cpu_of_a_steady_process_is_that_of_wait4(self):
        rule = self.found["steady"]
        self.assert_cpu(rule, rule["wait4"]["cpu_seconds"])

    def test_cpu_of_short_children_is_that_of_wait4(self):
        rule = self.found["children"]
        self.assertGreaterEqual(rule["wait4"]["cpu_seconds"], 1)
        self.assert_cpu(rule, rule["wait4"]["cpu_seconds"])

    def test_a_daemon_that_wait4_does_not_see_is_counted(self):
        rule = self.found["daemon"]
        daemon = rule["truth"]["daemon_cpu_seconds"]
        self.assertGreaterEqual(daemon, 1)
        self.assertLess(rule["wait4"]["cpu_seconds"], 0.5)
        self.assert_cpu(rule, rule["wait4"]["cpu_seconds"] + daemon)

    def test_a_peak_between_two_samples_is_that_of_wait4(self):
        for name, mib in (("spike", 500), ("steady", 100)):
            rule = self.found[name]
            self.assertGreaterEqual(rule["wait4"]["maxrss_kb"], mib * 1024)
            # the kernel keeps RSS in parts, one for each CPU, and wait4() may have missed some
            peak, witness = rule["span"]["process_rss_peak_bytes"], rule["wait4"]["maxrss_kb"] * 1024
            self.assertAlmostEqual(peak, witness, delta=SPLIT_PAGES * os.sysconf("SC_PAGESIZE"))
            self.assertGreaterEqual(rule["span"]["rss_peak_upper_bytes"], mib << 20)
