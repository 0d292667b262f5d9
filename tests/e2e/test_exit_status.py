# SPDX-License-Identifier: BSD-2-Clause
"""How the command ended is how bpfmon ends."""

import os
import resource
import subprocess

from lib.bpfmon import BPFMON, Case, truth


class ExitStatus(Case):
    def check_code(self, code):
        run = self.run_bpfmon([truth("exitwith"), str(code)])
        self.assertEqual(run.code, code)
        self.assertEqual((run.summary["exit_code"], run.summary["signal"]), (code, None))
        self.assertEqual(run.processes[0]["exit_code"], code)
        self.assert_complete(run)
        self.assertIn(f"ended with {code} ", run.stderr)

    def test_exit_code_0_is_passed_on(self):
        self.check_code(0)

    def test_exit_code_43_is_passed_on(self):
        self.check_code(43)

    def test_exit_code_255_is_passed_on(self):
        self.check_code(255)

    def test_a_command_that_ends_with_125_still_has_its_account(self):
        self.check_code(125)

    def check_signal(self, sig):
        run = self.run_bpfmon([truth("selfkill"), str(sig)])
        self.assertEqual(run.code, -sig)
        self.assertEqual((run.summary["exit_code"], run.summary["signal"]), (None, sig))
        self.assertEqual((run.processes[0]["exit_code"], run.processes[0]["signal"]), (None, sig))
        self.assert_complete(run)
        self.assertIn(f"killed by signal {sig} ", run.stderr)

    def test_death_by_sigkill_is_repeated(self):
        self.check_signal(9)

    def test_death_by_sigsegv_is_repeated(self):
        self.check_signal(11)

    def test_death_by_sigterm_is_repeated(self):
        self.check_signal(15)

    def test_death_by_sigint_is_repeated(self):
        self.check_signal(2)

    def test_death_by_sigpipe_is_repeated(self):
        self.check_signal(13)

    def test_death_by_a_real_time_signal_is_repeated(self):
        self.check_signal(40)

    def test_a_signal_that_dumps_core_leaves_only_the_core_of_the_command(self):
        def prepare():
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            os.chdir(self.dir)

        def status_of(argv):
            process = subprocess.Popen(argv, preexec_fn=prepare, stderr=subprocess.DEVNULL)
            _, status, _ = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            return status

        command = ["sh", "-c", "kill -SEGV $$"]
        if not os.WCOREDUMP(status_of(command)):
            self.skipTest("the kernel dumps no core of a process that may (kernel.core_pattern, or its program)")
        core = list(self.dir.iterdir())  # one, if it goes into the directory at all
        for path in core:
            path.unlink()
        status = status_of([BPFMON, "-q", "--", *command])
        self.assertEqual(os.WTERMSIG(status), 11)
        self.assertFalse(os.WCOREDUMP(status))
        self.assertEqual(len(list(self.dir.iterdir())), len(core))

    def check_not_run(self, command, code, word):
        run = self.run_bpfmon(command)
        self.assertEqual(run.code, code, run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertIn(command[0], run.stderr)
        self.assertIn(word, run.stderr)
        self.assertEqual(list(self.dir.glob("run-*")), [], "an output of nothing is left")

    def test_a_command_that_is_not_found_is_127(self):
        self.check_not_run(["bpfmon-no-such-command"], 127, "No such file")

    def test_a_path_that_is_not_found_is_127(self):
        self.check_not_run(["/nowhere/command"], 127, "No such file")

    def test_a_file_that_is_not_executable_is_126(self):
        file = self.dir / "plain"
        file.write_text("#!/bin/sh\n")
        self.check_not_run([str(file)], 126, "Permission denied")

    def test_a_directory_is_126(self):
        self.check_not_run([str(self.dir)], 126, "Permission denied")

    def test_a_file_of_an_unknown_format_is_a_script_as_execvp_has_it(self):
        file = self.dir / "script"
        file.write_text("exit 17\n")
        file.chmod(0o755)
        self.assertEqual(self.run_bpfmon([str(file)]).code, 17)

    def test_quiet_leaves_stderr_to_the_command(self):
        for option in ("-q", "--quiet"):
            run = self.run_bpfmon(["sh", "-c", "echo mine >&2; exit 3"], [option])
            self.assertEqual((run.code, run.stderr), (3, "mine\n"))
            self.assert_complete(run)

    def test_without_quiet_the_summary_is_on_stderr_only(self):
        run = self.run_bpfmon(["echo", "words"])
        self.assertEqual(run.stdout, b"words\n")
        self.assertIn("complete: nothing was lost", run.stderr)
