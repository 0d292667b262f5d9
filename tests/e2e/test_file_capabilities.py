# SPDX-License-Identifier: BSD-2-Clause
"""With cap_bpf and cap_perfmon on its file an ordinary user has its own processes accounted for, and no other right."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys

from lib.bpfmon import BPFMON, Case, read_lines, said_by
from lib.live import children_of, executable_of, status_of, wait_for
from test_rights import rows_of_the_table

SAMPLED = True
NOBODY = 65534
NOBODYS = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
# Python as nobody, which need not be able to execute it; without an exec the process is not dumpable
AS_NOBODY = f"import ctypes, os, sys; os.setgroups([]); os.setresgid(*[{NOBODY}] * 3); os.setresuid(*[{NOBODY}] * 3); "
WAIT = "print(flush=True); sys.stdin.read()"
TAKE = (
    "libc = ctypes.CDLL(None, use_errno=True); fd = os.pidfd_open(int(sys.argv[1])); "
    "print(libc.syscall(438, fd, 0, 0), ctypes.get_errno())"  # pidfd_getfd()
)


@contextlib.contextmanager
def sysctl(name, value):
    """The setting of the machine, until the end."""
    file = pathlib.Path("/proc/sys") / name
    before = file.read_text()
    file.write_text(value)
    try:
        yield
    finally:
        file.write_text(before)


class CapabilitiesCase(Case):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o777)
        self.program = self.dir / "bpfmon"
        shutil.copyfile(BPFMON, self.program)
        self.program.chmod(0o755)
        subprocess.run(["setcap", "cap_bpf,cap_perfmon+ep", self.program], check=True)

    def start(self, *words, **popen):
        popen = {"stdin": subprocess.PIPE, "stderr": subprocess.DEVNULL, **popen}
        process = subprocess.Popen(list(map(str, words)), cwd="/", **popen)
        for pipe in (process.stdin, process.stdout):
            if pipe:
                self.addCleanup(pipe.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def bpfmon(self, *words, program=None, **popen):
        popen = {"cwd": "/", **NOBODYS, **popen}
        argv = [program or self.program, *map(str, words)]
        return subprocess.run(argv, **popen, capture_output=True, text=True, timeout=60, check=False)

    def assert_refused(self, done, *words, code=2):
        self.assertEqual((done.returncode, done.stderr.count("\n")), (code, 1), done)
        for word in words:
            self.assertIn(word, done.stderr)

    def roles_of(self, launcher):
        """Until its exec the command is one of them."""
        return [pid for pid in children_of(launcher) if executable_of(pid) == str(self.program)]

    def running(self, *options):
        """A run of nobody's, with its roles when they have given up their rights; and all of these processes."""
        process = self.start(self.program, "-q", *options, "--", "sleep", "60", **NOBODYS)
        wait_for(lambda: len(self.roles_of(process.pid)) == 2 and len(children_of(process.pid)) == 3, "command and roles")
        pids = [process.pid, *self.roles_of(process.pid)]
        for pid in pids:
            wait_for(lambda pid=pid: status_of(pid)["Seccomp"] == "2", f"the filter of {pid}")
        return process, pids


class FileCapabilities(CapabilitiesCase):
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

    def test_its_own_processes_have_none_while_the_command_runs(self):
        user, capabilities, seccomp, _ = rows_of_the_table()["all", "file capabilities"]
        self.assertEqual((user, capabilities, seccomp), ("caller", "none", "filter"))
        process, pids = self.running()
        for pid in pids:
            status = status_of(pid)
            self.assertEqual(status["Uid"].split(), [str(NOBODY)] * 4)
            self.assertEqual([int(status["Cap" + which], 16) for which in ("Prm", "Eff", "Inh", "Amb")], [0] * 4)
        process.terminate()

    def test_their_user_can_neither_trace_them_nor_take_their_descriptors(self):
        if not os.access("/proc/sys/fs/suid_dumpable", os.W_OK):
            self.skipTest("/proc/sys is read-only: fs.suid_dumpable cannot be set")
        with sysctl("fs/suid_dumpable", "1"):
            process, pids = self.running()
        for pid in pids:
            self.assertEqual(os.stat(f"/proc/{pid}/status").st_uid, 0, pid)  # root's: it is not dumpable
            self.assertEqual(said_by(sys.executable, "-c", AS_NOBODY + TAKE, str(pid)), "-1 1", pid)  # EPERM
        process.terminate()

    def test_reading_subcommands_have_no_capability(self):
        reader = self.start(self.program, "export", "-", "-f", "json", **NOBODYS)
        wait_for(lambda: int(status_of(reader.pid)["CapPrm"], 16) == 0, "a reader without capabilities")
        self.assertEqual(status_of(reader.pid)["NoNewPrivs"], "1")

    def test_what_becomes_the_command_of_a_span_has_none(self):
        """Before its exec, while it waits for the run's answer, of which anybody may claim to be one."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as run:
            name = f"bpfmon-test-{os.getpid()}"
            run.bind("\0" + name)
            run.listen()
            env = {**os.environ, "BPFMON_SPAN_SOCKET": "@" + name}
            process = self.start(self.program, "span", "a", "--", "cat", "/proc/self/status",
                                 stdout=subprocess.PIPE, env=env, text=True, **NOBODYS)
            caller, _ = run.accept()
            with caller:
                caller.recv(10000)
                self.assertEqual([int(status_of(process.pid)["Cap" + which], 16) for which in ("Prm", "Eff")], [0, 0])
                caller.send(b"1")
        self.assertIn("NoNewPrivs:\t0\n", process.stdout.read())

    def test_what_slows_down_or_takes_from_others_needs_root(self):
        ran = self.dir / "ran"
        for options, word in (
            (["--exact-peak"], "--exact-peak needs root"),
            (["--max-tasks", "131073"], "--max-tasks above 131072 needs root"),
            (["--record-as", "root"], "--record-as root needs root"),
        ):
            self.assert_refused(self.bpfmon(*options, "--", "touch", ran), word, "use sudo", code=125)
            self.assert_refused(self.bpfmon("attach", *options, "--pid", os.getppid()), word, "use sudo")
        for user in ("--user", "--user=root", "--user=nobody"):
            self.assert_refused(self.bpfmon(user, "--", "touch", ran), "--user needs root", "use sudo", code=125)
        self.assert_refused(self.bpfmon("--own-cgroup", "--", "touch", ran), "--own-cgroup: cannot create a cgroup", "use sudo", code=125)
        done = self.bpfmon("--", "touch", ran, env={**os.environ, "BPFMON_EXACT_PEAK": "1"})
        self.assert_refused(done, "--exact-peak", code=125)
        self.assertFalse(ran.exists())
        done = self.bpfmon("--max-tasks", "131072", "-q", "--", "touch", ran)
        self.assertEqual((done.returncode, done.stderr, ran.exists()), (0, "", True))

    def test_check_tells_what_needs_root(self):
        done = self.bpfmon("check", "-v")
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, r"(?m)^following processes +available$")
        self.assertRegex(done.stdout, r"(?m)^exact peak of the tree +missing: needs root")


class Attach(CapabilitiesCase):
    def attach(self, pid, *options):
        out = self.dir / "attached.jsonl"
        out.unlink(missing_ok=True)
        done = self.bpfmon("attach", "-q", "--pid", pid, "--duration", "0.2", "-o", out, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line for line in read_lines(out) if line["kind"] == "process"]

    def test_takes_the_callers_own_processes(self):
        own = self.start("sleep", "60.5", **NOBODYS)
        wait_for(lambda: executable_of(own.pid).endswith("sleep"), "its exec")
        (record,) = self.attach(own.pid)
        self.assertEqual((record["pid"], record["uid"]), (own.pid, NOBODY))
        self.assertEqual((os.path.basename(record["exe"]), record["args"]), ("sleep", ["sleep", "60.5"]))

    def test_refuses_processes_of_another_user(self):
        others = self.start("sleep", "60")
        words = (f"process {others.pid} belongs to another user", "only to your own processes", "use sudo")
        self.assert_refused(self.bpfmon("attach", "--pid", others.pid), *words)
        own = self.start("sleep", "60", **NOBODYS)
        self.assert_refused(self.bpfmon("attach", "--pid", own.pid, "--pid", others.pid), *words)
        self.assert_refused(self.bpfmon("attach", "--pid", 1), "process 1 belongs to another user")

    def test_refuses_one_that_has_only_one_of_the_callers_ids(self):
        half = self.start("setpriv", "--ruid", str(NOBODY), "--euid", "0", "sleep", "60")
        wait_for(lambda: status_of(half.pid)["Uid"].split()[0] == str(NOBODY), "another user")
        self.assert_refused(self.bpfmon("attach", "--pid", half.pid), "another user")

    def test_refuses_one_of_another_group(self):
        other = self.start("sleep", "60", user=NOBODY, group=1, extra_groups=[])
        self.assert_refused(self.bpfmon("attach", "--pid", other.pid), "another group")

    def test_refuses_one_that_protects_itself(self):
        shy = self.start(sys.executable, "-c", AS_NOBODY + WAIT, stdout=subprocess.PIPE)
        shy.stdout.readline()
        self.assert_refused(self.bpfmon("attach", "--pid", shy.pid), "not dumpable")

    def test_refuses_one_with_capabilities_of_its_file(self):
        program = self.dir / "sleep"
        shutil.copyfile(shutil.which("sleep"), program)
        program.chmod(0o755)
        subprocess.run(["setcap", "cap_net_raw+ep", program], check=True)
        able = self.start(program, "60", **NOBODYS)
        wait_for(lambda: int(status_of(able.pid)["CapPrm"], 16), "its capability")
        self.assert_refused(self.bpfmon("attach", "--pid", able.pid), "capabilities")

    def test_refuses_threads_and_numbers_of_no_process(self):
        self.assert_refused(self.bpfmon("attach", "--pid", 4194304), "no process 4194304")

    def test_refuses_cgroups_and_containers_and_tells_both_ways_on(self):
        own = self.dir / "cgroup"
        own.mkdir()
        os.chown(own, NOBODY, NOBODY)
        with open("/proc/self/cgroup") as f:
            path = f.readline().strip().split(":", 2)[2]
        for words in (["--cgroup", path or "/"], ["--cgroup", own], ["--cgroup", "/", "--wait-start"], ["--container", "a"]):
            self.assert_refused(self.bpfmon("attach", *words), f"{words[0]} needs root", "use sudo", "--pid")


class Hidden(CapabilitiesCase):
    """What setuid programs execute: numbers of it are there, path and arguments are not."""

    def setUp(self):
        super().setUp()
        self.out = self.dir / "run.jsonl"

    def program_with(self, name, mode):
        """A copy of a program that is root's, with set-user-ID or set-group-ID."""
        path = self.dir / f"their-{name}"
        shutil.copyfile(shutil.which(name), path)
        path.chmod(mode)
        return path

    def script(self, *lines):
        path = self.dir / "script"
        path.write_text("\n".join(lines) + "\n")
        return path

    def records(self, *options):
        lines = read_lines(self.out)
        (summary,) = [line for line in lines if line["kind"] == "summary"]
        self.assertTrue(summary["complete"])
        return {line["comm"]: line for line in lines if line["kind"] == "process"}

    def records_of_run(self, script, program=None, **popen):
        self.out.unlink(missing_ok=True)
        done = self.bpfmon("-q", "-o", self.out, "--", "sh", script, program=program, **popen)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.records()

    def assert_hidden(self, record):
        self.assertEqual((record["exe"], record.get("args")), (None, None), record)

    def assert_only_numbers(self, mode):
        theirs = self.program_with("dd", mode)
        script = self.script(f"{theirs} if=/dev/zero of=/dev/null bs=1000 count=77 status=none", "exit 0")
        found = self.records_of_run(script)
        (shell, child) = found["sh"], found[theirs.name]
        self.assertEqual((shell["args"], os.path.basename(shell["exe"])), (["sh", str(script)], "dash"))
        self.assert_hidden(child)
        self.assertNotIn("count=77", self.out.read_text())
        self.assertNotIn(str(theirs), self.out.read_text())
        for_root = self.records_of_run(script, program=BPFMON, user=0, group=0)
        self.assertEqual(for_root[theirs.name]["exe"], str(theirs))
        self.assertIn("count=77", for_root[theirs.name]["args"])
        for key in ("wchar_bytes", "syscw", "execs", "threads_total", "exit_code", "signal", "comm"):
            self.assertEqual(child[key], for_root[theirs.name][key], key)
            self.assertEqual(shell[key], for_root["sh"][key], key)
        self.assertEqual((child["wchar_bytes"], child["syscw"]), (77000, 77))
        self.assertEqual(set(child) | {"args"}, set(for_root[theirs.name]))

    def test_of_a_program_with_set_user_id_only_numbers_are_recorded(self):
        self.assert_only_numbers(0o4755)

    def test_of_a_program_with_set_group_id_only_numbers_are_recorded(self):
        self.assert_only_numbers(0o2755)

    def test_what_it_executes_is_hidden_as_well_until_it_has_become_the_caller_again(self):
        theirs = self.program_with("setpriv", 0o4755)
        back = f"--reuid={NOBODY} --regid={NOBODY} --clear-groups"
        script = self.script(f"{theirs} dd if=/dev/zero of=/dev/null count=1 status=none",
                             f"{theirs} {back} cat /dev/null", "exit 0")
        found = self.records_of_run(script)
        self.assert_hidden(found["dd"])
        self.assertEqual(found["cat"]["args"], ["cat", "/dev/null"])

    def test_an_attachment_hides_them_too(self):
        theirs = self.program_with("sleep", 0o4755)
        script = self.script(f"{theirs} 60.25 &", "read line", f"{theirs} 0.015625", "kill $!")
        shell = self.start("sh", script, **NOBODYS)
        wait_for(lambda: [pid for pid in children_of(shell.pid) if executable_of(pid) == str(theirs)], "the child")
        attached = self.start(self.program, "attach", "-q", "--pid", shell.pid, "-i", "0.01", "-o", self.out, **NOBODYS)
        wait_for(lambda: self.out.exists() and any(line["kind"] == "sample" for line in read_lines(self.out)), "a sample")
        shell.stdin.write(b"\n")
        shell.stdin.flush()  # it ends the first one itself, when the second one has ended
        self.assertEqual(attached.wait(60), 0)
        records = [line for line in read_lines(self.out) if line["kind"] == "process"]
        hidden = [line for line in records if line["comm"] == theirs.name]
        self.assertEqual(len(hidden), 2, records)
        for record in hidden:
            self.assert_hidden(record)
        self.assertNotIn("60.25", self.out.read_text())
        self.assertNotIn("0.015625", self.out.read_text())
        self.assertEqual([line["args"] for line in records if line["comm"] == "sh"], [["sh", str(script)]])
