# SPDX-License-Identifier: BSD-2-Clause
"""tools/check-names.py on small trees: which names it reports, and what is no name."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SAMPLED = True
TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check-names.py"


class Names(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bpfmon-names-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tools").mkdir()
        shutil.copy(TOOL, self.root / "tools")

    def reported(self, sources):
        """The tool's lines for a tree of these sources, by path."""
        for path, text in sources.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)
        done = subprocess.run([sys.executable, self.root / "tools" / TOOL.name],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 1 if done.stdout else 0)
        return done.stdout.splitlines()

    def test_a_name_in_two_files_is_reported_at_both_places(self):
        lines = self.reported({
            "user/a/one.c": "static void row_put(void)\n{\n}\n",
            "bpf/two.bpf.c": "\nint row_put(struct row *r,\n\t    int n)\n{\n\treturn n;\n}\n",
        })
        self.assertEqual(lines, [
            "bpf/two.bpf.c:2: row_put() is defined more than once: user/a/one.c:1",
            "user/a/one.c:1: row_put() is defined more than once: bpf/two.bpf.c:2",
        ])

    def test_a_name_in_both_branches_of_an_if_is_one(self):
        body = "static int row_put(void)\n{\n\treturn 0;\n}\n"
        self.assertEqual(self.reported({"user/a/one.c": f"#if A\n{body}#else\n{body}#endif\n"}), [])

    def test_a_name_of_one_word_is_reported_unless_it_is_main(self):
        lines = self.reported({
            "user/a/one.c": "__attribute__((noinline)) static bool put_(int (*of)(void))\n{\n}\n"
                            "int main(void)\n{\n}\n",
        })
        self.assertEqual(lines, ["user/a/one.c:1: put_() is one word, not noun_verb()"])

    def test_names_of_jansson_are_reported(self):
        lines = self.reported({
            "include/a.h": "struct json_row {\n\tint n;\n};\ntypedef int json_count;\n"
                           "static inline void json_put(json_t *j)\n{\n}\n",
        })
        self.assertEqual([line.split(": ", 1)[1] for line in lines], [
            "the type json_row has a name of jansson's",
            "the type json_count has a name of jansson's",
            "json_put() has a name of jansson's",
        ])

    def test_a_bpf_program_has_the_name_in_its_macro(self):
        text = 'SEC("?tp_btf/oom")\nint BPF_PROG(kills, struct task_struct *task)\n{\n}\n'
        self.assertEqual(self.reported({"bpf/oom.bpf.c": text}),
                         ["bpf/oom.bpf.c:2: kills() is one word, not noun_verb()"])

    def test_what_is_no_definition_is_not_reported(self):
        self.assertEqual(self.reported({
            "user/a/one.c": "/* void put(void)\n{ */\n"
                            "#define ROW(name)\\\n\tvoid name(void) \\\n\t{ }\n"
                            "void get(void);\n"
                            "static const struct row rows[] = { ROW(put), { take(1) } };\n"
                            "static void row_print(void)\n{\n\tif (take('{'))\n\t\tputs(\"{\\\"\");\n}\n",
        }), [])

    def test_a_function_that_no_other_file_uses_is_reported(self):
        lines = self.reported({
            "user/a/one.h": "int row_put(void);\nint row_get(void);\nint row_take(void);\nint row_test(void);\n",
            "user/a/one.c": "int row_put(void)\n{\n}\nint row_get(void)\n{\n\treturn row_put();\n}\n"
                            "int row_take(void)\n{\n}\n/* row_test() */\nint row_test(void)\n{\n}\n",
            "user/a/two.c": "#define TAKE row_take()\n/* row_get(), row_put() */\n",
            "tests/unit/test_one.c": "int main(void)\n{\n\treturn row_test();\n}\n",
        })
        self.assertEqual(lines, [
            "user/a/one.c:1: row_put() is public, and no other file uses it",
            "user/a/one.c:4: row_get() is not used",
        ])

    def test_a_file_with_more_than_30_public_functions_is_reported(self):
        files = {}
        for count, name in ((30, "few"), (31, "many")):
            names = [f"{name}_{i}" for i in range(count)]
            files[f"user/a/{name}.c"] = "".join(f"void {n}(void)\n{{\n}}\n" for n in names)
            files[f"tests/unit/{name}.c"] = f"int main(void)\n{{\n{''.join(f'{n}();' for n in names)}\n}}\n"
        self.assertEqual(self.reported(files), ["user/a/many.c:1: 31 public functions: more than 30 are no interface of one module"])

    def test_the_tree_has_none_where_names_are_held(self):
        done = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
