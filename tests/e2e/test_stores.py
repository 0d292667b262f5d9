# SPDX-License-Identifier: BSD-2-Clause
"""Several stores are read as one: those of all hosts that share a home directory."""

import contextlib
import os
import sqlite3
import uuid

from lib.runs import write_run
from lib.store import StoreCase

OWN = os.uname().nodename


class StoresCase(StoreCase):
    def setUp(self):
        super().setUp()
        self.folder = self.dir / "state" / "bpfmon"
        self.folder.mkdir(parents=True)
        self.env = {"BPFMON_STORE": "", "XDG_STATE_HOME": str(self.folder.parent), "HOME": str(self.dir / "home")}

    def merge(self, store, *paths):
        store.parent.mkdir(parents=True, exist_ok=True)
        done = self.bpfmon("store", "merge", "--store", store, *paths)
        self.assertEqual(done.returncode, 0, done.stderr)

    def ids(self, *options):
        return [row["id"] for row in self.list(*options, env=self.env)]


class Many(StoresCase):
    def test_no_host_is_left_out(self):
        first = self.folder / "node0.sqlite"
        self.merge(first, write_run(self.dir / "run.jsonl", None, {"start_time": 1763690000, "command": ["x"]}, exit_code=0))
        for i in range(1, 300):
            path = self.folder / f"node{i}.sqlite"
            path.write_bytes(first.read_bytes())
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                db.execute("UPDATE run SET uuid = ?", (str(uuid.uuid4()),))
        self.assertEqual(set(self.ids()), {f"node{i}:1" for i in range(300)})
        self.assertEqual(self.show("node299:1", env=self.env)["meta"]["start_time"], 1763690000)
