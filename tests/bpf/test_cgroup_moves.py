# SPDX-License-Identifier: BSD-2-Clause
"""Attached to a cgroup: a process that is moved in counts from then on, one that is moved out until then."""

import contextlib
import os
import random
import threading
import time

from lib.bpfmon import read_lines, truth
from lib.cgroups import UNIFIED, CgroupCase, move, used
from lib.live import wait_for

SAMPLED = True


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

    def check_storm(self, kind, pause):
        """Busy processes that are moved in and out all the time: the total is no further off than is said."""
        group = self.group(kind)
        keeper = self.keeper(group)
        watcher = self.attach_cgroup(group)
        began = used(group)
        spins = [self.start(truth("spin"), "60000") for _ in range(4)]
        dice = random.Random(1)
        moves = 0
        # on a busy machine they may get hardly a tick of CPU time in 250 stays, all of it uncertain
        while moves < 250 or used(group) - began < 0.1:
            moves += 1
            spin = dice.choice(spins)
            for where in (group, group.parent):
                move(where, spin.pid)
                time.sleep(dice.random() * pause)
        for spin in spins:
            self.end(spin)
        self.end(keeper)
        total = used(group) - began
        run = self.stop(watcher)
        self.assert_sound(run)
        self.assertGreater(run.summary["entered"], 100)
        uncertain = run.summary["cpu_uncertain_seconds"]
        self.assertLessEqual(abs(run.summary["cpu_seconds"] - total), uncertain)
        self.assertGreater(uncertain, 0)
        self.assertLess(uncertain, total)  # a claim that says nothing is none
        self.assertIn(" more or less: tasks were moved while they ran", run.stderr)

    def test_a_storm_without_a_pause(self):
        self.check_storm("cpuacct", 0)
        self.check_storm(UNIFIED, 0)

    def test_a_storm_of_short_stays(self):
        self.check_storm("cpuacct", 0.004)
        self.check_storm(UNIFIED, 0.004)

    def test_nothing_is_uncertain_without_moves(self):
        group = self.group("cpuacct")
        spin = self.start_in(group, truth("spin"), "1500")
        wait_for(lambda: (group / "cgroup.procs").read_text(), "the first")
        watcher = self.attach_cgroup(group)
        self.assertEqual(spin.wait(), 0)
        run = self.stop(watcher)
        self.assertEqual(run.summary["cpu_uncertain_seconds"], 0)
        self.assertNotIn("more or less", run.stderr)

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


class WithoutHooks(CgroupCase):
    """A kernel that refuses these programs: what they tell is found at the next sample."""

    def check_found_later(self, how):
        group = self.group("cpuacct")
        keeper = self.keeper(group)
        watcher = self.attach_cgroup(group, "--inject-no-program", f"cgroup__attach_task{how}", "-v")
        spin = self.start(truth("spin"), "1200")
        time.sleep(0.3)
        move(group, spin.pid)
        time.sleep(0.4)
        move(group.parent, spin.pid)
        self.assertEqual(spin.wait(), 0)
        self.end(keeper)
        total = used(group)
        run = self.stop(watcher)
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        self.assertIn("moves into and out of a cgroup: not available", run.stderr)
        self.assertEqual((run.summary["entered"], run.summary["left"]), (1, 1))
        self.assertLessEqual(abs(run.summary["cpu_seconds"] - total), run.summary["cpu_uncertain_seconds"])
        stay = self.by_pid(run, spin.pid)
        self.assertGreater(stay["cpu_seconds"], 0)
        self.assertLess(stay["cpu_seconds"], 1.1)
        self.assertEqual(run.samples[-1]["processes"], 0)

    def test_moves(self):
        self.check_found_later("")
        self.check_found_later(":attach")

    def test_a_cgroup_that_is_removed_and_made_again(self):
        group = self.group("cpuacct")
        keeper = self.keeper(group)
        options = [word for name in ("mkdir", "rmdir") for word in ("--inject-no-program", f"cgroup__{name}")]
        watcher = self.attach_cgroup(group, *options)
        self.end(keeper)
        wait_for(lambda: self.is_removed(group), "the end of the cgroup")
        wait_for(lambda: self.told(watcher, "cgroup_removed"), "the word of it")
        group.mkdir()
        keeper = self.keeper(group)
        wait_for(lambda: self.told(watcher, "cgroup_recreated"), "the word of it")
        self.end(keeper)
        run = self.stop(watcher)
        self.assert_sound(run)
        self.assertEqual(run.summary["processes_total"], 2)

    def is_removed(self, group):
        with contextlib.suppress(OSError):  # busy: the last is not freed yet
            group.rmdir()
        return not group.exists()

    def told(self, watcher, event):
        return [line for line in read_lines(watcher.out) if line.get("event") == event]
