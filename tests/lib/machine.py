# SPDX-License-Identifier: BSD-2-Clause
"""Boots a systemd in a container of systemd-nspawn, with bpfmon installed in it.

The root is that of tools/fetch-systemd.sh, below an overlay that is thrown away. The kernel, and so what BPF programs
see, is the machine's own.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib.bpfmon import BPFMON, BUILD, TOP
from lib.installed import make

BOOT_SECONDS = 120
POWEROFF = signal.SIGRTMIN + 4
CAPABILITIES = "CAP_BPF,CAP_PERFMON"
CALLS = "bpf perf_event_open open_by_handle_at"


def run(*argv, **popen):
    """Runs a program that must succeed; its output."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **popen)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, argv))} ended with {done.returncode}: {done.stdout}")
    return done.stdout


def install(root):
    """Installs bpfmon, and the libraries that the root lacks; they fit, as both are of the same release."""
    make("install", DESTDIR=root)
    for library in re.findall(r"=> (/\S+)", run("ldd", BPFMON, str(BUILD / "bpfmon-exporter"), str(BUILD / "bpfmon-push"))):
        if not any((root / start / library.lstrip("/")).exists() for start in ("", "usr")):
            shutil.copy(library, root / "usr" / "local" / "lib")
    run("chroot", str(root), "ldconfig")
    run("systemd-sysusers", f"--root={root}")
    run("systemd-tmpfiles", f"--root={root}", "--create", "bpfmon.conf")


@contextlib.contextmanager
def own_cgroups():
    """Cgroups for a container in the hierarchies that systemd uses; all below them are removed at the end."""
    mounts = [line.partition(" - ") for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    points = [mount.split()[4] for mount, _, kind in mounts if kind.startswith("cgroup2 ") or "name=systemd" in kind]
    name = f"bpfmon-machine-{os.getpid()}-{time.monotonic_ns()}"  # the same in each, as nspawn would have it
    own = [pathlib.Path(point) / name for point in points]
    for path in own:
        path.mkdir()
    try:
        yield own
    finally:
        for path in own:
            for below, _, _ in os.walk(path, topdown=False):
                os.rmdir(below)


def child_of(pid):
    """The only child of a process, or None."""
    with contextlib.suppress(OSError, ValueError):
        (child,) = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(child)
    return None


class Machine:
    """
    A booted container. Programs are run in it by its own systemd. @codename: another release than the machine's;
    @packages: bpfmon is not installed in it, but these are in /build/deb, and apt has what they depend on.
    """

    def __init__(self, codename="", packages=()):
        self.codename, self.packages = codename, packages
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-machine-"))
        self.root = self.dir / "root"
        self.end = contextlib.ExitStack()
        self.cgroups = []
        self.nspawn = None
        self.init = None

    def open(self):
        """Mounts the root, and installs bpfmon in it or provides its packages. Users may write in /runs."""
        fetch = (TOP / "tools" / "fetch-systemd.sh", self.codename, *self.packages)
        (below,) = run(*map(str, fetch), stdin=subprocess.DEVNULL).splitlines()[-1:]
        for name in ("root", "upper", "work"):
            (self.dir / name).mkdir()
        layers = f"lowerdir={below},upperdir={self.dir}/upper,workdir={self.dir}/work"
        run("mount", "-t", "overlay", "overlay", "-o", layers, str(self.root))
        (self.root / "runs").mkdir()
        (self.root / "runs").chmod(0o1777)
        if not self.packages:
            install(self.root)
            return
        (self.root / "build/deb").mkdir(parents=True)
        for package in self.packages:
            shutil.copy(package, self.root / "build/deb")

    def chroot(self, *argv):
        """Runs a program in the root, before the boot; it must succeed."""
        return run("chroot", str(self.root), *argv)

    def boot(self):
        """Boots, and waits until systemd has started what is enabled."""
        self.cgroups = self.end.enter_context(own_cgroups())

        def enter():
            for path in self.cgroups:
                (path / "cgroup.procs").write_text("0\n")

        with open(self.dir / "console", "wb") as console:
            self.nspawn = subprocess.Popen(
                ["systemd-nspawn", "-q", "--register=no", "--keep-unit", "--private-network", "--link-journal=no"]
                + [f"--capability={CAPABILITIES}", f"--system-call-filter={CALLS}", "-D", str(self.root), "-b"],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                preexec_fn=enter,
                env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
            )
        deadline = time.monotonic() + BOOT_SECONDS
        state = ""
        while state not in ("running", "degraded"):
            if time.monotonic() > deadline or self.nspawn.poll() is not None:
                raise AssertionError(f"no boot; systemd is '{state}': {self.console()}")
            time.sleep(0.1)
            self.init = child_of(self.nspawn.pid)
            state = self.enter("systemctl", "is-system-running").stdout.strip() if self.init else ""

    def console(self):
        return (self.dir / "console").read_text(errors="replace")

    def enter(self, *argv, **popen):
        """Runs a program in the namespaces of the container, but in no cgroup of it."""
        popen = {"timeout": 120} | popen
        namespaces = ["nsenter", "-t", str(self.init), "-m", "-u", "-i", "-n", "-p", "-C", "--"]
        return subprocess.run([*namespaces, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **popen)

    def said(self, *argv):
        """The same for one that must succeed; its output."""
        done = self.enter(*argv)
        if done.returncode:
            raise AssertionError(f"{' '.join(argv)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def as_user(self, *argv, user="daemon", options=()):
        """What a program of an ordinary user does, in a unit of its own."""
        return self.enter("systemd-run", "-q", "--pipe", "--wait", "--collect", f"--uid={user}", *options, *argv)

    def state(self, unit, *names):
        """Properties of a unit; of one name its value."""
        said = self.said("systemctl", "show", unit, *(f"--property={name}" for name in names))
        found = dict(line.split("=", 1) for line in said.splitlines())
        return found[names[0]] if len(names) == 1 else found

    def page(self):
        """What Prometheus would read at the endpoint; empty: it is not there yet."""
        script = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9433/metrics').read().decode())"
        argv = ["nsenter", "-t", str(self.init), "-n", sys.executable, "-c", script]
        return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout

    def jobs(self, user="root"):
        """The jobs that a user sees: (kind, name) of each."""
        done = self.as_user("bpfmon", "jobs", "--json", user=user)
        if done.returncode:
            raise AssertionError(done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        labels = [line["node_job"] for line in lines if line["kind"] == "meta"]
        return {(label["kind"], label["name"]) for label in labels}

    def close(self):
        """Ends it, and leaves nothing."""
        if self.nspawn and self.nspawn.poll() is None:
            if self.init:
                os.kill(self.init, POWEROFF)
            try:
                self.nspawn.wait(60)
            except subprocess.TimeoutExpired:
                self.nspawn.kill()
                self.nspawn.wait()
        self.end.close()
        subprocess.run(["umount", "-R", str(self.root)], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.dir, ignore_errors=True)
