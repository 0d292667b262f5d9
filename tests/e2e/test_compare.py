# SPDX-License-Identifier: BSD-2-Clause
"""Runs, groups of runs and other tools' files against each other; a second witness recomputes."""

import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

from lib.bpfmon import BPFMON, Case, truth
from lib.permitted import BPF, ROOT, needs
from lib.runs import write_group, write_run

NEEDS = ()
TIME = "/usr/bin/time"


def compare(*words, width=100):
    return subprocess.run(
        [BPFMON, "compare", *words],
        env={**os.environ, "COLUMNS": str(width)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )


def as_json(*words):
    done = compare("--json", *words)
    return done, json.loads(done.stdout)


def values_of(paths, key):
    return [json.loads(pathlib.Path(path).read_text().splitlines()[-1])[key] for path in paths]


def rank_sum_p(a, b):
    """Two-sided p by going through every arrangement of the midranks."""
    everyone = sorted(a + b)
    rank = {v: everyone.index(v) + (everyone.count(v) + 1) / 2 for v in everyone}
    ranks = [rank[v] for v in a + b]
    middle = len(b) * (len(everyone) + 1) / 2
    far = abs(sum(ranks[len(a) :]) - middle)
    sums = [abs(sum(chosen) - middle) for chosen in itertools.combinations(ranks, len(b))]
    return sum(s >= far - 1e-9 for s in sums) / len(sums)


class FilesCase(unittest.TestCase):
    """Needs no privilege: nothing is run."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def run_file(self, name, **more):
        return write_run(self.dir / name, **more)

    def assert_refused(self, part, *words):
        done = compare(*words)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, b"")
        said = done.stderr.decode()
        self.assertEqual(said.count("\n"), 1, said)
        self.assertTrue(said.startswith("bpfmon: "), said)
        self.assertIn(part, said)


class Estimates(FilesCase):
    def test_two_runs_differ_in_what_they_waited_for_only_by_much(self):
        base = {"wall_seconds": 10.0, "wait_child_seconds": 4.0, "nvcsw": 1000}
        first = self.run_file("a.jsonl", **base)
        for seconds, is_change in ((4.9, False), (3.1, False), (5.5, True), (0.5, True)):
            with self.subTest(seconds=seconds):
                other = self.run_file("b.jsonl", **{**base, "nvcsw": 1100, "wait_child_seconds": seconds})
                said = compare(first, other).stdout.decode()
                self.assertIn("nvcsw", said)
                self.assertEqual("wait_child" in said, is_change, said)


class Groups(FilesCase):
    def two_groups(self, factor, count=10):
        old = write_group(self.dir, "build", "old", seed=1, count=count)
        return old, write_group(self.dir, "build", "new", seed=2, count=count, factor=factor)

    def test_a_real_difference_is_more_than_noise(self):
        old, new = self.two_groups(1.2)
        done, said = as_json("--by", "build", *old, *new)
        self.assertEqual(done.returncode, 0, done.stderr)
        (_, wall), (_, rss) = said["values"]["wall_seconds"], said["values"]["rss_peak_bytes"]
        self.assertEqual(wall["verdict"], "more than noise")
        self.assertEqual(rss["verdict"], "more than noise")
        self.assertEqual(wall["method"], "exact")
        self.assertEqual(wall["u"], 100)

    def test_chance_alone_may_be_noise(self):
        old, new = self.two_groups(1.0)
        _, said = as_json("--by", "build", *old, *new)
        self.assertEqual(said["values"]["wall_seconds"][1]["verdict"], "may be noise")
        self.assertEqual(said["values"]["exit_code"][1]["verdict"], "equal")
        self.assertEqual(said["values"]["exit_code"][1]["p"], 1)

    def test_all_numbers_are_those_of_a_second_witness(self):
        for factor in (1.0, 1.03, 1.2):
            old, new = self.two_groups(factor, count=8)
            _, said = as_json("--by", "build", *old, *new)
            for key in ("wall_seconds", "rss_peak_bytes", "minflt"):  # the last has ties
                a, b = values_of(old, key), values_of(new, key)
                first, other = said["values"][key]
                for group, v in ((first, a), (other, b)):
                    q1, q2, q3 = statistics.quantiles(v, n=4, method="inclusive")
                    self.assertEqual(group["n"], 8)
                    self.assertAlmostEqual(group["q1"], q1, delta=q1 * 1e-12)
                    self.assertAlmostEqual(group["median"], q2, delta=q2 * 1e-12)
                    self.assertAlmostEqual(group["q3"], q3, delta=q3 * 1e-12)
                    self.assertEqual((group["min"], group["max"]), (min(v), max(v)))
                middle = statistics.median(a)
                self.assertAlmostEqual(other["difference"], statistics.median(b) - middle, delta=middle * 1e-12)
                self.assertAlmostEqual(other["relative"], statistics.median(b) / middle - 1, delta=1e-12)
                self.assertEqual(other["u"], sum((y > x) + (y == x) / 2 for x in a for y in b))
                self.assertAlmostEqual(other["p"], rank_sum_p(a, b), delta=1e-12)
                self.assertEqual(other["p_corrected"], other["p"])

    def test_three_groups_are_corrected_for_two_tests(self):
        old, new = self.two_groups(1.2)
        third = write_group(self.dir, "build", "odd", seed=3, factor=1.03)
        _, said = as_json("--by", "build", *old, *new, *third)
        self.assertEqual([group["name"] for group in said["groups"]], ["old", "new", "odd"])
        _, b, c = said["values"]["wall_seconds"]
        small, large = sorted((b, c), key=lambda group: group["p"])
        self.assertAlmostEqual(small["p_corrected"], small["p"] * 2, delta=1e-15)
        self.assertEqual(large["p_corrected"], max(large["p"], small["p"] * 2))

    def test_few_runs_get_the_verdict_too_few(self):
        old, new = self.two_groups(3.0, count=3)
        done, said = as_json("--by", "build", *old, *new)
        self.assertEqual(said["values"]["wall_seconds"][1]["verdict"], "too few runs to tell")
        self.assertIn(b"too few runs to tell", compare("--by", "build", *old, *new).stdout)
        self.assert_refused("too few", "--by", "build", *old, *new, "--significant", "--fail-if", "minflt > +1%")

    def test_noise_does_not_fail_and_says_how_many_runs_would_tell(self):
        old, new = self.two_groups(1.0)
        _, said = as_json("--by", "build", *old, *new)
        sign = "> +" if said["values"]["wall_seconds"][1]["difference"] > 0 else "< -"
        words = ["--by", "build", *old, *new, "--fail-if", f"wall_seconds {sign}0%"]
        for more in [], ["--significant"]:
            done = compare(*words, *more)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr.decode(), r"\Abpfmon: passed: wall_seconds: .* \(may be noise, p 0\.\d+(; about \d+ runs of each side are needed)?\)\n\Z")
        (gate,) = json.loads(compare(*words, "--json").stdout)["fail_if"]
        self.assertEqual((gate["holds"], gate["beyond"], gate["may_be_noise"]), (False, True, True))

    def test_a_difference_fails_with_too_few_runs_to_tell_unless_told_not_to(self):
        old, new = self.two_groups(3.0, count=3)
        words = ["--by", "build", *old, *new, "--fail-if", "wall_seconds > +10%"]
        done = compare(*words)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"(too few runs to tell; 4 runs of each side are needed)", done.stderr)
        self.assertEqual(compare(*words, "--significant").returncode, 2)

    def test_the_baseline_can_be_named(self):
        old, new = self.two_groups(1.2)
        _, said = as_json("--by", "build", "--baseline", "new", *old, *new)
        self.assertEqual([group["name"] for group in said["groups"]], ["new", "old"])
        self.assertLess(said["values"]["wall_seconds"][1]["relative"], 0)
        self.assert_refused("--baseline: no run has 'older' as build", "--by", "build", "--baseline", "older", *old, *new)

    def test_the_table_states_median_spread_p_and_method(self):
        old, new = self.two_groups(1.2)
        text = compare("--by", "build", *old, *new, width=140).stdout.decode()
        for part in ("build=old  10 runs", "  old ", "  IQR  ", "  new ", "more than noise", "Mann-Whitney U", "exact"):
            self.assertIn(part, text)

    def test_every_line_fits(self):
        old, new = self.two_groups(1.2)
        for width in (40, 60, 80, 100, 200):
            text = compare("--by", "build", *old, *new, width=width).stdout.decode()
            self.assertLessEqual(max(map(len, text.splitlines())), width)


class FailIf(FilesCase):
    def setUp(self):
        super().setUp()
        self.before = self.run_file("before.jsonl", rss_peak_bytes=100 << 20, minflt=0, wall_seconds=2)
        self.after = self.run_file("after.jsonl", rss_peak_bytes=120 << 20, minflt=3, wall_seconds=1)

    def check(self, status, *expressions):
        words = [word for e in expressions for word in ("--fail-if", e)]
        done = compare(self.before, self.after, *words)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(b"rss_peak_bytes", done.stdout)
        return done.stderr.decode()

    def test_each_failed_expression_prints_one_line(self):
        said = self.check(1, "rss_peak_bytes > +10%", "wall_seconds > +1%", "minflt > 2")
        self.assertEqual(
            said,
            "bpfmon: failed: rss_peak_bytes: 120 MiB against 100 MiB, +20.0 % > +10% (too few runs to tell; 4 runs of each side are needed)\n"
            "bpfmon: failed: minflt: 3 > 2\n",
        )

    def test_an_expression_that_does_not_hold_prints_nothing(self):
        self.assertEqual(self.check(0, "rss_peak_bytes > +20%", "rss_peak_bytes > +20MiB", "wall_seconds > 1s"), "")

    def test_a_run_that_ended_by_itself_has_no_signal(self):
        ended = self.run_file("ended.jsonl", exit_code=3, signal=None)
        killed = self.run_file("killed.jsonl", exit_code=None, signal=9)
        done = compare(ended, ended, "--fail-if", "signal > 0")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(compare(ended, killed, "--fail-if", "signal > 0").returncode, 1)
        self.assertEqual(compare(killed, ended, "--fail-if", "signal > 0").returncode, 0)
        self.assert_refused("has no signal", self.before, self.after, "--fail-if", "signal > 0")

    def test_improvements_can_be_asked_for(self):
        self.assertIn("-50.0 % < -10%", self.check(1, "wall_seconds < -10%"))

    def test_json_has_the_outcomes(self):
        done, said = as_json(self.before, self.after, "--fail-if", "minflt > +10%", "--fail-if", "minflt > 5")
        self.assertEqual(done.returncode, 1)
        self.assertEqual([x["holds"] for x in said["fail_if"]], [True, False])
        self.assertIsNone(said["values"]["minflt"][1]["relative"])  # of nothing

    def test_bad_expressions_are_one_line_and_exit_2(self):
        for expression, part in (
            ("rss_peek_bytes > 1", "the nearest is 'rss_peak_bytes'"),
            ("rss_peak_bytes", "expected one of"),
            ("rss_peak_bytes > many", "expected a number, not 'many'"),
            ("rss_peak_bytes > 10%", "a percentage needs a sign"),
            ("wall_seconds > +1MiB", "is not a unit of"),
            ("pss_peak_bytes > +1%", "has no pss_peak_bytes"),
        ):
            self.assert_refused(part, self.before, self.after, "--fail-if", expression)

    def test_any_later_side_may_fail(self):
        worse = self.run_file("worse.jsonl", rss_peak_bytes=200 << 20, minflt=0, wall_seconds=2)
        done = compare(self.before, self.before, worse, "--fail-if", "rss_peak_bytes > +10%")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertIn(b"worse.jsonl", done.stderr)


class Refusals(FilesCase):
    def test_a_run_alone_has_nothing_to_be_compared_with(self):
        self.assert_refused("a comparison needs two", self.run_file("a.jsonl"))
        self.assert_refused("a comparison needs two")

    def test_a_missing_file_and_a_file_that_is_not_a_run_are_named(self):
        one = self.run_file("a.jsonl")
        self.assert_refused("no such file", one, str(self.dir / "none.jsonl"))
        (self.dir / "text").write_text("hello\n")
        self.assert_refused("neither a run of bpfmon", one, str(self.dir / "text"))
        (self.dir / "empty").write_text("")
        self.assert_refused("neither a run of bpfmon", one, str(self.dir / "empty"))

    def test_a_tag_must_be_there_and_differ(self):
        one, two = self.run_file("a.jsonl", tags={"x": "1"}), self.run_file("b.jsonl", tags={"x": "1"})
        self.assert_refused("have the same value of the tag 'x'", "--by", "x", one, two)
        self.assert_refused("has no tag 'y'", "--by", "y", one, two)

    def test_options_may_come_after_the_files(self):
        one, two = self.run_file("a.jsonl", minflt=1), self.run_file("b.jsonl", minflt=2)
        done = compare(one, "--json", two)
        self.assertEqual(json.loads(done.stdout)["values"]["minflt"][1]["difference"], 1)
        self.assert_refused("unknown option", one, "--jsn", two)

    def test_a_page_that_exists_is_kept(self):
        one, two = self.run_file("a.jsonl", minflt=1), self.run_file("b.jsonl", minflt=2)
        page = self.dir / "page.html"
        page.write_text("mine")
        done = compare(one, two, "--html", str(page))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"use --force to overwrite it", done.stderr)
        self.assertEqual(page.read_text(), "mine")
        self.assertEqual(compare(one, two, "--html", str(page), "--force").returncode, 0)
        self.assertTrue(page.read_text().startswith("<!doctype html>"))

    def test_what_comes_through_a_pipe_is_drawn(self):
        one, two = self.run_file("a.jsonl", minflt=1), self.run_file("b.jsonl", minflt=2)
        page = self.dir / "page.html"
        done = subprocess.run(
            [BPFMON, "compare", "-", two, "--html", str(page)],
            input=pathlib.Path(one).read_bytes(), capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue(page.read_text().startswith("<!doctype html>"))
        page.unlink()
        done = subprocess.run([BPFMON, "compare", "-", two, "--html", str(page)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertFalse(page.exists())

    def test_hostile_texts_are_inert(self):
        evil = "\x1b[2J</script>\"'\n\u009b" + "x" * 100000
        one = self.run_file("a.jsonl", tags={"t": evil, evil[:50]: "1"}, meta={"command": [evil, "1"]}, minflt=1)
        two = self.run_file("b.jsonl", tags={"t": "2"}, meta={"command": ["y"]}, minflt=2)
        for words in ((one, two), ("--by", "t", one, two)):
            done = compare(*words, "--fail-if", "minflt > +1%", width=80)
            self.assertEqual(done.returncode, 1)
            for text in (done.stdout.decode(), done.stderr.decode()):
                self.assertFalse(any((c < " " and c != "\n") or "\x7f" <= c < "\xa0" for c in text))
            self.assertLessEqual(max(map(len, done.stdout.decode().splitlines())), 80)
        _, said = as_json(one, two)
        (read,), other = said["changed"]["tags.t"]
        self.assertEqual((read, other), (evil[: len(read)], ["2"]))
        self.assertGreater(len(read), 4000)
        self.assertLess(len(read.encode()), 3 * 4096)  # what recording allows, with a byte for three


class RealRuns(Case):
    def test_equal_runs_differ_in_nothing_but_their_figures(self):
        paths = [self.dir / "a.jsonl", self.dir / "b.jsonl"]
        for path in paths:
            subprocess.run([BPFMON, "-q", "--no-store", "-o", path, "--", "true"], check=True, timeout=60)
        done = compare(*paths)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(b"what else changed", done.stdout)

    def test_two_runs_are_distinguished(self):
        small = self.run_bpfmon([truth("touch"), "20", "60"], ["-i", "0.05"])
        large = self.run_bpfmon([truth("touch"), "60", "60"], ["-i", "0.05"])
        paths = sorted((str(path) for path in self.dir.glob("run-*.jsonl")), key=lambda p: (len(p), p))
        done, said = as_json(*paths, "--fail-if", "process_rss_peak_bytes > +50%")
        self.assertEqual(done.returncode, 1, done.stderr)
        for key, (a, b) in said["values"].items():
            for group, run in ((a, small), (b, large)):
                if group["n"]:
                    self.assertEqual(group["median"], run.summary[key] or 0, key)  # no signal is 0
                else:
                    self.assertIsNone(run.summary.get(key), key)
        self.assertEqual(said["changed"]["command"], [[" ".join(r.meta["command"])] for r in (small, large)])
        self.assertNotIn("host", said["changed"])

    @needs(ROOT, BPF)
    def test_gnu_time_and_bpfmon_agree_on_the_same_command(self):
        words = [truth("touch"), "50", "0"]
        self.run_bpfmon(words)
        (ours,) = self.dir.glob("run-*.jsonl")
        theirs = self.dir / "time.txt"
        subprocess.run([TIME, "-v", "-o", str(theirs), *words], check=True)
        _, said = as_json(str(theirs), str(ours))
        self.assertEqual([group["runs"][0]["format"] for group in said["groups"]], ["GNU time", "bpfmon"])
        time, run = said["values"]["process_rss_peak_bytes"]
        self.assertEqual(time["median"] % 1024, 0)
        self.assertLess(abs(run["relative"]), 0.1)
        self.assertEqual(said["values"]["exit_code"][1]["difference"], 0)
        self.assertEqual(said["values"]["rss_peak_bytes"][0], {"n": 0})
        self.assertNotIn("command", said["changed"])

    def test_a_peers_exit_status_is_read(self):
        told = self.dir / "failed.txt"
        subprocess.run([TIME, "-v", "-o", str(told), sys.executable, "-c", "raise SystemExit(3)"], check=False)
        killed = self.dir / "killed.txt"
        subprocess.run([TIME, "-v", "-o", str(killed), "sh", "-c", "kill -9 $$"], check=False)
        _, said = as_json(str(told), str(killed))
        self.assertEqual(said["values"]["exit_code"], [{**said["values"]["exit_code"][0], "median": 3}, {"n": 0}])
        self.assertEqual(said["values"]["signal"][1]["median"], 9)
