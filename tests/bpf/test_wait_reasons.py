# SPDX-License-Identifier: BSD-2-Clause
"""What threads waited for: near what a program that knows its waits says, and in sum all time off the CPU."""

import sys

from lib.account import ns
from lib.attach import AttachCase
from lib.bpfmon import NOBODY

REASONS = ("child", "futex", "pipe", "socket", "disk", "lock", "poll", "timer", "other", "unseen")

# Processes that wait for 2 s each: one for a child, which sleeps, and some for a descriptor that it holds.
WAITER = """
import fcntl, os, select, socket, sys, tempfile, threading, time
if sys.argv[1:]:
    os.setgid(int(sys.argv[1]))
    os.setuid(int(sys.argv[1]))
SECONDS = 2
ends, held = os.pipe()           # read by two, and polled by one, until all writers have ended
near, far = socket.socketpair()
ready, begun = os.pipe()
locked = tempfile.NamedTemporaryFile()
fcntl.flock(locked, fcntl.LOCK_EX)
def child(wait):
    pid = os.fork()
    if pid:
        return pid
    os.close(held)
    far.close()
    os.write(begun, b"x")
    wait()
    os._exit(0)
def sleep():
    time.sleep(SECONDS)
def futex():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire(timeout=SECONDS)
def poll():
    poll = select.poll()
    poll.register(ends, select.POLLIN)
    poll.poll()
def flock():
    with open(locked.name) as other:
        fcntl.flock(other, fcntl.LOCK_EX)
waits = [lambda: os.read(ends, 1), lambda: os.read(ends, 1), lambda: near.recv(1), futex, poll, flock]
pids = [child(wait) for wait in waits]
for _ in pids:
    os.read(ready, 1)  # on a busy machine a child may begin late
sleeper = child(sleep)
os.waitpid(sleeper, 0)
os.close(held)
far.close()
fcntl.flock(locked, fcntl.LOCK_UN)
for pid in pids:
    os.waitpid(pid, 0)
"""
# thread-seconds of each, at least
WAITED = {"child": 2, "pipe": 4, "socket": 2, "futex": 2, "poll": 2, "lock": 2, "timer": 2}


def reasons(values):
    return {reason: values[f"wait_{reason}_seconds"] for reason in REASONS}


def off_cpu(values):
    """Nanoseconds in which the threads neither ran nor waited for a CPU."""
    return ns(values["lifetime_seconds"]) - ns(values["cpu_seconds"]) - ns(values["runqueue_wait_seconds"])


class WaitReasons(AttachCase):
    def assert_near_truth(self, run):
        waited = reasons(run.summary)
        for reason, seconds in WAITED.items():
            with self.subTest(reason=reason):
                # what a process waits for before its first sample and after its last is not seen
                self.assertGreater(waited[reason], seconds / 2, waited)
        self.assertLess(waited["disk"] + waited["other"], 1, waited)
        self.assertEqual(max(waited, key=waited.get), "pipe", waited)

    def assert_whole(self, run):
        """All reasons together have the time off the CPU, and none ever falls."""
        whole = sum(map(ns, reasons(run.summary).values()))
        self.assertGreaterEqual(whole, off_cpu(run.summary))
        # what a thread uses after its exit is in its CPU time, but not in its lifetime
        self.assertLess(whole, off_cpu(run.summary) * 1.01 + 5e7)
        before = dict.fromkeys(REASONS, 0)
        for sample in run.samples:
            now = reasons(sample)
            self.assertTrue(all(now[r] >= before[r] for r in REASONS), (before, now))
            before = now

    def test_a_program_that_knows_what_it_waits_for(self):
        run = self.run_bpfmon([sys.executable, "-c", WAITER], ["-i", "0.1"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_near_truth(run)
        self.assert_whole(run)
        self.assertEqual(run.summary["complete"], True)

    def test_of_an_ordinary_user_too(self):
        """The collector has another user then, and reads what any process with CAP_SYS_PTRACE may."""
        run = self.run_bpfmon([sys.executable, "-c", WAITER, str(NOBODY)], ["-i", "0.1"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_near_truth(run)

    def test_the_last_moment_of_an_attachment(self):
        sleeper = self.start("sleep", "600")
        run = self.finish(self.attach([sleeper.pid], ["--duration", "0.5", "-i", "10"]))
        self.assertGreater(ns(run.summary["wait_timer_seconds"]), 0.8 * off_cpu(run.summary))

    def test_a_process_that_ended_between_two_samples_was_not_seen(self):
        run = self.run_bpfmon(["sleep", "0.2"], ["-i", "10"])
        self.assertGreater(run.summary["wait_unseen_seconds"], 0.1)
        self.assert_whole(run)

    def test_some_of_many_threads(self):
        program = "import threading, time\nfor _ in range(200): threading.Thread(target=time.sleep, args=(1.5,)).start()"
        run = self.run_bpfmon([sys.executable, "-c", program], ["-i", "0.1"])
        waited = reasons(run.summary)
        self.assertGreater(waited["timer"], 150, waited)
        self.assert_whole(run)

    def test_is_not_there_without_being_wanted(self):
        run = self.run_bpfmon(["true"], ["--metrics", "cpu"])
        self.assertFalse([key for key in run.summary if key.startswith("wait_")])
