# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon why: what is waited for is named: the lock and its bytes, the file system, the address, and which process has it."""
import fcntl
import os
import signal
import struct
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.permitted import ROOT, needs
from test_why import NOBODY, Waiting

F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE = 37, 38, 1024


def ask_lock(fd, call, kind, first, length):
    fcntl.fcntl(fd, call, struct.pack("hhqqi4x", kind, 0, first, length, 0))


class Naming(Waiting):
    def waits(self, work, says, kind, user=None, as_user=None):
        """What is said of a new process that does this; and the process."""
        found, _ = self.until(self.child(work, user=user), kind, user=as_user or user, says=says)
        return found


class Locks(Naming):
    def setUp(self):
        super().setUp()
        self.file = self.path("locked")
        with open(self.file, "w") as file:
            file.write("x" * 100)
        os.chmod(self.file, 0o666)

    def holder(self, lock, user=None):
        """A child that has done this with the open file."""
        ready, says = os.pipe()

        def hold():
            fd = os.open(self.file, os.O_RDWR)
            lock(fd)
            os.write(says, b"x")
            time.sleep(1000)

        pid = self.child(hold, user=user)
        self.assertEqual(os.read(ready, 1), b"x")
        os.close(ready)
        os.close(says)
        return pid

    def of_bytes(self, call, kind, first, length):
        return lambda fd: ask_lock(fd, call, kind, first, length)

    def asker(self, lock):
        return lambda: lock(os.open(self.file, os.O_RDWR))

    def test_of_locks_of_open_files_the_one_that_has_the_bytes(self):
        self.holder(self.of_bytes(F_OFD_SETLK, fcntl.F_WRLCK, 0, 10))
        holder = self.holder(self.of_bytes(F_OFD_SETLK, fcntl.F_WRLCK, 50, 10))
        self.child(self.asker(self.of_bytes(F_OFD_SETLKW, fcntl.F_WRLCK, 0, 5)))
        found = self.waits(self.asker(self.of_bytes(F_OFD_SETLKW, fcntl.F_WRLCK, 50, 5)),
                           f"a lock (of an open file, bytes 50-54) on {self.file}, held by {holder} ", "lock")
        self.held_by(found, holder)

    def test_a_flock_is_not_held_by_what_has_a_posix_lock(self):
        self.holder(lambda fd: fcntl.lockf(fd, fcntl.LOCK_EX))
        holder = self.holder(lambda fd: fcntl.flock(fd, fcntl.LOCK_EX))
        found = self.waits(self.asker(lambda fd: fcntl.flock(fd, fcntl.LOCK_EX)), f"a lock (flock) on {self.file}", "lock")
        self.held_by(found, holder)

    def test_all_that_read_hold_up_what_writes(self):
        for lock, ask in ((lambda fd: fcntl.flock(fd, fcntl.LOCK_SH), lambda fd: fcntl.flock(fd, fcntl.LOCK_EX)),
                          (lambda fd: fcntl.lockf(fd, fcntl.LOCK_SH), lambda fd: fcntl.lockf(fd, fcntl.LOCK_EX))):
            readers = {self.holder(lock) for _ in range(3)}
            found = self.waits(self.asker(ask), "a lock (", "lock")
            self.assertEqual({p["pid"] for p in found["peer"]}, readers, found)

    def test_a_posix_lock_that_an_open_file_has_and_the_other_way_round(self):
        holder = self.holder(self.of_bytes(F_OFD_SETLK, fcntl.F_WRLCK, 10, 0))
        found = self.waits(self.asker(self.of_bytes(fcntl.F_SETLKW, fcntl.F_RDLCK, 20, 0)),
                           "a lock (POSIX, from byte 20) on", "lock")
        self.held_by(found, holder)
        holder = self.holder(self.of_bytes(fcntl.F_SETLK, fcntl.F_WRLCK, 0, 10))
        found = self.waits(self.asker(self.of_bytes(F_OFD_SETLKW, fcntl.F_RDLCK, 0, 1)),
                           "a lock (of an open file, bytes 0-0) on", "lock")
        self.held_by(found, holder)

    def test_what_has_a_lock_to_read_and_wants_to_write_is_not_its_own_holder(self):
        def ask(fd):
            ask_lock(fd, F_OFD_SETLK, fcntl.F_RDLCK, 0, 10)
            ask_lock(fd, F_OFD_SETLKW, fcntl.F_WRLCK, 0, 10)

        holder = self.holder(self.of_bytes(F_OFD_SETLK, fcntl.F_RDLCK, 0, 10))
        self.held_by(self.waits(self.asker(ask), "bytes 0-9", "lock"), holder)

    def test_the_bytes_from_where_the_file_is_read(self):
        def ask(fd):
            os.lseek(fd, 30, os.SEEK_SET)
            fcntl.fcntl(fd, F_OFD_SETLKW, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_CUR, 10, -5, 0))

        holder = self.holder(self.of_bytes(F_OFD_SETLK, fcntl.F_WRLCK, 39, 1))
        self.held_by(self.waits(self.asker(ask), "bytes 35-39", "lock"), holder)

    @needs(ROOT)
    def test_an_ordinary_user_about_holders_of_another_user(self):
        held = self.holder(self.of_bytes(F_OFD_SETLK, fcntl.F_WRLCK, 0, 10))
        own = self.holder(self.of_bytes(fcntl.F_SETLK, fcntl.F_WRLCK, 20, 10), user=NOBODY)
        posix = self.holder(self.of_bytes(fcntl.F_SETLK, fcntl.F_WRLCK, 40, 10))
        for first, says, peers in ((0, "held by no process that may be looked at", []), (20, f"held by {own} ", [own]),
                                   (40, f"held by {posix} ", [posix])):
            found = self.waits(self.asker(self.of_bytes(F_OFD_SETLKW, fcntl.F_WRLCK, first, 5)), says, "lock", user=NOBODY)
            self.assertEqual([p["pid"] for p in found["peer"]], peers, held)

    def test_a_lease_and_the_process_that_has_it(self):
        def hold(fd):
            signal.signal(signal.SIGIO, signal.SIG_IGN)
            fcntl.fcntl(fd, F_SETLEASE, fcntl.F_WRLCK)

        holder = self.holder(hold)
        found = self.waits(lambda: os.open(self.file, os.O_RDONLY), f"waits for the end of a lease on {self.file}, held by {holder} ",
                           "lock")
        self.assertEqual(found["lock"], "LEASE")
        self.held_by(found, holder)


if __name__ == "__main__":
    unittest.main()
