# SPDX-License-Identifier: BSD-2-Clause
"""--net: bytes and calls of sockets, in the process that moved them, against what its calls returned."""

import subprocess

from lib.account import AccountCase, net_counters
from lib.bpfmon import truth

SAMPLED = True
PROTOCOL = {"tcp": "tcp", "tcp6": "tcp", "udp": "udp", "unix": "unix", "dgram": "unix", "seqpacket": "unix"}
SENDS = ("send", "write", "writev", "sendmsg", "sendfile", "splice", "uring", "partial")
RECEIVES = ("recv", "read", "recvmsg", "peek", "uring")
UNEVEN = 10_000_019  # no multiple of a block
# within the kernel these send in pieces of their own, so that the number of calls is not the program's
IN_PIECES = {"sendfile", "splice"}
# a network of its own, of a loopback device
NETWORK = ("unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


class Moved(AccountCase):
    def move(self, kind, send, receive, size=UNEVEN, block=16384, *more):
        """The run, and the witness of both sides."""
        command = [truth("sockets"), kind, send, receive, str(size), str(block), *more]
        run = self.run_bpfmon(command, ["--net"])
        self.skip_if_lacking(run)
        self.assertEqual(run.code, 0, run.stderr)
        return run, run.witness

    def assert_moved(self, kind, send, receive, *more):
        run, said = self.move(kind, send, receive, *more)
        sender, receiver = said["sender"], said["receiver"]
        over = PROTOCOL[kind]
        sent, got = self.by_pid(run, sender["pid"]), self.by_pid(run, receiver["pid"])
        self.assertEqual(sent[f"net_tx_{over}_bytes"], sender["bytes"])
        self.assertEqual(got[f"net_rx_{over}_bytes"], receiver["bytes"])
        if send not in IN_PIECES:
            self.assertEqual(sent[f"net_tx_{over}_messages"], sender["calls"])
        self.assertEqual(got[f"net_rx_{over}_messages"], receiver["calls"])
        self.assertEqual(sent[f"net_rx_{over}_bytes"], 0)
        self.assertEqual(got[f"net_tx_{over}_bytes"], 0)
        self.assert_complete(run)
        self.assert_net_sums(run)
        return run

    def assert_net_sums(self, run):
        """Of the whole run it is the sum of its processes, and of the ways the sum of all."""
        for key in net_counters():
            total = sum(p[key] for p in run.processes)
            self.assertEqual(run.summary[key], total, key)
            self.assertEqual(run.samples[-1][key], total, key)
        for line in [*run.processes, run.summary]:
            for way in ("rx", "tx"):
                parts = sum(line[f"net_{way}_{over}_bytes"] for over in ("tcp", "udp", "unix", "other"))
                self.assertEqual(line[f"net_{way}_bytes"], parts)

    def test_every_way_to_send_over_every_kind(self):
        for kind in PROTOCOL:
            for send in SENDS:
                with self.subTest(kind=kind, send=send):
                    self.assert_moved(kind, send, "recv")

    def test_every_way_to_receive_over_every_kind(self):
        for kind in PROTOCOL:
            for receive in RECEIVES:
                with self.subTest(kind=kind, receive=receive):
                    self.assert_moved(kind, "send", receive)

    def test_several_datagrams_by_one_call(self):
        for kind in ("udp", "dgram", "seqpacket"):
            with self.subTest(kind=kind):
                self.assert_moved(kind, "sendmmsg", "recvmmsg", 16384 * 100)

    def test_zero_copy_over_tcp_and_udp(self):
        for kind in ("tcp", "tcp6", "udp"):
            for send in ("zerocopy", "uringzc"):
                with self.subTest(kind=kind, send=send):
                    self.assert_moved(kind, send, "recv")

    def test_a_gibibyte_to_the_byte(self):
        for kind in ("tcp", "udp", "unix"):
            with self.subTest(kind=kind):
                self.assert_moved(kind, "send", "recv", 1 << 30, 60000)

    def test_of_a_file_that_is_sent_each_datagram_is_a_message(self):
        for kind in ("dgram", "seqpacket"):
            with self.subTest(kind=kind):
                run, said = self.move(kind, "sendfile", "recv", 1_000_000, 200_000)
                sent = self.by_pid(run, said["sender"]["pid"])
                self.assertEqual(sent["net_tx_unix_bytes"], 1_000_000)
                self.assertGreater(said["receiver"]["calls"], said["sender"]["calls"])
                self.assertEqual(sent["net_tx_unix_messages"], said["receiver"]["calls"])

    def test_of_a_socket_that_is_passed_on_the_sender_is_counted(self):
        for kind in PROTOCOL:
            run, said = self.move(kind, "send", "recv", UNEVEN, 16384, "passed")
            with self.subTest(kind=kind):
                sent = self.by_pid(run, said["sender"]["pid"])
                self.assertEqual(sent[f"net_tx_{PROTOCOL[kind]}_bytes"], said["sender"]["bytes"])

    def test_what_stays_on_this_machine_is_told_apart_where_the_socket_knows(self):
        for kind in ("tcp", "tcp6", "udp"):
            with self.subTest(kind=kind):
                run = self.assert_moved(kind, "send", "recv")
                self.assertEqual(run.summary["net_tx_loopback_bytes"], UNEVEN)
        run = self.assert_moved("unix", "send", "recv")
        self.assertEqual(run.summary["net_tx_loopback_bytes"], 0)

    def test_without_the_option_nothing_of_sockets_is_there(self):
        run = self.run_bpfmon([truth("sockets"), "unix", "send", "recv", "1000", "1000"])
        self.assertFalse(set(net_counters()) & set(run.summary))

    def test_what_bpfmon_itself_sends_is_not_in_it(self):
        run = self.run_bpfmon(["true"], ["--net"])
        self.assertEqual([run.summary[key] for key in net_counters()], [0] * len(net_counters()))


CONNECTIONS = """
import os, socket
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(64)
at = listening.getsockname()
if os.fork() == 0:
    for _ in range(7):
        socket.create_connection(at).close()
    dead = socket.socket()
    dead.bind(("127.0.0.1", 0))  # no socket listens there
    for _ in range(3):
        try:
            socket.create_connection(dead.getsockname())
        except ConnectionRefusedError:
            pass
    os._exit(0)
for _ in range(7):
    listening.accept()[0].close()
os.wait()
"""


class Connections(AccountCase):
    def test_opened_accepted_and_failed(self):
        run = self.run_bpfmon(["python3", "-c", CONNECTIONS], ["--net"])
        parent = self.only(p for p in run.processes if p["net_accepts"])
        child = self.only(p for p in run.processes if p["net_connects"])
        self.assertEqual(parent["net_accepts"], 7)
        self.assertEqual((child["net_connects"], child["net_failed_connects"]), (7, 3))
        self.assertEqual(run.summary["net_accepts"], 7)
        self.assertEqual(run.summary["net_connects"], 7)
        self.assertEqual(run.summary["net_failed_connects"], 3)


# a filter of a socket that listens holds for those that come in there, too
FILTERED = """
import ctypes, errno, os, select, socket, struct, time

RANDOM = 0xFFFFF000 + 56
ALL = [(0x06, 0, 0, 0)]
BUT_SYNS = [(0x30, 0, 0, 13), (0x45, 0, 1, 2), (0x06, 0, 0, 0x40000), (0x06, 0, 0, 0)]
ONE_IN_20 = [(0x20, 0, 0, RANDOM), (0x94, 0, 0, 20), (0x15, 1, 0, 0), (0x06, 0, 0, 0x40000), (0x06, 0, 0, 0)]

def drop(s, what):
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in what))
    s.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HxxxxxxP", len(what), ctypes.addressof(program)))

def bound(port=0):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", port))
    return s

def listener():
    s = bound()
    s.listen(64)
    return s

def begin(s, at):
    s.setblocking(False)
    assert s.connect_ex(at) == errno.EINPROGRESS
    s.setblocking(True)

def ended(s):
    q = select.poll()
    q.register(s, select.POLLOUT)
    q.poll()
    return s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)

def sent_again(s):
    return struct.unpack_from("I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 100)[0]
"""

# a SYN that is dropped leaves its socket as one that opens: the next SYN comes from the other one
MEETS = """
silent = listener()
drop(silent, ALL)
one, at = bound(), silent.getsockname()
begin(one, at)
silent.close()
other = bound(at[1])
"""

CROSSING = (
    FILTERED
    + """
alone = bound()
alone.connect(alone.getsockname())
"""
    + MEETS
    + """
other.connect(one.getsockname())
assert ended(one) == 0
"""
)

# the other one never learns of the answer, and is gone when it is sent again
CROSSING_IN_VAIN = (
    FILTERED
    + MEETS
    + """
drop(other, ALL)
begin(other, one.getsockname())
other.close()
assert ended(one)
"""
)

# with the request in the SYN, and an answer before the third packet, which does not come
FAST_OPEN = (
    FILTERED
    + """
open("/proc/sys/net/ipv4/tcp_fastopen", "w").write("519")  # by both sides, and without a cookie
to = bound()
to.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)
drop(to, BUT_SYNS)
to.listen(5)
client = socket.socket()
client.sendto(b"request", socket.MSG_FASTOPEN, to.getsockname())
come, _ = to.accept()
assert come.recv(100) == b"request"
come.send(b"answer")
come.close()
"""
)

# each error of connect() but those of a socket that is busy or connected: it prints how many
AT_ONCE = (
    FILTERED
    + """
import signal, subprocess, sys, threading

failed = []

def fails(s, at, *errors):
    got = s.connect_ex(at)
    assert got in errors, got
    failed.append(got)

for words in ("unreachable 203.0.113.0/24", "prohibit 198.51.100.0/24"):
    subprocess.run(["ip", "route", "add", *words.split()], check=True)
for _ in range(3):
    fails(socket.socket(), ("192.0.2.1", 80), errno.ENETUNREACH)
    fails(socket.socket(), ("203.0.113.1", 80), errno.EHOSTUNREACH)
    fails(socket.socket(), ("198.51.100.1", 80), errno.EACCES)
    fails(socket.socket(socket.AF_INET6), ("2001:db8::1", 80), errno.ENETUNREACH)
    fails(socket.socket(), ("127.0.0.1", 1), errno.ECONNREFUSED)
to, silent = listener(), listener()
drop(silent, ALL)
same = socket.create_connection(to.getsockname())
twin = socket.socket()
twin.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
same.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
twin.bind(same.getsockname())
fails(twin, to.getsockname(), errno.EADDRNOTAVAIL)  # two connections with the same ends
threads = [threading.Thread(target=fails, args=(socket.socket(), ("192.0.2.1", 80), errno.ENETUNREACH)) for _ in "12"]
for one in threads:
    one.start()
for one in threads:
    one.join()

assert same.connect_ex(to.getsockname()) == errno.EISCONN
assert to.connect_ex(to.getsockname()) == errno.EISCONN
slow = socket.socket()
begin(slow, to.getsockname())
assert ended(slow) == 0
waits, at = socket.socket(), silent.getsockname()
begin(waits, at)
waits.setblocking(False)
assert waits.connect_ex(at) == errno.EALREADY
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
interrupted = socket.socket()
address = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", at[1], socket.inet_aton(at[0]))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.connect(interrupted.fileno(), address, len(address)) < 0 and ctypes.get_errno() == errno.EINTR
signal.setitimer(signal.ITIMER_REAL, 0)
for at in (("192.0.2.1", 80), ("127.0.0.1", 1)):  # datagrams have no connections
    socket.socket(type=socket.SOCK_DGRAM).connect_ex(at)
print(len(failed), flush=True)
sys.stdin.read()
"""
)

# small segments, so that many are sent again at once; the kernel counts them for the whole network
LOSSES = (
    FILTERED
    + """
def of_network():
    names, values = (line.split() for line in open("/proc/net/snmp") if line.startswith("Tcp:"))
    return int(values[names.index("RetransSegs")])

def is_quiet():
    states = [line.split()[3] for line in open("/proc/net/tcp").readlines()[1:]]
    return all(state in ("06", "0A") for state in states)  # they wait, or listen

to = listener()
drop(to, BUT_SYNS)
late = socket.create_connection(to.getsockname())  # the server does not know it yet
while not of_network():
    time.sleep(0.01)
drop(to, ONE_IN_20)
late.send(b"x")
come, _ = to.accept()
client = socket.socket()
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
client.connect(to.getsockname())
server, _ = to.accept()
child = os.fork()
if not child:
    client.close()
    while server.recv(1 << 20):
        pass
    os._exit(0)
while sent_again(client) < 200:
    client.sendall(bytes(100_000))
said = sum(map(sent_again, (client, server, late, come)))
for s in (client, server, late, come):
    s.close()
os.waitpid(child, 0)
while not is_quiet():
    time.sleep(0.01)
print(said, of_network())
"""
)


class Handshakes(AccountCase):
    def opened(self, program, before=()):
        """What was opened, what came in, what failed; and the run."""
        run = self.run_bpfmon(["python3", "-c", program], ["--net"], before=before)
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        keys = ("net_connects", "net_accepts", "net_failed_connects")
        return tuple(run.summary[key] for key in keys), run

    def test_ends_that_open_at_once_have_opened_both(self):
        self.assertEqual(self.opened(CROSSING)[0], (3, 0, 0))

    def test_and_fail_both_if_they_do_not_meet(self):
        self.assertEqual(self.opened(CROSSING_IN_VAIN)[0], (0, 0, 2))

    def test_what_is_closed_before_it_is_established_has_come_in(self):
        self.assertEqual(self.opened(FAST_OPEN, NETWORK)[0], (1, 1, 0))

    def test_errors_at_once_are_failures_and_what_goes_on_is_none(self):
        self.needs_programs("cgroup_sock_addr")
        command = [*NETWORK, "python3", "-c", AT_ONCE]
        with self.running(command, ["--net"], stdout=subprocess.PIPE) as live:
            failed = int(live.process.stdout.readline())
            self.assertEqual(failed, 18)
            sample = live.next_sample()
            self.assertEqual((sample["net_connects"], sample["net_failed_connects"]), (2, failed))
            summary = live.finish()
        # the end of the program has given up the two that were still waiting
        self.assertEqual((summary["net_connects"], summary["net_failed_connects"]), (2, failed + 2))

    def test_segments_that_are_sent_again_are_those_that_the_kernel_counts(self):
        opened, run = self.opened(LOSSES, NETWORK)
        self.assertEqual(opened, (2, 2, 0))
        of_sockets, of_network = map(int, run.stdout.split())
        self.assertGreaterEqual(of_sockets, 200)
        self.assertGreaterEqual(of_network, of_sockets)  # those at the end, too
        self.assertEqual(run.summary["net_retransmits"], of_network)


# what the queue of errors has: refusals with the datagram that caused them, notices of buffers that are
# free again, and when something was sent
ERRORS = """
import select, socket, struct
ERRQUEUE, ZEROCOPY = 0x2000, 0x4000000

def errors(s, at_least=1):
    got = []
    while len(got) < at_least:
        q = select.poll()
        q.register(s, 0)
        q.poll()
        got.append(len(s.recvmsg(70_000, 512, ERRQUEUE)[0]))
    return sum(got)

def refused(s, at, level, option):
    s.setsockopt(level, option, 1)  # IP_RECVERR, IPV6_RECVERR
    s.sendto(bytes(500), at)
    return errors(s)

def stamped(s):
    s.setsockopt(socket.SOL_SOCKET, 37, 2 | 16)  # SO_TIMESTAMPING: when the device has taken it
"""

REFUSED = (
    ERRORS
    + """
seen = 0
for _ in range(20):
    seen += refused(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), ("127.0.0.1", 1), 0, 11)
    seen += refused(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM), ("::1", 1), 41, 25)
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 253)
    raw.bind(("127.0.0.1", 0))  # so that it does not receive what it sends to another address
    seen += refused(raw, ("127.0.0.2", 0), 0, 11)
print(seen)
"""
)

RELEASED = (
    ERRORS
    + """
def listener():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(1)
    return s

to = socket.socket(type=socket.SOCK_DGRAM)
to.bind(("127.0.0.1", 0))
udp = socket.socket(type=socket.SOCK_DGRAM)
udp.connect(to.getsockname())
listening = listener()
tcp = socket.create_connection(listening.getsockname())
come, _ = listening.accept()
seen = 0
for s, end in ((udp, to), (tcp, come)):
    s.setsockopt(socket.SOL_SOCKET, 60, 1)  # SO_ZEROCOPY
    for _ in range(20):
        s.send(bytes(10_000), ZEROCOPY)
        left = 10_000
        while left:
            left -= len(end.recv(left))
        seen += errors(s)
    stamped(s)
    for _ in range(20):
        s.send(bytes(1000))
        end.recv(1000)
        seen += errors(s)
print(seen)
"""
)

OF_PACKETS = (
    ERRORS
    + """
lo = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)  # receives nothing
stamped(lo)
seen = 0
for _ in range(20):
    lo.sendto(bytes(300), ("lo", 0x88B5))
    seen += errors(lo)
print(seen)
"""
)

# a ring for what arrives is read without a call; one for what is sent needs a call that sends all of it
RINGS = """
import mmap, select, socket, struct
SOL_PACKET, RX_RING, VERSION, TX_RING = 263, 5, 10, 13
SLOT, SLOTS = 2048, 32
FRAME = bytes(12) + struct.pack("!H", 0x88B5) + bytes(486)

def ring(which, protocol):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
    s.bind(("lo", protocol))
    s.setsockopt(SOL_PACKET, VERSION, 1)
    s.setsockopt(SOL_PACKET, which, struct.pack("IIII", SLOT * SLOTS, 1, SLOT, SLOTS))
    return s, mmap.mmap(s.fileno(), SLOT * SLOTS)

def arrived():
    slots = (struct.unpack_from("II", seen, at * SLOT) for at in range(SLOTS))
    return [size for status, size in slots if status & 1]

come, seen = ring(RX_RING, 0x88B5)
go, room = ring(TX_RING, 0)
for at in range(0, 10 * SLOT, SLOT):
    room[at + 32 : at + 32 + len(FRAME)] = FRAME
    struct.pack_into("III", room, at, 1, len(FRAME), len(FRAME))
assert go.send(b"") == 5000
while len(arrived()) < 10:
    q = select.poll()
    q.register(come, select.POLLIN)
    q.poll()
plain = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B5))
plain.bind(("lo", 0x88B5))
plain.send(FRAME)
packet = len(plain.recv(2000))
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 253)
raw.sendto(bytes(100), ("127.0.0.1", 0))
print(sum(arrived()), packet, len(raw.recv(1000)))  # the ring has seen that one, too
"""

# they know no such queue: the flag means nothing to them
WITHOUT_ERRORS = (
    ERRORS
    + """
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.send(bytes(700))
n = len(b.recvmsg(1000, 0, ERRQUEUE)[0])
routes = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
routes.bind((0, 0))
routes.send(struct.pack("IHHIIBBHiII", 32, 18, 0x301, 1, 0, 0, 0, 0, 0, 0, 0))  # RTM_GETLINK, all of them
print(n, len(routes.recvmsg(100_000, 0, ERRQUEUE)[0]))
"""
)

# an end is read as often as wanted; an empty message once, also while more is to come
ENDS = """
import socket

def drained(s, times):
    for _ in range(times):
        assert s.recv(10) == b""

a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
a.send(b"")
drained(b, 1)
for text in (b"x", b"", b"y"):
    a.send(text)
a.close()
while b.recv(10) != b"y":
    pass
drained(b, 10)
c, d = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
d.shutdown(socket.SHUT_RD)
drained(d, 10)
one, other = (socket.socket(type=socket.SOCK_DGRAM) for _ in range(2))
other.bind(("127.0.0.1", 0))
one.connect(other.getsockname())
other.connect(("127.0.0.1", one.getsockname()[1]))
for _ in range(3):
    one.send(b"")
drained(other, 3)
other.shutdown(socket.SHUT_RD)
drained(other, 10)
"""


class Received(AccountCase):
    def received(self, program):
        """The summary of a run of it, and the numbers that it has printed."""
        run = self.run_bpfmon(["python3", "-c", program], ["--net"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        return run.summary, [int(word) for word in run.stdout.split()]

    def assert_nothing_received(self, summary, *overs):
        for over in overs:
            got = (summary[f"net_rx_{over}_bytes"], summary[f"net_rx_{over}_messages"])
            self.assertEqual(got, (0, 0), over)

    def test_ones_own_datagram_that_was_refused_is_not_received(self):
        summary, (seen,) = self.received(REFUSED)
        self.assertEqual(seen, 3 * 20 * 500)
        self.assertEqual(summary["net_tx_bytes"], seen)
        self.assert_nothing_received(summary, "udp", "other")

    def test_notices_of_what_was_sent_are_not_received(self):
        summary, (seen,) = self.received(RELEASED)
        self.assertGreater(seen, 2 * 20 * 1000)  # the packets, with their headers
        for over in ("udp", "tcp"):
            self.assertEqual(summary[f"net_rx_{over}_bytes"], 20 * 11_000)
        self.assertEqual(summary["net_rx_udp_messages"], 40)
        self.assertEqual(summary["net_tx_bytes"], summary["net_rx_bytes"])

    def test_nor_of_packet_sockets(self):
        summary, (seen,) = self.received(OF_PACKETS)
        self.assertGreaterEqual(seen, 20 * 300)
        self.assertEqual(summary["net_tx_other_bytes"], 20 * 300)
        self.assert_nothing_received(summary, "other")

    def test_raw_and_packet_sockets_have_their_headers_and_rings_what_calls_return(self):
        run = self.run_bpfmon(["python3", "-c", RINGS], ["--net"], before=NETWORK)
        self.assertEqual(run.code, 0, run.stderr)
        of_ring, of_packet, of_raw = map(int, run.stdout.split())
        self.assertEqual((of_ring, of_packet, of_raw), (5500, 500, 120))
        sent, got = ([run.summary[f"net_{way}_other_{what}"] for what in ("bytes", "messages")] for way in ("tx", "rx"))
        self.assertEqual(sent, [5000 + 500 + 100, 3])
        self.assertEqual(got, [of_packet + of_raw, 2])

    def test_sockets_without_a_queue_of_errors_receive_in_spite_of_the_flag(self):
        summary, (of_unix, of_netlink) = self.received(WITHOUT_ERRORS)
        self.assertEqual((of_unix, summary["net_rx_unix_bytes"]), (700, 700))
        self.assertEqual(summary["net_rx_other_bytes"], of_netlink)

    def test_the_end_is_no_message_and_an_empty_datagram_is_one(self):
        summary, _ = self.received(ENDS)
        self.assertEqual((summary["net_rx_unix_messages"], summary["net_rx_unix_bytes"]), (4, 2))
        self.assertEqual((summary["net_rx_udp_messages"], summary["net_rx_udp_bytes"]), (3, 0))
