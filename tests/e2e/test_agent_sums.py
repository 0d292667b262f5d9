# SPDX-License-Identifier: BSD-2-Clause
"""The numbers of the agent, against wait4, /proc/stat and each other."""

import json
import os
import pathlib
import random
import select
import signal
import subprocess
import time
from typing import NamedTuple

from lib.agent import NOBODY, TICKS
from lib.agent import AgentCase
from lib.bpfmon import said_by, truth
from lib.cgroups import CPUS, UNIFIED
from lib.live import PATIENCE, wait_for
from lib.node import rmdir_patiently

SAMPLED = True
TOP = pathlib.Path("/sys/fs/cgroup") / UNIFIED
MIB = 1 << 20
ALONE = True  # /proc/stat counts what runs at a tick: of many short processes at once it is no witness
# only the cgroups of this process: other tests may run beside it
RULES = f"[agent]\nhierarchy = unified\n[rule test]\npattern = /bpfmon-test-{os.getpid()}.{{name}}\nkind = test\n"


def stat_ticks():
    """User, nice and system of all CPUs, in ticks."""
    fields = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()
    return sum(map(int, fields[1:4]))


class Used(NamedTuple):
    """CPU time between two looks of a process at its own clock."""

    least: float = 0
    most: float = 0

    def __add__(self, other):
        return Used(self.least + other.least, self.most + other.most)


class Stream:
    """What the node's stream has said so far, by run."""

    def __init__(self, client):
        self.client = client.listen()
        self.metas, self.samples, self.summaries, self.agent = {}, {}, {}, None

    def read(self, until):
        """Takes lines up to the first for which `until` is true."""
        for line in self.client.lines(until):
            run = line["run"]
            if line["kind"] == "meta":
                self.metas[run] = line
            elif line["kind"] == "sample":
                self.samples[run] = line
            elif line["kind"] == "summary":
                self.summaries[run] = line
            elif line["kind"] == "agent":
                self.agent = line
        return self

    def tick(self):
        return self.read(lambda line: line["kind"] == "agent")

    def now(self):
        """Up to what was sampled after this call; twice, as the last tasks are freed meanwhile."""
        for _ in range(2):
            now = time.time()
            self.read(lambda line: line["kind"] == "agent" and line["time"] > now + 0.001)
        return self

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "in vain waited for lines"
            self.tick()
        return self

    def runs(self, kind):
        return [run for run, meta in self.metas.items() if meta["node_job"]["kind"] == kind]

    @property
    def node(self):
        (run,) = self.runs("node")
        return run

    def used(self, run, name="cpu_seconds"):
        return (self.summaries.get(run) or self.samples[run])[name]


class Cgroups(AgentCase):
    def setUp(self):
        super().setUp()
        self.groups = []
        self.addCleanup(self.remove_all)

    def remove_all(self):
        for group in self.groups:
            rmdir_patiently(group)

    def group(self, name):
        group = TOP / f"bpfmon-test-{os.getpid()}.{name}"
        group.mkdir()
        self.groups.append(group)
        return group

    def start_in(self, group, *argv):
        """A process in the cgroup; what it used before is written to a file."""
        before = self.dir / f"before-{group.name}-{time.monotonic_ns()}"
        process = subprocess.Popen(
            [truth("incgroup"), str(group), *map(str, argv)], env={**os.environ, "TRUTH_BEFORE": str(before)}
        )
        process.before = before
        return process

    def reap(self, process):
        """What it has used in the cgroup, as wait4 has it: the least and the most, as the move itself takes time."""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        before = json.loads(process.before.read_text())
        used = usage.ru_utime + usage.ru_stime
        return Used(used - before["cpu_joined_seconds"], used - before["cpu_joining_seconds"])

    def assert_near(self, value, used, what=None):
        slack = max(0.01 * used.least, 0.002)
        self.assertGreaterEqual(value, used.least - slack, (used, what))
        self.assertLessEqual(value, used.most + slack, (used, what))

    def assert_adds_up(self, stream):
        """The node is the sum of its jobs, those that have ended included."""
        outermost = [
            run
            for run, meta in stream.metas.items()
            if meta["node_job"]["kind"] in ("test", "other") or not meta["node_job"]["id"].count("/") > 1
        ]
        parts = [run for run in outermost if stream.metas[run]["node_job"]["kind"] not in ("node", "run")]
        for name in ("cpu_seconds", "forks", "exits", "execs", "minflt"):
            total = sum(stream.used(run, name) for run in parts)
            self.assertAlmostEqual(stream.samples[stream.node][name], total, delta=1e-5, msg=name)

    def test_short_cgroups_are_jobs_with_their_own_numbers(self):
        self.new_agent(RULES)
        stream = Stream(self.client())
        chance = random.Random(1)
        running, truths, made = [], {}, 0
        while made < 100 or running:
            if made < 100 and len(running) < 8:
                group = self.group(made)
                made += 1
                ms = chance.choice((1, 5, 20, 60))
                running.append((group, [self.start_in(group, truth("spin"), ms) for _ in range(chance.choice((1, 1, 2)))]))
            for item in list(running):
                group, processes = item
                if all(os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) for p in processes):
                    truths[f"/{group.name}"] = sum((self.reap(p) for p in processes), Used()), len(processes)
                    rmdir_patiently(group)
                    running.remove(item)
            time.sleep(0.002)
        stream.until(lambda: len([r for r in stream.runs("test") if r in stream.summaries]) >= 100)
        stream.tick()
        self.assertEqual(len(stream.runs("test")), 100)
        for run in stream.runs("test"):
            meta, summary = stream.metas[run], stream.summaries[run]
            used, nr = truths.pop(meta["node_job"]["cgroup"])
            self.assert_near(summary["cpu_seconds"], used, summary)
            self.assertTrue(summary["complete"], summary)
            self.assertEqual((summary["processes_total"], summary["exits"]), (nr, nr))
        self.assertEqual(truths, {})
        self.assert_adds_up(stream)

    def test_a_process_that_is_moved_while_it_runs_is_in_one_job_at_a_time(self):
        self.new_agent(RULES)
        stream = Stream(self.client())
        a, b = self.group("a"), self.group("b")
        process = self.start_in(a, truth("spin"), 1000)
        stream.until(lambda: len(stream.runs("test")) >= 1)
        for i in range(21):
            (b if i % 2 == 0 else a).joinpath("cgroup.procs").write_text(str(process.pid))
            time.sleep(0.02)
        used = self.reap(process)
        stream.now()
        jobs = stream.runs("test")
        self.assertEqual(len(jobs), 2)
        self.assert_near(sum(stream.used(run) for run in jobs), used)
        self.assertEqual(sum(stream.used(run, "exits") for run in jobs), 1)
        self.assertEqual([stream.used(run, "processes") for run in jobs], [0, 0])
        self.assert_adds_up(stream)
        for group in (a, b):
            group.rmdir()
        stream.until(lambda: all(run in stream.summaries for run in jobs))
        self.assert_near(sum(stream.used(run) for run in jobs), used)

    def test_a_cgroup_that_is_made_again_under_the_same_name(self):
        self.new_agent(RULES)
        stream = Stream(self.client())
        total = Used()
        for _ in range(5):
            group = self.group("again")
            total = total + self.reap(self.start_in(group, truth("spin"), 20))
            group.rmdir()
        stream.until(lambda: stream.runs("test") and all(run in stream.summaries for run in stream.runs("test")))
        self.assert_near(sum(stream.used(run) for run in stream.runs("test")), total)

    def test_missed_events_are_made_good(self):
        self.new_agent(RULES, ["--inject-misses", "50"])
        stream = Stream(self.client())
        group = self.group("missed")
        process = self.start_in(group, truth("forkstorm"), 4, 200)
        used = self.reap(process)
        stream.now()
        (job,) = stream.runs("test")
        group.rmdir()
        stream.until(lambda: job in stream.summaries)
        summary = stream.summaries[job]
        if summary["complete"]:
            self.assertLessEqual(abs(stream.used(job) - used.least), max(0.03 * used.least, 0.01))
        else:
            self.assertTrue(summary["losses"], summary)
        self.assertGreater(stream.agent["repaired"], 0)

    def test_tasks_without_room_are_counted_as_lost(self):
        tasks = len(said_by("ps", "-eL", "-o", "lwp=").splitlines())
        self.new_agent(RULES.replace("unified\n", f"unified\nmax_tasks = {tasks + 200}\n"))
        stream = Stream(self.client())
        stream.tick()
        room = stream.agent["max_tasks"] - stream.agent["tasks"]
        group = self.group("full")
        self.start_in(group, truth("liveprocs"), room + 300, 1).wait()
        stream.now()
        group.rmdir()
        (job,) = stream.runs("test")
        stream.until(lambda: job in stream.summaries)
        summary = stream.summaries[job]
        self.assertFalse(summary["complete"])
        self.assertGreater(summary["losses"].get("tasks", 0) + summary["losses"].get("processes", 0), 0)


class Memory(AgentCase):
    """The memory that a job needs, by its cgroup: what its processes share counts once there, and files in memory do, too."""

    V1 = pathlib.Path("/sys/fs/cgroup/memory")
    FOLDER = V1 if V1.exists() else TOP
    PEAK = "memory.max_usage_in_bytes" if V1.exists() else "memory.peak"

    def setUp(self):
        super().setUp()
        if not self.V1.exists() and "memory" not in (TOP / "cgroup.subtree_control").read_text().split():
            self.skipTest("no hierarchy has the memory controller")
        rule = "[rule {0}]\npattern = /bpfmon-{0}-%d.{{name}}%s\nkind = {0}\n"
        hierarchy = "memory" if self.V1.exists() else "unified"
        self.new_agent(f"[agent]\nhierarchy = {hierarchy}\n" + (rule.format("test") % (os.getpid(), "") + rule.format("parts") % (os.getpid(), ".*")))
        self.stream = Stream(self.client())

    def start_in(self, name, *command):
        group = self.FOLDER / name
        group.mkdir()
        self.addCleanup(rmdir_patiently, group)
        process = subprocess.Popen([truth("incgroup"), str(group), *map(str, command)])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return group, process

    def summary_of(self, kind):
        (run,) = self.stream.until(lambda: any(run in self.stream.summaries for run in self.stream.runs(kind))).runs(kind)
        return self.stream.summaries[run]

    def test_pages_that_are_shared_count_once(self):
        group, process = self.start_in(f"bpfmon-test-{os.getpid()}.shared", truth("sharers"), 64, 7, 3000)
        process.wait()
        peak = int((group / self.PEAK).read_text())
        rmdir_patiently(group)
        s = self.summary_of("test")
        self.assertGreaterEqual(s["rss_peak_bytes"], 0.97 * 8 * 64 * MIB)
        self.assertEqual(s["memory_needed_witness"], "cgroup")
        self.assertIn(s["memory_needed_bound"], ("equal", "at_least"))
        self.assertGreaterEqual(s["memory_needed_bytes"], 0.97 * 64 * MIB)
        self.assertLessEqual(s["memory_needed_bytes"], peak)

    def test_files_in_memory_count_and_page_cache_does_not(self):
        file, cached = f"/dev/shm/needed-{os.getpid()}", self.dir / "cached"
        self.addCleanup(subprocess.run, ["rm", "-f", file], check=True)
        script = f"dd if=/dev/zero of={file} bs=1M count=80 status=none; dd if=/dev/zero of={cached} bs=1M count=200 status=none; sleep 3; rm {file}"
        group, process = self.start_in(f"bpfmon-test-{os.getpid()}.files", "sh", "-c", script)
        process.wait()
        peak = int((group / self.PEAK).read_text())
        rmdir_patiently(group)
        s = self.summary_of("test")
        self.assertLess(s["rss_peak_bytes"], 20 * MIB)
        self.assertEqual(s["memory_needed_witness"], "cgroup")
        self.assertGreaterEqual(s["memory_needed_bytes"], 80 * MIB)
        self.assertLessEqual(s["memory_needed_bytes"], peak - 100 * MIB)

    def test_a_job_of_several_cgroups_has_no_cgroup_as_witness(self):
        groups = [self.start_in(f"bpfmon-parts-{os.getpid()}.job.{i}", truth("sharers"), 32, 3, 3000) for i in range(2)]
        for group, process in groups:
            process.wait()
            rmdir_patiently(group)
        self.assertNotEqual(self.summary_of("parts")["memory_needed_witness"], "cgroup")


class Node(AgentCase):
    CONFIG = RULES + "[limits]\nrequests_per_second = 10000\n"

    def test_the_node_has_used_what_proc_stat_says(self):
        stream = Stream(self.client())
        stream.tick()
        spinners = [self.start(truth("spin"), 1500) for _ in range(CPUS)]
        storm = subprocess.Popen([truth("forkstorm"), "2", "500"])
        stream.now()
        begin, ticks = stream.used(stream.node), stat_ticks()
        select.select([], [], [], 2)
        stream.now()
        used, ticks = stream.used(stream.node) - begin, stat_ticks() - ticks
        storm.wait()
        for s in spinners:
            s.wait()
        self.assertLessEqual(abs(used - ticks / TICKS), max(0.02 * used, 3 * CPUS / TICKS), (used, ticks))

    def test_many_clients_at_once(self):
        outs = []
        for i in range(20):
            out, said = self.dir / f"run{i}", self.dir / f"wait4-{i}"
            for path in (out, said):
                path.touch()
                os.chown(path, NOBODY, NOBODY)
            command = [truth("forkstorm"), 2, 20] if i % 2 else ["true"]
            env = {"TRUTH_OUT": "/dev/null"}
            process = self.agent.bpfmon("--force", "-o", out, "--", truth("witness"), said, *command, env=env)
            outs.append((process, out, said))
        for process, out, said in outs:
            text = process.communicate(timeout=PATIENCE)[1].decode()
            self.assertEqual(process.returncode, 0, text)
            lines = [json.loads(line) for line in out.read_text().splitlines()]
            summary, wait4 = lines[-1], json.loads(said.read_text())
            self.assertTrue(summary["complete"], summary)
            records = [line for line in lines if line["kind"] == "process"]
            self.assertEqual(len(records), summary["processes_total"])
            self.assertAlmostEqual(sum(r["cpu_seconds"] for r in records), summary["cpu_seconds"], delta=1e-6)
            of_command = wait4["user_seconds"] + wait4["system_seconds"] if "user_seconds" in wait4 else None
            if of_command is not None:
                own = next(r for r in records if r["ppid"] not in [o["pid"] for o in records])
                rest = summary["cpu_seconds"] - own["cpu_seconds"]
                self.assertLessEqual(abs(rest - of_command), max(0.02 * of_command, 0.01), (i, wait4))


class Ends(AgentCase):
    def storm(self, stop):
        return ["sh", "-c", f"while ! [ -e {stop} ]; do true & wait; /bin/true; done; exit 43"]

    def start_runs(self, count, stop):
        runs = []
        for i in range(count):
            out = self.dir / f"run{i}-{time.monotonic_ns()}"
            out.touch()
            os.chown(out, NOBODY, NOBODY)
            runs.append((self.agent.bpfmon("--force", "-o", out, "-i", "0.1", "--", *self.storm(stop)), out))
        for _, out in runs:
            wait_for(lambda: '"kind":"sample"' in out.read_text(), "the first sample")
        return runs

    def finish(self, runs, stop, reason):
        stop.touch()
        for process, out in runs:
            said = process.communicate(timeout=PATIENCE)[1].decode()
            self.assertEqual(process.returncode, 43, said)
            lines = [json.loads(line) for line in out.read_text().splitlines()]
            self.assertEqual(lines[-1]["kind"], "summary", said)
            self.assertFalse(lines[-1]["complete"])
            self.assertRegex(lines[-1]["reason"], reason)

    def test_the_agent_is_killed_and_started_again(self):
        agent = self.new_agent(RULES)
        group = TOP / f"bpfmon-test-{os.getpid()}.stays"
        group.mkdir()
        self.addCleanup(group.rmdir)
        sleeper = subprocess.Popen([truth("incgroup"), str(group), "sleep", "60"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        stop = self.dir / "stop"
        runs = self.start_runs(5, stop)
        first = next(l for l in agent.jobs(uid=0) if l["kind"] == "meta" and l["node_job"]["kind"] == "test")
        agent.end(signal.SIGKILL)
        agent.start()
        again = next(l for l in agent.jobs(uid=0) if l["kind"] == "meta" and l["node_job"]["kind"] == "test")
        self.assertEqual(first["node_job"]["id"], again["node_job"]["id"])
        self.assertTrue(again["node_job"]["adopted"])
        self.finish(runs, stop, "collector|agent")
        self.assert_served()

    def test_it_ends_with_a_summary_for_each(self):
        self.new_agent(RULES)
        stop = self.dir / "stop"
        runs = self.start_runs(8, stop)
        self.assertEqual(self.agent.end(), 0)
        self.finish(runs, stop, "the agent was stopped")

    def test_configurations_are_read_again_in_a_storm(self):
        agent = self.new_agent("[agent]\ninterval = 100ms\n")
        stop = self.dir / "stop"
        self.start_runs(2, stop)
        with self.client() as c:
            stream = Stream(c)
            stream.tick()
            times = []
            for i in range(10):
                agent.configure("[agent]\ninterval = 100ms\n" if i % 2 else "[agent]\nnonsense = 1\n")
                os.kill(agent.pid, signal.SIGHUP)
                times.append(stream.tick().samples[stream.node]["elapsed_seconds"])
        stop.touch()
        self.assertEqual(agent.said().count("keeping the previous configuration"), 5)
        self.assertEqual(agent.said().count("reloaded the configuration"), 5)
        self.assertEqual(agent.report()["late_ticks"], 0)
        self.assertEqual(times, sorted(set(times)))
