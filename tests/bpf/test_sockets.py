# SPDX-License-Identifier: BSD-2-Clause
"""--net: bytes and calls of sockets, in the process that moved them, against what its calls returned."""

from lib.account import AccountCase, net_counters
from lib.bpfmon import truth

PROTOCOL = {"tcp": "tcp", "tcp6": "tcp", "udp": "udp", "unix": "unix", "dgram": "unix", "seqpacket": "unix"}
SENDS = ("send", "write", "writev", "sendmsg", "sendfile", "splice", "uring", "partial")
RECEIVES = ("recv", "read", "recvmsg", "peek", "uring")
UNEVEN = 10_000_019  # no multiple of a block
# within the kernel these send in pieces of their own, so that the number of calls is not the program's
IN_PIECES = {"sendfile", "splice"}


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
