# SPDX-License-Identifier: BSD-2-Clause
"""Checks on the books of a run: counts, sums to the nanosecond, and CPU against a witness."""

import contextlib
import json
import pathlib
import subprocess
import time

from lib.bpfmon import BPFMON, Case, read_lines

# counters of the whole run that process records do not have
RUN_ONLY = {"forks", "execs", "exits", "threads_created"}
# metrics that cost time and are read only on request
ASKED_FOR = {"pss_bytes", "uss_bytes", "pss_unread"}
GROUPS_ASKED_FOR = {"net", "block", "io-kinds"}
DELAYS_SWITCH = pathlib.Path("/proc/sys/kernel/task_delayacct")
NOT_OF_PROCESSES = {"cgroup", "host", "wait"}  # groups of metrics
OF_HARDWARE = {"gpu", "energy"}  # that many machines lack: test_gpus.py and test_energy.py have their own


def ns(seconds):
    """Seconds as they are in a JSON line, in whole nanoseconds."""
    return round(seconds * 1e9)


def exact(key, value):
    """A value of a metric as a whole number: nanoseconds, bytes or events."""
    return ns(value) if key.endswith("_seconds") else value


def listed_metrics():
    """What `bpfmon metrics` lists: key -> (group, kind), in the order of the table."""
    text = subprocess.run([BPFMON, "metrics"], stdout=subprocess.PIPE, check=True).stdout.decode()
    rows = [line.split() for line in text.splitlines()[1:]]
    return {key: (group, kind) for key, _unit, group, kind, *_help in rows}


def metric_kinds():
    """Those of them that each machine has."""
    return {key: row for key, row in listed_metrics().items() if row[0] not in OF_HARDWARE}


def every_metric(number):
    """A value for each metric, of which no two are equal."""
    return {key: number * 1000 + i + 0.5 * key.endswith("_seconds") for i, key in enumerate(listed_metrics())}


def kept_delays():
    """Those that this machine keeps for what begins now."""
    if not DELAYS_SWITCH.exists() or DELAYS_SWITCH.read_text() != "1\n":
        return set()
    text = subprocess.run([BPFMON, "check", "--json"], stdout=subprocess.PIPE, check=True).stdout
    rows = map(json.loads, text.splitlines())
    return {row["name"] for row in rows if row["available"] and row["name"].endswith("_delay_seconds")}


def without_unkept_delays(kinds):
    kept = kept_delays()
    return {key: row for key, row in kinds.items() if row[0] != "delay" or key in kept}


def plain_kinds():
    """The metrics of a run without options: not those of a cgroup, and not those that cost time."""
    kinds = without_unkept_delays(metric_kinds()).items()
    asked_for = GROUPS_ASKED_FOR | {"cgroup"}
    return {key: row for key, row in kinds if row[0] not in asked_for and key not in ASKED_FOR}


def counters():
    kinds = without_unkept_delays(metric_kinds()).items()
    absent = NOT_OF_PROCESSES | GROUPS_ASKED_FOR
    return [key for key, (group, kind) in kinds if kind == "counter" and group not in absent]


def net_counters():
    """Those of processes: of packets only a cgroup knows."""
    kinds = metric_kinds().items()
    return [key for key, (group, kind) in kinds if (group, kind) == ("net", "counter") and "_wire_" not in key]


def record_counters():
    return [key for key in counters() if key not in RUN_ONLY]


class AccountCase(Case):
    def only(self, found):
        """The only item; fails if there are several or none."""
        found = list(found)
        self.assertEqual(len(found), 1, found)
        return found[0]

    def by_pid(self, run, pid):
        return self.only(p for p in run.processes if p["pid"] == pid)

    def inside(self, run):
        """The records of the processes that the witness ran, without its own."""
        command = self.by_pid(run, run.wait4["pid"])["ppid"]
        return [p for p in run.processes if p["pid"] != command]

    def assert_counts(self, run, processes, threads):
        """Each process counted once and recorded once, each thread counted once."""
        self.assert_complete(run)
        summary = run.summary
        self.assertEqual(summary["processes_total"], processes)
        self.assertEqual(summary["forks"], processes - 1)
        self.assertEqual(summary["exits"], processes - summary["outlived"])
        self.assertEqual(summary["threads_created"], threads)
        self.assert_records(run, processes)
        self.assertEqual(sum(p["threads_total"] for p in run.processes), processes + threads)

    def assert_records(self, run, processes):
        self.assertEqual(len(run.processes), processes)
        self.assertEqual(len({(p["pid"], p["start_time"]) for p in run.processes}), processes)

    def assert_cpu(self, measured, witnessed, above=0.0):
        """Within 1 % or 10 ms; @above: what the witness may have missed."""
        allowed = max(0.01 * witnessed, 0.010)
        self.assertGreaterEqual(measured, witnessed - allowed)
        self.assertLessEqual(measured, witnessed + allowed + above)

    def after_witness(self, witness, processes):
        """The most CPU that these, of one thread each by then, can have used after it was written."""
        ended = [p["end_time"] for p in processes if p["end_time"]]
        return sum(max(0, end - witness["time"]) for end in ended)

    def assert_sums(self, run):
        """The totals are the sums of the records, and user and system are a split of cpu."""
        for key in record_counters():
            total = sum(exact(key, p[key]) for p in run.processes)
            self.assertEqual(total, exact(key, run.summary[key]), key)
            self.assertEqual(total, exact(key, run.samples[-1][key]), key)
        for line in [*run.samples, *run.processes, run.summary]:
            split = ns(line["user_seconds"]) + ns(line["system_seconds"])
            self.assertEqual(split, ns(line["cpu_seconds"]), line)

    def assert_near(self, measured, witnessed):
        """Within 1 %."""
        self.assertAlmostEqual(measured / witnessed, 1, delta=0.01)

    @contextlib.contextmanager
    def running(self, command, options=(), **kwargs):
        """A run in the background, as a Live."""
        live = Live(self.dir / f"live-{time.monotonic_ns()}.jsonl", command, options, **kwargs)
        try:
            yield live
        finally:
            live.stop()


class Live:
    """A bpfmon that is running."""

    def __init__(self, out, command, options, **kwargs):
        self.out = pathlib.Path(out)
        self.process = subprocess.Popen(
            [BPFMON, "-q", "-o", str(out), *options, "--", *command],
            stdin=subprocess.PIPE,
            **kwargs,
        )

    def lines(self, kind):
        lines = read_lines(self.out) if self.out.exists() else []
        return [line for line in lines if line["kind"] == kind]

    def until(self, what, seconds=60):
        """Waits until @what() returns a true value, and returns it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            got = what()
            if got:
                return got
            if self.process.poll() is not None:
                raise AssertionError(f"bpfmon ended with {self.process.returncode}")
            time.sleep(0.01)
        raise AssertionError("it did not come to that")

    def next_sample(self, fits=lambda sample: True):
        """The first later sample that fits, not the one that is being taken now."""
        now = time.time()
        return self.until(
            lambda: next((s for s in self.lines("sample") if s["time"] > now and fits(s)), None)
        )

    def finish(self):
        """Closes the command's stdin, waits for the end and returns the summary."""
        self.process.stdin.close()
        self.process.wait(60)
        (summary,) = self.lines("summary")
        return summary

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait(20)


def read_json(path):
    return json.loads(pathlib.Path(path).read_text())
