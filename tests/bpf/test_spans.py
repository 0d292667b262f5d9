# SPDX-License-Identifier: BSD-2-Clause
"""Spans: what each used, against wait4(); all of them and the rest are the run."""

import json

from lib.account import AccountCase, ns
from lib.bpfmon import BUILD

SPANS = str(BUILD / "spans")
EPS = 5000


class Spans(AccountCase):
    def run_spans(self, *words, options=()):
        run = self.run_bpfmon([SPANS, *map(str, words)], ["-i", "0.2", *options], timeout=300)
        self.assertEqual(run.code, 0, run.stderr)
        run.parts = json.loads(run.stdout)
        self.assertEqual([part for part in run.parts if part["refused"]], [], run.stderr)
        return run

    def spans_of(self, run):
        """By PID of the process that began it: no PID comes twice here."""
        spans = {span["pid"]: span for span in run.kind("span")}
        self.assertEqual(len(spans), len(run.kind("span")))
        return spans

    def assert_cpu_of(self, span, part, which=""):
        """It began between two looks of the process at its clock; wait4() has whole microseconds, of two kinds."""
        cpu, used = ns(span["cpu_seconds"]), part[which + "used_ns"]
        self.assertGreaterEqual(cpu, used - part[which + "before_ns"] - EPS, (span, part))
        self.assertLessEqual(cpu, used - part[which + "asked_ns"] + EPS, (span, part))

    def assert_part(self, part, spans):
        span = spans[part["pid"]]
        self.assertEqual((span["name"], span["exit_code"], span["complete"]), (part["name"], part["exit"], True))
        self.assertGreaterEqual(ns(span["wall_seconds"]), part["wall_ns"])
        self.assertEqual(span["processes_total"], 2 if "inner" in part else 1)
        self.assertGreaterEqual(span["rss_peak_upper_bytes"], part["held"])
        self.assertGreaterEqual(span["process_rss_peak_bytes"], part["held"])
        self.assertGreaterEqual(span["rss_peak_upper_bytes"], span.get("rss_peak_bytes", 0))
        self.assert_cpu_of(span, part)
        if "inner" in part:
            inner = spans[part["inner"]]
            self.assertEqual((inner["parent"], inner["name"], inner["exit_code"]), (span["id"], "inner", 0))
            self.assertLessEqual(inner["cpu_seconds"], span["cpu_seconds"])
            self.assert_cpu_of(inner, part, "inner_")

    def assert_partition(self, run):
        """To the nanosecond: the run is its spans, the processes in none, and what began before its span did."""
        spans = {span["id"]: span for span in run.kind("span")}

        def topmost(number):
            while number and "parent" in spans[number]:
                number = spans[number]["parent"]
            return number

        records = {}
        for process in run.processes:
            top = topmost(process.get("span", 0))
            records[top] = records.get(top, 0) + ns(process["cpu_seconds"])
        before = 0
        for number, span in spans.items():
            if "parent" in span:
                continue
            self.assertLessEqual(ns(span["cpu_seconds"]), records[number])
            before += records[number] - ns(span["cpu_seconds"])
        in_spans = sum(ns(span["cpu_seconds"]) for span in spans.values() if "parent" not in span)
        self.assertEqual(ns(run.summary["cpu_seconds"]), in_spans + before + records.get(0, 0))
        self.assertLessEqual(before, sum(part["before_ns"] for part in run.parts))
        for key in ("forks", "exits", "threads_created"):
            inside = sum(span[key] for span in spans.values() if "parent" not in span)
            self.assertLessEqual(inside, run.summary[key], key)

    def test_a_thousand_at_once(self):
        run = self.run_spans("many", 1000, 20)
        spans = self.spans_of(run)
        self.assertEqual(len(spans), 1200)
        for part in run.parts:
            self.assert_part(part, spans)
        self.assert_partition(run)
        self.assert_sums(run)

    def test_one_after_the_other_as_fast_as_they_can(self):
        run = self.run_spans("fast", 5000)
        spans = self.spans_of(run)
        self.assertEqual([spans[part["pid"]]["exit_code"] for part in run.parts], [part["exit"] for part in run.parts])
        self.assertEqual(sorted(span["id"] for span in spans.values()), list(range(1, 5001)))
        self.assertEqual(sum(span["processes_total"] for span in spans.values()), 5000)
        self.assertTrue(run.summary["complete"], run.summary)
        self.assert_partition(run)

    def test_more_at_once_than_there_is_room_for_are_refused_and_the_run_goes_on(self):
        run = self.run_bpfmon([SPANS, "hold", "4200"], ["-i", "0.5"], timeout=300)
        said = json.loads(run.stdout)
        self.assertEqual(said["failed"], 0)
        self.assertEqual(run.stderr.count("too many spans at once"), said["refused"])
        self.assertGreater(said["refused"], 0)
        self.assertEqual(len(run.kind("span")), 4200 - said["refused"])
        self.assertGreater(len(run.kind("span")), 4000)
        self.assertEqual({span["exit_code"] for span in run.kind("span")}, {0})
        self.assertEqual(run.summary["processes_total"], 4201)
        self.assert_sums(run)

    def test_missed_events_are_repaired_or_make_that_span_incomplete_and_no_other(self):
        run = self.run_spans("many", 200, 20, options=["--inject-misses", "100"])
        spans = self.spans_of(run)
        self.assertGreater(run.summary["self"]["repaired"], 0)
        for part in run.parts:
            if spans[part["pid"]]["complete"] and not run.summary["losses"].get("fork_events"):
                self.assert_cpu_of(spans[part["pid"]], part)
        # what is lost in a span is also lost in the one around it
        own = {span["id"]: sum(span.get("losses", {}).values()) for span in spans.values()}
        for span in spans.values():
            self.assertEqual(span["complete"], not span.get("losses"), span)
            if "parent" in span:
                own[span["parent"]] -= sum(span.get("losses", {}).values())
        self.assertGreaterEqual(min(own.values()), 0)
        self.assertLessEqual(sum(own.values()), sum(run.summary["losses"].values()))
