# SPDX-License-Identifier: BSD-2-Clause
"""pytest --bpfmon: a span for each test, exact, also of the workers of xdist; and the limit of memory."""

import json
import os
import signal
from xml.etree import ElementTree

from lib.account import AccountCase, ns
from lib.bpfmon import truth
from lib.package import PYTHON, PackageCase, needs

SAMPLED = True
TESTS = 200
SUITE = f"""
import json, os, time, pytest

@pytest.mark.parametrize("number", range({TESTS}))
def test_children(number):
    began, used = time.process_time(), []
    # first: where an event of an ended child is lost, the next fork is to come soon
    while number % 10 == 0 and time.process_time() - began < 0.02:
        pass
    for i in range(number % 4):
        pid = os.posix_spawn({truth("spin")!r}, ["spin", "4"], os.environ) if i else os.posix_spawn("/bin/true", ["true"], os.environ)
        _, status, usage = os.wait4(pid, 0)
        assert status == 0
        used.append([pid, usage.ru_utime + usage.ru_stime])
    said = {{"children": used, "own": time.process_time() - began, "pid": os.getpid()}}
    with open(f"{{os.environ['SAID']}}/{{number}}", "w") as file:
        json.dump(said, file)
"""
# a hook around that of the plugin, as it is registered later
CONFTEST = """
import json, os, time, pytest

class Around:
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        began = time.process_time()
        yield
        with open(f"{os.environ['SAID']}/around {item.nodeid.rpartition('/')[2]}", "w") as file:
            json.dump(time.process_time() - began, file)

def pytest_collection_modifyitems(config):
    config.pluginmanager.register(Around())
"""
LIMITED = """
import subprocess, sys

def test_small(): pass
def test_child():
    subprocess.run([sys.executable, "-c", "held = b'x' * (300 << 20)"], check=True)
def test_between(): pass
def test_own():
    held = b"x" * (250 << 20)
def test_after(): pass
def test_fails(): assert 0
def test_inner():
    import bpfmon
    with bpfmon.span("in the test"):
        test_child()
def test_both():
    test_child()
    assert 0
"""


class PluginCase(PackageCase, AccountCase):
    def pytest(self, *words, suite, options=()):
        (self.dir / "test_suite.py").write_text(suite)
        said = self.dir / "said"
        said.mkdir(exist_ok=True)
        command = [PYTHON, "-m", "pytest", "-p", "bpfmon.pytest_plugin", *words, "test_suite.py"]
        run = self.run_bpfmon(command, ["-q", "--no-store", *options], env=self.environment() | {"SAID": str(said)}, cwd=self.dir)
        run.text = run.stdout.decode()
        run.said = {path.name: json.loads(path.read_text()) for path in said.iterdir()}
        self.assert_complete(run)
        return run


@needs("pytest")
class Spans(PluginCase):
    def check(self, *words):
        (self.dir / "conftest.py").write_text(CONFTEST)
        run = self.pytest("--bpfmon", "--junitxml=junit.xml", *words, suite=SUITE)
        self.assertNotIn("<propert", (self.dir / "junit.xml").read_text())
        self.assertEqual(run.code, 0, run.text)
        self.assertIn(f"{TESTS} passed", run.text)
        spans = {span["name"]: span for span in run.kind("span")}
        self.assertEqual(len(run.kind("span")), TESTS)
        records = {}
        for process in run.processes:
            records.setdefault(process.get("span"), []).append(process)
        all_measured = all_witnessed = 0
        for number in range(TESTS):
            span, said = spans[f"test_suite.py::test_children[{number}]"], run.said[str(number)]
            children = records.get(span["id"], [])
            self.assertEqual((span["pid"], span["processes_total"]), (said["pid"], len(said["children"]) + 1))
            self.assertEqual(sorted(p["pid"] for p in children), sorted(pid for pid, _ in said["children"]))
            by_pid = {p["pid"]: p["cpu_seconds"] for p in children}
            for pid, used in said["children"]:
                self.assert_cpu(by_pid[pid], used)
            within = sum(ns(seconds) for seconds in by_pid.values())
            own = ns(span["cpu_seconds"]) - within
            self.assertGreaterEqual(own, ns(said["own"]) - 5_000_000)
            self.assertLessEqual(own, ns(run.said[f"around test_suite.py::test_children[{number}]"]) + 5_000_000)
            all_measured += within / 1e9
            all_witnessed += sum(used for _, used in said["children"])
        self.assert_cpu(all_measured, all_witnessed)
        self.assertLess(sum(ns(span["cpu_seconds"]) for span in spans.values()), ns(run.summary["cpu_seconds"]))
        return run

    def test_of_200_tests_each_has_its_processes_and_their_cpu(self):
        run = self.check()
        self.assertEqual(len({span["pid"] for span in run.kind("span")}), 1)

    @needs("xdist")
    def test_and_under_xdist_each_worker_has_its_own(self):
        run = self.check("-n2")
        self.assertEqual(len({span["pid"] for span in run.kind("span")}), 2)

    def test_without_the_option_there_are_none(self):
        self.assertEqual(self.pytest(suite="def test_one(): pass\n").kind("span"), [])

    def test_outside_of_a_run_it_says_so_and_runs_the_tests(self):
        (self.dir / "test_suite.py").write_text("def test_one(): pass\n")
        done = self.python([PYTHON, "-m", "pytest", "-p", "bpfmon.pytest_plugin", "--bpfmon"])
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("bpfmon: no spans: pytest is not in a run of bpfmon; start it as bpfmon -- pytest", done.stdout)


@needs("pytest")
class Limit(PluginCase):
    def check(self, *words):
        run = self.pytest("--bpfmon-max-rss=200M", "--junitxml=junit.xml", *words, suite=LIMITED)
        self.assertEqual(run.code, 1, run.text)
        self.assertIn("5 failed, 3 passed", run.text)
        for name, least in (("child", 300), ("own", 250), ("inner", 300), ("both", 300)):
            held = self.held(run.text, f"test_suite.py::test_{name}")
            self.assertGreaterEqual(held, least << 20)
            self.assertLess(held, (least + 100) << 20)
        self.assertEqual(run.text.count("(--bpfmon-max-rss)"), 4)
        junit = (self.dir / "junit.xml").read_text()
        entries = [case.get("name") for case in ElementTree.fromstring(junit).iter("testcase") if "--bpfmon-max-rss" in "".join(case.itertext())]
        self.assertEqual(sorted(entries), ["test_child", "test_inner", "test_own"])  # that of test_both was written when it failed
        self.assertNotIn("<propert", junit)

    def held(self, text, test):
        """The bytes in the message of a test, beside those in a shorter unit."""
        (line,) = [line for line in text.splitlines() if line.startswith(f"bpfmon: {test} held ")]
        short, exact = line.split(" held ")[1].split(" of ")[0].rstrip(" B)").split(" (")
        self.assertAlmostEqual(float(short.removesuffix(" MiB")), int(exact) / (1 << 20), delta=0.06)
        self.assertIn("more than 200.0 MiB", line)
        return int(exact)

    def test_tests_that_held_more_fail_with_their_values(self):
        self.check()

    @needs("xdist")
    def test_and_under_xdist(self):
        self.check("-n2")

    def test_none_fails_below_it(self):
        run = self.pytest("--bpfmon-max-rss", "2GiB", "-k", "not fails and not both", suite=LIMITED)
        self.assertEqual(run.code, 0, run.text)
        self.assertIn("6 passed", run.text)

    def test_one_that_was_skipped_or_expected_to_fail_is_failed_once(self):
        hold = "subprocess.run([sys.executable, '-c', 'held = b\"x\" * (300 << 20)'], check=True)"
        suite = f"import pytest, subprocess, sys\ndef test_skips():\n {hold}\n pytest.skip()\n"
        suite += f"@pytest.mark.xfail\ndef test_expected():\n {hold}\n assert 0\n"
        run = self.pytest("--bpfmon-max-rss=200M", suite=suite)
        self.assertEqual(run.code, 1, run.text)
        self.assertRegex(run.text.splitlines()[-1], "=+ 2 failed in ")

    def test_a_process_that_outlives_its_test_does_not_hold_up_the_end(self):
        """Its span has no line yet, though two samples were taken; the test that failed is known by its own mark."""
        suite = "import os\ndef test_daemon():\n held = b'x' * (250 << 20)\n os.posix_spawn('/bin/sleep', ['sleep', '300'], {})\n"
        suite += "def test_next(): pass\n"
        run = self.pytest("--bpfmon-max-rss=200M", suite=suite, options=["-i", "0.05"])
        (left,) = [p for p in run.processes if p["comm"] == "sleep"]
        os.kill(left["pid"], signal.SIGKILL)
        self.assertEqual(run.code, 1, run.text)
        self.assertIn("test_daemon held", run.text)
        self.assertIn("1 of 2 tests left processes running", run.text)

    def test_what_cannot_be_judged_is_refused(self):
        (self.dir / "test_suite.py").write_text("def test_one(): pass\n")
        done = self.python([PYTHON, "-m", "pytest", "-p", "bpfmon.pytest_plugin", "--bpfmon-max-rss=1G"])
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("pytest is not in a run of bpfmon", done.stderr)
        run = self.pytest("--bpfmon-max-rss=lots", suite="")
        self.assertEqual((run.code, "'lots' is not a size" in run.stderr), (4, True), run.stderr)
