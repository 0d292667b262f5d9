# SPDX-License-Identifier: BSD-2-Clause
"""Reads prmon's text file as its plotting script does, with that script's names and units."""

import csv

# the first unit of each is what prmon writes
UNITS = {
    **dict.fromkeys(["vmem", "pss", "rss", "swap"], "kb"),
    **dict.fromkeys(["utime", "stime", "wtime"], "sec"),
    **dict.fromkeys(["rchar", "wchar", "read_bytes", "write_bytes"], "b"),
    **dict.fromkeys(["nprocs", "nthreads"], "1"),
}
MULTIPLIERS = {"sec": 1.0, "kb": 1024.0, "b": 1.0, "1": 1.0}


def load(path):
    """Columns by name, as numbers in seconds, bytes or counts; None where a cell is empty."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    columns = {}
    for name in rows[0]:
        scale = 1.0 if name == "Time" else MULTIPLIERS[UNITS[name]]
        columns[name] = [float(row[name]) * scale if row[name] else None for row in rows]
    return columns


def rates(columns, y, x="wtime"):
    """The values that --diff draws: differences of y over those of x."""
    pairs = list(zip(columns[y], columns[x]))
    return [(b[0] - a[0]) / (b[1] - a[1]) for a, b in zip(pairs, pairs[1:]) if b[1] != a[1]]
