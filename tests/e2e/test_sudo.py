# SPDX-License-Identifier: BSD-2-Clause
"""Under sudo the files are those of who called it, and root's rights are given up."""

import json
import os
import pathlib
import stat
import subprocess

from lib.bpfmon import BPFMON, truth, with_state_in
from lib.live import LiveCase, status_of, wait_for
from lib.terminal import Terminal

SAMPLED = True

NOBODY, NOGROUP = 65534, 65534
SYS_PTRACE = 1 << 19  # to read PSS
CALLED_BY_NOBODY = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOGROUP), "SUDO_USER": "nobody"}


class SudoCase(LiveCase):
    """nobody has a directory, `theirs`, beside root's, `ours`."""

    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.theirs = self.dir / "theirs"
        self.ours = self.dir / "ours"
        self.theirs.mkdir()
        self.ours.mkdir(mode=0o755)
        os.chown(self.theirs, NOBODY, NOGROUP)
        self.ran = self.dir / "ran"

    def bpfmon(self, *words, command=None, env=None, before=(), **popen):
        environment = {**os.environ, **(CALLED_BY_NOBODY if env is None else env)}
        argv = [*before, BPFMON, *map(str, words), "--", *map(str, command or ["touch", self.ran])]
        return subprocess.run(
            argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, **popen
        )

    def assert_refused(self, done, *words):
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 125, text)
        self.assertEqual(text.count("\n"), 1, text)
        for word in words:
            self.assertIn(str(word), text)
        self.assertFalse(self.ran.exists())

    def assert_owner(self, path, uid, mode):
        self.assertEqual((path.stat().st_uid, path.stat().st_gid), (uid, uid))
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), mode)


class Files(SudoCase):
    def test_files_belong_to_the_sudo_caller_and_the_umask_counts(self):
        for name, umask, mode in (("a", 0o022, 0o644), ("b", 0o027, 0o640)):
            done = self.bpfmon("-q", "-o", self.theirs / name, umask=umask)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assert_owner(self.theirs / name, NOBODY, mode)
        self.assertEqual(json.loads((self.theirs / "a").read_text().splitlines()[0])["uid"], NOBODY)

    def test_the_command_itself_stays_root(self):
        done = self.bpfmon("-q", command=["id", "-u"])
        self.assertEqual(done.stdout, b"0\n")

    def test_a_directory_where_the_caller_cannot_write_is_refused(self):
        self.assert_refused(self.bpfmon("-o", self.ours / "run"), "nobody", "--record-as root")
        self.assertEqual(list(self.ours.iterdir()), [])

    def test_record_as_root_writes_there(self):
        done = self.bpfmon("-q", "--record-as", "root", "-o", self.ours / "run", umask=0o022)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assert_owner(self.ours / "run", 0, 0o644)

    def test_a_link_to_a_new_file_of_root_makes_none(self):
        target = pathlib.Path(f"/etc/bpfmon-test-{os.getpid()}")
        self.addCleanup(target.unlink, missing_ok=True)
        (self.theirs / "link").symlink_to(target)
        self.assert_refused(self.bpfmon("-o", self.theirs / "link"), "link")
        self.bpfmon("-q", "--force", "-o", self.theirs / "link")
        self.assertFalse(target.exists())

    def test_a_link_to_a_directory_of_root_makes_nothing_there(self):
        (self.theirs / "folder").symlink_to(self.ours)
        self.assert_refused(self.bpfmon("--force", "-o", self.theirs / "folder" / "run"), "--record-as root")
        self.assertEqual(list(self.ours.iterdir()), [])

    def test_an_existing_file_of_root_is_refused_and_untouched(self):
        old = self.ours / "old"
        old.write_text("old\n")
        self.assert_refused(self.bpfmon("-o", old), old)
        self.assert_refused(self.bpfmon("--force", "-o", old), "--record-as root")
        self.assertEqual(old.read_text(), "old\n")

    def test_a_device_of_root_cannot_be_reached_by_a_link(self):
        device = self.ours / "device"
        os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        (self.theirs / "link").symlink_to(device)
        self.assert_refused(self.bpfmon("-o", self.theirs / "link"), "--record-as root")

    def test_a_wrong_or_root_sudo_uid_changes_nothing(self):
        for uid in ("0", "", "-1", "4294967295", "nobody", "65534x"):
            done = self.bpfmon("-q", "-o", self.ours / f"run{uid}", env={"SUDO_UID": uid, "SUDO_GID": uid})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_owner(self.ours / f"run{uid}", 0, 0o644)


class Environment(SudoCase):
    def test_the_command_keeps_every_variable_where_root_records(self):
        env = {**CALLED_BY_NOBODY, "XDG_STATE_HOME": str(self.theirs), "BPFMON_NO_STORE": ""}
        command = ["sh", "-c", 'echo "$XDG_STATE_HOME"']
        done = self.bpfmon("-q", "--record-as", "root", env=env, command=command, before=with_state_in(self.ours))
        self.assertEqual((done.returncode, done.stdout.decode()), (0, f"{self.theirs}\n"), done.stderr)
        self.assertEqual(list(self.theirs.iterdir()), [])  # its store is not where the caller says
        self.assertEqual(len(list((self.ours / "bpfmon").glob("*.sqlite"))), 1)


class Roles(SudoCase):
    def capabilities(self, pid):
        status = status_of(pid)
        return {key: int(status[f"Cap{key}"], 16) for key in ("Inh", "Prm", "Eff", "Amb")}

    def start(self, env, options=()):
        command, stop, beat = self.work_until_told()
        live = self.live(command, ["-q", "-o", str(self.theirs / "run"), *options], out=False, env={**os.environ, **env})
        collector, recorder, command = live.roles()
        wait_for(beat.exists, "the command's work")
        self.addCleanup(stop.touch)
        return live, stop, collector, recorder, command

    def test_the_recorder_is_the_caller_without_capabilities_and_the_collector_may_only_read_memory(self):
        live, stop, collector, recorder, command = self.start(CALLED_BY_NOBODY)
        self.assertEqual(status_of(recorder)["Uid"].split(), [str(NOBODY)] * 4)
        self.assertEqual(status_of(recorder)["Gid"].split(), [str(NOGROUP)] * 4)
        self.assertEqual(status_of(recorder)["Groups"].split(), [str(NOGROUP)])
        self.assertEqual(self.capabilities(recorder), {"Inh": 0, "Prm": 0, "Eff": 0, "Amb": 0})
        self.assertEqual(self.capabilities(collector), {"Inh": 0, "Prm": SYS_PTRACE, "Eff": SYS_PTRACE, "Amb": 0})
        for pid in (collector, recorder):
            self.assertEqual(status_of(pid)["NoNewPrivs"], "1")
        self.assertEqual(status_of(command)["Uid"].split(), ["0"] * 4)
        self.assertEqual(status_of(command)["CapEff"], status_of(os.getpid())["CapEff"])
        stop.touch()
        self.assertEqual(live.finish().code, 43)

    def test_the_launcher_keeps_only_the_right_to_signal(self):
        live, _, _, _, _ = self.start({})
        self.assertEqual(self.capabilities(live.pid)["Eff"] & ~(1 << 5), 0)

    def test_the_recorder_of_root_has_only_rights_on_files(self):
        _, _, collector, recorder, _ = self.start({}, ["--record-as", "root"])
        self.assertEqual(self.capabilities(recorder)["Eff"] & ~0xF, 0)
        self.assertEqual(self.capabilities(collector)["Eff"], SYS_PTRACE)


class User(SudoCase):
    SCRIPT = 'id -u; id -g; id -G; echo "$HOME" "$USER" "$LOGNAME" "$SHELL" "$KEPT"'

    def check_nobody(self, option, env):
        done = self.bpfmon("-q", option, command=["sh", "-c", self.SCRIPT], env={**env, "KEPT": "kept"})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(
            done.stdout.decode().splitlines(),
            ["65534", "65534", "65534", "/nonexistent nobody nobody /usr/sbin/nologin kept"],
        )

    def test_user_with_a_name_runs_the_command_as_that_user(self):
        self.check_nobody("--user=nobody", {})

    def test_user_without_a_name_is_the_sudo_caller(self):
        self.check_nobody("--user", CALLED_BY_NOBODY)

    def test_user_without_a_name_and_without_sudo_is_refused(self):
        self.assert_refused(self.bpfmon("--user", env={}), "--user")

    def test_an_unknown_user_is_refused(self):
        self.assert_refused(self.bpfmon("--user=bpfmon-no-such-user"), "bpfmon-no-such-user")

    def test_the_command_of_another_user_has_no_capability_and_gets_signals(self):
        heard = self.theirs / "heard"
        live = self.live([truth("sigreport"), str(heard), "600"], ["-q", "--user=nobody"])
        wait_for(heard.exists, "the command's readiness")
        _, _, command = live.roles()
        self.assertEqual(int(status_of(command)["CapPrm"], 16), 0)
        self.assertEqual(status_of(command)["Uid"].split(), [str(NOBODY)] * 4)
        live.process.terminate()
        wait_for(lambda: heard.read_text() == "TERM\n", "the command to hear TERM")
        heard.with_suffix(".end").touch()
        run = live.finish()
        self.assertEqual(run.code, 7)
        self.assertEqual(run.processes[0]["uid"], NOBODY)

    def test_a_program_that_only_root_may_execute_is_126_for_another_user(self):
        program = self.dir / "program"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o700)
        self.assertEqual(self.bpfmon("--user=nobody", command=[program]).returncode, 126)
        self.assertEqual(self.bpfmon("-q", command=[program]).returncode, 0)


class RootLine(SudoCase):
    """On a terminal bpfmon prints that the command of sudo runs as root, unless that was requested."""

    LINE = "bpfmon: the command runs as root; add --user to run it as nobody, or --user=root to omit this line"

    def on_terminal(self, *words, env=None, command=("echo", "it ran")):
        terminal = Terminal(self, [BPFMON, *map(str, words), "--", *command], {**os.environ, **(CALLED_BY_NOBODY if env is None else env)})
        while terminal.read():
            pass
        return terminal.text.decode().splitlines()

    def test_it_comes_before_the_command_and_names_the_caller(self):
        self.assertEqual(self.on_terminal()[:2], [self.LINE, "it ran"])

    def test_it_is_absent_if_root_was_wanted_or_nothing_is_printed_or_sudo_was_not_used(self):
        for words in (["--user"], ["--user=root"], ["-q"], ["-f", "%e"]):
            said = self.on_terminal(*words)
            self.assertEqual((self.LINE in said, "it ran" in said), (False, True), said)
        self.assertNotIn(self.LINE, self.on_terminal(env={}))

    def test_it_is_absent_from_a_log(self):
        self.assertNotIn("runs as root", self.bpfmon().stderr.decode())

    def test_an_error_of_the_start_comes_alone(self):
        (said,) = self.on_terminal("-o", self.ours / "run")
        self.assertIn("--record-as root", said)


class RealSudo(SudoCase):
    @staticmethod
    def without_store(words):
        """sudo keeps no variables."""
        for word in map(str, words):
            yield from ["env", "BPFMON_NO_STORE=1", word] if word == BPFMON else [word]

    def sudo(self, *words):
        return subprocess.run(
            ["sudo", "-n", *self.without_store(words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False
        )

    def test_sudo_passes_status_and_output_through(self):
        done = self.sudo(BPFMON, "-q", "-o", self.ours / "run", "--", "sh", "-c", "echo out; echo err >&2; exit 43")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (43, b"out\n", b"err\n"))
        self.assert_owner(self.ours / "run", 0, 0o644)

    def test_root_who_calls_sudo_is_no_other_user(self):
        self.assert_refused(self.sudo(BPFMON, "--user", "--", "touch", self.ran), "--user")

    def test_sudo_to_a_user_without_rights_is_not_exact(self):
        self.assert_refused(self.sudo("-u", "nobody", BPFMON, "--require", "exact", "--", "touch", self.theirs / "ran"), "root")
        self.assertFalse((self.theirs / "ran").exists())
