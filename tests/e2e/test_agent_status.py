# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon agent --status: what it shows, to whom, and its exit status; drop-ins of the configuration."""

import json
import os
import re
import signal
import subprocess

from lib.agent import NOBODY, OTHER, AgentCase
from lib.bpfmon import BPFMON, truth
from lib.endpoint import EXPORTER
from lib.live import PATIENCE, wait_for
from lib.node import V1
from lib.push import AS_USER, PUSH

SAMPLED = True
HIERARCHY = "memory" if V1.exists() else "unified"
HEALTHY, DEGRADED, NO_ANSWER = 0, 1, 2


class StatusCase(AgentCase):
    def status(self, *words, uid=NOBODY, socket=True):
        """Exit status, stdout and stderr."""
        where = ["--socket", self.agent.socket] if socket else []
        process = self.agent.bpfmon("agent", *where, *(words or ["--status"]), uid=uid)
        said, errors = process.communicate(timeout=PATIENCE)
        return process.returncode, said.decode(), errors.decode()

    def line(self, uid=NOBODY):
        _, said, errors = self.status("--status", "--json", uid=uid)
        self.assertEqual((said.count("\n"), errors), (1, ""))
        return json.loads(said)


class Status(StatusCase):
    def test_an_ordinary_user_sees_what_other_witnesses_see(self):
        self.new_agent("interval = 300ms\n")
        run = self.agent.bpfmon("--no-store", "--", "sleep", "600", uid=OTHER)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        wait_for(lambda: self.line()["runs"] == 1, "the run")
        code, said, errors = self.status()
        self.assertEqual((code, errors), (HEALTHY, ""))
        version = subprocess.run([BPFMON, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]
        self.assertRegex(said, rf"(?m)^agent +healthy, version {re.escape(version)}, since 20.*$")
        self.assertRegex(said, rf"(?m)^hierarchy +{HIERARCHY}, a sample every 300 ms$")
        self.assertRegex(said, r"(?m)^jobs +\d+, runs 1, clients 2$")
        self.assertRegex(said, r"(?m)^cost .* % of a core, .* resident, .* in the kernel$")
        self.assertRegex(said, r"(?m)^losses +none\nhistory +not kept$")
        line = self.line()
        self.assertEqual((line["schema"], line["kind"], line["degraded"], line["version"]), ("bpfmon/1", "agent", False, version))
        warnings = [text.removeprefix("warning: ") for text in said.splitlines() if text.startswith("warning: ")]
        self.assertEqual(warnings, line.get("notices", []))
        self.assertGreaterEqual(self.agent.cpu_seconds() + 0.02, line["cpu_seconds"])
        self.assertLess(line["start_time"], line["time"])

    def test_the_socket_is_that_of_the_configuration(self):
        self.new_agent()
        config = self.agent.folder / "agent.conf"
        self.assertEqual(self.status("--status", "--config", config, socket=False)[0], HEALTHY)
        code, _, errors = self.status("--json")
        self.assertEqual((code, errors), (2, "bpfmon: --json needs --status\n"))

    def test_without_an_agent_there_is_no_answer(self):
        self.new_agent().end()
        code, said, errors = self.status()
        self.assertEqual((code, said), (NO_ANSWER, ""))
        self.assertIn("is bpfmon-agent running?", errors)
        self.assertEqual(self.status("--alive")[0], NO_ANSWER)

    def test_an_agent_that_hangs_gives_no_answer(self):
        self.new_agent()
        os.kill(self.agent.pid, signal.SIGSTOP)
        try:
            code, said, errors = self.status()
        finally:
            os.kill(self.agent.pid, signal.SIGCONT)
        self.assertEqual((code, said), (NO_ANSWER, ""))
        self.assertIn("the agent has not answered for 10 s", errors)
        self.assertEqual(self.status()[0], HEALTHY)

    def test_a_user_who_may_not_connect_gets_the_reason(self):
        self.new_agent("user_group = root\n")
        code, said, errors = self.status()
        self.assertEqual((code, said), (NO_ANSWER, ""))
        self.assertIn("only members of a group may connect", errors)
        self.assertEqual(self.status(uid=0)[0], HEALTHY)

    def test_a_spoilt_history_degrades_until_it_is_repaired(self):
        self.new_agent()
        folder = self.agent.folder / "store"
        folder.mkdir(mode=0o700)
        store = folder / "node.db"
        store.write_bytes(os.urandom(8192))
        for path in (folder, store):
            os.chown(path, NOBODY, NOBODY)
        self.agent.end()
        self.agent.configure(f"[agent]\n[history]\nstore = {store}\n")
        self.agent.start()
        wait_for(lambda: self.status()[0] == DEGRADED, "the trouble")
        code, said, _ = self.status()
        self.assertEqual(code, DEGRADED)
        self.assertRegex(said, r"(?m)^agent +degraded, ")
        self.assertRegex(said, r"(?m)^warning: jobs are not saved in the history: ")
        self.assertEqual(self.status("--alive"), (HEALTHY, "", ""))
        self.assertTrue(self.line()["degraded"])
        self.assertEqual(self.agent.said().count("cannot write the history"), 1)
        store.unlink()
        wait_for(lambda: self.status()[0] == HEALTHY, "the end of the trouble")

    def test_a_history_that_cannot_be_kept_degrades(self):
        self.new_agent()
        self.agent.end()
        self.agent.configure(f"[agent]\n[history]\nstore = {self.agent.folder}/node.db\n")
        self.agent.start()
        code, said, _ = self.status()
        self.assertEqual(code, DEGRADED)
        self.assertIn("has the agent's socket and must remain root's", said)

    def test_losses_degrade(self):
        tasks = len(subprocess.run(["ps", "-eL", "-o", "lwp="], stdout=subprocess.PIPE, check=True).stdout.splitlines())
        self.new_agent(f"max_tasks = {tasks + 200}\n")
        room = self.line()["max_tasks"] - self.line()["tasks"]
        self.start(truth("liveprocs"), room + 300, 1).wait()
        wait_for(lambda: self.status()[0] == DEGRADED, "the loss")
        line, (_, said, _) = self.line(), self.status()
        lost = {name: number for name, number in line["losses"].items() if number}
        self.assertLessEqual(set(lost), {"tasks", "processes"})
        listed = ", ".join(f"{name} {number}" for name, number in lost.items())
        self.assertRegex(said, f"(?m)^losses +{listed}$")
        self.assertIn(f"\nwarning: data was lost since the start, and jobs are incomplete: {listed}\n", said)
        self.assertEqual(self.status("--alive")[0], HEALTHY)
        self.assertEqual(self.agent.said().count("data was lost since the start"), 1)


class Journal(StatusCase):
    def test_start_reload_and_stop_have_a_line_each(self):
        self.new_agent()
        run = self.agent.bpfmon("--no-store", "--", "sleep", "600")
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        wait_for(lambda: self.line()["runs"] == 1, "the run")
        self.agent.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "reloaded the configuration; files: 1, own rules: 0" in self.agent.said(), "the reload")
        self.agent.end()
        said = self.agent.said()
        start = rf"bpfmon: the agent listens on {self.agent.socket}: version \S+, hierarchy {HIERARCHY}, adopted processes: \d+, jobs: \d+, "
        self.assertRegex(said, rf"(?m)^{start}continued runs: 0, continued jobs: 0, configuration files: 1, own rules: 0, history: none$")
        self.assertRegex(said, r"(?m)^bpfmon: the agent is stopping; runs that end as incomplete: 1$")


class DropIns(StatusCase):
    def drop_in(self, name, text):
        folder = self.agent.folder / "agent.conf.d"
        folder.mkdir(exist_ok=True, mode=0o755)
        path = folder / name
        path.write_text(text)
        path.chmod(0o644)
        return path

    def reload(self, said):
        before = self.agent.said().count(said)
        self.agent.process.send_signal(signal.SIGHUP)
        wait_for(lambda: self.agent.said().count(said) > before, said)

    def check(self):
        words = [BPFMON, "agent", "--check", "--config", self.agent.folder / "agent.conf"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE)
        return done.returncode, done.stdout + done.stderr

    def test_drop_ins_are_read_in_the_order_of_their_names(self):
        self.new_agent()
        last = self.drop_in("20.conf", "[agent]\ninterval = 700ms\n")
        first = self.drop_in("10.conf", "[agent]\ninterval = 600ms\n[rule b]\nkind = none\npattern = /b\n")
        config = self.agent.folder / "agent.conf"
        self.assertEqual(self.check(), (0, f"the configuration is valid: {config}, {first}, {last}\n"))
        self.reload("reloaded the configuration; files: 3, own rules: 1")
        self.assertEqual(self.line()["interval_seconds"], 0.7)
        last.unlink()
        self.reload("reloaded the configuration; files: 2, own rules: 1")
        self.assertEqual(self.line()["interval_seconds"], 0.6)

    def test_a_wrong_drop_in_is_refused_with_its_line_by_all_programs(self):
        self.new_agent()
        path = self.drop_in("10.conf", "[agent]\nintervall = 1s\n")
        wrong = f"{path}:2: [agent] has no key intervall; did you mean interval?\n"
        self.assertEqual(self.check(), (2, f"bpfmon: {wrong}"))
        self.reload(f"keeping the previous configuration: {wrong}")
        self.assertEqual(self.line()["interval_seconds"], 0.2)
        for program in (EXPORTER, PUSH):
            words = [program, *AS_USER, "--config", self.agent.folder / "agent.conf"]
            done = subprocess.run(words, stderr=subprocess.PIPE, text=True, check=False, timeout=PATIENCE)
            self.assertNotEqual(done.returncode, 0, program)
            self.assertIn(wrong, done.stderr, program)

    def test_a_drop_in_or_folder_of_another_user_is_refused(self):
        self.new_agent()
        path = self.drop_in("10.conf", "[agent]\ninterval = 1s\n")
        for refused in (path, path.parent):
            os.chown(refused, NOBODY, NOBODY)
            code, said = self.check()
            self.assertEqual((code, said), (2, f"bpfmon: refusing to read {refused}: its owner is not root; run: chown root {refused}\n"))
            os.chown(refused, 0, 0)
        self.assertEqual(self.check()[0], 0)

    def test_rules_of_drop_ins_are_tried_in_order(self):
        self.new_agent()
        self.drop_in("10.conf", "[rule night]\nkind = night\npattern = /bpfmon-test-{n:number}\n")
        self.drop_in("20.conf", "[rule day]\nkind = day\npattern = /bpfmon-test-{n}\n")
        self.reload("reloaded the configuration; files: 3, own rules: 2")
        for name, job in ((str(os.getpid()), f"night/{os.getpid()}"), (f"x{os.getpid()}", f"day/x{os.getpid()}")):
            self.start_in(f"bpfmon-test-{name}", HIERARCHY)
            wait_for(lambda job=job: job in self.ids(), job)

    def ids(self):
        return {line["node_job"]["id"] for line in self.agent.jobs(uid=0) if line["kind"] == "meta"}
