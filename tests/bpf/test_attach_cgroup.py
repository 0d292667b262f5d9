# SPDX-License-Identifier: BSD-2-Clause
"""Attaching to a cgroup: the processes in it and those born there, and how long it goes on."""

import os
import pathlib
import signal
import time

from lib.bpfmon import BPFMON, read_lines, truth
from lib.cgroups import UNIFIED, CgroupCase, used
from lib.live import wait_for

SAMPLED = True


class Members(CgroupCase):
    def check_all(self, kind):
        """Processes that are there, and those born there, in it and below it."""
        group = self.group(kind)
        deep = self.below(self.below(group, "a"), "b")
        before = self.start_in(group, truth("spin"), "1200")
        storm = self.start_in(deep, truth("forkstorm"), "2", "100")
        wait_for(lambda: (group / "cgroup.procs").read_text(), "the first")
        run = self.attach_cgroup(group)
        later = self.start_in(deep, truth("seqchildren"), "20", "10")
        for process in (before, storm, later):
            self.assertEqual(process.wait(), 0)
        run = self.stop(run)
        self.assert_sound(run)
        self.assertEqual(self.by_pid(run, before.pid)["exit_code"], 0)
        self.assertEqual(self.by_pid(run, before.pid)["exe"], truth("spin"))
        self.assertEqual(sum(p["ppid"] == later.pid for p in run.processes), 20)
        self.assertEqual(self.by_pid(run, later.pid)["exe"], truth("seqchildren"))
        self.assert_agrees(run, run.summary["cgroup_cpu_seconds"])
        self.assertEqual(run.summary["exits"], run.summary["processes_total"])
        self.assertEqual(run.samples[-1]["processes"], 0)
        return run

    def test_of_a_controller_of_version_1(self):
        run = self.check_all("cpuacct")
        self.assertEqual(run.meta["attached"]["hierarchy"], "cpuacct")

    def test_of_the_unified_hierarchy(self):
        run = self.check_all(UNIFIED)
        self.assertEqual(run.meta["attached"]["hierarchy"], "unified")

    def test_a_path_below_the_mount_is_found(self):
        group = self.group(UNIFIED)
        self.start_in(group, "sleep", "30")
        wait_for(lambda: (group / "cgroup.procs").read_text(), "the sleeper")
        for name in (group.name, f"/{group.name}", f"{group}/"):
            run = self.stop(self.attach_cgroup(name))
            self.assertEqual(run.meta["attached"]["cgroup"], str(group))
            self.assertEqual(run.summary["outlived"], 1)
            self.assertEqual(run.summary["cgroup_cpu_seconds"], 0)  # from then on

    def test_a_process_born_into_it_by_an_outsider(self):
        group = self.group(UNIFIED)
        idle = self.start_in(group, "sleep", "30")
        wait_for(lambda: (group / "cgroup.procs").read_text(), "the sleeper")
        watcher = self.attach_cgroup(group)
        outside = self.start(truth("cloneinto"), str(group), truth("seqchildren"), "3", "30")
        self.assertEqual(outside.wait(), 0)
        idle.kill()
        run = self.stop(watcher)
        self.assert_sound(run)
        self.assertEqual(run.summary["processes_total"], 5)
        self.assertEqual(run.summary["forks"], 3)
        self.assertEqual((run.summary["entered"], run.summary["left"]), (1, 0))
        self.assertNotIn(outside.pid, {p["pid"] for p in run.processes})
        born = self.only(p for p in run.processes if p["ppid"] == outside.pid)
        self.assertNotIn("joined_time", born)
        self.assertEqual(born["exe"], truth("seqchildren"))
        self.assert_agrees(run, run.summary["cgroup_cpu_seconds"])

    def test_a_child_that_is_born_in_another_cgroup_is_not_followed(self):
        group, other = self.group("cpuacct"), self.group("cpuacct")
        script = f"sleep 1; {truth('incgroup')} {other} {truth('spin')} 200; {truth('spin')} 50"
        shell = self.start_in(group, "sh", "-c", script)
        wait_for(lambda: (group / "cgroup.procs").read_text(), "the shell")
        watcher = self.attach_cgroup(group)
        self.assertEqual(shell.wait(), 0)
        run = self.stop(watcher)
        self.assert_sound(run)
        self.assert_agrees(run, run.summary["cgroup_cpu_seconds"])
        self.assertLess(run.summary["cpu_seconds"], 0.2)
        left = self.only(p for p in run.processes if "left_time" in p)
        self.assertIsNone(left["end_time"])

    def test_bpfmon_itself_does_not_count(self):
        group = self.group("cpuacct")
        argv = [truth("incgroup"), str(group), "sh", "-c", 'sleep 30 & exec "$0" "$@"']
        out = self.dir / "run.jsonl"
        options = ["-q", "-o", str(out), "--cgroup", str(group), "--duration", "0.5"]
        watcher = self.start(*argv, BPFMON, "attach", *options)
        self.assertEqual(watcher.wait(), 0)
        for pid in (group / "cgroup.procs").read_text().split():
            os.kill(int(pid), signal.SIGKILL)
        records = [line for line in read_lines(out) if line["kind"] == "process"]
        self.assertEqual([r["comm"] for r in records], ["sleep"])


class Lifetimes(CgroupCase):
    def test_it_ends_when_the_cgroup_is_removed(self):
        group = self.group(UNIFIED)
        spin = self.start_in(group, truth("spin"), "300")
        wait_for(lambda: (group / "cgroup.procs").read_text(), "the first")
        watcher = self.attach_cgroup(group)
        spin.wait()
        wait_for(lambda: "populated 0" in (group / "cgroup.events").read_text(), "its end")
        group.rmdir()
        run = self.finish(watcher)
        group.mkdir()  # for the cleanup
        self.assert_sound(run)
        self.only(self.events(run, "cgroup_removed"))

    def check_recreated(self, kind):
        group = self.group(kind)
        watcher, spent = None, 0
        for round_ in range(3):
            spin = self.start_in(group, truth("spin"), "150")
            if not watcher:
                wait_for(lambda: (group / "cgroup.procs").read_text(), "the first")
                watcher = self.attach_cgroup(group)
                began = used(group)
            spin.wait()
            wait_for(lambda: not (group / "cgroup.procs").read_text(), "its end")
            spent += used(group)
            if round_ < 2:
                while group.exists():
                    try:
                        group.rmdir()
                    except OSError:  # busy: the last is not freed yet
                        time.sleep(0.01)
                group.mkdir()
        run = self.stop(watcher)
        self.assert_sound(run)
        self.assertEqual(run.summary["processes_total"], 3)
        self.assertEqual(len(self.events(run, "cgroup_recreated")), 2)
        self.assertAlmostEqual(run.summary["cpu_seconds"], spent - began, delta=max(0.02 * spent, 0.03))

    def test_it_is_followed_again_when_it_is_made_again(self):
        self.check_recreated("cpuacct")
        self.check_recreated(UNIFIED)

    def test_wait_start_begins_with_the_first_process(self):
        group = self.group("cpuacct")
        watcher = self.wait_for_start(["--cgroup", str(group)], ["-i", "0.05", "--duration", "0.5"])
        time.sleep(0.7)
        self.assertIsNone(watcher.poll())
        began = time.time()
        spin = self.start_in(group, truth("spin"), "2000")
        run = self.finish(watcher)
        self.assertIsNone(spin.poll())
        self.assert_sound(run)
        self.assertGreaterEqual(run.meta["start_time"], began)
        self.assertEqual(run.summary["processes_total"], 1)
        self.assertGreaterEqual(run.summary["wall_seconds"], 0.5)
        self.assertEqual(run.summary["outlived"], 1)

    def test_wait_start_does_not_miss_a_short_one(self):
        group = self.group("cpuacct")
        watcher = self.wait_for_start(["--cgroup", str(group)], ["-i", "0.05", "--duration", "0.3"])
        self.assertEqual(self.start_in(group, "true").wait(), 0)
        run = self.finish(watcher)
        self.assert_sound(run)
        self.assertEqual(run.lines[0]["kind"], "meta")
        self.assertEqual(os.path.basename(self.only(run.processes)["exe"]), "true")

    def test_waiting_can_be_ended(self):
        group = self.group("cpuacct")
        watcher = self.attach_to(["--cgroup", str(group), "--wait-start"])
        time.sleep(0.5)
        run = self.stop(watcher)
        self.assertEqual(run.code, 0)
        self.assert_complete(run)
        self.assertEqual(run.summary["processes_total"], 0)


class Views(CgroupCase):
    def test_a_difference_between_the_two_is_one_event(self):
        """In the hierarchy of CPU time others are in the cgroup of that path."""
        group = self.group("memory")
        twin = pathlib.Path(str(group).replace("/memory/", "/cpuacct/"))
        twin.mkdir()
        self.addCleanup(twin.rmdir)
        self.start_in(group, "sleep", "30")
        wait_for(lambda: (group / "cgroup.procs").read_text(), "the sleeper")
        watcher = self.attach_cgroup(group)
        stranger = self.start_in(twin, truth("spin"), "300")
        stranger.wait()
        wait_for(lambda: not (twin / "cgroup.procs").read_text(), "the stranger's end")
        run = self.stop(watcher)
        self.assertLess(run.summary["cpu_seconds"], 0.05)
        self.assertAlmostEqual(run.summary["cgroup_cpu_seconds"], used(twin), delta=0.001)
        told = self.events(run, "cgroup_differs")
        self.assertTrue(told)
        self.assertLessEqual(len(told), 300 / 30)  # a step of more than what reading explains
        self.assertEqual(told[0]["cgroup"], str(group))
        self.assertGreater(told[0]["cgroup_cpu_seconds"], told[0]["cpu_seconds"])

    def test_the_cgroups_own_files_have_the_same_values(self):
        group = self.group("memory")
        hold = self.start_in(group, truth("touch"), "100", "1000")
        wait_for(lambda: (group / "cgroup.procs").read_text(), "the first")
        watcher = self.attach_cgroup(group)
        hold.wait()
        peak = int((group / "memory.max_usage_in_bytes").read_text())
        run = self.stop(watcher)
        self.assert_sound(run)
        self.assertEqual(run.summary["cgroup_peak_bytes"], peak)
        self.assertGreater(max(s["cgroup_memory_bytes"] for s in run.samples), 100 << 20)


class Refusals(CgroupCase):
    def test_one_clear_sentence(self):
        empty = self.group("cpuacct")
        named = self.group("systemd")
        for options, word in (
            (["--cgroup", "/sys/fs/cgroup/no-such"], "no cgroup '/sys/fs/cgroup/no-such'; cgroup v1 is at"),
            (["--cgroup", "no/such.service"], "no cgroup 'no/such.service'"),
            (["--cgroup", "/etc"], "'/etc' is not a cgroup directory"),
            (["--cgroup", "/etc/passwd"], "'/etc/passwd' is not a cgroup directory"),
            (["--cgroup", ""], "--cgroup"),
            (["--cgroup", str(empty)], "--wait-start"),
            (["--cgroup", str(named)], "without a controller"),
            (["--cgroup", str(empty), "--pid", "1"], "mutually exclusive"),
            (["--pid", "1", "--wait-start"], "--cgroup"),
        ):
            self.check_refused(options, word)
