# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon store merge: runs of elsewhere taken over, once, whole, whatever happens meanwhile."""

import contextlib
import json
import os
import random
import sqlite3
import subprocess
import time

from lib.bpfmon import BPFMON, read_lines
from lib.live import wait_for
from lib.permitted import BPF, ROOT, needs
from lib.store import CommandCase

SAMPLED = True
NEEDS = ()


class Merge(CommandCase):
    def test_runs_of_another_store_once_each(self):
        other = self.dir / "other.sqlite"
        for name in ("x", "y"):
            self.record("--name", name, "--tag", "k=v", env={"BPFMON_STORE": str(other)})
        self.record("--name", "own")
        self.assertIn("2 runs added", self.store_does("merge", other))
        self.assertIn("0 runs added, 0 completed (they were incomplete), 2 were", self.store_does("merge", other))
        self.assertEqual(self.names(), ["own", "x", "y"])
        with_other = {"env": {"BPFMON_STORE": str(other)}}
        for name in ("x", "y"):
            self.assertEqual(self.show(name), self.show(name, **with_other))
            self.assertEqual(self.list("--name", name)[0]["tags"], {"k": "v"})
        count = "SELECT count(*), sum(cpu_ns), count(DISTINCT run) FROM {}"
        for table in ("sample", "process"):
            ours = self.ask(count.format(table) + " WHERE run > 1")
            with sqlite3.connect(other) as db:
                self.assertEqual(ours, db.execute(count.format(table)).fetchall())
            db.close()
        self.assert_sound_file()

    def test_files_of_lines_whole_cut_off_and_then_whole(self):
        out = self.dir / "run.jsonl"
        self.record("-i", "0.05", "-o", out, "--name", "z", "--no-store", command=("sleep", "0.4"))
        self.assertFalse(self.store.exists())
        whole = out.read_bytes()
        out.write_bytes(whole[: len(whole) // 2])
        done = self.bpfmon("store", "merge", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 runs added", done.stdout)
        self.assertEqual(self.list()[0]["state"], "unfinished")
        out.write_bytes(whole)
        self.assertIn("0 runs added, 1 completed", self.store_does("merge", out))
        self.assertIn("1 were there already", self.store_does("merge", out))
        (row,) = self.list()
        self.assertEqual((row["state"], row["complete"]), ("ended", True))
        self.assertEqual(self.bpfmon("show", "z").stdout, self.bpfmon("show", out).stdout)

    def test_a_file_with_several_runs(self):
        texts = []
        for name in ("a", "b", "c"):
            self.record("-o", self.dir / name, "--name", name, "--no-store", "-f", "jsonl")
            texts.append((self.dir / name).read_bytes())
        together = self.dir / "all.jsonl"
        together.write_bytes(b"".join(texts))
        self.assert_refused(self.bpfmon("show", together), "several runs")
        self.assertIn("3 runs added", self.store_does("merge", together))
        self.assertEqual(self.names(), ["a", "b", "c"])
        for name in "abc":
            self.assertEqual(self.bpfmon("show", name).stdout, self.bpfmon("show", self.dir / name).stdout)

    def test_a_line_that_no_store_takes_is_named_with_its_size(self):
        out = self.dir / "run.jsonl"
        self.record("-o", out, "--name", "z", "--no-store")
        meta, rest = out.read_bytes().split(b"\n", 1)
        out.write_bytes(json.dumps({**json.loads(meta), "command": ["x" * (70 << 20)]}).encode() + b"\n" + rest)
        done = self.bpfmon("store", "merge", out)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("its meta line has 70 MiB, and a store accepts at most 64; write the run to a file", done.stderr)
        self.assertIn("0 runs added", done.stdout)

    def test_a_long_run_is_drawn_with_its_spike(self):
        self.store_does("merge", self.big(86400, 10))
        shown = self.bpfmon("show", "big").stdout
        self.assertIn("8.0 GiB │", shown)
        self.assertEqual(self.ask("SELECT count(*), max(rss_bytes) FROM block"), [(1350, 8 << 30)])

    def test_the_store_itself_and_files_named_twice(self):
        other = self.dir / "other.sqlite"
        self.record("--name", "x", env={"BPFMON_STORE": str(other)})
        self.record("--name", "own")
        done = self.bpfmon("store", "merge", self.store, other, other)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 runs added", done.stdout)
        self.assertIn("1 were there already", done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("is the store itself", done.stderr)
        self.assertEqual(self.names(), ["own", "x"])


class Unusual(CommandCase):
    def counts(self, path, how="mode=ro"):
        with contextlib.closing(sqlite3.connect(f"file:{path}?{how}", uri=True)) as db:
            return [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in
                    ("run", "run_text", "tag", "sample", "block", "process", "process_sample", "event")]

    def test_a_run_that_is_being_recorded_is_left_alone(self):
        out = self.dir / "live.jsonl"
        live = subprocess.Popen([BPFMON, "-q", "-i", "0.02", "-o", out, "--store", self.store, "--", "sh", "-c", "read x"],
                                stdin=subprocess.PIPE)
        wait_for(lambda: self.bpfmon("list", "--json").stdout, "the run in the store")
        for _ in range(5):  # the file is ahead of the store
            time.sleep(0.1)
            done = self.bpfmon("store", "merge", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("0 runs added, 0 completed", done.stdout)
            self.assertIn("being recorded", done.stderr)
        live.communicate(b"\n", timeout=60)
        self.assertEqual(live.returncode, 0)
        (row,) = self.list()
        self.assertEqual((row["state"], row["complete"]), ("ended", True))
        told = [line for line in read_lines(out) if line["kind"] == "sample"]
        self.assertEqual(self.ask("SELECT count(*) FROM sample WHERE run IN (SELECT id FROM run)"), [(len(told),)])

    @needs(ROOT, BPF)  # it mounts, which a root without BPF mostly cannot
    def test_a_store_where_only_reading_is_allowed(self):
        place = self.dir / "archive"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "bpfmon-test", place], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", place], check=True)
        other = place / "node8.sqlite"
        for name in ("x", "y"):
            self.record("--name", name, env={"BPFMON_STORE": str(other)})
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        self.assertIn("2 runs added", self.store_does("merge", other))
        self.assertEqual(self.names(), ["x", "y"])
        self.assertEqual(self.counts(self.store), self.counts(other, "immutable=1"))

    def test_killed_at_any_moment_it_is_finished_by_the_next(self):
        other = self.dir / "other.sqlite"
        lines = self.big(30_000, 30_000)
        self.store_does("merge", lines, env={"BPFMON_STORE": str(other)})
        whole = self.counts(other)
        for source in (other, lines):
            for _ in range(6):
                argv = [BPFMON, "store", "merge", source, "--store", self.store]
                merging = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
                time.sleep(random.uniform(0, 0.4))
                merging.kill()
                merging.wait()
                listed = self.bpfmon("list", "--json")  # there may be nothing in it yet
                self.assertNotIn("belong to no run", self.bpfmon("store", "check").stderr)
                if listed.stdout and self.counts(self.store) != whole:
                    self.assertNotIn('"ended"', listed.stdout)
            self.bpfmon("store", "merge", source)
            self.assertEqual(self.counts(self.store), whole)
            self.assertEqual(self.list()[0]["state"], "ended")
            self.assert_sound_file()
            for path in self.dir.glob("store.sqlite*"):
                path.unlink()

    def test_rows_left_by_a_killed_prune_are_counted_by_check_and_removed_by_the_next_merge(self):
        out = self.dir / "run.jsonl"
        self.record("--name", "kept", "-o", out)
        self.record("--name", "gone")
        kept = self.ask("SELECT count(*) FROM sample WHERE run = 1") + self.ask("SELECT count(*) FROM process WHERE run = 1")
        with contextlib.closing(sqlite3.connect(self.store)) as db, db:
            for table, key in (("run", "id"), ("run_text", "run"), ("tag", "run")):  # what goes first
                db.execute(f"DELETE FROM {table} WHERE {key} = 2")
        self.assertEqual(self.names(), ["kept"])
        done = self.bpfmon("store", "check")
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.store} is intact\n"), done.stderr)
        self.assertRegex(done.stderr, r"warning: the store '.*': \d+ rows belong to no run, .*'bpfmon store prune' or 'merge'")
        self.assertIn("1 were there already", self.store_does("merge", out))
        self.assertEqual(self.ask("SELECT count(*) FROM sample") + self.ask("SELECT count(*) FROM process"), kept)
        self.store_does("check")

    def test_memory_does_not_grow_with_the_merged_rows(self):
        other = self.dir / "other.sqlite"
        lines = self.big(100_000, 20_000)
        for source, target in ((lines, other), (other, self.store)):
            self.assertLess(self.peak_of("merge", source, "--store", target), 16 << 20)
        self.assertEqual(self.counts(self.store), self.counts(other))

    def test_a_newer_schema_is_refused_and_lines_of_nonsense_are_counted(self):
        out = self.dir / "run.jsonl"
        self.record("-o", out, "--name", "z", "--no-store")
        whole = out.read_text()
        out.write_text(whole.replace('"schema":"bpfmon/1"', '"schema":"bpfmon/2"'))
        done = self.bpfmon("store", "merge", out)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("a newer bpfmon", done.stderr)
        self.assertEqual(self.list(), [])
        meta, rest = whole.split("\n", 1)
        out.write_text(f"{meta}\nnonsense\n{{}}\n{rest}")
        done = self.bpfmon("store", "merge", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 runs added", done.stdout)
        self.assertIn("2 invalid lines were skipped", done.stderr)
        for more in ((), ("--json",), ("--by", "phase")):
            done = self.bpfmon("show", out, *more)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1), done.stderr)
            self.assertIn("2 lines of", done.stderr)
        (row,) = self.list()
        self.assertEqual((row["state"], row["name"]), ("ended", "z"))


class Edited(CommandCase):
    """A run that two stores have, and was edited in them at different times."""

    def setUp(self):
        super().setUp()
        self.other, self.file = self.dir / "other.sqlite", self.dir / "run.jsonl"
        self.record("--name", "first", "--tag", "k=v", "--tag", "gone=1", "-o", self.file, "--no-store")
        for store in (self.store, self.other):
            self.bpfmon("store", "merge", "--store", store, self.file)

    def edit(self, store, name):
        words = ("1", "--name", name, "--note", f"note of {name}", "--tag", f"k={name}", "--tag", "gone=")
        self.assertEqual(self.bpfmon("edit", "--store", store, *words).returncode, 0)

    def called(self, store):
        """Its name in all places where one is."""
        (row,) = self.list("--store", store)
        meta = self.show("1", env={"BPFMON_STORE": str(store)})["meta"]
        with contextlib.closing(sqlite3.connect(store)) as db:
            name, note, at = db.execute("SELECT name, note, edited_time_ns FROM run").fetchone()
            tags = dict(db.execute("SELECT key, value FROM tag"))
        self.assertEqual((row["name"], row["note"], row["tags"]), (name, note, tags))
        self.assertEqual((meta["name"], meta.get("note"), meta["tags"]), (name, note, tags))
        self.assertEqual(round(meta.get("edited_time", 0) * 1e6) * 1000, at or 0)
        self.assertEqual(tags["k"], name)
        return name

    def merge(self, source, said):
        self.assertIn(said, self.store_does("merge", source))
        self.assert_sound_file()
        return self.called(self.store)

    def export(self, store):
        out = self.dir / "edited.jsonl"
        self.assertEqual(self.bpfmon("export", "1", "--store", store, "-f", "jsonl", "--force", "-o", out).returncode, 0)
        return out

    def test_a_later_edit_elsewhere_is_taken_over(self):
        for source in (self.other, None):
            for name in ("second", "third"):
                self.edit(self.other, name)
                took = self.merge(source or self.export(self.other), "1 were there already, 1 of these updated from a later edit")
                self.assertEqual(took, name)
            self.assertEqual(self.merge(source or self.export(self.other), "1 were there already\n"), name)
        was, now = read_lines(self.file), read_lines(self.export(self.store))
        for key in ("name", "note", "tags", "edited_time"):
            was[0].pop(key, None)
            now[0].pop(key, None)
        self.assertEqual(sorted(map(str, was)), sorted(map(str, now)))  # what was measured stays

    def test_a_later_edit_here_stays(self):
        self.edit(self.other, "theirs")
        self.edit(self.store, "ours")
        for source in (self.other, self.export(self.other), self.file):
            self.assertEqual(self.merge(source, "1 were there already\n"), "ours")

    def test_both_stores_agree_after_each_took_the_other(self):
        for first, last in ((self.store, self.other), (self.other, self.store)):
            self.edit(first, "earlier")
            self.edit(last, "later")
            for target, source in ((first, last), (last, first)):
                self.bpfmon("store", "merge", "--store", target, source)
                self.assertEqual(self.called(target), "later")

    def test_a_run_that_is_completed_keeps_its_later_words(self):
        text = self.file.read_text()
        half = self.dir / "half.jsonl"
        half.write_text(text[: text.index('{"kind":"summary"')])
        for source in (self.file, self.other):
            self.store.unlink()
            self.store_does("merge", half)
            self.edit(self.store, "ours")
            self.assertEqual(self.merge(source, "0 runs added, 1 completed"), "ours")
            self.assertEqual(self.list()[0]["state"], "ended")

    def test_edits_are_counted_in_json(self):
        self.edit(self.other, "second")
        said = json.loads(self.store_does("merge", self.other, "--json"))
        self.assertEqual((said["known"], said["edited"], said["added"]), (1, 1, 0))
