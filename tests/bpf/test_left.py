# SPDX-License-Identifier: BSD-2-Clause
"""Processes that are alive at the end: the state in their records is that in /proc."""

import os
import signal
import sys

from lib.account import AccountCase
from lib.live import stat_of

# Leaves a process in each state that lasts: asleep, stopped, traced, and one whose first thread has ended.
LEAVER = """
import ctypes, os, signal, sys, threading, time
libc = ctypes.CDLL(None)

def state(pid):
    return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]

def leave(wanted, run, of=lambda pid: pid):
    pid = os.fork()
    if pid == 0:
        os.close(1)
        os.close(2)
        run()
        time.sleep(600)
    while state(of(pid)) != wanted:
        time.sleep(0.001)

def first_thread_ends():
    threading.Thread(target=time.sleep, args=(600,)).start()
    libc.pthread_exit.argtypes = [ctypes.c_void_p]
    libc.pthread_exit(None)

def trace_a_child():
    pid = os.fork()
    if pid == 0:
        libc.ptrace(0, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)

def child(pid):
    while True:
        children = open(f"/proc/{pid}/task/{pid}/children").read().split()
        if children:
            return children[0]

leave("S", lambda: None)
leave("T", lambda: os.kill(os.getpid(), signal.SIGSTOP))
leave("Z", first_thread_ends)
leave("t", trace_a_child, child)
for pid in open(f"/proc/self/task/{os.getpid()}/children").read().split():
    while state(pid) == "R":
        time.sleep(0.001)
os._exit(0)
"""


def kill_quietly(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Left(AccountCase):
    def left_of(self, run):
        left = [p for p in run.processes if p["end_time"] is None]
        for process in left:
            self.addCleanup(kill_quietly, process["pid"])
        return left

    def test_each_has_the_state_that_proc_shows(self):
        run = self.run_bpfmon([sys.executable, "-c", LEAVER])
        left = self.left_of(run)
        self.assertEqual(run.code, 0, run.stderr)
        self.assertEqual(run.summary["outlived"], 5)
        self.assertEqual(sorted(p["state"] for p in left), ["S", "S", "T", "Z", "t"])
        for process in left:
            self.assertEqual(process["state"], stat_of(process["pid"])[0], process)
        self.assert_counts(run, 6, 1)
