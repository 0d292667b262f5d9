# SPDX-License-Identifier: BSD-2-Clause
"""The steps of the GitHub action, executed as a runner would: with its inputs as variables, and files for what it says."""

import json
import os
import re
import shutil
import subprocess

from lib.bpfmon import BPFMON, TOP, Case, said_by
from lib.spans import run_lines, write_lines

SAMPLED = True
ACTION = TOP / "tools" / "github-action"
BUILDS = "build/bpfmon:\n\tmkdir -p build && ln -s {} $@\n"


def read_action():
    """action.yml, as the distribution's Python reads it."""
    script = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))"
    with open(ACTION / "action.yml", encoding="utf-8") as file:
        return json.loads(said_by("/usr/bin/python3", "-c", script, stdin=file))


class Action(Case):
    def setUp(self):
        super().setUp()
        self.cache = {}
        self.temp = self.dir / "temp"
        self.temp.mkdir()
        self.summary = self.dir / "summary.md"
        self.base = write_lines(self.dir / "base.jsonl", run_lines())

    def fill(self, text, values):
        """Expressions: a value, the first of two that is not empty."""
        first = lambda found: next(filter(None, (values.get(name) for name in found[1].split(" || "))), "")
        return re.sub(r"\$\{\{ (.*?) \}\}", first, text)

    def holds(self, condition, values):
        parts = [re.fullmatch(r"(\S+) == '(.*)'", part) for part in condition.split(" && ")]
        return all(values.get(part[1], "") == part[2] for part in parts)

    def use_cache(self, uses, given):
        """actions/cache: a path is kept under a key, and restored as the last that begins with a restore key."""
        path = self.dir / given["path"]
        if uses == "actions/cache/save@v4":
            self.assertNotIn(given["key"], self.cache)
            self.cache[given["key"]] = path.read_bytes()
            return {}
        self.assertEqual(uses, "actions/cache/restore@v4")
        found = [key for key in self.cache if key.startswith(given["restore-keys"])]
        if not found:
            return {}
        path.write_bytes(self.cache[found[-1]])
        return {"cache-matched-key": found[-1]}

    def act(self, action=ACTION, env=None, github=None, **given):
        """Executes the steps; the exit status of the last one, what each said, and the outputs of the run."""
        described = read_action()
        values = {f"inputs.{name}": given.get(name.replace("-", "_"), row.get("default", "")) for name, row in described["inputs"].items()}
        values |= {"runner.os": "Linux", "github.job": "job", "github.base_ref": ""} | {f"github.{name}": text for name, text in (github or {}).items()}
        said, outputs = "", {}
        for step in described["runs"]["steps"]:
            name = step["id"]
            if "if" in step and not self.holds(step["if"], values):
                continue
            if "uses" in step:
                written = self.use_cache(step["uses"], {key: self.fill(text, values) for key, text in step["with"].items()})
            else:
                code, text, written = self.execute(action, step, values, env)
                said += text
                outputs = written if name == "run" else outputs
                if code:
                    return code, said, outputs
            values |= {f"steps.{name}.outputs.{key}": value for key, value in written.items()}
        return 0, said, outputs

    def execute(self, action, step, values, env):
        written = self.dir / f"output-{step['id']}"
        written.write_text("")
        github = {"GITHUB_ACTION_PATH": str(action), "GITHUB_OUTPUT": str(written), "GITHUB_STEP_SUMMARY": str(self.summary), "RUNNER_TEMP": str(self.temp)}
        environment = {**os.environ, **github, **{key: self.fill(value, values) for key, value in step["env"].items()}, **(env or {})}
        argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(argv, cwd=self.dir, env=environment, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr, dict(line.split("=", 1) for line in written.read_text().splitlines())

    def test_a_command_is_run_and_its_summary_is_on_the_page(self):
        code, said, outputs = self.act(bpfmon=BPFMON, run="echo one\nsleep 0.5\necho two | cat", name="the build", options="-i 0.1 --exact-peak")
        self.assertEqual(code, 0, said)
        self.assertIn("one\ntwo\n", said)
        page = self.summary.read_text()
        self.assertTrue(page.startswith("### `the build`\n"), page)
        self.assertIn("**the command ended with 0", page)
        self.assertRegex(page, r"\n\*\*Memory: .* \([0-9.]+ %\)\*\*\n")
        self.assertEqual(outputs["file"], "bpfmon.jsonl")
        for key in ("wall-seconds", "cpu-seconds", "memory-needed-bytes", "rss-peak-bytes"):
            self.assertGreater(float(outputs[key]), 0, key)

    def test_the_status_is_that_of_the_command(self):
        code, said, outputs = self.act(bpfmon=BPFMON, run="false | cat\ntouch ran")
        self.assertEqual((code, (self.dir / "ran").exists()), (1, False), said)
        self.assertIn("rss-peak-bytes", outputs)
        self.assertIn("**the command ended with 1", self.summary.read_text())

    def test_a_regression_fails_the_step(self):
        given = {"bpfmon": BPFMON, "run": "true", "baseline": self.base}
        code, said, _ = self.act(**given, fail_if="cpu_seconds > +10%\n\nwall_seconds > 1h\n")
        self.assertEqual(code, 0, said)
        self.assertIn("#### Against the baseline", self.summary.read_text())
        code, said, _ = self.act(**given, fail_if="cpu_seconds > +10%\nwall_seconds < 1h\n")
        self.assertEqual(code, 1, said)
        self.assertRegex(self.summary.read_text(), r"\n\| `wall_seconds < 1h` \| \**fail\** \|")

    def test_a_pull_request_is_compared_with_the_last_run_of_its_base_branch(self):
        given = {"bpfmon": BPFMON, "run": "true", "name": "tests", "cache": "true", "fail_if": "wall_seconds < 1h"}
        push = {"ref_name": "main", "run_attempt": "1"}
        code, said, _ = self.act(**given, github={**push, "run_id": "7"})
        self.assertEqual((code, len(self.cache)), (0, 1), said)
        self.assertNotIn("#### Against the baseline", self.summary.read_text())
        pull = {"base_ref": "main", "ref_name": "12/merge", "run_id": "8", "run_attempt": "1"}
        code, said, _ = self.act(**given, github=pull)
        self.assertEqual((code, len(self.cache)), (1, 1), said)
        self.assertIn("#### Against the baseline", self.summary.read_text())
        (kept,) = self.cache.values()
        self.assertEqual((self.temp / "bpfmon-baseline.jsonl").read_bytes(), kept)
        self.assertNotEqual((self.dir / "bpfmon.jsonl").read_bytes(), kept)
        given["fail_if"] = ""
        self.assertEqual(self.act(**given, github={**push, "run_id": "9"})[0], 0)
        self.assertEqual(len(self.cache), 2)
        self.assertEqual(self.act(**given, github={**pull, "base_ref": "other"})[0], 0)

    def test_a_run_that_bpfmon_refuses_has_no_page(self):
        code, said, _ = self.act(bpfmon=BPFMON, run="true", options="--interval 1us")
        self.assertEqual((code, self.summary.exists()), (125, False), said)
        self.assertIn("::error::", said)

    def test_without_bpfmon_it_is_built_of_the_repository(self):
        top, tools = self.dir / "repository", self.dir / "bin"
        shutil.copytree(ACTION, top / "tools" / "github-action")
        (top / "tools" / "install-deps.sh").write_text("#!/bin/sh\necho installed\n")
        (top / "tools" / "install-deps.sh").chmod(0o755)
        (top / "Makefile").write_text(BUILDS.format(BPFMON))
        tools.mkdir()
        for tool in ("bash", "sh", "id", "make", "dirname", "mkdir", "ln", "cat"):
            (tools / tool).symlink_to(shutil.which(tool))
        code, said, _ = self.act(top / "tools" / "github-action", {"PATH": str(tools)}, run="true")
        self.assertEqual(code, 0, said)
        self.assertIn("installed\n", said)
        self.assertIn("bpfmon ", said)
