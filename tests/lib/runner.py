#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the tests of a folder (or those whose id contains a word) and ends with the count.

What the machine does not permit (lib/permitted.py) is not run, and neither passed nor failed: lines before the last
count it, and what was skipped, by reason.

Usage: runner.py [--jobs N] [--file NAME] [--sample] FOLDER [WORD...]     --file: without .py; imports only that

With --jobs each file (of those whose name contains a word) runs in a process of its own, up to N at once, and its line comes when it has ended, below what
it has printed if a test failed or was skipped. One with a line ALONE = True runs when the others have ended: it counts
what the whole machine does, or what it measures a second one would disturb.

Exhaustive tests take a random part, which the printed SEED repeats, and with BPFMON_TESTS=long all (lib/sweep.py). So does a
file with a line SAMPLED = True: of its tests one in four runs, unless a word names the file; of one with a line LONG = True
then none.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import permitted

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from lib import sweep  # noqa: E402

COUNTS = r"(\d+) passed, (\d+) failed, (\d+) skipped"
LEFT_TO_LONG = "left to make check-long"
LEFT_OUT = rf"(not run for lack of .*|skipped: .*|{LEFT_TO_LONG}): (\d+)"


class Result(unittest.TestResult):
    """One line for each test, with its time, and the reason below if it failed."""

    passed = 0
    started = time.monotonic()  # of what fails or is skipped before the first test begins

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def report(self, word, test, reason=""):
        took = time.monotonic() - self.started
        print(f"{word:4} {took:7.2f} s  {test.id()}", flush=True)
        if reason:
            print(reason, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1
        self.report("ok", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.report("FAIL", test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.report("FAIL", test, self.errors[-1][1])

    def addSkip(self, test, reason):
        if reason.startswith("not permitted here: "):  # as `bpfmon check` reports
            self.passed += 1
            self.report("ok", test, reason)
            return
        super().addSkip(test, reason)
        self.report("skip", test, reason)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.report("FAIL", subtest, self._exc_info_to_string(err, test))


def select(suite, words):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from select(item, words)
        elif not words or any(word in item.id() for word in words):
            yield item


def give_children_default_signals():
    """A shell in the background, or nohup, ignores signals, and all programs that tests start would inherit that.
    What is handled here is not ignored there, and we still do nothing about it."""
    for sig in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(sig) == signal.SIG_IGN:
            signal.signal(sig, lambda *_: None)


def is_taken(test):
    module = sys.modules[type(test).__module__]
    if getattr(module, "LONG", False):
        return sweep.LONG
    return not getattr(module, "SAMPLED", False) or sweep.takes(test.id())


def run_here(folder, name, words, sample):
    """The three counts, and those of what was left out, by reason. To import all files takes seconds."""
    loader = unittest.TestLoader()
    found = loader.discover(folder, pattern=f"{name or 'test_*'}.py", top_level_dir=folder)
    for problem in loader.errors:
        print(problem)
    selected = list(select(found, words))
    tests = [(test, permitted.lacking(test)) for test in selected if not sample or is_taken(test)]
    result = Result()
    unittest.TestSuite(test for test, lack in tests if not lack).run(result)
    left_out = collections.Counter(f"not run for lack of {lack}" for _, lack in tests if lack)
    left_out.update(f"skipped: {reason.splitlines()[0]}" for _, reason in result.skipped)
    left_out.update({LEFT_TO_LONG: len(selected) - len(tests)})
    failed = len(result.failures) + len(result.errors) + len(loader.errors)
    return (result.passed, failed, len(result.skipped)), left_out


def run_file(folder, name, sample):
    """The same of the tests of one file, which a process of its own runs, and its seconds."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as said:  # a pipe would be open for as long as a process that a test leaves
        options = ["--sample"] if sample else []
        done = subprocess.run([sys.executable, __file__, *options, "--file", name, folder], stdout=said, stderr=subprocess.STDOUT, check=False)
        took = time.monotonic() - began
        said.seek(0)
        *lines, last = said.read().splitlines() or [""]
    left_out = collections.Counter()
    while lines and (reason := re.fullmatch(LEFT_OUT, lines[-1])):
        left_out[reason[1]] += int(reason[2])
        lines.pop()
    if not (found := re.fullmatch(COUNTS, last)):
        lines += [last, f"FAIL    {name} ended with {done.returncode} and without its count"]
    counts = tuple(int(count) for count in found.groups()) if found else (0, 1, 0)
    kept = lines if counts[1] or not found else [line for line in lines if line.startswith("skip ")]
    word = "FAIL" if counts[1] else "ok"
    print("\n".join([*kept, f"{word:4} {took:7.2f} s  {folder}/{name} ({sum(counts)} tests)"]), flush=True)
    return counts, left_out


def run_files(folder, jobs, words):
    """The same of the files with a word in their name, the large ones first: the slowest are among them."""
    paths = sorted(pathlib.Path(folder).glob("test_*.py"), key=lambda path: (-path.stat().st_size, path))
    paths = [path for path in paths if not words or any(word in path.stem for word in words)]
    alone = [path.stem for path in paths if "\nALONE = True" in path.read_text()]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda name: run_file(folder, name, not words), [p.stem for p in paths if p.stem not in alone]))
    results += [run_file(folder, name, not words) for name in alone]
    counts, left_out = zip(*results) if results else ([(0, 0, 0)], [collections.Counter()])
    return tuple(map(sum, zip(*counts))), sum(left_out, collections.Counter())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--file")
    parser.add_argument("folder")
    parser.add_argument("words", nargs="*")
    args = parser.parse_args()
    give_children_default_signals()
    if args.jobs:
        print(f"seed {sweep.SEED}" + (": all cases" if sweep.LONG else ": a random part of the exhaustive tests"), flush=True)
        (passed, failed, skipped), left_out = run_files(args.folder, args.jobs, args.words)
    else:
        (passed, failed, skipped), left_out = run_here(args.folder, args.file, args.words, args.sample)
    for reason, count in sorted((+left_out).items()):
        print(f"{reason}: {count}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
