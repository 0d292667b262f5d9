# SPDX-License-Identifier: BSD-2-Clause
"""Programs that import the Python package bpfmon, in a run and outside of one."""

import os
import subprocess
import unittest

from lib.bpfmon import BPFMON, TOP
from lib.store import StoreCase

FOLDER = TOP / "tools" / "python"
PYTHON = os.environ.get("PACKAGE_PYTHON", "/usr/bin/python3")  # it uses the distribution's packages


def needs(module):
    """A test is skipped where that Python has not the module."""
    there = subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0
    return unittest.skipUnless(there, f"wants {module} of Python: tools/install-deps.sh python")


class PackageCase(StoreCase):
    """What is executed finds the package, this build of bpfmon, and the store of the test."""

    def environment(self, path=FOLDER):
        kept = {key: value for key, value in os.environ.items() if key not in ("BPFMON_NO_STORE", "BPFMON_SPAN_SOCKET", "BPFMON_MARK_SOCKET")}
        own = {"PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "error", "BPFMON_PROGRAM": BPFMON, "BPFMON_STORE": str(self.store)}
        return kept | own | {"HOME": str(self.dir), "PYTEST_ADDOPTS": "-p no:cacheprovider"}

    def outside(self, script, *words, **kwargs):
        return self.python([PYTHON, "-c", script, *words], **kwargs)

    def python(self, argv, path=FOLDER, **kwargs):
        """The output of a program that is in no run."""
        return subprocess.run(argv, env=self.environment(path), cwd=self.dir, capture_output=True, text=True, timeout=120, check=False, **kwargs)

    def within(self, script, *options, path=FOLDER):
        """A run of that script, which must succeed."""
        run = self.run_bpfmon([PYTHON, "-c", script], ["-q", "--no-store", *options], env=self.environment(path), cwd=self.dir)
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        return run

    def spans(self, run):
        """By name, of which each has one; how deep each is among them does not matter."""
        found = {span["name"]: span for span in run.kind("span")}
        self.assertEqual(len(found), len(run.kind("span")))
        return found
