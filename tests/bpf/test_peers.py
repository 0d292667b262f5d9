# SPDX-License-Identifier: BSD-2-Clause
"""--net-peers, against the counters of processes; live sockets by state, against /proc/net/tcp."""

import json
import pathlib
import socket
import subprocess
import sys

from lib.account import AccountCase, net_counters
from lib.bpfmon import read_lines, truth
from lib.cgroups import UNIFIED, CgroupCase, move
from lib.live import wait_for

SAMPLED = True
SAME_NET = """
import json, os, socket, time

NAMES = {1: "established", 2: "syn_sent", 4: "fin_wait1", 5: "fin_wait2", 8: "close_wait", 9: "last_ack", 10: "listen"}

def inodes():
    for fd in os.listdir("/proc/self/fd"):
        try:
            link = os.readlink(f"/proc/self/fd/{fd}")
        except FileNotFoundError:
            continue
        if link.startswith("socket:["):
            yield link[8:-1]

def states():
    mine, found = set(inodes()), {}
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in open(path).readlines()[1:]:
            fields = line.split()
            if fields[9] in mine:
                name = NAMES[int(fields[3], 16)]
                found[name] = found.get(name, 0) + 1
    return found

def listener(family, address):
    s = socket.socket(family)
    s.bind((address, 0))
    s.listen(64)
    return s

def take(s, size):
    while size:
        size -= len(s.recv(size))
"""

# three ways out, a client's connection closed on one side, and datagrams to one that is not connected
TALK = (
    SAME_NET
    + """
v4, v6 = listener(socket.AF_INET, "127.0.0.1"), listener(socket.AF_INET6, "::1")
pairs = []
for at, size in ((v4, 300_000), (v4, 200_000), (v6, 70_000)):
    out = socket.create_connection(at.getsockname()[:2])
    come, _ = at.accept()
    while size:
        part = min(size, 10_000)
        out.sendall(b"x" * part)
        take(come, part)
        size -= part
    pairs.append((out, come))
mapped = socket.socket(socket.AF_INET6)
mapped.connect(("::ffff:127.0.0.1", v4.getsockname()[1]))
come, _ = v4.accept()
mapped.sendall(b"four in six")
take(come, 11)
pairs.append((mapped, come))
pairs[0][0].shutdown(socket.SHUT_WR)
while "fin_wait1" in states():  # the other side's kernel has not acknowledged it yet
    time.sleep(0.001)
udp, to = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
to.bind(("127.0.0.1", 0))
udp.connect(to.getsockname())
udp.send(b"twenty bytes of text")
to.recv(100)
to.sendto(b"back", udp.getsockname())
udp.recv(100)
print(json.dumps({"v4": v4.getsockname()[1], "v6": v6.getsockname()[1], "udp": to.getsockname()[1],
                  "states": states()}), flush=True)
time.sleep(0.5)
"""
)

MANY = """
import socket
to = []
for _ in range(8):
    s = socket.socket(type=socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    to.append(s)
for i, s in enumerate(to):
    out = socket.socket(type=socket.SOCK_DGRAM)
    out.connect(s.getsockname())
    out.send(b"x" * (i + 1) * 100)
print(*(s.getsockname()[1] for s in to))
"""


# more live sockets than a run has room for, each of which listens at a port that the kernel chooses
LISTENERS = """
import resource, socket, sys, time
nr = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (nr + 100, nr + 100))
all = [socket.socket() for _ in range(nr)]
for i, s in enumerate(all):
    s.bind((f"127.0.{i % 16}.1", 0))  # where few ports are taken, the kernel finds one at once
    s.listen(1)
time.sleep(0.3)
"""
UP = 'ip link set lo up && exec python3 -c "$@"'
ROOM = 16384

# datagrams of connected sockets to others than their peers, by each call that takes an address
ELSEWHERE = """
import ctypes, json, socket

def at(family, address):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.bind((address, 0))
    return s

def connected(family, to):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.connect(to)
    return s

class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("name_length", ctypes.c_uint), ("parts", ctypes.c_void_p),
                ("nr_parts", ctypes.c_size_t), ("control", ctypes.c_void_p), ("control_length", ctypes.c_size_t),
                ("flags", ctypes.c_int), ("pad", ctypes.c_int), ("sent", ctypes.c_uint)]

class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_char_p), ("length", ctypes.c_size_t)]

def sendmmsg(s, size, *ports):
    names = [ctypes.create_string_buffer(b"\\x02\\x00" + port.to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8), 16)
             if port else None for port in ports]
    part = Part(b"x" * size, size)
    all = (Message * len(ports))(*(Message(ctypes.addressof(n) if n else None, 16 if n else 0, ctypes.addressof(part), 1)
                                   for n in names))
    assert ctypes.CDLL(None).sendmmsg(s.fileno(), all, len(ports), 0) == len(ports)

peer, other, failing = (at(socket.AF_INET, "127.0.0.1") for _ in range(3))
peer6, other6 = (at(socket.AF_INET6, "::1") for _ in range(2))
port, elsewhere = peer.getsockname()[1], other.getsockname()[1]
s = connected(socket.AF_INET, peer.getsockname())
s.send(b"x")
s.sendto(b"x" * 10, other.getsockname())
s.send(b"x" * 2)
s.sendmsg([b"x" * 100], [], 0, other.getsockname())
s.sendmsg([b"x" * 4])
try:
    s.sendto(b"x" * 70000, failing.getsockname())
except OSError:
    s.send(b"x" * 8)
sendmmsg(s, 1000, elsewhere, 0, elsewhere, port)
six = connected(socket.AF_INET6, peer6.getsockname())
six.sendto(b"x" * 10, other6.getsockname())
six.send(b"x")
mapped = connected(socket.AF_INET6, ("::ffff:127.0.0.1", port))
mapped.sendto(b"x" * 10000, ("::ffff:127.0.0.1", elsewhere))
free = socket.socket(type=socket.SOCK_DGRAM)
free.sendto(b"x" * 5, peer.getsockname())
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen()
stream = socket.create_connection(listening.getsockname())
stream.sendto(b"tcp", other.getsockname())  # it has one peer, whatever the call says
print(json.dumps({f"udp:127.0.0.1:{port}": [1 + 2 + 4 + 8 + 2000, 6], f"udp:127.0.0.1:{elsewhere}": [12110, 5],
                  f"udp:[::1]:{peer6.getsockname()[1]}": [1, 1], f"udp:[::1]:{other6.getsockname()[1]}": [10, 1],
                  "udp:unconnected": [5, 1], f"tcp:127.0.0.1:{listening.getsockname()[1]}": [3, 1]}))
"""

# five times 1,000 bytes there and 10 back; with a second address MPTCP joins a second way to it
MPTCP = """
import socket, sys, time

def joined():
    names, values = (line.split() for line in open("/proc/net/netstat") if line.startswith("MPTcpExt:"))
    return int(values[names.index("MPJoinAckRx")])

def take(s, size):
    while size:
        size -= len(s.recv(size))

address, joins = sys.argv[1], int(sys.argv[2])
listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
listening.bind((address, 0))
listening.listen(0)
out = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
out.bind((address, 0))
out.connect(listening.getsockname())
come, _ = listening.accept()
for i in range(5):
    out.sendall(b"x" * 1000)
    take(come, 1000)
    come.sendall(b"y" * 10)
    take(out, 10)
    while not i and joined() < joins:
        time.sleep(0.01)
print(listening.getsockname()[1])
"""
TWO_WAYS = """
set -e
ip link set lo up
ip address add 10.9.0.1/32 dev lo
ip address add 10.9.0.2/32 dev lo
ip mptcp limits set subflow 2 add_addr_accepted 2
ip mptcp endpoint add 10.9.0.2 dev lo subflow
exec python3 -c "$@"
"""

# accepts as many as each line of its input says, and answers all it has with what they have sent
SERVER = """
import select, socket, sys
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(int(sys.argv[1]))
print(listening.getsockname()[1], flush=True)
held = []
for line in sys.stdin:
    for _ in range(int(line)):
        held.append(listening.accept()[0])
    for s in select.select(held, [], [], 0)[0]:
        s.sendall(s.recv(100))
    print(len(held), flush=True)
"""


class Peers(AccountCase):
    def talk(self, *options):
        run = self.run_bpfmon(["python3", "-c", TALK], ["-i", "0.05", *options])
        self.assertEqual(run.code, 0, run.stderr)
        return run, json.loads(run.stdout)

    def test_each_peer_has_what_went_to_it_and_came_from_it(self):
        run, said = self.talk("--net-peers")
        peers = {
            name: (p["net_rx_bytes"], p["net_tx_bytes"], p["net_tx_messages"])
            for name, p in run.summary["by"]["peer"].items()
        }
        self.assertEqual(
            peers,
            {
                f"tcp:127.0.0.1:{said['v4']}": (0, 500_011, 51),
                "tcp:127.0.0.1": (500_011, 0, 0),
                f"tcp:[::1]:{said['v6']}": (0, 70_000, 7),
                "tcp:[::1]": (70_000, 0, 0),
                f"udp:127.0.0.1:{said['udp']}": (4, 20, 1),
                "udp:unconnected": (20, 4, 1),
            },
        )
        self.assert_complete(run)

    def test_together_they_are_what_tcp_and_udp_have_moved(self):
        run, _said = self.talk("--net-peers=2")
        peers = run.samples[-1]["by"]["peer"]
        self.assertEqual(len(peers), 3)
        self.assertEqual(list(peers)[-1], "other")
        for key in ("net_rx_bytes", "net_tx_bytes", "net_rx_messages", "net_tx_messages"):
            sums = [run.summary[key.replace("x_", f"x_{over}_")] for over in ("tcp", "udp")]
            self.assertEqual(sum(p[key] for p in peers.values()), sum(sums), key)

    def test_the_heaviest_come_first_and_the_rest_is_other(self):
        run = self.run_bpfmon(["python3", "-c", MANY], ["--net-peers=3"])
        ports = run.stdout.split()
        sent = [(name, p["net_tx_bytes"]) for name, p in run.summary["by"]["peer"].items()]
        named = [f"udp:127.0.0.1:{port.decode()}" for port in reversed(ports)]
        self.assertEqual(sent, [*zip(named, (800, 700, 600), strict=False), ("other", 1500)])

    def test_without_the_option_no_peer_is_named(self):
        run, _said = self.talk("--net")
        self.assertNotIn("peer", run.summary.get("by", {}))
        self.assertTrue(all("peer" not in s.get("by", {}) for s in run.samples))

    def test_what_the_counters_have_is_the_same_with_peers(self):
        run, _said = self.talk("--net-peers")
        for key in net_counters():
            self.assertEqual(run.summary[key], sum(p[key] for p in run.processes), key)

    def test_live_sockets_are_in_the_states_that_proc_has(self):
        run, said = self.talk("--net")
        found = [s["by"]["socket_state"] for s in run.samples if "socket_state" in s.get("by", {})]
        self.assertIn({name: {"net_sockets": nr} for name, nr in said["states"].items()}, found)
        for sample in run.samples:
            states = sample.get("by", {}).get("socket_state", {})
            self.assertEqual(sample["net_sockets"], sum(s["net_sockets"] for s in states.values()))
        self.assertEqual(run.samples[-1]["net_sockets"], 0)

    def test_live_sockets_of_another_network_namespace_are_counted(self):
        run = self.run_bpfmon(["unshare", "-n", "sh", "-c", UP, "sh", LISTENERS, "20"], ["-i", "0.05", "--net"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assertEqual(max(sample["net_sockets"] for sample in run.samples), 20)
        self.assertEqual(run.samples[-1]["net_sockets"], 0)

    def test_live_sockets_without_room_are_a_loss(self):
        run = self.run_bpfmon(["python3", "-c", LISTENERS, str(ROOM + 100)], ["-i", "0.1", "--net"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assertEqual(run.summary["losses"], {"live_sockets": 100})
        self.assertIs(run.summary["complete"], False)
        self.assertEqual(max(sample["net_sockets"] for sample in run.samples), ROOM)

    def test_a_datagram_of_a_connected_socket_counts_where_the_call_sends_it(self):
        self.needs_programs("cgroup_sock_addr")
        run = self.run_bpfmon(["python3", "-c", ELSEWHERE], ["--net-peers"])
        self.assertEqual(run.code, 0, run.stderr)
        peers = run.summary["by"]["peer"].items()
        self.assertEqual({n: [p["net_tx_bytes"], p["net_tx_messages"]] for n, p in peers}, json.loads(run.stdout))
        self.assert_complete(run)

    def check_mptcp(self, address, before, joins):
        if not pathlib.Path("/proc/sys/net/mptcp").exists():
            self.skipTest("the kernel has no MPTCP")
        run = self.run_bpfmon([*before, MPTCP, address, str(joins)], ["--net-peers"])
        self.assertEqual(run.code, 0, run.stderr)
        named = {
            f"tcp:{address}:{int(run.stdout)}": (50, 5000, 5, 5),
            f"tcp:{address}": (5000, 50, 5, 5),
        }
        keys = ("net_rx_bytes", "net_tx_bytes", "net_rx_messages", "net_tx_messages")
        self.assertEqual({n: tuple(p[k] for k in keys) for n, p in run.summary["by"]["peer"].items()}, named)
        for key in ("net_rx_tcp_bytes", "net_tx_tcp_bytes", "net_rx_loopback_bytes", "net_tx_loopback_bytes"):
            self.assertEqual(run.summary[key], 5050, key)
        self.assertEqual((run.summary["net_connects"], run.summary["net_accepts"]), (1, 1))

    def test_a_connection_of_mptcp_has_one_peer(self):
        self.check_mptcp("127.0.0.1", ["python3", "-c"], 0)

    def test_further_ways_of_a_connection_of_mptcp_are_neither_peers_nor_connections(self):
        self.check_mptcp("10.9.0.1", ["unshare", "-n", "sh", "-c", TWO_WAYS, "sh"], 1)


class Attached(CgroupCase):
    """To a server that listens already, and has connections."""

    def serve(self, *before, backlog=50):
        server = self.start(
            *before, sys.executable, "-c", SERVER, str(backlog), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(server.stdin.close)
        self.addCleanup(server.stdout.close)
        server.port = int(server.stdout.readline())
        server.clients = []
        return server

    def connect(self, server, number):
        for _ in range(number):
            server.clients.append(socket.create_connection(("127.0.0.1", server.port)))
            self.addCleanup(server.clients[-1].close)

    def accept(self, server, number):
        server.stdin.write(f"{number}\n")
        server.stdin.flush()
        server.stdout.readline()

    def ask(self, server, accepts):
        """Each client sends 10 bytes and gets them back."""
        for c in server.clients:
            c.sendall(b"x" * 10)
        self.accept(server, accepts)
        for c in server.clients:
            c.recv(10, socket.MSG_WAITALL)

    def sockets(self, server):
        """How many the server's port has, in the file of the kernel."""
        rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        here = f":{server.port:04X}"  # a reading in pieces may have a row twice
        return len({row[2] for row in rows if row[1].endswith(here) and row[3] != "06"})

    def next_sample(self, process):
        """One that begins after this."""
        before = len(self.samples(process))
        wait_for(lambda: len(self.samples(process)) > before + 1, "the next samples")
        return self.samples(process)[-1]

    def samples(self, process):
        return [line for line in read_lines(process.out) if line["kind"] == "sample"]

    def check(self, server, attach):
        """5 are accepted before, 3 wait; then 30 more come."""
        self.connect(server, 8)
        self.accept(server, 5)
        process = attach()
        self.assertEqual(self.next_sample(process)["net_sockets"], self.sockets(server))
        self.connect(server, 30)
        self.ask(server, 33)
        sample = self.next_sample(process)
        self.assertEqual(sample["net_sockets"], self.sockets(server))
        self.assertEqual(sample["by"]["socket_state"], {"established": {"net_sockets": 38}, "listen": {"net_sockets": 1}})
        for c in server.clients:
            c.close()
        run = self.stop(process)
        self.assert_complete(run)
        self.assertEqual(run.summary["net_accepts"], 30)
        self.assertEqual((run.summary["net_rx_tcp_bytes"], run.summary["net_tx_tcp_bytes"]), (380, 380))
        return run

    def attach_to_server(self, server, *options):
        process = self.attach([server.pid], ["-i", "0.05", *options])
        self.wait_until_attached(process)
        return process

    def test_what_came_in_before_and_comes_in_then_has_one_peer(self):
        server = self.serve()
        run = self.check(server, lambda: self.attach_to_server(server, "--net-peers"))
        (name, peer), = run.summary["by"]["peer"].items()
        self.assertEqual((name, peer["net_rx_bytes"], peer["net_tx_bytes"]), ("tcp:127.0.0.1", 380, 380))

    def test_in_a_cgroup(self):
        group = self.group(UNIFIED)
        server = self.serve(truth("incgroup"), str(group))
        self.check(server, lambda: self.attach_cgroup(group, "--net"))

    def test_a_server_that_is_moved_in_is_met_at_the_next_sample(self):
        group = self.group(UNIFIED)
        self.keeper(group)
        server = self.serve()
        self.connect(server, 2)
        process = self.attach_cgroup(group, "--net")
        move(group, server.pid)
        wait_for(lambda: self.next_sample(process)["net_sockets"], "its sockets")
        self.assertEqual(self.next_sample(process)["net_sockets"], 3)
        self.connect(server, 4)
        run = self.stop(process)
        self.assertEqual(run.summary["net_accepts"], 4)

    def test_more_that_wait_than_are_read_are_a_loss(self):
        server = self.serve(backlog=200)
        self.connect(server, 140)
        process = self.attach_to_server(server, "--net")
        self.assertEqual(self.next_sample(process)["net_sockets"], 1 + 128)
        self.assertEqual(self.stop(process).summary["losses"], {"live_sockets": 12})

    def test_without_the_program_that_finds_them_nothing_is_said_of_them(self):
        server = self.serve()
        run = self.stop(self.attach_to_server(server, "--net", "--inject-no-program", "sockets__seed"))
        for key in ("net_accepts", "net_retransmits", "net_sockets"):
            self.assertNotIn(key, run.summary)
            self.assertIn("live sockets are then unknown", run.meta["capabilities"][key]["reason"])
        self.assertIn("net_connects", run.summary)
