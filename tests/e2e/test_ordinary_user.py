# SPDX-License-Identifier: BSD-2-Clause
"""`make run` and `make check` as an ordinary user: missing packages, a build of root's, tests that need root."""

import os
import shutil
import subprocess

from lib.bpfmon import AS_USER, TOP, Case, give_to_user
from lib.permitted import BPF, ROOT, needs

SAMPLED = True
NEEDS = ()
PYTHON = "/usr/bin/python3"  # which an ordinary user can execute, unlike one in the home of root
DPKG_QUERY = """#!/bin/sh
for package; do :; done
case " $MISSING " in *" $package "*) exit 1 ;; esac
echo install ok installed
"""
SUDO = '#!/bin/sh\necho "$*" >>"$CALLS"\nexit $SUDO_STATUS\n'
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


class Packages(Script):
    def setUp(self):
        super().setUp()
        self.calls = self.dir / "calls"
        self.bin = self.dir / "bin"
        self.bin.mkdir()
        self.write_program("dpkg-query", DPKG_QUERY)
        for name in ("id", "grep"):
            (self.bin / name).symlink_to(shutil.which(name))

    def write_program(self, name, text):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def install(self, missing, sudo_status=None):
        """Exit status, what is said, and the calls of sudo; None: there is no sudo."""
        if sudo_status is not None:
            self.write_program("sudo", SUDO)
        env = {"PATH": str(self.bin), "MISSING": missing, "CALLS": str(self.calls), "SUDO_STATUS": str(sudo_status)}
        code, _, said = self.run_script(TOP / "tools/install-deps.sh", **env)
        return code, said, self.calls.read_text() if self.calls.exists() else ""

    def test_where_none_is_missing_nothing_is_called(self):
        self.assertEqual(self.install("", 0), (0, "", ""))

    def test_sudo_is_called_for_those_that_are_missing_and_asks_nobody(self):
        said = "calling sudo to install missing packages: libelf-dev shellcheck\n"
        calls = f"-n -- {TOP}/tools/install-deps.sh --packages libelf-dev shellcheck\n"
        self.assertEqual(self.install("shellcheck libelf-dev", 0), (0, said, calls))

    def test_without_sudo_they_are_named(self):
        code, said, _ = self.install("libelf-dev shellcheck")
        self.assertEqual(code, 1)
        self.assertRegex(said, "^missing packages: libelf-dev shellcheck; .*: as root, apt-get install libelf-dev shellcheck\n$")

    def test_where_sudo_is_refused_they_are_named(self):
        code, said, _ = self.install("libelf-dev", 1)
        self.assertEqual(code, 1)
        self.assertIn("\nmissing packages: libelf-dev; neither root nor sudo could install them", said)

    def test_what_only_lint_uses_stops_nothing(self):
        code, said, _ = self.install("shellcheck")
        self.assertEqual(code, 0)
        self.assertIn("missing packages: shellcheck;", said)
        self.assertIn("going on without them", said)


class Builds(Script):
    def test_files_of_another_user_are_named_with_what_to_do(self):
        file = self.dir / "bpfmon"
        file.touch(mode=0o444)
        code, _, said = self.run_script(TOP / "tools/explain-build.sh", self.dir)
        self.assertEqual(code, 0)
        self.assertIn(f"{file} belongs to", said)
        self.assertIn(f" {self.dir}, or mv {self.dir} {self.dir}.old\n", said)

    def test_of_ones_own_nothing_is_said(self):
        self.assertEqual(self.run_script(TOP / "tools/explain-build.sh", self.dir), (0, "", ""))
        self.assertEqual(self.run_script(TOP / "tools/explain-build.sh", self.dir / "none"), (0, "", ""))


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
