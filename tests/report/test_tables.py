# SPDX-License-Identifier: BSD-2-Clause
"""The tables of a report: bars, short names, no scrolling within the page, the keyboard."""

import synthetic
from hostile import hostile_run
from reports import PICTURES, ReportCase
from test_pushed import mark

PHONE = ("viewport", {"width": 390, "height": 844})


def text(of):
    return ("text", {"of": of})


def texts(of):
    return ("texts", {"of": of})


class Cells(ReportCase):
    def look_at(self, *steps):
        return self.look_quietly(self.report(synthetic.lines(101, 30)), *steps)

    def test_the_largest_rows_come_first_and_bars_are_to_scale(self):
        cpu, bars = self.look_at(
            texts("#processes-table tbody td:nth-child(7)"), ("parts", {"of": "#processes-table tbody td:nth-child(7)"})
        )
        values = [float(cell.split()[0]) / (1000 if "ms" in cell else 1) for cell in cpu]
        self.assertEqual(values, sorted(values, reverse=True))
        for value, bar in zip(values, bars):
            self.assertAlmostEqual(bar, value / 70, delta=0.002)

    def test_reads_and_writes_have_one_scale(self):
        read, written = self.look_at(
            ("parts", {"of": "#processes-table tbody td:nth-child(12)"}), ("parts", {"of": "#processes-table tbody td:nth-child(13)"})
        )
        for a, b in zip(read, written):
            self.assertAlmostEqual(a, 2 * b, delta=1e-6)

    def test_a_program_has_its_base_name_and_its_path_at_the_pointer_and_at_the_focus(self):
        name = "#programs-table tbody tr:nth-child(2) td:first-child > *"
        names, hidden, _, hovered, _, _, focused, _, gone = self.look_at(
            texts("#programs-table tbody td:first-child"),
            ("attribute", {"of": "#tip", "name": "hidden"}),
            ("hover", {"of": name}),
            text("#tip"),
            ("hover", {"of": "h1"}),
            ("press", {"of": "#programs-table tbody tr:first-child td:first-child > *", "key": "ArrowDown"}),
            text("#tip"),
            ("press", {"of": name, "key": "Escape"}),
            ("attribute", {"of": "#tip", "name": "hidden"}),
        )
        self.assertEqual(sorted(names), sorted(synthetic.NAMES))
        self.assertEqual((hidden, gone), ("", ""))
        self.assertEqual((hovered, focused), (f"/opt/tools/bin/{names[1]}",) * 2)

    def test_arrow_keys_go_from_name_to_name_and_tab_leaves_the_table(self):
        first = "#processes-table tbody tr:first-child button"
        stops, _, focused, _, zoomed = self.look_at(
            ("count", {"of": "#processes-table tbody [tabindex='0']"}),
            ("press", {"of": first, "key": "ArrowDown"}),
            ("focused_text", {}),
            ("press", {"of": "#processes-table tbody tr:nth-child(2) button", "key": "Enter"}),
            ("range", {}),
        )
        self.assertEqual(stops, 1)
        self.assertEqual(focused, "python3")
        self.assertAlmostEqual(zoomed[0][0], 100 * 26 / 30, delta=0.01)  # number 27 began then

    def test_columns_that_few_want_are_shown_on_demand(self):
        heads, _, more = self.look_at(
            texts("#processes-table thead button:visible"), ("click", {"of": "#processes-all"}), texts("#processes-table thead button:visible")
        )
        self.assertEqual(len(more) - len(heads), 6)
        self.assertIn("Waited", more)

    def test_of_one_process_there_is_one_table(self):
        lines = list(synthetic.lines(20, 1))
        lines[-1]["programs"] = [synthetic.program("align", 1)]
        shown = self.look_quietly(self.report(lines), *[("count", {"of": f"#{of}:visible"}) for of in ("timeline", "programs", "processes")])
        self.assertEqual(shown, [0, 0, 1])


class Looks(ReportCase):
    def test_texts_of_tables_lanes_and_facts_have_contrast_in_light_and_dark(self):
        lines = list(synthetic.lines(101, 40, events=(mark(2, "a"), mark(50, "b"))))
        lines[0]["capabilities"]["swap_bytes"] = {"available": False, "reason": "this kernel has no swap"}
        lines[-1:-1] = synthetic.spans(30, 100)
        opened = [("click", {"of": f"#facts summary:has-text('{title}')"}) for title in ("Run", "Machine", "Recording", "Not measured")]
        opened += [("click", {"of": "#processes-all"}), ("hover", {"of": "#processes-table .link"})]
        *_, lanes, light, _, dark, _, programs = self.look_quietly(
            self.report(lines), *opened, ("count", {"of": ".lanes canvas"}), ("faint", {}), ("scheme", {"value": "dark"}), ("faint", {}),
            ("select", {"of": "#tl-group", "value": "program"}), ("faint", {}))
        self.assertEqual(lanes, 2)
        self.assertEqual((light, dark, programs), ([], [], []))


class Widths(ReportCase):
    def setUp(self):
        super().setUp()
        marks = [mark(2 * i, f"phase {i}") for i in range(40)]
        self.page = self.report(synthetic.lines(101, 100, events=iter(marks)))

    def test_nothing_scrolls_within_the_page(self):
        (areas,) = self.look_quietly(self.page, ("scrolling", {}))
        self.assertEqual(areas, [])

    def test_on_a_phone_only_marked_tables_scroll_sideways_and_names_stay(self):
        name = "#programs-table tbody tr:first-child td:first-child"
        _, width, areas, before, _, after, second = self.look_quietly(
            self.page,
            PHONE,
            ("width", {}),
            ("scrolling", {}),
            ("box", {"of": name}),
            ("scroll", {"of": "#programs .scroll", "left": 120}),
            ("box", {"of": name}),
            ("box", {"of": name + " + td"}),
        )
        self.assertEqual(width, 390)
        self.assertTrue(areas)
        for area in areas:
            self.assertEqual(area, {"of": "scroll wide", "sideways": True, "down": False, "focusable": True})
        self.assertEqual(before["x"], after["x"])
        self.assertLess(second["x"], after["x"] + after["width"])

    def test_hostile_texts_make_no_page_wider(self):
        page = self.report(hostile_run())
        for viewport in (PHONE, ("viewport", {"width": 1280, "height": 900})):
            _, width = self.look_quietly(page, viewport, ("width", {}))
            self.assertEqual(width, viewport[1]["width"])

    def test_the_largest_phase_comes_first_and_a_button_shows_the_rest(self):
        first, rows, _, _, more = self.look_quietly(
            self.page,
            text("#phases-table tbody tr td"),
            ("count", {"of": "#phases-table tbody tr"}),
            ("click", {"of": "#phases .more"}),
            ("screenshot", {"path": str(PICTURES / "phases.png")}),
            ("count", {"of": "#phases-table tbody tr"}),
        )
        self.assertEqual((first, rows, more), ("phase 39", 12, 41))

    def test_phases_of_one_name_are_one_row_with_their_number(self):
        marks = [mark(10 * i, ("train", "check")[i % 2]) for i in range(1, 10)]
        rows, _, each = self.look_quietly(
            self.report(synthetic.lines(101, 5, events=iter(marks))),
            texts("#phases-table tbody tr"),
            ("select", {"of": "#phases-rows", "value": "each"}),
            ("count", {"of": "#phases-table tbody tr"}),
        )
        cells = {row.split("\t")[0]: row.split("\t")[1:7] for row in rows}
        self.assertEqual(cells["check"], ["5", "0:10.00", "50.0 s", "75.0 s", "1.50", "62.5 s"])
        self.assertEqual(cells["train"][:4], ["4", "0:20.00", "40.0 s", "60.0 s"])
        self.assertEqual(each, 10)
