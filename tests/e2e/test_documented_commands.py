# SPDX-License-Identifier: BSD-2-Clause
"""Each command of README.md, docs/*.md and the manual works as it stands there, for an ordinary user with sudo.

Jobs are stand-ins, which print, and runs are prepared. A command that cannot be executed here is in ELSEWHERE, with the
reason and the test that executes it or its like.
"""

import json
import os
import re
import shutil
import subprocess
import uuid

from lib import sweep
from lib.bpfmon import BPFMON, BUILD, NOBODY, TOP, read_lines
from lib.documents import documented_commands
from lib.newcomer import NewcomerCase

JOBS = ("job", "job.sh", "align.sh", "workers", "simulate", "start-services", "reports-to-telegraf")
JOB = "#!/bin/sh\necho working on: $*\nhead -c 3000000 /dev/zero | tail -c 1\n"
PYTHON = "/usr/bin/python3"  # that of the distribution, with its packages
RUNS = 42  # in the store, as many as the documents speak of

TERMINAL = "needs a terminal"
# document, beginning of the command, why it is not executed here, where its like is
ELSEWHERE = (
    ("README.md", "make run", "builds", "tests/e2e/test_newcomer.py"),
    ("README.md", "sudo make install", "changes the machine", "tests/e2e/test_newcomer.py"),
    ("README.md", "make check", "runs all tests, this one included", ".ci/run"),
    ("docs/FLEET.md", "", "needs a database, and changes the machine", "tests/servers/test_push.py"),
    ("docs/KUBERNETES.md", "", "needs a cluster", "tests/servers/test_kubelet.py"),
    ("docs/NODE.md", "", "needs the agent as a service, and changes the machine", "tests/systemd/test_service.py"),
    ("docs/NODE.md", "sudo apt install", "changes the machine", "tests/systemd/test_packages.py"),
    ("docs/RUN.md", "sudo bpfmon --own-cgroup --block-io", "needs cgroups of version 2", "tests/bpf/test_block_io.py"),
    ("docs/RUNS.md", "curl", "needs InfluxDB", "tests/servers/test_influx.py"),
    ("docs/RUNS.md", "bpfmon push", "needs InfluxDB", "tests/servers/test_push_runs.py"),
    ("docs/RUNS.md", "promtool", "needs Prometheus", "tests/servers/test_openmetrics.py"),
    ("docs/RUNS.md", "prmon_plot.py", "is not in the distribution", "tests/e2e/test_export.py"),
    ("docs/SLURM.md", "", "needs Slurm", "tests/servers/test_slurm.py"),
    ("docs/STUDY.md", "jupyter notebook", "opens a browser", "tests/notebook/test_many.py"),
    ("docs/STUDY.md", "BPFMON_STORE=all.sqlite jupyter", "opens a browser", "tests/notebook/test_many.py"),
    ("docs/STUDY.md", "sudo --preserve-env=PYTHONPATH", "needs the package", "tests/e2e/test_python_package.py"),
    ("docs/STUDY.md", "python3 -c 'import bpfmon", "needs the package", "tests/e2e/test_python_package.py"),
    ("docs/PARTS.md", "sudo bpfmon -o run.jsonl ", "recipes have a test of their own", "tests/e2e/test_span_recipes.py"),
    ("docs/PARTS.md", "sudo --preserve-env", "needs the package", "tests/e2e/test_span_recipes.py"),
    ("docs/PAGES.md", "bpfmon serve", "serves until it is ended", "tests/e2e/test_web.py"),
    ("docs/PAGES.md", "bpfmon top", TERMINAL, "tests/e2e/test_top.py"),
    ("docs/TUTORIAL.md", "", "steps that need those before", "tests/e2e/test_tutorial.py"),
    ("docs/man/bpfmon-agent.1", "sudo bpfmon agent", "needs its configuration, and serves until it is ended", "tests/systemd/test_service.py"),
    ("docs/man/bpfmon-agent.1", "bpfmon agent --status", "needs an agent", "tests/e2e/test_agent_status.py"),
    ("docs/man/bpfmon-attach.1", "sudo bpfmon attach --cgroup", "ends with the service", "tests/bpf/test_attach_cgroup.py"),
    ("docs/man/bpfmon-attach.1", "sudo bpfmon attach --container", "needs a container", "tests/bpf/test_attach_container.py"),
    ("docs/man/bpfmon-attach.1", "bpfmon attach --job", "needs an agent", "tests/e2e/test_agent_runs.py"),
    ("docs/man/bpfmon-exporter.8", "bpfmon-exporter --config", "serves until it is ended", "tests/e2e/test_exporter.py"),
    ("docs/man/bpfmon-push.1", "bpfmon push", "needs a database", "tests/servers/test_push_runs.py"),
    ("docs/man/bpfmon-push.8", "bpfmon-push --config", "sends until it is ended", "tests/servers/test_push.py"),
    ("docs/man/bpfmon-jobs.1", "bpfmon jobs", "needs an agent", "tests/systemd/test_service.py"),
    ("docs/man/bpfmon-serve.1", "bpfmon serve", "serves until it is ended", "tests/e2e/test_web.py"),
    ("docs/man/bpfmon-top.1", "bpfmon top", TERMINAL, "tests/e2e/test_top.py"),
)
# what a document can only give an example of, and what stands for it here
INSTEAD = ((r"--pid 4711\b", "--pid {pid}"), (r"why( --json)? 4711\b", r"why\1 {pid}"), (r"--duration 60\b", "--duration 0.2"), (r"--metrics-udp 8092\b", "--metrics-udp 0"), (r"\"\$GITHUB_STEP_SUMMARY\"", "summary.md"))


def elsewhere(document, command):
    return [row for row in ELSEWHERE if row[0] == document and command.startswith(row[1])]


class Table(NewcomerCase):
    def test_what_is_executed_elsewhere_is_still_documented_and_tested(self):
        there = documented_commands()
        self.assertGreater(len(there), 80)
        for document, beginning, _, where in ELSEWHERE:
            self.assertTrue(any(d == document and c.startswith(beginning) for d, c in there), (document, beginning))
            self.assertTrue((TOP / where).exists(), where)


class Documented(NewcomerCase):
    def setUp(self):
        super().setUp()
        for name in ("bpfmon", "bpfmon-exporter", "bpfmon-push"):
            (self.bin / name).symlink_to(BUILD / name)
        (self.bin / "python3").symlink_to(PYTHON)
        self.sleepers = [self.sleep(), self.sleep(user=NOBODY, group=NOBODY, extra_groups=[])]
        self.template = self.dir / "template"
        self.template.mkdir()
        self.prepare()

    def sleep(self, **popen):
        sleeper = subprocess.Popen(["sleep", "300"], **popen)
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        return sleeper.pid

    def prepare(self):
        """The files that the documents speak of, of one recording."""
        for name in JOBS:
            (self.template / name).write_text(JOB)
            (self.template / name).chmod(0o755)
        (self.template / "Makefile").write_text("all:\n\t@./job.sh\n")
        (self.template / "input.bin").write_text("input\n")
        (self.template / "tools").symlink_to(TOP / "tools")
        run = self.run_bpfmon(["sh", "-c", f"{BPFMON} mark load; {BPFMON} span align -- ./job.sh"], ["--marks", "-q"], cwd=self.template)
        self.assertEqual(run.code, 0, run.stderr)
        for name in ("run", "before", "baseline", "run-1"):
            self.write_run(f"{name}.jsonl", run.lines)
        self.write_run("after.jsonl", run.lines, 1.2)
        (self.template / "runs").mkdir()
        for i in range(8):
            self.write_run(f"runs/{i}.jsonl", run.lines, 1, {"build": ("old", "new")[i % 2]})
        self.fill_stores(run.lines)
        for words in (("csv", "run.csv"), ("csv-spans", "spans.csv"), ("json", "run.json")):
            subprocess.run([BPFMON, "export", "run.jsonl", "-f", words[0], "-o", words[1]], cwd=self.template, check=True)
        subprocess.run([BPFMON, "export", "run.jsonl", "run-1.jsonl", "-f", "csv", "-o", "runs.csv"], cwd=self.template, check=True)

    def write_run(self, path, lines, factor=1, tags=None, name=None, mode="w"):
        """A copy of the run under another UUID."""
        with open(self.template / path, mode, encoding="utf-8") as file:
            for line in lines:
                line = dict(line)
                if line["kind"] == "meta":
                    line |= {"run": str(uuid.uuid4())} | ({"tags": tags} if tags else {}) | ({"name": name} if name else {})
                if "rss_peak_bytes" in line:
                    line["rss_peak_bytes"] = int(line["rss_peak_bytes"] * factor)
                file.write(json.dumps(line) + "\n")

    def fill_stores(self, lines):
        for i in range(RUNS):
            tags = {"threads": str(4 << i % 2), "sample": "A7", "build": ("old", "new")[i % 2]}
            self.write_run("all.jsonl", lines, 1, tags, "build" if i == 0 else "align", "a")
        store = self.template / "state/bpfmon" / f"{os.uname().nodename}.sqlite"
        store.parent.mkdir(parents=True)
        for path in (store, *(self.template / f"{name}.sqlite" for name in ("node1", "node2", "node7"))):
            subprocess.run([BPFMON, "store", "merge", "--store", path, "all.jsonl"], cwd=self.template, check=True, stdout=subprocess.DEVNULL)
        (self.template / "all.jsonl").unlink()

    def check(self, document, command):
        """Executes it in a fresh copy; what begins inside of a run is executed in one."""
        folder = self.home / "work"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(self.home / "state", ignore_errors=True)
        shutil.copytree(self.template, folder, symlinks=True)
        (folder / "state").rename(self.home / "state")
        self.remove_outputs(folder, command)
        self.give(self.home)
        for pattern, text in INSTEAD:
            pid = self.sleepers[not command.startswith("sudo ")]  # without sudo: one's own
            command = re.sub(pattern, text.format(pid=pid), command)
        if re.match("bpfmon (mark|span) ", command):
            (folder / "inside.sh").write_text(command)
            command = "sudo bpfmon --marks -q -- bash -e inside.sh"
        done = self.type(command, folder)
        allowed = (0, 1) if "--fail-if" in command or "bpfmon check" in command else (0,)  # 1: it holds; needs sudo
        self.assertIn(done.returncode, allowed, f"{document}: {command}\n{done.stdout}")
        self.assertNotIn("warning:", done.stdout, command)

    def remove_outputs(self, folder, command):
        """A reader has not made the files yet that the command writes."""
        for name in re.findall(r"(?:-o|--html|>) ?([\w.-]+)", command):
            for path in folder.glob(name if "." in name else f"{name}.*"):
                path.unlink()

    def test_each_command_works(self):
        missing = set()
        commands = [row for row in documented_commands() if not elsewhere(*row)]
        readme = [row for row in commands if row[0] == "README.md"]
        for document, command in [*readme, *sweep.part([row for row in commands if row not in readme], 4)]:
            with self.subTest(document=document, command=command):
                module = re.search(r"import (?:json, )?(pandas|numpy)", command)
                if module and subprocess.run([PYTHON, "-c", f"import {module[1]}"], stderr=subprocess.DEVNULL, check=False).returncode:
                    missing.add(module[1])
                    continue
                self.check(document, command)
        if missing:
            self.skipTest(f"needs {missing}: tools/install-deps.sh notebook")

    def test_the_line_with_jq_holds_though_the_job_prints(self):
        (command,) = [command for document, command in documented_commands() if "&& jq" in command]
        self.check("docs/RUNS.md", command)
        executables = {os.path.basename(line["exe"]) for line in read_lines(self.home / "work/run.jsonl") if line["kind"] == "process"}
        self.assertLessEqual({"head", "tail"}, executables)
