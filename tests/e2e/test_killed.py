# SPDX-License-Identifier: BSD-2-Clause
"""SIGKILL for any process of bpfmon, at any moment: the command's fate is its own."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

from lib import sweep
from lib.bpfmon import cgroup, truth
from lib.cgroups import move
from lib.live import LiveCase, bpf_objects, children_of, is_alive, loaded_objects, send, stat_of, wait_for

SAMPLED = True
ROUNDS = sweep.often(5, 20)


class Run(LiveCase):
    def setUp(self):
        super().setUp()
        self.random = sweep.chance()

    def start(self, options=(), **popen):
        """A run in its midst: bpfmon, its roles, the command's files, its BPF objects."""
        command, stop, beat = self.work_until_told()
        live = self.live(command, ["-i", "0.01", *options], **popen)
        roles = live.roles()
        wait_for(beat.exists, "the command's work")
        objects = bpf_objects(roles[0])
        self.assertTrue(objects)
        time.sleep(self.random.uniform(0, 0.1))
        return live, roles, stop, beat, objects

    def end(self, live, stop, beat):
        """The command goes on, is told to end, and its status arrives."""
        self.assert_goes_on(beat)
        stop.touch()
        run = live.finish()
        self.assertEqual(run.code, 43, run.stderr)
        return run

    def assert_gone(self, objects):
        wait_for(lambda: not objects & loaded_objects(), "the end of this run's BPF objects", 20)


class Killed(Run):
    def test_a_collector_killed_at_any_moment_leaves_a_closed_file(self):
        for _ in range(ROUNDS):
            live, (collector, _, _), stop, beat, objects = self.start()
            live.wait_for_samples()
            send(collector, signal.SIGKILL)
            run = self.end(live, stop, beat)
            lines = self.assert_whole_lines(live.out)
            self.assertEqual(lines[0]["kind"], "meta")
            self.assertEqual(lines[-1]["kind"], "summary")
            self.assertFalse(run.summary["complete"])
            self.assertIn("collector", run.summary["reason"])
            self.assertEqual(run.summary["samples"], len(run.samples))
            self.assertIn("INCOMPLETE", run.stderr)
            self.assertIn("warning: the collector was killed by signal 9", run.stderr)
            self.assert_gone(objects)
        self.assert_no_orphans()

    def test_a_recorder_killed_at_any_moment_leaves_the_summary_to_the_collector(self):
        for _ in range(ROUNDS):
            live, (_, recorder, _), stop, beat, objects = self.start()
            live.wait_for_samples()
            send(recorder, signal.SIGKILL)
            # until it is dead, which takes a while on a busy machine, the summary may be sent to it
            wait_for(lambda: not is_alive(recorder), "the end of the recorder")
            run = self.end(live, stop, beat)
            lines = self.assert_whole_lines(live.out)
            self.assertEqual(lines[0]["kind"], "meta")
            self.assertEqual(run.kind("summary"), [])
            self.assertIn("INCOMPLETE: the recorder was killed", run.stderr)
            self.assertIn("the command ended with 43", run.stderr)
            self.assertIn("warning: the recorder was killed by signal 9", run.stderr)
            self.assert_gone(objects)
        self.assert_no_orphans()

    def test_both_killed_at_any_moment_leave_the_command_alone(self):
        for _ in range(ROUNDS):
            live, (collector, recorder, _), stop, beat, objects = self.start()
            live.wait_for_samples()
            for pid in self.random.sample((collector, recorder), 2):
                send(pid, signal.SIGKILL)
            run = self.end(live, stop, beat)
            self.assert_whole_lines(live.out)
            # whoever is killed second may just have closed the run and ended
            self.assertIn("was killed by signal 9", run.stderr)
            for summary in run.kind("summary"):
                self.assertFalse(summary["complete"])
            self.assert_gone(objects)
        self.assert_no_orphans()

    def test_the_command_can_be_stopped_by_signals_when_both_are_gone(self):
        live, (collector, recorder, command), _, beat, _ = self.start()
        for pid in (collector, recorder):
            send(pid, signal.SIGKILL)
        wait_for(lambda: not is_alive(collector) and not is_alive(recorder), "their end")
        self.assert_goes_on(beat)
        live.process.send_signal(signal.SIGTERM)
        self.assertEqual(live.finish().code, -signal.SIGTERM)
        self.assertFalse(is_alive(command))

    def test_a_killed_launcher_leaves_a_closed_file_and_a_running_command(self):
        for _ in range(5):
            live, (collector, recorder, command), stop, beat, objects = self.start()
            live.wait_for_samples()
            live.process.kill()
            wait_for(lambda: not is_alive(collector) and not is_alive(recorder), "the end of both")
            self.assert_goes_on(beat)
            self.assertTrue(is_alive(command))
            stop.touch()
            run = live.finish()
            self.assert_whole_lines(live.out)
            self.assertFalse(run.summary["complete"])
            self.assertIn("launcher", run.summary["reason"])
            self.assertIsNone(run.summary["exit_code"])
            self.assertGreaterEqual(run.summary["outlived"], 1)
            self.assertIn("INCOMPLETE", run.stderr)
            self.assert_gone(objects)
        self.assert_no_orphans()

    def test_all_three_killed_leave_a_running_command_and_nothing_else(self):
        live, (collector, recorder, command), stop, beat, objects = self.start()
        for pid in (live.pid, collector, recorder):
            send(pid, signal.SIGKILL)
        self.assert_goes_on(beat)
        self.assertTrue(is_alive(command))
        stop.touch()
        live.finish()
        self.assert_whole_lines(live.out)
        self.assert_gone(objects)

    def test_a_role_killed_during_the_start_means_all_or_nothing(self):
        """Either nothing was run (125) or the command ran to its end (43)."""
        for i in range(ROUNDS):
            ran = self.dir / f"ran-{i}"
            live = self.live(["sh", "-c", f"touch {ran}; exit 43"], ["-i", "0.01"])
            time.sleep(self.random.uniform(0, 0.12))
            roles = [pid for pid in children_of(live.pid) if (stat := stat_of(pid)) and stat[3] == pid]
            if roles:
                send(self.random.choice(roles), signal.SIGKILL)
            run = live.finish()
            self.assertIn(run.code, (43, 125), run.stderr)
            self.assertEqual(run.code == 43, ran.exists(), run.stderr)
            if live.out.exists():
                self.assert_whole_lines(live.out)
            if run.code == 125:
                self.assertIn("the command was not run", run.stderr)
        self.assert_no_orphans()

    def test_a_role_killed_around_the_end_changes_no_status(self):
        for _ in range(ROUNDS):
            live, (collector, recorder, _), stop, _, objects = self.start()
            stop.touch()
            time.sleep(self.random.uniform(0, 0.03))
            send(self.random.choice((collector, recorder)), signal.SIGKILL)
            run = live.finish()
            self.assertEqual(run.code, 43, run.stderr)
            self.assert_whole_lines(live.out)
            self.assert_gone(objects)
        self.assert_no_orphans()

    def test_a_recorder_killed_while_the_run_is_closed_is_reported(self):
        """More lines wait than a socket holds; who should write them is killed."""
        go = self.dir / "go"
        script = 'while [ ! -e "$0" ]; do sleep 0.01; done; "$1" 3000; exit 43'
        live = self.live(["sh", "-c", script, str(go), truth("forkonly")], ["-i", "0.1"])
        _, recorder, command = live.roles()
        live.wait_for_samples()
        os.kill(recorder, signal.SIGSTOP)
        go.touch()
        wait_for(lambda: stat_of(command) is None, "the command's end")
        time.sleep(0.3)  # so that the collector is at its last lines; right at any moment
        send(recorder, signal.SIGKILL)
        run = live.finish()
        self.assertEqual(run.code, 43)
        self.assertEqual(run.kind("summary"), [])
        self.assertIn("INCOMPLETE", run.stderr)
        self.assertNotIn("nothing was lost", run.stderr)
        self.assertIn("warning: the recorder was killed by signal 9", run.stderr)

    def test_a_role_that_was_stopped_and_then_killed_is_reported_as_killed(self):
        for which in (0, 1):
            live, roles, stop, beat, _ = self.start()
            live.wait_for_samples()
            os.kill(roles[which], signal.SIGSTOP)
            wait_for(lambda: stat_of(roles[which])[0] == "T", "the role to be stopped")
            self.assert_goes_on(beat)
            send(roles[which], signal.SIGKILL)
            run = self.end(live, stop, beat)
            self.assertIn("was killed by signal 9", run.stderr)

    def test_a_normal_run_leaves_nothing_in_the_kernel(self):
        live, (collector, recorder, _), stop, beat, objects = self.start()
        run = self.end(live, stop, beat)
        self.assert_complete(run)
        self.assertFalse(is_alive(collector) or is_alive(recorder))
        self.assert_gone(objects)


# A file in memory that grows, from when it is told to until the process is gone.
FILL = """
import os, sys
path, victim = sys.argv[1], sys.argv[2]
def is_alive():
    try:
        return open(f"/proc/{victim}/stat").read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
print("ready", flush=True)
sys.stdin.readline()
with open(path, "wb", buffering=0) as file:
    while is_alive():
        file.write(bytes(64 << 10))
"""


class OutOfMemory(Run):
    """In a cgroup that is out of memory the kernel's OOM killer may take bpfmon: the run says so, by what the kernel counts."""

    def setUp(self):
        super().setUp()
        group = cgroup("memory")
        self.group = group.__enter__()
        self.addCleanup(group.__exit__, None, None, None)

    def start(self, options=()):
        return super().start(options, preexec_fn=lambda: move(self.group, os.getpid()))

    def counted(self):
        text = (self.group / "memory.oom_control").read_text()
        return int(dict(line.split() for line in text.splitlines())["oom_kill"])

    def run_out_of_memory(self, victim, before=0):
        """Until the kernel has killed the only one that it may, and perhaps the program that fills the memory, too.
        Returns a pattern of what bpfmon says: it counts when it learns of the end of the first."""
        for pid in (self.group / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):  # a process of the command that has ended
                pathlib.Path(f"/proc/{pid}/oom_score_adj").write_text("1000" if pid == str(victim) else "-1000")
        file = f"/dev/shm/bpfmon-test-{os.getpid()}"
        self.addCleanup(subprocess.run, ["rm", "-f", file], check=True)
        limit, usage = (self.group / f"memory.{name}_in_bytes" for name in ("limit", "usage"))
        fill = [truth("incgroup"), str(self.group), sys.executable, "-c", FILL, file, str(victim)]
        with subprocess.Popen(fill, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            limit.write_text(str(int(usage.read_text()) + (2 << 20)))
            process.communicate("go\n")
        limit.write_text("-1")
        self.assertIn(process.returncode, (0, -signal.SIGKILL))
        self.assertFalse(is_alive(victim))
        killed = self.counted() - before
        self.assertEqual(killed, 2 if process.returncode else 1)
        return rf"\(out of memory: the kernel killed [1-{killed}] process"

    def test_of_a_role_and_its_run(self):
        for which, name in ((0, "collector"), (1, "recorder")):
            with self.subTest(name):
                live, roles, stop, beat, _ = self.start()
                live.wait_for_samples()
                before = self.counted()
                said = self.run_out_of_memory(roles[which], before)
                run = self.end(live, stop, beat)
                self.assertRegex(run.stderr, f"warning: the {name} was killed by signal 9 {said}")
                self.assertRegex(run.stderr, f"INCOMPLETE: the {name} was killed {said}")

    def test_of_the_launcher(self):
        live, (collector, recorder, _), stop, _, _ = self.start()
        live.wait_for_samples()
        said = self.run_out_of_memory(live.pid)
        wait_for(lambda: not is_alive(collector) and not is_alive(recorder), "the end of both")
        stop.touch()
        self.assertRegex(live.finish().summary["reason"], f"the launcher was killed {said}")

    def test_one_that_others_have_killed_is_none_of_the_kernel_s(self):
        live, (collector, _, _), stop, beat, _ = self.start()
        live.wait_for_samples()
        send(collector, signal.SIGKILL)
        run = self.end(live, stop, beat)
        self.assertIn("was killed by signal 9 (not OOM-killed)", run.stderr)
        self.assertEqual(self.counted(), 0)
