# SPDX-License-Identifier: BSD-2-Clause
"""Runs that accept marks, and their lines for these."""

import sys

from lib.bpfmon import BPFMON
from lib.live import LiveCase, wait_for

SENDER = """
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(os.environ["BPFMON_MARK_SOCKET"])
"""
SILENT = {"dropped": 0, "refused": 0, "malformed": 0}


def python(code, *words):
    """A Python command that has the socket as `s`."""
    return [sys.executable, "-c", SENDER + code, *map(str, words)]


def texts(run):
    return [line["text"] for line in marks(run)]


def marks(run):
    """In the order in which they were sent."""
    found = [line for line in run.kind("event") if line["event"] == "mark"]
    return sorted(found, key=lambda line: line["elapsed_seconds"])


class MarksCase(LiveCase):
    def run_marks(self, command, options=(), **kwargs):
        return self.run_bpfmon(command, ["--marks", *options], **kwargs)

    def shell(self, script, options=(), **kwargs):
        """A shell script, in which "$0" is bpfmon."""
        return self.run_marks(["bash", "-c", script, BPFMON], options, **kwargs)

    def assert_pushed(self, run, marks=0, metrics=0, **others):
        self.assertTrue(run.summary["complete"], run.summary)
        self.assert_kept(run, marks, metrics, **others)

    def assert_kept(self, run, marks=0, metrics=0, **others):
        """The counts of what was pushed; the account may be incomplete."""
        self.assertEqual(run.summary["pushed"], {"marks": marks, "metrics": metrics, **SILENT, **others})
        self.assertEqual(len(globals()["marks"](run)), marks)
        self.assertEqual(len(run.kind("metric")), metrics)

    def live_marks(self, script, options=(), **popen):
        """A shell script in the background; returns the path of its socket once it has begun."""
        path_file = self.dir / "socket"
        begin = f'echo "$BPFMON_MARK_SOCKET" >"{path_file}.new"; mv "{path_file}.new" "{path_file}"; '
        live = self.live(["bash", "-c", begin + script, BPFMON], ["--marks", *options], **popen)
        wait_for(path_file.exists, "the start of the command")
        return live, path_file.read_text().strip()
