# SPDX-License-Identifier: BSD-2-Clause
"""What the agent does not see or cannot name is said: by itself when it starts, by bpfmon jobs, by bpfmon check."""

import json
import os
import pathlib
import signal
import subprocess

from lib.agent import AgentCase
from lib.bpfmon import BPFMON
from lib.cgroups import UNIFIED
from lib.live import PATIENCE, children_of, wait_for
from lib.node import rmdir_patiently

SAMPLED = True
TOP = pathlib.Path("/sys/fs/cgroup") / UNIFIED
SLUID = f"s{os.getpid():0>13}"
INSIDE = ["unshare", "--pid", "--fork", "--mount-proc"]


class Notices(AgentCase):
    def said(self):
        """What bpfmon jobs adds to its table, as soon as its lines have the same."""

        def looks():
            done = self.agent.bpfmon("jobs", "--agent", self.agent.socket, uid=0)
            text, _ = done.communicate(timeout=PATIENCE)
            notes = [line.removeprefix("note: ") for line in text.decode().splitlines() if line.startswith("note: ")]
            return notes, self.agent.jobs(uid=0)[-1].get("notices", [])

        return wait_for(lambda: (found := looks())[0] == found[1] and [found[0]], "the same twice")[0]

    def start_in(self, path):
        """A process in a cgroup that is made for it, with those above it."""
        folder = TOP / path
        made = [p for p in (folder, *folder.parents) if not p.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for p in reversed(made):
            self.addCleanup(self.remove, p)
        process = subprocess.Popen(["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec sleep 600', folder])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def remove(self, path):
        if path.exists() and not any(p.is_dir() for p in path.iterdir()):  # else another test uses it
            rmdir_patiently(path)

    def test_what_the_kernel_hides_from_bpf(self):
        """Attaching is the second witness: what the programs are not shown cannot be attached to."""
        attach = [BPFMON, "attach", "-q", "-p", "1", "--duration", "0.1", "--no-store", "-o", self.dir / "out"]
        attached = subprocess.run(attach, stderr=subprocess.PIPE, text=True, check=False, timeout=PATIENCE)
        check = subprocess.run([BPFMON, "check", "--json"], stdout=subprocess.PIPE, check=True, timeout=PATIENCE).stdout
        (row,) = (r for r in map(json.loads, check.splitlines()) if r["name"] == "following process 1")
        self.assertEqual(row["available"], attached.returncode == 0, attached.stderr)
        self.new_agent()
        hidden = [n for n in self.said() if n.startswith("the kernel hides ")]
        self.assertEqual(len(hidden), 0 if row["available"] else 1)
        for note in hidden:
            self.assertIn("the kernel hides it", attached.stderr)
            self.assertIn(f"as 1 {pathlib.Path('/proc/1/comm').read_text().strip()}", note)
            self.assertIn(note, self.agent.said())

    def test_jobs_where_no_rule_knows_them(self):
        gap = f"docker/bpfmon-test-{os.getpid()}"
        self.new_agent("hierarchy = unified\n")
        before = self.said()
        self.assertNotIn(f"'/{gap}'", "".join(before))
        process = self.start_in(gap)
        wait_for(lambda: f"'/{gap}' below '/docker'" in "".join(self.said()), "the notice")
        wait_for(lambda: f"'/{gap}' below '/docker'" in self.agent.said(), "the warning")
        self.assertEqual(self.agent.said().count(gap), 1)
        process.kill()
        process.wait()
        self.remove(TOP / gap)
        wait_for(lambda: self.said() == before, "the end of the notice")

    def test_jobs_of_slurm_by_sluid_and_containers_by_nested_parents(self):
        digits = f"{os.getpid():064x}"
        self.new_agent("hierarchy = unified\n")
        for path in (f"system.slice/slurmstepd.scope/{SLUID}/step_0/user/task_0", f"bpfmon-test/team/{digits}"):
            self.start_in(path)

        def jobs():
            return {line["node_job"]["id"] for line in self.agent.jobs(uid=0) if line["kind"] == "meta" and "node_job" in line}

        wanted = {f"slurm/{SLUID}", f"slurm-step/{SLUID}.0", f"container/{digits}"}
        wait_for(lambda: wanted <= jobs(), f"{wanted}")
        self.assertNotIn("slurmstepd", "".join(self.said()))

    def test_an_agent_in_a_pid_namespace_says_that_it_does_not_see_the_machine(self):
        self.new_agent(before=INSIDE)
        self.agent.pid = children_of(self.agent.process.pid)[0]
        self.addCleanup(os.kill, self.agent.pid, signal.SIGTERM)  # which unshare ignores
        (note,) = self.said()
        self.assertIn("in its own PID namespace", note)
        self.assertIn(note, self.agent.said())
