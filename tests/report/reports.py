# SPDX-License-Identifier: BSD-2-Clause
"""Makes reports of runs and opens them in headless Chromium."""

import atexit
import functools
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import unittest

from lib.bpfmon import BPFMON, BUILD

import synthetic

HERE = pathlib.Path(__file__).resolve().parent
PICTURES = BUILD / "report"  # kept, to be looked at


class Seen:
    """What the browser saw: `results` has one entry for each step."""

    def __init__(self, said):
        self.open_ms = said["open_ms"]
        self.problems = said["problems"]
        self.requests = said["requests"]
        self.results = said["results"]


class Browser:
    """One browser for all tests: it takes longer to start than a page to open. It ends with us."""

    def __init__(self):
        self.home = tempfile.TemporaryDirectory(prefix="bpfmon-browser-")
        self.node = subprocess.Popen(
            ["node", str(HERE / "look.mjs")],
            env={**os.environ, "HOME": self.home.name},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self.end)

    def look(self, what):
        self.node.stdin.write(json.dumps(what) + "\n")
        self.node.stdin.flush()
        if not select.select([self.node.stdout], [], [], 180)[0]:
            raise TimeoutError("the browser does not answer")
        return json.loads(self.node.stdout.readline() or '{"error": "the browser has ended"}')

    def end(self):
        self.node.stdin.close()
        try:
            self.node.wait(30)
        except subprocess.TimeoutExpired:
            self.node.kill()
        self.home.cleanup()


@functools.cache
def browser():
    return Browser()


class ReportCase(unittest.TestCase):
    """A test with a folder of its own; PICTURES outlives it."""

    def setUp(self):
        super().setUp()
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-report-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        PICTURES.mkdir(parents=True, exist_ok=True)

    def bpfmon(self, *words, **kwargs):
        """`bpfmon report` with these words, in our folder."""
        return subprocess.run(
            [BPFMON, "report", *map(str, words)],
            cwd=self.dir,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
            **kwargs,
        )

    def report(self, run, ending="html"):
        """The report of these lines (objects); its path."""
        source, out = self.dir / "run.jsonl", self.dir / f"run.{ending}"
        synthetic.write(source, run)
        done = self.bpfmon(source, "-o", out, "--force", "-q")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return out

    def look(self, page, *steps):
        """Opens @page and takes the steps of look.mjs."""
        said = browser().look({"page": str(page), "steps": [{"do": name, **what} for name, what in steps]})
        self.assertNotIn("error", said, said.get("error"))
        return Seen(said)

    def look_quietly(self, page, *steps):
        """The same; the results. Nothing may be complained of, and nothing fetched."""
        seen = self.look(page, *steps)
        self.assertEqual(seen.problems, [])
        self.assertEqual(seen.requests, [])
        return seen.results
