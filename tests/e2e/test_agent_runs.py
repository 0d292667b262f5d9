# SPDX-License-Identifier: BSD-2-Clause
"""Runs within runs, attachments to what others follow, and whatever ends while somebody follows it."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

from lib.agent import DESCRIBED, DESCRIPTION, NOBODY, READY, START, STOP
from lib.agent import AT_USUAL_PLACE, AgentCase
from lib.bpfmon import BPFMON, truth
from lib.cgroups import UNIFIED
from lib.live import PATIENCE, descendants_of, wait_for
from lib.node import rmdir_patiently


def arguments_of(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def last(lines):
    return lines[-1]


class Nested(AgentCase):
    CONFIG = "[limits]\nrequests_per_second = 10000\n"

    def setUp(self):
        super().setUp()
        self.before = self.state()
        self.addCleanup(lambda: self.assert_sound(self.before))  # when its clients have been closed

    def output(self, name):
        path = self.dir / name
        path.touch()
        os.chown(path, NOBODY, NOBODY)
        return path

    def summary(self, path):
        return json.loads(path.read_text().splitlines()[-1])

    def inner(self, out, *command):
        return [BPFMON, "--force", "-o", str(out), "--", *map(str, command)]

    def test_a_run_in_a_run_is_in_both(self):
        out = self.output("inner")
        code, said, lines = self.run_through(*self.inner(out, truth("spin"), 300))
        self.assertEqual(code, 0, said)
        outer, inner = last(lines), self.summary(out)
        self.assertTrue(outer["complete"] and inner["complete"])
        self.assertGreaterEqual(inner["cpu_seconds"], 0.3)
        self.assertGreaterEqual(outer["cpu_seconds"], inner["cpu_seconds"])
        self.assertEqual(inner["processes_total"], 1)

    def inner_that_outlives(self, out, stop):
        script = f'setsid "$@" >/dev/null 2>&1 & while ! [ -s {stop}.started ]; do sleep 0.01; done'
        command = ["sh", "-c", f"echo >{stop}.started; while ! [ -e {stop} ]; do sleep 0.02; done; exec {truth('spin')} 200"]
        return ["sh", "-c", script, "sh", *self.inner(out, *command)]

    def end_outliving(self, out, stop):
        for _ in range(20):  # whatever the agent allocates meanwhile
            self.assertTrue(self.agent.is_alive(), self.agent.said()[-3000:])
            self.agent.jobs()
        pathlib.Path(stop).touch()
        wait_for(lambda: out.stat().st_size and '"kind":"summary"' in out.read_text(), "the inner's summary")
        inner = self.summary(out)
        self.assertTrue(inner["complete"], inner)
        self.assertGreaterEqual(inner["cpu_seconds"], 0.2)
        return inner

    def test_the_inner_outlives_the_outer(self):
        out, stop = self.output("inner"), self.dir / "stop"
        code, said, lines = self.run_through(*self.inner_that_outlives(out, stop))
        self.assertEqual(code, 0, said)
        self.assertTrue(last(lines)["complete"])
        self.assertLess(last(lines)["cpu_seconds"], 0.2)
        self.end_outliving(out, stop)

    def test_the_outer_is_killed_and_the_inner_goes_on(self):
        out, stop = self.output("inner"), self.dir / "stop"
        command = self.inner_that_outlives(out, stop)
        command[2] += "; sleep 3600"
        outer = self.agent.bpfmon("--", *command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for((self.dir / "stop.started").exists, "the inner run")
        left = wait_for(
            lambda: [p for p in descendants_of(outer.pid) if arguments_of(p) == b"sleep\0003600\0"], "its last command"
        )
        outer.kill()
        outer.wait()
        wait_for(lambda: self.clients() == 2, "the end of the outer run")
        self.end_outliving(out, stop)
        for pid in left:
            os.kill(pid, signal.SIGKILL)

    def attach(self, *pids, uid=NOBODY, **wishes):
        c = self.client(uid).request("processes", [("process", self.pidfd(p)) for p in pids], **wishes)
        kind, _, text = c.answer()
        self.assertEqual(kind, READY, text)
        c.message(DESCRIPTION, DESCRIBED)
        c.packet(START, when_ns=time.monotonic_ns())
        self.assertEqual(c.lines(lambda line: line["kind"] == "sample")[-1]["kind"], "sample")
        return c

    def stop(self, c):
        c.packet(STOP)
        return last(c.lines(lambda line: line["kind"] == "summary"))

    def test_two_clients_follow_the_same_process(self):
        script = 'read a; "$0" 200; echo; read b; "$0" 200; echo; read c; "$0" 200; echo; read d'
        p = self.start("sh", "-c", script, truth("spin"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def step():
            p.stdin.write(b"\n")
            p.stdin.flush()
            p.stdout.readline()

        for inner_ends_first in (True, False):
            with self.subTest(inner_ends_first=inner_ends_first):
                p = self.start("sh", "-c", script, truth("spin"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                outer = self.attach(p.pid)
                step()
                inner = self.attach(p.pid)
                step()
                first = self.stop(inner if inner_ends_first else outer)
                step()
                second = self.stop(outer if inner_ends_first else inner)
                p.kill()
                of_inner, of_outer = (first, second) if inner_ends_first else (second, first)
                self.assertGreaterEqual(of_inner["cpu_seconds"], 0.2 if inner_ends_first else 0.4)
                self.assertLess(of_inner["cpu_seconds"], 0.3 if inner_ends_first else 0.5)
                self.assertGreaterEqual(of_outer["cpu_seconds"], 0.6 if inner_ends_first else 0.4)
                self.assertLess(of_outer["cpu_seconds"], 0.7 if inner_ends_first else 0.5)

    def test_an_attachment_does_not_take_the_processes_of_a_run_that_began_before(self):
        out, stop = self.output("inner"), self.dir / "stop"
        command = ["sh", "-c", f"while ! [ -e {stop} ]; do sleep 0.02; done; exec {truth('spin')} 200"]
        env = {**os.environ, "BPFMON_AGENT": str(self.agent.socket)}
        shell = self.start("sh", "-c", '"$@"; read a', "sh", *self.inner(out, *command), env=env, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        wait_for(lambda: out.stat().st_size and '"kind":"sample"' in out.read_text(), "the run")
        outer = self.attach(shell.pid)
        stop.touch()
        wait_for(lambda: '"kind":"summary"' in out.read_text(), "the summary of the run")
        self.assertGreaterEqual(self.summary(out)["cpu_seconds"], 0.2)
        self.assertTrue(self.summary(out)["complete"])
        of_outer = self.stop(outer)
        self.assertFalse(of_outer["complete"])
        self.assertIn("belong to other runs", of_outer["reason"])

    def test_64_processes(self):
        many = [self.start("sleep", "60") for _ in range(64)]
        c = self.attach(*[p.pid for p in many])
        self.assertEqual(self.stop(c)["processes_total"], 64)

    def test_processes_of_different_runs_cannot_be_followed_together(self):
        a, b = self.start("sleep", "60"), self.start("sleep", "60")
        first = self.attach(a.pid)
        c = self.client(NOBODY).request("processes", [("process", self.pidfd(p.pid)) for p in (a, b)])
        kind, _, text = c.answer()
        self.assertNotEqual(kind, READY)
        self.assertIn("different runs", text)
        self.stop(first)


class Followed(AgentCase):
    def job_that_goes_on(self):
        """Its id; a job with one process that sleeps."""
        self.new_agent(f"[agent]\nhierarchy = unified\n[rule test]\npattern = /bpfmon-test-{os.getpid()}-{{name}}\nkind = test\n")
        group = pathlib.Path("/sys/fs/cgroup") / UNIFIED / f"bpfmon-test-{os.getpid()}-on"
        group.mkdir()
        self.addCleanup(rmdir_patiently, group)
        process = subprocess.Popen([truth("incgroup"), str(group), "sleep", "600"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        with self.client() as c:
            c.listen()
            return last(c.lines(lambda l: l["kind"] == "meta" and l["node_job"]["kind"] == "test"))["node_job"]["id"]

    def test_an_attachment_to_a_job_ends_after_its_duration(self):
        job, out = self.job_that_goes_on(), self.dir / "job.jsonl"
        began = time.monotonic()
        words = ["attach", "-q", "--no-store", "--agent", self.agent.socket, "--job", job, "--duration", "1", "-o", out]
        _, said = self.agent.bpfmon(*words, uid=0).communicate(timeout=PATIENCE)
        self.assertGreaterEqual(time.monotonic() - began, 1)
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual(last(lines)["kind"], "summary", said)
        self.assertIn(job, {line["node_job"]["id"] for line in self.agent.jobs(uid=0) if "node_job" in line})

    def test_a_job_of_the_node_ends_while_it_is_followed(self):
        self.new_agent(f"[agent]\nhierarchy = unified\n[rule test]\npattern = /bpfmon-test-{os.getpid()}-{{name}}\nkind = test\n")
        top = pathlib.Path("/sys/fs/cgroup") / UNIFIED
        before = self.state()
        for i in range(3):
            group = top / f"bpfmon-test-{os.getpid()}-{i}"
            group.mkdir()
            process = subprocess.Popen([truth("incgroup"), str(group), "sleep", "60"])
            stream = self.client().listen()
            meta = stream.lines(lambda l: l["kind"] == "meta" and l["node_job"]["kind"] == "test")[-1]
            c = self.client().request("job", job=meta["node_job"]["id"])
            self.assertEqual(c.answer()[0], READY)
            process.kill()
            process.wait()
            group.rmdir()
            self.assertEqual(last(c.lines(lambda l: l["kind"] == "summary"))["kind"], "summary")
            of_node = stream.lines(lambda l: l["kind"] == "summary" and l["run"] == meta["run"])
            self.assertTrue(last(of_node)["complete"])
            stream.close()
            c.close()
        self.assert_sound(before)

    def test_attach_records_a_job_of_the_node_from_its_beginning(self):
        self.new_agent(f"[agent]\nhierarchy = unified\n[rule test]\npattern = /bpfmon-test-{os.getpid()}-{{name}}\nkind = test\n")
        group = pathlib.Path("/sys/fs/cgroup") / UNIFIED / f"bpfmon-test-{os.getpid()}-old"
        group.mkdir()
        self.addCleanup(group.rmdir)
        path = self.dir / "job.jsonl"
        script = f"{truth('spin')} 300; touch {self.dir}/spun; exec sleep 60"
        process = subprocess.Popen([truth("incgroup"), str(group), "sh", "-c", script])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_for((self.dir / "spun").exists, "what counts although it is over")
        words = ("attach", "--agent", self.agent.socket, "--job", "test/old", "--no-store", "-q", "-o", path)
        attached = self.agent.bpfmon(*words, uid=0)
        wait_for(lambda: path.exists() and b'"kind":"sample"' in path.read_bytes(), "a sample")
        attached.send_signal(signal.SIGINT)
        _, said = attached.communicate(timeout=60)
        self.assertEqual((attached.returncode, said), (0, b""))
        meta, *_, summary = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertEqual((meta["node_job"]["id"], summary["kind"]), ("test/old", "summary"))
        self.assertGreaterEqual(summary["cpu_seconds"], 0.3)

    def test_root_attaches_to_a_job_through_the_agent_at_the_usual_place(self):
        job, out = self.job_that_goes_on(), self.dir / "job.jsonl"
        (self.agent.folder / "agent.sock").hardlink_to(self.agent.socket)
        words = [BPFMON, "attach", "-q", "--no-store", "--job", job, "--duration", "0.5", "-o", out]
        argv = ["unshare", "-m", "sh", "-c", AT_USUAL_PLACE, self.agent.folder, *words]
        done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(out.read_text().splitlines()[-1])["kind"], "summary")


class Orphans(AgentCase):
    CONFIG = ""

    def test_they_are_not_the_launchers(self):
        """It waits for them only without BPF."""
        orphan = "while os.getppid() == middle: time.sleep(0.001)\n print(os.getppid(), flush=True)\n os._exit(0)"
        script = f"import os, time\nend, held = os.pipe()\nif not os.fork():\n middle = os.getpid()\n if os.fork(): os._exit(0)\n {orphan}\n"
        script += "os.close(held)\nos.read(end, 1)"
        process = self.agent.bpfmon("-q", "--no-store", "--", "/usr/bin/python3", "-c", script)
        said, _ = process.communicate(timeout=60)
        self.assertNotEqual(int(said), process.pid)
