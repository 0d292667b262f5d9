# SPDX-License-Identifier: BSD-2-Clause
"""Samples come at their times, and what hangs delays or loses nothing silently."""

import os
import signal
import threading
import time

from lib.bpfmon import truth
from lib.live import LiveCase, is_alive, stat_of, wait_for

SAMPLED = True


class SampleCase(LiveCase):
    def assert_in_order(self, run):
        """Times rise, no sample is early, and none is missing that was not told as late."""
        interval = run.meta["interval_seconds"]
        elapsed = [sample["elapsed_seconds"] for sample in run.samples]
        for before, after in zip(elapsed, elapsed[1:]):
            self.assertLess(before, after)
        for k, at in enumerate(elapsed[:-1]):
            self.assertGreaterEqual(at, k * interval)
        self.assertEqual(run.summary["samples"], len(elapsed))
        self.assertEqual(run.summary["wall_seconds"], elapsed[-1])
        ticks = run.summary["wall_seconds"] / interval
        self.assertLessEqual(abs(len(elapsed) + run.summary["late_ticks"] - ticks), 2, run.summary)

    def assert_counters_rise(self, run):
        for before, after in zip(run.samples, run.samples[1:]):
            for key in ("cpu_seconds", "forks", "exits", "rchar_bytes"):
                self.assertLessEqual(before[key], after[key])

    def assert_order_of_lines(self, run):
        kinds = [line["kind"] for line in run.lines]
        self.assertEqual((kinds[0], kinds[-1]), ("meta", "summary"))  # a process may end before the first sample

    def assert_late_ticks_told(self, run):
        events = [line for line in run.kind("event") if line["event"] == "late_ticks"]
        self.assertEqual(sum(line["count"] for line in events), run.summary["late_ticks"])


class Samples(SampleCase):
    def check(self, interval, seconds):
        run = self.run_bpfmon(["sleep", str(seconds)], ["-i", interval])
        self.assert_complete(run)
        self.assert_in_order(run)
        self.assert_order_of_lines(run)
        self.assertGreaterEqual(run.summary["wall_seconds"], seconds)
        self.assertEqual(run.samples[0]["processes"], 1)
        self.assertEqual(run.samples[-1]["processes"], 0)
        self.assertEqual(run.samples[-1]["cpu_seconds"], run.summary["cpu_seconds"])
        return run

    def test_samples_at_ten_milliseconds_do_not_drift(self):
        self.check("0.01", 3)

    def test_samples_at_a_tenth_of_a_second_do_not_drift(self):
        self.check("0.1", 2)

    def test_a_run_shorter_than_the_interval_has_a_first_and_a_last_sample(self):
        self.assertEqual(len(self.check("1000", 0.1).samples), 2)

    def test_a_busy_machine_has_its_samples_or_reports_late_ticks(self):
        script = 'i=0; while [ $i -lt 300 ]; do /bin/true & /bin/true; i=$((i + 1)); done; wait'
        run = self.run_bpfmon(["sh", "-c", script], ["-i", "0.01"])
        self.assert_complete(run)
        self.assert_in_order(run)
        self.assert_counters_rise(run)
        self.assert_late_ticks_told(run)
        self.assertEqual(run.summary["processes_total"], 601)

    def test_a_time_of_a_sample_is_the_start_and_what_has_elapsed(self):
        run = self.check("0.05", 0.3)
        for sample in run.samples:
            self.assertAlmostEqual(sample["time"], run.meta["start_time"] + sample["elapsed_seconds"], delta=0.001)


class Hanging(SampleCase):
    def test_a_collector_that_was_stopped_reports_its_late_ticks(self):
        command, stop, _ = self.work_until_told()
        live = self.live(command, ["-i", "0.05"])
        collector, _, _ = live.roles()
        live.wait_for_samples(2)
        os.kill(collector, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(collector, signal.SIGCONT)
        live.wait_for_samples(3)
        stop.touch()
        run = live.finish()
        self.assertEqual(run.code, 43)
        self.assert_complete(run)
        self.assertGreater(run.summary["late_ticks"], 0)
        self.assert_in_order(run)
        self.assert_late_ticks_told(run)
        self.assertRegex(run.stderr, r"\n  samples     \d+ of \d+ are missing: bpfmon did not get a CPU in time\n")

    def hang(self, live, recorder):
        os.kill(recorder, signal.SIGSTOP)
        wait_for(lambda: stat_of(recorder)[0] == "T", "the recorder to be stopped")
        return live.out.stat().st_size

    def test_a_recorder_that_hangs_does_not_stop_the_sampling(self):
        command, stop, beat = self.work_until_told()
        live = self.live(command, ["-i", "0.01"])
        _, recorder, _ = live.roles()
        live.wait_for_samples(2)
        before = len(live.samples())
        size = self.hang(live, recorder)
        time.sleep(1)
        self.assert_goes_on(beat)
        self.assertEqual(live.out.stat().st_size, size)
        os.kill(recorder, signal.SIGCONT)
        live.wait_for_samples(5)
        stop.touch()
        run = live.finish()
        self.assertEqual(run.code, 43)
        self.assert_complete(run)
        self.assert_in_order(run)
        self.assert_order_of_lines(run)
        during = [s for s in run.samples[before:] if s["elapsed_seconds"] < run.samples[before]["elapsed_seconds"] + 1]
        self.assertGreaterEqual(len(during) + run.summary["late_ticks"], 50, "sampled while it hung")
        self.assertEqual(len(run.processes), run.summary["processes_total"])

    def test_a_recorder_that_hangs_beyond_the_end_gets_the_rest(self):
        command, stop, _ = self.work_until_told()
        live = self.live(command, ["-i", "0.01"])
        _, recorder, command = live.roles()
        live.wait_for_samples(2)
        self.hang(live, recorder)
        stop.touch()
        wait_for(lambda: stat_of(command) is None, "the command's end")
        os.kill(recorder, signal.SIGCONT)
        run = live.finish()
        self.assertEqual(run.code, 43)
        self.assert_complete(run)
        self.assert_whole_lines(live.out)
        self.assertEqual(len(run.processes), run.summary["processes_total"])

    def test_bpfmon_ends_after_a_recorder_that_was_stopped(self):
        """Who waits for bpfmon finds whole files, whatever happened to its processes."""
        command, stop, _ = self.work_until_told()
        live = self.live(command, ["-i", "0.01"])
        collector, recorder, _ = live.roles()
        live.wait_for_samples(2)
        self.hang(live, recorder)
        stop.touch()
        wait_for(lambda: not is_alive(collector), "the collector's end")
        later = threading.Timer(0.3, os.kill, (recorder, signal.SIGCONT))
        later.start()
        live.process.wait(timeout=60)
        last = live.lines()[-1]
        later.join()
        self.assertEqual(last["kind"], "summary")
        self.assertEqual(live.finish().code, 43)

    def test_a_recorder_that_hangs_too_long_loses_lines_but_not_silently(self):
        go = self.dir / "go"
        script = 'while [ ! -e "$0" ]; do sleep 0.01; done; "$1" 12000; exit 43'
        live = self.live(["sh", "-c", script, str(go), truth("forkonly")], ["-i", "0.1"])
        _, recorder, command = live.roles()
        live.wait_for_samples()
        self.hang(live, recorder)
        go.touch()
        wait_for(lambda: stat_of(command) is None, "the command's end")
        os.kill(recorder, signal.SIGCONT)
        run = live.finish()
        self.assertEqual(run.code, 43)
        self.assert_whole_lines(live.out)
        losses, total = run.summary["losses"], run.summary["processes_total"]
        self.assertEqual(run.summary["exit_code"], 43, "the summary itself is never lost")
        self.assertGreaterEqual(total, 12002)  # a number is never lost
        self.assertLess(len(run.processes), total, "this was to be too much")
        # a collector that comes too late on a busy machine loses records before they are lines
        lost = losses.get("stream_lines", 0) + losses.get("process_records", 0)
        self.assertGreaterEqual(len(run.processes) + lost, total)
        self.assertFalse(run.summary["complete"])
        self.assertIn("INCOMPLETE", run.stderr)
