# SPDX-License-Identifier: BSD-2-Clause
"""The N-th allocation of a subcommand fails: it ends in one line and a status, or prints the same as without."""

import json
import os
import re

from lib import manyruns
from lib.bpfmon import TOP
from lib.exports import HOSTILE, PUSHED, SPANS
from lib.faults import Faulty, each_call
from lib.spans import span, write_run_with_spans
from lib.store import StoreCase

SAMPLED = True
GOLDEN = TOP / "tests" / "data" / "golden"
RUN = GOLDEN / "run.jsonl"
CUT = GOLDEN / "export" / "cut.jsonl"
FORMATS = ("csv", "csv-spans", "gnu-time", "influx", "json", "jsonl", "openmetrics", "psrecord", "psrecord-plain", "rmonitor")
STEP = 27  # of 300 allocations each of so many subcommands fails one in 27


def plain(outcome):
    """Without what differs from run to run: the number that a page's policy names."""
    outcome.stdout = re.sub(rb'nonce[-=]"?[^"\';> ]+', b"nonce", outcome.stdout)
    outcome.files = {
        name: re.sub(rb'nonce[-=]"?[^"\';> ]+', b"nonce", text) for name, text in outcome.files.items() if ".sqlite" not in name
    }
    return outcome


class SubcommandCase(StoreCase):
    def setUp(self):
        super().setUp()
        self.step = 0

    def fill_store(self):
        path = self.dir / "many.jsonl"
        manyruns.write(path, manyruns.runs(6))
        self.assertEqual(self.bpfmon("store", "merge", path, RUN, PUSHED).returncode, 0)
        return path

    def sweep_over(self, *words, files=(), stdin=None, code=0):
        """Runs it once as it is, and then with each allocation failing."""
        env = {"BPFMON_STORE": str(self.store), "TZ": "Europe/Berlin"}
        command = Faulty(self.dir, words, files, env, stdin)
        whole, again = plain(command.run()), plain(command.run())
        self.assertEqual(whole.code, code, whole.stderr)
        self.assertTrue(whole.same(again), (words, whole, again))
        self.fail_each(command, words, lambda got: self.assert_told(got, whole, files))

    def fail_each(self, command, words, check):
        """Runs it with each allocation failing until there are no more of them, and checks what it gave."""
        self.step += 1
        for at in each_call(STEP, self.step):
            number = at % 2  # this one, or all from there on
            got = plain(command.run("allocation", at, number=number))
            with self.subTest(words=words, at=at, number=number):
                check(got)
            if not got.has_failed:
                break

    def assert_told(self, got, whole, files):
        if got.same(whole):
            return
        self.assertEqual(got.code, 2, (got.code, got.stdout[-300:], got.stderr))
        self.assertEqual(got.stderr.count(b"\n"), 1, got.stderr)
        self.assertIn(b"memory", got.stderr)
        self.assertEqual(set(got.files), {path.name for path in files if ".sqlite" not in path.name}, "a file is left")


class Readers(SubcommandCase):
    def test_show(self):
        for run in (RUN, PUSHED, HOSTILE, CUT):
            for options in ([], ["--json"], ["--by", "phase"], ["--by", "phase", "--json"]):
                self.sweep_over("show", *options, run)
        self.sweep_over("show", "-", stdin=RUN)
        self.sweep_over("show", "--format", "markdown", RUN)
        self.sweep_over("show", "--format", "%C {rss_peak_bytes} {programs}", RUN)

    def test_show_by_span(self):
        spans = [span(i, f"step {i % 7}", i - 1 if i % 3 else None, complete=bool(i % 4), reason="lost") for i in range(70, 0, -1)]
        run = write_run_with_spans(self.dir / "spans.jsonl", *spans)
        for options in ([], ["--each"], ["--json"], ["--json", "--each"]):
            self.sweep_over("show", "--by", "span", *options, run)
        self.assertEqual(self.bpfmon("store", "merge", run).returncode, 0)
        self.sweep_over("show", "--by", "span", "1")
        self.sweep_over("list", "--span", "step*")

    def test_compare_by_span(self):
        runs = [write_run_with_spans(self.dir / f"{i}.jsonl", *(span(k, f"step {k % (9 + i)}") for k in range(1, 40))) for i in range(2)]
        for options in ([], ["--json"], ["--fail-if", "cpu_seconds > +500%"]):
            self.sweep_over("compare", *runs, "--by", "span", *options)

    def test_export(self):
        for run in (RUN, HOSTILE, PUSHED, SPANS):
            for form in FORMATS:
                self.sweep_over("export", run, "-f", form, "-o", "out")
            self.sweep_over("export", run, "-f", "prmon", "-o", "out")
        self.sweep_over("export", CUT, "-f", "json")
        self.sweep_over("export", PUSHED, "-f", "influx", "--force", "-o", "-")

    def test_report(self):
        for run in (RUN, PUSHED, HOSTILE, SPANS):
            self.sweep_over("report", run, "-o", "out.html")
            self.sweep_over("report", run, "-f", "svg", "-o", "out.svg")

    def test_compare(self):
        peer = GOLDEN / "export" / "run.prmon.json"
        time = GOLDEN / "export" / "run.gnu-time"
        for options in ([], ["--json"], ["--html", "out.html"]):
            self.sweep_over("compare", *options, RUN, PUSHED)
        self.sweep_over("compare", RUN, peer, time)
        self.sweep_over("compare", "--format", "markdown", "--fail-if", "wall_seconds < 1h", RUN, PUSHED, code=1)
        self.sweep_over("compare", "--format", "csv", RUN, PUSHED)
        self.sweep_over("compare", "--fail-if", "cpu_seconds > +10%", RUN, RUN)

    def test_what_a_process_waits_for(self):
        def check(got):  # a sentence about a moment, which may be another one than before
            said = got.stderr.decode()
            self.assertEqual((got.code, said.count("\n")), (2, 1) if said else (0, 0), got)
            if not said:
                self.assertIn(str(os.getpid()).encode(), got.stdout)

        for words in (("why", str(os.getpid())), ("why", "--json", str(os.getpid()))):
            self.fail_each(Faulty(self.dir, words), words, check)

    def test_what_machine_and_metrics_are(self):
        self.sweep_over("metrics")
        self.sweep_over("metrics", "--json")
        self.sweep_over("mark", "--quiet", "text")
        for word in ("show", "list", "export", "report", "compare", "store", "attach", "mark", "edit"):
            self.sweep_over(word, "--help")


class Stores(SubcommandCase):
    def setUp(self):
        super().setUp()
        self.many = self.fill_store()

    def test_list(self):
        for options in ([], ["--json"], ["--csv", "--columns", "id,tags,note"], ["align"], ["--name", "al*"], ["--tag", "threads"], ["--since", "2020-01-01", "--sort", "cpu"]):
            self.sweep_over("list", *options)

    def test_many_runs(self):
        for options in (["--hist"], ["--hist=minflt", "--json"], ["--scatter"], ["--scatter", "--json"], ["--unusual"], ["--unusual", "--json"], ["--name", "align", "--trend"], ["--name", "align", "--trend", "--json"]):
            self.sweep_over("list", *options)
        self.sweep_over("report", "--many", "-o", "o")

    def test_a_run_of_a_store(self):
        for words in (["show"], ["show", "--json"], ["show", "--by", "phase"], ["export", "-f", "json"], ["export", "-f", "influx"], ["report", "-o", "o"]):
            for run in ("7", "8"):
                self.sweep_over(*words, run)

    def test_like(self):
        for options in ([], ["--json"], ["--name", "al*"]):
            self.sweep_over("like", "7", *options)
        self.sweep_over("like", RUN)

    def test_compare_of_groups(self):
        self.sweep_over("compare", "--name", "align", "--by", "threads")
        self.sweep_over("compare", "--name", "align", "--by", "threads", "--json")

    def test_what_only_reads_the_store(self):
        self.sweep_over("store")
        self.sweep_over("store", "--json")
        self.sweep_over("store", "check")
        self.sweep_over("store", "prune", "--keep", "2", "--dry-run")


class Writers(SubcommandCase):
    """Of a store either all is there that was wanted, or what was there before."""

    def setUp(self):
        super().setUp()
        self.many = self.fill_store()

    def rows(self, store):
        done = self.bpfmon("list", "--json", "--store", store)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {row["run"]: {key: row[key] for key in row if key not in ("id", "run_id")} for row in map(json.loads, done.stdout.splitlines())}

    def assert_sound(self, got, store, before, after):
        whole = self.bpfmon("store", "check", "--store", store)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        rows = self.rows(store)
        if got.code == 0:
            self.assertEqual(rows, after)
        for run, row in rows.items():
            self.assertIn(row, (before.get(run), after.get(run)))

    def sweep_writing(self, *words, files):
        command = Faulty(self.dir, words, files, {"BPFMON_STORE": "store.sqlite"})
        store = command.folder / "store.sqlite"
        before = self.rows(self.store)
        whole = plain(command.run())
        self.assertEqual((whole.code, whole.stderr), (0, b""))
        after = self.rows(store)

        def check(got):
            self.assert_told(got, whole, files)
            self.assert_sound(got, store, before, after)

        self.fail_each(command, words, check)

    def test_merge_of_files_and_stores(self):
        other = self.dir / "other.sqlite"
        done = self.bpfmon("store", "merge", "--store", other, HOSTILE, CUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.sweep_writing("store", "merge", "hostile.jsonl", files=[self.store, HOSTILE])
        self.sweep_writing("store", "merge", "other.sqlite", files=[self.store, other])

    def test_edit_and_remove(self):
        self.sweep_writing("edit", "7", "--name", "other", "--note", "a note", "--tag", "threads=1", files=[self.store])
        self.sweep_writing("store", "remove", "7", files=[self.store])

    def test_prune(self):
        self.sweep_writing("store", "prune", "--keep", "3", files=[self.store])
