# SPDX-License-Identifier: BSD-2-Clause
"""Attaching under sudo: who called it learns no more of files and command lines than without."""

import os
import subprocess
import sys

from lib.attach import AttachCase
from lib.bpfmon import BPFMON, cgroup, read_lines
from lib.live import wait_for

SAMPLED = True
NOBODY = 65534
CALLED_BY_NOBODY = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY), "SUDO_USER": "nobody"}
HIDDEN = ["unshare", "--mount", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$0" "$@"']


class Sudo(AttachCase):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.theirs = self.dir / "theirs"
        self.theirs.mkdir()
        os.chown(self.theirs, NOBODY, NOBODY)

    def call(self, *words, env=None, before=()):
        argv = [*before, BPFMON, "attach", *map(str, words)]
        environment = {**os.environ, **(CALLED_BY_NOBODY if env is None else env)}
        return subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    def wait_for_args(self, process):
        """It runs what it is to run: not Python's copy any more."""
        wait_for(lambda: os.readlink(f"/proc/{process.pid}/exe") != os.path.realpath(sys.executable), "its exec")


class Folders(Sudo):
    def setUp(self):
        super().setUp()
        self.secret = self.dir / "secret"
        self.secret.mkdir(mode=0o700)

    def refusal(self, name, **more):
        done = self.call("--cgroup", self.secret / name, **more)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        return done.stderr.replace(name, "NAME")

    def test_a_file_that_the_caller_cannot_see_is_as_one_that_is_not_there(self):
        (self.secret / "file").touch()
        (self.secret / "folder").mkdir()
        said = self.refusal("missing")
        self.assertIn("no cgroup", said)
        self.assertEqual(self.refusal("file"), said)
        self.assertEqual(self.refusal("folder"), said)
        self.assertNotEqual(self.refusal("file", env={}), said)  # root may know

    def test_a_link_there_leads_nowhere(self):
        said = self.refusal("missing")
        with cgroup() as group:
            (self.secret / "link").symlink_to(group)
            self.assertEqual(self.refusal("link"), said)

    def test_a_cgroup_that_the_caller_can_see_is_attached_to(self):
        with cgroup() as group:
            process = self.start("sleep", "600")
            (group / "cgroup.procs").write_text(str(process.pid))
            out = self.theirs / "run"
            done = self.call("-q", "-o", out, "--cgroup", group, "--duration", "0.2")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(self.only(line for line in read_lines(out) if line["kind"] == "process")["pid"], process.pid)
            process.kill()
            process.wait()


class CommandLines(Sudo):
    def processes(self, pid, before=(), env=None):
        out = self.theirs / "run"
        out.unlink(missing_ok=True)
        done = self.call("-q", "-o", out, "--pid", pid, "--duration", "0.5", before=before, env=env)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = read_lines(out)
        self.meta = lines[0]
        return [line for line in lines if line["kind"] == "process"]

    def test_processes_of_others_that_hidepid_hides_have_no_arguments(self):
        process = self.start("sleep", "600.25")
        self.wait_for_args(process)
        self.assertEqual(self.only(self.processes(process.pid))["args"], ["sleep", "600.25"])
        hidden = self.only(self.processes(process.pid, HIDDEN))
        self.assertEqual((hidden.get("args"), hidden["exe"], hidden["comm"]), (None, None, "sleep"))
        self.assertNotIn("600.25", (self.theirs / "run").read_text())
        self.assertEqual(self.only(self.processes(process.pid, HIDDEN, env={}))["args"], ["sleep", "600.25"])

    def test_programs_that_others_execute_later_have_no_arguments_either(self):
        shell = self.start("sh", "-c", 'while :; do sh -c exit 600.25; sleep 0.01; done')
        self.wait_for_args(shell)
        self.assertIn(["sh", "-c", "exit", "600.25"], [p.get("args") for p in self.processes(shell.pid)])
        hidden = self.processes(shell.pid, HIDDEN)
        self.assertGreater(len(hidden), 2)
        self.assertEqual({(p.get("args"), p["exe"]) for p in hidden}, {(None, None)})
        self.assertNotIn("600.25", (self.theirs / "run").read_text())

    def test_one_of_the_caller_that_it_may_not_trace_has_no_arguments_either(self):
        """/proc hides it from its user, as what a program with set-user-ID has started for it."""
        code = f"import os; os.setresgid(*[{NOBODY}] * 3); os.setresuid(*[{NOBODY}] * 3); os.read(0, 1)  # 600.25"
        process = self.start(sys.executable, "-c", code, stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        wait_for(lambda: os.stat(f"/proc/{process.pid}").st_uid == NOBODY, "its change of user")
        hidden = self.only(self.processes(process.pid, HIDDEN))
        self.assertEqual((hidden.get("args"), hidden["exe"], hidden["uid"]), (None, None, NOBODY))
        self.assertNotIn("600.25", (self.theirs / "run").read_text())

    def test_the_callers_own_are_kept(self):
        process = self.start("sleep", "600.25", user=NOBODY, group=NOBODY, extra_groups=[])
        self.wait_for_args(process)
        shown = self.only(self.processes(process.pid, HIDDEN))
        self.assertEqual(shown["args"], ["sleep", "600.25"])
        self.assertEqual(shown["exe"].rpartition("/")[2], "sleep")
