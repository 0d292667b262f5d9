# SPDX-License-Identifier: BSD-2-Clause
"""What is hard to end does not survive the end of its run.

The witness is a pipe, which all processes of a run have as their output: it is at its end when none is left, also of
those that no look at /proc would find. Trees are bounded, and end by themselves after LASTS_SECONDS: long after a test.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

from lib import sweep
from lib.agent import AgentCase
from lib.bpfmon import BPFMON, Case, said_by, truth
from lib.live import children_of, wait_for

SAMPLED = True
ENDINGS = sweep.often(4, 100)  # of the fastest runs for each source
LASTS_SECONDS = 60
GONE_SECONDS = 20  # a process that was killed closes its files
LIMIT = ["--no-store", "-q", "--limit", "wall<0.2s", "--limit-grace", "0.1"]
LIMIT_OF_2000 = ["--no-store", "-q", "--limit", "processes<2000", "-i", "0.05", "--limit-grace", "0.1"]
SHAPES = ("asleep", "chain", "daemon", "fan", "stopped", "traced", "user", "pidns")
SOURCES = {"BPF": ([], []), "own cgroup": ([], ["--own-cgroup"]), "/proc": ([truth("nobpf"), "EPERM"], [])}
ENDED = re.compile(r"ended the run in ([0-9.]+) (m?s): ([0-9]+) process(?:es)?, the last of them by SIGKILL\n")


class Ending:
    """One run of a tree that is hard to end, which is over."""

    def __init__(self, test, process, before_wait=lambda process: None):
        before_wait(process)
        self.code = process.wait(30)
        self.has_left = not select.select([process.stdout], [], [], GONE_SECONDS)[0]
        self.said = process.said()
        process.stdout.close()
        process.messages.close()
        test.assertFalse(self.has_left, "a process has outlived its run")
        test.assertEqual(self.code, 124, self.said)
        found = ENDED.search(self.said)
        test.assertIsNotNone(found, self.said)
        self.seconds = float(found[1]) * (1e-3 if found[2] == "ms" else 1)
        self.nr = int(found[3])


def said_into(popen, *words, **more):
    """A process with an output that is a pipe, and messages that can be read at any time: said()."""
    messages = tempfile.TemporaryFile()
    process = popen(*words, stdout=subprocess.PIPE, stderr=messages, **more)
    process.messages = messages
    process.said = lambda: os.pread(messages.fileno(), 1 << 20, 0).decode()
    return process


def start(shape, number, before=(), options=(), limit=LIMIT):
    return said_into(subprocess.Popen, [*before, BPFMON, *limit, *options, "--", truth("hardtoend"), shape, str(number), str(LASTS_SECONDS)], cwd="/")


class Shapes(Case):
    def each(self, source):
        before, options = SOURCES[source]
        for shape in SHAPES:
            with self.subTest(shape=shape):
                ending = Ending(self, start(shape, 3, before, options))
                self.assertGreaterEqual(ending.nr, 4)
                self.assertNotIn("left running", ending.said)

    def test_each_shape(self):
        self.each("BPF")

    def test_each_shape_in_a_cgroup_of_its_own(self):
        self.each("own cgroup")

    def test_each_shape_without_bpf(self):
        self.each("/proc")

    def test_a_kernel_that_refuses_the_program(self):
        """What does not fork faster than it is found is ended all the same; and check says what is missing."""
        for how in ("ends__call", "ends__call:attach"):
            options = ["--inject-no-program", how]
            self.assertGreaterEqual(Ending(self, start("stopped", 3, (), options)).nr, 4)
            said = said_by(BPFMON, "check", *options)
            self.assertRegex(said, "(?m)^ending runs that fork fast +missing: .+ may outlive a limit$")

    def test_two_thousand_live_processes(self):
        for before, options in SOURCES.values():
            ending = Ending(self, start("asleep", 2000, before, options, LIMIT_OF_2000))
            self.assertEqual(ending.nr, 2001)

    def test_more_processes_than_the_launcher_may_open_files(self):
        few = ["prlimit", "--nofile=64:4096"]
        self.assertEqual(Ending(self, start("asleep", 200, few)).nr, 201)

    def test_to_ask_again_cuts_the_grace_short(self):
        def ask(process):
            wait_for(lambda: "limit exceeded" in process.said(), "the limit")
            process.send_signal(signal.SIGTERM)

        ending = Ending(self, start("chain", 2, options=["--limit-grace", "1000"]), ask)
        self.assertIn("SIGKILL now", ending.said)

    def test_a_recorder_that_hangs_does_not_keep_an_ended_run(self):
        """To ask again then is what it is in any run: the third request ends bpfmon."""
        process = start("asleep", 3)
        wait_for(lambda: len(children_of(process.pid)) == 3, "the command, the recorder and the collector")
        recorder = sorted(children_of(process.pid))[1]
        self.addCleanup(lambda: os.path.exists(f"/proc/{recorder}") and os.kill(recorder, signal.SIGCONT))
        os.kill(recorder, signal.SIGSTOP)
        wait_for(lambda: "ended the run in" in process.said(), "the end of the run")
        for _ in range(3):
            time.sleep(0.1)  # longer than an echo takes
            process.send_signal(signal.SIGTERM)
        Ending(self, process)


class Fast(Case):
    """Runs that are ended while they fork as fast as they can."""

    def loop(self, source):
        before, options = SOURCES[source]
        took = sorted(Ending(self, start(("chain", "fan")[i % 2], 4, before, options)).seconds for i in range(ENDINGS))
        print(f"{source}: {ENDINGS} runs ended, after {took[0]:.3f} s, {took[len(took) // 2]:.3f} s, {took[-1]:.3f} s (least, median, most)", flush=True)

    def test_none_survives(self):
        self.loop("BPF")

    def test_none_survives_in_a_cgroup_of_its_own(self):
        self.loop("own cgroup")

    def test_none_survives_without_bpf(self):
        self.loop("/proc")


class ThroughAgent(AgentCase):
    CONFIG = ""

    def start(self, shape, program=truth("hardtoend")):
        return said_into(self.agent.bpfmon, *LIMIT, "--", program, shape, 3, LASTS_SECONDS)

    def test_each_shape_that_a_user_can_make(self):
        for shape in ("asleep", "chain", "daemon", "fan", "stopped", "traced"):
            with self.subTest(shape=shape):
                Ending(self, self.start(shape))
        self.assert_served()

    def test_a_span_and_a_run_within_are_ended_with_their_run(self):
        """Both have accounts of their own."""
        for within in ([BPFMON, "span", "inner", "--"], [BPFMON, "-q", "--no-store", "--"]):
            command = [*within, truth("hardtoend"), "chain", "3", str(LASTS_SECONDS)]
            process = said_into(self.agent.bpfmon, *LIMIT, "--", *command)
            self.assertGreater(Ending(self, process).nr, 0)

    def test_what_another_user_has_become_is_left_and_named(self):
        """Neither the launcher nor the agent ends what the user may not end: one that is root's for good."""
        program = shutil.copy(truth("hardtoend"), self.dir / "becomes")
        self.dir.chmod(0o755)
        program.chmod(0o4755)
        process = self.start("foreign", program)
        self.assertEqual(process.wait(30), 124)
        said = process.said()
        self.assertIn("of another user: ", said)
        left = [int(pid) for pid in re.findall(r"([0-9]+) \(becomes\)", said.partition("left running: ")[2])]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(len(left), 3, said)
        self.assertTrue(select.select([process.stdout], [], [], GONE_SECONDS)[0])
        process.stdout.close()
        process.messages.close()
