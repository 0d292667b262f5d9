# SPDX-License-Identifier: BSD-2-Clause
"""What export refuses, in one line and with 2, and that it leaves nothing half-written behind."""

import os
import signal
import subprocess

from lib.bpfmon import BPFMON
from lib.exports import HOSTILE, ExportCase
from lib.live import wait_for
from lib.permitted import BPF, ROOT, needs

SAMPLED = True
NEEDS = ()
RUN = str(HOSTILE)


class Refusals(ExportCase):
    def refused(self, *words, **kwargs):
        """The one line that it says."""
        done = subprocess.run([BPFMON, "export", *words], stderr=subprocess.PIPE, timeout=60, check=False, **kwargs)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        return done.stderr.decode()

    def test_incomplete_or_wrong_arguments_are_refused(self):
        for words, said in (
            ([], "no format"),
            ([RUN], "no format"),
            ([RUN, "-f", "xml"], "'xml'"),
            ([RUN, "-f", ""], "''"),
            ([RUN, "-f"], "-f"),
            ([RUN, "-f", "csv", "/no/more"], "'/no/more'"),
            ([RUN, RUN, "-f", "psrecord"], "one run"),
            ([RUN, "-f", "csv", "-o", ""], "--output"),
            ([RUN, "-f", "csv", "--no-such"], "--no-such"),
            ([RUN, "-f", "prmon"], "two files"),
            ([RUN, "-f", "prmon", "-o", "-"], "two files"),
        ):
            with self.subTest(words=words):
                self.assertIn(said, self.refused(*words))

    def test_a_run_that_is_not_there_is_refused(self):
        self.assertIn("no such file", self.refused(str(self.dir / "none.jsonl"), "-f", "csv"))

    def test_a_file_that_is_not_a_run_is_refused_before_an_output_is_made(self):
        other = self.dir / "other.jsonl"
        for text in ("", "rubbish\n", '{"kind":"meta","schema":"bpfmon/2"}\n', HOSTILE.read_text() * 2):
            with self.subTest(text=text[:40]):
                other.write_text(text)
                self.assertIn(str(other), self.refused(str(other), "-f", "csv", "-o", str(self.dir / "out.csv")))
                self.assertEqual(os.listdir(self.dir), ["other.jsonl"])
        self.assertIn("directory", self.refused(str(self.dir), "-f", "csv"))

    def test_a_file_that_exists_is_kept_without_force_and_replaced_with_it(self):
        out = self.dir / "out.csv"
        out.write_text("old\n")
        self.assertIn("--force", self.refused(RUN, "-f", "csv", "-o", str(out)))
        self.assertEqual(out.read_text(), "old\n")
        subprocess.run([BPFMON, "export", RUN, "-f", "csv", "--force", "-o", str(out)], timeout=60, check=True)
        self.assertEqual(out.read_bytes(), self.export(HOSTILE, "csv"))
        self.assertEqual(os.listdir(self.dir), ["out.csv"])

    def test_of_two_files_none_is_made_when_one_exists(self):
        (self.dir / "peer.json").write_text("old\n")
        self.assertIn("peer.json", self.refused(RUN, "-f", "prmon", "-o", str(self.dir / "peer")))
        self.assertEqual(os.listdir(self.dir), ["peer.json"])

    def test_a_run_replaces_itself(self):
        own = self.dir / "run.jsonl"
        own.write_bytes(HOSTILE.read_bytes())
        subprocess.run([BPFMON, "export", str(own), "-f", "jsonl", "--force", "-o", str(own)], timeout=60, check=True)
        self.assertEqual(own.read_bytes(), HOSTILE.read_bytes())

    def test_dev_full_is_reported(self):
        self.assertIn("No space left", self.refused(RUN, "-f", "csv", "-o", "/dev/full"))
        with open("/dev/full", "wb") as full:
            self.assertIn("stdout", self.refused(RUN, "-f", "json", stdout=full))

    def test_a_closed_stdout_is_reported(self):
        self.assertIn("stdout", self.refused(RUN, "-f", "json", preexec_fn=lambda: os.close(1)))

    def long_run(self, samples):
        path = self.dir / "long.jsonl"
        if path.exists():
            return path
        with path.open("w") as file:
            file.write('{"kind":"meta","schema":"bpfmon/1","start_time":5,"units":{"minflt":"1"}}\n')
            for second in range(samples):
                file.write(f'{{"kind":"sample","elapsed_seconds":{second},"minflt":1,"cores":0.5,"rss_bytes":5}}\n')
        return path

    @needs(ROOT, BPF)
    def test_a_disk_that_gets_full_is_left_as_it_was(self):
        disk = self.dir / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "bpfmon-test", str(disk)], check=True)
        self.addCleanup(subprocess.run, ["umount", str(disk)], check=False)
        (disk / "old.om").write_text("old\n")
        run = str(self.long_run(50_000))
        self.assertIn("No space left", self.refused(run, "-f", "csv", "-o", str(disk / "new.csv")))
        self.assertIn("No space left", self.refused(run, "-f", "openmetrics", "--force", "-o", str(disk / "old.om")))
        self.assertIn("No space left", self.refused(run, "-f", "prmon", "-o", str(disk / "peer")))
        self.assertEqual(os.listdir(disk), ["old.om"])
        self.assertEqual((disk / "old.om").read_text(), "old\n")

    def export_interrupted_by(self, sig):
        """What lies in the folder afterwards, beside the run."""
        out = self.dir / "out"  # JSON Lines begin at once, and go on for seconds
        argv = [BPFMON, "export", str(self.long_run(300_000)), "-f", "jsonl", "-o", str(out)]
        with subprocess.Popen(argv) as process:
            wait_for(lambda: any(path.stat().st_size for path in self.dir.glob("out*")), "the first lines")
            self.assertFalse(out.exists())
            process.send_signal(sig)
            self.assertEqual(process.wait(timeout=60), -sig)
        return sorted(set(os.listdir(self.dir)) - {"long.jsonl"})

    def test_a_signal_ends_it_and_removes_the_incomplete_file(self):
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=sig):
                self.assertEqual(self.export_interrupted_by(sig), [])

    def test_one_that_is_killed_leaves_no_file_of_that_name(self):
        (left,) = self.export_interrupted_by(signal.SIGKILL)
        self.assertRegex(left, r"^out\..{6}$")

    def test_a_file_that_came_meanwhile_is_kept(self):
        out = self.dir / "out.csv"
        with subprocess.Popen([BPFMON, "export", "-", "-f", "csv", "-o", str(out)], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdin.write(HOSTILE.read_bytes())
            process.stdin.flush()
            out.write_text("mine\n")
            _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertIn(b"--force", said)
        self.assertEqual((os.listdir(self.dir), out.read_text()), (["out.csv"], "mine\n"))

    @needs(ROOT, BPF)
    def test_under_sudo_a_file_is_read_with_the_callers_rights(self):
        secret = self.dir / "run.jsonl"
        secret.write_bytes(HOSTILE.read_bytes())
        secret.chmod(0o600)
        self.dir.chmod(0o755)
        environment = {**os.environ, "SUDO_UID": "65534", "SUDO_GID": "65534"}
        self.assertIn("Permission denied", self.refused(str(secret), "-f", "csv", env=environment))
