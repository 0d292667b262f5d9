# SPDX-License-Identifier: BSD-2-Clause
"""Without root: one clear sentence, and what works without it works."""

import json
import os
import re
import subprocess

from lib.account import plain_kinds
from lib.bpfmon import BPFMON, Case, said_by

NOBODY = 65534


class Unprivileged(Case):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o777)

    def bpfmon(self, *words, **popen):
        return subprocess.run(
            [BPFMON, *map(str, words)],
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd="/",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            **popen,
        )

    def test_a_run_that_must_be_exact_fails_with_one_sentence(self):
        done = self.bpfmon("--require", "exact", "-o", self.dir / "run", "--", "touch", self.dir / "ran")
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 125)
        self.assertEqual((text.count("\n"), done.stdout), (1, b""), text)
        self.assertRegex(text, r"^bpfmon: .*(root|sudo|privilege)")
        self.assertNotIn("libbpf", text)
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_force_keeps_the_old_file_when_root_is_needed(self):
        old = self.dir / "run"
        old.write_text("old\n")
        os.chown(old, NOBODY, NOBODY)
        self.assertEqual(self.bpfmon("--require", "exact", "--force", "-o", old, "--", "true").returncode, 125)
        self.assertEqual(old.read_text(), "old\n")
        self.assertEqual(list(self.dir.iterdir()), [old])

    def test_sudo_uid_of_a_caller_without_root_is_not_trusted(self):
        done = self.bpfmon("--user", "--", "true", env={**os.environ, "SUDO_UID": "1", "SUDO_GID": "1"})
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_check_says_first_by_which_source_a_run_is_measured_and_why(self):
        done = self.bpfmon("check")
        self.assertEqual(done.returncode, 0)
        first, *rows = done.stdout.decode().splitlines()
        self.assertRegex(first, "^BPF is unavailable; runs are measured from /proc, .*needs root.*; try sudo bpfmon$")
        (row,) = [line for line in rows if line.startswith("privilege")]
        self.assertIn("missing", row)
        first = json.loads(self.bpfmon("check", "--json").stdout.decode().splitlines()[0])
        self.assertEqual((first["name"], first["available"], first["source"]), ("source of a run", True, "procfs"))
        self.assertNotIn(b"libbpf", done.stderr)

    def test_check_of_root_finds_what_it_needs(self):
        done = subprocess.run([BPFMON, "check", "-v"], stdout=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout.decode(), r"(?m)^following processes +available$")
        self.assertTrue(done.stdout.startswith(b"Runs are measured with BPF (you are root)"))

    def test_check_lists_what_is_missing_and_with_v_all(self):
        short, whole = (said_by(BPFMON, "check", *options, "--inject-no-program", "peak__rss").splitlines() for options in ((), ("-v",)))
        missing = [line for line in whole if " missing: " in line]
        self.assertRegex(missing[0], "^exact peak of the tree +missing: .+")
        self.assertIn("exact peak of the tree", short[0])
        self.assertEqual([line for line in short if " missing: " in line], missing)
        self.assertFalse([line for line in short if re.search(" (available|off: .*|not available, not needed: .*)$", line)])
        rows = [json.loads(line) for line in said_by(BPFMON, "check", "--json", "--inject-no-program", "peak__rss").splitlines()]
        self.assertGreaterEqual({line[:36].strip() for line in whole}, {row["name"] for row in rows[1:] if len(row["name"]) < 36})

    def test_metrics_lists_the_keys_of_a_sample(self):
        self.assertEqual(self.bpfmon("metrics").returncode, 0)
        run = self.run_bpfmon(["true"])
        self.assertEqual(set(plain_kinds()), set(run.meta["units"]))
        self.assertLessEqual(set(plain_kinds()), set(run.meta["capabilities"]))

    def test_help_and_version_work(self):
        for words in (["--help"], ["-h"], ["--version"], ["-V"]):
            done = self.bpfmon(*words)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"bpfmon", done.stdout)

    def test_arguments_that_a_subcommand_does_not_take_are_refused(self):
        for words in (["check", "x"], ["metrics", "--x"]):
            done = self.bpfmon(*words)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))
