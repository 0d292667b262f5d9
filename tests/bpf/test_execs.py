# SPDX-License-Identifier: BSD-2-Clause
"""What is executed has a name, what fails to be executed is no exec, and bpfmon's own part does not count."""

import os
import struct
import sys

from lib.account import AccountCase
from lib.bpfmon import truth

MACHINES = {"x86_64": 62, "aarch64": 183}

IN_MEMORY = """
import os, sys
fd = os.memfd_create("payload", os.MFD_CLOEXEC)
os.write(fd, open(sys.argv[1], "rb").read())
os.execve(fd, ["payload"], {})
"""
FAILING = """
import os, sys
pid = os.fork()
if not pid:
    os.execv(sys.argv[1], sys.argv[1:])
assert os.WIFSIGNALED(os.waitpid(pid, 0)[1])
"""
SMALL = """
import os, resource, sys
pid = os.fork()
if not pid:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 16, 1 << 16))
    os.execv(sys.argv[1], sys.argv[1:])
assert os.WIFSIGNALED(os.waitpid(pid, 0)[1])
"""


def elf_that_cannot_be_mapped():
    """Its one segment is where no program may be: the kernel finds out when the old image is gone."""
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 2, MACHINES[os.uname().machine], 1, 0x400000, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0xFFFF800000000000, 0, 4096, 4096, 4096)
    return header + segment + bytes(4096)


class Execs(AccountCase):
    HAS_OWN_BOOKS = True

    def python(self, script, *args):
        run = self.run_bpfmon([sys.executable, "-c", script, *map(str, args)])
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        return run

    def test_a_program_that_is_in_memory_only_has_the_name_that_proc_shows(self):
        run = self.python(IN_MEMORY, truth("execnames"))
        self.assertEqual(run.processes[-1]["exe"], "/memfd:payload")

    def check_failing(self, run):
        failed = self.only(p for p in run.processes if p["signal"])
        self.assertEqual(failed["execs"], 0)
        self.assertIsNotNone(failed["exe"])
        caller = self.only(p for p in run.processes if p["pid"] == failed["ppid"])
        self.assertEqual(failed["exe"], caller["exe"])
        self.assertEqual(run.summary["execs"], caller["execs"])
        if self.HAS_OWN_BOOKS:
            self.assertEqual(run.summary["self"]["repaired"], 0)

    def test_an_exec_that_fails_when_the_old_image_is_gone(self):
        path = self.dir / "unmappable"
        path.write_bytes(elf_that_cannot_be_mapped())
        path.chmod(0o755)
        self.check_failing(self.python(FAILING, path))

    def test_an_exec_that_has_no_room_for_the_new_image(self):
        self.check_failing(self.python(SMALL, truth("exitwith"), "0"))

    def test_what_bpfmon_does_before_the_exec_is_not_the_commands(self):
        """The same program as a child of another: what it reads and faults is the same, give or take what fork copied."""
        direct = self.only(self.run_bpfmon([truth("exitwith"), "0"]).processes)
        run = self.run_witnessed([truth("exitwith"), "0"])
        child = self.only(p for p in run.processes if p["comm"] == "exitwith")
        for key in ("rchar_bytes", "syscr", "wchar_bytes", "syscw"):
            self.assertEqual(direct[key], child[key], key)
        self.assertLessEqual(direct["minflt"], child["minflt"] + 6)
        self.assertEqual(direct["execs"], 1)
