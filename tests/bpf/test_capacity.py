# SPDX-License-Identifier: BSD-2-Clause
"""Thousands of live tasks are counted; what does not fit is told, not guessed."""

from concurrent.futures import ThreadPoolExecutor

from lib.account import AccountCase
from lib.bpfmon import truth

ALONE = True


class ManyAlive(AccountCase):
    def test_five_thousand_live_threads(self):
        run = self.run_bpfmon([truth("livethreads"), "5000", "3"], ["-i", "0.05"])
        self.assert_counts(run, 1, 5000)
        self.assertEqual(self.only(run.processes)["threads_total"], 5001)
        self.assertEqual(max(s["threads"] for s in run.samples), 5001)
        self.assertEqual(max(s["processes"] for s in run.samples), 1)
        self.assertEqual(run.samples[-1]["threads"], 0)
        self.assert_cpu(run.summary["cpu_seconds"], run.witness["cpu_seconds"], above=0.25)

    def test_three_thousand_live_processes(self):
        run = self.run_witnessed([truth("liveprocs"), "3000", "3"], ["-i", "0.05"])
        self.assert_counts(run, 3002, 0)
        self.assertEqual(max(s["processes"] for s in run.samples), 3002)
        self.assertEqual(max(s["threads"] for s in run.samples), 3002)
        killed = [p for p in run.processes if p["signal"] == 9 and p["exit_code"] is None]
        self.assertEqual(len(killed), 3000)
        self.assert_sums(run)
        cpu = sum(p["cpu_seconds"] for p in self.inside(run))
        self.assertGreaterEqual(cpu, 0.99 * run.wait4["cpu_seconds"])


class TooManyTasks(AccountCase):
    def run_narrow(self, command):
        script = f"{command}; exit 3"
        return self.run_bpfmon(["sh", "-c", script], ["--max-tasks", "100", "-i", "0.05"])

    def assert_told(self, run):
        self.assertEqual(run.code, 3)
        self.assertEqual(run.summary["exit_code"], 3)
        self.assertIs(run.summary["complete"], False)
        self.assertGreater(sum(run.summary["losses"].values()), 0)
        self.assertIn("--max-tasks", run.summary["reason"])
        self.assertIn("INCOMPLETE", run.stderr)

    def test_processes_that_do_not_fit(self):
        run = self.run_narrow(f"{truth('liveprocs')} 300 0.2")
        self.assert_told(run)
        self.assertLessEqual(max(s["processes"] for s in run.samples), 100)
        self.assertGreaterEqual(sum(run.summary["losses"].values()), 202)
        self.assertLessEqual(sum(run.summary["losses"].values()), 302)
        self.assert_records(run, run.summary["processes_total"])

    def test_threads_that_do_not_fit(self):
        self.assert_told(self.run_narrow(f"{truth('livethreads')} 300 0.2"))

    def run_crowd(self, _):
        return self.run_bpfmon(
            ["sh", "-c", f"i=0; while [ $((i += 1)) -le 200 ]; do {truth('livethreads')} 10 0.1 & done; wait; exit 3"],
            ["--max-tasks", "100", "-i", "0.05", "--wait", "tree"],
        )

    def test_a_run_that_waits_for_its_tree_ends_where_the_last_thread_to_end_did_not_fit(self):
        """Several runs at once: threads of a process are refused and end on all CPUs at once."""
        with ThreadPoolExecutor(6) as pool:
            runs = list(pool.map(self.run_crowd, range(24)))
        for run in runs:
            self.assert_told(run)
            self.assertEqual((run.samples[-1]["processes"], run.samples[-1]["threads"]), (0, 0))
            self.assertEqual(run.summary["exits"], run.summary["processes_total"])
            pids = [p["pid"] for p in run.processes]
            self.assertEqual(len(pids), len(set(pids)), "a process has two records")
            self.assertEqual(len(pids), run.summary["processes_total"])

    def test_each_that_does_not_fit_counts_once(self):
        """It is tried again at whatever it does next; some fit by then, and have their records."""
        run = self.run_narrow(f"{truth('liveprocs')} 2000 0.3")
        self.assert_told(run)
        self.assertLessEqual(run.summary["losses"]["processes"], 2000)
        self.assertGreaterEqual(run.summary["losses"]["processes"], 1901)
