# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon top with a socket that answers like an agent: jobs and users of processes, stalls, the mouse, and sudo."""

import contextlib
import json
import os
import pathlib
import pwd
import shlex
import socket
import struct
import subprocess
import threading
import time

from lib.bpfmon import BPFMON, TOP, Case
from lib.live import descendants_of, wait_for
from lib.node import CONTROL_READY, NOBODY
from lib.tmux import Tmux

PACKET = struct.Struct("=IiQ1024s")
RECORDED = TOP / "tests/data/top/run.jsonl"
UUID = "6ea0269c-189d-4290-aff8-{:012d}"
SUDO = f"SUDO_UID={NOBODY} SUDO_GID={NOBODY} SUDO_USER=nobody "


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


class Agent:
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


class TopCase(Case):
    def top(self, *words, before="", width=80, height=24, **env):
        self.terminal = Tmux(self, width, height, env={"XDG_STATE_HOME": str(self.dir / "state"), **env})
        self.terminal.run(f"{before}{BPFMON} top {shlex.join(map(str, words))}; echo status $?")
        return self.terminal

    def start(self, *argv, **kwargs):
        process = subprocess.Popen(argv, **kwargs)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process.pid

    def comm(self, pid):
        with contextlib.suppress(OSError):
            return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
        return None

    def click(self, x, y, button=0):
        """A press and a release, as terminals send them; the wheel has no release."""
        for code in (button, 3)[: 1 if button else 2]:
            self.terminal.tmux("send-keys", "-H", *(f"{byte:x}" for byte in (0x1B, 0x5B, 0x4D, 32 + code, 33 + x, 33 + y)))

    def click_at(self, text):
        """In the first row with that text, where the text begins."""
        rows = self.terminal.expect(text).splitlines()
        y = next(i for i, row in enumerate(rows) if text in row)
        self.click(rows[y].index(text), y)


class Jobs(TopCase):
    def test_processes_of_the_node_have_their_user_and_job(self):
        sleeper = self.start("sleep", "1000")
        cgroup = pathlib.Path(f"/proc/{sleeper}/cgroup").read_text().splitlines()[0].split(":", 2)[2]
        agent = Agent(self, Job(1, "node", processes=[sleeper]), Job(2, "slurm/77", cgroup))
        t = self.top("--agent", agent.path, "--job", "node")
        row = next(line for line in t.expect("USER", " JOB ", "slurm/77", "sleep 1000").splitlines() if "slurm/77" in line)
        self.assertEqual(row.split()[:3], [str(sleeper), "nobody", "slurm/77"])

    def test_stalled_job_is_marked_and_shows_the_holder_first(self):
        lock = self.dir / "lock"
        holder = self.start("sh", "-c", 'exec 9>"$0"; flock 9; exec sleep 1000', str(lock))
        wait_for(lambda: self.comm(holder) == "sleep", "the lock to be held")
        waiter = self.start("flock", str(lock), "true")
        wait_for(lambda: f"-> FLOCK  ADVISORY  WRITE {waiter} " in pathlib.Path("/proc/locks").read_text(), "the wait for the lock")
        agent = Agent(self, Job(1, "slurm/78", processes=[waiter], stalled=True), Job(2, "slurm/79"))
        t = self.top("--agent", agent.path)
        rows = t.expect("slurm/79", "stalled 1m").splitlines()
        self.assertEqual(sum("stalled" in row for row in rows), 1)
        self.click_at("slurm/79")
        self.click_at("slurm/78")
        self.click_at("slurm/78")
        rows = t.expect("stalled for 1m", "waits for a lock that it holds").splitlines()
        first = next(i for i, row in enumerate(rows) if row.startswith("stalled for"))
        self.assertRegex(rows[first], rf"^stalled for 1m..s: {holder} sleep ")
        self.assertEqual(rows[first + 1].strip(), f"{waiter} flock waits for a lock that it holds")
        t.press("q")
        t.expect("status 0")

    def test_under_sudo_the_jobs_are_those_of_root_and_the_rights_those_of_the_caller(self):
        agent = Agent(self, Job(1, "slurm/80", processes=[os.getpid()]), Job(2, "other"))
        self.dir.chmod(0o755)
        t = self.top("--agent", agent.path, before=SUDO)
        t.expect("2 jobs of this node", "slurm/80")
        shell = int(t.tmux("display-message", "-p", "#{pane_pid}"))
        top = wait_for(lambda: next((p for p in descendants_of(shell) if self.comm(p) == "bpfmon-top"), None), "bpfmon-top")
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{top}/status").read_text().splitlines() if ":\t" in line)
        self.assertEqual(set(status["Uid"].split()), {str(NOBODY)})
        self.assertEqual({int(status[key], 16) for key in ("CapPrm", "CapEff", "CapInh")}, {0})
        # no other process of the user may trace it and take what connects as root
        self.assertEqual(os.stat(f"/proc/{top}/environ").st_uid, 0)
        home = f"HOME={pwd.getpwuid(NOBODY).pw_dir}".encode()
        self.assertIn(home, pathlib.Path(f"/proc/{top}/environ").read_bytes().split(b"\0"))
        connector = next(p for p in descendants_of(top) if self.comm(p) == "bpfmon")
        self.click_at("slurm/80")
        if "Enter open" in t.screen():  # it was not the selected one
            self.click_at("slurm/80")
        t.expect("slurm/80", "1 live")
        self.assertEqual(set(agent.peers), {0})
        t.press("q")
        t.expect("status 0")
        wait_for(lambda: not os.path.exists(f"/proc/{connector}"), "the end of what connects as root")


class Saved(TopCase):
    def again(self, *without):
        self.terminal.press("q")
        self.terminal.expect("status 0")
        self.terminal.run(f"clear; {BPFMON} top {RECORDED}; echo status $?")
        return self.terminal.expect("q quit", "COMMAND", without=without)

    def test_mouse_selects_sorts_and_scrolls(self):
        t = self.top(RECORDED, width=120, height=16)
        t.expect("at 2.00s of 2.02s", "COMMAND")
        t.press("[", "[", "[", "[", "[", "[", "[")
        t.expect("at 0.25s of", "─sleep 2")
        self.click_at("sleep 2")
        self.click_at("sleep 2")
        t.expect("process  ", "sleep 2")
        self.click(5, 8, 65)
        self.click(5, 8, 65)
        t.expect("with all below", without=("process  ",))
        t.press("Escape")
        self.click_at("PID")
        self.click_at("PID")
        rows = t.expect("COMMAND").splitlines()
        title = next(i for i, row in enumerate(rows) if "COMMAND" in row)
        self.assertIn("align", rows[title + 1])
        t.press("q")
        t.expect("status 0")

    def test_columns_and_order_are_kept_until_they_are_changed_again(self):
        config = self.dir / "config"
        self.top(RECORDED, width=120, XDG_CONFIG_HOME=str(config), BPFMON_NO_CONFIG="0")
        t = self.terminal
        t.expect("q quit", "+CPU%")
        t.press("c", "Space", "Escape")  # at the column by which it sorts
        t.expect("COMMAND", without=("+CPU%",))
        self.again()
        self.assertFalse(config.exists() and "+CPU%" in (config / "bpfmon/top").read_text().split("columns-of-node")[0])
        self.assertNotIn("+CPU%", t.screen())
        t.press("t", "<")
        self.again("+CPU%", "└─/bin/sh")
        saved = (config / "bpfmon/top").read_text()
        self.assertIn("\nflat = yes\n", saved)
        self.assertEqual((config / "bpfmon/top").stat().st_mode & 0o777, 0o600)
        t.press("q")
        t.expect("status 0")
        t.run(f"clear; BPFMON_NO_CONFIG=1 {BPFMON} top {RECORDED}; echo status $?")
        t.expect("+CPU%", "└─/bin/sh")
        t.press("q")
        t.expect("status 0")
        self.assertEqual((config / "bpfmon/top").read_text(), saved)

    def test_nothing_is_kept_in_a_folder_of_another_user(self):
        config = self.dir / "config"
        config.mkdir()
        os.chown(config, NOBODY, NOBODY)
        t = self.top(RECORDED, width=120, XDG_CONFIG_HOME=str(config), BPFMON_NO_CONFIG="0")
        t.expect("q quit")
        t.press("t", "q")
        t.expect("status 0")
        self.assertEqual(list(config.iterdir()), [])
