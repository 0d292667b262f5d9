# SPDX-License-Identifier: BSD-2-Clause
"""An ordinary user who takes all connections of a server on loopback that the system lets it have."""

import contextlib
import pathlib
import subprocess
import tempfile

from lib.bpfmon import AS_USER

SOURCE = r"""
import resource, select, socket, sys

ports, held, request = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode().decode("unicode_escape").encode()
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, held + 64), hard))
clients, poll = {}, select.poll()
said = False
while True:
    while len(clients) < held:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        try:
            client.connect(("127.0.0.1", ports))
        except BlockingIOError:
            pass
        except OSError:
            client.close()
            break
        clients[client.fileno()] = client
        poll.register(client, select.POLLOUT)
    if not said:
        print("ready", flush=True)
        said = True
    for fd, what in poll.poll(100):
        client = clients[fd]
        if what & select.POLLOUT and not what & (select.POLLHUP | select.POLLERR):
            try:  # and takes no answer
                client.send(request)
            except OSError:
                what |= select.POLLERR
            poll.modify(fd, select.POLLIN if not request else select.POLLRDHUP)
        if what & (select.POLLHUP | select.POLLERR | select.POLLRDHUP) or (not request and what & select.POLLIN):
            poll.unregister(fd)
            client.close()
            del clients[fd]
"""


@contextlib.contextmanager
def hoard(port, request="", held=400, processes=2):
    """While it goes on, so many processes hold so many connections each, have sent this, and open others for closed ones."""
    with tempfile.NamedTemporaryFile("w", prefix="bpfmon-hoard-", suffix=".py") as script:
        script.write(SOURCE)
        script.flush()
        pathlib.Path(script.name).chmod(0o644)
        argv = ["/usr/bin/python3", script.name, str(port), str(held), request]
        running = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd="/", **AS_USER) for _ in range(processes)]
        try:
            for process in running:
                if process.stdout.readline() != "ready\n":
                    raise AssertionError("the other user could not connect")
            yield
        finally:
            for process in running:
                process.kill()
                process.communicate()
