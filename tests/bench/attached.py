# SPDX-License-Identifier: BSD-2-Clause
"""What attaching to a cgroup costs: those outside of it, and a sample of those inside."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time

from runner import Broken

PATIENCE = 30		# seconds


def mount():
    """Where a cgroup can be made that is nobody's: version 2 where there is one."""
    for path in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup", "/sys/fs/cgroup/cpuacct"):
        if os.path.exists(f"{path}/cgroup.procs"):
            return path
    raise Broken("no cgroups are mounted")


@contextlib.contextmanager
def group():
    """A cgroup of our own; the processes in it at the end are ended."""
    path = pathlib.Path(mount(), f"bpfmon-bench-{os.getpid()}")
    path.mkdir()
    try:
        yield path
    finally:
        end = time.monotonic() + PATIENCE
        while path.exists() and time.monotonic() < end:
            for pid in (path / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            with contextlib.suppress(OSError):
                path.rmdir()
            time.sleep(0.02)


def start_in(path, argv):
    """Starts a program that is in the cgroup from its first instruction on."""
    shell = ["sh", "-c", 'echo 0 >"$0/cgroup.procs"; exec "$@"', str(path), *argv]
    return subprocess.Popen(shell, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise Broken(f"in vain waited for {what}")
        time.sleep(0.01)


@contextlib.contextmanager
def watcher(runner, path, interval):
    """bpfmon, attached to the cgroup; its output is complete when this has ended."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(runner.trace)
    argv = [runner.bpfmon, "attach", "-q", "-i", interval, "-o", runner.trace, "--cgroup", str(path)]
    process = subprocess.Popen(argv, env=runner.env, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_until(lambda: os.path.exists(runner.trace) and os.path.getsize(runner.trace),
                   "the attachment")
        yield argv
    finally:
        process.terminate()
        process.wait()
    if process.returncode:
        raise Broken(f"bpfmon attach ended with {process.returncode}")


def outside(runner, argv):
    """One run of a workload that has nothing to do with the cgroup that is followed."""
    with group() as path:
        sleeper = start_in(path, ["sleep", "600"])
        try:
            wait_until(lambda: (path / "cgroup.procs").read_text(), "the sleeper")
            with watcher(runner, path, "1"):
                return runner.run(argv)
        finally:
            sleeper.kill()
            sleeper.wait()


def inside(runner, programs, tasks, seconds):
    """The summary of an attachment to a cgroup with these programs in it, @tasks in all."""
    with group() as path:
        started = [start_in(path, argv) for argv in programs]
        try:
            tids = path / ("cgroup.threads" if (path / "cgroup.threads").exists() else "tasks")
            wait_until(lambda: len(tids.read_text().split()) == tasks, f"{tasks} tasks")
            with watcher(runner, path, "0.02") as argv:
                time.sleep(seconds)
        finally:
            for process in started:
                process.kill()
                process.wait()
    return runner.read_summary(argv)
