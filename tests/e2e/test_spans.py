# SPDX-License-Identifier: BSD-2-Clause
"""Spans of runs that were recorded: kept, found, shown. The runs are written by hand, so that each number is known."""

import contextlib
import json
import sqlite3

from lib.spans import process, run_lines, span, write_lines, write_run_with_spans
from lib.store import CommandCase

NEEDS = ()
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
        self.assertIn("is intact", self.store_does("check"))
        self.store_does("prune", "--keep", "0")
        self.assertEqual(self.ask("SELECT count(*) FROM span"), [(0,)])
        self.assertIn("is intact", self.store_does("check"))

    def test_a_value_of_another_kind_is_damage(self):
        self.store_does("merge", write_run_with_spans(self.dir / "run.jsonl", *LINES))
        with contextlib.closing(sqlite3.connect(self.store)) as db, db:
            db.execute("UPDATE span SET wall_ns='long' WHERE id=4")
        done = self.bpfmon("store", "check")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the column wall_ns of the table span", done.stderr)


class Shown(CommandCase):
    """`bpfmon show --by span`, of a file and of the store."""

    def setUp(self):
        super().setUp()
        self.run_file = write_run_with_spans(self.dir / "run.jsonl", *LINES)

    def by_span(self, *options, run=None, **kwargs):
        done = self.bpfmon("show", run or self.run_file, "--by", "span", *options, **kwargs)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def rows(self, *options, **kwargs):
        """The cells of each row of the table, by its first word."""
        text = self.by_span(*options, **kwargs).split("\n\n")[1]
        return [line.split() for line in text.splitlines()]

    def test_equal_names_are_summed_and_nested_ones_are_below_their_parent(self):
        text = self.by_span("--all", env={"COLUMNS": "80"})
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        names = [line[:19].rstrip() for line in text.split("\n\n")[1].splitlines()]
        self.assertEqual(names, ["  span", "  build", "      (least)", "      (most)", "    cc", "  (rest of the run)", "  = the run"])
        rows = self.rows("--all", env={"COLUMNS": "80"})
        self.assertEqual(rows[0], ["span", "count", "CPU", "wall", "peak", "RSS", "up", "to", "failed"])
        self.assertEqual(rows[1], ["build", "2", "4.50", "s", "6.00", "s", "1.0", "MiB", "2.0", "MiB", "1"])
        self.assertEqual(rows[2][:5], ["(least)", "1.50", "s", "2.00", "s"])
        self.assertEqual(rows[3][:5], ["(most)", "3.00", "s", "4.00", "s"])
        self.assertEqual(rows[4][:4], ["cc", "1", "250", "ms"])

    def test_sum_and_rest_are_the_run(self):
        said = json.loads(self.by_span("--json"))
        outermost = [s for s in said["spans"] if len(s["path"]) == 1]
        for key in ("cpu_seconds", "read_bytes", "write_bytes", "processes_total"):
            self.assertEqual(sum(s[key]["sum"] for s in outermost) + said["rest"][key], said["summary"][key], key)

    def test_a_process_that_begins_and_ends_several_in_place_is_in_the_rest(self):
        lines = [span(number, "step", in_place=True) for number in (1, 2, 3, 4)]
        run = write_run_with_spans(self.dir / "in-place.jsonl", *lines, processes_total=2)
        self.store_does("merge", run)
        for name in (run, "1"):
            self.assertEqual(json.loads(self.by_span("--json", run=name))["rest"]["processes_total"], 2, name)

    def test_json_has_the_sums_of_the_lines(self):
        build, cc = json.loads(self.by_span("--json"))["spans"]
        self.assertEqual((build["path"], build["count"], build["failed"], build["incomplete"]), (["build"], 2, 1, 0))
        self.assertEqual(build["cpu_seconds"], {"n": 2, "sum": 4.5, "min": 1.5, "max": 3})
        self.assertEqual(build["rss_peak_upper_bytes"], {"n": 2, "min": 2 << 20, "max": 2 << 20})
        self.assertEqual((cc["path"], cc["wall_seconds"]["sum"]), (["build", "cc"], 0.5))

    def test_each_one_can_be_listed(self):
        rows = self.rows("--each", env={"COLUMNS": "72"})
        self.assertEqual([row[0] for row in rows], ["span", "build", "cc", "build", "(rest", "="])
        self.assertEqual([row[-1] for row in rows[:4]], ["exit", "0", "0", "3"])
        self.assertEqual(json.loads(self.by_span("--each", "--json"))["spans"], spans_of(LINES))

    def test_a_stored_run_shows_the_same(self):
        self.store_does("merge", self.run_file)
        for options in ((), ("--each",), ("--json",), ("--json", "--each")):
            self.assertEqual(self.by_span(*options, run="1"), self.by_span(*options))

    def test_a_run_that_was_cut_off_shows_what_has_ended(self):
        cut = write_lines(self.dir / "cut.jsonl", run_lines(LINES[0], span(5, "lossy", complete=False, losses={"exits": 2}), summary=False))
        text = self.by_span(run=cut)
        self.assertIn("?/cc", text)
        self.assertIn("(INCOMPLETE: lost 2 exits)", text)
        self.assertIn("(INCOMPLETE: bpfmon show has what was lost)", text)

    def test_a_run_without_spans_says_so(self):
        self.assertIn("the run has no spans", self.by_span(run=write_run_with_spans(self.dir / "none.jsonl")))

    def test_a_hostile_name_is_text(self):
        name = "a\x1b]0;x\x07\n\u202e" + "b" * 300
        text = self.by_span(run=write_run_with_spans(self.dir / "bad.jsonl", span(1, name)), env={"COLUMNS": "80"})
        self.assertFalse(set(text) & {"\x1b", "\x07", "\u202e"})
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_a_thousand_names_and_ten_thousand_spans_are_shown(self):
        lines = [span(i, f"rule {i % 1000}", cpu_seconds=0.001) for i in range(1, 10001)]
        said = json.loads(self.by_span("--json", run=write_run_with_spans(self.dir / "many.jsonl", *lines)))
        self.assertEqual({s["count"] for s in said["spans"]}, {10})
        self.assertEqual((len(said["spans"]), said["rest"]["cpu_seconds"]), (1000, 0))

    def test_each_without_by_is_refused(self):
        for words in (("--each",), ("--by", "spans"), ("--all",), ("--sort", "cpu"), ("--limit", "3", "--by", "phase")):
            self.assert_refused(self.bpfmon("show", self.run_file, *words), "--by")

    def many(self):
        """30 names, the second half as heavy as the first is light, each of 60 columns."""
        names = [f"{i:02}_{'x' * 57}" for i in range(30)]
        return names, write_run_with_spans(self.dir / "many.jsonl", *(span(i + 1, n, cpu_seconds=i / 1000, wall=60 - i) for i, n in enumerate(names)))

    def test_the_twenty_heaviest_are_shown_with_whole_names_in_a_pipe(self):
        names, run = self.many()
        first = lambda rows: [row[0] for row in rows[1:-2]]
        self.assertEqual(first(self.rows(run=run)), [*names[:9:-1], "(10"])
        self.assertIn("\n  (10 names more: --all)\n", self.by_span(run=run))
        self.assertEqual(first(self.rows("--all", run=run)), names[::-1])
        self.assertEqual(first(self.rows("--limit", "0", run=run)), names[::-1])
        self.assertEqual(first(self.rows("--limit", "2", "--sort", "wall", run=run)), [*names[:2], "(28"])
        for order in ("peak", "read", "written", "processes", "start"):
            self.assertEqual(first(self.rows("--limit", "2", "--sort", order, run=run)), [*names[:2], "(28"], order)
        self.assertEqual(first(self.rows("--limit", "1", "--sort", "name", "--each", run=run)), [names[0], "(29"])
        self.assertLessEqual(max(map(len, self.by_span(run=run, env={"COLUMNS": "80"}).splitlines())), 80)
        for words in (("--json", "--sort", "cpu"), ("--json", "--all"), ("--all", "--limit", "3")):
            self.assert_refused(self.bpfmon("show", run, "--by", "span", *words), "cannot be combined with")

    def test_what_is_outside_of_spans_has_no_cell_that_looks_like_a_number_below_zero(self):
        rest = next(row for row in self.rows(env={"COLUMNS": "120"}) if row[0] == "(rest")
        self.assertEqual(rest[4:], ["5.50", "s", "5", "0", "B", "8.0", "KiB"])

    def test_the_summary_names_the_longest(self):
        self.assertIn(f"\n  spans       3, the longest build of 4.00 s: bpfmon show {self.run_file} --by span\n", self.bpfmon("show", self.run_file).stdout)
        alone = write_run_with_spans(self.dir / "alone.jsonl", span(1, "build"))
        self.assertIn("\n  spans       1, build of 1.00 s: ", self.bpfmon("show", alone).stdout)
        self.assertNotIn("  spans ", self.bpfmon("show", write_run_with_spans(self.dir / "none.jsonl")).stdout)


class Listed(CommandCase):
    def test_runs_are_found_by_the_name_of_a_span(self):
        for name, spans in (("one", [span(1, "align A7")]), ("two", [span(1, "align A8"), span(2, "sort", 1)]), ("three", [])):
            self.store_does("merge", write_run_with_spans(self.dir / f"{name}.jsonl", *spans, meta={"name": name}))
        found = lambda *words: sorted(row["name"] for row in self.list(*words))
        self.assertEqual(found("--span", "align*"), ["one", "two"])
        self.assertEqual(found("--span", "sort"), ["two"])
        self.assertEqual(found("--span", "align A?", "--name", "o*"), ["one"])
        self.assertEqual(found("--span", "align"), [])
        self.assert_refused(self.bpfmon("list", "--span", ""), "--span")


class Compared(CommandCase):
    """`bpfmon compare --by span`."""

    def run_of(self, name, *spans, **how):
        return write_run_with_spans(self.dir / f"{name}.jsonl", *spans, **how)

    def pair(self):
        """The step build/link takes half as long again, `test` is new, and another `link` is at the top."""
        both = lambda f: (
            span(2, "cc", 1, cpu_seconds=1),
            span(3, "cc", 1, cpu_seconds=2, rss_peak_bytes=3 << 20),
            span(4, "link", 1, cpu_seconds=2 * f, code=int(f > 1)),
            span(1, "build", wall=8, cpu_seconds=3 + 2 * f),
            span(5, "link", cpu_seconds=1),
        )
        return self.run_of("a", *both(1)), self.run_of("b", *both(1.5), span(6, "test", complete=False))

    def compare(self, *words, code=0, stderr="", **kwargs):
        done = self.bpfmon("compare", "--by", "span", *words, **kwargs)
        self.assertEqual((done.returncode, done.stderr), (code, stderr))
        return done.stdout

    def steps(self, *words):
        return {"/".join(s["path"]): s for s in json.loads(self.compare("--json", *words))["spans"]}

    def test_steps_are_matched_by_the_names_around_them_and_summed(self):
        steps = self.steps(*self.pair())
        self.assertEqual(list(steps), ["build", "build/cc", "build/link", "link", "test"])
        self.assertEqual(steps["build/cc"]["counts"], [[2], [2]])
        self.assertEqual(steps["test"]["counts"], [[0], [1]])
        medians = lambda step, key: [v.get("median") for v in steps[step]["values"][key]]
        self.assertEqual(medians("build/cc", "cpu_seconds"), [3, 3])
        self.assertEqual(medians("build/cc", "rss_peak_bytes"), [3 << 20, 3 << 20])
        self.assertEqual(medians("build/cc", "wall_seconds"), [2, 2])
        self.assertEqual(medians("build/link", "cpu_seconds"), [2, 3])
        self.assertEqual(medians("build/link", "exit_code"), [0, 1])
        self.assertEqual(medians("test", "cpu_seconds"), [None, 0.5])
        self.assertEqual(steps["build/link"]["values"]["cpu_seconds"][1]["relative"], 0.5)

    def test_the_table_has_a_row_for_each_step_and_the_run(self):
        text = self.compare(*self.pair(), env={"COLUMNS": "80"})
        tables = text.split("\n\n")[2:]  # behind the groups and the verdict
        self.assertLessEqual(max(len(line) for table in tables for line in table.splitlines()), 80)
        table = [line.split() for line in tables[0].splitlines()]
        self.assertEqual([row[0] for row in table], ["cpu_seconds", "build", "build/cc", "build/link", "link", "test", "="])
        self.assertEqual(table[3], ["build/link", "1", "1", "2.00", "s", "3.00", "s", "+1.00", "s", "+50.0", "%"])
        self.assertEqual(table[5][:4], ["test", "0", "1", "-"])
        self.assertIn("INCOMPLETE in 1 run: test", text)

    def test_an_expression_holds_for_a_step_and_names_it(self):
        pair = self.pair()
        failed = "bpfmon: failed: build/link: cpu_seconds: 3.00 s against 2.00 s, +50.0 % > +40% (too few runs to tell; 4 runs of each side are needed)\n"
        self.compare(*pair, "--fail-if", "cpu_seconds > +40%", code=1, stderr=failed)
        self.compare(*pair, "--fail-if", "cpu_seconds > +60%")
        held = json.loads(self.bpfmon("compare", "--by", "span", "--json", *pair, "--fail-if", "cpu_seconds > +40%").stdout)["fail_if"]
        self.assertEqual([x["path"] for x in held if x["holds"]], [["build", "link"]])

    def test_an_expression_that_no_step_decides_is_an_error(self):
        one, two = self.run_of("one", span(1, "a")), self.run_of("two", span(1, "b"))
        for expression in ("cpu_seconds > +1%", "majflt > 0"):
            self.assert_refused(self.bpfmon("compare", one, two, "--by", "span", "--fail-if", expression), "cannot be decided")
        self.assert_refused(self.bpfmon("compare", *self.pair(), "--by", "span", "--significant", "--fail-if", "cpu_seconds > +1%"), "too few")

    def test_groups_of_runs_are_compared_step_by_step(self):
        names = []
        for group, factor in (("old", 1), ("new", 1.5)):
            for i in range(5):
                spans = (span(2, "cc", 1, cpu_seconds=1 + i / 1000), span(1, "build", cpu_seconds=factor * (2 + i / 100)))
                names.append(self.run_of(f"{group}{i}", *spans, meta={"tags": {"b": group}, "start_time": 1763690000 + len(names)}))
        self.store_does("merge", *names)
        of_files = self.steps("--by", "b", *names)
        self.assertEqual(of_files["build"]["values"]["cpu_seconds"][1]["verdict"], "more than noise")
        self.assertEqual(of_files["build/cc"]["values"]["cpu_seconds"][1]["verdict"], "may be noise")
        self.assertEqual(of_files["build"]["counts"], [[1] * 5, [1] * 5])
        self.assertEqual(self.steps("--by", "b"), of_files)
        self.assertEqual(self.steps("--by", "b", "--span", "cc"), of_files)
        failed = self.bpfmon("compare", "--by", "span", "--by", "b", "--significant", "--fail-if", "cpu_seconds > +1%")
        self.assertEqual((failed.returncode, failed.stderr.count("failed: build:")), (1, 1), failed.stderr)

    def test_runs_without_spans_have_no_steps(self):
        one, two = self.run_of("one"), self.run_of("two")
        self.assertIn("the runs have no spans", self.compare(one, two))
        self.assertEqual(self.steps(one, two), {})

    def test_hostile_names_are_text_and_many_are_left_out(self):
        names = ["\x1b[2J", "\x1f", "", "a/b", "x" * 400, "\u202e"]
        run = self.run_of("bad", *(span(i, name) for i, name in enumerate(names, 1)))
        text = self.compare(run, run, env={"COLUMNS": "60"})
        self.assertFalse(set(text) & {"\x1b", "\x1f", "\u202e"})
        self.assertLessEqual(max(map(len, text.split("\n\n")[2].splitlines())), 60)
        many = self.run_of("many", *(span(i, f"step {i}") for i in range(1, 4200)))
        done = self.bpfmon("compare", many, many, "--by", "span", "--json")
        self.assertEqual((done.returncode, len(json.loads(done.stdout)["spans"])), (0, 4096))
        self.assertIn("206 spans are left out", done.stderr)
