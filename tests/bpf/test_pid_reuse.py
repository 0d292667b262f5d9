# SPDX-License-Identifier: BSD-2-Clause
"""A process is not its PID: tens of thousands that share a thousand are tens of thousands, and a stranger with that of a
process of the run is a stranger."""

import pathlib
import subprocess
import sys

from lib.account import AccountCase, ns, read_json
from lib.bpfmon import AS_USER, cgroup, truth
from lib.live import LiveCase, wait_for

ALONE = True

PID_MAX = pathlib.Path("/proc/sys/kernel/pid_max")
LAST_PID = pathlib.Path("/proc/sys/kernel/ns_last_pid")
USES = 15  # of each pid
# makes the process whose PID is the first word, when the file of the second is there; it lives until the input ends
REUSER = r"""
import os, pathlib, sys, time
place, told = map(pathlib.Path, sys.argv[1:])
place.with_suffix(".new").write_text(os.environ["BPFMON_SPAN_SOCKET"])
place.with_suffix(".new").rename(place)
while not told.exists():
    time.sleep(0.01)
wanted, pid = int(told.read_text()), 0
while pid != wanted:
    pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(wanted - 1))
    pid = os.fork()
    if not pid:
        sys.stdin.read()
        os._exit(0)
print(pid, flush=True)
sys.stdin.read()
"""
# connects as a process that ends; what is sent over these connections later is of a process without that PID
STRANGER = r"""
import os, socket, sys
address, *texts = sys.argv[1:]
sockets = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in texts]
pid = os.fork()
if not pid:
    for s in sockets:
        s.connect("\0" + address[1:])
    os._exit(0)
os.waitpid(pid, 0)
print(pid, flush=True)
sys.stdin.readline()
for s, text in zip(sockets, texts):
    s.send(text.encode())
    print(s.recv(300).decode(), flush=True)
"""


class PidReuse(AccountCase):
    def lower_pid_max(self):
        """Leaves about a thousand pids beyond those in use; puts the old limit back at the end."""
        old = PID_MAX.read_text()
        used = [int(p.name) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit()]
        limit = 1000 + 2 * len(used)
        if limit >= int(old):
            self.skipTest(f"kernel.pid_max is {int(old)}, which {len(used)} live processes leave no room to lower")
        self.addCleanup(PID_MAX.write_text, old)
        PID_MAX.write_text(str(limit))
        return limit

    def test_each_of_them_is_counted_and_none_has_what_another_used(self):
        limit = self.lower_pid_max()
        children = USES * limit
        before = self.dir / "before.json"
        with cgroup() as group:
            run = self.run_bpfmon(
                [truth("incgroup"), str(group), truth("forkonly"), str(children)],
                ["-i", "0.1"],
                env={"TRUTH_BEFORE": str(before)},
                timeout=300,
            )
            usage = int((group / "cpuacct.usage").read_text()) / 1e9
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_counts(run, children + 1, 0)
        self.assertGreater(children, 10 * len({p["pid"] for p in run.processes}))
        self.assertLess(max(p["pid"] for p in run.processes), limit)
        self.assert_sums(run)
        cpu = run.summary["cpu_seconds"] - read_json(before)["cpu_joined_seconds"]
        self.assert_cpu(cpu, usage)
        root = self.only(p for p in run.processes if p["execs"])
        born = [p for p in run.processes if p is not root]
        self.assertEqual({p["ppid"] for p in born}, {root["pid"]})
        self.assertLess(max(ns(p["cpu_seconds"]) for p in born), 50_000_000)
        for child in born:
            self.assertEqual((child["threads_total"], child["exit_code"]), (1, 0))
            self.assertEqual(child["rchar_bytes"], 0)
            self.assertGreater(child["cpu_seconds"], 0)


class Strangers(LiveCase):
    """An ordinary user, and root's run: what a stranger's connection says is refused when its PID is the run's."""

    TEXTS = ("mark stolen", "stolen value=1", '{"span":"begin","name":"stolen","in_place":true}')

    def stranger(self, address):
        """Its PID, by which it is connected, is free."""
        words = ["/usr/bin/python3", "-c", STRANGER, address, *self.TEXTS]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/", **AS_USER)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process, process.stdout.readline()

    def run_with_the_pid_of_a_stranger(self):
        if not LAST_PID.exists():
            self.skipTest("the kernel has no ns_last_pid, by which a PID is chosen")
        place, told = self.dir / "socket", self.dir / "told"
        live = self.live([sys.executable, "-c", REUSER, str(place), str(told)], stdin=subprocess.PIPE)
        stranger, pid = self.stranger(wait_for(place.exists, "the start of the command") and place.read_text())
        told.with_suffix(".new").write_text(pid)
        told.with_suffix(".new").rename(told)
        self.assertEqual(live.process.stdout.readline(), pid.encode())
        answers = stranger.communicate("go\n", timeout=60)[0].splitlines()
        live.process.stdin.close()
        live.process.stdin = None
        return live.finish(), int(pid), answers

    def test_it_can_push_nothing_and_begin_no_span(self):
        run, pid, answers = self.run_with_the_pid_of_a_stranger()
        self.assertEqual(run.code, 0, run.stderr)
        self.assertIn(pid, [p["pid"] for p in run.processes])  # of the run, and alive when the stranger sent
        self.assertEqual([answer[:1].isdigit() for answer in answers], [False] * len(self.TEXTS), answers)
        self.assertEqual([e for e in run.kind("event") if e["event"] == "mark"], [])
        self.assertEqual((run.kind("metric"), run.kind("span")), ([], []))
