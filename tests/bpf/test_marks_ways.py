# SPDX-License-Identifier: BSD-2-Clause
"""The ways that marks and metrics take: the private folder, bpfmon mark, UDP."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys

from lib.bpfmon import BPFMON
from lib.live import children_of, descriptor_links, is_alive, send, status_of, wait_for
from lib.marks import MarksCase, marks, texts

SAMPLED = True


class Folder(MarksCase):
    LOOK = 'd=${BPFMON_MARK_SOCKET%/*}; echo "$d"; stat -c "%u %a" "$d"; "$0" mark here'

    def look(self, options=(), env=None):
        run = self.shell(self.LOOK, options, env=env)
        folder, owner = run.stdout.decode().splitlines()
        self.assertFalse(pathlib.Path(folder).exists())
        return run, pathlib.Path(folder), owner

    def test_only_the_user_may_enter_it_and_it_is_gone_afterwards(self):
        run, folder, owner = self.look(env={"XDG_RUNTIME_DIR": ""})
        self.assertEqual((folder.parent, owner), (pathlib.Path("/tmp"), "0 700"))
        self.assert_pushed(run, marks=1)

    def test_a_runtime_folder_of_the_user_is_taken(self):
        run, folder, owner = self.look(env={"XDG_RUNTIME_DIR": str(self.dir)})
        self.assertEqual((folder.parent, owner), (self.dir, "0 700"))
        self.assert_pushed(run, marks=1)

    def test_a_runtime_folder_of_another_user_is_not_touched(self):
        theirs = self.dir / "theirs"
        theirs.mkdir()
        os.chown(theirs, 65534, 65534)
        for runtime in (theirs, self.dir / "none", "relative"):
            run, folder, _ = self.look(env={"XDG_RUNTIME_DIR": str(runtime)})
            self.assertEqual(folder.parent, pathlib.Path("/tmp"))
            self.assert_pushed(run, marks=1)
        self.assertEqual(list(theirs.iterdir()), [])

    def test_under_sudo_with_another_user_it_is_that_users(self):
        env = {"SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": "nobody"}
        self.dir.chmod(0o777)
        run, _, owner = self.look(["--user"], env=env)
        self.assertEqual(owner, "65534 700")
        self.assert_pushed(run, marks=1)

    def test_another_user_inside_the_command_cannot_send_and_gets_an_error(self):
        run = self.shell('setpriv --reuid=65534 --clear-groups "$0" mark x; echo $?; setpriv --reuid=65534 --clear-groups "$0" mark -q x; echo $?')
        self.assertEqual(run.stdout, b"2\n0\n")
        self.assertEqual(run.stderr.count("cannot send to the run"), 1)
        self.assert_pushed(run)

    def test_root_inside_of_another_users_command_may_mark(self):
        run = self.shell('setpriv --reuid=65534 --clear-groups true && "$0" mark x')
        self.assert_pushed(run, marks=1)

    def test_it_goes_when_bpfmon_is_killed(self):
        live, path = self.live_marks("sleep 60")
        live.remember()
        self.assertTrue(pathlib.Path(path).exists())
        os.kill(live.pid, signal.SIGKILL)
        wait_for(lambda: not pathlib.Path(path).parent.exists(), "the end of the folder")

    def keeper(self, live, path):
        """The process that removes the folder: it is in it."""

        def find():
            for pid in children_of(live.pid):
                with contextlib.suppress(OSError):
                    if os.readlink(f"/proc/{pid}/cwd") == os.path.dirname(path):
                        return pid
            return None

        return wait_for(find, "the keeper")

    def test_its_keeper_has_no_rights_and_no_other_descriptors(self):
        live, path = self.live_marks("read line", stdin=subprocess.PIPE)
        keeper = self.keeper(live, path)
        self.assertEqual(int(status_of(keeper)["CapPrm"], 16), 0)
        self.assertLessEqual(len(descriptor_links(keeper)), 2)
        self.assert_pushed(live.finish())

    def test_a_keeper_that_is_stopped_does_not_hold_up_the_end(self):
        live, path = self.live_marks("read line; exit 43", stdin=subprocess.PIPE)
        keeper = self.keeper(live, path)
        live.remember()
        os.kill(keeper, signal.SIGSTOP)
        run = live.finish()
        self.assertEqual(run.code, 43)
        os.kill(keeper, signal.SIGCONT)
        wait_for(lambda: not pathlib.Path(path).parent.exists(), "the end of the folder")

    def kill_all_of(self, live):
        """At once: nothing of bpfmon is left that could remove anything."""
        live.remember()
        for sig in (signal.SIGSTOP, signal.SIGKILL):
            for pid in live.known:
                send(pid, sig)
        wait_for(lambda: not any(is_alive(pid) for pid in live.known), "the end of all")

    def test_what_is_left_by_a_kill_of_all_is_removed_by_the_next_run(self):
        env = {**os.environ, "XDG_RUNTIME_DIR": str(self.dir)}
        killed, left = self.live_marks("sleep 60", env=env)
        self.kill_all_of(killed)
        self.assertTrue(pathlib.Path(left).exists())
        (self.dir / "socket").unlink()
        live, path = self.live_marks("read line", stdin=subprocess.PIPE, env=env)
        wait_for(lambda: not pathlib.Path(left).parent.exists(), "the end of the folder that was left")
        self.assertTrue(pathlib.Path(path).exists())
        self.assert_pushed(live.finish())

    def test_a_folder_that_is_in_use_or_of_another_user_is_kept(self):
        env = {**os.environ, "XDG_RUNTIME_DIR": str(self.dir)}
        theirs, link = self.dir / "bpfmon-marks-1", self.dir / "bpfmon-marks-2"
        theirs.mkdir(mode=0o700)
        os.chown(theirs, 65534, 65534)
        link.symlink_to(self.dir)
        first, path = self.live_marks("read line; \"$BPFMON\" mark x", stdin=subprocess.PIPE, env={**env, "BPFMON": BPFMON})
        run = self.run_marks(["sleep", "0.3"], env={"XDG_RUNTIME_DIR": str(self.dir)})
        self.assertEqual(run.code, 0, run.stderr)
        self.assertTrue(pathlib.Path(path).exists())
        self.assertTrue(theirs.exists() and link.is_symlink())
        self.assert_pushed(first.finish(), marks=1)

    def test_it_goes_when_there_is_no_command_to_run(self):
        run = self.run_marks([str(self.dir / "no-such")], env={"XDG_RUNTIME_DIR": str(self.dir)})
        self.assertEqual(run.code, 127)
        self.assertEqual(list(self.dir.glob("bpfmon-*")), [])

    def test_it_goes_when_the_command_is_killed(self):
        run = self.run_marks(["sh", "-c", "kill -KILL $$"], env={"XDG_RUNTIME_DIR": str(self.dir)})
        self.assertEqual(run.code, -signal.SIGKILL)
        self.assertEqual(list(self.dir.glob("bpfmon-*")), [])


class Tool(MarksCase):
    def mark(self, *words, env=None):
        clean = {key: value for key, value in os.environ.items() if key not in ("BPFMON_MARK_SOCKET", "BPFMON_SPAN_SOCKET")}
        return subprocess.run(
            [BPFMON, "mark", *words], env={**clean, **(env or {})}, capture_output=True, text=True, timeout=60, check=False
        )

    def assert_told(self, done, part):
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done)
        self.assertIn(part, done.stderr)

    def test_outside_of_a_run_it_is_an_error(self):
        self.assert_told(self.mark("x"), "run the command with: bpfmon -- COMMAND")
        self.assert_told(self.mark("x", env={"BPFMON_SPAN_SOCKET": "@bpfmon-span-gone"}), "has ended, or cannot be reached")
        self.assert_told(self.mark("x", env={"BPFMON_MARK_SOCKET": str(self.dir / "gone")}), "has ended")

    def test_outside_of_a_run_it_can_be_quiet(self):
        for env in ({}, {"BPFMON_MARK_SOCKET": str(self.dir / "gone")}, {"BPFMON_SPAN_SOCKET": "@bpfmon-span-gone"}):
            for word in ("-q", "--quiet"):
                done = self.mark(word, "x", env=env)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_what_would_not_be_taken_is_refused(self):
        self.assert_told(self.mark(), "no text")
        self.assert_told(self.mark(""), "empty")
        self.assert_told(self.mark("-q", "x" * 1025), "1025 bytes")
        self.assert_told(self.mark("--metric", "loss"), "line protocol")
        self.assert_told(self.mark("-m", "a b=1\nc d=1"), "line protocol")
        self.assert_told(self.mark("-Z", "x"), "-Z")

    def test_words_are_joined_and_a_measurement_may_be_called_mark(self):
        run = self.shell('"$0" mark epoch 3; "$0" mark -- -q; "$0" mark -m "mark value=1"')
        self.assertEqual(texts(run), ["epoch 3", "-q"])
        self.assertEqual([m["name"] for m in run.kind("metric")], ["mark"])

    def test_help_describes_the_subcommand(self):
        self.assertIn("--metric", self.mark("--help").stdout)


class Udp(MarksCase):
    SEND = """
import os, socket, sys
assert "BPFMON_MARK_SOCKET" not in os.environ
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    try:
        s = socket.socket(family, socket.SOCK_DGRAM)
        s.sendto(b"events,host=" + host.encode() + b" n=1i\\nbad", (host, int(sys.argv[1])))
    except OSError:
        pass  # no IPv6 here
"""

    def free_port(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("127.0.0.1", 0))
            return s.getsockname()[1]

    def test_line_protocol_arrives(self):
        port = self.free_port()
        run = self.run_bpfmon([sys.executable, "-c", self.SEND, str(port)], ["--metrics-udp", str(port)])
        self.assertEqual(run.code, 0, run.stderr)
        metrics = run.kind("metric")
        self.assertEqual(metrics[0]["tags"], {"host": "127.0.0.1"})
        self.assertNotIn("pid", metrics[0])
        self.assert_pushed(run, metrics=len(metrics), malformed=len(metrics))

    def test_a_port_that_is_in_use_is_refused_before_the_command_runs(self):
        ran = self.dir / "ran"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            port = other.getsockname()[1]
            run = self.run_bpfmon(["touch", str(ran)], ["--metrics-udp", str(port)])
        self.assertEqual((run.code, run.stderr.count("\n")), (125, 1), run.stderr)
        self.assertIn(f"UDP port {port} of 127.0.0.1", run.stderr)
        self.assertFalse(ran.exists())

    def test_any_free_port_is_printed(self):
        run = self.run_bpfmon(["true"], ["-v", "--metrics-udp", "0"])
        self.assertRegex(run.stderr, r"receiving metrics on UDP port [1-9]\d* of 127\.0\.0\.1")

    def test_what_the_kernel_had_no_room_for_is_counted(self):
        port = self.free_port()
        send = "import os, signal, socket, sys\nc = int(open(sys.argv[2]).read())\nos.kill(c, signal.SIGSTOP)\n"
        send += "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nfor i in range(20000): s.sendto(b'a b=1', ('127.0.0.1', int(sys.argv[1])))\n"
        send += "os.kill(c, signal.SIGCONT)"
        pid = self.dir / "pid"
        script = 'while [ ! -e "$3" ]; do sleep 0.01; done; exec "$0" -c "$1" "$2" "$3"'
        live = self.live(["sh", "-c", script, sys.executable, send, str(port), str(pid)], ["--metrics-udp", str(port)])
        collector = live.role(lambda pid, stat, has_bpf: has_bpf)
        (self.dir / "new").write_text(str(collector))
        (self.dir / "new").rename(pid)
        run = live.finish()
        pushed = run.summary["pushed"]
        self.assertEqual(pushed["metrics"] + pushed["dropped"], 20000)
        self.assertGreater(pushed["dropped"], 0)

    def test_marks_are_not_taken_over_udp(self):
        port = self.free_port()
        send = f"s.sendto(b'mark value=1', ('127.0.0.1', {port}))\ns.sendto(b'mark epoch 3', ('127.0.0.1', {port}))"
        code = "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n" + send
        run = self.run_marks([sys.executable, "-c", code], ["--metrics-udp", str(port)])
        self.assert_pushed(run, metrics=1, malformed=1)
        self.assertEqual(run.kind("metric")[0]["name"], "mark")
