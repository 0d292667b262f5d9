# SPDX-License-Identifier: BSD-2-Clause
"""Reports as pictures: one panel, a width for a paper, and what other programs draw of the SVG; what was written is
named."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from lib.bpfmon import BPFMON, TOP
from lib.spans import run_lines, write_lines

SEVERE = "#b3261e"
SVG = "{http://www.w3.org/2000/svg}"
RUN = TOP / "tests" / "data" / "golden" / "run.jsonl"
# stands for rsvg-convert: what it was called with, and what it read
DRAWER = """#!/bin/sh
for word; do
	case $word in --output=*) out=${word#--output=} ;; esac
done
{ echo "drawn $*"; cat "$word"; } >"$out"
ls -d "${out%/*}" >"$DRAWER_WAS_IN"
"""


class Pictures(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-pictures-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.bin, self.tmp = self.dir / "bin", self.dir / "tmp"
        self.bin.mkdir()
        self.tmp.mkdir()

    def install(self, script, name="rsvg-convert"):
        (self.bin / name).write_text(script)
        (self.bin / name).chmod(0o755)

    def bpfmon(self, *words):
        """With the programs of self.bin alone, and those of the system's /bin that scripts take."""
        for tool in ("sh", "cat", "echo", "ls"):
            if not (self.bin / tool).exists():
                (self.bin / tool).symlink_to(shutil.which(tool))
        env = {**os.environ, "PATH": str(self.bin), "TMPDIR": str(self.tmp), "DRAWER_WAS_IN": str(self.dir / "was")}
        argv = [BPFMON, *map(str, words)]
        return subprocess.run(argv, cwd=self.dir, env=env, capture_output=True, text=True, timeout=60, check=False)

    def drawn(self, *words):
        done = self.bpfmon("report", RUN, *words, "-f", "svg", "-o", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return ElementTree.fromstring(done.stdout)

    def assert_refused(self, *words, said):
        done = self.bpfmon("report", RUN, *words)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        for part in said:
            self.assertIn(part, done.stderr)
        self.assertEqual(list(self.tmp.iterdir()), [])

    def test_a_panel_has_its_width_and_texts_of_the_same_size(self):
        root = self.drawn("--panel", "memory", "--width", "85mm")
        self.assertEqual(root.get("width"), "85mm")
        *_, width, height = map(float, root.get("viewBox").split())
        self.assertAlmostEqual(width, 85 / 25.4 * 96, delta=0.01)  # a unit is 1/96 inch: 11 of them are 8 points
        self.assertAlmostEqual(float(root.get("height").removesuffix("mm")), height * 25.4 / 96, delta=0.01)
        self.assertEqual((root.get("font-size"), len(root.findall(f"{SVG}g"))), ("11", 1))
        for text in root.iter(f"{SVG}text"):
            self.assertLess(float(text.get("x")), width)

    def test_an_event_is_severe_if_it_is_an_oom_kill_or_a_limit(self):
        for event, is_severe in (("oom_kill", True), ("limit", True), ("mark", False), ("lost", False)):
            run = self.dir / f"{event}.jsonl"
            run.write_text(RUN.read_text().replace('"time":1763690000.273456,"event":"lost"', f'"time":1763690000.173456,"event":"{event}"'))
            done = self.bpfmon("report", run, "-f", "svg", "-o", "-")
            strokes = {path.get("stroke") for path in ElementTree.fromstring(done.stdout).iter(f"{SVG}path") if path.get("stroke-dasharray") == "3 3"}
            self.assertEqual([stroke == SEVERE for stroke in strokes], [is_severe], event)

    def test_a_narrow_legend_has_several_lines(self):
        rows = [{t.get("y") for t in self.drawn("--panel", "memory", *words).iter(f"{SVG}rect")} for words in ([], ["--width", "60mm"])]
        self.assertLess(len(rows[0]), len(rows[1]))

    def test_a_width_has_each_of_its_units(self):
        for given in ("100mm", "10cm", "3.937in", "283.46pt", "377.95px"):
            width = self.drawn("--panel", "memory", "--width", given).get("width")
            self.assertAlmostEqual(float(width.removesuffix("mm")), 100, delta=0.01)

    def test_a_figure_of_a_given_width_has_columns_with_room(self):
        for width, columns in (("180mm", 2), ("120mm", 1)):
            groups = self.drawn("--width", width).findall(f"{SVG}g")
            places = {re.match(r"translate\((\d+)", g.get("transform")).group(1) for g in groups}
            self.assertEqual(len(places), columns, width)

    def test_png_and_pdf_are_drawn_by_another_program(self):
        self.install(DRAWER)
        for words, of in (([], "--format=png --zoom=2 "), (["--width", "85mm"], "--format=png --zoom=3.125 ")):
            done = self.bpfmon("report", RUN, *words, "-o", "x.png", "--force")
            self.assertEqual((done.returncode, done.stderr), (0, "bpfmon: the report is in 'x.png'\n"))
            self.assertTrue((self.dir / "x.png").read_text().startswith(f"drawn {of}--output="))
        self.assertEqual(self.bpfmon("report", RUN, "-o", "x.pdf", "-q").stderr, "")
        self.assertTrue((self.dir / "x.pdf").read_text().startswith("drawn --format=pdf --output="))
        self.assertIn("</svg>", (self.dir / "x.pdf").read_text())
        self.assertTrue((self.dir / "was").read_text().startswith(str(self.tmp)))
        self.assertEqual(list(self.tmp.iterdir()), [], "a folder is left")

    def test_without_such_a_program_what_to_install_is_said(self):
        self.assert_refused("-o", "x.png", said=["'x.png'", "librsvg2-bin", "chromium", "-f svg"])

    def test_a_program_that_fails_leaves_nothing(self):
        self.install("#!/bin/sh\nexit 1\n")
        self.assert_refused("-o", "x.pdf", said=["'x.pdf'", "failed"])
        self.install("#!/bin/sh\nexit 0\n")
        self.assert_refused("-o", "x.pdf", said=["failed"])
        self.assertFalse((self.dir / "x.pdf").exists())

    def test_what_cannot_be_drawn_is_refused(self):
        self.assert_refused("-o", "x.jpg", said=["'x.jpg'", ".png"])
        write_lines(self.dir / "few.jsonl", run_lines())
        done = self.bpfmon("report", "few.jsonl", "--panel", "io")
        self.assertEqual(done.stderr, "bpfmon: 'few.jsonl' has no data for the panel 'io'; it has data for memory\n")
        self.assert_refused("--panel", "ram", said=["cpu, memory, gpu"])
        self.assert_refused("--panel", "cpu", "-o", "x.html", said=["-f svg"])
        for width in ("85", "1mm", "9in9", "3m", "-5cm", "nanmm"):
            self.assert_refused("--width", width, said=[width, "85mm"])

    def test_files_that_were_written_are_named(self):
        for words, said in (
            (["report", RUN, "-o", "a.svg"], "the report is in 'a.svg'"),
            (["export", RUN, "-f", "csv", "-o", "a.csv"], "the export is in 'a.csv'"),
            (["export", RUN, "-f", "prmon", "-o", "a"], "the export is in 'a.txt' and 'a.json'"),
        ):
            done = self.bpfmon(*words)
            self.assertEqual((done.returncode, done.stderr), (0, f"bpfmon: {said}\n"))
            self.assertEqual(self.bpfmon(*words, "--force", "-q").stderr, "")
        self.assertEqual(self.bpfmon("export", RUN, "-f", "csv").stderr, "")
