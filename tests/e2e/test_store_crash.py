# SPDX-License-Identifier: BSD-2-Clause
"""Whatever befalls a store or its writer: the command goes on, and what was committed stays."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import time

from lib import sweep
from lib.bpfmon import BPFMON, read_lines, truth
from lib.live import LiveCase, send, wait_for
from lib.store import StoreCase

SAMPLED = True
ROUNDS = sweep.often(20, 100)
AT_ONCE = 5


class CrashCase(LiveCase, StoreCase):
    def setUp(self):
        super().setUp()
        self.random = sweep.chance()

    def begin(self, store=None):
        """A run in its midst: bpfmon, its roles, how to end the command."""
        command, stop, _ = self.work_until_told()
        env = {k: v for k, v in os.environ.items() if k != "BPFMON_NO_STORE"}
        options = ["-i", "0.02", "--name", stop.name, "--store", store or self.store]
        live = self.live(command, options, env=env)
        return live, live.roles(), stop

    def finish(self, live, stop):
        """The command was not disturbed."""
        stop.touch()
        run = live.finish()
        self.assertEqual(run.code, 43, run.stderr)
        return run


class Killed(CrashCase):
    def kept_of(self, stop):
        rows = "SELECT elapsed_seconds FROM samples JOIN run ON run.id = run WHERE name = ? ORDER BY 1"
        return [row[0] for row in self.ask(rows, stop.name)] if self.store.exists() else []

    def assert_beginning(self, stop, told, seen):
        """No gap, and nothing is gone that was there before."""
        kept = self.kept_of(stop)
        self.assertGreaterEqual(len(kept), len(seen))
        shorter = min(len(kept), len(told))
        self.assertEqual(kept[:shorter], told[:shorter])

    def crash(self, begun):
        """Each at another moment, and another of the roles, or all of them."""
        ended = []
        for live, (collector, recorder, _), stop in begun:
            time.sleep(self.random.uniform(0, 0.4))
            seen = self.kept_of(stop)
            victims = self.random.choice([(recorder,), (collector,), (recorder, collector)])
            for pid in victims:
                send(pid, signal.SIGKILL)
            ended.append((live, stop, victims, seen))
        for live, stop, victims, seen in ended:
            self.finish(live, stop)
            told = [x["elapsed_seconds"] for x in read_lines(live.out) if x["kind"] == "sample"]
            self.assert_beginning(stop, told, seen)
        self.assert_sound_file()
        return {stop.name for _, stop, victims, _ in ended if len(victims) == 2}

    def test_at_a_hundred_random_moments(self):
        both = set()
        for _ in range(ROUNDS // AT_ONCE):
            both |= self.crash([self.begin() for _ in range(AT_ONCE)])
        runs = {row["name"]: row for row in self.list()}
        self.assertGreater(len(runs), ROUNDS / 2)  # the others had not yet begun
        self.assertTrue(both)
        for name, row in runs.items():
            self.assertIn(row["state"], ("ended", "failed", "signal", "unfinished"))
            self.assertFalse(row.get("complete", False))
            if name in both:
                self.assertEqual(row["state"], "unfinished")
                self.assertIn("recorder was killed", self.show(name)["summary"]["reason"])
        self.record("--name", "after")
        self.assertTrue(self.list("--name", "after")[0]["complete"])


class Disks(CrashCase):
    def mount(self, size):
        place = self.dir / "disk"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "bpfmon-test", place], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", place], check=True)
        self.store = place / "store.sqlite"
        return place

    def run_undisturbed(self, *words):
        """The command's status is its own; what bpfmon said has these words."""
        done = self.bpfmon("-i", "0.02", "--", truth("exitwith"), "7")
        self.assertEqual(done.returncode, 7)
        self.assertIn("complete: nothing was lost", done.stderr)
        self.assertEqual(done.stderr.count("warning:"), 1, done.stderr)
        for word in (self.store, "the command continues", *words):
            self.assertIn(str(word), done.stderr)
        self.assertIn("NOT SAVED", done.stderr)

    def test_a_full_disk_from_the_beginning(self):
        place = self.mount("64k")
        (place / "filler").write_bytes(b"x" * (64 << 10))
        self.run_undisturbed("no space left on its disk")

    def test_a_disk_that_becomes_full(self):
        place = self.mount("1m")
        self.record("--name", "before")
        live, _, stop = self.begin(self.store)
        wait_for(lambda: self.ask("SELECT count(*) FROM samples WHERE run = 2")[0][0] > 5, "samples in the store")
        self.fill(place)
        seen = self.ask("SELECT count(*) FROM samples WHERE run = 2")[0][0]
        live.wait_for_samples(200)
        run = self.finish(live, stop)
        self.assertIn("no space left on its disk", run.stderr)
        self.assertTrue(run.summary["complete"])  # the account is; only what is kept is not
        (place / "filler").unlink()
        self.assert_sound_file()
        rows = {row["name"]: row for row in self.list()}
        self.assertEqual(rows["before"]["state"], "ended")
        self.assertEqual(rows[stop.name]["state"], "unfinished")
        self.assertGreaterEqual(self.show("2")["summary"]["samples"], seen)
        self.record("--name", "after")
        self.assertEqual(self.list("--name", "after")[0]["state"], "ended")

    def fill(self, place):
        with open(place / "filler", "wb", buffering=0) as filler, contextlib.suppress(OSError):
            while filler.write(b"x" * 4096):
                pass

    def test_a_store_on_a_full_disk_is_read(self):
        """SQLite's index of a log is a file beside it, for which there is no room."""
        place = self.mount("1m")
        log = place / "store.sqlite-wal"
        self.record("--name", "before")
        self.assertFalse(log.exists())
        self.fill(place)
        self.assertEqual([row["name"] for row in self.list()], ["before"])
        self.assertEqual(self.show("before")["summary"]["exit_code"], 0)
        for left in (place / "filler", log, place / "store.sqlite-shm"):
            left.unlink(missing_ok=True)
        # as the recorder leaves it that has died
        db = sqlite3.connect(self.store, isolation_level=None)
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("UPDATE run SET name = 'in the log'")
        whole, last = self.store.read_bytes(), log.read_bytes()
        db.close()
        self.store.write_bytes(whole)
        log.write_bytes(last)
        self.fill(place)
        self.assertEqual([row["name"] for row in self.list()], ["in the log"])
        self.assertEqual(self.show("1")["summary"]["exit_code"], 0)
        self.assertEqual((self.store.read_bytes(), log.read_bytes()), (whole, last), "nothing is written")

    def test_a_store_that_may_only_be_read(self):
        place = self.mount("4m")
        self.record("--name", "before")
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        self.run_undisturbed()
        self.assertEqual([row["name"] for row in self.list()], ["before"])
        self.assertEqual(self.show("before")["summary"]["exit_code"], 0)

    def test_what_is_no_file(self):
        for name, make, said in (
            ("folder", lambda path: path.mkdir(), "directory"),
            ("fifo", os.mkfifo, "not a regular file"),
            ("link", lambda path: path.symlink_to("/dev/full"), "not a regular file"),
        ):
            with self.subTest(name=name):
                self.store = self.dir / name
                make(self.store)
                self.run_undisturbed(said)
                self.assert_refused(self.bpfmon("list"), self.store, said)


class Damaged(CrashCase):
    def setUp(self):
        super().setUp()
        self.record("-i", "0.01", "--name", "one", command=("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.05; done"))
        self.whole = self.store.read_bytes()
        self.assertGreater(len(self.whole), 40_000)

    def assert_bearable(self, text):
        """Reading says what it can or one line; recording disturbs nobody."""
        self.store.write_bytes(text)
        for path in self.dir.glob("store.sqlite-*"):
            path.unlink()
        for words in (("list",), ("show", "1"), ("show", "one")):
            done = self.bpfmon(*words)
            self.assertIn(done.returncode, (0, 2), done.stderr)
            if done.returncode:
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        done = self.bpfmon("--", truth("exitwith"), "7")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertNotIn("INCOMPLETE", done.stderr)
        self.assertTrue("NOT SAVED" in done.stderr or "saved       as run" in done.stderr, done.stderr)
        return "NOT SAVED" in done.stderr

    def test_a_truncated_file(self):
        for part in (0, 10, 100, 512, 4096, len(self.whole) // 3, len(self.whole) - 1000):
            with self.subTest(part=part):
                not_kept = self.assert_bearable(self.whole[:part])
                if part < len(self.whole) // 2:  # of the last page nobody may have need
                    self.assertEqual(not_kept, part > 0)  # an empty file is a new store

    def test_a_file_with_flipped_bits(self):
        spoilt = 0
        for _ in range(60):
            text = bytearray(self.whole)
            for _ in range(self.random.choice([1, 8])):
                text[self.random.choice([self.random.randrange(100), self.random.randrange(len(text))])] ^= (
                    1 << self.random.randrange(8)
                )
            spoilt += self.assert_bearable(bytes(text))
        self.assertGreater(spoilt, 0)  # else it shows nothing


class Together(StoreCase):
    def test_many_write_to_one_store(self):
        env = {k: v for k, v in os.environ.items() if k != "BPFMON_NO_STORE"}
        runs = [
            subprocess.Popen(
                [BPFMON, "-q", "-i", "0.01", "--store", self.store, "--name", f"n{i}", "--", "sleep", "0.5"], env=env
            )
            for i in range(12)
        ]
        self.assertEqual({run.wait() for run in runs}, {0})
        rows = self.list()
        self.assertEqual({row["name"] for row in rows}, {f"n{i}" for i in range(12)})
        self.assertEqual({(row["state"], row["complete"]) for row in rows}, {("ended", True)})
        for run, samples in self.ask("SELECT run, count(*) FROM samples GROUP BY run"):
            self.assertEqual(samples, self.show(str(run))["summary"]["samples"])
        self.assert_sound_file()

    def test_a_writer_that_holds_the_store_for_long_is_waited_for(self):
        self.record()
        holder = subprocess.Popen(
            ["python3", "-c", HOLD, self.store], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            self.assertEqual(holder.stdout.readline(), "held\n")
            run = subprocess.Popen(
                [BPFMON, "-q", "--store", self.store, "--", "true"],
                env={k: v for k, v in os.environ.items() if k != "BPFMON_NO_STORE"},
            )
            self.assertEqual(len(self.ask("SELECT id FROM run")), 1)
            holder.stdin.write("\n")
            holder.stdin.close()
            self.assertEqual(run.wait(), 0)
            self.assertEqual(len(self.list("--state", "finished")), 2)
        finally:
            holder.kill()
            holder.wait()
            holder.stdout.close()


HOLD = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
db.rollback()
"""
