# SPDX-License-Identifier: BSD-2-Clause
"""The steps of the GitHub action, executed as a runner would: with its inputs as variables, and files for what it says."""

import os
import re
import shutil
import subprocess

from lib.bpfmon import BPFMON, TOP, Case
from lib.spans import run_lines, write_lines

SAMPLED = True
ACTION = TOP / "tools" / "github-action"
BUILDS = "build/bpfmon:\n\tmkdir -p build && ln -s {} $@\n"


def inputs_and_steps(text):
    """The default of each input; of each step its id, variables and command. Of YAML it knows what action.yml has."""
    head, _, runs = text.partition("\nruns:\n")
    inputs = dict(re.findall(r'^  ([\w-]+):\n(?:    (?:description|required): .*\n)+?(?:    default: "?([^"\n]*)"?\n|(?=  \w|outputs:))', head, re.M))
    steps = []
    for part in re.split(r"^    - ", runs, flags=re.M)[1:]:
        (name,) = re.findall(r"^id: (\w+)", part)
        (run,) = re.findall(r"^      run: '(.*)'$", part, re.M)
        steps.append((name, dict(re.findall(r"^        (\w+): (.*)$", part, re.M)), run))
    return inputs, steps


class Action(Case):
    def setUp(self):
        super().setUp()
        self.text = (ACTION / "action.yml").read_text()
        self.summary = self.dir / "summary.md"
        self.base = write_lines(self.dir / "base.jsonl", run_lines())

    def act(self, action=ACTION, env=None, **given):
        """Executes the steps; the exit status of the last one, what each said, and the outputs."""
        inputs, steps = inputs_and_steps(self.text)
        values = {f"inputs.{name}": given.get(name.replace("-", "_"), default) for name, default in inputs.items()}
        said = ""
        for step, variables, run in steps:
            written = self.dir / f"output-{step}"
            written.write_text("")
            fill = lambda text: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: values.get(found.group(1), ""), text)
            github = {"GITHUB_ACTION_PATH": str(action), "GITHUB_OUTPUT": str(written), "GITHUB_STEP_SUMMARY": str(self.summary)}
            environment = {**os.environ, **github, **{key: fill(value) for key, value in variables.items()}, **(env or {})}
            argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", run]
            done = subprocess.run(argv, cwd=self.dir, env=environment, capture_output=True, text=True, timeout=120, check=False)
            said += done.stdout + done.stderr
            outputs = dict(line.split("=", 1) for line in written.read_text().splitlines())
            values |= {f"steps.{step}.outputs.{key}": value for key, value in outputs.items()}
            if done.returncode:
                break
        return done.returncode, said, outputs

    def test_a_command_is_run_and_its_summary_is_on_the_page(self):
        code, said, outputs = self.act(bpfmon=BPFMON, run="echo one\necho two | cat", name="the build", options="-i 0.1 --exact-peak")
        self.assertEqual(code, 0, said)
        self.assertIn("one\ntwo\n", said)
        page = self.summary.read_text()
        self.assertTrue(page.startswith("### `the build`\n"), page)
        self.assertIn("**the command ended with 0", page)
        self.assertEqual(outputs["file"], "bpfmon.jsonl")
        for key in ("wall-seconds", "cpu-seconds", "rss-peak-bytes"):
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
