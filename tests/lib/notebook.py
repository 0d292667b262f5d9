# SPDX-License-Identifier: BSD-2-Clause
"""Executes the notebook on a store and returns its results."""

import atexit
import json
import os
import subprocess
import tempfile
import unittest

from lib import manyruns
from lib.bpfmon import BUILD, TOP
from lib.store import StoreCase

NOTEBOOK = TOP / "tools" / "notebook" / "bpfmon.ipynb"
PYTHON = os.environ.get("NOTEBOOK_PYTHON", "/usr/bin/python3")  # it uses the distribution's packages
NEEDED = "import ipykernel, matplotlib, nbclient, pandas"
FIGURES = {"curves": 4, "outcomes": 3, "scatter": 1, "request": 1, "typical": 2, "by_tag": 2, "kinds": 1}  # and their axes


class Result:
    def __init__(self, said):
        self.answers, self.images = said["answers"], said["images"]
        self.printed, self.warned, self.error = said["printed"], said["warned"], said["error"]


class Executor:
    """execute.py, which waits for executions; without the user's own settings."""

    running = None  # the one for all tests, unless it has failed

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="bpfmon-test-")
        self.said = tempfile.TemporaryFile("w+")
        environment = os.environ | {key: self.folder.name for key in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")}
        environment["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
        command = [PYTHON, TOP / "tests" / "notebook" / "execute.py", NOTEBOOK]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, env=environment, text=True)
        atexit.register(self.end)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()

    def ask(self, questions):
        self.process.stdin.write(json.dumps(questions) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            Executor.running = None
            self.said.seek(0)
            raise AssertionError(self.said.read())
        return json.loads(answer)


class NotebookCase(StoreCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if subprocess.run([PYTHON, "-c", NEEDED], capture_output=True, check=False).returncode:
            raise unittest.SkipTest("needs pandas and matplotlib: tools/install-deps.sh notebook")

    def merge(self, made, name="made.jsonl"):
        manyruns.write(self.dir / name, made)
        done = self.bpfmon("store", "merge", self.dir / name)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def execute(self, ask=None, parameters="", env=None):
        """Executed for runs of all names, with a folder for its figures, which stays."""
        folder = BUILD / "notebook" / self.id()
        folder.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "BPFMON_STORE": str(self.store), **(env or {})}
        if not Executor.running:
            Executor.running = Executor()
        return Result(Executor.running.ask({"ask": ask or {}, "parameters": f"NAME = '*'\n{parameters}", "folder": str(folder), "environment": environment}))

    def succeed(self, *args, **kwargs):
        """Executes it completely, without a warning and with all figures."""
        result = self.execute(*args, **kwargs)
        self.assertEqual((result.error, result.warned), ("", ""))
        self.assertEqual(len(result.images), len(FIGURES))
        self.assertTrue(all(image["shades"] > 20 for image in result.images), result.images)
        return result

    def stop(self, *words, images=0, **kwargs):
        """Executes it up to a cell that fails with one line."""
        result = self.execute(**kwargs)
        self.assertEqual((result.error.count("\n"), result.warned), (0, ""), result.error)
        for word in words:
            self.assertIn(str(word), result.error)
        self.assertEqual(len(result.images), images)

    def assert_close(self, found, expected):
        """Two lists of numbers, to all but their last digits."""
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            self.assertAlmostEqual(a, b, delta=1e-9 * max(abs(b), 1e-3))


def quantile(values, share):
    """Between the two values that are next to it, in proportion."""
    values = sorted(values)
    at = share * (len(values) - 1)
    low = values[int(at)]
    return low + (values[min(int(at) + 1, len(values) - 1)] - low) * (at - int(at))


def median(values):
    return quantile(values, 0.5)


def stepped(run, key, steps, fold):
    """A run as that many values: of each step what `fold` makes of the values of its samples, and of the time
    that passed before each; straight lines between."""
    wall = run.summary["wall_seconds"]
    found, before = {}, 0
    for sample in run.samples:
        elapsed = sample["elapsed_seconds"]
        if key in sample:
            found.setdefault(min(int(elapsed * steps / wall), steps - 1), []).append((sample[key], elapsed - before))
        before = elapsed
    known = {step: fold(*zip(*pairs)) for step, pairs in found.items()}
    return [between(known, step) for step in range(steps)]


def between(known, step):
    before, after = max((s for s in known if s <= step), default=None), min((s for s in known if s >= step), default=None)
    if before is None or after is None:
        return known[after if before is None else before]
    return known[before] + (known[after] - known[before]) * (step - before) / max(after - before, 1)
