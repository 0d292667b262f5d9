# SPDX-License-Identifier: BSD-2-Clause
"""Runs that were kept get another name, note or tags, or are removed; what list finds and shows of them."""

import contextlib
import csv
import io
import json
import os
import pathlib
import sqlite3
import subprocess

from lib.bpfmon import BPFMON
from lib.live import wait_for
from lib.permitted import ROOT, needs
from lib.runs import write_run
from lib.store import StoreCase

SAMPLED = True
NEEDS = ()
NOBODY = 65534


class EditCase(StoreCase):
    def setUp(self):
        super().setUp()
        for i, name in enumerate(("align", "align", "sort")):
            meta = {"start_time": 1000.25 + i, "command": ["./job.sh", f"A{i}"], "name": name, "more": {"x": 1.10}}
            path = write_run(self.dir / f"{i}.jsonl", {"sample": f"A{i}", "threads": "8"}, meta, exit_code=0, wall_seconds=1)
            self.assertEqual(self.bpfmon("store", "merge", path).returncode, 0)

    def edit(self, *words, changed=1):
        done = self.bpfmon("edit", *words)
        self.assertEqual((done.returncode, done.stdout), (0, f"{changed} run{'' if changed == 1 else 's'} changed\n"), done.stderr)
        return done.stderr

    def row(self, number):
        return next(row for row in self.list() if str(row["id"]) == str(number))

    def goes_on(self, number):
        """Makes the run one that this process records."""
        with contextlib.closing(sqlite3.connect(self.store)) as db, db:
            start = pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]
            boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            alive = f"{boot} {os.readlink('/proc/self/ns/pid')} {os.getpid()} {start}"
            db.execute("UPDATE run SET ended = 0, writer = ? WHERE id = ?", (alive, number))


class Edit(EditCase):
    def test_every_reader_sees_the_same(self):
        self.edit("3", "--name", "sorted", "--note", "with the patch", "--tag", "threads=16", "--tag", "sample=", "--tag", "batch=b=3")
        row, shown = self.row(3), self.show("3")["meta"]
        tags = {"threads": "16", "batch": "b=3"}
        self.assertEqual((row["name"], row["note"], row["tags"]), ("sorted", "with the patch", tags))
        self.assertEqual((shown["name"], shown["note"], shown["tags"]), ("sorted", "with the patch", tags))
        self.assertEqual((shown["start_time"], shown["more"]), (1002.25, {"x": 1.10}))
        text = self.bpfmon("show", "sorted").stdout
        self.assertIn("  note        with the patch\n", text)
        self.assertEqual(self.ask("SELECT name, note FROM runs WHERE run = 3"), [("sorted", "with the patch")])
        self.assertIn("is intact", self.bpfmon("store", "check").stdout)
        self.edit("3", "--name", "", "-m", "")
        self.assertEqual((self.row(3)["name"], self.row(3)["note"]), (None, None))
        self.assertEqual(self.row(3)["tags"], tags)

    def test_names_and_the_last_run_are_taken_as_by_show(self):
        self.assertIn("run 3 (the last one)", self.edit("--note", "last"))
        self.assertIn("run 2 (the last of 2 runs named 'align'", self.edit("align", "--note", "second"))
        self.edit("align~all", "--tag", "batch=7", changed=2)
        self.assertEqual([self.row(i)["tags"].get("batch") for i in (1, 2, 3)], ["7", "7", None])
        self.assertEqual([self.row(i)["note"] for i in (1, 2, 3)], [None, "second", "last"])

    def test_what_cannot_be_edited_is_refused_in_one_line_and_stays(self):
        before = self.list()
        many = [word for i in range(63) for word in ("--tag", f"k{i}=v")]
        for words, said in (
            ((self.dir / "0.jsonl", "--name", "x"), ("it is a file", "bpfmon list")),
            (("nobody", "--name", "x"), ("no run 'nobody'",)),
            (("9", "--name", "x"), ("no run '9'",)),
            (("1", *many), ("more than 64 tags",)),
            (("1", "--note", b"caf\xe9"), ("not valid UTF-8",)),
            (("1", "--node", "--name", "x"), ("--node",)),
        ):
            with self.subTest(words=words):
                self.assert_refused(self.bpfmon("edit", *words), *said)
        self.assertEqual(self.list(), before)

    def test_a_run_that_is_being_recorded_is_refused_with_the_others(self):
        self.goes_on(2)
        self.assert_refused(self.bpfmon("edit", "1", "2", "--name", "x"), "run 2", "still being recorded")
        self.assert_refused(self.bpfmon("store", "remove", "align~all"), "cannot remove run 2", "still being recorded")
        self.assertEqual([self.row(i)["name"] for i in (1, 2, 3)], ["align", "align", "sort"])

    @needs(ROOT)
    def test_a_store_of_another_user_is_not_written_to(self):
        self.dir.chmod(0o755)
        self.store.chmod(0o644)
        os.chown(self.store, NOBODY, -1)
        for words in (("edit", "1", "--name", "x"), ("store", "remove", "1")):
            self.assert_refused(self.bpfmon(*words), f"belongs to user {NOBODY}", "as that user")
        os.chown(self.store, 0, -1)
        done = self.bpfmon("edit", "1", "--name", "x", user=NOBODY, group=NOBODY, extra_groups=[])
        self.assert_refused(done, "run 1", "read-only")
        self.assertEqual(self.row(1)["name"], "align")

    def test_under_sudo_it_is_the_callers_store(self):
        home = self.dir / "home"
        home.mkdir()
        self.dir.chmod(0o755)
        os.chown(home, NOBODY, NOBODY)
        store = home / "s.sqlite"
        store.write_bytes(self.store.read_bytes())
        os.chown(store, NOBODY, NOBODY)
        sudo = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY), "SUDO_USER": "nobody"}
        done = self.bpfmon("edit", "3", "--note", "theirs", "--store", store, env=sudo)
        self.assertEqual((done.returncode, done.stdout), (0, "1 run changed\n"), done.stderr)
        self.assertEqual({path.stat().st_uid for path in home.iterdir()}, {NOBODY})
        self.store = store
        self.assertEqual(self.row(3)["note"], "theirs")

    def test_a_store_of_another_schema_is_refused_and_stays_as_it_is(self):
        with contextlib.closing(sqlite3.connect(self.store)) as db:
            db.execute("PRAGMA user_version = 9")
        before = self.store.read_bytes()
        for words in (("list",), ("edit", "1", "--note", "an old one"), ("store", "check")):
            self.assert_refused(self.bpfmon(*words), "another version of bpfmon", "schema 9 instead", "--store", "export")
        self.assertEqual(self.store.read_bytes(), before)


class Remove(EditCase):
    def test_the_named_runs_go_with_all_they_had(self):
        done = self.bpfmon("store", "remove", "1", "sort")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "2 runs removed\n", ""))
        self.assertEqual([row["id"] for row in self.list()], [self.row(2)["id"]])
        for table in ("run_text", "tag", "sample", "process"):
            self.assertEqual(self.ask(f"SELECT count(*) FROM {table} WHERE run <> 2"), [(0,)], table)

    def test_no_run_and_all_runs_are_refused(self):
        for words in ((), ("~all",)):
            self.assert_refused(self.bpfmon("store", "remove", *words), "no run given", "prune --keep")
        self.assert_refused(self.bpfmon("store", "remove", "1", self.dir / "0.jsonl"), "it is a file")
        self.assertEqual(len(self.list()), 3)


class Listed(EditCase):
    def numbers(self, *words):
        return sorted(int(row["id"]) for row in self.list(*words))

    def test_words_are_found_in_name_command_and_note(self):
        self.edit("2", "--note", "Über den Patch")
        self.assertEqual(self.numbers("ALIGN"), [1, 2])
        self.assertEqual(self.numbers("job.sh", "a1"), [2])
        self.assertEqual(self.numbers("über", "align"), [2])
        self.assertEqual(self.numbers("--search", "PATCH"), [2])
        self.assertEqual(self.numbers("patch", "--name", "sort"), [])

    def test_tags_and_notes_have_columns(self):
        self.edit("2", "--note", "with the patch")
        head, *rows = self.bpfmon("list", env={"COLUMNS": "200"}).stdout.splitlines()
        self.assertEqual(head.split()[-3:], ["tags", "note", "command"])
        self.assertIn("sample=A1 threads=8", rows[1])
        self.assertIn("with the patch", rows[1])

    def test_columns_are_chosen_and_csv_has_the_values_of_json(self):
        self.assertEqual(self.bpfmon("list", "--columns", "id,name", "--name", "sort").stdout, "id  name\n 3  sort\n")
        self.edit("2", "--note", 'a "note", \nof two lines')
        rows = list(csv.DictReader(io.StringIO(self.bpfmon("list", "--csv").stdout)))
        for row, known in zip(rows, self.list(), strict=True):
            self.assertEqual(set(row), set(known) - {"schema"})
            self.assertEqual((int(row["id"]), row["ref"]), (known["id"], known["ref"]))
            for key in ("name", "note", "command", "run", "state"):
                self.assertEqual(row[key], known[key] or "")
            self.assertEqual(float(row["start_time"]), known["start_time"])
        self.assert_refused(self.bpfmon("list", "--json", "--columns", "id"), "--columns")


    def test_states_are_the_same_words_in_lists_filters_and_json(self):
        beyond = {"limit": "wall<1s", "unit": "s", "value": 2, "elapsed_seconds": 1.5}
        killed = {"pid": 7, "comm": "x", "is_command": False}
        ends = {"ended": {"exit_code": 0}, "failed": {"exit_code": 3}, "signal": {"exit_code": 0, "signal": 9},
                "limit": {"exit_code": 0, "signal": 15, "limit": {**beyond, "ended": True}}, "oom": {"exit_code": 137, "oom": killed}}
        more = {"ended": {"limit": {**beyond, "ended": False}, "oom": killed}, "failed": {"limit": {**beyond, "ended": False}}}
        for name, summary in ends.items():
            for i, end in enumerate((summary, {**summary, **more.get(name, {})})):
                path = write_run(self.dir / f"{name}{i}.jsonl", {}, {"name": name, "host": "ends"}, wall_seconds=1, **end)
                self.assertEqual(self.bpfmon("store", "merge", path).returncode, 0)
        rows = self.list("--host", "ends")
        self.assertEqual(len(rows), 10)
        for row in rows:
            self.assertEqual(row["state"], row["name"])
            self.assertEqual(self.show(row["id"])["state"], row["name"])
        for state in (*ends, "finished", "running"):
            found = {row["name"] for row in self.list("--host", "ends", "--state", state)}
            self.assertEqual(found, {"finished": set(ends), "running": set(), "failed": set(ends) - {"ended"}}.get(state, {state}), state)
        text = self.bpfmon("list", "--host", "ends", "--columns", "name,state").stdout.splitlines()[1:]
        self.assertEqual({tuple(line.split()) for line in text}, {(name, name) for name in ends})
        self.assertIn("limit", self.bpfmon("list", "--csv", "--columns", "state", "--state", "limit").stdout.split())

    def test_each_metric_is_a_column_with_the_value_that_compare_judges(self):
        summary = {"exit_code": 0, "wall_seconds": 2, "cpu_seconds": 3.000000001, "cores_mean": 1.5, "read_bytes": 1 << 20, "minflt": 7, "write_bytes": 5}
        path = write_run(self.dir / "more.jsonl", {}, {"name": "more"}, **summary)
        self.assertEqual(self.bpfmon("store", "merge", path).returncode, 0)
        values = json.loads(self.bpfmon("compare", "--json", "3", "4").stdout)["values"]
        self.assertGreaterEqual(set(values), set(summary))
        shown = self.bpfmon("list", "--csv", "--columns", f"id,{','.join(values)}", "--sort", "minflt")
        rows = {row["id"]: row for row in csv.DictReader(io.StringIO(shown.stdout))}
        self.assertEqual(next(iter(rows)), "4")
        for at, row in enumerate((rows["3"], rows["4"])):
            for key in set(values) - {"signal"}:  # in compare 0 where there was none
                self.assertEqual(float(row[key]) if row[key] else None, values[key][at].get("median"), key)
        text = self.bpfmon("list", "--name", "more", "--columns", "wall,cpu,cores,memory,peak,read,written,processes,minflt").stdout
        self.assertEqual(text.split("\n")[0].split(), ["wall", "CPU", "cores", "memory", "peak", "RSS", "read", "written", "processes", "minflt"])
        self.assertEqual(text.split("\n")[1].split(), ["2.00", "s", "3.00", "s", "1.500", "-", "-", "1.0", "MiB", "5", "B", "-", "7"])


class Recorded(StoreCase):
    def test_a_run_has_its_note_everywhere(self):
        out = self.dir / "run.jsonl"
        self.record("-m", "first try", "--name", "x", "-o", out)
        self.record("--note", "second", env={"BPFMON_NOTE": "of the environment"})
        self.assertEqual(json.loads(out.read_text().splitlines()[0])["note"], "first try")
        self.assertEqual([row["note"] for row in self.list()], ["second", "first try"])
        self.assertEqual(self.show("1")["meta"]["note"], "first try")

    def test_a_run_that_goes_on_is_not_edited(self):
        argv = [BPFMON, "-q", "-i", "0.02", "--store", str(self.store), "--", "sh", "-c", "read x"]
        with subprocess.Popen(argv, stdin=subprocess.PIPE) as live:
            wait_for(self.store.exists, "the store")
            wait_for(lambda: self.bpfmon("list").stdout.count("running"), "the run in the store")
            self.assert_refused(self.bpfmon("edit", "1", "--note", "x"), "still being recorded")
            live.communicate(b"\n", timeout=60)
        self.assertEqual(self.bpfmon("edit", "1", "--note", "x").returncode, 0)
