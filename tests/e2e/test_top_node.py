# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon top with a real agent: the tree of a job of the node, and the jobs in the list."""

import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys

from lib.agent import OTHER, READY, Client
from lib.bpfmon import BPFMON
from lib.live import PATIENCE, descendants_of, wait_for
from lib.node import NOBODY, AgentCase
from lib.tmux import Tmux

SAMPLED = True
TICKS = os.sysconf("SC_CLK_TCK")
USER = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups "
# a child that has used some CPU time and lives on, and one that has ended
WORK = f"""echo $$ >"$0/cgroup.procs" || exit; {sys.executable} -c 'while sum(__import__("os").times()[:2]) < 0.4: pass
print(flush=True); __import__("time").sleep(1000)' & {USER}sleep 1000 & /bin/true; wait"""
SELECTED = re.compile(r"(\x1b\[[0-9;]*m)*\x1b\[([0-9;]*;)?(48;5;25|44|7)m")


def cpu_seconds(pid):
    """As the kernel has it."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def resident_mib(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


class TopOfNode(AgentCase):
    def setUp(self):
        super().setUp()
        self.jobs = {}

    def start_job(self, number, uid=NOBODY):
        """A job of Slurm whose processes rest by now; the shell that is above the others."""
        folder = self.job_cgroup(number, uid)
        shell = subprocess.Popen(["sh", "-c", WORK, folder], stdout=subprocess.PIPE, process_group=0)
        self.addCleanup(self.end_processes, shell.pid)
        self.addCleanup(shell.stdout.close)
        self.assertEqual(shell.stdout.readline(), b"\n")
        self.jobs[shell.pid] = shell, folder
        return shell.pid

    def end_processes(self, pid):
        """Of a job, and its cgroup."""
        if pid in self.jobs:
            shell, folder = self.jobs.pop(pid)
            os.killpg(pid, 9)
            shell.wait()
            if not any(other == folder for _, other in self.jobs.values()):
                self.end_job(folder)

    def top(self, *words, before="", width=220):
        self.terminal = Tmux(self, width=width, env={"XDG_STATE_HOME": str(self.dir / "state"), "BPFMON_AGENT": str(self.socket)})
        self.terminal.run(f"{before}{BPFMON} top {shlex.join(map(str, words))}; echo status $?")
        return self.terminal

    def row_of(self, word):
        """The cells of the row of the process with that word in its command."""
        row = next(line for line in self.terminal.expect(word).splitlines() if word in line)
        return row.split()

    def test_tree_of_a_job_has_its_living_processes_with_their_values(self):
        self.start_agent()
        shell = self.start_job(815)
        python = next(pid for pid in descendants_of(shell) if "python" in os.readlink(f"/proc/{pid}/exe"))
        t = self.top("--job", "815")
        t.expect("slurm/815", "─sleep 1000", "while sum", "3 live", "running, ")
        # PID S CPU% +CPU% +TIME and its unit, RSS
        cells = wait_for(lambda: self.row_has_used(cpu_seconds(python)), "the CPU time that the kernel has")
        self.assertEqual(int(cells[0]), python)
        self.assertAlmostEqual(float(cells[6].removesuffix("M")), resident_mib(python), delta=1)
        self.assertIn(str(shell), t.screen())
        self.end_processes(shell)
        t.expect("after ", without=("running, ",))
        t.press("q")
        t.expect("status 0")

    def row_has_used(self, seconds):
        """The cells of the row of the process that has used some CPU time, once it is as much as that."""
        cells = self.row_of("-c while sum")
        return cells if abs(float(cells[4]) * {"ms": 1e-3, "s": 1}[cells[5]] - seconds) < 0.02 else None

    def start_run(self, folder, before):
        """A run through the agent, with its process in the cgroup of a job."""
        script = f"""echo $$ >"$0/cgroup.procs" || exit; exec {before}{BPFMON} -q --agent {self.socket} -- sleep 1000"""
        run = subprocess.Popen(["sh", "-c", script, folder], process_group=0)
        self.jobs[run.pid] = run, folder
        self.addCleanup(self.end_processes, run.pid)

    def processes(self, uid):
        """What the agent sends a user of the job slurm/815, when there are two sleeping processes: these, by user."""
        listed = [BPFMON, "jobs", "--agent", self.socket]
        wait_for(lambda: "slurm/815" in subprocess.run(listed, capture_output=True, text=True, check=False).stdout, "the job")
        with Client(self, uid) as c:
            c.request("job", job="slurm/815", processes=True)
            self.assertEqual(c.answer()[0], READY)
            sleeping = {}
            while {line["uid"] for line in sleeping.values()} != {0, NOBODY}:
                lines = c.lines(lambda line: line["kind"] == "process_sample" and line["comm"] == "sleep")
                sleeping[lines[-1]["pid"]] = lines[-1]
        return {line["uid"]: line for line in sleeping.values()}

    def test_user_sees_what_processes_of_others_use_and_not_what_they_execute(self):
        self.start_agent()
        folder = self.job_cgroup(815)
        self.start_run(folder, "")
        self.start_run(folder, USER)
        own, all_of_it = self.processes(NOBODY), self.processes(0)
        self.assertEqual(own[0]["pid"], all_of_it[0]["pid"])
        self.assertGreater(own[0]["rss_bytes"], 0)
        self.assertIn("sleep", all_of_it[0]["exe"])
        self.assertIn("sleep", own[NOBODY]["exe"])
        self.assertIsNone(own[0].get("exe"))
        with Client(self, OTHER) as c:
            self.assertIn("no job 'slurm/815'", c.request("job", job="slurm/815", processes=True).is_refused())
        with Client(self) as c:
            self.assertIn("'processes' is allowed only with a job", c.request("node", processes=True).is_refused())

    def test_job_that_is_not_there_is_refused(self):
        self.start_agent()
        self.top("--job", "slurm/816").expect("no job 'slurm/816' of yours on this node", "status 2")
        self.terminal.run(f"clear; BPFMON_AGENT= {BPFMON} top --job slurm/816")
        self.terminal.expect("no current run of job 'slurm/816', and no agent")

    def test_innermost_job_of_a_process_or_a_cgroup(self):
        self.start_agent()
        shell = self.start_job(8153)
        python = next(pid for pid in descendants_of(shell) if "python" in os.readlink(f"/proc/{pid}/exe"))
        t = self.top("--pid", python)
        t.expect("slurm-step/8153.0", "while sum", "3 live")
        wait_for(lambda: self.selected().split()[:1] == [str(python)], "the process to be selected")
        t.press("q")
        t.expect("status 0")
        _, folder = self.jobs[shell]
        self.top("--cgroup", folder / "").expect("slurm-step/8153.0", "while sum", "3 live")
        self.top("--cgroup", f"slurm/uid_{NOBODY}/job_8153/step_0").expect("slurm-step/8153.0", "while sum", "3 live")
        self.top("--cgroup", "elsewhere", before=USER).expect("no current run and no job of the agent measures", "status 2")
        self.top("--pid", os.getpid(), before=USER).expect("measures process", "status 2")

    def test_keys_are_answered_while_the_agent_is_silent(self):
        agent = self.start_agent()
        self.start_job(8154)
        agent.send_signal(signal.SIGSTOP)
        try:
            t = self.top("--job", "8154")
            t.expect("waiting for the agent", "q quit")
            t.press("?")
            t.expect("fold or unfold a row")
            t.press("q")
            t.press("q")
            t.expect("status 0")
            self.top("--job", "8154").expect("waiting for the agent")
        finally:
            agent.send_signal(signal.SIGCONT)
        self.terminal.expect("slurm/8154", "while sum", "3 live")

    def test_user_sees_own_jobs_in_the_list_and_opens_one(self):
        self.start_agent()
        self.start_job(8151)
        self.start_job(8152, uid=0)
        t = self.top(before=USER)
        screen = t.expect("0 runs under way, ", "of this node", "slurm/8151")
        self.assertNotIn("8152", screen)
        self.assertNotIn(" other", screen)
        self.select("slurm/8151")
        t.press("Enter")
        t.expect("slurm/8151", "while sum", "3 live")
        t.press("Escape")
        t.expect("0 runs under way, ", "slurm/8151")
        wait_for(lambda: self.selected().endswith("slurm/8151"), "the row that was selected before")
        t.press("q")
        t.expect("status 0")

    def selected(self):
        """The row that is painted as selected, which no other is from its first column on."""
        rows = self.terminal.screen("-e").splitlines()
        return next((re.sub(r"\x1b\[[0-9;]*m", "", row).rstrip() for row in rows[1:] if SELECTED.match(row)), "")

    def select(self, job):
        """Goes down until the row of that job is selected; rows may change places meanwhile."""

        def is_selected():
            if self.selected().endswith(job):
                return True
            self.terminal.press("Down")
            return False

        wait_for(is_selected, f"{job} to be selected")

    def refuse_calls(self, times):
        """At the socket of an agent that has ended; when this returns, all but the last call have been found refused."""
        self.socket.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(self.socket))
            listener.listen()
            listener.settimeout(PATIENCE)
            for _ in range(times):
                listener.accept()[0].close()
        self.socket.unlink()

    def test_admin_sees_all_jobs_and_they_come_and_go(self):
        agent = self.start_agent()
        t = self.top()
        t.expect("jobs of this node", " node", " other", "q quit", without=("816",))
        first = self.start_job(8161)
        self.start_job(8162)
        screen = t.expect("slurm/8161", "slurm/8162", "slurm-step/8162.0")
        row = next(line for line in screen.splitlines() if line.endswith("slurm/8161"))
        # CORES SINCE MEMORY CPU PROCS USER JOB
        self.assertRegex(row, re.compile(r"^ +\d+\.\d\d +[\d.]+ m?s +\S+ +[\d.]+ [mu]?s +3 +nobody +slurm/8161$"))
        self.end_processes(first)
        t.expect("slurm/8162", without=("slurm/8161", "slurm-step/8161.0"))
        self.end_agent(agent)
        t.expect("the agent at", "has ended", without=("of this node",))
        self.refuse_calls(2)
        self.assertIn("has ended", t.expect("the agent at", without=("closed the connection", "cannot connect to the agent")))
        self.start_agent()
        t.expect("slurm/8162", without=("the agent at",))
        t.press("q")
        t.expect("status 0")
