#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How often `bpfmon like` is right: records runs of 21 small programs with six inputs each, as root, and asks about them.

Each run is held out in turn: it is compared with all others, of which none of its kind has its input. "Right" is a run
that is near, and of the right kind; "unknown" one of a kind of which all runs are taken away. Both with the names of the
programs, and without. At the end the runs are recorded once more while two processes keep the CPUs busy, and compared with
the first ones. It takes about five minutes, and decides no test.

Usage: sudo tests/bench/like.py [--keep STORE]
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from lib.bpfmon import BPFMON
from lib.likeprograms import KINDS, Inputs, environment

INPUTS = 6
BUSY = "while True: pass"


def bpfmon(*words, **kwargs):
    environment_of = {k: v for k, v in environment().items() if k != "BPFMON_NO_STORE"}
    kwargs = {"check": True, "stdout": subprocess.PIPE, "text": True, "env": environment_of, **kwargs}
    return subprocess.run([BPFMON, *map(str, words)], **kwargs).stdout


def record(inputs, store):
    for i in range(INPUTS):
        for name, command in KINDS.items():
            words = [str(word) for word in command(inputs, i)]
            bpfmon("-q", "-i", "0.05", "--store", store, "--name", name, "--", *words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=inputs.folder)


def runs_of(store):
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        return db.execute("SELECT id, name, wall_ns / 1e9 FROM run ORDER BY id").fetchall()


def ask(run, store, *options):
    return json.loads(bpfmon("like", run, "--store", store, "--json", *options, stderr=subprocess.DEVNULL))


class Score:
    """Of some runs that were asked about."""

    def __init__(self):
        self.nr = self.right = self.nearest = self.unknown = 0
        self.wrong = collections.Counter()

    def add(self, said, kind):
        self.nr += 1
        self.nearest += said["neighbours"][0]["kind"] == kind
        self.right += said["near"] and said["kind"] == kind
        self.unknown += not said["near"]
        if said["near"] and said["kind"] != kind:
            self.wrong[f"{kind} as {said['kind']}"] += 1

    def __str__(self):
        share = lambda n: f"{n:4d} of {self.nr} ({100 * n / self.nr:.1f} %)"
        return f"right {share(self.right)}, unknown {share(self.unknown)}, nearest of its kind {share(self.nearest)}; taken for another: {dict(self.wrong)}"


def held_out(store, options):
    score = Score()
    for run, name, _ in runs_of(store):
        score.add(ask(run, store, *options), name)
    return score


def export(store, folder):
    """Each run as a file, by its kind."""
    files = collections.defaultdict(list)
    for run, name, _ in runs_of(store):
        files[name].append(folder / f"{store.stem}-{run}.jsonl")
        bpfmon("export", run, "-f", "jsonl", "-o", files[name][-1], "--store", store, stderr=subprocess.DEVNULL)
    return files


def strangers(store, files, options):
    """Each kind as the 21st of a store that knows the 20 others."""
    score = Score()
    for name, paths in files.items():
        others = store.with_name("others.sqlite")
        shutil.copy(store, others)
        bpfmon("store", "remove", f"{name}~all", "--store", others)
        for path in paths:
            score.add(ask(path, others, *options), name)
    return score


def again(store, files, options):
    score = Score()
    for name, paths in files.items():
        for path in paths:
            score.add(ask(path, store, *options), name)
    return score


def study(folder, keep):
    inputs = Inputs(folder)
    store, busy = folder / "store.sqlite", folder / "busy.sqlite"
    record(inputs, store)
    walls = sorted(wall for _, _, wall in runs_of(store))
    print(f"{len(walls)} runs of {len(KINDS)} kinds: {walls[0]:.3f} to {walls[-1]:.3f} s, median {walls[len(walls) // 2]:.3f} s", flush=True)
    burners = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2)]
    try:
        record(inputs, busy)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    files, busy_files = export(store, folder), export(busy, folder)
    for title, options in (("with names of programs", ()), ("without", ("--without-programs",))):
        print(f"{title}:")
        print(f"  held out:         {held_out(store, options)}")
        print(f"  of a 21st kind:   {strangers(store, files, options)}")
        print(f"  on a busy machine {again(store, busy_files, options)}", flush=True)
    if keep:
        shutil.copy(store, keep)
        shutil.copy(busy, f"{keep}-busy")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--keep", metavar="STORE", help="copy the store with the runs to here")
    args = parser.parse_args()
    if os.geteuid():
        sys.exit("bpfmon follows programs as root: sudo tests/bench/like.py")
    with tempfile.TemporaryDirectory(prefix="bpfmon-like-") as folder:
        study(pathlib.Path(folder), args.keep)


if __name__ == "__main__":
    main()
