# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon store: its size, what is pruned, and whether it is intact."""

import contextlib
import os
import re
import sqlite3
import subprocess

from lib.bpfmon import BPFMON
from lib.live import wait_for
from lib.store import CommandCase

SAMPLED = True
NEEDS = ()


class Prune(CommandCase):
    def setUp(self):
        super().setUp()
        for name in "abcd":
            self.record("--name", name)

    def age(self, name, days):
        with sqlite3.connect(self.store) as db:
            db.execute("UPDATE run SET start_time_ns = start_time_ns - ? * 86400000000000 WHERE name = ?", (days, name))
        db.close()

    def test_by_age(self):
        self.age("c", 40)
        self.assertIn("1 runs would be removed", self.store_does("prune", "--older-than", "30d", "--dry-run"))
        self.assertEqual(self.names(), ["a", "b", "c", "d"])
        self.assertIn("1 runs removed", self.store_does("prune", "--older-than", "30d"))
        self.assertEqual(self.names(), ["a", "b", "d"])
        for table in ("sample", "process", "run_text"):
            self.assertEqual(self.ask(f"SELECT count(*) FROM {table} WHERE run NOT IN (SELECT id FROM run)"), [(0,)])

    def test_by_count(self):
        self.store_does("prune", "--keep", "2")
        self.assertEqual(self.names(), ["c", "d"])

    def test_by_size_gives_the_space_back(self):
        self.store_does("merge", self.big(20000, 100))
        self.age("a", 1)
        big = self.store.stat().st_size
        self.assertGreater(big, 2 << 20)
        with sqlite3.connect(self.store) as db:  # the large run is the oldest
            db.execute("UPDATE run SET start_time_ns = 1 WHERE name = 'big'")
        db.close()
        self.store_does("prune", "--max-size", "1MiB")
        self.assertEqual(self.names(), ["a", "b", "c", "d"])
        self.assertLess(self.store.stat().st_size, 1 << 20)

    def test_a_dry_run_reports_the_runs_to_remove_and_does_not_wait(self):
        self.store_does("merge", self.big(20000, 100))
        with sqlite3.connect(self.store) as db:
            db.execute("UPDATE run SET start_time_ns = 1 WHERE name = 'big'")
        db.close()
        writer = sqlite3.connect(self.store, isolation_level=None)
        self.addCleanup(writer.close)
        writer.execute("BEGIN IMMEDIATE")
        told = {words: self.store_does("prune", *words, "--dry-run") for words in (("--max-size", "1MiB"), ("--keep", "0"))}
        writer.execute("ROLLBACK")
        for words, runs in ((("--max-size", "1MiB"), 1), (("--keep", "0"), 4)):
            told[words] = (told[words], self.store_does("prune", *words))
            self.assertRegex(told[words][0], "^[15] runs would be removed, about ")
            self.assertRegex(told[words][1], f"^{runs} runs removed, ")
        about, was = (re.search(r"([0-9.]+) MiB", text)[1] for text in told["--max-size", "1MiB"])
        self.assertAlmostEqual(float(about), float(was), delta=0.2 * float(was))

    def test_rows_of_an_interrupted_removal_are_removed_by_the_next(self):
        tables = ("sample", "block", "process", "process_sample", "event")
        with sqlite3.connect(self.store) as db:
            for table in tables:
                key = "seq" if table in ("process", "event") else "elapsed_ns"
                more = (", rank", ", 1") if table == "process_sample" else ("", "")
                for run in (77, 78):
                    db.execute(f"INSERT INTO {table}(run, {key}{more[0]}) VALUES ({run}, 5{more[1]})")
        db.close()
        self.assertIn("0 runs removed", self.store_does("prune", "--keep", "100"))
        for table in tables:
            self.assertEqual(self.ask(f"SELECT count(*) FROM {table} WHERE run NOT IN (SELECT id FROM run)"), [(0,)])
        self.assertEqual(self.names(), ["a", "b", "c", "d"])

    def test_memory_does_not_grow_with_the_removed_rows(self):
        self.store_does("merge", self.big(200_000, 20_000))
        self.assertGreater(self.store.stat().st_size, 28 << 20)
        self.assertLess(self.peak_of("prune", "--keep", "0", "--store", self.store), 16 << 20)

    def test_a_run_that_is_removed_while_it_is_recorded_is_reported(self):
        live = subprocess.Popen([BPFMON, "-q", "-i", "0.02", "--store", self.store, "--name", "e", "--", "sh", "-c",
                                 "read x; exit 7"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: self.names() == ["a", "b", "c", "d", "e"], "the run in the store")
        with contextlib.closing(sqlite3.connect(self.store, timeout=60)) as db, db:
            db.execute("DELETE FROM run WHERE name = 'e'")
        _, said = live.communicate("\n", timeout=60)
        self.assertEqual((live.returncode, said.count("\n")), (7, 1), said)
        self.assertIn("the run has been removed", said)
        self.store_does("prune", "--keep", "100")
        self.assertEqual(self.ask("SELECT count(*) FROM sample WHERE run NOT IN (SELECT id FROM run)"), [(0,)])

    def test_a_run_that_goes_on_stays(self):
        with sqlite3.connect(self.store) as db:
            (writer,) = db.execute("SELECT writer FROM run WHERE name = 'a'").fetchone()
            boot, space, _, _ = writer.rsplit(" ", 3)
            start = open(f"/proc/{os.getpid()}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[19]
            alive = f"{boot} {space} {os.getpid()} {start}"
            db.execute("UPDATE run SET ended = 0, writer = ? WHERE name = 'a'", (alive,))
        db.close()
        self.assertEqual([row["name"] for row in self.list("--state", "running")], ["a"])
        self.store_does("prune", "--keep", "0")
        self.assertEqual(self.names(), ["a"])


class Check(CommandCase):
    def test_a_whole_one_and_a_damaged_one(self):
        self.store_does("merge", self.big(5000, 5000))
        self.assertIn("is intact", self.store_does("check"))
        for path in self.dir.glob("store.sqlite-*"):
            path.unlink()
        with open(self.store, "r+b") as f:
            f.seek(self.store.stat().st_size // 2)
            f.write(b"\xff" * 20000)
        done = self.bpfmon("store", "check")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("is damaged", done.stderr)

    def test_the_size_is_reported(self):
        self.record()
        text = self.store_does()
        for word in (str(self.store), "runs       1", "processes  1"):
            self.assertIn(word, text)

    def test_an_error_is_one_line(self):
        self.assert_refused(self.bpfmon("store"), "No such file")
        self.record()
        for words, said in (
            (("burn",), ("'burn'", "prune, remove, check, or merge")),
            (("prune",), ("no condition given", "--keep")),
            (("prune", "--keep", "-1"), ("-1",)),
            (("prune", "--max-size", "12"), ("12",)),
            (("prune", "--older-than", "soon"), ("soon",)),
            (("prune", "x", "--keep", "1"), ("'x'",)),
            (("check", "x"), ("'x'",)),
            (("merge",), ("no file to merge",)),
        ):
            with self.subTest(words=words):
                self.assert_refused(self.bpfmon("store", *words), *said)
        done = self.bpfmon("store", "merge", "/nonexistent", "/etc/passwd")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'/nonexistent': No such file", done.stderr)
        self.assertIn("'/etc/passwd': it is not a bpfmon run", done.stderr)

    def test_a_header_of_nonsense_is_damage(self):
        self.record()
        with contextlib.closing(sqlite3.connect(self.store)) as db:
            db.execute("PRAGMA user_version = -100000")
        for words in (("list",), ("store", "prune", "--keep", "1"), ("show", "1")):
            self.assert_refused(self.bpfmon(*words, "--store", self.store), "damaged")
        self.assertEqual(self.bpfmon("-q", "--", "sh", "-c", "exit 5").returncode, 5)
