# SPDX-License-Identifier: BSD-2-Clause
"""Descriptors whose close waits: whoever has the last one does so as long as their sender wants."""

import array
import contextlib
import ctypes
import os
import socket
import struct
import threading

LINGER_SECONDS = 3600
LIBC = ctypes.CDLL(None, use_errno=True)
MNT_FORCE, MNT_DETACH = 1, 2
# include/uapi/linux/fuse.h
FORGET, GETATTR, OPEN, FLUSH, INIT, INTERRUPT, BATCH_FORGET = 2, 3, 14, 25, 26, 36, 42
ENOSYS = 38


def rights(fds):
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]


def lingering(case):
    """A TCP socket with unsent data, which its other side does not read."""
    listening = socket.socket()
    case.addCleanup(listening.close)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listening.bind(("127.0.0.1", 0))
    listening.listen(1)
    s = socket.socket()
    s.connect(listening.getsockname())
    far, _ = listening.accept()
    case.addCleanup(far.close)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, LINGER_SECONDS))
    s.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            s.send(b"x" * 65536)
    return s


def within(inner):
    """A Unix socket whose queue has the only descriptor of that one."""
    a, b = socket.socketpair()
    with a, inner:
        a.sendmsg([b"x"], rights([inner.fileno()]))
    return b


KINDS = {
    "TCP": lingering,
    "TCP in a queue": lambda case: within(lingering(case)),
    "TCP in a queue in a queue": lambda case: within(within(lingering(case))),
}


class HungFile:
    """A file in FUSE, of a server that never answers the close of a descriptor."""

    def __init__(self, path):
        self.path, self.children = str(path), []
        path.touch()
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self.fd},rootmode=100000,user_id=0,group_id=0,allow_other".encode()
        if LIBC.mount(b"hung", self.path.encode(), b"fuse", 0, options):
            os.close(self.fd)
            raise OSError(ctypes.get_errno(), "mount of FUSE")
        threading.Thread(target=self.serve, daemon=True).start()

    def end(self):
        """Whoever waits for it gets an error."""
        LIBC.umount2(self.path.encode(), MNT_FORCE | MNT_DETACH)
        os.close(self.fd)
        for pid in self.children:
            os.waitpid(pid, 0)

    def send(self, send):
        """Opens it and sends its descriptor in a process of its own, which ends when the server does."""
        told, tell = os.pipe()
        pid = os.fork()
        if not pid:
            send(os.open(self.path, os.O_RDONLY))
            os.write(tell, b"x")
            os._exit(0)
        self.children.append(pid)
        os.read(told, 1)
        os.close(told)
        os.close(tell)

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                self.answer(os.read(self.fd, 1 << 18))

    def answer(self, request):
        _, opcode, unique = struct.unpack_from("=IIQ", request)
        if opcode in (FLUSH, FORGET, BATCH_FORGET, INTERRUPT):
            return
        answers = {
            INIT: struct.pack("=IIIIHHIIHH32x", 7, 31, 0, 0, 16, 12, 4096, 1, 1, 0),
            GETATTR: struct.pack("=QII6Q3I7I", 3600, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o100666, 1, 0, 0, 0, 4096, 0),
            OPEN: struct.pack("=QII", 1, 0, 0),
        }
        body = answers.get(opcode, b"")
        os.write(self.fd, struct.pack("=IiQ", 16 + len(body), 0 if opcode in answers else -ENOSYS, unique) + body)
