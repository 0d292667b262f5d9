# SPDX-License-Identifier: BSD-2-Clause
"""Runs of an ordinary user, who has no BPF: measured from /proc and by wait4()."""

import subprocess

from lib.bpfmon import AS_USER, NOT_PERMITTED, Case, give_to_user
from lib.connector import why_no_births

# what --verbose has where bpfmon itself says that the number of processes is a bound
NOT_ALL = ("births are no longer reported by the kernel", "events of births and ends were lost")

# opens the task clock of itself, and of what it would start, without the kernel's share
OPEN_TASK_CLOCK = """
import ctypes, os, platform, struct, sys
attributes = struct.pack("IIQQQQQIIQ", 1, 64, 1, 0, 0, 0, 0b1100010, 0, 0, 0)
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
if libc.syscall(number, attributes, 0, -1, -1, 8) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
"""


class OrdinaryUser(Case):
    def setUp(self):
        super().setUp()
        give_to_user(self.dir)

    def run_unprivileged(self, command, options=(), **kwargs):
        return self.run_bpfmon(command, options, cwd="/", **AS_USER, **kwargs)

    def needs_task_clock(self):
        """Ends the test, as passed, if the kernel refuses perf events to the user."""
        done = subprocess.run(["python3", "-c", OPEN_TASK_CLOCK], stderr=subprocess.PIPE, text=True, check=False, **AS_USER)
        if done.returncode:
            self.skipTest(f"{NOT_PERMITTED}perf events of an ordinary user: {done.stderr}")

    def has_all_births(self, run):
        """The kernel reports births here; and --verbose does not say that this run has lost any."""
        return not why_no_births() and not any(text in run.stderr for text in NOT_ALL)

    def assert_cpu(self, run, least, own=0.012):
        """Within 0.5 % and 2 ms of what is known, and what the programs use that report it."""
        self.assertGreaterEqual(run.summary["cpu_seconds"], 0.995 * least - 0.002)
        self.assertLessEqual(run.summary["cpu_seconds"], 1.005 * least + 0.002 + own)
