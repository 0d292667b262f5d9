# SPDX-License-Identifier: BSD-2-Clause
"""A socket that answers requests like an agent of a node, with jobs that a test makes up."""

import contextlib
import json
import os
import pathlib
import socket
import struct
import threading
import time

from lib.node import CONTROL_READY, NOBODY

PACKET = struct.Struct("=IiQ1024s")
UUID = "6ea0269c-189d-4290-aff8-{:012d}"


def start_ticks(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])


class Job:
    def __init__(self, number, job, cgroup=None, processes=(), stalled=False):
        self.run, self.job, self.cgroup, self.stalled = UUID.format(number), job, cgroup, stalled
        self.start = time.time() - 100
        boot = time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(time.CLOCK_BOOTTIME)
        self.processes = {pid: round(boot + start_ticks(pid) / os.sysconf("SC_CLK_TCK"), 6) for pid in processes}

    def meta(self):
        label = {"id": self.job, "name": self.job, "user": "ada", **({"cgroup": self.cgroup} if self.cgroup else {})}
        return {"kind": "meta", "schema": "bpfmon/1", "run": self.run, "host": os.uname().nodename,
                "start_time": self.start, "interval_seconds": 1, "node_job": label}  # fmt: skip

    def sample(self):
        seconds = time.time() - self.start
        yield {"kind": "sample", "run": self.run, "time": time.time(), "elapsed_seconds": seconds,
               "cpu_seconds": 1.5, "rss_bytes": 1 << 20, "processes": len(self.processes)}  # fmt: skip
        for pid, start in self.processes.items():
            yield {"kind": "process_sample", "elapsed_seconds": seconds, "pid": pid, "comm": "p", "ppid": 1, "uid": NOBODY,
                   "start_time": start, "cpu_seconds": 0.5, "rss_bytes": 4096}  # fmt: skip

    def events(self):
        if self.stalled:
            yield {"kind": "event", "run": self.run, "time": time.time(), "event": "stalled", "since_time": self.start + 10}


class FakeAgent:
    """Answers requests for the node and for one job; `peers` are the users that connected."""

    def __init__(self, case, *jobs):
        self.jobs, self.peers, self.is_over = jobs, [], False
        self.path = case.dir / "agent.sock"
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(self.path))
        self.path.chmod(0o600)
        self.listener.listen()
        case.addCleanup(self.end)
        threading.Thread(target=self.accept, daemon=True).start()

    def end(self):
        self.is_over = True
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        with contextlib.suppress(BrokenPipeError), peer:
            self.peers.append(struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
            packet, fds, _, _ = socket.recv_fds(peer, PACKET.size, 4)
            request = json.loads(PACKET.unpack(packet)[3].split(b"\0")[0])
            peer.send(PACKET.pack(CONTROL_READY, 0, 0, b""))
            with os.fdopen(fds[0], "w", encoding="utf-8") as out:
                self.write(out, request)

    def write(self, out, request):
        is_of_node = request["follow"] == "node"
        jobs = [job for job in self.jobs if is_of_node or job.job == request["job"]]
        lines = [job.meta() for job in jobs]
        while not self.is_over:
            for job in jobs:
                lines += [line for line in job.sample() if line["kind"] == "sample" or not is_of_node]
                lines += job.events() if is_of_node else ()
            for line in [*lines, *([{"kind": "agent", "run": "agent"}] if is_of_node else ())]:
                out.write(json.dumps(line) + "\n")
            out.flush()
            lines = []
            time.sleep(0.2)
