# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon inside a PID namespace of its own: it knows processes by the PIDs that are valid there."""

import os
import signal
import subprocess

from lib.account import AccountCase
from lib.bpfmon import BPFMON, cgroup, read_lines, truth
from lib.live import stat_of, wait_for

INSIDE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]


class Inside(AccountCase):
    def setUp(self):
        super().setUp()
        self.out = self.dir / "run.jsonl"
        self.environment = {**os.environ, "OUT": str(self.out), "BPFMON": BPFMON}

    def shell(self, script, *args, unshare=INSIDE, **variables):
        """Runs the script, whose $@ are @args, as the first process of a namespace."""
        return subprocess.run([*unshare, "sh", "-c", script, "sh", *args], env={**self.environment, **variables},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=60)

    def records(self, kind="process"):
        return [line for line in read_lines(self.out) if line["kind"] == kind]

    def test_a_run(self):
        said = self.dir / "pids"
        command = f"echo $$ >{said}; {truth('pidns')} 20; {truth('seqchildren')} 2 10"
        done = self.shell('$BPFMON -q -o "$OUT" -- sh -c "$1"', command)
        self.assertEqual(done.returncode, 0, done.stderr)
        (summary,) = self.records("summary")
        self.assertTrue(summary["complete"], summary)
        self.assertEqual(summary["processes_total"], 7)
        self.assertGreater(summary["self"]["rss_bytes"], 0)
        by_pid = {p["pid"]: p for p in self.records()}
        self.assertEqual(len(by_pid), 7)
        shell = by_pid[int(said.read_text())]
        self.assertEqual(shell["ns_pid"], shell["pid"])
        self.assertLess(max(by_pid), 30)  # of the namespace, not the machine's
        self.assertEqual({p["ns_pid"] for p in by_pid.values() if p["ns_pid"] != p["pid"]}, {1, 2})
        for process in by_pid.values():
            self.assertIn(process["ppid"], {*by_pid, shell["ppid"]})

    def test_an_attachment(self):
        script = '''sleep 30 & echo $! >"$1"
            $BPFMON attach -q -o "$OUT" -p $! --duration 0.3; code=$?; kill $!; exit $code'''
        said = self.dir / "pid"
        done = self.shell(script, str(said))
        self.assertEqual(done.returncode, 0, done.stderr)
        process = self.only(self.records())
        self.assertEqual(process["pid"], int(said.read_text()))
        self.assertEqual(os.path.basename(process["exe"]), "sleep")
        self.assertEqual(process["state"], "S")

    def test_a_pid_of_outside_does_not_exist_inside(self):
        sleeper = subprocess.Popen(["sleep", "30"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        done = self.shell('$BPFMON attach -p "$1"', str(sleeper.pid))
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"no process {sleeper.pid}", done.stderr)

    def test_a_process_outside_has_no_pid_inside(self):
        """A cgroup may have both. The kernel shows only those inside to the search for processes: that is reported."""
        script = f'''{truth("incgroup")} "$1" sleep 30 & sleep 0.3
            sleeper=$!; $BPFMON attach -q -o "$OUT" --cgroup "$1" & watcher=$!
            while [ ! -e "$2" ]; do sleep 0.05; done
            kill $watcher; wait $watcher; code=$?; kill $sleeper; exit $code'''
        over = self.dir / "over"
        with cgroup() as group:
            watcher = subprocess.Popen([*INSIDE, "sh", "-c", script, "sh", str(group), str(over)], env=self.environment,
                                       stderr=subprocess.PIPE, text=True)
            wait_for(lambda: self.out.exists() and self.records("meta"), "the first line")
            spin = subprocess.Popen([truth("incgroup"), str(group), truth("spin"), "300"])
            self.assertEqual(spin.wait(), 0)
            over.touch()
            _, said = watcher.communicate(timeout=60)
        self.assertEqual(watcher.returncode, 0, said)
        self.assertRegex(said, r"^bpfmon: .* PID namespace")
        outside, inside = sorted(self.records(), key=lambda p: p["pid"])
        self.assertEqual((outside["pid"], outside["comm"], outside["ns_pid"]), (0, "spin", spin.pid))
        self.assert_cpu(outside["cpu_seconds"], 0.3, above=0.02)
        self.assertEqual((inside["comm"], inside["pid"]), ("sleep", inside["ns_pid"]))

    def test_a_process_outside_that_is_left_has_a_state(self):
        """/proc inside does not show it: the state comes from the kernel."""
        script = f'''{truth("incgroup")} "$1" sleep 60 & sleep 0.3
            sleeper=$!; $BPFMON attach -q -o "$OUT" --cgroup "$1" & watcher=$!
            while [ ! -e "$2" ]; do sleep 0.05; done
            kill $watcher; wait $watcher; code=$?; kill $sleeper; exit $code'''
        over = self.dir / "over"
        with cgroup() as group:
            watcher = subprocess.Popen([*INSIDE, "sh", "-c", script, "sh", str(group), str(over)], env=self.environment,
                                       stderr=subprocess.DEVNULL)
            self.addCleanup(watcher.kill)
            wait_for(lambda: self.out.exists() and self.records("meta"), "the first line")
            outside = subprocess.Popen([truth("incgroup"), str(group), "sleep", "600"])
            self.addCleanup(outside.wait)
            self.addCleanup(outside.kill)
            wait_for(lambda: self.records("sample")[-1]["processes"] == 2, "a sample with the process")
            os.kill(outside.pid, signal.SIGSTOP)
            wait_for(lambda: stat_of(outside.pid)[0] == "T", "the stop")
            over.touch()
            self.assertEqual(watcher.wait(60), 0)
            process = self.only(p for p in self.records() if p["ns_pid"] == outside.pid)
            self.assertEqual((process["pid"], process["comm"], process["state"]), (0, "sleep", "T"))
            outside.kill()
            outside.wait()

    def test_a_proc_of_another_namespace_is_refused(self):
        """It would tell of other processes that have the same numbers."""
        for argv, code in (("-- true", 125), ("attach -p 1", 2)):
            done = self.shell(f"$BPFMON {argv}", unshare=["unshare", "--pid", "--fork"])
            self.assertEqual(done.returncode, code)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("mount -t proc", done.stderr)
