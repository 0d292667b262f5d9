# SPDX-License-Identifier: BSD-2-Clause
"""Restarts of the agent while jobs of the node go on: they stay the same jobs, with all that they have used."""

import json
import os
import resource
import signal
import subprocess

from lib.bpfmon import BPFMON
from lib.live import wait_for
from lib.manager import Manager
from lib.node import AgentCase

TICK = 1 / os.sysconf("SC_CLK_TCK")
BURN = "import time\nwhile time.process_time() < 0.3: pass"


class Jobs(AgentCase):
    def setUp(self):
        super().setUp()
        self.manager = Manager(self.place)
        self.addCleanup(self.manager.close)
        self.agent = self.start_managed()

    def start_managed(self, *lines):
        words = [BPFMON, "agent", "-v", "--hand-over", "--config", str(self.configure(*lines))]
        words, fds = self.manager.command(words)
        with open(self.said, "ab") as said:
            agent = subprocess.Popen(words, stderr=said, pass_fds=fds, env={**os.environ, "NOTIFY_SOCKET": self.manager.path})
        self.addCleanup(self.end_agent, agent)
        wait_for(lambda: self.answers() or agent.poll() is not None, "the agent")
        self.assertIsNone(agent.poll(), self.said.read_text())
        return agent

    def restart(self, how=signal.SIGTERM):
        self.end_agent(self.agent, how)
        self.agent = self.start_managed()

    def of_job(self, job):
        """Meta line and last sample of the job, as `bpfmon jobs` has them; None if there is no such job."""
        lines = self.answers()
        metas = [x for x in lines if x["kind"] == "meta" and x["node_job"]["id"] == job]
        self.assertLessEqual(len(metas), 1, metas)
        samples = [x for x in lines if metas and x["kind"] == "sample" and x["run"] == metas[0]["run"]]
        return (metas[0], samples[-1]) if samples else None

    def answers(self):
        done = subprocess.run([BPFMON, "jobs", "--json", "--agent", self.socket], capture_output=True, check=False)
        return [json.loads(line) for line in done.stdout.splitlines()] if not done.returncode else []

    def start_job(self, number):
        """A job that burns CPU for each line on its input."""
        folder = self.job_cgroup(number)
        code = f"import sys\nfor line in sys.stdin:\n    import os\n    if not os.fork():\n        exec({BURN!r}); os._exit(0)\n    os.wait(); print(flush=True)"
        process = subprocess.Popen(
            ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder, "python3", "-c", code],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return folder, process

    def burn(self, process):
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()

    def finish(self, folder, process):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process.communicate()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.end_job(folder)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_a_job_stays_the_same_run(self):
        folder, process = self.start_job(7901)
        self.burn(process)
        before, sample = wait_for(lambda: self.of_job("slurm/7901"), "the job")
        for phase in range(3):
            self.restart()
            after, now = wait_for(lambda: self.of_job("slurm/7901"), "the job")
            self.assertEqual({k: v for k, v in after.items() if k != "node_job"}, {k: v for k, v in before.items() if k != "node_job"})
            self.assertFalse(after["node_job"].get("adopted"))
            for key in ("elapsed_seconds", "cpu_seconds", "forks", "minflt"):
                self.assertGreaterEqual(now[key], sample[key])
            sample = now
            self.burn(process)
        used = self.finish(folder, process)
        self.wait_for_end_of("slurm/7901")
        ((uuid, cpu_ns, complete),) = self.ask("SELECT uuid, cpu_ns, complete FROM run WHERE job = 'slurm/7901'")
        self.assertEqual(uuid, before["run"])
        self.assertTrue(complete)
        # what the shell used before it was in the cgroup counts elsewhere
        self.assertLessEqual(cpu_ns / 1e9, used + 2 * TICK)
        self.assertGreater(cpu_ns / 1e9, 1.2)

    def test_a_recording_of_a_job_goes_on(self):
        folder, process = self.start_job(7905)
        self.burn(process)
        wait_for(lambda: self.of_job("slurm/7905"), "the job")
        out = self.place / "job.jsonl"
        recorder = subprocess.Popen([BPFMON, "attach", "--agent", self.socket, "--job", "slurm/7905", "-q", "-o", out])
        self.addCleanup(recorder.wait)
        wait_for(lambda: out.exists() and '"kind":"sample"' in out.read_text(), "a sample")
        for _ in range(2):
            self.restart()
            self.burn(process)
        self.finish(folder, process)
        self.assertEqual(recorder.wait(60), 0)
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        (summary,) = [line for line in lines if line["kind"] == "summary"]
        self.wait_for_end_of("slurm/7905")
        ((cpu_ns,),) = self.ask("SELECT cpu_ns FROM run WHERE job = 'slurm/7905'")
        self.assertTrue(summary["complete"], summary)
        self.assertEqual(round(summary["cpu_seconds"] * 1e9), cpu_ns)
        self.assertEqual(len([line for line in lines if line["kind"] == "meta"]), 1)

    def test_a_job_that_ends_while_there_is_no_agent(self):
        folder, process = self.start_job(7902)
        self.burn(process)
        before, _ = wait_for(lambda: self.of_job("slurm/7902"), "the job")
        self.end_agent(self.agent)
        self.burn(process)
        self.finish(folder, process)
        self.agent = self.start_managed()
        self.wait_for_end_of("slurm/7902")
        ((uuid, cpu_ns, complete),) = self.ask("SELECT uuid, cpu_ns, complete FROM run WHERE job = 'slurm/7902'")
        self.assertEqual((uuid, complete), (before["run"], 1))
        self.assertGreater(cpu_ns / 1e9, 0.6)

    def test_no_total_of_the_node_falls(self):
        """Also not by cgroups that were removed, whose accounts are gone."""
        self.run_job(7903, "python3", "-c", BURN)
        self.wait_for_end_of("slurm/7903")
        for _ in range(2):
            before = {job: self.of_job(job) for job in ("node", "other")}
            self.restart()
            for job, (meta, sample) in before.items():
                after, now = wait_for(lambda job=job: self.of_job(job), job)
                self.assertEqual(after["run"], meta["run"])
                for key in ("cpu_seconds", "forks", "exits", "minflt", "elapsed_seconds"):
                    self.assertGreaterEqual(now[key], sample[key], (job, key))
        self.assertEqual(len(self.ask("SELECT 1 FROM run WHERE job = 'node'")), 1)

    def test_after_a_kill_a_job_is_listed_once(self):
        folder, process = self.start_job(7904)
        self.burn(process)
        before, _ = wait_for(lambda: self.of_job("slurm/7904"), "the job")
        wait_for(lambda: any("FDSTORE" in state for state in self.manager.states), "what the agent leaves")
        self.restart(signal.SIGKILL)
        wait_for(lambda: self.of_job("slurm/7904"), "the job")
        self.burn(process)
        self.finish(folder, process)
        self.wait_for_end_of("slurm/7904")
        ((cpu_ns, complete),) = self.ask("SELECT cpu_ns, complete FROM run WHERE job = 'slurm/7904'")
        self.assertGreater(cpu_ns / 1e9, 0.6)
