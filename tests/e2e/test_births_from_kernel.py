# SPDX-License-Identifier: BSD-2-Clause
"""Without BPF, where the kernel reports births and ends to ordinary users, and where it does not."""

import json
import signal
import subprocess

from lib.bpfmon import AS_USER, BPFMON, truth
from lib.connector import why_no_births
from lib.fromproc import OrdinaryUser

SAMPLED = True
NEEDS = ()
CHILDREN = 1000
LOOP = f"i=0; while [ $i -lt {CHILDREN} ]; do /bin/true; i=$((i + 1)); done; echo $i"
# a parent that is not the launcher waits for each of these, and prints its PID and status
STATUSES = """
    for how in 'exit 0' 'exit 7' 'kill -9 $$' 'kill -15 $$' 'sleep 0.05; exit 3'; do
        sh -c "$how" & wait $!; echo $! $?
    done"""
# its collector and recorder stand still meanwhile
STANDSTILL = """
    for pid in $(cat /proc/$PPID/task/$PPID/children); do [ $pid = $$ ] || roles="$roles $pid"; done
    kill -STOP $roles; "$@"; kill -CONT $roles; exit 0"""


class Births(OrdinaryUser):
    def run_verbose(self, command, options=(), **kwargs):
        return self.run_unprivileged(command, ["-v", *options], **kwargs)

    def assert_births(self, run, processes):
        """All of them, if the kernel reports them; else no more than that."""
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        records = {(p["pid"], p["start_time"]) for p in run.processes}
        self.assertEqual(len(records), len(run.processes))
        self.assertLessEqual(len(records), run.summary["processes_total"])
        if not self.has_all_births(run):
            self.assert_bound(run, processes)
            return
        self.assertNotIn("processes_total", run.summary["bounds"])
        self.assertEqual(run.summary["processes_total"], processes)

    def assert_bound(self, run, most):
        self.assertEqual(run.summary["bounds"]["processes_total"], "at_least")
        self.assertIn("processes   at least", run.stderr)
        self.assertLessEqual(run.summary["processes_total"], most)

    def test_a_thousand_short_children_between_two_samples_are_counted(self):
        run = self.run_verbose(["sh", "-c", LOOP])
        self.assertEqual(int(run.stdout), CHILDREN)
        self.assert_births(run, CHILDREN + 1)
        for process in run.processes:
            if "cpu_seconds" not in process:  # no look has seen it
                self.assertNotIn("rss_peak_bytes", process)
                self.assertLess(process["start_time"], process["end_time"])
                self.assertEqual((process["exit_code"], process["execs"], process["uid"]), (0, 1, run.meta["uid"]))

    def test_threads_are_no_processes(self):
        run = self.run_verbose([truth("forkstorm"), "4", "100"])
        self.assert_births(run, run.witness["processes"])
        threads = {1 + (number % 4 == 3) for number in range(4)}
        self.assertLessEqual({p["threads_total"] for p in run.processes}, threads)

    def test_siblings_and_orphans_count(self):
        self.assert_births(self.run_verbose([truth("cloneparent"), "5"]), 3)
        run = self.run_verbose([truth("daemon"), "20"], ["--wait", "tree"])
        self.assert_births(run, 3)
        run = self.run_verbose([truth("vforker"), "50", "/bin/true"])
        self.assert_births(run, 51)

    def test_the_exit_status_of_what_others_have_waited_for(self):
        run = self.run_verbose(["sh", "-c", STATUSES])
        records = {process["pid"]: process for process in run.processes}
        for line in run.stdout.splitlines():
            pid, status = map(int, line.split())
            found = records.get(pid)
            if found or self.has_all_births(run):
                known = found["exit_code"] if found["signal"] is None else 128 + found["signal"]
                self.assertIn(known, {status} if self.has_all_births(run) else {status, None}, found)

    def test_the_exit_status_of_a_program_that_a_thread_has_executed(self):
        command = f"{truth('threadexec')} /bin/sh -c 'exit 9' & wait $!; echo $! $?"
        run = self.run_verbose(["sh", "-c", command], env={"TRUTH_BEFORE": str(self.dir / "before")})
        pid, status = map(int, run.stdout.split())
        self.assertEqual(status, 9)
        (found,) = [process for process in run.processes if process["pid"] == pid]
        if self.has_all_births(run):
            self.assertEqual((found["exit_code"], found["threads_total"]), (9, 5))

    def test_a_process_whose_first_thread_ends_first_lives_on(self):
        run = self.run_verbose(["sh", "-c", f"{truth('leaderfirst')} 50 & wait $!; echo $!"])
        if self.has_all_births(run):
            (found,) = [process for process in run.processes if process["pid"] == int(run.stdout)]
            self.assertGreaterEqual(found["end_time"] - found["start_time"], 0.05)
            self.assertEqual((found["exit_code"], found["threads_total"]), (0, 2))

    def test_a_name_that_was_not_read_is_not_that_of_the_parent(self):
        run = self.run_verbose(["sh", "-c", LOOP])
        for process in run.processes:
            if process["execs"] and process["ppid"] in {p["pid"] for p in run.processes}:
                self.assertIn(process["comm"], ("", "true"))

    def test_events_that_were_lost_make_the_number_a_bound(self):
        run = self.run_verbose(["sh", "-c", LOOP], ["--inject-misses", "20"])
        self.assert_complete(run)
        self.assert_bound(run, CHILDREN + 1)
        self.assertFalse(self.has_all_births(run))

    def test_a_queue_that_was_full_makes_the_number_a_bound(self):
        storm = [truth("forkstorm"), "2", "4000"]
        run = self.run_verbose(["sh", "-c", STANDSTILL, "sh", *storm])
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_bound(run, run.witness["processes"] + 3)

    def test_where_the_kernel_does_not_report_them_the_number_is_a_bound(self):
        before = ["unshare", "-U"]
        if subprocess.run([*before, "true"], **AS_USER, stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("the machine refuses user namespaces")
        run = self.run_bpfmon(["sh", "-c", LOOP], ["-v"], before=before, cwd="/", **AS_USER)
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_bound(run, CHILDREN + 1)

    def test_check_says_whether_the_kernel_reports_them(self):
        for before in ([], ["unshare", "-U"]):  # where that is refused, there is no row
            done = subprocess.run([*before, BPFMON, "check", "--json"], **AS_USER, cwd="/", stdout=subprocess.PIPE, check=False)
            rows = {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}
            if rows and rows["source of a run"].get("source") == "procfs":
                row = rows["births and ends from the kernel"]
                self.assertEqual(row["available"], not why_no_births(bool(before)), row)
                self.assertEqual("reason" in row, not row["available"])

    def test_processes_of_others_do_not_count(self):
        with subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"], **AS_USER) as stranger:
            try:
                run = self.run_verbose(["sh", "-c", "for i in 1 2 3 4 5; do sleep 0.05; done; exit 0"])
            finally:
                stranger.send_signal(signal.SIGKILL)
        self.assertLessEqual(run.summary["processes_total"], 6)
        self.assert_births(run, 6)
