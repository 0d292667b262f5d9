# SPDX-License-Identifier: BSD-2-Clause
"""--io-kinds: what calls read and write by kind of file, against what the calls returned, and rchar and wchar."""

import json

from lib.account import AccountCase

KINDS = ("files", "sockets", "pipes", "other")

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
            self.assertEqual(sum(line[f"wchar_{kind}_bytes"] for kind in KINDS), line["wchar_bytes"])
        self.assertEqual(sum(child[f"rchar_{kind}_bytes"] for kind in KINDS), child["rchar_bytes"])
        # what the kernel itself reads to execute a program is in none of them
        self.assertLess(sum(run.summary[f"rchar_{kind}_bytes"] for kind in KINDS), run.summary["rchar_bytes"])

    def test_the_run_has_the_sum_of_its_processes(self):
        run, _said = self.work("--io-kinds")
        for way in ("rchar", "wchar"):
            for kind in KINDS:
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
