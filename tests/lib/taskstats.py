# SPDX-License-Identifier: BSD-2-Clause
"""What the kernel says of the delays of a process or thread over netlink, as getdelays shows it."""

import errno
import os
import socket
import struct

GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
CMD_GET, ATTR_PID, ATTR_TGID = 1, 1, 2
TYPE_AGGR_PID, TYPE_AGGR_TGID, TYPE_STATS = 4, 5, 3
NETLINK_GENERIC = 16  # the module socket has no name for it
NLM_F_REQUEST, NLMSG_ERROR = 1, 2
BROKEN_VERSION = 15  # has its new fields in the middle
# of struct taskstats, where each total is and with which version it came
DELAYS = {
    "blkio_delay_seconds": (40, 1),
    "swapin_delay_seconds": (56, 1),
    "reclaim_delay_seconds": (320, 7),
    "thrashing_delay_seconds": (336, 9),
    "compact_delay_seconds": (360, 11),
    "cow_delay_seconds": (408, 13),
    "irq_delay_seconds": (424, 14),
}


class Unavailable(Exception):
    """This kernel does not report them, or not in a known layout."""


def attribute(kind, data):
    whole = struct.pack("HH", 4 + len(data), kind) + data
    return whole + bytes(-len(whole) % 4)


def attributes(data):
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("HH", data)
        found[kind & 0x3FFF] = data[4:length]
        data = data[length + 3 & ~3 :]
    return found


def ask(sock, family, command, version, body):
    """The attributes of the answer."""
    sock.send(struct.pack("IHHIIBBH", 20 + len(body), family, NLM_F_REQUEST, 1, 0, command, version, 0) + body)
    answer = sock.recv(65536)
    (kind,) = struct.unpack_from("H", answer, 4)
    if kind == NLMSG_ERROR:
        error = -struct.unpack_from("i", answer, 16)[0]
        if family == GENL_ID_CTRL and error == errno.ENOENT:
            raise Unavailable("the kernel has no taskstats (CONFIG_TASKSTATS)")
        raise OSError(error, os.strerror(error))
    return attributes(answer[20:])


def delays_of(number, is_thread=False):
    """The delays of the process (or thread) @number in nanoseconds by their keys, as far as this kernel has them."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC) as sock:
        sock.bind((0, 0))
        name = attribute(CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0")
        (family,) = struct.unpack("H", ask(sock, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, name)[CTRL_ATTR_FAMILY_ID])
        wanted = attribute(ATTR_PID if is_thread else ATTR_TGID, struct.pack("I", number))
        whole = ask(sock, family, CMD_GET, 1, wanted)[TYPE_AGGR_PID if is_thread else TYPE_AGGR_TGID]
    stats = attributes(whole)[TYPE_STATS]
    (version,) = struct.unpack_from("H", stats)
    if version == BROKEN_VERSION:
        raise Unavailable("the kernel has taskstats of version 15, which have another layout")
    return {key: struct.unpack_from("Q", stats, at)[0] for key, (at, since) in DELAYS.items() if version >= since}
