# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon why: each thing that a real process can wait for is named right, with the process that holds it."""
import ctypes
import fcntl
import json
import mmap
import os
import pathlib
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.bpfmon import BPFMON, truth
from lib.live import wait_for
from lib.permitted import BPF, ROOT, needs
from lib.store import StoreCase

NOBODY = 65534
LIBC = ctypes.CDLL(None, use_errno=True)
F_OFD_SETLKW = 38
PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207


QUOTAS = (("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "5000", "-1"), ("/sys/fs/cgroup", "cpu.max", "5000 100000", "max"))


def periods_throttled(group):
    return next(int(line.split()[1]) for line in open(group / "cpu.stat") if line.startswith("nr_throttled"))


def ofd_lock(fd):
    fcntl.fcntl(fd, F_OFD_SETLKW, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))


def spin():
    while True:
        pass


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def why(*pids, status=0, user=None):
    """What bpfmon says, as JSON."""
    as_user = {"user": user, "group": user, "extra_groups": []} if user else {}
    done = subprocess.run([BPFMON, "why", "--json", *map(str, pids)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60, check=False, cwd="/", **as_user)
    if done.returncode != status:
        raise AssertionError(f"exit status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class Waiting(unittest.TestCase):
    """Children that wait, and that are ended after each test."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.chmod(self.folder.name, 0o755)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def child(self, work, user=None):
        """A process that does this, as the user from the start on."""
        ready, says = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                if user:
                    os.setgroups([])
                    os.setgid(user)
                    os.setuid(user)
                    # what changed its user may be looked at by root alone, unlike what was executed
                    LIBC.prctl(4, 1, 0, 0, 0)
                os.close(says)
                os.close(ready)
                work()
            finally:
                os._exit(1)
        self.addCleanup(self.end, pid)
        os.close(says)
        os.read(ready, 1)
        os.close(ready)
        return pid

    @staticmethod
    def end(pid):
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def until(self, pid, kind, user=None, says=""):
        """The answer about the process, once it and its threads wait as they will; the last one if they never do."""
        deadline = time.monotonic() + 20
        while True:
            answer = why(pid, user=user)
            found = answer["processes"][0]
            if (found["wait"] == kind and says in found["text"]) or time.monotonic() > deadline:
                self.assertEqual(found["wait"], kind, found)
                self.assertIn(says, found["text"])
                return found, answer
            time.sleep(0.02)

    def held_by(self, found, pid):
        self.assertEqual([p["pid"] for p in found["peer"]], [pid], found)

    def sleeper(self, **kwargs):
        return self.child(lambda: time.sleep(1000), **kwargs)


class Files(Waiting):
    def locks(self, lock, kind, names_holder=True):
        """Two children: one takes the lock, the other waits for it."""
        path = self.path(f"of {kind}\x1b[2J")
        ready, says = os.pipe()
        self.addCleanup(os.close, ready)
        self.addCleanup(os.close, says)

        def hold():
            fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            lock(fd)
            os.write(says, b"x")
            time.sleep(1000)

        holder = self.child(hold)
        os.read(ready, 1)
        found, answer = self.until(self.child(lambda: lock(os.open(path, os.O_RDWR))), "lock")
        self.assertEqual(found["lock"], kind)
        self.assertIn(f"on {path}".replace("\x1b", "?"), found["text"])
        self.held_by(found, holder)
        self.assertEqual(answer["reason"]["chain"], [holder, found["pid"]])

    def test_a_flock_and_its_holder(self):
        self.locks(lambda fd: fcntl.flock(fd, fcntl.LOCK_EX), "FLOCK")

    def test_a_posix_lock_and_its_holder(self):
        self.locks(lambda fd: fcntl.lockf(fd, fcntl.LOCK_EX), "POSIX")

    def test_a_lock_of_an_open_file_and_its_holder(self):
        self.locks(ofd_lock, "OFDLCK")

    @needs(ROOT)
    def test_a_flock_is_held_by_the_child_of_the_process_that_took_it_and_ended(self):
        path = self.path("inherited")
        ready, says = os.pipe()

        def hold():
            fd = os.open(path, os.O_RDWR | os.O_CREAT)
            fcntl.flock(fd, fcntl.LOCK_EX)
            if not os.fork():
                os.write(says, b"%d\n" % os.getpid())
                time.sleep(1000)
            os._exit(0)

        taker = self.child(hold)
        heir = int(os.read(ready, 20))
        self.addCleanup(os.kill, heir, signal.SIGKILL)
        os.waitid(os.P_PID, taker, os.WEXITED | os.WNOWAIT)
        found, _ = self.until(
            self.child(lambda: fcntl.flock(os.open(path, os.O_RDWR), fcntl.LOCK_EX)), "lock")
        self.held_by(found, heir)

    def test_a_fifo_that_nobody_opened(self):
        os.mkfifo(self.path("fifo"))
        found, _ = self.until(self.child(lambda: os.open(self.path("fifo"), os.O_RDONLY)), "fifo-open")
        self.assertEqual(found["text"], f"waits until another process opens the FIFO {self.path('fifo')} to write")
        found, _ = self.until(self.child(lambda: os.open(self.path("fifo2"), os.O_WRONLY)
                                         if not os.mkfifo(self.path("fifo2")) else None), "fifo-open")
        self.assertTrue(found["text"].endswith("to read"))

    def test_input_of_a_terminal(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        found, _ = self.until(self.child(lambda: os.read(slave, 1)), "terminal")
        self.assertEqual(found["object"], os.ttyname(slave))


class Pipes(Waiting):
    def test_both_ends_of_a_pipe(self):
        ours, theirs = os.pipe()

        def write():
            os.close(ours)
            time.sleep(1000)

        def read():
            os.close(theirs)
            os.read(ours, 1)

        writer, reader = self.child(write), self.child(read)
        os.close(theirs)
        os.close(ours)
        found, _ = self.until(reader, "pipe-read")
        self.held_by(found, writer)
        os.kill(writer, signal.SIGSTOP)
        os.waitpid(writer, os.WUNTRACED)
        found, answer = self.until(reader, "pipe-read")
        self.assertRegex(found["text"], rf"^waits to read a pipe; the other end: {writer} python.* \(stopped\)$")
        self.assertRegex(answer["reason"]["text"], rf"^{writer} python\S* is stopped by a signal; {reader} python")

    def test_a_full_pipe(self):
        ours, theirs = os.pipe()

        def write():
            os.close(ours)
            while True:
                os.write(theirs, b"x" * 65536)

        writer = self.child(write)
        os.close(theirs)
        found, _ = self.until(writer, "pipe-write")
        self.held_by(found, os.getpid())
        os.close(ours)

    @needs(ROOT)
    def test_a_pipe_of_which_only_the_reader_has_the_other_end_is_a_deadlock(self):
        found, answer = self.until(self.child(lambda: os.read(os.pipe()[0], 1)), "pipe-read")
        self.assertIn("the other end: only itself", found["text"])
        self.assertTrue(answer["reason"]["deadlock"], answer)

    @needs(ROOT)
    def test_a_parent_that_waits_for_a_child_that_reads_what_the_parent_would_write_is_a_deadlock(self):
        def work():
            ours, theirs = os.pipe()
            child = os.fork()
            if not child:
                os.close(theirs)
                os.read(ours, 1)
                os._exit(0)
            os.close(ours)
            os.waitpid(child, 0)

        parent = self.child(work)
        found, answer = self.until(parent, "child")
        self.until(found["peer"][0]["pid"], "pipe-read")
        answer = why(parent)
        self.assertTrue(answer["reason"]["deadlock"], answer)
        self.assertEqual(len(answer["reason"]["chain"]), 2)
        self.assertTrue(answer["reason"]["text"].startswith("deadlock: "))
        os.kill(found["peer"][0]["pid"], signal.SIGKILL)

    def test_a_parent_that_waits_for_any_child_is_in_no_deadlock_while_one_of_them_goes_on(self):
        def work():
            ours, theirs = os.pipe()
            if not os.fork():
                os.close(theirs)
                os.read(ours, 1)
                os._exit(0)
            os.close(ours)
            if not os.fork():
                time.sleep(1000)
            os.wait()

        parent = self.child(work)
        found, _ = self.until(parent, "child")
        children = [p["pid"] for p in found["peer"]]
        self.assertEqual(len(children), 2, found)
        for child, kind in zip(sorted(children), ("pipe-read", "sleep")):
            self.until(child, kind)
        for pids in ([parent], children, [parent, *children]):
            self.assertFalse(why(*pids)["reason"].get("deadlock"), pids)
        for child in children:
            os.kill(child, signal.SIGKILL)


class Sockets(Waiting):
    def connected(self, family, address):
        listener = socket.socket(family)
        listener.bind(address)
        listener.listen()
        client = socket.create_connection(listener.getsockname()[:2])
        server, _ = listener.accept()
        for s in (client, server, listener):
            self.addCleanup(s.close)
        return client, server, listener

    def one_of_tcp(self, family, address, shown):
        client, server, listener = self.connected(family, address)

        def receive():
            server.close()
            listener.close()
            client.recv(1)

        found, _ = self.until(self.child(receive), "receive")
        client.close()
        self.held_by(found, os.getpid())
        self.assertIn(f"from {shown}:{server.getsockname()[1]} (tcp)", found["text"])

    def test_a_silent_peer_of_tcp_on_this_machine(self):
        self.one_of_tcp(socket.AF_INET, ("127.0.0.1", 0), "127.0.0.1")

    def test_a_connection_that_does_not_come(self):
        s = socket.socket()
        self.addCleanup(s.close)
        s.bind(("127.0.0.1", 0))
        s.listen()
        found, _ = self.until(self.child(s.accept), "accept")
        self.assertEqual(found["text"], f"waits for a connection on 127.0.0.1:{s.getsockname()[1]} (tcp)")

    def test_a_unix_socket(self):
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)

        def receive():
            ours.close()
            theirs.recv(1)

        found, _ = self.until(self.child(receive), "receive")
        theirs.close()
        self.held_by(found, os.getpid())

    def test_poll_select_and_epoll_name_a_descriptor_and_who_has_its_other_end(self):
        ours, theirs = os.pipe()
        self.addCleanup(os.close, theirs)

        def wait(how):
            def work():
                os.close(theirs)
                how()
            return self.child(work)

        def by_poll():
            p = select.poll()
            p.register(ours)
            p.poll()

        def by_epoll():
            p = select.epoll()
            p.register(ours)
            p.poll()

        for how in (by_poll, by_epoll, lambda: select.select([ours], [], [])):
            found, _ = self.until(wait(how), "poll")
            self.assertIn("for 1 descriptor: a pipe; the other end: ", found["text"])
            self.held_by(found, os.getpid())
        os.close(ours)


class Others(Waiting):
    def test_a_child(self):
        parent = self.child(lambda: subprocess.run(["sleep", "1000"], check=False))
        deadline = time.monotonic() + 20
        while True:
            found, answer = self.until(parent, "child")
            if found["peer"] and found["peer"][0]["comm"] == "sleep" or time.monotonic() > deadline:
                break
        child = found["peer"][0]["pid"]
        self.addCleanup(os.kill, child, signal.SIGKILL)
        self.assertEqual(found["text"], f"waits for its child {child} sleep")
        self.assertEqual(answer["reason"]["chain"], [child, parent])

    def test_the_parent_of_vfork_is_uninterruptible_and_waits_for_its_child(self):
        parent = self.child(lambda: os.execv(truth("vforkwait"), ["vforkwait"]))
        found, _ = self.until(parent, "child")
        self.assertEqual(found["state"], "D")
        self.addCleanup(os.kill, found["peer"][0]["pid"], signal.SIGKILL)

    def test_stopped(self):
        pid = self.sleeper()
        os.kill(pid, signal.SIGSTOP)
        os.waitpid(pid, os.WUNTRACED)
        self.assertEqual(self.until(pid, "stopped")[0]["text"], "stopped by a signal")

    @needs(ROOT)
    def test_frozen_with_its_cgroup_of_either_version(self):
        done = 0
        for root, control, on, off in (
            ("/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED"),
            ("/sys/fs/cgroup/unified", "cgroup.freeze", "1", "0"),
            ("/sys/fs/cgroup", "cgroup.freeze", "1", "0"),
        ):
            group = pathlib.Path(root, f"bpfmon-why-{os.getpid()}")
            home = pathlib.Path(root, "cgroup.procs")
            if not home.exists():
                continue
            pid = self.sleeper()
            group.mkdir()
            try:
                (group / "cgroup.procs").write_text(str(pid))
                (group / control).write_text(on)
                self.until(pid, "frozen")
                done += 1
            finally:
                (group / control).write_text(off)
                home.write_text(str(pid))
                group.rmdir()
        if not done:
            self.skipTest("no hierarchy of cgroups with a freezer is mounted below /sys/fs/cgroup")

    def spin_below(self, root, child):
        """A process without end in a new cgroup, or in one below that; and the cgroup."""
        group = pathlib.Path(root, f"bpfmon-why-{os.getpid()}-{child}")
        pid = self.child(spin)
        (group / child).mkdir(parents=True)
        self.addCleanup(group.rmdir)
        if child:
            self.addCleanup((group / child).rmdir)
        self.addCleanup(pathlib.Path(root, "cgroup.procs").write_text, str(pid))
        (group / child / "cgroup.procs").write_text(str(pid))
        return group, pid

    @needs(ROOT)
    def test_throttled_by_the_cpu_quota_of_its_cgroup_or_of_one_above(self):
        root, file, quota, none = next(q for q in QUOTAS if pathlib.Path(q[0], "cgroup.procs").exists())
        for child in ("", "below"):
            group, pid = self.spin_below(root, child)
            if not (group / file).exists():
                self.skipTest(f"the controller cpu is off below {root}")
            (group / file).write_text(quota)
            found, answer = self.until(pid, "throttled", user=NOBODY)
            self.assertGreater(periods_throttled(group), 0)
            self.assertEqual(found["object"], f"/{group.name}")
            self.assertIn(f"the cgroup /{group.name} has used up its CPU quota of 0.05 CPUs", found["text"])
            self.assertIn(file, found["text"])
            self.assertIn(f"{pid} {found['comm']} is throttled", answer["reason"]["text"])
            (group / file).write_text(none)
            self.until(pid, "runs")

    def test_queues_semaphores_rings_and_listeners(self):
        semaphore, queue = LIBC.semget(0, 1, 0o1600), LIBC.msgget(0, 0o1600)
        self.addCleanup(LIBC.semctl, semaphore, 0, 0)  # IPC_RMID
        self.addCleanup(LIBC.msgctl, queue, 0, None)
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        room = ctypes.create_string_buffer(120)

        ring = LIBC.syscall(425, 4, room)  # io_uring_setup
        works = [
            (lambda: LIBC.semop(semaphore, struct.pack("Hhh", 0, -1, 0), 1), "waits for a queue or semaphore in sem"),
            (lambda: LIBC.msgrcv(queue, room, 64, 0, 0), "waits for a queue or semaphore in msgrcv()"),
            (listener.accept, f"waits for a connection on 127.0.0.1:{listener.getsockname()[1]} (tcp)"),
        ]
        if ring >= 0:  # an administrator may have switched it off
            self.addCleanup(os.close, ring)
            works.append((lambda: LIBC.syscall(426, ring, 0, 1, 1, None, 0), "waits in io_uring"))  # io_uring_enter
        for work, text in works:
            pid = self.child(work)
            wait_for(lambda: state_of(pid) == "S" and text in why(pid)["processes"][0]["text"], text)

    @needs(ROOT, BPF)  # it mounts, which a root without BPF mostly cannot
    def test_a_write_to_a_frozen_file_system_is_uninterruptible(self):
        image, place = self.path("image"), self.path("place")
        os.mkdir(place)
        with open(image, "wb") as file:
            file.truncate(32 << 20)
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, place], check=True)
        self.addCleanup(subprocess.run, ["umount", place], check=True)
        subprocess.run(["fsfreeze", "-f", place], check=True)
        pid = os.fork()
        if not pid:
            os.open(os.path.join(place, "written"), os.O_CREAT | os.O_WRONLY)
            os._exit(0)
        try:
            # while it falls asleep its state says so already, its wait channel does not yet
            wait_for(lambda: why(pid)["processes"][0].get("channel"), "the wait channel of the write")
            found, _ = self.until(pid, "uninterruptible")
        finally:  # it ends as soon as it can write
            subprocess.run(["fsfreeze", "-u", place], check=True)
            os.waitpid(pid, 0)
        self.assertEqual(found["state"], "D")
        self.assertIn("of a frozen file system", found["text"])
        self.assertIn(f"file {place}/written", found["text"])

    def test_stopped_by_its_tracer(self):
        pid = self.sleeper()
        self.assertEqual(LIBC.ptrace(PTRACE_SEIZE, pid, 0, 0), 0)
        LIBC.ptrace(PTRACE_INTERRUPT, pid, 0, 0)
        os.waitpid(pid, 0)
        found, _ = self.until(pid, "traced")
        self.held_by(found, os.getpid())
        self.assertTrue(found["text"].startswith(f"stopped by its tracer {os.getpid()} python"))

    def test_a_zombie_and_the_parent_that_does_not_reap_it(self):
        pid = self.child(lambda: os._exit(0))
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        found, _ = self.until(pid, "zombie")
        self.held_by(found, os.getpid())
        self.assertIn("does not reap it", found["text"])

    def test_sleep_signal_and_what_runs(self):
        self.until(self.sleeper(), "sleep")
        self.until(self.child(signal.pause), "signal")
        found, answer = self.until(self.child(spin), "runs")
        self.assertTrue(answer["reason"]["runs"])

    def test_a_mutex_that_a_thread_holds_that_sleeps(self):
        def work():
            mutex = ctypes.create_string_buffer(64)
            LIBC.pthread_mutex_lock(mutex)
            threading.Thread(target=LIBC.pthread_mutex_lock, args=(mutex,)).start()
            signal.pause()

        pid = self.child(work)
        found, _ = self.until(pid, "mutex", says=f"waits for a mutex held by its thread {pid} (signal)")
        self.assertEqual(found["holder_tid"], pid)

    def test_a_mutex_that_another_process_holds(self):
        memory = mmap.mmap(-1, 4096)
        mutex = (ctypes.c_char * 64).from_buffer(memory)
        attributes = ctypes.create_string_buffer(16)
        LIBC.pthread_mutexattr_setpshared(attributes, 1)
        LIBC.pthread_mutex_init(mutex, attributes)
        LIBC.pthread_mutex_lock(mutex)
        found, _ = self.until(self.child(lambda: LIBC.pthread_mutex_lock(mutex)), "mutex")
        self.held_by(found, os.getpid())

    def test_threads_that_wait_for_each_other(self):
        def work():
            one, two = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
            gate = threading.Barrier(2)

            def take(first, second):
                LIBC.pthread_mutex_lock(first)
                gate.wait()
                LIBC.pthread_mutex_lock(second)

            threading.Thread(target=take, args=(one, two)).start()
            take(two, one)

        pid = self.child(work)
        deadline = time.monotonic() + 20
        while not (answer := why(pid))["processes"][0]["text"].startswith("deadlock: its threads"):
            self.assertLess(time.monotonic(), deadline, answer)

    @needs(ROOT)
    def test_an_ordinary_user_about_the_own_and_about_others(self):
        own = self.child(lambda: time.sleep(1000), user=NOBODY)
        found, _ = self.until(own, "sleep", user=NOBODY)
        self.assertNotIn("unread", found)
        other = self.sleeper()
        self.until(other, "sleep")
        found, _ = self.until(other, "unknown", user=NOBODY)
        self.assertEqual(found["unread"], ["channel", "call"])
        self.assertIn("only root and its user can see for what", found["text"])

    def test_what_is_no_process(self):
        with subprocess.Popen(["true"]) as ended:
            pid = str(ended.pid)
        says = f"bpfmon: no process {pid} exists, and no run has this number; see 'bpfmon list'\n"
        for words in ([pid], ["--json", pid]):
            done = subprocess.run([BPFMON, "why", *words], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", says))
        other = str(self.sleeper())
        done = subprocess.run([BPFMON, "why", "--json", pid, other], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, says))
        self.assertEqual([str(p["pid"]) for p in json.loads(done.stdout)["processes"] if p["asked"]], [other])


class OfARun(StoreCase):
    def start_run(self, script):
        env = {k: v for k, v in os.environ.items() if k != "BPFMON_NO_STORE"} | {"BPFMON_STORE": str(self.store)}
        words = [BPFMON, "-q", "-i", "0.1", "--name", "stuck", "--", "sh", "-c", script, str(self.dir)]
        run = subprocess.Popen(words, env=env, stdin=subprocess.PIPE)
        self.addCleanup(run.wait, 60)
        self.addCleanup(run.stdin.close)
        wait_for(lambda: "stuck" in self.bpfmon("list", "--state", "running").stdout, "the run in the store")
        return run

    def why_of(self, *words):
        done = self.bpfmon("why", "--json", *words)
        if done.returncode:  # its first sample may be still to come
            return {}, {}
        answer = json.loads(done.stdout)
        return {p.get("comm"): p for p in answer["processes"] if p["asked"]}, answer.get("reason")

    def test_run_by_name_number_and_uuid_and_when_it_has_ended(self):
        run = self.start_run("cat | tail -c 1")
        wait_for(lambda: {"sh", "cat", "tail"} <= set(self.why_of("stuck")[0]), "the pipeline")
        wait_for(lambda: self.why_of("stuck")[0].get("tail", {}).get("wait") == "pipe-read", "its end to wait")
        found, reason = self.why_of("stuck")
        self.assertEqual({name: p["wait"] for name, p in found.items()}, {"sh": "child", "cat": "pipe-read", "tail": "pipe-read"})
        self.assertEqual([p["pid"] for p in found["tail"]["peer"]], [found["cat"]["pid"]])
        self.assertIn(found["cat"]["pid"], reason["chain"])
        row = self.list()[0]
        for words in (("--run", row["id"]), (row["run"][:13],)):
            self.assertEqual(set(self.why_of(*words)[0]), set(found), words)
        run.stdin.close()
        self.assertEqual(run.wait(60), 0)
        for words in (("stuck",), ("--run", row["id"])):
            self.assert_refused(self.bpfmon("why", *words), "has ended", "bpfmon show")
        self.assert_refused(self.bpfmon("why", "nothing-has-this-name"), "no run 'nothing-has-this-name'")
        self.assert_refused(self.bpfmon("why", "--run", "4711"), "no run 4711 in the store")

    def test_who_asks_is_not_what_holds_up_the_others(self):
        """In the run itself bpfmon is a child of what it asks about, and reads what another one would write."""
        run = self.start_run(f"cat | {{ until [ -e $0/ask ] || [ ! -d $0 ]; do sleep 0.05; done; {BPFMON} why --json stuck >$0/answer; cat; }}")
        wait_for(lambda: len(self.why_of("stuck")[0]) >= 3, "the pipeline")
        (self.dir / "ask").touch()
        answer = json.loads(wait_for(lambda: (f := self.dir / "answer").exists() and f.read_text().endswith("}\n") and f.read_text(), "it"))
        self.assertNotIn("bpfmon", [p.get("comm") for p in answer["processes"]])
        self.assertEqual(answer["reason"]["chain"][0], os.getpid(), answer)  # what would write into the first pipe
        run.stdin.close()
        self.assertEqual(run.wait(60), 0)


if __name__ == "__main__":
    unittest.main()
