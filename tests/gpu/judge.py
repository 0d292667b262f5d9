#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Judges one case of tools/check-gpu.sh by the files in its folder, and prints a line: ok or FAILED, figures, ratio.

run.jsonl is what bpfmon wrote, load-*.jsonl what each gpuload knows of itself, apps.csv and power.csv what nvidia-smi
reported. Exits 1 if the case failed, 0 if it is ok or if nvidia-smi lacks the figure here (n/a).

Usage: judge.py memory|busy|killed|idle|energy FOLDER [TITLE]    (GPU: its UUID, for energy)
"""
import csv
import datetime
import json
import os
import pathlib
import sys

MIB = 1 << 20
BUSY = 0.7, 1.3  # NVIDIA's figure is an estimate: one percentage for each 0.2 to 0.6 s
ENERGY = 0.8, 1.2  # power.draw is a mean over up to a second, energy is read once a second
SETTLED = 2  # seconds after the beginning of the work in which power still rises
WINDOW = 10  # seconds of energy
IDLE_AFTER = 5  # --stalled-after of the case
INTERVAL = 0.5  # between samples, of all cases


class Failed(Exception):
    pass


class NotHere(Exception):
    pass


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def value(row, key, of):
    if row.get(key) is None:
        raise Failed(f"{of} has no {key}")
    return row[key]


class Run:
    def __init__(self, folder):
        self.folder = folder
        every = lines(folder / "run.jsonl")
        self.samples = [line for line in every if line["kind"] == "sample"]
        self.records = {line["pid"]: line for line in every if line["kind"] == "process"}
        self.loads = [{key: known for line in lines(path) for key, known in line.items()}
                      for path in sorted(folder.glob("load-*.jsonl"))]
        if not self.loads or not self.samples:
            raise Failed("no load or no sample")

    def record(self, load):
        if load["pid"] not in self.records:
            raise Failed(f"no record of process {load['pid']}")
        return self.records[load["pid"]]

    def series(self, key):
        found = [(sample["time"], sample[key]) for sample in self.samples if sample.get(key) is not None]
        if not found:
            raise Failed(f"no sample has {key}")
        return found

    def listed_mib(self, load):
        """What nvidia-smi lists of the process: the second witness of its memory."""
        with open(self.folder / "apps.csv", encoding="utf-8") as file:
            rows = {row[0].strip(): row[1].strip() for row in csv.reader(file) if len(row) == 2}
        text = rows.get(str(load["pid"]))
        if text is None:
            raise NotHere(f"nvidia-smi lists no process {load['pid']}: is this another PID namespace?")
        if not text.isdigit():
            raise NotHere(f"nvidia-smi has no memory of processes: {text}")
        return int(text)


def within(ratio, bounds, said):
    if not bounds[0] <= ratio <= bounds[1]:
        raise Failed(f"{said}: not within {bounds[0]} to {bounds[1]}")
    return said


def memory_of(asked_mib, listed_mib, measured, of):
    """From what was asked for to that and the context, as nvidia-smi has it in whole MiB, rounded down."""
    said = (f"{of} {measured / MIB:.1f} MiB, asked {asked_mib}, nvidia-smi {listed_mib} MiB"
            f" (ratio {measured / MIB / max(listed_mib, 1):.3f})")
    if not asked_mib * MIB <= measured < (listed_mib + 1) * MIB:
        raise Failed(said)
    return said


def memory(run):
    said = []
    for load in run.loads:
        peak = value(run.record(load), "gpu_memory_peak_bytes", f"the record of process {load['pid']}")
        said.append(memory_of(load["mib"], run.listed_mib(load), peak, "process"))
    whole = max(held for _, held in run.series("gpu_memory_bytes"))
    asked, listed = (sum(each) for each in zip(*((load["mib"], run.listed_mib(load) + 1) for load in run.loads)))
    said.append(memory_of(asked, listed - 1, whole, "job"))
    return "; ".join(said)


def busy(run):
    load = run.loads[0]
    worked = value(load, "busy_seconds", "the load")
    measured = value(run.record(load), "gpu_seconds", "the record")
    whole = run.series("gpu_seconds")[-1][1]
    said = f"{measured:.2f} s of {worked:.2f} s, job {whole:.2f} s (ratio {measured / worked:.3f})"
    within(whole / worked, BUSY, said)
    return within(measured / worked, BUSY, said)


def killed(run):
    said = memory(run)
    record = run.record(run.loads[0])
    if record.get("signal") != 9:
        raise Failed(f"{said}; the record has signal {record.get('signal')}")
    left = run.samples[-1].get("gpu_memory_bytes", 0)
    if left:
        raise Failed(f"{said}; {left / MIB:.1f} MiB in the last sample, after its end")
    return f"{said}; 0 after its end"


def idle(run):
    held = [at for at, gpus in run.series("gpus_held") if gpus == 1]
    found = [at for at, gpus in run.series("gpus_idle") if gpus == 1]
    if not held or not found:
        raise Failed(f"gpus_held {'became' if held else 'never became'} 1, gpus_idle {'did' if found else 'never did'}")
    waited = found[0] - held[0]
    said = f"1 GPU idle {waited:.1f} s after it was first held (--stalled-after {IDLE_AFTER}s)"
    if waited < IDLE_AFTER - 2 * INTERVAL:
        raise Failed(said)
    return said


def power_rows(run):
    """Pairs of a time and watts."""
    rows = []
    with open(run.folder / "power.csv", encoding="utf-8") as file:
        for row in csv.reader(file):
            if len(row) != 2:  # the last line may be cut off
                continue
            try:
                watts = float(row[1])
            except ValueError:
                raise NotHere(f"nvidia-smi has no power.draw: {row[1].strip()}") from None
            at = datetime.datetime.strptime(row[0].strip(), "%Y/%m/%d %H:%M:%S.%f")
            rows.append((at.timestamp(), watts))
    return rows


def energy(run):
    begin = run.loads[0]["ready"] + SETTLED
    points = []
    for sample in run.samples:
        joules = sample.get("by", {}).get("gpu", {}).get(os.environ["GPU"], {}).get("gpu_energy_joules")
        if begin <= sample["time"] <= begin + WINDOW and joules is not None:
            points.append((sample["time"], joules))
    if len(points) < 2:
        raise Failed("fewer than two samples have gpu_energy_joules in by.gpu while it worked")
    seconds, joules = (points[-1][i] - points[0][i] for i in (0, 1))
    rows = [row for row in power_rows(run) if points[0][0] <= row[0] <= points[-1][0]]
    if len(rows) < 2:
        raise Failed("fewer than two lines of nvidia-smi in that time")
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(rows, rows[1:]))
    expected = area / (rows[-1][0] - rows[0][0]) * seconds
    said = f"{joules:.1f} J in {seconds:.1f} s, by power.draw {expected:.1f} J (ratio {joules / expected:.3f})"
    return within(joules / expected, ENERGY, said)


CASES = {case.__name__: case for case in (memory, busy, killed, idle, energy)}


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in CASES:
        print(__doc__.rpartition("\n\n")[2].strip(), file=sys.stderr)
        return 2
    title = sys.argv[-1] if len(sys.argv) == 4 else sys.argv[1]
    try:
        word, said = "ok", CASES[sys.argv[1]](Run(pathlib.Path(sys.argv[2])))
    except NotHere as why:
        word, said = "n/a", why
    except (Failed, OSError, ValueError) as why:
        word, said = "FAILED", why
    print(f"{word:6} {title}: {said}", flush=True)
    return int(word == "FAILED")


if __name__ == "__main__":
    sys.exit(main())
