#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the tests of a folder (or those whose id contains a word) and ends with the count.

Usage: runner.py FOLDER [WORD...]
"""

import pathlib
import signal
import sys
import time
import unittest


class Result(unittest.TestResult):
    """One line for each test, with its time, and the reason below if it failed."""

    passed = 0

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


def main():
    folder, *words = sys.argv[1:]
    give_children_default_signals()
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    loader = unittest.TestLoader()
    found = loader.discover(folder, pattern="test_*.py", top_level_dir=folder)
    for problem in loader.errors:
        print(problem)
    result = Result()
    unittest.TestSuite(select(found, words)).run(result)
    failed = len(result.failures) + len(result.errors) + len(loader.errors)
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
