# SPDX-License-Identifier: BSD-2-Clause
"""What the agent of a node and its history cost with many idle jobs: a cgroup with one sleeping process each."""

import contextlib
import os
import pathlib
import subprocess
import time

from attached import wait_until
from runner import Broken
from selfcost import figure

JOBS = 1000
TARGET = 1.0			# % of a core, agent and history together
SETTLING = 75		# seconds until all jobs have been adopted, stored, and looked at for names and limits
TICKS = os.sysconf("SC_CLK_TCK")


def hierarchy():
    """Where the agent looks for jobs, and the key that says so."""
    memory = pathlib.Path("/sys/fs/cgroup/memory")
    if (memory / "cgroup.procs").exists():
        return memory, "hierarchy = memory"
    return pathlib.Path("/sys/fs/cgroup"), "hierarchy = unified"


@contextlib.contextmanager
def idle_jobs(root, count):
    """As many scopes of systemd would be: each is a job."""
    slices = root / "bpfmonbench.slice"
    scopes = [slices / f"idle{i}.scope" for i in range(count)]
    sleepers = []
    try:
        for scope in scopes:
            scope.mkdir(parents=True)
            sleeper = subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL)
            sleepers.append(sleeper)
            (scope / "cgroup.procs").write_text(str(sleeper.pid))
        yield
    finally:
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()
        for folder in (*scopes, slices):
            with contextlib.suppress(FileNotFoundError):
                wait_until(lambda f=folder: removed(f), f"{folder} to be empty")


def removed(folder):
    with contextlib.suppress(OSError):
        folder.rmdir()
    return not folder.exists()


@contextlib.contextmanager
def agent(runner, *lines):
    """A process with a socket and a store of its own."""
    place = pathlib.Path(runner.tmp, "agent")
    place.mkdir(mode=0o755, exist_ok=True)
    os.chmod(runner.tmp, 0o755)	# the user of the history must reach its folder
    config = place / "agent.conf"
    text = ["[agent]", f"socket = {place}/a.sock", "interval = 1s", *lines, "[history]", f"store = {place}/store/node.db"]
    config.write_text("\n".join(text) + "\n")
    process = subprocess.Popen([runner.bpfmon, "agent", "--config", str(config)], env=runner.env)
    try:
        wait_until(lambda: (place / "a.sock").exists() or process.poll() is not None, "the agent")
        if process.poll() is not None:
            raise Broken("the agent did not start")
        yield process.pid, place / "store/node.db"
    finally:
        process.terminate()
        process.wait()


def family(pid):
    """A process and all its descendants."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in family(int(child)))]


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def jobs(runner, seconds, count, say):
    root, hierarchy_line = hierarchy()
    used = {"the agent": [], "its history": [], "agent and history": []}
    with idle_jobs(root, JOBS):
        for i in range(count):
            with agent(runner, hierarchy_line) as (pid, _):
                say(f"run {i + 1} settles")
                time.sleep(SETTLING)
                before = {one: cpu_seconds(one) for one in family(pid)}
                began = time.monotonic()
                time.sleep(seconds)
                passed = time.monotonic() - began
                spent = {one: 100 * (cpu_seconds(one) - was) / passed for one, was in before.items()}
            used["the agent"].append(spent[pid])
            used["its history"].append(sum(spent.values()) - spent[pid])
            used["agent and history"].append(sum(spent.values()))
    return [figure(f"CPU of {who}, {JOBS} idle jobs, interval 1 s", values, "% of a core",
                   TARGET if who == "agent and history" else None) for who, values in used.items()]
