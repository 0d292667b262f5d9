# SPDX-License-Identifier: BSD-2-Clause
"""The page of many runs: on a phone, and from a point to its run."""

from lib.fillstore import fill

from reports import PICTURES, ReportCase

COUNT = 60


class Many(ReportCase):
    def setUp(self):
        super().setUp()
        store = self.dir / "store.sqlite"
        self.made = fill(store, COUNT)
        done = self.bpfmon("--many", "-o", "runs.html", "-q", "--store", store)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.page = self.dir / "runs.html"

    def test_a_phone_shows_all_of_it_without_scrolling_sideways(self):
        _, width, scrolling, faint, mains, _ = self.look_quietly(
            self.page, ("viewport", {"width": 390, "height": 844}), ("width", {}), ("scrolling", {}), ("faint", {}),
            ("count", {"of": "main"}), ("screenshot", {"path": str(PICTURES / "many-phone.png")}),
        )
        self.assertEqual((width, faint, mains), (390, [], 1))
        self.assertEqual([s for s in scrolling if s["sideways"]], [])

    def test_a_point_leads_to_the_row_of_its_run_and_failed_ones_are_red(self):
        failed, points, _, row, colour, other, _ = self.look_quietly(
            self.page, ("count", {"of": "circle.g6"}), ("count", {"of": "svg a circle"}), ("click", {"of": "circle.g6"}),
            ("text", {"of": "tr:target"}), ("style", {"of": "circle.g6", "name": "fill"}), ("style", {"of": "circle.g0", "name": "fill"}),
            ("screenshot", {"path": str(PICTURES / "many.png")}),
        )
        drawn = [one for one in self.made if one.has_ended and one.rss]
        self.assertEqual(points, len(drawn))
        self.assertEqual(failed, sum(one.exit_code != 0 for one in drawn))
        self.assertIn("failed", row)
        self.assertNotEqual(colour, other)
