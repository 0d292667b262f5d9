# SPDX-License-Identifier: BSD-2-Clause
"""What the agent keeps of the jobs of the node, and that nothing stops it from doing so."""

import contextlib
import functools
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading

from lib.bpfmon import BPFMON
from lib.live import wait_for
from lib.node import NOBODY, V1, AgentCase, rmdir_patiently

SAMPLED = True
MIB = 1 << 20
LIMIT = "memory.limit_in_bytes" if V1.exists() else "memory.max"
MOST_READERS = 4  # of a user at once
GAMES, NEWS = 5, 9  # users of every Debian; other tests have jobs of nobody at the same time


def burn(cpu_seconds=0.3):
    """Uses so much CPU, however long that takes."""
    return ["python3", "-c", f"import time\nwhile time.process_time() < {cpu_seconds}: pass"]


class HistoryCase(AgentCase):
    def stored_summary(self, job):
        ((text,),) = self.ask("SELECT summary FROM run_text JOIN run ON run.id = run_text.run WHERE job = ? AND ended", job)
        return json.loads(text)

    def assert_kept_as_streamed(self, listener, job):
        streamed = listener.wait_for_summary(job)
        self.wait_for_end_of(job)
        self.assertEqual(self.stored_summary(job), {k: v for k, v in streamed.items() if k != "run"})
        ((uuid, cpu, uid),) = self.ask("SELECT uuid, cpu_ns, uid FROM run WHERE job = ?", job)
        self.assertEqual(uuid, streamed["run"])
        self.assertEqual(cpu, round(streamed["cpu_seconds"] * 1e9))
        self.assertEqual(uid, NOBODY)


class Kept(HistoryCase):
    def test_totals_are_those_of_the_stream(self):
        self.start_agent()
        listener = self.subscribe()
        for number in (7001, 7002, 7003):
            self.run_job(number, *burn())
        for number in (7001, 7002, 7003):
            self.assert_kept_as_streamed(listener, f"slurm/{number}")
            self.assertGreater(self.stored_summary(f"slurm/{number}")["cpu_seconds"], 0.1)
        ((meta,),) = self.ask("SELECT meta FROM run_text JOIN run ON run.id = run WHERE job = 'slurm/7001'")
        self.assertEqual(json.loads(meta)["node_job"]["uid"], NOBODY)

    def test_many_short_jobs(self):
        self.start_agent()
        listener = self.subscribe()
        numbers = range(7100, 7180)
        for number in numbers:
            self.run_job(number, "true")
        for number in numbers:
            self.assert_kept_as_streamed(listener, f"slurm/{number}")
        self.assertEqual(self.of_itself()["history"]["runs_lost"], 0)

    def test_a_job_that_begins_during_a_drain_has_no_sample_of_it(self):
        """That would lie before its begin: each listener here has a drain made."""
        self.interval = "50ms"
        self.start_agent()
        listener = self.subscribe()
        done = threading.Event()

        def keep_asking():
            while not done.is_set():
                self.of_itself()

        asking = [threading.Thread(target=keep_asking) for _ in range(3)]
        for thread in asking:
            thread.start()
        for number in range(7100, 7180):
            self.run_job(number, "true")
        done.set()
        for thread in asking:
            thread.join()
        listener.wait_for_summary("slurm/7179")
        samples = [x["elapsed_seconds"] for x in listener.lines if x["kind"] == "sample"]
        self.assertGreater(len(samples), 80)
        self.assertEqual([x for x in samples if x > 1000], [])

    def test_a_run_through_the_agent_is_kept_without_its_command(self):
        self.start_agent()
        self.bpfmon("-q", "--agent", self.socket, "--name", "mine", "--", "true", "secret")
        wait_for(lambda: self.has("SELECT 1 FROM run WHERE name = 'mine' AND ended"), "the run")
        self.assertEqual(self.ask("SELECT command, cwd FROM run WHERE name = 'mine'"), [(None, None)])
        self.assertNotIn("secret", self.ask("SELECT meta FROM run_text JOIN run ON id = run WHERE name = 'mine'")[0][0])

    def test_jobs_shorter_than_wanted_are_not_kept(self):
        self.start_agent("min_seconds = 20")
        listener = self.subscribe()
        self.run_job(7201, "true")
        listener.wait_for_summary("slurm/7201")
        agent = self.of_itself()
        wait_for(lambda: self.of_itself()["drains"] > agent["drains"] + 8, "some transactions")
        self.assertEqual(self.ask("SELECT count(*) FROM run")[0][0], 0)

    def test_the_node_itself_ends_with_its_agent(self):
        agent = self.start_agent()
        wait_for(lambda: self.has("SELECT 1 FROM sample LIMIT 1"), "a sample")
        self.end_agent(agent)
        self.assertEqual(sorted(self.ask("SELECT job, ended FROM run WHERE job IN ('node', 'other')")), [("node", 1), ("other", 1)])

    def test_no_store_no_historian(self):
        self.store = ""
        agent = self.start_agent()
        self.assertEqual(self.historians(agent), [])
        self.assertNotIn("history", self.of_itself())


class Read(HistoryCase):
    def test_by_the_id_of_the_job(self):
        self.start_agent()
        for number in (7301, 7302):
            self.run_job(number, *burn())
            self.wait_for_end_of(f"slurm/{number}")
        store = ["--store", self.store]
        (row,) = self.rows(*store, "--job", "slurm/7301")
        shown = json.loads(self.bpfmon("show", "--json", *store, "slurm/7301"))
        self.assertEqual(shown["meta"]["node_job"]["id"], "slurm/7301")
        self.assertEqual(shown["summary"], self.stored_summary("slurm/7301"))
        self.assertEqual(json.loads(self.bpfmon("show", "--json", *store, row["ref"])), shown)
        self.assertNotIn("descendants", self.bpfmon("show", *store, "slurm/7301"))
        page = self.place / "page.html"
        self.bpfmon("report", *store, "-o", page, "slurm/7301")
        self.assertIn("slurm/7301", page.read_text())
        self.assertIn("slurm/7302", self.bpfmon("compare", *store, "slurm/7301", "slurm/7302"))
        lines = self.bpfmon("export", *store, "--format", "jsonl", "slurm/7301").splitlines()
        self.assertEqual(json.loads(lines[0])["node_job"], shown["meta"]["node_job"])


    def test_a_job_keeps_its_limit_and_the_name_that_its_user_gave(self):
        self.start_agent()
        for number, name in ((7311, "align A7"), (7312, None)):
            env = {k: v for k, v in os.environ.items() if k != "SLURM_JOB_NAME"} | ({"SLURM_JOB_NAME": name} if name else {})
            folder = self.job_cgroup(number)
            (folder.parent / LIMIT).write_text(str(512 * MIB))
            job = subprocess.Popen(["sh", "-c", 'echo $$ > "$0/cgroup.procs"; exec cat', folder], stdin=subprocess.PIPE, env=env)
            self.addCleanup(job.kill)
            wait_for(lambda: self.has("SELECT 1 FROM run WHERE job = ? AND wall_ns > 0", f"slurm/{number}"), "a sample of the job")
            # who may not read the environment of the job has the name from the agent
            nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"}
            seen = functools.partial(self.bpfmon, "jobs", "--agent", self.socket, **nobody)
            if name:
                wait_for(lambda seen=seen, name=name: name in seen(), "its name")
            else:
                self.assertNotIn("align A7", seen())
            job.communicate()
            self.end_job(folder)
            self.wait_for_end_of(f"slurm/{number}")
        names = {row["job"]: row["name"] for row in self.rows("--store", self.store, "--name", "*")}
        self.assertEqual([names[f"slurm/{number}"] for number in (7311, 7312)], ["align A7", "7312"])
        shown = json.loads(self.bpfmon("show", "--json", "--store", self.store, "slurm/7311"))
        self.assertEqual((shown["meta"]["name"], shown["meta"]["node_job"]["name"]), ("align A7", "7311"))
        self.assertEqual(shown["meta"]["limits"], {"memory_max_bytes": 512 * MIB})


class Killed(HistoryCase):
    def test_a_writer_that_is_killed_is_started_again_and_no_job_is_lost(self):
        agent = self.start_agent()
        first, writer = self.historian(agent)
        listener = self.subscribe()
        folder = self.job_cgroup(7401)
        script = 'echo $$ > "$0/cgroup.procs"; echo in; read line; timeout 0.3 sh -c "while :; do :; done"; true'
        job = subprocess.Popen(["sh", "-c", script, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), b"in\n")
        wait_for(lambda: self.has("SELECT 1 FROM run WHERE job = 'slurm/7401'"), "the job in the store")
        os.kill(writer, signal.SIGKILL)
        self.run_job(7402, *burn())  # begins and ends while nobody writes
        job.communicate(b"\n")
        self.end_job(folder)
        for number in (7401, 7402):
            self.assert_kept_as_streamed(listener, f"slurm/{number}")
        again = self.historian(agent)
        self.assertEqual(again[0], first)
        self.assertNotEqual(again[1], writer)
        self.assertIn("restarting it", self.said.read_text())
        self.assertEqual(self.ask("PRAGMA integrity_check"), [("ok",)])

    def test_a_writer_that_hangs_stops_nothing_and_catches_up(self):
        agent = self.start_agent()
        _, writer = self.historian(agent)
        listener = self.subscribe()
        os.kill(writer, signal.SIGSTOP)
        try:
            numbers = range(7451, 7471)
            for number in numbers:
                self.run_job(number, "true")
            for number in numbers:
                listener.wait_for_summary(f"slurm/{number}")
        finally:
            os.kill(writer, signal.SIGCONT)
        for number in numbers:
            self.assert_kept_as_streamed(listener, f"slurm/{number}")

    def test_the_agent_goes_on_without_its_historian(self):
        agent = self.start_agent()
        first, writer = self.historian(agent)
        for pid in (first, writer):
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: "trouble" in self.of_itself()["history"], "the agent to know")
        self.bpfmon("-q", "--agent", self.socket, "--", "true")
        self.assertEqual(self.said.read_text().count("the history process has ended"), 1)

    def start_job(self, number):
        """A job that uses 0.2 s of CPU for each line that it reads, and has used its first."""
        folder = self.job_cgroup(number)
        script = "import time\nwhile True:\n    print(flush=True)\n    if not input(): break\n    t = time.process_time() + 0.2\n    while time.process_time() < t: pass"
        job = subprocess.Popen(
            ["sh", "-c", 'echo $$ > "$0/cgroup.procs"; exec python3 -c "$1"', folder, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        job.stdout.readline()
        self.use_cpu(job)
        return folder, job

    def use_cpu(self, job):
        job.stdin.write("more\n")
        job.stdin.flush()
        job.stdout.readline()

    def cpu_of(self, number):
        """What the store has of it by now."""
        return (self.ask("SELECT max(sample.cpu_ns) FROM sample JOIN run ON id = run WHERE job = ?", f"slurm/{number}")[0][0] or 0) / 1e9

    def kill_agent(self, agent):
        """With its historian, which writes what it has read."""
        _, writer = self.historian(agent)
        self.end_agent(agent, signal.SIGKILL)
        wait_for(lambda: not pathlib.Path(f"/proc/{writer}").exists(), "the historian to end")
        self.socket.unlink()

    def test_a_job_goes_on_as_the_same_run_after_its_agent_was_killed_or_stopped(self):
        agent = self.start_agent()
        folder, job = self.start_job(7501)
        for part, how in enumerate((self.kill_agent, self.end_agent), 1):
            wait_for(lambda n=part: self.has("SELECT 1 FROM run WHERE job = 'slurm/7501'") and self.cpu_of(7501) > 0.19 * n, "the job in the store")
            used = self.cpu_of(7501)
            how(agent)
            (left,) = self.rows("--store", self.store, "--job", "slurm/7501")
            self.assertEqual((left["state"], left.get("complete")), (("unfinished", None), ("ended", False))[part - 1])
            agent = self.start_agent()
            self.use_cpu(job)
            wait_for(lambda u=used: self.cpu_of(7501) > u + 0.19, "the job in the store again")
            (row,) = self.rows("--store", self.store, "--job", "slurm/7501")
            self.assertEqual((row["id"], row["state"]), (left["id"], "running"))
        job.communicate("\n")
        self.end_job(folder)
        self.wait_for_end_of("slurm/7501")
        (row,) = self.rows("--store", self.store, "--job", "slurm/7501")
        summary = self.stored_summary("slurm/7501")
        self.assertFalse(summary["complete"])
        self.assertRegex(summary["reason"], r"^no agent measured it for \d+\.\d s$")
        ((meta, start),) = self.ask("SELECT meta, start_time_ns FROM run_text JOIN run ON id = run WHERE job = 'slurm/7501'")
        meta = json.loads(meta)
        self.assertEqual((meta["start_time"], meta["run"]), (left["start_time"], row["run"]))
        self.assertNotIn("adopted", meta["node_job"])
        self.assertEqual(round(meta["start_time"] * 1e6), start // 1000)
        self.assertGreater(summary["cpu_seconds"], 0.6)
        ((last, wall),) = self.ask("SELECT max(cpu_ns), max(elapsed_ns) FROM sample WHERE run = ?", row["id"])
        self.assertEqual((last, wall), (round(summary["cpu_seconds"] * 1e9), round(summary["wall_seconds"] * 1e9)))
        samples = self.ask("SELECT elapsed_ns, cpu_ns FROM sample WHERE run = ? ORDER BY elapsed_ns", row["id"])
        self.assertEqual([cpu for _, cpu in samples], sorted(cpu for _, cpu in samples))
        self.assertEqual(self.ask("SELECT count(*) FROM run WHERE job LIKE 'slurm%/7501%'"), [(1,)])
        self.assertIn("is intact", self.bpfmon("store", "check", "--store", self.store))

    def test_a_job_whose_cgroup_was_emptied_while_no_agent_was_there_is_unfinished(self):
        agent = self.start_agent()
        folder, job = self.start_job(7511)
        wait_for(lambda: self.has("SELECT 1 FROM run WHERE job = 'slurm/7511'") and self.cpu_of(7511) > 0.19, "the job in the store")
        wait_for(lambda: self.ask("SELECT max(seen_time_ns) FROM run WHERE job = 'node'") > self.ask("SELECT seen_time_ns + 1e9 FROM run WHERE job = 'slurm/7511'"), "idleness")
        self.kill_agent(agent)
        job.communicate("\n")
        self.start_agent()
        self.assertNotIn("slurm/7511", self.bpfmon("jobs", "--agent", self.socket))
        wait_for(lambda: self.ask("SELECT count(*) FROM run WHERE job = 'node'") == [(2,)], "the next writer")
        (row,) = self.rows("--store", self.store, "--job", "slurm/7511")
        self.assertEqual(row["state"], "unfinished")
        ((start, wall, seen),) = self.ask("SELECT start_time_ns, wall_ns, (SELECT min(seen_time_ns) FROM run WHERE job = 'node') FROM run WHERE job = 'slurm/7511'")
        self.assertEqual(start + wall, seen)  # it was seen idle until then
        self.assertTrue(folder.exists())


class Folded(HistoryCase):
    def test_steps_are_spans_of_their_job(self):
        self.start_agent()
        listener = self.subscribe()
        first = self.job_cgroup(7551)
        for step in (first, first.with_name("step_1")):
            step.mkdir(exist_ok=True)
            subprocess.run(["sh", "-c", 'echo $$ > "$0/cgroup.procs"; exec "$@"', step, *burn(0.2)], check=True)
            step.rmdir()
        rmdir_patiently(first.parent)
        self.wait_for_end_of("slurm/7551")
        self.assertEqual(self.ask("SELECT job FROM run WHERE job LIKE 'slurm%/7551%'"), [("slurm/7551",)])
        lines = [json.loads(line) for line in self.bpfmon("export", "--store", self.store, "--format", "jsonl", "slurm/7551").splitlines()]
        spans = [line for line in lines if line["kind"] == "span"]
        self.assertEqual([(s["id"], s["name"]) for s in spans], [(1, "7551.0"), (2, "7551.1")])
        for span in spans:
            streamed = listener.of_job(f"slurm-step/{span['name']}", "summary")[0]
            self.assertEqual({k: span[k] for k in ("cpu_seconds", "minflt", "forks", "wall_seconds")}, {k: streamed[k] for k in ("cpu_seconds", "minflt", "forks", "wall_seconds")})
        self.assertIn("7551.1", self.bpfmon("show", "--by", "span", "--store", self.store, "slurm/7551"))


class Disks(HistoryCase):
    def test_a_disk_that_is_full_for_a_while(self):
        disk = self.store.parent
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=755", "bpfmon-test", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        self.start_agent()
        listener = self.subscribe()
        self.run_job(7601, *burn())
        self.assert_kept_as_streamed(listener, "slurm/7601")
        filler = disk / "filler"
        with open(filler, "wb", buffering=0) as out:
            try:
                while True:
                    out.write(b"x" * 4096)
            except OSError:
                pass
        numbers = range(7602, 7622)
        wait_for(lambda: "trouble" in self.of_itself()["history"], "the disk to be full", seconds=60)
        for number in numbers:
            self.run_job(number, "true")
        self.assertIn("no space left on its disk", self.of_itself()["history"]["trouble"])
        self.assertEqual(self.said.read_text().count("cannot write the history"), 1)
        filler.unlink()
        for number in numbers:
            self.assert_kept_as_streamed(listener, f"slurm/{number}")
        self.assertNotIn("trouble", self.of_itself()["history"])
        self.assertEqual(self.of_itself()["history"]["runs_lost"], 0)


class Retained(HistoryCase):
    """Retention is by what the store says: the test makes it say so."""

    def prepared(self):
        """The store of an agent that has ended, with a job, to be changed."""
        agent = self.start_agent()
        self.run_job(7701, *burn())
        self.wait_for_end_of("slurm/7701")
        self.end_agent(agent)
        db = sqlite3.connect(self.store, isolation_level=None)
        self.addCleanup(db.close)
        return db

    def copy(self, db, name, nr, seen_ns):
        """Ended runs that take some room."""
        for i in range(nr):
            db.execute(
                "INSERT INTO run(uuid, name, start_time_ns, seen_time_ns, ended) VALUES(?, ?, ?, ?, 1)",
                (f"{name}-{i}", name, seen_ns, seen_ns),
            )
            db.execute("INSERT INTO run_text VALUES(last_insert_rowid(), ?, NULL)", ("x" * 8000,))

    def test_what_is_too_old_goes(self):
        db = self.prepared()
        ((now,),) = db.execute("SELECT max(seen_time_ns) FROM run").fetchall()
        day = 24 * 3600 * 10**9
        self.copy(db, "old", 300, now - 3 * day)
        self.copy(db, "young", 5, now - day)
        db.close()
        self.start_agent("keep_days = 2")
        wait_for(lambda: not self.ask("SELECT 1 FROM run WHERE name = 'old'"), "the old ones to go", seconds=30)
        self.assertEqual(self.ask("SELECT count(*) FROM run WHERE name = 'young'"), [(5,)])
        self.assertEqual(self.ask("SELECT count(*) FROM run_text WHERE run NOT IN (SELECT id FROM run)"), [(0,)])

    def test_a_clock_that_is_ahead_at_the_start_removes_nothing(self):
        """All runs of before are 60 days old then; a job of now is the only other one, also after a restart."""
        db = self.prepared()
        day = 24 * 3600 * 10**9
        db.execute("UPDATE run SET start_time_ns = start_time_ns - ?, seen_time_ns = seen_time_ns - ?", (60 * day, 60 * day))
        ((then,),) = db.execute("SELECT max(seen_time_ns) FROM run").fetchall()
        for i in range(4):
            self.copy(db, f"before-{i}", 1, then - i * day)
        db.close()
        for number in (7711, 7712):
            agent = self.start_agent("keep_days = 30")
            self.run_job(number, *burn())
            self.wait_for_end_of(f"slurm/{number}")
            self.end_agent(agent)
        self.assertEqual(self.ask("SELECT count(*) FROM run WHERE name LIKE 'before-%'"), [(4,)])
        self.assertEqual(self.ask("SELECT count(*) FROM run WHERE job = 'slurm/7701'"), [(1,)])

    def test_what_is_too_much_goes_the_oldest_first(self):
        db = self.prepared()
        ((now,),) = db.execute("SELECT max(seen_time_ns) FROM run").fetchall()
        self.copy(db, "first", 300, now)
        self.copy(db, "last", 50, now)
        db.close()
        self.assertGreater(self.store.stat().st_size, 2 * MIB)
        self.start_agent("keep_bytes = 1M")

        def is_small():
            ((pages, free, size),) = self.ask("SELECT * FROM pragma_page_count, pragma_freelist_count, pragma_page_size")
            return (pages - free) * size <= MIB and pages * size <= 1.2 * MIB

        wait_for(is_small, "the store to be small", seconds=60)
        kept = [id for (id,) in self.ask("SELECT id FROM run WHERE name IN ('first', 'last') ORDER BY id")]
        self.assertEqual(kept, list(range(kept[0], kept[-1] + 1)))
        self.assertEqual(self.ask("SELECT count(*) FROM run WHERE name = 'last'"), [(50,)])


class Rights(HistoryCase):
    def status(self, pid):
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
        return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)

    def test_the_historian_has_no_rights_but_its_folder(self):
        agent = self.start_agent()
        for pid in self.historian(agent):
            status = self.status(pid)
            self.assertEqual(set(status["Uid"].split()), {str(self.store.parent.stat().st_uid)})
            self.assertNotIn(status["Uid"].split()[0], ("0", self.status(agent.pid)["Uid"].split()[0]))
            self.assertEqual((status["CapEff"], status["CapPrm"]), ("0" * 16, "0" * 16))
            self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
            targets = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
            self.assertEqual([t for t in targets if "bpf" in t and not t.startswith(str(self.place))], [])
        opened = [os.readlink(f"/proc/{agent.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{agent.pid}/fd")]
        self.assertNotIn(str(self.store), opened)

    def test_a_folder_of_roots_that_has_files_is_not_given_away(self):
        self.store.parent.mkdir()
        (self.store.parent / "other").touch()
        agent = self.start_agent()
        self.assertEqual(self.historians(agent), [])
        self.assertEqual(self.store.parent.stat().st_uid, 0)
        self.assertIn("and it has files", self.said.read_text())

    def test_the_folder_of_the_socket_is_not_given_away(self):
        both = self.place / "both"
        self.socket, self.store = both / "a.sock", both / "node.db"
        for make in (both.mkdir, lambda: None):  # empty, and not there
            make()
            agent = self.start_agent()
            self.assertEqual(self.historians(agent), [])
            self.assertEqual((both.stat().st_uid, both.stat().st_mode & 0o777), (0, 0o755))
            self.assertIn(f"{both} has the agent's socket and must remain root's", self.said.read_text())
            self.end_agent(agent)
            self.said.unlink()
            shutil.rmtree(both)

    def test_the_owner_of_the_folder_is_who_keeps_it(self):
        self.store.parent.mkdir()
        os.chown(self.store.parent, NOBODY, NOBODY)
        agent = self.start_agent()
        for pid in self.historian(agent):
            self.assertEqual(set(self.status(pid)["Uid"].split()), {str(NOBODY)})
        wait_for(self.store.exists, "the store")
        self.assertEqual(self.store.stat().st_uid, NOBODY)

    def test_a_folder_that_is_a_link_is_refused(self):
        (self.place / "elsewhere").mkdir()
        self.store.parent.symlink_to("elsewhere")
        agent = self.start_agent()
        self.assertEqual(self.historians(agent), [])
        self.assertEqual((self.place / "elsewhere").stat().st_uid, 0)


class Users(HistoryCase):
    """Who is no admin asks the agent, which knows from the kernel who it is."""

    def setUp(self):
        super().setUp()
        self.agent = self.start_agent()
        for number, uid in ((7801, GAMES), (7802, NEWS), (7803, GAMES)):
            self.run_job(number, *burn(), uid=uid)
            self.wait_for_end_of(f"slurm/{number}")
        self.node = ["--node", "--agent", self.socket]

    def as_user(self, *words, uid=GAMES, node=None, **kwargs):
        of = self.node if node is None else node
        return self.bpfmon(*words[:1], *of, *words[1:], user=uid, group=uid, extra_groups=[], cwd="/", **kwargs)

    @contextlib.contextmanager
    def running_job(self, number):
        folder = self.job_cgroup(number, GAMES)
        job = subprocess.Popen(["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec sleep 60', folder])
        try:
            wait_for(lambda: f"slurm/{number}" in self.as_user("jobs", node=self.node[1:]), "the job")
            yield
        finally:
            job.kill()
            job.wait()
            self.end_job(folder)

    def jobs(self, *words, **kwargs):
        return [json.loads(line)["job"] for line in self.as_user("list", "--json", *words, **kwargs).splitlines()]

    def test_a_user_sees_the_own_jobs_alone(self):
        own = ["slurm/7803", "slurm/7801"]
        self.assertEqual(sorted(self.jobs()), sorted(own))
        self.assertEqual(sorted(self.jobs(uid=NEWS)), ["slurm/7802"])
        self.assertEqual(self.jobs(uid=12345), [])
        self.assertLessEqual({*own, "slurm/7802", "node", "other"}, set(self.jobs(uid=0)))

    def test_root_sees_all_jobs_also_under_sudo_and_others_read_whose_are_shown(self):
        sudo = {"env": {**os.environ, "SUDO_UID": str(GAMES), "SUDO_GID": str(GAMES), "SUDO_USER": "games"}, "uid": 0}
        note = "note: only jobs of games are shown; root, also by sudo, sees those of all users\n"
        folder = self.place / "theirs"
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
        before, by_sudo, after = (set(self.jobs(**who)) for who in ({"uid": 0}, sudo, {"uid": 0}))
        self.assertTrue(before <= by_sudo <= after, (before, by_sudo, after))  # jobs of other tests end meanwhile
        self.as_user("report", "-o", folder / "page", "slurm/7802", **sudo)
        self.assertEqual((folder / "page").stat().st_uid, GAMES)
        self.assertIn("slurm/7803", self.as_user("compare", "slurm/7802", "slurm/7803", **sudo))
        for who, is_own in ({}, True), (sudo, False), ({"uid": 0}, False):
            self.assertEqual(self.as_user("list", **who).endswith(note), is_own)
            self.assertNotIn("note:", self.as_user("list", "--json", **who))
        with self.running_job(7804):
            for who, is_own in ({}, True), (sudo, False), ({"uid": 0}, False):
                said = self.as_user("jobs", node=self.node[1:], **who)
                self.assertIn("slurm/7804", said)
                self.assertEqual((said.endswith(note), "\nnode " in said), (is_own, not is_own), said)

    def test_the_list_is_that_of_root(self):
        rows = [json.loads(line) for line in self.as_user("list", "--json").splitlines()]
        self.assertEqual(rows, [row for row in self.rows("--store", self.store) if row["run"] in {r["run"] for r in rows}])
        self.assertIn("7801", self.as_user("list"))

    def test_filters(self):
        self.assertEqual(self.jobs("--job", "slurm/7801"), ["slurm/7801"])
        self.assertEqual(self.jobs("--job", "slurm/7802"), [])
        self.assertEqual(self.jobs("--name", "7801"), ["slurm/7801"])
        self.assertEqual(self.jobs("--state", "running"), [])
        self.assertEqual(len(self.jobs("--state", "finished")), 2)
        self.assertEqual(self.jobs("--tag", "x"), [])
        self.assertEqual(len(self.jobs("--limit", 1)), 1)

    def test_a_run_is_shown_reported_compared_and_exported(self):
        ((number,),) = self.ask("SELECT id FROM run WHERE job = 'slurm/7801'")
        expected = self.bpfmon("show", "--json", "--store", self.store, number)
        for word in ("slurm/7801", number):
            self.assertEqual(self.as_user("show", "--json", word), expected)
        self.assertIn("slurm/7801", self.as_user("report", "-o", "-", "slurm/7801"))
        self.assertIn("slurm/7803", self.as_user("compare", "slurm/7801", "slurm/7803"))
        exported = self.as_user("export", "--format", "jsonl", "slurm/7801")
        self.assertEqual(exported, self.bpfmon("export", "--format", "jsonl", "--store", self.store, number))

    def test_completion_asks_the_agent_that_is_typed(self):
        own = {"user": GAMES, "group": GAMES, "extra_groups": [], "cwd": "/"}
        for agent in (["--agent", self.socket], [f"--agent={self.socket}"]):
            said = self.bpfmon("complete", "--", "list", "--node", *agent, "--name", "", **own)
            self.assertEqual({line.split("\t")[0] for line in said.splitlines()}, {"7801", "7803"})
        self.assertEqual(self.bpfmon("complete", "--", "list", "--agent", self.socket, "--name", "", **own), "")

    def test_the_agent_of_the_variable_is_asked(self):
        own = {"user": GAMES, "group": GAMES, "extra_groups": [], "cwd": "/", "env": {**os.environ, "BPFMON_AGENT": str(self.socket)}}
        self.assertIn("7801", self.bpfmon("list", "--node", **own))
        self.assertIn("slurm/7801", self.bpfmon("show", "--node", "slurm/7801", **own))
        self.assertIn("slurm/7801", self.bpfmon("report", "--node", "-o", "-", "slurm/7801", **own))
        self.assertIn("slurm/7803", self.bpfmon("compare", "--node", "slurm/7801", "slurm/7803", **own))
        self.assertIn("slurm/7803", self.bpfmon("export", "--node", "-f", "jsonl", "slurm/7803", **own))
        self.bpfmon("advise", "--node", "--job", "slurm/*", **own)
        self.assertIn(f"through the agent at {self.socket}\n", self.bpfmon("check", **own))
        own["env"]["BPFMON_AGENT"] = str(self.place / "nothing")
        self.assertIn(f"cannot connect to the agent at {self.place}/nothing", self.bpfmon("list", "--node", code=2, **own))
        checked = subprocess.run([BPFMON, "check", "--json"], stdout=subprocess.PIPE, check=False, **own)
        row = next(r for r in map(json.loads, checked.stdout.splitlines()) if r["name"] == "source of a run")
        self.assertEqual((checked.returncode, row["available"]), (1, False))
        self.assertIn(f"{self.place}/nothing", row["reason"])

    def test_another_store_is_none_of_the_node(self):
        said = self.bpfmon("list", "--node", "--store", self.store, code=2)
        self.assertIn(f"cannot be combined with --store; to read '{self.store}', leave out --node", said)
        usual = {**os.environ, "BPFMON_STORE": "/nonexistent", "BPFMON_AGENT": str(self.socket)}
        self.assertIn("7801", self.bpfmon("list", "--node", env=usual))

    def test_a_run_of_another_user_is_as_one_that_is_not_there(self):
        ((number,),) = self.ask("SELECT id FROM run WHERE job = 'slurm/7802'")
        ((uuid,),) = self.ask("SELECT uuid FROM run WHERE job = 'slurm/7802'")
        ((of_node,),) = self.ask("SELECT id FROM run WHERE job = 'node'")
        for word in (number, uuid, "slurm/7802", of_node, "node", "other"):
            said = self.as_user("show", word, code=2)
            self.assertEqual(said, f"bpfmon: no job '{word}' in the history of the node, and no such file; see 'bpfmon list --node'\n")

    def test_a_query_for_the_lines_of_another_users_run_gets_none(self):
        ((number,),) = self.ask("SELECT id FROM run WHERE job = 'slurm/7802'")
        asker = ASKER % (str(self.socket), json.dumps({"lines": True, "id": number}))
        said = subprocess.run([sys.executable, "-c", asker, str(GAMES)], stdout=subprocess.PIPE, check=True)
        (line,) = said.stdout.splitlines()
        self.assertIn("it is not yours", json.loads(line)["error"])

    def test_who_does_not_read_stops_nothing(self):
        listener = self.subscribe()
        first, _ = self.historian(self.agent)
        ((number,),) = self.ask("SELECT id FROM run WHERE job = 'node'")
        line = json.dumps({"kind": "event", "event": "long", "text": "x" * 500_000})  # more than any socket takes
        with contextlib.closing(sqlite3.connect(self.store, isolation_level=None, timeout=20)) as db:
            db.execute("INSERT INTO event(run, seq, elapsed_ns, kind, event, line) VALUES(?, 1, 0, 'event', 'long', ?)", (number, line))
        silent = SILENT % (str(self.socket), json.dumps({"lines": True, "id": number}))
        asked = [subprocess.Popen([sys.executable, "-c", silent], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(6)]
        for process in asked:
            self.assertEqual(process.stdout.readline(), b"asked\n")
        wait_for(lambda: len(self.children(first)) == 1 + MOST_READERS, "the readers")
        self.run_job(7811, *burn())
        self.assert_kept_as_streamed(listener, "slurm/7811")
        self.assertEqual(len(self.children(first)), 1 + MOST_READERS)
        self.assertIn("too many", self.as_user("list", code=2, uid=0))
        said = [process.communicate(b"\n")[0].decode() for process in asked]
        self.assertEqual(sum("too many requests" in text for text in said), len(asked) - MOST_READERS)
        wait_for(lambda: len(self.children(first)) == 1, "the readers to end")
        self.assertEqual(self.jobs("--job", "slurm/7811", uid=NOBODY), ["slurm/7811"])

    def test_garbage_is_refused_in_words(self):
        asker = ASKER % (str(self.socket), "1 1 {} nonsense")
        said = subprocess.run([sys.executable, "-c", asker], stdout=subprocess.PIPE, check=True)
        self.assertIn("invalid query", json.loads(said.stdout)["error"])


ASK = """
import json, os, socket, struct, sys
if len(sys.argv) > 1:
    os.setgroups([])
    os.setresuid(*[int(sys.argv[1])] * 3)
def ask(path, query):
    ours, theirs = socket.socketpair()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.connect(path)
    text = json.dumps({"kind": "hello", "version": 1, "follow": "history", "metrics": [], "interval_ns": 10**9, "job": query, "descriptors": ["stream"]}).encode()
    socket.send_fds(control, [struct.pack("=IiQ1024s", 6, len(text), 0, text)], [theirs.fileno()])
    theirs.close()
    answer = control.recv(2048)
    assert struct.unpack_from("=I", answer)[0] == 1, answer
    return ours
"""
ASKER = ASK + "sys.stdout.buffer.write(ask(%r, %r).makefile('rb').read())\n"
SILENT = ASK + "s = ask(%r, %r)\nprint('asked', flush=True)\nsys.stdin.read()\nsys.stdout.buffer.write(s.makefile('rb').read())\n"


class WithoutHistory(HistoryCase):
    def test_an_agent_without_history_says_so(self):
        self.store = ""
        self.start_agent()
        said = self.bpfmon("list", "--node", "--agent", self.socket, code=2)
        self.assertIn("has no history", said)

    def test_an_agent_that_cannot_keep_it_says_so(self):
        agent = self.start_agent()
        for pid in self.historian(agent):
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: "trouble" in self.of_itself()["history"], "the agent to know")
        self.assertIn("has ended", self.bpfmon("list", "--node", "--agent", self.socket, code=2))
