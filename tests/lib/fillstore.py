# SPDX-License-Identifier: BSD-2-Clause
"""Fills a store with any number of runs, without running anything: python3 tests/lib/fillstore.py STORE [COUNT]

The file is made by `bpfmon store merge` of one run; the others are rows like its, as long as real ones are, with values
that differ: wall and CPU time are log-normal, memory has two peaks, one run of 14 has failed, of one of 33 no memory was
read, one of 100 has not ended. From the revision number CHANGE on runs named "align" take 12 % longer.
"""

import argparse
import contextlib
import json
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from lib.bpfmon import BPFMON  # noqa: E402
from lib.runs import write_run  # noqa: E402

NAMES = {"align": 60, "sort": 25, "call": 12, None: 3}
REVISIONS, CHANGE, SLOWER = 20, 12, 1.12
START = 1_763_690_000
MIB = 1 << 20
PADDING = {f"variable_{i}": "x" * 60 for i in range(30)}  # a meta line has some 3 KB
PROGRAM = {"exe": "/usr/bin/tool", "processes": 1, "cpu_seconds": 0.25, "user_seconds": 0.2, "system_seconds": 0.05, "minflt": 70}
COLUMNS = "id uuid name job command cwd user uid host start_time_ns interval_ns ended complete exit_code signal wall_ns cpu_ns rss_peak_bytes processes".split()


def revision_of(number):
    return f"{number:02x}{'5eed' * 9}ab"


class Filled:
    """The rows of one run."""

    def __init__(self, rng, number, count, spread):
        self.number = number
        self.uuid = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        self.name = rng.choices(list(NAMES), NAMES.values())[0]
        self.start_ns = (START + number * 60) * 10**9
        self.revision = number * REVISIONS // count
        self.has_ended = rng.random() > 0.01
        self.exit_code = 1 if rng.random() < 0.07 else 0
        slower = SLOWER if self.name == "align" and self.revision >= CHANGE else 1
        self.wall_ns = int(rng.lognormvariate(5, spread) * slower * 1e9)
        self.cpu_ns = int(self.wall_ns * rng.uniform(1, 4))
        self.rss = int((rng.gauss(400, 30) if rng.random() < 0.7 else rng.gauss(1500, 100)) * MIB) // 4096 * 4096
        if rng.random() < 0.03:
            self.rss = None
        self.read, self.written = int(rng.lognormvariate(15, 2)), 0 if rng.random() < 0.4 else int(rng.lognormvariate(18, 1))

    def row(self):
        command = f"./{self.name or 'job'} --part {self.number}"
        head = (self.number, self.uuid, self.name, str(self.number), command, "/work", "ada", 1000, "node1", self.start_ns, 10**9)
        if not self.has_ended:
            return (*head, 0, None, None, None, self.wall_ns, None, None, None)
        return (*head, 1, 1, self.exit_code, None, self.wall_ns, self.cpu_ns, self.rss, 3)

    def texts(self):
        meta = {"kind": "meta", "schema": "bpfmon/1", "run": self.uuid, "name": self.name, "start_time": self.start_ns / 1e9,
                "environment": PADDING, "git": {"revision": revision_of(self.revision), "branch": "main"}, "tags": {}}  # fmt: skip
        summary = {
            "kind": "summary", "complete": True, "losses": {}, "exit_code": self.exit_code, "signal": None, "wall_seconds": self.wall_ns / 1e9,
            "processes_total": 3, "cpu_seconds": self.cpu_ns / 1e9, "minflt": self.number % 1000, "majflt": 0, "nvcsw": 15, "nivcsw": 1,
            "rchar_bytes": 49000, "wchar_bytes": 630, "read_bytes": self.read, "write_bytes": self.written, "forks": 5, "execs": 6,
            **({"rss_peak_bytes": self.rss} if self.rss else {}), "programs": [PROGRAM] * 8,
        }  # fmt: skip
        text = [json.dumps(line, separators=(",", ":")) for line in (meta, summary)]
        return (self.number, text[0], text[1] if self.has_ended else None)


def fill(store, count, seed=1, spread=0.3):
    """Makes the file @store with @count runs, whose wall times spread by so much; returns these."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        first = write_run(pathlib.Path(folder) / "first.jsonl", meta={"start_time": START})
        subprocess.run([BPFMON, "store", "merge", "--store", store, first], check=True, stdout=subprocess.DEVNULL)
    made = [Filled(rng, number, count, spread) for number in range(1, count + 1)]
    with contextlib.closing(sqlite3.connect(store)) as db:
        for table in ("run", "run_text", "tag"):
            db.execute(f"DELETE FROM {table}")
        db.executemany(f"INSERT INTO run({','.join(COLUMNS)}) VALUES({','.join('?' * len(COLUMNS))})", (one.row() for one in made))
        db.executemany("INSERT INTO run_text VALUES(?,?,?)", (one.texts() for one in made))
        db.executemany("INSERT INTO tag VALUES(?,?,?)", ((one.number, "threads", str(2 ** (one.number % 4))) for one in made))
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store")
    parser.add_argument("count", nargs="?", type=int, default=100_000)
    args = parser.parse_args()
    fill(args.store, args.count)


if __name__ == "__main__":
    main()
