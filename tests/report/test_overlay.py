# SPDX-License-Identifier: BSD-2-Clause
"""A comparison in one page: its verdict, what changed, and each side as a curve with the right values."""

import subprocess

from lib.bpfmon import BPFMON

import synthetic
from reports import PICTURES, ReportCase

MIB = 1 << 20


def run(slope, seconds, every=1.0, **meta):
    """Memory that grows by @slope MiB a second, and half a core."""
    lines = [{**synthetic.meta(int(seconds), every), **meta}]
    for i in range(int(seconds / every) + 1):
        t = i * every
        lines.append({"kind": "sample", "elapsed_seconds": t, "cpu_seconds": t / 2, "cores": 0.5,
                      "rss_bytes": int(slope * t * MIB), "rchar_bytes": int(slope * MIB * t)})
    lines.append({"kind": "summary", "complete": True, "wall_seconds": seconds, "rss_peak_bytes": int(slope * seconds * MIB)})
    return lines


class OverlayCase(ReportCase):
    def overlay(self, *runs, options=()):
        names = [f"run-{i}.jsonl" for i in range(len(runs))]
        for name, lines in zip(names, runs):
            synthetic.write(self.dir / name, lines)
        done = subprocess.run([BPFMON, "compare", *names, "--html", "page.html", "--force", *options], cwd=self.dir,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.table = done.stdout.decode()
        return self.dir / "page.html"


class Overlay(OverlayCase):
    def test_the_legend_has_the_value_of_each_run_at_the_cursor(self):
        # 10 and 30 MiB a second; the second run is sampled at other times
        page = self.overlay(run(10, 100), run(30, 99, every=1.5))
        name, _, legend = self.look_quietly(
            page, ("texts", {"of": "#sides b"}), ("cursor", {"chart": "rss_bytes", "at": 0.3}), ("legend", {"chart": "rss_bytes"}))
        self.assertEqual(name, ["run-0.jsonl", "run-1.jsonl"])  # nothing else tells them apart
        at = float(legend["when"].split()[1].split(":")[-1]) + 60 * int(legend["when"].split()[1].split(":")[0])
        self.assertLess(abs(at - 30), 1)
        a, b = (float(legend[key].split()[0]) * (1024 if "GiB" in legend[key] else 1) for key in "AB")
        self.assertLess(abs(a - 10 * at), 10)
        self.assertLess(abs(b - 30 * at), 30)

    def test_a_run_that_is_over_has_no_value(self):
        page = self.overlay(run(10, 100), run(30, 20))
        _, legend = self.look_quietly(page, ("cursor", {"chart": "rss_bytes", "at": 0.9}), ("legend", {"chart": "rss_bytes"}))
        self.assertEqual(legend["B"], "–")
        self.assertNotEqual(legend["A"], "–")

    def test_peaks_are_the_largest(self):
        page = self.overlay(run(10, 100), run(30, 99))
        (legend,) = self.look_quietly(page, ("legend", {"chart": "rss_bytes"}))
        self.assertEqual(legend, {"when": "largest", "A": "1.0 GiB", "B": "2.9 GiB"})
        self.look_quietly(page, ("screenshot", {"path": str(PICTURES / "overlay.png")}))

    def test_what_changed_is_a_table_and_what_did_not_is_folded(self):
        page = self.overlay(run(10, 10), run(20, 10))
        rows, hidden, summary, _, same = self.look_quietly(
            page,
            ("texts", {"of": "#changed tbody tr"}),
            ("text", {"of": "#same table"}),
            ("text", {"of": "#same summary"}),
            ("click", {"of": "#same summary"}),
            ("texts", {"of": "#same tbody tr"}),
        )
        self.assertEqual(rows, ["Peak memory\t100 MiB\t200 MiB\t+100 MiB\t+100.0 %"])
        self.assertEqual((hidden, summary), ("", "What did not change 1 value: 1 equal"))
        self.assertEqual(same, ["Wall time\t10.0 s\t10.0 s\t0 s\t0 %"])

    def test_the_verdict_comes_first_and_is_that_of_the_data_if_it_has_one(self):
        page = self.overlay(run(10, 10, tags={"build": "old"}), run(20, 10, tags={"build": "new"}))
        given, title = self.look_quietly(page, ("text", {"of": "h1"}), ("title", {}))
        self.assertIn(given, " ".join(self.table.split()))
        self.assertTrue(given.startswith("new needed 2.0 times the memory of old"), given)
        self.assertIn("memory", title)
        page.write_text(page.read_text().replace('"verdicts":', '"unknown":', 1))
        (own,) = self.look_quietly(page, ("text", {"of": "h1"}))
        self.assertEqual(own, "new against old: peak memory +100.0 %.")

    def test_sides_have_names_tags_and_dates(self):
        day = 86400
        page = self.overlay(run(10, 10, name="align"), run(20, 10, name="align", start_time=synthetic.START + day), run(20, 10, name="sort"))
        (sides,) = self.look_quietly(page, ("texts", {"of": "#sides li"}))
        self.assertEqual(
            [side.split(" · ")[:3] for side in sides],
            [[f"run-{i}.jsonl {name}", "sample=A7, threads=8", date] for i, name, date in (
                (0, "align", "2025-11-21 01:53 UTC"), (1, "align", "2025-11-22 01:53 UTC"), (2, "sort", "2025-11-21 01:53 UTC"))],
        )
        self.assertTrue(sides[2].endswith("on node7"), sides)

    def test_facts_that_differ_are_listed_in_human_units(self):
        other = {"system": {**synthetic.meta(1, 1)["system"], "memory_bytes": 32 << 30}}
        page = self.overlay(run(1, 5), run(1, 5, **other))
        (rows,) = self.look_quietly(page, ("texts", {"of": "#facts-table tbody tr"}))
        self.assertEqual(rows, ["Memory\t64.0 GiB\t32.0 GiB"])

    def test_a_phone_shows_both_sides_and_how_far_they_are_apart(self):
        page = self.overlay(run(1, 5), run(2, 9))
        _, scrolling, heads, width = self.look_quietly(
            page, ("viewport", {"width": 390, "height": 844}), ("scrolling", {}),
            ("texts", {"of": "#changed thead tr"}), ("width", {}),
        )
        self.assertEqual([s for s in scrolling if s["sideways"]], [])
        self.assertEqual([h.split()[-1] for h in heads], ["Relative"])
        self.assertEqual(width, 390)

    def test_sides_of_long_tags_are_named_by_what_differs_also_on_a_phone(self):
        tags = [{"build": f"release-2026-11-28-main-{kind}"} for kind in ("optimized", "debug")]
        page = self.overlay(run(1, 5, tags=tags[0]), run(2, 5, tags=tags[1]))
        names, _, heads = self.look_quietly(
            page, ("texts", {"of": "#sides b"}), ("viewport", {"width": 390, "height": 844}), ("text", {"of": "#changed thead tr"}))
        self.assertEqual(names, ["optimized", "debug"])
        self.assertLessEqual({"optimized", "debug"}, set(heads.split()))
        numbers = [{"build": f"release-2026-11-28-main-{i}"} for i in (1, 2)]
        (names,) = self.look_quietly(self.overlay(run(1, 5, tags=numbers[0]), run(2, 5, tags=numbers[1])), ("texts", {"of": "#sides b"}))
        self.assertEqual(names, ["...1", "...2"])

    def test_flat_charts_are_lines_of_text_that_draw_them(self):
        page = self.overlay(run(10, 10), run(20, 10))
        drawn, flat, _, more = self.look_quietly(
            page, ("count", {"of": "[data-chart]"}), ("texts", {"of": "#flat li"}), ("click", {"of": "#flat button"}), ("count", {"of": "[data-chart]"}))
        self.assertEqual((drawn, more), (1, 2))
        self.assertEqual(flat[0], "CPU, cores in use run-0.jsonl 0.5, run-1.jsonl 0.5 all the time Draw")

    def test_bars_of_differences_begin_in_the_middle_and_have_no_colour_of_a_side(self):
        lines = run(20, 10)
        lines[-1].update(wall_seconds=5)
        page = self.overlay(run(10, 10), lines)
        more, less, *colours = self.look_quietly(
            page, ("style", {"of": "td.more-than", "name": "backgroundImage"}), ("style", {"of": "td.less-than", "name": "backgroundImage"}),
            *[("style", {"of": of, "name": "color"}) for of in (".s1", ".s2")])
        self.assertIn("to right, rgba(0, 0, 0, 0) 50%", more)
        self.assertIn("to left", less)
        for colour in colours:
            self.assertNotIn(colour, more + less)

    def test_hostile_names_are_text(self):
        evil = "</script><script>window.hit=1</script>"
        page = self.overlay(run(1, 5, host=evil, name=evil, tags={evil: evil}), run(2, 5, host="h"))
        text, sides, hit, _, width = self.look_quietly(
            page, ("text", {"of": "#facts-table"}), ("text", {"of": "#sides"}), ("global", {"name": "hit"}),
            ("viewport", {"width": 390, "height": 844}), ("width", {}),
        )
        self.assertIn(evil, text)
        self.assertIn(evil, sides)
        self.assertEqual((hit, width), ("undefined", 390))


class Bands(OverlayCase):
    """Five runs of 10, 20, ... MiB a second against five of 100, 200, ..., of which two are shorter."""

    def setUp(self):
        super().setUp()
        old = [run(10 * (i + 1), 100 if i else 40, tags={"build": "old"}) for i in range(5)]
        new = [run(100 * (i + 1), 40 if i < 3 else 100, tags={"build": "new"}) for i in range(5)]
        self.page = self.overlay(*old, *new, options=["--by", "build"])

    def test_a_side_is_its_median_and_its_quartiles_of_all_its_runs(self):
        curves, left, _, legend, _, end, _ = self.look_quietly(
            self.page,
            ("texts", {"of": "[data-chart=rss_bytes] .curve"}),
            ("text", {"of": "#left-out"}),
            ("cursor", {"chart": "rss_bytes", "at": 0.2}),
            ("legend", {"chart": "rss_bytes"}),
            ("cursor", {"chart": "rss_bytes", "at": 0.8}),
            ("legend", {"chart": "rss_bytes"}),
            ("screenshot", {"path": str(PICTURES / "bands.png")}),
        )
        self.assertEqual([curve.rsplit(" ", 2)[0] for curve in curves], ["old (5 runs)", "new (5 runs)"])
        self.assertEqual(left, "")
        at = float(legend["when"].split()[1].split(":")[-1])
        self.assertEqual(legend["A"], f"{30 * at:.0f} MiB ({20 * at:.0f} MiB to {40 * at:.0f} MiB)")
        # four of five go on: of 20, 30, 40 and 50; and of the other side two of five, which are no median
        at = 60 + float(end["when"].split()[1].split(":")[-1])
        self.assertEqual(end["A"].split(" (")[0], f"{35 * at / 1024:.1f} GiB")
        self.assertEqual(end["B"], "–")

    def test_the_chance_is_in_the_table_and_a_side_has_its_number_of_runs(self):
        rows, sides = self.look_quietly(self.page, ("texts", {"of": "#changed tbody tr"}), ("texts", {"of": "#sides li"}))
        self.assertRegex(rows[0], "^Peak memory\t2.9 GiB\t11.7 GiB\t.8.8 GiB\t.300.0 %\tmore than noise .p 0.0")
        self.assertTrue(sides[0].startswith("old 5 runs · synthetic · "), sides)


class Steps(OverlayCase):
    def test_spans_of_three_sides_are_compared_and_all_are_named_in_the_title(self):
        runs = []
        for i, name in enumerate(("base", "quick", "slow<b>")):
            lines = run(10, 100, name=name)
            lines[-1:-1] = [synthetic.span(1, "load", 0, 10, cpu_seconds=4 + i), synthetic.span(2, "cc/ld", 2, 6, parent=1, cpu_seconds=2 * i)]
            runs.append(lines)
        title, tables, first, last = self.look_quietly(
            self.overlay(*runs, options=["--by", "span"]), ("text", {"of": "h1"}), ("texts", {"of": "#steps h3"}),
            ("texts", {"of": "#steps .side:nth-of-type(1) + .scroll tbody tr:first-child td"}), ("texts", {"of": "#steps .scroll:last-of-type tbody tr:first-child td"}))
        self.assertEqual(title, "quick, slow<b> against base")
        self.assertEqual(tables, ["quick against base", "slow<b> against base"])
        self.assertEqual(first[:4], ["load", "4.00 s", "5.00 s", "+25.0 %"])
        self.assertEqual(last[:4], ["load", "4.00 s", "6.00 s", "+50.0 %"])
