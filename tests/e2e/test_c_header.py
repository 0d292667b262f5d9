# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon.h, the header for C and C++: it compiles cleanly in both, and what it says arrives in the run."""

import os
import shutil
import subprocess
import unittest

from lib.bpfmon import TOP, Case, truth
from lib.installed import make
from lib.permitted import BPF, ROOT, needs

NEEDS = ()
HEADER = TOP / "tools" / "c" / "bpfmon.h"
SOURCE = TOP / "tests" / "truth" / "insider.c"
WARNINGS = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wundef -Werror -O2".split()
C = "-Wstrict-prototypes -Wmissing-prototypes -Wc++-compat".split()
CPP = ["-x", "c++", "-Wold-style-cast"]
SAID = {"in_run": ["1"], "begin": ["1"], "within": ["2"], "overlap": ["-1"], "end": ["2", "1"], "mark": ["0"], "metric": ["0"] * 4}
METRICS = 5
SAID |= {"line": ["0"], "infinite": ["-22"], "refused": ["-22", "-22"], "errno": ["123"]}
OUTSIDE = {key: [("123" if key == "errno" else "0")] * len(values) for key, values in SAID.items()}


def said_in(text):
    found = {}
    for line in text.splitlines():
        key, value = line.split()
        found.setdefault(key, []).append(value)
    return found


class Compiles(Case):
    def check(self, compiler, standards, flags):
        for standard in standards:
            with self.subTest(compiler=compiler, standard=standard):
                argv = [compiler, *flags, f"-std={standard}", *WARNINGS, "-fsyntax-only", SOURCE]
                done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_as_c(self):
        for compiler in ("gcc", "clang"):
            self.check(compiler, ("c99", "c11", "gnu11", "gnu2x"), C)

    @unittest.skipUnless(shutil.which("g++"), "needs g++: tools/install-deps.sh")
    def test_as_cpp(self):
        for compiler in ("g++", "clang++"):
            self.check(compiler, ("c++98", "c++11", "c++20"), CPP)


@needs(ROOT, BPF)
class Arrives(Case):
    def check(self, program, spans, *options, env=None):
        run = self.run_bpfmon([program], ["-q", *options], env=env)
        self.assertEqual((run.code, run.stderr, said_in(run.stdout.decode())), (0, "", SAID))
        self.assert_complete(run)
        by_id = {span["id"]: span for span in run.kind("span")}
        found = {(span["name"], by_id[span["parent"]]["name"] if "parent" in span else None) for span in by_id.values()}
        self.assertEqual(found, {('outer "1"', None), ("inner", 'outer "1"'), *spans})
        self.assertEqual(by_id[1]["tags"], {"sample": "A7", "quote": '"\\\n', "empty": ""})
        self.assertEqual((by_id[1]["processes_total"], by_id[2]["processes_total"]), (2, 2))
        self.assertEqual([event["text"] for event in run.kind("event") if event["event"] == "mark"], ["half"])
        metrics = {line["name"]: (line["tags"], line["fields"]) for line in run.kind("metric")}
        self.assertEqual(metrics, {"mark, loss": ({}, {"value": -0.0625}), "tiny": ({}, {"value": 1e-300}), "queue": ({"kind": "a"}, {"length": 7}),
                                   "c d,x=1 v": ({}, {"value": 2}), "a/, b/": ({}, {"value": 3})})  # fmt: skip
        self.assertEqual(run.summary["pushed"], {"marks": 1, "metrics": METRICS, "dropped": 0, "refused": 0, "malformed": 0})
        self.check_outside(program)

    def check_outside(self, program):
        for variables in ({}, {"BPFMON_SPAN_SOCKET": ""}):
            done = subprocess.run([program], env=variables, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr, said_in(done.stdout)), (0, "", OUTSIDE))

    def test_of_a_program_in_c(self):
        self.check(truth("insider"), set())

    def test_marks_and_metrics_go_by_the_socket_of_marks_alone(self):
        run = self.run_bpfmon(["env", "-u", "BPFMON_SPAN_SOCKET", truth("insider")], ["-q", "--marks"])
        self.assertEqual(run.summary["pushed"], {"marks": 1, "metrics": METRICS, "dropped": 0, "refused": 0, "malformed": 0})
        self.assertEqual(run.kind("span"), [])

    @unittest.skipUnless(os.path.exists("/usr/share/i18n/locales/de_DE"), "needs locales: tools/install-deps.sh python")
    def test_and_where_numbers_have_a_comma(self):
        subprocess.run(["localedef", "-f", "UTF-8", "-i", "de_DE", self.dir / "de_DE.UTF-8"], check=True)
        program = str(self.dir / "insider")  # not static: that reads no locale
        subprocess.run(["cc", *C, *WARNINGS, SOURCE, "-o", program], check=True)
        env = {"LOCPATH": str(self.dir), "LC_ALL": "de_DE.UTF-8"}
        self.assertEqual(subprocess.run(["/usr/bin/printf", "%.1f", "1,5"], env=env, stdout=subprocess.PIPE, check=True).stdout, b"1,5")
        self.check(program, set(), env=env)

    @unittest.skipUnless(shutil.which("g++"), "needs g++: tools/install-deps.sh")
    def test_of_one_in_cpp_with_scopes(self):
        program = str(self.dir / "insider")
        subprocess.run(["g++", *CPP, *WARNINGS, SOURCE, "-o", program], check=True)
        self.check(program, {("scope", None), ("thrown through", "scope")})

    def test_a_run_that_is_gone_is_no_run(self):
        run = self.run_bpfmon(["sh", "-c", 'echo "$BPFMON_SPAN_SOCKET"'], ["-q"])
        variables = {"BPFMON_SPAN_SOCKET": run.stdout.decode().strip(), "BPFMON_MARK_SOCKET": "/nowhere/x"}
        done = subprocess.run([truth("insider")], env=variables, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, said_in(done.stdout)), (0, OUTSIDE | {"in_run": ["1"], "infinite": ["-22"], "refused": ["-22", "-22"]}))

    def test_it_is_installed_where_compilers_look(self):
        make("install", DESTDIR=self.dir, PREFIX="/usr")
        self.assertEqual((self.dir / "usr/include/bpfmon.h").read_text(), HEADER.read_text())
        package = self.dir / "usr/share/bpfmon/python"
        names = {path.name for path in (TOP / "tools/python/bpfmon").glob("*.py")} | {"py.typed"}
        self.assertEqual({path.name for path in (package / "bpfmon").iterdir()}, names)
        make("uninstall", DESTDIR=self.dir, PREFIX="/usr")
        self.assertFalse(package.exists())
