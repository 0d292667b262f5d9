#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a run of any size as JSON Lines: bigrun.py SAMPLES PROCESSES >run.jsonl

A day's life in small: CPU that comes and goes, memory that grows and falls with one short spike,
processes of a few programs. It is what the store and the report are measured with.
"""

import json
import math
import sys
import uuid


def sample(i, start):
    cores = 2 + 1.5 * math.sin(i / 500)
    return {
        "kind": "sample",
        "time": start + i,
        "elapsed_seconds": i,
        "cpu_seconds": round(2 * i + 750 * (1 - math.cos(i / 500)), 6),
        "user_seconds": round(1.5 * i, 6),
        "system_seconds": round(0.5 * i + 750 * (1 - math.cos(i / 500)), 6),
        "minflt": 100 * i,
        "majflt": i // 100,
        "nvcsw": 50 * i,
        "nivcsw": 5 * i,
        "rchar_bytes": 4096 * i,
        "wchar_bytes": 2048 * i,
        "read_bytes": 4096 * (i // 7),
        "write_bytes": 4096 * (i // 3),
        "forks": i,
        "execs": i,
        "exits": i,
        "processes": 3,
        "threads": 9,
        "rss_bytes": (8 << 30) if i == 777 else (1 << 30) + (i % 3600) * 65536,
        "cores": round(cores, 3),
    }


def process(i, start):
    begin = start + i
    return {
        "kind": "process",
        "pid": 1000 + i % 30000,
        "ns_pid": 1000 + i % 30000,
        "ppid": 999,
        "uid": 1000,
        "comm": f"prog{i % 7}",
        "exe": f"/usr/bin/prog{i % 7}",
        "args": [f"prog{i % 7}", "--part", str(i)],
        "start_time": begin,
        "end_time": begin + 1.5,
        "exit_code": 0,
        "signal": None,
        "threads_total": 1,
        "execs": 1,
        "rss_peak_bytes": (1 + i % 100) << 20,
        "rss_peak_exact": True,
        "cpu_seconds": round(0.01 * (i % 100), 6),
        "minflt": i % 1000,
    }


def main():
    samples, processes = (int(word) for word in sys.argv[1:3])
    start = 1763690000
    put = lambda o: sys.stdout.write(json.dumps(o, separators=(",", ":")) + "\n")
    put(
        {
            "kind": "meta",
            "schema": "bpfmon/1",
            "version": "0.1.0",
            "run": str(uuid.UUID(int=samples << 64 | processes)),
            "name": "big",
            "command": ["./big"],
            "user": "ada",
            "uid": 1000,
            "host": "node1",
            "start_time": start,
            "interval_seconds": 1,
            "tags": {"size": str(samples)},
            "system": {"cpus": 4, "memory_bytes": 16 << 30},
        }
    )
    for i in range(samples):
        put(sample(i, start))
    for i in range(processes):
        put(process(i, start))
    put(
        {
            "kind": "summary",
            "complete": True,
            "losses": {},
            "exit_code": 0,
            "signal": None,
            "wall_seconds": samples,
            "samples": samples,
            "processes_total": processes,
            "cpu_seconds": 2 * samples,
            "rss_peak_bytes": 8 << 30,
            "rss_peak_elapsed_seconds": 777,
            "cores_mean": 2,
            "programs": [],
        }
    )


if __name__ == "__main__":
    main()
