# SPDX-License-Identifier: BSD-2-Clause
"""The revision of the working directory is git's; nothing that is not ours to tell is told."""

import json
import os

from lib.attach import AttachCase
from lib.bpfmon import said_by
from lib.live import wait_for

SAMPLED = True

NOBODY, NOGROUP = 65534, 65534
CALLED_BY_NOBODY = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOGROUP), "SUDO_USER": "nobody"}
SECRET = "hunter2-4711"


class RepositoryCase(AttachCase):
    """A repository of git's own making, with one commit."""

    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.place = self.dir / "repository"
        self.place.mkdir()
        self.git("init", "-q", "-b", "main")
        self.commit("first")

    def git(self, *words, at=None):
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "safe.directory=*"]
        return said_by("git", *who, *words, cwd=at or self.place)

    def commit(self, text, at=None):
        self.git("commit", "-q", "--allow-empty", "-m", text, at=at)

    def told(self, at=None, **kwargs):
        return self.run_bpfmon(["true"], cwd=at or self.place, **kwargs).meta.get("git")

    def assert_told(self, branch="main", at=None, **kwargs):
        expected = {"revision": self.git("rev-parse", "HEAD", at=at)}
        if branch:
            expected["branch"] = branch
        self.assertEqual(self.told(at, **kwargs), expected)

    def run_bpfmon(self, command, options=(), env=None, options_as_root=False, **kwargs):
        """Outputs are root's where the folder is: who reads the revision does not depend on it."""
        more = ["--record-as", "root"] if options_as_root else []
        return super().run_bpfmon(command, [*options, *more], env, **kwargs)


class Repository(RepositoryCase):
    def test_a_branch_and_its_revision_are_those_of_git(self):
        self.assert_told()
        self.git("checkout", "-q", "-b", "topic/a")
        self.commit("second")
        self.assert_told("topic/a")
        self.git("pack-refs", "--all")
        self.assert_told("topic/a")
        self.git("checkout", "-q", "--detach", "main")
        self.assert_told(None)

    def test_a_folder_below_is_in_the_repository(self):
        (self.place / "a" / "b").mkdir(parents=True)
        self.assert_told(at=self.place / "a" / "b")

    def test_a_worktree_has_its_own(self):
        tree = self.dir / "tree"
        self.git("worktree", "add", "-q", "-b", "other", str(tree))
        self.commit("second", at=tree)
        self.assertNotEqual(self.git("rev-parse", "HEAD"), self.git("rev-parse", "HEAD", at=tree))
        self.assert_told("other", at=tree)
        self.git("pack-refs", "--all")
        self.assert_told("other", at=tree)

    def test_outside_of_a_repository_there_is_none(self):
        self.assertIsNone(self.told(at="/proc"))

    def test_attached_it_is_that_of_the_process(self):
        sleeper = self.start("sleep", "60", cwd=self.place)
        wait_for(lambda: os.readlink(f"/proc/{sleeper.pid}/cwd") == str(self.place), "its folder")
        run = self.finish(self.attach_to(["-p", str(sleeper.pid)], ["-q", "--duration", "0.1"]))
        self.assertEqual(run.meta["git"]["revision"], self.git("rev-parse", "HEAD"))

    def give_to_nobody(self):
        said_by("chown", "-R", f"{NOBODY}:{NOGROUP}", str(self.place))

    def test_under_sudo_it_is_read_as_the_caller(self):
        self.give_to_nobody()
        self.place.chmod(0o700)
        self.assert_told(env=CALLED_BY_NOBODY, options_as_root=True)

    def test_a_repository_that_the_caller_may_not_read_is_not_recorded(self):
        (self.place / ".git").chmod(0o700)
        self.assertIsNone(self.told(env=CALLED_BY_NOBODY, options_as_root=True))
        self.assert_told()

    def test_root_reads_no_other_user_s_repository(self):
        self.give_to_nobody()
        self.assertIsNone(self.told())

    def test_a_pipe_in_the_place_of_a_file_does_not_block(self):
        head = self.place / ".git" / "HEAD"
        head.unlink()
        os.mkfifo(head)
        run = self.run_bpfmon(["sh", "-c", "exit 7"], cwd=self.place)
        self.assertEqual(run.code, 7)
        self.assertNotIn("git", run.meta)

    def test_a_link_to_a_file_of_root_is_not_followed(self):
        key = self.dir / "key"
        key.write_text("f" * 64 + "\n")
        key.chmod(0o600)
        head = self.place / ".git" / "HEAD"
        head.unlink()
        head.symlink_to(key)
        run = self.run_bpfmon(["true"], cwd=self.place)
        self.assertNotIn("f" * 64, json.dumps(run.lines))


class Privacy(RepositoryCase):
    def test_secrets_show_up_nowhere(self):
        self.git("remote", "add", "origin", f"https://ada:{SECRET}@example.org/x.git")
        self.git("config", "user.signingkey", SECRET)
        env = {name: SECRET for name in ("AWS_SECRET_ACCESS_KEY", "SLURM_JWT", "CI_JOB_TOKEN", "LSB_JOBNAME",
                                         "SLURM_JOB_NAME", "JENKINS_URL", "KUBERNETES_SERVICE_HOST", "container")}
        env["SLURM_JOB_ID"] = "77"
        run = self.run_bpfmon(["true", SECRET], ["--no-args", "-v"], env, cwd=self.place)
        self.assertEqual(run.meta["scheduler"], {"SLURM_JOB_ID": "77"})
        self.assertIn("git", run.meta)
        self.assertNotIn(SECRET, json.dumps(run.lines) + run.stderr)
