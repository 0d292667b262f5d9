# SPDX-License-Identifier: BSD-2-Clause
"""Jobs of Slurm in cgroups of version 2, as Slurm 22.05 to 26.05 makes them: number, user and labels, and what users cannot make of them."""

import os
import pathlib
import subprocess

from lib.agent import NOBODY, AgentCase
from lib.bpfmon import BPFMON
from lib.cgroups import UNIFIED, move
from lib.live import PATIENCE, wait_for
from lib.node import rmdir_patiently

TOP = pathlib.Path("/sys/fs/cgroup") / UNIFIED
SCOPE = f"system.slice/bpfmon-test-{os.getpid()}_slurmstepd.scope"
NUMBER = 3_000_000 + os.getpid() % 100_000
SLUID = f"s{NUMBER:0>13}"
LABELS = f"SLURM_JOB_ID={NUMBER}\nSLURM_JOB_SLUID={SLUID}\nSLURM_JOB_UID={NOBODY}\nSLURM_JOB_USER=ada\nSLURM_JOB_ACCOUNT=lab\nSLURM_JOB_PARTITION=short\n"


class Jobs(AgentCase):
    def setUp(self):
        super().setUp()
        self.new_agent("hierarchy = unified\n")
        self.labels = self.agent.folder / "slurm"
        self.labels.mkdir(mode=0o755)

    def start_in(self, path, title="sleep", uid=0):
        """A process with that title in a cgroup of root, which is made with those above it."""
        folder = TOP / SCOPE / path
        made = [p for p in (folder, *folder.parents) if not p.exists()]
        for p in reversed(made):
            self.addCleanup(self.remove, p)
        folder.mkdir(parents=True, exist_ok=True)
        argv = ["bash", "-c", 'exec -a "$0" sleep 600', title]
        process = subprocess.Popen(argv, user=uid, group=uid, extra_groups=[])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_for(lambda: pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes() == f"{title}\x00600\x00".encode(), "the title")
        move(folder, process.pid)
        return process

    def remove(self, path):
        if path.exists() and not any(p.is_dir() for p in path.iterdir()):  # else another test uses it
            rmdir_patiently(path)

    def jobs(self, uid=0):
        return {line["node_job"]["id"]: line["node_job"] for line in self.agent.jobs(uid=uid) if "node_job" in line}

    def job(self, name, uid=0):
        wait_for(lambda: name in self.jobs(uid), f"{name} in {list(self.jobs(uid))}")
        return self.jobs(uid)[name]

    def test_the_number_of_a_sluid_is_in_the_title_of_slurmstepd(self):
        self.start_in(f"{SLUID}/step_0/slurm", f"slurmstepd: [{NUMBER}.0]")
        self.start_in(f"{SLUID}/step_0/user/task_0", uid=NOBODY)
        self.start_in(f"{SLUID}/step_batch/slurm", f"slurmstepd: [{NUMBER}.batch]")
        job = self.job(f"slurm/{NUMBER}")
        self.assertEqual((job["name"], job["sluid"]), (str(NUMBER), SLUID))
        self.assertEqual(self.job(f"slurm-step/{NUMBER}.batch")["sluid"], SLUID)
        mine = self.job(f"slurm/{NUMBER}", uid=NOBODY)  # by the user of its first task
        self.assertEqual((mine["user"], mine["uid"]), ("nobody", NOBODY))
        self.assertIn(f"slurm-step/{NUMBER}.0", self.jobs(NOBODY))
        self.assertNotIn(f"slurm-step/{NUMBER}.batch", self.jobs(NOBODY))  # has no process of a user
        self.assertFalse([job for job in self.jobs() if SLUID in job])

    def test_the_rules_that_are_printed_are_those_of_these_jobs(self):
        text = subprocess.run([BPFMON, "agent", "--rules"], stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE).stdout
        rows = [line.split() for line in text.splitlines()]
        self.assertEqual(rows[0], ["KIND", "PATTERN", "ID"])
        self.assertIn(["slurm", "/**.slice/*_slurmstepd.scope/job_{job:number}", "slurm/{job}"], rows)
        self.start_in(f"job_{NUMBER}/step_0/user/task_0")
        self.assertEqual(self.job(f"slurm/{NUMBER}")["cgroup"], f"/{SCOPE}/job_{NUMBER}")

    def test_a_title_that_a_user_has_chosen_is_no_number(self):
        self.start_in(f"{SLUID}/step_0/user/task_0", "slurmstepd: [1.0]", uid=NOBODY)
        self.assertEqual(self.job(f"slurm/{SLUID}")["name"], SLUID)
        self.assertNotIn("slurm/1", self.jobs())

    def test_labels_of_root_are_there_from_the_first_line_on(self):
        for name in (str(NUMBER), SLUID):
            (self.labels / name).write_text(LABELS)
        self.start_in(f"{SLUID}/step_0/slurm")
        self.start_in(f"job_{NUMBER}/step_1/user/task_0")
        for name in (f"slurm/{NUMBER}", f"slurm-step/{NUMBER}.0", f"slurm-step/{NUMBER}.1"):
            with self.subTest(job=name):
                job = self.job(name, uid=NOBODY)
                self.assertEqual(
                    (job["user"], job["uid"], job["account"], job["partition"], job["sluid"]), ("ada", NOBODY, "lab", "short", SLUID)
                )

    def test_an_agent_that_starts_later_has_the_same_labels(self):
        (self.labels / str(NUMBER)).write_text(LABELS + "SLURM_ARRAY_JOB_ID=12\nSLURM_ARRAY_TASK_ID=3\n")
        self.start_in(f"job_{NUMBER}/step_0/user/task_0")
        before = self.job(f"slurm/{NUMBER}")
        self.agent.end()
        self.agent.start()
        after = self.job(f"slurm/{NUMBER}")
        self.assertEqual(after, {**before, "adopted": True, "within": after.get("within")})  # of another run around it
        self.assertEqual((after["name"], self.job(f"slurm-step/{NUMBER}.0")["name"]), ("12_3", "12_3.0"))

    def assert_has_no_labels(self):
        process = self.start_in(f"job_{NUMBER}/step_0/slurm")
        job = self.job(f"slurm/{NUMBER}")
        self.assertFalse({"account", "user"} & set(job), job)
        process.kill()
        process.wait()
        for path in ("step_0/slurm", "step_0", ""):
            rmdir_patiently(TOP / SCOPE / f"job_{NUMBER}" / path)
        wait_for(lambda: f"slurm/{NUMBER}" not in self.jobs(), "the end of the job")

    def test_a_file_that_a_user_could_have_written_is_ignored(self):
        path = self.labels / str(NUMBER)
        spoilers = {
            "of a user": lambda: os.chown(path, NOBODY, NOBODY),
            "writable by others": lambda: path.chmod(0o666),
            "a link": lambda: (path.rename(self.labels / "other"), path.symlink_to("other")),
            "a pipe": lambda: (path.unlink(), os.mkfifo(path)),
            "empty": lambda: path.write_text(""),
            "in a folder of a user": lambda: os.chown(self.labels, NOBODY, NOBODY),
        }
        for why, spoil in spoilers.items():
            with self.subTest(why):
                path.unlink(missing_ok=True)
                path.write_text(LABELS)
                spoil()
                self.assert_has_no_labels()

    def test_garbage_in_a_file_is_shown_as_text_and_cut(self):
        (self.labels / str(NUMBER)).write_bytes(
            b"SLURM_JOB_ACCOUNT=a\x1b[2Jb\xff\nSLURM_JOB_PARTITION=" + b"p" * 100 + b"\nSLURM_JOB_UID=99999999999\n=\n\n" + b"x" * 10000
        )
        self.start_in(f"job_{NUMBER}/step_0/slurm")
        job = self.job(f"slurm/{NUMBER}")
        self.assertEqual(job["account"].encode()[:6], b"a?[2Jb")
        self.assertFalse({"partition", "uid"} & set(job), job)
