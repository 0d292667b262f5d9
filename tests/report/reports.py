# SPDX-License-Identifier: BSD-2-Clause
"""Makes reports of runs and opens them in headless Chromium."""

import json
import os
import pathlib
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


class ReportCase(unittest.TestCase):
    """A test with a folder of its own; PICTURES outlives it."""

    def setUp(self):
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
        done = self.bpfmon(source, "-o", out, "--force")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return out

    def look(self, page, *steps):
        """Opens @page and takes the steps of look.mjs."""
        done = subprocess.run(
            ["node", str(HERE / "look.mjs"), str(page)],
            input=json.dumps([{"do": name, **what} for name, what in steps]),
            env={**os.environ, "HOME": str(self.dir)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=180,
            check=False,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return Seen(json.loads(done.stdout))

    def look_quietly(self, page, *steps):
        """The same; the results. Nothing may be complained of, and nothing fetched."""
        seen = self.look(page, *steps)
        self.assertEqual(seen.problems, [])
        self.assertEqual(seen.requests, [])
        return seen.results
