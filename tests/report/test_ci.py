# SPDX-License-Identifier: BSD-2-Clause
"""What CI systems and others read, by their own schemas: the GitLab template, executed by gitlab-ci-local; action.yml; the SBOM."""

import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

from lib.bpfmon import BPFMON, TOP, read_lines, said_by
from lib.spans import run_lines, write_lines

PACKAGES = pathlib.Path(__file__).resolve().parent / "node_modules"
TEMPLATE = TOP / "share/bpfmon/gitlab/bpfmon.yml"
ACTION = TOP / "tools/github-action/action.yml"
LINT = "{extends: default, rules: {line-length: {max: 180}, document-start: disable, comments: {min-spaces-from-content: 1}, indentation: {indent-sequences: consistent}}}"
PIPELINE = """
include: {{local: bpfmon.yml}}
tests of one:
  extends: .bpfmon
  variables:
{}
"""
VALIDATE = """
import json, sys, jsonschema
folder, document = sys.argv[1:]
load = lambda name: json.load(open(f"{folder}/{name}.SNAPSHOT.schema.json"))
store = {f"http://cyclonedx.org/schema/{name}.SNAPSHOT.schema.json": load(name) for name in ("spdx", "jsf-0.82")}
schema = load("bom-1.5")
found = jsonschema.Draft7Validator(schema, resolver=jsonschema.RefResolver(schema["$id"], schema, store)).iter_errors(json.load(open(document)))
print(*(error.message for error in found), sep="\\n")
"""


class Api(http.server.BaseHTTPRequestHandler):
    """The API of GitLab: artifacts of the last successful job of a branch."""

    artifacts = {}
    asked = []

    def do_GET(self):
        type(self).asked.append((self.path, self.headers["JOB-TOKEN"]))
        body = self.artifacts.get(self.path)
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        pass


class GitLab(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="bpfmon-gitlab-")))
        self.base = write_lines(self.dir / "base.jsonl", run_lines())
        self.project = self.dir / "project"
        self.project.mkdir()
        shutil.copy2(TEMPLATE, self.project)
        self.bin = self.dir / "bin"
        self.bin.mkdir()

    def start(self, given=(), **variables):
        """Executes the job; its exit status and what it printed."""
        lines = "".join(f"    {name}: {json.dumps(text)}\n" for name, text in variables.items())
        (self.project / ".gitlab-ci.yml").write_text(PIPELINE.format(lines))
        git = ["git", "-C", self.project, "-c", "user.name=n", "-c", "user.email=e"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one", "--allow-empty"], ["config", "remote.origin.url", "git@gitlab.com:group/project.git"]):
            subprocess.run([*git, *words], check=True, stderr=subprocess.DEVNULL)
        words = [word for name, text in dict(given).items() for word in ("--variable", f"{name}={text}")]
        argv = ["node", PACKAGES / "gitlab-ci-local/src/index.js", *words, "tests of one"]
        env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.dir)}
        done = subprocess.run(argv, cwd=self.project, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        return done.returncode, done.stdout

    def test_a_job_has_summary_page_and_values(self):
        (self.bin / "bpfmon").symlink_to(BPFMON)
        code, said = self.start(MONITOR_RUN="echo one\necho two | cat", MONITOR_OPTIONS="-i 0.1")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"(?s)> one\n.*> two\n")
        page = (self.project / "bpfmon.md").read_text()
        self.assertTrue(page.startswith("### `tests of one`\n"), page)
        self.assertRegex(page, r"\*\*Memory: (up to |at least )?[0-9.]+ MiB of the (machine's|limit,) [0-9.]+ [GT]iB \([0-9.]+ %\)\*\*")
        self.assertIn("<html", (self.project / "bpfmon.html").read_text())
        (summary,) = [line for line in read_lines(self.project / "bpfmon.jsonl") if line["kind"] == "summary"]
        values = dict(line.split() for line in (self.project / "bpfmon-metrics.txt").read_text().splitlines())
        self.assertEqual(float(values["bpfmon_cpu_seconds"]), summary["cpu_seconds"])
        self.assertEqual(int(values["bpfmon_processes_total"]), summary["processes_total"])

    def test_the_status_is_that_of_the_command(self):
        (self.bin / "bpfmon").symlink_to(BPFMON)
        code, said = self.start(MONITOR_RUN="false | cat\ntouch ran")
        self.assertEqual((code, (self.project / "ran").exists()), (1, False), said)
        self.assertIn("**the command ended with 1", (self.project / "bpfmon.md").read_text())

    def test_it_is_compared_with_the_target_branch(self):
        (self.bin / "bpfmon").symlink_to(BPFMON)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        given = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "release/1", "CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}/api", "CI_PROJECT_ID": "77", "CI_JOB_TOKEN": "secret"}
        gates = "cpu_seconds > +10%\nwall_seconds < 1h"
        code, said = self.start(given, MONITOR_RUN="true", MONITOR_FAIL_IF=gates)
        self.assertEqual(code, 0, said)
        self.assertIn("no run of tests of one on release/1", said)
        (asked,) = Api.asked
        self.assertEqual(asked[1], "secret")
        self.assertRegex(asked[0], r"^/api/projects/77/jobs/artifacts/release%2F1/raw/bpfmon\.jsonl\?job=tests(\+|%20)of(\+|%20)one$")
        Api.artifacts[asked[0]] = pathlib.Path(self.base).read_bytes()
        code, said = self.start(given, MONITOR_RUN="true", MONITOR_FAIL_IF=gates)
        self.assertEqual(code, 1, said)
        self.assertIn("failed: wall_seconds", said)
        self.assertRegex((self.project / "bpfmon.md").read_text(), r"(?s)#### Against the baseline\n.*\n\| `wall_seconds < 1h` \| \**fail\** \|")

    def test_the_static_tarball_is_fetched_where_there_is_no_program(self):
        (self.dir / "top/bin").mkdir(parents=True)
        (self.dir / "top/bin/bpfmon").symlink_to(BPFMON)
        subprocess.run(["tar", "-czf", self.dir / "static.tar.gz", "-C", self.dir, "top"], check=True)
        code, said = self.start(MONITOR_RUN="true", MONITOR_PROGRAM="no-such-bpfmon", MONITOR_URL=f"file://{self.dir}/static.tar.gz")
        self.assertEqual(code, 0, said)
        self.assertTrue((self.project / "bpfmon.jsonl").exists())


class Schemas(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="bpfmon-schemas-")))

    def validate_action(self, text):
        (self.dir / "action.yml").write_text(text)
        done = subprocess.run([PACKAGES / ".bin/action-validator", self.dir / "action.yml"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def test_the_action_is_valid(self):
        text = ACTION.read_text()
        self.assertEqual(self.validate_action(text), (0, ""))
        self.assertEqual(self.validate_action(text.replace("- id: run\n", "- identity: run\n"))[0], 1)

    def test_yaml_is_regular(self):
        said_by("yamllint", "--strict", "-d", LINT, ACTION, TEMPLATE)

    def validate_sbom(self, text):
        (self.dir / "sbom.json").write_text(text)
        schemas = PACKAGES / "@cyclonedx/cyclonedx-library/res/schema"
        return said_by("/usr/bin/python3", "-W", "ignore", "-c", VALIDATE, schemas, self.dir / "sbom.json")

    def test_the_sbom_is_valid(self):
        text = said_by(TOP / "tools/gen-sbom.py")
        self.assertEqual(self.validate_sbom(text), "")
        self.assertIn("Mit", self.validate_sbom(text.replace('"MIT"', '"Mit"')))
        for component in json.loads(text)["components"]:
            self.assertTrue(re.match(r"\d", component["version"]) and component["licenses"], component)
