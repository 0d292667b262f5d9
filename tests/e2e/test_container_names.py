# SPDX-License-Identifier: BSD-2-Clause
"""A container's name is found with the engines that are installed, and stands for its process."""

import os
import pathlib
import subprocess

from lib.bpfmon import BUILD
from lib.containers import ContainersCase
from lib.live import status_of, wait_for

SAMPLED = True
FIND = str(BUILD / "findcontainer")
COMMAND = ["/bin/spin", "600000"]


class Names(ContainersCase):
    def setUp(self):
        super().setUp()
        environment, self.podman_run = self.podman()  # so that it is not the machine's that is asked
        self.environment = {**os.environ, **environment}

    def call(self, *argv, before=(), **more):
        done = subprocess.run(
            [*before, *argv],
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def start(self, *argv):
        """Starts a container in the background; what the engine says."""
        code, stdout, stderr = self.call(*argv)
        self.assertEqual(code, 0, stderr)
        return stdout.strip()

    def find(self, name):
        code, stdout, stderr = self.call(FIND, name)
        self.assertEqual(code, 0, stdout + stderr)
        return stdout.split()

    def refusal(self, name):
        code, stdout, stderr = self.call(FIND, name)
        self.assertEqual((code, stderr), (1, ""), stdout)
        return stdout.strip()

    def assert_is_ours(self, pid):
        """The process is what we started, and the first in its pid namespace."""
        wait_for(lambda: status_of(pid)["Name"] == "spin", "the container's command")
        self.assertEqual(status_of(pid)["NSpid"].split(), [pid, "1"])
        arguments = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        self.assertEqual(arguments[:-1], COMMAND)

    def root_podman(self, name):
        podman = self.podman_run
        self.addCleanup(self.call, "podman", "rm", "--force", "--time=0", name)
        options = [f"--name={name}", "--detach"]
        return self.start(*podman[:2], *options, *podman[2:], *COMMAND)

    def start_runtime(self, name):
        command = self.runtime(name, *COMMAND)
        at = command.index("run")
        self.addCleanup(self.call, *command[:at], "delete", "--force", self.name)
        command.insert(at + 1, "--detach")
        # not to pipes: the container has what its runtime has, and lives on
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)

    def test_podman_by_name_id_and_the_beginning_of_it(self):
        name = f"{self.name}-web"
        long_id = self.root_podman(name)
        self.assertRegex(long_id, "^[0-9a-f]{64}$")
        for word in (name, long_id, long_id[:12], f"podman:{name}"):
            with self.subTest(word=word):
                engine, found, pid = self.find(word)
                self.assertEqual((engine, found), ("podman", long_id))
                self.assert_is_ours(pid)

    def test_podman_of_a_container_that_does_not_run(self):
        self.root_podman(self.name)
        self.start("podman", "kill", self.name)
        self.start("podman", "wait", self.name)
        said = self.refusal(self.name)
        self.assertRegex(said, f"^the container '{self.name}' of podman is not running \\(exited\\)$")

    def test_podman_of_the_user_who_called_sudo(self):
        self.needs_namespaces_for_nobody()
        self.environment = {**os.environ, **self.configure()}
        uid, there = self.user()
        # one namespace of mounts for all calls, as a user's session has
        script = '$1 >"$0/id"; shift; find=$1; shift; for name; do "$find" "$name"; done'
        podman = ["podman", "run", f"--name={self.name}", "--detach", *self.podman_options()]
        start = " ".join([*self.become(uid), *podman, *COMMAND])
        names = [self.name, "podman:none"]
        before = [*there, "sh", "-c", script, str(self.dir), start]
        _, said, _ = self.call(FIND, *names, before=before, SUDO_UID=str(uid), SUDO_GID=str(uid))
        found, none = said.splitlines()
        self.assertEqual(none, f"no container 'none' in podman or podman of {self.name}")
        engine, found_id, pid = found.split()
        self.assertEqual((engine, found_id), ("podman", (self.dir / "id").read_text().strip()))
        self.assert_is_ours(pid)
        self.assertEqual(status_of(pid)["Uid"].split()[0], str(uid))

    def test_runc(self):
        self.check_runtime("runc")

    def test_crun(self):
        self.check_runtime("crun")

    def check_runtime(self, name):
        """Its containers are where it keeps them: beside others, whose names differ."""
        self.start_runtime(name)
        for word in (self.name, f"{name}:{self.name[:-1]}"):
            engine, found, pid = self.find(word)
            self.assertEqual((engine, found), (name, self.name))
            self.assert_is_ours(pid)

    def test_no_engine_knows_it(self):
        said = self.refusal("no-such-container-of-bpfmon")
        self.assertRegex(said, "^no container 'no-such-container-of-bpfmon' in podman")
        self.assertEqual(
            self.refusal("runc:no-such-container-of-bpfmon"),
            "no container 'no-such-container-of-bpfmon' in runc",
        )
