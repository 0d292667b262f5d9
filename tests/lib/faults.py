# SPDX-License-Identifier: BSD-2-Clause
"""Runs of bpfmon in which one call fails: the N-th allocation or system call of one of its processes."""

import dataclasses
import os
import pathlib
import shutil
import subprocess

from lib import sweep
from lib.bpfmon import BPFMON, BUILD

LIBRARY = str(BUILD / "faults" / "faults.so")
PATIENCE = 30  # seconds until a run counts as hanging
LAUNCHER, COMMAND, RECORDER, COLLECTOR = range(4)  # by the order of forks


def each_call(step, offset=0):
    """The calls to fail: the first 300, or a random one in `step` of them, which changes with the offset."""
    return sweep.part(range(1, 301), step, offset)


@dataclasses.dataclass
class Outcome:
    code: int | None  # None: it hung
    stdout: bytes
    stderr: bytes
    files: dict  # files left in its folder: contents by name
    has_failed: bool = False  # the call was reached, and failed
    pid: int = 0

    def same(self, other):
        return (self.code, self.stdout, self.stderr, self.files) == (other.code, other.stdout, other.stderr, other.files)


class Faulty:
    """A command line that is run repeatedly, each time in a fresh folder with the same files."""

    def __init__(self, folder, words, files=(), env=None, stdin=None):
        self.folder, self.words, self.files, self.stdin = pathlib.Path(folder) / "run", [str(word) for word in words], files, stdin
        self.environment = {**os.environ, **(env or {})}
        self.report = pathlib.Path(folder) / "report"

    def run(self, fault=None, at=1, process=LAUNCHER, error=12, number=1, **popen):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for file in self.files:
            shutil.copy(file, self.folder)
        self.report.write_text("")
        self.report.chmod(0o666)
        environment = dict(self.environment)
        if fault:
            environment |= {
                "LD_PRELOAD": LIBRARY, "FAULT": fault, "FAULT_AT": str(at), "FAULT_PROCESS": str(process),
                "FAULT_ERROR": str(error), "FAULT_NUMBER": str(number), "FAULT_REPORT": str(self.report),
            }  # fmt: skip
        return self.finish(environment, popen)

    def finish(self, environment, popen):
        with open(self.stdin or os.devnull, "rb") as stdin, open(self.folder.parent / "stdout", "w+b") as out:
            argv = [*popen.pop("before", []), BPFMON, *self.words]
            with subprocess.Popen(argv, cwd=self.folder, env=environment, stdin=stdin, stdout=out, stderr=subprocess.PIPE, **popen) as process:
                try:
                    _, stderr = process.communicate(timeout=PATIENCE)
                    code = process.returncode
                except subprocess.TimeoutExpired:
                    process.kill()
                    stderr, code = process.communicate()[1], None
            out.seek(0)
            stdout = out.read()
        files = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        return Outcome(code, stdout, stderr, files, bool(self.report.read_text()), process.pid)
