# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon like: which kind of run a run is, of programs that differ in what they do and not in when."""

import contextlib
import json
import random
import sqlite3
import subprocess
import sys

from lib import kindruns
from lib.bpfmon import BPFMON
from lib.kindruns import write
from lib.permitted import BPF, ROOT, needs
from lib.store import StoreCase

SAMPLED = True
NEEDS = ()
# all in one interpreter, so that the names of programs say nothing
FORKS = "import os, sys\nfor i in range(int(sys.argv[1])):\n    if not os.fork(): os._exit(0)\n    os.wait()"
GROWS = "import sys\nheld = []\nfor i in range(int(sys.argv[1])): held.append(b'x' * (1 << 20))"
WRITES = "import sys\nfor i in range(int(sys.argv[1])): open(sys.argv[2], 'wb', 0).write(b'x' * (1 << 20))"
BURNS = "import sys\nfor i in range(int(sys.argv[1]) * 50000): pass"
KINDS = {"forks": FORKS, "grows": GROWS, "writes": WRITES, "burns": BURNS}
SIZES = (50, 80, 120, 200)


@needs(ROOT, BPF)
class Real(StoreCase):
    def setUp(self):
        super().setUp()
        for size in SIZES:
            for name, script in KINDS.items():
                self.record("--name", name, command=(sys.executable, "-c", script, str(size), str(self.dir / "written")))

    def like(self, run, *options):
        done = self.bpfmon("like", run, "--json", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_the_nearest_run_is_of_the_same_kind_whatever_its_size(self):
        for options in ([], ["--without-programs"]):
            for row in self.list():
                with self.subTest(name=row["name"], id=row["id"], options=options):
                    said = self.like(row["id"], *options)
                    self.assertEqual(said["neighbours"][0]["kind"], row["name"], said)
                    self.assertEqual((said["known_runs"], said["known_kinds"]), (len(SIZES) * len(KINDS) - 1, len(KINDS)))
                    self.assertNotIn(row["run"], [neighbour["run"] for neighbour in said["neighbours"]])

    def test_signatures_have_what_each_kind_does(self):
        figures = {row["name"]: self.like(row["id"])["signature"] for row in self.list()}
        for kind, key in (("forks", "processes"), ("grows", "memory_reuse"), ("writes", "wchar")):
            others = [figures[name][key] for name in KINDS if name != kind]
            (self.assertLess if key == "memory_reuse" else self.assertGreater)(figures[kind][key], max(others), (kind, key, figures))


class Made(StoreCase):
    """On runs of a generator, whose distances are known to differ."""

    def setUp(self):
        super().setUp()
        self.rng = random.Random(1)
        self.made = [kindruns.run(self.rng, kind, i) for i in range(8) for kind in kindruns.KINDS]
        self.merge(self.made)

    def merge(self, made, name="made.jsonl"):
        write(self.dir / name, made)
        done = self.bpfmon("store", "merge", self.dir / name)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def like(self, *words):
        done = self.bpfmon("like", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def file(self, kind):
        path = self.dir / f"{kind}.jsonl"
        write(path, [kindruns.run(self.rng, kind, 100)])
        return path

    def test_a_file_of_a_known_kind_is_like_it(self):
        for kind in ("align", "sort", "train"):
            said = json.loads(self.like(self.file(kind), "--json"))
            self.assertEqual((said["near"], said["kind"]), (True, kind), said)
            self.assertGreaterEqual(said["agreeing"], 3)
            self.assertLessEqual(said["neighbours"][0]["distance"], said["threshold"])

    def test_a_file_of_an_unknown_kind_is_said_to_be_unknown(self):
        said = json.loads(self.like(self.file("stranger"), "--json"))
        self.assertFalse(said["near"])
        self.assertNotIn("kind", said)
        self.assertGreater(said["neighbours"][0]["distance"], said["threshold"])
        self.assertIn("unknown: the nearest run has the distance ", self.like(self.dir / "stranger.jsonl"))

    def test_a_kind_that_the_filters_take_away_is_unknown(self):
        text = self.like(self.file("train"), "--name", "s*")
        self.assertIn("unknown", text)
        self.assertIn("compared with 8 runs of 1 kind\n", text)

    def test_the_text_has_the_neighbours(self):
        text = self.like(self.file("align"), "-k", "3", "--without-programs").splitlines()
        self.assertRegex(text[0], r"align.jsonl: like align \([123] of the 3 nearest runs\); the limit of the distance is \d\.\d\d$")
        self.assertEqual(text[2].split(), ["distance", "run", "kind", "wall", "command"])
        self.assertEqual(len(text), 9)

    def test_runs_of_the_same_command_line_come_first(self):
        other = kindruns.run(self.rng, "train", 400)
        other.meta["command"] = ["./align.sh", "3"]
        path = self.dir / "other.jsonl"
        write(path, [other])
        said = json.loads(self.like(path, "--json"))
        self.assertEqual([(one["kind"], one["same_command"]) for one in said["neighbours"]], [("align", True)] + [("train", False)] * 4)
        self.assertEqual((said["near"], said["kind"]), (True, "train"))
        self.assertGreater(said["neighbours"][0]["distance"], said["neighbours"][1]["distance"])
        text = self.like(path).splitlines()
        self.assertIn("./align.sh 3", text[3])
        self.assertEqual(text[-2], "runs of the same command line come first")
        self.merge([other], "other.jsonl")
        self.assertEqual(json.loads(self.like(other.meta["run"], "--json"))["neighbours"], said["neighbours"])

    def test_a_kind_with_many_runs_does_not_make_the_others_unknown(self):
        self.merge([kindruns.run(self.rng, "align", 1000 + i) for i in range(300)], "many.jsonl")
        others = [made for made in self.made if made.meta["name"] != "align"]
        said = [json.loads(self.like(made.meta["run"], "--json")) for made in others]
        self.assertLess(sum(not one["near"] for one in said), len(others) / 5)
        self.assertFalse(json.loads(self.like(self.file("stranger"), "--json"))["near"])

    def test_programs_are_named_where_they_keep_it_from_the_nearest(self):
        other = kindruns.run(self.rng, "align", 300)
        other.summary["programs"][0]["exe"] = "/opt/bin/\x1b[2Jother"
        path = self.dir / "other.jsonl"
        write(path, [other])
        self.assertIn("the nearest differs most in its programs (most in ?[2Jother against aligner), ", self.like(path))
        self.assertNotIn("programs (", self.like(path, "--without-programs"))

    def test_where_the_first_program_is_the_same_their_shares_are_named(self):
        other = kindruns.run(self.rng, "align", 302)
        (program,) = other.summary["programs"]
        cpu = program["cpu_seconds"]
        other.summary["programs"] = [
            {**program, "cpu_seconds": 0.6 * cpu}, {**program, "exe": "/x/sort", "cpu_seconds": 0.4 * cpu}]
        path = self.dir / "shares.jsonl"
        write(path, [other])
        self.assertIn("its programs (aligner 0.60 against 1.00 of the CPU time)", self.like(path))

    def test_programs_with_the_same_beginning_are_one(self):
        long = kindruns.run(self.rng, "align", 301)
        share = long.summary["cpu_seconds"] / 2
        beginning = "my_long_crate_name_abé"  # 23 bytes, and the next one is of two
        long.summary["programs"] = [{"exe": f"/x/{beginning}{end}", "processes": 1, "cpu_seconds": share} for end in ("é1", "é2")]
        path = self.dir / "long.jsonl"
        write(path, [long])
        said = json.loads(self.like(path, "--json"))
        self.assertEqual(said["programs"], {beginning: 1})

    def test_a_run_is_not_compared_with_itself_as_a_file_either(self):
        path = self.dir / "own.jsonl"
        write(path, self.made[:1])
        said = json.loads(self.like(path, "--json", "-k", "100"))
        self.assertNotIn(self.made[0].meta["run"], [neighbour["run"] for neighbour in said["neighbours"]])
        self.assertEqual(said["known_runs"], len(self.made) - 1)

    def test_absent_figures_are_absent(self):
        bare = kindruns.run(self.rng, "sort", 101)
        for key in ("rss_peak_bytes", "process_rss_peak_bytes", "rchar_bytes", "user_seconds"):
            bare.summary.pop(key, None)
        bare.samples.clear()
        path = self.dir / "bare.jsonl"
        write(path, [bare])
        said = json.loads(self.like(path, "--json"))
        for key in ("rchar", "user_share", "memory_reuse", "memory_1", "read_size"):
            self.assertNotIn(key, said["signature"])
        self.assertEqual(said["kind"], "sort")

    def test_signatures_that_a_store_lacks_are_worked_out_and_kept(self):
        before = self.ask("SELECT * FROM signature")
        said = self.like("1", "--json")
        self.tell("DELETE FROM signature WHERE run % 2")
        self.assertEqual(self.like("1", "--json"), said)
        self.assertEqual(self.ask("SELECT * FROM signature"), before)

    def tell(self, sql):
        with contextlib.closing(sqlite3.connect(self.store)) as db:
            db.executescript(sql if sql.endswith(";") else f"{sql};")

    def test_what_is_damaged_is_refused(self):
        self.tell("UPDATE signature SET cores_milli = 'x'")
        self.assert_refused(self.bpfmon("like", "1"), "signature", "cores_milli")

    def test_without_another_run_there_is_no_answer(self):
        self.assert_refused(self.bpfmon("like", "1", "--name", "nobody"), "no other finished run")
        self.assert_refused(self.bpfmon("like", "4711"), "4711")
        self.assert_refused(self.bpfmon("like", "1", "-k", "0"), "--neighbours")
        self.assert_refused(subprocess.run([BPFMON, "like", "1", "2"], capture_output=True, text=True, check=False), "2")
