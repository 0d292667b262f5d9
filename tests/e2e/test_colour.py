# SPDX-License-Identifier: BSD-2-Clause
"""Colour for what has failed: on a terminal only, and as the user asks."""

import os
import subprocess

from lib.bpfmon import BPFMON, Case
from lib.terminal import Terminal

NEEDS = ()
RED = "\x1b[31m"


class ScreenCase(Case):
    def setUp(self):
        super().setUp()
        self.store = self.dir / "runs.sqlite"

    def environment(self, **more):
        return {**os.environ, "BPFMON_STORE": str(self.store), "BPFMON_NO_STORE": "", "TERM": "xterm", "COLUMNS": "150", **more}

    def on_screen(self, *words, **env):
        """What a terminal of 24 rows gets."""
        term = Terminal(self, [BPFMON, *map(str, words)], env=self.environment(**env))
        self.code = term.wait()
        while term.read():
            pass
        return term.text.decode().replace("\r\n", "\n")

    def in_a_pipe(self, *words, **env):
        done = subprocess.run([BPFMON, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.environment(**env), check=False)
        return done.stdout.decode()


class Colour(ScreenCase):
    def setUp(self):
        super().setUp()
        for code in (0, 7):
            subprocess.run([BPFMON, "-q", "-o", self.dir / f"{code}.jsonl", "--", "sh", "-c", f"exit {code}"], env=self.environment(), check=False)
        lines = (self.dir / "0.jsonl").read_text().splitlines()
        (self.dir / "cut.jsonl").write_text("\n".join(lines[:-1]) + "\n")

    def test_failed_and_incomplete_runs_are_red_on_a_terminal(self):
        self.assertIn(f"{RED}  ", self.on_screen("list").replace("   ", "  "))
        self.assertEqual(self.on_screen("list").count(RED), 1)
        self.assertIn(f"{RED}bpfmon: the command ended with 7", self.on_screen("show", 2))
        self.assertNotIn(RED, self.on_screen("show", 1))
        self.assertIn(f"{RED}INCOMPLETE:", self.on_screen("show", self.dir / "cut.jsonl"))
        self.assertIn(f"{RED}bpfmon: the command ended with 3", self.on_screen("--", "sh", "-c", "exit 3"))

    def test_a_regression_is_red(self):
        said = self.on_screen("compare", 1, 2, "--fail-if", "processes_total > -100%")
        self.assertEqual(self.code, 1)
        self.assertIn(f"{RED}bpfmon: failed:", said)

    def test_no_colour_into_pipes_nor_where_it_is_not_wanted(self):
        for said in (
            self.in_a_pipe("list"),
            self.in_a_pipe("show", 2),
            self.on_screen("list", NO_COLOR="1"),
            self.on_screen("list", TERM="dumb"),
            self.on_screen("list", "--color", "never"),
            self.on_screen("list", BPFMON_COLOR="never"),
        ):
            self.assertIn("7", said)
            self.assertNotIn("\x1b", said)

    def test_colour_is_had_for_the_asking(self):
        self.assertIn(RED, self.in_a_pipe("list", "--color=always"))
        self.assertIn(RED, self.in_a_pipe("show", 2, "--color=always", NO_COLOR="1"))
        self.assertIn("--color does not accept 'red'", self.in_a_pipe("list", "--color", "red"))

    def test_moments_name_their_zone(self):
        for zone, name in (("UTC", "UTC"), ("Asia/Kolkata", "IST"), ("XYZ-3", "XYZ")):
            self.assertRegex(self.in_a_pipe("list", TZ=zone), rf"\d\d:\d\d {name} ")
            self.assertRegex(self.in_a_pipe("show", 1, TZ=zone), rf"started +\S+ \d\d:\d\d:\d\d {name} by")
            self.assertRegex(self.in_a_pipe("report", 1, "-f", "svg", "-o", "-", TZ=zone), rf"\d\d:\d\d:\d\d {name}:")
