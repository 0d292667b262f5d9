# SPDX-License-Identifier: BSD-2-Clause
"""Several stores are read as one: those of all hosts that share a home directory."""

import contextlib
import json
import os
import sqlite3
import subprocess
import uuid

from lib.bpfmon import BPFMON
from lib.permitted import ROOT, needs
from lib.runs import write_run
from lib.store import StoreCase

SAMPLED = True
NEEDS = ()
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
        return [row["ref"] for row in self.list(*options, env=self.env)]


class TakenOver(StoresCase):
    """What another host has recorded is in our store as well."""

    def setUp(self):
        super().setUp()
        start = {"start_time": 1763690000, "command": ["x"]}
        self.files = [write_run(self.dir / f"{i}.jsonl", {"i": str(i)}, {**start, "name": f"run{i}"}, exit_code=i) for i in range(3)]
        self.other = self.folder / "node7.sqlite"
        self.merge(self.other, *self.files)
        self.merge(self.folder / f"{OWN}.sqlite", self.other)

    def test_each_run_is_there_once_and_is_ours(self):
        self.assertEqual(sorted(self.ids()), ["1", "2", "3"])
        self.assertEqual(self.ids("--state", "failed", "--tag", "i=2"), ["3"])
        for name in ("run1", self.list("--name", "run1", env=self.env)[0]["run"], "2", "node7:2"):
            self.assertEqual(self.show(name, env=self.env)["meta"]["name"], "run1")

    def test_each_run_is_compared_once(self):
        done = self.bpfmon("compare", "--json", "--name", "run*", env=self.env)
        self.assertEqual(len(json.loads(done.stdout)["groups"]), 3)

    def test_a_copy_that_has_ended_is_taken_instead_of_one_that_has_not(self):
        whole = self.dir / "late.jsonl"
        write_run(whole, None, {"start_time": 1763690000, "command": ["x"], "name": "late"}, exit_code=0)
        cut = self.dir / "cut.jsonl"
        cut.write_text(whole.read_text().splitlines()[0] + "\n")
        self.merge(self.folder / f"{OWN}.sqlite", cut)
        self.assertEqual(self.ids("--state", "unfinished"), ["4"])
        self.merge(self.other, whole)
        self.assertEqual(self.ids("--state", "unfinished"), [])
        self.assertEqual(self.ids("--name", "late"), ["node7:4"])


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


class Home(StoresCase):
    """What was recorded under sudo, which hands on no XDG_STATE_HOME, is in the home directory."""

    def setUp(self):
        super().setUp()
        self.home = self.dir / "home" / ".local" / "state" / "bpfmon"

    def made(self, name):
        start = {"start_time": 1763690000, "command": ["x"], "name": name}
        return write_run(self.dir / f"{name}.jsonl", None, start, exit_code=0)

    def named(self, *ids):
        return [self.show(run, env=self.env)["meta"]["name"] for run in ids]

    def test_runs_there_are_read_too_under_the_hosts_name(self):
        self.merge(self.folder / f"{OWN}.sqlite", self.made("own"))
        self.merge(self.home / f"{OWN}.sqlite", self.made("sudo"))
        self.assertEqual(set(self.ids()), {"1", f"{OWN}:1"})
        self.assertEqual(self.named("1", f"{OWN}:1", "sudo"), ["own", "sudo", "sudo"])
        self.env["XDG_STATE_HOME"] = ""  # as under sudo
        self.assertEqual(self.named(*self.ids()), ["sudo"])

    def test_two_stores_of_another_host_are_distinguished(self):
        self.merge(self.folder / "node7.sqlite", self.made("here"))
        self.merge(self.home / "node7.sqlite", self.made("there"))
        self.assertEqual(set(self.ids()), {"node7:1", "node7~:1"})
        self.assertEqual(self.named("node7:1", "node7~:1"), ["here", "there"])

    def test_a_folder_of_two_names_is_read_once(self):
        self.merge(self.folder / f"{OWN}.sqlite", self.made("own"))
        self.home.parent.mkdir(parents=True)
        self.home.symlink_to(self.folder)
        self.assertEqual(self.ids(), ["1"])

    def test_a_store_that_is_named_is_alone(self):
        self.merge(self.home / "node7.sqlite", self.made("there"))
        self.merge(self.store, self.made("own"))
        self.assertEqual(len(self.list(env={**self.env, "BPFMON_STORE": str(self.store)})), 1)


class Denied(StoresCase):
    @needs(ROOT)
    def test_a_server_that_denies_root_is_named_as_a_cause(self):
        """Root without these capabilities is denied, as by NFS with root_squash."""
        closed = self.dir / "closed"
        closed.mkdir(0o700)
        os.chown(closed, 65534, 65534)
        argv = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", BPFMON, "list", "--store", closed / "x.sqlite"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("it may be on NFS with root_squash", done.stderr)
