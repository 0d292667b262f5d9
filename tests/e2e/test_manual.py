# SPDX-License-Identifier: BSD-2-Clause
"""The manual: each subcommand is in its synopsis and has a section with all its options, and man finds it."""

import os
import re
import shutil
import subprocess
import unittest

from lib.bpfmon import BPFMON, TOP, Case, said_by

NEEDS = ()
SOURCE = (TOP / "docs/bpfmon.1").read_text()


def sections():
    """The text of each section by its title."""
    parts = re.split(r'(?m)^\.SH "?([^"\n]+)"?\n', SOURCE)[1:]
    return {title: re.sub(r"\\f.|\\&", "", text).replace("\\-", "-") for title, text in zip(parts[::2], parts[1::2])}


def subcommands():
    return re.findall(r"^       bpfmon ([a-z]+) ", said_by(BPFMON, "--help"), re.M)


class Page(unittest.TestCase):
    def test_each_subcommand_is_in_the_synopsis_and_has_a_section_with_its_options(self):
        there = sections()
        self.assertGreater(len(subcommands()), 5)
        of_run = set(re.findall(r"(--[a-z-]+)", said_by(BPFMON, "--help")))
        for name in subcommands():
            with self.subTest(name):
                self.assertRegex(there["SYNOPSIS"], rf"(?m)^\.B bpfmon {name}$|^\.RB? bpfmon {name} ")
                own = set(re.findall(r"(?m)^  (?:-., |    )(--[a-z-]+)", said_by(BPFMON, name, "--help")))
                shown = set(re.findall(r"--[a-z-]+", there[name.upper()]))
                self.assertLessEqual(own - (of_run if name == "attach" else {"--help", "--version"}), shown)

    def test_each_subcommand_has_help_with_its_usage_and_exit_status(self):
        for name in subcommands():
            said = said_by(BPFMON, name, "--help")
            self.assertTrue(said.startswith(f"Usage: bpfmon {name}"), said)
            self.assertIn("Exit status:", said)


class Installed(Case):
    def test_man_finds_each_subcommand_and_uninstall_removes_the_pages(self):
        if not shutil.which("man"):
            self.skipTest("needs man: tools/install-deps.sh shells")
        make = ["make", "-s", "-C", str(TOP), f"DESTDIR={self.dir}", "PREFIX=/usr"]
        env = {key: value for key, value in os.environ.items() if not key.startswith("MAKE") and key != "MFLAGS"}
        subprocess.run([*make, "install"], check=True, env=env, stdout=subprocess.DEVNULL)
        pages = self.dir / "usr/share/man"
        for name in subcommands():
            found = said_by("man", "-M", str(pages), "-w", "bpfmon", name)
            self.assertEqual(found.splitlines(), [f"{pages}/man1/bpfmon.1"])  # a link leads there
        self.assertIn("COMPARE", said_by("man", "-M", str(pages), "-P", "cat", "bpfmon", "compare"))
        for path in ("zsh/site-functions/_bpfmon", "fish/vendor_completions.d/bpfmon.fish", "bash-completion/completions/bpfmon"):
            self.assertTrue((self.dir / "usr/share" / path).exists())
        subprocess.run([*make, "uninstall"], check=True, env=env, stdout=subprocess.DEVNULL)
        left = [path for path in (self.dir / "usr").rglob("*") if not path.is_dir()]
        self.assertEqual(left, [])
