# SPDX-License-Identifier: BSD-2-Clause
"""What options do, and that a bad one is refused in one line before anything is run."""

import os
import pathlib
import re
import subprocess

from lib.account import metric_kinds
from lib.bpfmon import BPFMON, Case, truth

SAMPLED = True
BAD_INTERVALS = ["0", "-1", "abc", "1e-9", "5ms", "inf", "nan", "", " 1", "1x", "1 s", "0.0099", "1e99", "infinity", "0x"]
BAD_OPTIONS = [
    ["--no-such-option"],
    ["-Z"],
    ["-qZ"],
    ["--quiet=1"],
    ["--exact-peak=1"],
    ["--force=yes"],
    ["-f", "xml", "-o", "run"],
    ["--format", "", "-o", "run"],
    ["-f", "csv"],
    ["--metrics", "no_such_metric"],
    ["--metrics", "cpu,,io"],
    ["--metrics", ""],
    ["--pss=0"],
    ["--pss=51"],
    ["--pss=much"],
    ["--wait", "forever"],
    ["--wait", ""],
    ["--record-as", "nobody"],
    ["--user="],
    ["--marks=1"],
    ["--metrics-udp", ""],
    ["--metrics-udp", "65536"],
    ["--metrics-udp", "-1"],
    ["--metrics-udp", "localhost:8092"],
    ["--max-tasks", "0"],
    ["--max-tasks", "-1"],
    ["--max-tasks", "4194305"],
    ["--max-tasks", "99999999999999999999"],
    ["--max-tasks", "10k"],
    ["--inject-misses", "0"],
    ["--inject-misses", "1000"],
    ["--inject-slow-pss", "0"],
    ["--inject-slow-pss", "86400001"],
    ["--inject-no-program", ""],
    ["--inject-no-program", "follow__exit"],
    ["--inject-no-program", "oom__victim:load"],
    ["-o", ""],
    ["-o", "csv:"],
    *(["-o", "/dev/null"] * n for n in (100,)),
]
BAD_VARIABLES = {
    "BPFMON_INTERVAL": "never",
    "BPFMON_METRICS": "nothing",
    "BPFMON_WAIT": "long",
    "BPFMON_MAX_TASKS": "many",
    "BPFMON_RECORD_AS": "king",
    "BPFMON_FORMAT": "xml",
    "BPFMON_METRICS_UDP": "all",
}


class Refusals(Case):
    def bpfmon(self, words, command=None, env=None):
        argv = [BPFMON, *words, "--", *(["touch", "ran"] if command is None else command)]
        return subprocess.run(
            argv,
            cwd=self.dir,
            env={**os.environ, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )

    def assert_refused(self, done, word=""):
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 125, text)
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.startswith("bpfmon: "), text)
        self.assertIn(word, text)
        self.assertEqual((list(self.dir.iterdir()), done.stdout), ([], b""))

    def test_bad_intervals_are_refused(self):
        for text in BAD_INTERVALS:
            with self.subTest(text):
                self.assert_refused(self.bpfmon(["-i", text]), "--interval")
                self.assert_refused(self.bpfmon([f"--interval={text}"]), f"'{text}'")

    def test_bad_options_are_refused(self):
        for words in BAD_OPTIONS:
            with self.subTest(words[:2]):
                self.assert_refused(self.bpfmon(words))

    def test_an_unknown_program_is_named(self):
        self.assert_refused(self.bpfmon(["--inject-no-program", "no__such"]), "does not accept 'no__such'")

    def test_an_unknown_option_is_named(self):
        self.assert_refused(self.bpfmon(["--no-such-option"]), "--no-such-option")
        self.assert_refused(self.bpfmon(["-qZ"]), "-Z")

    def test_a_missing_value_is_refused(self):
        for word in ("-i", "-o", "-f", "--interval", "--output", "--format", "--metrics", "--wait", "--max-tasks"):
            with self.subTest(word):
                argv = [BPFMON, "-q", word]
                done = subprocess.run(argv, cwd=self.dir, capture_output=True, timeout=60, check=False)
                self.assert_refused(done, word)

    def test_no_command_is_refused(self):
        self.assert_refused(self.bpfmon([], command=[]), "command")
        self.assert_refused(self.bpfmon(["-q", "-o", "run"], command=[]), "command")

    def test_an_empty_command_name_is_not_found(self):
        self.assertEqual(self.bpfmon([], command=[""]).returncode, 127)

    def test_a_bad_variable_is_refused_by_its_name(self):
        for name, value in BAD_VARIABLES.items():
            with self.subTest(name):
                self.assert_refused(self.bpfmon([], env={name: value}), name)


class Meaning(Case):
    def test_the_interval_takes_fractions_and_units(self):
        for text, seconds in (("0.05", 0.05), ("50ms", 0.05), (".5", 0.5), ("2s", 2), ("10ms", 0.01), ("1", 1)):
            self.assertEqual(self.run_bpfmon(["true"], ["-i", text]).meta["interval_seconds"], seconds)

    def test_the_interval_is_a_second_by_default(self):
        self.assertEqual(self.run_bpfmon(["true"]).meta["interval_seconds"], 1)

    def test_the_environment_sets_options_and_the_command_line_wins(self):
        env = {"BPFMON_INTERVAL": "0.05", "BPFMON_QUIET": "1", "BPFMON_VERBOSE": "0"}
        run = self.run_bpfmon(["true"], env=env)
        self.assertEqual((run.meta["interval_seconds"], run.stderr), (0.05, ""))
        run = self.run_bpfmon(["true"], ["--interval", "0.5"], env=env)
        self.assertEqual(run.meta["interval_seconds"], 0.5)

    def test_options_end_at_the_dashes(self):
        run = subprocess.run([BPFMON, "-q", "--", "echo", "-i", "--help"], stdout=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stdout), (0, b"-i --help\n"))

    def test_metrics_chooses_groups_and_keys(self):
        run = self.run_bpfmon(["true"], ["--metrics", "io,rss_bytes"])
        wanted = {key for key, (group, _) in metric_kinds().items() if group == "io"} | {"rss_bytes"}
        for sample in run.samples:
            self.assertEqual(set(sample) - {"kind", "time", "elapsed_seconds"}, wanted)
        self.assertNotIn("cpu_seconds", run.summary)

    def test_no_args_keeps_command_lines_out_of_everything(self):
        command = ["sh", "-c", "echo secret-word >/dev/null; true secret-word; sh -c 'true secret-word'"]
        run = self.run_bpfmon(command, ["--no-args"])
        self.assertNotIn("secret-word", str(run.lines) + run.stderr)
        self.assertIn("secret-word", str(self.run_bpfmon(command).lines))

    def test_wait_tree_waits_for_the_last_descendant(self):
        run = self.run_bpfmon([truth("daemon"), "300"], ["--wait", "tree"])
        self.assert_complete(run)
        self.assertEqual((run.summary["processes_total"], run.summary["outlived"]), (3, 0))
        self.assertGreaterEqual(run.summary["cpu_seconds"], 0.3)

    def test_wait_command_is_the_default_and_counts_processes_that_outlive_it(self):
        for options in ([], ["--wait", "command"]):
            run = self.run_bpfmon([truth("daemon"), "300"], options)
            self.assert_complete(run)
            self.assertEqual((run.summary["processes_total"], run.summary["outlived"]), (3, 1))

    def test_more_tasks_than_there_is_room_for_are_counted_as_lost(self):
        run = self.run_bpfmon([truth("liveprocs"), "300", "0.1"], ["--max-tasks", "50"])
        self.assertEqual(run.code, 0)
        self.assertFalse(run.summary["complete"])
        self.assertIn("--max-tasks", run.summary["reason"])
        self.assertTrue(run.summary["losses"])
        self.assertIn("INCOMPLETE", run.stderr)

    def test_injected_misses_are_repaired_or_counted_as_lost(self):
        run = self.run_bpfmon([truth("forkonly"), "500"], ["--inject-misses", "200"])
        self.assertEqual(run.code, 0)
        if run.summary["complete"]:
            self.assertEqual(run.summary["processes_total"], 501)
        else:
            self.assertTrue(run.summary["losses"], run.summary)

    def test_programs_that_are_refused_change_no_result(self):
        options = ["--inject-no-program", "oom__victim", "--inject-no-program=memory__offsets:attach"]
        run = self.run_bpfmon([truth("exitwith"), "5"], options)
        self.assertEqual(run.code, 5)
        self.assert_complete(run)
        self.assertNotIn("oom_kills", run.summary)
        self.assertIs(run.meta["altered_for_tests"], True)

    def test_verbose_changes_no_result(self):
        for option in ("-v", "--verbose"):
            run = self.run_bpfmon([truth("exitwith"), "5"], [option])
            self.assertEqual(run.code, 5)
            self.assert_complete(run)
            self.assertNotIn("altered_for_tests", run.meta)

    def test_verbose_prints_what_is_loaded_what_is_missing_and_where_the_run_goes(self):
        run = self.run_bpfmon(["sh", "-c", "echo $$"], ["-v", "-q", "-o", "/dev/null", "--max-tasks", "4321"])
        pid = run.stdout.decode().strip()
        self.assertIn("room for 4321 tasks\n", run.stderr)
        self.assertIn("bpfmon: writing the run to '/dev/null' as jsonl\n", run.stderr)
        self.assertRegex(run.stderr, rf"bpfmon: started the command as process {pid}\n")
        for key, said in run.meta["capabilities"].items():
            told = f"bpfmon: {key} is not available: {said.get('reason')}\n" in run.stderr
            self.assertEqual(told, not said["available"], key)

    def test_block_io_without_a_cgroup_is_a_warning(self):
        run = self.run_bpfmon(["true"], ["--block-io"])
        self.assertEqual(run.code, 0)
        self.assertIn("--block-io has no effect", run.stderr)

    def test_the_number_of_peers_has_bounds(self):
        for number in ("0", "1001", "many"):
            run = self.run_bpfmon(["true"], [f"--net-peers={number}"])
            self.assertEqual(run.code, 125, run.stderr)
            self.assertIn("--net-peers", run.stderr)

    def test_every_option_of_the_help_is_in_a_test(self):
        text = subprocess.run([BPFMON, "--help"], stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode()
        options = re.findall(r"^ +(-\w)?,? *(--[\w-]+)", text, re.M)
        self.assertGreater(len(options), 10)
        sources = "".join(path.read_text() for path in pathlib.Path(__file__).parent.glob("test_*.py"))
        for pair in options:
            for word in filter(None, pair):
                self.assertRegex(sources, rf"[\"']{word}[\"'=]", word)
