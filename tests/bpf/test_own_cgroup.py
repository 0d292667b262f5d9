# SPDX-License-Identifier: BSD-2-Clause
"""The command's own cgroup: it alone is in it, it is gone afterwards, its numbers are the kernel's."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

from lib.account import AccountCase
from lib.bpfmon import BPFMON, read_lines, truth
from lib.live import LiveCase, descendants_of, is_alive, status_of, wait_for

MIB = 1 << 20
MOUNT = pathlib.Path("/sys/fs/cgroup/memory")
OWN = ["--own-cgroup"]


def memory_path(text):
    """The cgroup of the memory controller in the text of a /proc/PID/cgroup."""
    return re.search(r"^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$", text, re.M)[1]


def folder_of(pid):
    return MOUNT / memory_path(pathlib.Path(f"/proc/{pid}/cgroup").read_text()).lstrip("/")


class OwnCgroup(LiveCase, AccountCase):
    def setUp(self):
        super().setUp()
        if not (MOUNT / "memory.usage_in_bytes").exists():
            self.skipTest("no memory controller of version 1 is mounted at /sys/fs/cgroup/memory")
        self.parent = folder_of("self")

    def left(self):
        """The cgroups of any bpfmon below ours; those of other runs come and go."""
        return {path.name for path in self.parent.glob("bpfmon-*")}

    def assert_removed(self, name):
        self.assertRegex(name, r"^bpfmon-\d+(-\d)?$")
        self.assertNotIn(name, self.left())

    def run_and_name(self, script, options=(), **kwargs):
        """Runs the script, after it has told its cgroup, which has to be gone at the end."""
        said = self.dir / "cgroup"
        said.touch()
        said.chmod(0o666)
        self.dir.chmod(0o755)
        command = ["sh", "-c", f'cat /proc/self/cgroup >"$0"; {script}', str(said)]
        run = self.run_bpfmon(command, [*OWN, *options], **kwargs)
        inside = MOUNT / memory_path(said.read_text()).lstrip("/")
        self.assertEqual(inside.parent, self.parent)
        self.assert_removed(inside.name)
        return run

    def test_the_command_is_in_a_cgroup_of_its_own_that_is_removed(self):
        run = self.run_and_name("exit 7")
        self.assertEqual((run.code, run.stdout), (7, b""))
        self.assertNotIn("warning", run.stderr)
        self.assert_complete(run)

    def cgroups_of_cat(self, options=()):
        command = [BPFMON, "-q", *options, "--", "cat", "/proc/self/cgroup"]
        return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout

    def test_only_the_cgroup_of_the_memory_hierarchy_differs(self):
        its = self.cgroups_of_cat(OWN).decode().splitlines()
        mine = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
        differ = [b for a, b in zip(mine, its, strict=True) if a != b]
        self.assertEqual(len(differ), 1, differ)
        self.assertRegex(differ[0], r"memory.*:.*/bpfmon-\d+")

    def test_without_the_option_there_is_none(self):
        self.assertEqual(self.cgroups_of_cat(), pathlib.Path("/proc/self/cgroup").read_bytes())

    def test_a_command_that_is_killed(self):
        run = self.run_and_name("kill -KILL $$")
        self.assertEqual(run.code, -signal.SIGKILL)
        self.assertEqual(run.summary["signal"], signal.SIGKILL)

    def test_a_command_of_another_user(self):
        run = self.run_and_name("exit 3", ["--user=nobody"])
        self.assertEqual(run.code, 3)

    def test_a_command_that_cannot_be_executed(self):
        for command, code in ((["/nonexistent"], 127), (["/etc"], 126)):
            process = subprocess.Popen([BPFMON, *OWN, "--", *command], stderr=subprocess.PIPE)
            stderr = process.communicate(timeout=60)[1]
            self.assertEqual((process.returncode, stderr.count(b"\n")), (code, 1), stderr)
            self.assertNotIn(f"bpfmon-{process.pid}", self.left())

    def test_a_run_that_is_refused_leaves_none(self):
        kept = self.dir / "kept"
        kept.write_text("old")
        process = subprocess.Popen([BPFMON, *OWN, "-o", kept, "--", "true"], stderr=subprocess.PIPE)
        stderr = process.communicate(timeout=60)[1]
        self.assertEqual((process.returncode, stderr.count(b"\n")), (125, 1), stderr)
        self.assertNotIn(f"bpfmon-{process.pid}", self.left())

    def test_children_that_were_killed_at_the_end_are_no_obstacle(self):
        kill = "for i in 1 2 3 4 5 6 7 8; do sleep 100 & all=\"$all $!\"; done; kill -KILL $all"
        run = self.run_and_name(kill)
        self.assertEqual(run.code, 0)
        self.assertNotIn("warning", run.stderr)

    def test_none_of_bpfmons_own_processes_is_in_it(self):
        live = self.live(["sleep", "30"], OWN)
        collector, recorder, command = live.roles()
        inside = folder_of(command)
        self.assertEqual(inside.name, f"bpfmon-{live.pid}")
        self.assertEqual((inside / "cgroup.procs").read_text().split(), [str(command)])
        for pid in (live.pid, collector, recorder):
            self.assertEqual(folder_of(pid), self.parent)
        os.kill(command, signal.SIGTERM)
        self.assertEqual(live.finish().code, -signal.SIGTERM)
        self.assert_removed(inside.name)

    def test_a_cgroup_with_a_daemon_that_is_left_is_reported(self):
        pidfile = self.dir / "pid"
        script = f"setsid sleep 60 >/dev/null 2>&1 </dev/null & echo $! >{pidfile}; exit 5"
        run = self.run_bpfmon(["sh", "-c", script], OWN)
        daemon = int(pidfile.read_text())
        inside = folder_of(daemon)
        try:
            (warning,) = [line for line in run.stderr.splitlines() if "warning" in line]
            self.assertIn(f"'{inside}'", warning)
            self.assertIn("still contains processes", warning)
            self.assertEqual(run.code, 5)
        finally:
            os.kill(daemon, signal.SIGKILL)
            wait_for(lambda: not (inside / "cgroup.procs").read_text(), "the daemon's end")
            inside.rmdir()

    def test_waiting_for_the_tree_leaves_nothing(self):
        run = self.run_and_name("setsid sleep 0.3 >/dev/null 2>&1 </dev/null & exit 5", ["--wait=tree"])
        self.assertEqual(run.code, 5)
        self.assertNotIn("warning", run.stderr)

    def kill_launcher(self, script):
        live = self.live(["sh", "-c", script], OWN)
        collector, recorder, command = live.roles()
        inside = folder_of(command)
        return live, collector, recorder, command, inside

    def keeper(self, live, *roles):
        """The process that removes the cgroup: the one besides, when what was made to start the run has ended."""

        def others():
            return [pid for pid in descendants_of(live.pid) if pid not in roles and is_alive(pid)]

        (keeper,) = wait_for(lambda: len(found := others()) == 1 and found, "the process that removes the cgroup")
        return keeper

    def test_when_the_launcher_is_killed_the_collector_removes_it(self):
        live, collector, _, command, inside = self.kill_launcher("sleep 60")
        os.kill(collector, signal.SIGSTOP)  # it sees the launcher's end when the command is gone
        os.kill(live.pid, signal.SIGKILL)
        os.kill(command, signal.SIGKILL)
        for pid in map(int, (inside / "cgroup.procs").read_text().split()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not is_alive(command), "the command's end")
        os.kill(collector, signal.SIGCONT)
        wait_for(lambda: not inside.exists(), "the end of the cgroup")

    def test_a_killed_launcher_while_the_command_goes_on_is_reported(self):
        live, collector, recorder, command, inside = self.kill_launcher("exec sleep 60")
        keeper = self.keeper(live, collector, recorder, command)
        os.kill(live.pid, signal.SIGKILL)
        wait_for(lambda: not is_alive(keeper), "the end of the process that removes it")
        try:
            self.assertTrue(is_alive(command))
            self.assertEqual(folder_of(command), inside)
        finally:
            os.kill(command, signal.SIGKILL)
            wait_for(lambda: not is_alive(command), "the command's end")
            wait_for(lambda: not (inside / "cgroup.procs").read_text(), "the command's end")
            inside.rmdir()
        self.assertIn(f"'{inside}' still contains processes", live.finish().stderr)

    def test_limits_of_the_callers_cgroup_hold_on(self):
        outer = self.parent / f"bpfmon-test-{os.getpid()}-{time.monotonic_ns()}"
        outer.mkdir()
        self.addCleanup(outer.rmdir)
        (outer / "memory.limit_in_bytes").write_text(str(96 * MIB))
        enter = f"echo 0 >{outer}/cgroup.procs; exec \"$@\""
        out = self.dir / "limited.jsonl"
        command = [BPFMON, *OWN, "-o", str(out), "--", truth("touch"), "200", "10"]
        done = subprocess.run(["sh", "-c", enter, "sh", *command], stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertEqual(list(outer.glob("bpfmon-*")), [])
        text = done.stderr.decode()
        self.assertRegex(text, r"OOM-killed  .*; limit 96.0 MiB of cgroup")
        (summary,) = [line for line in read_lines(out) if line["kind"] == "summary"]
        self.assertEqual(summary["cgroup_oom_kills"], 1)
        self.assertLessEqual(summary["cgroup_peak_bytes"], 96 * MIB)

    def test_below_the_root_where_no_folder_is_writable(self):
        enter = f'echo 0 >{MOUNT}/cgroup.procs; exec "$@"'
        command = [BPFMON, "-q", *OWN, "--", "cat", "/proc/self/cgroup"]
        done = subprocess.run(["sh", "-c", enter, "sh", *command], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        name = memory_path(done.stdout.decode())
        self.assertRegex(name, r"^/bpfmon-\d+(-\d)?$")
        self.assertFalse((MOUNT / name.lstrip("/")).exists())

    def test_only_the_process_that_removes_it_has_the_right_to(self):
        live = self.live(["sleep", "30"], OWN)
        collector, recorder, command = live.roles()
        keeper = self.keeper(live, collector, recorder, command)
        self.assertEqual(int(status_of(live.pid)["CapPrm"], 16), 1 << 5)
        self.assertEqual(int(status_of(collector)["CapPrm"], 16), 1 << 19)  # SYS_PTRACE, to read PSS
        self.assertEqual(int(status_of(keeper)["CapPrm"], 16), 1 << 1)
        os.kill(command, signal.SIGTERM)
        live.finish()

    def test_without_a_place_for_a_cgroup_nothing_is_run(self):
        marker = self.dir / "ran"
        hide = 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"'
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", hide, "sh", BPFMON, *OWN, "--", "touch", str(marker)],
            stderr=subprocess.PIPE,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (125, 1), done.stderr)
        self.assertRegex(done.stderr.decode(), r"^bpfmon: --own-cgroup: ")
        self.assertFalse(marker.exists())
