# SPDX-License-Identifier: BSD-2-Clause
"""Runs of a workflow on a cluster, as its jobs would leave them, generated from a seed.

They differ in name, tags, size, limits and outcome; some have not ended, of some no memory was read. What
is known of a run is what its lines say, so that a test can work out anything from them again.
"""

import json
import random
import uuid

HOSTILE = "$x^{ </script>\"'\n\x1b[2J"  # a name and the value of a tag; a formula that is none
MIB = 1 << 20


class Made:
    """A run: its lines, by kind. `summary` is None where it has not ended; spans are for a test to add."""

    def __init__(self, meta, samples, processes, summary):
        self.meta, self.samples, self.processes, self.summary = meta, samples, processes, summary
        self.spans = []

    def lines(self):
        whole = [self.meta, *self.samples, *self.spans, *self.processes]
        return whole + [self.summary] if self.summary else whole

    @property
    def has_failed(self):
        return bool(self.summary["exit_code"] or self.summary["signal"])

    @property
    def efficiency(self):
        return self.summary["cpu_seconds"] / (self.summary["wall_seconds"] * cpus_of(self.meta))


def cpus_of(meta):
    """The resources that the command could use."""
    limits = meta["limits"]
    return min([meta["system"]["cpus"], *(limits[key] for key in ("cpus_allowed_count", "cpu_max_cores") if key in limits)])


def meta_of(rng, number):
    name = rng.choices(["align", "sort", "call", HOSTILE, None], [60, 25, 12, 2, 1])[0]
    tags = {"threads": str(2 ** rng.randrange(5))}
    if rng.random() < 0.7:
        tags["sample"] = rng.choice(["A7", "B1", "C12", HOSTILE])
    limits = {}
    if rng.random() < 0.5:
        limits["cpus_allowed_count"] = rng.choice([4, 8, 32])
    if rng.random() < 0.3:
        limits["cpu_max_cores"] = rng.choice([1.5, 6, 24])
    return {
        "kind": "meta", "schema": "bpfmon/1", "version": "0", "run": str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        "name": name, "job": str(100000 + number), "command": [f"./{name}", "--part", str(number)], "cwd": "/work",
        "user": "ada", "uid": 1000, "host": f"node{rng.randrange(20)}", "start_time": 1763690000 + number * 7 + 0.25,
        "interval_seconds": 5, "tags": tags, "system": {"cpus": rng.choice([8, 16]), "memory_bytes": 64 << 30}, "limits": limits,
    }  # fmt: skip


def samples_of(rng, meta, wall, peak, most_cores):
    """Memory grows, stays and falls; cores vary. Times are irregular."""
    times = [0.0, *sorted(round(rng.uniform(0, wall), 6) for _ in range(rng.randrange(3, 25))), wall]
    cpu = read = 0
    samples = []
    for i, elapsed in enumerate(times):
        at = elapsed / wall
        used = round(most_cores * rng.uniform(0.3, 1), 3)
        step = elapsed - times[i - 1] if i else 0
        cpu += used * step
        read += int(step * rng.uniform(0, 40) * MIB)
        shape = min(1, 3 * at + 0.05, 4 * (1.1 - at))
        sample = {"kind": "sample", "time": meta["start_time"] + elapsed, "elapsed_seconds": elapsed, "cpu_seconds": round(cpu, 6),
                  "read_bytes": read, "write_bytes": read // 2, "processes": rng.randrange(1, 9), "threads": rng.randrange(9, 40)}  # fmt: skip
        if peak:
            sample["rss_bytes"] = int(peak * shape * rng.uniform(0.9, 1))
            sample["rss_anon_bytes"] = sample["rss_bytes"] * 3 // 4
        if i:
            sample["cores"] = used
        samples.append(sample)
    return samples


def process_of(rng, meta, samples, peak):
    """One process with nearly all of the work, and one with nearly none."""
    end = meta["start_time"] + samples[-1]["elapsed_seconds"]
    whole = {"kind": "process", "pid": rng.randrange(2000, 30000), "ppid": 999, "uid": 1000, "comm": "tool", "exe": "/opt/tool",
             "start_time": meta["start_time"], "end_time": end, "exit_code": 0, "signal": None, "threads_total": 8, "execs": 1,
             "cpu_seconds": samples[-1]["cpu_seconds"]}  # fmt: skip
    if peak:
        whole["rss_peak_bytes"] = peak
    return [whole, {**whole, "pid": 1999, "comm": "sh", "exe": "/bin/sh", "cpu_seconds": 0.001}]


def span(meta, number, name, start, end, **used):
    """From @start to @end, in seconds since the run's start; None: open at its end."""
    return {
        "kind": "span", "id": number, "name": name, "tags": {"sample": f"A{number}"}, "pid": 2000 + number,
        "start_time": meta["start_time"] + start, "end_time": None if end is None else meta["start_time"] + end,
        "complete": True, "losses": {}, "exit_code": 0, "signal": None, "processes_total": 2, **used,
    }  # fmt: skip


def run(rng, number, has_ended=True, has_memory=True, has_failed=False):
    meta = meta_of(rng, number)
    wall = round(rng.lognormvariate(4 if has_failed else 5, 0.8) + 1, 6)
    threads = int(meta["tags"]["threads"])
    peak = int((200 + 150 * threads) * MIB * rng.lognormvariate(0, 0.35)) if has_memory else None
    samples = samples_of(rng, meta, wall, peak, min(threads, cpus_of(meta)))
    summary = {
        "kind": "summary", "complete": True, "losses": {}, "exit_code": 0, "signal": None, "wall_seconds": wall,
        "samples": len(samples), "processes_total": 2, "cpu_seconds": samples[-1]["cpu_seconds"], "programs": [],
    }  # fmt: skip
    if peak:
        summary |= {"rss_peak_bytes": peak, "memory_needed_bytes": peak // 2, "memory_needed_witness": "pss", "memory_needed_bound": "equal"}
    if has_failed:
        summary |= rng.choice([{"exit_code": 1}, {"exit_code": 137}, {"exit_code": None, "signal": 9}])
    return Made(meta, samples, process_of(rng, meta, samples, peak) if has_ended else [], summary if has_ended else None)


def runs(count, seed=1):
    rng = random.Random(seed)
    draw = rng.random
    return [run(rng, i, has_ended=draw() > 0.01, has_memory=draw() > 0.03, has_failed=draw() < 0.07) for i in range(count)]


def write(path, made):
    """All of them into one file, one after the other."""
    with open(path, "w", encoding="utf-8") as out:
        for one in made:
            out.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in one.lines())
