# SPDX-License-Identifier: BSD-2-Clause
"""Users, capabilities, filters and descriptors of each process are what docs/SECURITY.md says."""

import itertools
import os
import pathlib
import re
import signal
import subprocess

from lib.bpfmon import BPFMON, TOP
from lib.live import LiveCase, children_of, descriptor_links, is_alive, sockets_of, stat_of, status_of, wait_for
from lib.web import Web

NOBODY = 65534
SUDO = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY), "SUDO_USER": "nobody"}
OWN_USERS = range(61184, 65520)
CAPABILITIES = {0: "CHOWN", 1: "DAC_OVERRIDE", 2: "DAC_READ_SEARCH", 3: "FOWNER", 5: "KILL", 19: "SYS_PTRACE"}


FILES = sum(1 << bit for bit in (0, 1, 2, 3))


def rows_of_the_table():
    """(process, when) -> (user, capabilities, seccomp, descriptors), as the document has them."""
    text = (TOP / "docs" / "SECURITY.md").read_text()
    table = text.partition("| process | when |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {(row[0], row[1].replace("`", "")): row[2:] for row in rows}


def user_of(status):
    (uid,) = set(status["Uid"].split())
    if int(uid) in OWN_USERS:
        return "own"
    return {"0": "root", str(NOBODY): "caller"}[uid]


def capabilities_of(status):
    permitted = int(status["CapPrm"], 16)
    names = [name for bit, name in CAPABILITIES.items() if permitted >> bit & 1]
    assert permitted == sum(1 << bit for bit, name in CAPABILITIES.items() if name in names), hex(permitted)
    return " ".join(names) or "none"


def kinds_of_descriptors(pid):
    kinds = {"/proc/": "kernel file", "/sys/": "kernel file", "/": "file", "socket": "socket", "pipe": "pipe", "anon_inode:bpf": "bpf", "anon_inode:btf": "bpf"}
    found = set()
    for fd, link in descriptor_links(pid).items():
        if int(fd) <= 2:
            continue
        special = re.match(r"anon_inode:\[(\w+)\]", link)
        if special and not special[1].startswith("bpf"):
            found.add(special[1])
        else:
            found.add(next((kind for start, kind in kinds.items() if link.replace("[", "").startswith(start)), link))
    return found


class Pages(LiveCase):
    def test_what_bpfmon_exporter_becomes_keeps_no_right_but_to_files(self):
        for env, user, permitted in (({}, "0", FILES), (SUDO, str(NOBODY), 0)):
            web = Web(None, env={**os.environ, **env})
            self.addCleanup(web.close)
            self.assertEqual(web.request("/runs.json").status, 200)  # which a child makes
            tasks = os.listdir(f"/proc/{web.process.pid}/task")
            self.assertIn(str(web.process.pid), tasks)
            for task in tasks:
                try:
                    status = status_of(f"{web.process.pid}/task/{task}")
                except (FileNotFoundError, ProcessLookupError):
                    self.assertNotEqual(task, str(web.process.pid))
                    continue  # a thread of a connection, which has ended
                self.assertEqual(set(status["Uid"].split()), {user})
                for which, wanted in (("Prm", permitted), ("Bnd", permitted), ("Inh", 0), ("Amb", 0)):
                    self.assertEqual(int(status["Cap" + which], 16) & ~wanted, 0, which)
                self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))


class Table(LiveCase):
    """One run or attachment for each way to have processes of bpfmon, and every row is seen in one."""

    def setUp(self):
        super().setUp()
        self.dir.chmod(0o777)
        self.rows = rows_of_the_table()
        self.number = itertools.count()
        self.seen = set()

    def check(self, pid, process, when):
        user, capabilities, seccomp, descriptors = self.rows[process, when]
        self.seen.add((process, when))
        # it gives its rights up before it says that it is ready, or soon after
        wait_for(lambda: status_of(pid).get("Seccomp") == "2" or not is_alive(pid), f"the filter of the {process}")
        status = status_of(pid)
        self.assertEqual(user_of(status), user, (process, when))
        self.assertEqual(capabilities_of(status), capabilities, (process, when))
        self.assertEqual((seccomp, status["Seccomp"]), ("filter", "2"), (process, when))
        self.assertEqual(status["NoNewPrivs"], "1", (process, when))
        # an exec could gain nothing
        self.assertEqual(int(status["CapBnd"], 16) & ~int(status["CapPrm"], 16), 0, (process, when))
        for which in ("Inh", "Amb"):
            self.assertEqual(int(status["Cap" + which], 16), 0, (process, when))
        kinds = set(descriptors.split(", "))
        try:
            wait_for(lambda: kinds_of_descriptors(pid) == kinds, "the descriptors", 2)
        except AssertionError:
            self.assertEqual(kinds_of_descriptors(pid), kinds, (process, when))

    def start(self, *options, env=None):
        live = self.live(
            ["sleep", "60"], ["-q", *options], out=False, env={**os.environ, **(env or {}), "XDG_RUNTIME_DIR": ""}
        )
        collector, recorder, command = live.roles()
        return live, collector, recorder, command

    def keepers(self, live, *others):
        return [
            pid
            for pid in children_of(live.pid)
            if pid not in others and (stat := stat_of(pid)) and stat[3] == pid and sockets_of(pid) < 2
        ]

    def check_run(self, when, *options, env=None, recorder_is="root"):
        live, collector, recorder, command = self.start("-o", str(self.dir / f"{next(self.number)}.jsonl"), *options, env=env)
        for pid, process in ((live.pid, "launcher"), (collector, "collector")):
            self.check(pid, process, when if (process, when) in self.rows else "a command")
        self.check(recorder, "recorder", recorder_is)
        its = status_of(command)
        self.assertEqual((its["NoNewPrivs"], its["Seccomp"]), (status_of(os.getpid())["NoNewPrivs"], "0"))
        return live, self.keepers(live, collector, recorder, command)

    def test_every_process_is_as_the_document_says(self):
        self.check_run("a command")
        self.check_run("a command", env=SUDO, recorder_is="sudo")
        self.check_run("a command", "--record-as", "root", env=SUDO, recorder_is="--record-as root")
        _, (keeper,) = self.check_run("--marks", "--marks")
        self.check(keeper, "keeper of marks", "--marks")
        _, (keeper,) = self.check_run("--marks", "--marks", "--user", env=SUDO, recorder_is="sudo")
        self.check(keeper, "keeper of marks", "--marks --user")
        live, (keeper,) = self.check_run("--own-cgroup", "--own-cgroup")
        self.check(keeper, "keeper of the cgroup", "--own-cgroup")
        os.kill(live.pid, signal.SIGTERM)  # the keeper removes the cgroup
        wait_for(lambda: not is_alive(keeper), "the end of the keeper")
        self.check_attachment()
        missing = set(self.rows) - self.seen - {("all", "file capabilities")}  # test_file_capabilities.py
        self.assertEqual(missing, set())

    def check_attachment(self):
        memory = re.search(r"^(?:\d+:[^:]*\bmemory\b[^:]*|0:):(.*)$", pathlib.Path("/proc/self/cgroup").read_text(), re.M)
        process = subprocess.Popen([BPFMON, "attach", "--cgroup", memory[1], "-q"])
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

        def collector():
            for pid in children_of(process.pid):
                if any("bpf-prog" in link for link in descriptor_links(pid).values()):
                    return pid
            return None

        self.check(wait_for(collector, "the collector"), "collector", "attach --cgroup")
        self.check(process.pid, "launcher", "attach")
