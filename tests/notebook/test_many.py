# SPDX-License-Identifier: BSD-2-Clause
"""The notebook on 5,000 runs: all that it works out, against what is known of them."""

import pathlib
import shutil
import tempfile

from lib import manyruns
from lib.manyruns import HOSTILE, MIB
from lib.notebook import FIGURES, NotebookCase, median, quantile, stepped

COUNT = 5000
SHARES = [0.5, 0.75, 0.9, 0.95, 0.99, 1.0]
ASK = {
    "limits": "limits.tolist()",
    "runs_beyond": "requests.runs_beyond.tolist()",
    "unused": "requests.unused_gib_hours.tolist()",
    "outcomes": "outcomes.to_dict('index')",
    "efficiency": "dict(zip(ended.uuid, ended.efficiency))",
    "typical": "{key: value.values.tolist() for key, value in typical.items()}",
    "by": "by",
    "by_tag": "by_tag.to_dict('index')",
    "axes": "[len(figure.axes) for figure in figures]",
    "labelled": "[bool(ax.get_ylabel() or ax.get_xlabel()) for figure in figures for ax in figure.axes]",
    "histogram": "[sum(patch.get_height() for patch in bars) for bars in figures[1].axes[0].containers]",
    "scatter": "[points.get_offsets().tolist() for points in figures[2].axes[0].collections]",
    "drawn_fit": "figures[3].axes[0].lines[0].get_ydata().tolist()",
    "drawn_median": "figures[4].axes[0].lines[0].get_ydata().tolist()",
    "drawn_size": "size_of(typical['rss_bytes'].max())[0]",
    "medians": "[line.get_ydata()[0] for line in figures[5].axes[1].lines[5::6]]",
    "ticks": "[tick.get_text() for tick in figures[5].axes[0].get_xticklabels()]",
}


class Many(NotebookCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.made = manyruns.runs(COUNT)
        cls.ended = [run for run in cls.made if run.summary]
        cls.good = [run for run in cls.ended if not run.has_failed]
        cls.merged = cls.result = None

    def setUp(self):
        super().setUp()
        self.store = self.folder / "store.sqlite"
        if not Many.merged:
            Many.merged = self.merge(self.made)

    def answer(self, name):
        """Of one execution for all tests."""
        if not Many.result:
            Many.result = self.succeed(ASK)
        return Many.result.answers[name]

    def peaks(self, runs):
        return [run.summary["rss_peak_bytes"] for run in runs if "rss_peak_bytes" in run.summary]

    def assert_groups(self, found, groups):
        """A table by group, against the runs of each."""
        self.assertEqual(list(found), list(groups))
        for value, runs in groups.items():
            row = found[value]
            good = [row[key] for key in ("runs", "failed", "wall_seconds", "peak_mib", "efficiency")]
            walls = [run.summary["wall_seconds"] for run in runs]
            failed = sum(run.has_failed for run in runs) / len(runs)
            peak = median(self.peaks(runs)) / MIB
            self.assert_close(good, [len(runs), failed, median(walls), peak, median([run.efficiency for run in runs])])

    def grouped(self, key, runs):
        groups = {}
        for run in runs:
            if key in run.meta["tags"]:
                groups.setdefault(run.meta["tags"][key], []).append(run)
        return {value: groups[value] for value in sorted(groups, key=lambda value: (len(value), value))}

    def test_merge_takes_all_and_list_has_each_as_it_was(self):
        self.assertIn(f"{COUNT} runs added", self.merged)
        self.assertIn(f"0 runs added, 0 completed (they were incomplete), {COUNT} were", self.merge(self.made))
        rows = {row["run"]: row for row in self.list()}
        self.assertEqual(len(rows), COUNT)
        for run in self.made:
            row = rows[run.meta["run"]]
            for key in ("name", "job", "host", "tags", "start_time"):
                self.assertEqual(row[key], run.meta[key])
            ended = run.summary and ("signal" if run.summary["signal"] else "failed" if run.summary["exit_code"] else "ended")
            self.assertEqual(row["state"], ended or "unfinished")
            for key in ("exit_code", "signal", "wall_seconds", "cpu_seconds", "rss_peak_bytes"):
                if run.summary:
                    self.assertEqual(row.get(key), run.summary.get(key))

    def test_runs_are_counted(self):
        self.answer("by")
        failed, unfinished = len(self.ended) - len(self.good), COUNT - len(self.ended)
        self.assertGreater(min(failed, unfinished), 20)
        said = f"{COUNT:,} runs: {len(self.good):,} succeeded, {failed:,} failed, {unfinished:,} have not ended\n"
        self.assertEqual(Many.result.printed, said)

    def test_efficiency_of_every_run(self):
        found = self.answer("efficiency")
        self.assert_close([found[run.meta["run"]] for run in self.ended], [run.efficiency for run in self.ended])

    def test_what_to_request(self):
        read = [run.summary for run in self.good if "memory_needed_bytes" in run.summary]
        needs = [summary["memory_needed_bytes"] for summary in read]
        self.assertLess(len(needs), len(self.good))  # of some it was not read
        limits = [quantile(needs, share) for share in SHARES]
        self.assert_close(self.answer("limits"), limits)
        self.assertEqual(self.answer("runs_beyond"), [sum(need > limit for need in needs) for limit in self.answer("limits")])
        unused = [sum(max(limit - s["memory_needed_bytes"], 0) * s["wall_seconds"] for s in read) / 2**30 / 3600 for limit in limits]
        self.assert_close(self.answer("unused"), unused)

    def test_medians_of_those_that_failed_and_those_that_did_not(self):
        found = self.answer("outcomes")
        failed = [run for run in self.ended if run.has_failed]
        for outcome, runs in (("succeeded", self.good), ("failed", failed)):
            row = found[outcome]
            self.assertEqual(row["runs"], len(runs))
            for key in ("wall_seconds", "cpu_seconds"):
                self.assert_close([row[key]], [median([run.summary[key] for run in runs])])
            self.assert_close([row["peak_mib"]], [median(self.peaks(runs)) / MIB])
            self.assert_close([row["efficiency"]], [median([run.efficiency for run in runs])])

    def test_typical_curves(self):
        read = [run for run in self.good if "rss_bytes" in run.samples[0]]
        largest = lambda values, _: max(values)
        mean = lambda values, took: sum(v * t for v, t in zip(values, took)) / sum(took)
        for key, runs, fold in (("rss_bytes", read, largest), ("cores", self.good, mean)):
            curves = zip(*(stepped(run, key, 50, fold) for run in runs))
            expected = [[quantile(step, share) for share in (0.25, 0.5, 0.75)] for step in curves]
            for found, wanted in zip(self.answer("typical")[key], zip(*expected)):
                self.assert_close(found, wanted)

    def test_groups_by_the_tag_that_most_have(self):
        self.assertEqual(self.answer("by"), "threads")
        groups = self.grouped("threads", self.ended)
        self.assertEqual(list(groups), ["1", "2", "4", "8", "16"])
        self.assert_groups(self.answer("by_tag"), groups)

    def test_figures_show_what_was_worked_out(self):
        self.assertEqual(self.answer("axes"), list(FIGURES.values()))
        self.assertTrue(all(self.answer("labelled")))
        self.assertEqual(self.answer("histogram"), [len(self.good), len(self.ended) - len(self.good)])
        for points, failed in zip(self.answer("scatter"), (False, True)):
            runs = [run.summary for run in self.ended if run.has_failed == failed and "rss_peak_bytes" in run.summary]
            expected = sorted((run["wall_seconds"], run["rss_peak_bytes"] / MIB) for run in runs)
            for side in (0, 1):
                self.assert_close(sorted(point[side] for point in points), sorted(pair[side] for pair in expected))
        fit = self.answer("drawn_fit")
        self.assertEqual((len(fit), fit[-1]), (len(self.peaks(self.good)), 100))
        size = self.answer("drawn_size")
        self.assert_close([value * size for value in self.answer("drawn_median")], self.answer("typical")["rss_bytes"][1])
        groups = self.grouped("threads", self.good).values()
        self.assert_close(self.answer("medians"), [100 * median([run.efficiency for run in runs]) for runs in groups])
        self.assertEqual(self.answer("ticks"), ["1", "2", "4", "8", "16"])

    def test_metrics_of_the_summaries_are_drawn_on_demand(self):
        ask = {"histogram": "[sum(patch.get_height() for bars in ax.containers for patch in bars) for ax in figures[1].axes]"}
        ask |= {"values": "dict(zip(ended.uuid, ended.samples))", "labels": "[ax.get_xlabel() for ax in figures[1].axes]"}
        answers = self.succeed(ask, "METRICS = ['samples', 'processes_total']").answers
        self.assertEqual(answers["labels"][3:], ["samples", "processes_total"])
        expected = {run.meta["run"]: run.summary["samples"] for run in self.ended}
        self.assertEqual(answers["values"], expected)
        self.assertEqual(answers["histogram"][3:], [len(self.ended)] * 2)

    def test_runs_of_a_name_by_a_tag_with_hostile_values(self):
        result = self.succeed({"by_tag": ASK["by_tag"], "ticks": ASK["ticks"]}, "NAME, TAG = 'al*', 'sample'")
        runs = [run for run in self.ended if run.meta["name"] == "align"]
        self.assert_groups(result.answers["by_tag"], self.grouped("sample", runs))
        self.assertIn(HOSTILE, result.answers["by_tag"])
        self.assertEqual(result.answers["ticks"][-1], "\\$x^{ </script>\"'??[2J")
