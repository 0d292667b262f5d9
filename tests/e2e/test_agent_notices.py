# SPDX-License-Identifier: BSD-2-Clause
"""What the agent does not see or cannot name is said: by itself when it starts, by bpfmon jobs, by bpfmon check."""

import json
import os
import pathlib
import signal
import subprocess

from lib.agent import NOBODY, AgentCase, cgroup_folder
from lib.bpfmon import BPFMON
from lib.live import PATIENCE, children_of, wait_for

SAMPLED = True
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

    def note(self, begin, uid=0):
        """The notice with that beginning; empty: there is none."""
        found = [note for note in self.agent.jobs(uid=uid)[-1].get("notices", []) if note.startswith(begin)]
        self.assertLessEqual(len(found), 1)
        return "".join(found)

    def assert_noted(self, begin, when=True):
        """The notice is shown, and was logged once, under this condition."""
        note = self.note(begin)
        self.assertEqual(bool(note), when)
        self.assertEqual(self.agent.said().count(f"warning: {begin}"), 1 if when else 0)
        if when:
            self.assertIn(note, self.said())

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
            self.assertNotIn("such as", self.note("the kernel hides ", uid=NOBODY))
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
        self.assertNotIn("docker", self.note("no rule matches ", uid=NOBODY))
        self.assertEqual(self.agent.said().count(gap), 1)
        process.kill()
        process.wait()
        self.remove_cgroup(cgroup_folder(gap))
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
        self.assert_noted("the agent runs in its own PID namespace")

    def test_delays_that_the_kernel_does_not_keep(self):
        self.new_agent()
        kept = pathlib.Path("/proc/sys/kernel/task_delayacct").read_text() != "0\n"
        self.assert_noted("waits for disk and memory are not measured: sysctl kernel.task_delayacct is 0", not kept)

    def test_a_program_that_the_kernel_refuses(self):
        self.new_agent(options=["--inject-no-program", "oom__victim"])
        self.assert_noted("not measured on this machine: ")
        self.assertIn("OOM kills, with the limit (", self.note("not measured on this machine: "))

    def test_a_group_of_admins_that_is_missing_until_a_reload(self):
        self.new_agent("admin_group = bpfmon-no-such-group\n")
        self.assert_noted("there is no group 'bpfmon-no-such-group', which admin_group names")
        self.agent.configure("")
        self.agent.process.send_signal(signal.SIGHUP)
        wait_for(lambda: not self.note("there is no group "), "the end of the notice")

    def test_cgroups_that_cannot_be_looked_up_by_their_id(self):
        before = ("setpriv", "--bounding-set", "-dac_read_search")
        for words, is_refused in ((before, True), ((), False)):
            self.new_agent(before=words)
            self.assert_noted("open_by_handle_at() fails: Operation not permitted", is_refused)

    def test_hierarchies_without_memory_or_io(self):
        for hierarchy, missing in (("unified", self.lacks("memory")), ("auto", False)):
            self.new_agent(f"hierarchy = {hierarchy}\n")
            self.assert_noted("the cgroup hierarchy 'unified' of the jobs has no memory controller", missing)
        self.new_agent("hierarchy = unified\nblock_io = yes\n")
        self.assert_noted("not counting block I/O: the cgroup hierarchy 'unified'", self.lacks("io"))

    def lacks(self, controller):
        return controller not in cgroup_folder("cgroup.controllers").read_text().split()

    def test_two_hierarchies_in_use_of_which_none_was_chosen(self):
        self.start_in(f"bpfmon-test-{os.getpid()}")
        begin = "cgroups of version 2 are in use besides the hierarchy "
        self.new_agent("hierarchy = unified\n")
        self.assert_noted(begin, False)
        self.new_agent("hierarchy = auto\n")
        self.assert_noted(begin, self.agent.report()["hierarchy"] != "unified")
