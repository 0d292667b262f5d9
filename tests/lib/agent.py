# SPDX-License-Identifier: BSD-2-Clause
"""An agent of the node for tests, with a socket of its own; clients of it, well-behaved ones and raw ones."""

import array
import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

from lib.bpfmon import BPFMON, Case
from lib.cgroups import UNIFIED
from lib.live import PATIENCE, wait_for, wait_for_exec
from lib.node import rmdir_patiently

NOBODY = 65534
OTHER = 65533  # another ordinary user, whom no file names
# base/message.h
READY, FAILED, START, ENDED, STOP, REQUEST, DESCRIPTION, SUMMARY = range(1, 9)
TEXT_BYTES = 1024
PACKET = struct.Struct(f"=IiQ{TEXT_BYTES}s")
DESCRIBED = b'{"kind":"description","tags":[],"command":["x"]}'
PART_BYTES = TEXT_BYTES - 1  # base/message.c
# for `unshare -m sh -c`: a mount namespace in which the agent of the folder $0 is at the usual place
AT_USUAL_PLACE = """mount --bind "$0" /mnt && mount -t tmpfs none /run && mkdir /run/bpfmon && mount --bind /mnt /run/bpfmon || exit 1
exec "$@\""""
TICKS = os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def user(uid, groups=()):
    """Within it this process connects as the user, which is what the kernel tells the agent."""
    before = os.getgroups()
    os.setgroups(list(groups))
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(before)


class Agent:
    """A running agent; ended, and its folder removed, when the test is over."""

    env = None  # of its process; None: that of the test

    def __init__(self, config="", options=(), before=()):
        """`before`: words before the command, such as those of prlimit."""
        self.before = before
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-test-", dir="/run"))
        self.folder.chmod(0o755)
        self.socket = self.folder / "a.sock"
        self.log = self.folder / "log"
        self.options = options
        self.process = None
        self.configure(config)
        self.start()

    def configure(self, config):
        """Sections [agent] and [limits] come with what tests need, unless they are in the text."""
        text = config if "[agent]" in config else "[agent]\n" + config
        text = text.replace("[agent]\n", f"[agent]\nsocket = {self.socket}\n", 1)
        if "interval" not in text.split("[limits]")[0]:
            text = text.replace("[agent]\n", "[agent]\ninterval = 200ms\n", 1)
        path = self.folder / "agent.conf"
        path.write_text(text)
        path.chmod(0o644)

    def start(self):
        served = self.said().count("the agent listens")
        words = [*self.before, BPFMON, "agent", "-v", "--config", str(self.folder / "agent.conf"), *self.options]
        words, fds = self.command(words)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(words, stderr=log, env=self.env, pass_fds=fds)
        self.pid = self.process.pid
        wait_for(
            lambda: self.said().count("the agent listens") > served or self.process.poll() is not None, "the agent"
        )
        if self.process.poll() is not None:
            raise AssertionError(self.said())

    def command(self, words):
        """The command to start, and the descriptors to pass."""
        return words, []

    def said(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def is_alive(self):
        return self.process.poll() is None

    def end(self, sig=signal.SIGTERM):
        """Its exit status."""
        if self.is_alive():
            self.process.send_signal(sig)
        return self.process.wait(PATIENCE)

    def clean(self):
        try:
            self.end()
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def bpfmon(self, *words, uid=NOBODY, **popen):
        """Starts bpfmon as an ordinary user, with this agent as the one to go through."""
        env = {**os.environ, "BPFMON_AGENT": str(self.socket), **popen.pop("env", {})}
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen(
            [BPFMON, *map(str, words)], user=uid, group=uid, extra_groups=[], cwd="/", env=env, **popen
        )

    def jobs(self, uid=NOBODY):
        """What `bpfmon jobs` lists to the user: lines."""
        done = self.bpfmon("jobs", "--agent", self.socket, "--json", uid=uid)
        text, said = done.communicate(timeout=PATIENCE)
        if done.returncode:
            raise AssertionError(said.decode())
        lines = [json.loads(line) for line in text.splitlines()]
        if {line["schema"] for line in lines} != {"bpfmon/1"}:
            raise AssertionError("a line of jobs --json does not say its schema")
        return lines

    def report(self):
        """Its line about itself, now."""
        with Client(self) as c:
            return c.listen_once()[-1]

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def rss_bytes(self):
        pages = pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def private_bytes(self):
        """What it alone holds, as the kernel counts it."""
        text = pathlib.Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        return sum(int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith("Private_Dirty:"))

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def hello(follow, names, **wishes):
    """The text of a request; wire/request.h."""
    return json.dumps(
        {
            "kind": "hello",
            "version": 1,
            "follow": follow,
            "metrics": ["cpu_seconds", "processes", "forks"],
            "interval_ns": 1000000000,
            **wishes,
            "descriptors": list(names),
        }
    ).encode()


class Client:
    """A connection to the agent that sends anything."""

    def __init__(self, agent, uid=0, groups=()):
        self.stream = None
        self.buffer = b""
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(PATIENCE)
        with user(uid, groups) if uid else contextlib.nullcontext():
            self.socket.connect(str(agent.socket))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()
        if self.stream:
            self.stream.close()

    def send(self, data, fds=()):
        """One packet of any bytes."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([data], rights)

    def packet(self, kind, value=0, when_ns=0, text=b"", fds=()):
        self.send(PACKET.pack(kind, value, when_ns, text), fds)

    def message(self, kind, text, fds=()):
        for at in range(0, len(text), PART_BYTES):
            part = text[at : at + PART_BYTES]
            self.packet(kind, len(part), len(text) - at - len(part), part, () if at else fds)

    def request(self, follow, descriptors=(), room=None, **wishes):
        """Asks, with a stream of its own, which holds about `room` bytes, and these descriptors: (name, number)."""
        ours, theirs = socket.socketpair()
        ours.settimeout(PATIENCE)
        self.stream = ours
        if room:
            theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, room)
        with theirs:
            named = [("stream", theirs.fileno()), *descriptors]
            self.message(REQUEST, hello(follow, [n for n, _ in named], **wishes), [fd for _, fd in named])
        return self

    def answer(self):
        """Type, value and text of the next packet; None: the agent has closed the connection."""
        try:
            data = self.socket.recv(PACKET.size)
        except ConnectionResetError:
            return None
        if not data:
            return None
        kind, value, _, text = PACKET.unpack(data)
        return kind, value, text.split(b"\0")[0].decode()

    def is_refused(self):
        """Why; after a refusal the connection is closed."""
        answer = self.answer()
        if not answer or answer[0] != FAILED:
            raise AssertionError(f"not refused: {answer}")
        return answer[2]

    def lines(self, until, seconds=PATIENCE):
        """The lines that come, up to the first for which `until` is true, or to the end of the stream."""
        found, end = [], time.monotonic() + seconds
        while True:
            line, newline, rest = self.buffer.partition(b"\n")
            if newline:
                self.buffer = rest
                found.append(json.loads(line))
                if until(found[-1]):
                    return found
                continue
            if time.monotonic() > end or not select.select([self.stream], [], [], seconds)[0]:
                raise AssertionError(f"in vain waited for a line after {found[-3:]}")
            more = self.stream.recv(1 << 16)
            if not more:
                return found
            self.buffer += more

    def listen(self):
        """Subscribes to the node."""
        self.request("node")
        kind, _, text = self.answer()
        if kind != READY:
            raise AssertionError(text)
        return self

    def listen_once(self):
        self.request("node", once=True)
        kind, _, text = self.answer()
        if kind != READY:
            raise AssertionError(text)
        return self.lines(lambda line: line["kind"] == "agent")


def cgroup_folder(path, hierarchy="unified"):
    """That of the cgroup in a hierarchy as the agent names it."""
    return pathlib.Path("/sys/fs/cgroup") / (UNIFIED if hierarchy == "unified" else hierarchy) / path


class AgentCase(Case):
    """Tests with an agent of the test, or one for all tests of the class (AGENT = its configuration)."""

    CONFIG = None
    shared = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.CONFIG is not None:
            cls.shared = Agent(cls.CONFIG)

    @classmethod
    def tearDownClass(cls):
        if cls.shared:
            cls.shared.clean()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.dir.chmod(0o777)
        self.agent = self.shared

    def new_agent(self, config="", options=(), before=()):
        agent = Agent(config, options, before)
        self.addCleanup(agent.clean)
        self.agent = agent
        return agent

    def client(self, uid=0, groups=()):
        c = Client(self.agent, uid, groups)
        self.addCleanup(c.close)
        return c

    def start(self, *argv, uid=NOBODY, **popen):
        """A process, of an ordinary user; ended with the test."""
        process = subprocess.Popen(list(map(str, argv)), user=uid, group=uid, extra_groups=[], cwd="/", **popen)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_for_exec(process.pid)
        return process

    def start_in(self, path, hierarchy="unified"):
        """A process in a cgroup that is made for it, with those above it."""
        folder = cgroup_folder(path, hierarchy)
        made = [p for p in (folder, *folder.parents) if not p.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for p in reversed(made):
            self.addCleanup(self.remove_cgroup, p)
        process = subprocess.Popen(["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec sleep 600', folder])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def remove_cgroup(self, folder):
        if folder.exists() and not any(p.is_dir() for p in folder.iterdir()):  # else another test uses it
            rmdir_patiently(folder)

    def pidfd(self, pid):
        fd = os.pidfd_open(pid)
        self.addCleanup(os.close, fd)
        return fd

    def run_through(self, *command, uid=NOBODY, options=(), **popen):
        """bpfmon -- COMMAND as the user; returns exit status, stderr, and the lines of its output."""
        with tempfile.NamedTemporaryFile(dir=self.dir, suffix=".jsonl", delete=False) as f:
            os.fchown(f.fileno(), uid, uid)
        process = self.agent.bpfmon("--force", "-o", f.name, *options, "--", *command, uid=uid, **popen)
        _, said = process.communicate(timeout=PATIENCE)
        lines = [json.loads(line) for line in pathlib.Path(f.name).read_text().splitlines()]
        return process.returncode, said.decode(errors="replace"), lines

    def assert_served(self, uid=NOBODY):
        """Others get what they ask for, exactly."""
        code, said, lines = self.run_through("sh", "-c", "true & wait; exit 3", uid=uid)
        self.assertEqual(code, 3, said)
        self.assertTrue(lines and lines[-1]["kind"] == "summary", said)
        self.assertTrue(lines[-1]["complete"], lines[-1])
        self.assertEqual(lines[-1]["processes_total"], 2)

    def clients(self):
        return self.agent.report()["clients"]

    def assert_sound(self, before, quiet=True):
        """The agent lives, has nothing left of clients that are gone, and does not turn in circles."""
        self.assertTrue(self.agent.is_alive(), self.agent.said()[-2000:])
        wait_for(lambda: self.clients() == 1, "the end of all clients but this one")
        self.assert_served()
        wait_for(
            lambda: self.agent.descriptors() <= before["descriptors"] and self.agent.threads() <= before["threads"],
            f"descriptors: {before}, now {self.agent.descriptors()}",
            20,
        )
        self.assertLess(self.agent.rss_bytes(), before["rss"] + (64 << 20))
        if quiet:
            self.assert_idle()

    def assert_idle(self):
        """It uses less than a third of a CPU while nobody asks for anything."""
        used = self.agent.cpu_seconds()
        select.select([], [], [], 0.5)
        self.assertLess(self.agent.cpu_seconds() - used, 0.15)

    def state(self):
        """What assert_sound() compares with; after one run, whose memory is used again."""
        self.assert_served()
        wait_for(lambda: self.clients() == 1, "the end of the run")
        return {
            "descriptors": self.agent.descriptors(),
            "threads": self.agent.threads(),
            "rss": self.agent.rss_bytes(),
            **{k: v for k, v in self.agent.report().items() if k in ("refused", "clients_dropped")},
        }
