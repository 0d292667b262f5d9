# SPDX-License-Identifier: BSD-2-Clause
"""`make install-caps`: the members of a group measure without root, others as before, and it can be taken back."""

import grp
import os
import stat
import subprocess

from lib.bpfmon import BUILD, TOP, Case, read_lines

SAMPLED = True
NOBODY = 65534
GROUP = "nogroup" if any(group.gr_name == "nogroup" for group in grp.getgrall()) else grp.getgrgid(NOBODY).gr_name
MEMBER = {"user": NOBODY, "group": NOBODY, "extra_groups": [grp.getgrnam(GROUP).gr_gid]}
STRANGER = {"user": NOBODY - 1, "group": NOBODY - 1, "extra_groups": []}


def capabilities_of(path):
    """As in "cap_bpf,cap_perfmon=ep"; older versions of getcap write another =."""
    said = subprocess.run(["getcap", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    names, _, sets = said.removeprefix(str(path)).strip(" =\n").replace("+", "=").partition("=")
    return ",".join(sorted(names.split(","))) + (f"={sets}" if sets else "")


class InstallCapabilities(Case):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.program = self.dir / "usr" / "bin" / "bpfmon"
        self.copy = self.dir / "usr" / "libexec" / "bpfmon" / "bpfmon"
        self.files = self.dir / "files"  # of its users
        self.files.mkdir()
        self.files.chmod(0o777)

    def make(self, target, **variables):
        names = {"BUILD": BUILD, "DESTDIR": self.dir, "PREFIX": "/usr", "CAPS_GROUP": GROUP, **variables}
        env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        argv = ["make", "-s", "-C", TOP, "-o", "all", target, *(f"{name}={value}" for name, value in names.items())]
        return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120, check=False)

    def make_well(self, target):
        done = self.make(target)
        self.assertEqual(done.returncode, 0, done)
        return done

    def bpfmon(self, *words, who=None):
        argv = [self.program, *map(str, words)]
        return subprocess.run(argv, **(who or MEMBER), cwd="/", capture_output=True, text=True, timeout=60, check=False)

    def start(self, *words, **popen):
        process = subprocess.Popen(words, cwd="/", **popen)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def assert_file_is(self, file, mode, group, capabilities):
        said = file.stat()
        self.assertEqual((oct(stat.S_IMODE(said.st_mode)), said.st_uid, said.st_gid), (oct(mode), 0, group))
        self.assertEqual(capabilities_of(file), capabilities)

    def assert_exact(self, is_exact, who):
        done = self.bpfmon("-q", "--require", "exact", "--", "true", who=who)
        self.assertEqual(done.returncode, 0 if is_exact else 125, done)

    def test_a_copy_is_for_the_group_alone_and_has_two_capabilities(self):
        for _ in ("for the first time", "over it"):
            done = self.make_well("install-caps")
            self.assertIn(f"usermod -aG {GROUP} USER", done.stdout)
            self.assert_file_is(self.copy, 0o750, grp.getgrnam(GROUP).gr_gid, "cap_bpf,cap_perfmon=ep")
            self.assert_file_is(self.program, 0o755, 0, "")
        self.assert_exact(True, MEMBER)
        self.make_well("uninstall-caps")
        self.assertFalse(self.copy.exists())
        self.assert_exact(False, MEMBER)

    def test_others_have_all_that_needs_no_rights(self):
        self.make_well("install-caps")
        with self.assertRaises(PermissionError):
            subprocess.run([self.copy, "--version"], **STRANGER, cwd="/", check=False)
        self.assert_exact(False, STRANGER)
        store = self.files / "store"
        env = {**os.environ, "BPFMON_STORE": str(store)}
        env.pop("BPFMON_NO_STORE")
        page = self.files / "page.html"
        for words in (["-q", "--name", "theirs", "--", "true"], ["list"], ["show"], ["report", "-o", page], ["check"], ["--version"]):
            done = subprocess.run([self.program, *words], **STRANGER, cwd="/", env=env, capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1) if words == ["check"] else (0,), done)
            self.assertIn("theirs" if words == ["list"] else "", done.stdout)

    def test_only_what_may_load_programs_runs_the_copy(self):
        """Which a script that does nothing else stands for here, too: it is executed with the same words and rights."""
        self.make_well("install-caps")
        self.copy.write_text('#!/bin/sh\necho "copy: $*"\n')  # which has no capabilities then
        for words in (["--", "true"], ["-q", "--", "true"], ["attach", "--pid", "1"], ["bench", "--", "true"], ["check"]):
            self.assertEqual(self.bpfmon(*words).stdout, f"copy: {' '.join(words)}\n")
        for words in (["list"], ["span", "x", "--", "true"], ["mark", "-q", "x"], ["jobs"], ["metrics"]):
            self.assertNotIn("copy:", self.bpfmon(*words).stdout)
        for who in (STRANGER, {"user": 0, "group": 0, "extra_groups": []}):
            self.assertNotIn("copy:", self.bpfmon("--version", who=who).stdout)

    def test_a_copy_that_is_the_program_itself_is_not_executed_again(self):
        self.make_well("install")
        (self.copy.parent / "bpfmon").symlink_to(self.program)
        self.assertEqual(self.bpfmon("--version").returncode, 0)
        self.copy.unlink()
        os.link(self.program, self.copy)
        self.assertEqual(self.bpfmon("--version").returncode, 0)

    def test_an_ordinary_installation_over_it_takes_the_capabilities_away(self):
        self.make_well("install-caps")
        self.make_well("install")
        self.assertFalse(self.copy.exists())
        subprocess.run(["setcap", "cap_bpf,cap_perfmon+ep", self.program], check=True)  # as an older install-caps did
        self.program.chmod(0o750)
        self.make_well("install")
        self.assert_file_is(self.program, 0o755, 0, "")
        self.make_well("install-caps")
        self.make_well("uninstall")
        self.assertFalse(self.program.exists() or self.copy.exists())

    def test_a_group_that_is_not_there_is_named_and_no_copy_is_left(self):
        done = self.make("install-caps", CAPS_GROUP="no-such-group")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("there is no group 'no-such-group'", done.stderr)
        self.assertIn("groupadd --system no-such-group", done.stderr)
        self.assertFalse(self.copy.exists())
        self.assert_file_is(self.program, 0o755, 0, "")

    def test_only_root_can(self):
        self.make_well("install")
        done = subprocess.run([self.copy.parent / "install-caps", GROUP], **MEMBER, cwd="/", capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertIn("only root", done.stderr)
        self.assertFalse(self.copy.exists())

    def test_a_member_has_the_numbers_that_root_has(self):
        self.make_well("install-caps")
        command = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1000", "count=77", "status=none"]
        out = self.files / "member.jsonl"
        done = self.bpfmon("-q", "-o", out, "--", *command)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for_root = self.run_bpfmon(command, ["-q"]).processes[0]
        (record,) = [line for line in read_lines(out) if line["kind"] == "process"]
        for key in ("args", "exe", "wchar_bytes", "syscw", "execs", "threads_total", "exit_code"):
            self.assertEqual(record[key], for_root[key], key)
        self.assertEqual((record["wchar_bytes"], set(record)), (77000, set(for_root)))

    def test_root_keeps_all_that_it_has_without_them(self):
        self.make_well("install-caps")
        out = self.files / "root.jsonl"
        roots = {"user": 0, "group": 0, "extra_groups": []}
        done = self.bpfmon("-q", "--exact-peak", "--max-tasks", "200000", "-o", out, "--", "true", who=roots)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("rss_peak_exact_bytes", read_lines(out)[-1])
        others = self.start("sleep", "60", **MEMBER)
        done = self.bpfmon("attach", "-q", "--pid", others.pid, "--duration", "0.1", "-o", out, "--force", who=roots)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_member_attaches_to_its_own_processes_only(self):
        self.make_well("install-caps")
        out = self.files / "attached.jsonl"
        own = self.start("sleep", "60", **MEMBER)
        done = self.bpfmon("attach", "-q", "--pid", own.pid, "--duration", "0.2", "-o", out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([line["pid"] for line in read_lines(out) if line["kind"] == "process"], [own.pid])
        roots = self.start("sleep", "60")
        for words, said in (
            (["--pid", roots.pid], f"process {roots.pid} belongs to another user"),
            (["--cgroup", "/"], "--cgroup needs root"),
        ):
            done = self.bpfmon("attach", *words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done)
            self.assertIn(said, done.stderr)
            self.assertIn("use sudo", done.stderr)
