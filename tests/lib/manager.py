# SPDX-License-Identifier: BSD-2-Clause
"""A service manager as systemd is one for the agent: keeps its descriptors from one process to the next, as sd_notify(3) and
sd_listen_fds(3) say."""

import array
import json
import os
import select
import socket
import sys
import tempfile
import threading

from lib.agent import Agent
from lib.live import PATIENCE

# puts the descriptors at 3, 4, ...: argv[1] has their numbers, argv[2] their names
PLACER = """
import os, sys
moved = [os.dup2(int(fd), 500 + i) for i, fd in enumerate(sys.argv[1].split())]
for i, fd in enumerate(moved):
    os.dup2(fd, 3 + i, inheritable=True)
    os.close(fd)
os.environ.update(LISTEN_FDS=str(len(moved)), LISTEN_FDNAMES=sys.argv[2], LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[3], sys.argv[3:])
"""


class Manager:
    """Takes the messages of a service until close()."""

    def __init__(self, folder):
        self.path = str(folder / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        os.chmod(self.path, 0o777)  # the agent is another user
        self.kept = {}  # descriptors by name
        self.listening = None
        self.states = []
        self.end, self.ends = os.pipe()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while True:
            ready, _, _ = select.select([self.socket, self.end], [], [])
            if self.end in ready:
                return
            text, came, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(253 * 4))
            fds = array.array("i")
            for _, _, data in came:
                fds.frombytes(data[: len(data) - len(data) % 4])
            self.take(dict(line.split("=", 1) for line in text.decode().splitlines()), list(fds))

    def take(self, message, fds):
        self.states.append(message)
        if message.get("FDSTORE") == "1":
            self.forget(message["FDNAME"])
            self.kept[message["FDNAME"]] = fds.pop()
        elif message.get("FDSTOREREMOVE") == "1":
            self.forget(message["FDNAME"])
        for fd in fds:
            os.close(fd)

    def forget(self, name):
        fd = self.kept.pop(name, None)
        if fd is not None:
            os.close(fd)

    def count_runs(self):
        """Reads the first message of what is kept, and leaves it there."""
        for fd in list(self.kept.values()):
            peeked = socket.socket(fileno=os.dup(fd))
            _, came, _, _ = peeked.recvmsg(1, socket.CMSG_SPACE(253 * 4), socket.MSG_PEEK | socket.MSG_DONTWAIT)
            peeked.close()
            fds = array.array("i")
            fds.frombytes(came[0][2])
            state = os.pread(fds[0], os.fstat(fds[0]).st_size, 0)
            os.close(fds[0])
            return len(json.loads(state)["runs"])
        return 0

    def spoil(self):
        """Replaces what is kept by a socket with other messages."""
        for name in list(self.kept):
            self.forget(name)
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with tempfile.TemporaryFile() as f:
                f.write(b'{"version":1,"books_fds":9}')
                f.flush()
                socket.send_fds(ours, [b"x"], [f.fileno()])
            ours.close()
            self.kept[name] = theirs.detach()

    def listen(self, path):
        """As a socket unit: clients wait while there is no agent."""
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listening.bind(str(path))
        os.chmod(path, 0o666)
        self.listening.listen(64)

    def command(self, words):
        """The command that starts the service with what is kept, and the descriptors to pass."""
        passed = {"bpfmon-agent.socket": self.listening.fileno()} if self.listening else {}
        passed |= self.kept
        names, fds = list(passed), list(passed.values())
        if not fds:
            return list(words), []
        return [sys.executable, "-c", PLACER, " ".join(map(str, fds)), ":".join(names), *words], fds

    def close(self):
        os.write(self.ends, b".")
        self.thread.join(PATIENCE)
        for fd in [*self.kept.values(), self.end, self.ends]:
            os.close(fd)
        self.kept = {}
        self.socket.close()
        if self.listening:
            self.listening.close()


class ManagedAgent(Agent):
    """An agent under such a manager."""

    def __init__(self, config="", options=()):
        self.manager = None
        super().__init__(config, ("--hand-over", *options))

    def start(self):
        if not self.manager:
            self.manager = Manager(self.folder)
            self.manager.listen(self.socket)
        self.env = {**os.environ, "NOTIFY_SOCKET": self.manager.path}
        super().start()

    def command(self, words):
        return self.manager.command(words)

    def restart(self):
        """As `systemctl restart`: the manager keeps what the agent has left."""
        if self.end():
            raise AssertionError(self.said()[-2000:])
        self.start()

    def stop(self):
        """As `systemctl stop`: it keeps nothing."""
        self.end()
        for name in list(self.manager.kept):
            self.manager.forget(name)

    def renewals(self):
        """How often the agent has left its state."""
        return sum("FDSTORE" in state for state in self.manager.states)

    def kept_runs(self):
        """How many runs are in the newest state."""
        return self.manager.count_runs()

    def clean(self):
        super().clean()
        self.manager.close()
