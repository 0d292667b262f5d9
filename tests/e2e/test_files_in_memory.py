# SPDX-License-Identifier: BSD-2-Clause
"""Files in memory, which no process maps: named where no cgroup that holds the run alone has them."""

import os
import subprocess
import threading

from lib.bpfmon import Case

MIB = 1 << 20
ALONE = True  # what is known of them is of the whole machine: others that remove some would hide these


class FilesInMemory(Case):
    def beside(self):
        """A process that is none of the run's in the cgroup that it is in: then that is no witness."""
        process = subprocess.Popen(["sleep", "600"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    def test_files_in_memory_are_named_where_no_cgroup_has_them(self):
        self.beside()
        file = self.dir / "size"
        script = f'f=/dev/shm/needed$$; dd if=/dev/zero of=$f bs=1M count=100 status=none; stat -c "%b %B" $f >{file}; sleep 1; rm $f'
        run = self.run_bpfmon(["sh", "-c", script], ["-i", "0.1"])
        blocks, size = map(int, file.read_text().split())
        s = run.summary
        self.assertLess(s["memory_needed_bytes"], 20 * MIB)
        self.assertGreaterEqual(s["memory_unmapped_bytes"], 0.97 * blocks * size)
        self.assertLessEqual(s["memory_unmapped_bytes"], s["wchar_bytes"] + s["rss_peak_bytes"])
        self.assertRegex(run.stderr, r"request +at least .* without up to [\d.]+ MiB of files in memory\)")
        self.assertRegex(run.stderr, r"besides up to [\d.]+ MiB of files in memory \(tmpfs, memfd\) on this machine")
        run = self.run_bpfmon(["sh", "-c", script], ["-i", "0.1", "--own-cgroup"])
        self.assertNotIn("memory_unmapped_bytes", run.summary)
        self.assertNotIn("files in memory", run.stderr)

    def test_files_in_memory_of_others_are_none_of_the_run(self):
        self.beside()
        file = f"/dev/shm/needed-{os.getpid()}"
        self.addCleanup(subprocess.run, ["rm", "-f", file], check=True)
        fill = threading.Timer(0.5, lambda: subprocess.run(["dd", "if=/dev/zero", f"of={file}", "bs=1M", "count=50", "status=none"], check=True))
        fill.start()
        run = self.run_bpfmon(["sleep", "2"], ["-i", "0.1"])
        fill.join()
        self.assertNotIn("memory_unmapped_bytes", run.summary)
