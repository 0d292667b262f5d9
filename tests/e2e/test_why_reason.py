# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon why: what is idle is called idle, what is in a deadlock is called that, and the one that hangs is named."""
import ctypes
import fcntl
import json
import os
import pathlib
import pty
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.bpfmon import BPFMON
from lib.idle_programs import programs
from lib.live import PATIENCE, children_of, descendants_of, wait_for
from lib.permitted import BPF, ROOT, needs
from lib.store import StoreCase

SAMPLED = True
NOBODY = 65534


def why(*pids):
    done = subprocess.run([BPFMON, "why", "--json", *map(str, pids)], stdout=subprocess.PIPE, text=True, timeout=60,
                          check=True, cwd="/")
    return json.loads(done.stdout)


def why_text(*pids):
    return subprocess.run([BPFMON, "why", *map(str, pids)], stdout=subprocess.PIPE, text=True, timeout=60, check=True,
                          cwd="/").stdout


def comm_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None


class Programs(unittest.TestCase):
    """Programs that print a line when they wait, and that are ended with all they have started."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    @staticmethod
    def end(p):
        for pid in [p.pid, *descendants_of(p.pid)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        p.wait()
        p.stdout.close()

    def start(self, *words, **more):
        p = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, start_new_session=True, **more)
        self.addCleanup(self.end, p)
        return p

    def python(self, text, *args):
        """A program in Python, and the line that it printed."""
        p = self.start(sys.executable, "-c", text, *map(str, args))
        return p, p.stdout.readline().strip()

    def until(self, condition, *pids):
        """The first answer that meets the condition, or the last one."""
        deadline = time.monotonic() + PATIENCE
        while not condition(answer := why(*pids)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(condition(answer), json.dumps(answer, indent=1))
        return answer

    def is_idle(self, *pids):
        answer = self.until(lambda a: a.get("reason", {}).get("idle"), *pids)
        self.assertRegex(answer["reason"]["text"], r"^idle: \d+ ")
        return answer

    def is_deadlock(self, *pids):
        answer = self.until(lambda a: a.get("reason", {}).get("deadlock"), *pids)
        self.assertRegex(answer["reason"]["text"], r"^deadlock: ")
        self.assertFalse(answer["reason"]["idle"])
        return answer


class Idle(Programs):
    @needs(ROOT)
    def test_forty_idle_programs_are_idle_and_in_no_deadlock(self):
        started = []
        for name, words in programs(self.folder):
            p = self.start(*words)
            self.assertEqual(p.stdout.readline(), "\n", name)
            started.append((name, p))
        self.assertGreaterEqual(len(started), 40)
        for name, p in started:
            with self.subTest(name):
                self.is_idle(p.pid)
                tree = [p.pid, *descendants_of(p.pid)]
                self.is_idle(*tree)
                for pids in ([p.pid], tree) * 3:  # some of them run for a moment now and then
                    reason = why(*pids)["reason"]
                    self.assertFalse(reason["deadlock"], reason)


class Deadlocks(Programs):
    """What has no way out is still called a deadlock."""

    PAIR = "import os, select, socket, sys, threading\na, b = socket.socketpair()\nchild = os.fork()\n" \
           "mine = a if child else b\n(b if child else a).close()\nif child: print(child, flush=True)\n"

    @needs(ROOT)
    def test_two_processes_that_each_read_a_pipe_of_the_other(self):
        p, child = self.python("""
import os
a, b = os.pipe(), os.pipe()
child = os.fork()
os.close(b[0] if child else a[0]), os.close(a[1] if child else b[1])
if child: print(child, flush=True)
os.read(a[0] if child else b[0], 1)""")
        answer = self.is_deadlock(p.pid)
        self.assertEqual(set(answer["reason"]["chain"]), {p.pid, int(child)})
        self.is_deadlock(p.pid, int(child))

    @needs(ROOT)
    def test_two_processes_that_each_poll_for_the_other_alone(self):
        p, _ = self.python(self.PAIR + "e = select.epoll(); e.register(mine, select.EPOLLIN); e.poll()")
        self.is_deadlock(p.pid)

    @needs(ROOT)
    def test_two_processes_with_threads_of_which_none_has_another_way(self):
        p, _ = self.python(self.PAIR + """
t = threading.Thread(target=mine.recv, args=(1,)); t.start()
threading.Thread(target=t.join).start()
t.join()""")
        self.is_deadlock(p.pid)

    @needs(ROOT)
    def test_an_ordinary_user_who_cannot_see_all_processes_is_shown_neither_idle_nor_a_deadlock(self):
        pid = os.fork()
        if not pid:
            try:
                os.setsid()
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # it may be looked at, as what was executed
                one, two = socket.socketpair()
                mine, other = (one, two) if os.fork() else (two, one)
                other.close()
                mine.recv(1)
            finally:
                os._exit(1)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.killpg, pid, signal.SIGKILL)
        self.is_deadlock(pid)
        done = subprocess.run([BPFMON, "why", "--json", str(pid)], stdout=subprocess.PIPE, text=True, timeout=60, check=True,
                              cwd="/", user=NOBODY, group=NOBODY, extra_groups=[])
        answer = json.loads(done.stdout)
        self.assertEqual(len(answer["processes"]), 2)
        self.assertFalse(answer["reason"]["deadlock"] or answer["reason"]["idle"], answer["reason"])

    def test_two_holders_of_a_lock_that_each_wait_for_the_other(self):
        one, two = (os.path.join(self.folder, name) for name in ("one", "two"))
        text = """
import fcntl, sys
a, b = (open(x, "w") for x in sys.argv[1:])
fcntl.flock(a, fcntl.LOCK_EX); print(flush=True); sys.stdin.readline(); fcntl.flock(b, fcntl.LOCK_EX)"""
        pids = []
        for first, second in ((one, two), (two, one)):
            p = subprocess.Popen([sys.executable, "-c", text, first, second], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
            self.addCleanup(self.end, p)
            p.stdout.readline()
            pids.append(p)
        for p in pids:
            p.stdin.close()
        answer = self.is_deadlock(pids[0].pid)
        self.assertEqual(set(answer["reason"]["chain"]), {p.pid for p in pids})


class Named(Programs):
    """The process and the thread that are the reason."""

    POOL = """
import fcntl, multiprocessing, os, sys, time
def work(i):
    if i == 20:
        print(os.getpid(), flush=True)
        if sys.argv[1] == "sleep": time.sleep(1000)
        if sys.argv[1] == "flock": fcntl.flock(open(sys.argv[2], "w"), fcntl.LOCK_EX)
        if sys.argv[1] == "lock": lock.acquire()
        while sys.argv[1] == "spin": pass
lock = multiprocessing.Lock()
lock.acquire()
with multiprocessing.Pool(8) as p: p.map(work, range(60), 1)"""

    @needs(ROOT)
    def test_of_a_pool_of_workers_the_one_that_hangs_is_the_reason(self):
        locked = os.path.join(self.folder, "locked")
        holder, _ = self.python("import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
                                "print(flush=True); time.sleep(1000)", locked)
        for how, wait in (("sleep", "sleep"), ("flock", "lock"), ("lock", "futex"), ("spin", "runs")):
            with self.subTest(how):
                p, pid = self.python(self.POOL, how, locked)
                worker = int(pid)
                first = [holder.pid, worker] if how == "flock" else [worker]

                def is_named(answer, worker=worker, wait=wait, first=first):
                    found = {q["pid"]: q["wait"] for q in answer["processes"]}
                    return found.get(worker) == wait and answer["reason"]["chain"][:len(first)] == first

                self.until(is_named, p.pid)
                self.until(is_named, p.pid, *children_of(p.pid))

    @needs(ROOT)
    def test_the_main_thread_is_named_before_others(self):
        p, _ = self.python("""
import os, threading, time
threading.Thread(target=os.read, args=(os.pipe()[0], 1)).start()
print(flush=True); time.sleep(1000)""")
        found = self.is_idle(p.pid)["processes"][0]
        self.assertEqual((found["wait"], found["tid"]), ("sleep", p.pid))

    @needs(ROOT)
    def test_a_thread_whose_end_the_main_thread_waits_for_is_named(self):
        p, tid = self.python("""
import os, threading
def read(): print(threading.get_native_id(), flush=True); os.read(a, 1)
a, b = os.pipe()
if not os.fork(): os.close(a); __import__("time").sleep(1000)
os.close(b)
t = threading.Thread(target=read); t.start(); t.join()""")
        self.until(lambda a: a["processes"][0]["wait"] == "pipe-read" and a["processes"][0]["tid"] == int(tid), p.pid)

    def test_the_child_behind_the_wait_of_a_shell_and_of_make(self):
        rules = os.path.join(self.folder, "rules")
        pathlib.Path(rules).write_text("all: a b c\na b c:\n\t@sleep 1000\n")
        for words in (["dash", "-c", "sleep 1000 & wait"], ["bash", "-c", "sleep 1000 & wait"],
                      ["dash", "-c", "trap : TERM; sleep 1000 & sleep 1001 & wait"],
                      ["sudo", "-n", "sleep", "1000"], ["script", "-qc", "exec sleep 1000", "/dev/null"],
                      ["node", "-e", "require('child_process').spawn('sleep', ['1000'], {stdio: 'ignore'})"],
                      ["make", "-s", "-f", rules], ["make", "-s", "-j2", "-f", rules]):
            if not shutil.which(words[0]):
                continue
            with self.subTest(words):
                p = self.start(*words)
                answer = self.until(lambda a: len(a.get("reason", {}).get("chain", [])) > 1
                                    and a["processes"][1].get("comm") == "sleep", p.pid)
                self.assertIn(answer["processes"][0]["wait"], ("child", "poll"))
                self.assertIn(answer["reason"]["chain"][0], children_of(p.pid))

    @needs(ROOT)
    def test_how_to_see_the_stack_that_a_runtime_keeps(self):
        tools = os.path.join(self.folder, "tools")
        os.mkdir(tools)
        p, _ = self.python("import time; print(flush=True); time.sleep(1000)")
        self.is_idle(p.pid)
        for path, installed in ((self.folder, False), (f"{self.folder}:{tools}", True)):
            pathlib.Path(tools, "py-spy").touch(0o755)
            done = subprocess.run([BPFMON, "why", str(p.pid)], env={**os.environ, "PATH": path}, stdout=subprocess.PIPE,
                                  text=True, timeout=60, check=True)
            self.assertEqual(done.stdout.splitlines()[-1], f"stack: py-spy dump --pid {p.pid}" +
                             ("" if installed else " (py-spy is not installed)"))
        self.assertEqual(why(p.pid)["stack"]["pid"], p.pid)
        # of a process that waits for another one it is the stack of the one that is waited for, if it has one
        shell = self.start("sh", "-c", "sleep 1000; true")
        self.assertNotIn("stack", self.is_idle(shell.pid))
        for program, words, shown in (("node", ["node", "-e", "console.log(); setInterval(() => 0, 1e6)"], "node inspect -p"),
                                      ("java", ["java", self.java()], "jstack")):
            if shutil.which(program):
                p = self.start(*words)
                p.stdout.readline()
                self.assertEqual(why(p.pid)["stack"]["command"], f"{shown} {p.pid}")

    def java(self):
        path = pathlib.Path(self.folder, "Sleep.java")
        path.write_text("class Sleep { public static void main(String[] a) throws Exception { System.out.println(); Thread.sleep(1000000); } }")
        return str(path)


class Outside(Programs):
    """Work that a server does for a client: the server is no process of the client's."""

    @needs(ROOT)
    def test_a_client_and_the_server_that_works_for_it(self):
        path = os.path.join(self.folder, "socket")
        _, pid = self.python("""
import os, socket, sys, time
if os.fork(): os.wait()
s = socket.socket(1); s.bind(sys.argv[1]); s.listen(); print(os.getpid(), flush=True); c, _ = s.accept()
time.sleep(1000)""", path)
        server = int(pid)
        client, _ = self.python("""
import socket, sys
s = socket.socket(1); s.connect(sys.argv[1]); print(flush=True)
s.recv(1)""", path)
        answer = self.until(lambda a: "outside" in a, client.pid)
        self.assertEqual((answer["outside"]["client"], answer["outside"]["pid"]), (client.pid, server))
        self.assertEqual(answer["reason"]["chain"], [server, client.pid])
        self.assertNotIn("outside", why(server))
        self.assertNotIn("outside", why(server, client.pid))

    def test_a_client_of_tmux(self):
        if not shutil.which("tmux"):
            return
        path = os.path.join(self.folder, "tmux")
        env = {k: v for k, v in os.environ.items() if k != "TMUX"} | {"TERM": "xterm"}
        subprocess.run(["tmux", "-S", path, "-f", "/dev/null", "new-session", "-d", "sleep 1000"], check=True, env=env)
        self.addCleanup(subprocess.run, ["tmux", "-S", path, "kill-server"], check=True)
        master, terminal = pty.openpty()
        self.addCleanup(os.close, master)
        client = subprocess.Popen(["tmux", "-S", path, "attach"], stdin=terminal, stdout=terminal, stderr=terminal, env=env)
        os.close(terminal)
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)
        answer = self.until(lambda a: "outside" in a, client.pid)
        self.assertIn("server", answer["outside"]["comm"])


class Launched(StoreCase):
    def launch(self, *words):
        env = {k: v for k, v in os.environ.items() if k != "BPFMON_NO_STORE"} | {"BPFMON_STORE": str(self.store)}
        run = subprocess.Popen([BPFMON, "-q", "-i", "0.1", "--name", "launched", "--", *words], env=env, start_new_session=True)
        self.addCleanup(run.wait, 60)
        self.addCleanup(os.killpg, run.pid, signal.SIGKILL)  # the command with its children, and the launcher
        return run

    def test_the_launcher_and_its_run_are_answered_as_the_command_is(self):
        run = self.launch("sh", "-c", "sleep 1000; true")
        sleeper = wait_for(lambda: [d for d in descendants_of(run.pid)
                                    if comm_of(d) == "sleep"], "the command")[0]
        command = int(pathlib.Path(f"/proc/{sleeper}/stat").read_text().rsplit(")", 1)[1].split()[1])
        self.assertEqual(wait_for(lambda: (t := why_text(command)).count("\n") == 3 and t, "both to wait"), why_text(run.pid))
        reason = why(command)["reason"]
        self.assertEqual(reason["chain"], [sleeper, command])
        wait_for(lambda: "launched" in self.bpfmon("list", "--state", "running").stdout, "the run in the store")

        def of_run():
            done = self.bpfmon("why", "--json", "launched")
            return not done.returncode and json.loads(done.stdout).get("reason")

        wait_for(lambda: of_run() == reason, "the same of the run")
        number = self.list()[0]["id"]
        self.assertEqual(json.loads(self.bpfmon("why", "--json", "--run", number).stdout)["reason"], reason)

    def test_what_waits_for_bpfmon_waits_for_its_command(self):
        shell = subprocess.Popen(["sh", "-c", f"{BPFMON} -q --no-store -- sleep 1000; true"], start_new_session=True)
        self.addCleanup(shell.wait, 60)
        self.addCleanup(os.killpg, shell.pid, signal.SIGKILL)
        wait_for(lambda: [comm_of(pid) for pid in why(shell.pid).get("reason", {}).get("chain", [])] == ["sleep", "bpfmon", "sh"],
                 "the chain from the shell to the command")

    def test_a_client_in_a_run_waits_for_a_server_outside_it(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        self.launch(sys.executable, "-c", "import os, socket, sys\nif not os.fork(): os.execvp('sleep', ['sleep', '1000'])\n"
                    "socket.create_connection(('127.0.0.1', int(sys.argv[1]))).recv(1)", str(server.getsockname()[1]))
        connection, _ = server.accept()
        self.addCleanup(connection.close)
        wait_for(lambda: "launched" in self.bpfmon("list", "--state", "running").stdout, "the run in the store")
        line = wait_for(lambda: [li for li in self.bpfmon("why", "launched").stdout.splitlines() if li.startswith("outside: ")],
                        "the line")[0]
        self.assertRegex(line, rf"^outside: \d+ python\S* waits for {os.getpid()} \(python.*\), which is outside this run$")

    def test_the_processes_of_bpfmon_are_idle(self):
        run = self.launch("sleep", "1000")
        roles = wait_for(lambda: len(r := [d for d in children_of(run.pid) if comm_of(d) == "bpfmon"]) == 2
                         and comm_of(run.pid) == "bpfmon" and r, "its roles")
        for pid in roles:
            wait_for(lambda pid=pid: why(pid).get("reason", {}).get("idle"), "a role that is idle")
            for _ in range(5):
                self.assertFalse(why(pid)["reason"]["deadlock"])


if __name__ == "__main__":
    unittest.main()
