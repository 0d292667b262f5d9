# SPDX-License-Identifier: BSD-2-Clause
"""How long threads existed, in sum: no less than each of them measured itself, no more than the waiting parent did."""

import json
import sys
import time

from lib.account import AccountCase
from lib.attach import AttachCase
from lib.bpfmon import truth

# Threads that come and go; each says how long it worked. What it does before and after is not in it.
THREADS = """
import json, sys, threading, time
measured = []
def work(i):
    begin = time.monotonic()
    time.sleep(0.02 * i)
    measured.append(time.monotonic() - begin)
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
begin = time.monotonic()
for t in threads: t.start()
for t in threads: t.join()
open(sys.argv[1], "w").write(json.dumps([*measured, time.monotonic() - begin]))
"""


class Lifetimes(AccountCase):
    def test_of_threads_that_measure_their_own(self):
        said = self.dir / "said"
        began = time.monotonic()
        run = self.run_bpfmon([sys.executable, "-c", THREADS, str(said)], ["-i", "0.01"])
        took = time.monotonic() - began
        self.assert_complete(run)
        measured = json.loads(said.read_text())
        for line in (self.by_pid(run, run.processes[-1]["pid"]), run.summary, run.samples[-1]):
            self.assertGreaterEqual(line["lifetime_seconds"], sum(measured))
            self.assertLessEqual(line["lifetime_seconds"], took * len(measured))

    def test_of_a_process_with_one_thread_from_its_start_to_its_end(self):
        began = time.monotonic()
        run = self.run_bpfmon(["sh", "-c", "for i in 1 2 3; do sleep 0.1; done"])
        took = time.monotonic() - began
        self.assert_complete(run)
        for process in run.processes:
            if process["comm"] == "sleep":
                lived = process["end_time"] - process["start_time"]
                self.assertGreaterEqual(process["lifetime_seconds"], lived - 1e-5)  # two clocks, read in turn
        self.assertLessEqual(run.summary["lifetime_seconds"], 2 * took)

    def test_they_grow_with_each_sample_also_of_what_sleeps(self):
        run = self.run_bpfmon(["sleep", "0.5"], ["-i", "0.05"])
        values = [s["lifetime_seconds"] for s in run.samples]
        self.assertEqual(values[:-1], sorted(set(values[:-1])))
        self.assertGreaterEqual(values[-1], values[-2])
        # each is of a moment after its sample began, and before the next began; the last two may be of its end
        first = run.samples[0]["lifetime_seconds"] - run.samples[0]["elapsed_seconds"]
        for sample, after in list(zip(run.samples, run.samples[1:]))[:-1]:
            self.assertGreaterEqual(sample["lifetime_seconds"], sample["elapsed_seconds"])
            self.assertLessEqual(sample["lifetime_seconds"], after["elapsed_seconds"] + first)

    def test_sums_of_a_storm(self):
        run = self.run_witnessed([truth("forkstorm"), "4", "100"], ["-i", "0.01"])
        self.assert_complete(run)
        self.assert_sums(run)


class Attached(AttachCase):
    def test_it_begins_with_the_attachment(self):
        old = self.start("sleep", "60")
        time.sleep(0.2)  # it has lived for longer than the run
        began = time.monotonic()
        attached = self.attach([old.pid], ["-i", "0.05"])
        self.wait_until_attached(attached)
        old.kill()
        run = self.finish(attached)
        self.assertLessEqual(run.summary["lifetime_seconds"], time.monotonic() - began)
        self.assertGreater(run.summary["lifetime_seconds"], 0)
