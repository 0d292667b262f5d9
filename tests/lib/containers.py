# SPDX-License-Identifier: BSD-2-Clause
"""Containers for tests: a root folder with truth programs, and ways to start programs in it.

Nothing of the machine is used: storage, sockets and cgroups are the test's, and go with it.
"""

import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess

from lib.account import AccountCase
from lib.bpfmon import BPFMON, truth
from lib.live import all_pids, send, status_of, wait_for

PROGRAMS = ("nspids", "forkstorm", "suidstart", "spin")
# the smallest pid_max; podman lowers the limit of its processes to it
LEAST_PIDS = 301
HYBRID = pathlib.Path("/sys/fs/cgroup/unified")
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

CONFIGURATION = """
[containers]
default_ulimits = ["nofile={nofile}", "nproc={nproc}"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
STORAGE = """
[storage]
driver = "vfs"
graphroot = "{dir}/storage"
runroot = "{dir}/state"
"""
# a test user with a range of ids, for all programs started through this; without the machine's state
AS_USER = """
set -e
for name in passwd group subuid subgid; do mount --bind "$0/$name" "/etc/$name"; done
for folder in /run /var/lib; do mount -t tmpfs none "$folder"; done
install -d /run/user && install -d -o "$1" -g "$1" -m 700 "/run/user/$1"
shift
exec "$@"
"""


def limit(which, most):
    """A limit that a process with the test's rights may set."""
    hard = resource.getrlimit(which)[1]
    value = most if hard == resource.RLIM_INFINITY else min(hard, most)
    return f"{value}:{value}"


def cgroups(name):
    """The folders of that cgroup and those below it, the lowest first."""
    tops = [pathlib.Path("/sys/fs/cgroup") / name, *pathlib.Path("/sys/fs/cgroup").glob(f"*/{name}")]
    for top in tops:
        for folder, _, _ in os.walk(top, topdown=False):
            yield pathlib.Path(folder)


class ContainersCase(AccountCase):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.root = self.dir / "root"
        for name in ("bin", "dev", "etc", "out", "proc", "run", "sys", "tmp"):
            (self.root / name).mkdir(parents=True)
        (self.root / "out").chmod(0o777)
        for name in PROGRAMS:
            shutil.copy(truth(name), self.root / "bin")
        self.name = f"bpfmon-test-{os.getpid()}-{self.dir.name[-8:]}"
        self.addCleanup(self.remove_cgroups)

    def remove_cgroups(self):
        def are_gone():
            for folder in cgroups(self.name):
                with contextlib.suppress(OSError):
                    folder.rmdir()
            return not list(cgroups(self.name))

        wait_for(are_gone, f"the end of the cgroups {self.name}")

    def needs(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"needs {program}: tools/install-deps.sh containers")

    def needs_namespaces_for_nobody(self):
        done = subprocess.run([*NOBODY, "unshare", "-Ur", "true"], stderr=subprocess.PIPE, check=False)
        if done.returncode:
            self.skipTest(f"the machine refuses users a user namespace: {done.stderr.decode()}")

    def configure(self, **engine):
        """Podman's settings, in its environment."""
        path = self.dir / "containers.conf"
        text = CONFIGURATION.format(
            nofile=limit(resource.RLIMIT_NOFILE, 1024), nproc=limit(resource.RLIMIT_NPROC, LEAST_PIDS)
        )
        path.write_text(text + "".join(f'{key} = "{value}"\n' for key, value in engine.items()))
        return {"CONTAINERS_CONF": str(path)}

    def podman(self):
        """Root's podman: its environment, and how it runs a container."""
        self.needs("podman", "runc")
        storage = self.dir / "storage.conf"
        storage.write_text(STORAGE.format(dir=self.dir))
        environment = self.configure(tmp_dir=self.dir / "libpod")
        environment["CONTAINERS_STORAGE_CONF"] = str(storage)
        return environment, ["podman", "run", f"--cgroup-parent=/{self.name}", *self.podman_options()]

    def podman_options(self):
        out = "TRUTH_OUT=/out/witness.json"
        return ["--network=none", f"--env={out}", "--rootfs", str(self.root)]

    def user(self):
        """A new user: its id, and a prefix that starts a program as root where it exists."""
        self.needs("newuidmap")
        uid = 500_000 + os.getpid()
        home, etc = self.dir / "home", self.dir / "etc"
        home.mkdir()
        etc.mkdir()
        for name, line in (
            ("passwd", f"{self.name}:x:{uid}:{uid}::{home}:/bin/sh\n"),
            ("group", f"{self.name}:x:{uid}:\n"),
            ("subuid", f"{self.name}:{1 << 30}:65536\n"),
            ("subgid", f"{self.name}:{1 << 30}:65536\n"),
        ):
            there = pathlib.Path("/etc", name)
            if not there.exists():
                there.touch()  # the mount point of the new one
            (etc / name).write_text(there.read_text() + line)
        for path in (home, self.root, *self.root.rglob("*")):
            os.chown(path, uid, uid)
        self.addCleanup(self.end_processes_of, uid)
        return uid, ["unshare", "-m", "sh", "-c", AS_USER, str(etc), str(uid)]

    def become(self, uid):
        """The prefix that makes root this user, as a login does."""
        home = [f"HOME={self.dir}/home", f"XDG_RUNTIME_DIR=/run/user/{uid}"]
        return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--init-groups", "env", "-C", "/", *home]

    def end_processes_of(self, uid):
        """podman leaves a process that holds the user's namespaces."""

        def are_gone():
            left = []
            for pid in all_pids():
                with contextlib.suppress(OSError):
                    status = status_of(pid)
                    if status["Uid"].split()[0] == str(uid) and status["State"][0] != "Z":
                        left.append(pid)
                        send(pid, signal.SIGKILL)
            return not left

        wait_for(are_gone, f"the end of the processes of user {uid}")

    def runtime(self, name, *command, also=()):
        """How runc or crun (@name) runs the command in a container, @also with capabilities."""
        self.needs(name)
        bundle = self.dir / "bundle"
        bundle.mkdir()
        subprocess.run([name, "spec"], cwd=bundle, check=True)
        path = bundle / "config.json"
        spec = json.loads(path.read_text())
        spec["root"] = {"path": str(self.root)}
        spec["process"].update(terminal=False, args=list(command), cwd="/")
        spec["process"]["env"].append("TRUTH_OUT=/out/witness.json")
        spec["process"].pop("rlimits", None)
        spec["linux"]["cgroupsPath"] = f"/{self.name}"
        for kept in spec["process"]["capabilities"].values():
            kept += also
        path.write_text(json.dumps(spec))
        run = [name, "run", f"--bundle={bundle}", self.name]
        return self.without_hybrid() + run if name == "crun" else run

    def without_hybrid(self):
        """crun refuses cgroups of both versions where version 2 has a controller."""
        if not HYBRID.is_mount():
            return []
        return ["unshare", "-m", "sh", "-c", f'umount {HYBRID} && exec "$@"', "sh"]

    def read_witness(self):
        return json.loads((self.root / "out" / "witness.json").read_text())


class InsideCase(ContainersCase):
    """bpfmon itself is in the root folder, with the libraries that it needs."""

    def setUp(self):
        super().setUp()
        shutil.copy(BPFMON, self.root / "bin")
        linked = subprocess.run(["ldd", BPFMON], stdout=subprocess.PIPE, text=True, check=True).stdout
        for library in re.findall(r"(/\S+) \(0x", linked):
            there = self.root / library.lstrip("/")
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, there)
