# SPDX-License-Identifier: BSD-2-Clause
"""The memory that a run needs: shared pages once, files in memory too; a limit acts on nothing else."""

import re
import subprocess
import sys

from lib.bpfmon import AS_USER, BPFMON, Case, give_to_user, truth
from lib.permitted import needs

SAMPLED = True
MIB = 1 << 20

COPY_LATER = """
import os, time
held = bytearray(b"x" * (64 << 20))
for _ in range(3):
    if os.fork() == 0:
        time.sleep(1)
        for i in range(0, len(held), 4096):
            held[i] = 1
        time.sleep(3)
        os._exit(0)
for _ in range(3):
    os.wait()
"""


class Needed(Case):
    def beside(self):
        """A process that is none of the run's in the cgroup that it is in: then that is no witness."""
        process = subprocess.Popen(["sleep", "600"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    def needed(self, run, witness, true_bytes):
        """The figure holds: a bound bounds, and what is called equal is within a tenth, and what a program needs besides."""
        s = run.summary
        self.assertIn(s["memory_needed_witness"], witness.split(), s)
        if s["memory_needed_bound"] != "at_least":
            self.assertGreaterEqual(s["memory_needed_bytes"], 0.97 * true_bytes, s)
        if s["memory_needed_bound"] != "at_most":
            self.assertLessEqual(s["memory_needed_bytes"], 1.15 * true_bytes + 16 * MIB, s)
        return s

    def test_memory_that_eight_share_counts_once_by_pss(self):
        self.beside()
        run = self.run_bpfmon([truth("sharers"), "64", "7", "4000"], ["-i", "0.1"])
        s = self.needed(run, "pss", 64 * MIB)
        self.assertEqual(s["memory_needed_bound"], "equal")
        self.assertGreaterEqual(s["rss_peak_bytes"], 0.97 * 8 * 64 * MIB)
        self.assertRegex(run.stderr, r"request +\d\d MiB \(PSS \d+\.\d MiB \+ 10 %\)")
        self.assertRegex(run.stderr, r"memory +needed \d+\.\d MiB \(measured by its PSS\), at .*\n +with shared pages counted once per process: peak")
        self.assertNotIn("pss_bytes", run.samples[-1])

    def test_pages_that_are_copied_later_are_found(self):
        self.beside()
        run = self.run_bpfmon([sys.executable, "-c", COPY_LATER], ["-i", "0.1"])
        # where it is read too seldom, RSS is the bound
        self.needed(run, "pss rss", 4 * 64 * MIB + 8 * MIB)

    def test_an_ordinary_user_without_bpf_has_the_same(self):
        self.beside()
        give_to_user(self.dir)
        run = self.run_bpfmon(
            [truth("sharers"), "64", "7", "4000"], ["-i", "0.1", "--if-unavailable", "procfs"], cwd="/", **AS_USER
        )
        s = self.needed(run, "pss", 64 * MIB)
        self.assertEqual(s["memory_needed_bound"], "at_least")
        self.assertGreaterEqual(s["memory_needed_bytes"], 0.97 * 64 * MIB)

    def test_where_pss_is_not_read_in_time_rss_is_a_bound(self):
        self.beside()
        run = self.run_bpfmon([truth("sharers"), "64", "7", "300"], ["-i", "60"])
        s = self.needed(run, "rss", 64 * MIB)
        self.assertEqual(s["memory_needed_bound"], "at_most")
        self.assertRegex(run.stderr, r"request +\d+ MiB \(peak up to \d+ MiB \+ 10 %\)")

    def test_of_one_process_it_is_its_peak(self):
        run = self.run_bpfmon([truth("touch"), "50", "300", "exit"], ["-i", "0.1"])
        s = self.needed(run, "rss", 50 * MIB)
        self.assertEqual(s["memory_needed_bound"], "equal")

    def own_cgroup(self, command, *options):
        return self.run_bpfmon(command, ["-i", "0.1", "--own-cgroup", *options])

    def test_files_in_memory_are_in_its_cgroup(self):
        script = 'dd if=/dev/zero of=/dev/shm/needed$$ bs=1M count=100 status=none; sleep 1; rm -f /dev/shm/needed$$'
        s = self.needed(self.own_cgroup(["sh", "-c", script]), "cgroup", 100 * MIB)
        self.assertLess(s["rss_peak_bytes"], 20 * MIB)
        self.assertGreaterEqual(s["cgroup_peak_bytes"], 100 * MIB)

    def test_files_in_memory_are_requested_of_slurm(self):
        script = 'dd if=/dev/zero of=/dev/shm/request$$ bs=1M count=100 status=none; sleep 0.5; rm -f /dev/shm/request$$'
        store = ["--store", str(self.dir / "runs.db"), "--name", "files"]
        for _ in range(3):
            run = self.own_cgroup(["sh", "-c", script], *store)
            self.assertRegex(run.stderr, r"request +1\d\d MiB \(its cgroup needed 1\d\d MiB \+ 10 %\)")
        done = subprocess.run([BPFMON, "advise", *store, "--for", "slurm"], capture_output=True, text=True, check=True)
        mib = int(re.search(r"^#SBATCH --mem=(\d+)M$", done.stdout, re.M)[1])
        self.assertGreaterEqual(mib, 100)
        self.assertLess(mib, 200)

    def test_page_cache_is_not_needed(self):
        (self.dir / "input").write_bytes(bytes(200 * MIB))
        script = f'cat {self.dir}/input | wc -c; exec "$0" 64 3 1500'
        subprocess.run(["sync"], check=True)
        run = self.own_cgroup(["sh", "-c", script, truth("sharers")])
        self.needed(run, "cgroup", 64 * MIB)

    def limited(self, limit, command, *options):
        run = self.run_bpfmon(command, ["-i", "0.1", "--limit", limit, "--limit-grace", "0.1", *options])
        return run.code, run.stderr

    def test_a_limit_of_rss_does_not_act_on_pages_that_are_counted_twice(self):
        self.beside()
        for options in ((), ("--own-cgroup",), ("--exact-peak",)):
            with self.subTest(options=options):
                code, said = self.limited("rss<200MiB", [truth("sharers"), "64", "7", "3000"], *options)
                self.assertEqual(code, 0, said)
                found = re.search(r"limit exceeded: rss<200MiB: (\d+) MiB after .*, but only (\d+\.\d) MiB without", said)
                self.assertTrue(found, said)
                self.assertGreater(int(found[1]), 200)
                self.assertAlmostEqual(float(found[2]), 64, delta=16)
                self.assertEqual(said.count("warning: limit exceeded"), 1, said)

    def test_a_limit_of_memory_is_of_what_is_needed(self):
        self.beside()
        for options in ((), ("--own-cgroup",)):
            with self.subTest(options=options):
                command = [truth("sharers"), "64", "7", "3000"]
                self.assertEqual(self.limited("memory<200MiB", command, *options)[0], 0)
                code, said = self.limited("memory<40MiB", command, *options)
                self.assertEqual(code, 124, said)
                self.assertIn("limit exceeded: memory<40MiB", said)

    def test_a_limit_of_memory_sees_files_in_memory(self):
        script = 'dd if=/dev/zero of="$0" bs=1M count=100 status=none; sleep 2; rm -f "$0"'
        self.addCleanup(subprocess.run, ["rm", "-f", "/dev/shm/needed-limit"], check=True)
        code, said = self.limited("memory<60MiB", ["sh", "-c", script, "/dev/shm/needed-limit"], "--own-cgroup")
        self.assertEqual(code, 124, said)

    @needs()
    def test_a_limit_of_memory_is_of_the_run_alone(self):
        for limit in ("process.memory<1GiB", "span.memory<1GiB"):
            self.assertEqual(self.limited(limit, ["true"])[0], 125)
