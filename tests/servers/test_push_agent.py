# SPDX-License-Identifier: BSD-2-Clause
"""A real agent, a bpfmon-push that is killed again and again, a bad way to real databases: these have what the history has."""

import threading
import time
import urllib.error
import urllib.request

from lib import servers
from lib.live import wait_for
from lib.node import AgentCase
from lib.permitted import ROOT, needs
from lib.push import Pushes, Server, with_admins
from lib.sweep import chance, often

FIRST = 100_000  # number of a job; no other test has these


class Way:
    """Passes requests on to a database, but for some that it spoils: each in another way."""

    def __init__(self, case, target, version):
        self.target, self.random, self.is_good = target, chance(), False
        self.server = Server(case, self.answer, version=version)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.port}/write?db=bpfmon"

    def answer(self, text):
        fate = 9 if self.is_good else self.random.randrange(10)
        if fate < 5:
            return [500, (429, b"", {"Retry-After": "0"}), 413, ("raw", lambda c: c.sendall(b"\x16\x03garbage\r\n\r\n"), None), ("raw", lambda c: None, None)][fate]
        status = self.pass_on(text)
        if fate == 5:
            return "raw", lambda c: None, None  # the answer is lost, and the lines are stored
        return status

    def pass_on(self, text):
        request = urllib.request.Request(f"{self.target}/write?db=bpfmon", data=text.encode(), method="POST")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code, error.read(), {}


class AgentToDatabase(AgentCase):
    def setUp(self):
        super().setUp()
        self.dir = self.place
        self.start_agent()

    def configure(self, *lines):
        return with_admins(super().configure(*lines))

    def end_jobs(self, nr):
        for number in range(FIRST, FIRST + nr):
            self.run_job(number, "true")
        self.jobs_are_over = True

    def send_through(self, way, jobs, kills):
        """Jobs end all the time while the sender is killed so often; then the way is good."""
        sender = Pushes(self, None, way.url, instance="node1", interval="1s")
        sender.start(stream=f"agent:{self.socket}")
        wait_for(lambda: (sender.folder / "complete-until").exists(), "the first time that is noted")
        thread = threading.Thread(target=self.end_jobs, args=(jobs,))
        thread.start()
        for _ in range(kills):
            time.sleep(way.random.uniform(0.05, 2))
            sender.kill()
            sender.start(stream=f"agent:{self.socket}")
        thread.join()
        way.is_good = True
        return sender

    def stored(self):
        """CPU time by job, in seconds, as the agent's history has it."""
        return {job: ns / 1e9 for job, ns in self.ask("SELECT job, cpu_ns FROM run WHERE ended AND job LIKE 'slurm/1%'")}

    @needs(ROOT)
    def test_influxdb_has_each_job_of_the_history_once(self):
        jobs, kills = often(40, 5000), often(5, 100)
        database = servers.influxdb(self.dir)
        self.addCleanup(database.stop)
        sender = self.send_through(Way(self, database.url, "1.8"), jobs, kills)

        def rows():
            (result,) = database.get_json("/query", db="bpfmon", q="SELECT job, cpu_seconds FROM bpfmon_job_ended")["results"]
            found = [row[1:] for one in result.get("series", []) for row in one["values"]]
            return [row for row in found if row[0].startswith("slurm/1")]

        wait_for(lambda: len(self.stored()) == jobs and len(rows()) >= jobs, "all rows", seconds=600)
        time.sleep(3)
        self.assertEqual(sorted(rows()), sorted([job, cpu] for job, cpu in self.stored().items()))
        sender.end()

    @needs(ROOT)
    def test_victoriametrics_has_each_job_of_the_history(self):
        jobs, kills = often(40, 1000), often(5, 20)
        database = servers.victoriametrics(self.dir, options=["-dedup.minScrapeInterval=1ms"])
        self.addCleanup(database.stop)
        sender = self.send_through(Way(self, database.url, None), jobs, kills)

        def values(query):
            rows = database.get_json("/api/v1/query", query=query)["data"]["result"]
            return {row["metric"]["job"]: float(row["value"][1]) for row in rows if row["metric"]["job"].startswith("slurm/1")}

        wait_for(
            lambda: len(self.stored()) == jobs and len(values("max_over_time(bpfmon_job_ended_cpu_seconds[1d])")) >= jobs, "all rows", seconds=600
        )
        time.sleep(3)
        self.assertEqual(values("max_over_time(bpfmon_job_ended_cpu_seconds[1d])"), self.stored())
        self.assertEqual(set(values("count_over_time(bpfmon_job_ended_cpu_seconds[1d])").values()), {1})
        sender.end()
