# SPDX-License-Identifier: BSD-2-Clause
"""Where the run is written to, in which format, and what is never overwritten."""

import csv
import io
import json
import os
import stat
import subprocess
import threading

from lib.bpfmon import BPFMON, truth
from lib.live import LiveCase, wait_for


class OutputCase(LiveCase):
    def bpfmon(self, *words, command=("true",), **popen):
        """bpfmon in our folder, with just these options."""
        return subprocess.run(
            [BPFMON, *map(str, words), "--", *map(str, command)],
            cwd=self.dir,
            stdout=popen.pop("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            **popen,
        )

    def names(self):
        return sorted(path.name for path in self.dir.iterdir())

    def assert_refused(self, done, *words):
        """Exit status 125, one line that says these words, and nothing was run."""
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 125, text)
        self.assertEqual(text.count("\n"), 1, text)
        for word in words:
            self.assertIn(str(word), text)
        self.assertNotIn("ran", self.names())

    def assert_jsonl(self, text, code=0):
        lines = [json.loads(line) for line in text.splitlines()]
        self.assertEqual((lines[0]["kind"], lines[-1]["kind"]), ("meta", "summary"))
        self.assertEqual(lines[-1]["exit_code"], code)
        return lines

    def assert_csv(self, text):
        self.assertNotIn("\r", text)  # cut, awk and read take it for a part of the last cell
        rows = list(csv.reader(io.StringIO(text, newline="")))
        self.assertEqual(rows[0][:3], ["time", "elapsed_seconds", "cpu_seconds"])
        self.assertGreaterEqual(len(rows), 3)
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        return rows

    def assert_text(self, text):
        self.assertIn("bpfmon: the command ended with 0", text)
        self.assertIn("complete: nothing was lost", text)


class Formats(OutputCase):
    def test_several_formats_at_once_have_the_same_values(self):
        self.bpfmon("-q", "-i", "0.05", "-o", "a.jsonl", "-o", "b.csv", "--output", "c.txt", command=["sleep", "0.3"])
        lines = self.assert_jsonl((self.dir / "a.jsonl").read_text())
        rows = self.assert_csv((self.dir / "b.csv").read_bytes().decode())
        self.assert_text((self.dir / "c.txt").read_text())
        samples = [line for line in lines if line["kind"] == "sample"]
        self.assertEqual(len(rows) - 1, len(samples))
        for row, sample in zip(rows[1:], samples, strict=True):
            for key, cell in zip(rows[0][1:], row[1:], strict=True):
                self.assertEqual(float(cell), sample[key], key)
        self.assertEqual(self.names(), ["a.jsonl", "b.csv", "c.txt"])

    def test_the_times_of_samples_are_the_same_in_csv(self):
        self.bpfmon("-q", "-i", "0.01", "-o", "a.jsonl", "-o", "b.csv", command=["sleep", "0.5"])
        lines = self.assert_jsonl((self.dir / "a.jsonl").read_text())
        rows = self.assert_csv((self.dir / "b.csv").read_bytes().decode())
        times = [line["time"] for line in lines if line["kind"] == "sample"]
        self.assertEqual([float(row[0]) for row in rows[1:]], times)

    def test_a_dash_writes_to_stdout_beside_the_command(self):
        done = self.bpfmon("-q", "-o", "-", command=["true"])
        self.assert_jsonl(done.stdout.decode())
        self.assertEqual((done.returncode, self.names()), (0, []))

    def test_stdout_can_be_csv(self):
        self.assert_csv(self.bpfmon("-q", "-f", "csv", "-o", "-").stdout.decode())

    def test_the_option_format_wins_over_the_extension(self):
        self.bpfmon("-q", "-f", "csv", "-o", "run.jsonl", "--format", "csv")
        self.assert_csv((self.dir / "run.jsonl").read_bytes().decode())

    def test_a_format_before_the_path_wins_over_the_option(self):
        self.bpfmon("-q", "-f", "csv", "-o", "jsonl:one.csv", "-o", "two", "-o", "text:three")
        self.assert_jsonl((self.dir / "one.csv").read_text())
        self.assert_csv((self.dir / "two").read_bytes().decode())
        self.assert_text((self.dir / "three").read_text())

    def test_an_unknown_word_before_a_colon_is_part_of_the_path(self):
        self.bpfmon("-q", "-o", "12:30.csv")
        self.assert_csv((self.dir / "12:30.csv").read_bytes().decode())

    def test_without_an_extension_it_is_jsonl(self):
        self.bpfmon("-q", "-o", "run")
        self.assert_jsonl((self.dir / "run").read_text())

    def test_an_extension_of_no_format_is_refused_with_the_formats(self):
        done = self.bpfmon("-o", "run.xlsx", command=["touch", "ran"])
        self.assert_refused(done, "'run.xlsx'", "jsonl (.jsonl)", "csv (.csv)", "text (.txt)", "jsonl:run.xlsx")
        self.assertEqual(self.names(), [])

    def test_a_template_stands_for_the_summary(self):
        done = self.bpfmon("-f", "%x [%C] %q {wall_seconds} {complete}", "-o", "a.jsonl", "-o", "b.txt", command=["sh", "-c", "exit 5"])
        wall = self.assert_jsonl((self.dir / "a.jsonl").read_text(), 5)[-1]["wall_seconds"]
        said = f"5 [sh -c exit 5] ?q {wall} true\n"
        self.assertEqual((done.returncode, done.stderr.decode()), (5, said))
        self.assertEqual((self.dir / "b.txt").read_text(), said)

    def test_a_template_with_an_unknown_key_is_refused_with_the_nearest(self):
        done = self.bpfmon("-f", "{rss_peek_bytes}", command=["touch", "ran"])
        self.assert_refused(done, "{rss_peek_bytes}", "{rss_peak_bytes}")

    def test_the_environment_names_an_output_too(self):
        self.bpfmon("-q", env={**os.environ, "BPFMON_OUTPUT": "csv:there"})
        self.assert_csv((self.dir / "there").read_bytes().decode())


class Nested(OutputCase):
    """A bpfmon in the command, which inherits the variables of the outer one."""

    def nested(self, *inner, **env):
        inner = [BPFMON, *inner, "--", truth("exitwith"), "5"]
        return self.bpfmon("-q", command=inner, env={**os.environ, **env})

    def test_the_output_of_the_outer_is_left_to_it(self):
        for env in ({}, {"BPFMON_FORCE": "1"}):
            with self.subTest(env):
                done = self.nested("-q", BPFMON_OUTPUT="run.jsonl", **env)
                said = done.stderr.decode()
                self.assertEqual((done.returncode, said.count("\n")), (5, 1), said)
                self.assertIn("warning: another bpfmon is writing 'run.jsonl', the default output (BPFMON_OUTPUT", said)
                lines = self.assert_jsonl((self.dir / "run.jsonl").read_text(), 5)
                self.assertEqual(lines[0]["command"][0], BPFMON)
                self.assertEqual(self.names(), ["run.jsonl"])

    def test_each_may_have_an_output_of_its_own(self):
        done = self.nested("-q", "-o", "inner.csv", BPFMON_OUTPUT="run.jsonl")
        self.assertEqual((done.returncode, done.stderr), (5, b""))
        self.assert_jsonl((self.dir / "run.jsonl").read_text(), 5)
        self.assert_csv((self.dir / "inner.csv").read_bytes().decode())
        self.assertEqual(self.names(), ["inner.csv", "run.jsonl"])

    def test_the_output_of_the_outer_is_refused_when_it_is_asked_for(self):
        done = self.nested("--force", "-o", "run.jsonl", BPFMON_OUTPUT="run.jsonl")
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"'run.jsonl' is already being written", done.stderr)
        self.assert_jsonl((self.dir / "run.jsonl").read_text(), 125)

    def test_a_variable_does_not_overwrite_what_an_earlier_run_has_left(self):
        env = {**os.environ, "BPFMON_OUTPUT": "run.jsonl"}
        self.assertEqual(self.bpfmon("-q", env=env).returncode, 0)
        self.assert_refused(self.bpfmon("-q", env=env, command=["touch", "ran"]), "'run.jsonl'", "--force")

    def test_a_format_without_an_output_has_no_effect(self):
        done = self.bpfmon("-q", env={**os.environ, "BPFMON_FORMAT": "csv"}, command=[truth("exitwith"), "5"])
        self.assertEqual((done.returncode, done.stderr, self.names()), (5, b"", []))


class Files(OutputCase):
    def test_an_existing_file_is_refused_and_untouched(self):
        old = self.dir / "run.jsonl"
        old.write_text("old\n")
        self.assert_refused(self.bpfmon("-o", old, command=["touch", "ran"]), old, "--force")
        self.assertEqual(old.read_text(), "old\n")

    def test_nothing_is_left_of_the_first_output_when_the_second_is_refused(self):
        (self.dir / "b").write_text("old\n")
        self.assert_refused(self.bpfmon("-o", "a", "-o", "b", command=["touch", "ran"]), "'b'")
        self.assertEqual(self.names(), ["b"])

    def test_the_same_path_twice_is_refused(self):
        self.assert_refused(self.bpfmon("-o", "a", "-o", "a", command=["touch", "ran"]), "'a'")
        self.assertEqual(self.names(), [])

    def test_a_link_to_a_new_file_is_refused(self):
        (self.dir / "link").symlink_to("new")
        self.assert_refused(self.bpfmon("-o", "link", command=["touch", "ran"]), "'link'")
        self.assertEqual(self.names(), ["link"])

    def test_force_replaces_the_file_at_the_start_of_the_run(self):
        command, stop, _ = self.work_until_told()
        old = self.dir / "run.jsonl"
        old.write_text("old\n")
        with old.open(encoding="utf-8") as reader:
            inode = old.stat().st_ino
            live = self.live(command, ["--force", "-o", str(old), "-i", "0.05"], out=False)
            live.out = old
            wait_for(lambda: "old" not in old.read_text() and len(live.samples()) > 2, "the new content")
            self.assertIsNone(live.process.poll())
            stop.touch()
            self.assertEqual(live.finish().code, 43)
            self.assertEqual(reader.read(), "old\n", "who had the old file open keeps it")
        self.assertNotEqual(old.stat().st_ino, inode)
        self.assert_jsonl(old.read_text(), 43)
        self.assertEqual([name for name in self.names() if name.startswith("run")], ["run.jsonl"])

    def test_force_replaces_what_a_link_points_to(self):
        (self.dir / "target").write_text("old\n")
        (self.dir / "link").symlink_to("target")
        self.assertEqual(self.bpfmon("-q", "--force", "-o", "link").returncode, 0)
        self.assertTrue((self.dir / "link").is_symlink())
        self.assert_jsonl((self.dir / "link").read_text())

    def check_old_is_kept(self, code, *options, command=("true",)):
        old = self.dir / "run.jsonl"
        old.write_text("old\n")
        inode = old.stat().st_ino
        done = self.bpfmon("--force", "-o", old, *options, command=command)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual((old.read_text(), old.stat().st_ino), ("old\n", inode))
        self.assertEqual(self.names(), ["run.jsonl"])

    def test_force_keeps_the_old_file_when_the_command_is_not_found(self):
        self.check_old_is_kept(127, command=["bpfmon-no-such-command"])

    def test_force_keeps_the_old_file_when_the_command_cannot_be_executed(self):
        self.check_old_is_kept(126, command=["/etc"])

    def test_force_keeps_the_old_file_when_the_user_is_unknown(self):
        self.check_old_is_kept(125, "--user=bpfmon-no-such-user")

    def test_force_keeps_the_old_file_when_another_output_is_refused(self):
        self.check_old_is_kept(125, "-o", "/nowhere/run.jsonl")

    def test_a_missing_directory_is_refused(self):
        self.assert_refused(self.bpfmon("-o", "no/run.jsonl", command=["touch", "ran"]), "no/run.jsonl", "No such file")

    def test_a_directory_as_output_is_refused(self):
        (self.dir / "folder").mkdir()
        self.assert_refused(self.bpfmon("-o", "folder", command=["touch", "ran"]), "'folder'")
        self.assert_refused(self.bpfmon("--force", "-o", "folder", command=["touch", "ran"]), "'folder'")

    def test_a_directory_that_cannot_be_written_is_refused(self):
        self.assert_refused(self.bpfmon("-o", "/proc/run.jsonl", command=["touch", "ran"]), "/proc/run.jsonl")

    def test_a_name_that_is_too_long_is_refused(self):
        self.assert_refused(self.bpfmon("-o", "x" * 300, command=["touch", "ran"]), "too long")

    def test_a_new_file_follows_the_umask_and_an_old_one_keeps_its_mode(self):
        for umask, mode in ((0o027, 0o640), (0o077, 0o600), (0o000, 0o666)):
            for name, force in ((f"new-{umask}", ()), (f"old-{umask}", ("--force",))):
                if force:
                    (self.dir / name).write_text("old\n")
                    (self.dir / name).chmod(0o604)
                self.bpfmon("-q", *force, "-o", name, umask=umask)
                self.assertEqual(stat.S_IMODE((self.dir / name).stat().st_mode), 0o604 if force else mode, name)

    def test_samples_are_in_the_file_while_the_run_lasts(self):
        command, stop, _ = self.work_until_told()
        live = self.live(command, ["-i", "0.1", "-o", f"csv:{self.dir / 'run.csv'}"])
        for _ in range(3):
            live.wait_for_samples(2)
            self.assertIsNone(live.process.poll())
        wait_for(lambda: (self.dir / "run.csv").read_bytes().count(b"\n") > 5, "rows in the CSV file")
        stop.touch()
        self.assertEqual(live.finish().code, 43)


class Devices(OutputCase):
    def test_dev_null_takes_it_all(self):
        done = self.bpfmon("-q", "-o", "/dev/null", command=[truth("exitwith"), "5"])
        self.assertEqual((done.returncode, done.stderr), (5, b""))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_force_writes_to_a_device_and_does_not_replace_it(self):
        node = self.dir / "null"
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        self.assertEqual(self.bpfmon("-q", "--force", "-o", node).returncode, 0)
        self.assertTrue(stat.S_ISCHR(node.stat().st_mode))

    def test_a_fifo_hands_the_lines_to_its_reader(self):
        fifo = self.dir / "fifo"
        os.mkfifo(fifo)
        read = []
        reader = threading.Thread(target=lambda: read.append(fifo.read_text()), daemon=True)
        reader.start()
        done = self.bpfmon("-q", "-o", fifo, command=[truth("exitwith"), "5"])
        reader.join(timeout=60)
        self.assertEqual(done.returncode, 5)
        self.assert_jsonl(read[0], 5)
        self.assertTrue(stat.S_ISFIFO(fifo.stat().st_mode))
