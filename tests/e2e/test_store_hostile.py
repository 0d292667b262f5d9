# SPDX-License-Identifier: BSD-2-Clause
"""Stores that somebody else has made to do harm: each is read, or refused in one line, and never for ever."""

import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess

from lib.bpfmon import BPFMON, TOP
from lib.permitted import ROOT, needs
from lib.runs import write_run
from lib.spans import span
from lib.store import CommandCase

SAMPLED = True
NEEDS = ()
SANITIZED = TOP / "build" / "sanitized" / "bpfmon"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
READERS = (
    ("list",),
    ("list", "--json"),
    ("show", "1"),
    ("show", "1", "--by", "phase", "--json"),
    ("show", "1", "--by", "span"),
    ("report", "1", "-o", "-"),
    ("export", "1", "-f", "jsonl"),
    ("export", "1", "-f", "csv"),
    ("compare", "1", "2"),
    ("store",),
    ("store", "check"),
    ("store", "prune", "--keep", "9", "--dry-run"),
)
TABLES = ("run", "run_text", "tag", "sample", "block", "process", "process_sample", "event", "span")


def rename(table):
    return f"ALTER TABLE {table} RENAME TO was_{table};"


def schema(table, old, new):
    """The text of the table's schema changed, past all checks of SQLite."""
    return f"PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql=replace(sql, '{old}', '{new}') WHERE name='{table}'"


# name -> what is done to a whole store
TRICKS = {
    "endless view": rename("run") + "CREATE VIEW run AS " + ENDLESS + ", ".join(
        f"i AS {c}" for c in ("id", "uuid", "name", "job", "command", "user", "host", "start_time_ns", "ended", "complete", "exit_code", "signal",
                              "wall_ns", "cpu_ns", "rss_peak_bytes", "processes", "lines_lost", "writer", "seen_time_ns", "interval_ns")) + " FROM n",
    "view that says it is a table": rename("run") + "CREATE VIEW run AS " + ENDLESS + "i AS id FROM n;"
    "PRAGMA writable_schema=ON; UPDATE sqlite_master SET type='table', rootpage=2 WHERE name='run'",
    "table under another name": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET name='x', tbl_name='x' WHERE name='event'",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END",
    "virtual table": "CREATE VIRTUAL TABLE other USING fts5(x)",
    "virtual table of ours": rename("tag") + "CREATE VIRTUAL TABLE tag USING fts5(run, key, value)",
    "computed column": "ALTER TABLE event ADD COLUMN of_it TEXT AS (printf('%.*c', 60000000, 'x'))",
    "condition": schema("event", "line TEXT", "line TEXT CHECK(length(printf(''%.*c'', 60000000, ''x'')) > 0)"),
    "index of an expression": "CREATE INDEX slow ON event(length(printf('%.*c', 60000000, line)))",
    "index of some rows": "CREATE INDEX some ON event(line) WHERE length(line) > 3",
    "missing primary key": schema("sample", ", PRIMARY KEY(run, elapsed_ns)", ""),
    "other order of the key": schema("sample", "PRIMARY KEY(run, elapsed_ns)", "PRIMARY KEY(elapsed_ns, run)"),
    "other type": schema("event", "line TEXT", "line BLOB"),
    "schema without end": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql=sql || printf('%.*c', 200000, ' ') WHERE name='event'",
    "schema of nonsense": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql='CREATE TABLE event(' WHERE name='event'",
    "no sql": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql=NULL WHERE name='event'",
    "all in one page": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage=(SELECT rootpage FROM sqlite_master WHERE name='run') WHERE type='table'",
    "page beyond the file": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage=99999 WHERE name='event'",
    "of another schema": "PRAGMA user_version=1",
    "of no schema": "PRAGMA user_version=0",
    "much newer": "PRAGMA user_version=2147483647",
    "below nothing": "PRAGMA user_version=-1",
    "of another program": "PRAGMA application_id=7",
    "NULL event line": "UPDATE event SET line=NULL",
    "no meta": "UPDATE run_text SET meta='[]'",
    "no text of a run": "DELETE FROM run_text",
    "NULL line of a span": "UPDATE span SET line=NULL",
    "other type of the line of a span": schema("span", "line TEXT", "line BLOB"),
    "times of bytes": "UPDATE run SET start_time_ns=x'00'",
}
# the same of each table, for which fewer readers are asked
OF_A_TABLE = {f"no table {table}": f"DROP TABLE {table}" for table in TABLES}
OF_A_TABLE |= {f"view in place of {table}": rename(table) + f"CREATE VIEW {table} AS {ENDLESS} i FROM n" for table in TABLES}
OF_A_TABLE |= {f"rowid table {table}": schema(table, " WITHOUT ROWID", "") for table in TABLES[2:]}
# what bpfmon need not refuse: it is not read, or harmless
HARMLESS = {
    "a view of the user's": "CREATE VIEW mine AS " + ENDLESS + "i FROM n",
    "a table of the user's": "CREATE TABLE mine(x INTEGER PRIMARY KEY)",
    "an index of the user's": "CREATE INDEX mine ON run(job)",
    "a metric of tomorrow": "ALTER TABLE sample ADD COLUMN of_tomorrow_ns INTEGER",
    "our views endless": "DROP VIEW runs; CREATE VIEW runs AS " + ENDLESS + "i FROM n",
    "a column of ours between others": "DROP VIEW spans; ALTER TABLE span DROP COLUMN line; ALTER TABLE span ADD COLUMN line TEXT;"
    "UPDATE span SET line='{}'",
    "statistics": "ANALYZE",
    "an event that is a summary": "UPDATE event SET line=(SELECT summary FROM run_text WHERE run=1)",
}
FEW = (("list",), ("show", "1"), ("store", "check"))


def sample_line(i):
    return json.dumps({"kind": "sample", "elapsed_seconds": i, "cpu_seconds": i, "rss_bytes": 4096})


class Hostile(CommandCase):
    """`self.whole`: a store of two runs, one file, from which each hostile one is made."""

    samples = 3

    def setUp(self):
        super().setUp()
        self.program = str(SANITIZED if SANITIZED.exists() else BPFMON)
        lines = [sample_line(i) for i in range(1, self.samples)]
        lines.append(json.dumps({"kind": "event", "time": 1001.5, "event": "mark", "text": "a"}))
        lines.append(json.dumps(span(1, "build")))
        lines.append(json.dumps({"kind": "process", "pid": 5, "ppid": 1, "comm": "cc", "exe": "/bin/cc", "exit_code": 0, "cpu_seconds": 1}))
        files = []
        for i in range(2):
            meta = {"start_time": 1000, "command": ["x"], "name": f"run{i}", "interval_seconds": 1}
            files.append(write_run(self.dir / f"{i}.jsonl", {"i": str(i)}, meta, exit_code=i, wall_seconds=3, cpu_seconds=2))
            path = pathlib.Path(files[-1])
            head, end = path.read_text().splitlines()
            path.write_text("\n".join([head, *lines, end]) + "\n")
        self.foreign = self.dir / "foreign.sqlite"
        self.store_does("merge", *files, "--store", self.foreign)
        with contextlib.closing(sqlite3.connect(self.foreign)) as db:
            db.execute("PRAGMA journal_mode=DELETE")
        self.whole = self.foreign.read_bytes()
        self.store_does("merge", files[0], "--store", self.store)

    def make(self, sql):
        for path in self.dir.glob("foreign.sqlite*"):
            path.unlink()
        self.foreign.write_bytes(self.whole)
        with contextlib.closing(sqlite3.connect(self.foreign)) as db:
            db.executescript(sql)

    def ask_of(self, *words):
        """Its end, bounded, without a crash or a sanitizer's word; what it said is a line or nothing."""
        env = {**os.environ, "BPFMON_STORE": str(self.foreign), "ASAN_OPTIONS": "detect_leaks=0"}
        env.pop("BPFMON_NO_STORE", None)
        done = subprocess.run([self.program, *map(str, words)], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=300, check=False)
        said = f"{words}: {done.returncode}: {done.stderr[-2000:]}"
        self.assertIn(done.returncode, (0, 1, 2), said)
        self.assertLessEqual(done.stderr.count("\n"), 1, said)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("bpfmon: "), said)
        return done

    def dump(self):
        with contextlib.closing(sqlite3.connect(self.store)) as db:
            return list(db.iterdump())

    def assert_refused_by(self, readers):
        """By all of them, and by a merge, which leaves our own store as it was."""
        for words in readers:
            done = self.ask_of(*words)
            self.assertNotEqual((done.returncode, done.stderr), (0, ""), words)
            self.assertEqual(done.stdout, "", words)
        before = self.dump()
        done = self.ask_of("store", "merge", self.foreign, "--store", self.store)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertEqual(self.dump(), before)


class Schemas(Hostile):
    def test_each_is_refused_in_one_line_and_a_merge_changes_nothing(self):
        for name, sql in TRICKS.items():
            with self.subTest(name):
                self.make(sql)
                self.assert_refused_by([("store", "check")])
                for words in READERS:
                    self.ask_of(*words)

    def test_another_object_in_the_place_of_a_table_is_refused(self):
        for name, sql in OF_A_TABLE.items():
            with self.subTest(name):
                self.make(sql)
                self.assert_refused_by([("store", "check")])
                for words in FEW:
                    self.ask_of(*words)

    def test_views_and_tables_of_a_user_are_not_damage(self):
        for name, sql in HARMLESS.items():
            with self.subTest(name):
                self.make(sql)
                for words in READERS:
                    done = self.ask_of(*words)
                    self.assertEqual(done.returncode, 0, (words, done.stderr))
                done = self.ask_of("store", "merge", self.foreign, "--store", self.dir / f"{name}.sqlite")
                self.assertEqual((done.returncode, done.stderr), (0, ""))


class Bytes(Hostile):
    """Files that no SQL makes."""

    samples = 600

    def test_pages_that_lead_back_to_others_are_not_followed_for_ever(self):
        (root,) = self.ask_foreign("SELECT rootpage FROM sqlite_master WHERE name='sample'")
        (size,) = self.ask_foreign("PRAGMA page_size")
        data = bytearray(self.whole)
        page = data[(root - 1) * size:root * size]
        self.assertEqual(page[0], 2, "the table is no tree of two levels")
        cells = int.from_bytes(page[3:5], "big")
        first = len(data) // size + 1
        cell = int.from_bytes(page[12:14], "big")
        child = int.from_bytes(page[cell:cell + 4], "big")  # the first leaf: samples of the first run
        for level in range(15):  # each leads to the next from each of its cells, the last to a leaf
            at = first + level + 1 if level < 14 else child
            copy = bytearray(page)
            copy[8:12] = at.to_bytes(4, "big")
            for i in range(cells):
                cell = int.from_bytes(copy[12 + 2 * i:14 + 2 * i], "big")
                copy[cell:cell + 4] = at.to_bytes(4, "big")
            if level == 0:
                data[(root - 1) * size:root * size] = copy
            data += copy
        data[28:32] = (len(data) // size).to_bytes(4, "big")
        self.foreign.write_bytes(data)
        for words in READERS:
            self.ask_of(*words)
        self.assert_refused_by([("store", "check")])
        for words in (("show", "1"), ("export", "1", "-f", "csv")):
            done = self.ask_of(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("damaged", done.stderr)

    def ask_foreign(self, sql):
        with contextlib.closing(sqlite3.connect(self.foreign)) as db:
            return db.execute(sql).fetchone()


class Beside(Hostile):
    """What lies beside a store, where SQLite looks for its journal and its log."""

    def beside(self, ending):
        return pathlib.Path(f"{self.foreign}{ending}")

    def test_a_pipe_a_folder_or_a_link_is_refused(self):
        victim = self.dir / "victim"
        victim.write_text("untouched")
        makers = (os.mkfifo, os.mkdir, lambda path: os.symlink(victim, path))
        for ending in ("-journal", "-wal", "-shm"):
            for maker in makers:
                self.make("PRAGMA journal_mode=WAL; SELECT 1")
                maker(self.beside(ending))
                self.assert_refused_by(FEW)
                if self.beside(ending).is_dir():
                    self.beside(ending).rmdir()
        self.assertEqual(victim.read_text(), "untouched")

    def test_a_journal_or_a_log_of_nonsense_is_survived(self):
        for ending in ("-journal", "-wal", "-shm"):
            for data in (b"", b"\xff" * 5000, b"\x37\x7f\x06\x82" + bytes(4000), b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\xff" * 4000):
                self.make("PRAGMA journal_mode=WAL; SELECT 1")
                self.beside(ending).write_bytes(data)
                for words in FEW:
                    self.ask_of(*words)


class Owner(Hostile):
    @needs(ROOT)
    def test_root_reads_the_store_of_a_user_and_does_not_write_to_it(self):
        os.chown(self.foreign, 65534, 65534)
        for words in (("list",), ("show", "1"), ("store", "check"), ("store", "merge", self.foreign, "--store", self.store)):
            done = self.ask_of(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        self.assertEqual(self.foreign.read_bytes(), self.whole)
        for words in (("store", "prune", "--keep", "0"), ("store", "merge", self.dir / "1.jsonl")):
            done = self.ask_of(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("belongs to user 65534", done.stderr)
        self.assertEqual(self.foreign.read_bytes(), self.whole)
        done = self.bpfmon("-q", "--store", self.foreign, "--", "sh", "-c", "exit 5")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("belongs to user 65534", done.stderr)
        self.assertEqual(self.foreign.read_bytes(), self.whole)
