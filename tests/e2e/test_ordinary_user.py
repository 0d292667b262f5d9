# SPDX-License-Identifier: BSD-2-Clause
"""`make check` as an ordinary user: tests that need root."""

import os
import subprocess

from lib.bpfmon import AS_USER, TOP, Case, give_to_user
from lib.permitted import BPF, ROOT, needs

NEEDS = ()
PYTHON = "/usr/bin/python3"  # which an ordinary user can execute, unlike one in the home of root
TESTS = """import unittest
from lib.bpfmon import Case
from lib.permitted import needs

class Of(Case):
    def test_bpf(self): pass
    @needs()
    def test_nothing(self): pass
    @needs()
    def test_what_is_missing(self): self.skipTest("needs a file")

@needs("root")
class Root(unittest.TestCase):
    def test_root(self): pass
"""


class Script(Case):
    def setUp(self):
        super().setUp()
        give_to_user(self.dir)
        self.dir.chmod(0o755)

    def run_script(self, *argv, **env):
        """Exit status, stdout and stderr for an ordinary user without a terminal."""
        done = subprocess.run(argv, **AS_USER, cwd=TOP, env={**os.environ, **env}, stdin=subprocess.DEVNULL, start_new_session=True,
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr


class Runner(Script):
    def setUp(self):
        super().setUp()
        for name in ("test_a.py", "test_b.py"):
            (self.dir / name).write_text(TESTS)

    def run_tests(self, *before, jobs=1):
        """Exit status and the last lines."""
        argv = [*before, PYTHON, TOP / "tests/lib/runner.py", "--jobs", str(jobs), self.dir]
        code, out, err = self.run_script(*argv, PYTHONDONTWRITEBYTECODE="1")
        return code, out.splitlines()[-3:], err

    def test_what_needs_root_is_counted_and_not_run(self):
        for jobs in (1, 2):
            last = ["not run for lack of root: 4", "skipped: needs a file: 2", "2 passed, 0 failed, 2 skipped"]
            self.assertEqual(self.run_tests(jobs=jobs), (0, last, ""))

    @needs(ROOT, BPF)
    def test_root_without_bpf_runs_what_needs_root_only(self):
        rights = "-bpf,-perfmon,-sys_admin"
        argv = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}", PYTHON, TOP / "tests/lib/runner.py", self.dir]
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True)
        last = ["not run for lack of BPF (Operation not permitted): 2", "skipped: needs a file: 2", "4 passed, 0 failed, 2 skipped"]
        self.assertEqual(done.stdout.splitlines()[-3:], last)
