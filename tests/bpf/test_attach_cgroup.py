# SPDX-License-Identifier: BSD-2-Clause
"""Attaching to a cgroup: who is in it counts from then on, however he came, and until he leaves."""

import os
import pathlib
import random
import signal
import threading
import time

from lib.attach import AttachCase
from lib.bpfmon import BPFMON, cgroup, read_lines, truth
from lib.live import wait_for

CPUS = os.cpu_count()
UNIFIED = next(p for p in ("unified", "") if (pathlib.Path("/sys/fs/cgroup") / p / "cgroup.controllers").exists())


def move(group, pid, file="cgroup.procs"):
    (group / file).write_text(f"{pid}\n")


def used(group):
    """CPU time of the cgroup, as its own file says."""
    v1 = group / "cpuacct.usage"
    if v1.exists():
        return int(v1.read_text()) / 1e9
    line = next(l for l in (group / "cpu.stat").read_text().splitlines() if l.startswith("usage_usec"))
    return int(line.split()[1]) / 1e6


class CgroupCase(AttachCase):
    def group(self, kind):
        """A new cgroup; it is removed at the end, when what was started in it has ended."""
        manager = cgroup(kind)
        group = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return group

    def below(self, group, name):
        sub = group / name
        sub.mkdir()
        self.addCleanup(sub.rmdir)
        return sub

    def start_in(self, group, *argv):
        return self.start(truth("incgroup"), str(group), *argv)

    def keeper(self, group):
        """Somebody who is in the cgroup, does nothing, and stays."""
        process = self.start_in(group, "sleep", "60")
        wait_for(lambda: (group / "cgroup.procs").read_text(), "the keeper")
        return process

    def end(self, process):
        process.kill()
        process.wait()

    def attach_cgroup(self, group, *options):
        process = self.attach_to(["--cgroup", str(group)], ["-i", "0.1", *options])
        self.wait_until_attached(process)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        return self.finish(process)

    def events(self, run, name):
        return [e for e in run.kind("event") if e["event"] == name]

    def assert_agrees(self, run, expected, name="cpu_seconds"):
        """Within 1 % or 10 ms, and what the CPUs can do while it was looked who is there."""
        slack = max(0.01 * expected, 0.010) + CPUS * run.meta["attached"]["seeding_seconds"]
        self.assertAlmostEqual(run.summary[name], expected, delta=slack)

    def assert_sound(self, run):
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        self.assertEqual(self.events(run, "cgroup_differs"), [])
        self.assertEqual(len(run.processes), run.summary["processes_total"])
        total = sum(p["cpu_seconds"] for p in run.processes)
        self.assertAlmostEqual(total, run.summary["cpu_seconds"], delta=1e-6)


class Members(CgroupCase):
    def check_all(self, kind):
        """Who is there, who is born there, in it and below it."""
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

    def test_who_is_born_into_it_by_somebody_outside(self):
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

    def test_a_child_that_is_put_elsewhere_is_not_followed(self):
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


class Moves(CgroupCase):
    def test_500_processes_that_come_and_go(self):
        """Started outside, moved in and out at any time, also twice: what the cgroup says is what we count."""
        group = self.group("cpuacct")
        keeper = self.keeper(group)
        watcher = self.attach_cgroup(group)
        began = used(group)
        outside = group.parent
        spins = []

        def play(seed):
            dice = random.Random(seed)
            for _ in range(125):
                spin = self.start(truth("spin"), "15")
                spins.append(spin)
                for where in (group, outside, group, outside)[: dice.randrange(1, 5)]:
                    try:
                        move(where, spin.pid)
                    except ProcessLookupError:
                        break
                    time.sleep(dice.random() * 0.006)
                spin.wait()

        players = [threading.Thread(target=play, args=(n,)) for n in range(4)]
        for player in players:
            player.start()
        for player in players:
            player.join()
        self.end(keeper)
        total = used(group) - began
        run = self.stop(watcher)
        self.assert_sound(run)
        self.assert_agrees(run, total)
        self.assertEqual(run.samples[-1]["processes"], 0)
        stays = {(p["pid"], p["start_time"], p.get("joined_time")) for p in run.processes}
        self.assertEqual(len(stays), len(run.processes))
        ours = {spin.pid for spin in spins} | {keeper.pid}
        self.assertLessEqual({p["pid"] for p in run.processes}, ours)
        left = [p for p in run.processes if "left_time" in p]
        self.assertEqual(run.summary["exits"] + len(left), run.summary["processes_total"])
        self.assertEqual(run.summary["left"], len(left))
        self.assertEqual(run.summary["entered"], len(run.processes) - 1)

    def test_a_process_of_many_threads(self):
        """More than the hook looks at: those are found at the next sample."""
        group = self.group("cpuacct")
        keeper = self.keeper(group)
        many = self.start(truth("livethreads"), "600", "4")
        wait_for(lambda: len(os.listdir(f"/proc/{many.pid}/task")) == 601, "its threads")
        watcher = self.attach_cgroup(group)
        move(group, many.pid)
        time.sleep(0.5)
        move(group.parent, many.pid)
        time.sleep(0.5)
        move(group, many.pid)
        self.assertEqual(many.wait(), 0)
        self.end(keeper)
        run = self.stop(watcher)
        self.assert_sound(run)
        threads = [s["threads"] for s in run.samples]
        self.assertEqual(max(threads), 602)
        at = threads.index(602)
        self.assertIn(1, threads[at:])
        self.assertEqual(threads[-1], 0)
        stays = [p for p in run.processes if p["pid"] == many.pid]
        self.assertEqual([p["threads_total"] for p in stays], [601, 601])
        self.assertEqual([p["exit_code"] for p in sorted(stays, key=lambda p: p["joined_time"])], [None, 0])

    def test_single_threads_in_version_1(self):
        group = self.group("cpuacct")
        keeper = self.keeper(group)
        threads = self.start(truth("livethreads"), "5", "2")
        wait_for(lambda: len(os.listdir(f"/proc/{threads.pid}/task")) == 6, "its threads")
        watcher = self.attach_cgroup(group)
        tids = sorted(set(map(int, os.listdir(f"/proc/{threads.pid}/task"))) - {threads.pid})
        for tid in tids[:3]:
            move(group, tid, "tasks")
        time.sleep(0.3)
        move(group.parent, tids[0], "tasks")
        time.sleep(0.3)
        threads.wait()
        self.end(keeper)
        run = self.stop(watcher)
        self.assert_sound(run)
        counts = [s["threads"] for s in run.samples]
        self.assertEqual(max(counts), 4)
        self.assertIn(3, counts[counts.index(4):])
        self.assertEqual(counts[-1], 0)
        self.assertEqual(self.by_pid(run, threads.pid)["threads_total"], 3)

    def test_what_was_used_before_and_after_does_not_count(self):
        group = self.group("cpuacct")
        keeper = self.keeper(group)
        watcher = self.attach_cgroup(group)
        spin = self.start(truth("spin"), "1200")
        time.sleep(0.4)
        joined = time.time()
        move(group, spin.pid)
        time.sleep(0.4)
        move(group.parent, spin.pid)
        left = time.time()
        self.assertEqual(spin.wait(), 0)
        self.end(keeper)
        total = used(group)
        run = self.stop(watcher)
        self.assert_sound(run)
        self.assert_agrees(run, total)
        stay = self.by_pid(run, spin.pid)
        self.assertEqual(stay["exe"], truth("spin"))
        self.assertTrue(joined - 0.01 <= stay["joined_time"] <= stay["left_time"] <= left + 0.01)
        self.assertFalse(stay["rss_peak_exact"])


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
        watcher = self.attach_to(["--cgroup", str(group), "--wait-start"], ["-i", "0.05", "--duration", "0.5"])
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
        watcher = self.attach_to(["--cgroup", str(group), "--wait-start"], ["-i", "0.05", "--duration", "0.3"])
        time.sleep(0.6)
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
    def test_a_difference_between_the_two_is_told_once(self):
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

    def test_what_its_files_say(self):
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
            (["--cgroup", "/sys/fs/cgroup/no-such"], "there is no cgroup '/sys/fs/cgroup/no-such'; version 1 is at"),
            (["--cgroup", "no/such.service"], "there is no cgroup 'no/such.service'"),
            (["--cgroup", "/etc"], "'/etc' is no folder of a cgroup"),
            (["--cgroup", "/etc/passwd"], "'/etc/passwd' is no folder of a cgroup"),
            (["--cgroup", ""], "--cgroup"),
            (["--cgroup", str(empty)], "--wait-start"),
            (["--cgroup", str(named)], "without a controller"),
            (["--cgroup", str(empty), "--pid", "1"], "exclude each other"),
            (["--pid", "1", "--wait-start"], "--cgroup"),
        ):
            self.check_refused(options, word)
