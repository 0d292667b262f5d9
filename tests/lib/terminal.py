# SPDX-License-Identifier: BSD-2-Clause
"""A terminal with a program on it, used as a person would."""

import contextlib
import os
import pty
import select
import signal
import time

from lib.live import PATIENCE, descendants_of, send

CTRL_C, CTRL_Z = b"\x03", b"\x1a"


class Terminal:
    """Runs a command as the leader of a session with a new pty."""

    def __init__(self, case, argv, env=None):
        self.text = b""
        self.seen = 0
        self.pid, self.fd = pty.fork()
        if not self.pid:
            with contextlib.suppress(OSError):
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
                os.execvpe(argv[0], argv, os.environ if env is None else env)
            os._exit(120)
        self.status = None
        case.addCleanup(self.clean)

    def clean(self):
        if self.status is None:
            for pid in (*descendants_of(self.pid), self.pid):
                send(pid, signal.SIGKILL, signal.SIGCONT)
            os.waitpid(self.pid, 0)
        self.hang_up()

    def hang_up(self):
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    def read(self):
        """Reads the available output after a short wait; False at the end."""
        if self.fd < 0:
            return False
        if select.select([self.fd], [], [], 0.05)[0]:
            try:
                got = os.read(self.fd, 65536)
            except OSError:
                return False
            self.text += got
            return bool(got)
        return True

    def type(self, data):
        os.write(self.fd, data if isinstance(data, bytes) else data.encode())

    def expect(self, *wanted):
        """Reads until one of these texts follows the last expected one; returns which."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for word in wanted:
                at = self.text.find(word.encode(), self.seen)
                if at >= 0:
                    self.seen = at + len(word)
                    return word
            if not self.read():
                break
        raise AssertionError(f"not on the terminal: {wanted}; it has {self.text[-2000:]!r}")

    def wait(self):
        """Reads until the command has ended; its exit code, or minus its signal."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.status = status
                while self.fd >= 0 and select.select([self.fd], [], [], 0)[0] and self.read():
                    pass
                return os.waitstatus_to_exitcode(status)
            if not self.read():
                time.sleep(0.02)
        raise AssertionError(f"the program on the terminal does not end: {self.text[-2000:]!r}")
