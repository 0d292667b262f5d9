# SPDX-License-Identifier: BSD-2-Clause
"""An output that fails during the run is a warning; the command does not notice."""

import os
import resource
import subprocess

from lib.bpfmon import BPFMON, truth
from lib.live import LiveCase, wait_for

SAMPLED = True


class OutputFailures(LiveCase):
    def finish(self, live, stop, beat):
        """The command works on, ends when told, and its status arrives."""
        self.assert_goes_on(beat)
        stop.touch()
        run = live.finish()
        self.assertEqual(run.code, 43, run.stderr)
        return run

    def warnings(self, run):
        return [line for line in run.stderr.splitlines() if line.startswith("bpfmon: warning:")]

    def small_disk(self):
        path = self.dir / "disk"
        path.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "bpfmon-test", str(path)], check=True)
        self.addCleanup(subprocess.run, ["umount", str(path)], check=False)
        return path

    def test_a_full_disk_is_one_warning_and_whole_lines(self):
        disk = self.small_disk()
        (disk / "ballast").write_bytes(bytes(40960))
        command, stop, beat = self.work_until_told()
        elsewhere = self.dir / "elsewhere.jsonl"
        live = self.live(command, ["-i", "0.01", "-o", str(disk / "run.jsonl"), "-o", str(elsewhere)], out=False)
        wait_for(lambda: os.statvfs(disk).f_bfree == 0, "the disk to be full")
        live.out = elsewhere
        live.wait_for_samples(5)
        run = self.finish(live, stop, beat)
        (warning,) = self.warnings(run)
        self.assertIn(str(disk / "run.jsonl"), warning)
        self.assertIn("No space left", warning)
        lines = self.assert_whole_lines(disk / "run.jsonl")
        self.assertEqual(lines[0]["kind"], "meta")
        self.assertNotEqual(lines[-1]["kind"], "summary")
        self.assert_complete(run)  # in the other file
        self.assertIn("complete: nothing was lost", run.stderr)
        self.assertEqual(sorted(os.listdir(disk)), ["ballast", "run.jsonl"])

    def test_a_disk_that_is_full_from_the_start_is_a_warning(self):
        disk = self.small_disk()
        (disk / "run.jsonl").write_text("old\n")
        with (disk / "ballast").open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        command, stop, beat = self.work_until_told()
        live = self.live(command, ["-i", "0.01", "-o", str(disk / "new.jsonl")], out=False)
        run = self.finish(live, stop, beat)
        self.assertEqual(len(self.warnings(run)), 1, run.stderr)

    def test_dev_full_is_a_warning(self):
        run = self.run_bpfmon([truth("exitwith"), "5"], ["-o", "/dev/full"])
        self.assertEqual(run.code, 5)
        (warning,) = self.warnings(run)
        self.assertIn("/dev/full", warning)
        self.assert_complete(run)

    def test_a_reader_of_stdout_that_has_ended_is_a_warning(self):
        read, write = os.pipe()
        os.close(read)
        command, stop, beat = self.work_until_told()
        live = self.live([*command], ["-i", "0.01", "-o", "-"], stdout=write)
        os.close(write)
        live.wait_for_samples(2)
        run = self.finish(live, stop, beat)
        self.assertEqual(len(self.warnings(run)), 1, run.stderr)
        self.assertIn("Broken pipe", run.stderr)
        self.assert_complete(run)

    def test_a_reader_of_stdout_that_ends_during_the_run_is_a_warning(self):
        command, stop, beat = self.work_until_told()
        live = self.live(command, ["-i", "0.01", "-o", "-"])
        live.process.stdout.readline()
        live.process.stdout.close()
        live.process.stdout = None
        live.wait_for_samples(3)
        run = self.finish(live, stop, beat)
        self.assertEqual(len(self.warnings(run)), 1, run.stderr)
        self.assert_complete(run)

    def test_a_file_size_limit_is_a_warning_like_a_full_disk(self):
        def prepare():
            resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))

        command, stop, beat = self.work_until_told()
        live = self.live(command, ["-i", "0.01"], preexec_fn=prepare)
        wait_for(lambda: live.out.exists() and live.out.stat().st_size > 15000, "the file to be at the limit")
        run = self.finish(live, stop, beat)
        self.assertEqual(len(self.warnings(run)), 1, run.stderr)
        self.assertIn("File too large", run.stderr)
        self.assertIn("complete: nothing was lost", run.stderr)
        self.assert_whole_lines(live.out)

    def test_removing_the_output_during_the_run_is_harmless(self):
        command, stop, beat = self.work_until_told()
        live = self.live(command, ["-i", "0.01"])
        live.wait_for_samples()
        live.out.unlink()
        run = self.finish(live, stop, beat)
        self.assertIn("complete: nothing was lost", run.stderr)
        self.assertFalse(live.out.exists())

    def test_a_closed_stdout_cannot_be_an_output(self):
        ran = self.dir / "ran"
        argv = [BPFMON, "-o", "-", "--", "touch", str(ran)]
        done = subprocess.run(argv, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1), timeout=60, check=False)
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(b"stdout", done.stderr)
        self.assertFalse(ran.exists())

    def test_a_closed_stderr_loses_the_summary_and_nothing_else(self):
        out = self.dir / "run.jsonl"
        argv = [BPFMON, "-o", str(out), "--", truth("exitwith"), "5"]
        done = subprocess.run(argv, stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2), timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (5, b""))
        self.assertEqual(self.assert_whole_lines(out)[-1]["exit_code"], 5)

    def test_a_full_stderr_loses_the_summary_and_nothing_else(self):
        out = self.dir / "run.jsonl"
        with open("/dev/full", "wb") as full:
            argv = [BPFMON, "-o", str(out), "--", truth("exitwith"), "5"]
            self.assertEqual(subprocess.run(argv, stderr=full, timeout=60, check=False).returncode, 5)
        self.assertEqual(self.assert_whole_lines(out)[-1]["exit_code"], 5)
