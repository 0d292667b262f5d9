# SPDX-License-Identifier: BSD-2-Clause
"""Runs bpfmon on a program with a known truth and reads its output."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from lib.permitted import BPF, ROOT

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build")).resolve()
BPFMON = str(BUILD / "bpfmon")
MAP_BYTES_LEFT_SECONDS = 10
NOT_PERMITTED = "not permitted here: "  # the runner counts such a test as passed
NOBODY = 65534
# what a process is started with to be one of an ordinary user: the one that runs the tests, or nobody
AS_USER = {} if os.geteuid() else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
TRUTH_SKIP = 77  # the exit status of a truth program that the machine lacks something for
# the stores of the user who runs the tests are neither written nor read
os.environ["BPFMON_NO_STORE"] = "1"
os.environ["BPFMON_NO_CONFIG"] = "1"  # nor their files of options
os.environ["PAGER"] = "cat"  # on the terminals of tests nobody reads
for name in ("SUDO_UID", "SUDO_GID", "SUDO_USER"):  # tests run as root, also under sudo make check
    os.environ.pop(name, None)
os.environ["XDG_STATE_HOME"] = str(BUILD / "no-state")
# a test that clears the environment runs this, else its runs would be in the user's store
QUIET = [BPFMON, "-q", "--no-store"]


def truth(name):
    """The path of a truth program."""
    return str(BUILD / "truth" / name)


def with_state_in(folder):
    """Words before a command: for it and its children the stores in the home directory of root are in this folder."""
    script = 'mkdir -p "$1" && mount --bind "$0" "$1" && shift && exec "$@"'
    return ["unshare", "-m", "sh", "-c", script, str(folder), os.path.expanduser("~root/.local/state")]


def give_to_user(path):
    """The file or folder becomes that of the ordinary user."""
    if AS_USER:
        os.chown(path, NOBODY, NOBODY)


def said_by(*argv, **popen):
    """The output of another program, which must succeed, in English."""
    env = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True, env=env, **popen).stdout.strip()


class Run:
    """The results of a run: exit status, texts, and the lines of its output."""

    def __init__(self, code, stdout, stderr, lines, witness):
        self.code = code
        self.stdout = stdout
        self.stderr = stderr
        self.lines = lines
        self.witness = witness  # what the truth program reported, or None

    def kind(self, kind):
        return [line for line in self.lines if line["kind"] == kind]

    @property
    def meta(self):
        (line,) = self.kind("meta")
        return line

    @property
    def summary(self):
        (line,) = self.kind("summary")
        return line

    @property
    def samples(self):
        return self.kind("sample")

    @property
    def processes(self):
        return self.kind("process")


def read_lines(path):
    """The JSON lines of a file; a line that was cut off is left out."""
    whole, _, _ = pathlib.Path(path).read_bytes().rpartition(b"\n")  # one read: it may be growing
    return [json.loads(line) for line in whole.split(b"\n")] if whole else []


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    needs_usually = (ROOT, BPF)  # lib/permitted.py

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def run_bpfmon(self, command, options=(), env=None, before=(), **kwargs):
        """Runs bpfmon with -o into the test's folder, by the program @before; TRUTH_OUT is set for the command."""
        out = self.dir / f"run-{time.monotonic_ns()}.jsonl"
        said = self.dir / f"witness-{time.monotonic_ns()}.json"
        environment = {**os.environ, "TRUTH_OUT": str(said), **(env or {})}
        done = subprocess.run(
            [*before, BPFMON, "-o", str(out), *options, "--", *command],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=kwargs.pop("timeout", 120),
            check=False,
            **kwargs,
        )
        lines = read_lines(out) if out.exists() else []
        witness = json.loads(said.read_text()) if said.exists() else None
        return Run(done.returncode, done.stdout, done.stderr.decode(errors="replace"), lines, witness)

    def run_witnessed(self, command, options=(), **kwargs):
        """The same with `witness` as the direct parent of the command: wait4's rusage."""
        out = self.dir / f"wait4-{time.monotonic_ns()}.json"
        run = self.run_bpfmon([truth("witness"), str(out), *command], options, **kwargs)
        run.wait4 = json.loads(out.read_text()) if out.exists() else None
        return run

    def needs_programs(self, kind):
        """Ends the test, as passed, if `bpfmon check` reports that the kernel refuses BPF programs of this type."""
        rows = map(json.loads, said_by(BPFMON, "check", "--json").splitlines())
        (row,) = [row for row in rows if row["name"] == f"programs of type {kind}"]
        if not row["available"]:
            self.skipTest(NOT_PERMITTED + row["reason"])

    def skip_if_lacking(self, run):
        """Skips the test if its truth program needs what the machine lacks: the program has printed what that is."""
        if run.code == TRUTH_SKIP:
            self.skipTest(re.search(r"^truth: (.*)", run.stderr, re.M)[1])

    def assert_complete(self, run):
        self.assertTrue(run.summary["complete"], run.summary)
        self.assertEqual(run.summary["losses"], {})


@contextlib.contextmanager
def cgroup(controller="cpuacct"):
    """A cgroup (v1) for the test, removed at the end."""
    path = pathlib.Path("/sys/fs/cgroup") / controller / f"bpfmon-test-{os.getpid()}-{time.monotonic_ns()}"
    path.mkdir()
    try:
        yield path
    finally:
        for _ in range(100):
            try:
                path.rmdir()
                break
            except OSError:
                time.sleep(0.05)
