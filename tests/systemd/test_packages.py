# SPDX-License-Identifier: BSD-2-Clause
"""The Debian packages in a booted systemd: installed by apt, used, upgraded while a job runs, removed and purged.

setUpClass does all of that once, as an admin and a user would, and keeps what was seen; each test is about a part of it.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import time
import types
import unittest

from lib import debs
from lib.bpfmon import truth
from lib.documents import documented_commands
from lib.live import wait_for
from lib.machine import Machine
from lib.permitted import BPF, ROOT, needs
from lib.push import Server
from lib.sweep import LONG

SERVICES = ("bpfmon-agent.service", "bpfmon-agent.socket", "bpfmon-exporter.service", "bpfmon-push.service")
WAITS_FOR_GO = "until [ -e /runs/go ]; do sleep 0.1; done; exit 7"
COPY = "/usr/libexec/bpfmon/bpfmon"
# what changes whatever is installed and purged: folders; accounts before their last change, and what Debian 13's netbase leaves
OF_OTHERS = "etc/(g?shadow-|group-|passwd-|hosts)"
FOLDERS_OF_OTHERS = ("build", "dev", "proc", "run", "runs", "sys", "tmp", "var/cache", "var/lib/apt", "var/lib/dpkg", "var/log", "var/tmp")


def state_of(path):
    """Type, rights, owner and content of a file; of a folder no content."""
    found = path.lstat()
    content = b""
    if stat.S_ISLNK(found.st_mode):
        content = os.fsencode(os.readlink(path))
    elif stat.S_ISREG(found.st_mode):
        content = path.read_bytes()
    return stat.filemode(found.st_mode), found.st_uid, found.st_gid, hashlib.sha256(content).hexdigest()[:8]


def files_of(root):
    """The state of each file of the system that packages may change, by path."""
    found = {}
    for folder, folders, names in os.walk(root):
        below = os.path.relpath(folder, root)
        folders[:] = [name for name in folders if os.path.normpath(os.path.join(below, name)) not in FOLDERS_OF_OTHERS]
        for name in folders + names:
            found[os.path.normpath(os.path.join(below, name))] = state_of(pathlib.Path(folder, name))
    return found


class Traces:
    """What of bpfmon is in a machine, and what else may be there because of it."""

    def __init__(self, machine):
        proc = pathlib.Path(f"/proc/{machine.init}")
        self.files = files_of(proc / "root")
        self.of_run = {str(path) for path in (proc / "root/run").rglob("*bpfmon*")}
        self.accounts = {name: (proc / "root/etc" / name).read_text() for name in ("passwd", "group")}
        self.cgroups = {str(path.relative_to(own)) for own in machine.cgroups for path in own.rglob("*bpfmon*")}
        self.unix = re.findall(r"\S*bpfmon\S*", (proc / "net/unix").read_text())
        ports = [line.split()[1:4:2] for name in ("tcp", "tcp6") for line in (proc / "net" / name).read_text().splitlines()[1:]]
        self.listening = [local for local, state in ports if state == "0A"]
        self.overrides = machine.said("dpkg-statoverride", "--list")


@needs(ROOT, BPF)
class Packages(unittest.TestCase):
    """In the release that this machine has, where they were built."""

    codename = ""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if not shutil.which("systemd-nspawn") or not shutil.which("debootstrap"):
            raise unittest.SkipTest("needs systemd-nspawn and debootstrap: tools/install-deps.sh systemd")
        cls.folder = debs.build()
        cls.debs = debs.packages(cls.folder)
        cls.machine = Machine(cls.codename, list(cls.debs.values()))
        cls.addClassCleanup(cls.machine.close)
        cls.machine.open()
        cls.root = cls.machine.root
        for program in ("witness", "seqchildren"):
            shutil.copy(truth(program), cls.root / "runs")
        (cls.root / "build/next").mkdir()
        for package in cls.debs.values():
            debs.raise_version(package, cls.root / "build/next")
        (cls.root / "etc/apt/apt.conf.d/yes").write_text('APT::Get::Assume-Yes "true";\n')
        cls.machine.boot()
        cls.before = Traces(cls.machine)
        cls.install()
        cls.measure_without_agent()
        cls.upgrade()
        cls.remove()

    @classmethod
    def apt(cls, *argv):
        cls.machine.said("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", *argv)

    @classmethod
    def documented(cls, beginning):
        """Runs the command of the document that begins so, as root, where the folder build is."""
        (command,) = [command for document, command in documented_commands() if document == "docs/NODE.md" and command.startswith(beginning)]
        cls.machine.said("sh", "-c", f"cd / && {command.removeprefix('sudo ')}")

    @classmethod
    def states(cls):
        """Of each unit: is it enabled, is it active, when was it started."""
        return {unit: cls.machine.state(unit, "UnitFileState", "ActiveState", "InvocationID", "MainPID") for unit in SERVICES}

    @classmethod
    def install(cls):
        """From apt to a first summary of a user; then the other packages."""
        begin = time.monotonic()
        cls.documented("sudo apt install")
        cls.installed = cls.states()
        cls.documented("sudo systemctl enable --now bpfmon-agent")
        command = ("/runs/witness", "/runs/wait4.json", "/runs/seqchildren", "20", "10")
        cls.first = cls.machine.as_user("bpfmon", "--no-store", "-o", "/runs/first.jsonl", "--", *command)
        took = time.monotonic() - begin
        print(f"from apt install to the first summary of a user, {cls.codename or 'this release'}: {took:.1f} s")
        cls.version = cls.machine.said("bpfmon", "--version")
        cls.apt("install", *(f"/build/deb/{package.name}" for package in cls.debs.values()))
        cls.unrelated = cls.machine.said("apt-get", "--simulate", "install", "bpfmon")
        documents = cls.root / "usr/share/doc/bpfmon"
        cls.paths = {path for file in documents.iterdir() for path in re.findall(rb"/usr/local/(?:share|libexec)\S*", file.read_bytes())}
        cls.module = cls.machine.said("python3", "-c", "import bpfmon; print(bpfmon.__file__)").strip()
        # the others, of which the sender needs a server
        cls.others = cls.states()
        with contextlib.ExitStack() as end:
            server = Server(types.SimpleNamespace(addCleanup=end.callback), pid=cls.machine.init)
            with open(cls.root / "etc/bpfmon/agent.conf", "a", encoding="utf-8") as config:
                config.write(f"[push]\nurl = http://localhost:{server.port}/write?db=bpfmon\ninterval = 1s\n")
            cls.machine.said("systemctl", "enable", "--now", "bpfmon-exporter", "bpfmon-push")
            wait_for(lambda: "service/bpfmon-exporter.service" in cls.machine.page(), "the service at the endpoint")
            wait_for(lambda: server.of("bpfmon_node"), "what the sender sends")

    @classmethod
    def measure_without_agent(cls):
        """By file capabilities, as a member of the group and as another user."""
        cls.machine.said("/usr/libexec/bpfmon/install-caps")
        cls.machine.said("systemctl", "stop", "bpfmon-agent.socket", "bpfmon-agent.service")
        command = ("bpfmon", "--no-store", "-q", "--require", "exact", "--", "true")
        cls.member = cls.machine.as_user(*command, options=["-p", "SupplementaryGroups=bpfmon"])
        cls.stranger = cls.machine.as_user(*command)
        cls.machine.said("systemctl", "start", "bpfmon-agent.socket", "bpfmon-agent.service")

    @classmethod
    def upgrade(cls):
        """While a job of a user runs."""
        job = ("bpfmon", "--no-store", "-o", "/runs/job.jsonl", "--", "sh", "-c", WAITS_FOR_GO)
        cls.machine.said("systemd-run", "-q", "--unit=job", "--uid=daemon", *job)
        wait_for(lambda: any(kind == "run" for kind, _ in cls.machine.jobs()), "the job")
        cls.old = cls.states()
        socket = pathlib.Path(f"/proc/{cls.machine.init}/root/run/bpfmon/agent.sock")
        cls.sockets = [socket.stat().st_ino]
        cls.machine.said("systemctl", "disable", "--now", "bpfmon-push")
        cls.apt("install", *(f"/build/next/{path.name}" for path in (cls.root / "build/next").iterdir()))
        cls.new = cls.states()
        cls.sockets.append(socket.stat().st_ino)
        cls.running = cls.machine.state("job", "SubState")
        cls.next = cls.machine.as_user("bpfmon", "--no-store", "-q", "--require", "exact", "--", "true")
        (cls.root / "runs/go").touch()
        wait_for(lambda: cls.machine.state("job", "SubState") in ("failed", "exited", "dead"), "the end of the job")
        cls.status = cls.machine.state("job", "ExecMainStatus")
        cls.machine.said("systemctl", "reset-failed", "job")
        cls.copy = [(cls.root / path.lstrip("/")).read_bytes() for path in ("/usr/bin/bpfmon", COPY)]
        cls.capabilities = cls.machine.said("getcap", COPY)
        cls.config = (cls.root / "etc/bpfmon/agent.conf").read_text()

    @classmethod
    def remove(cls):
        """First the packages, then what they have left."""
        cls.apt("remove", *cls.debs)
        cls.removed = Traces(cls.machine)
        # what they depend on, too, which others of these only suggest
        important = (f"-oAPT::AutoRemove::{name}Important=0" for name in ("Recommends", "Suggests"))
        cls.apt(*important, "purge", "--autoremove", *cls.debs)
        cls.after = Traces(cls.machine)

    def test_lintian_finds_nothing_wrong(self):
        self.assertEqual((self.folder / "lintian").read_text(), "")

    def test_the_program_has_the_version_of_the_package(self):
        self.assertIn(self.debs["bpfmon-jobs"].name.split("_")[1], self.version.split())

    def test_the_installation_enables_and_starts_nothing(self):
        of_jobs = {unit: self.installed[unit] for unit in SERVICES[:2]}
        of_others = {unit: self.others[unit] for unit in SERVICES[2:]}
        for unit, state in (of_jobs | of_others).items():
            self.assertEqual((state["UnitFileState"], state["ActiveState"]), ("disabled", "inactive"), unit)

    def test_a_user_has_exact_figures_as_soon_as_the_agent_is_enabled(self):
        self.assertEqual(self.first.returncode, 0, self.first.stderr)
        self.assertIn("complete: nothing was lost", self.first.stderr)
        lines = [json.loads(line) for line in (self.root / "runs/first.jsonl").read_text().splitlines()]
        wait4 = json.loads((self.root / "runs/wait4.json").read_text())
        (witness,) = [line for line in lines if line["kind"] == "process" and line["comm"] == "witness"]
        rest = {key: lines[-1][key] - witness[key] for key in ("cpu_seconds", "minflt")}
        self.assertEqual((lines[-1]["processes_total"], rest["minflt"]), (22, wait4["minflt"]))
        self.assertLessEqual(abs(rest["cpu_seconds"] - wait4["cpu_seconds"]), 0.02 * wait4["cpu_seconds"], wait4)

    def test_the_unrelated_package_bpfmon_takes_its_place(self):
        self.assertRegex(self.unrelated, r"(?m)^Remv bpfmon-jobs ")
        self.assertRegex(self.unrelated, r"(?m)^Inst bpfmon ")

    def test_the_documents_name_the_paths_of_the_package(self):
        self.assertEqual(self.paths, set())

    def test_the_module_is_where_python_finds_it(self):
        self.assertEqual(self.module, "/usr/lib/python3/dist-packages/bpfmon/__init__.py")

    def test_members_of_the_group_measure_without_an_agent_others_do_not(self):
        self.assertEqual((self.member.returncode, self.stranger.returncode), (0, 125), (self.member, self.stranger))

    def test_an_upgrade_restarts_what_runs_and_the_socket_stays(self):
        for unit in ("bpfmon-agent.service", "bpfmon-exporter.service"):
            self.assertEqual((self.new[unit]["UnitFileState"], self.new[unit]["ActiveState"]), ("enabled", "active"), unit)
            self.assertNotEqual(self.new[unit]["MainPID"], self.old[unit]["MainPID"], unit)
        self.assertEqual(self.new["bpfmon-agent.socket"], self.old["bpfmon-agent.socket"])
        self.assertEqual(*self.sockets)
        self.assertEqual(self.new["bpfmon-push.service"]["ActiveState"], "inactive")
        self.assertEqual(self.next.returncode, 0, self.next)

    def test_a_job_goes_on_during_an_upgrade_and_its_exit_status_arrives(self):
        self.assertEqual((self.running, self.status), ("running", "7"))
        lines = [json.loads(line) for line in (self.root / "runs/job.jsonl").read_text().splitlines()]
        (summary,) = [line for line in lines if line["kind"] == "summary"]
        self.assertTrue(summary["complete"], summary)
        self.assertEqual(summary["processes_total"], summary["forks"] + 1)

    def test_an_upgrade_keeps_the_configuration(self):
        self.assertIn("[push]\nurl = http://localhost:", self.config)

    def test_an_upgrade_replaces_the_copy_for_the_group(self):
        self.assertTrue(self.copy[0] == self.copy[1])
        self.assertRegex(self.capabilities, "cap_perfmon,cap_bpf.ep")

    def test_a_removal_ends_all_and_keeps_configuration_and_history(self):
        self.assertEqual((self.removed.cgroups, self.removed.unix, self.removed.listening), (set(), [], self.before.listening))
        kept = {path for path in self.removed.files.keys() - self.before.files.keys() if re.match("(etc|var/lib)/bpfmon", path)}
        self.assertLessEqual({"etc/bpfmon/agent.conf", "var/lib/bpfmon/node.db"}, kept)
        self.assertNotIn(COPY.lstrip("/"), self.removed.files)

    def test_a_purge_leaves_no_file_user_group_cgroup_or_socket(self):
        before, after = vars(self.before), vars(self.after)
        for name in before.keys() - {"files"}:
            self.assertEqual(after[name], before[name], name)
        changed = {path for path, _ in before["files"].items() ^ after["files"].items()}
        self.assertEqual({path for path in changed if not re.fullmatch(OF_OTHERS, path)}, set())


if LONG:

    class PackagesInDebian13(Packages):
        """The same packages: their libraries have the same names there."""

        codename = "trixie"
