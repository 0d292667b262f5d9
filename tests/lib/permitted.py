# SPDX-License-Identifier: BSD-2-Clause
"""What tests need of the machine, and what of that this process is not permitted.

A test says so in one of these places, the first of which counts: @needs(...) of the test, or of its class; NEEDS = (...)
of its module; what a Case needs where nothing is said, ROOT and BPF. Others, of unittest.TestCase, need nothing.

The kernel is asked, not bpfmon: where BPF is there and bpfmon does not find it, tests have to fail.
"""

import ctypes
import functools
import os
import platform
import sys

ROOT = "root"
BPF = "BPF"
MARK = "needs_of_machine"

BPF_CALL = {"x86_64": 321, "aarch64": 280}
BPF_PROG_LOAD = 5
RAW_TRACEPOINT = 17
RETURN_0 = b"\xb7\0\0\0\0\0\0\0" + b"\x95\0\0\0\0\0\0\0"


class Load(ctypes.Structure):
    """The beginning of union bpf_attr, for BPF_PROG_LOAD; all behind it is 0."""

    _fields_ = [("type", ctypes.c_uint32), ("length", ctypes.c_uint32), ("code", ctypes.c_uint64), ("license", ctypes.c_uint64)]


@functools.cache
def why_no_bpf():
    """Why the kernel loads no program for this process; None: it does."""
    libc = ctypes.CDLL(None, use_errno=True)
    code, gpl = ctypes.create_string_buffer(RETURN_0), ctypes.create_string_buffer(b"GPL")
    load = Load(RAW_TRACEPOINT, len(RETURN_0) // 8, ctypes.addressof(code), ctypes.addressof(gpl))
    fd = libc.syscall(BPF_CALL[platform.machine()], BPF_PROG_LOAD, ctypes.byref(load), ctypes.sizeof(load))
    if fd < 0:
        return os.strerror(ctypes.get_errno())
    os.close(fd)
    return None if os.path.exists("/sys/kernel/btf/vmlinux") else "the kernel has no BTF"


def needs(*what):
    """Marks a test, or a class, as one that needs this, unlike others of its module."""

    def mark(marked):
        setattr(marked, MARK, what)
        return marked

    return mark


def lacking(test):
    """What the test needs and cannot have here, in words; None: it can be run."""
    method = getattr(test, test.id().rpartition(".")[2], None)
    module = sys.modules[type(test).__module__]
    places = ((method, MARK), (test, MARK), (module, "NEEDS"), (test, "needs_usually"))
    wanted = next((getattr(place, name) for place, name in places if hasattr(place, name)), ())
    if ROOT in wanted and os.geteuid() != 0:
        return ROOT
    if BPF in wanted and why_no_bpf():
        return f"{BPF} ({why_no_bpf()})"
    return None
