# SPDX-License-Identifier: BSD-2-Clause
"""A run that does nothing says so, and when it goes on; and so does its series of the endpoint."""

import fcntl
import json
import os
import pathlib
import re
import socket
import subprocess

from lib.agent import AgentCase
from lib.bpfmon import BPFMON
from lib.endpoint import ADMINS, Endpoint, EndpointCase, free_port, until
from lib.live import LiveCase

SAMPLED = True
WORK = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"  # a tenth of a second of CPU, or more
SERVER = """
import fcntl, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
while True:
    s.accept()
    fcntl.flock(open(sys.argv[2]), fcntl.LOCK_EX)
"""
JOB = '{job="slurm/815",user="alice",kind="slurm",name="815"}'


class Runs(LiveCase):
    def events(self, script, options):
        run = self.run_bpfmon(["sh", "-c", script], options)
        return [e for e in run.kind("event") if e["event"] in {"stalled", "resumed"}], run

    def test_from_when_until_when(self):
        lock = self.dir / "lock"
        script = f"exec 9>{lock}; flock 9; (exec 9>&-; exec flock {lock} true) & sleep 1.5; flock -u 9; wait; {WORK}; sleep 0.2"
        events, run = self.events(script, ["-i", "0.1", "--stalled-after", "0.5"])
        self.assertEqual([e["event"] for e in events[:2]], ["stalled", "resumed"])
        stalled, resumed = events[:2]
        self.assertEqual(stalled["since_time"], resumed["since_time"])
        self.assertGreaterEqual(stalled["time"] - stalled["since_time"], 0.499)
        self.assertGreaterEqual(resumed["time"], stalled["time"] + 0.09)
        before = [s for s in run.samples if s["time"] <= stalled["since_time"]]
        last = next(s for s in run.samples if s["time"] >= stalled["time"])
        self.assertEqual(len(stalled["pids"]), last["processes"])
        self.assertRegex(stalled["reason"], "flock waits for a lock .flock. held by .* on ")
        self.assertRegex(stalled["cause"], r"^flock waited for a lock held by \d+")
        seconds = last["time"] - before[-1]["time"] + 0.001
        for key, a_second in (("cpu_seconds", 0.005), ("rchar_bytes", 16 << 10), ("wchar_bytes", 2 << 10)):
            self.assertLessEqual(last[key] - before[-1][key], a_second * seconds, key)

    def test_a_command_is_executed_once_for_each_stall_and_is_no_part_of_the_run(self):
        lock, said = self.dir / "lock", self.dir / "said"
        script = f"exec 9>{lock}; flock 9; (exec 9>&-; exec flock {lock} true) & sleep 0.9; flock -u 9; wait; {WORK}; read line"
        command = f'echo "$BPFMON_STALL_REASON" >>{said}; [ -e {said}.2 ] && echo >{self.dir}/fifo; touch {said}.2'
        os.mkfifo(self.dir / "fifo")
        options = ["-i", "0.1", "--stalled-after", "0.4", "--on-stall", command]
        run = self.run_bpfmon(["sh", "-c", f"{script} <{self.dir}/fifo"], options)
        self.assertEqual(run.code, 0)
        lines = said.read_text().splitlines()
        self.assertEqual(len(lines), len([e for e in run.kind("event") if e["event"] == "stalled"]))
        self.assertGreaterEqual(len(lines), 2)
        # a run that gets no CPU for so long is stalled, too
        self.assertTrue(any("flock waits for a lock" in line for line in lines), lines)
        self.assertNotIn("touch", {p["comm"] for p in run.processes})

    def test_a_busy_run_is_not_stalled_nor_is_one_without_the_option(self):
        events, _ = self.events("i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done", ["-i", "0.05", "--stalled-after", "1"])
        self.assertEqual(events, [])
        events, _ = self.events("sleep 0.6", ["-i", "0.05", "--stalled-after", "0"])
        self.assertEqual(events, [])


    def test_a_loop_that_looks_for_work_does_not_hide_what_hangs(self):
        """Each second it begins and ends a process and reads some KiB, which is a thousandth of a CPU."""
        script = "sleep 600 & i=0; while [ $i -lt 12 ]; do sleep 1; i=$((i+1)); done; kill $!"
        options = ["-i", "0.5", "--stalled-after", "4", "--stalled-below"]
        events, run = self.events(script, [*options, "50"])
        self.assertEqual([e["event"] for e in events if e["time"] < run.samples[-1]["time"]], ["stalled"])
        self.assertGreaterEqual(run.summary["forks"], 12)
        events, _ = self.events(script.replace("12", "6"), [*options, "0%"])
        self.assertEqual(events, [])


class Series(EndpointCase):
    def test_a_series_is_stalled_while_its_run_is(self):
        endpoint = self.start()
        self.agent.begin("815")
        self.agent.sample("815", cpu_seconds=1)
        self.assertEqual(endpoint.read()[f"bpfmon_job_stalled{JOB}"], 0)
        self.agent.say(kind="event", time=3, event="stalled", run="815", since_time=2)
        self.assertEqual(endpoint.read()[f"bpfmon_job_stalled{JOB}"], 1)
        self.agent.say(kind="event", time=4, event="late_ticks", run="815", count=1)
        self.assertEqual(endpoint.read()[f"bpfmon_job_stalled{JOB}"], 1)
        self.agent.say(kind="event", time=4, event="resumed", run="815", since_time=2)
        self.assertEqual(endpoint.read()[f"bpfmon_job_stalled{JOB}"], 0)
        self.agent.end("815", cpu_seconds=1)
        self.assertNotIn(f"bpfmon_job_stalled{JOB}", endpoint.read())


class OfAnAgent(AgentCase):
    CONFIG = f"[agent]\ninterval = 100ms\nstalled_after = 300ms\nadmin_group = {ADMINS}\n"

    def test_the_endpoint_knows_also_what_stalled_before_it_listened(self):
        self.agent.path = self.agent.socket  # as the fake one calls it
        run = subprocess.Popen(
            [BPFMON, "-q", "-i", "0.1", "--stalled-after", "0.3", "--name", "idle", "-o", str(self.dir / "r.jsonl"), "--", "cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "BPFMON_AGENT": str(self.agent.socket)},
        )
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        until(lambda: '"stalled"' in (self.dir / "r.jsonl").read_text() if (self.dir / "r.jsonl").exists() else None)
        port = free_port()
        endpoint = Endpoint(
            self.agent, self.dir, "--listen", f"127.0.0.1:{port}", config=str(self.agent.folder / "agent.conf"), port=port
        )
        self.addCleanup(endpoint.stop)

        def of_run():
            return [v for k, v in endpoint.values().items() if k.startswith("bpfmon_job_stalled{") and 'name="idle"' in k]

        def goes_on():
            run.stdin.write(b"x" * 65536)
            run.stdin.flush()
            return of_run() == [0]

        until(lambda: of_run() == [1])
        until(goes_on)
        run.stdin.close()
        self.assertEqual(run.wait(timeout=60), 0)

    def test_an_idle_server_is_not_stalled_until_it_hangs(self):
        out, path, lock = self.dir / "s.jsonl", self.dir / "socket", self.dir / "lock"
        lock.touch()
        lock.chmod(0o644)
        options = ["-q", "-i", "0.1", "--stalled-after", "0.3", "--no-store", "-o", out]
        run = self.agent.bpfmon(*options, "--", "/usr/bin/python3", "-c", SERVER, path, lock)
        self.addCleanup(run.communicate)
        self.addCleanup(run.terminate)

        def lines(kind):
            whole = out.read_text().splitlines(keepends=True) if out.exists() else []
            return [x for x in map(json.loads, (line for line in whole if line.endswith("\n"))) if x["kind"] == kind]

        def stalls():
            return [e for e in lines("event") if e["event"] == "stalled"]

        def stalls_of_agent():
            return [line for line in self.agent.jobs() if line.get("event") == "stalled"]

        until(path.exists)
        began = len(lines("sample"))
        until(lambda: len(lines("sample")) > began + 20)
        self.assertEqual(stalls() + stalls_of_agent(), [])
        with lock.open() as held, socket.socket(socket.AF_UNIX) as client:
            fcntl.flock(held, fcntl.LOCK_EX)
            client.connect(str(path))
            until(stalls)
            waiting = re.findall(r"-> FLOCK +ADVISORY +WRITE +(\d+) ", pathlib.Path("/proc/locks").read_text())
            self.assertIn(str(stalls()[0]["pids"][0]), waiting)
            self.assertEqual(len(stalls_of_agent()), 1)
