# SPDX-License-Identifier: BSD-2-Clause
"""How long bpfmon top takes to answer a key, at 1,000 live processes."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from runner import Broken

import selfcost

PAGE_DOWN, PAGE_UP, QUIT = b"\x1b[6~", b"\x1b[5~", b"q"
QUIET = 0.3  # the picture before the next key is whole
PATIENCE = 30


def read_until_quiet(fd, quiet):
    """All that comes until nothing has for so long."""
    text = b""
    while select.select([fd], [], [], quiet)[0]:
        with contextlib.suppress(OSError):
            read = os.read(fd, 1 << 16)
            if read:
                text += read
                continue
        break
    return text


def answer_time(fd, key):
    """Seconds from the key to the first bytes of the picture that answers it."""
    read_until_quiet(fd, 0)
    start = time.monotonic()
    os.write(fd, key)
    if not select.select([fd], [], [], PATIENCE)[0]:
        raise Broken(f"bpfmon top has not answered a key within {PATIENCE} s")
    return time.monotonic() - start


def open_top(runner, name):
    """Its process and terminal, when the run is shown."""
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(runner.env, TERM="xterm-256color")
        os.execv(runner.bpfmon, [runner.bpfmon, "top", name])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 180, 0, 0))
    text, until = b"", time.monotonic() + PATIENCE
    while b"live" not in text or b"quit" not in text:
        text += read_until_quiet(fd, QUIET)
        if time.monotonic() > until:
            raise Broken(f"bpfmon top shows no run: {text[-300:]!r}")
    return pid, fd


def presses(runner, count):
    pid, fd = open_top(runner, "keys")
    try:
        times = []
        for i in range(count):
            read_until_quiet(fd, QUIET)
            times.append(1e3 * answer_time(fd, PAGE_UP if i // 8 % 2 else PAGE_DOWN))
        os.write(fd, QUIT)
        return times
    finally:
        os.kill(pid, signal.SIGTERM)
        os.close(fd)
        os.waitpid(pid, 0)


def keys(runner, build, count, say):
    """While the view is also drawn anew for each sample."""
    hold = [os.path.join(build, "threadhold"), "-p", "1000", "600"]
    argv = [runner.bpfmon, "-q", "-i", "1", "--name", "keys", "--", *hold]
    with subprocess.Popen(argv, env=runner.env, stdout=subprocess.DEVNULL, process_group=0) as run:
        try:
            time.sleep(3)
            times = presses(runner, count)
        finally:
            os.killpg(run.pid, signal.SIGTERM)
            run.wait()
    say(f"{count} keys")
    return [selfcost.figure("a key of top, 1,000 processes", times, "ms", 50),
            selfcost.figure("the slowest of them", [max(times)], "ms", 50)]
