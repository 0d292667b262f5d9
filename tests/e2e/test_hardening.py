# SPDX-License-Identifier: BSD-2-Clause
"""The program is built with what the compiler has against mistakes of ours."""

import subprocess
import unittest

from lib.bpfmon import BPFMON


class Hardening(unittest.TestCase):
    def said(self, *argv):
        return subprocess.run([*argv, BPFMON], stdout=subprocess.PIPE, text=True, check=True).stdout

    def test_it_is_at_a_random_address_and_its_tables_are_read_only(self):
        headers = self.said("readelf", "-hldW")
        self.assertRegex(headers, r"Type: +DYN")
        self.assertIn("GNU_RELRO", headers)
        self.assertIn("BIND_NOW", headers)
        self.assertRegex(headers, r"GNU_STACK .* RW ")

    def test_stack_and_buffers_are_checked(self):
        symbols = self.said("readelf", "--dyn-syms", "-W")
        self.assertIn("__stack_chk_fail", symbols)
        self.assertIn("__snprintf_chk", symbols)
