# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon-push and a real agent: the rows of ended jobs are those of its history, whatever happens to the sender."""

import signal
import time

from lib.live import wait_for
from lib.node import AgentCase
from lib.permitted import ROOT, needs
from lib.push import Pushes, Server, fields, with_admins

FIRST = 7400  # number of a job; no other test has these


@needs(ROOT)
class History(AgentCase):
    def setUp(self):
        super().setUp()
        self.dir = self.place  # of the sender, too
        self.server = Server(self)
        self.node = self.start_agent()
        self.sender = Pushes(self, None, self.server.url, instance="node1")

    def configure(self, *lines):
        return with_admins(super().configure(*lines))

    def start_sender(self):
        self.sender.start(stream=f"agent:{self.socket}")

    def end_a_job(self, number):
        self.run_job(number, "sleep", "0.05")
        self.wait_for_end_of(f"slurm/{number}")

    def rows(self):
        """Line by job: each has one, however often it was sent."""
        found = {}
        for line in self.server.of("bpfmon_job_ended"):
            job = fields(line)[2]["job"].strip('"')
            if job.startswith("slurm/74"):
                found.setdefault(job, set()).add(line)
        return found

    def test_jobs_that_ended_while_it_was_dead_have_rows(self):
        self.start_sender()
        self.end_a_job(FIRST)
        wait_for(lambda: len(self.rows()) == 1, "the first row")
        # what says up to when rows are complete is written every 5 s
        wait_for(lambda: (self.sender.folder / "complete-until").exists(), "the time")
        self.sender.kill(signal.SIGKILL)
        for number in range(FIRST + 1, FIRST + 4):
            self.end_a_job(number)
        time.sleep(1)
        self.start_sender()
        wait_for(lambda: len(self.rows()) == 4, "the rows of jobs that ended meanwhile")
        self.end_a_job(FIRST + 4)
        wait_for(lambda: len(self.rows()) == 5, "the last row")
        self.sender.end()
        for job, lines in self.rows().items():
            self.assertEqual(len(lines), 1, job)  # the first one was sent twice, and is the same
            (line,) = lines
            _, tags, values, at = fields(line)
            (stored,) = self.ask("SELECT start_time_ns, wall_ns, cpu_ns FROM run WHERE job = ?", job)
            self.assertEqual((tags["user"], tags["kind"], tags["instance"]), ("nobody", "slurm", "node1"))
            self.assertEqual(round(float(values["wall_seconds"]) * 1e9), stored[1])
            self.assertEqual(round(float(values["cpu_seconds"]) * 1e9), stored[2])
            self.assertLess(abs(at - stored[0] - stored[1]), 100_000_001)

    def test_a_restarted_agent_costs_no_row(self):
        self.start_sender()
        self.end_a_job(FIRST + 10)
        wait_for(lambda: len(self.rows()) == 1, "the first row")
        wait_for(lambda: (self.sender.folder / "complete-until").exists(), "the time")
        for number in range(FIRST + 11, FIRST + 13):
            self.end_agent(self.node)
            self.node = self.start_agent()
            self.end_a_job(number)
        wait_for(lambda: len(self.rows()) == 3, "the rows of jobs that ended after a restart")
        self.assertEqual({len(lines) for lines in self.rows().values()}, {1})
        self.assertEqual(self.server.own(streams_total=3)["rows_dropped_total"], 0)
        self.sender.end()
