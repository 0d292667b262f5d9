# SPDX-License-Identifier: BSD-2-Clause
"""Runs of the store are compared as the same runs in files are."""

import json

from lib.runs import write_group, write_run
from lib.store import StoreCase

SAMPLED = True
NEEDS = ()


class FromTheStore(StoreCase):
    def setUp(self):
        super().setUp()
        self.files = write_group(self.dir, "build", "old", seed=1) + write_group(self.dir, "build", "new", seed=2, factor=2)
        done = self.bpfmon("store", "merge", *self.files)
        self.assertEqual(done.returncode, 0, done.stderr)

    def values(self, *words):
        """What is compared, without what it was named."""
        done = self.bpfmon("compare", "--json", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = json.loads(done.stdout)
        return said["values"], said["changed"]

    def test_groups_by_filters_and_by_files_are_the_same(self):
        by_files = self.values("--by", "build", "--baseline", "old", *self.files)
        self.assertEqual(self.values("--tag", "build", "--by", "build", "--baseline", "old"), by_files)
        self.assertEqual(self.values("--by", "build", "--baseline", "old"), by_files)
        self.assertEqual(self.values("--state", "finished", "--by", "build", "--baseline", "old"), by_files)

    def test_numbers_and_files_are_the_same(self):
        self.assertEqual(self.values("1", "12"), self.values(self.files[0], self.files[11]))
        self.assertEqual(self.values("1", self.files[11]), self.values(self.files[0], "12"))

    def test_too_few_or_missing_runs_are_an_error(self):
        self.assert_refused(self.bpfmon("compare", "--tag", "build=none"), "0 runs", "bpfmon list")
        self.assert_refused(self.bpfmon("compare", "1", "99"), "no run '99'")
        self.assert_refused(self.bpfmon("compare"), "a comparison needs two")
        self.assert_refused(self.bpfmon("compare", "--by", "size"), "has no tag 'size'")


class History(StoreCase):
    """Runs of one name: nine that are alike, and one that is judged against them."""

    def keep(self, count=9, **last):
        usual = [{"wall_seconds": 10 + i % 3 / 10, "rss_peak_bytes": (200 + i) << 20, "exit_code": 0} for i in range(count)]
        for i, values in enumerate([*usual, {**usual[0], **last}]):
            path = write_run(self.dir / f"{i}.jsonl", meta={"name": "align", "start_time": 1000 + i, "host": f"h{i % 2}"}, **values)
            self.assertEqual(self.bpfmon("store", "merge", path).returncode, 0)

    def judged(self, *words):
        done = self.bpfmon("compare", "align", "--json", *words)
        return done, json.loads(done.stdout)

    def test_the_last_run_is_judged_against_all_before_it(self):
        self.keep(wall_seconds=15)
        done, said = self.judged()
        self.assertEqual(done.stderr, "bpfmon: run 10 (the last of 10 runs named 'align') against the runs before it\n")
        self.assertEqual([(g["title"], len(g["runs"])) for g in said["groups"]], [("earlier runs", 9), ("run 10", 1)])
        wall, rss = (said["values"][key][1] for key in ("wall_seconds", "rss_peak_bytes"))
        self.assertEqual((wall["verdict"], rss["verdict"], wall["method"]), ("more than noise", "may be noise", "robust"))
        self.assertGreater(wall["z"], 3.5)
        self.assertEqual(said["verdicts"][0]["changed"], ["wall_seconds"])
        self.assertNotIn("host", said["changed"])  # one of the earlier runs was on this host
        text = self.bpfmon("compare", "align").stdout
        self.assertIn("run 10 took 49 % longer than earlier runs (15.0 s against 10.1 s): more than noise", text)

    def test_a_run_that_failed_says_so(self):
        self.keep(exit_code=3)
        self.assertIn("run 10 ended with 3, earlier runs with 0.", self.bpfmon("compare", "align").stdout)

    def test_seven_earlier_runs_are_too_few(self):
        self.keep(count=7, wall_seconds=15)
        _, said = self.judged()
        self.assertEqual(said["values"]["wall_seconds"][1]["verdict"], "too few runs to tell")
