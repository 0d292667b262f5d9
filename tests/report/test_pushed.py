# SPDX-License-Identifier: BSD-2-Clause
"""What programs pushed, and the phases of their marks, in the page."""

import synthetic
from hostile import HOSTILE
from reports import PICTURES, ReportCase
from test_runs import MAX_PAGE

SAMPLES = 101  # one a second


def metric(at, name, fields, **tags):
    return {"kind": "metric", "time": synthetic.START + at, "elapsed_seconds": at, "name": name, "tags": tags, "fields": fields, "pid": 1000}


def mark(at, text):
    return {"kind": "event", "time": synthetic.START + at, "event": "mark", "elapsed_seconds": at, "text": text, "pid": 1000}


def pushed():
    """Every two seconds a loss; every ten one of another phase, and a state."""
    yield from (mark(at, f"epoch {i}") for i, at in enumerate((20, 60)))
    for i in range(51):
        yield metric(2 * i, "loss", {"value": 1 - i / 128, "step": 1000 * i}, phase="train")
    for i in range(11):
        yield metric(10 * i + 1, "loss", {"value": -i / 4, "note": "fine"}, phase="test")
        yield metric(10 * i, "ready", {"value": i % 2 == 1})


class Page(ReportCase):
    def setUp(self):
        super().setUp()
        self.page = self.report(synthetic.lines(SAMPLES, 10, events=pushed()))


class PushedCharts(Page):
    def legend_at(self, chart, share, of):
        return self.look_quietly(self.page, ("cursor", {"chart": of, "at": share}), ("legend", {"chart": chart}))[1]

    def test_values_at_the_cursor_are_those_that_were_pushed_last(self):
        # at 0:50 loss number 25 has just been pushed, and that of the other phase at 41 s
        self.assertEqual(self.legend_at("pushed-0", 0.5, "cpu"), {"when": "at 0:50.0, epoch 0", "0": str(1 - 25 / 128), "1": "-1"})
        self.assertEqual(self.legend_at("pushed-1", 0.5, "memory"), {"when": "at 0:50.0, epoch 0", "0": "25,000"})
        self.assertEqual(self.legend_at("pushed-2", 0.5, "pushed-0"), {"when": "at 0:50.0, epoch 0", "0": "true"})

    def test_dots_are_at_the_values_of_the_legend(self):
        # the next point of the other phase, at 51 s, is nearer than the last one
        _, dots = self.look_quietly(self.page, ("cursor", {"chart": "pushed-0", "at": 0.48}), ("dots", {"chart": "pushed-0"}))
        self.assertEqual(dots, [48, 1 - 24 / 128, -1])

    def test_before_the_first_there_is_no_value(self):
        self.assertEqual(self.legend_at("pushed-0", 0.001, "cpu")["1"], "–")

    def test_a_cursor_there_is_that_of_the_other_charts(self):
        self.assertEqual(self.legend_at("cpu", 0.5, "pushed-0")["when"], "at 0:50.0, epoch 0")

    def test_charts_have_names_and_what_is_not_drawn_is_named(self):
        titles, curves, rest = self.look_quietly(
            self.page, ("texts", {"of": "#pushed-grid h3"}), ("texts", {"of": "[data-chart=pushed-0] .curve"}), ("text", {"of": "#pushed-rest"})
        )
        self.assertEqual(titles, ["loss value", "loss step", "ready value"])
        self.assertEqual([curve.split(" ")[0] for curve in curves], ["phase=train", "phase=test"])
        self.assertEqual(rest, "Texts are not drawn: of 1 series, 11 values: loss note, phase=test (11).")

    def test_zoom_is_that_of_all_charts(self):
        _, ranges = self.look_quietly(self.page, ("zoom", {"chart": "pushed-0", "from": 0.25, "to": 0.75}), ("range", {}))
        self.assertEqual(len(ranges), 9)
        for start, end in ranges:
            self.assertAlmostEqual(start, 25, delta=1)
            self.assertAlmostEqual(end, 75, delta=1)

    def test_keys_move_the_cursor_from_point_to_point(self):
        chart = "[data-chart=pushed-1] .plot"
        *_, announced = self.look_quietly(self.page, *[("press", {"of": chart, "key": "ArrowRight"})] * 2, ("text", {"of": "#announced"}))
        self.assertEqual(announced, "0:04.0: phase=train 2,000")

    def test_a_run_that_pushed_nothing_has_no_such_sections(self):
        (sections,) = self.look_quietly(self.report(synthetic.lines(5, 1)), ("count", {"of": "#pushed, #phases"}))
        self.assertEqual(sections, 0)

    def test_pictures_in_light_and_dark_are_kept(self):
        for scheme in ("light", "dark"):
            path = PICTURES / f"pushed-{scheme}.png"
            self.look_quietly(self.page, ("scheme", {"value": scheme}), ("screenshot", {"path": str(path)}))
            self.assertGreater(path.stat().st_size, 10000)


class Phases(Page):
    def test_each_has_what_was_used_in_it(self):
        (rows,) = self.look_quietly(self.page, ("texts", {"of": "#phases-table tbody tr"}))
        cells = [row.split("\t") for row in rows]
        self.assertEqual([row[0] for row in cells], ["epoch 0", "epoch 1", "(start)"])  # the longest first
        self.assertEqual([row[1] for row in cells], ["0:20.00", "1:00.00", "0:00.00"])
        for row, wall, system in zip(cells, (40, 40, 20), ("10.0 s", "10.0 s", "5.00 s")):
            self.assertEqual(row[2:7], [f"{wall:.1f} s", f"{1.5 * wall:.1f} s", "1.50", f"{1.25 * wall:.1f} s", system])
        self.assertEqual(cells[0][7:10], ["9.1 GiB", "80.0 MiB", "40.0 MiB"])

    def test_a_row_zooms_the_charts_and_so_does_enter(self):
        _, clicked, _, _, entered = self.look_quietly(
            self.page,
            ("click", {"of": "#phases-table tbody tr:nth-child(1) td:nth-child(3)"}),
            ("range", {}),
            ("press", {"of": "body", "key": "Escape"}),
            ("press", {"of": "#phases-table tbody tr:nth-child(2) button", "key": "Enter"}),
            ("range", {}),
        )
        self.assertEqual(clicked, [[20, 60]] * 9)
        self.assertEqual(entered, [[60, 100]] * 9)


class SharedPhases(ReportCase):
    def test_phases_without_a_sample_between_share_the_values_of_the_first(self):
        marks = [mark(20, "load"), mark(40.2, "brief"), mark(40.5, "train")]
        page = self.report(synthetic.lines(SAMPLES, 10, events=iter(marks)))
        rows, said = self.look_quietly(page, ("texts", {"of": "#phases-table tbody tr"}), ("text", {"of": "#phases"}))
        cells = {row.split("\t")[0]: row.split("\t") for row in rows}
        self.assertEqual(list(cells), ["train", "load (values: with the next 1)", "(start)", "brief (in load)"])
        self.assertEqual(cells["load (values: with the next 1)"][2:5], ["20.2 s", "31.5 s", "1.54"])
        self.assertEqual(cells["brief (in load)"][2:10], ["300 ms", *["–"] * 7])
        self.assertEqual(cells["train"][2:5], ["59.5 s", "88.5 s", "1.49"])
        self.assertIn("Where no sample separates phases", said)


class Hostile(ReportCase):
    def test_names_are_inert_and_can_be_seen(self):
        lines = list(synthetic.lines(20, 1))
        lines[-1:-1] = [mark(5, HOSTILE)] + [metric(i, HOSTILE, {HOSTILE: i, "__proto__": i, "text": HOSTILE}, **{HOSTILE: HOSTILE}) for i in range(5)]
        pwned, images, titles, curves, rest, phases, unnamed = self.look_quietly(
            self.report(lines),
            ("global", {"name": "pwned"}),
            ("count", {"of": "img"}),
            ("texts", {"of": "#pushed-grid h3"}),
            ("texts", {"of": "#pushed-grid .curve"}),
            ("text", {"of": "#pushed-rest"}),
            ("text", {"of": "#phases-table"}),
            ("unnamed", {}),
        )
        self.assertEqual((pwned, images, unnamed), ("undefined", 0, []))
        for said in (titles[0], curves[0], rest, phases):
            self.assertIn("</script><script>window.pwned=1</script>", said)
        self.assertIn("__proto__", titles[1])

    def test_numbers_at_the_ends_of_doubles_are_drawn_or_counted(self):
        lines = list(synthetic.lines(20, 1))
        values = {"large": 1763690000000000000, "vast": 9e29, "tiny": 1e-300, "huge": 1e300}
        lines[-1:-1] = [metric(i, "q", {key: v + i % 2 * 256 for key, v in values.items()}) for i in range(5)]
        titles, rest = self.look_quietly(self.report(lines), ("texts", {"of": "#pushed-grid h3"}), ("text", {"of": "#pushed-rest"}))
        self.assertEqual(titles, ["q large", "q vast", "q tiny"])
        self.assertIn("q huge (5)", rest)


class Large(ReportCase):
    def test_a_day_of_samples_and_many_points_weigh_little_and_no_peak_is_gone(self):
        points = (metric(i * 0.864, "queue", {"length": 12345.678 if i == 54321 else i * 7919 % 1009 / 7}, worker=str(i % 8)) for i in range(100_000))
        page = self.report(synthetic.lines(86400, 10000, events=points))
        size = page.stat().st_size
        seen = self.look(page, ("legend", {"chart": "pushed-0"}), ("text", {"of": "#pushed-thinned"}))
        print(f"     86,400 samples, 10,000 processes, 100,000 points: {size / 1e6:.1f} MB, opened in {seen.open_ms:.0f} ms")
        self.assertEqual((seen.problems, seen.requests), ([], []))
        self.assertLess(size, MAX_PAGE)
        self.assertIn("12,345.678", seen.results[0].values())
        self.assertIn("no peak is hidden", seen.results[1])
