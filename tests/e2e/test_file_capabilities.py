# SPDX-License-Identifier: BSD-2-Clause
"""With cap_bpf and cap_perfmon on its file an ordinary user has its own processes accounted for, and no other right."""

import shutil
import subprocess

from lib.bpfmon import BPFMON, Case, read_lines
from lib.live import children_of, executable_of, status_of, wait_for
from test_rights import rows_of_the_table

NOBODY = 65534
NOBODYS = {"user": NOBODY, "group": NOBODY, "extra_groups": []}


class FileCapabilities(Case):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o777)
        self.program = self.dir / "bpfmon"
        shutil.copyfile(BPFMON, self.program)
        self.program.chmod(0o755)
        subprocess.run(["setcap", "cap_bpf,cap_perfmon+ep", self.program], check=True)

    def start(self, *words, **popen):
        process = subprocess.Popen(list(map(str, words)), cwd="/", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, **popen)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def bpfmon(self, *words):
        return subprocess.run(
            [self.program, *map(str, words)], cwd="/", **NOBODYS, capture_output=True, text=True, timeout=60, check=False
        )

    def assert_refused(self, done, word):
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done)
        self.assertIn(word, done.stderr)

    def test_the_command_has_no_capability_and_is_accounted_for(self):
        out = self.dir / "run.jsonl"
        done = self.bpfmon("-q", "-o", out, "--", "sh", "-c", "cat /proc/self/status; exit 7")
        self.assertEqual((done.returncode, done.stderr), (7, ""))
        its = dict(line.split(":\t", 1) for line in done.stdout.splitlines() if ":\t" in line)
        for which in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertEqual(int(its[which], 16), 0, which)
        self.assertEqual((its["NoNewPrivs"], its["Seccomp"]), ("0", "0"))
        (summary,) = [line for line in read_lines(out) if line["kind"] == "summary"]
        self.assertTrue(summary["complete"])
        self.assertEqual(len([line for line in read_lines(out) if line["kind"] == "process"]), 2)

    def roles_of(self, launcher):
        """Until its exec the command is one of them."""
        return [pid for pid in children_of(launcher) if executable_of(pid) == str(self.program)]

    def test_its_own_processes_have_none_while_the_command_runs(self):
        user, capabilities, seccomp, _ = rows_of_the_table()["all", "file capabilities"]
        self.assertEqual((user, capabilities, seccomp), ("caller", "none", "filter"))
        process = self.start(self.program, "-q", "--", "sleep", "60", **NOBODYS)
        wait_for(lambda: len(self.roles_of(process.pid)) == 2 and len(children_of(process.pid)) == 3, "command and roles")
        for pid in [process.pid, *self.roles_of(process.pid)]:
            wait_for(lambda pid=pid: status_of(pid)["Seccomp"] == "2", f"the filter of {pid}")
            status = status_of(pid)
            self.assertEqual(status["Uid"].split(), [str(NOBODY)] * 4)
            self.assertEqual([int(status["Cap" + which], 16) for which in ("Prm", "Eff", "Inh", "Amb")], [0] * 4)
        process.terminate()

    def test_attach_takes_the_callers_own_processes(self):
        own = self.start("sleep", "60", **NOBODYS)
        done = self.bpfmon("attach", "-q", "--pid", own.pid, "--duration", "0.1", "-o", self.dir / "own.jsonl")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (record,) = [line for line in read_lines(self.dir / "own.jsonl") if line["kind"] == "process"]
        self.assertEqual((record["pid"], record["uid"]), (own.pid, NOBODY))

    def test_attach_refuses_processes_of_another_user(self):
        others = self.start("sleep", "60")
        self.assert_refused(self.bpfmon("attach", "--pid", others.pid), "another user's")
        own = self.start("sleep", "60", **NOBODYS)
        self.assert_refused(self.bpfmon("attach", "--pid", own.pid, "--pid", others.pid), "another user's")

    def test_attach_refuses_one_that_has_only_one_of_the_callers_ids(self):
        half = self.start("setpriv", "--ruid", str(NOBODY), "--euid", "0", "sleep", "60")
        wait_for(lambda: status_of(half.pid)["Uid"].split()[0] == str(NOBODY), "another user")
        self.assert_refused(self.bpfmon("attach", "--pid", half.pid), "another user's")

    def test_attach_refuses_a_cgroup_of_another_user(self):
        with open("/proc/self/cgroup") as f:
            path = f.readline().strip().split(":", 2)[2]
        self.assert_refused(self.bpfmon("attach", "--cgroup", path or "/"), "another user's")

    def test_reading_subcommands_have_no_capability(self):
        reader = self.start(self.program, "export", "-", "-f", "json", **NOBODYS)
        wait_for(lambda: int(status_of(reader.pid)["CapPrm"], 16) == 0, "a reader without capabilities")
        self.assertEqual(status_of(reader.pid)["NoNewPrivs"], "1")
