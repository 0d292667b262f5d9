# SPDX-License-Identifier: BSD-2-Clause
"""The processes of bpfmon share no memory: what one knows of another came as a message."""

import os
import pathlib
import select
import signal
import socket
import struct
import time

from lib.live import LiveCase, is_alive, send, wait_for

SCM_CREDENTIALS = 2
LONG = 100 << 10  # bytes of an argument: five of them are more than a socket holds


def shared_mappings(pid):
    """Of memory; the kernel's maps are named for what they are."""
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return [line for line in lines if line.split()[1].endswith("s") and "bpf" not in line]


def read_writers(sock):
    """Until the end: what came, and from which process each piece."""
    pieces = []
    while True:
        text, rights, _, _ = sock.recvmsg(1 << 16, 1 << 10)
        if not text:
            return pieces
        pids = [struct.unpack("3i", data)[0] for _, kind, data in rights if kind == SCM_CREDENTIALS]
        pieces.append((text.decode(errors="replace"), pids[0]))


class Messages(LiveCase):
    def start(self, options=(), **popen):
        command, stop, beat = self.work_until_told()
        live = self.live(command, ["-i", "0.05", *options], **popen)
        roles = live.roles()
        wait_for(beat.exists, "the command's work")
        live.wait_for_samples()
        return live, roles, stop

    def test_no_two_processes_share_memory(self):
        live, (collector, recorder, _), stop = self.start(["--marks"])
        for pid in (live.pid, collector, recorder):
            self.assertEqual(shared_mappings(pid), [])
        stop.touch()
        self.assertEqual(live.finish().code, 43)

    def test_the_launcher_shows_the_summary_that_no_recorder_can_show(self):
        ours, its = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        with ours:
            with its:
                live, (collector, recorder, _), stop = self.start(stderr=its)
            send(recorder, signal.SIGKILL)
            wait_for(lambda: not is_alive(recorder), "the recorder's end")
            stop.touch()
            pieces = read_writers(ours)
        self.assertEqual(live.finish().code, 43)
        summary = [(text, pid) for text, pid in pieces if "INCOMPLETE: the recorder was killed" in text]
        self.assertEqual([pid for _, pid in summary], [live.pid], pieces)
        self.assertIn("the command ended with 43", "".join(text for text, pid in pieces if pid == live.pid))
        self.assertNotIn(collector, [pid for _, pid in pieces])

    def test_a_summary_that_nobody_reads_keeps_the_launcher_from_no_signal(self):
        read, write = os.pipe()
        os.set_blocking(write, False)
        live, (collector, recorder, _), stop = self.start(stderr=write)
        while select.select([], [write], [], 0)[1]:
            os.write(write, b"x" * 4096)
        send(recorder, signal.SIGKILL)
        wait_for(lambda: not is_alive(recorder), "the recorder's end")
        stop.touch()
        wait_for(lambda: not is_alive(collector), "the collector's end")
        for _ in range(3):
            live.process.send_signal(signal.SIGQUIT)
            time.sleep(0.2)  # what comes at once from one sender counts as one
        wait_for(lambda: live.process.poll() is not None, "the end", 9)  # it waits 10 s for a reader
        self.assertEqual(live.process.wait(), 43)
        os.close(read)
        os.close(write)

    def test_quiet_shows_no_summary_either(self):
        live, (_, recorder, _), stop = self.start(["-q"])
        send(recorder, signal.SIGKILL)
        wait_for(lambda: not is_alive(recorder), "the recorder's end")
        stop.touch()
        run = live.finish()
        self.assertEqual(run.code, 43)
        self.assertNotIn("INCOMPLETE", run.stderr)

    def test_a_command_longer_than_a_socket_holds_is_recorded_whole(self):
        words = ["sh", "-c", "exit 3", *(letter * LONG for letter in "abcdefgh")]
        run = self.live(words, ["-i", "1"]).finish()
        self.assertEqual(run.code, 3, run.stderr)
        self.assertEqual(run.meta["command"], words)
        self.assertTrue(run.summary["complete"])

    def test_bytes_that_are_no_text_are_reported(self):
        run = self.live([b"sh", b"-c", b"exit 4", b"caf\xe9"], ["-i", "1"]).finish()
        self.assertEqual(run.code, 4, run.stderr)
        self.assertEqual(run.meta["command"][3], "caf\ufffd")
        self.assertTrue(run.meta["lossy"])
