# SPDX-License-Identifier: BSD-2-Clause
"""The manual: each subcommand has a page with all its options, which man finds."""

import os
import re
import shutil
import subprocess
import unittest

from lib.bpfmon import BPFMON, TOP, Case, said_by
from lib.documents import manual_commands

NEEDS = ()
PAGES = TOP / "docs/man"
# what no page of its own has: that of run is bpfmon.1, complete is for shells
WITHOUT_PAGE = {"run", "complete"}


def sections(page):
    """The text of each section by its title, without markup."""
    parts = re.split(r'(?m)^\.SH "?([^"\n]+)"?\n', (PAGES / page).read_text())[1:]
    return {title: re.sub(r"\\f.|\\&", "", text).replace("\\-", "-") for title, text in zip(parts[::2], parts[1::2])}


def subcommands():
    return re.findall(r"^       bpfmon ([a-z]+) ", said_by(BPFMON, "--help"), re.M)


def options_of(*words):
    return set(re.findall(r"(?m)^  (?:-., |    )(--[a-z-]+)", said_by(BPFMON, *words, "--help")))


class Page(unittest.TestCase):
    def test_each_row_of_subcommands_def_has_a_page_and_each_page_a_row(self):
        rows = set(re.findall(r"(?m)^SUBCOMMAND\((.*)\)", (TOP / "user/bpfmon/subcommands.def").read_text()))
        self.assertGreater(len(rows), 20)
        there = {page.name for page in PAGES.iterdir()}
        self.assertEqual(there, {"bpfmon.1", "bpfmon-exporter.8", "bpfmon-push.8"} | {f"bpfmon-{name}.1" for name in rows - WITHOUT_PAGE})

    def test_each_page_begins_with_name_usage_examples_and_description(self):
        for page in PAGES.iterdir():
            with self.subTest(page.name):
                self.assertEqual(list(sections(page.name))[:4], ["NAME", "SYNOPSIS", "EXAMPLES", "DESCRIPTION"])
                self.assertTrue(list(manual_commands(page.read_text())))
                self.assertRegex(sections(page.name)["DESCRIPTION"], r"\A\w+ \w+")

    def test_a_document_that_a_page_names_is_there(self):
        named = {name for page in PAGES.iterdir() for name in re.findall(r"[A-Z]+\.md", page.read_text())}
        self.assertGreater(len(named), 5)
        self.assertEqual([name for name in named if not (TOP / "docs" / name).exists()], [])

    def test_the_page_of_a_subcommand_has_its_name_usage_and_all_options(self):
        for name in subcommands():
            with self.subTest(name):
                there = sections(f"bpfmon-{name}.1")
                self.assertTrue(there["NAME"].startswith(f"bpfmon-{name} - "))
                self.assertIn(f"bpfmon {name}", there["SYNOPSIS"])
                shown = set(re.findall(r"(?m)^(?:-., )?(--[a-z-]+)", there.get("OPTIONS", "")))
                self.assertEqual(options_of(name) - (options_of() if name == "attach" else {"--help", "--version"}), shown)

    def test_the_page_of_bpfmon_lists_all_subcommands_and_the_options_of_a_run(self):
        text = "".join(sections("bpfmon.1").values())
        self.assertEqual(re.findall(r"(?m)^bpfmon-([a-z]+)\(1\)$", text), subcommands())
        self.assertLessEqual(options_of(), set(re.findall(r"(?m)^(?:-., )?(--[a-z-]+)", text)))

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
            self.assertEqual(found.splitlines(), [f"{pages}/man1/bpfmon-{name}.1"])
        self.assertIn("BPFMON-COMPARE", said_by("man", "-M", str(pages), "-P", "cat", "bpfmon", "compare"))
        for name in ("bpfmon-exporter", "bpfmon-push"):
            self.assertEqual(said_by("man", "-M", str(pages), "-w", "8", name).splitlines(), [f"{pages}/man8/{name}.8"])
        for path in ("zsh/site-functions/_bpfmon", "fish/vendor_completions.d/bpfmon.fish", "bash-completion/completions/bpfmon"):
            self.assertTrue((self.dir / "usr/share" / path).exists())
        subprocess.run([*make, "uninstall"], check=True, env=env, stdout=subprocess.DEVNULL)
        left = [path for path in (self.dir / "usr").rglob("*") if not path.is_dir()]
        self.assertEqual(left, [])
