# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon store: its size, what is pruned, whether it is whole, and runs of elsewhere taken over."""

import os
import sqlite3
import subprocess
import sys

from lib.bpfmon import TOP
from lib.store import StoreCase


class CommandCase(StoreCase):
    def store_does(self, *words, code=0, **kwargs):
        done = self.bpfmon("store", *words, **kwargs)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return done.stdout

    def names(self, **kwargs):
        return sorted(row["name"] for row in self.list(**kwargs))

    def big(self, samples, processes, name="big.jsonl"):
        path = self.dir / name
        with open(path, "wb") as out:
            command = [sys.executable, TOP / "tests" / "bench" / "bigrun.py", str(samples), str(processes)]
            subprocess.run(command, stdout=out, check=True)
        return path


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


class Merge(CommandCase):
    def test_runs_of_another_store_once_each(self):
        other = self.dir / "other.sqlite"
        for name in ("x", "y"):
            self.record("--name", name, "--tag", "k=v", env={"BPFMON_STORE": str(other)})
        self.record("--name", "own")
        self.assertIn("2 runs added", self.store_does("merge", other))
        self.assertIn("0 runs added, 0 of which there was less brought up to date, 2 were", self.store_does("merge", other))
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
        self.assertIn("0 runs added, 1 of which", self.store_does("merge", out))
        self.assertIn("1 were there already", self.store_does("merge", out))
        (row,) = self.list()
        self.assertEqual((row["state"], row["complete"]), ("finished", True))
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

    def test_a_long_run_is_drawn_with_its_spike(self):
        self.store_does("merge", self.big(86400, 10))
        shown = self.bpfmon("show", "big").stdout
        self.assertIn("8.0 GiB │", shown)
        self.assertEqual(self.ask("SELECT count(*), max(rss_bytes) FROM block"), [(1350, 8 << 30)])


class Check(CommandCase):
    def test_a_whole_one_and_a_damaged_one(self):
        self.store_does("merge", self.big(5000, 5000))
        self.assertIn("is whole", self.store_does("check"))
        for path in self.dir.glob("store.sqlite-*"):
            path.unlink()
        with open(self.store, "r+b") as f:
            f.seek(self.store.stat().st_size // 2)
            f.write(b"\xff" * 20000)
        done = self.bpfmon("store", "check")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("is damaged", done.stderr)

    def test_the_size_is_told(self):
        self.record()
        text = self.store_does()
        for word in (str(self.store), "runs       1", "processes  1"):
            self.assertIn(word, text)

    def test_what_is_wrong_is_told_in_one_line(self):
        self.assert_refused(self.bpfmon("store"), "No such file")
        self.record()
        for words, said in (
            (("burn",), ("'burn'", "prune, check, or merge")),
            (("prune",), ("which runs", "--keep")),
            (("prune", "--keep", "-1"), ("-1",)),
            (("prune", "--max-size", "12"), ("12",)),
            (("prune", "--older-than", "soon"), ("soon",)),
            (("prune", "x", "--keep", "1"), ("'x'",)),
            (("check", "x"), ("'x'",)),
            (("merge",), ("wants files",)),
        ):
            with self.subTest(words=words):
                self.assert_refused(self.bpfmon("store", *words), *said)
        done = self.bpfmon("store", "merge", "/nonexistent", "/etc/passwd")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'/nonexistent': No such file", done.stderr)
        self.assertIn("'/etc/passwd': it is no run", done.stderr)
