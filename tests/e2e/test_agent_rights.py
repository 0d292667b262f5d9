# SPDX-License-Identifier: BSD-2-Clause
"""Who may see and follow what through the agent."""

import grp
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

from lib.agent import DESCRIBED, DESCRIPTION, NOBODY, OTHER, READY, START, STOP, TEXT_BYTES
from lib.agent import AgentCase
from lib.bpfmon import BPFMON, truth
from lib.live import PATIENCE, wait_for

SAMPLED = True


class Rights(AgentCase):
    CONFIG = "[limits]\nrequests_per_second = 10000\n"

    def setUp(self):
        super().setUp()
        self.before = self.state()
        self.addCleanup(lambda: self.assert_sound(self.before))

    def refused(self, c):
        text = c.is_refused()
        self.assertLess(len(text), TEXT_BYTES - 1)
        self.assertNotIn("\n", text)
        return text

    def follow(self, pid_fd, uid=NOBODY, kind="processes"):
        return self.client(uid).request(kind, [("process", pid_fd)])

    def test_processes_of_others_are_refused(self):
        count = self.agent.report()["refused"]
        roots = subprocess.Popen(["sleep", "60"])
        self.addCleanup(roots.wait)
        self.addCleanup(roots.kill)
        others = self.start("sleep", "60", uid=OTHER)
        for kind in ("processes", "command"):
            for pid in (1, roots.pid, others.pid, self.agent.pid, os.getpid()):
                with self.subTest(pid=pid, kind=kind):
                    self.assertRegex(self.refused(self.follow(self.pidfd(pid), kind=kind)), "user")
        self.assertEqual(self.agent.report()["refused"], count + 10)

    def test_a_program_with_rights_of_its_own_is_refused(self):
        sleeper = self.dir / "sleeper"
        shutil.copy("/bin/sleep", sleeper)
        os.chown(sleeper, 0, 0)
        sleeper.chmod(0o4755)
        p = self.start(sleeper, "60")
        try:
            self.assertRegex(self.refused(self.follow(self.pidfd(p.pid))), "another user|protected")
        finally:
            p.kill()

    def test_an_ended_process_is_refused(self):
        p = self.start("true")
        fd = self.pidfd(p.pid)
        p.wait()
        self.assertRegex(self.refused(self.follow(fd)), "ended")
        p = self.start("true")
        fd = self.pidfd(p.pid)
        wait_for(lambda: pathlib.Path(f"/proc/{p.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z", "its end")
        self.assertRegex(self.refused(self.follow(fd)), "ended")

    def test_a_user_sees_own_jobs_only(self):
        mine, others = self.start("sleep", "60"), self.start("sleep", "60", uid=OTHER)
        for p, uid in ((mine, NOBODY), (others, OTHER)):
            c = self.follow(self.pidfd(p.pid), uid)
            self.assertEqual(c.answer()[0], READY)
            c.message(DESCRIPTION, DESCRIBED)
            c.packet(START, when_ns=time.monotonic_ns())
            c.lines(lambda l: l["kind"] == "sample")
        for uid, seen in ((NOBODY, {NOBODY}), (OTHER, {OTHER}), (0, {NOBODY, OTHER})):
            with self.subTest(uid=uid):
                runs = [l for l in self.agent.jobs(uid) if l["kind"] == "meta" and l["node_job"]["kind"] == "run"]
                self.assertEqual({l["node_job"]["uid"] for l in runs}, seen)
                kinds = {l["node_job"]["kind"] for l in self.agent.jobs(uid) if l["kind"] == "meta"}
                self.assertEqual("node" in kinds, uid == 0)
                self.assertNotIn("command", runs[0])

    def test_another_users_job_is_like_one_that_is_not_there(self):
        ids = [l["node_job"]["id"] for l in self.agent.jobs(0) if l["kind"] == "meta" and l["node_job"]["kind"] != "run"]
        texts = set()
        for job in (*ids, "no/such", "\x1b[31m"):
            text = self.refused(self.client(NOBODY).request("job", job=job))
            self.assertNotIn("\x1b", text)
            texts.add(text.replace(f"'{job}'", "JOB").replace("'?[31m'", "JOB"))
        self.assertEqual(len({t for t in texts if "JOB" in t}), 1, texts)

    def test_wishes_beyond_the_rights_are_refused(self):
        p = self.start("sleep", "60")
        fd = self.pidfd(p.pid)
        for wishes, pattern in (({"interval_ns": 10000000}, "interval"), ({"exact_peak": True}, "exact-peak"), ({"net_peers": 5}, "net-peers")):
            c = self.client(NOBODY).request("processes", [("process", fd)], **wishes)
            self.assertRegex(self.refused(c), pattern)

    def test_names_cannot_forge_lines(self):
        p = self.start("sleep", "60")
        stream = self.client().listen()
        c = self.follow(self.pidfd(p.pid))
        self.assertEqual(c.answer()[0], READY)
        name = "é" * 300 + '"}\n{"kind":"agent"'
        c.message(DESCRIPTION, json.dumps({**json.loads(DESCRIBED), "name": name, "user": "root", "uid": 0}).encode())
        c.packet(START, when_ns=time.monotonic_ns())
        meta = stream.lines(lambda l: l["kind"] == "meta" and l["node_job"]["kind"] == "run")[-1]
        self.assertEqual((meta["node_job"]["uid"], meta["node_job"]["user"]), (NOBODY, "nobody"))
        self.assertNotIn("\n", meta["node_job"]["name"])

    def test_what_another_user_runs_in_the_tree_has_numbers_only(self):
        program = self.dir / "setuidchild"
        shutil.copy(truth("setuidchild"), program)
        program.chmod(0o4755)
        code, said, lines = self.run_through("sh", "-c", f"{program} {OTHER} 100; true", env={"TRUTH_OUT": "/dev/null"})
        self.assertEqual(code, 0, said)
        self.assertTrue(lines[-1]["complete"])
        others = [l for l in lines if l["kind"] == "process" and l.get("uid") == OTHER]
        self.assertEqual(len(others), 1, lines)
        self.assertGreaterEqual(others[0]["cpu_seconds"], 0.1)
        self.assertEqual((others[0]["exe"], others[0].get("args")), (None, None))
        mine = [l for l in lines if l["kind"] == "process" and l.get("uid") == NOBODY]
        self.assertTrue(any(l["exe"] for l in mine), mine)

    def test_no_args(self):
        for options, has in (((), True), (("--no-args",), False)):
            code, said, lines = self.run_through("sh", "-c", "true secret", options=options)
            self.assertEqual(code, 0, said)
            processes = [l for l in lines if l["kind"] == "process"]
            self.assertEqual(any(l.get("args") for l in processes), has, processes)


class Groups(AgentCase):
    GROUP = "daemon"

    def test_members_of_the_groups_only(self):
        gid = grp.getgrnam(self.GROUP).gr_gid
        self.new_agent(f"[agent]\nuser_group = {self.GROUP}\n")
        self.assertRegex(self.client(NOBODY).is_refused(), "user_group")
        self.assertEqual(self.client(NOBODY, [gid]).request("node", once=True).answer()[0], READY)
        self.new_agent(f"[agent]\nadmin_group = {self.GROUP}\n")
        for groups, sees in (((), False), ((gid,), True)):
            c = self.client(NOBODY, groups)
            kinds = {l["node_job"]["kind"] for l in c.listen_once() if l["kind"] == "meta"}
            self.assertEqual("node" in kinds, sees)

    def test_without_the_group_of_administrators_root_alone_is_one(self):
        agent = self.new_agent("[agent]\nadmin_group = bpfmon-no-such-group\n")
        self.assertIn("to make it: groupadd --system bpfmon-no-such-group", agent.said())
        self.assertIn("node", {line["node_job"]["kind"] for line in agent.jobs(uid=0) if "node_job" in line})
        seen = [line["node_job"] for line in agent.jobs() if "node_job" in line]  # of other tests that run as nobody
        self.assertEqual([job for job in seen if job["uid"] != NOBODY or job["kind"] == "node"], [])

    def test_a_listener_that_is_not_roots_gets_nothing(self):
        path = self.dir / "a.sock"
        pid = os.fork()
        if not pid:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            s.bind(str(path))
            s.listen(1)
            c, _ = s.accept()
            os._exit(1 if c.recv(2000) else 0)
        wait_for(path.exists, "the socket")
        time.sleep(0.05)
        done = subprocess.run(
            [BPFMON, "--agent", str(path), "--", "true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
        )
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"does not run as root", done.stderr)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
