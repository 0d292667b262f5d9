# SPDX-License-Identifier: BSD-2-Clause
"""The status line of --live: one line, drawn over itself, and none of it is left in the end."""

import os
import re
import signal
import subprocess
import sys

from lib.bpfmon import BPFMON
from lib.live import LiveCase, bpf_objects, children_of, executable_of, send, sockets_of, wait_for
from lib.screen import Screen
from lib.terminal import CTRL_Z

SAMPLED = True
STATUS = re.compile(r"bpfmon \d+ s  [\d.]+ of \d+ cores? ")


def line_of(*command, options=()):
    return [BPFMON, "-q", "--no-store", "--live", "-i", "0.1", *options, "--", *command]


class StatusLine(LiveCase):
    def start(self, argv, **kwargs):
        env = {**os.environ, "TERM": "xterm-256color", "PS1": "> "}
        env.update(kwargs.pop("env", {}))
        return Screen(self, argv, env=env, **kwargs)

    def rows_of_status(self, screen):
        screen.read()
        return [row for row in screen.all_lines() if STATUS.search(row)]

    def wait_for_status(self, screen):
        wait_for(lambda: self.rows_of_status(screen), "the status line")
        return self.rows_of_status(screen)[0]

    def assert_no_status(self, screen):
        wait_for(lambda: not self.rows_of_status(screen), "no status line")

    def test_it_is_drawn_over_itself_and_cleared_at_the_end(self):
        screen = self.start(line_of("sh", "-c", "echo before; sleep 2.5"))
        self.assertEqual(self.wait_for_status(screen), screen.lines()[1])
        screen.expect("bpfmon 2 s")
        self.assertEqual(len([row for row in screen.all_lines() if "bpfmon" in row]), 1)
        self.assertEqual(screen.wait(), 0)
        self.assertIn("before", screen.all_lines())
        self.assertEqual(screen.margins(), (0, 9))
        self.assertEqual(screen.rows_for_programs(), 10)
        self.assert_no_status(screen)

    def test_it_is_cut_to_the_width_of_the_terminal(self):
        screen = self.start(line_of("cat"), columns=40)
        self.assertLess(len(self.wait_for_status(screen)), 40)
        screen.type("\x04")
        self.assertEqual(screen.wait(), 0)
        self.assert_no_status(screen)

    def test_a_stopped_run_leaves_the_terminal_to_the_shell(self):
        screen = self.start(["bash", "--norc", "--noprofile", "--noediting", "-i"], columns=100)
        screen.expect("> ")
        screen.type(" ".join(line_of("cat")) + "\n")
        self.wait_for_status(screen)
        screen.type(CTRL_Z)
        screen.expect("Stopped")
        screen.expect("> ")
        self.assert_no_status(screen)
        screen.type("fg\n")
        self.wait_for_status(screen)
        screen.type("\x04")
        screen.expect("> ")
        self.assert_no_status(screen)

    def test_a_run_in_the_background_shows_none(self):
        screen = self.start(["bash", "--norc", "--noprofile", "--noediting", "-i"], columns=100)
        screen.expect("> ")
        screen.type(" ".join(line_of("sleep", "1.3")) + " & wait; echo o''ver\n")
        screen.expect("over\r")
        self.assertNotIn(b"\x1b[2K", screen.text)

    def check_killed(self, find):
        """Another process leads the session, which would end with its leader, and prints nothing."""
        leader = "import subprocess, sys, time; subprocess.call(sys.argv[1:]); time.sleep(60)"
        screen = self.start([sys.executable, "-c", leader, *line_of("cat")], columns=100)
        self.wait_for_status(screen)
        (launcher,) = [pid for pid in children_of(screen.pid) if executable_of(pid) == os.path.realpath(BPFMON)]
        send(find(launcher), signal.SIGKILL)
        self.assert_no_status(screen)

    def test_a_killed_recorder_leaves_the_terminal_as_it_was(self):
        self.check_killed(
            lambda launcher: next(
                pid
                for pid in children_of(launcher)
                if sockets_of(pid) >= 2 and not bpf_objects(pid) and executable_of(pid) == os.path.realpath(BPFMON)
            )
        )

    def test_a_killed_launcher_leaves_the_terminal_as_it_was(self):
        self.check_killed(lambda launcher: launcher)

    def test_a_terminal_that_cannot_clear_a_line_shows_none(self):
        screen = self.start(line_of("sleep", "1.2", options=["-v"]), env={"TERM": "dumb"})
        screen.wait()
        self.assertNotIn(b"\x1b", screen.text)
        self.assertIn(b"showing no status line", screen.text)

    def test_a_bpfmon_within_another_leaves_the_line_to_that(self):
        screen = self.start(line_of(*line_of("sleep", "1.2", options=["-v"])))
        screen.expect("another bpfmon shows one on this terminal")
        screen.wait()
        self.assert_no_status(screen)

    def test_without_a_terminal_nothing_is_said(self):
        got = subprocess.run(line_of("sleep", "1.2"), stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((got.returncode, got.stderr), (0, b""))

    def test_a_variable_stands_for_it_and_an_attachment_has_it(self):
        sleeper = subprocess.Popen(["sleep", "60"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        argv = [BPFMON, "attach", "-q", "--no-store", "-i", "0.1", "--pid", str(sleeper.pid)]
        screen = self.start(argv, env={"BPFMON_LIVE": "1"})
        self.wait_for_status(screen)
        screen.type("\x03")
        self.assertEqual(screen.wait(), 0)
        self.assert_no_status(screen)
