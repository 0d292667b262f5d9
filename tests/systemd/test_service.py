# SPDX-License-Identifier: BSD-2-Clause
"""The agent as a service of a booted systemd: it starts, serves users, is reloaded, restarted, watched and stopped."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import stat
import unittest

from lib.installed import UNITS
from lib.live import status_of, wait_for
from lib.machine import Machine
from lib.permitted import BPF, ROOT, needs
from lib.push import Server

CONFIG = "etc/bpfmon/agent.conf"
RIGHTS = {2: "DAC_READ_SEARCH", 19: "SYS_PTRACE", 38: "PERFMON", 39: "BPF"}
WAITS_FOR_GO = "until [ -e /runs/go ]; do sleep 0.1; done; exit 7"


@needs(ROOT, BPF)
class Service(unittest.TestCase):
    """One machine for all tests, in which the agent is enabled; each test leaves it as it was."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("systemd-nspawn") or not shutil.which("debootstrap"):
            raise unittest.SkipTest("needs systemd-nspawn and debootstrap: tools/install-deps.sh systemd")
        cls.machine = Machine()
        cls.addClassCleanup(cls.machine.close)
        cls.machine.open()
        cls.machine.chroot("systemctl", "enable", "bpfmon-agent.service")
        cls.machine.boot()
        # what systemd has made of it before anybody has asked for it
        cls.at_boot = cls.state("ActiveState")

    def setUp(self):
        self.root = self.machine.root
        config = self.root / CONFIG
        self.addCleanup(config.write_text, config.read_text())
        (self.root / "runs" / "go").unlink(missing_ok=True)
        # so many starts in so short a time are not usual
        self.systemctl("reset-failed")
        self.systemctl("restart", "bpfmon-agent.service")

    @classmethod
    def state(cls, *names, unit="bpfmon-agent.service"):
        return cls.machine.state(unit, *names)

    def systemctl(self, *argv):
        return self.machine.said("systemctl", *argv)

    def configure(self, text):
        (self.root / CONFIG).write_text(text)

    def override(self, text, unit="bpfmon-agent.service"):
        """A drop-in for the unit, taken away at the end."""
        path = pathlib.Path(f"/proc/{self.machine.init}/root/run/systemd/system/{unit}.d/test.conf")
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        self.addCleanup(self.systemctl, "daemon-reload")
        self.addCleanup(path.unlink)
        self.systemctl("daemon-reload")

    def agent(self):
        """The pid of the agent, as this side of the container has it."""
        inside = self.state("MainPID")
        self.assertNotEqual(inside, "0")
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(path / "ns/pid") != os.readlink(f"/proc/{self.machine.init}/ns/pid"):
                    continue
                if status_of(path.name)["NSpid"].split()[-1] == inside:
                    return int(path.name)
        raise AssertionError(f"no process is {inside} in the container")

    def as_user(self, *argv, **options):
        return self.machine.as_user(*argv, **options)

    def as_service(self, name, *argv, user="daemon"):
        self.machine.said("systemd-run", "-q", f"--unit={name}", f"--uid={user}", *argv)
        self.addCleanup(self.machine.enter, "systemctl", "reset-failed", name)
        self.addCleanup(self.machine.enter, "systemctl", "stop", name)

    def jobs(self, user="root"):
        return self.machine.jobs(user)

    def begin_run(self, name="runs"):
        """A user's run, which has begun, as a service; the path of its lines."""
        lines = self.root / "runs" / f"{name}.jsonl"
        lines.unlink(missing_ok=True)
        self.as_service(name, "bpfmon", "--no-store", "-o", f"/runs/{name}.jsonl", "--", "sh", "-c", WAITS_FOR_GO)
        wait_for(lambda: any(kind == "run" for kind, _ in self.jobs()), "the run")
        return lines

    def end_run(self, lines, name="runs"):
        """Lets its command go on; the summary, and the exit status of bpfmon."""
        (self.root / "runs" / "go").touch()
        wait_for(lambda: self.state("SubState", unit=name) in ("failed", "exited", "dead"), "the end of the run")
        (summary,) = [line for line in map(json.loads, lines.read_text().splitlines()) if line["kind"] == "summary"]
        return summary, int(self.state("ExecMainStatus", unit=name))

    def test_systemd_finds_nothing_wrong(self):
        self.assertEqual(self.machine.said("systemd-analyze", "verify", "--man=no", *UNITS), "")
        self.assertEqual(self.systemctl("--failed", "--no-legend"), "")

    def test_an_enabled_agent_is_active_after_the_boot(self):
        self.assertEqual(self.at_boot, "active")

    def test_a_client_starts_the_agent_through_the_socket(self):
        self.systemctl("stop", "bpfmon-agent.service")
        self.assertEqual(self.state("ActiveState"), "inactive")
        self.assertEqual(self.state("ActiveState", unit="bpfmon-agent.socket"), "active")
        done = self.as_user("bpfmon", "--no-store", "-q", "-o", "jsonl:-", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"complete":true', done.stdout.replace(" ", ""))
        self.assertEqual(self.state("ActiveState"), "active")

    def test_started_directly_it_has_its_socket(self):
        self.systemctl("stop", "bpfmon-agent.service", "bpfmon-agent.socket")
        self.systemctl("start", "bpfmon-agent.service")
        self.assertEqual(self.state("ActiveState", "SubState"), {"ActiveState": "active", "SubState": "running"})
        self.assertEqual(self.state("ActiveState", unit="bpfmon-agent.socket"), "active")
        self.assertIn(("node", "the whole node"), self.jobs())

    def test_the_socket_is_for_all_users_in_a_folder_of_root(self):
        run = pathlib.Path(f"/proc/{self.machine.init}/root/run/bpfmon")
        for when in ("start", "stop", "start"):
            self.systemctl(when, "bpfmon-agent.service")
            folder, socket = run.stat(), (run / "agent.sock").stat()
            self.assertEqual((folder.st_uid, folder.st_gid, stat.S_IMODE(folder.st_mode)), (0, 0, 0o755), when)
            self.assertEqual((socket.st_uid, stat.filemode(socket.st_mode)), (0, "srw-rw-rw-"), when)

    def test_a_user_runs_commands_and_sees_the_own_runs_only(self):
        done = self.as_user("bpfmon", "--no-store", "--", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("complete: nothing was lost", done.stderr)
        self.begin_run()
        self.assertEqual({kind for kind, _ in self.jobs(user="daemon")}, {"run"})
        self.assertEqual(self.jobs(user="bin"), set())

    def test_the_user_of_the_endpoint_sees_the_jobs_of_all(self):
        self.begin_run()
        kinds = {kind for kind, _ in self.jobs(user="bpfmon-exporter")}
        self.assertLessEqual({"node", "run", "service"}, kinds)

    def test_the_endpoint_shows_the_jobs_of_all_and_outlives_a_restart_of_the_agent(self):
        self.systemctl("start", "bpfmon-exporter.service")
        self.addCleanup(self.systemctl, "stop", "bpfmon-exporter.service")
        before = self.state("MainPID", unit="bpfmon-exporter.service")
        for name in ("one", "two"):
            self.as_service(name, "sleep", "1000")
            wait_for(lambda found=f"{name}.service": found in self.machine.page(), "the service in its series")
            self.systemctl("restart", "bpfmon-agent.service")
        self.assertEqual(self.state("MainPID", unit="bpfmon-exporter.service"), before)

    def test_without_an_address_the_endpoint_ends_and_has_not_failed(self):
        self.configure("[exporter]\nlisten =\n")
        self.systemctl("start", "bpfmon-exporter.service")
        wait_for(lambda: self.state("ActiveState", unit="bpfmon-exporter.service") == "inactive", "its end")
        self.assertEqual(self.state("Result", unit="bpfmon-exporter.service"), "success")

    def test_the_row_of_a_service_that_has_ended_is_sent_with_the_token(self):
        self.systemctl("stop", "bpfmon-push.service")
        server = Server(self, pid=self.machine.init)
        token = self.root / "etc/bpfmon/push.token"
        token.write_text("secret\n")
        token.chmod(0o640)
        self.machine.said("chown", "root:bpfmon-push", "/etc/bpfmon/push.token")
        url = f"url = http://localhost:{server.port}/write?db=bpfmon\ntoken_file = /etc/bpfmon/push.token"
        self.configure(f"[push]\n{url}\ninterval = 1s\nmin_seconds = 0\ninstance = node1\n")
        self.systemctl("start", "bpfmon-push.service")
        self.addCleanup(self.systemctl, "stop", "bpfmon-push.service")
        self.as_service("sent", "sleep", "1000")
        wait_for(lambda: any("job=service/sent.service" in line for line in server.of("bpfmon_job")), "a sample of the service")
        self.systemctl("stop", "sent")
        wait_for(lambda: any('job="service/sent.service"' in line for line in server.of("bpfmon_job_ended")), "its row")
        self.assertTrue(server.of("bpfmon_node"))
        self.assertEqual({headers["Authorization"] for _, headers, _ in server.requests}, {"Bearer secret"})
        self.assertEqual(self.machine.said("stat", "-c", "%U %a", "/var/lib/bpfmon-push").split(), ["bpfmon-push", "700"])
        self.systemctl("stop", "bpfmon-push.service")
        found = self.state("Result", "ExecMainStatus", "NRestarts", unit="bpfmon-push.service")
        self.assertEqual(found, {"Result": "success", "ExecMainStatus": "0", "NRestarts": "0"})

    def test_without_a_url_the_sender_ends_and_has_not_failed(self):
        self.systemctl("start", "bpfmon-push.service")
        wait_for(lambda: self.state("ActiveState", unit="bpfmon-push.service") == "inactive", "its end")
        self.assertEqual(self.state("Result", unit="bpfmon-push.service"), "success")

    def test_nothing_that_users_ask_for_is_forbidden(self):
        command = ("--no-store", "--pss", "-q", "-o", "jsonl:-", "--", "bpfmon", "span", "part", "--", "sleep", "1.5")
        done = self.as_user("bpfmon", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        (summary,) = [line for line in lines if line["kind"] == "summary"]
        self.assertTrue(summary["complete"], summary)
        self.assertGreater(summary["pss_peak_bytes"], 0)
        self.assertEqual([line["name"] for line in lines if line["kind"] == "span"], ["part"])
        # who reads /proc of another user's process finds this
        exes = {line["exe"] for line in lines if line["kind"] == "process"}
        self.assertIn("/usr/bin/sleep", exes)

    def test_services_are_jobs_as_long_as_they_run(self):
        self.assertIn(("service", "systemd-journald.service"), self.jobs())
        self.as_service("found", "sleep", "1000")
        wait_for(lambda: ("service", "found.service") in self.jobs(), "the service among the jobs")
        self.systemctl("stop", "found")
        wait_for(lambda: ("service", "found.service") not in self.jobs(), "its end")

    def test_a_service_that_has_ended_is_in_the_history(self):
        self.as_service("past", "sleep", "1000")
        wait_for(lambda: ("service", "past.service") in self.jobs(), "the service among the jobs")
        self.systemctl("stop", "past")

        def kept():
            done = self.machine.enter("bpfmon", "list", "--node", "--json", "--job", "service/past.service")
            return any(json.loads(line)["state"] == "ended" for line in done.stdout.splitlines())

        wait_for(kept, "the service in the history")
        said = self.machine.said("stat", "-c", "%U %a", "/var/lib/bpfmon", "/var/lib/bpfmon/node.db")
        self.assertEqual(said.split(), ["bpfmon", "700", "bpfmon", "600"])

    def test_a_reload_takes_the_configuration_and_runs_go_on(self):
        lines, before = self.begin_run(), self.state("MainPID")
        self.assertEqual(self.as_user("bpfmon", "jobs").returncode, 0)
        self.configure("[agent]\nuser_group = bpfmon-admin\nadmin_group = bpfmon-admin\n")
        self.systemctl("reload", "bpfmon-agent.service")
        wait_for(lambda: self.as_user("bpfmon", "jobs").returncode == 2, "a user who is in no group is refused")
        wait_for(lambda: self.state("ActiveState") == "active", "the end of the reload")
        self.assertEqual(self.state("MainPID"), before)
        summary, code = self.end_run(lines)
        self.assertEqual((summary["complete"], code), (True, 7))

    def test_a_reload_with_a_wrong_configuration_fails_and_the_agent_goes_on(self):
        before = self.state("MainPID")
        self.configure("[agent]\nintervall = 1s\n")
        done = self.machine.enter("systemctl", "reload", "bpfmon-agent.service")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/etc/bpfmon/agent.conf:2:", self.machine.said("journalctl", "-q", "-o", "cat", "-u", "bpfmon-agent.service"))
        self.assertEqual(self.state("ActiveState", "MainPID"), {"ActiveState": "active", "MainPID": before})
        self.assertIn(("node", "the whole node"), self.jobs())

    def journal(self, since=0):
        """Priority and text of the lines of the agent, without the first `since`."""
        said = self.machine.said("journalctl", "-q", "-o", "json", "-u", "bpfmon-agent.service")
        lines = [json.loads(line) for line in said.splitlines()]
        return [(int(line["PRIORITY"]), line["MESSAGE"]) for line in lines if line["MESSAGE"].startswith("bpfmon: ")][since:]

    def test_the_journal_has_a_line_for_each_change_with_its_priority(self):
        self.systemctl("stop", "bpfmon-agent.service")
        wait_for(lambda: "the agent is stopping" in self.journal()[-1][1], "the line of the stop before")
        self.configure("[agent]\nadmin_group = bpfmon-no-such-group\n")
        since = len(self.journal())
        self.systemctl("start", "bpfmon-agent.service")
        wait_for(lambda: len(self.journal(since)) >= 2, "the lines of the start")
        start = self.journal(since)
        self.assertEqual(start[0][0], 5)
        self.assertRegex(start[0][1], r"^bpfmon: the agent listens on /run/bpfmon/agent.sock: version \S+, hierarchy \w+, adopted processes: \d+, jobs: \d+, ")
        self.assertEqual({priority for priority, _ in start[1:]}, {4})
        self.assertEqual(len([text for _, text in start if "there is no group 'bpfmon-no-such-group'" in text]), 1)
        self.assertEqual(len(start), len(set(start)))
        since = len(self.journal())
        self.configure("[agent]\ninterval = 2s\n")
        self.systemctl("reload", "bpfmon-agent.service")
        reloaded = (5, "bpfmon: reloaded the configuration; files: 1, own rules: 0")
        wait_for(lambda: self.journal(since) == [reloaded], "the line of the reload")
        since = len(self.journal())
        self.configure("[agent]\nintervall = 2s\n")
        self.assertNotEqual(self.machine.enter("systemctl", "reload", "bpfmon-agent.service").returncode, 0)
        wait_for(lambda: [priority for priority, text in self.journal(since) if "/agent.conf:2: " in text] == [3], "the refused configuration")
        lines, since = self.begin_run(), len(self.journal())
        self.systemctl("stop", "bpfmon-agent.service")
        wait_for(lambda: self.journal(since), "the line of the stop")
        self.assertEqual(self.journal(since), [(5, "bpfmon: the agent is stopping; runs left to the next agent: 1")])
        self.end_run(lines)

    def test_an_ordinary_user_sees_the_health_of_the_service(self):
        done = self.as_user("bpfmon", "agent", "--status")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^agent +healthy, version ")
        self.systemctl("stop", "bpfmon-agent.service", "bpfmon-agent.socket")
        self.assertEqual(self.as_user("bpfmon", "agent", "--status").returncode, 2)

    def test_drop_ins_are_read_by_all_services(self):
        folder = self.root / "etc/bpfmon/agent.conf.d"
        folder.mkdir()
        self.addCleanup(shutil.rmtree, folder)
        (folder / "10.conf").write_text("[agent]\ninterval = 300ms\n[exporter]\nlisten =\n")
        self.systemctl("reload", "bpfmon-agent.service")

        def interval():
            return json.loads(self.as_user("bpfmon", "agent", "--status", "--json").stdout)["interval_seconds"]

        wait_for(lambda: interval() == 0.3, "the interval of the drop-in")
        self.systemctl("start", "bpfmon-exporter.service")
        wait_for(lambda: self.state("ActiveState", unit="bpfmon-exporter.service") == "inactive", "its end")
        self.assertEqual(self.state("Result", unit="bpfmon-exporter.service"), "success")

    def test_a_restart_ends_no_run(self):
        lines = self.begin_run()
        for _ in range(3):
            self.systemctl("restart", "bpfmon-agent.service")
        self.assertIn("run", {kind for kind, _ in self.jobs()})
        summary, status = self.end_run(lines)
        self.assertEqual(status, 7)
        self.assertTrue(summary["complete"], summary)
        self.assertEqual(summary["processes_total"], summary["forks"] + 1)

    def kept(self):
        """The inodes of the sockets without a name that systemd keeps: each renewal has another one."""
        init = pathlib.Path(f"/proc/{self.machine.init}")
        lines = [line.split() for line in (init / "net/unix").read_text().splitlines()[1:]]
        unnamed = {f"socket:[{line[6]}]" for line in lines if line[4] == "0005" and len(line) == 7}  # SOCK_SEQPACKET
        found = set()
        for fd in (init / "fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                found.add(os.readlink(fd))
        return found & unnamed

    def test_a_kill_ends_no_run(self):
        wait_for(self.kept, "what the agent leaves")
        before = self.kept()
        lines = self.begin_run()
        wait_for(lambda: self.kept() and not self.kept() & before, "what it leaves of the run")
        os.kill(self.agent(), signal.SIGKILL)
        wait_for(lambda: any(kind == "run" for kind, _ in self.jobs()), "the next agent", seconds=60)
        summary, status = self.end_run(lines)
        self.assertEqual(status, 7)
        self.assertIn("the agent was killed", summary["reason"])

    def test_a_stop_closes_a_run_as_incomplete_and_its_command_goes_on(self):
        lines = self.begin_run()
        self.systemctl("stop", "bpfmon-agent.service")
        self.assertEqual(self.state("NFileDescriptorStore"), "0")
        self.assertEqual(self.state("SubState", unit="runs"), "running")
        # a new client is served while the old command still runs
        self.assertEqual(self.as_user("bpfmon", "--no-store", "-q", "--", "true").returncode, 0)
        summary, code = self.end_run(lines)
        self.assertEqual((summary["complete"], code), (False, 7))
        self.assertIn("the agent ended", summary["reason"])

    def test_a_stop_is_clean(self):
        lines, agent = self.begin_run(), self.agent()
        self.systemctl("stop", "bpfmon-agent.service")
        self.assertFalse(pathlib.Path(f"/proc/{agent}").exists())
        found = self.state("ActiveState", "Result", "ExecMainStatus", "NRestarts")
        self.assertEqual(found, {"ActiveState": "inactive", "Result": "success", "ExecMainStatus": "0", "NRestarts": "0"})
        self.assertFalse(self.end_run(lines)[0]["complete"])

    def test_an_idle_agent_feeds_the_watchdog(self):
        self.configure("[agent]\ninterval = 1h\n")
        self.override("[Service]\nWatchdogSec=2\n")
        self.systemctl("restart", "bpfmon-agent.service")
        before = self.state("MainPID")
        self.machine.said("sleep", "7")
        self.assertEqual(self.state("ActiveState", "MainPID", "NRestarts"), {"ActiveState": "active", "MainPID": before, "NRestarts": "0"})

    def test_the_watchdog_ends_an_agent_that_hangs_and_another_serves(self):
        self.override("[Service]\nWatchdogSec=2\nTimeoutAbortSec=1\nRestartSec=0\n")
        self.systemctl("restart", "bpfmon-agent.service")
        os.kill(self.agent(), signal.SIGSTOP)
        wait_for(lambda: self.state("NRestarts") == "1", "the restart")
        wait_for(lambda: self.state("SubState") == "running", "the other agent")
        self.assertIn(("node", "the whole node"), self.jobs())

    def test_a_killed_agent_is_started_again(self):
        os.kill(self.agent(), signal.SIGKILL)
        wait_for(lambda: self.state("NRestarts") == "1" and self.state("SubState") == "running", "the other agent")
        self.assertIn(("node", "the whole node"), self.jobs())

    def test_the_agent_has_only_the_rights_that_it_needs(self):
        status = status_of(self.agent())
        self.assertIn(int(status["Uid"].split()[0]), range(61184, 65520))
        needed = sum(1 << bit for bit in RIGHTS)
        for which, rights in {"Prm": needed, "Eff": needed, "Bnd": 0, "Inh": 0, "Amb": 0}.items():
            self.assertEqual(int(status["Cap" + which], 16), rights, which)
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
