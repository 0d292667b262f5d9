# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon serve with an agent: the jobs of the node, each for the users who may see it."""

import json
import os
import subprocess

from lib.live import wait_for
from lib.node import NOBODY, AgentCase
from lib.web import Web

SAMPLED = True
OTHER = NOBODY - 1
OURS = {f"{kind}{number}{step}" for number in (8101, 8102, 8103) for kind, step in (("slurm/", ""), ("slurm-step/", ".0"))}  # of a machine that has others
NO_JOB = "00000000-0000-4000-8000-000000000000"


class NodeCase(AgentCase):
    def configure(self, *lines):
        """Of this agent a job is stalled soon, and it may be asked often."""
        path = super().configure(*lines)
        more = "stalled_after = 1s\n[limits]\nrequests_per_second = 10000\n[history]"
        path.write_text(path.read_text().replace("[history]", more))
        return path

    def serve(self, uid=NOBODY):
        env = {k: v for k, v in os.environ.items() if k != "BPFMON_STORE"} | {"XDG_STATE_HOME": str(self.place)}
        web = Web(None, "--agent", self.socket, uid=uid, env=env)
        self.addCleanup(web.close)
        return web

    def begin(self, number, *argv, uid=NOBODY):
        """A job of Slurm that goes on until its stdin ends."""
        folder = self.job_cgroup(number, uid)
        job = subprocess.Popen(["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder, *argv], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job, folder

    def end(self, job, folder):
        job.communicate()
        self.end_job(folder)

    def jobs(self, web, query=""):
        """The answer for the list, and its rows by the ids of jobs."""
        said = web.request(f"/runs.json?of=node{query}")
        self.assertEqual(said.status, 200, said.text)
        answer = json.loads(said.text)
        return answer, {row["job"]: row for row in answer["runs"]}

    def run_of(self, web, job):
        return wait_for(lambda: self.jobs(web)[1].get(job), f"{job} in the list")["run"]


class Ended(NodeCase):
    def setUp(self):
        super().setUp()
        self.start_agent()
        for number, uid in ((8101, NOBODY), (8102, OTHER), (8103, NOBODY)):
            self.run_job(number, "true", uid=uid)
        for number in (8101, 8102, 8103):
            self.wait_for_end_of(f"slurm/{number}")

    def test_a_user_sees_the_own_jobs_and_root_all(self):
        own, root = self.serve(), self.serve(uid=0)
        for web, mine, name in ((own, {"slurm/8101", "slurm/8103"}, "nobody"), (self.serve(OTHER), {"slurm/8102"}, str(OTHER))):
            rows = self.jobs(web)[1]
            self.assertEqual(rows.keys() & OURS, mine)
            self.assertEqual({row["user"] for row in rows.values()}, {name})
        self.assertLessEqual({"slurm/8101", "slurm/8102", "node", "other"}, set(self.jobs(root)[1]))
        run, others = (self.jobs(root)[1][f"slurm/{number}"]["run"] for number in (8101, 8102))
        self.assertEqual((own.request(f"/node/{run}").status, root.request(f"/node/{others}").status), (200, 200))
        refused, missing = (own.request(f"/node/{ref}") for ref in (others, NO_JOB))
        self.assertEqual((refused.status, refused.text), (404, missing.text))
        for what in ("live", "export?format=csv"):
            refused, missing = (own.request(f"/node/{ref}/{what}") for ref in (others, NO_JOB))
            self.assertEqual((refused.status, refused.text), (missing.status, missing.text), what)
            self.assertNotIn(b"8102", refused.text)

    def test_the_list_is_that_of_list_node(self):
        own = self.serve()
        words = ["list", "--json", "--node", "--agent", self.socket, "--state", "finished", "--name", "*810*"]
        said = self.bpfmon(*words, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/")
        self.assertIn('"job":"slurm/8101"', said)
        self.assertEqual(self.jobs(own, "&state=finished&name=*810*")[0]["runs"], [json.loads(line) for line in said.splitlines()])
        self.assertEqual(set(self.jobs(own, "&job=slurm/8101")[1]), {"slurm/8101"})

    def test_pages_exports_and_comparisons_are_of_the_history(self):
        own = self.serve()
        rows = self.jobs(own)[1]
        first, second = (rows[job]["run"] for job in ("slurm/8101", "slurm/8103"))
        page = own.request(f"/node/{first}").text
        self.assertIn(b'"running":false', page)
        self.assertIn(b'"id":"slurm/8101"', page)
        lines = own.request(f"/node/{first}/export?format=jsonl").text.splitlines()
        self.assertEqual(json.loads(lines[0])["run"], first)
        said = own.request(f"/compare?of=node&run={first}&run={second}")
        self.assertEqual(said.status, 200)
        self.assertIn(b"bpfmon comparison", said.text)
        for bad in ("1", "--html", "..%2F1"):
            self.assertEqual(own.request(f"/node/{bad}").status, 404, bad)
            self.assertEqual(own.request(f"/compare?of=node&run={first}&run={bad}").status, 400, bad)
        self.assertEqual(own.request(f"/node/{first}", cookie=False).status, 401)
        self.assertEqual(own.edit(first, ("name", "x")).status, 404)

    def test_one_that_has_ended_is_not_followed(self):
        own = self.serve()
        event, _, _ = next(own.follow(self.run_of(own, "slurm/8101"), of="node"))
        self.assertEqual(event, "end")


class GoesOn(NodeCase):
    def test_a_page_follows_a_job_until_its_end(self):
        self.start_agent()
        own = self.serve()
        job, folder = self.begin(8202, "cat")
        run = self.run_of(own, "slurm/8202")
        wait_for(lambda: b'"running":true' in own.request(f"/node/{run}").text, "its page")
        events = own.follow(run, of="node")
        seen = [next(events) for _ in range(3)]
        times = [json.loads(data)["sample"]["elapsed_seconds"] for _, _, data in seen]
        self.assertEqual(times, sorted(set(times)))
        self.assertEqual(["message"] * 3, [event for event, _, _ in seen])
        # a client that comes back has what came since
        self.assertEqual(next(own.follow(run, last=seen[0][1], of="node"))[1], seen[1][1])
        self.end(job, folder)
        self.assertEqual(next(event for event, _, _ in events if event != "message"), "end")
        wait_for(lambda: b'"running":false' in own.request(f"/node/{run}").text, "its end in the history")
        self.assertNotIn(b'"cut":true', own.request(f"/node/{run}").text)

    def test_samples_are_those_of_the_stream(self):
        self.start_agent()
        own, listener = self.serve(), self.subscribe()
        job, folder = self.begin(8211, "cat")
        events = own.follow(self.run_of(own, "slurm/8211"), of="node")
        texts = [json.loads(next(events)[2])["sample"] for _ in range(3)]
        self.end(job, folder)
        listener.wait_for_summary("slurm/8211")
        streamed = {line["elapsed_seconds"]: line for line in listener.of_job("slurm/8211", "sample")}
        for text in texts:
            line = streamed[text["elapsed_seconds"]]
            self.assertEqual(text, {key: value for key, value in line.items() if key in text})
            self.assertEqual(text["cpu_seconds"], line["cpu_seconds"])

    def test_a_stalled_job_says_so_until_it_goes_on(self):
        self.start_agent()
        own = self.serve()
        job, _ = self.begin(8221, "cat")
        run = self.run_of(own, "slurm/8221")
        row = wait_for(lambda: self.jobs(own)[0]["stalls"].get(run), "the stall")
        events = own.follow(run, of="node")
        said = wait_for(lambda: json.loads(next(events)[2]).get("stalled"), "the stall in the stream")
        self.assertEqual(said, row["stalled"])
        self.assertGreater(said["since_time"], 1e9)
        job.stdin.write(b"x" * 65536)
        job.stdin.flush()
        wait_for(lambda: "stalled" not in json.loads(next(events)[2]), "the job to go on")

    def test_the_end_of_the_agent_is_the_end_of_its_jobs(self):
        agent = self.start_agent()
        own = self.serve()
        self.begin(8231, "cat")
        events = own.follow(self.run_of(own, "slurm/8231"), of="node")
        next(events)
        self.end_agent(agent)
        self.assertEqual(next(event for event, _, _ in events if event != "message"), "end")


class WithoutHistory(NodeCase):
    def test_the_jobs_of_now_are_there(self):
        self.store = ""
        self.start_agent()
        own = self.serve()
        job, folder = self.begin(8301, "cat")
        self.begin(8302, "cat", uid=OTHER)
        run = self.run_of(own, "slurm/8301")
        answer, rows = self.jobs(own)
        self.assertEqual((answer["now"], answer["total"]), (True, len(rows)))
        self.assertIn("slurm-step/8301.0", rows)
        self.assertNotIn("slurm/8302", rows)
        self.assertEqual((rows["slurm/8301"]["state"], rows["slurm/8301"]["user"]), ("running", "nobody"))
        self.assertIn(b'"running":true', own.request(f"/node/{run}").text)
        events = own.follow(run, of="node")
        self.assertEqual(next(events)[0], "message")
        self.end(job, folder)
        self.assertEqual(next(event for event, _, _ in events if event != "message"), "end")
        self.assertEqual(own.request(f"/node/{run}").status, 404)


class WithoutAgent(NodeCase):
    def test_an_agent_that_starts_later_is_found(self):
        own = self.serve()
        self.assertFalse(json.loads(own.request("/runs.json").text)["has_agent"])
        self.start_agent()
        self.assertTrue(json.loads(own.request("/runs.json").text)["has_agent"])
        self.assertEqual(self.jobs(own)[0]["has_agent"], True)

    def test_nothing_but_the_runs_is_there(self):
        agent = self.start_agent()
        own = self.serve()
        self.assertTrue(json.loads(own.request("/runs.json").text)["has_agent"])
        self.end_agent(agent)
        self.socket.unlink(missing_ok=True)
        self.assertFalse(json.loads(own.request("/runs.json").text)["has_agent"])
        self.assertIn("agent", json.loads(own.request("/runs.json?of=node").text)["said"])
        self.assertNotEqual(own.request(f"/node/{NO_JOB}").status, 200)
