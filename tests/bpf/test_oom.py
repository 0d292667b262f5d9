# SPDX-License-Identifier: BSD-2-Clause
"""A process that the kernel kills for lack of memory is reported, with the limit that was too small."""

import pathlib
import signal
import subprocess
import threading

from lib.account import AccountCase
from lib.bpfmon import cgroup, truth

MIB = 1 << 20
LIMIT = 50 * MIB


class OutOfMemory(AccountCase):
    def setUp(self):
        super().setUp()
        group = cgroup("memory")
        self.group = pathlib.Path(group.__enter__())
        self.addCleanup(group.__exit__, None, None, None)
        (self.group / "memory.limit_in_bytes").write_text(str(LIMIT))

    def hog(self, mib="200"):
        return [truth("incgroup"), str(self.group), truth("touch"), mib, "10"]

    def kills(self):
        """As the cgroup counts them."""
        text = (self.group / "memory.oom_control").read_text()
        return int(dict(line.split() for line in text.splitlines())["oom_kill"])

    def check_event(self, run, is_command):
        event = self.only(run.kind("event"))
        self.assertEqual(event["event"], "oom_kill")
        self.assertEqual(event["limit_bytes"], LIMIT)
        self.assertEqual(event["cgroup"], self.group.name)
        self.assertIs(event["is_command"], is_command)
        self.assertEqual(event["comm"], "touch")
        self.assertGreater(event["rss_bytes"], 0.9 * LIMIT)
        # the text of the program was in the page cache before: no process here is charged for it
        self.assertLessEqual(event["rss_bytes"], LIMIT + 2 * MIB)
        victim = self.by_pid(run, event["pid"])
        self.assertEqual(victim["signal"], signal.SIGKILL)
        self.assertEqual(run.summary["oom_kills"], self.kills())
        self.assertEqual(run.summary["oom"]["pid"], event["pid"])
        self.assertIn("OOM-killed", run.stderr)
        self.assertIn(self.group.name, run.stderr)

    def test_the_command(self):
        run = self.run_bpfmon(self.hog())
        self.assertEqual(run.code, -signal.SIGKILL)
        self.check_event(run, True)
        self.assertIn("out of memory", run.stderr.splitlines()[0])

    def test_a_child(self):
        run = self.run_bpfmon(["sh", "-c", '"$@"; exit 3', "sh", *self.hog()])
        self.assertEqual(run.code, 3)
        self.check_event(run, False)
        self.assertIn("ended with 3", run.stderr)

    def test_enough_memory(self):
        run = self.run_bpfmon(self.hog("20"))
        self.assertEqual(run.code, 0)
        self.assertEqual(run.kind("event"), [])
        self.assertEqual(run.summary["oom_kills"], 0)
        self.assertNotIn("oom", run.summary)

    def test_a_kill_outside_of_the_run_is_not_recorded(self):
        hog = threading.Timer(0.5, lambda: subprocess.run(self.hog(), check=False))
        hog.start()
        run = self.run_bpfmon(["sleep", "2"])
        hog.join()
        self.assertGreaterEqual(self.kills(), 1)
        self.assertEqual(run.kind("event"), [])
        self.assertEqual(run.summary["oom_kills"], 0)

    def test_hoarders_end_when_one_of_them_is_killed(self):
        """Each would wait for the others for ever."""
        hoarders = [truth("incgroup"), str(self.group), truth("hoarders"), "together", "4", "30", "10"]
        done = subprocess.run(hoarders, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (99, "truth: a child ended with wait status 0x9\n"))
