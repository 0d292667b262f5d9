# SPDX-License-Identifier: BSD-2-Clause
"""Real transfers between network namespaces: payload as the programs say it, packets as the interface does."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from lib.cgroups import UNIFIED, CgroupCase
from lib.live import wait_for

SAMPLED = True
ETHERNET = 14  # bytes of its header, which the counters of an interface have
BARE_LEAST, BARE_MOST = ETHERNET + 20 + 20, ETHERNET + 20 + 60  # a packet of TCP without payload
LATE = 8
SIZE = 50_000_003
MTU, IPV4, UDP = 1500, 20, 8
DATAGRAM = 60_000

ECHO = """
import socket
s = socket.socket(type=socket.SOCK_DGRAM)
s.bind(("10.251.77.2", 8098))
print("bound", flush=True)
data, at = s.recvfrom(70_000)
s.sendto(data, at)
"""

ASK = f"""
import socket
s = socket.socket(type=socket.SOCK_DGRAM)
s.connect(("10.251.77.2", 8098))
s.send(bytes({DATAGRAM}))
assert len(s.recv(70_000)) == {DATAGRAM}
"""


def ip(*words):
    subprocess.run(["ip", *words], check=True, stdout=subprocess.DEVNULL)


@unittest.skipUnless(all(map(shutil.which, ("ip", "curl", "iperf3"))), "needs ip, curl, iperf3: tools/install-deps.sh containers")
class Between(CgroupCase):
    def setUp(self):
        super().setUp()
        self.needs_programs("cgroup_skb")
        name = f"bm{os.getpid() % 10000}"
        self.near, self.space = f"{name}a", name
        far = f"{name}b"
        ip("netns", "add", self.space)
        self.addCleanup(ip, "netns", "del", self.space)
        # without IPv6 nothing but the transfer goes over it, once both sides know each other's address
        ip("link", "add", self.near, "type", "veth", "peer", "name", far, "netns", self.space)
        self.addCleanup(ip, "link", "del", self.near)  # at once, other than with its namespace
        pathlib.Path(f"/proc/sys/net/ipv6/conf/{self.near}/disable_ipv6").write_text("1")
        ip("netns", "exec", self.space, "sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6")
        ip("addr", "add", "10.251.77.1/30", "dev", self.near)
        ip("link", "set", self.near, "up")
        ip("-n", self.space, "addr", "add", "10.251.77.2/30", "dev", far)
        ip("-n", self.space, "link", "set", far, "up")
        address = pathlib.Path(f"/sys/class/net/{self.near}/address").read_text().strip()
        ip("-n", self.space, "neigh", "add", "10.251.77.1", "lladdr", address, "dev", far)
        of_far = json.loads(subprocess.run(["ip", "-j", "-n", self.space, "link", "show", far],
                                           check=True, stdout=subprocess.PIPE).stdout)[0]["address"]
        ip("neigh", "add", "10.251.77.2", "lladdr", of_far, "dev", self.near)

    def serve(self, *argv, port):
        self.start("ip", "netns", "exec", self.space, *argv, cwd=self.dir,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        listening = f":{port:04X} 00000000:0000 0A"
        shown = ["ip", "netns", "exec", self.space, "cat", "/proc/net/tcp", "/proc/net/tcp6"]
        wait_for(lambda: listening[:5] in subprocess.run(shown, stdout=subprocess.PIPE, check=False).stdout.decode(),
                 f"port {port}")

    def counters(self):
        folder = pathlib.Path(f"/sys/class/net/{self.near}/statistics")
        return {key: int((folder / key).read_text()) for key in ("rx_bytes", "tx_bytes", "rx_packets", "tx_packets")}

    def run_in_cgroup(self, *argv):
        """The run attached to its cgroup, what the command prints, and what went through the interface."""
        group = self.group(UNIFIED)
        keeper = self.keeper(group)
        attached = self.attach_cgroup(group, "--net")
        before = self.counters()
        command = self.start_in(group, *argv, stdout=subprocess.PIPE)
        text, _ = command.communicate(timeout=60)
        self.assertEqual(command.returncode, 0, text)
        self.wait_until_closed()
        after = self.counters()
        self.end(keeper)
        attached.send_signal(signal.SIGINT)
        return self.finish(attached), text.decode(), {key: after[key] - before[key] for key in before}

    def wait_until_closed(self):
        """The last acknowledgements have passed when no connection is left but those that wait, silent."""
        table = pathlib.Path("/proc/net/tcp")
        here = "014DFB0A"  # 10.251.77.1 as that file has it
        waits = "06"
        wait_for(lambda: all(line.split()[3] == waits for line in table.read_text().splitlines()
                             if f" {here}:" in line), "the end of all connections")

    def assert_wire(self, run, moved, late):
        """@late: packets at most that belong to no socket any more, without payload."""
        for way in ("rx", "tx"):
            packets, size = run.summary[f"net_wire_{way}_packets"], run.summary[f"net_wire_{way}_bytes"]
            missing = moved[f"{way}_packets"] - packets
            self.assertGreaterEqual(missing, 0)
            self.assertLessEqual(missing, late)
            of_missing = moved[f"{way}_bytes"] - (size + ETHERNET * packets)
            self.assertGreaterEqual(of_missing, missing * BARE_LEAST)
            self.assertLessEqual(of_missing, missing * BARE_MOST)

    def test_curl_and_the_interface_say_the_same(self):
        (self.dir / "file").write_bytes(os.urandom(SIZE))
        self.serve("python3", "-m", "http.server", "8099", port=8099)
        said = "%{size_download} %{size_header} %{size_request}"
        run, text, moved = self.run_in_cgroup("curl", "-sS", "-o", str(self.dir / "got"), "-w", said,
                                              "http://10.251.77.2:8099/file")
        download, header, request = map(int, text.split())
        self.assertEqual(download, SIZE)
        curl = self.only(p for p in run.processes if p["comm"] == "curl")
        self.assertEqual(curl["net_rx_tcp_bytes"], download + header)
        self.assertEqual(curl["net_tx_tcp_bytes"], request)
        self.assertEqual((curl["net_connects"], curl["net_rx_loopback_bytes"]), (1, 0))
        self.assert_wire(run, moved, late=1)  # the end of the other side, which comes when the socket is gone

    def test_a_datagram_of_many_fragments_is_one_packet(self):
        echo = self.start("ip", "netns", "exec", self.space, "python3", "-c", ECHO, stdout=subprocess.PIPE)
        self.assertEqual(echo.stdout.readline(), b"bound\n")
        run, _, moved = self.run_in_cgroup("python3", "-c", ASK)
        fragments = -(-(UDP + DATAGRAM) // (MTU - IPV4))
        for way in ("rx", "tx"):
            self.assertEqual(run.summary[f"net_wire_{way}_packets"], 1)
            self.assertEqual(run.summary[f"net_wire_{way}_bytes"], IPV4 + UDP + DATAGRAM)
            self.assertEqual(moved[f"{way}_packets"], fragments)
            self.assertEqual(moved[f"{way}_bytes"], UDP + DATAGRAM + fragments * (IPV4 + ETHERNET))

    def test_iperf3_says_the_same_of_udp_and_tcp(self):
        self.serve("iperf3", "-s", "-p", "5299", port=5299)
        for options in ([], ["-R"], ["-u", "-b", "50M"]):
            with self.subTest(options=options):
                run, text, moved = self.run_in_cgroup("iperf3", "-J", "-c", "10.251.77.2", "-p", "5299", "-n", "20M",
                                                      *options)
                end = json.loads(text)["end"]
                iperf = self.only(p for p in run.processes if p["comm"] == "iperf3")
                over = "udp" if "-u" in options else "tcp"
                way, sums = ("rx", "sum_received") if "-R" in options else ("tx", "sum_sent")
                said = end["sum" if over == "udp" else sums]["bytes"]
                counted = iperf[f"net_{way}_{over}_bytes"]
                # it reads what comes after the end of the test without counting it: up to what the server has sent
                most = end["sum_sent"]["bytes"] if "-R" in options else said
                # its control connection, and the first datagram, carry some hundred bytes
                self.assertGreaterEqual(counted, said)
                self.assertLess(counted, most + 8192)
                # it closes its connections while the server still writes: what acknowledges that is of no socket
                self.assert_wire(run, moved, late=LATE)
