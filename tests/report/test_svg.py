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
        band, line = ([p.get("d") for p in memory.iter(f"{SVG}path") if p.get(key)][-1] for key in ("fill-opacity", "stroke-width"))
        highest, mean = (8 * (min(map(float, re.findall(r"[V ]([\d.]+)H", d))) - zero) / (eight - zero) for d in (band, line))
        self.assertAlmostEqual(highest, 9 + 100 / 1024, delta=0.05)
        self.assertLess(mean, 2)
        self.assertIn("peak 9.1 GiB at 8:00:00; python3 (1009) 284 MiB", self.texts(memory))

    def test_axes_have_units_and_curves_a_legend(self):
        root = self.figure(synthetic.lines(101, 3))
        cpu = self.texts(self.panel(root, "CPU"))
        for text in ("user", "system", "total", "machine 4 cores", "time since the start [min:s]", "1:30"):
            self.assertIn(text, cpu)
        self.assertIn("2 MiB/s", self.texts(self.panel(root, "I/O")))
        self.assertEqual(root.find(f"{SVG}title").text, "./align.sh --samples 101")

    def axis(self, group):
        """From seconds of a run of 100 to a place, and the upper edge of the plot, where no mark begins below."""
        at = {t.text: float(t.get("x")) for t in group.iter(f"{SVG}text") if t.text in ("0:00", "1:00")}
        return lambda seconds: at["0:00"] + (at["1:00"] - at["0:00"]) * seconds / 60

    def bars(self, group):
        """Place, upper and lower edge and end of the bars in lanes, and of the tints behind the curves."""
        rects = [r for r in group.iter(f"{SVG}rect") if r.get("width") != "12"]  # those are of the legend
        boxes = [[float(r.get(key)) for key in ("x", "y", "width", "height")] for r in rects]
        boxes = [(x, y, x + w, y + h) for x, y, w, h in boxes]
        tints = [r.get("fill-opacity") is not None for r in rects]
        return [b for b, t in zip(boxes, tints) if not t], [b for b, t in zip(boxes, tints) if t]

    def lines_of_marks(self, group):
        return [p.get("d") for p in group.iter(f"{SVG}path") if p.get("stroke-dasharray") == "3 3"]

    def limits(self, group):
        """Name and value of each, from above, and where its line is."""
        names = [t for t in group.iter(f"{SVG}text") if t.find(f"{SVG}tspan") is not None and t.get("font-size") == "10"]
        lines = [p.get("d") for p in group.iter(f"{SVG}path") if p.get("stroke-dasharray") == "1 4"]
        return [("".join(t.itertext()), float(d.split()[1].split("H")[0])) for t, d in zip(names, lines, strict=True)], names

    def test_phases_are_bars_above_the_curves_and_a_tint_behind_them(self):
        events = [{"kind": "event", "time": synthetic.START + at, "elapsed_seconds": at, "event": "mark", "text": text}
                  for at, text in ((20, "load"), (60, "epoch 3"), (80, "a name that is far too long for its bar" * 2), (90, "b"), (90.1, "c"))]
        events.append({"kind": "event", "time": synthetic.START + 40, "event": "oom_kill"})
        root = self.figure(synthetic.lines(101, 3, events=events))
        for group in root.iter(f"{SVG}g"):
            place, (bars, tints) = self.axis(group), self.bars(group)
            starts = {round(x) for x, *_ in bars}
            self.assertLessEqual({round(place(at)) for at in (0, 20, 60, 80)}, starts)
            self.assertEqual([round(x) for x, *_ in tints], [round(place(at)) for at in (20, 60, 80, 90.1)])
            top = min(y for _, y, _, _ in tints)
            self.assertLessEqual(max(low for *_, low in bars), top)
            lines = self.lines_of_marks(group)
            self.assertEqual(len(lines), 6)
            self.assertEqual({float(d.split()[1].split("v")[0]) for d in lines}, {top})
            texts = {t.text: t for t in group.iter(f"{SVG}text") if t.get("font-size") == "10" and t.find(f"{SVG}tspan") is None}
            self.assertLessEqual({"load", "epoch 3", "oom_kill"}, set(texts))
            self.assertNotIn("b", texts)  # its bar has no room
            for text, t in texts.items():
                self.assertLess(float(t.get("y")), top, text)
                if text != "oom_kill":
                    x = float(t.get("x"))
                    (end,) = [end for start, y, end, low in bars if start <= x < end and y < float(t.get("y")) < low]
                    self.assertLess(x + 4.5 * len(text), end + 4, text)  # the least that a letter takes, about

    def test_spans_are_in_lanes_that_nothing_shares(self):
        spans = [synthetic.span(i, name, *times) for i, name, times in ((1, "all", (0, 100)), (2, "align", (10, 40)), (3, "sort", (20, 60)), (4, "index", (40, 58)))]
        many = [synthetic.span(10 + i, "tiny", 70 + i / 100, 70 + i / 100 + 0.005) for i in range(1000)]
        lines = list(synthetic.lines(101, 3))
        lines[-1:-1] = spans + many
        memory = self.panel(self.figure(lines), "Memory")
        bars, tints = self.bars(memory)
        self.assertEqual(tints, [])
        self.assertLess(len(bars), 20)  # those that are too thin are one
        place, names = self.axis(memory), {t.text: float(t.get("x")) for t in memory.iter(f"{SVG}text")}
        for name, at in (("all", 0), ("align", 10), ("sort", 20), ("index", 40)):
            self.assertAlmostEqual(names[name], place(at) + 3, delta=0.2)
        self.assertEqual(len({y for _, y, _, _ in bars}), 3)
        for i, (x, y, end, _) in enumerate(bars):
            for other in bars[:i]:
                self.assertFalse(other[1] == y and other[0] < end and x < other[2], (bars[i], other))

    def test_limits_are_dotted_lines_named_beside_the_plot(self):
        lines = list(synthetic.lines(101, 3))
        lines[0]["limits"] = {"cpu_max_cores": 1.5, "memory_max_bytes": 10 << 30, "memory_high_bytes": 19 << 29}
        path = self.dir / "run.jsonl"
        synthetic.write(path, lines)
        for words, right in (((), 490), (("--panel", "memory", "--width", "85mm"), 321)):
            self.assertEqual(self.bpfmon("run.jsonl", "-f", "svg", "-o", "x.svg", "--force", *words).returncode, 0)
            root = ElementTree.parse(self.dir / "x.svg").getroot()
            memory = self.panel(root, "Memory")
            found, names = self.limits(memory)
            self.assertEqual([name for name, _ in found], ["limit 10 GiB", "throttled 9.5 GiB"])  # 64 GiB are far away
            zero, eight = (self.height_of(memory, label) for label in ("0 B", "8 GiB"))
            for (_, y), gib in zip(found, (10, 9.5)):
                self.assertAlmostEqual(8 * (y - zero) / (eight - zero), gib, delta=0.05)
            edge = max(float(re.match(r"M(\d+) \S+h(\d+)", p.get("d")).expand(r"\1")) + float(re.match(r"M(\d+) \S+h(\d+)", p.get("d"))[2])
                       for p in memory.iter(f"{SVG}path") if re.match(r"M\d+ \S+h\d+$", p.get("d")))
            self.assertTrue(all(edge < float(t.get("x")) < right for t in names))
            self.assertGreaterEqual(float(names[1].get("y")) - float(names[0].get("y")), 22)
            (peak,) = [float(t.get("y")) for t in memory.iter(f"{SVG}text") if (t.text or "").startswith("peak")]
            self.assertTrue(all(not peak - 9 < y < peak for _, y in found), (peak, found))
            if not words:
                self.assertEqual([name for name, _ in self.limits(self.panel(root, "CPU"))[0]], ["limit 1.5 cores"])

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
