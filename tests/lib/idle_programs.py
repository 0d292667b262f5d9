# SPDX-License-Identifier: BSD-2-Clause
"""Small healthy programs that are idle, each in a way of its own: for bpfmon why.

A program prints a line as soon as it, or the process that it is about, is about to wait.
"""
import os
import re
import shutil
import sys

PAIR = """
import os, select, socket
a, b = socket.socketpair()
child = os.fork()
mine = a if child else b
(b if child else a).close()
e = select.epoll()
e.register(mine, select.EPOLLIN)
"""
LIBC = "import ctypes, os, struct; libc = ctypes.CDLL(None, use_errno=True); room = ctypes.create_string_buffer(4096)\n"
SERVER = "import socket, os, time; s = socket.create_server(('127.0.0.1', 0)); a = s.getsockname()\n"

PYTHON = {
    "sleep": "import time; print(flush=True); time.sleep(1000)",
    "select of nothing until a time": "import select; print(flush=True); select.select([], [], [], 1000)",
    "pause": "import signal; print(flush=True); signal.pause()",
    "sigwait": "import signal; signal.pthread_sigmask(0, {10}); print(flush=True); signal.sigwait({10})",
    "sigtimedwait": "import signal; signal.pthread_sigmask(0, {10}); print(flush=True); signal.sigtimedwait({10}, 1000)",
    "a lock until a time": "import threading; l = threading.Lock(); l.acquire(); print(flush=True); l.acquire(timeout=1000)",
    "asyncio, an event that does not come": """
import asyncio
async def main():
    print(flush=True)
    await asyncio.Event().wait()
asyncio.run(main())""",
    "asyncio, a timer": "import asyncio; print(flush=True); asyncio.run(asyncio.sleep(1000))",
    "asyncio, a server": """
import asyncio
async def main():
    s = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    print(flush=True)
    await s.serve_forever()
asyncio.run(main())""",
    "asyncio, a server and a client of it": """
import asyncio, os, socket
s = socket.create_server(("127.0.0.1", 0))
async def serve():
    await (await asyncio.start_server(lambda r, w: r.read(), sock=s)).serve_forever()
async def ask():
    r, w = await asyncio.open_connection(*s.getsockname())
    print(flush=True)
    await r.read()
asyncio.run(serve() if os.fork() else ask())""",
    "asyncio, a child that sleeps": """
import asyncio
async def main():
    p = await asyncio.create_subprocess_exec("sleep", "1000")
    print(flush=True)
    await p.wait()
asyncio.run(main())""",
    "two event loops with a connection, each with a listening socket": PAIR + """
l = socket.create_server(("127.0.0.1", 0))
e.register(l, select.EPOLLIN)
if child: print(flush=True)
e.poll()""",
    "two event loops with a connection, each until a time": PAIR + """
if child: print(flush=True)
e.poll(1000)""",
    "two event loops with a connection, one until a time": PAIR + """
if child: print(flush=True)
e.poll(1000 if child else -1)""",
    "two processes that receive from each other, with threads that sleep": PAIR + """
import threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
if child: print(flush=True)
mine.recv(1)""",
    "Pool(1)": """
import multiprocessing, time
p = multiprocessing.Pool(1); p.map(abs, [1, 2])
print(flush=True); time.sleep(1000)""",
    "Pool(4), the parent waits for input": """
import multiprocessing, time, select
p = multiprocessing.Pool(4); p.map(abs, [1, 2])
print(flush=True); select.select([], [], [])""",
    "ProcessPoolExecutor(1)": """
import concurrent.futures, time
p = concurrent.futures.ProcessPoolExecutor(1); list(p.map(abs, [1, 2]))
print(flush=True); time.sleep(1000)""",
    "ProcessPoolExecutor(3) below a server": SERVER + """
import concurrent.futures
p = concurrent.futures.ProcessPoolExecutor(3); list(p.map(abs, range(9)))
print(flush=True); s.accept()""",
    "ThreadPoolExecutor": """
import concurrent.futures, time
p = concurrent.futures.ThreadPoolExecutor(3); list(p.map(abs, range(9)))
print(flush=True); time.sleep(1000)""",
    "a thread that accepts, and is joined": SERVER + """
import threading
t = threading.Thread(target=s.accept); t.start()
print(flush=True); t.join()""",
    "a thread that accepts, beside an event that does not come": SERVER + """
import threading
threading.Thread(target=s.accept).start()
print(flush=True); threading.Event().wait()""",
    "a server with threads and an idle client": """
import os, socket, socketserver, time
class Handler(socketserver.BaseRequestHandler):
    def handle(self): self.request.recv(1)
s = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
if not os.fork():
    c = socket.create_connection(s.server_address)
    time.sleep(1000)
print(flush=True); s.serve_forever()""",
    "http.server": """
import http.server
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(flush=True); s.serve_forever()""",
    "a server that forked for a client that sleeps": SERVER + """
if not os.fork():
    c = socket.create_connection(a); time.sleep(1000)
c, _ = s.accept()
if not os.fork(): c.recv(1)
c.close(); print(flush=True); s.accept()""",
    "processes that accept from one socket": SERVER + """
for _ in range(3):
    if not os.fork(): s.accept()
print(flush=True); os.wait()""",
    "UDP": "import socket; s = socket.socket(type=2); s.bind(('127.0.0.1', 0)); print(flush=True); s.recv(9)",
    "datagrams of Unix": "import socket; s = socket.socket(1, 2); s.bind(''); print(flush=True); s.recv(9)",
    "a listening socket of Unix": "import socket; s = socket.socket(1); s.bind(''); s.listen(); print(flush=True); s.accept()",
    "multiprocessing.Manager": """
import multiprocessing, time
m = multiprocessing.Manager(); d = m.dict(); d[1] = 1
print(flush=True); time.sleep(1000)""",
    "a consumer of a multiprocessing.Queue": """
import multiprocessing, time
q = multiprocessing.Queue()
multiprocessing.Process(target=q.get).start()
q.put(1); print(flush=True); time.sleep(1000)""",
    "a helper whose answers a thread reads": """
import subprocess, threading, time
p = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
threading.Thread(target=p.stdout.read).start()
print(flush=True); time.sleep(1000)""",
    "poll of the output of a child that sleeps": """
import subprocess
p = subprocess.Popen(["sleep", "1000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
print(flush=True); p.communicate()""",
    "inotify": LIBC + "fd = libc.inotify_init(); libc.inotify_add_watch(fd, b'/', 256); print(flush=True); os.read(fd, 999)",
    "a timer's descriptor": LIBC + """
fd = libc.timerfd_create(1, 0); libc.timerfd_settime(fd, 0, struct.pack("4q", 0, 0, 1000, 0), None)
print(flush=True); os.read(fd, 8)""",
    "signalfd": LIBC + "fd = libc.signalfd(-1, struct.pack('16q', 512, *[0] * 15), 0); print(flush=True); os.read(fd, 128)",
    "eventfd": LIBC + """
fd = libc.eventfd(0, 0)
if not os.fork():
    import time
    time.sleep(1000)
print(flush=True); os.read(fd, 8)""",
    "epoll of a timer, inotify and a wake pipe": LIBC + """
import select
e = select.epoll()
t = libc.timerfd_create(1, 0); libc.timerfd_settime(t, 0, struct.pack("4q", 0, 0, 1000, 0), None)
for fd in (t, libc.inotify_init(), os.pipe()[0]): e.register(fd)
print(flush=True); e.poll()""",
    "a queue of messages": LIBC + """
q = libc.mq_open(b"/bpfmon-%d" % os.getpid(), os.O_CREAT | os.O_RDWR, 0o600, None); libc.mq_unlink(b"/bpfmon-%d" % os.getpid())
print(flush=True); libc.mq_receive(q, ctypes.create_string_buffer(1 << 20), ctypes.c_size_t(1 << 20), None)""",
    "input of a terminal": "import os, pty; m, s = pty.openpty(); print(flush=True); os.read(s, 1)",
    "a terminal and a connection": PAIR + """
import pty
m, s = pty.openpty(); e.register(s, select.EPOLLIN)
if child: print(flush=True)
e.poll()""",
    "a pipeline below a terminal": """
import os, pty, subprocess
m, s = pty.openpty()
p = subprocess.Popen("cat | tail -n 1", shell=True, stdin=s)
print(flush=True); p.wait()""",
    "a pipeline below a server": SERVER + """
import subprocess
p = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
print(flush=True); s.accept()""",
}

SHELL = {
    "sh, wait for a job": ("sh", "sleep 1000 & echo; wait"),
    "bash, wait for a job": ("bash", "sleep 1000 & echo; wait"),
    "sh, a loop of sleeps": ("sh", "echo; while :; do sleep 1000; done"),
    "bash, read until a time": ("bash", "echo; read -t 1000 < <(sleep 1000)"),
    "bash, a FIFO that it keeps open": ("bash", "mkfifo {0}/fifo; exec 3<>{0}/fifo; echo; read <&3"),
    "timeout": ("sh", "echo; exec timeout 1000 sleep 1000"),
    "xargs": ("sh", "echo; echo 1000 | xargs sleep"),
    "tail -f": ("sh", "echo >{0}/log; echo; exec tail -f {0}/log"),
    "make": ("sh", "printf 'all:\\n\\t@sleep 1000\\n' >{0}/m; echo; exec make -s -f {0}/m"),
    "make -j2 of three": ("sh", "printf 'all: a b c\\na b c:\\n\\t@sleep 1000\\n' >{0}/m; echo; exec make -s -j2 -f {0}/m"),
}

SERVERS = {
    "redis-server": """
import asyncio, subprocess, sys
path = sys.argv[1] + "/redis"
p = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", ""], stdout=subprocess.DEVNULL)
async def main():
    while True:
        try:
            r, w = await asyncio.open_unix_connection(path)
            break
        except OSError:
            await asyncio.sleep(0.01)
    w.write(b"PING\\r\\n")
    await r.readline()
    print(flush=True)
    await r.read()
asyncio.run(main())""",
    "nginx": """
import http.server, os, socket, subprocess, sys, time
folder = sys.argv[1]
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
up = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
if not os.fork():
    up.serve_forever()
up.server_close()
temporary = "".join(f"{x}_temp_path {folder}/{x};" for x in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
with open(folder + "/conf", "w") as f:
    f.write("daemon off; user root; worker_processes 1; events {} pid %s/pid; http { access_log off; %s "
            "upstream u { server 127.0.0.1:%d; keepalive 2; } server { listen unix:%s/nginx; location / { "
            'proxy_pass http://u; proxy_http_version 1.1; proxy_set_header Connection ""; } } }'
            % (folder, temporary, up.server_address[1], folder))
p = subprocess.Popen(["nginx", "-e", "/dev/null", "-c", folder + "/conf"])
c = socket.socket(socket.AF_UNIX)
while c.connect_ex(folder + "/nginx"):
    time.sleep(0.01)
c.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
got = b""
while not got.endswith(b"ok"):
    got += c.recv(4096)
print(flush=True)
p.wait()""",
}

OTHERS = {
    "perl": ("perl", "$| = 1; print qq(\\n); select(undef, undef, undef, 1000)"),
    "node, a timer": ("node", "console.log(); setInterval(() => 0, 1e6)"),
    "node, a server": ("node", "require('net').createServer().listen(0, '127.0.0.1', () => console.log())"),
}


def programs(folder):
    """(name, words) of those that this machine can execute; each may write into a folder of its own."""
    def own(name):
        os.mkdir(path := os.path.join(folder, re.sub(r"\W", "-", name)))
        return path

    for name, text in PYTHON.items():
        yield name, [sys.executable, "-c", text]
    for name, text in SERVERS.items():
        if shutil.which(name):
            yield name, [sys.executable, "-c", text, own(name)]
    for name, (program, text) in SHELL.items():
        if shutil.which(program) and shutil.which(name.split(" ")[0].rstrip(",")):
            yield name, [program, "-c", text.format(own(name))]
    for name, (program, text) in OTHERS.items():
        if shutil.which(program):
            yield name, [program, "-e", text]
