# SPDX-License-Identifier: BSD-2-Clause
"""What a span for each test costs a suite of pytest with children: each test twice in a run, with its span and without."""

import json
import os

import stats
from runner import Broken
from selfcost import figure

TESTS = 200
TARGET = 1.0			# ms a test
PYTHON = "/usr/bin/python3"		# that of the distribution, which has pytest
PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "python")
SUITE = f"""
import subprocess, pytest

@pytest.mark.parametrize("number", range({TESTS}))
@pytest.mark.parametrize("turn", range(2))
def test_children(number, turn):
    for _ in range(number % 3):
        subprocess.run(["/bin/true"], check=True)
"""
# Each pair is two tests in turn, so that a drift of the machine weighs on both; which comes first is swapped each time.
CONFTEST = """
import json, time
import bpfmon, pytest

address, taken = bpfmon._address, []

class Timer:
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        number, turn = item.callspec.params["number"], item.callspec.params["turn"]
        is_span = (number + turn) % 2
        bpfmon._address = address if is_span else None
        start = time.perf_counter()
        yield
        taken.append((number, is_span, time.perf_counter() - start))

def pytest_sessionstart(session):
    session.config.pluginmanager.register(Timer())		# after the plugin: around it

def pytest_sessionfinish():
    with open("times.json", "w") as f:
        json.dump(taken, f)
"""


def differences(folder):
    """Seconds that each test took more with its span."""
    with open(os.path.join(folder, "times.json"), encoding="utf-8") as f:
        taken = {(number, is_span): seconds for number, is_span, seconds in json.load(f)}
    return [taken[number, 1] - taken[number, 0] for number in range(TESTS)]


def check_spans(path):
    with open(path, encoding="utf-8") as f:
        found = sum(json.loads(line)["kind"] == "span" for line in f)
    if found != TESTS:
        raise Broken(f"there are {found} spans, and should be {TESTS}")


def tests(runner, count, say):
    folder = os.path.join(runner.tmp, "suite")
    os.mkdir(folder)
    for name, text in (("test_suite.py", SUITE), ("conftest.py", CONFTEST)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    runner.env["PYTHONPATH"] = PACKAGE
    pytest = f"cd {folder} && exec {PYTHON} -m pytest -q -p no:cacheprovider -p bpfmon.pytest_plugin --bpfmon"
    costs = []
    for i in range(count):
        runner.monitored("1", ["sh", "-c", pytest], reports=False)
        check_spans(runner.trace)
        costs.append(1e3 * stats.median(differences(folder)))
        say(f"suite {i + 1}: {stats.median(costs):.3f} ms a test")
    del runner.env["PYTHONPATH"]
    return [figure(f"a span for a test of pytest (median of {TESTS} pairs a suite)", costs, "ms", TARGET)]
