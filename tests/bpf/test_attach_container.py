# SPDX-License-Identifier: BSD-2-Clause
"""Attaching to a container by its name: its first process, and what is executed in it later."""

import os
import subprocess

from lib.attach import AttachCase
from lib.bpfmon import BPFMON, read_lines
from lib.containers import ContainersCase
from lib.live import status_of, wait_for

SAMPLED = True
FOREVER = ["/bin/spin", "600000"]


class Attach(ContainersCase, AttachCase):
    def call(self, *argv, env=None):
        done = subprocess.run(argv, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def watch(self, name, *options, before=(), env=None):
        out = self.dir / "attach.jsonl"
        argv = [*before, BPFMON, "attach", "-i", "0.1", "-o", str(out), "--container", name, *options]
        process = self.start(*argv, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.out = out
        return process

    def check(self, run, executed):
        """One process was there, another was executed in it from outside and burnt 0.3 s."""
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        self.assertEqual([e for e in run.kind("event") if e["event"] == "cgroup_differs"], [])
        first = self.only(p for p in run.processes if p["ns_pid"] == 1)
        self.assertEqual(first["exe"].rpartition("/")[2], "spin")
        self.assertEqual(first["signal"], 9)
        inside = [p for p in run.processes if p["comm"] == "spin" and p["ns_pid"] != 1]
        self.assertEqual(len(inside), executed)
        for process in inside:
            self.assert_cpu(process["cpu_seconds"], 0.3, above=0.05)
        return first

    def test_podman(self):
        environment, podman = self.podman()
        self.addCleanup(self.call, "podman", "rm", "--force", "--time=0", "--ignore", self.name, env=environment)
        podman[2:2] = ["--detach", f"--name={self.name}"]
        container = self.call(*podman, *FOREVER, env=environment)
        watcher = self.watch(self.name, env=environment)
        self.wait_until_attached(watcher)
        self.call("podman", "exec", self.name, "/bin/spin", "300", env=environment)
        self.call("podman", "kill", self.name, env=environment)
        run = self.finish(watcher)  # the cgroup of the container goes with it
        self.check(run, 1)
        attached = run.meta["attached"]
        self.assertEqual((attached["engine"], attached["container"]), ("podman", container))
        self.assertIn(container, attached["cgroup"])
        self.assertEqual([e["event"] for e in run.kind("event")], ["cgroup_removed"])

    def check_runtime(self, name):
        command = self.runtime(name, *FOREVER)
        at = command.index("run")
        command.insert(at + 1, "--detach")
        self.addCleanup(self.call, *command[:at], "delete", "--force", self.name)
        # not to pipes: the container has what its runtime has, and lives on
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        watcher = self.watch(f"{name}:{self.name}", "--duration", "60")
        self.wait_until_attached(watcher)
        self.call(*command[:at], "exec", self.name, "/bin/spin", "300")
        self.call(*command[:at], "kill", self.name, "KILL")
        wait_for(lambda: any(s["processes"] == 0 for s in read_lines(watcher.out) if s["kind"] == "sample"), "its end")
        watcher.terminate()
        run = self.finish(watcher)
        self.check(run, 1)
        self.assertEqual(run.meta["attached"]["container"], self.name)

    def test_runc(self):
        self.check_runtime("runc")

    def test_crun(self):
        self.check_runtime("crun")

    def test_one_of_a_user_that_has_no_cgroup_of_its_own(self):
        """It stays in that of its caller: the first process and its descendants are followed."""
        self.needs("podman", "runc")
        self.needs_namespaces_for_nobody()
        uid, there = self.user()
        # one namespace of mounts for all calls, as a user's session has
        script = 'podman=$1; shift; eval "$podman" >"$0/id" && "$@"'
        podman = ["podman", "run", f"--name={self.name}", "--detach", *self.podman_options()]
        start = " ".join([*self.become(uid), *podman, *FOREVER])
        before = [*there, "sh", "-c", script, str(self.dir), start]
        sudo = {"SUDO_UID": str(uid), "SUDO_GID": str(uid), **self.configure()}
        watcher = self.watch(self.name, "--record-as", "root", before=before, env=sudo)
        self.wait_until_attached(watcher)
        first = self.only(read_lines(watcher.out)[0]["attached"]["pids"])
        self.assertEqual(status_of(first)["NSpid"].split()[-1], "1")
        os.kill(first, 9)
        run = self.finish(watcher)
        self.assertEqual(self.check(run, 0)["pid"], first)
        self.assertIn("no cgroup of its own", run.stderr)

    def test_a_container_that_no_engine_knows(self):
        environment, _ = self.podman()
        for name, word in (("no-such", "no container 'no-such'"), ("runc:no-such", "in runc"), ("", "--container")):
            done = subprocess.run([BPFMON, "attach", "--container", name], env={**os.environ, **environment},
                                  stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(word, done.stderr)
