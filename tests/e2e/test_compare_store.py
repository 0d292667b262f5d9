# SPDX-License-Identifier: BSD-2-Clause
"""Runs of the store are compared as the same runs in files are."""

import json

from lib.runs import write_group
from lib.store import StoreCase

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
        self.assert_refused(self.bpfmon("compare"), "takes two runs")
        self.assert_refused(self.bpfmon("compare", "--by", "size"), "has no tag 'size'")
