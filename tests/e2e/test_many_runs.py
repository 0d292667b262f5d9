# SPDX-License-Identifier: BSD-2-Clause
"""Many runs together: distributions, as Python works them out from the same runs."""

import json
import statistics

from lib.fillstore import fill
from lib.store import StoreCase

COUNT = 1500
PLAIN = {"LC_ALL": "C", "TERM": "dumb"}


def quantile(values, q):
    """Type 7, as numpy has it."""
    values = sorted(values)
    at = q * (len(values) - 1)
    below = int(at)
    return values[below] + (at - below) * (values[min(below + 1, len(values) - 1)] - values[below])


class ManyCase(StoreCase):
    def setUp(self):
        super().setUp()
        self.made = fill(self.store, COUNT)

    def text(self, *words, **env):
        done = self.bpfmon("list", *words, env=PLAIN | env)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def objects(self, *words):
        return [json.loads(line) for line in self.text("--json", *words).splitlines()]


class Distributions(ManyCase):
    def assert_is_of(self, said, values, runs):
        self.assertEqual((said["count"], said["absent"]), (len(values), runs - len(values)))
        expected = {"min": min(values), "max": max(values), "median": statistics.median(values), "p95": quantile(values, 0.95), "q1": quantile(values, 0.25)}
        for key, value in expected.items():
            self.assertAlmostEqual(said[key], value, delta=abs(value) * 1e-9, msg=key)
        self.assertEqual(sum(one["count"] for one in said["bins"]), len(values))
        for i, one in enumerate(said["bins"]):
            is_last = one["from"] == one["to"] or i + 1 == len(said["bins"])
            self.assertEqual(one["count"], sum(one["from"] <= v < one["to"] or (is_last and v == one["to"]) for v in values), one)

    def test_they_are_those_of_all_runs_that_have_a_value(self):
        wall, peak, cpu = self.objects("--hist")
        ended = [one for one in self.made if one.has_ended]
        self.assertEqual([one["metric"] for one in (wall, peak, cpu)], ["wall_seconds", "rss_peak_bytes", "cpu_seconds"])
        self.assert_is_of(wall, [one.wall_ns / 1e9 for one in ended], COUNT)
        self.assert_is_of(peak, [one.rss for one in ended if one.rss], COUNT)
        self.assert_is_of(cpu, [one.cpu_ns / 1e9 for one in ended], COUNT)
        self.assertGreater(peak["absent"], wall["absent"])

    def test_metrics_of_the_summaries_and_filters_make_others(self):
        written, faults, status = self.objects("--name", "align", "--tag", "threads=4", "--hist=write_bytes,majflt,exit_code")
        these = [one for one in self.made if one.name == "align" and 2 ** (one.number % 4) == 4]
        ended = [one for one in these if one.has_ended]
        self.assert_is_of(written, [one.written for one in ended], len(these))
        self.assertEqual((written["scale"], written["bins"][0]["to"]), ("log", 0))
        self.assertEqual(faults["bins"], [{"from": 0, "to": 0, "count": len(ended)}])
        self.assert_is_of(status, [one.exit_code for one in ended], len(these))

    def test_the_text_has_the_same_figures_in_any_width_and_locale(self):
        (said,) = self.objects("--hist=peak")
        counts = [f"{one['count']:,}" for one in said["bins"]]
        for width in (24, 40, 80, 200):
            for locale, full in (("C", "#"), ("C.UTF-8", "█")):
                text = self.text("--hist=peak", LC_ALL=locale, COLUMNS=str(width))
                head, bars = [], []
                for line in text.splitlines():
                    (bars if "|" in line or "│" in line else head).append(line)
                self.assertEqual([line.split()[-1] for line in bars], counts)
                self.assertIn(f"{said['absent']:,} more without it", " ".join(" ".join(head).split()))
                self.assertTrue(all(len(line) <= width for line in head + bars), text)
                self.assertIn(full, text)
                self.assertTrue(locale != "C" or text.isascii(), text)

    def test_without_runs_there_is_nothing_to_draw(self):
        self.assertEqual(self.text("--name", "none", "--hist"), "no runs\n")
        (said,) = self.objects("--name", "none", "--hist=wall")
        self.assertEqual((said["count"], said["median"], said["bins"]), (0, None, []))

    def test_what_is_no_metric_is_refused(self):
        self.assert_refused(self.bpfmon("list", "--hist=wal"), "--hist does not take 'wal'", "wall")
        self.assert_refused(self.bpfmon("list", "--hist=wall,wall"), "--hist")
        self.assert_refused(self.bpfmon("list", "--hist", "--csv"), "csv")
        self.assert_refused(self.bpfmon("list", "--hist", "--columns", "id"), "--columns")
