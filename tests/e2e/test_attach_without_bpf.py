# SPDX-License-Identifier: BSD-2-Clause
"""Attaching without BPF: what /proc shows of the user's own processes, from then on."""

import json
import os
import pathlib
import signal
import subprocess

from lib.attach import AttachCase
from lib.bpfmon import BPFMON, read_lines, truth
from lib.connector import why_no_births
from lib.live import wait_for

SAMPLED = True
NOBODY = 65534
AS_NOBODY = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"}
TICK = 1 / os.sysconf("SC_CLK_TCK")
FRESH = ["-i", "0.02"]
# starts and waits for programs as it is told; "parent" starts one whose parent is in between
DRIVER = """
while read -r what program number; do
    case $what in
    start) "$program" $number >/dev/null & echo $!;;
    parent) sh -c '"$@" >/dev/null & echo $$ $!; exec sleep 600' sh "$program" "$number" &;;
    wait) wait $program; echo done;;
    esac
done
"""


def cpu_of(*pids):
    """Seconds of CPU that /proc has for these, with the children that they have waited for; to a tick each."""
    total = 0
    for pid in pids:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
        total += sum(map(int, text.rpartition(")")[2].split()[11:15])) * TICK
    return total


class Tree(AttachCase):
    def setUp(self):
        super().setUp()
        os.chown(self.dir, NOBODY, NOBODY)

    def drive(self):
        self.driver = self.start("sh", "-c", DRIVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.DEVNULL, **AS_NOBODY)
        self.addCleanup(self.driver.stdout.close)
        self.addCleanup(self.driver.stdin.close)
        self.say("wait")
        return self.driver.pid

    def say(self, *words):
        print(*words, file=self.driver.stdin, flush=True)
        return self.driver.stdout.readline()

    def spin(self, milliseconds):
        """It has run for a while."""
        pid = int(self.say("start", truth("spin"), milliseconds))
        self.addCleanup(self.kill, pid)
        wait_for(lambda: cpu_of(pid) >= 5 * TICK, "its first CPU time")
        return pid

    def orphan_to_be(self):
        """The parent in between, and its child, which burns CPU until it is killed."""
        between, pid = map(int, self.say("parent", truth("spin"), 60_000).split())
        self.addCleanup(self.kill, pid)
        wait_for(lambda: pathlib.Path(f"/proc/{pid}/comm").read_text() == "spin\n", "its exec")
        return between, pid

    def kill(self, pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def attach_as_nobody(self, pid, options=FRESH):
        attached = self.attach([pid], options, **AS_NOBODY)
        self.wait_until_attached(attached)
        return attached

    def samples_of(self, attached):
        return [line for line in read_lines(attached.out) if line["kind"] == "sample"]

    def next_sample(self, attached, fits=lambda sample: True):
        seen = len(self.samples_of(attached)) + 1  # one may be under way
        wait_for(lambda: any(map(fits, self.samples_of(attached)[seen:])), "a sample")

    def stop(self, attached):
        attached.send_signal(signal.SIGINT)
        return self.finish(attached)

    def end_driver(self, attached):
        """All that it and what it waited for have used, and the run."""
        self.driver.stdin.close()
        run = self.finish(attached)  # what it used to its end is seen as long as it is a zombie
        used = os.wait4(self.driver.pid, 0)[2]
        return used.ru_utime + used.ru_stime, run

    def assert_between(self, run, least, most, processes):
        """Each process is known to a tick of user and of system time, at the attach and at the end."""
        slack = 2 * TICK * processes
        self.assertEqual((run.code, run.meta["source"]), (0, "procfs"), run.stderr)
        self.assert_complete(run)
        self.assertGreaterEqual(run.summary["cpu_seconds"], least - slack)
        self.assertLessEqual(run.summary["cpu_seconds"], most + slack)
        self.assertEqual(run.summary["bounds"]["cpu_seconds"], "at_least")
        self.assertEqual(run.samples[-1]["cpu_seconds"], run.summary["cpu_seconds"])


class Totals(Tree):
    def test_children_in_mid_life_count_from_then_on(self):
        pids = [self.drive(), self.spin(700), self.spin(700)]
        before = cpu_of(*pids)
        attached = self.attach_as_nobody(pids[0])
        after = cpu_of(*pids)
        for pid in pids[1:]:
            self.say("wait", pid)
        total, run = self.end_driver(attached)
        self.assert_between(run, total - after, total - before, len(pids))
        self.assertEqual({p["pid"] for p in run.processes}, set(pids))
        self.assertEqual((run.meta["attached"]["pids"], run.meta["attached"]["tasks"]), ([pids[0]], 3))
        baseline = run.meta["baseline"]["cpu_seconds"]
        self.assertGreaterEqual(baseline, 10 * TICK)
        self.assertLessEqual(baseline, after)

    def test_short_children_that_are_waited_for_are_all_in_the_totals(self):
        many = self.start(truth("seqchildren"), "100", "6", **AS_NOBODY)
        wait_for(lambda: cpu_of(many.pid) >= 5 * TICK, "its first children")
        before = cpu_of(many.pid)
        attached = self.attach_as_nobody(many.pid, ["-i", "0.2"])
        after = cpu_of(many.pid) + 0.006
        run = self.finish(attached)
        used = os.wait4(many.pid, 0)[2]
        total = used.ru_utime + used.ru_stime
        self.assert_between(run, total - after, total - before, 2)
        self.assertLess(run.summary["processes_total"], 101)
        self.assertEqual(run.summary["bounds"]["processes_total"], "at_least")

    def test_a_storm_of_forks_is_never_counted_twice(self):
        storm = self.start(truth("forkstorm"), "4", "3000", **AS_NOBODY)
        attached = self.attach_as_nobody(storm.pid)
        after = cpu_of(storm.pid)
        run = self.finish(attached)
        used = os.wait4(storm.pid, 0)[2]
        total = used.ru_utime + used.ru_stime
        self.assert_between(run, 0, total, 5)
        self.assertLess(after, total)  # it went on meanwhile
        self.assertGreater(run.summary["cpu_seconds"], 0)

    def test_children_that_nothing_waits_for_count_as_they_were_seen(self):
        said = self.dir / "witness"
        many = self.start(truth("ignchld"), "6", "150", env={**os.environ, "TRUTH_OUT": str(said)}, **AS_NOBODY)
        run = self.finish(self.attach_as_nobody(many.pid))
        self.assert_between(run, 0.1, json.loads(said.read_text())["cpu_seconds"], 7)

    def test_one_that_ends_counts_as_it_was_seen_last(self):
        root = self.drive()
        pid = self.spin(60_000)
        attached = self.attach_as_nobody(pid)
        before = cpu_of(pid)
        wait_for(lambda: cpu_of(pid) >= before + 20 * TICK, "more CPU time")
        os.kill(pid, signal.SIGSTOP)
        self.next_sample(attached)
        last = cpu_of(pid)
        os.kill(pid, signal.SIGKILL)
        self.say("wait", pid)
        total = cpu_of(root)
        run = self.finish(attached)
        self.assert_between(run, last - before, total, 1)
        process = self.only(run.processes)
        how = ("X", None, None) if why_no_births() else (None, None, signal.SIGKILL)
        self.assertEqual((process.get("state"), process["exit_code"], process["signal"]), how)
        self.assertEqual(process["cpu_seconds"], run.summary["cpu_seconds"])
        self.assertIsNone(run.summary["exit_code"])


class Orphans(Tree):
    def test_a_daemon_that_was_seen_stays_a_member(self):
        root = self.drive()
        attached = self.attach_as_nobody(root)
        between, pid = self.orphan_to_be()
        self.next_sample(attached, lambda sample: sample["processes"] == 3)
        os.kill(between, signal.SIGKILL)
        self.say("wait", between)
        early = cpu_of(pid)
        wait_for(lambda: cpu_of(pid) >= early + 20 * TICK, "more CPU time")
        os.kill(pid, signal.SIGSTOP)
        self.next_sample(attached)
        run = self.stop(attached)
        process = self.by_pid(run, pid)
        self.assertNotEqual(process["ppid"], between)
        self.assertAlmostEqual(process["cpu_seconds"], cpu_of(pid), delta=2 * TICK)
        self.assertGreaterEqual(run.summary["cpu_seconds"], process["cpu_seconds"])
        self.assertEqual(run.summary["outlived"], 2)

    def test_a_daemon_that_was_not_seen_is_missing_unless_its_birth_was_reported(self):
        root = self.drive()
        attached = self.attach_as_nobody(root)
        roles = [int(pid) for pid in pathlib.Path(f"/proc/{attached.pid}/task/{attached.pid}/children").read_text().split()]
        for role in roles:
            os.kill(role, signal.SIGSTOP)
        between, pid = self.orphan_to_be()
        os.kill(between, signal.SIGKILL)
        self.say("wait", between)
        for role in roles:
            os.kill(role, signal.SIGCONT)
        self.next_sample(attached)
        run = self.stop(attached)
        self.assertEqual(pid in [p["pid"] for p in run.processes], not why_no_births())
        self.assert_between(run, 0, cpu_of(root), 2)


class Ends(Tree):
    def test_a_signal_ends_it_and_the_process_goes_on(self):
        sleeper = self.start("sleep", "600", **AS_NOBODY)
        for how in (signal.SIGINT, signal.SIGTERM):
            attached = self.attach_as_nobody(sleeper.pid)
            attached.send_signal(how)
            run = self.finish(attached)
            self.assertEqual((run.code, run.summary["attached"], run.summary["outlived"]), (0, True, 1), run.stderr)
            self.assertIn("totals since the attach", run.stderr)
            self.assertEqual(self.only(run.processes)["state"], "S")
        self.assertIsNone(sleeper.poll())

    def test_a_duration_ends_it(self):
        sleeper = self.start("sleep", "600", **AS_NOBODY)
        run = self.finish(self.attach([sleeper.pid], ["--duration", "0.2"], **AS_NOBODY))
        self.assertEqual(run.code, 0, run.stderr)

    def test_a_process_below_another_is_named_too(self):
        root = self.drive()
        pid = self.spin(60_000)
        attached = self.attach([pid, root], FRESH, **AS_NOBODY)
        self.wait_until_attached(attached)
        run = self.stop(attached)
        self.assertEqual(sorted(p["pid"] for p in run.processes), sorted([root, pid]))
        self.assertEqual(run.summary["processes_total"], 2)

    def test_root_without_bpf_attaches_to_another_user(self):
        reader = self.start("cat", "/dev/zero", stdout=subprocess.DEVNULL, **AS_NOBODY)
        attached = self.attach([reader.pid], [*FRESH, "--inject-no-program", "tp_btf"])
        self.wait_until_attached(attached)
        self.next_sample(attached, lambda sample: sample["cpu_seconds"] > 0.1)
        run = self.stop(attached)
        self.assertIn("measuring from /proc instead", run.stderr)
        self.assertGreater(run.summary["rchar_bytes"], 1 << 20)
        self.assertGreater(run.summary["cpu_seconds"], 0.1)


class Refusals(Tree):
    def refused(self, *options):
        done = subprocess.run([BPFMON, "attach", *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False, **AS_NOBODY)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        return done.stderr

    def test_a_process_of_another_user_with_what_would_permit_it(self):
        theirs = self.start("sleep", "600")
        said = self.refused("--pid", theirs.pid)
        self.assertIn(f"only to your own processes, and process {theirs.pid} belongs to another user", said)
        self.assertIn("; use sudo", said)

    def test_one_that_there_is_not(self):
        gone = self.start("true")
        gone.wait()
        self.assertIn(f"no process {gone.pid}", self.refused("--pid", gone.pid))

    def test_a_cgroup_needs_bpf(self):
        self.assertIn("(required for --cgroup)", self.refused("--cgroup", "/"))

    def test_nothing_less_than_bpf_where_that_is_chosen(self):
        own = self.start("sleep", "600", **AS_NOBODY)
        for choice in (["--require", "exact"], ["--if-unavailable", "fail"], ["--if-unavailable", "bare"]):
            self.assertIn("tracking processes needs root", self.refused("--pid", own.pid, *choice))
