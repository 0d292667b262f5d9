# SPDX-License-Identifier: BSD-2-Clause
"""The charts as one SVG: well-formed, labelled, and drawn to scale."""

import re
import xml.etree.ElementTree as ElementTree

import synthetic
from hostile import hostile_run
from reports import PICTURES, ReportCase

SVG = "{http://www.w3.org/2000/svg}"


class Figure(ReportCase):
    def figure(self, run):
        return ElementTree.parse(self.report(run, "svg")).getroot()

    def panel(self, root, title):
        """The group whose first text begins with that title."""
        for group in root.iter(f"{SVG}g"):
            if "".join(next(group.iter(f"{SVG}text")).itertext()).startswith(title):
                return group
        return self.fail(f"no chart {title}")

    def texts(self, group):
        return ["".join(text.itertext()) for text in group.iter(f"{SVG}text")]

    def height_of(self, group, label):
        """Where the line of that label is; the text stands 3.5 below it."""
        (y,) = [float(t.get("y")) for t in group.iter(f"{SVG}text") if t.text == label]
        return y - 3.5

    def test_a_peak_of_one_sample_in_a_day_is_at_its_height(self):
        root = self.figure(synthetic.lines(86400, 10))
        memory = self.panel(root, "Memory")
        zero, eight = (self.height_of(memory, label) for label in ("0 B", "8 GiB"))
        curve = [p.get("d") for p in memory.iter(f"{SVG}path") if p.get("stroke-width") == "1.25"][-1]
        highest = min(float(y) for _, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", curve))
        self.assertAlmostEqual(8 * (highest - zero) / (eight - zero), 9 + 100 / 1024, delta=0.05)
        self.assertIn("peak 9.1 GiB at 8:00:00; python3 (1009) 284 MiB", self.texts(memory))

    def test_axes_have_units_and_curves_a_legend(self):
        root = self.figure(synthetic.lines(101, 3))
        cpu = self.texts(self.panel(root, "CPU"))
        for text in ("user", "system", "total", "4 available", "time since the start [min:s]", "1:15"):
            self.assertIn(text, cpu)
        self.assertIn("2 MiB/s", self.texts(self.panel(root, "I/O")))
        self.assertEqual(root.find(f"{SVG}title").text, "./align.sh --samples 101")

    def test_marks_are_lines_with_their_text(self):
        marks = [{"kind": "event", "time": synthetic.START + 60, "event": "mark", "text": "epoch 3"}]
        cpu = self.panel(self.figure(synthetic.lines(101, 3, events=marks)), "CPU")
        at = {t.text: float(t.get("x")) for t in cpu.iter(f"{SVG}text") if t.text}
        self.assertAlmostEqual(at["epoch 3"], at["1:00"] + 3, delta=0.2)
        lines = [p.get("d") for p in cpu.iter(f"{SVG}path") if p.get("stroke-dasharray") == "3 3"]
        self.assertEqual([float(d.split()[0][1:]) for d in lines], [at["1:00"]])

    def test_hostile_texts_are_text(self):
        root = self.figure(hostile_run())
        self.assertEqual({e.tag for e in root.iter()}, {SVG + n for n in ("svg", "title", "desc", "rect", "text", "g", "path", "tspan", "circle")})
        described = root.find(f"{SVG}desc").text
        self.assertIn("</script><script>window.pwned=1</script>", described)
        self.assertIn("\\x1b[31m\\u202e\\n", described)
        self.assertNotIn("\x1b", described)

    def test_a_browser_draws_it(self):
        path = self.report(synthetic.lines(101, 3), "svg")
        page = self.dir / "wrap.html"
        page.write_text(f"<!doctype html><title>x</title><img src='{path.name}'>")
        width, _ = self.look(page, ("natural", {"of": "img"}), ("screenshot", {"path": str(PICTURES / "figure.png")})).results
        self.assertEqual(width, 1000)
