# SPDX-License-Identifier: BSD-2-Clause
"""An agent of the test's own, and cgroups as a batch system makes them."""

import contextlib
import json
import pathlib
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import tempfile
import threading

from lib.bpfmon import BPFMON, Case
from lib.live import wait_for

V1 = pathlib.Path("/sys/fs/cgroup/memory/cgroup.procs")
NOBODY = 65534
CONTROL_READY, CONTROL_REQUEST = 1, 6  # of base/message.h


def hierarchy():
    return V1.parent if V1.exists() else pathlib.Path("/sys/fs/cgroup")


def rmdir_patiently(path):
    def gone():
        with contextlib.suppress(FileNotFoundError):
            path.rmdir()
        return not path.exists()

    def attempt():
        with contextlib.suppress(OSError):
            return gone()
        return False

    wait_for(attempt, f"{path} to be empty")


class AgentCase(Case):
    """With agents at a socket in a folder of root's."""

    interval = "200ms"

    def setUp(self):
        super().setUp()
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-test-", dir="/run"))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.place.chmod(0o755)
        self.socket = self.place / "a.sock"
        self.store = self.place / "store" / "node.db"
        self.said = self.place / "said"

    def configure(self, *lines):
        config = self.place / "agent.conf"
        text = ["[agent]", f"socket = {self.socket}", f"interval = {self.interval}"]
        if V1.exists():
            text.append("hierarchy = memory")
        text += ["[history]", f"store = {self.store}", *lines, ""]
        config.write_text("\n".join(text))
        return config

    def start_agent(self, *lines):
        config = self.configure(*lines)
        with open(self.said, "ab") as said:
            agent = subprocess.Popen([BPFMON, "agent", "-v", "--config", config], stderr=said)
        self.addCleanup(self.end_agent, agent)
        wait_for(lambda: self.answers() or agent.poll() is not None, "the agent")
        self.assertIsNone(agent.poll(), self.said.read_text())
        return agent

    def end_agent(self, agent, how=signal.SIGTERM):
        if agent.poll() is None:
            agent.send_signal(how)
        agent.wait(60)

    def answers(self):
        done = subprocess.run([BPFMON, "jobs", "--json", "--agent", self.socket], capture_output=True, check=False)
        return done.returncode == 0

    def of_itself(self):
        """The line of the agent about itself."""
        out = subprocess.run([BPFMON, "jobs", "--json", "--agent", self.socket], stdout=subprocess.PIPE, check=True).stdout
        return json.loads(out.splitlines()[-1])

    def children(self, pid):
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(word) for word in text.split()]

    def historians(self, agent):
        """Its processes but for the first one, which is the porter."""
        return self.children(agent.pid)[1:]

    def historian(self, agent):
        """The first process of the historian, and the one that writes."""
        (first,) = self.historians(agent)
        wait_for(lambda: self.children(first), "the process that writes")
        return first, self.children(first)[0]

    def job_cgroup(self, number, uid=NOBODY):
        """That of a step of a job of Slurm; to be removed by end_job()."""
        folder = hierarchy() / f"slurm/uid_{uid}/job_{number}/step_0"
        while not folder.exists():
            with contextlib.suppress(FileNotFoundError):  # another test has just removed a folder above
                folder.mkdir(parents=True)
        self.addCleanup(self.end_job, folder)
        return folder

    def end_job(self, folder):
        """When its processes have ended."""
        if folder.exists():
            rmdir_patiently(folder)
            rmdir_patiently(folder.parent)
        for above in (folder.parents[1], folder.parents[2]):
            with contextlib.suppress(OSError):  # others have jobs there
                above.rmdir()

    def run_job(self, number, *argv, uid=NOBODY):
        folder = self.job_cgroup(number, uid)
        subprocess.run(["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder, *argv], check=True)
        self.end_job(folder)

    def ask(self, sql, *values):
        with contextlib.closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=20)) as db:
            return db.execute(sql, values).fetchall()

    def has(self, sql, *values):
        """Whether the store has such a row by now; a new one has no tables for a moment."""
        with contextlib.suppress(sqlite3.OperationalError):
            return self.store.exists() and bool(self.ask(sql, *values))
        return False

    def wait_for_end_of(self, job, runs=1):
        """Until the store has so many ended runs of it."""
        sql = "SELECT 1 FROM run WHERE job = ? AND ended GROUP BY job HAVING count(*) >= ?"
        wait_for(lambda: self.has(sql, job, runs), f"the end of {job}", seconds=30)

    def bpfmon(self, *words, code=0, **kwargs):
        argv = [BPFMON, *map(str, words)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120, **kwargs)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def rows(self, *words, **kwargs):
        return [json.loads(line) for line in self.bpfmon("list", "--json", *words, **kwargs).splitlines()]

    def subscribe(self):
        """A listener to the stream of the node: its lines, from now on."""
        return Listener(self)


class Listener:
    """Reads the lines of the stream of the node."""

    def __init__(self, case):
        ours, theirs = socket.socketpair()
        self.control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.connect(str(case.socket))
        request = {"kind": "hello", "version": 1, "follow": "node", "metrics": [], "interval_ns": 10**9, "descriptors": ["stream"]}
        text = json.dumps(request).encode()
        packet = struct.pack("=IiQ1024s", CONTROL_REQUEST, len(text), 0, text)
        socket.send_fds(self.control, [packet], [theirs.fileno()])
        theirs.close()
        answer = self.control.recv(2048)
        case.assertEqual(struct.unpack_from("=I", answer)[0], CONTROL_READY, answer)
        self.lines = []
        self.stream = ours
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        case.addCleanup(self.close)

    def read(self):
        with self.stream.makefile("rb") as lines:
            for line in lines:
                self.lines.append(json.loads(line))

    def close(self):
        with contextlib.suppress(OSError):
            self.stream.shutdown(socket.SHUT_RDWR)
        self.control.close()
        self.thread.join()
        self.stream.close()

    def of_job(self, job, kind):
        """The lines of that kind, of all runs of the job."""
        runs = [x["run"] for x in self.lines if x["kind"] == "meta" and x.get("node_job", {}).get("id") == job]
        return [x for x in self.lines if x["kind"] == kind and x["run"] in runs]

    def wait_for_summary(self, job):
        wait_for(lambda: self.of_job(job, "summary"), f"the summary of {job}", seconds=30)
        return self.of_job(job, "summary")[-1]
