# SPDX-License-Identifier: BSD-2-Clause
"""The plugin of pytest: --bpfmon makes each test a span of the run around it; --bpfmon-max-rss fails those that held more.

A span lasts from the set-up of a test to its teardown, in the process that executes it, also in a worker of xdist. What
tests held is known when the run has taken its next sample; so tests that held too much fail when all have ended.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Generator, Optional, Tuple

import pytest

from . import in_run, span
from .feed import Feed

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
PROPERTY = "bpfmon"  # of reports, which xdist takes from its workers to the session
OUTSIDE = "pytest is in no run of bpfmon: run it as bpfmon -- pytest ..."


def bytes_of(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip(), re.I)
    if not found:
        raise pytest.UsageError(f"--bpfmon-max-rss: {text!r} is no size; try 500M, 2GiB or 1048576")
    return int(float(found[1]) * UNITS[found[2].lower()])


def mib(count: int) -> str:
    return f"{count / (1 << 20):.1f} MiB"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bpfmon", "an account of each test, within a run of bpfmon")
    group.addoption("--bpfmon", action="store_true", help="make each test a span of the run around pytest")
    group.addoption("--bpfmon-max-rss", metavar="SIZE", help="the same, and fail a test that held more resident memory, as in 500M")


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
    """The kernel's high-water mark of this process, in bytes; 0: not known."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            found = re.search(r"^VmHWM:\s*(\d+) kB", file.read(), re.M)
        return int(found[1]) * 1024 if found else 0
    except OSError:
        return 0


class Spans:
    """The spans of the tests that this process executes."""

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
        """In each report the mark of this process, if it has risen in this test: then that is the test's own."""
        if self.has_limit:
            now = own_peak()
            for name, value in item.user_properties:
                if name == PROPERTY and isinstance(value, list) and now > self.before:
                    value[1] = now


class Limit:
    """What each test held, of all workers; in the process that prints the results."""

    def __init__(self, config: pytest.Config, most: int) -> None:
        self.config, self.most = config, most
        self.feed: Optional[Feed] = None
        self.why = ""
        self.tests: Dict[str, Tuple[int, int, Any]] = {}  # by nodeid: span, the mark of its process, a report
        self.failed: Dict[str, Any] = {}  # by nodeid: the report of what failed anyway

    def pytest_sessionstart(self) -> None:
        try:
            self.feed = Feed()
        except OSError as error:
            raise pytest.UsageError(f"--bpfmon-max-rss: there is no live feed of the run: {error}") from None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes the property out of the report, before a JUnit file has it."""
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
            self.why = self.feed.refused or f"{missing} of {len(numbers)} tests have left processes behind, or the run has ended: they were judged without these"
        ended = self.feed.peaks_within()
        for nodeid, (number, own, report) in self.tests.items():
            at_samples = self.feed.spans.get(number, {}).get("rss_peak_bytes") or 0
            peak = max(at_samples, ended.get(number, 0), own)  # each is certain
            if peak > self.most:
                self.fail(session, nodeid, report, f"bpfmon: {nodeid} held {mib(peak)} ({peak} B) of resident memory, more than {mib(self.most)} (--bpfmon-max-rss)")
        self.feed.close()

    def fail(self, session: pytest.Session, nodeid: str, last: Any, message: str) -> None:
        """Reports the test once more, as failed and as nothing else; one that has failed anyway has the message besides."""
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
