# SPDX-License-Identifier: BSD-2-Clause
"""The N-th allocation of a role fails: nothing is run, or the command is unharmed and what is missing is reported."""

import json
import os

from lib.faults import COLLECTOR, COMMAND, LAUNCHER, RECORDER, Faulty, each_call
from lib.live import LiveCase

SAMPLED = True
STEP = 23
CODE = 7


def shape(text):
    """Of lines what does not change from run to run: kinds and keys."""
    lines = [json.loads(line) for line in text.decode().splitlines()]
    return [(line["kind"], sorted(line)) for line in lines if line["kind"] not in ("sample", "event")]


class RoleCase(LiveCase):
    def run_words(self, *options):
        """A run with a file, a store and the summary for people."""
        run = ["--summary", "full", "--store", "kept.sqlite", "-o", "out.jsonl", "-i", "0.05", *options]
        return [*run, "--", "sh", "-c", f"echo ran >ran; (exit 3); exit {CODE}"]

    def sweep_role(self, role, *options, step=STEP):
        runtime = self.dir / "runtime"  # where the folder for marks is
        runtime.mkdir(mode=0o700, exist_ok=True)
        command = Faulty(self.dir, self.run_words(*options), env={"XDG_RUNTIME_DIR": str(runtime)})
        whole = command.run()
        self.assertEqual(whole.code, CODE, whole.stderr)
        self.assertIn(b"complete: nothing was lost", whole.stderr)
        for at in each_call(step, role):
            got = command.run("allocation", at, role, number=at % 2)
            with self.subTest(role=role, options=options, at=at):
                self.assert_unharmed(got, whole)
                self.assertEqual(os.listdir(runtime), [])
            if not got.has_failed:
                break

    def assert_unharmed(self, got, whole):
        said = got.stderr.decode()
        if "ran" not in got.files:
            self.assertEqual((got.code, said.count("\n")), (125, 1), (got.code, said))
            self.assertIn("memory", said)
            self.assertEqual({name for name in got.files if ".sqlite" not in name}, set(), "a file is left")
            return
        self.assertEqual(got.code, CODE, said)
        if got.has_failed and "memory" not in said:
            self.assertIn("complete: nothing was lost", said)
            self.assertEqual(shape(got.files["out.jsonl"]), shape(whole.files["out.jsonl"]))
        for line in got.files.get("out.jsonl", b"").splitlines():
            json.loads(line)


class Roles(RoleCase):
    def test_the_launcher(self):
        self.sweep_role(LAUNCHER)
        self.sweep_role(LAUNCHER, "--own-cgroup")

    def test_the_process_of_the_command(self):
        self.sweep_role(COMMAND)

    def test_the_recorder(self):
        self.sweep_role(RECORDER)
        self.sweep_role(RECORDER, "-o", "out.csv", "-o", "out.txt")

    def test_the_collector(self):
        self.sweep_role(COLLECTOR)
        self.sweep_role(COLLECTOR, "--pss", "--exact-peak", "--process-samples", "5")

    def test_the_reader_of_the_revision(self):
        self.sweep_role(COLLECTOR + 1)

    def test_with_marks_there_is_a_keeper_before_them(self):
        for role in range(LAUNCHER, COLLECTOR + 2):
            self.sweep_role(role, "--marks", "--metrics-udp=0")
