# SPDX-License-Identifier: BSD-2-Clause
"""Block I/O of a cgroup, against what the kernel counts for a device that nobody else uses: a loop device, or zram."""

import os
import pathlib
import subprocess
import tempfile

from lib.bpfmon import NOT_PERMITTED, truth
from lib.cgroups import CgroupCase

SECTOR = 512
READ, READ_SECTORS, WRITE, WRITE_SECTORS, DISCARD, DISCARD_SECTORS = 0, 2, 4, 6, 11, 13


def flat(values, direction):
    """Bytes and operations of a summary, or of one device in it."""
    return values.get(f"block_{direction}_bytes", 0), values.get(f"block_{direction}_ops", 0)


def of_disk(line, disk):
    """What a sample or the summary has of the device; the members also load programs from another one."""
    return line["by"]["device"][disk.name]


class Disk:
    """A loop device over a file of its own in the folder, or over the file."""

    def __init__(self, case, folder=None, file=None):
        if folder:
            with tempfile.NamedTemporaryFile(prefix="bpfmon-disk-", dir=folder, delete=False) as made:
                made.truncate(64 << 20)
            file = made.name
            case.addCleanup(os.unlink, file)
        words = [] if folder else ["--direct-io=on", "-b", "4096"]
        done = subprocess.run(["losetup", *words, "-f", "--show", file], stdout=subprocess.PIPE, text=True, check=True)
        case.addCleanup(subprocess.run, ["losetup", "-d", done.stdout.strip()], check=True)
        self.begin(done.stdout.strip())

    def begin(self, path):
        self.path = path
        self.name = pathlib.Path(path).name
        self.files = pathlib.Path("/sys/block") / self.name
        self.before = self.read()

    def read(self):
        return [int(word) for word in (self.files / "stat").read_text().split()]

    def used(self, what):
        return self.read()[what] - self.before[what]


class RamDisk(Disk):
    """A new zram device: it has no requests."""

    CONTROL = pathlib.Path("/sys/class/zram-control")

    def __init__(self, case):
        if not self.CONTROL.exists():
            case.skipTest(f"{NOT_PERMITTED}devices of zram")
        number = (self.CONTROL / "hot_add").read_text().strip()
        case.addCleanup((self.CONTROL / "hot_remove").write_text, number)
        sys = pathlib.Path(f"/sys/block/zram{number}")
        (sys / "disksize").write_text("64M")
        case.addCleanup((sys / "reset").write_text, "1")
        self.begin(f"/dev/{sys.name}")


class BlockIo(CgroupCase):
    def follow(self, *options):
        self.members = self.group("blkio")
        keeper = self.keeper(self.members)
        self.addCleanup(self.end, keeper)
        return self.attach_cgroup(self.members, "--block-io", *options)

    def use(self, *argv, group=None):
        subprocess.run([truth("incgroup"), str(group or self.members), *argv], check=True, stderr=subprocess.DEVNULL)

    def write(self, disk, blocks, *words, group=None):
        self.use("dd", "if=/dev/zero", f"of={disk.path}", "bs=64k", f"count={blocks}", *words, group=group)

    def copy(self, disk, blocks):
        self.use("dd", f"if={disk.path}", "of=/dev/null", "bs=16k", f"count={blocks}", "iflag=direct")

    def assert_is_of(self, disk, values, histograms):
        """Bytes and operations are the device's; each operation has its latency."""
        self.assertEqual(flat(values, "read"), (disk.used(READ_SECTORS) * SECTOR, disk.used(READ)))
        written = values.get("block_write_ops", 0) + values.get("block_flush_ops", 0)
        self.assertEqual((values.get("block_write_bytes", 0), written), (disk.used(WRITE_SECTORS) * SECTOR, disk.used(WRITE)))
        self.assertEqual(flat(values, "discard"), (disk.used(DISCARD_SECTORS) * SECTOR, disk.used(DISCARD)))
        for direction in ("read", "write", "discard", "flush"):
            timed = sum(count for _, count in histograms[disk.name].get(direction, []))
            self.assertEqual(timed, values.get(f"block_{direction}_ops", 0))

    def test_bytes_and_operations_are_those_of_the_device(self):
        disk = Disk(self, "/dev/shm")
        watcher = self.follow()
        self.write(disk, 300, "oflag=direct")
        self.copy(disk, 700)
        self.use("blkdiscard", "-o", "0", "-l", "1048576", disk.path)
        self.write(disk, 100)  # what is dirty is written when the last one closes the device
        run = self.stop(watcher)
        self.assert_complete(run)
        self.assertGreaterEqual(disk.used(WRITE), 300)
        self.assertGreaterEqual(disk.used(READ), 700)
        self.assertGreater(disk.used(DISCARD), 0)
        self.assert_is_of(disk, of_disk(run.summary, disk), run.summary["block_latency"])
        for direction in ("read", "write", "discard"):
            devices = [flat(values, direction) for values in run.summary["by"]["device"].values()]
            self.assertEqual(flat(run.summary, direction), tuple(map(sum, zip(*devices, strict=True))))

    def test_the_time_of_operations_is_in_their_histogram(self):
        disk = Disk(self, "/dev/shm")
        watcher = self.follow()
        self.copy(disk, 200)
        run = self.stop(watcher)
        buckets = run.summary["block_latency"][disk.name]["read"]
        took_ns = of_disk(run.summary, disk)["block_read_latency_seconds"] * 1e9
        self.assertLessEqual(took_ns, sum(upper * count for upper, count in buckets))
        self.assertGreaterEqual(took_ns, sum(upper / 2 * count for upper, count in buckets if upper > 2))

    def test_samples_grow_to_the_summary(self):
        disk = Disk(self, "/dev/shm")
        watcher = self.follow()
        self.write(disk, 50, "oflag=direct")
        run = self.stop(watcher)
        values = [sample["block_write_bytes"] for sample in run.samples]
        self.assertEqual(values, sorted(values))
        self.assertEqual(of_disk(run.samples[-1], disk)["block_write_bytes"], 50 * 65536)
        self.assertEqual(run.samples[-1]["by"], run.summary["by"])

    def test_a_cgroup_below_counts_and_one_beside_does_not(self):
        disk = Disk(self, "/dev/shm")
        watcher = self.follow()
        below, beside = self.below(self.members, "below"), self.group("blkio")
        self.write(disk, 10, "oflag=direct", group=below)
        self.write(disk, 20, "oflag=direct", group=beside)
        run = self.stop(watcher)
        self.assertEqual(flat(of_disk(run.summary, disk), "write"), (10 * 65536, 10))
        self.assertEqual(disk.used(WRITE), 30)

    def test_what_was_before_does_not_count(self):
        disk = Disk(self, "/dev/shm")
        self.write(disk, 10, "oflag=direct", group=self.group("blkio"))
        run = self.stop(self.follow())
        self.assertIn("block_write_bytes", run.summary)
        self.assertNotIn(disk.name, run.summary.get("by", {}).get("device", {}))

    def test_a_device_over_a_file_on_a_device_is_listed_and_not_in_the_sum(self):
        folder = next(f for f in (self.dir, pathlib.Path.home(), pathlib.Path("/")) if os.major(f.stat().st_dev))
        disk = Disk(self, folder)
        watcher = self.follow()
        self.write(disk, 10, "oflag=direct")
        run = self.stop(watcher)
        devices = run.summary["by"]["device"]
        self.assertEqual(flat(devices[disk.name], "write"), (10 * 65536, 10))
        of_others = sum(flat(values, "write")[0] for name, values in devices.items() if name != disk.name)
        self.assertEqual(run.summary["block_write_bytes"], of_others)

    def test_a_device_without_requests_counts_without_latency(self):
        disk = RamDisk(self)
        watcher = self.follow()
        self.write(disk, 100, "oflag=direct")
        self.copy(disk, 200)
        self.write(disk, 30)  # what is dirty is written when the last one closes the device
        run = self.stop(watcher)
        self.assert_complete(run)
        values = of_disk(run.summary, disk)
        self.assertGreaterEqual(disk.used(WRITE_SECTORS) * SECTOR, 130 * 65536)
        self.assertGreaterEqual(disk.used(READ_SECTORS) * SECTOR, 200 * 16384)
        self.assertEqual(flat(values, "write"), (disk.used(WRITE_SECTORS) * SECTOR, disk.used(WRITE)))
        self.assertEqual(flat(values, "read"), (disk.used(READ_SECTORS) * SECTOR, disk.used(READ)))
        self.assertNotIn("block_write_latency_seconds", values)
        self.assertNotIn("block_write_latency_seconds", run.summary)
        for direction in ("read", "write"):
            devices = [flat(values, direction) for values in run.summary["by"]["device"].values()]
            self.assertEqual(flat(run.summary, direction), tuple(map(sum, zip(*devices, strict=True))))

    def test_what_is_above_a_device_without_requests_counts_once(self):
        below = RamDisk(self)
        above = Disk(self, file=below.path)
        watcher = self.follow()
        self.write(above, 10, "oflag=direct")
        run = self.stop(watcher)
        devices = run.summary["by"]["device"]
        self.assertEqual(flat(devices[above.name], "write"), (10 * 65536, 10))
        self.assertEqual(devices[below.name]["block_write_bytes"], below.used(WRITE_SECTORS) * SECTOR)
        self.assertGreaterEqual(devices[below.name]["block_write_bytes"], 10 * 65536)
        without = sum(flat(values, "write")[0] for name, values in devices.items() if name != above.name)
        self.assertEqual(run.summary["block_write_bytes"], without)

    def test_a_device_without_statistics_has_no_latency(self):
        disk = Disk(self, "/dev/shm")
        (disk.files / "queue/iostats").write_text("0")
        self.addCleanup((disk.files / "queue/iostats").write_text, "1")
        watcher = self.follow()
        self.write(disk, 10, "oflag=direct")
        run = self.stop(watcher)
        self.assertEqual(flat(of_disk(run.summary, disk), "write"), (10 * 65536, 10))
        self.assertNotIn("block_write_latency_seconds", of_disk(run.summary, disk))
        self.assertNotIn("block_write_latency_seconds", run.samples[-1])
        self.assertNotIn("block_write_latency_seconds", run.summary)
        self.assertNotIn(disk.name, run.summary.get("block_latency", {}))

    def test_it_is_off_unless_asked_for(self):
        group = self.group("blkio")
        self.addCleanup(self.end, self.keeper(group))
        run = self.stop(self.attach_cgroup(group))
        self.assertNotIn("block_read_bytes", run.summary)
        self.assertNotIn("block_read_bytes", run.meta["capabilities"])

    def test_without_the_program_only_its_metrics_are_missing(self):
        for how in ("block__rq_complete", "block__rq_complete:attach", "block__bio_complete", "block__bio_complete:attach"):
            run = self.stop(self.follow("--inject-no-program", how))
            self.assert_complete(run)
            self.assertIn(f"bpfmon: warning: --block-io has no effect: {run.meta['capabilities']['block_read_bytes']['reason']}\n", run.stderr)
            self.assertNotIn("block_read_bytes", run.summary)
            self.assertFalse(run.meta["capabilities"]["block_read_bytes"]["available"])
            self.assertIn("refuse" if how.endswith("complete") else "attach", run.meta["capabilities"]["block_read_bytes"]["reason"])
