# SPDX-License-Identifier: BSD-2-Clause
"""One run of a command: wall time, CPU, what the workload and bpfmon say about it."""

import json
import os
import select
import signal
import time

# The command must see the same surroundings with and without the monitor. The jobserver of an
# outer make would reach the inner one; after `sudo make bench` a monitor may hand the command to
# the user who called sudo, which the bare run does not.
DROPPED = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES",
           "SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND", "BENCH_OUT")


class Broken(Exception):
    """A run from which no cost follows: it failed, hung or left no result."""


class Runner:
    def __init__(self, bpfmon, tmp, timeout=120):
        self.bpfmon = bpfmon
        self.tmp = tmp
        self.timeout = timeout
        self.result = os.path.join(tmp, "workload.json")
        self.trace = os.path.join(tmp, "bpfmon.jsonl")
        self.errors = os.path.join(tmp, "stderr.txt")
        self.env = {k: v for k, v in os.environ.items() if k not in DROPPED}
        self.env["LC_ALL"] = "C"
        self.env["BENCH_OUT"] = self.result
        self.env["BPFMON_STORE"] = os.path.join(tmp, "store.sqlite")  # not the user's own

    def run(self, argv, reports=True):
        """Runs argv; {"whole", "whole_cpu"} and, of a workload that reports, "seconds", "cpu"."""
        remove(self.result)
        wall, status, usage = self.spawn(argv)
        if status != 0:
            raise Broken(f"`{shown(argv)}` ended with {ending(status)}{self.last_words()}")
        run = {"whole": wall, "whole_cpu": usage.ru_utime + usage.ru_stime}
        if reports:
            run.update(self.read_result(argv))
        return run

    def monitored(self, interval, argv, reports=True, options=()):
        """The same under bpfmon; "summary" is the last summary line of its output."""
        remove(self.trace)
        full = [self.bpfmon, "-i", interval, "-o", self.trace, *options, "--"] + argv
        run = self.run(full, reports)
        run["summary"] = self.read_summary(full)
        return run

    def spawn(self, argv):
        actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                   (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                   (os.POSIX_SPAWN_OPEN, 2, self.errors,
                    os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)]
        start = time.monotonic()
        try:
            pid = os.posix_spawnp(argv[0], argv, self.env, file_actions=actions, setpgroup=0)
        except OSError as e:
            raise Broken(f"`{shown(argv)}` cannot be started: {e.strerror}") from e
        try:
            self.wait_until_ended(pid, argv)
        except BaseException:
            stop(pid)
            raise
        _, status, usage = os.wait4(pid, 0)
        return time.monotonic() - start, status, usage

    def wait_until_ended(self, pid, argv):
        fd = os.pidfd_open(pid)
        try:
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            if not poll.poll(self.timeout * 1000):
                raise Broken(f"`{shown(argv)}` did not end within {self.timeout} s")
        finally:
            os.close(fd)

    def read_result(self, argv):
        try:
            with open(self.result, encoding="ascii") as f:
                said = json.load(f)
            result = {"seconds": float(said["seconds"]), "cpu": float(said["cpu_seconds"])}
        except (OSError, ValueError, KeyError, TypeError) as e:
            raise Broken(f"`{shown(argv)}` left no time of the workload ({e})") from e
        if result["seconds"] <= 0:
            raise Broken(f"`{shown(argv)}` reported no time at all")
        return result

    def read_summary(self, argv):
        try:
            with open(self.trace, encoding="utf-8") as f:
                lines = [line for line in f if '"summary"' in line]
        except (OSError, UnicodeDecodeError) as e:
            raise Broken(f"`{shown(argv)}` left no readable output ({e})") from e
        for line in reversed(lines):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and record.get("kind") == "summary":
                return record
        raise Broken(f"`{shown(argv)}` left no summary line in its output")

    def last_words(self):
        try:
            with open(self.errors, encoding="utf-8", errors="replace") as f:
                lines = f.read().strip().splitlines()
        except OSError:
            lines = []
        return f': "{lines[-1][:200]}"' if lines else ""


def stop(pid):
    """Ends a run that hangs: the group politely, so that bpfmon can let go, then by force."""
    for sig, wait in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(pid, sig)
        except ProcessLookupError:
            pass
        end = time.monotonic() + wait
        while time.monotonic() < end:
            try:
                if os.waitpid(pid, os.WNOHANG)[0]:
                    return
            except ChildProcessError:
                return
            time.sleep(0.05)


def remove(path):
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def shown(argv):
    text = " ".join(argv)
    return text if len(text) <= 160 else text[:157] + "..."


def ending(status):
    code = os.waitstatus_to_exitcode(status)
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
