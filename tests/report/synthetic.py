#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs of any size whose numbers are known: as if one job had used two cores for a day.

Usage: synthetic.py SAMPLES PROCESSES >run.jsonl
"""

import json
import math
import sys

START = 1763690000.5
MIB = 1 << 20
NAMES = ["align", "sort", "gzip", "python3", "cc1", "ld"]


def meta(samples, interval):
    keys = {"cpu_seconds": "s", "user_seconds": "s", "system_seconds": "s", "minflt": "1", "rss_bytes": "bytes"}
    return {
        "kind": "meta",
        "schema": "bpfmon/1",
        "version": "0.1.0",
        "run": "00000000-0000-4000-8000-000000000001",
        "name": "synthetic",
        "command": ["./align.sh", "--samples", str(samples)],
        "cwd": "/data/A7",
        "user": "ada",
        "uid": 1000,
        "host": "node7",
        "start_time": START,
        "interval_seconds": interval,
        "tags": {"sample": "A7", "threads": "8"},
        "system": {"cpus": 4, "memory_bytes": 64 << 30, "kernel": "Linux 6.12.0 x86_64"},
        "units": keys,
        "capabilities": {key: {"available": True} for key in keys},
    }


def sample(i, interval, spike):
    """Number @i: 1.5 cores, memory in waves; at @spike 9 GiB that are there at no other sample."""
    wave = math.sin(i / 500)
    anon = 9 << 30 if i == spike else int((600 + 400 * wave) * MIB) + i % 97 * 4096
    return {
        "kind": "sample",
        "time": START + i * interval,
        "elapsed_seconds": i * interval,
        "cpu_seconds": 1.5 * i * interval,
        "user_seconds": 1.25 * i * interval,
        "system_seconds": 0.25 * i * interval,
        "runqueue_wait_seconds": 0.01 * i * interval,
        "minflt": 1000 * i + i * i % 911,
        "majflt": i // 10,
        "nvcsw": 200 * i + i * i % 53,
        "nivcsw": 20 * i,
        "rchar_bytes": 5 * MIB * i,
        "wchar_bytes": 3 * MIB * i,
        "syscr": 50 * i,
        "syscw": 30 * i,
        "read_bytes": 2 * MIB * i + i % 4 * (MIB >> 2),  # 1.25 or 2.25 MiB at a time: no flat curve
        "write_bytes": MIB * i,
        "processes": 3 + i % 7,
        "threads": 6 + i % 13,
        "rss_bytes": anon + 100 * MIB,
        "rss_anon_bytes": anon,
        "rss_file_bytes": 100 * MIB,
        "rss_shmem_bytes": 0,
        "swap_bytes": 0,
        "cores": 1.5,
    }


def process(i, wall, total):
    """Number @i: the first is the command; each other lives for a little while, some child of another."""
    name = NAMES[i % len(NAMES)]
    start = 0 if not i else wall * (i - 1) / total
    lived = wall if not i else min(wall - start, wall / 50 * (1 + i * 7919 % 101) / 102)
    return {
        "kind": "process",
        "pid": 1000 + i,
        "ns_pid": 1000 + i,
        "ppid": 999 if not i else 1000 + (i // 40 * 40 if i % 40 else 0),
        "uid": 1000,
        "comm": name,
        "exe": f"/opt/tools/bin/{name}",
        "args": [name, "--in", f"/data/A7/part-{i:06}.fastq.gz", "--threads", "2", "--seed", str(i)],
        "start_time": START + start,
        "end_time": START + start + lived,
        "exit_code": 1 if i % 100 == 99 else 0,
        "signal": None,
        "threads_total": 1 + i % 3,
        "execs": 1,
        "rss_peak_bytes": (5 + i * 31 % 400) * MIB,
        "rss_peak_exact": True,
        "cpu_seconds": lived * 0.7,
        "user_seconds": lived * 0.6,
        "system_seconds": lived * 0.1,
        "runqueue_wait_seconds": lived * 0.02,
        "minflt": 1000 + i,
        "majflt": i % 3,
        "nvcsw": 50 + i,
        "nivcsw": i % 50,
        "rchar_bytes": i * 4096,
        "wchar_bytes": i * 1024,
        "read_bytes": i * 512,
        "write_bytes": i * 256,
    }


def program(name, count):
    return {"exe": f"/opt/tools/bin/{name}", "processes": count, "cpu_seconds": 10.5 * count, "rss_peak_bytes": MIB}


def summary(samples, processes, wall):
    return {
        "kind": "summary",
        "complete": True,
        "losses": {},
        "exit_code": 0,
        "signal": None,
        "wall_seconds": wall,
        "outlived": 0,
        "samples": samples,
        "processes_total": processes,
        "cpu_seconds": 1.5 * wall,
        "rss_peak_bytes": (9 << 30) + 100 * MIB,
        "rss_peak_elapsed_seconds": samples // 3 * (wall / max(1, samples - 1)),
        "process_rss_peak_bytes": 404 * MIB,
        "user_seconds": 1.25 * wall,
        "system_seconds": 0.25 * wall,
        "minflt": 1000 * samples,
        "majflt": samples // 10,
        "read_bytes": 2 * MIB * samples,
        "write_bytes": MIB * samples,
        "execs": processes,
        "cores_mean": 1.5,
        "cores_peak": 1.5,
        "programs": [program(name, processes // len(NAMES)) for name in NAMES],
        "self": {"cpu_seconds": 1, "rss_bytes": 10 * MIB},
    }


def span(number, name, start, end, parent=0, **more):
    """From @start to @end, in seconds since the start of the run; None: open at the end."""
    line = {
        "kind": "span",
        "id": number,
        "name": name,
        "tags": {},
        "pid": 1000 + number,
        "start_time": START + start,
        "end_time": None if end is None else START + end,
        "complete": True,
        "losses": {},
        "exit_code": None if end is None else 0,
        "signal": None,
        "wall_seconds": (start if end is None else end) - start,
        "samples": 1,
        "processes_total": 3,
        "cpu_seconds": 0.5 * ((end or start) - start),
        "read_bytes": number * MIB,
        "write_bytes": 4096,
        "rss_peak_bytes": (100 + number) * MIB,
        "rss_peak_upper_bytes": (120 + number) * MIB,
        **more,
    }
    return {**line, "parent": parent} if parent else line


def spans(count, wall, at_once=16):
    """So many, of 12 names, of which a fifth are within another and some fail; @at_once of them at a time."""
    parent = None
    for i in range(1, count + 1):
        start = wall * (i - 1) / count * 0.98
        end = min(wall, start + wall * at_once / count * (0.3 + i * 7919 % 101 / 80))
        more = {"exit_code": 1} if i % 50 == 49 else {}
        if i % 5 == 0 and parent:
            yield span(i, f"check {i % 3}", start, max(start, min(end, parent[1])), parent[0], **more)
        else:
            yield span(i, f"align {i % 12}", start, end, tags={"sample": f"A{i}"}, **more)
            parent = (i, end)


def lines(samples, processes, interval=1, events=()):
    """The lines of a run as objects; the spike is at a third of it."""
    wall = (samples - 1) * interval
    yield meta(samples, interval)
    for i in range(samples):
        yield sample(i, interval, samples // 3)
    for i in range(processes):
        yield process(i, wall, processes)
    yield from events
    yield summary(samples, processes, wall)


def write(path, run):
    with open(path, "w", encoding="utf-8") as out:
        for line in run:
            out.write(json.dumps(line, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    for one in lines(int(sys.argv[1]), int(sys.argv[2])):
        print(json.dumps(one, separators=(",", ":")))
