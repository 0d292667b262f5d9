# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon-push between a socket that stands for the agent and a server that a test plays, or a real one."""

import concurrent.futures
import contextlib
import ctypes
import grp
import gzip
import http.server
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import socketserver
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

from lib.account import every_metric
from lib.bpfmon import BUILD
from lib.endpoint import Agent, until

PUSH = str(BUILD / "bpfmon-push")
AS_USER = () if os.geteuid() else ("--user", "nobody")


def with_admins(config):
    """The configuration of an agent, whose admins the sender's user is one of."""
    admins = grp.getgrgid(pwd.getpwnam("nobody").pw_gid).gr_name
    config.write_text(config.read_text().replace("[agent]\n", f"[agent]\nadmin_group = {admins}\n", 1))
    return config


OPENED = "opened the stream"


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
        self.log.write_text("")

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

    def status(self, key):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return re.search(rf"^{key}:\s+(.*)$", text, re.M).group(1)

    def files(self, kind):
        return sorted(self.folder.glob(f"{kind}-*"))

    def spooled(self, kind):
        """The lines on the disk that were not sent yet."""
        found = []
        for path in self.files(kind):
            with contextlib.suppress(FileNotFoundError):
                found += lines_of(path.read_bytes())
        return found


def batches_of(data):
    """Offsets of the batches in a file of the spool that were not sent yet, and their bytes; as user/push/spool.c writes them."""
    header, at = struct.Struct("=5I"), 0
    while len(data) >= at + header.size:
        _, is_sent, length, _, _ = header.unpack_from(data, at)
        begin = at + header.size
        if not is_sent:
            yield begin, data[begin : begin + length]
        at = begin + length


def lines_of(data):
    found = []
    for _, batch in batches_of(data):
        with contextlib.suppress(OSError, EOFError):  # it is just written
            found += gzip.decompress(batch).decode().splitlines()
    return found


def names_in(rows):
    """The names of the jobs of these lines, which have no special characters."""
    return [re.search(r'name="?(\w+)', line)[1] for line in rows]


def is_rows(text):
    return text.startswith("bpfmon_job_ended")


def first(*answers, then=204, of=is_rows):
    """Answers requests with these lines one by one with @answers, and all others with @then."""
    left = list(answers)
    return lambda text: left.pop(0) if of(text) and left else then


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
    Answers with what answer(text) returns: a status, and perhaps a body and headers. Keeps the lines of what it accepted,
    and the paths and times of all requests. @ping: its status of /ping; @files: certificate and key; @unix: a socket;
    @pid: a process whose network namespace it listens in. OTLP is bytes.
    """

    def __init__(self, case, answer=lambda text: 204, version="1.8", files=None, unix=None, pid="self"):
        self.answer, self.requests, self.lines, self.paths, self.times = answer, [], [], [], []
        self.ping = lambda: 204
        self.connections, self.busy = [], set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.paths.append(self.path)
                status = outer.ping()
                self.send_response(status)
                if version and status < 300:
                    self.send_header("X-Influxdb-Version", version)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                text = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
                is_text = self.headers["Content-Type"] != "application/x-protobuf"
                text = text.decode() if is_text else text
                outer.paths.append(self.path)
                outer.times.append(time.monotonic())
                outer.requests.append((self.path, dict(self.headers), text))
                said = outer.answer(text)
                status, body, headers = (*(said if isinstance(said, tuple) else (said,)), b"", {})[:3]
                if status == "raw":
                    with contextlib.suppress(OSError):
                        body(self.connection)
                    self.close_connection = True
                    return
                if 200 <= status < 300 and is_text:
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
            address_family = socket.AF_UNIX if unix else socket.AF_INET

            def server_bind(self):
                socketserver.TCPServer.server_bind(self)  # without the name of the host

            def get_request(self):
                connection, address = super().get_request()
                return connection, address or ("unix", 0)

            def handle_error(self, *_):
                pass  # a client that was killed

            def process_request(self, request, client_address):
                outer.busy.add(request)
                super().process_request(request, client_address)

            def shutdown_request(self, request):
                super().shutdown_request(request)
                outer.busy.discard(request)

            def finish_request(self, request, client_address):
                if files:
                    request = context.wrap_socket(request, server_side=True)
                outer.connections.append(request)
                super().finish_request(request, client_address)

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if files:
            context.load_cert_chain(*files)
        self.scheme = "https" if files else "http"
        self.make = lambda port: in_network_of(pid, lambda: Threads(unix or ("127.0.0.1", port), Handler))
        self.server = None
        self.port = 0
        self.start()
        case.addCleanup(self.stop)

    def start(self):
        self.server = self.make(self.port)
        if self.server.address_family == socket.AF_INET:
            self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
        self.server = None
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.connections = []

    def settle(self):
        """Waits until all requests are answered of a client that has ended."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/ping", timeout=60) as answer:
            answer.read()  # it was accepted after those
        until(lambda: not self.busy)

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}/write?db=bpfmon"

    def of(self, measurement):
        return [line for line in self.lines if line.split(",")[0] == measurement]

    def names(self):
        """Of the jobs of all rows, as often as they came."""
        return names_in(self.of("bpfmon_job_ended"))

    def own(self, **least):
        """The figures of bpfmon-push and their time, once those named are at least so much."""

        def found():
            lines = self.of("bpfmon_push")
            values = {}
            if lines:
                _, _, figures, at = fields(lines[-1])
                values = {key: float(value.rstrip("i")) for key, value in figures.items()} | {"time": at}
            return values and all(values[key] >= value for key, value in least.items()) and values

        return until(found)


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
        pushes = Pushes(self, self.agent.path, url, **config)
        self.again(pushes)
        return pushes

    def again(self, pushes):
        """Jobs that begin from here on are new to it."""
        before = pushes.said().count(OPENED)
        pushes.start()
        self.agent.accept()
        until(lambda: pushes.said().count(OPENED) > before)

    def jobs(self, count, prefix="job"):
        """The names of so many jobs that have ended."""
        names = [f"{prefix}{number}" for number in range(count)]
        for name in names:
            self.job(name)
        return names

    def all_arrive_once(self, server, names):
        until(lambda: len(server.names()) >= len(names))
        self.assertEqual(sorted(server.names()), sorted(names))

    def job(self, name, start=None, seconds=1.0, **values):
        """A job that has ended."""
        self.agent.begin(name, run=name, start=start or time.time() - seconds)
        self.agent.end(name, wall_seconds=seconds, **({"cpu_seconds": 0.5} | values))


def fields(line):
    """The measurement, the tags, the fields and the time of a line without blanks in its names."""
    head, values, at = line.rsplit(" ", 2) if line.count(" ") > 2 else line.split(" ")
    measurement, *tags = head.split(",")
    return measurement, dict(tag.split("=", 1) for tag in tags), dict(value.split("=", 1) for value in values.split(",")), int(at)


__all__ = ["PUSH", "PushCase", "Pushes", "Server", "batches_of", "every_metric", "fields", "first", "is_rows", "names_in", "until"]
