# SPDX-License-Identifier: BSD-2-Clause
"""Curves of more samples than there are pixels, of samples that are missing, and of two samples."""

import json
import subprocess

import synthetic
from lib.bpfmon import BPFMON
from lib.web import Web
from reports import PICTURES, ReportCase

EVERY = 0.1  # s
BUSY, IDLE = 0.5, 0.02  # cores: at one of 8 samples, and at the others
MEAN = (BUSY + 7 * IDLE) / 8


def spiky(samples, events=()):
    """CPU in spikes that are much higher than their mean, and memory that is the number of the sample in KiB."""
    used = 0
    yield synthetic.meta(samples, EVERY)
    for i in range(samples):
        used += (BUSY if i % 8 == 0 else IDLE) * EVERY if i else 0
        yield {
            "kind": "sample", "time": synthetic.START + i * EVERY, "elapsed_seconds": round(i * EVERY, 6), "cpu_seconds": used,
            "user_seconds": used * 0.75, "system_seconds": used * 0.25, "rss_bytes": i * 1024, "rss_anon_bytes": i * 1024, "processes": 1, "threads": 1,
            "cores": BUSY if i % 8 == 0 else IDLE,
        }  # fmt: skip
    yield from events
    yield synthetic.summary(samples, 1, samples * EVERY) | {"rss_peak_bytes": samples * 1024}


def late(at, missing):
    return {"kind": "event", "time": synthetic.START + at, "elapsed_seconds": at, "event": "late_ticks", "count": missing}


class Bands(ReportCase):
    def test_spikes_are_a_pale_band_and_their_mean_a_line(self):
        largest, _, cursor, strong, thinned, *_ = self.look_quietly(
            self.report(spiky(11613)),
            ("legend", {"chart": "cpu"}),
            ("cursor", {"chart": "cpu", "at": 0.5}),
            ("legend", {"chart": "cpu"}),
            ("strong", {"chart": "cpu"}),
            ("text", {"of": "#thinned"}),
            ("screenshot", {"path": str(PICTURES / "bands-light.png"), "full": False}),
            ("scheme", {"value": "dark"}),
            ("screenshot", {"path": str(PICTURES / "bands-dark.png"), "full": False}),
        )
        self.assertEqual(largest["cores"], f"{BUSY:.2f}")
        self.assertEqual(cursor["cores"], f"{MEAN:.3f}"[:4] + f", up to {BUSY:.2f}")
        self.assertRegex(cursor["when"], r"^\d+:\d\d to \d+:\d\d$")
        self.assertLess(strong, MEAN / BUSY * 1.5)  # as much of the plot as is below the mean
        self.assertIn("A step is 16 of 11,613 samples", thinned)

    def test_a_phone_that_has_more_samples_than_pixels_draws_bands_too(self):
        _, strong = self.look_quietly(self.report(spiky(1000)), ("viewport", {"width": 390, "height": 844}), ("strong", {"chart": "cpu"}))
        self.assertLess(strong, MEAN / BUSY * 1.5)


class Missing(ReportCase):
    def test_are_one_strip_one_row_and_trouble(self):
        events = [late(360.2 + i / 3, 1) for i in range(174)] + [late(500 + i, 3) for i in range(97)] + [late(800, 1)]
        said = "466 of 12,079 samples are missing, 174 of them between 6 and 7 min"
        strip, rows, trouble, flags, _ = self.look_quietly(
            self.report(spiky(11613, events)),
            ("text", {"of": "#missing"}),
            ("texts", {"of": "#events-table tbody tr"}),
            ("texts", {"of": ".tile.bad"}),
            ("count", {"of": ".flag"}),
            ("screenshot", {"path": str(PICTURES / "missing.png")}),
        )
        self.assertEqual(strip, f"{said}.")
        self.assertEqual([row.split("\t")[1:] for row in rows], [["missing samples", f"{said}: bpfmon did not get a CPU in time"]])
        self.assertEqual([tile.split("\n")[:2] for tile in trouble], [["Trouble", "466 samples missing"]])
        self.assertEqual(flags, 0)

    def test_the_summary_in_a_terminal_has_the_same_number(self):
        lines = list(spiky(1000, [late(50, 2)]))
        lines[-1]["late_ticks"] = 2
        (strip,) = self.look_quietly(self.report(lines), ("text", {"of": "#missing"}))
        shown = subprocess.run([BPFMON, "show", self.dir / "run.jsonl"], stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertIn(" 2 of 1,002 are missing: ", shown)
        self.assertTrue(strip.startswith("2 of 1,002 samples are missing, "), strip)

    def test_few_are_mentioned_and_are_no_trouble(self):
        bad, tiles = self.look_quietly(self.report(spiky(1000, [late(50, 2)])), ("count", {"of": ".tile.bad"}), ("texts", {"of": ".tile"}))
        self.assertEqual(bad, 0)
        self.assertIn("2 of 1,002 samples are missing, between 49 and 50 s", tiles[5])

    def test_a_picture_has_the_strip_in_each_chart(self):
        text = self.report(spiky(1000, [late(50, 2)]), "svg").read_text()
        self.assertEqual(text.count('stroke-linecap="butt"'), text.count("<g "))
        self.assertNotIn("late_ticks", text)


class Brief(ReportCase):
    def test_two_samples_are_values_and_no_charts(self):
        charts, overview, values, _, drawn = self.look_quietly(
            self.report(synthetic.lines(2, 1)),
            ("count", {"of": "[data-chart]"}),
            ("attribute", {"of": "#overview", "name": "hidden"}),
            ("texts", {"of": "#flat li"}),
            ("click", {"of": "#flat button"}),
            ("count", {"of": "[data-chart=cpu] canvas"}),
        )
        self.assertEqual((charts, overview, drawn), (0, "", 1))
        self.assertEqual(values[0], "CPU user 1.25, system 0.25, total 1.5 Draw")


class Phone(ReportCase):
    def test_the_first_screen_has_a_chart(self):
        _, chart, _, tiles = self.look_quietly(
            self.report(synthetic.lines(101, 30)),
            ("viewport", {"width": 390, "height": 844}),
            ("box", {"of": "[data-chart=cpu]"}),
            ("screenshot", {"path": str(PICTURES / "phone-first.png"), "full": False}),
            ("box", {"of": "#figures"}),
        )
        self.assertLess(chart["y"] + chart["height"], 844)
        self.assertGreater(tiles["y"], chart["y"])


class Served(ReportCase):
    def test_a_zoom_fetches_its_samples(self):
        source, store = self.dir / "run.jsonl", self.dir / "store.sqlite"
        synthetic.write(source, spiky(11613))
        subprocess.run([BPFMON, "store", "merge", source, "--store", store], check=True, stdout=subprocess.PIPE)
        web = Web(store)
        self.addCleanup(web.close)
        seen = self.look(
            f"{web.url}",
            ("click", {"of": "#runs .what a"}),
            ("until", {"of": "#thinned", "like": "A step is 16"}),
            ("zoom", {"chart": "cpu", "from": 0.5, "to": 0.55}),
            ("until", {"of": "#thinned", "like": "^$"}),
            ("cursor", {"chart": "memory", "at": 0.5}),
            ("legend", {"chart": "memory"}),
            ("legend", {"chart": "cpu"}),
            ("press", {"of": "body", "key": "Escape"}),
            ("until", {"of": "#thinned", "like": "A step is 16"}),
            ("strong", {"chart": "cpu"}),
        )
        self.assertEqual(seen.problems, [])
        self.assertEqual(len([url for url in seen.requests if "/window?" in url]), 1)
        memory, cpu, *_, strong = seen.results[5:]
        minutes, rest = memory["when"].removeprefix("at ").split(":")
        sample = round((60 * int(minutes) + float(rest)) / EVERY)
        self.assertEqual(memory["rss_bytes"], f"{sample / 1024:.1f} MiB")
        self.assertEqual(cpu["cores"], f"{BUSY if sample % 8 == 0 else IDLE:.2f}")
        self.assertLess(strong, MEAN / BUSY * 1.5)

    def test_a_window_needs_two_times(self):
        source, store = self.dir / "run.jsonl", self.dir / "store.sqlite"
        synthetic.write(source, spiky(50))
        subprocess.run([BPFMON, "store", "merge", source, "--store", store], check=True, stdout=subprocess.PIPE)
        web = Web(store)
        self.addCleanup(web.close)
        for query in ("", "?from=1", "?from=2&to=1", "?from=x&to=2", "?from=-1&to=2", "?from=nan&to=2"):
            self.assertEqual(web.request(f"/runs/1/window{query}").status, 400, query)
        charts = json.loads(web.request("/runs/1/window?from=1&to=2").text)["charts"]
        self.assertEqual(charts["cpu"]["time"], [round(1 + i * EVERY, 6) for i in range(1, 11)])
        self.assertIsNotNone(charts["cpu"]["columns"]["cores"][0])
