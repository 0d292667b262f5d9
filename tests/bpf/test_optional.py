# SPDX-License-Identifier: BSD-2-Clause
"""What the kernel refuses is missing, with its reason; all else is as exact as ever."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

from lib.account import AccountCase
from lib.bpfmon import BPFMON, cgroup, truth
from lib.cgroups import UNIFIED, CgroupCase

SAMPLED = True
MIB = 1 << 20
PAGE = os.sysconf("SC_PAGESIZE")
# of each program, what the user is told of that is then missing
TITLES = {
    "memory__offsets": "resident memory summed over CPUs",
    "marks__prepare_exec": "peaks of programs replaced by exec",
    "oom__victim": "OOM kills, with the limit",
    "dying__exit": "last usage of tasks freed unseen",
    "peak__rss": "exact peak of the tree",
}

# A big process has a child that execs a small image, which execs a smaller one.
IMAGES = """
import os, sys
hoard = b"x" * (300 << 20)
if not os.fork():
    smaller = "import os, sys; b = b'x' * (50 << 20); os.execv(sys.argv[1], sys.argv[1:])"
    os.execv(sys.executable, [sys.executable, "-c", smaller, sys.argv[1]])
os.wait()
"""
GROWING = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"


def is_ours(pid):
    """It has been started by this process, or by one of its descendants."""
    while pid not in (0, os.getpid()):
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        pid = int(stat[stat.rindex(")") + 2 :].split()[1])
    return pid != 0


class Refused(AccountCase):
    """Both a program that does not load and one that does not attach."""

    def each(self, name):
        return [["-v", "--inject-no-program", how] for how in (name, f"{name}:attach")]

    def assert_only_missing(self, run, title):
        told = [line for line in run.stderr.splitlines() if ": not available: " in line]
        self.assertEqual(len(told), 1, run.stderr)
        self.assertIn(f"bpfmon: {title}: not available: the kernel ", told[0])

    def test_every_count_is_exact_without_any_of_them(self):
        for name, title in TITLES.items():
            for options in self.each(name):
                run = self.run_witnessed([truth("seqchildren"), "20", "10"], ["--exact-peak", *options])
                self.assertEqual(run.code, 0)
                self.assert_counts(run, 22, 0)
                self.assert_sums(run)
                self.assertEqual(run.summary["execs"], 2)
                self.assert_cpu(sum(p["cpu_seconds"] for p in self.inside(run)), run.wait4["cpu_seconds"])
                self.assert_only_missing(run, title)
                self.assertEqual("rss_peak_exact_bytes" in run.summary, name != "peak__rss")
                self.assertEqual("oom_kills" in run.summary, name != "oom__victim")

    def test_check_reports_each_program(self):
        said = subprocess.run([BPFMON, "check", "-v"], stdout=subprocess.PIPE, check=True).stdout.decode()
        for title in TITLES.values():
            self.assertRegex(said, rf"(?m)^{title} +(available|missing: .+; .+)$")

    def test_all_of_them_at_once(self):
        options = [word for name in TITLES for word in ("--inject-no-program", name)]
        run = self.run_witnessed([truth("seqchildren"), "20", "10"], ["-v", *options])
        self.assert_counts(run, 22, 0)
        self.assert_cpu(sum(p["cpu_seconds"] for p in self.inside(run)), run.wait4["cpu_seconds"])
        for name, title in TITLES.items():
            self.assertEqual(f"bpfmon: {title}: not available: " in run.stderr, name != "peak__rss", name)

    def test_the_exact_peak_is_absent_and_its_bounds_are_told(self):
        command = [truth("hoarders"), "together", "4", "50", "20"]
        for options in self.each("peak__rss"):
            run = self.run_bpfmon(command, ["--exact-peak", *options])
            self.assert_complete(run)
            self.assertIn("bpfmon: warning: --exact-peak has no effect: the kernel ", run.stderr)
            self.assertFalse({"rss_peak_exact_bytes", "rss_peak_holders"} & set(run.summary))
            self.assertIs(run.meta["capabilities"]["rss_peak_exact_bytes"]["available"], False)
            self.assertLessEqual(run.summary["rss_peak_bytes"], 1.02 * 200 * MIB)
            self.assertGreaterEqual(run.summary["rss_peak_upper_bytes"], 0.98 * 200 * MIB)
            self.assertNotIn("rss_peak_exact_bytes", self.run_bpfmon(["true"], options).meta["capabilities"])

    def test_the_peak_of_an_image_that_is_gone_is_a_bound(self):
        for options in self.each("marks__prepare_exec"):
            run = self.run_bpfmon([sys.executable, "-c", IMAGES, truth("execnames")], options)
            self.assert_complete(run)
            child = self.only(p for p in run.processes if p["comm"] == "execnames")
            self.assertIs(child["rss_peak_exact"], False)
            self.assertGreaterEqual(child["rss_peak_bytes"], 50 * MIB)
            parent = self.only(p for p in run.processes if p is not child)
            self.assertIs(parent["rss_peak_exact"], True)
            self.assertLessEqual(child["rss_peak_bytes"], parent["rss_peak_bytes"])
            self.assertGreaterEqual(run.summary["rss_peak_upper_bytes"], 600 * MIB)

    def test_the_peak_of_a_larger_image_is_exact_all_the_same(self):
        for options in self.each("marks__prepare_exec"):
            command = [sys.executable, "-c", GROWING, truth("touch"), "200", "20"]
            run = self.run_witnessed(command, options)
            process = self.by_pid(run, run.wait4["pid"])
            self.assertEqual((process["execs"], process["rss_peak_exact"]), (2, True))
            self.assert_near(process["rss_peak_bytes"], run.wait4["maxrss_kb"] * 1024)

    def test_resident_memory_is_within_the_batches_of_the_kernel(self):
        cpus = os.cpu_count()
        off = max(32, 2 * cpus) * cpus * PAGE  # the kernel's batch, at most, of each counter
        for options in self.each("memory__offsets"):
            with self.running([truth("liveprocs"), "1", "3"], ["-i", "0.02", "-q", *options[1:]]) as live:
                sample = live.next_sample(lambda s: s["processes"] == 2)
                resident = self.resident("liveprocs")
                self.assertEqual(len(resident), 2)
                self.assertAlmostEqual(sample["rss_bytes"], sum(resident), delta=2 * 3 * off)

    def resident(self, name):
        """What /proc says of each process of this test with that name."""
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (folder / "comm").read_text() == f"{name}\n" and is_ours(int(folder.name)):
                    found.append(int((folder / "statm").read_text().split()[1]) * PAGE)
            except OSError:
                continue
        return found


class OutOfMemory(AccountCase):
    def test_the_number_of_kills_is_absent_and_not_0(self):
        with cgroup("memory") as group:
            (group / "memory.limit_in_bytes").write_text(str(50 * MIB))
            hog = [truth("incgroup"), str(group), truth("touch"), "200", "10"]
            for how in ("oom__victim", "oom__victim:attach"):
                run = self.run_bpfmon(hog, ["--inject-no-program", how])
                self.assertEqual(run.code, -signal.SIGKILL)
                self.assert_complete(run)
                self.assertEqual(self.only(run.processes)["signal"], signal.SIGKILL)
                self.assertEqual(run.kind("event"), [])
                self.assertFalse({"oom_kills", "oom"} & set(run.summary))
                said = run.meta["capabilities"]["oom_kills"]
                self.assertIs(said["available"], False)
                self.assertIn("the kernel ", said["reason"])


def reported(*options):
    """What `bpfmon check` reports: its exit status, and whether each row is available, or why not."""
    done = subprocess.run([BPFMON, "check", "--json", *options], stdout=subprocess.PIPE, check=False)
    rows = map(json.loads, done.stdout.decode().splitlines())
    return done.returncode, {row["name"]: row["available"] or row["reason"] for row in rows}


class RefusedTypes(CgroupCase):
    """Each type of BPF programs refused in turn, as a hardened kernel would."""

    REFUSED = "the kernel refuses programs of type {}: Operation not permitted "

    def test_each_type_has_a_row_and_is_missing_there_when_refused(self):
        _, plain = reported()
        types = {name.removeprefix("programs of type ") for name in plain if name.startswith("programs of type ")}
        self.assertEqual(types, {"tp_btf", "iter/task", "fexit", "cgroup_skb", "cgroup_sock_addr", "syscall"})
        for kind in types:
            status, rows = reported("--inject-no-program", kind)
            self.assertEqual(status, 0, kind)  # without those of the core a run is measured from /proc
            self.assertIn(self.REFUSED.format(kind), rows[f"programs of type {kind}"])
            for other in types - {kind}:
                self.assertEqual(rows[f"programs of type {other}"], plain[f"programs of type {other}"])

    def test_without_those_of_the_core_an_exact_run_is_refused_and_the_error_names_them(self):
        for kind, program in (("tp_btf", "follow__newtask"), ("iter/task", "drain__tasks")):
            flag = self.dir / "was-run"
            run = self.run_bpfmon(["touch", str(flag)], ["--require", "exact", "--inject-no-program", kind])
            self.assertEqual(run.code, 125)
            self.assertIn(f"bpfmon: {self.REFUSED.format(kind)}(hardened kernel, container, or CAP_BPF missing); "
                          f"program {program} needs it", run.stderr)
            self.assertFalse(flag.exists())
            _, rows = reported("--inject-no-program", kind)
            self.assertIn(self.REFUSED.format(kind), rows["following processes"])

    def test_without_the_ends_of_functions_nothing_is_missing_where_tracepoints_count(self):
        run = self.run_witnessed([truth("seqchildren"), "20", "10"], ["-v", "--net", "--inject-no-program", "fexit"])
        self.assert_exact(run)
        self.assertNotIn(": not available: ", run.stderr)
        self.assertEqual(run.summary["net_tx_bytes"], 0)

    def test_without_programs_of_system_calls_resident_memory_has_a_reason(self):
        run = self.run_witnessed([truth("seqchildren"), "20", "10"], ["-v", "--inject-no-program", "syscall"])
        self.assert_exact(run)
        self.assertRegex(run.stderr, r"(?m)^bpfmon: resident memory summed over CPUs: not available: "
                         + re.escape(self.REFUSED.format("syscall")))

    def test_without_programs_of_connect_what_fails_at_once_has_a_reason(self):
        command = [truth("seqchildren"), "20", "10"]
        run = self.run_witnessed(command, ["-v", "--net", "--inject-no-program", "cgroup_sock_addr"])
        self.assert_exact(run)
        self.assertEqual(run.summary["net_failed_connects"], 0)
        self.assertRegex(run.stderr, r"(?m)^bpfmon: TCP connections that fail at once: not available: "
                         + re.escape(self.REFUSED.format("cgroup_sock_addr")))

    def test_without_programs_of_cgroups_packets_are_absent_with_the_reason(self):
        group = self.group(UNIFIED)
        keeper = self.keeper(group)
        attached = self.attach_cgroup(group, "--net", "--inject-no-program", "cgroup_skb")
        self.end(keeper)
        run = self.stop(attached)
        packets = [key for key in run.meta["capabilities"] if key.startswith("net_wire_")]
        self.assertEqual(len(packets), 4)
        for key in packets:
            self.assertIs(run.meta["capabilities"][key]["available"], False)
            self.assertIn(self.REFUSED.format("cgroup_skb"), run.meta["capabilities"][key]["reason"])
            self.assertNotIn(key, run.summary)
        self.assertEqual((run.summary["net_tx_bytes"], run.summary["processes_total"]), (0, 1))
        self.assert_complete(run)
        _, rows = reported("--inject-no-program", "cgroup_skb")
        self.assertIn(self.REFUSED.format("cgroup_skb"), rows["packets to a cgroup"])

    def assert_exact(self, run):
        self.assert_counts(run, 22, 0)
        self.assert_sums(run)
        self.assert_cpu(sum(p["cpu_seconds"] for p in self.inside(run)), run.wait4["cpu_seconds"])
