# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon can be ended at any moment, whatever hangs: an output without a reader, a terminal, a role."""

import contextlib
import fcntl
import json
import os
import pty
import signal
import subprocess
import termios
import threading
import time

from lib.bpfmon import BPFMON, truth
from lib.live import LiveCase, children_of, executable_of, is_alive, send, stat_of, wait_for

SAMPLED = True
REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
ECHO_SECONDS = 0.1  # two of the same signal from one sender within 50 ms are one request
PROCESSES = 2000  # their records are more than a pipe and the sockets hold
DEFAULT_ACTIONS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


def default_signals():
    """What a shell starts: the tests' own parent may ignore some."""
    for sig in DEFAULT_ACTIONS:
        signal.signal(sig, signal.SIG_DFL)


class HangCase(LiveCase):
    def setUp(self):
        super().setUp()
        self.fifo = self.dir / "fifo"
        os.mkfifo(self.fifo)
        self.said = self.dir / "said"
        self.ran = self.dir / "ran"
        self.runtime = self.dir / "runtime"  # where the socket for marks gets its folder
        self.runtime.mkdir(mode=0o700)

    def begin(self, command, options, **popen):
        """A bpfmon whose stderr goes to a file, which nothing has to read."""
        with self.said.open("wb") as said:
            popen.setdefault("stderr", said)
            popen.setdefault("preexec_fn", default_signals)
            popen.setdefault("env", {**os.environ, "XDG_RUNTIME_DIR": str(self.runtime)})
            return self.live(command, options, out=False, **popen)

    def wait_for_line(self, words):
        wait_for(lambda: words in self.said.read_text(), f"'{words}' on stderr")

    def begin_waiting(self, *options, **popen):
        """One that waits for a reader of its output; its roles."""
        live = self.begin(["touch", str(self.ran)], ["--marks", *options, "-o", str(self.fifo)], **popen)
        self.wait_for_line("waiting for a reader of")
        live.remember()
        return live, live.known - {live.pid}

    def assert_all_gone(self, pids):
        wait_for(lambda: not any(is_alive(pid) for pid in pids), "the end of all its processes")
        wait_for(lambda: not any(self.runtime.iterdir()), "the end of its folder")

    def wait_for_end(self, live, code):
        self.assertEqual(live.process.wait(timeout=60), code, self.said.read_text())

    def reader(self, pipe_bytes=4096):
        fd = os.open(self.fifo, os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, pipe_bytes)
        self.addCleanup(self.close, fd)
        return fd

    def wait_until_full(self, fd):
        """Until the pipe has something, and for half a second no more of it."""
        seen = []

        def is_full():
            seen.append(int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, bytes(4)), "little"))
            time.sleep(0.05)
            return seen[-1] and len(seen) > 10 and len(set(seen[-10:])) == 1

        wait_for(is_full, "the pipe to be full")

    def close(self, fd):
        with contextlib.suppress(OSError):
            os.close(fd)

    def read_all(self, fd):
        """What comes until its writers have closed it, as JSON."""
        os.set_blocking(fd, True)
        text = b""
        while got := os.read(fd, 1 << 16):
            text += got
        return [json.loads(line) for line in text.splitlines()]

    def request(self, live, sig):
        """Sends it, and waits for longer than an echo takes."""
        live.process.send_signal(sig)
        time.sleep(ECHO_SECONDS)

    def end_with_three(self, live, sig, pids, code):
        """The first two change nothing, the second says why, and the third is the end."""
        self.request(live, sig)
        self.assertIsNone(live.process.poll())
        live.process.send_signal(sig)
        self.wait_for_line("a third signal")
        self.assertIsNone(live.process.poll())
        time.sleep(ECHO_SECONDS)
        live.process.send_signal(sig)
        self.wait_for_end(live, code)
        self.assert_all_gone(pids)


class BeforeTheCommand(HangCase):
    def test_each_request_ends_a_launch_that_waits_for_a_reader(self):
        for sig in REQUESTS:
            other = self.dir / "other.jsonl"
            live, pids = self.begin_waiting("-o", str(other))
            self.assertTrue(any(self.runtime.iterdir()))
            self.assertGreaterEqual(len(pids), 4)  # two roles, the command's process, the keeper
            live.process.send_signal(sig)
            self.wait_for_end(live, -sig)
            self.assert_all_gone(pids)
            self.assertFalse(self.ran.exists())
            self.assertFalse(other.exists())

    def test_a_launch_that_fails_ends_in_a_pid_namespace_that_begins_with_the_command(self):
        for words, code in ((["-o", "/nonexistent/run", "--", "true"], 125), (["-q", "--", "true"], 125)):
            done = subprocess.run(["unshare", "--pid", BPFMON, *words], stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (code, 1), done.stderr)

    def test_a_killed_launcher_leaves_no_role_that_waits_for_a_reader(self):
        live, pids = self.begin_waiting()
        live.process.kill()
        self.wait_for_end(live, -signal.SIGKILL)
        self.assert_all_gone(pids)
        self.assertFalse(self.ran.exists())

    def test_a_reader_that_comes_late_gets_the_whole_run(self):
        live, _ = self.begin_waiting()
        lines = self.read_all(os.open(self.fifo, os.O_RDONLY))
        self.wait_for_end(live, 0)
        self.assertTrue(self.ran.exists())
        self.assertEqual([lines[0]["kind"], lines[-1]["kind"]], ["meta", "summary"])
        self.assertTrue(lines[-1]["complete"])
        self.assertEqual(self.said.read_text().count("waiting for a reader"), 1)

    def test_a_reader_that_is_there_is_not_mentioned(self):
        fd = self.reader(1 << 16)
        live = self.begin(["true"], ["-o", str(self.fifo)])
        self.wait_for_end(live, 0)
        self.assertNotIn("waiting", self.said.read_text())
        self.assertEqual(self.read_all(fd)[-1]["kind"], "summary")

    def test_a_role_that_does_not_end_is_killed(self):
        live, pids = self.begin_waiting()
        roles = [pid for pid in pids if executable_of(pid) == os.path.realpath(BPFMON)]
        for pid in roles:
            send(pid, signal.SIGSTOP)
        live.process.send_signal(signal.SIGTERM)
        self.wait_for_end(live, -signal.SIGTERM)
        for pid in roles:
            send(pid, signal.SIGCONT)  # the keeper is nobody's to kill
        self.assert_all_gone(pids)
        self.assertFalse(self.ran.exists())

    def test_requests_end_a_command_whose_execution_hangs(self):
        live, pids = self.begin_waiting()
        command = next(pid for pid in pids if stat_of(pid)[3] != pid and executable_of(pid) == os.path.realpath(BPFMON))
        send(command, signal.SIGSTOP)  # in the place of a file system that does not answer
        self.reader(1 << 16)
        time.sleep(1.5)  # any length is right; mostly the launcher waits for the execution by then
        wait_for(lambda: self.request(live, signal.SIGTERM) or not is_alive(command), "the end of the command's process")
        self.assertLess(live.process.wait(timeout=60), 0)
        self.assert_all_gone(pids)
        self.assertFalse(self.ran.exists())

    def test_nohup_keeps_a_launch_from_ending(self):
        live, _ = self.begin_waiting(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.request(live, signal.SIGHUP)
        lines = self.read_all(os.open(self.fifo, os.O_RDONLY))
        self.wait_for_end(live, 0)
        self.assertTrue(lines[-1]["complete"])


class AfterTheCommand(HangCase):
    def run_unread(self, options, **popen):
        """A run whose command has ended, and whose recorder cannot write; its roles."""
        go = self.dir / "go"
        script = 'while [ ! -e "$0" ]; do sleep 0.01; done; "$1" "$2"; exit 43'
        argv = ["sh", "-c", script, str(go), truth("forkonly"), str(PROCESSES)]
        live = self.begin(argv, ["-q", "-i", "0.05", *options], **popen)
        collector, recorder, command = live.roles()
        go.touch()
        wait_for(lambda: not is_alive(command), "the command's end")
        return live, (collector, recorder)

    def test_a_third_request_ends_a_run_with_an_unread_output(self):
        for sig in REQUESTS:
            fd = self.reader()
            live, pids = self.run_unread(["-o", str(self.fifo)])
            self.end_with_three(live, sig, pids, 43)
            os.close(fd)
            self.said.unlink()
            (self.dir / "go").unlink()

    def test_a_third_request_ends_a_run_with_an_unread_stdout(self):
        live, pids = self.run_unread(["-o", "-"])
        self.end_with_three(live, signal.SIGINT, pids, 43)

    def test_different_requests_count_together(self):
        self.reader()
        live, pids = self.run_unread(["-o", str(self.fifo)])
        for sig in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            self.request(live, sig)
        self.wait_for_end(live, 43)
        self.assert_all_gone(pids)

    def test_an_output_that_is_read_late_is_whole(self):
        fd = self.reader()
        live, pids = self.run_unread(["-o", str(self.fifo)])
        self.request(live, signal.SIGINT)
        lines = self.read_all(fd)
        self.wait_for_end(live, 43)
        self.assertEqual(lines[-1]["exit_code"], 43)
        self.assertGreater(len([line for line in lines if line["kind"] == "process"]), PROCESSES / 2)
        self.assert_all_gone(pids)

    def test_a_killed_launcher_leaves_no_role_with_an_unread_output(self):
        self.reader()
        live, pids = self.run_unread(["-o", str(self.fifo)])
        live.process.kill()
        self.assert_all_gone(pids)
        self.assertIn("nothing reads", self.said.read_text())

    def test_a_killed_launcher_leaves_no_role_with_an_unread_stdout(self):
        live, pids = self.run_unread(["-o", "-"])
        live.process.kill()
        self.assert_all_gone(pids)

    def test_a_killed_launcher_leaves_no_collector_of_a_recorder_that_is_stopped(self):
        go = self.dir / "go"
        script = 'while [ ! -e "$0" ]; do sleep 0.01; done; "$1" "$2"; exit 43'
        live = self.begin(["sh", "-c", script, str(go), truth("forkonly"), str(PROCESSES)], ["-q", "-o", str(self.dir / "o.jsonl")])
        collector, recorder, command = live.roles()
        send(recorder, signal.SIGSTOP)
        go.touch()
        wait_for(lambda: not is_alive(command), "the command's end")
        live.process.kill()
        wait_for(lambda: not is_alive(collector), "the collector's end")
        self.assertTrue(is_alive(recorder))
        send(recorder, signal.SIGCONT)
        self.assert_all_gone([recorder])

    def test_a_killed_launcher_leaves_no_recorder_of_a_collector_that_is_stopped(self):
        out = self.dir / "o.jsonl"
        live = self.begin(["sleep", "60"], ["-q", "-i", "0.05", "-o", str(out)])
        collector, recorder, command = live.roles()
        wait_for(out.exists, "the first line")
        send(collector, signal.SIGSTOP)
        live.process.kill()
        wait_for(lambda: not is_alive(recorder), "the recorder's end")
        self.assertTrue(is_alive(collector) and is_alive(command))
        self.assertFalse(self.assert_whole_lines(out)[-1]["complete"])
        send(collector, signal.SIGCONT)
        self.assert_all_gone([collector])
        send(command, signal.SIGKILL)


class DuringTheCommand(HangCase):
    def test_a_killed_launcher_leaves_no_role_with_an_unread_output(self):
        fd = self.reader()
        command, stop, beat = self.work_until_told()
        live = self.begin(command, ["-q", "-i", "0.01", "-o", str(self.fifo)])
        collector, recorder, worker = live.roles()
        self.wait_until_full(fd)
        live.process.kill()
        self.assert_all_gone([collector, recorder])
        self.assert_goes_on(beat)
        stop.touch()
        wait_for(lambda: not is_alive(worker), "the command's end")

    def test_two_of_sigterm_and_one_more_request_end_it_and_leave_the_command(self):
        fd = self.reader()
        command, stop, beat = self.work_until_told()
        ignoring = ["sh", "-c", 'trap "" TERM; exec "$@"', "sh", *command]
        live = self.begin(ignoring, ["-q", "-i", "0.01", "-o", str(self.fifo)])
        pids = live.roles()[:2]
        self.wait_until_full(fd)
        for sig in (signal.SIGTERM, signal.SIGTERM, signal.SIGINT):
            self.request(live, sig)
        self.wait_for_end(live, -signal.SIGINT)
        self.assert_all_gone(pids)
        self.assert_goes_on(beat)
        stop.touch()

    def test_the_command_s_stdout_and_stderr_block_as_before(self):
        script = "import fcntl, os, sys\nfor fd in (1, 2): print(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK)"
        read, write = os.pipe()
        live = self.begin(["sh", "-c", 'sleep 0.2; exec python3 -c "$0" >"$1"', script, str(self.ran)], ["-o", "-"], stdout=write, stderr=write)
        os.close(write)
        drain = threading.Thread(target=self.read_raw, args=(read,))
        drain.start()
        self.wait_for_end(live, 0)
        drain.join()
        self.assertEqual(self.ran.read_text().split(), ["0", "0"])

    def read_raw(self, fd):
        while os.read(fd, 1 << 16):
            pass
        os.close(fd)


class Terminals(HangCase):
    """A terminal that was stopped (^S) takes nothing."""

    def stopped(self):
        master, slave = pty.openpty()
        self.addCleanup(self.close, master)
        self.addCleanup(self.close, slave)
        termios.tcflow(slave, termios.TCOOFF)
        return master, slave

    def run_on(self, slave, options=()):
        go = self.dir / "go"
        script = 'while [ ! -e "$0" ]; do sleep 0.01; done; exit 43'
        live = self.begin(["sh", "-c", script, str(go)], options, stderr=slave)
        collector, recorder, command = live.roles()
        go.touch()
        wait_for(lambda: not is_alive(command), "the command's end")
        wait_for(lambda: not is_alive(collector), "the collector's end")
        self.assertTrue(is_alive(recorder))
        return live, (collector, recorder)

    def test_a_third_request_ends_a_run_that_cannot_show_its_summary(self):
        for sig in REQUESTS:
            _, slave = self.stopped()
            live, pids = self.run_on(slave)
            for _ in range(3):
                self.request(live, sig)
                time.sleep(1.5)  # what the launcher says is not taken, either, for a second
            self.wait_for_end(live, 43)
            self.assert_all_gone(pids)
            (self.dir / "go").unlink()

    def test_a_killed_launcher_leaves_no_recorder_with_a_summary(self):
        _, slave = self.stopped()
        live, pids = self.run_on(slave)
        live.process.kill()
        self.assert_all_gone(pids)

    def test_a_terminal_that_goes_on_shows_the_summary(self):
        master, slave = self.stopped()
        live, pids = self.run_on(slave)
        termios.tcflow(slave, termios.TCOON)
        self.wait_for_end(live, 43)
        os.set_blocking(master, False)
        self.assertIn(b"the command ended with 43", os.read(master, 1 << 16))
        self.assert_all_gone(pids)


class Attachments(HangCase):
    def attach(self, options):
        target = subprocess.Popen(["sleep", "60"])
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        with self.said.open("wb") as said:
            process = subprocess.Popen([BPFMON, "attach", "--pid", str(target.pid), *options], stderr=said,
                                       stdout=subprocess.DEVNULL, preexec_fn=default_signals)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def roles_of(self, process):
        pids = wait_for(lambda: len(found := children_of(process.pid)) >= 2 and found, "its roles")
        self.addCleanup(self.kill, pids)
        return pids

    def kill(self, pids):
        for pid in pids:
            if executable_of(pid) == os.path.realpath(BPFMON):
                send(pid, signal.SIGKILL)

    def test_each_request_ends_an_attachment_that_waits_for_a_reader(self):
        for sig in REQUESTS:
            process = self.attach(["-o", str(self.fifo)])
            self.wait_for_line("waiting for a reader of")
            pids = self.roles_of(process)
            process.send_signal(sig)
            self.assertEqual(process.wait(timeout=60), -sig)
            self.assert_all_gone(pids)

    def test_a_third_request_ends_an_attachment_with_an_unread_output(self):
        fd = self.reader()
        process = self.attach(["-q", "-i", "0.01", "-o", str(self.fifo)])
        pids = self.roles_of(process)
        recorder = next(pid for pid in pids if stat_of(pid)[3] == pid)
        self.wait_until_full(fd)
        for pid in pids:
            send(pid, signal.SIGSTOP)
        self.assertTrue(is_alive(recorder))
        for sig in (signal.SIGINT, signal.SIGTERM):
            process.send_signal(sig)
            time.sleep(ECHO_SECONDS)
        self.wait_for_line("a third signal")
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(timeout=60), -signal.SIGHUP)
        self.assert_all_gone(pids)
