# SPDX-License-Identifier: BSD-2-Clause
"""Spans in a report: their lanes, their table, and what a click does."""

import collections

import synthetic
from reports import PICTURES, ReportCase

SAMPLES = 101  # one a second: 100 s
MAX_ELEMENTS = 300  # that 1,000 spans may add to the page
FEW = (
    synthetic.span(1, "all", 0, 96),
    synthetic.span(2, "align", 2, 40, 1, tags={"sample": "A7"}),
    synthetic.span(3, "sort", 41, 60, 1, exit_code=3),
    synthetic.span(4, "align", 5, 70, 1, tags={"sample": "A8"}),
    synthetic.span(5, "index", 10, 20, 4),
    synthetic.span(6, "call", 72, 95, 1, signal=9, exit_code=None),
    synthetic.span(7, "daemon", 50, None, complete=False),
)


def with_spans(spans, samples=SAMPLES):
    *lines, summary = synthetic.lines(samples, 30)
    return [*lines, *spans, summary]


def text(of):
    return ("text", {"of": of})


def texts(of):
    return ("texts", {"of": of})


class Few(ReportCase):
    def look_at(self, *steps):
        return self.look_quietly(self.report(with_spans(FEW)), *steps)

    def test_spans_that_overlap_are_in_lanes_of_their_own_and_nested_ones_below_their_parent(self):
        (said,) = self.look_at(("bars", {}))
        lanes = {bar["id"]: bar["lane"] for bar in said["bars"]}
        self.assertEqual(lanes, {1: 0, 2: 1, 3: 1, 4: 2, 5: 3, 6: 1, 7: 4})
        self.assertEqual(said["rest"], 0)

    def test_a_bar_goes_from_the_start_of_its_span_to_its_end(self):
        (said,) = self.look_at(("bars", {}))
        bars = {bar["id"]: bar for bar in said["bars"]}
        second = bars[1]["width"] / 96
        for span in FEW[:6]:
            bar, start = bars[span["id"]], span["start_time"] - synthetic.START
            self.assertAlmostEqual(bar["x"], start * second, delta=2)
            self.assertAlmostEqual(bar["width"], (span["end_time"] - span["start_time"]) * second, delta=2)
        self.assertAlmostEqual(bars[7]["x"] + bars[7]["width"], 100 * second, delta=2)

    def test_a_click_on_a_bar_zooms_all_charts_to_its_time_and_escape_ends_it(self):
        _, zoomed, said, _, again = self.look_at(
            ("bar", {"id": 4, "click": True}), ("range", {}), text("#span-said"), ("press", {"of": "body", "key": "Escape"}), ("range", {})
        )
        self.assertEqual(len(zoomed), 6)
        for start, end in zoomed:
            self.assertAlmostEqual(start, 5, delta=1e-3)
            self.assertAlmostEqual(end, 70, delta=1e-3)
        for part in ("align (sample=A8)", "0:05.000 to 1:10.000", "exit 0", "CPU 32.5 s", "peak 104 – 124 MiB", "3 processes", "within all"):
            self.assertIn(part, said)
        self.assertEqual(again, [[0, 100]] * 6)

    def test_zoomed_in_only_the_spans_of_that_time_have_lanes(self):
        _, said = self.look_at(("bar", {"id": 6, "click": True}), ("bars", {}))
        self.assertEqual({bar["id"]: bar["lane"] for bar in said["bars"]}, {1: 0, 6: 1, 7: 2})

    def test_equal_names_are_summed_in_the_table(self):
        rows, count, _, zoomed = self.look_at(
            texts("#span-names tbody tr"), text("#spans-count"), ("click", {"of": "#span-names tbody tr:has-text('index')"}), ("range", {})
        )
        cells = {row.split("\t")[0]: row.split("\t")[1:] for row in rows}
        self.assertEqual(cells["align"], ["2", "0:02.00", "103 s", "65.0 s", "51.5 s", "104 – 124 MiB", "6.0 MiB", "8.0 KiB", "6", "all succeeded"])
        self.assertEqual([cells[name][-1] for name in ("sort", "call")], ["exit 3", "killed by SIGKILL"])
        self.assertEqual(cells["daemon"][-1], "open at the end, incomplete")
        self.assertEqual((rows[0].split("\t")[0], count), ("align", "6 of 6"))
        for start, end in zoomed:
            self.assertAlmostEqual(start, 10, delta=1e-3)
            self.assertAlmostEqual(end, 20, delta=1e-3)

    def test_the_table_can_have_each_span_and_its_tags(self):
        _, rows, hidden = self.look_at(
            ("select", {"of": "#spans-rows", "value": "each"}), texts("#span-each tbody tr"), ("attribute", {"of": "#span-names", "name": "hidden"})
        )
        self.assertEqual(len(rows), 7)
        self.assertEqual(hidden, "")
        self.assertIn("align\tsample=A8\t0:05.00\t65.0 s\t32.5 s\t104 – 124 MiB\t4.0 MiB\t4.0 KiB\t3\texit 0", rows)

    def test_keys_go_from_span_to_span_and_enter_zooms(self):
        lanes = "#span-lanes"
        press = [("press", {"of": lanes, "key": key}) for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowDown")]
        *_, said, _, zoomed, label, unnamed = self.look_at(
            *press, text("#span-said"), ("press", {"of": lanes, "key": "Enter"}), ("range", {}), ("attribute", {"of": lanes, "name": "aria-label"}), ("unnamed", {})
        )
        self.assertTrue(said.startswith("index · "), said)
        self.assertAlmostEqual(zoomed[0][0], 10, delta=1e-3)
        self.assertIn("7 spans over time", label)
        self.assertEqual(unnamed, [])

    def test_bounds_that_are_one_or_lack_one_are_one_number(self):
        spans = [
            synthetic.span(1, "exact", 0, 9, rss_peak_exact_bytes=150 << 20),
            synthetic.span(2, "open", 0, 9),
            synthetic.span(3, "none", 0, 9),
        ]
        del spans[1]["rss_peak_upper_bytes"], spans[2]["rss_peak_upper_bytes"], spans[2]["rss_peak_bytes"]
        (rows,) = self.look_quietly(self.report(with_spans(spans)), texts("#span-names tbody tr"))
        peaks = {row.split("\t")[0]: row.split("\t")[6] for row in rows}
        self.assertEqual(peaks, {"exact": "150 MiB", "open": "102 MiB or more", "none": "–"})

    def test_pictures_are_kept_of_light_and_dark(self):
        _, _, light, _, dark = self.look_at(
            ("screenshot", {"path": str(PICTURES / "spans.png"), "full": False}),
            ("bar", {"id": 4}),
            ("style", {"of": ".stage", "name": "backgroundColor"}),
            ("scheme", {"value": "dark"}),
            ("style", {"of": ".stage", "name": "backgroundColor"}),
        )
        self.assertNotEqual(light, dark)


class Many(ReportCase):
    def overlaps(self, bars):
        """Pairs of bars that are over each other by more than a pixel and a half, the least width of one."""
        lanes = collections.defaultdict(list)
        for bar in sorted(bars, key=lambda bar: bar["x"]):
            lanes[bar["lane"]].append(bar)
        return [pair for lane in lanes.values() for pair in zip(lane, lane[1:]) if pair[0]["x"] + pair[0]["width"] > pair[1]["x"] + 1.6]

    def test_a_thousand_spans_stay_small_and_readable(self):
        spans = list(synthetic.spans(1000, 100, 16))
        plain, page = self.report(with_spans([])), None
        (before,) = self.look_quietly(plain, ("count", {"of": "*"}))
        size = plain.stat().st_size
        page = self.report(with_spans(spans))
        after, said, height, count, _ = self.look_quietly(
            page,
            ("count", {"of": "*"}),
            ("bars", {}),
            ("style", {"of": "#span-lanes", "name": "height"}),
            text("#spans-count"),
            ("screenshot", {"path": str(PICTURES / "spans-many.png"), "full": False}),
        )
        print(f"     1,000 spans: {(page.stat().st_size - size) / 1000:.0f} kB more, {after - before} elements more")
        self.assertLess(after - before, MAX_ELEMENTS)
        self.assertLess(page.stat().st_size - size, 200_000)
        self.assertEqual((len(said["bars"]), said["rest"]), (1000, 0))
        self.assertEqual(self.overlaps(said["bars"]), [])
        self.assertLess(float(height[:-2]), 360)
        self.assertEqual(count, "15 of 15")
        self.assert_nested(said["bars"], spans)

    def assert_nested(self, bars, spans):
        """Each is below its parent: no other begins between them that is not within the same one."""
        lanes = {bar["id"]: bar["lane"] for bar in bars}
        nested = [span for span in spans if "parent" in span]
        self.assertGreater(len(nested), 190)
        for span in nested:
            self.assertEqual(lanes[span["id"]], lanes[span["parent"]] + 1)

    def test_what_has_no_lane_is_summed_and_comes_into_view_zoomed_in(self):
        spans = [synthetic.span(i + 1, f"job {i}", 0 if i < 60 else 50 + i / 1000, 40 if i < 60 else 60) for i in range(100)]
        said, rest, _, zoomed, empty = self.look_quietly(
            self.report(with_spans(spans)), ("bars", {}), text("#spans-rest"), ("bar", {"id": 61, "click": True}), ("bars", {}), text("#spans-rest")
        )
        self.assertEqual((len(said["bars"]), said["rest"]), (80, 20))
        self.assertIn("20 spans have no place in the lanes: the lowest row shows how many of them there are at a time, up to 20.", rest)
        self.assertEqual((len(zoomed["bars"]), zoomed["rest"], empty), (40, 0, ""))

    def test_of_very_many_the_longest_are_in_the_page_and_all_in_the_sums(self):
        spans = [synthetic.span(i + 1, f"step {i % 7}", i / 1000, i / 1000 + (5 if i % 10 == 3 else 0.001)) for i in range(20000)]
        count, rows, said = self.look_quietly(
            self.report(with_spans(spans)), text("#spans-count"), texts("#span-names tbody tr"), ("bars", {})
        )
        self.assertEqual(count, "7 of 7")
        self.assertEqual(sum(int(row.split("\t")[1].replace(",", "")) for row in rows), 20000)
        self.assertEqual(len(said["bars"]) + said["rest"], 2000)


class Hostile(ReportCase):
    def test_spans_that_contain_each_other_and_hostile_names_do_no_harm(self):
        name = "</script><script>window.pwned=1</script>\x1b[31m\u202e\n"
        spans = [synthetic.span(1, name, 0, 50, 2, tags={"<b>": name}), synthetic.span(2, name, 10, 40, 1), synthetic.span(3, "own", 0, 9, 3)]
        spans += [synthetic.span(i, "deep", 0, 99, i - 1) for i in range(4, 1500)]
        spans += [synthetic.span(2500, "past", -1e9, -1e8), synthetic.span(2501, "future", 1e9, 1e10), synthetic.span(2502, "back", 50, 20)]
        pwned, scripts, names, said = self.look_quietly(
            self.report(with_spans(spans)),
            ("global", {"name": "pwned"}),
            ("count", {"of": "script"}),
            texts("#span-names tbody td:first-child"),
            ("bars", {}),
        )
        self.assertEqual((pwned, scripts), ("undefined", 3))
        self.assertIn("</script><script>window.pwned=1</script>\\x1b[31m\\u202e\\n", names)
        self.assertGreater(len(said["bars"]), 20)

    def test_a_run_without_spans_has_no_section_of_them(self):
        (sections,) = self.look_quietly(self.report(with_spans([])), ("count", {"of": "#spans"}))
        self.assertEqual(sections, 0)
