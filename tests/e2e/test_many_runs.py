# SPDX-License-Identifier: BSD-2-Clause
"""Many runs together: distributions, what is unusual, and what changed, as Python works them out from the same runs;
and the page of them."""

import collections
import contextlib
import json
import re
import sqlite3
import statistics
from xml.etree import ElementTree

from lib.fillstore import CHANGE, REVISIONS, SLOWER, fill, revision_of
from lib.store import StoreCase

SAMPLED = True
NEEDS = ()
COUNT = 1500
PLAIN = {"LC_ALL": "C", "TERM": "dumb"}


def quantile(values, q):
    """Type 7, as numpy has it."""
    values = sorted(values)
    at = q * (len(values) - 1)
    below = int(at)
    return values[below] + (at - below) * (values[min(below + 1, len(values) - 1)] - values[below])


class ManyCase(StoreCase):
    how = {}

    def setUp(self):
        super().setUp()
        self.made = fill(self.store, COUNT, **self.how)

    def text(self, *words, **env):
        done = self.bpfmon("list", *words, env=PLAIN | env)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def change(self, sql):
        with contextlib.closing(sqlite3.connect(self.store)) as db:
            db.execute(sql)
            db.commit()

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
                self.assertIn(f"{said['absent']:,} more lack this value", " ".join(" ".join(head).split()))
                self.assertTrue(all(len(line) <= width for line in head + bars), text)
                self.assertIn(full, text)
                self.assertTrue(locale != "C" or text.isascii(), text)

    def test_without_runs_there_is_nothing_to_draw(self):
        self.assertEqual(self.text("--name", "none", "--hist"), "no runs\n")
        (said,) = self.objects("--name", "none", "--hist=wall")
        self.assertEqual((said["count"], said["median"], said["bins"]), (0, None, []))

    def test_a_metric_that_was_taken_for_a_word_is_pointed_out(self):
        done = self.bpfmon("list", "--hist", "wall", env=PLAIN)
        self.assertEqual((done.returncode, done.stdout), (0, "no runs\n"))
        self.assertIn("no run matches 'wall'; to give it as a metric, use '=', as in --hist=wall", done.stderr)
        self.assertEqual(self.text("--hist", "none"), "no runs\n")

    def test_help_lists_all_short_names(self):
        said = self.bpfmon("list", "--help").stdout
        (listed,) = re.findall(r"short name:\s([^.]*)\.", said)
        self.assertEqual(listed.split(", "), ["wall", "cpu", "cores", "memory", "peak", "read", "written", "processes"])
        for word in listed.split(", "):
            self.text("--name", "none", f"--hist={word}")

    def test_what_is_no_metric_is_refused(self):
        self.assert_refused(self.bpfmon("list", "--hist=wal"), "--hist does not accept 'wal'", "wall")
        self.assert_refused(self.bpfmon("list", "--hist=wall,nosuch"), "as in wall,peak,cpu", "; 'nosuch' is neither")
        self.assert_refused(self.bpfmon("list", "--hist=cpu,wall,wall_seconds"), "each metric only once; 'wall_seconds' is repeated")
        self.assert_refused(self.bpfmon("list", "--columns=id,nosuch"), "list --help", "; 'nosuch' is neither")
        self.assert_refused(self.bpfmon("list", "--columns=id,wall,wall_seconds"), "each column only once; 'wall_seconds' is repeated")
        self.assert_refused(self.bpfmon("list", "--hist", "--csv"), "csv")
        self.assert_refused(self.bpfmon("list", "--hist", "--columns", "id"), "--columns")


class Scatter(ManyCase):
    def test_each_cell_has_the_runs_with_both_values(self):
        (said,) = self.objects("--name", "align", "--scatter=write_bytes,peak")
        these = [one for one in self.made if one.name == "align"]
        both = [(one.written, one.rss) for one in these if one.has_ended and one.rss]
        self.assertEqual((said["count"], said["absent"]), (len(both), len(these) - len(both)))
        self.assertEqual([said[side]["metric"] for side in "xy"], ["write_bytes", "rss_peak_bytes"])

        def bin_of(side, value):
            return max(i for i, one in enumerate(said[side]["bins"]) if one["from"] <= value)

        expected = collections.Counter((bin_of("x", a), bin_of("y", b)) for a, b in both)
        self.assertEqual({(one["x"], one["y"]): one["count"] for one in said["cells"]}, expected)

    def test_the_text_fits_any_width_and_locale(self):
        (said,) = self.objects("--scatter")
        label = f"{said['count']:,} runs; {said['absent']:,} more"
        for width in (24, 40, 80, 200):
            for locale, shades, side in (("C", ".:+#@", "|"), ("C.UTF-8", "·░▒▓█", "│")):
                text = self.text("--scatter", LC_ALL=locale, COLUMNS=str(width))
                self.assertTrue(all(len(line) <= width for line in text.splitlines()), text)
                self.assertIn(label, " ".join(text.split()))
                rows = [line.partition(side)[2] for line in text.splitlines() if side in line]
                self.assertLessEqual(set("".join(rows)), {" ", *shades})
                self.assertGreater(len(set("".join(rows))), 2, text)
                self.assertTrue(locale != "C" or text.isascii(), text)

    def test_one_run_is_one_cell(self):
        one = next(one for one in self.made if one.has_ended and one.rss)
        self.change(f"DELETE FROM run WHERE id != {one.number}")
        text = self.text("--scatter=cpu,peak")
        self.assertEqual([line.partition("|")[2].strip() for line in text.splitlines() if "|" in line], ["."], text)
        (said,) = self.objects("--scatter=cpu,peak")
        self.assertEqual(said["cells"], [{"x": 0, "y": 0, "count": 1}])

    def test_without_both_values_nothing_is_drawn(self):
        self.change("UPDATE run SET rss_peak_bytes = NULL")
        self.assertEqual(len(self.text("--scatter", COLUMNS="200").splitlines()), 1)
        (said,) = self.objects("--scatter")
        self.assertEqual((said["count"], said["absent"], said["cells"]), (0, COUNT, []))
        self.assertEqual(self.text("--name", "none", "--scatter"), "no runs\n")

    def test_it_is_of_two_metrics(self):
        for words in ("wall", "wall,cpu,peak"):
            self.assert_refused(self.bpfmon("list", f"--scatter={words}"), f"--scatter does not accept '{words}'", "two metrics")
        self.assert_refused(self.bpfmon("list", "--scatter=wall,wall"), "--scatter does not accept", "'wall' is repeated")
        self.assert_refused(self.bpfmon("list", "--scatter=wall,pek"), "--scatter does not accept 'wall,pek'", "peak")
        self.assert_refused(self.bpfmon("list", "--scatter", "--csv"), "csv")


class Unusual(ManyCase):
    def setUp(self):
        super().setUp()
        self.ended = [one for one in self.made if one.has_ended]
        self.named = [one for one in self.ended if one.name]

    def unusual(self, *words):
        (said,) = self.objects("--unusual", *words)
        return said

    def test_those_that_failed_and_those_far_off_are_found_among_their_name(self):
        align, sort = (next(one for one in self.ended if one.name == name and not one.exit_code) for name in ("align", "sort"))
        self.change(f"UPDATE run SET wall_ns = wall_ns * 100, cpu_ns = cpu_ns * 200 WHERE id = {align.number}")
        self.change(f"UPDATE run SET rss_peak_bytes = {64 << 30} WHERE id = {sort.number}")
        said = self.unusual()
        found = {one["id"]: one for one in said["runs"]}
        failed = {one.number for one in self.ended if one.exit_code}
        self.assertEqual({i for i, one in found.items() if one["failed"]}, failed)
        self.assertEqual({one["metric"] for one in found[align.number]["off"]} & {"wall_seconds", "cpu_seconds"}, {"wall_seconds", "cpu_seconds"})
        self.assertEqual(found[sort.number]["off"][0]["metric"], "rss_peak_bytes")
        self.assertEqual((said["judged"], said["groups"]), (len(self.named), 3))
        self.assertEqual((said["too_few_runs"], said["not_ended"]), (len(self.ended) - len(self.named), COUNT - len(self.ended)))
        self.assertEqual(said["unusual"], len(said["runs"]))
        for one in found.values():
            for off in one["off"]:
                self.assertGreaterEqual(abs(off["z"]), said["threshold"])
                self.assertGreater(abs(off["value"] / off["median"] - 1), 0.1)
        text = self.text("--unusual", COLUMNS="60")
        self.assertIn(f"{len(found):,} of {len(self.ended):,} runs", " ".join(text.split()))
        self.assertTrue(all(len(line) <= 60 for line in text.splitlines()), text)
        self.assertRegex(" ".join(text.split()), rf"{align.number} .*align: .*wall_seconds .*\(z \+")

    def test_a_median_is_that_of_the_runs_that_ended_well(self):
        one = next(one for one in self.ended if one.name == "call" and not one.exit_code)
        self.change(f"UPDATE run SET wall_ns = 1 WHERE id = {one.number}")
        (run,) = (run for run in self.unusual("--name", "call")["runs"] if run["id"] == one.number)
        well = [other.wall_ns / 1e9 for other in self.ended if other.name == "call" and not other.exit_code and other is not one] + [1e-9]
        (off,) = run["off"]
        self.assertAlmostEqual(off["median"], statistics.median(well), delta=1e-6)
        self.assertEqual((off["of"], off["value"]), (len(well), 1e-9))
        self.assertLess(off["z"], -3.5)

    def test_the_threshold_and_the_metrics_are_options(self):
        strict, loose = (self.unusual("--unusual=wall", "--state", "finished", "--threshold", z) for z in ("5", "2"))
        offs = [[run for run in said["runs"] if run["off"]] for said in (strict, loose)]
        self.assertLess(len(offs[0]), len(offs[1]))
        self.assertEqual({off["metric"] for run in offs[1] for off in run["off"]}, {"wall_seconds"})
        self.assertEqual((strict["threshold"], loose["threshold"]), (5, 2))
        self.assertEqual(len(self.unusual("--limit", "1")["runs"]), 1)
        self.assert_refused(self.bpfmon("list", "--unusual", "--threshold", "0"), "--threshold")
        self.assert_refused(self.bpfmon("list", "--hist", "--threshold", "2"), "--unusual", "--threshold")

    def test_of_few_runs_it_says_so(self):
        self.change("DELETE FROM run WHERE id > 7")
        self.assertIn("7 runs of 3 names are judged by fewer than 8 successful runs, below 4 by failure alone", " ".join(self.text("--unusual").split()))
        said = self.unusual()
        self.assertEqual((said["judged"], said["too_few_runs"], said["too_few_groups"]), (0, 7, 3))
        self.change("UPDATE run SET wall_ns = wall_ns * 1000 WHERE id = 6")
        self.change("UPDATE run SET name = 'align', exit_code = 0")
        self.assertRegex(" ".join(self.text("--unusual=wall").split()), r" 6 .* align: wall_seconds .*, of only [4-7] runs\)")

    def test_runs_that_failed_are_listed_where_most_do(self):
        self.change("UPDATE run SET exit_code = 3 WHERE name = 'align' AND id % 10")
        failed = {one.number for one in self.ended if one.exit_code or (one.name == "align" and one.number % 10)}
        said = self.unusual("--unusual=wall")
        self.assertEqual({one["id"] for one in said["runs"] if one["failed"]}, failed)
        self.assertEqual({one["failure_is_unusual"] for one in said["runs"] if one["failed"] and one["name"] == "align"}, {False})


class Trend(ManyCase):
    how = {"seed": 2, "spread": 0.05}

    def trend(self, *words):
        (said,) = self.objects(*words)
        return said

    def test_the_revision_since_which_it_takes_longer_is_found(self):
        said = self.trend("--name", "align", "--trend")
        counted = [one for one in self.made if one.name == "align" and one.has_ended and not one.exit_code]
        by_revision = [[one.wall_ns / 1e9 for one in counted if one.revision == i] for i in range(REVISIONS)]
        self.assertEqual([one["revision"] for one in said["revisions"]], [revision_of(i) for i in range(REVISIONS)])
        self.assertEqual([one["count"] for one in said["revisions"]], [len(values) for values in by_revision])
        for one, values in zip(said["revisions"], by_revision):
            self.assertAlmostEqual(one["median"], statistics.median(values), delta=1e-6)
        (change,) = said["changes"]
        before, after = sum(by_revision[:CHANGE], []), sum(by_revision[CHANGE:], [])
        self.assertEqual((change["since"], change["count_before"], change["count_after"]), (revision_of(CHANGE), len(before), len(after)))
        self.assertAlmostEqual(change["before"], statistics.median(before), delta=1e-6)
        self.assertAlmostEqual(change["after"], statistics.median(after), delta=1e-6)
        self.assertAlmostEqual(change["relative"], SLOWER - 1, delta=0.05)
        self.assertLess(change["p"], 0.01)
        for width in (44, 100):
            text = self.text("--name", "align", "--trend", COLUMNS=str(width))
            self.assertIn(f"since {change['since'][:10]} it takes {change['relative'] * 100:.0f} % more (p=", " ".join(text.split()))
            self.assertTrue(all(len(line) <= width for line in text.splitlines()), text)

    def test_what_did_not_change_is_not_claimed_to(self):
        said = self.trend("--name", "sort", "--trend")
        self.assertEqual((said["enough"], said["changes"]), (True, []))
        self.assertIn("no change is more than noise", self.text("--name", "sort", "--trend"))
        self.assertEqual(self.trend("--name", "sort", "--trend=minflt")["metric"], "minflt")

    def test_of_few_runs_nothing_is_claimed(self):
        self.change("DELETE FROM run WHERE id > 6 AND id < 1494")
        self.assertIn("too few runs to tell", self.text("--name", "align", "--trend"))
        self.assertEqual(self.trend("--name", "align", "--trend")["enough"], False)

    def test_a_change_is_said_in_words_for_its_metric(self):
        self.change("UPDATE run SET cpu_ns = wall_ns * 2, rss_peak_bytes = wall_ns / 100,"
                    " memory_needed_bytes = wall_ns / 200, memory_needed_witness = 'pss', memory_needed_bound = 'equal'")
        self.assertRegex(" ".join(self.text("--name", "align", "--trend=cpu").split()), r"it uses \d+ % more CPU time \(p=")
        self.assertRegex(" ".join(self.text("--name", "align", "--trend=peak").split()), r"it holds \d+ % more resident memory \(p=")
        self.assertRegex(" ".join(self.text("--name", "align", "--trend=memory").split()), r"it needs \d+ % more memory \(p=")

    def test_of_one_revision_nothing_can_have_changed(self):
        self.change("UPDATE run_text SET meta = json_set(meta, '$.git.revision', 'abcdef')")
        self.assertIn("all runs are of one revision", self.text("--name", "align", "--trend"))

    def test_runs_without_a_revision_are_counted(self):
        self.change("UPDATE run_text SET meta = json_remove(meta, '$.git')")
        said = self.trend("--name", "align", "--trend")
        self.assertEqual((said["count"], said["revisions"]), (0, []))
        self.assertEqual(said["left_out"], sum(one.name == "align" for one in self.made))
        self.change("UPDATE run_text SET meta = json_set(meta, '$.git', json('{\"revision\":\"\\u001b[2J\"}'))")
        self.assertEqual(self.trend("--name", "align", "--trend")["count"], 0)

    def test_it_is_of_runs_of_one_name(self):
        self.assert_refused(self.bpfmon("list", "--trend"), "one name", "--name")
        self.assert_refused(self.bpfmon("list", "--trend=wall,cpu"), "--trend does not accept", "one metric")
        self.assertEqual(self.text("--trend", "--name", "none").splitlines()[0], "wall_seconds of 0 runs at 0 revisions")


class Page(ManyCase):
    def page(self, *words):
        done = self.bpfmon("report", "--many", "-o", "-", *words, env={"TZ": "UTC"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def pictures(self, page):
        return [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, re.S)]

    def counts(self, picture):
        return [int(one.text.rpartition(": ")[2].split()[0].replace(",", "")) for one in picture.iterfind("g/title")]

    def test_its_histograms_are_of_all_runs_with_a_value(self):
        page = self.page()
        ended = [one for one in self.made if one.has_ended]
        with_memory = [one for one in ended if one.rss]
        *histograms, scatter = self.pictures(page)
        self.assertEqual([sum(self.counts(one)) for one in histograms], [len(ended), len(with_memory), *[len(ended)] * 3])
        self.assertEqual(sum(self.counts(scatter)), len(ended) + len(with_memory))
        self.assertIn(f"{len(with_memory):,} runs with both", page)
        self.assertLess(len(page), 1 << 20)

    def test_each_of_many_runs_is_in_a_cell_of_the_scatter(self):
        cells = re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-", self.page())
        runs = [one for one in self.made if one.has_ended and one.rss]
        self.assertGreater(len(cells), len(runs) / 10)
        self.assertLessEqual(len(cells), len(runs))
        self.assertEqual(len(cells), len(set(cells)))

    def test_each_of_few_runs_is_a_point_in_its_colour_that_leads_to_it(self):
        these = [one for one in self.made if one.name == "call"]
        runs = [one for one in these if one.has_ended and one.rss]
        page = self.page("--name", "call")
        scatter = self.pictures(page)[-1]
        points = {a.get("href"): a.find("circle") for a in scatter.iter("a")}
        rows = dict(re.findall(r'<tr id="(r\d+)"><td class="text"><i class="g\d"></i>(\d+)<', page))
        self.assertEqual((len(points), len(rows)), (len(runs), len(these)))
        colours = {int(rows[to.removeprefix("#")]): point.get("class") for to, point in points.items()}
        failed = {one.number for one in runs if one.exit_code}
        self.assertEqual({number for number, colour in colours.items() if colour == "g6"}, failed)
        self.assertIn("By the tag", page)  # all have one name
        by_tag = {2 ** (one.number % 4): colours[one.number] for one in runs if one.number not in failed}
        for one in runs:
            if one.number not in failed:
                self.assertEqual(colours[one.number], by_tag[2 ** (one.number % 4)], one)
        self.assertEqual(len(set(by_tag.values())), len(by_tag))

    def test_names_have_colours_and_axes_of_time_are_in_seconds_minutes_and_hours(self):
        page = self.page()
        self.assertEqual(re.findall(r"By name:|</i>(\w+) <", page)[0], "")
        self.assertLessEqual({one.name for one in self.made if one.name}, set(re.findall(r"</i>(\w+) <", page)))
        self.assertEqual(page.count("<main>"), 1)
        self.change("UPDATE run SET wall_ns = 1000000000 * (1 << (id % 15))")
        labels = [one.text for one in self.pictures(self.page("--state", "finished"))[0].iter("text")]
        self.assertLessEqual({"1 s", "1 min", "1 h"}, set(labels), labels)

    def test_it_fetches_and_executes_nothing(self):
        hostile = "<script>alert(1)</script>&\"'*"
        self.change(f"UPDATE run SET name = {chr(39)}<script>alert(1)</script>&\"{chr(39) * 2}x{chr(39)} WHERE id < 100")
        page = self.page("--name", hostile)
        self.assertIn("&lt;script", page)
        self.assertNotIn("<script", page)
        self.assertIn("default-src 'none'", page)
        self.assertNotRegex(page, r"https?://|src=|href=\"(?!#r\d)|@import|url\(")

    def test_its_head_says_which_runs_it_is_of(self):
        for words, head in (
            ([], "all runs"),
            (["--name", "sort", "--tag", "threads=4"], "runs, name sort, tag threads=4"),
            (["--state", "failed"], "runs, failed"),
            (["--since", "2000-01-01"], "runs, since 2000-01-01 00:00 UTC"),
        ):
            self.assertIn(f"<h1>{head}</h1>", self.page(*words))
        one = next(one for one in self.made if one.has_ended)
        self.change(f"DELETE FROM run WHERE id != {one.number}")
        self.assertIn("<p>1 run, begun", self.page())

    def test_a_page_is_made_of_chosen_metrics_and_runs_only(self):
        self.assertEqual(len(self.pictures(self.page("--name", "sort"))), 6)
        one = self.bpfmon("report", "--many=majflt", "-o", self.dir / "page.html", "sort")
        self.assertEqual((one.returncode, len(self.pictures((self.dir / "page.html").read_text()))), (0, 1), one.stderr)
        self.assert_refused(self.bpfmon("report", "--many", "--name", "none"), "no run matches the filters")
        self.assert_refused(self.bpfmon("report", "--many", "-f", "svg"), "not a picture")
        self.assert_refused(self.bpfmon("report", "--name", "sort"), "--many")
        self.assert_refused(self.bpfmon("report", "--many=wal"), "--many does not accept 'wal'", "wall")
