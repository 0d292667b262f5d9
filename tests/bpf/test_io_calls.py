# SPDX-License-Identifier: BSD-2-Clause
"""Which calls are in rchar, wchar, syscr and syscw: the kernel has its say, and METRICS.md repeats it."""

import re
import subprocess

from lib.account import AccountCase, read_json
from lib.bpfmon import TOP, truth

COUNTERS = ("rchar_bytes", "wchar_bytes", "syscr", "syscw")


def documented():
    """The rows of the table: the names of calls, and what one of 8192 bytes is in each counter."""
    text = (TOP / "docs" / "METRICS.md").read_text()
    (table,) = re.findall(r"\| Calls \| `rchar_bytes` .*\n\|[-|]+\n((?:\|.*\n)+)", text)
    for row in table.splitlines():
        calls, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        yield re.findall(r"`(\w+)`", calls), [{"its bytes": 8192, "1": 1, "0": 0}[cell] for cell in cells]


class Calls(AccountCase):
    def test_the_table_says_of_each_call_what_the_kernel_counts(self):
        said = self.dir / "calls.json"
        subprocess.run([truth("iocalls"), str(self.dir)], env={"TRUTH_OUT": str(said)}, timeout=60, check=True)
        witness = read_json(said)
        self.assertEqual(witness["bytes"], 8192)
        rows = {name: counted for names, counted in documented() for name in names}
        for call, counted in witness["calls"].items():
            with self.subTest(call=call):
                expected = rows[call.split()[0]]
                if call == "read at the end":
                    expected = [0, 0, 1, 0]  # a call all the same
                self.assertEqual(counted, expected)
        measured = {call.split()[0] for call in witness["calls"]}
        lacking = set(rows) - measured
        self.assertLessEqual(lacking, {"io_uring", "io_submit"})
        if lacking:
            self.skipTest(f"the kernel lacks or forbids {lacking}; all other calls count as documented")

    def test_what_workers_of_io_uring_write_is_in_what_goes_to_storage(self):
        run = self.run_bpfmon([truth("iouring"), "160", str(self.dir)])
        self.skip_if_lacking(run)
        process = self.only(run.processes)
        self.assertLess(max(process[key] for key in COUNTERS), 65536)  # less than one of its blocks
        self.assertGreaterEqual(process["write_bytes"], 1 << 20)

    def test_what_the_kernel_reads_of_a_program_is_in_rchar(self):
        run = self.run_bpfmon(["sh", "-c", f"{truth('exitwith')} 7; exit 0"])
        child = self.only(p for p in run.processes if p["comm"] == "exitwith")
        self.assertGreater(child["syscr"], 0)  # itself it reads nothing
        self.assertGreater(child["rchar_bytes"], 0)
