#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes the runs by which the pages are judged, as lines: FOLDER/NAME.jsonl.

Usage: make.py FOLDER [--seconds N] [NAME...]
  as root; without names: all. A case takes about N seconds (default 4).
"""

import argparse
import contextlib
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parents[1])]

import synthetic  # noqa: E402
from lib.bpfmon import BPFMON  # noqa: E402
from lib.containers import CONFIGURATION, LEAST_PIDS, limit  # noqa: E402

PROGRAM = str(HERE / "program.py")
MIB = 1 << 20
RIVALS = 4  # programs that want the same CPU


class Lacking(Exception):
    """What a case needs and the machine does not have."""


def python(*words):
    return ["/usr/bin/python3", PROGRAM, *map(str, words)]


def shell(script, *words):
    return ["/bin/sh", "-c", script, "sh", *map(str, words)]


def record(folder, name, command, *options, run_name=None):
    """Runs the command under bpfmon; its exit status may be any."""
    out = folder / f"{name}.jsonl"
    words = [BPFMON, "-q", "--no-store", "--force", "-i", "0.1", "--name", run_name or name, *options, "-o", str(out), "--", *command]
    env = {**os.environ, "PATH": f"{pathlib.Path(BPFMON).parent}:{os.environ['PATH']}"}
    subprocess.run(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    return out


@contextlib.contextmanager
def beside(*commands):
    """Runs programs meanwhile that are no part of the run."""
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    for process in started:
        process.stdout.readline()  # each writes a line once it is at work
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()
            process.stdout.close()


@contextlib.contextmanager
def memory_cgroup(limit):
    for top, file in (("memory", "memory.limit_in_bytes"), (".", "memory.max")):
        group = pathlib.Path("/sys/fs/cgroup", top, f"bpfmon-case-{os.getpid()}")
        if top == "." and "memory" not in pathlib.Path("/sys/fs/cgroup/cgroup.subtree_control").read_text().split():
            break
        if (group.parent / "cgroup.procs").exists():
            group.mkdir()
            (group / file).write_text(str(limit))
            try:
                yield group
            finally:
                time.sleep(0.1)
                group.rmdir()
            return
    raise Lacking("it needs a cgroup whose memory can be limited")


def first_cpu():
    return str(min(os.sched_getaffinity(0)))


def oom(folder, seconds):
    with memory_cgroup(64 * MIB) as group:
        script = 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"'
        record(folder, "oom", shell(script, group, *python("hold", 200, seconds)))


def lock(folder, seconds):
    """It stands still for three quarters of the time."""
    path = folder / "lock"
    holder = python("lock", path, seconds * 0.75)
    script = 'flock "$1" true; shift; exec "$@"'
    with beside(holder):
        record(folder, "lock", shell(script, path, *python("spin", seconds / 20)), "--stalled-after", str(seconds / 8))


def starve(folder, name, seconds, *options, **more):
    cpu = ["taskset", "-c", first_cpu()]
    with beside(*[[*cpu, *python("spin", 600)]] * RIVALS):
        record(folder, name, [*cpu, *python("spin", seconds)], *options, **more)


def starved(folder, seconds):
    starve(folder, "starved", seconds / (RIVALS + 1))


def missing(folder, _):
    """As the collector of a busy machine records it: a seventh of the samples, by spells, is missing."""
    nr, interval = 12079, 0.1
    lines = list(synthetic.lines(nr, 40, interval))
    kept, left, lost = [], 0, 0
    for line in lines:
        if line["kind"] == "sample":
            i = round(line["elapsed_seconds"] / interval)
            if 3600 < i < 4200 and i % 3 == 1 or i % 40 == 7:
                left += 1
                continue
            if left:
                event = {"kind": "event", "time": line["time"], "event": "late_ticks", "count": left}
                lost += left
                left = 0
                kept.append(event)
        kept.append(line)
    kept[-1] |= {"late_ticks": lost, "samples": nr - lost}
    synthetic.write(folder / "missing.jsonl", kept)


def spans(folder, seconds):
    script = 'for i in 1 2 3; do bpfmon span "align $i" -- "$@" & done; wait; bpfmon span "merge all" -- "$@"'
    record(folder, "spans", shell(script, *python("spin", seconds / 5)))


def phases(folder, seconds):
    script = 'for p in load "train epoch 1" "train epoch 2" evaluate; do bpfmon mark "$p"; "$@"; done'
    record(folder, "phases", shell(script, *python("hold", 50, seconds / 4)), "--process-samples", "5")


def many(folder, seconds):
    script = 'seq "$1" | xargs -P 8 -n 1 sh -c "sleep 0.0\\$0; exit \\$((\\$0 % 50 == 49))"; exit 0'
    record(folder, "many", shell(script, round(100 * seconds)))


def container(folder, seconds):
    """Needs podman and runc, and a program that needs no library, which is a truth program."""
    spin = pathlib.Path(BPFMON).parent / "truth" / "spin"
    if not spin.exists() or not shutil.which("podman") or not shutil.which("runc"):
        raise Lacking("it needs podman, runc and the truth programs")
    name = f"case-{os.getpid()}"
    with tempfile.TemporaryDirectory() as home:
        root = pathlib.Path(home, "root")
        for place in ("bin", "dev", "etc", "proc", "run", "sys", "tmp"):
            (root / place).mkdir(parents=True)
        shutil.copy(spin, root / "bin")
        settings = pathlib.Path(home, "containers.conf")
        limits = {"nofile": limit(resource.RLIMIT_NOFILE, 1024), "nproc": limit(resource.RLIMIT_NPROC, LEAST_PIDS)}
        settings.write_text(CONFIGURATION.format(**limits))
        where = [f"--root={home}/storage", f"--runroot={home}/state", f"--tmpdir={home}/libpod", "--storage-driver=vfs"]
        run = ["podman", *where, "run", f"--name={name}", "--network=none", "--rootfs", str(root), "/bin/spin", str(seconds * 250)]
        record(folder, "container", ["env", f"CONTAINERS_CONF={settings}", *run])


def two(folder, _):
    record(folder, "two", ["sleep", "0.3"], "-i", "10")


def failed(folder, seconds):
    record(folder, "failed", shell('"$@"; echo "no such sample" >&2; exit 3', *python("spin", seconds / 4)))


def builds(folder, seconds):
    """The same work of two builds whose tags differ at their end; the new one has to share its CPU."""
    tag = "build=analysis-chain-2026.11-nightly-x86_64-with-debug-info"
    short = max(1, seconds / (RIVALS + 1))
    record(folder, "old", ["taskset", "-c", first_cpu(), *python("spin", short)], "--tag", f"{tag}-a1b2c3d4")
    starve(folder, "new", short, "--tag", f"{tag}-e5f6a7b8")


def io(folder, seconds):
    record(folder, "io", python("move", folder / "io-scratch", seconds), "--io-kinds")


CASES = (oom, lock, starved, missing, spans, phases, many, container, two, failed, builds, io)


def make(folder, seconds, names=()):
    """Returns what was left out, and why."""
    folder.mkdir(parents=True, exist_ok=True)
    left_out = {}
    for case in CASES:
        if names and case.__name__ not in names:
            continue
        try:
            case(folder, seconds)
        except Lacking as why:
            left_out[case.__name__] = str(why)
    return left_out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("names", nargs="*", help=", ".join(case.__name__ for case in CASES))
    options = parser.parse_intermixed_args()
    for name, why in make(options.folder, options.seconds, options.names).items():
        print(f"{name} is left out: {why}")


if __name__ == "__main__":
    main()
