# SPDX-License-Identifier: BSD-2-Clause
"""Plugin for pytest: --bpfmon makes each test a span of the current run; --bpfmon-max-rss fails tests that used more memory.

A span lasts from the set-up of a test to its teardown, in the process that executes it, also in a worker of xdist. The
memory of a test is known after the next sample of the run, so tests that used too much fail when all tests have ended.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Generator, Optional, Tuple

import pytest

from . import in_run, span
from .feed import Feed

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
PROPERTY = "bpfmon"  # of reports, which xdist sends from its workers to the session
OUTSIDE = "pytest is not in a run of bpfmon; start it as bpfmon -- pytest ..."


def bytes_of(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip(), re.I)
    if not found:
        raise pytest.UsageError(f"--bpfmon-max-rss: {text!r} is not a size; try 500M, 2GiB or 1048576")
    return int(float(found[1]) * UNITS[found[2].lower()])


def mib(count: int) -> str:
    return f"{count / (1 << 20):.1f} MiB"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bpfmon", "measure each test in a run of bpfmon")
    group.addoption("--bpfmon", action="store_true", help="make each test a span of the run that pytest is in")
    group.addoption("--bpfmon-max-rss", metavar="SIZE", help="same, and fail tests that used more resident memory, as in 500M")


def pytest_configure(config: pytest.Config) -> None:
    limit = config.getoption("bpfmon_max_rss")
    most = bytes_of(limit) if limit is not None else None
    if most is not None and not in_run():
        raise pytest.UsageError(f"--bpfmon-max-rss: {OUTSIDE}")
    if most is None and not config.getoption("bpfmon"):
        return
    is_worker = hasattr(config, "workerinput")
    config.pluginmanager.register(Spans(most is not None), "bpfmon-spans")
    if not is_worker and most is not None:
        config.pluginmanager.register(Limit(config, most), "bpfmon-limit")


def own_peak() -> int:
    """Returns the kernel's high-water mark of this process in bytes; 0 if unknown."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            found = re.search(r"^VmHWM:\s*(\d+) kB", file.read(), re.M)
        return int(found[1]) * 1024 if found else 0
    except OSError:
        return 0


class Spans:
    """Makes the tests that this process executes spans."""

    def __init__(self, has_limit: bool) -> None:
        self.has_limit = has_limit
        self.before = 0

    def pytest_report_header(self) -> Optional[str]:
        return None if in_run() else f"bpfmon: no spans: {OUTSIDE}"

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, None, None]:
        with span(item.nodeid) as one:
            if one.id is not None and self.has_limit:
                item.user_properties.append((PROPERTY, [one.id, 0]))
                self.before = own_peak()
            yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> None:
        """Adds the high-water mark of this process to each report, if it rose in this test."""
        if self.has_limit:
            now = own_peak()
            for name, value in item.user_properties:
                if name == PROPERTY and isinstance(value, list) and now > self.before:
                    value[1] = now


class Limit:
    """Checks the memory of each test of all workers, in the process that prints the results."""

    def __init__(self, config: pytest.Config, most: int) -> None:
        self.config, self.most = config, most
        self.feed: Optional[Feed] = None
        self.why = ""
        self.tests: Dict[str, Tuple[int, int, Any]] = {}  # by nodeid: span, high-water mark of its process, a report
        self.failed: Dict[str, Any] = {}  # by nodeid: the report of a test that failed for another reason

    def pytest_sessionstart(self) -> None:
        try:
            self.feed = Feed()
        except OSError as error:
            raise pytest.UsageError(f"--bpfmon-max-rss: cannot read the live feed of the run: {error}") from None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Removes the property from the report, so that a JUnit file does not contain it."""
        for name, value in report.user_properties:
            if name == PROPERTY and isinstance(value, list):
                self.tests[report.nodeid] = (value[0], value[1], report)
        report.user_properties[:] = [pair for pair in report.user_properties if pair[0] != PROPERTY]
        if report.failed:
            self.failed[report.nodeid] = report

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self.feed:
            return
        numbers = [number for number, _, _ in self.tests.values()]
        if numbers and not self.feed.wait(*numbers):
            missing = sum(number not in self.feed.spans for number in numbers)
            self.why = self.feed.refused or f"{missing} of {len(numbers)} tests left processes running, or the run has ended; these processes were not counted"
        ended = self.feed.peaks_within()
        for nodeid, (number, own, report) in self.tests.items():
            at_samples = self.feed.spans.get(number, {}).get("rss_peak_bytes") or 0
            peak = max(at_samples, ended.get(number, 0), own)  # each is a lower bound
            if peak > self.most:
                self.fail(session, nodeid, report, f"bpfmon: {nodeid} held {mib(peak)} ({peak} B) of resident memory, more than {mib(self.most)} (--bpfmon-max-rss)")
        self.feed.close()

    def fail(self, session: pytest.Session, nodeid: str, last: Any, message: str) -> None:
        """Reports the test again, as failed only. A test that failed for another reason gets the message in addition."""
        if nodeid in self.failed:
            self.failed[nodeid].sections.append(("bpfmon", message))
            return
        report = pytest.TestReport(nodeid, last.location, last.keywords, "failed", message, "call")
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        for outcome in ("passed", "skipped", "xfailed", "xpassed") if terminal else ():
            if outcome in terminal.stats:
                terminal.stats[outcome] = [r for r in terminal.stats[outcome] if getattr(r, "nodeid", None) != nodeid]
        self.config.hook.pytest_runtest_logreport(report=report)
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.why:
            terminalreporter.write_line(f"bpfmon: {self.why}", yellow=True)
