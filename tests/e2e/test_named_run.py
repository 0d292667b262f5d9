# SPDX-License-Identifier: BSD-2-Clause
"""A word is a file, or a run of the store: which of the two where it could be both."""

import json
import os
import shutil
import subprocess
import uuid

from lib.runs import write_run
from lib.store import StoreCase

SAMPLED = True
NEEDS = ()
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
        self.assert_refused(self.refused("show", "./align"), "./align", "not a bpfmon run")
        self.assert_refused(self.refused("show", "./sort"), "no run './sort'", "no such file")

    def test_a_name_may_have_a_slash(self):
        path = write_run(self.dir / "b.jsonl", None, {"start_time": 1, "command": ["x"], "name": "here/b", "job": "branch"})
        self.bpfmon("store", "merge", path)
        self.assertEqual(self.job("here/b"), "branch")

    def test_what_is_no_run_at_all_is_told_as_such(self):
        (self.here / "text").write_text("hello\n")
        (self.here / "folder").mkdir()
        self.assert_refused(self.refused("show", "text"), "text", "not a bpfmon run")
        self.assert_refused(self.refused("show", "folder"), "folder", "Is a directory")
        self.assert_refused(self.refused("show", "nothing"), "no run 'nothing'", "no such file")

    def test_a_pipe_has_a_name_too(self):
        os.mkfifo(self.here / "pipe")
        with subprocess.Popen(["cp", self.made("x", "piped"), self.here / "pipe"]) as writer:
            self.assertEqual(self.job("pipe"), "piped")
        self.assertEqual(writer.returncode, 0)


class LastRuns(StoreCase):
    """Four runs, the last of them without a name; `job` says which is which."""

    def setUp(self):
        super().setUp()
        self.uuids = [str(uuid.uuid4()) for _ in range(5)]
        for i, name in enumerate(("align", "sort", "align", "align~1", None)):
            meta = {"run": self.uuids[i], "start_time": 1000 + i, "command": ["x"], "name": name, "job": f"j{i}"}
            write_run(self.dir / f"{i}.jsonl", None, meta, exit_code=0, wall_seconds=1, rss_peak_bytes=4096 * (i + 1))
        done = self.bpfmon("store", "merge", *(self.dir / f"{i}.jsonl" for i in range(5)))
        self.assertEqual(done.returncode, 0, done.stderr)

    def shown(self, *words):
        """Which run, and what is said about it."""
        done = self.bpfmon("show", "--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["meta"]["job"], done.stderr

    def exported(self, *words):
        done = self.bpfmon("export", "-f", "jsonl", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return [line["job"] for line in lines if line["kind"] == "meta"]

    def test_without_a_word_it_is_the_last_run(self):
        self.assertEqual(self.shown(), ("j4", "bpfmon: run 5 (the last one): x\n"))
        self.assertEqual(self.exported(), ["j4"])
        job, said = self.shown("~1")
        self.assertEqual((job, said), ("j3", "bpfmon: run 4 is ~1: x\n"))
        self.assertEqual(self.shown("~4")[0], "j0")
        self.assert_refused(self.bpfmon("show", "~5"), "'~5'", "only 5")

    def test_an_empty_store_has_no_last_run(self):
        done = self.bpfmon("show", env={"BPFMON_STORE": str(self.dir / "none.sqlite")})
        self.assertEqual(done.returncode, 2)
        self.store = self.dir / "new.sqlite"
        self.bpfmon("store", "merge", self.dir / "0.jsonl")
        self.bpfmon("store", "prune", "--keep", "0")
        self.assert_refused(self.bpfmon("show"), "no run named", "bpfmon -- COMMAND")

    def test_a_name_is_its_last_run_and_says_which(self):
        self.assertEqual(self.shown("align"), ("j2", "bpfmon: run 3 (the last of 2 runs named 'align'; align~1 is the one before)\n"))
        self.assertEqual(self.shown("align~0")[0], "j2")
        self.assertEqual(self.shown("sort"), ("j1", ""))
        self.assertEqual(self.shown("sort~0")[0], "j1")

    def test_a_mistyped_name_is_corrected(self):
        self.assert_refused(self.bpfmon("show", "algin"), "no run 'algin' in the store", "did you mean 'align'?")
        self.assert_refused(self.bpfmon("show", "srot~1"), "did you mean 'sort'?")
        self.assert_refused(self.bpfmon("show", "unrelated"), "see 'bpfmon list'")

    def test_advise_and_report_many_take_all_runs_of_an_exact_name(self):
        for word, runs in (("align", 2), ("sort", 1), ("align~1", 1), ("3", 1)):
            done = self.bpfmon("report", "--many", "-o", "-", word)
            self.assertIn(f"<p>{runs} run{'' if runs == 1 else 's'}, begun", done.stdout, done.stderr)
        self.assertIn("<p>3 runs, begun", self.bpfmon("report", "--many", "-o", "-", "align", "sort", "align").stdout)
        for words in (["advise"], ["report", "--many", "-o", "-"]):
            self.assert_refused(self.bpfmon(*words, "algin"), "no run is called 'algin'; did you mean 'align'?")
            self.assert_refused(self.bpfmon(*words, "lig"), "no run is called 'lig'", "--word lig")
            self.assert_refused(self.bpfmon(*words, "align", "--name", "sort"), "no run matches the filters")
        for word, runs in (("LIG", "3 runs"), ("gn~1", "1 run")):
            self.assertIn(f"<p>{runs}, begun", self.bpfmon("report", "--many", "-o", "-", "--word", word, "--word", "ali").stdout)

    def test_a_run_that_is_called_so_goes_before_the_meaning_of_its_name(self):
        self.assertEqual(self.shown("align~1"), ("j3", ""))
        self.assertEqual(self.shown("align~1~0")[0], "j3")

    def test_several_runs_go_into_a_file_where_the_format_takes_them(self):
        self.assertEqual(self.exported("align~all"), ["j0", "j2"])
        self.assertEqual(self.exported("2", "align", self.dir / "4.jsonl"), ["j1", "j2", "j4"])
        self.assertEqual(self.exported("~all"), ["j0", "j1", "j2", "j3", "j4"])
        out = self.dir / "all.jsonl"
        self.assertEqual(self.bpfmon("export", "~all", "-f", "jsonl", "-o", out).returncode, 0)
        self.store = self.dir / "copy.sqlite"
        self.assertIn("5 runs added", self.bpfmon("store", "merge", out).stdout)
        for words in (("align~all", "-f", "psrecord"), ("1", "2", "-f", "psrecord-plain")):
            done = self.bpfmon("export", *words, "-o", self.dir / "none", env={"BPFMON_STORE": str(self.dir / "store.sqlite")})
            self.assert_refused(done, "holds one run, but 2 are given", "bpfmon export 1 -f psrecord")
        self.assertFalse((self.dir / "none").exists())

    def test_one_that_fails_leaves_no_file_of_the_others(self):
        (self.dir / "bad.jsonl").write_text("{}\n")
        out = self.dir / "out"
        self.assert_refused(self.bpfmon("export", "1", self.dir / "bad.jsonl", "-f", "jsonl", "-o", out), "bad.jsonl")
        self.assertFalse(out.exists())

    def test_a_report_of_the_last_run_is_called_by_its_number(self):
        samples = {"kind": "sample", "elapsed_seconds": 1, "rss_bytes": 1}
        path = self.dir / "s.jsonl"
        head, end = write_run(path, None, {"start_time": 9000, "command": ["x"]}), None
        head, end = path.read_text().splitlines()
        path.write_text("\n".join([head, json.dumps(samples), end, ""]))
        self.bpfmon("store", "merge", path)
        done = self.bpfmon("report", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.dir / "6.html").exists())

    def test_compare_judges_the_last_run_of_a_name(self):
        def compared(*words):
            done = self.bpfmon("compare", "--json", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            groups = json.loads(done.stdout)["groups"]
            return [run["name"] for group in groups for run in group["runs"]], done.stderr

        names, said = compared("align")
        self.assertEqual(names, ["1", "3"])
        self.assertIn("run 3 (the last of 2 runs named 'align') against the run before it", said)
        self.assertEqual(compared("align", "sort")[0], ["3", "sort"])
        self.assertEqual(compared("~1", "~0")[0], ["4", "5"])
        self.assert_refused(self.bpfmon("compare", "sort"), "a comparison needs two runs", "'sort' is only one")


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
        self.assert_refused(self.refused("compare", "align", "sort"), "several runs of GNU time")
