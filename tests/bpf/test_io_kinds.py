# SPDX-License-Identifier: BSD-2-Clause
"""--io-kinds: what calls read and write by kind of file, against what the calls returned, and rchar and wchar."""

import json
import pathlib

from lib.account import AccountCase
from lib.bpfmon import NOT_PERMITTED

KINDS = ("files", "sockets", "pipes", "other")
ALL_KINDS = (*KINDS, "kernel")
CORE_PATTERN = pathlib.Path("/proc/sys/kernel/core_pattern")

# its memory is in no file, so that the kernel dumps all of it
DUMPER = """
import os, resource
kept = os.urandom(1 << 20) * 32
resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
os.write(1, b"four")
os.abort()
"""

# process accounting is of a PID namespace, and of processes that end while it is on
ACCOUNTED = """
import ctypes, os, sys
acct = ctypes.CDLL(None, use_errno=True).acct
open(sys.argv[1], "x").close()
if acct(sys.argv[1].encode()):
    sys.exit(os.strerror(ctypes.get_errno()))
for _ in range(7):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
print(os.stat(sys.argv[1]).st_size)
acct(None)  # the kernel writes a last record, in this process or, from 6.15 on, in none
"""

# a child without exec, of which the kernel reads nothing itself; each way moves another number of bytes
WORKER = """
import json, os, pty, socket, sys, tempfile, threading
from collections import Counter

moved = Counter()

def read(kind, n):
    assert n > 0
    moved["rchar_" + kind] += n

def wrote(kind, n):
    assert n > 0
    moved["wchar_" + kind] += n

def vectors(fd, kind):
    data = b"d" * 5000
    wrote(kind, os.write(fd, data))
    wrote(kind, os.writev(fd, [data[:300], data[:1]]))

def back(fd, kind):
    read(kind, len(os.read(fd, 4000)))
    read(kind, os.readv(fd, [bytearray(700), bytearray(9)]))

def files(path):
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    vectors(fd, "files")
    wrote("files", os.pwrite(fd, b"p" * 123, 0))
    wrote("files", os.pwritev(fd, [b"q" * 77], 10))
    wrote("files", os.pwritev(fd, [b"r" * 78], 10, os.RWF_DSYNC))
    os.lseek(fd, 0, os.SEEK_SET)
    back(fd, "files")
    read("files", len(os.pread(fd, 99, 3)))
    read("files", os.preadv(fd, [bytearray(55)], 0))
    read("files", os.preadv(fd, [bytearray(56)], 0, os.RWF_NOWAIT))
    return fd

def between(fd, path):
    other = os.open(path + ".copy", os.O_RDWR | os.O_CREAT)
    os.lseek(fd, 0, os.SEEK_SET)
    n = os.copy_file_range(fd, other, 1000)
    read("files", n); wrote("files", n)
    a, b = socket.socketpair()
    n = os.sendfile(a.fileno(), fd, 0, 2000)
    read("files", n); wrote("sockets", n)
    r, w = os.pipe()
    n = os.sendfile(w, fd, 0, 3000)
    read("files", n); wrote("pipes", n)
    read("pipes", len(os.read(r, 2900)))

def child(path):
    fd = files(path)
    between(fd, path)
    r, w = os.pipe()
    vectors(w, "pipes")
    back(r, "pipes")
    a, b = socket.socketpair()
    vectors(a.fileno(), "sockets")
    back(b.fileno(), "sockets")
    a.send(b"not a write")
    b.recv(4)
    zero, null = os.open("/dev/zero", os.O_RDONLY), os.open("/dev/null", os.O_WRONLY)
    vectors(null, "other")
    back(zero, "other")
    t = threading.Thread(target=lambda: read("other", len(os.read(zero, 12345))))
    t.start()
    t.join()
    e = os.eventfd(3)
    read("other", len(os.read(e, 8)))

where = sys.argv[1]
pid = os.fork()
if pid == 0:
    child(where)
    out = os.open(where + ".said", os.O_WRONLY | os.O_CREAT)
    said = lambda: json.dumps({"pid": os.getpid(), "moved": moved}).encode()
    size = len(said())
    moved["wchar_files"] += size
    while len(said()) != size:
        moved["wchar_files"] += len(said()) - size
        size = len(said())
    os.write(out, said())
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


class IoKinds(AccountCase):
    def work(self, *options):
        path = str(self.dir / "file")
        run = self.run_bpfmon(["python3", "-c", WORKER, path], options)
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        return run, json.loads((self.dir / "file.said").read_text())

    def test_each_kind_has_what_its_calls_returned(self):
        run, said = self.work("--io-kinds")
        child = self.by_pid(run, said["pid"])
        for way in ("rchar", "wchar"):
            for kind in KINDS:
                self.assertEqual(child[f"{way}_{kind}_bytes"], said["moved"].get(f"{way}_{kind}", 0), (way, kind))

    def test_together_they_are_rchar_and_wchar(self):
        run, said = self.work("--io-kinds")
        child = self.by_pid(run, said["pid"])
        for line in (child, run.summary):
            self.assert_agree(line)
        self.assertEqual((child["rchar_kernel_bytes"], child["wchar_kernel_bytes"]), (0, 0))
        # what the kernel itself reads to execute a program
        self.assertGreater(run.summary["rchar_kernel_bytes"], 0)
        self.assertEqual(run.summary["wchar_kernel_bytes"], 0)

    def assert_agree(self, line):
        for way in ("rchar", "wchar"):
            self.assertEqual(sum(line[f"{way}_{kind}_bytes"] for kind in ALL_KINDS), line[f"{way}_bytes"], way)

    def test_a_core_dump_is_written_by_the_kernel(self):
        before = CORE_PATTERN.read_text()
        try:
            CORE_PATTERN.write_text(str(self.dir / "core"))
        except OSError as error:
            self.skipTest(f"{NOT_PERMITTED}another kernel.core_pattern: {error}")
        self.addCleanup(CORE_PATTERN.write_text, before)
        run = self.run_bpfmon(["python3", "-c", DUMPER], ["--io-kinds"])
        self.assert_complete(run)
        (core,) = self.dir.glob("core*")
        for line in (*run.processes, run.summary):
            self.assert_agree(line)
            self.assertGreaterEqual(line["wchar_kernel_bytes"], 32 << 20)
            self.assertLessEqual(line["wchar_kernel_bytes"], core.stat().st_size)  # which has holes
            self.assertEqual(line["wchar_bytes"] - line["wchar_kernel_bytes"], 4)

    def test_records_of_process_accounting_are_written_by_the_kernel(self):
        path = self.dir / "acct"
        run = self.run_bpfmon(["unshare", "-pf", "python3", "-c", ACCOUNTED, str(path)], ["--io-kinds"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        written = [process["wchar_kernel_bytes"] for process in run.processes if not process["execs"]]
        self.assertEqual(len(written), 7)
        self.assertEqual(sum(written), int(run.stdout))
        for line in (*run.processes, run.summary):
            self.assert_agree(line)

    def test_the_run_has_the_sum_of_its_processes(self):
        run, _said = self.work("--io-kinds")
        for way in ("rchar", "wchar"):
            for kind in ALL_KINDS:
                key = f"{way}_{kind}_bytes"
                self.assertEqual(run.summary[key], sum(p[key] for p in run.processes), key)
                self.assertEqual(run.samples[-1][key], run.summary[key])

    def test_sends_and_receives_are_of_net_alone(self):
        run, _said = self.work("--io-kinds", "--net")
        self.assertEqual(run.summary["rchar_sockets_bytes"], 4709)
        self.assertEqual(run.summary["net_rx_unix_bytes"], 4709 + 4)

    def test_without_the_option_there_is_no_such_key(self):
        run, _said = self.work()
        self.assertFalse([key for key in run.summary if key.startswith(("rchar_", "wchar_")) and key.count("_") > 1])

    def test_the_group_asks_for_it_as_well(self):
        run = self.run_bpfmon(["echo", "four"], ["--metrics", "io-kinds"])
        self.assertEqual(run.summary["wchar_pipes_bytes"], 5)
        self.assertNotIn("wchar_bytes", run.summary)
