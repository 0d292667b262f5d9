# SPDX-License-Identifier: BSD-2-Clause
"""Energy of the machine and the share of a run: the counters are those of a made /sys/class/powercap."""

import os
import subprocess
import threading
import time

from lib.agent import Agent, AgentCase
from lib.bpfmon import BPFMON, Case, read_lines
from lib.gpus import Powercap, environment
from lib.live import PATIENCE, wait_for

RANGE_UJ = 262143328850
BURN = "import time\nwhile time.process_time() < 0.7: pass"
SUM = ("energy_apportioned_joules", "energy_unapportioned_joules")


class Meter:
    """Counters that rise until close(): 50 W of the package and 7 W of its memory."""

    def __init__(self, folder, start_uj=0):
        self.zones = Powercap(folder)
        self.start_uj = start_uj
        self.is_over = False
        self.set()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def set(self):
        self.now_ns = time.monotonic_ns()
        self.base_ns = getattr(self, "base_ns", self.now_ns)
        us = (self.now_ns - self.base_ns) // 1000
        self.package_uj, self.dram_uj = 50 * us, 7 * us
        self.zones.set((self.start_uj + self.package_uj) % RANGE_UJ, self.dram_uj)

    def run(self):
        while not self.is_over:
            self.set()
            time.sleep(0.002)

    def close(self):
        self.is_over = True
        self.thread.join(PATIENCE)


class EnergyCase(Case):
    def meter(self, start_uj=0):
        meter = Meter(self.dir, start_uj)
        self.addCleanup(meter.close)
        return meter

    def assert_adds_up(self, line):
        """To the microjoule, which is the unit of the counters."""
        parts = sum(round(line[key] * 1e6) for key in SUM)
        self.assertEqual(parts, round(line["host_energy_joules"] * 1e6), line)
        domains = sum(round(x["host_energy_joules"] * 1e6) for x in line["by"]["energy"].values())
        self.assertEqual(domains, round(line["host_energy_joules"] * 1e6), line)


class Run(EnergyCase):
    def test_the_share_is_that_of_the_cpu_time_and_adds_up_with_the_rest(self):
        meter = self.meter()
        run = self.run_bpfmon(["python3", "-c", BURN], ["-i", "0.05"], before=meter.zones.before)
        self.assertTrue(run.summary["complete"])
        for line in [*run.samples, run.summary]:
            self.assert_adds_up(line)
        whole = run.summary["host_energy_joules"]
        # no more than what the counters have gained in the test, no less than for the time of the samples
        self.assertLessEqual(whole, (meter.package_uj + meter.dram_uj) / 1e6)
        self.assertGreater(whole, 0)
        share = run.summary["cpu_seconds"] / (os.sysconf("SC_NPROCESSORS_ONLN") * run.summary["wall_seconds"])
        # what the processes used before their first sample is in no interval
        self.assertLessEqual(run.summary["energy_apportioned_joules"], whole * share * 1.5)
        self.assertGreaterEqual(run.summary["energy_apportioned_joules"], whole * share * 0.5)
        self.assertIn("energy", run.stderr)

    def test_a_counter_that_wraps_goes_on(self):
        meter = self.meter(RANGE_UJ - 10_000_000)  # it wraps after 0.2 s
        run = self.run_bpfmon(["sleep", "1"], ["-i", "0.05"], before=meter.zones.before)
        self.assertLess(meter.package_uj + meter.start_uj - RANGE_UJ, RANGE_UJ)
        self.assertGreater(run.summary["host_energy_joules"], 50)
        self.assertLessEqual(run.summary["host_energy_joules"], (meter.package_uj + meter.dram_uj) / 1e6)
        values = [s["host_energy_joules"] for s in run.samples]
        self.assertEqual(values, sorted(values))

    def test_without_bpf_it_is_the_same(self):
        meter = self.meter()
        run = self.run_bpfmon(["python3", "-c", BURN], ["-i", "0.05", "--inject-no-program", "tp_btf"], before=meter.zones.before)
        for line in [*run.samples, run.summary]:
            self.assert_adds_up(line)
        self.assertGreater(run.summary["energy_apportioned_joules"], 0)

    def test_a_machine_without_counters_has_no_energy_and_one_reason(self):
        empty = self.dir / "powercap"
        empty.mkdir()
        meter = Powercap(self.dir / "unused")
        meter.folder = empty
        run = self.run_bpfmon(["true"], before=meter.before)
        self.assertEqual([key for key in run.summary if "energy" in key], [])
        self.assertIn("no energy counters", run.meta["capabilities"]["energy"]["reason"])
        self.assertEqual([key for key in run.meta["capabilities"] if "energy" in key], ["energy"])

    def test_an_ordinary_user_may_not_read_them(self):
        meter = self.meter()
        for zone in meter.zones.zones:
            (zone / "energy_uj").chmod(0o400)
        words = [*meter.zones.before, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", BPFMON, "check"]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, env=environment(), check=False, cwd="/")
        self.assertRegex(done.stdout, r"energy counters +missing: only root may read")


class Node(AgentCase, EnergyCase):
    def test_the_shares_of_all_jobs_are_no_more_than_the_node_has(self):
        meter = self.meter()
        agent = Agent("[agent]\ninterval = 100ms\n", before=meter.zones.before)
        self.addCleanup(agent.clean)
        out = self.dir / "run.jsonl"
        self.dir.chmod(0o777)
        run = agent.bpfmon("--force", "-o", out, "-i", "0.1", "--", "python3", "-c", BURN)
        _, said = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, said)
        summary = read_lines(out)[-1]
        self.assert_adds_up(summary)

        def jobs():
            lines = agent.jobs(uid=0)
            of = {x["run"]: x["node_job"] for x in lines if x["kind"] == "meta"}
            return {of[x["run"]]["id"]: (of[x["run"]], x) for x in lines if x["kind"] == "sample"}

        found = wait_for(lambda: (all_ := jobs()).get("node") and all_, "the node")
        _, node = found["node"]
        self.assert_adds_up(node)
        shares = {k: s["energy_apportioned_joules"] for k, (job, s) in found.items() if k != "node" and not job.get("nested")}
        self.assertEqual([k for k, (_, s) in found.items() if k != "node" and "host_energy_joules" in s], [])
        # each share is rounded down; jobs that have ended are in the node, and not in the list
        self.assertLessEqual(sum(shares.values()), node["energy_apportioned_joules"] + 1e-6 * len(shares))
        self.assertGreaterEqual(node["energy_apportioned_joules"], summary["energy_apportioned_joules"] * 0.5)
