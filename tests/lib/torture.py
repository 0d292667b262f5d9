# SPDX-License-Identifier: BSD-2-Clause
"""Runs bpfmon on torture with a seed, keeps the output of both, and returns the violations."""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import shutil
import subprocess
import threading
import time

from lib.account import metric_kinds
from lib import torture_checks, torture_from_proc
from lib.bpfmon import BPFMON, NOBODY, read_lines, truth
from lib.manager import ManagedAgent
from lib.torture_bounds import check_log
from lib.torture_log import Log
from lib.torture_said import Said

# of the numbers: what checks them; restarts: an agent that is restarted at random moments
SOURCES = {"bpf": torture_checks, "procfs": torture_from_proc, "restarts": torture_checks}
FILE_BYTES = 64 << 20
OTHERS = 2  # processes around the program, of a run from /proc: a shell and a witness
CLOCK_WAS_SET_NS = 100_000_000  # less may be a clock that is being adjusted: 5 ms a second have been seen
# the memory is that of the image that is executed, or of the one before it
TOUCHES = ["sh", "-c", 'while "$@"; do :; done', "sh", truth("touch"), "100", "1"]
EXECUTES = [truth("stranger"), "100"]
HUGE_PAGES = pathlib.Path("/proc/sys/vm/nr_hugepages")


@dataclasses.dataclass
class Plan:
    """How a seed is run: all of it follows from the seed."""

    options: list
    resets: bool  # some processes reset their marks
    nice: int  # of bpfmon and the program
    busy: int  # other programs that need a CPU meanwhile
    strangers: list  # other programs, each of which starts processes with 100 MiB, repeatedly
    bpf_options: list  # that only a run by BPF has


def plan_of(seed):
    any_of = random.Random(seed)
    options = ["-i", f"{any_of.uniform(0.01, 0.1):.3f}"]
    if any_of.random() < 0.5:
        options.append("--exact-peak")
    if any_of.random() < 0.3:
        options += ["--process-samples", str(any_of.choice([3, 20, 1000]))]
    if any_of.random() < 0.2:
        options.append(any_of.choice(["--pss", "--pss=20"]))
    resets = any_of.random() < 0.25
    nice = any_of.choice([0, 0, 0, 0, 5, 19, -5])
    busy = any_of.choice([0, 0, 0, 0, 0, 0, os.cpu_count(), 4 * os.cpu_count()])
    strangers = [TOUCHES] * any_of.choice([0, 0, 0, 2])
    strangers += [EXECUTES] * any_of.choice([0, 0, 1, 2])
    bpf_options = ["--net"] if any_of.random() < 0.4 else []
    if EXECUTES in strangers and any_of.random() < 0.5:
        # each drain closes what is left behind
        bpf_options += ["--inject-free-misses", str(any_of.choice([50, 500])), "-i", str(any_of.choice([0.1, 1]))]
    if any_of.random() < 0.15:
        # the entries run out; the run ends all the same, also where it waits for the last process
        bpf_options += ["--max-tasks", str(any_of.choice([1, 3, 8, 20]))]
    if any_of.random() < 0.3:
        bpf_options += ["--wait", "tree"]
    return Plan(options, resets, nice, busy, strangers, bpf_options)


@contextlib.contextmanager
def beside(plan):
    """Other programs that run on the machine meanwhile."""
    others = [subprocess.Popen([truth("spin"), "120000"]) for _ in range(plan.busy)]
    others += [subprocess.Popen(stranger) for stranger in plan.strangers]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


@contextlib.contextmanager
def huge_pages(more=8):
    """Adds so many huge pages, as far as the machine has them."""
    try:
        before = int(HUGE_PAGES.read_text())
        HUGE_PAGES.write_text(str(before + more))
    except OSError:
        yield
        return
    try:
        yield
    finally:
        HUGE_PAGES.write_text(str(before))


def clock_difference():
    """CLOCK_REALTIME less CLOCK_MONOTONIC; the best of some tries."""
    best = None
    for _ in range(20):
        before, real, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = (after - before, real - (before + after) // 2)
    return best[1]


class Failed(Exception):
    """The run itself failed: there is no result about bpfmon."""


def command_from_proc(folder, plan, bpfmon, program, code):
    """As an ordinary user, below a witness, and so that it ends with this code."""
    command = ["nice", "-n", str(plan.nice), "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    command += [bpfmon, "-q", "--no-store", "-o", str(folder / "run.jsonl"), *plan.options, "--"]
    return [*command, "sh", "-c", '"$@"; exit $0', str(code), truth("witness"), str(folder / "wait4.json"), *program]


@contextlib.contextmanager
def restarted_agent(seed):
    """An agent that is restarted again and again; its socket."""
    agent = ManagedAgent("[agent]\ninterval = 100ms\n")
    moments, is_over, failed = random.Random(seed), threading.Event(), []

    def restart():
        try:
            while not is_over.wait(moments.uniform(0.02, 0.5)):
                agent.restart()
        except (AssertionError, subprocess.TimeoutExpired) as e:
            failed.append(str(e))

    thread = threading.Thread(target=restart)
    thread.start()
    try:
        yield agent.socket
    finally:
        is_over.set()
        thread.join()
        agent.clean()
    if failed:
        raise Failed(f"the agent did not restart: {failed[0]}")


def for_agent(plan):
    """The options that an agent grants."""
    words, refused = [], {"--exact-peak": 1, "--net": 1, "--max-tasks": 2, "--inject-free-misses": 2}
    at = iter([*plan.options, *plan.bpf_options])
    for word in at:
        if refused.get(word) == 2:
            next(at)
        elif word not in refused:
            words.append(word)
    return words


def give_away(folder, *files):
    """To the ordinary user, who has to reach them."""
    for path in (folder, *files):
        os.chown(path, NOBODY, NOBODY)


def run(seed, folder, bpfmon=BPFMON, seconds=None, source="bpf"):
    """Leaves run.jsonl, truth.log and setup.json in the folder; for the source procfs also wait4.json."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    log, out, mapped = folder / "truth.log", folder / "run.jsonl", folder / "mapped"
    log.write_bytes(b"")
    out.unlink(missing_ok=True)
    with open(mapped, "wb") as file:
        file.truncate(FILE_BYTES)
    plan = plan_of(seed)
    environment = {**os.environ, "TRUTH_LOG": str(log), "TORTURE_FILE": str(mapped)}
    if plan.resets:
        environment["TORTURE_RESETS"] = "1"
    program = [truth("torture"), str(seed), *([str(seconds)] if seconds else [])]
    options = [*plan.options, *plan.bpf_options]
    command = ["nice", "-n", str(plan.nice), bpfmon, "-q", "--no-store", "-o", str(out), *options, "--", *program]
    code, agent = 0, contextlib.nullcontext()
    if source == "restarts":
        agent = restarted_agent(seed)
    if source == "procfs":
        code = seed % 100
        command = command_from_proc(folder, plan, bpfmon, program, code)
        give_away(folder, log, mapped)
    difference = clock_difference()
    try:
        with beside(plan), agent as socket:
            if socket:
                command = ["nice", "-n", str(plan.nice), bpfmon, "--agent", str(socket), "-q", "--no-store", "-o", str(out)]
                command += [*for_agent(plan), "--", *program]
            done = subprocess.run(command, env=environment, cwd="/", stderr=subprocess.PIPE, timeout=120, check=False)
    except subprocess.TimeoutExpired as e:
        raise Failed(f"it did not end: {' '.join(command)}") from e
    finally:
        mapped.unlink()
    setup = {"seed": seed, "command": command, "plan": dataclasses.asdict(plan), "source": source}
    setup |= {"code": code, "ended_with": done.returncode, "uid": NOBODY, "others": OTHERS}
    setup |= {"realtime_less_monotonic_ns": [difference, clock_difference()]}
    (folder / "setup.json").write_text(json.dumps(setup))
    if abs(setup["realtime_less_monotonic_ns"][1] - difference) > CLOCK_WAS_SET_NS:
        raise Failed("the clock was set meanwhile")
    if done.returncode != code:
        raise Failed(f"it ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    return setup


def check(folder, kinds=None):
    """The violations of a kept run, and both sides for inspection."""
    folder = pathlib.Path(folder)
    setup = json.loads((folder / "setup.json").read_text())
    difference, after = setup["realtime_less_monotonic_ns"]
    log = Log((folder / "truth.log").read_text(), os.path.getsize(truth("torture")) + (64 << 10))
    calm = not setup["plan"]["busy"] and setup["plan"]["nice"] <= 0
    said = Said(read_lines(folder / "run.jsonl"), difference, kinds or metric_kinds(), calm, abs(after - difference))
    if any(sample["swap_bytes"] for sample in said.samples):
        raise Failed("the machine swapped: what was touched is not resident")
    for text in check_log(log):
        raise Failed(f"the log contradicts itself: {text}")
    source = setup.get("source", "bpf")
    if source == "procfs":
        said.setup, said.code = setup, setup["ended_with"]
        said.wait4 = json.loads((folder / "wait4.json").read_text())
    return list(SOURCES[source].violations(said, log)), said, log


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    return folder
