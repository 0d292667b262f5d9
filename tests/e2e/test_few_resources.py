# SPDX-License-Identifier: BSD-2-Clause
"""Few descriptors, few processes, a small stack: it works, or ends in one line and a status; nothing is left."""

import ctypes
import json
import os
import pathlib
import resource

from lib.bpfmon import TOP
from lib.faults import Faulty
from lib.live import LiveCase

SAMPLED = True
RUN = TOP / "tests" / "data" / "golden" / "run.jsonl"
CODE = 7


def limited(kind, soft, hard=None):
    return lambda: resource.setrlimit(kind, (soft, hard or soft))


def cgroups_of(pid):
    """Those that --own-cgroup has made for it."""
    return list(pathlib.Path("/sys/fs/cgroup").glob(f"**/bpfmon-{pid}"))


class FewCase(LiveCase):
    def setUp(self):
        super().setUp()
        self.runtime = self.dir / "runtime"
        self.runtime.mkdir(mode=0o700)

    def faulty(self, *words, **kwargs):
        return Faulty(self.dir, words, env={"XDG_RUNTIME_DIR": str(self.runtime)}, **kwargs)

    def run_with(self, *options):
        return self.faulty("--store", "kept.sqlite", "-o", "out.jsonl", *options, "--", "sh", "-c", f"echo ran >ran; exit {CODE}")

    def assert_works_or_is_refused(self, got):
        said = got.stderr.decode()
        self.assertEqual(os.listdir(self.runtime), [], said)
        if "ran" in got.files:
            self.assertEqual(got.code, CODE, said)
            if "warning" not in said and "INCOMPLETE" not in said:
                self.assertTrue(json.loads(got.files["out.jsonl"].splitlines()[-1])["complete"])
            return True
        self.assertEqual((got.code, said.count("\n")), (125, 1), (got.code, said))
        self.assertNotIn("out.jsonl", got.files)
        return False


class Descriptors(FewCase):
    def test_a_run(self):
        for options in ([], ["--marks"], ["--own-cgroup", "--pss", "--exact-peak"]):
            worked = []
            for most in range(4, 75, 4 if options == ["--marks"] else 14):
                with self.subTest(most=most, options=options):
                    got = self.run_with(*options).run(preexec_fn=limited(resource.RLIMIT_NOFILE, most))
                    worked.append(self.assert_works_or_is_refused(got))
                    self.assertEqual(cgroups_of(got.pid), [])
            self.assertIn(True, worked)
            self.assertIn(False, worked)

    def test_what_was_kept(self):
        for words in (["show", RUN], ["export", "-q", "-f", "json", "-o", "out", RUN], ["report", "-q", "-o", "out.html", RUN], ["compare", RUN, RUN]):
            command = self.faulty(*words)
            whole = command.run()
            for most in range(3, 12):
                got = command.run(preexec_fn=limited(resource.RLIMIT_NOFILE, most))
                with self.subTest(words=words, most=most):
                    if got.code != 127:  # the loader could not open the libraries
                        self.assertIn((got.code, got.stderr.count(b"\n")), ((0, 0), (2, 1)), got.stderr)
                        self.assertEqual(set(got.files), set(whole.files) if got.code == 0 else set())


ADDR_NO_RANDOMIZE = 0x0040000


HARD_KIB = 1024


def with_stack(kib, hard_kib=HARD_KIB):
    """So much for the program and the loader: the kernel would put up to 8 KiB of it out of use at random."""

    def prepare():
        if ctypes.CDLL(None, use_errno=True).personality(ADDR_NO_RANDOMIZE) < 0:
            raise OSError(ctypes.get_errno(), "personality")
        resource.setrlimit(resource.RLIMIT_STACK, (kib * 1024, hard_kib * 1024))

    return prepare


class Stack(FewCase):
    def faulty(self, *words, **kwargs):
        """The environment is on the stack, too: with no more of it than is needed."""
        command = super().faulty(*words, **kwargs)
        needed = ("PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "BPFMON_NO_STORE", "LANG")
        command.environment = {key: command.environment[key] for key in needed if key in command.environment}
        return command

    def test_a_run_has_the_limit_that_bpfmon_was_started_with(self):
        for kib in (16, 32, 64):
            with self.subTest(kib=kib):
                command = self.faulty("-q", "--marks", "--pss", "--store", "kept.sqlite", "-o", "out.jsonl", "--", "sh", "-c", "ulimit -s; ulimit -Hs")
                got = command.run(preexec_fn=with_stack(kib))
                self.assertEqual((got.code, got.stdout, got.stderr), (0, f"{kib}\n{HARD_KIB}\n".encode(), b""))
                self.assertTrue(json.loads(got.files["out.jsonl"].splitlines()[-1])["complete"])

    def test_what_was_kept_is_read(self):
        for words in (["show", RUN], ["export", "-f", "influx", RUN], ["report", "-o", "-", RUN], ["compare", RUN, RUN], ["list"], ["store"], ["check"], ["metrics"]):
            command = self.faulty(*words)
            whole = command.run()
            got = command.run(preexec_fn=with_stack(32))
            with self.subTest(words=words):
                self.assertEqual((got.code, got.stderr), (whole.code, whole.stderr))


    def test_a_hard_limit_that_is_too_small_is_named(self):
        """Without CAP_SYS_RESOURCE, which may raise it."""
        for words in (["show", RUN], ["-q", "-o", "out.jsonl", "--", "sh", "-c", "echo ran >ran"]):
            got = self.faulty(*words).run(preexec_fn=with_stack(32, 32))
            if got.code:
                self.assertEqual((got.code, got.stderr.count(b"\n"), got.files), (125, 1, {}))
                self.assertIn(b"ulimit -Hs", got.stderr)


class Processes(FewCase):
    """As a user: for root there is no such limit. The process of the command is that user's, the roles are root's."""

    def test_a_command_that_cannot_fork_still_has_its_own_status(self):
        script = "ulimit -u 1; echo ran >ran; (exit 3) 2>/dev/null; exit 7"
        command = self.faulty("-q", "--user=nobody", "--store", "kept.sqlite", "-o", "out.jsonl", "--", "sh", "-c", script)
        command.prepare = lambda folder: folder.chmod(0o777)
        self.dir.chmod(0o755)
        got = command.run()
        self.assertIn(got.code, (2, 7), got.stderr)  # of a shell that cannot fork it is 2
        self.assertTrue(json.loads(got.files["out.jsonl"].splitlines()[-1])["complete"])
