# SPDX-License-Identifier: BSD-2-Clause
"""Completion of the command line offers what the help has: subcommands, and the options of each."""

import os
import pathlib
import re
import subprocess
import unittest

from lib.bpfmon import BPFMON

SCRIPT = pathlib.Path(__file__).parents[2] / "docs/completion/bpfmon"
DRIVER = """
compopt() { :; } # no completion is under way
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_bpfmon
printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(*words):
    """What is offered for the last of @words."""
    argv = ["bash", "-c", DRIVER, "bash", SCRIPT, "bpfmon", *words]
    env = {**os.environ, "PATH": f"{pathlib.Path(BPFMON).resolve().parent}:{os.environ['PATH']}"}
    return set(subprocess.run(argv, stdout=subprocess.PIPE, check=True, timeout=60, env=env).stdout.decode().split())


def help_of(*subcommand):
    return subprocess.run([BPFMON, *subcommand, "--help"], stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode()


def options_of(*subcommand):
    found = re.findall(r"^  (?:(-\w), |    )(--[\w-]+)", help_of(*subcommand), re.M)
    return {word for pair in found for word in pair if word}


def subcommands():
    return re.findall(r"^       bpfmon ([a-z]+) ", help_of(), re.M)


class Completion(unittest.TestCase):
    def test_all_subcommands_are_offered(self):
        self.assertGreater(len(subcommands()), 5)
        self.assertLessEqual(set(subcommands()), complete(""))

    def test_options_of_a_run_are_offered(self):
        self.assertEqual(complete("-"), options_of() | {"--pss=", "--user=", "--"})

    def test_options_of_attach_are_offered(self):
        self.assertEqual(complete("attach", "-"), options_of("attach") | {"--pss="})
        self.assertEqual(complete("attach", "--duration", "5", "--wait-"), {"--wait-start"})

    def test_options_of_each_other_subcommand_are_offered(self):
        for name in subcommands():
            if name not in ("attach", "check", "metrics"):
                with self.subTest(name):
                    self.assertEqual(complete(name, "-"), options_of(name))

    def test_values_are_offered_after_the_options_that_take_them(self):
        self.assertEqual(complete("--wait", ""), {"command", "tree"})
        self.assertEqual(complete("attach", "--interval", "0"), {"0.1"})
        self.assertEqual(complete("list", "--sort", "w"), {"wall"})
        self.assertEqual(complete("show", "--by", ""), {"phase", "span"})
        self.assertEqual(complete("compare", "--by", ""), {"span"})

    def test_the_words_of_the_command_are_not_ours(self):
        self.assertNotIn("--wait", complete("--", "ls", "--w"))
        self.assertNotIn("--wait", complete("ls", "--w"))

    def test_a_span_is_begun_or_ended_or_has_a_command(self):
        self.assertEqual(complete("span", "e"), {"end"})
        self.assertLessEqual({"begin", "end", "--tag"}, complete("span", ""))
        self.assertIn("sleep", complete("span", "align", "--tag", "a=b", "--", "sle"))
        self.assertNotIn("begin", complete("span", "align", "--", "beg"))
