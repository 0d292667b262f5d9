# SPDX-License-Identifier: BSD-2-Clause
"""Files of options: found for the user and the project, read with the user's rights, shown by bpfmon check."""

import json
import os
import re
import subprocess

from lib.bpfmon import BPFMON, Case, read_lines
from lib.permitted import BPF, ROOT, needs

SAMPLED = True
NEEDS = ()
NOBODY, NOGROUP = 65534, 65534
CALLED_BY_NOBODY = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOGROUP), "SUDO_USER": "nobody"}


# what a cloned repository would choose to end, hide or burden a run
CLONE = (
    ("limit", "wall<0.1s"),
    ("limit-grace", "0"),
    ("soft-limit", "rss<1MiB"),
    ("exact-peak", "yes"),
    ("max-tasks", "1"),
    ("pss", "50"),
    ("interval", "0.01"),
    ("metrics", "cpu"),
    ("no-store", "yes"),
    ("quiet", "yes"),
    ("no-args", "yes"),
    ("if-unavailable", "fail"),
    ("output", "x"),
)


class ConfigCase(Case):
    """A home with a project in it, and the working directory below that."""

    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.home = self.dir / "home"
        self.own = self.home / ".config/bpfmon/config"
        self.project = self.home / "project/.bpfmon"
        self.here = self.home / "project/deep/er"
        self.own.parent.mkdir(parents=True)
        self.here.mkdir(parents=True)

    def bpfmon(self, *words, env=None, cwd=None):
        environment = {key: value for key, value in os.environ.items() if key not in ("BPFMON_NO_CONFIG", "XDG_CONFIG_HOME")}
        return subprocess.run(
            [BPFMON, *map(str, words)],
            env={**environment, "HOME": str(self.home), **(env or {})},
            cwd=cwd or self.here,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )

    def meta(self, *words, **how):
        done = self.bpfmon("-q", "-o", "-", *words, "--", "true", **how)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout.splitlines()[0])

    def assert_one_line(self, done, code, *words):
        self.assertEqual((done.returncode, done.stderr.count("\n")), (code, 1), done)
        for word in words:
            self.assertIn(str(word), done.stderr)


    def assert_clone_is_harmless(self, clone, *, shown=2):
        """The run is as without the file, but for its name: one warning for each key."""
        self.project.write_text("".join(f"{key} = {value}\n" for key, value in clone) + "name = align\n")
        path, store = self.dir / "run", self.dir / "store.sqlite"
        rights = ["--record-as", "root"] if os.getuid() == 0 else []
        kept = {"BPFMON_NO_STORE": ""}
        done = self.bpfmon(*rights, "-o", path, "--store", store, "--", "sleep", "0.4", env=kept)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = done.stderr.splitlines()
        for number, (key, _) in enumerate(clone, 1):
            about = [line for line in said if f"{self.project}:{number}: {key} is ignored" in line]
            self.assertEqual(len(about), 1, (key, done.stderr))
            self.assertIn("~/.config/bpfmon/config", about[0])
        self.assertGreaterEqual(len(said) - len(clone), shown, "the summary is shown")
        meta, *rest = read_lines(path)
        self.assertEqual((meta["name"], meta["command"], meta["interval_seconds"]), ("align", ["sleep", "0.4"], 1))
        self.assertNotIn("limit", rest[-1])
        self.assertTrue(store.exists(), "it is kept")


class Files(ConfigCase):
    def test_file_project_environment_and_line_in_this_order(self):
        self.own.write_text("interval = 0.5\nname = own\ntag = a=1\n")
        self.assertEqual(self.meta()["interval_seconds"], 0.5)
        self.project.write_text("[run]\nname = project\ntag = b=2\n")
        meta = self.meta()
        self.assertEqual((meta["interval_seconds"], meta["name"], meta["tags"]), (0.5, "project", {"a": "1", "b": "2"}))
        self.assertEqual(self.meta(env={"BPFMON_INTERVAL": "2"})["interval_seconds"], 2)
        self.assertEqual(self.meta("-i", "3", "--name", "line", env={"BPFMON_INTERVAL": "2"})["interval_seconds"], 3)

    def test_xdg_config_home_is_followed_and_no_config_reads_nothing(self):
        self.own.write_text("interval = 0.5\n")
        elsewhere = self.dir / "xdg/bpfmon"
        elsewhere.mkdir(parents=True)
        (elsewhere / "config").write_text("interval = 0.75\n")
        self.assertEqual(self.meta(env={"XDG_CONFIG_HOME": str(self.dir / "xdg")})["interval_seconds"], 0.75)
        self.assertEqual(self.meta(env={"BPFMON_NO_CONFIG": "1"})["interval_seconds"], 1)

    def test_the_nearest_project_counts_and_none_above_the_home(self):
        (self.dir / ".bpfmon").write_text("name = above\n")
        self.assertIsNone(self.meta()["name"])
        self.project.write_text("name = far\ntag = a=1\n")
        (self.here.parent / ".bpfmon").write_text("name = near\n")
        meta = self.meta()
        self.assertEqual((meta["name"], meta["tags"]), ("near", {}))
        self.assertEqual(self.meta(cwd=self.project.parent)["name"], "far")

    @needs(ROOT, BPF)
    def test_outside_of_the_home_the_file_system_is_the_boundary(self):
        outside = self.dir / "outside/a"
        outside.mkdir(parents=True)
        (self.dir / ".bpfmon").write_text("name = above\n")
        self.assertEqual(self.meta(cwd=outside)["name"], "above")
        subprocess.run(["mount", "-t", "tmpfs", "none", outside], check=True)
        try:
            self.assertIsNone(self.meta(cwd=outside)["name"])
        finally:
            subprocess.run(["umount", outside], check=True)

    @needs(ROOT, BPF)
    def test_a_file_that_others_can_write_is_left_out_with_a_warning(self):
        def foreign():
            os.chown(self.project, NOBODY, NOGROUP)

        def link():
            self.project.rename(self.here / "real")
            self.project.symlink_to(self.here / "real")

        def fifo():
            self.project.unlink()
            os.mkfifo(self.project)

        for spoil in (lambda: self.project.chmod(0o666), foreign, link, fifo):
            self.project.unlink(missing_ok=True)
            self.project.write_text("name = spoilt\n")
            spoil()
            done = self.bpfmon("list")
            self.assert_one_line(done, 0, "warning", self.project, "ignoring")

    def test_the_warning_has_the_command_that_lets_the_file_be_read(self):
        self.project.write_text("name = spoilt\n")
        self.project.chmod(0o666)
        self.assertIn(f"; run: chmod go-w {self.project}\n", self.bpfmon("list").stderr)

    def test_mistakes_name_file_and_line_and_nothing_is_run(self):
        ran = self.dir / "ran"
        for path, text, words in (
            (self.own, "\nintervall = 1\n", (":2: ", "unknown option intervall")),
            (self.own, "interval = soon\n", (":1: ", "interval = soon")),
            (self.project, "[run]\nlimits = x\n", (":2: ", "no option limits")),
        ):
            path.write_text(text)
            self.assert_one_line(self.bpfmon("--", "touch", ran), 125, path, *words)
            self.assert_one_line(self.bpfmon("check"), 2, path, *words)
            path.unlink()
        self.assertFalse(ran.exists())

    def test_a_clone_can_neither_end_nor_hide_nor_burden_a_run(self):
        self.assert_clone_is_harmless(CLONE)

    def test_the_message_names_the_file_of_a_limit(self):
        self.own.write_text("\nlimit = wall<0.2s\n")
        done = self.bpfmon("-q", "--limit", "rss<100TiB", "--", "sleep", "60")
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assertIn("wall<0.2s: ", done.stderr)
        self.assertIn(f"the limit comes from {self.own}:2", done.stderr)
        self.own.unlink()
        self.assertNotIn("the limit comes from", self.bpfmon("-q", "--limit", "wall<0.2s", "--", "sleep", "60").stderr)

    def test_sections_are_for_their_subcommand(self):
        self.own.write_text("[list]\nlimit = 1\n[run]\nname = x\n")
        self.assertEqual(self.bpfmon("list").returncode, 0)
        self.own.write_text("[attach]\npid = 1\n")
        self.assertEqual(self.meta()["interval_seconds"], 1)

    def test_check_shows_the_files_and_what_each_sets(self):
        self.assertRegex(self.bpfmon("check").stdout, r"(?m)^configuration +none$")
        self.own.write_text("interval = 0.5\n\n[list]\nlimit = 5\n")
        self.project.write_text("name = align\n")
        said = self.bpfmon("check").stdout
        shown = said[said.index("configuration") :]
        lines = [re.sub(" +", " ", line).strip() for line in shown.splitlines()]
        self.assertEqual(
            lines,
            [
                f"configuration {self.own}",
                "line 1 interval = 0.5",
                "line 4 [list] limit = 5",
                f"configuration {self.project} (of the project)",
                "line 1 name = align",
            ],
        )

    def test_marks_and_spans_read_no_file(self):
        self.own.write_text("nonsense\n")
        self.assertEqual(self.bpfmon("span", "-q", "a", "--", "true").returncode, 0)
        self.assertEqual(self.bpfmon("mark", "-q", "a").returncode, 0)


@needs(ROOT, BPF)
class Sudo(ConfigCase):
    """root by sudo, called by nobody, whose home in the tests is where XDG_CONFIG_HOME says."""

    def bpfmon(self, *words, env=None, cwd=None):
        theirs = {**CALLED_BY_NOBODY, "XDG_CONFIG_HOME": str(self.home / ".config")}
        return super().bpfmon(*words, env={**theirs, **(env or {})}, cwd=cwd)

    def test_the_file_is_the_callers_and_chooses_no_path(self):
        self.own.write_text("interval = 0.5\nstore = /tmp/x.sqlite\nuser = root\n")
        os.chown(self.own, NOBODY, NOGROUP)
        done = self.bpfmon("-q", "-o", "-", "--", "true")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(json.loads(done.stdout.splitlines()[0])["interval_seconds"], 0.5)
        ignored = done.stderr.splitlines()
        self.assertEqual(len(ignored), 2, done.stderr)
        for line, option in zip(ignored, ("store", "user")):
            self.assertIn(f"{option} is ignored under sudo", line)
        self.assertIn("store = /tmp/x.sqlite (ignored under sudo: ", self.bpfmon("check").stdout)

    def test_it_is_read_with_the_callers_rights(self):
        self.own.write_text("interval = 0.5\n")
        self.own.chmod(0o600)
        done = self.bpfmon("-q", "-o", self.dir / "run", "--record-as", "root", "--", "true")
        self.assert_one_line(done, 0, self.own, "Permission denied")
        self.assertEqual(read_lines(self.dir / "run")[0]["interval_seconds"], 1)

    def test_a_home_that_is_closed_to_the_caller_has_no_file(self):
        self.home.chmod(0o700)
        done = self.bpfmon("check", cwd="/")
        self.assertEqual(done.stderr, "")
        self.assertIn("configuration                        none", done.stdout)

    def test_a_project_of_root_or_the_caller_is_read(self):
        for owner in (0, NOBODY):
            self.project.unlink(missing_ok=True)
            self.project.write_text("name = align\n")
            os.chown(self.project, owner, owner)
            self.assertEqual(self.meta()["name"], "align")

    def test_a_clone_only_names_and_tags_the_run(self):
        self.assert_clone_is_harmless((*CLONE, ("marks", "yes")))
