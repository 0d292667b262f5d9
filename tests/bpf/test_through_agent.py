# SPDX-License-Identifier: BSD-2-Clause
"""The truth programs again, through an agent: the same results as with root's rights.

As an ordinary user, but where the test's own files are root's.
"""

import test_counts
import test_execs
import test_io_calls
import test_kernel_counters
import test_marks
import test_names
import test_sums
import test_trees

from lib.account import AccountCase
from lib.agent import NOBODY, AgentCase
from lib.bpfmon import BPFMON, Case, truth

SAMPLED = True


class ThroughAgent(AgentCase):
    CONFIG = "[limits]\nrequests_per_second = 1000\nmin_interval = 10ms\n"
    UID = 0
    HAS_OWN_BOOKS = False  # but those of the node, in which events of others are missed and repaired

    def run_bpfmon(self, command, options=(), env=None, **kwargs):
        through = {"BPFMON_AGENT": str(self.agent.socket), **(env or {})}
        if self.UID:
            kwargs |= {"user": self.UID, "group": self.UID, "extra_groups": []}
        return super().run_bpfmon(command, options, env=through, **kwargs)


class AsUser(ThroughAgent):
    UID = NOBODY


def again(module, way, without=()):
    """The test classes of a module, with an agent."""
    for case in list(vars(module).values()):
        if isinstance(case, type) and issubclass(case, Case) and case.__module__ == module.__name__:
            name = f"{way.__name__}{case.__name__}"
            globals()[name] = type(name, (way, case), {"__module__": __name__, **dict.fromkeys(without)})


class Times(ThroughAgent):
    def test_no_two_samples_have_one_time(self):
        """A mark has a sample, and the next one may be due at once."""
        script = 'for i in $(seq 60); do "$0" mark "m$i"; sleep 0.02; done'
        run = self.run_bpfmon(["bash", "-c", script, BPFMON], ["-i", "0.5"])
        times = [sample["elapsed_seconds"] for sample in run.samples]
        self.assertGreater(len(times), 10)
        self.assertEqual(times, sorted(set(times)))


class Zombies(ThroughAgent, AccountCase):
    def test_one_that_is_reaped_after_35_seconds_counts_once(self):
        """After 30 s a drain of the agent closes a task that the kernel has released: its free event was missed."""
        run = self.run_bpfmon(["sh", "-c", f"{truth('zombie')} 100 35; sleep 1"])
        zombie = self.by_pid(run, run.witness["zombie_pid"])
        self.assert_cpu(zombie["cpu_seconds"], run.witness["zombie_cpu_seconds"])
        self.assert_sums(run)
        self.assertEqual(len(run.processes), run.summary["processes_total"])


for tested in (test_counts, test_sums):
    again(tested, AsUser)
again(test_trees, AsUser, without=["test_a_child_of_another_user", "test_a_pid_namespace"])  # which only root can make
for tested in (test_execs, test_io_calls, test_kernel_counters, test_marks, test_names, test_trees):
    again(tested, ThroughAgent)
