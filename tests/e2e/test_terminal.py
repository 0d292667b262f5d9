# SPDX-License-Identifier: BSD-2-Clause
"""Keys that are signals: the command gets what it would get without bpfmon."""

import os
import signal

from lib.bpfmon import BPFMON, read_lines, truth
from lib.live import LiveCase, executable_of, is_alive, send, stat_of, wait_for
from lib.terminal import CTRL_C, CTRL_Z, Terminal

SAMPLED = True
BASH = ["bash", "--norc", "--noprofile", "--noediting", "-i"]
DASH = ["dash", "-i"]


class Keys(LiveCase):
    def setUp(self):
        super().setUp()
        self.heard = self.dir / "heard"
        self.out = self.dir / "run.jsonl"

    def command(self, seconds=2, options=()):
        return [BPFMON, "-o", str(self.out), "-i", "0.05", *options, "--", truth("sigreport"), str(self.heard), str(seconds)]

    def shell(self, argv):
        term = Terminal(self, argv, env={**os.environ, "PS1": "> "})
        term.expect("> ")
        return term

    def words(self):
        return self.heard.read_text().split() if self.heard.exists() else []

    def summary(self):
        (line,) = [l for l in read_lines(self.out) if l["kind"] == "summary"]
        return line

    def assert_complete_run(self, code):
        summary = self.summary()
        self.assertTrue(summary["complete"], summary)
        self.assertEqual(summary["exit_code"], code)

    def test_ctrl_c_is_one_interrupt_for_the_command(self):
        term = Terminal(self, self.command())
        wait_for(self.heard.exists, "the command's readiness")
        term.type(CTRL_C)
        self.assertEqual(term.wait(), 7)
        self.assertEqual(self.words(), ["INT"])
        self.assert_complete_run(7)

    def check_ctrl_c_in_a_shell(self, argv):
        term = self.shell(argv)
        term.type(" ".join(self.command()) + "; echo code=$?\n")
        wait_for(self.heard.exists, "the command's readiness")
        term.type(CTRL_C)
        term.expect("code=7")
        self.assertEqual(self.words(), ["INT"])
        self.assert_complete_run(7)

    def test_ctrl_c_in_bash_is_one_interrupt_for_the_command(self):
        self.check_ctrl_c_in_a_shell(BASH)

    def test_ctrl_c_in_dash_is_one_interrupt_for_the_command(self):
        self.check_ctrl_c_in_a_shell(DASH)

    def test_ctrl_c_that_kills_the_command_is_seen_by_the_shell_as_such(self):
        term = self.shell(BASH)
        term.type(f"{BPFMON} -o {self.out} -- sh -c 'touch {self.heard}; exec sleep 60'\n")
        wait_for(self.heard.exists, "the command's start")
        wait_for(lambda: self.out.exists() and read_lines(self.out), "the first line")
        term.type(CTRL_C)
        term.expect("killed by signal 2")
        term.expect("> ")
        term.type("echo code=$?\n")
        term.expect("code=130")
        self.assertEqual(self.summary()["signal"], 2)

    def check_stop_and_go(self, argv, times):
        term = self.shell(argv)
        term.type(" ".join(self.command()) + "\n")
        wait_for(self.heard.exists, "the command's readiness")
        for _ in range(times):
            term.type(CTRL_Z)
            term.expect("Stopped", "Suspended")
            term.expect("> ")
            term.type("fg\n")
            term.expect("sigreport")
            self.wait_for_sleep()
        term.expect("complete: nothing was lost")
        term.expect("> ")
        term.type("echo code=$?\n")
        term.expect("code=7")
        self.assertEqual(self.words(), [])
        self.assert_complete_run(7)

    def wait_for_sleep(self):
        """Until the command is no longer stopped, or has ended."""

        def goes_on():
            return all(stat_of(pid)[0] != "T" for pid in self.reporters() if stat_of(pid))

        wait_for(goes_on, "the command to go on")

    def reporters(self):
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        return [pid for pid in pids if executable_of(pid) == os.path.realpath(truth("sigreport")) and self.is_ours(pid)]

    def is_ours(self, pid):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return str(self.heard).encode() in file.read()

    def test_ctrl_z_and_fg_in_bash_stop_and_continue_the_command(self):
        self.check_stop_and_go(BASH, 1)

    def test_ctrl_z_and_fg_in_dash_stop_and_continue_the_command(self):
        self.check_stop_and_go(DASH, 1)

    def test_ctrl_z_and_fg_again_and_again_work(self):
        self.check_stop_and_go(BASH, 4)

    def test_samples_go_on_while_the_command_is_stopped(self):
        term = self.shell(BASH)
        term.type(" ".join(self.command()) + "\n")
        wait_for(self.heard.exists, "the command's readiness")
        term.type(CTRL_Z)
        term.expect("Stopped")
        (reporter,) = self.reporters()
        self.assertEqual(stat_of(reporter)[0], "T")
        before = len(read_lines(self.out))
        wait_for(lambda: len(read_lines(self.out)) >= before + 3, "three samples more")
        term.type("fg\n")
        term.expect("complete: nothing was lost")
        self.assert_complete_run(7)

    def test_a_stopped_run_goes_on_in_the_background(self):
        term = self.shell(BASH)
        term.type(" ".join(self.command()) + "\n")
        wait_for(self.heard.exists, "the command's readiness")
        term.type(CTRL_Z)
        term.expect("Stopped")
        term.type("bg\n")
        term.expect("complete: nothing was lost")
        term.type("wait %1; echo code=$?\n")
        term.expect("code=7")
        self.assert_complete_run(7)

    def test_a_hangup_of_the_terminal_that_bpfmon_leads_reaches_the_command(self):
        term = Terminal(self, self.command(seconds=10))
        wait_for(self.heard.exists, "the command's readiness")
        (reporter,) = self.reporters()
        term.hang_up()
        try:
            wait_for(self.words, "the command to hear HUP", 5)
        finally:
            send(reporter, signal.SIGKILL)
            wait_for(lambda: not is_alive(reporter), "the command's end")
        self.assertEqual(self.words(), ["HUP"])
        self.assertEqual(term.wait(), -signal.SIGKILL)
        self.assertTrue(self.summary()["complete"])

    def test_sudo_on_a_terminal_passes_ctrl_c_on_once(self):
        term = Terminal(self, ["sudo", "-n", *self.command(options=["--no-store"])])
        wait_for(self.heard.exists, "the command's readiness")
        term.type(CTRL_C)
        self.assertEqual(term.wait(), 7)
        self.assertEqual(self.words(), ["INT"])
        self.assert_complete_run(7)
