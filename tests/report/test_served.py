# SPDX-License-Identifier: BSD-2-Clause
"""The pages of bpfmon serve in a browser: the list, and a run that goes on while one looks."""

import os
import subprocess

from lib.bpfmon import BPFMON
from lib.fakeagent import FakeAgent, Job
from lib.node import AgentCase
from lib.web import Web

from reports import PICTURES, ReportCase


class ServedCase(ReportCase):
    def begin(self, name, script, *options):
        """A run that goes on, whose page there is; served."""
        self.store = self.dir / "store.sqlite"
        environment = {k: v for k, v in os.environ.items() if k != "BPFMON_NO_STORE"} | {"BPFMON_STORE": str(self.store)}
        words = ["-q", "-i", "0.1", "--name", name, *options, "--", "sh", "-c", script]
        self.run_ = subprocess.Popen([BPFMON, *words], env=environment)
        self.addCleanup(self.run_.wait)
        self.addCleanup(self.run_.terminate)
        while subprocess.run([BPFMON, "report", name, "-o", "/dev/null", "-q"], env=environment, stderr=subprocess.DEVNULL, check=False).returncode:
            self.assertIsNone(self.run_.poll())
        self.web = Web(self.store)
        self.addCleanup(self.web.close)


class Served(ServedCase):
    def test_a_run_goes_on_in_the_page_without_being_fetched_again(self):
        self.begin("goes on", "while sleep 0.1; do :; done", "--tag", "sample=A7")
        seen = self.look(
            self.web.url,
            ("until", {"of": "#runs .end", "like": "running, "}),
            ("screenshot", {"path": str(PICTURES / "served-list.png")}),
            ("click", {"of": "#runs .what a"}),
            ("until", {"of": "#live-state", "like": "follow the run"}),
            ("until", {"of": ".tile", "like": r"Wall time so far\s*[3-9]"}),
            ("until", {"of": "#chips", "like": r"running, [4-9]"}),
            ("screenshot", {"path": str(PICTURES / "served-run.png")}),
            ("count", {"of": "#edit"}),
        )
        self.assertEqual(seen.problems, [])
        host = f"http://{self.web.host}/"
        self.assertEqual([url for url in seen.requests if not url.startswith(host)], [])
        self.assertEqual(seen.requests.count(host + "runs/1"), 1)
        self.assertEqual(seen.results[-1], 0)  # a run that goes on cannot be edited

    def test_a_larger_peak_has_its_own_time(self):
        grow = "import time\nheld = []\nwhile True:\n    held.append(b'x' * 1000000)\n    time.sleep(0.1)"
        self.begin("grows", f'exec python3 -c "{grow}"')
        seen = self.look(
            self.web.url,
            ("click", {"of": "#runs .what a"}),
            ("until", {"of": "#live-state", "like": "follow the run"}),
            ("until", {"of": "#figures", "like": r"resident at ([5-9]|\d\d)\.\d+ s"}),
        )
        self.assertEqual(seen.problems, [])

    def test_a_stalled_run_says_what_it_waits_for(self):
        lock = self.dir / "lock"
        self.begin("waits", f"exec 9>{lock}; flock 9; exec flock {lock} true", "--stalled-after", "0.5")
        badge = r"stalled for \d.*: \d+ flock waits for a lock .flock. held by "
        seen = self.look(
            self.web.url,
            ("until", {"of": "#runs .stalled", "like": badge}),
            ("screenshot", {"path": str(PICTURES / "served-stalled-list.png")}),
            ("click", {"of": "#runs .what a"}),
            ("until", {"of": "#chips .stalled", "like": badge}),
            ("screenshot", {"path": str(PICTURES / "served-stalled.png")}),
        )
        self.assertEqual(seen.problems, [])

    def test_the_badge_goes_when_the_run_does(self):
        self.begin("now and then", "while sleep 2; do timeout 1 sh -c 'while :; do :; done'; done", "--stalled-after", "0.5")
        seen = self.look(
            self.web.url,
            ("until", {"of": "#runs .stalled", "like": "stalled for"}),
            ("until", {"of": "#runs .state", "like": "so far\\s*$"}),
            ("click", {"of": "#runs .what a"}),
            ("until", {"of": "#chips", "like": "stalled for"}),
            ("until", {"of": "#chips", "like": "so far\\s*$"}),
            ("until", {"of": "#chips", "like": "stalled for"}),
        )
        self.assertEqual(seen.problems, [])
        self.assertEqual(seen.requests.count(f"http://{self.web.host}/runs/1"), 1)


class ServedList(ServedCase):
    def record(self, name, *command):
        environment = {k: v for k, v in os.environ.items() if k != "BPFMON_NO_STORE"} | {"BPFMON_STORE": str(self.store)}
        subprocess.run([BPFMON, "-q", "-i", "0.05", "--name", name, "--", *command], env=environment, check=True)

    def test_list_is_sorted_by_a_click_on_a_title_and_has_curves_and_ages(self):
        self.store = self.dir / "store.sqlite"
        self.record("zebra", "sh", "-c", "sleep 0.3; timeout 0.5 sh -c 'while :; do :; done'; sleep 0.3")
        self.record("ant", "sleep", "0.2")
        self.web = Web(self.store)
        self.addCleanup(self.web.close)
        names, order = ("texts", {"of": "#runs .what a"}), {"of": "#runs th[aria-sort]"}
        seen = self.look(
            self.web.url,
            ("until", {"of": "#runs .trend", "like": ""}),
            ("until", {"of": "#runs .started", "like": "now"}),
            names,
            ("attribute", {"of": "#runs tbody tr:last-child .trend svg", "name": "aria-label"}),
            ("screenshot", {"path": str(PICTURES / "served-sorted.png")}),
            ("click", {"of": "#runs th button >> text=Wall time"}),
            ("until", {**order, "like": "Wall time"}),
            ("until", {"of": "#runs tbody tr:first-child", "like": "zebra"}),
            names,
            ("click", {"of": "#runs th button >> text=Run"}),
            ("until", {"of": "#runs tbody tr:first-child", "like": "ant"}),
            names,
            ("attribute", {**order, "name": "aria-sort"}),
            ("viewport", {"width": 390, "height": 844}),
            ("scheme", {"value": "dark"}),
            ("screenshot", {"path": str(PICTURES / "served-sorted-phone.png")}),
            ("width", {}),
        )
        self.assertEqual(seen.problems, [])
        self.assertEqual([seen.results[i] for i in (2, 8, 11)], [["ant", "zebra"], ["zebra", "ant"], ["ant", "zebra"]])
        self.assertRegex(seen.results[3], r"^up to (0\.[1-9]\d*|1\.\d*) cores$")
        self.assertEqual(seen.results[12], "ascending")
        self.assertLessEqual(seen.results[-1], 390)


    def test_jobs_of_now_are_sorted_in_the_page(self):
        agent = FakeAgent(self, Job(1, "ant"), Job(2, "bee"))
        self.web = Web(None, env=os.environ | {"BPFMON_AGENT": str(agent.path), "XDG_STATE_HOME": str(self.dir)})
        self.addCleanup(self.web.close)
        names = ("texts", {"of": "#runs .what a"})
        seen = self.look(
            self.web.url,
            ("click", {"of": "#places a:last-child"}),
            ("until", {"of": "#runs tbody tr:first-child", "like": "bee"}),
            names,
            ("click", {"of": "#runs th button >> text=Run"}),
            ("until", {"of": "#runs tbody tr:first-child", "like": "ant"}),
            names,
        )
        self.assertEqual(seen.problems, [])
        self.assertEqual([seen.results[2], seen.results[5]], [["bee", "ant"], ["ant", "bee"]])


class ServedJobs(ReportCase, AgentCase):
    """The jobs of a node with an agent."""

    def begin(self, number):
        folder = self.job_cgroup(number)
        script = 'echo $$ > "$0/cgroup.procs"; while sleep 0.1; do :; done'
        job = subprocess.Popen(["sh", "-c", script, folder])
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)

    def open(self):
        self.start_agent()
        self.begin(8401)
        web = Web(None, "--agent", self.socket, env=os.environ | {"XDG_STATE_HOME": str(self.dir)})
        self.addCleanup(web.close)
        return web

    def follow_from_the_list(self, picture):
        """From the list of runs to a job that goes on."""
        web = self.open()
        seen = self.look(
            web.url,
            ("click", {"of": "#places a:last-child"}),
            ("until", {"of": "#heading", "like": "Jobs of this node"}),
            ("until", {"of": "#runs", "like": "slurm/8401, nobody"}),
            ("screenshot", {"path": str(PICTURES / f"{picture}-list.png")}),
            ("click", {"of": "#runs .what a >> text=/^8401$/"}),
            ("until", {"of": "#live-state", "like": "follow the run"}),
            ("until", {"of": ".tile", "like": r"Wall time so far\s*[3-9]"}),
            ("screenshot", {"path": str(PICTURES / f"{picture}.png")}),
            ("count", {"of": "#edit"}),
        )
        self.assertEqual(seen.problems, [])
        self.assertEqual(seen.results[-1], 0)

    def test_a_job_moves(self):
        self.follow_from_the_list("served-job")

    def test_a_job_moves_where_no_history_is_kept(self):
        self.store = ""
        self.follow_from_the_list("served-job-now")
