# SPDX-License-Identifier: BSD-2-Clause
"""Stored runs: a store for the test, and its contents by SQL."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys

from lib.bpfmon import BPFMON, TOP, Case, truth


class StoreCase(Case):
    def setUp(self):
        super().setUp()
        self.store = self.dir / "store.sqlite"

    def bpfmon(self, *words, env=None, **kwargs):
        """Runs bpfmon with this store; returns its output as text."""
        environment = {k: v for k, v in os.environ.items() if k != "BPFMON_NO_STORE"}
        environment |= {"BPFMON_STORE": str(self.store), **(env or {})}
        kwargs = {"capture_output": True, "text": True, "errors": "replace", "timeout": 120, **kwargs}
        return subprocess.run([BPFMON, *(word if isinstance(word, bytes) else str(word) for word in words)], env=environment, check=False, **kwargs)

    def record(self, *options, command=("true",), code=0, **kwargs):
        done = self.bpfmon("-q", *options, "--", *command, **kwargs)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def list(self, *options, **kwargs):
        """The rows of `list --json`."""
        done = self.bpfmon("list", "--json", *options, **kwargs)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def show(self, run, **kwargs):
        done = self.bpfmon("show", "--json", run, **kwargs)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def ask(self, sql, *values):
        """All rows of the SQL query."""
        with contextlib.closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as db:
            return db.execute(sql, values).fetchall()

    def assert_sound_file(self):
        self.assertEqual(self.ask("PRAGMA integrity_check"), [("ok",)])

    def assert_refused(self, done, *words):
        """One line with these words, exit status 2, and nothing on stdout."""
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(str(word), done.stderr)


class CommandCase(StoreCase):
    """For the subcommands of `bpfmon store`."""

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

    def peak_of(self, *words):
        """The high-water mark of memory, in bytes, of `bpfmon store` with these words."""
        out = self.dir / "wait4.json"
        argv = [truth("witness"), out, BPFMON, "store", *map(str, words)]  # a small parent: its mark is inherited
        subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
        return json.loads(out.read_text())["maxrss_kb"] * 1024
