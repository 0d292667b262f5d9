# SPDX-License-Identifier: BSD-2-Clause
"""Spans of runs that were recorded: kept, found, shown. The runs are written by hand, so that each number is known."""

import contextlib
import json
import sqlite3

from lib.spans import process, run_lines, span, write_lines, write_run_with_spans
from lib.store import CommandCase

# two of the same name beside each other, one below one of them; lines in the order in which spans end
LINES = (
    span(3, "cc", 2, begins=1, wall=0.5, cpu_seconds=0.25, processes_total=2),
    process(7, 3),
    span(2, "build", begins=0.5, wall=4, cpu_seconds=3, read_bytes=4096, processes_total=3),
    span(4, "build", begins=1, wall=2, cpu_seconds=1.5, code=3, tags={"target": "a.o"}),
    process(8),
)


def spans_of(lines):
    return [line for line in lines if line["kind"] == "span"]


class Stored(CommandCase):
    def exported(self):
        done = self.bpfmon("export", "1", "-f", "jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_lines_of_spans_come_back_as_they_were_written(self):
        self.store_does("merge", write_run_with_spans(self.dir / "run.jsonl", *LINES))
        lines = self.exported()
        self.assertEqual(spans_of(lines), spans_of(LINES))
        self.assertEqual([(p["pid"], p.get("span")) for p in lines if p["kind"] == "process"], [(7, 3), (8, None)])

    def test_sql_has_their_values_and_the_processes_in_them(self):
        self.store_does("merge", write_run_with_spans(self.dir / "run.jsonl", *LINES))
        columns = "id, parent, name, json_extract(tags, '$.target'), wall_seconds, cpu_seconds, processes, exit_code, rss_peak_upper_bytes"
        found = self.ask(f"SELECT {columns} FROM spans WHERE run = 1 ORDER BY id")
        expected = [
            (2, None, "build", None, 4.0, 3.0, 3, 0, 2 << 20),
            (3, 2, "cc", None, 0.5, 0.25, 2, 0, 2 << 20),
            (4, None, "build", "a.o", 2.0, 1.5, 1, 3, 2 << 20),
        ]
        self.assertEqual(found, expected)
        self.assertEqual(self.ask("SELECT processes.pid, name FROM processes JOIN spans ON spans.run = processes.run AND id = span"), [(7, "cc")])

    def test_a_run_that_was_cut_off_keeps_its_spans_until_it_is_there_whole(self):
        lines = run_lines(*LINES)
        self.store_does("merge", write_lines(self.dir / "cut.jsonl", lines[:4]))
        self.assertEqual(self.ask("SELECT ended FROM run"), [(0,)])
        self.assertEqual([s["id"] for s in spans_of(self.exported())], [3, 2])
        self.store_does("merge", write_lines(self.dir / "whole.jsonl", lines))
        self.assertEqual([s["id"] for s in spans_of(self.exported())], [3, 2, 4])
        self.assertEqual(self.ask("SELECT count(*) FROM span"), [(3,)])

    def test_they_are_merged_checked_and_removed_with_their_run(self):
        other = self.dir / "other.sqlite"
        self.store_does("merge", write_run_with_spans(self.dir / "run.jsonl", *LINES), "--store", other)
        self.store_does("merge", other)
        self.assertEqual(spans_of(self.exported()), spans_of(LINES))
        self.assertIn("is whole", self.store_does("check"))
        self.store_does("prune", "--keep", "0")
        self.assertEqual(self.ask("SELECT count(*) FROM span"), [(0,)])
        self.assertIn("is whole", self.store_does("check"))

    def test_a_value_of_another_kind_is_damage(self):
        self.store_does("merge", write_run_with_spans(self.dir / "run.jsonl", *LINES))
        with contextlib.closing(sqlite3.connect(self.store)) as db, db:
            db.execute("UPDATE span SET wall_ns='long' WHERE id=4")
        done = self.bpfmon("store", "check")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the column wall_ns of the table span", done.stderr)
