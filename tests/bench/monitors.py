# SPDX-License-Identifier: BSD-2-Clause
"""Monitors of an ordinary user (and bpfmon with BPF): how each is started, and the CPU time and peak memory it reports."""

import csv
import json
import os
import pathlib

BPFMON = pathlib.Path(os.environ.get("BUILD", pathlib.Path(__file__).resolve().parents[2] / "build")) / "bpfmon"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/nonexistent"]


class Monitor:
    """Of the program at this path; its files are in the folder @out. A figure that it does not have is None."""

    before = NOBODY

    def __init__(self, path):
        self.path = str(path)

    def command(self, out, interval, argv):
        return [*self.before, *self.words(out, interval), *argv]


class FromProc(Monitor):
    def words(self, out, interval):
        return [self.path, "-q", "--no-store", "--wait", "tree", "--if-unavailable", "procfs", "-i", str(interval), "-o",
                f"{out}/run.jsonl", "--"]

    def read(self, out):
        summary = json.loads((out / "run.jsonl").read_text().splitlines()[-1])
        peak = summary.get("rss_peak_bytes")
        return {"cpu": summary["cpu_seconds"], "peak": peak, "upper": summary.get("rss_peak_upper_bytes", peak),
                "bounds": summary.get("bounds", {})}


class WithBpf(FromProc):
    before = []


class Prmon(Monitor):
    """--interval 1 is a sample every 2 s: it waits for more than 1 s by a clock of whole seconds; 0 is one every second."""

    def words(self, out, interval):
        return [self.path, "--interval", str(max(0, round(interval) - 1)), "--filename", f"{out}/prmon.txt", "--json-summary",
                f"{out}/prmon.json", "--"]

    def attach(self, out, interval, pid):
        return [*self.before, *self.words(out, interval)[:-1], "--pid", str(pid)]

    def read(self, out):
        try:
            most = json.loads((out / "prmon.json").read_text())["Max"]
        except (OSError, ValueError, KeyError):  # it had no sample
            return {"cpu": None, "peak": None}
        return {"cpu": most["utime"] + most["stime"], "peak": 1024 * most["rss"]}


class Psrecord(Monitor):
    def command(self, out, interval, argv):
        return [*NOBODY, self.path, "--interval", str(interval), "--include-children", "--log-format", "csv", "--log",
                f"{out}/psrecord.csv", " ".join(argv)]

    def read(self, out):
        """Its CPU is in % of the time since the sample before."""
        with open(out / "psrecord.csv", encoding="utf-8") as file:
            rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
        cpu = sum(b["cpu"] / 100 * (b["elapsed_time"] - a["elapsed_time"]) for a, b in zip(rows, rows[1:]))
        return {"cpu": cpu, "peak": max(row["mem_real"] for row in rows) * 2**20 if rows else None}


class GnuTime(Monitor):
    def words(self, out, interval):
        return [self.path, "-q", "-f", "%U %S %M", "-o", f"{out}/time"]

    def read(self, out):
        user, system, peak = (out / "time").read_text().splitlines()[-1].split()
        return {"cpu": float(user) + float(system), "peak": 1024 * int(peak)}


def monitor_of(path):
    """By the name of the program; another bpfmon is any that is none of the others."""
    return {"prmon": Prmon, "psrecord": Psrecord, "time": GnuTime}.get(os.path.basename(path), FromProc)(path)
