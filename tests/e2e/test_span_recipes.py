# SPDX-License-Identifier: BSD-2-Clause
"""Each recipe of docs/PARTS.md, executed as it stands there but for sudo, --user and the path of the wrapper."""

import os
import pathlib
import re
import shutil
import subprocess

from lib.bpfmon import BUILD, TOP, Case, read_lines

SAMPLED = True
DOCUMENT = TOP / "docs" / "PARTS.md"
BLOCK = re.compile(r"<!-- (run|file): (\S+) -->\n```\w+\n(.*?)\n```\n", re.S)
BLOCKS = {name: (kind, text) for kind, name, text in BLOCK.findall(DOCUMENT.read_text())}
WRAPPER = str(BUILD / "libexec" / "bash")
PACKAGE = str(TOP / "tools" / "python")
SAMPLES = ["A7", "B2", "C9"]
# Open MPI refuses root and more ranks than CPUs, and looks for ssh, which it does not need here
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_plm_rsh_agent": "/bin/false",
}
SNAKEFILE = """
rule all:
    input: "A7.bam", "B2.bam"

rule align:
    output: "{sample}.bam"
    shell: "./align.sh {wildcards.sample} > {output}"
"""
OTHER_RULES = """
rule by_run:
    output: "run.txt"
    run: shell("echo ran > {output}")

rule by_script:
    output: "script.txt"
    script: "write.py"
"""


class RecipeCase(Case):
    def setUp(self):
        super().setUp()
        self.write("align.sh", '#!/bin/sh\n[ "$1" != C9 ] || exit 9\nsort </dev/null; echo "$1"\n').chmod(0o755)
        self.write("solver", '#!/bin/sh\necho "$OMPI_COMM_WORLD_RANK"\n').chmod(0o755)
        self.write("input.txt", "b\na\n")
        (self.dir / "home").mkdir()

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def local(self, text):
        """The text for this machine: nothing is installed, and tests are root already."""
        return re.sub(r"sudo (--\S+ )?| --user\b", "", text).replace("/usr/local/libexec/bpfmon/bash", WRAPPER).replace(
            "/usr/local/libexec/bpfmon", str(pathlib.Path(WRAPPER).parent)
        )

    def need(self, program):
        if not shutil.which(program):
            self.skipTest(f"needs {program}: tools/install-deps.sh spans")

    def files(self, *names):
        for name in names:
            kind, text = BLOCKS[name]
            self.assertEqual(kind, "file")
            self.write(name, self.local(text) + "\n")

    def execute(self, script, env=None, code=0):
        """Runs a script of the document; the spans of its run."""
        environment = {**os.environ, "PATH": f"{BUILD}:/usr/bin:{os.environ['PATH']}", "PYTHONPATH": PACKAGE, "HOME": str(self.dir / "home")}
        done = subprocess.run(
            ["bash", "-c", self.local(script)],
            cwd=self.dir,
            env={**environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=900,
            check=False,
        )
        self.output = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, code, self.output)
        lines = read_lines(self.dir / "run.jsonl")
        self.assertTrue(lines[-1]["complete"], lines[-1])
        spans = [line for line in lines if line["kind"] == "span"]
        self.assertTrue(all(span["complete"] for span in spans), spans)
        self.assertLessEqual(
            sum(round(s["cpu_seconds"] * 1e9) for s in spans if "parent" not in s), round(lines[-1]["cpu_seconds"] * 1e9)
        )
        return spans

    def recipe(self, name, **kwargs):
        kind, text = BLOCKS[name]
        self.assertEqual(kind, "run")
        return self.execute(text, **kwargs)

    def assert_samples(self, spans):
        """A span called align for each sample, each with its own status."""
        found = sorted((s["tags"]["sample"], s["exit_code"]) for s in spans if s["name"] == "align")
        self.assertEqual(found, [("A7", 0), ("B2", 0), ("C9", 9)], self.output)


class Recipes(RecipeCase):
    def test_every_recipe_is_executed_here(self):
        text = pathlib.Path(__file__).read_text()
        for name, (kind, _) in BLOCKS.items():
            self.assertIn(f'"{name}"', text.replace("'", '"'), kind)

    def test_make(self):
        self.write("Makefile", "all: a.o b.o\n\tsort a.o b.o\n%.o:\n\tcat input.txt >$@; true\n")
        self.assertEqual(sorted(s["name"] for s in self.recipe("make")), ["cat", "cat", "sort"])

    def test_make_by_target(self):
        self.write("Makefile", "all: a.o b.o\n\tsort a.o b.o\n%.o:\n\tcat input.txt >$@; true\n")
        self.assertEqual(sorted(s["name"] for s in self.recipe("make-target")), ["a.o", "all", "b.o"])

    def test_snakemake(self):
        self.need("snakemake")
        self.write("Snakefile", SNAKEFILE.replace('"B2.bam"', '"B2.bam", "run.txt", "script.txt"', 1) + OTHER_RULES)
        self.write("write.py", 'open(snakemake.output[0], "w").write("written")\n')
        spans = self.recipe("snakemake")
        found = sorted((s["name"], s["tags"].get("sample", ""), s["tags"]["rule"], s["exit_code"]) for s in spans)
        jobs = [("align", "A7"), ("align", "B2"), ("by_run", ""), ("by_script", "")]
        self.assertEqual(found, [(rule, sample, rule, 0) for rule, sample in jobs], self.output)
        self.assertEqual((self.dir / "B2.bam").read_text(), "B2\n")
        self.assertEqual((self.dir / "run.txt").read_text() + (self.dir / "script.txt").read_text(), "ran\nwritten")

    def test_a_job_of_snakemake_that_fails_fails(self):
        self.need("snakemake")
        self.write("Snakefile", 'rule all:\n    output: "x"\n    shell: "false | true; touch {output}"\n')
        (span,) = self.recipe("snakemake", code=1)
        self.assertEqual((span["name"], span["exit_code"]), ("all", 1), self.output)

    def test_snakemake_outside_of_a_run_and_without_bpfmon(self):
        self.need("snakemake")
        self.write("Snakefile", SNAKEFILE)
        words = ["python3", "-m", "bpfmon.snakemake", "-q", "--cores", "2"]
        env = {**os.environ, "PATH": "/usr/bin:/bin", "PYTHONPATH": PACKAGE, "HOME": str(self.dir / "home")}
        done = subprocess.run(words, cwd=self.dir, env=env, capture_output=True, text=True, timeout=300, check=True)
        self.assertNotIn("bpfmon", done.stderr)
        self.assertEqual((self.dir / "B2.bam").read_text(), "B2\n")
        (self.dir / "B2.bam").unlink()
        env["BPFMON_PROGRAM"] = "/nonexistent/bpfmon"
        words = [str(BUILD / "bpfmon"), "-q", "-o", self.dir / "run.jsonl", "--", *words]
        done = subprocess.run(words, cwd=self.dir, env=env, capture_output=True, text=True, timeout=300, check=True)
        self.assertEqual(done.stderr.count("no spans: there is no program /nonexistent/bpfmon; set BPFMON_PROGRAM to its path"), 1)
        self.assertEqual((self.dir / "B2.bam").read_text(), "B2\n")
        self.assertEqual([line for line in read_lines(self.dir / "run.jsonl") if line["kind"] == "span"], [])

    def test_snakemake_by_the_path(self):
        self.need("snakemake")
        self.write("Snakefile", SNAKEFILE)
        self.assertEqual([s["name"] for s in self.recipe("snakemake-path")], ["align.sh", "align.sh"], self.output)
        self.assertEqual((self.dir / "B2.bam").read_text(), "B2\n")

    def test_snakemakes_shell_is_still_strict(self):
        """It looks for the name bash, and else leaves out set -euo pipefail."""
        self.need("snakemake")
        self.write("Snakefile", 'rule all:\n    output: "x"\n    shell: "false | true; touch {output}"\n')
        (span,) = self.recipe("snakemake-path", code=1)
        self.assertEqual(span["exit_code"], 1, self.output)
        self.assertFalse((self.dir / "x").exists())

    def test_parallel(self):
        self.need("parallel")
        self.assert_samples(self.recipe("parallel", code=1))

    def test_xargs(self):
        self.assert_samples(self.recipe("xargs", code=123))

    def test_python(self):
        self.files("jobs.py")
        align = self.recipe("python")
        self.assertEqual({span["name"] for span in align}, {"align"})
        self.assertEqual(sorted(span["tags"]["sample"] for span in align), SAMPLES)
        self.assertEqual([span["processes_total"] for span in sorted(align, key=lambda s: s["tags"]["sample"])], [3, 3, 2])
        summary = read_lines(self.dir / "run.jsonl")[-1]
        self.assertEqual((summary["pushed"]["marks"], summary["pushed"]["metrics"]), (1, 1))

    def test_a_step_of_a_shell_in_place(self):
        self.files("step.sh")
        (span,) = self.execute("bpfmon -o run.jsonl -- bash step.sh")
        self.assertEqual(span["name"], "load")
        self.assertEqual(self.output.split("\n")[0], "2")

    def test_background_jobs_of_a_shell(self):
        self.files("jobs.sh")
        self.assert_samples(self.recipe("background"))

    def test_ranks_of_one_node(self):
        self.need("mpirun")
        spans = self.recipe("mpirun", env=MPI)
        self.assertEqual(sorted((s["name"], s["tags"]["rank"]) for s in spans), [("rank", r) for r in "012"], self.output)

    def test_a_bpfmon_for_each_rank_is_warned_about(self):
        self.need("mpirun")
        done = subprocess.run(
            ["mpirun", "-n", "3", str(BUILD / "bpfmon"), "-q", "--", "./solver"],
            cwd=self.dir, env={**os.environ, **MPI, "HOME": str(self.dir / "home")},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.split()), [b"0", b"1", b"2"])
        self.assertEqual(len(re.findall(rb"OMPI_COMM_WORLD_LOCAL_RANK is not 0", done.stderr)), 2, done.stderr)
