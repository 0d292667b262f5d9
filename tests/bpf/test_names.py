# SPDX-License-Identifier: BSD-2-Clause
"""Whatever names and arguments are made of, the output can be read and says what they were."""

import csv
import json
import os
import shutil

from lib.account import AccountCase, plain_kinds
from lib.bpfmon import truth

ODD = [
    b"plain",
    b"with space",
    b'"quotes" and \'more\'',
    b"new\nline and \t tab",
    b"back\\slash \\n",
    b"",
    b"\x01\x1b[31m\x7f",
    "Grüße \u2028 \U0001f600".encode(),
    b"{\"kind\":\"summary\"}",
]


class Comms(AccountCase):
    def check(self, name):
        run = self.run_bpfmon([truth("names"), name.hex()])
        self.assert_complete(run)
        kernels = bytes.fromhex(run.witness["comm_hex"])
        self.assertEqual(kernels, name)
        parents = {p["pid"] for p in run.processes}
        child = self.only(p for p in run.processes if p["ppid"] in parents)
        self.assertEqual(child["comm"], kernels.decode(errors="replace"))
        try:
            name.decode()
            self.assertNotIn("lossy", child)
        except UnicodeDecodeError:
            self.assertIs(child["lossy"], True)

    def test_a_name_with_parentheses(self):
        self.check(b"a) S 1 (b) R")

    def test_a_name_with_a_space_and_a_newline(self):
        self.check(b"a b\nc\td")

    def test_a_name_with_quotes_and_backslashes(self):
        self.check(b'"\\n\\" \'')

    def test_a_name_in_utf_8(self):
        self.check("Käse \u20ac".encode())

    def test_a_name_that_is_not_utf_8(self):
        self.check(b"a\xffb\xfec")

    def test_a_name_of_control_characters(self):
        self.check(b"\x01\x02\x1b\x7f")


class Arguments(AccountCase):
    def run_with(self, args, options=()):
        run = self.run_bpfmon([truth("execnames"), *args], options)
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        return run

    def test_odd_arguments_are_kept(self):
        for args in (ODD, [*ODD, b""], [b""], [b"", b""], []):
            with self.subTest(args=args):
                run = self.run_with(args)
                expected = [truth("execnames"), *(arg.decode() for arg in args)]
                self.assertEqual(run.meta["command"], expected)
                process = self.only(run.processes)
                self.assertEqual(process["args"], expected)
                self.assertNotIn("args_cut", process)
                self.assertFalse([line for line in run.lines if line.get("lossy")])

    def test_arguments_that_are_not_utf_8_are_shown_and_marked(self):
        run = self.run_with([b"a\xffb", os.fsencode("c\udcfed"), b"\xc3", b"good"])
        expected = [truth("execnames"), "a\ufffdb", "c\ufffdd", "\ufffd", "good"]
        for line, key in ((run.meta, "command"), (self.only(run.processes), "args")):
            self.assertEqual(line[key], expected)
            self.assertIs(line["lossy"], True)
        self.assertNotIn("lossy", run.summary)

    def test_an_argument_of_a_hundred_kilobytes_is_cut_and_marked(self):
        long = b"0123456789" * 10_000
        run = self.run_with([b"short", long, b"after"])
        self.assertEqual(run.meta["command"][2], long.decode())
        process = self.only(run.processes)
        self.assertIs(process["args_cut"], True)
        self.assertEqual(process["args"][:2], [truth("execnames"), "short"])
        self.assertEqual(len(process["args"]), 3)
        self.assertGreater(len(process["args"][2]), 1000)
        self.assertTrue(long.decode().startswith(process["args"][2]))

    def test_ten_thousand_arguments_are_cut_and_marked(self):
        args = [str(i).encode() for i in range(10_000)]
        process = self.only(self.run_with(args).processes)
        self.assertIs(process["args_cut"], True)
        whole = [truth("execnames"), *(arg.decode() for arg in args)]
        self.assertGreater(len(process["args"]), 100)
        self.assertEqual(process["args"][:-1], whole[: len(process["args"]) - 1])

    def test_the_path_of_an_odd_executable(self):
        for name in (b"odd name\n\"x\"", b"odd\xffname"):
            with self.subTest(name=name):
                path = os.fsencode(self.dir) + b"/" + name
                shutil.copy(truth("execnames"), path)
                process = self.only(self.run_bpfmon([path]).processes)
                self.assertEqual(process["exe"], path.decode(errors="replace"))
                self.assertEqual("lossy" in process, b"\xff" in name)

    def test_without_arguments_they_are_nowhere(self):
        secret = "password-4711"
        run = self.run_with([secret], ["--no-args"])
        self.assertNotIn("command", run.meta)
        self.assertNotIn("args", self.only(run.processes))
        self.assertNotIn(secret, json.dumps(run.lines) + run.stderr)
        with_args = self.run_with([secret])
        self.assertIn(secret, json.dumps(with_args.lines))

    def test_csv_keeps_its_columns(self):
        path = self.dir / "run.csv"
        self.run_with([*ODD, b"a,b", b"\xff"], ["-o", f"csv:{path}", "-i", "0.01"])
        with open(path, encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        self.assertEqual(header, ["time", "elapsed_seconds", *plain_kinds()])
        self.assertGreaterEqual(len(rows), 2)
        for row in rows:
            self.assertEqual(len(row), len(header))
            for cell in row:
                self.assertTrue(cell == "" or float(cell) >= 0, row)
