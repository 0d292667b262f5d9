# SPDX-License-Identifier: BSD-2-Clause
"""Whether the kernel reports births and ends to an ordinary user here: asked by a socket of the test's own."""

import ctypes
import functools
import os
import socket
import struct

from lib.bpfmon import AS_USER

CONNECTOR, DONE, OF_PROCESSES, LISTEN, IGNORE = 11, 3, 1, 1, 2
ACK, ANSWER, FORK = 77, 0, 1
CLONE_NEWUSER = 0x10000000


def ask(s, what):
    request = struct.pack("=IIIIHHI", 1, 1, 0, ACK, 4, 0, what)
    s.send(struct.pack("=IHHII", 16 + len(request), DONE, 0, 0, 0) + request)


def see_a_child(s):
    """Why not that of a child of this process, in its own PID namespace."""
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    is_answered = False
    while True:
        data = s.recv(4096)
        (kind,) = struct.unpack_from("=I", data, 36)
        is_answered |= kind == ANSWER and struct.unpack_from("=I", data, 28)[0] == ACK + 1
        if kind == FORK and struct.unpack_from("=I", data, 64)[0] == child:
            return "" if is_answered else "the request was not answered"


def why_not():
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, CONNECTOR) as s:
            s.settimeout(5)
            s.bind((0, OF_PROCESSES))
            ask(s, LISTEN)
            try:
                return see_a_child(s)
            finally:
                ask(s, IGNORE)
    except OSError as e:
        return str(e)


def as_user(own_namespace):
    if AS_USER:
        os.setgroups([])
        os.setresgid(*[AS_USER["group"]] * 3)
        os.setresuid(*[AS_USER["user"]] * 3)
    if own_namespace and ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER):
        return os.strerror(ctypes.get_errno())
    return why_not()


@functools.cache
def why_no_births(own_namespace=False):
    """Why it does not; None: it does. In a user namespace of its own, if so."""
    answer, to = os.pipe()
    child = os.fork()
    if not child:
        os.write(to, as_user(own_namespace).encode())
        os._exit(0)
    os.close(to)
    os.waitpid(child, 0)
    with os.fdopen(answer) as f:
        return f.read() or None
