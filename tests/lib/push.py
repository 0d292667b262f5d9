# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon-push between a socket that stands for the agent and a server that a test plays, or a real one."""

import concurrent.futures
import contextlib
import ctypes
import gzip
import http.server
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from lib.bpfmon import BUILD
from lib.endpoint import Agent, until

PUSH = str(BUILD / "bpfmon-push")
AS_USER = () if os.geteuid() else ("--user", "nobody")


class Pushes:
    """A bpfmon-push with a folder of its own."""

    def __init__(self, case, stream, url, **config):
        self.case, self.stream = case, stream
        self.folder = case.dir / "spool"
        self.folder.mkdir(exist_ok=True)
        config = {"interval": "1s", "min_seconds": "0", "instance": "node1", "folder": self.folder, "catch_up": 0} | config
        self.config = case.dir / "push.conf"
        text = "".join(f"{key} = {value}\n" for key, value in ({"url": url} | config).items())
        self.config.write_text(f"[agent]\nsocket = {case.dir}/none\n[push]\n{text}")
        if not os.geteuid():
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        self.process = None
        self.log = case.dir / "push.log"

    def start(self, stream=None):
        argv = [PUSH, "--config", str(self.config), "--stream", stream or f"unix:{self.stream}", "--verbose", *AS_USER]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.case.addCleanup(self.kill)
        return self

    def kill(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(30)

    def end(self):
        self.case.assertEqual(self.kill(signal.SIGTERM), 0, self.said())

    def said(self):
        return self.log.read_text(errors="replace")


CLONE_NEWNET = 0x40000000


def in_network_of(pid, call):
    """The result of call() in a thread that has entered the network namespace of a process."""

    def enter():
        with open(f"/proc/{pid}/ns/net", "rb") as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        return call()

    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        return threads.submit(enter).result()


class Server:
    """
    Answers with what answer(text) returns: a status, and perhaps a body and headers. Keeps the lines of what it accepted.
    @pid: a process whose network namespace it listens in.
    """

    def __init__(self, case, answer=lambda text: 204, version="1.8", pid="self"):
        self.answer, self.requests, self.lines = answer, [], []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.send_response(204)
                if version:
                    self.send_header("X-Influxdb-Version", version)
                self.end_headers()

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                text = gzip.decompress(body).decode() if self.headers["Content-Encoding"] == "gzip" else body.decode()
                outer.requests.append((self.path, dict(self.headers), text))
                said = outer.answer(text)
                status, body, headers = (*(said if isinstance(said, tuple) else (said,)), b"", {})[:3]
                if status == "raw":
                    with contextlib.suppress(OSError):
                        body(self.connection)
                    self.close_connection = True
                    return
                if 200 <= status < 300:
                    outer.lines += text.splitlines()
                self.send_response(status)
                for key, value in (headers or {}).items():
                    self.send_header(key, value)
                if status != 204:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Threads(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a client that was killed

        self.make = lambda port: in_network_of(pid, lambda: Threads(("127.0.0.1", port), Handler))
        self.server = None
        self.port = 0
        self.start()
        case.addCleanup(self.stop)

    def start(self):
        self.server = self.make(self.port)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
        self.server = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/write?db=bpfmon"

    def of(self, measurement):
        return [line for line in self.lines if line.split(",")[0] == measurement]


class PushCase(unittest.TestCase):
    def setUp(self):
        # not self.dir: the program's user has to reach it
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-push-"))
        self.dir.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.dir)
        self.agent = Agent(self.dir)
        self.addCleanup(self.agent.close)

    def push(self, url, **config):
        """A bpfmon-push that the agent has accepted."""
        pushes = Pushes(self, self.agent.path, url, **config).start()
        self.agent.accept()
        return pushes

    def again(self, pushes):
        pushes.start()
        self.agent.accept()

    def job(self, name, start=None, seconds=1.0, **values):
        """A job that has ended."""
        self.agent.begin(name, run=name, start=start or time.time() - seconds)
        self.agent.end(name, wall_seconds=seconds, **({"cpu_seconds": 0.5} | values))


def fields(line):
    """The measurement, the tags, the fields and the time of a line without blanks in its names."""
    head, values, at = line.rsplit(" ", 2) if line.count(" ") > 2 else line.split(" ")
    measurement, *tags = head.split(",")
    return measurement, dict(tag.split("=", 1) for tag in tags), dict(value.split("=", 1) for value in values.split(",")), int(at)


__all__ = ["PushCase", "Pushes", "Server", "fields", "until"]
