# SPDX-License-Identifier: BSD-2-Clause
"""--pss: shared memory is counted once, at a cost that is bounded and told."""

import os
import pathlib
import pwd
import re

from lib.account import ASKED_FOR, AccountCase
from lib.bpfmon import truth

SAMPLED = True
MIB = 1 << 20


def rollup(pid, name):
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(rf"^{name}:\s+(\d+) kB", text, re.M)[1]) * 1024


def uss(pid):
    return rollup(pid, "Private_Clean") + rollup(pid, "Private_Dirty")


def below(pid):
    """@pid and all its descendants."""
    tasks = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(p for child in tasks for p in below(int(child)))]


class Pss(AccountCase):
    def assert_within_3_percent(self, measured, witnessed):
        self.assertAlmostEqual(measured / witnessed, 1, delta=0.03)

    def assert_budget_kept(self, summary, percent):
        """What was spent is no more than the share, and what one read was longer than expected."""
        cost = summary["self"]["pss"]
        allowed = summary["wall_seconds"] * percent / 100 + cost["seconds_max"]
        self.assertLessEqual(cost["seconds"], allowed)
        return cost

    def command(self, live):
        """The pid of what bpfmon @live runs: it is its first child."""
        return live.until(lambda: self.children_named(live.process.pid, "sharers"))[0]

    def children_named(self, pid, name):
        tasks = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        comm = pathlib.Path
        return [int(p) for p in tasks if comm(f"/proc/{p}/comm").read_text().strip() == name]

    def fully_read(self, live, processes):
        """A sample of as many processes, all of which were read, and the next."""
        fits = lambda s: s["processes"] == processes and s.get("pss_unread") == 0
        live.next_sample(fits)
        return live.next_sample(fits)

    def read_again(self, live, processes, about):
        """On a busy machine some were read last when not all were there, and are in a sample with more than their share:
        until the budget has come round to them all."""
        return live.next_sample(
            lambda s: s["processes"] == processes and s.get("pss_unread") == 0 and abs(s["pss_bytes"] / about - 1) < 0.03
        )

    def test_memory_that_eight_share_counts_once(self):
        command = [truth("sharers"), "500", "7", "9000"]
        with self.running(command, ["-i", "0.1", "--pss=50"]) as live:
            self.fully_read(live, 8)
            pids = below(self.command(live))
            sample = self.read_again(live, 8, 500 * MIB)
            self.assertEqual(len(pids), 8)
            witnessed = sum(rollup(pid, "Pss") for pid in pids)
            self.assert_within_3_percent(sample["rss_bytes"], 8 * 500 * MIB)
            self.assert_within_3_percent(sample["pss_bytes"], 500 * MIB)
            self.assert_within_3_percent(sample["pss_bytes"], witnessed)
            self.assert_near(sample["rss_bytes"], sum(rollup(pid, "Rss") for pid in pids))
            self.assertLessEqual(sample["uss_bytes"], sample["pss_bytes"])
            self.assertAlmostEqual(sample["uss_bytes"], sum(map(uss, pids)), delta=8 * MIB)
            summary = live.finish()
        self.assertEqual(summary["losses"], {})
        self.assertGreaterEqual(summary["rss_peak_bytes"], 0.97 * 8 * 500 * MIB)
        self.assertGreaterEqual(summary["pss_peak_bytes"], 0.97 * 500 * MIB)
        self.assertGreater(summary["pss_peak_elapsed_seconds"], 0)
        self.assertGreaterEqual(summary["uss_peak_bytes"], sample["uss_bytes"])
        self.assertGreaterEqual(self.assert_budget_kept(summary, 50)["reads"], 8)

    def test_the_summary_shows_both_sums(self):
        command = [truth("sharers"), "50", "7", "1500"]
        run = self.run_bpfmon(command, ["-i", "0.1", "--pss=50"])
        self.assert_complete(run)
        self.assertRegex(run.stderr, r"memory +needed .*\d+(\.\d)? MiB \(measured by its PSS\)")
        self.assertRegex(run.stderr, r"with shared pages counted once per process: .* [34]\d\d MiB")

    def test_an_address_space_that_three_share_is_read_once(self):
        command = [truth("sharers"), "100", "2", "2500", "vm"]
        with self.running(command, ["-i", "0.1", "--pss=20"]) as live:
            sample = self.fully_read(live, 3)
            witnessed = rollup(self.command(live), "Pss")
        self.assertGreaterEqual(sample["pss_bytes"], 100 * MIB)
        self.assert_within_3_percent(sample["pss_bytes"], witnessed)
        self.assert_within_3_percent(sample["rss_bytes"], 100 * MIB)

    def test_the_memory_of_one_process_is_its_own(self):
        run = self.run_bpfmon([truth("touch"), "50", "1000", "exit"], ["-i", "0.1", "--pss"])
        self.assert_complete(run)
        sample = max(run.samples, key=lambda s: s.get("uss_bytes", 0))
        self.assertGreaterEqual(sample["uss_bytes"], 50 * MIB)
        self.assert_within_3_percent(sample["pss_bytes"], sample["rss_bytes"])
        self.assert_budget_kept(run.summary, 2)

    def test_the_process_of_another_user_is_read(self):
        folder = self.dir
        folder.chmod(0o755)
        program = folder / "touch"
        program.write_bytes(pathlib.Path(truth("touch")).read_bytes())
        program.chmod(0o755)
        command = [str(program), "50", "1000", "exit"]
        run = self.run_bpfmon(command, ["-i", "0.1", "--pss", "--user=nobody"])
        self.assertEqual(self.only(run.processes)["uid"], pwd.getpwnam("nobody").pw_uid)
        self.assertGreaterEqual(run.summary["pss_peak_bytes"], 50 * MIB)
        self.assertEqual(run.summary["self"]["pss"]["skipped"], 0)

    def test_the_child_of_another_user_is_read(self):
        run = self.run_bpfmon([truth("setuidchild"), "65534", "600"], ["-i", "0.1", "--pss"])
        self.assert_complete(run)
        self.assertEqual(run.summary["self"]["pss"]["skipped"], 0)
        both = [s for s in run.samples if s["processes"] == 2]
        self.assertTrue(any(s["pss_unread"] == 0 for s in both), run.samples)

    def test_a_process_that_is_too_large_is_skipped_and_reported_once(self):
        # 0.1 % of 30 s are 30 ms: 2 GiB take 50 ms at the 100 ns a page that are expected at first
        run = self.run_bpfmon(
            [truth("touch"), "2048", "500", "exit"], ["-i", "0.05", "--pss=0.1"], timeout=300
        )
        self.assert_complete(run)
        event = self.only(e for e in run.kind("event") if e["event"] == "pss_skipped")
        self.assertEqual(event["pid"], self.only(run.processes)["pid"])
        self.assertIn("--pss allows 0.030 s at a time", event["reason"])
        self.assertEqual(run.summary["self"]["pss"]["skipped"], 1)
        largest = max(run.samples, key=lambda s: s["rss_bytes"])
        self.assertEqual(largest["pss_unread"], 1)
        self.assertNotIn("pss_bytes", largest)
        self.assertIn("without 1 process", run.stderr)

    def test_a_budget_that_does_not_suffice_is_kept(self):
        run = self.run_bpfmon([truth("sharers"), "100", "7", "1500"], ["-i", "0.05", "--pss=1"])
        self.assert_complete(run)
        cost = self.assert_budget_kept(run.summary, 1)
        self.assertGreater(cost["postponed"], 0)
        self.assertGreater(cost["reads"], 0)

    def test_nothing_is_read_that_was_not_asked_for(self):
        run = self.run_bpfmon([truth("spin"), "50"], ["-i", "0.02"])
        for line in [*run.samples, run.meta["units"], run.meta["capabilities"]]:
            self.assertFalse(ASKED_FOR & set(line), line)
        self.assertNotIn("pss", run.summary["self"])
        self.assertNotIn("pss_peak_bytes", run.summary)
        self.assertNotIn("proportional", run.stderr)

    def test_the_environment_asks_for_it(self):
        run = self.run_bpfmon([truth("spin"), "50"], ["-i", "0.02"], env={"BPFMON_PSS": "5"})
        self.assertTrue(ASKED_FOR <= set(run.meta["units"]))
        self.assertIn("pss", run.summary["self"])

    def test_a_metric_asks_for_it(self):
        run = self.run_bpfmon([truth("spin"), "100"], ["-i", "0.02", "--metrics", "uss_bytes"])
        self.assertEqual(list(run.meta["units"]), ["uss_bytes"])
        self.assertGreater(run.summary["self"]["pss"]["reads"], 0)
        self.assertGreater(run.summary["uss_peak_bytes"], 0)

    def test_only_the_right_to_read_others_is_kept(self):
        with self.running(["sleep", "1"], ["-i", "0.1", "--pss"]) as live:
            live.next_sample()
            held = [self.capabilities(pid) for pid in self.bpfmons(live.process.pid)]
        self.assertIn(1 << 19, held)  # CAP_SYS_PTRACE: the collector's
        self.assertFalse([h for h in held if h & (1 << 19) and h != 1 << 19], held)

    def bpfmons(self, pid):
        return [p for p in [pid, *self.children_named(pid, "bpfmon")] if os.path.exists(f"/proc/{p}")]

    def capabilities(self, pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(re.search(r"^CapEff:\s+(\w+)", status, re.M)[1], 16)
