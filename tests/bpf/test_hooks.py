# SPDX-License-Identifier: BSD-2-Clause
"""Nothing is attached where it would cost much: only births, execs, ends, address spaces that are
given back and OOM kills call us."""

import json
import os
import pathlib
import re
import subprocess
from collections import Counter

from lib.account import AccountCase

ALONE = True

BPFTOOL = "/usr/sbin/bpftool"
ALLOWED = {
    "task_newtask",
    "sched_process_fork",
    "sched_process_exec",
    "sched_process_exit",
    "sched_process_free",
    "sched_prepare_exec",
    "exit_mmap",
    "mark_victim",
}
NEEDED = ALLOWED - {"sched_prepare_exec", "exit_mmap", "mark_victim"}
MOST = Counter([*ALLOWED, "sched_process_exit"])  # the second one, which may be refused, sets a timer


def bpftool(*what):
    done = subprocess.run([BPFTOOL, "-j", *what], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def link_ids(pid):
    """The ids of the BPF links that a process has open, by /proc."""
    found = set()
    for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            found |= {int(n) for n in re.findall(r"^link_id:\s*(\d+)", info.read_text(), re.M)}
        except OSError:
            continue
    return found


def descendants(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for child in map(int, children):
        yield child
        yield from descendants(child)


class Hooks(AccountCase):
    def attached(self, live):
        """The links of the processes of a run: a list of what bpftool says of each."""
        ids = set()
        for pid in [live.process.pid, *descendants(live.process.pid)]:
            ids |= link_ids(pid)
        return [link for link in bpftool("link", "list") if link["id"] in ids]

    def check(self, options):
        if not os.path.exists(BPFTOOL):
            self.skipTest(f"needs {BPFTOOL}: tools/install-deps.sh")
        with self.running(["cat"], ["-i", "0.02", *options]) as live:
            live.until(lambda: live.lines("sample"))
            links = self.attached(live)
            live.finish()
        hooks = [link["tp_name"] for link in links if link["type"] == "raw_tracepoint"]
        iterators = [link["target_name"] for link in links if link["type"] == "iter"]
        self.assertEqual(len(hooks) + len(iterators), len(links), links)
        self.assertEqual(Counter(hooks) - MOST, Counter())
        self.assertGreaterEqual(set(hooks), NEEDED)
        self.assertEqual(set(iterators), {"task"})

    def test_a_plain_run(self):
        self.check([])

    def test_a_run_that_repairs(self):
        self.check(["--inject-misses", "100"])
