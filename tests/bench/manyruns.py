# SPDX-License-Identifier: BSD-2-Clause
"""How long it takes to say something of many runs: python3 tests/bench/manyruns.py [COUNT [STORE]]

Fills a store and prints, for each command, the median of five times, the memory and the bytes that it printed. It decides
nothing: other work on the machine counts.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from lib.bpfmon import BPFMON  # noqa: E402
from lib.fillstore import fill  # noqa: E402

COMMANDS = (
    ("list",),
    ("list", "--json"),
    ("list", "--hist"),
    ("list", "--hist=read_bytes,write_bytes"),
    ("list", "--scatter"),
    ("list", "--unusual"),
    ("list", "--name", "align", "--trend"),
    ("report", "--many", "-o", "-"),
    ("advise",),
)


def measure(store, words):
    started = time.monotonic()
    process = subprocess.Popen([BPFMON, *words, "--store", store], stdout=subprocess.PIPE)
    printed = len(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words} ended with {process.returncode}")
    return time.monotonic() - started, usage.ru_maxrss, printed


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        store = sys.argv[2] if len(sys.argv) > 2 else os.path.join(folder, "store.sqlite")
        if not os.path.exists(store):
            fill(store, count)
        print(f"{count:,} runs, {os.path.getsize(store) / 1e6:.0f} MB")
        for words in COMMANDS:
            times, peaks, printed = zip(*(measure(store, words) for _ in range(5)))
            print(f"{statistics.median(times):6.2f} s {max(peaks) / 1024:6.0f} MiB {printed[0]:>12,} B  bpfmon {' '.join(words)}")


if __name__ == "__main__":
    main()
