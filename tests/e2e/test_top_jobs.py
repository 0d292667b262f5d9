# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon top with a socket that answers like an agent: jobs and users of processes, stalls, the mouse, and sudo."""

import contextlib
import os
import pathlib
import pwd
import shlex
import subprocess

from lib.bpfmon import BPFMON, TOP, Case
from lib.fakeagent import FakeAgent, Job
from lib.live import descendants_of, wait_for
from lib.node import NOBODY
from lib.tmux import Tmux

RECORDED = TOP / "tests/data/top/run.jsonl"
SUDO = f"SUDO_UID={NOBODY} SUDO_GID={NOBODY} SUDO_USER=nobody "


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
        agent = FakeAgent(self, Job(1, "node", processes=[sleeper]), Job(2, "slurm/77", cgroup))
        t = self.top("--agent", agent.path, "--job", "node")
        row = next(line for line in t.expect("USER", " JOB ", "slurm/77", "sleep 1000").splitlines() if "slurm/77" in line)
        self.assertEqual(row.split()[:3], [str(sleeper), "nobody", "slurm/77"])

    def test_stalled_job_is_marked_and_shows_the_holder_first(self):
        lock = self.dir / "lock"
        holder = self.start("sh", "-c", 'exec 9>"$0"; flock 9; exec sleep 1000', str(lock))
        wait_for(lambda: self.comm(holder) == "sleep", "the lock to be held")
        waiter = self.start("flock", str(lock), "true")
        wait_for(lambda: f"-> FLOCK  ADVISORY  WRITE {waiter} " in pathlib.Path("/proc/locks").read_text(), "the wait for the lock")
        agent = FakeAgent(self, Job(1, "slurm/78", processes=[waiter], stalled=True), Job(2, "slurm/79"))
        t = self.top("--agent", agent.path)
        rows = t.expect("slurm/79", "stalled 9").splitlines()
        self.assertEqual(sum("stalled" in row for row in rows), 1)
        self.click_at("slurm/79")
        self.click_at("slurm/78")
        self.click_at("slurm/78")
        rows = t.expect("stalled for ", "that it holds").splitlines()
        first = next(i for i, row in enumerate(rows) if row.startswith("stalled for"))
        said = " ".join(row.strip() for row in rows[first : first + 2])
        self.assertRegex(said, rf"^stalled for [\d.]+ s: idle: {holder} sleep .*; {waiter} flock waits for a lock that it holds$")
        t.press("q")
        t.expect("status 0")

    def test_under_sudo_the_jobs_are_those_of_root_and_the_rights_those_of_the_caller(self):
        agent = FakeAgent(self, Job(1, "slurm/80", processes=[os.getpid()]), Job(2, "other"))
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
        t.expect("at 2.00 s of 2.02 s", "COMMAND")
        t.press("[", "[", "[", "[", "[", "[", "[")
        t.expect("at 251 ms of", "─sleep 2")
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
