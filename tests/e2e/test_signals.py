# SPDX-License-Identifier: BSD-2-Clause
"""Signals for bpfmon reach the command once; the account survives them."""

import os
import signal
import subprocess
import time

from lib.bpfmon import BPFMON, read_lines, truth
from lib.live import LiveCase, is_alive, send, stat_of, wait_for

SAMPLED = True

# Two of the same signal from one sender within 50 ms are one word: timeout(1) sends them so.
ECHO_SECONDS = 0.1


class SignalCase(LiveCase):
    def report(self, seconds):
        """`sigreport` as a command and the file it reports to."""
        heard = self.dir / f"heard-{time.monotonic_ns()}"
        return [truth("sigreport"), str(heard), str(seconds)], heard

    def start(self, seconds=2, options=("-i", "0.05"), **popen):
        command, heard = self.report(seconds)
        live = self.live(command, options, **popen)
        wait_for(heard.exists, "the command's readiness")
        return live, heard

    def words(self, heard):
        return heard.read_text().split()

    def wait_for_words(self, heard, words):
        wait_for(lambda: len(self.words(heard)) >= len(words), f"the command to hear {words}")
        self.assertEqual(self.words(heard), words)

    def check_end(self, live, heard, words):
        run = live.finish()
        self.assertEqual(self.words(heard), words)
        self.assertEqual(run.code, 7, run.stderr)
        self.assert_complete(run)
        self.assertEqual(run.summary["exit_code"], 7)
        return run


class Signals(SignalCase):
    def test_sigterm_reaches_the_command_once_and_the_run_goes_on(self):
        live, heard = self.start()
        live.process.send_signal(signal.SIGTERM)
        self.wait_for_words(heard, ["TERM"])
        live.wait_for_samples(2)
        self.check_end(live, heard, ["TERM"])

    def test_other_signals_reach_the_command_once_each(self):
        live, heard = self.start()
        words = []
        for name in ("INT", "HUP", "USR1", "USR2", "INT"):
            live.process.send_signal(getattr(signal, f"SIG{name}"))
            words.append(name)
            self.wait_for_words(heard, words)
        self.check_end(live, heard, words)

    def test_a_signal_during_the_start_is_not_lost(self):
        for _ in range(5):
            live = self.live(["sleep", "60"], ["-q"])
            command = live.role(lambda pid, stat, has_bpf: True)
            live.process.send_signal(signal.SIGTERM)
            run = live.finish()
            self.assertEqual(run.code, -signal.SIGTERM)
            self.assertFalse(is_alive(command))

    def test_sigterm_to_all_three_processes_at_once_is_one_for_the_command(self):
        live, heard = self.start()
        collector, recorder, _ = live.roles()
        for pid in (live.pid, collector, recorder):
            os.kill(pid, signal.SIGTERM)
        self.wait_for_words(heard, ["TERM"])
        live.wait_for_samples(2)
        self.check_end(live, heard, ["TERM"])

    def test_collector_and_recorder_ignore_signals(self):
        live, heard = self.start()
        collector, recorder, _ = live.roles()
        for sig in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGPIPE):
            send(collector, sig)
            send(recorder, sig)
        live.wait_for_samples(2)
        self.check_end(live, heard, [])

    def test_a_second_sigterm_ends_bpfmon_and_leaves_the_command(self):
        live, heard = self.start(seconds=60)
        collector, recorder, command = live.roles()
        live.wait_for_samples(2)
        live.process.send_signal(signal.SIGTERM)
        self.wait_for_words(heard, ["TERM"])
        time.sleep(ECHO_SECONDS)
        live.process.send_signal(signal.SIGTERM)
        live.process.wait(timeout=60)
        self.assertTrue(is_alive(command))
        self.assertFalse(is_alive(collector) or is_alive(recorder))
        self.assertEqual(self.words(heard), ["TERM"])
        send(command, signal.SIGKILL)
        run = live.finish()
        self.assertEqual(run.code, -signal.SIGTERM)
        self.assertFalse(run.summary["complete"])
        self.assertTrue(run.summary["reason"])
        self.assertIsNone(run.summary["exit_code"])
        self.assertIn("INCOMPLETE", run.stderr)
        (process,) = run.processes
        self.assertIsNone(process["end_time"])
        self.assertEqual(run.summary["outlived"], 1)
        self.assertIn(str(command), run.stderr)

    def test_a_third_sigterm_ends_bpfmon_even_if_the_recorder_hangs(self):
        live, heard = self.start(seconds=60)
        collector, recorder, command = live.roles()
        live.wait_for_samples(2)
        os.kill(recorder, signal.SIGSTOP)
        for words in (["TERM"], ["TERM"], ["TERM"]):
            live.process.send_signal(signal.SIGTERM)
            self.wait_for_words(heard, words)
            time.sleep(0.1)  # two of the same that wait are one
        live.process.wait(timeout=60)
        self.assertEqual(live.process.returncode, -signal.SIGTERM)
        self.assertTrue(is_alive(command))
        self.assertFalse(is_alive(collector) or is_alive(recorder))
        send(command, signal.SIGKILL)
        run = live.finish()
        self.assertIn(f"the recorder (process {recorder}) did not end and was killed: data that it had not written", run.stderr)
        self.assertEqual(run.kind("summary"), [])
        self.assert_whole_lines(live.out)

    def test_sigterm_while_descendants_are_waited_for_closes_the_run(self):
        told = self.dir / "sleeper"
        script = 'sleep 60 & echo $! >"$0.new"; mv "$0.new" "$0"; exit 3'
        live = self.live(["sh", "-c", script, str(told)], ["--wait", "tree", "-i", "0.05"], stderr=subprocess.DEVNULL)
        wait_for(told.exists, "the command's child")
        self.addCleanup(send, int(told.read_text()), signal.SIGKILL)
        moment = time.time()  # before there was a child, there was one process, too
        wait_for(lambda: [s for s in live.samples() if s["time"] > moment][-1:] and live.samples()[-1]["processes"] == 1,
                 "the end of the shell")
        live.process.send_signal(signal.SIGTERM)
        live.process.wait(timeout=60)
        self.assertTrue(is_alive(int(told.read_text())))
        send(int(told.read_text()), signal.SIGKILL)
        run = live.finish()
        self.assertEqual(run.code, 3)
        self.assertFalse(run.summary["complete"])
        self.assertTrue(run.summary["reason"])
        self.assertEqual(run.summary["exit_code"], 3)
        self.assertEqual(run.summary["outlived"], 1)

    def test_sudo_passes_sigterm_on_and_the_command_gets_it_once(self):
        command, heard = self.report(2)
        out = self.dir / "run.jsonl"
        sudo = subprocess.Popen(["sudo", "-n", BPFMON, "-q", "--no-store", "-o", str(out), "--", *command], stdout=subprocess.DEVNULL)
        self.addCleanup(sudo.kill)
        wait_for(heard.exists, "the command's readiness")
        sudo.send_signal(signal.SIGTERM)
        self.wait_for_words(heard, ["TERM"])
        self.assertEqual(sudo.wait(timeout=60), 7)
        self.assertEqual(self.words(heard), ["TERM"])

    def test_a_stop_of_the_command_alone_does_not_end_the_run(self):
        live, heard = self.start()
        _, _, command = live.roles()
        os.kill(command, signal.SIGSTOP)
        live.wait_for_samples(3)
        self.assertEqual(stat_of(command)[0], "T")  # we do not undo what somebody else did
        os.kill(command, signal.SIGCONT)
        self.check_end(live, heard, [])

    def test_continuing_bpfmon_continues_the_command(self):
        live, heard = self.start(process_group=0)
        self.stop_both(live)
        os.kill(live.pid, signal.SIGCONT)
        self.check_end(live, heard, [])

    def test_a_command_that_was_stopped_again_before_bpfmon_went_on_stays_stopped(self):
        live, heard = self.start(process_group=0)
        command = self.stop_both(live)
        os.kill(command, signal.SIGCONT)  # of the whole job: bpfmon gets its own below
        wait_for(lambda: stat_of(command)[0] != "T", "the command to go on")
        os.kill(command, signal.SIGTSTP)
        wait_for(lambda: stat_of(command)[0] == "T", "the command to stop again")
        os.kill(live.pid, signal.SIGCONT)
        live.wait_for_samples(3)
        self.assertEqual([stat_of(pid)[0] for pid in (command, live.pid)], ["T", "T"])
        os.kill(live.pid, signal.SIGCONT)
        self.check_end(live, heard, [])

    def stop_both(self, live):
        """As Ctrl-Z does; the stopped command's pid. In a group whose parent is of another group of the
        session: the kernel stops no orphaned one."""
        _, _, command = live.roles()
        os.kill(command, signal.SIGTSTP)
        wait_for(lambda: [stat_of(pid)[0] for pid in (command, live.pid)] == ["T", "T"], "both to stop")
        return command


class Groups(SignalCase):
    """Who signals all processes at once means each of them once."""

    def check_timeout(self, script, code):
        """timeout(1) signals its child, then its group: bpfmon twice, at nearly the same time. An ALRM
        is to it what the end of its time is: the command is ready by then, however slow we start."""
        for _ in range(5):
            out = self.dir / f"run-{time.monotonic_ns()}.jsonl"
            ready = self.dir / f"ready-{time.monotonic_ns()}"
            argv = ["timeout", "60", BPFMON, "-q", "-o", str(out), "--", "sh", "-c", script, str(ready)]
            timeout = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
            self.addCleanup(timeout.wait)
            self.addCleanup(timeout.kill)
            wait_for(ready.exists, "the command's readiness")
            timeout.send_signal(signal.SIGALRM)
            self.assertEqual(timeout.wait(timeout=60), 124)
            (summary,) = [line for line in read_lines(out) if line["kind"] == "summary"]
            self.assertTrue(summary["complete"], summary)
            self.assertEqual((summary["exit_code"], summary["signal"]), code)

    def test_timeout_ends_the_command_and_the_account_is_complete(self):
        self.check_timeout('touch "$0"; exec sleep 60', (None, signal.SIGTERM))

    def test_timeout_leaves_a_command_the_time_to_clean_up(self):
        script = 'trap "sleep 0.3; exit 9" TERM; sleep 60 & touch "$0"; wait'
        self.check_timeout(script, (9, None))
