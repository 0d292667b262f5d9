# SPDX-License-Identifier: BSD-2-Clause
"""Samples never go back, and what the records say adds up to what the summary says."""

from lib.account import AccountCase, counters, exact, ns
from lib.bpfmon import truth


class Sums(AccountCase):
    def assert_monotone(self, run):
        for before, after in zip(run.samples, run.samples[1:]):
            self.assertLess(before["elapsed_seconds"], after["elapsed_seconds"])
            for key in counters():
                was, became = exact(key, before[key]), exact(key, after[key])
                self.assertLessEqual(was, became, (key, before, after))
        for key in counters():
            self.assertEqual(run.samples[-1][key], run.summary[key], key)

    def check_storm(self, interval):
        run = self.run_bpfmon([truth("forkstorm"), "6", "300"], ["-i", interval])
        self.assert_monotone(run)
        self.assert_sums(run)
        self.assert_counts(run, 1807, 450)
        self.assertEqual(run.witness["processes"], 1807)
        self.assertEqual(run.samples[-1]["processes"], 0)
        self.assertEqual(run.samples[-1]["threads"], 0)
        self.assertEqual(run.summary["samples"], len(run.samples))
        for sample in run.samples:
            self.assertEqual(sample["processes"], sample["forks"] + 1 - sample["exits"])
        return run

    def test_a_storm_of_forks_at_one_second(self):
        self.check_storm("1")

    def test_a_storm_of_forks_at_ten_milliseconds(self):
        run = self.check_storm("0.01")
        ticks = len(run.samples) + run.summary["late_ticks"]  # a busy machine comes too late for some, and says so
        self.assertGreater(ticks, 3)
        self.assertLessEqual(abs(ticks - run.summary["wall_seconds"] / 0.01), 2, run.summary)

    def test_eight_storms_in_a_row_at_ten_milliseconds(self):
        for _ in range(8):
            self.check_storm("0.01")

    def test_threads_at_ten_milliseconds(self):
        run = self.run_bpfmon([truth("threads"), "3000", "0.1"], ["-i", "0.01"])
        self.assert_monotone(run)
        self.assert_sums(run)
        self.assert_counts(run, 1, 3000)

    def test_programs_add_up_to_the_total(self):
        script = f"{truth('spin')} 50; /bin/true; {truth('forkstorm')} 3 50"
        run = self.run_bpfmon(["sh", "-c", script])
        self.assert_complete(run)
        programs = run.summary["programs"]
        for key in ("cpu_seconds", "minflt", "syscr", "read_bytes"):
            total = sum(exact(key, p[key]) for p in programs)
            self.assertEqual(total, exact(key, run.summary[key]), key)
        self.assertEqual(sum(p["processes"] for p in programs), run.summary["processes_total"])
        self.assertEqual(len({p["exe"] for p in programs}), len(programs))
        for program in programs:
            own = [p for p in run.processes if p["exe"] == program["exe"]]
            self.assertEqual(len(own), program["processes"])
            self.assertEqual(sum(ns(p["cpu_seconds"]) for p in own), ns(program["cpu_seconds"]))
