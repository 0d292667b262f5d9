# SPDX-License-Identifier: BSD-2-Clause
"""--pss with a process whose memory takes long to be read: no sample waits for it."""

from lib.attach import AttachCase
from lib.bpfmon import BPFMON, read_lines

ALONE = True
SAMPLED = True

NEVER = ["--inject-slow-pss", "86400000"]  # within a test
SECOND = ["--inject-slow-pss", "1000"]


class SlowPss(AttachCase):
    def assert_unread(self, sample, spaces=(1,)):
        """What was not read is absent, not 0."""
        self.assertIn(sample["pss_unread"], spaces, sample)
        self.assertNotIn("pss_bytes", sample)
        self.assertNotIn("uss_bytes", sample)

    def alive(self, live):
        return [s for s in live.lines("sample") if s["processes"]]

    def test_samples_go_on_while_a_read_does_not_end(self):
        with self.running(["cat"], ["-i", "0.05", "--pss=50", *NEVER]) as live:
            samples = live.until(lambda: len(found := self.alive(live)) >= 10 and found)
            for sample in samples:
                self.assert_unread(sample)
            summary = live.finish()
        self.assertTrue(summary["complete"], summary)
        cost = summary["self"]["pss"]
        self.assertEqual((cost["reads"], cost["skipped"]), (0, 0))
        self.assertGreater(cost["seconds"], 0)  # of the read that did not end

    def test_a_slow_read_is_in_a_later_sample(self):
        with self.running(["cat"], ["-i", "0.05", "--pss=50", *SECOND]) as live:
            read = live.next_sample(lambda s: s.get("pss_unread") == 0 and s["processes"])
            before = [s for s in self.alive(live) if s["elapsed_seconds"] < read["elapsed_seconds"]]
            summary = live.finish()
        self.assertGreaterEqual(len(before), 3)
        for sample in before:
            self.assert_unread(sample)
        self.assertGreater(read["pss_bytes"], 0)
        self.assertLessEqual(read["uss_bytes"], read["pss_bytes"])
        self.assertGreaterEqual(summary["pss_peak_bytes"], read["pss_bytes"])
        cost = summary["self"]["pss"]
        self.assertGreaterEqual(cost["seconds_max"], 1)
        self.assertLessEqual(cost["seconds"], summary["wall_seconds"] / 2 + cost["seconds_max"])
        self.assertGreater(cost["postponed"], 0)  # samples with an earlier value

    def test_a_line_waits_for_a_read_but_not_for_the_next_sample(self):
        """The sample that a mark asks for: at the interval of a day it is the last one."""
        script = 'sleep 1; "$0" mark here; cat'
        command = ["bash", "-c", script, BPFMON]
        with self.running(command, ["-i", "86400", "--marks", "--pss=50", *NEVER]) as live:
            mark = live.until(lambda: [e for e in live.lines("event") if e["event"] == "mark"])[0]
            first, second = live.lines("sample")[:2]
            self.assert_unread(second, spaces=(1, 2))  # that of the mark may end while the sample is made
            self.assertGreaterEqual(second["elapsed_seconds"], mark["elapsed_seconds"])
            self.assertLess(first["elapsed_seconds"], mark["elapsed_seconds"])
            lines = read_lines(live.out)
            self.assertLess(lines.index(second), lines.index(mark))

    def test_a_run_ends_while_a_read_does_not(self):
        process = self.start("sleep", "600")
        run = self.finish(self.attach([process.pid], ["-i", "0.05", "--duration", "1", "--pss=50", *NEVER]))
        self.assertEqual(run.code, 0, run.stderr)
        self.assertTrue(run.summary["complete"], run.summary)
        self.assertGreaterEqual(len(run.samples), 3)
        for sample in run.samples:
            self.assert_unread(sample)
        self.assertNotIn("pss_peak_bytes", run.summary)
        self.assertIs(run.meta["altered_for_tests"], True)

    def test_the_last_sample_waits_for_its_read(self):
        process = self.start("sleep", "600")
        run = self.finish(self.attach([process.pid], ["-i", "60", "--duration", "1", "--pss=50"]))
        self.assertEqual(run.code, 0, run.stderr)
        self.assertEqual(len(run.samples), 2)
        self.assertEqual(run.samples[-1]["pss_unread"], 0)
        self.assertGreater(run.samples[-1]["pss_bytes"], 0)
        self.assertEqual(run.summary["pss_peak_bytes"], run.samples[-1]["pss_bytes"])
