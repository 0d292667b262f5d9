# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon why: a process that waits names the GPUs that it has open."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.bpfmon import BPFMON
from lib.live import wait_for
from lib.permitted import BPF, ROOT, needs

# files at the places of GPUs, which only the process sees: the machine needs none
HOLDS_GPUS = ("mount -t tmpfs none /dev && cd /dev && touch nvidia0 nvidia1 nvidiactl && "
              "exec sleep 1000 0<>nvidia0 3<>nvidia0 4<>nvidiactl 5<>nvidia1")


def why(*words):
    return subprocess.run([BPFMON, "why", *map(str, words)], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=60).stdout


class Gpus(unittest.TestCase):
    def hold(self):
        holder = subprocess.Popen(["unshare", "-m", "sh", "-c", HOLDS_GPUS], stdin=subprocess.DEVNULL)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        wait_for(lambda: pathlib.Path(f"/proc/{holder.pid}/comm").read_text() == "sleep\n", "sleep")
        return holder.pid

    @needs(ROOT, BPF)  # it mounts, which a root without BPF mostly cannot
    def test_a_process_that_waits_names_the_gpus_that_it_has_open(self):
        pid = self.hold()
        found = json.loads(why("--json", pid))["processes"][0]
        self.assertEqual(sorted(found["gpu_files"]), ["/dev/nvidia0", "/dev/nvidia1"])
        self.assertRegex(why(pid), rf"(?m)^GPUs: {pid} sleep holds /dev/nvidia[01] and /dev/nvidia[01] open$")

    @needs()
    def test_a_process_without_gpus_has_no_word_about_them(self):
        with subprocess.Popen(["sleep", "1000"]) as idle:
            self.addCleanup(idle.kill)
            said = why("--json", idle.pid) + why(idle.pid)
            idle.kill()
        self.assertNotIn("gpu", said.lower())


if __name__ == "__main__":
    unittest.main()
