# SPDX-License-Identifier: BSD-2-Clause
"""The wrapper of the shell: its spans, and that nothing else about a job changes."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest.mock

from lib.bpfmon import BPFMON, BUILD, Case, truth

SAMPLED = True
WRAPPER = str(BUILD / "libexec" / "bash")
GONE = {"BPFMON_SPAN_SOCKET": "@bpfmon-span-of-a-run-that-has-ended"}
# all that a shell can see of its caller, but for the variables that name its run
LOOK = """
printf '%s\\n' "$0" "$#" "$@" "$-" "$PWD"
open=(/proc/$$/fd/*)
readlink "${open[@]}" || :
umask; grep '^Sig[BI]' /proc/self/status
env | grep -v '^BPFMON_\\|^_=' | sort
cat
exit 43
"""
# executes a shell with the longest arguments with which one can be started outside of a run
LONGEST = """
import os, subprocess, sys
real = os.environ["BPFMON_SPAN_SOCKET"]
words = [sys.argv[1], "-c", ":", *["x" * 100000] * 20]
def fits(n):
    env = {**os.environ, "BPFMON_SPAN_SOCKET": "@" + "x" * (len(real) - 1)}
    try:
        return subprocess.run([*words, *["y" * 100000] * (n // 100000), "y" * (n % 100000)], env=env).returncode == 0
    except OSError:
        return False
low, high = 0, 64 << 20
while high - low > 1:
    middle = (low + high) // 2
    low, high = (middle, high) if fits(middle) else (low, middle)
os.execv(words[0], [*words, *["y" * 100000] * (low // 100000), "y" * (low % 100000)])
"""
CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")


def shell(*words, **kwargs):
    kwargs.setdefault("timeout", 120)
    return subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **kwargs)


class WrapperCase(Case):
    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_quietly(self, *command, **kwargs):
        run = self.run_bpfmon([str(word) for word in command], ["-q"], cwd=self.dir, **kwargs)
        self.assertEqual(run.stderr, "")
        self.assert_complete(run)
        return run

    def make(self, makefile, *words):
        self.write("Makefile", makefile)
        run = self.run_quietly("make", "-s", "-j4", f"SHELL={WRAPPER}", *words)
        self.assertEqual(run.code, 0)
        return run

    def names(self, run):
        return sorted(span["name"] for span in run.kind("span"))

    def parents(self, run):
        """The names of each span and of the one that it is in."""
        by_id = {span["id"]: span["name"] for span in run.kind("span")}
        return sorted((by_id.get(span.get("parent")), span["name"]) for span in run.kind("span"))


class Make(WrapperCase):
    def test_each_line_of_a_recipe_is_a_span_named_after_its_program(self):
        run = self.make("all: a b\n\t@sort /dev/null\na b:\n\t@cd / && X=1 cat /dev/null; true\n\t@exit 0\n")
        self.assertEqual(self.names(run), ["cat", "cat", "exit", "exit", "sort"])

    def test_shell_flags_name_it_after_its_target(self):
        flags = ".SHELLFLAGS=--span-name='$@' --span-tag=in='$(CURDIR)' -e -c"
        run = self.make("all: dir/a.o\n\t@sort /dev/null\ndir/a.o:\n\t@true; cat /dev/null\n", flags)
        spans = {span["name"]: span["tags"] for span in run.kind("span")}
        folder = str(self.dir)
        self.assertEqual(
            spans, {"all": {"command": "sort", "in": folder}, "dir/a.o": {"command": "cat", "in": folder}}
        )

    def test_a_make_in_a_recipe_has_spans_within_its_own(self):
        self.write("Inner", "x:\n\t@cat /dev/null\n")
        run = self.make("all:\n\t@$(MAKE) -f Inner\n\t@sort /dev/null\n", ".SHELLFLAGS=--span-name='$@' -c")
        by_id = {span["id"]: span for span in run.kind("span")}
        (inner,) = [span for span in run.kind("span") if span["name"] == "x"]
        self.assertEqual(by_id[inner["parent"]]["tags"], {"command": "make"})
        self.assertEqual(len(by_id), 3)

    def test_the_function_shell_of_make_is_a_span_too(self):
        run = self.make("X := $(shell uname)\nall:\n\t@cat /dev/null\n", ".SHELLFLAGS=--span-name='$@' -c")
        self.assertEqual(self.names(run), ["all", "uname"])

    def test_a_recipe_that_fails_fails(self):
        self.write("Makefile", "a:\n\t@exit 3\n")
        run = self.run_bpfmon(["make", "-s", f"SHELL={WRAPPER}"], ["-q"], cwd=self.dir)
        self.assertEqual(run.code, 2)
        self.assertIn("Error 3", run.stderr)
        self.assertEqual([span["exit_code"] for span in run.kind("span")], [3])


class Jobs(WrapperCase):
    def test_snakemakes_script_names_it_after_the_rule(self):
        properties = {"type": "single", "rule": "align", "input": ["a}"], "wildcards": {"sample": "A7"}, "params": {}}
        script = self.write("snakejob.align.1.sh", f"#!/bin/sh\n# properties = {json.dumps(properties)}\nexit 5\n")
        run = self.run_quietly(WRAPPER, script)
        (span,) = run.kind("span")
        self.assertEqual((span["name"], span["exit_code"]), ("align", 5))
        self.assertEqual(span["tags"], {"rule": "align", "sample": "A7"})

    def test_nextflows_script_names_it_after_the_process(self):
        script = self.write("work/.command.sh", "#!/bin/bash -ue\nexit 6\n")
        self.write("work/.command.run", "#!/bin/bash\n### ---\n# NEXTFLOW TASK: align (A7)\nset -e\n")
        run = self.run_quietly(WRAPPER, "-ue", script)
        (span,) = run.kind("span")
        self.assertEqual((span["name"], span["exit_code"]), ("align", 6))
        self.assertEqual(span["tags"], {"task": "align (A7)"})

    def test_a_script_names_it_after_its_file(self):
        run = self.run_quietly(WRAPPER, self.write("x/run.sh", "exit 0\n"))
        self.assertEqual(self.names(run), ["run.sh"])

    def test_a_shell_that_a_job_starts_is_part_of_it(self):
        inner = self.write("inner.sh", "#!/usr/bin/env bash\ntype -P bash\n")
        inner.chmod(0o755)
        path = f"{pathlib.Path(WRAPPER).parent}:{os.environ['PATH']}"
        run = self.run_quietly(WRAPPER, "-c", f"{inner}; bash -c 'exit 0'; uname", env={"PATH": path})
        self.assertEqual(self.names(run), ["inner.sh"])
        self.assertEqual(run.stdout.split()[0].decode(), WRAPPER)

    def test_sum_of_the_spans_is_that_of_the_processes(self):
        """To the nanosecond, but for what a process has used before its span began."""
        self.write("busy", "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done\n")
        run = self.make("all: 1 2 3\n1 2 3:\n\t@bash busy & bash busy; wait\n")
        for span in run.kind("span"):
            records = [p for p in run.processes if p.get("span") == span["id"]]
            self.assertEqual(len(records), span["processes_total"])
            used = sum(round(p["cpu_seconds"] * 1e9) for p in records)
            others = sum(round(p["cpu_seconds"] * 1e9) for p in records if p["pid"] != span["pid"])
            self.assertLessEqual(others, round(span["cpu_seconds"] * 1e9))
            self.assertLessEqual(round(span["cpu_seconds"] * 1e9), used)


class Transparent(WrapperCase):
    """A shell cannot tell the wrapper from bash."""

    def looks(self, program, *words, env=None, within=()):
        return shell(
            *within, program, *words, env={**os.environ, **(env or {})}, input=b"input", cwd=self.dir
        )

    def assert_same(self, *words, **env):
        bash = shutil.which("bash", path="/bin")
        expected = subprocess.run(
            [WRAPPER, *words],  # as argv[0]
            executable=bash, input=b"input", cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
        )
        alone = self.looks(WRAPPER, *words)
        gone = self.looks(WRAPPER, *words, env=GONE)
        within = self.looks(WRAPPER, *words, within=[BPFMON, "-q", "--"])
        for found in (alone, gone, within):
            self.assertEqual(self.plain(found), self.plain(expected))
        return expected

    def plain(self, done):
        """Status and output, without the numbers of pipes."""
        return (done.returncode, re.sub(r"pipe:\[\d+\]", "pipe", done.stdout.decode()), done.stderr.decode())

    def test_a_text_has_the_same_words_descriptors_variables_and_status(self):
        self.assertEqual(self.assert_same("-euo", "pipefail", "-c", LOOK, "name", "a b", "", "$x").returncode, 43)

    def test_a_script_has_them_too(self):
        script = self.write("look.sh", LOOK)
        self.assertEqual(self.assert_same("-u", str(script), "-c", "--span-name=x").returncode, 43)

    def test_standard_input_is_executed_as_before(self):
        self.assertEqual(self.assert_same("-s", "a", "b").returncode, 127)  # "input" is no command

    def test_a_text_that_is_no_shell_has_the_same_message(self):
        self.assertEqual(self.assert_same("-c", "if").returncode, 2)

    def test_death_by_a_signal_is_the_jobs(self):
        self.assertEqual(self.assert_same("-c", "kill -9 $$").returncode, -9)

    def test_variables_get_one_more_and_only_within_a_span(self):
        def names(**env):
            words = [*env.pop("within", ()), WRAPPER, "-c", "env -0"]
            found = shell(*words, env={**os.environ, **env}).stdout.decode().split("\0")
            return {row.partition("=")[0] for row in found if row} - {"BPFMON_SPAN_SOCKET"}

        self.assertEqual(names(), names(**GONE))
        self.assertEqual(names(within=[BPFMON, "-q", "--"]) - names(), {"BPFMON_SPAN_SHELL"})

    def test_a_plain_command_is_executed_without_a_shell(self):
        """One exec of it, as by make's usual shell: bpfmon's child, the wrapper, the command."""
        for name in [name for name in os.environ if name.startswith("BASH_FUNC_")]:
            self.enterContext(unittest.mock.patch.dict(os.environ))  # which bash would read
            del os.environ[name]
        for text, execs in (("sort /dev/null", 2), ("sort </dev/null", 3)):
            # a span that is refused is told on stderr
            run = self.run_bpfmon([WRAPPER, "-ec", text], ["-q"], env={"BPFMON_SPAN_VERBOSE": "1"})
            self.assertEqual((run.code, run.stderr, run.summary["execs"]), (0, "", execs), run.lines)
            self.assertEqual(self.names(run), ["sort"])

    def test_bash_knows_its_own_commands(self):
        """All of them: each is left to the shell."""
        words = shell("/bin/bash", "-c", "compgen -b; compgen -k").stdout.decode().split()
        plain = [word for word in words if re.fullmatch(r"[\w.:]+", word)]
        self.assertGreater(len(plain), 60)
        table = (pathlib.Path(__file__).resolve().parents[2] / "user/shell/shell_words.c").read_text()
        table = table[table.index("own_words[] = {"):]
        table = table[:table.index("};")]
        self.assertEqual([word for word in plain if f'"{word}"' not in table], [])

    def test_a_plain_command_that_fails_has_the_messages_of_bash(self):
        (self.dir / "folder").mkdir()
        self.write("text", "exit 12\n").chmod(0o755)
        self.write("no", "exit 0\n").chmod(0o644)
        self.write("bad", "#!/nonexistent/interpreter\n").chmod(0o755)
        for text in ("no-such-program a", "./none", "./folder", "./text", "./no", "./bad", "sort --no-such-option"):
            self.assertNotEqual(self.assert_same("-c", text).returncode, 0)

    def test_what_bash_reads_from_the_environment_is_read(self):
        self.write("rc", "sort() { echo mine; }\n")
        for env in ({"BASH_ENV": str(self.dir / "rc")}, {"BASH_FUNC_sort%%": "() { echo mine\n}"}):
            run = self.run_bpfmon([WRAPPER, "-c", "sort /dev/null"], ["-q"], env=env)
            self.assertEqual(run.stdout, b"mine\n")
        run = self.run_bpfmon([WRAPPER, "-c", "sort /dev/null"], ["-q"], env={"SHELLOPTS": "xtrace"})
        self.assertIn("+ sort /dev/null", run.stderr)

    def test_it_is_silent_about_a_span_that_is_refused_unless_asked(self):
        quiet = shell(WRAPPER, "-c", "sort </dev/null", env={**os.environ, **GONE})
        self.assertEqual((quiet.returncode, quiet.stderr), (0, b""))
        verbose = shell(WRAPPER, "-c", "sort </dev/null", env={**os.environ, **GONE, "BPFMON_SPAN_VERBOSE": "1"})
        self.assertEqual(verbose.returncode, 0)
        self.assertRegex(verbose.stderr, rb"\Abpfmon: span 'sort': .*refused\n\Z")

    def test_the_longest_arguments_that_bash_takes_are_not_too_long(self):
        """The variable is left out where it is what does not fit."""
        run = self.run_bpfmon([sys.executable, "-c", LONGEST, WRAPPER], ["-q", "--no-args"])
        self.assertEqual((run.code, run.stderr), (0, ""))
        self.assertEqual(len(run.kind("span")), 1)

    def in_namespace(self, script):
        """A shell script with mounts of its own."""
        return shell("unshare", "--mount", "sh", "-c", f"set -e; {script}", env={**os.environ, "W": WRAPPER})

    def test_it_never_executes_itself(self):
        done = self.in_namespace('mount --bind "$W" "$(readlink -f /bin/bash)"; PATH="${W%/*}:$PATH" "$W" -c "readlink /proc/\\$\\$/exe"')
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout.decode().strip(), os.path.realpath("/bin/sh"))

    def test_two_copies_do_not_execute_each_other_for_ever(self):
        for name in ("a", "b", "bin"):
            (self.dir / name).mkdir()
        shutil.copy(WRAPPER, self.dir / "a/bash")
        shutil.copy(WRAPPER, self.dir / "b/bash")
        shutil.copy(truth("exitwith"), self.dir / "bin/sh")
        done = shell(CHROOT, self.dir, "/a/bash", "7", env={"PATH": "/a:/b"})
        self.assertEqual((done.returncode, done.stderr), (7, b""))

    def test_without_any_shell_it_fails_with_one_line(self):
        shutil.copy(WRAPPER, self.dir / "bash")
        done = shell(CHROOT, self.dir, "/bash", "-c", "x", env={"PATH": "/nonexistent"})
        self.assertEqual(done.returncode, 127)
        self.assertRegex(done.stderr, rb"\Abpfmon: cannot execute a shell: .*\n\Z")


class Install(WrapperCase):
    def test_make_install_puts_it_below_the_prefix_and_uninstall_removes_it(self):
        top = pathlib.Path(__file__).resolve().parents[2]
        words = ["make", "-s", "-C", top, f"BUILD={BUILD}", f"DESTDIR={self.dir}", "PREFIX=/usr"]
        env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
        self.assertEqual(shell(*words, "install", env=env, timeout=600).returncode, 0)
        at = self.dir / "usr/libexec/bpfmon/bash"
        self.assertEqual(shell(at, "-c", "exit 9").returncode, 9)
        self.assertEqual(shell(*words, "uninstall", env=env, timeout=600).returncode, 0)
        self.assertFalse(at.parent.exists())
