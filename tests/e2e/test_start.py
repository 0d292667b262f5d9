# SPDX-License-Identifier: BSD-2-Clause
"""The start: programs are loaded by several threads or by one, and the kernel's types are read once."""

import errno
import json
import mmap
import os
import pathlib

from lib.faults import COLLECTOR, Faulty
from lib.live import LiveCase

TYPES = pathlib.Path("/sys/kernel/btf/vmlinux")
RUN = ["--no-store", "-o", "out.jsonl", "--", "sh", "-c", "(exit 3); exit 7"]


def types_can_be_mapped():
    """From Linux 6.16 on: then no byte of them is read."""
    with TYPES.open("rb") as file:
        try:
            mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE).close()
        except OSError:
            return False
        return True


class Start(LiveCase):
    def assert_whole(self, got):
        self.assertEqual(got.code, 7, got.stderr)
        summary = json.loads(got.files["out.jsonl"].splitlines()[-1])
        self.assertEqual((summary["kind"], summary["complete"], summary["execs"]), ("summary", True, 1))

    def test_types_of_the_kernel_are_read_no_more_than_once(self):
        live = self.live(["sleep", "60"])
        collector = live.roles()[0]
        read = int(pathlib.Path(f"/proc/{collector}/io").read_text().split()[1])
        size = os.stat(TYPES).st_size
        self.assertLess(read, size / 2 + (0 if types_can_be_mapped() else size))

    def test_programs_load_where_no_thread_can_be_started(self):
        got = Faulty(self.dir, RUN).run("pthread_create", process=COLLECTOR, error=errno.EAGAIN, number=0)
        self.assert_whole(got)
        if len(os.sched_getaffinity(0)) > 1:
            self.assertTrue(got.has_failed, "no thread was to be started")

    def test_one_cpu_starts_no_thread(self):
        one = {min(os.sched_getaffinity(0))}
        got = Faulty(self.dir, RUN).run("pthread_create", process=COLLECTOR, preexec_fn=lambda: os.sched_setaffinity(0, one))
        self.assert_whole(got)
        self.assertFalse(got.has_failed)
