# SPDX-License-Identifier: BSD-2-Clause
"""Exports of runs, and the run's own lines to compare them with."""

import subprocess

from lib.account import metric_kinds
from lib.bpfmon import BPFMON, TOP, Case, read_lines

PUSHED = TOP / "tests" / "data" / "export" / "pushed.jsonl"
SPANS = TOP / "tests" / "data" / "export" / "spans.jsonl"
HOSTILE = TOP / "tests" / "data" / "export" / "hostile.jsonl"
WORK = "for i in 1 2 3; do true | /bin/true; done; sleep 0.25; head -c 9000000 /dev/zero | tail -c 8000000 >/dev/null; exit 3"


class ExportCase(Case):
    """A run, and its export in another format."""

    def record(self, *options):
        """A run of several processes, and its lines."""
        path = self.dir / "run.jsonl"
        argv = [BPFMON, "-q", "-i", "0.05", *options, "-o", str(path), "--", "sh", "-c", WORK]
        self.assertEqual(subprocess.run(argv, timeout=60, check=False).returncode, 3)
        return path, read_lines(path)

    def export(self, run, form, *more):
        done = subprocess.run([BPFMON, "export", str(run), *map(str, more), "-f", form], capture_output=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def export_base(self, run, base):
        """prmon's two files."""
        argv = [BPFMON, "export", str(run), "-f", "prmon", "-o", str(base)]
        self.assertEqual(subprocess.run(argv, timeout=60, check=False).returncode, 0)


def kind(lines, name):
    return [line for line in lines if line["kind"] == name]


def metrics_of(line):
    """The metrics of a line, by key."""
    return {key: line[key] for key in metric_kinds() if key in line}
