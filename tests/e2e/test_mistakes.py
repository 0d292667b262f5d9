# SPDX-License-Identifier: BSD-2-Clause
"""Mistyped command lines: each gets one line that says what to type, and nothing is executed."""

import os
import shutil
import subprocess

from lib.bpfmon import BPFMON, TOP, Case
from lib.permitted import ROOT, needs

SAMPLED = True
NEEDS = ()
RUN, OTHER = 125, 2
# words, exit status, what the line has
MISTAKES = (
    (["lsit"], RUN, "unknown subcommand 'lsit'; did you mean 'list'? To run a program of that name: bpfmon -- lsit"),
    (["rm", "ran"], RUN, "did you mean 'store remove'? To run a program of that name: bpfmon -- rm ran"),
    (["ls"], RUN, "did you mean 'list'?"),
    (["ps"], RUN, "did you mean 'jobs'?"),
    (["htop"], RUN, "did you mean 'top'?"),
    (["diff", "1", "2"], RUN, "did you mean 'compare'?"),
    (["shwo", "42"], RUN, "did you mean 'show'?"),
    (["comprae", "1", "2"], RUN, "did you mean 'compare'?"),
    (["exprot", "42"], RUN, "did you mean 'export'?"),
    (["rename", "42", "x"], RUN, "did you mean 'edit'?"),
    (["version"], RUN, "did you mean '--version'?"),
    (["touch", "ran"], RUN, "unknown subcommand 'touch'; to run a program of that name: bpfmon -- touch ran"),
    (["make", "-j8"], RUN, "unknown subcommand 'make'; to run a program of that name: bpfmon -- make -j8"),
    (["./job.sh", "a b"], RUN, "to run a program of that name: bpfmon -- ./job.sh 'a b'"),
    (["run", "touch", "ran"], RUN, "there is no 'run' subcommand; use: bpfmon -- touch ran"),
    (["run", "--", "touch", "ran"], RUN, "there is no 'run' subcommand; use: bpfmon -- touch ran"),
    (["exec", "touch", "ran"], RUN, "there is no 'exec' subcommand; use: bpfmon -- touch ran"),
    (["-i", "1", "touch", "ran"], RUN, "the command must follow '--': bpfmon -i 1 -- touch ran"),
    (["-q", "-o", "x.jsonl", "touch", "ran"], RUN, "bpfmon -q -o x.jsonl -- touch ran"),
    (["--user", "touch", "ran"], RUN, "bpfmon --user -- touch ran"),
    (["--store", "X", "list"], RUN, "options must follow the subcommand: bpfmon list --store X"),
    (["--json", "list"], RUN, "'bpfmon bench' has it"),
    (["-q", "list"], RUN, "try: bpfmon list; to run a program of that name: bpfmon -q -- list"),
    (["--store", "X", "lsit"], RUN, "did you mean 'list'?"),
    (["--name", "--", "touch", "ran"], RUN, "missing value after '--name'"),
    (["--nmae", "x", "--", "touch", "ran"], RUN, "unknown option '--nmae'; did you mean '--name'?"),
    (["--out", "x", "--", "touch", "ran"], RUN, "did you mean '--output'?"),
    (["-output", "x", "--", "touch", "ran"], RUN, "unknown option '-output'; did you mean '--output'?"),
    (["-name", "x", "--", "touch", "ran"], RUN, "did you mean '--name'?"),
    (["--pid", "1"], RUN, "'bpfmon attach' has it"),
    (["--metrics", "cpu,rss_byte", "--", "touch", "ran"], RUN, "did you mean 'rss_bytes'?"),
    (["-f", "json", "-o", "x", "--", "touch", "ran"], RUN, "did you mean 'jsonl'?"),
    (["-o", "foo:run", "--", "touch", "ran"], RUN, "there is no format 'foo', only text, jsonl, csv and influx; a file of that name is ./foo:run"),
    (["-i", "1m", "--", "touch", "ran"], RUN, "it expects a time, as in 1, 0.1 or 10ms"),
    (["--tag", "sample", "--", "touch", "ran"], RUN, "--tag does not accept 'sample': it expects KEY=VALUE"),
    (["--"], RUN, "no command given; try: bpfmon -- sleep 1"),
    (["-o", "x"], RUN, "no command given"),
    (["attach"], OTHER, "try: bpfmon attach --pid PID"),
    (["attach", "4711"], OTHER, "to attach to that process: bpfmon attach --pid 4711"),
    (["attach", "web"], OTHER, "--pid, --cgroup, --container or --job"),
    (["attach", "--", "touch"], OTHER, "to run a command: bpfmon -- touch"),
    (["span", "align", "touch", "ran"], RUN, "the command must follow '--': bpfmon span align -- touch ..."),
    (["span", "align"], OTHER, "try: bpfmon span align -- ./align.sh"),
    (["mark"], OTHER, "try: bpfmon mark"),
    (["list", "--nam", "x"], OTHER, "did you mean '--name'?"),
    (["list", "--columns", "id,nmae"], OTHER, "did you mean 'name'?"),
    (["list", "--columns", "wal"], OTHER, "--columns does not accept 'wal'; did you mean 'wall'?"),
    (["list", "--hist=peak,wal"], OTHER, "--hist does not accept 'peak,wal': 'wal' is unknown; did you mean 'wall'?"),
    (["list", "--trend=wal,cpu"], OTHER, "--trend does not accept 'wal,cpu': 'wal' is unknown; did you mean 'wall'?"),
    (["list", "--trend=wall,cpu"], OTHER, "it expects one metric, as in wall"),
    (["list", ""], OTHER, "empty word to search for: ''"),
    (["list", *map(str, range(99))], OTHER, "too many words to search for: '"),
    (["list", "--columns", "id,id"], OTHER, "it expects each column only once; 'id' is repeated"),
    (["show", "1", "2"], OTHER, "unexpected argument '2'"),
    (["show", "--since", "3d"], OTHER, "'bpfmon list' has it"),
    (["export", "1", "-f", "cvs"], OTHER, "did you mean 'csv'?"),
    (["export", "1"], OTHER, "try: bpfmon export 1 -f csv"),
    (["compare", "--fail-if", "rss_peak > 1"], OTHER, "the nearest is 'rss_peak_bytes'"),
    (["store", "remov", "1"], OTHER, "did you mean 'remove'?"),
    (["store", "remove"], OTHER, "try: bpfmon store remove 42"),
    (["store", "prune"], OTHER, "try --older-than 30d"),
    (["edit", "1"], OTHER, "as in: bpfmon edit 42 --note"),
    (["edit", "1", "--tag", "x"], OTHER, "it expects KEY=VALUE"),
    (["help", "lsit"], OTHER, "did you mean 'list'?"),
    (["help", "show", "list"], OTHER, "unexpected argument 'list'"),
    (["help", "complete"], OTHER, "unknown subcommand 'complete'"),
    (["check", "all"], OTHER, "unexpected argument 'all'"),
)


class Mistakes(Case):
    def test_each_gets_one_line_and_executes_nothing(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith("BPFMON_")}
        for words, code, said in MISTAKES:
            with self.subTest(words=words):
                done = subprocess.run([BPFMON, *words], cwd=self.dir, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
                self.assertIn(said, done.stderr)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (code, "", 1), done.stderr)
                self.assertEqual(list(self.dir.iterdir()), [])


class Help(Case):
    """man is one of the test's own: it shows its arguments. The program is a copy with or without a page."""

    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        man = self.dir / "man"
        man.write_text('#!/bin/sh\necho "arguments: $*"\nexit 5\n')
        man.chmod(0o755)
        self.env = {k: v for k, v in os.environ.items() if k not in ("PAGER", "MANPAGER")} | {"PATH": str(self.dir)}
        self.program = self.dir / "bin/bpfmon"
        self.pages = self.dir / "share/man/man1"
        self.pages.mkdir(parents=True)
        for name in ("bpfmon.1", "bpfmon-show.1", "bpfmon-list.1.gz"):
            (self.pages / name).touch()
        self.program.parent.mkdir()
        shutil.copy(BPFMON, self.program)

    def said(self, *words, code=0, **env):
        done = subprocess.run([self.program, *words], env=self.env | env, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return done.stdout

    def test_it_becomes_man_which_opens_the_page_of_the_subcommand(self):
        for words, page in ((["help"], "bpfmon.1"), (["help", "run"], "bpfmon.1"), (["help", "show"], "bpfmon-show.1"), (["help", "list"], "bpfmon-list.1.gz")):
            self.assertEqual(self.said(*words, code=5), f"arguments: {self.pages}/{page}\n")

    @needs(ROOT)
    def test_under_sudo_man_has_the_rights_of_the_caller(self):
        (self.dir / "man").write_text("#!/bin/sh\n/usr/bin/id -u\n")
        self.assertEqual(self.said("help", SUDO_UID="65534", SUDO_GID="65534", SUDO_USER="nobody"), "65534\n")

    def test_without_man_or_a_page_it_is_the_help(self):
        for missing in (self.dir / "man", self.pages):
            missing.rename(self.dir / "aside")
            self.assertEqual(self.said("help", "list"), self.said("list", "--help"))
            self.assertEqual(self.said("help"), self.said("--help"))
            self.assertEqual(self.said("help", "run"), self.said("--help"))
            (self.dir / "aside").rename(missing)

    def test_every_subcommand_has_a_help_and_a_manual_page(self):
        text = self.said("--help")
        self.assertEqual([line for line in text.splitlines()[:10] if not line.strip()], [])
        names = [line.split()[1] for line in text.splitlines() if line.startswith("       bpfmon ")]
        self.assertGreater(len(names), 14)
        for name in names:
            self.assertIn(f"Usage: bpfmon {name}", self.said(name, "--help"))
            self.assertTrue((TOP / f"docs/man/bpfmon-{name}.1").exists(), name)
