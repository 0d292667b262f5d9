# SPDX-License-Identifier: BSD-2-Clause
"""The programs are built with what the compiler has against mistakes of ours."""

import os
import pathlib
import platform
import re
import subprocess
import tempfile
import unittest

from lib.bpfmon import BUILD, TOP

PROGRAMS = [str(BUILD / name) for name in ("bpfmon", "bpfmon-exporter", "bpfmon-push", "bpfmon-top", "bpfmon-web", "libexec/bash")]
IS_X86 = platform.machine() == "x86_64"
# the flag; what an object is marked with; the instruction that a function begins with, to which a call may jump
BRANCHES = {
    "x86": ("-fcf-protection", {"IBT", "SHSTK"}, "endbr64"),
    "arm64": ("-mbranch-protection=standard", {"BTI", "PAC"}, "paciasp|bti"),
}


def said(*argv, **also):
    return subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True, **also).stdout


def marks(path):
    """What the notes of an object or a program say of its branches."""
    features = re.findall(r"(?:x86|AArch64) feature: (.*)", said("readelf", "-nW", str(path)))
    return {word for line in features for word in re.findall(r"\w+", line)}


class Hardening(unittest.TestCase):
    def test_programs_are_at_random_addresses_and_their_tables_are_read_only(self):
        for program in PROGRAMS:
            headers = said("readelf", "-hldW", program)
            self.assertRegex(headers, r"Type: +DYN", program)
            self.assertIn("GNU_RELRO", headers, program)
            self.assertIn("BIND_NOW", headers, program)
            self.assertRegex(headers, r"GNU_STACK .* RW ", program)

    def test_stack_and_buffers_are_checked(self):
        for program in PROGRAMS:
            symbols = said("readelf", "-sW", program)
            self.assertIn("__stack_chk_fail", symbols, program)
            self.assertRegex(symbols, r"__v?snprintf_chk\b", program)

    def test_each_architecture_has_its_flag_against_diverted_branches(self):
        environment = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
        for arch, (flag, _, _) in BRANCHES.items():
            words = ["V=1", f"ARCH={arch}", "BUILD=build/none", "build/none/user/lib/base/text.o"]
            commands = said("make", "-n", "-C", str(TOP), *words, env=environment)
            self.assertIn(f" {flag} ", commands, arch)

    def test_branches_lead_to_where_functions_begin(self):
        """
        A program is marked only if all that is linked is, the C library's first object as well; where that is not,
        each object of ours is marked still.
        """
        flag, wanted, first = BRANCHES["x86" if IS_X86 else "arm64"]
        with tempfile.TemporaryDirectory() as folder:
            source, plain = pathlib.Path(folder, "plain.c"), pathlib.Path(folder, "plain")
            source.write_text("int main(void) { return 0; }\n")
            possible = {}
            for way in ("-pie", "-static-pie"):
                subprocess.run(["cc", flag, "-fPIE", way, "-o", plain, source], check=True)
                possible[way] = marks(plain) & wanted
        for program in PROGRAMS:
            way = "-pie" if "INTERP" in said("readelf", "-lW", program) else "-static-pie"
            code = said("objdump", "-d", "--no-show-raw-insn", "--disassemble=main", program)
            self.assertRegex(code, rf"<main>:\n\s+[0-9a-f]+:\s+({first})\b", program)
            self.assertLessEqual(possible[way], marks(program), program)
        objects = list(BUILD.glob("user/**/*.o"))
        self.assertTrue(objects)
        for path in objects:
            self.assertLessEqual(wanted, marks(path), path)
