# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon-exporter, and in the place of the agent a socket that a test writes lines to."""

import contextlib
import grp
import http.client
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

from lib.bpfmon import BUILD
from lib.servers import free_port

EXPORTER = str(BUILD / "bpfmon-exporter")
WAIT_SECONDS = 60  # for what must come
AS_USER = () if os.geteuid() else ("--user", "nobody")
ADMINS = grp.getgrgid(pwd.getpwnam("nobody").pw_gid).gr_name  # admin_group of an agent whose jobs it is to see


def until(condition):
    """The first true result."""
    end = time.monotonic() + WAIT_SECONDS
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError("it did not come")
        time.sleep(0.02)


class Agent:
    """Listens as the agent does, and writes what the test says."""

    def __init__(self, folder):
        self.path = str(pathlib.Path(folder) / "agent.sock")
        self.connection = None
        self.lines = 0  # that were written since the start
        self.listen()

    def listen(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        pathlib.Path(self.path).chmod(0o666)
        self.listener.listen()
        self.listener.settimeout(WAIT_SECONDS)

    def accept(self):
        self.connection, _ = self.listener.accept()
        self.connection.settimeout(WAIT_SECONDS)

    def write(self, data):
        self.connection.sendall(data)
        self.lines += data.count(b"\n")

    def say(self, **line):
        self.write(json.dumps(line).encode() + b"\n")

    def begin(self, job, user="alice", kind="slurm", run=None, start=1.5, **also):
        """The meta line of a job, whose run is called as itself."""
        about = {"id": f"{kind}/{job}", "kind": kind, "name": job, "user": user, "uid": 1000, "cgroup": f"/{job}"}
        about |= {"id": job} if kind in {"node", "other"} else {}
        about_run = {"run": run or job, "start_time": start, "interval_seconds": 100} | also
        self.say(kind="meta", schema="bpfmon/1", node_job=about, **about_run)

    def sample(self, run, **values):
        self.say(kind="sample", run=run, time=2.5, elapsed_seconds=1, **values)

    def end(self, run, **values):
        self.say(kind="summary", run=run, complete=True, **values)

    def hang_up(self):
        self.connection.close()

    def close(self):
        """Nobody listens any more."""
        if self.connection:
            self.connection.close()
        self.listener.close()
        pathlib.Path(self.path).unlink(missing_ok=True)


class Endpoint:
    """A bpfmon-exporter that reads from an agent."""

    def __init__(self, agent, folder, *options, tls=False, config=None, port=None):
        """@config: what says the same as the options would, with the port."""
        self.agent = agent
        self.port = port or free_port()
        self.tls = tls
        self.log = pathlib.Path(folder) / "exporter.log"
        named = ["--stream", f"unix:{agent.path}", "--listen", f"127.0.0.1:{self.port}"]
        argv = [EXPORTER, *(["--config", config] if config else named), *AS_USER, *options]
        with self.log.open("wb") as file:
            self.process = subprocess.Popen(argv, stdout=file, stderr=file, stdin=subprocess.DEVNULL)
        until(self.listens)

    def listens(self):
        if self.process.poll() is not None:
            raise AssertionError(self.log.read_text())
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5):
            return True

    def ask(self, path="/metrics", method="GET", body=None, **headers):
        """Status, headers and text of the answer."""
        if self.tls:
            context = ssl._create_unverified_context()
            client = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS, context=context)
        else:
            client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS)
        with contextlib.closing(client):
            client.request(method, path, body, headers)
            answer = client.getresponse()
            return answer.status, answer.headers, answer.read().decode()

    def text(self, **headers):
        status, _, text = self.ask(**headers)
        if status != 200:
            raise AssertionError(f"{status} {text}")
        return text

    def values(self):
        """The samples as a dict."""
        rows = (line.rsplit(" ", 1) for line in self.text().splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in rows}

    def read(self):
        """The samples once all lines of the agent have been read."""

        def found():
            values = self.values()
            return values["bpfmon_exporter_lines_total"] >= self.agent.lines and values

        return until(found)

    def status(self, key):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return re.search(rf"^{key}:\s+(.*)$", text, re.M).group(1)

    def stop(self, sig=signal.SIGTERM):
        self.process.send_signal(sig)
        return self.process.wait(WAIT_SECONDS)


class EndpointCase(unittest.TestCase):
    """A folder that every user may enter, and an agent in it."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-exporter-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.dir.chmod(0o755)
        self.agent = Agent(self.dir)
        self.addCleanup(self.agent.close)

    def start(self, *options, **also):
        endpoint = Endpoint(self.agent, self.dir, *options, **also)

        def end():
            if endpoint.process.poll() is None:
                endpoint.stop(signal.SIGKILL)

        self.addCleanup(end)
        self.agent.accept()
        return endpoint
