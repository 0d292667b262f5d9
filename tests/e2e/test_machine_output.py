# SPDX-License-Identifier: BSD-2-Clause
"""What subcommands print for programs: each object says its schema, and has its keys with their types; and what they
print for pull requests and papers."""

import csv
import io
import json
import re

from lib.permitted import BPF, ROOT, needs
from lib.runs import write_run
from lib.spans import process, span, write_run_with_spans
from lib.store import StoreCase

SAMPLED = True
NEEDS = ()
NUMBER, TEXT, TRUTH, OBJECT, LIST = (int, float), str, bool, dict, list
MAYBE_TEXT, MAYBE_NUMBER = (str, type(None)), (int, float, type(None))

LISTED = {"id": int, "ref": TEXT, "run": TEXT, "name": MAYBE_TEXT, "job": MAYBE_TEXT, "command": MAYBE_TEXT, "user": TEXT, "host": TEXT}
LISTED |= {"tags": OBJECT, "start_time": NUMBER, "state": TEXT, "complete": TRUTH, "exit_code": MAYBE_NUMBER, "signal": MAYBE_NUMBER}
LISTED |= {"wall_seconds": MAYBE_NUMBER, "cpu_seconds": MAYBE_NUMBER, "rss_peak_bytes": MAYBE_NUMBER, "processes_total": MAYBE_NUMBER}
LISTED |= {"memory_needed_bytes": MAYBE_NUMBER, "memory_needed_witness": MAYBE_TEXT, "memory_needed_bound": MAYBE_TEXT}
SHOWN = {"state": TEXT, "meta": OBJECT, "summary": OBJECT}
COMPARED = {"by": MAYBE_TEXT, "groups": LIST, "values": OBJECT, "changed": OBJECT, "fail_if": LIST}
STORE = {"action": TEXT, "path": TEXT}

# words, schema, keys with their types, whether there is one object or one a line
TABLE = [
    (["list"], "bpfmon-list/1", LISTED, False),
    (["list", "--hist"], "bpfmon-list-hist/1", {"metric": TEXT, "count": int, "absent": int, "scale": TEXT, "bins": LIST}, False),
    (["list", "--unusual"], "bpfmon-list-unusual/1", {"threshold": NUMBER, "judged": int, "runs": LIST}, True),
    (["list", "--scatter"], "bpfmon-list-scatter/1", {"count": int, "absent": int, "x": OBJECT, "y": OBJECT, "cells": LIST}, True),
    (["list", "--trend"], "bpfmon-list-trend/1", {"metric": TEXT, "count": int, "enough": TRUTH, "changes": LIST, "revisions": LIST}, True),
    (["show", "1"], "bpfmon-show/1", SHOWN, True),
    (["show", "1", "--by", "phase"], "bpfmon-show/1", SHOWN | {"phases": LIST, "marks_left_out": int}, True),
    (["show", "1", "--by", "span"], "bpfmon-show/1", SHOWN | {"spans": LIST, "rest": OBJECT, "spans_left_out": int}, True),
    (["show", "1", "--by", "span", "--each"], "bpfmon-show/1", SHOWN | {"spans": LIST}, True),
    (["compare", "1", "2"], "bpfmon-compare/1", COMPARED, True),
    (["compare", "1", "2", "--by", "span"], "bpfmon-compare/1", COMPARED | {"spans": LIST, "spans_left_out": int}, True),
    (["advise"], "bpfmon-advise/1", dict.fromkeys(["runs", "left_out", "failed"], int), True),
    (["store"], "bpfmon-store/1", STORE | dict.fromkeys(["file_bytes", "used_bytes", "runs", "samples", "processes"], int), True),
    (["store", "check"], "bpfmon-store/1", STORE | {"whole": TRUTH, "rows_left": int}, True),
    (["store", "prune", "--keep", "9"], "bpfmon-store/1", STORE | {"dry_run": TRUTH, "runs": int, "bytes": int}, True),
    (["store", "merge", "a.jsonl"], "bpfmon-store/1", STORE | dict.fromkeys(["added", "completed", "known", "edited", "busy"], int), True),
    (["metrics"], "bpfmon-metrics/1", dict.fromkeys(["key", "unit", "group", "kind", "help"], TEXT), False),
    (["like", "1"], "bpfmon-like/1", {"run": str, "near": bool, "agreeing": int, "known_runs": int, "known_kinds": int, "neighbours": list, "signature": dict, "programs": dict}, True),
    (["why", "1"], "bpfmon-why/1", {"processes": list, "reason": dict}, True),
    (["check"], "bpfmon-check/1", {"name": TEXT, "available": TRUTH}, False),
]


class RunsCase(StoreCase):
    def setUp(self):
        super().setUp()
        spans = [span(2, "align", 1, wall=0.1), span(1, "all", wall=0.3)]
        times = {"wall_seconds": 20.3, "cpu_seconds": 0.1}
        meta = {"name": "pipe|line", "interval_seconds": 0.1}
        for number, name in enumerate(["a.jsonl", "b.jsonl"]):
            later = {"wall_seconds": times["wall_seconds"] + 0.1 * number, "cpu_seconds": times["cpu_seconds"] + 0.2 * number}
            programs = [{"exe": "/bin/`cc`", "processes": 1, "cpu_seconds": 0.25}]
            write_run_with_spans(self.dir / name, *spans, process(7, 2), meta=meta, programs=programs, **later)
        self.printed("store", "merge", "a.jsonl", "b.jsonl")

    def printed(self, *words):
        done = self.bpfmon(*words, cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def objects(self, *words):
        return [json.loads(line) for line in self.printed(*words).splitlines()]


class MachineOutput(RunsCase):
    @needs(ROOT, BPF)
    def test_each_object_says_its_schema_and_has_its_keys(self):
        for words, schema, keys, is_one in TABLE:
            for option in (["--json"], ["--format", "json"]):
                with self.subTest(words=words, option=option):
                    objects = self.objects(*words, *option)
                    self.assertEqual(len(objects) == 1, is_one)
                    for found in objects:
                        self.assertEqual(next(iter(found.items())), ("schema", schema))
                        for key, kind in keys.items():
                            self.assertIsInstance(found[key], kind, key)
                        if kind := {"reason"} & set(found):
                            self.assertFalse(found.get("available", found.get("whole")), kind)

    def test_what_is_no_format_is_refused(self):
        for words, _, _, _ in TABLE:
            self.assert_refused(self.bpfmon(*words, "--format", "xml", cwd=self.dir), "--format does not accept 'xml'", "text", "json")

    def test_ids_are_numbers_that_name_the_run(self):
        first = self.objects("list", "--json", "--sort", "wall")[-1]
        self.assertEqual((first["id"], first["ref"]), (1, "1"))
        self.assertEqual(self.objects("show", "--json", first["ref"])[0]["meta"]["run"], first["run"])

    @needs(ROOT, BPF)
    def test_decimals_are_as_in_the_file(self):
        for words, _, _, _ in TABLE:
            text = self.printed(*words, "--json")
            for key, number in re.findall(r'"(\w+)":(-?\d+\.\d+)', text):
                if key != "relative":
                    self.assertLess(len(number.partition(".")[2]), 10, (words, key, number))
        self.assertEqual(self.objects("show", "--json", "1")[0]["meta"]["interval_seconds"], 0.1)
        (first, other) = self.objects("compare", "--json", "a.jsonl", "b.jsonl")[0]["values"]["cpu_seconds"]
        self.assertEqual((first["median"], other["difference"]), (0.1, 0.2))

    def test_a_removal_prints_an_object(self):
        (found,) = self.objects("store", "remove", "1", "2", "--json")
        self.assertEqual(found, {"schema": "bpfmon-store/1", "action": "remove", "path": str(self.store), "runs": 2})
        self.assertEqual(self.objects("list", "--json"), [])

    def test_an_empty_store_has_a_size(self):
        other = {"HOME": str(self.dir / "home"), "XDG_STATE_HOME": str(self.dir / "state"), "BPFMON_STORE": ""}
        done = self.bpfmon("store", "--json", env=other)
        self.assertEqual(json.loads(done.stdout)["runs"], 0, done.stderr)


class ForPeople(RunsCase):
    def tables(self, text):
        """The rows of each table in Markdown, as lists of cells; each has as many as its head."""
        tables, rows = [], []
        for line in [*text.splitlines(), ""]:
            if line.startswith("|"):
                rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
            elif rows:
                self.assertEqual({len(row) for row in rows}, {len(rows[0])}, rows)
                tables.append([rows[0], *rows[2:]])
                rows = []
        return tables

    def test_show_in_markdown(self):
        text = self.printed("show", "1", "--format", "markdown")
        facts, _, programs = self.tables(text)[:3]
        self.assertTrue(text.startswith("### `pipe|line`\n"))
        self.assertIn(["command", "`make`"], facts)
        self.assertIn("**the command ended with 0 after 20.3 s**", text)
        self.assertEqual(programs[1][:3], ["`` /bin/`cc` ``", "1", "250 ms"])
        for by, last in (("span", "= the run"), ("phase", "`(start)`")):
            with self.subTest(by):
                text = self.printed("show", "1", "--format", "markdown", "--by", by)
                _, rows = self.tables(text)
                self.assertEqual((rows[0][0], rows[-1][0]), (by, last))
                self.assertNotIn("```", text)

    def test_show_with_a_template(self):
        self.assertEqual(self.printed("show", "1", "-f", "%e %C {cpu_seconds}"), "20.30 make 0.1\n")
        self.assert_refused(self.bpfmon("show", "1", "-f", "{cpu_second}"), "{cpu_seconds}")
        self.assert_refused(self.bpfmon("show", "1", "--by", "span", "-f", "%e"), "--by")

    def test_compare_in_markdown(self):
        text = self.printed("compare", "a.jsonl", "b.jsonl", "--format", "markdown")
        differ, rest = self.tables(text)[1:3]
        self.assertEqual([row[0] for row in differ][:3], ["value", "`wall_seconds`", "`cpu_seconds`"])
        self.assertEqual(differ[2][1:], ["100 ms", "300 ms", "+200 ms", "+200.0 %"])
        self.assertFalse({row[0] for row in differ[1:]} & {row[0] for row in rest[1:]})
        self.assertIn("`read_bytes`", [row[0] for row in rest])
        self.assertIn(f"<summary>{len(rest) - 1} more values</summary>", text)
        steps = self.tables(self.printed("compare", "a.jsonl", "b.jsonl", "--by", "span", "--format", "markdown"))[1]
        self.assertEqual([row[0] for row in steps], ["cpu_seconds", "`all`", "`all/align`", "= the run"])

    def test_compare_in_markdown_begins_with_the_gates(self):
        gates = ["cpu_seconds > +10%", "wall_seconds > 1h"]
        words = ["compare", "a.jsonl", "b.jsonl", "-f", "markdown", *(word for gate in gates for word in ("--fail-if", gate))]
        done = self.bpfmon(*words, cwd=self.dir)
        self.assertEqual(done.returncode, 1)
        table = self.tables(done.stdout)[0]
        self.assertEqual([row[:2] for row in table], [["gate", "result"], ["`cpu_seconds > +10%`", "**fail**"], ["`wall_seconds > 1h`", "pass"]])
        self.assertTrue(table[1][2].startswith("300 ms against 100 ms, +200.0 % "), table)
        self.assertIn("4 runs of each side are needed", table[1][2])
        self.assertIn("bpfmon: failed: cpu_seconds", done.stderr)
        self.assertNotIn("| gate |", self.printed("compare", "a.jsonl", "b.jsonl", "-f", "markdown"))
        rows = self.tables(self.bpfmon(*words, "--by", "span", cwd=self.dir).stdout)[0][1:]
        self.assertEqual(rows, [[f"`{gate}`", "pass", "all of 2"] for gate in gates])
        words = ["compare", "a.jsonl", "b.jsonl", "-f", "markdown", "--by", "span", "--fail-if", "cpu_seconds > 1us"]
        rows = self.tables(self.bpfmon(*words, cwd=self.dir).stdout)[0][1:]
        self.assertEqual([row[:2] for row in rows], [["`cpu_seconds > 1us`", "**fail**"]] * 2)
        self.assertTrue(rows[0][2].startswith("`all`: "), rows)

    def test_compare_in_markdown_has_no_rows_of_zeros_and_human_units(self):
        for name, memory in ("c.jsonl", 8 << 30), ("d.jsonl", 16 << 30):
            write_run(self.dir / name, meta={"system": {"memory_bytes": memory}}, wall_seconds=1, majflt=0, minflt=5)
        text = self.printed("compare", "c.jsonl", "d.jsonl", "--format", "markdown")
        self.assertIn("`minflt`", text)
        self.assertNotIn("`majflt`", text)
        self.assertIn("| system.memory_bytes | `8.0 GiB` | `16.0 GiB` |", text)
        self.assertRegex(self.printed("compare", "c.jsonl", "d.jsonl"), r"system.memory_bytes +c.jsonl +8.0 GiB\n +d.jsonl +16.0 GiB\n")

    def test_compare_as_csv(self):
        text = self.printed("compare", "a.jsonl", "b.jsonl", "--format", "csv")
        rows = {(row["value"], row["group"]): row for row in csv.DictReader(io.StringIO(text, newline=""))}
        cpu = rows["cpu_seconds", "b.jsonl"]
        self.assertEqual((cpu["n"], cpu["median"], cpu["difference"], cpu["verdict"]), ("1", "0.3", "0.2", ""))
        self.assertEqual(rows["cpu_seconds", "a.jsonl"]["difference"], "")
        spans = csv.DictReader(io.StringIO(self.printed("compare", "a.jsonl", "b.jsonl", "--by", "span", "-f", "csv"), newline=""))
        self.assertEqual({row["span"] for row in spans}, {"", "all", "all/align"})
