# SPDX-License-Identifier: BSD-2-Clause
"""The steps of docs/TUTORIAL.md, one after the other, typed by an ordinary user without rights, and with sudo."""

import re
import shutil
import unittest

from lib.bpfmon import BUILD, TOP
from lib.documents import blocks_of, commands_in
from lib.newcomer import NewcomerCase
from lib.package import needs as needs_module
from lib.permitted import ROOT, needs

PYTHON = "/usr/bin/python3"  # that of the distribution, with its packages
DOCUMENT = (TOP / "docs" / "TUTORIAL.md").read_text()
SCRIPT = TOP / "docs" / "tutorial" / "neighbours.py"
BLOCK = r"<!-- %s: neighbours.py -->\n```\w+\n(.*?)```\n"
PHASES = ["(start)", "load", "distances", "sort", "save"]


def block(kind):
    (text,) = re.findall(BLOCK % kind, DOCUMENT, re.S)
    return text


def commands(text):
    return [command for lines in blocks_of(text) for command in commands_in(lines)]


class Text(unittest.TestCase):
    def test_the_script_of_the_tutorial_is_the_file_of_the_source(self):
        self.assertEqual(block("file"), SCRIPT.read_text())


@needs_module("numpy")
class Steps(NewcomerCase):
    def setUp(self):
        super().setUp()
        (self.bin / "bpfmon").symlink_to(BUILD / "bpfmon")
        (self.bin / "python3").symlink_to(PYTHON)
        self.work = self.home / "work"
        self.work.mkdir()
        shutil.copy(SCRIPT, self.work)
        self.give(self.home)

    def step(self, command, status=0):
        command = command.replace("/usr/local/share/bpfmon/python", str(TOP / "tools" / "python"))
        done = self.type(re.sub(r"\bbpfmon (?=-)", self.program, command), self.work, timeout=300)
        self.assertEqual(done.returncode, status, f"{command}\n{done.stdout}")
        return done.stdout

    def change(self):
        """Applies the change; the result of the script so far."""
        script = (self.work / "neighbours.py").read_text()
        old, new = ("".join(re.findall(rf"(?m)^\{sign}(.*\n)", block("change"))) for sign in "-+")
        self.assertEqual(script.count(old), 1)
        (self.work / "neighbours.py").write_text(script.replace(old, new))
        return (self.work / "nearest.csv").read_bytes()

    def check_phases(self, text):
        """On a machine that has too much to do, short phases share their values: "|"."""
        rows = re.findall(r"(?m)^  (\S+) +[\d.]+ m?s +(?:\||.*? ([\d.]+) MiB)", text.partition("peak RSS")[2])
        self.assertEqual([name for name, _ in rows], PHASES, text)
        peaks = {name: float(peak) for name, peak in rows if peak}
        self.assertGreater(peaks.get("distances", 500), peaks.get("save", 400), text)

    def check_compare(self, text):
        less = re.search(r"needed\s+(\d+)\s+%\s+less\s+memory", text)
        self.assertTrue(less and int(less[1]) > 50, text)
        self.assertRegex(text, r"(?m)^  (rss_peak|memory_needed)\w*_bytes .* 0\.008  more than noise$")

    def follow(self, program):
        self.program = program
        before, after = DOCUMENT.split("<!-- change")
        copy, make, first, more, advise, slurm, phases, report = commands(before)
        for command in (copy, make):
            self.step(command)
        self.assertRegex(self.step(first), r"\n  request +(at least )?\d+ MiB \((.|\n)* in phase (.|\n)*\n  saved +as run 1: ")
        self.step(more)
        self.assertRegex(self.step(advise), r"^neighbours: 5 runs\n(.|\n)*\n  memory .* MiB\n(.|\n)*5 runs are few")
        self.assertRegex(self.step(slurm), r"(?m)^#SBATCH --mem=\d+M$")
        self.check_phases(self.step(phases))
        self.step(report)
        self.assertIn("distances", (self.work / "neighbours.html").read_text())
        result = self.change()
        again, compare, check = commands(after)
        self.step(again)
        self.assertEqual((self.work / "nearest.csv").read_bytes(), result)
        self.check_compare(self.step(compare))
        self.step(check)
        self.step(f"{check} --baseline 2", 1)

    @needs(ROOT)
    def test_without_rights(self):
        self.follow("bpfmon ")

    def test_with_sudo(self):
        self.follow("sudo bpfmon --user ")
