# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon why: what is waited for is named: the lock and its bytes, the file system, the address, and which process has it."""
import ctypes
import fcntl
import mmap
import os
import pathlib
import platform
import pty
import select
import signal
import socket
import struct
import sys
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.permitted import BPF, ROOT, needs
from test_why import LIBC, NOBODY, Waiting

SAMPLED = True

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
                           f"a lock (open file description, bytes 50-54) held by {holder} ", "lock")
        self.held_by(found, holder)

    def test_a_flock_is_not_held_by_what_has_a_posix_lock(self):
        self.holder(lambda fd: fcntl.lockf(fd, fcntl.LOCK_EX))
        holder = self.holder(lambda fd: fcntl.flock(fd, fcntl.LOCK_EX))
        found = self.waits(self.asker(lambda fd: fcntl.flock(fd, fcntl.LOCK_EX)), f"a lock (flock) held by {holder} ", "lock")
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
                           "a lock (POSIX, from byte 20) held by", "lock")
        self.held_by(found, holder)
        holder = self.holder(self.of_bytes(fcntl.F_SETLK, fcntl.F_WRLCK, 0, 10))
        found = self.waits(self.asker(self.of_bytes(F_OFD_SETLKW, fcntl.F_RDLCK, 0, 1)),
                           "a lock (open file description, bytes 0-0) held by", "lock")
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
        for first, says, peers in ((0, "held by no process that this user may read", []), (20, f"held by {own} ", [own]),
                                   (40, f"held by {posix} ", [posix])):
            found = self.waits(self.asker(self.of_bytes(F_OFD_SETLKW, fcntl.F_WRLCK, first, 5)), says, "lock", user=NOBODY)
            self.assertEqual([p["pid"] for p in found["peer"]], peers, held)

    def test_a_lease_and_the_process_that_has_it(self):
        def hold(fd):
            signal.signal(signal.SIGIO, signal.SIG_IGN)
            fcntl.fcntl(fd, F_SETLEASE, fcntl.F_WRLCK)

        holder = self.holder(hold)
        found = self.waits(lambda: os.open(self.file, os.O_RDONLY), f"waits for the end of a lease held by {holder} ",
                           "lock")
        self.assertEqual(found["lock"], "LEASE")
        self.held_by(found, holder)


FUSE_LOOKUP, FUSE_OPEN, FUSE_INIT = 1, 14, 26
FUSE_ASYNC_READ = 1  # what reads waits for the page then, not for the answer
NODES = {b"buffered": 2, b"direct": 3}


def fuse_answer(op, node, rest):
    """The body of the answer; None: there is none, as of a server that hangs."""
    if op == FUSE_INIT:
        return struct.pack("IIIIHHIIHH32x", 7, 31, 65536, FUSE_ASYNC_READ, 12, 9, 65536, 1, 0, 0)
    if op == FUSE_LOOKUP and rest.rstrip(b"\0") in NODES:
        # attributes are not to be kept: each look at them is a question
        node = NODES[rest.rstrip(b"\0")]
        return struct.pack("QQQQII", node, 0, 1000, 0, 0, 0) + struct.pack("6Q10I", node, 1 << 20, 8, 0, 0, 0, 0, 0, 0, 0o100666, 1, 0, 0, 0, 4096, 0)
    return struct.pack("QII", 0, node == NODES[b"direct"], 0) if op == FUSE_OPEN else None


def fuse_serve(fd):
    while True:
        message = os.read(fd, 1 << 20)
        _, op, unique, node = struct.unpack_from("IIQQ", message)
        body = fuse_answer(op, node, message[40:])
        if body is not None:
            os.write(fd, struct.pack("IiQ", 16 + len(body), 0, unique) + body)


@needs(ROOT, BPF)  # it mounts, which a root without BPF mostly cannot
class FileServers(Naming):
    def setUp(self):
        super().setUp()
        if not os.path.exists("/dev/fuse"):
            self.skipTest("the kernel has no FUSE")
        self.place = self.path("a place")
        os.mkdir(self.place)
        fd = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        self.assertEqual(LIBC.mount(b"test", self.place.encode(), b"fuse.hangs", 0, options), 0, os.strerror(ctypes.get_errno()))
        self.server = self.child(lambda: fuse_serve(fd))
        os.close(fd)
        self.addCleanup(LIBC.umount2, self.place.encode(), 2)

    def stuck(self, work, user=None):
        """What waits for the file system. It can be ended when the server has."""
        pid = self.child(work, user=user)
        self.addCleanup(os.kill, self.server, signal.SIGKILL)
        return pid

    def file(self, name):
        return os.path.join(self.place, name)

    def test_fuse_its_mount_and_the_process_that_serves_it(self):
        for work, name in ((lambda: os.open(self.file("none"), os.O_RDONLY), "none"),
                           (lambda: os.stat(self.file("x/../other")), "other"),
                           (lambda: os.mkdir("./new", dir_fd=os.open(self.place, os.O_PATH)), "new"),
                           (lambda: os.read(os.open(self.file("direct"), os.O_RDONLY), 1), "direct")):
            found, answer = self.until(self.stuck(work), "file-server")
            self.assertRegex(found["text"], rf"^waits for the file system at {self.place} \(fuse\.hangs\), served by {self.server} "
                                            rf"python\S*, file {self.file(name)}(; uninterruptible)?$")
            self.assertEqual((found["mount"], found["file_system"]), (self.place, "fuse.hangs"))
            self.held_by(found, self.server)
            self.assertEqual(answer["reason"]["chain"], [self.server, found["pid"]])

    def test_a_page_of_fuse_is_not_of_the_disk(self):
        found, _ = self.until(self.stuck(lambda: os.read(os.open(self.file("buffered"), os.O_RDONLY), 1)), "file-server",
                              says="; uninterruptible")
        self.assertEqual(found["state"], "D", found)
        self.assertIn(f", served by {self.server} ", found["text"])
        self.assertTrue(found["text"].endswith(f"file {self.file('buffered')}; uninterruptible"), found)

    def test_fuse_through_a_symbolic_link_or_from_another_folder(self):
        os.symlink(self.place, self.path("link"))
        found, _ = self.until(self.stuck(lambda: os.stat(self.path("link") + "/none")), "file-server")
        others = [line for line in open("/proc/self/mountinfo") if " - fuse" in line and "fuse.hangs" not in line]
        if not others:  # or there is no way to say which of them it is
            self.held_by(found, self.server)

    def test_an_ordinary_user_sees_the_mount_and_not_which_process_of_root_serves_it(self):
        pid = self.stuck(lambda: os.open(self.file("none"), os.O_RDONLY), user=NOBODY)
        found, _ = self.until(pid, "file-server", user=NOBODY)
        self.assertIn(f"at {self.place} (fuse.hangs), served by no process that this user may read, file", found["text"])


class Stops(Naming):
    def in_background(self, work):
        """A process of a terminal's background that does this, with the terminal as its input; and the terminal."""
        ready, says = os.pipe()

        def session(slave):
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            pid = os.fork()
            if not pid:
                os.setpgid(0, 0)
                os.dup2(slave, 0)
                os.write(says, b"%d" % os.getpid())
                work()
                os._exit(0)
            os.close(says)
            time.sleep(1000)

        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        name = os.ttyname(slave)
        self.child(lambda: session(slave))
        os.close(slave)
        os.close(says)
        pid = int(os.read(ready, 20))
        os.close(ready)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        return pid, name

    def stopped_as(self, pid, says):
        """The kernel says by which signal it was stopped, or, as older ones do not, nothing."""
        found, answer = self.until(pid, "stopped")
        shown = pathlib.Path(f"/proc/{pid}/stat").read_text().split()[-1]
        self.assertIn(says[shown], found["text"])
        self.assertIn(f"is {found['text']}", answer["reason"]["text"])

    def test_reads_its_terminal_in_the_background(self):
        pid, name = self.in_background(lambda: os.read(0, 1))
        self.stopped_as(pid, {"21": f"stopped by SIGTTIN: it reads {name} in the background",
                              "0": f"stopped by a signal, while it uses {name} in the background"})

    def test_changes_its_terminal_in_the_background(self):
        pid, name = self.in_background(lambda: termios.tcsetattr(0, termios.TCSANOW, termios.tcgetattr(0)))
        self.stopped_as(pid, {"22": f"stopped by SIGTTOU: it writes to {name}, or changes it, in the background",
                              "0": f"stopped by a signal, while it uses {name} in the background"})

    def test_what_is_stopped_for_another_reason_is_not_said_to_use_its_terminal(self):
        pid, _ = self.in_background(lambda: time.sleep(1000))
        os.kill(pid, signal.SIGTSTP)  # which stops no group that nobody could continue
        os.kill(pid, signal.SIGSTOP)
        found, _ = self.until(pid, "stopped")
        self.assertNotIn("background", found["text"])

    @needs(ROOT)
    def test_an_ordinary_user_sees_that_a_process_of_another_is_stopped(self):
        pid, _ = self.in_background(lambda: os.read(0, 1))
        found, _ = self.until(pid, "stopped", user=NOBODY)
        self.assertEqual(found["text"], "stopped by a signal")

    @needs(ROOT)
    def test_frozen_with_a_cgroup_above_as_any_user_sees(self):
        done = 0
        for root, control, on, off, how in (
            ("/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED", "THAWED to freezer.state"),
            ("/sys/fs/cgroup/unified", "cgroup.freeze", "1", "0", "0 to cgroup.freeze"),
            ("/sys/fs/cgroup", "cgroup.freeze", "1", "0", "0 to cgroup.freeze"),
        ):
            home = pathlib.Path(root, "cgroup.procs")
            if not home.exists():
                continue
            group = pathlib.Path(root, f"bpfmon-names-{os.getpid()}")
            pid = self.child(lambda: time.sleep(1000))
            (group / "below").mkdir(parents=True)
            try:
                (group / "below" / "cgroup.procs").write_text(str(pid))
                (group / control).write_text(on)
                for user in (None, NOBODY):
                    found, _ = self.until(pid, "frozen", user=user, says=f"frozen with the cgroup /{group.name}; to continue it, write {how}")
                    self.assertEqual(found["object"], f"/{group.name}")
                done += 1
            finally:
                (group / control).write_text(off)
                home.write_text(str(pid))
                (group / "below").rmdir()
                group.rmdir()
        if not done:
            self.skipTest("no hierarchy of cgroups with a freezer is mounted below /sys/fs/cgroup")


class Descriptors(Naming):
    def pipe_of_child(self):
        """An end to read, to which only a child could write; and the child."""
        ours, theirs = os.pipe()
        self.addCleanup(os.close, ours)

        def work():
            os.close(ours)
            time.sleep(1000)

        pid = self.child(work)
        os.close(theirs)
        return ours, pid

    def full_pipe(self):
        ours, theirs = os.pipe()
        os.set_blocking(theirs, False)
        os.write(theirs, b"x" * 65536)
        os.set_blocking(theirs, True)
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, theirs)
        return ours, theirs

    def large_file(self):
        fd = os.open(self.path("large"), os.O_RDWR | os.O_CREAT)
        os.truncate(fd, 1 << 27)
        return fd

    def test_sendfile_waits_for_what_is_written_to(self):
        listener = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
        for s in (listener, client, server):
            self.addCleanup(s.close)

        def send():
            server.close()
            os.sendfile(client.fileno(), self.large_file(), 0, 1 << 27)

        found = self.waits(send, f"waits to send to 127.0.0.1:{listener.getsockname()[1]} (tcp); the other end: ", "send")
        self.held_by(found, os.getpid())

    def test_splice_waits_for_an_empty_pipe_a_full_one_or_what_is_no_pipe(self):
        ours, child = self.pipe_of_child()
        tee = {"x86_64": 276, "aarch64": 77}[platform.machine()]
        self.held_by(self.waits(lambda: os.splice(ours, self.large_file(), 10), "waits to read a pipe", "pipe-read"), child)
        self.held_by(self.waits(lambda: LIBC.syscall(tee, ours, os.pipe()[1], 10, 0), "waits to read a pipe", "pipe-read"), child)
        pathlib.Path(self.path("some")).write_text("some")
        full_out, full = self.full_pipe()

        def to_full():
            os.close(full_out)
            os.splice(os.open(self.path("some"), os.O_RDONLY), full, 10)

        self.held_by(self.waits(to_full, "waits to write to a full pipe", "pipe-write"), os.getpid())

        a, b = socket.socketpair()
        self.addCleanup(a.close)
        self.addCleanup(b.close)

        def from_socket():
            b.close()
            os.splice(a.fileno(), os.pipe()[1], 10)

        self.held_by(self.waits(from_socket, "waits to receive", "receive"), os.getpid())

    def test_an_eventfd_and_another_process_that_has_it(self):
        event = os.eventfd(0)
        found = self.waits(lambda: os.read(event, 8), "waits in read() on an eventfd; the other end: ", "file")
        self.held_by(found, os.getpid())
        os.close(event)
        for work, kind in ((lambda: os.read(os.eventfd(0), 8), "file"), (lambda: select.select([os.eventfd(0)], [], []), "poll")):
            found, answer = self.until(self.child(work), kind, says="an eventfd")
            self.assertNotIn("other end", found["text"])  # a thread of its own may
            self.assertFalse(answer.get("reason", {}).get("deadlock"))

    def test_a_timer_and_when_it_is_due(self):
        def timer(seconds):
            fd = LIBC.timerfd_create(time.CLOCK_MONOTONIC, 0)
            LIBC.timerfd_settime(fd, 0, struct.pack("4q", 0, 0, seconds, 0), None)
            os.read(fd, 8)

        found = self.waits(lambda: timer(5000), "waits for a timer (timerfd), due in ", "sleep")
        self.assertLessEqual(float(found["text"].split()[-2]), 5000)
        self.waits(lambda: timer(0), "waits for a timer (timerfd) that is not set", "sleep")

    def test_the_end_of_a_process_by_its_descriptor(self):
        pid = self.sleeper()
        fd = os.pidfd_open(pid)
        self.addCleanup(os.close, fd)
        found = self.waits(lambda: select.select([fd], [], []), f"for 1 descriptor: the end of a process (pidfd), {pid} ", "poll")
        self.held_by(found, pid)

    def test_of_many_descriptors_the_one_that_has_another_end(self):
        ours, child = self.pipe_of_child()

        def work():
            p = select.poll()
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(self.path("listener"))
            listener.listen()
            p.register(listener, select.POLLIN)
            for _ in range(40):
                p.register(os.eventfd(0), select.POLLIN)
            p.register(ours, select.POLLIN)
            p.poll()

        found = self.waits(work, "for 42 descriptors, e.g. a pipe; the other end: ", "poll")
        self.held_by(found, child)

    def test_the_operations_of_an_io_uring_that_wait(self):
        room = ctypes.create_string_buffer(120)
        ring = LIBC.syscall(425, 4, room)  # io_uring_setup
        if ring < 0:
            self.skipTest("io_uring is switched off")
        self.addCleanup(os.close, ring)
        tail, array = struct.unpack_from("I", room, 44)[0], struct.unpack_from("I", room, 64)[0]
        queue, entries = mmap.mmap(ring, 4096), mmap.mmap(ring, 4096, offset=0x10000000)
        ours, _ = self.pipe_of_child()
        place = ctypes.create_string_buffer(8)

        def work():
            for i in range(2):
                struct.pack_into("BBHiQQI", entries, 64 * i, 22, 0, 0, ours, 2**64 - 1, ctypes.addressof(place), 8)  # IORING_OP_READ
                struct.pack_into("I", queue, array + 4 * i, i)
            struct.pack_into("I", queue, tail, 2)
            LIBC.syscall(426, ring, 2, 1, 1, None, 0)  # io_uring_enter

        self.waits(work, "waits in io_uring for READ (2)", "io-uring")

    def test_a_queue_of_posix_that_no_other_process_has_is_no_deadlock(self):
        name = f"/bpfmon-own-{os.getpid()}".encode()
        room = ctypes.create_string_buffer(8192)

        def work():
            queue = LIBC.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None)
            LIBC.mq_receive(queue, room, 8192, None)

        self.addCleanup(LIBC.mq_unlink, name)
        found, answer = self.until(self.child(work), "ipc")  # any process may come and send
        self.assertEqual(found["text"], f"waits for a message in the empty queue {name.decode()}")
        self.assertFalse(answer.get("reason", {}).get("deadlock"))

    def test_a_queue_of_posix_and_the_other_process_that_has_it(self):
        name = f"/bpfmon-{os.getpid()}".encode()
        queue = LIBC.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None)
        self.assertGreaterEqual(queue, 0)
        LIBC.mq_unlink(name)
        self.addCleanup(os.close, queue)
        room = ctypes.create_string_buffer(8192)

        found = self.waits(lambda: LIBC.mq_receive(queue, room, 8192, None), f"waits for a message in the empty queue {name.decode()}", "ipc")
        self.held_by(found, os.getpid())

        def fill():
            while True:
                LIBC.mq_send(queue, room, 1, 0)

        self.waits(fill, f"waits for a message to be taken from the full queue {name.decode()}", "ipc")


class Addresses(Naming):
    def setUp(self):
        super().setUp()
        self.open = []
        self.addCleanup(lambda: [s.close() for s in self.open])

    def socket(self, *how):
        self.open.append(socket.socket(*how))
        return self.open[-1]

    def full_listener(self, family, address):
        """A socket that listens in a child that never accepts, and whose queue is full; its address, the child."""
        listener = self.socket(family)
        listener.bind(address)
        listener.listen(0)
        address = listener.getsockname()
        for _ in range(4):
            client = self.socket(family)
            client.setblocking(False)
            client.connect_ex(address)
        pid = self.child(lambda: time.sleep(1000))
        listener.close()
        return address, pid

    def connects(self, family, address, says, **user):
        def connect():
            for s in self.open:
                s.close()
            socket.socket(family).connect(address)

        return self.waits(connect, says, "connect", **user)

    def test_connect_to_a_unix_socket_with_a_full_queue_and_what_listens_there(self):
        os.mkdir(self.path("run"))
        os.symlink(self.path("run"), self.path("link"))
        address, pid = self.full_listener(socket.AF_UNIX, self.path("run/socket"))
        found = self.connects(socket.AF_UNIX, address, f"to {address}; the listener, whose queue is full: {pid} ")
        self.held_by(found, pid)
        # a path of another name leads there, too
        found = self.connects(socket.AF_UNIX, self.path("link/socket"), f"to {self.path('link/socket')}; the listener")
        self.held_by(found, pid)

    def test_connect_to_a_unix_socket_without_a_file(self):
        address, pid = self.full_listener(socket.AF_UNIX, f"\0bpfmon-names-{os.getpid()}")
        found = self.connects(socket.AF_UNIX, address, f"to @bpfmon-names-{os.getpid()}; the listener, whose queue is full: {pid} ")
        self.held_by(found, pid)

    @needs(ROOT)
    def test_an_ordinary_user_sees_the_address_and_not_which_process_of_another_listens(self):
        address, _ = self.full_listener(socket.AF_UNIX, self.path("socket"))
        os.chmod(address, 0o777)
        self.connects(socket.AF_UNIX, address, f"to {address}; the listener, whose queue is full: no process that this user may read", user=NOBODY)

    def test_connect_to_a_port_of_this_machine_with_a_full_queue(self):
        for family, any_address, to in ((socket.AF_INET, "127.0.0.1", "127.0.0.1"), (socket.AF_INET, "0.0.0.0", "127.0.0.1"),
                                        (socket.AF_INET6, "::", "127.0.0.1")):
            (_, port, *_), pid = self.full_listener(family, (any_address, 0))
            found = self.connects(socket.AF_INET, (to, port), f"to {to}:{port} (tcp); the listener, whose queue is full: {pid} ")
            self.held_by(found, pid)

    def test_the_own_address_of_udp_is_not_that_of_what_sends(self):
        s = self.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{s.getsockname()[1]} (udp)"
        self.assertEqual(self.waits(lambda: s.recv(1), "waits to receive at ", "receive")["text"], f"waits to receive at {at}")
        sender = self.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.connect(s.getsockname())
        self.waits(lambda: sender.recv(1), f"waits to receive from {at}", "receive")

    def test_the_path_of_a_unix_socket_is_that_of_the_server(self):
        listener = self.socket(socket.AF_UNIX)
        listener.bind(self.path("socket"))
        listener.listen()
        client = self.socket(socket.AF_UNIX)
        client.connect(self.path("socket"))
        server, _ = listener.accept()
        self.open.append(server)

        def receive():
            server.close()
            client.recv(1)

        found = self.waits(receive, f"waits to receive from {self.path('socket')}; the other end: ", "receive")
        self.held_by(found, os.getpid())

    def test_a_poll_of_a_unix_socket_is_not_one_of_a_pipe(self):
        ours, theirs = socket.socketpair()
        self.open += [ours, theirs]

        def poll():
            theirs.close()
            select.select([ours], [], [])

        found = self.waits(poll, "for 1 descriptor: a Unix socket; the other end: ", "poll")
        self.held_by(found, os.getpid())


if __name__ == "__main__":
    unittest.main()
