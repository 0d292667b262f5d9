# SPDX-License-Identifier: BSD-2-Clause
"""The status line of --live: it keeps to its row, and the terminal is as before in the end."""

import os
import re
import signal
import subprocess

from lib.bpfmon import BPFMON
from lib.live import LiveCase, bpf_objects, children_of, executable_of, send, sockets_of, wait_for
from lib.screen import Screen
from lib.terminal import CTRL_Z

STATUS = re.compile(r"bpfmon \d+ s  [\d.]+ of \d+ cores? ")


def line_of(*command, options=()):
    return [BPFMON, "-q", "--no-store", "--live", "-i", "0.1", *options, "--", *command]


class StatusLine(LiveCase):
    def start(self, argv, **kwargs):
        env = {**os.environ, "TERM": "xterm-256color", "PS1": "> "}
        env.update(kwargs.pop("env", {}))
        return Screen(self, argv, env=env, **kwargs)

    def assert_terminal_as_before(self, screen, rows=10):
        self.assertEqual(screen.margins(), (0, rows - 1))
        self.assertEqual(screen.rows_for_programs(), rows)
        self.assertEqual([row for row in screen.all_lines() if STATUS.search(row)], [])

    def test_all_that_a_job_prints_is_there_below_and_above_the_screen(self):
        job = "for i in $(seq 40); do echo line $i; sleep 0.05; done; printf half; sleep 1.1; echo ' a line'; stty size <&2"
        screen = self.start(line_of("sh", "-c", job))
        self.assertRegex(screen.wait_for_row(9, "bpfmon"), STATUS)
        screen.wait_for_row(8, "half")
        self.assertEqual(screen.wait(), 0)
        rows = [*(f"line {i}" for i in range(1, 41)), "half a line", "9 60"]
        self.assertEqual(screen.all_lines(), rows)
        self.assert_terminal_as_before(screen)

    def test_a_cursor_on_the_bottom_row_loses_nothing(self):
        screen = self.start(line_of("sh", "-c", "seq 10; printf here; read x; seq 11 20"))
        screen.wait_for_row(9, "bpfmon")
        self.assertEqual(screen.lines()[:9], [*map(str, range(3, 11)), "here"])
        screen.type("\n")
        screen.wait()
        self.assertEqual(screen.all_lines(), [*map(str, range(1, 11)), "here", *map(str, range(11, 21))])

    def test_a_full_screen_program_has_the_rows_above(self):
        (self.dir / "text").write_text("".join(f"{i}\n" for i in range(1, 100)))
        screen = self.start(line_of("less", "-X", str(self.dir / "text")))
        screen.wait_for_row(9, "bpfmon")
        screen.wait_for_row(8, ":")  # drawn again for the row less
        screen.type(" ")
        screen.wait_for_row(0, "9")
        self.assertRegex(screen.wait_for_row(9, "bpfmon"), STATUS)
        self.assertEqual(screen.lines()[:9], [*map(str, range(9, 17)), ":"])
        screen.type("q")
        self.assertEqual(screen.wait(), 0)
        self.assert_terminal_as_before(screen)

    def test_another_size_of_the_terminal_moves_the_line(self):
        screen = self.start(line_of("sh", "-c", "trap : WINCH; while ! read x; do :; done"))
        screen.wait_for_row(9, "bpfmon")
        screen.resize(40, 14)
        wait_for(lambda: screen.read() and screen.margins() == (0, 12), "the line to move")
        self.assertLess(len(screen.wait_for_row(13, "bpfmon")), 40)
        wait_for(lambda: screen.rows_for_programs() == 13, "a row less for programs")  # told after the drawing
        screen.type("\n")
        screen.wait()
        self.assertEqual(screen.margins(), (0, 13))
        self.assertEqual(screen.rows_for_programs(), 14)

    def test_a_stopped_run_leaves_the_terminal_to_the_shell(self):
        screen = self.start(["bash", "--norc", "--noprofile", "--noediting", "-i"], columns=100)
        screen.expect("> ")
        screen.type(" ".join(line_of("cat")) + "\n")
        screen.wait_for_row(9, "bpfmon")
        screen.type(CTRL_Z)
        screen.expect("Stopped")
        screen.expect("> ")
        self.assert_terminal_as_before(screen)
        screen.type("fg\n")
        self.assertRegex(screen.wait_for_row(9, "bpfmon"), STATUS)
        screen.type("\x04")
        screen.expect("> ")
        self.assert_terminal_as_before(screen)

    def test_a_run_in_the_background_shows_none(self):
        screen = self.start(["bash", "--norc", "--noprofile", "--noediting", "-i"], columns=100)
        screen.expect("> ")
        screen.type(" ".join(line_of("sleep", "1.3")) + " & wait; echo o''ver\n")
        screen.expect("over\r")
        self.assertNotIn(b"\x1b[10;1H", screen.text)

    def check_killed(self, find):
        """A shell leads the session, which would end with its leader."""
        screen = self.start(["sh", "-c", " ".join(line_of("cat")) + "; exec cat"], columns=100)
        screen.wait_for_row(9, "bpfmon")
        self.assertEqual(screen.margins(), (0, 8))
        (launcher,) = [pid for pid in children_of(screen.pid) if executable_of(pid) == os.path.realpath(BPFMON)]
        send(find(launcher), signal.SIGKILL)
        wait_for(lambda: screen.read() and screen.margins() == (0, 9), "the terminal to be as it was")
        wait_for(lambda: screen.rows_for_programs() == 10, "all rows for programs")
        self.assertEqual([row for row in screen.lines() if STATUS.search(row)], [])

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

    def test_a_terminal_that_cannot_keep_a_row_shows_none(self):
        screen = self.start(line_of("sleep", "1.2", options=["-v"]), env={"TERM": "dumb"})
        screen.wait()
        self.assertNotIn(b"\x1b", screen.text)
        self.assertIn(b"there is no status line", screen.text)

    def test_a_bpfmon_within_another_leaves_the_line_to_that(self):
        screen = self.start(line_of(*line_of("sh", "-c", "sleep 1.2; stty size <&2")))
        screen.expect("9 60")
        screen.wait()
        self.assert_terminal_as_before(screen)

    def test_without_a_terminal_nothing_is_said(self):
        got = subprocess.run(line_of("sleep", "1.2"), stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((got.returncode, got.stderr), (0, b""))

    def test_a_variable_stands_for_it_and_an_attachment_has_it(self):
        sleeper = subprocess.Popen(["sleep", "60"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        argv = [BPFMON, "attach", "-q", "--no-store", "-i", "0.1", "--pid", str(sleeper.pid)]
        screen = self.start(argv, env={"BPFMON_LIVE": "1"})
        self.assertRegex(screen.wait_for_row(9, "bpfmon"), STATUS)
        screen.type("\x03")
        self.assertEqual(screen.wait(), 0)
        self.assert_terminal_as_before(screen)
