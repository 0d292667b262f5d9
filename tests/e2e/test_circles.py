# SPDX-License-Identifier: BSD-2-Clause
"""tools/check-circles.py on small trees: which files it reports as a circle."""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

NEEDS = ()
TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check-circles.py"


class Circles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bpfmon-circles-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tools").mkdir()
        shutil.copy(TOOL, self.root / "tools")

    def compile(self, sources):
        for name, text in sources.items():
            source, made = self.root / "user" / name, self.root / "build/user" / name
            for path in (source, made):
                path.parent.mkdir(parents=True, exist_ok=True)
            source.write_text(text)
            subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-c", source, "-o", made.with_suffix(".o")], check=True)

    def run_tool(self, *options):
        return subprocess.run([sys.executable, self.root / "tools" / TOOL.name, *options],
                              env=os.environ | {"BUILD": "build"}, capture_output=True, text=True, check=False)

    def reported(self, sources):
        """The tool's lines for the files of user/ with these contents, by name."""
        self.compile(sources)
        done = self.run_tool()
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 1 if done.stdout else 0)
        return done.stdout.splitlines()

    def test_two_files_that_call_each_other_are_reported(self):
        self.assertEqual(self.reported({
            "a/one.c": "int two(void);\nint one(void) { return two() + 1; }\n",
            "a/two.c": "int one(void);\nint two(void) { return one() + 1; }\n",
            "a/three.c": "int one(void);\nint three(void) { return one() + 1; }\n",
        }), ["2 files in a circle: user/a/one.c user/a/two.c"])

    def test_a_longer_circle_is_one_group(self):
        self.assertEqual(self.reported({
            "a/one.c": "int two(void);\nint one(void) { return two() + 1; }\n",
            "a/two.c": "int three(void);\nint four(void);\nint two(void) { return three() + four(); }\n",
            "b/three.c": "int one(void);\nint three(void) { return one() + 1; }\n",
            "b/four.c": "int two(void);\nint four(void) { return two() + 1; }\n",
        }), ["4 files in a circle: user/a/one.c user/a/two.c user/b/four.c user/b/three.c"])

    def test_calls_in_one_direction_are_no_circle(self):
        self.assertEqual(self.reported({
            "a/one.c": "int two(void);\nint three(void);\nint one(void) { return two() + three(); }\n",
            "a/two.c": "int three(void);\nint two(void) { return three() + 1; }\n",
            "a/three.c": "int three(void) { return 3; }\n",
        }), [])

    def test_a_table_of_functions_may_name_files_that_read_it(self):
        self.assertEqual(self.reported({
            "a/table.c": "int one(void);\nint (*const rows[])(void) = { one };\n",
            "a/one.c": "extern int (*const rows[])(void);\nint one(void) { return rows[0] == one; }\n",
        }), [])

    def test_a_variable_counts_as_a_function_does(self):
        self.assertEqual(self.reported({
            "a/one.c": "extern int count;\nint one(void) { return count; }\n",
            "a/two.c": "int count;\nint one(void);\nint two(void) { return one(); }\n",
        }), ["2 files in a circle: user/a/one.c user/a/two.c"])

    def test_static_functions_of_the_same_name_are_no_circle(self):
        text = "static int helper(int n) { return n + 1; }\nint %s(int n) { return helper(n); }\n"
        self.assertEqual(self.reported({"a/one.c": text % "one", "a/two.c": text % "two"}), [])

    def test_programs_that_each_have_a_main_are_no_circle(self):
        self.assertEqual(self.reported({
            "a/main.c": "int one(void);\nint main(void) { return one(); }\n",
            "a/one.c": "int main(void);\nint one(void) { return main(); }\n",
            "b/main.c": "int one(void);\nint main(void) { return one(); }\n",
        }), [])

    def test_a_list_with_edges_says_which_symbols_close_the_circle(self):
        self.compile({
            "a/one.c": "int two(void);\nint one(void) { return two() + 1; }\n",
            "a/two.c": "int one(void);\nint two(void) { return one() + 1; }\n",
        })
        done = self.run_tool("--list", "--edges")
        self.assertEqual((done.returncode, done.stdout.splitlines()), (0, [
            "2 files in a circle: user/a/one.c user/a/two.c",
            "\tuser/a/one.c needs of user/a/two.c: two",
            "\tuser/a/two.c needs of user/a/one.c: one",
            "1 groups, 2 files of 2",
        ]))

    def test_a_file_that_was_not_built_is_an_error(self):
        (self.root / "user").mkdir()
        (self.root / "user/new.c").write_text("")
        done = self.run_tool()
        self.assertEqual((done.returncode, done.stderr), (1, "build/user/new.o is missing: run make first\n"))
