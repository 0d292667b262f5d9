# SPDX-License-Identifier: BSD-2-Clause
"""The numbers of the command's own cgroup, and of the host's pressure, are the kernel's."""

import os
import pathlib
import re
import sys

from lib.account import AccountCase, read_json
from lib.bpfmon import truth

SAMPLED = True
MIB = 1 << 20
MOUNT = pathlib.Path("/sys/fs/cgroup/memory")
OWN = ["--own-cgroup"]

# Reads a file, and asks its own cgroup before and after: anon, page cache, usage, and the peak.
READER = """
import json, os, sys, time
own = next(l.split(":")[2] for l in open("/proc/self/cgroup").read().split("\\n") if ":memory:" in l)
own = "/sys/fs/cgroup/memory" + own
def ask():
    stat = dict(l.split() for l in open(own + "/memory.stat"))
    return {"anon": int(stat["total_rss"]), "file": int(stat["total_cache"]),
            "peak": int(open(own + "/memory.max_usage_in_bytes").read())}
before = ask()
fd = os.open(sys.argv[1], os.O_RDONLY)
while os.read(fd, 1 << 20): pass
open(sys.argv[2] + ".new", "w").write(json.dumps({"before": before, "after": ask(), "time": time.time()}))
os.rename(sys.argv[2] + ".new", sys.argv[2])
time.sleep(0.4)
"""


def evict(path):
    """Takes a file out of the page cache: the next process to read it is charged for it."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


class Numbers(AccountCase):
    def setUp(self):
        super().setUp()
        if not (MOUNT / "memory.usage_in_bytes").exists():
            self.skipTest("no memory controller of version 1 is mounted at /sys/fs/cgroup/memory")

    def test_a_peak_that_no_sample_sees(self):
        run = self.run_bpfmon([truth("touch"), "200", "5", "free"], OWN)
        self.assert_complete(run)
        self.assertGreaterEqual(run.summary["cgroup_peak_bytes"], 200 * MIB)
        self.assertLessEqual(run.summary["cgroup_peak_bytes"], 1.03 * 200 * MIB)
        for sample in run.samples:
            self.assertLess(sample["cgroup_memory_bytes"], 200 * MIB)

    def test_shares_of_touched_memory(self):
        run = self.run_bpfmon([truth("touch"), "200", "300", "exit"], [*OWN, "-i", "0.02"])
        self.assertGreaterEqual(run.summary["cgroup_peak_anon_bytes"], 0.97 * 200 * MIB)
        self.assertLessEqual(run.summary["cgroup_peak_anon_bytes"], run.summary["cgroup_peak_bytes"])
        self.assertLess(run.summary["cgroup_peak_file_bytes"], 20 * MIB)
        said = r"its cgroup +20\d MiB at its peak; at the largest sample \d+ MiB anonymous, "
        self.assertRegex(run.stderr, said)

    def test_page_cache_is_the_cgroups_but_no_process_holds_it(self):
        file, said = self.dir / "large", self.dir / "said"
        with open(file, "wb") as out:
            for _ in range(300):
                out.write(os.urandom(MIB))
        evict(file)
        reader = [sys.executable, "-c", READER, str(file), str(said)]
        run = self.run_bpfmon(reader, [*OWN, "-i", "0.05"])
        self.assert_complete(run)
        witness = read_json(said)
        grown = witness["after"]["file"] - witness["before"]["file"]
        self.assertGreaterEqual(grown, 290 * MIB)  # else this shows nothing
        summary, then = run.summary, next(s for s in run.samples if s["time"] > witness["time"])
        self.assertAlmostEqual(then["cgroup_file_bytes"], witness["after"]["file"], delta=4 * MIB)
        self.assertAlmostEqual(then["cgroup_anon_bytes"], witness["after"]["anon"], delta=4 * MIB)
        self.assertLess(summary["cgroup_peak_anon_bytes"], 40 * MIB)
        self.assertGreaterEqual(summary["cgroup_peak_file_bytes"], 290 * MIB)
        self.assertGreaterEqual(summary["cgroup_peak_bytes"], witness["after"]["peak"])
        self.assert_near(summary["cgroup_peak_bytes"], witness["after"]["peak"])
        self.assertLess(summary["process_rss_peak_bytes"], 60 * MIB)
        self.assertLess(summary["rss_peak_bytes"], 60 * MIB)

    def test_every_metric_of_it_is_read_or_has_a_reason(self):
        run = self.run_bpfmon([truth("spin"), "50"], [*OWN, "--metrics", "cgroup"])
        can = run.meta["capabilities"]
        for part in ("memory", "anon", "file", "shmem"):
            self.assertTrue(can[f"cgroup_{part}_bytes"]["available"])
        for key in ("cgroup_memory_pressure_some_seconds", "cgroup_memory_pressure_full_seconds"):
            self.assertIn("cgroup v2", can[key]["reason"])
        for sample in run.samples:
            self.assertEqual([k for k in sample if k in can], [k for k in can if can[k]["available"]])

    def test_named_without_a_cgroup_they_are_absent_with_the_reason(self):
        run = self.run_bpfmon([truth("spin"), "10"], ["--metrics", "cpu_seconds,cgroup_memory_bytes"])
        self.assertIn("--own-cgroup", run.meta["capabilities"]["cgroup_memory_bytes"]["reason"])
        self.assertNotIn("cgroup_memory_bytes", run.samples[-1])
        self.assertNotIn("cgroup_peak_bytes", run.summary)

    def test_without_the_option_no_cgroup_is_mentioned(self):
        run = self.run_bpfmon([truth("spin"), "10"])
        self.assertFalse([key for key in run.meta["units"] if key.startswith("cgroup")])
        self.assertFalse([key for key in run.summary if key.startswith("cgroup")])
        self.assertNotIn("cgroup", run.stderr)


class HostPressure(AccountCase):
    def total(self, name):
        text = pathlib.Path("/proc/pressure/memory").read_text()
        return int(re.search(rf"^{name} .*total=(\d+)", text, re.M)[1]) / 1e6

    def test_it_is_what_proc_says_from_the_start_to_the_end(self):
        if not os.access("/proc/pressure/memory", os.R_OK):
            self.skipTest("the kernel has no /proc/pressure (CONFIG_PSI), or it is off (psi=0)")
        before = {name: self.total(name) for name in ("some", "full")}
        run = self.run_bpfmon(["sh", "-c", "sleep 0.3"])
        for name, was in before.items():
            value = run.summary[f"host_memory_pressure_{name}_seconds"]
            self.assertGreaterEqual(value, 0)
            self.assertLessEqual(value, self.total(name) - was + 1e-6)
            self.assertEqual(run.samples[-1][f"host_memory_pressure_{name}_seconds"], value)
