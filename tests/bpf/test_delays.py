# SPDX-License-Identifier: BSD-2-Clause
"""How long threads waited for disk and memory: what the kernel says over netlink; absent where it was not told to keep it."""

import gzip
import os
import pathlib
import subprocess
import sys

from lib.account import DELAYS_SWITCH, kept_delays, metric_kinds
from lib.bpfmon import BPFMON, truth
from lib.cgroups import CgroupCase
from lib.taskstats import Unavailable, delays_of

SAMPLED = True
ALONE = True  # the switch is of the whole machine
KEYS = {key for key, (group, _) in metric_kinds().items() if group == "delay"}
LIMIT = 24 << 20

# Works, says so, and lives on until its input ends. Its last words are a system call: nothing is read for them.
WORKER = """
import mmap, os, sys
path, said = sys.argv[1:]
def done():
    file = os.open(said + ".new", os.O_WRONLY | os.O_CREAT)
    os.write(file, b"%d" % os.getpid())
    os.rename(said + ".new", said)
    while os.read(0, 1): pass
    os._exit(0)
"""

DIRECT = WORKER + """
block, file = mmap.mmap(-1, 1 << 16), os.open(path, os.O_RDONLY | os.O_DIRECT)
for _ in range(2):
    os.lseek(file, 0, 0)
    while os.readv(file, [block]): pass
done()
"""

COPIER = WORKER + """
held = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
held.madvise(mmap.MADV_NOHUGEPAGE)
for i in range(0, len(held), 4096): held[i] = 1
if os.fork():
    os.wait()
    os._exit(0)
for i in range(0, len(held), 4096): held[i] = 2
done()
"""

# More than there is memory for: what is read again has been dropped.
CACHED = WORKER + """
file = os.open(path, os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
for _ in range(4):
    for at in range(0, 40 << 20, 1 << 16): os.pread(file, 1 << 16, at)
done()
"""


class DelayCase(CgroupCase):
    def setUp(self):
        super().setUp()
        if not DELAYS_SWITCH.exists():
            self.skipTest("the kernel has no kernel.task_delayacct (5.14, CONFIG_TASK_DELAY_ACCT)")
        self.addCleanup(DELAYS_SWITCH.write_text, DELAYS_SWITCH.read_text())

    def switch(self, value):
        DELAYS_SWITCH.write_text(f"{value}\n")

    def big_file(self):
        path = pathlib.Path(os.environ.get("TMPDIR", "/var/tmp")) / f"bpfmon-test-{os.getpid()}"
        self.addCleanup(path.unlink)
        with open(path, "wb") as file:
            for _ in range(128):
                file.write(os.urandom(1 << 20))
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return path

    def work(self, script, path="-", before=()):
        """Runs the script to its last words, has what the kernel says of its delays then, and ends it."""
        said = self.dir / "said"
        command = [*before, sys.executable, "-c", script, str(path), str(said)]
        with self.running(command, ["-i", "0.1"]) as live:
            live.until(said.exists)
            pid = int(said.read_text())
            try:
                witness = delays_of(pid)
            except Unavailable as why:
                self.skipTest(str(why))
            live.next_sample()
            summary = live.finish()
            records = {line["pid"]: line for line in live.lines("process")}
        return witness, records[pid], summary

    def assert_agree(self, witness, record, positive):
        """Within 5 %, or one wait: its end is not seen by the witness."""
        for key in kept_delays() & set(witness):
            if key == "blkio_delay_seconds" and key not in record:  # the kernel's count is wrong: larger than can be true
                slept = record["lifetime_seconds"] - record["cpu_seconds"] - record["runqueue_wait_seconds"]
                self.assertGreater(witness[key] / 1e9, slept)
                continue
            self.assertAlmostEqual(record[key], witness[key] / 1e9, delta=0.05 * witness[key] / 1e9 + 1e-4, msg=key)
        for key in positive:
            self.assertGreater(witness[key], 0, key)


class Delays(DelayCase):
    def test_reading_from_the_disk(self):
        self.switch(1)
        witness, record, summary = self.work(DIRECT, self.big_file())
        self.assert_agree(witness, record, ["blkio_delay_seconds"])
        self.assertEqual(summary.get("blkio_delay_seconds"), record.get("blkio_delay_seconds"))

    def test_copying_what_a_fork_shares(self):
        self.switch(1)
        witness, record, summary = self.work(COPIER)
        self.assert_agree(witness, record, ["cow_delay_seconds"])
        self.assertGreater(summary["cow_delay_seconds"], record["cow_delay_seconds"])  # its parent's, too

    def test_too_little_memory_for_a_file(self):
        if not pathlib.Path("/sys/fs/cgroup/memory/memory.limit_in_bytes").exists():
            self.skipTest("no memory controller of version 1 is mounted at /sys/fs/cgroup/memory")
        self.switch(1)
        group = self.group("memory")
        (group / "memory.limit_in_bytes").write_text(str(LIMIT))
        witness, record, _ = self.work(CACHED, self.big_file(), [truth("incgroup"), str(group)])
        self.assert_agree(witness, record, ["reclaim_delay_seconds", "blkio_delay_seconds"])

    def test_sums(self):
        self.switch(1)
        run = self.run_witnessed([truth("forkstorm"), "4", "50"])
        self.assert_complete(run)
        wrong = {"blkio_delay_seconds"} if run.summary.get("blkio_delay_wrong") else set()  # below, PlausibleDelays
        self.assertLessEqual(kept_delays() - wrong, set(run.summary))
        self.assert_sums(run)


# The kernel may take such a wait to have begun at the boot (from 6.12 on).
SYNCING = """
import os, tempfile, threading
def work():
    with tempfile.TemporaryFile(dir="/var/tmp", buffering=0) as file:
        for _ in range(10):
            file.write(b"x" * 10000)
            os.fsync(file.fileno())
workers = [threading.Thread(target=work) for _ in range(8)]
for worker in workers: worker.start()
for worker in workers: worker.join()
"""


class Plausible(DelayCase):
    def test_no_more_is_waited_than_threads_have_lived(self):
        self.switch(1)
        run = self.run_bpfmon([sys.executable, "-c", SYNCING], ["-i", "0.02"])
        for line in [*run.samples, *run.processes, run.summary, *run.summary["programs"]]:
            if "blkio_delay_seconds" in line:
                self.assertLessEqual(line["blkio_delay_seconds"], line["lifetime_seconds"] * 1.01 + 0.1, line)
        self.assertNotEqual("blkio_delay_seconds" in run.summary, run.summary.get("blkio_delay_wrong", False))
        self.assertEqual("for disks not known" in run.stderr, "blkio_delay_wrong" in run.summary)


class Absent(DelayCase):
    def assert_none(self, lines):
        for line in lines:
            self.assertEqual(KEYS & set(line), set())

    def test_switched_off_none_is_written(self):
        self.switch(0)
        run = self.run_bpfmon(["true"])
        self.assert_none([*run.samples, *run.processes, run.summary, run.meta["units"]])

    def test_switched_off_they_cannot_be_had_and_the_reason_is_given(self):
        self.switch(0)
        run = self.run_bpfmon(["true"], ["--metrics", "delay,cpu"])
        self.assert_none([*run.samples, *run.processes, run.summary])
        self.assertIn("kernel.task_delayacct", run.meta["capabilities"]["blkio_delay_seconds"]["reason"])

    def test_of_a_process_that_began_before(self):
        self.switch(0)
        old = self.start("sleep", "60")
        self.switch(1)
        attached = self.attach([old.pid], ["-i", "0.1"])
        self.wait_until_attached(attached)
        old.kill()
        run = self.finish(attached)
        self.assert_none([*run.samples, *run.processes, run.summary])

    def test_its_children_have_their_own(self):
        self.switch(0)
        old = self.start("sh", "-c", "read go; sleep 0.01; :", stdin=subprocess.PIPE)
        self.switch(1)
        attached = self.attach([old.pid], ["-i", "0.1"])
        self.wait_until_attached(attached)
        old.stdin.close()
        run = self.finish(attached)
        by_name = {process["comm"]: process for process in run.processes}
        self.assertLessEqual(kept_delays(), set(by_name["sleep"]))
        self.assert_none([by_name["sh"], run.summary])


class Check(DelayCase):
    def check(self):
        return subprocess.run([BPFMON, "check"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()

    def test_what_is_only_switched_off_is_not_what_the_machine_lacks(self):
        self.switch(0)
        verdict, off = self.check()[:2]
        self.assertNotIn("blkio_delay_seconds", verdict)
        self.assertRegex(off, "delay metrics .*sysctl -w kernel.task_delayacct=1")
        self.assertEqual(DELAYS_SWITCH.read_text(), "0\n")
        self.switch(1)
        self.assertFalse([line for line in self.check() if "delay metrics (" in line])

    def test_interrupts_where_the_kernel_keeps_their_time(self):
        config = pathlib.Path("/proc/config.gz")
        if not config.exists():
            self.skipTest("the kernel has no /proc/config.gz (CONFIG_IKCONFIG_PROC)")
        self.switch(1)
        has = b"CONFIG_IRQ_TIME_ACCOUNTING=y" in gzip.decompress(config.read_bytes())
        self.assertEqual("irq_delay_seconds" in kept_delays(), has)
