# SPDX-License-Identifier: BSD-2-Clause
"""The N-th system call of a kind fails: a subcommand ends in one line or works; a role does no harm to the command."""

import errno
import json
import os

from lib import sweep
from lib.exports import HOSTILE
from lib.faults import COLLECTOR, LAUNCHER, RECORDER, Faulty
from lib.live import LiveCase
from test_out_of_memory import RUN

SAMPLED = True
CODE = 7
FIRST = sweep.often(2, 40)  # so many calls of each kind, or until there is no such call
# what may fail, and how: want of descriptors, memory and room, signals aside
OPENING = {name: errno.EMFILE for name in ("open", "open64", "openat", "openat64", "fopen", "socket", "socketpair", "pipe2", "dup", "dup2", "eventfd")}
OPENING |= {"signalfd": errno.EMFILE, "epoll_create1": errno.EMFILE, "timerfd_create": errno.EMFILE, "syscall": errno.EMFILE, "mkostemp": errno.EMFILE}
MEMORY = {name: errno.ENOMEM for name in ("mmap", "fork", "pthread_create", "epoll_ctl", "bind", "setsockopt", "timerfd_settime")}
FILES = {"write": errno.ENOSPC, "pwrite64": errno.EIO, "read": errno.EIO, "pread64": errno.EIO, "fsync": errno.EIO, "fdatasync": errno.EIO}
FILES |= {"ftruncate64": errno.EIO, "rename": errno.EIO, "renameat2": errno.EIO, "fchmod": errno.EPERM, "fstat": errno.EIO, "mkdirat": errno.ENOSPC}
FILES |= {"send": errno.ENOBUFS, "recv": errno.EIO, "poll": errno.ENOMEM, "recvmsg": errno.ENOMEM, "getrandom": errno.EIO, "fchdir": errno.EACCES}
CALLS = OPENING | MEMORY | FILES


class CallCase(LiveCase):
    def sweep_calls(self, command, role, check, calls=CALLS):
        for name, error in sweep.part(calls.items(), 3):
            for at in range(1, FIRST + 1):
                got = command.run(name, at, role, error)
                with self.subTest(words=command.words, call=name, at=at, role=role):
                    check(got)
                if not got.has_failed:
                    break


class Subcommands(CallCase):
    def each(self, *words):
        command = Faulty(self.dir, words)
        whole = command.run()
        self.assertEqual(whole.code, 0, whole.stderr)

        def check(got):
            if got.same(whole):
                return
            self.assertEqual((got.code, got.stderr.count(b"\n")), (2, 1), got)
            self.assertEqual(got.files, {})

        self.sweep_calls(command, LAUNCHER, check)

    def test_what_reads_a_file(self):
        self.each("show", RUN)
        self.each("export", "-q", "-f", "json", "-o", "out", HOSTILE)
        self.each("export", "-q", "-f", "prmon", "-o", "out", HOSTILE)
        self.each("compare", RUN, RUN)

    def test_metrics(self):
        self.each("metrics")


class Roles(CallCase):
    def roles(self, roles, *options, calls=CALLS):
        runtime = self.dir / "runtime"
        runtime.mkdir(mode=0o700, exist_ok=True)
        words = ["--store", "kept.sqlite", "-o", "out.jsonl", "-i", "0.05", *options, "--", "sh", "-c", f"echo ran >ran; (exit 3); exit {CODE}"]
        command = Faulty(self.dir, words, env={"XDG_RUNTIME_DIR": str(runtime)})

        def check(got):
            said = got.stderr.decode()
            self.assertEqual(os.listdir(runtime), [], said)
            if "ran" not in got.files:
                self.assertEqual((got.code, said.count("\n")), (125, 1), (got.code, said))
                self.assertNotIn("out.jsonl", got.files)
                return
            self.assertEqual(got.code, CODE, said)
            lines = [json.loads(line) for line in got.files.get("out.jsonl", b"").splitlines()]
            if not lines or lines[-1]["kind"] != "summary" or not lines[-1]["complete"]:
                self.assertRegex(said, "warning|INCOMPLETE")

        for role in roles:
            self.sweep_calls(command, role, check, calls)

    def test_launcher(self):
        self.roles([LAUNCHER])

    def test_recorder(self):
        self.roles([RECORDER])

    def test_collector(self):
        self.roles([COLLECTOR])

    def test_with_marks_the_keeper_and_the_collector(self):
        names = ("openat", "open", "socket", "pipe2", "eventfd", "fork", "pthread_create", "bind", "setsockopt", "mkdirat", "fchdir", "fstat", "getrandom", "write")
        calls = CALLS if sweep.LONG else {name: CALLS[name] for name in names}
        self.roles([LAUNCHER, 1, COLLECTOR + 1], "--marks", "--metrics-udp=0", calls=calls)
