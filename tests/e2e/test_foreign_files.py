# SPDX-License-Identifier: BSD-2-Clause
"""As root where another user has planted links and files: neither is followed or changed."""

import os
import pathlib
import stat
import subprocess

from lib.bpfmon import BPFMON, Case

SAMPLED = True
NOBODY = 65534
CALLED_BY_NOBODY = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY), "SUDO_USER": "nobody"}


class ForeignCase(Case):
    """`open` is as /tmp; root has a run in `run`, and the victim."""

    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.open = self.dir / "open"
        self.open.mkdir()
        self.open.chmod(0o1777)
        self.path = self.open / "out"
        self.run_file = self.dir / "run.jsonl"
        self.victim = self.dir / "victim"
        self.victim.write_text("victim\n")
        self.victim.chmod(0o640)
        self.assertEqual(self.call("-q", "-o", self.run_file, "--", "true").returncode, 0)

    def call(self, *words, env=None):
        argv = [BPFMON, *map(str, words)]
        return subprocess.run(argv, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    def writers(self, path):
        """All that writes a file: words, and the status of a refusal."""
        return {
            "-o": (["-q", "-o", path, "--", "true"], 125),
            "export": (["export", self.run_file, "-f", "csv", "-q", "-o", path], 2),
            "report": (["report", self.run_file, "-q", "-o", path], 2),
            "compare": (["compare", self.run_file, self.run_file, "--html", path], 2),
        }

    def forced(self, words):
        at = words.index("--") if "--" in words else len(words)
        return [*words[:at], "--force", *words[at:]]

    def plant_link(self, owner, target):
        self.path.unlink(missing_ok=True)
        self.path.symlink_to(target)
        os.chown(self.path, owner, owner, follow_symlinks=False)

    def put_file(self, path, owner, mode):
        path.unlink(missing_ok=True)
        path.write_text("old\n")
        path.chmod(mode)
        os.chown(path, owner, owner)

    def rights(self, path):
        said = path.lstat()
        return said.st_uid, said.st_gid, stat.S_IMODE(said.st_mode)

    def assert_unharmed(self):
        self.assertEqual(self.victim.read_text(), "victim\n")
        self.assertEqual(self.rights(self.victim), (0, 0, 0o640))

    def assert_refused(self, done, status):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("world-writable", done.stderr)
        self.assert_unharmed()


class Outputs(ForeignCase):
    def test_a_link_of_another_user_is_refused_with_force_and_without(self):
        self.plant_link(NOBODY, self.victim)
        for name, (words, status) in self.writers(self.path).items():
            with self.subTest(name=name):
                self.assert_refused(self.call(*words), status)
                self.assert_refused(self.call(*self.forced(words)), status)
        self.assertEqual(list(self.open.iterdir()), [self.path])

    def test_a_link_of_another_user_to_a_folder_is_refused(self):
        self.plant_link(NOBODY, self.dir)
        for name, (words, status) in self.writers(self.path / "victim").items():
            with self.subTest(name=name):
                self.assert_refused(self.call(*self.forced(words)), status)

    def test_a_link_that_the_caller_of_sudo_planted_is_refused_to_root(self):
        self.plant_link(NOBODY, self.victim)
        done = self.call("-q", "--record-as", "root", "--force", "-o", self.path, "--", "true", env=CALLED_BY_NOBODY)
        self.assert_refused(done, 125)

    def test_a_file_of_another_user_is_refused_there(self):
        self.put_file(self.path, NOBODY, 0o666)
        for name, (words, status) in self.writers(self.path).items():
            with self.subTest(name=name):
                self.assert_refused(self.call(*self.forced(words)), status)
                self.assertEqual(self.path.read_text(), "old\n")
        self.assertEqual(self.rights(self.path), (NOBODY, NOBODY, 0o666))

    def test_a_link_of_root_is_followed_there(self):
        self.plant_link(0, self.victim)
        for name, (words, _) in self.writers(self.path).items():
            with self.subTest(name=name):
                done = self.call(*self.forced(words))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertNotEqual(self.victim.read_text(), "victim\n")
                self.assertEqual(self.rights(self.victim), (0, 0, 0o640))
                self.assertTrue(self.path.is_symlink())
                self.victim.write_text("victim\n")

    def test_owner_and_mode_of_a_file_that_is_replaced_are_kept(self):
        path = self.dir / "out"
        for name, (words, _) in self.writers(path).items():
            for mode in (0o600, 0o640, 0o4755):
                with self.subTest(name=name, mode=oct(mode)):
                    self.put_file(path, NOBODY, mode)
                    done = self.call(*self.forced(words))
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertNotEqual(path.read_text(), "old\n")
                    self.assertEqual(self.rights(path), (NOBODY, NOBODY, mode & 0o777))

    def test_pipes_behind_links_of_the_kernel_are_written_to(self):
        """As a shell hands them over: -o >(gzip)."""
        done = subprocess.run(["bash", "-c", f'"$0" -q -o >(cat >{self.dir}/copy; touch {self.dir}/over) -- true; '
                               f'while ! [ -e {self.dir}/over ]; do sleep 0.01; done', BPFMON],
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn('"kind":"summary"', (self.dir / "copy").read_text())


class Stores(ForeignCase):
    def keep(self, path, **env):
        return self.call("-q", "--store", path, "--", "true", env={"BPFMON_NO_STORE": "0", **env})

    def assert_not_kept(self, done):
        self.assert_refused(done, 0)  # the command has run

    def test_a_link_of_another_user_is_not_followed(self):
        empty = self.dir / "empty"
        empty.touch()
        self.plant_link(NOBODY, empty)
        self.assert_not_kept(self.keep(self.path))
        self.assertEqual(empty.stat().st_size, 0)
        self.assertEqual(self.call("store", "--store", self.path, "merge", self.run_file).returncode, 2)
        self.assertEqual(empty.stat().st_size, 0)

    def test_a_store_named_by_the_environment_is_held_to_the_same(self):
        self.plant_link(NOBODY, self.dir / "new")
        done = self.call("-q", "--", "true", env={"BPFMON_NO_STORE": "0", "BPFMON_STORE": str(self.path)})
        self.assert_not_kept(done)
        self.assertFalse((self.dir / "new").exists())

    def test_a_journal_of_another_user_beside_it_is_refused(self):
        self.assertEqual(self.keep(self.path).stderr, "")
        for suffix in ("-journal", "-wal"):
            with self.subTest(suffix=suffix):
                beside = pathlib.Path(f"{self.path}{suffix}")
                beside.symlink_to(self.victim)
                os.chown(beside, NOBODY, NOBODY, follow_symlinks=False)
                self.assert_not_kept(self.keep(self.path))
                beside.unlink()
                self.put_file(beside, NOBODY, 0o666)
                self.assert_not_kept(self.keep(self.path))
                beside.unlink()

    def test_a_store_of_roots_own_is_kept_there(self):
        for _ in range(2):
            self.assertEqual(self.keep(self.path).stderr, "")
        self.assertEqual(self.rights(self.path), (0, 0, 0o600))
        self.assertEqual(list(self.open.iterdir()), [self.path])
