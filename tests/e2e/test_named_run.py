# SPDX-License-Identifier: BSD-2-Clause
"""A word is a file, or a run of the store: which of the two where it could be both."""

import json
import os
import shutil
import subprocess

from lib.runs import write_run
from lib.store import StoreCase

GNU_TIME = """\tCommand being timed: "x"
\tUser time (seconds): 1.00
\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:02.00
\tMaximum resident set size (kbytes): 1000
\tExit status: 0
"""


class NamedRunCase(StoreCase):
    def setUp(self):
        super().setUp()
        paths = [self.made(name) for name in ("align", "sort")]
        done = self.bpfmon("store", "merge", *paths)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.here = self.dir / "here"
        self.here.mkdir()

    def made(self, name, job="stored", **more):
        meta = {"start_time": 1763690000, "command": ["x"], "name": name, "job": job}
        return write_run(self.dir / f"{job}-{name}.jsonl", None, meta, exit_code=0, wall_seconds=1, **more)

    def job(self, word):
        return self.show(word, cwd=self.here)["meta"]["job"]

    def refused(self, *words):
        return self.bpfmon(*words, cwd=self.here)


class Shown(NamedRunCase):
    def test_what_is_no_run_does_not_hide_one(self):
        shutil.copy("/bin/true", self.here / "align")
        (self.here / "sort").mkdir()
        self.assertEqual((self.job("align"), self.job("sort")), ("stored", "stored"))
        done = self.bpfmon("export", "align", "-f", "csv", cwd=self.here)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_file_that_is_a_run_goes_before_one_of_its_name(self):
        shutil.copy(self.made("align", "file"), self.here / "align")
        self.assertEqual(self.job("align"), "file")
        self.assertEqual(self.job("sort"), "stored")

    def test_with_a_slash_it_is_a_file_if_that_is_there(self):
        shutil.copy("/bin/true", self.here / "align")
        self.assert_refused(self.refused("show", "./align"), "./align", "no run of bpfmon")
        self.assert_refused(self.refused("show", "./sort"), "no run './sort'", "no such file")

    def test_a_name_may_have_a_slash(self):
        path = write_run(self.dir / "b.jsonl", None, {"start_time": 1, "command": ["x"], "name": "here/b", "job": "branch"})
        self.bpfmon("store", "merge", path)
        self.assertEqual(self.job("here/b"), "branch")

    def test_what_is_no_run_at_all_is_told_as_such(self):
        (self.here / "text").write_text("hello\n")
        (self.here / "folder").mkdir()
        self.assert_refused(self.refused("show", "text"), "text", "no run of bpfmon")
        self.assert_refused(self.refused("show", "folder"), "folder", "Is a directory")
        self.assert_refused(self.refused("show", "nothing"), "no run 'nothing'", "no such file")

    def test_a_pipe_has_a_name_too(self):
        os.mkfifo(self.here / "pipe")
        with subprocess.Popen(["cp", self.made("x", "piped"), self.here / "pipe"]) as writer:
            self.assertEqual(self.job("pipe"), "piped")
        self.assertEqual(writer.returncode, 0)


class Compared(NamedRunCase):
    def sides(self, *words):
        done = self.bpfmon("compare", "--json", *words, cwd=self.here)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [group["runs"][0]["format"] for group in json.loads(done.stdout)["groups"]]

    def test_a_peers_file_goes_before_a_run_of_its_name(self):
        (self.here / "sort").write_text(GNU_TIME)
        shutil.copy("/bin/true", self.here / "align")
        self.assertEqual(self.sides("align", "sort"), ["bpfmon", "GNU time"])
        self.assert_refused(self.refused("compare", "./align", "sort"), "./align", "neither a run of bpfmon")
        (self.here / "sort").write_text(GNU_TIME * 2)
        self.assert_refused(self.refused("compare", "align", "sort"), "several blocks")
