# SPDX-License-Identifier: BSD-2-Clause
"""Restarts of the agent while runs go on: a service manager keeps what the agent leaves, and the next one continues."""

import json
import os
import re
import signal
import subprocess

from lib.agent import NOBODY, AgentCase
from lib.bpfmon import BUILD
from lib.live import PATIENCE, wait_for
from lib.manager import ManagedAgent

SAMPLED = True
TRUTH = BUILD / "truth"
CONFIG = "[agent]\ninterval = 100ms\n[limits]\nrequests_per_second = 10000\n"
TICK = 1 / os.sysconf("SC_CLK_TCK")
CHILDREN = "i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done"
BURN = "python3 -c 'import time\nwhile time.process_time() < 0.3: pass'"


class RestartCase(AgentCase):
    def setUp(self):
        super().setUp()
        self.agent = ManagedAgent(CONFIG)
        self.addCleanup(self.agent.clean)
        self.out = self.owned("run.jsonl")
        self.truth = self.owned("truth")
        self.phase = 0

    def owned(self, name):
        path = self.dir / name
        path.touch()
        os.chown(path, NOBODY, NOBODY)
        return path

    def waits(self):
        """Shell code that waits for the next go()."""
        self.phase += 1
        return f"while [ ! -e {self.dir}/go{self.phase} ]; do sleep 0.02; done"

    def go(self, phase):
        (self.dir / f"go{phase}").touch()

    def start_run(self, script, *options, samples=2):
        """A run of an ordinary user under a witness, with some samples, which the agent has left for the next one."""
        words = [TRUTH / "witness", self.truth, "sh", "-c", script]
        renewed = self.agent.renewals()
        process = self.agent.bpfmon("--force", "-o", self.out, "-i", "0.1", *options, "--", *words)
        self.addCleanup(process.communicate)
        for phase in range(1, self.phase + 1):
            self.addCleanup(self.go, phase)
        wait_for(lambda: self.out.read_text().count('"kind":"sample"') > samples, "samples")
        wait_for(lambda: self.agent.renewals() > renewed, "what the agent leaves")
        return process

    def finish(self, process, code=0):
        """All lines of the run, by kind, and what bpfmon said."""
        self.go(self.phase)
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, code, said)
        self.by_kind = {}
        for line in self.out.read_text().splitlines():
            self.by_kind.setdefault(json.loads(line)["kind"], []).append(json.loads(line))
        self.summary = self.by_kind["summary"][-1]
        self.assertEqual(len(self.by_kind["summary"]), 1)
        self.assertEqual(len(self.by_kind["meta"]), 1)
        return said.decode()

    def assert_exact(self):
        """Complete, the sum of its records, and what wait4() reports, whose times are of the kernel's clock."""
        records = self.by_kind["process"]
        self.assertTrue(self.summary["complete"], (self.summary, self.agent.said()[-2000:]))
        self.assertEqual(self.summary["processes_total"], len(records))
        for key in ("cpu_seconds", "minflt", "rchar_bytes"):
            self.assertAlmostEqual(self.summary[key], sum(r[key] for r in records), places=6, msg=key)
        # the witness itself is in the run, and not in its own report
        own = next(r for r in records if str(r["exe"]).endswith("/witness"))
        truth = json.loads(self.truth.read_text())
        self.assertAlmostEqual(
            self.summary["cpu_seconds"] - own["cpu_seconds"], truth["user_seconds"] + truth["system_seconds"], delta=2 * TICK
        )
        self.assertEqual([r for r in records if not r.get("exe")], [])
        self.assert_samples_grow()

    def assert_samples_grow(self):
        samples = self.by_kind["sample"]
        for a, b in zip(samples, samples[1:]):
            for key in ("elapsed_seconds", "cpu_seconds", "minflt", "forks"):
                self.assertLessEqual(a[key], b[key], key)


class Restarted(RestartCase):
    def test_a_run_is_exact(self):
        script = f"{CHILDREN}; {BURN} & {self.waits()}; {CHILDREN}; wait; exit 7"
        process = self.start_run(script)
        self.agent.restart()
        self.finish(process, 7)
        self.assert_exact()
        self.assertEqual(self.summary["exit_code"], 7)

    def test_what_happens_while_there_is_no_agent_counts(self):
        process = self.start_run(f"{self.waits()}; {CHILDREN}; {BURN}; exit 5")
        self.agent.end()
        self.finish_without_agent()
        self.agent.start()
        self.finish(process, 5)
        self.assert_exact()
        self.assertGreater(self.summary["cpu_seconds"], 0.3)

    def finish_without_agent(self):
        self.go(self.phase)
        wait_for(self.truth.read_text, "the end of the command")

    def test_one_restart_after_the_other_during_a_storm(self):
        script = f"while [ ! -e {self.dir}/go1 ]; do /bin/true & /bin/true; wait; done; exit 0"
        self.phase = 1
        process = self.start_run(script)
        for _ in range(6):
            self.agent.restart()
        self.finish(process)
        self.assert_exact()

    def test_runs_within_runs(self):
        inner = self.owned("inner.jsonl")
        script = f"bpfmon --agent {self.agent.socket} --force -o {inner} -i 0.1 -- sh -c '{self.waits()}; exec /bin/true'"
        process = self.start_run(f"{BUILD}/{script}; {CHILDREN}; exit 3")
        wait_for(lambda: inner.read_text().count('"kind":"sample"') > 1, "samples of the inner run")
        renewed = self.agent.renewals()
        wait_for(lambda: self.agent.renewals() > renewed or self.agent.kept_runs() == 2, "both runs")
        self.agent.restart()
        self.finish(process, 3)
        self.assertTrue(self.summary["complete"], self.summary)
        within = json.loads(inner.read_text().splitlines()[-1])
        self.assertTrue(within["complete"], within)
        self.assertLess(within["cpu_seconds"], self.summary["cpu_seconds"])
        self.assertEqual(self.summary["processes_total"], len(self.by_kind["process"]))

    def test_spans_and_marks(self):
        bpfmon = BUILD / "bpfmon"
        script = (
            f"{bpfmon} mark before; {bpfmon} span outer -t k=v -- sh -c '{bpfmon} span inner -- sh -c \"{self.waits()}; {CHILDREN}\"';"
            f"{bpfmon} mark after; exit 0"
        )
        process = self.start_run(script, "--marks")
        self.agent.restart()
        self.finish(process)
        self.assertTrue(self.summary["complete"], self.summary)
        spans = {s["name"]: s for s in self.by_kind["span"]}
        self.assertEqual(set(spans), {"outer", "inner"})
        self.assertEqual(spans["outer"]["tags"], {"k": "v"})
        self.assertEqual(spans["inner"]["parent"], spans["outer"]["id"])
        for name in spans:
            self.assertTrue(spans[name]["complete"], spans[name])
        records = [r for r in self.by_kind["process"] if r.get("span") == spans["inner"]["id"]]
        self.assertEqual(len(records), spans["inner"]["processes_total"])
        # what the process that began it used before counts elsewhere
        later = [r["cpu_seconds"] for r in records if r["pid"] != spans["inner"]["pid"]]
        self.assertGreaterEqual(spans["inner"]["cpu_seconds"], sum(later))
        self.assertLessEqual(spans["inner"]["cpu_seconds"], sum(r["cpu_seconds"] for r in records))
        self.assertEqual([e["text"] for e in self.by_kind["event"] if e["event"] == "mark"], ["before", "after"])
        self.assertEqual(self.summary["pushed"]["marks"], 2)

    def test_a_recorder_that_does_not_read_gets_all_lines(self):
        process = self.start_run(f"{self.waits()}; {CHILDREN}; exit 0")
        recorder = next(p for p in self.children(process.pid) if os.getsid(p) == p)
        os.kill(recorder, signal.SIGSTOP)
        self.agent.restart()
        self.go(self.phase)
        wait_for(self.truth.read_text, "the end of the command")
        self.agent.restart()
        os.kill(recorder, signal.SIGCONT)
        self.finish(process)
        self.assert_exact()

    def children(self, pid):
        text = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=True).stdout
        return [int(word) for word in text.split()]

    def test_a_limit_ends_a_run(self):
        process = self.start_run("sleep 1000", "--limit", "wall<3s")
        self.agent.restart()
        process.communicate(timeout=PATIENCE)
        summary = json.loads(self.out.read_text().splitlines()[-1])
        self.assertTrue(summary["limit"], summary)
        self.assertGreaterEqual(summary["wall_seconds"], 3)

    def test_a_soft_limit_is_reported_once(self):
        process = self.start_run(f"{self.waits()}; exit 0", "--soft-limit", "wall<0.1s", "--limit", "wall<1h")
        wait_for(lambda: '"limit"' in self.out.read_text(), "the limit")
        self.agent.restart()
        wait_for(lambda: self.out.read_text().count('"kind":"sample"') > 8, "samples")
        self.finish(process)
        self.assertEqual([e["event"] for e in self.by_kind["event"]].count("limit"), 1)

    def test_an_attachment(self):
        target = self.start("sh", "-c", f"{self.waits()}; {CHILDREN}; exit 0")
        process = self.agent.bpfmon("attach", "--force", "-o", self.out, "-i", "0.1", "--pid", target.pid)
        wait_for(lambda: self.out.read_text().count('"kind":"sample"') > 1, "samples")
        wait_for(lambda: self.agent.kept_runs() == 1, "what the agent leaves")
        self.agent.restart()
        self.finish(process)
        self.assertTrue(self.summary["complete"], self.summary)
        self.assertEqual(self.summary["processes_total"], len(self.by_kind["process"]))
        self.assertGreater(self.summary["processes_total"], 40)


class Otherwise(RestartCase):
    def test_an_agent_that_was_killed(self):
        process = self.start_run(f"{CHILDREN}; {self.waits()}; {CHILDREN}; {BURN}; exit 7")
        self.agent.end(signal.SIGKILL)
        self.agent.start()
        self.finish(process, 7)
        self.assertFalse(self.summary["complete"])
        self.assertIn("the agent was killed", self.summary["reason"])
        truth = json.loads(self.truth.read_text())
        self.assertGreaterEqual(self.summary["cpu_seconds"] + 2 * TICK, truth["user_seconds"] + truth["system_seconds"])
        self.assertGreaterEqual(self.summary["forks"], 81)
        self.assert_samples_grow()

    def test_an_agent_with_other_programs(self):
        process = self.start_run(f"{CHILDREN}; {BURN}; {self.waits()}; {CHILDREN}; {BURN}; exit 7")
        self.agent.options = ("--hand-over", "--inject-misses", "1")  # a setting of the programs
        self.agent.restart()
        self.finish(process, 7)
        self.assertFalse(self.summary["complete"])
        self.assertIn("other programs or settings", self.summary["reason"])
        self.assertGreaterEqual(self.summary["forks"], 80)
        gap = float(re.search(r"([0-9.]+) s were not measured", self.summary["reason"])[1])
        self.assertGreater(self.summary["cpu_seconds"], 0.59 - gap - 0.05)  # of one process at a time
        self.assertLess(gap, PATIENCE)
        self.assert_samples_grow()

    def test_a_manager_that_keeps_nothing(self):
        process = self.start_run(f"{self.waits()}; exit 7")
        self.agent.stop()
        said = self.finish_alone(process, 7)
        self.assertIn("INCOMPLETE", said)

    def finish_alone(self, process, code):
        self.go(self.phase)
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, code)
        return said.decode()

    def test_what_cannot_be_read(self):
        process = self.start_run(f"{self.waits()}; exit 7")
        self.agent.end()
        self.agent.manager.spoil()
        self.agent.start()
        self.assertIn("cannot use what the agent before has left", self.agent.said())
        self.finish_alone(process, 7)
        self.assert_served()
