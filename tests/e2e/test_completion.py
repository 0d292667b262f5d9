# SPDX-License-Identifier: BSD-2-Clause
"""Completion of the command line, in the shells themselves: subcommands, the options of each, values, runs, tags."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from lib.bpfmon import BPFMON, Case
from lib.terminal import Terminal

SAMPLED = True
NEEDS = ()
FOLDER = pathlib.Path(__file__).parents[2] / "docs/completion"
DRIVER = """
compopt() { :; } # no completion is under way
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_bpfmon
printf '%s\\n' "${COMPREPLY[@]}"
"""


def environment(**more):
    return {**os.environ, "PATH": f"{pathlib.Path(BPFMON).resolve().parent}:{os.environ['PATH']}", **more}


def said_by(*argv, **more):
    return subprocess.run(argv, stdout=subprocess.PIPE, check=True, timeout=60, env=environment(**more)).stdout.decode()


def complete(*words, **more):
    """What bash offers for the last of @words, as it has split them."""
    return set(said_by("bash", "-c", DRIVER, "bash", FOLDER / "bpfmon", "bpfmon", *words, **more).split())


def help_of(*subcommand):
    return said_by(BPFMON, *subcommand, "--help")


def options_of(*subcommand):
    found = re.findall(r"^  (?:(-\w), |    )(--[\w-]+)", help_of(*subcommand), re.M)
    return {word for pair in found for word in pair if word}


def subcommands():
    return re.findall(r"^       bpfmon ([a-z]+) ", help_of(), re.M)


class Completion(unittest.TestCase):
    def test_only_subcommands_are_offered_first(self):
        self.assertGreater(len(subcommands()), 5)
        self.assertEqual(complete(""), set(subcommands()))
        self.assertEqual(complete("li"), {"like", "list"})

    def test_options_of_a_run_are_offered(self):
        self.assertEqual(complete("-"), options_of() | {"--pss=", "--net-peers=", "--user=", "--"})

    def test_options_of_each_subcommand_are_offered(self):
        for name in subcommands():
            with self.subTest(name):
                self.assertEqual({word for word in complete(name, "-") if not word.endswith("=")}, options_of(name))
        self.assertEqual(complete("attach", "--duration", "5", "--wait-"), {"--wait-start"})

    def test_values_are_offered_after_the_options_that_take_them(self):
        for words, values in (
            (("--wait", ""), {"command", "tree"}),
            (("attach", "--interval", "0"), {"0.1"}),
            (("list", "--sort", "wal"), {"wall", "wall_seconds"}),
            (("list", "--state", "un"), {"unfinished"}),
            (("list", "--state", ""), {"running", "unfinished", "finished", "ended", "failed", "signal", "limit", "oom"}),
            (("list", "--columns", "no"), {"note"}),
            (("list", "--columns", "id,wal"), {"id,wall", "id,wall_seconds"}),
            (("list", "--columns", "cores"), {"cores", "cores_mean", "cores_peak"}),
            (("list", "--columns", "start"), {"start_time", "started"}),
            (("show", "--by", ""), {"phase", "span"}),
            (("export", "1", "-f", "inf"), {"influx"}),
            (("compare", "--fail-if", "wall"), {"wall", "wall_seconds"}),
            (("--metrics", "cpu,rss_a"), {"cpu,rss_anon_bytes"}),
            (("-o", "cs"), {"csv:"}),
        ):
            self.assertEqual(complete(*words), values, words)
        self.assertIn("svg", complete("report", "--format", ""))
        self.assertIn("root", complete("list", "--user", "roo"))

    def test_words_that_bash_has_split_are_one(self):
        self.assertEqual(complete("--user", "=", "roo"), {"root"})
        self.assertEqual(complete("--wait", "=", "t"), {"tree"})
        self.assertEqual(complete("--wait", "="), {"command", "tree"})
        self.assertEqual(complete("-o", "csv", ":", "/etc/passw"), {"/etc/passwd"} | {str(p) for p in pathlib.Path("/etc").glob("passw*")})

    def test_the_words_of_the_command_are_not_ours(self):
        self.assertNotIn("--wait", complete("--", "ls", "--w"))
        self.assertNotIn("--wait", complete("ls", "--w"))
        self.assertIn("sleep", complete("--", "sle"))

    def test_a_span_is_begun_or_ended_or_has_a_command(self):
        self.assertEqual(complete("span", "e"), {"end"})
        self.assertEqual(complete("span", ""), {"begin", "end"})
        self.assertIn("sleep", complete("span", "align", "--tag", "a=b", "--", "sle"))
        self.assertNotIn("begin", complete("span", "align", "--", "beg"))
        self.assertIn("sleep", complete("bench", "-n", "5", "--", "sle"))


class Runs(Case):
    """A store with three runs, one of them with a name that a shell must not execute."""

    HOSTILE = "$(touch owned)`touch owned`;"

    def setUp(self):
        super().setUp()
        self.store = self.dir / "runs.sqlite"
        self.env = {"BPFMON_STORE": str(self.store), "BPFMON_NO_STORE": ""}
        for words in (("--name", "align", "--tag", "threads=8"), ("--name", "align", "--tag", "threads=4"), ("--name", self.HOSTILE)):
            subprocess.run([BPFMON, "-q", *words, "--", "true"], check=True, env=environment(**self.env))

    def test_bash_offers_numbers_names_and_tags(self):
        self.assertLessEqual({"1", "2", "3", "align"}, complete("show", "", **self.env))
        self.assertEqual(complete("report", "al", **self.env) - {"align"}, set())
        self.assertEqual(complete("list", "--name", "a", **self.env), {"align"})
        self.assertEqual(complete("list", "--tag", "th", **self.env), {r"threads=8", r"threads=4"})
        self.assertEqual(complete("compare", "--by", "", **self.env), {"phase", "program", "span", "threads"})
        self.assertIn("3", complete("show", "--store", str(self.store), ""))

    def test_a_hostile_name_is_quoted(self):
        script = 'eval "set -- $(bash -c "$1" bash "$2" bpfmon list --name "\\$")"; printf "%s" "$1"'
        argv = ["bash", "-c", script, "bash", DRIVER, FOLDER / "bpfmon"]
        said = subprocess.run(argv, stdout=subprocess.PIPE, check=True, cwd=self.dir, env=environment(**self.env)).stdout.decode()
        self.assertEqual(said, self.HOSTILE)
        self.assertFalse((self.dir / "owned").exists())

    def fish(self, line):
        if not shutil.which("fish"):
            self.skipTest("needs fish: tools/install-deps.sh shells")
        said = said_by("fish", "--no-config", "-c", f'source {FOLDER}/bpfmon.fish; complete -C "{line}"', HOME=str(self.dir), **self.env)
        return [word.split("\t")[0] for word in said.splitlines()]

    def test_fish_offers_the_same(self):
        self.assertEqual(set(self.fish("bpfmon ")), set(subcommands()))
        self.assertEqual(self.fish("bpfmon lis"), ["list"])
        self.assertLessEqual({"start", "wall", "cpu", "memory", "name", "minflt"}, set(self.fish("bpfmon list --sort ")))
        self.assertLessEqual({"1", "2", "3", "align", self.HOSTILE}, set(self.fish("bpfmon show ")))
        self.assertEqual(self.fish("bpfmon list --tag threads=8"), ["threads=8"])
        self.assertEqual(self.fish("bpfmon -o csv:/etc/passw")[0], "csv:/etc/passwd")
        self.assertEqual(self.fish("bpfmon --user=roo"), ["--user=root"])
        self.assertIn("sleep", self.fish("bpfmon -i 1 -- slee"))
        self.assertFalse((self.dir / "owned").exists())

    def test_zsh_offers_the_same(self):
        if not shutil.which("zsh"):
            self.skipTest("needs zsh: tools/install-deps.sh shells")
        term = Terminal(self, ["zsh", "-f", "-i"], env=environment(**self.env, TERM="dumb", COLUMNS="200", HOME=str(self.dir)))
        term.type(f"cd {self.dir}; fpath=({FOLDER} $fpath); autoload -U compinit; compinit -u -D; PS1='ready> '\n")
        term.expect("ready> ")
        for typed, seen in (
            ("bpfmon lis\t--so\tmem\t", "bpfmon list --sort memory"),
            ("bpfmon show al\t", "bpfmon show align"),
            ("bpfmon list --name \\$\t", "bpfmon list --name \\$\\(touch\\ owned\\)\\`touch\\ owned\\`\\;"),
            ("bpfmon --wait=t\t", "bpfmon --wait=tree"),
            ("bpfmon -o csv:/etc/host\tname\t", "bpfmon -o csv:/etc/hostname"),
            ("bpfmon -i 1 -- base\t64\t", "bpfmon -i 1 -- base64"),
        ):
            term.type(f"{typed}\x01: \x05\n")  # the line becomes the words of ":", which does nothing
            term.type("print -r -- ${history[$((HISTCMD - 1))]}\n")
            with self.subTest(typed):
                term.expect(f"\n: {seen}\r\n")
            term.expect("ready> ")
        self.assertFalse((self.dir / "owned").exists())
