# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon bench: runs in turns, what it says of them, and what is kept; hyperfine and the commands themselves are the witnesses."""

import csv
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from lib.bpfmon import BPFMON, truth
from lib.live import PATIENCE, wait_for
from lib.store import StoreCase
from lib.terminal import CTRL_C, Terminal

SAMPLED = True


def processes_of(word):
    """The processes with this word in their command line or environment."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


class BenchCase(StoreCase):
    def bench(self, *words, code=0, **kwargs):
        done = self.bpfmon("bench", *words, **kwargs)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def results(self, *words, **kwargs):
        """What --export-json writes."""
        path = self.dir / "results.json"
        self.bench("--force", "--export-json", path, *words, **kwargs)
        return json.loads(path.read_text())["results"]

    def noted(self, name="log"):
        path = self.dir / name
        return path.read_text().split() if path.exists() else []


class Runs(BenchCase):
    def test_each_command_runs_as_often_as_asked_and_each_run_is_kept_but_warm_ups(self):
        log = self.dir / "log"
        done = self.bench("-n", 3, "-w", 2, "--name", "two", "--tag", "own=x", f"echo a >>{log}", f"echo b >>{log}")
        noted = self.noted()
        self.assertEqual(sorted(noted), ["a"] * 5 + ["b"] * 5)
        for i in range(0, 10, 2):  # each round has both
            self.assertEqual(set(noted[i:i + 2]), {"a", "b"})
        runs = self.list("--name", "two")
        self.assertEqual(len(runs), 6)
        tags = [run["tags"] for run in runs]
        self.assertEqual({(t["case"][5], t["round"]) for t in tags}, {(c, r) for c in "ab" for r in "123"})
        self.assertEqual(len({(t["bench"], t["seed"], t["own"]) for t in tags}), 1)
        self.assertEqual({(run["state"], run["complete"], run["exit_code"]) for run in runs}, {("ended", True, 0)})
        self.assertIn(f"bpfmon compare --tag bench={tags[0]['bench']} --by case", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_the_order_is_that_of_its_seed(self):
        log = self.dir / "log"
        words = ["-n", 6, *(f"echo {c} >>{log}" for c in "abc")]
        self.bench("--seed", 7, *words)
        first = self.noted()
        log.unlink()
        self.bench("--seed", 7, *words)
        self.assertEqual(self.noted(), first)
        log.unlink()
        self.bench("--order", "blocks", *words)
        self.assertEqual(self.noted(), ["a"] * 6 + ["b"] * 6 + ["c"] * 6)

    def test_parameters_stand_in_commands_steps_and_tags(self):
        log = self.dir / "log"
        results = self.results("-n", 2, "-L", "word", "x,y z", "-P", "n", 1, 2, "-p", f"echo p{{n}} >>{log}", "--",
                               "sh", "-c", f"echo $0{{n}} >>{log}", "{word}")
        self.assertEqual(sorted(self.noted()), sorted(["p1", "p2"] * 4 + ["x1", "x2"] * 2 + ["y", "z1", "y", "z2"] * 2))
        self.assertEqual([r["parameters"] for r in results],
                         [{"word": w, "n": n} for n in "12" for w in ("x", "y z")])
        self.assertEqual({(run["tags"]["word"], run["tags"]["n"]) for run in self.list()},
                         {(w, n) for n in "12" for w in ("x", "y z")})

    def test_steps_are_around_the_runs(self):
        log = self.dir / "log"
        steps = [word for letter in "spCc" for word in (f"-{letter}", f"echo {letter} >>{log}")]
        self.bench("-n", 2, *steps, f"echo r >>{log}")
        self.assertEqual("".join(self.noted()), "sprCprCc")

    def test_the_shell_may_have_arguments(self):
        out = self.dir / "out"
        self.bench("-n", 1, "-S", "sh -u -e", "-p", f"echo $- >{out}1", f"echo $- >{out}2")
        for at in "12":
            self.assertLessEqual({"u", "e"}, set((self.dir / f"out{at}").read_text()))

    def test_the_command_sees_its_own_streams_and_no_shell_with_dashes(self):
        out = self.dir / "out"
        self.bench("-n", 1, "--", "sh", "-c", f'readlink /proc/self/fd/0 >{out}; echo "$1" >>{out}', "sh", "$HOME; a")
        self.assertEqual(out.read_text(), "/dev/null\n$HOME; a\n")
        done = self.bench("-n", 2, "--show-output", "echo said")
        self.assertEqual(done.stdout.split("\n")[:2], ["said", "said"])
        self.assertNotIn("said\n", self.bench("-n", 2, "echo said").stdout)


class Figures(BenchCase):
    def test_what_is_measured_is_what_the_program_did(self):
        burn, sleep = self.results("-n", 2, "-N", f"{truth('spin')} 200", "sleep 0.3")
        for seconds in burn["times"]:
            self.assertGreaterEqual(seconds, 0.2)
        self.assertGreaterEqual(burn["user"] + burn["system"], 0.2)
        self.assertGreaterEqual(sleep["min"], 0.3)
        self.assertLess(sleep["user"] + sleep["system"], 0.2)

    def test_the_figures_follow_from_the_runs(self):
        (result,) = self.results("-n", 4, "true")
        times = sorted(result["times"])
        self.assertEqual((result["min"], result["max"]), (times[0], times[-1]))
        self.assertAlmostEqual(result["mean"], sum(times) / 4, places=9)
        self.assertAlmostEqual(result["median"], (times[1] + times[2]) / 2, places=9)
        self.assertAlmostEqual(result["stddev"] ** 2, sum((t - result["mean"]) ** 2 for t in times) / 3, places=9)
        self.assertEqual(sorted(run["wall_seconds"] for run in self.list()), times)

    def test_memory_is_what_the_kernel_says(self):
        command = "head -c 64M /dev/zero | tail -c 64M | wc -c"
        (result,) = self.results("-n", 3, command)
        said = subprocess.run(["/usr/bin/time", "-f", "%M", "sh", "-c", command], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=True).stderr
        for peak in result["memory_usage_byte"]:
            self.assertLess(abs(peak - int(said) * 1024), 4 << 20)

    def test_the_file_has_the_keys_of_hyperfine(self):
        if not shutil.which("hyperfine"):
            self.skipTest("hyperfine is not installed")
        theirs = self.dir / "hyperfine.json"
        words = ["-w", "1", "-i", "-L", "n", "0,3", "exit {n}"]
        subprocess.run(["hyperfine", "-r", "3", "--style", "none", "--export-json", theirs, *words],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        theirs = json.loads(theirs.read_text())["results"]
        ours = self.results("-n", 3, *words)
        self.assertEqual(len(ours), len(theirs))
        for one, other in zip(ours, theirs):
            self.assertEqual(set(one) - {"memory_usage_byte"}, set(other) - {"memory_usage_byte"})
            for key in ("command", "exit_codes", "parameters"):
                self.assertEqual(one[key], other[key])
            for key, value in other.items():  # 0 and 0.0 are one number of JSON
                self.assertIs(type(value) in (int, float), type(one[key]) in (int, float), key)
                self.assertEqual(isinstance(value, list) and len(value), isinstance(one[key], list) and len(one[key]))

    def test_csv_and_markdown_have_the_figures_of_json(self):
        paths = {end: self.dir / f"r.{end}" for end in ("json", "csv", "markdown")}
        words = [word for end, path in paths.items() for word in (f"--export-{end}", path)]
        self.bench("-n", 4, "-N", "-L", "s", "0.1,0.2", *words, "sleep {s}")
        results = json.loads(paths["json"].read_text())["results"]
        rows = list(csv.DictReader(paths["csv"].read_text().splitlines()))
        self.assertEqual(list(rows[0]), ["command", "mean", "stddev", "median", "user", "system", "min", "max", "parameter_s"])
        for row, result in zip(rows, results, strict=True):
            self.assertEqual((row["command"], row["parameter_s"]), (result["command"], result["parameters"]["s"]))
            for key in ("mean", "stddev", "median", "user", "system", "min", "max"):
                self.assertAlmostEqual(float(row[key]), result[key], places=9)
        head, _, *table = paths["markdown"].read_text().splitlines()
        self.assertEqual(head, "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative | Memory |")
        for line, result in zip(table, results, strict=True):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            self.assertEqual(cells[0], f"`{result['command']}`")
            self.assertEqual(cells[1], f"{result['mean'] * 1e3:.1f} ± {result['stddev'] * 1e3:.1f}")
            self.assertEqual(cells[2:4], [f"{result[key] * 1e3:.1f}" for key in ("min", "max")])
        self.assertIn("| 1.00 |", table[0])
        self.assertRegex(table[1], r"\| \d+\.\d\d \(\d+\.\d\d to \d+\.\d\d\) \| \d+\.\d MiB \|\Z")

    def test_the_columns_of_csv_are_those_of_hyperfine(self):
        if not shutil.which("hyperfine"):
            self.skipTest("hyperfine is not installed")
        path = self.dir / "theirs.csv"
        subprocess.run(["hyperfine", "-r", "2", "--style", "none", "--export-csv", path, "-L", "n", "0,1", "true {n}"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        ours = self.bench("-n", 2, "--export-csv", "-", "-L", "n", "0,1", "true {n}").stdout
        self.assertEqual(ours.splitlines()[0], path.read_text().splitlines()[0])

    def test_json_is_on_stdout_alone(self):
        done = self.bench("-n", 2, "--json", "true")
        self.assertEqual(len(json.loads(done.stdout)["results"][0]["times"]), 2)
        self.assertIn("kept as benchmark", done.stderr)
        for words in (["--json", "--export-csv", "-"], ["--json", "--export-json", self.dir / "x"]):
            self.assertEqual(self.bpfmon("bench", *words, "true").returncode, 2)

    def test_gates_fail_for_differences_to_the_first_command_and_for_values(self):
        words = ["-n", 4, "-N", "sleep 1", "sleep 0.01"]
        done = self.bench(*words, "--fail-if", "wall_seconds > +10%", "--fail-if", "wall_seconds > 10s")
        self.assertEqual(done.stderr, "")
        done = self.bench(*words, "--fail-if", "wall_seconds < -10%", "--fail-if", "wall_seconds > 100ms", code=1)
        self.assertRegex(done.stderr, r"\Abpfmon: failed: sleep 0.01: wall_seconds: .* < -10% \(more than noise\)\nbpfmon: failed: sleep 1: wall_seconds: 1\.\d+ s > 100ms\n\Z")
        log = self.dir / "log"
        for expression, said in ("wall_seconds > +1%", "there is only one command"), ("walk > 1", "there is no key"):
            self.assert_refused(self.bpfmon("bench", "--fail-if", expression, f"echo r >>{log}"), said)
        self.assertEqual(self.noted(), [])

    def test_the_table_says_by_how_much_commands_differ(self):
        done = self.bench("-n", 5, "-N", "sleep 0.01", "sleep 1")
        self.assertRegex(done.stdout, r"\n  sleep 0.01 .* fastest\n  sleep 1 +[^x]* x \d+\.\d+ \(\d+\.\d+ to \d+\.\d+\), p 0\.008: more than noise\n")
        self.assertRegex(done.stdout, r"\A  5 runs each +mean +\+-")
        self.assertRegex(done.stdout, r"\n  kept as benchmark \w{8}, random order \(--seed \d+\): bpfmon compare --tag bench=\w{8} --by case .*\n\Z")
        self.assertEqual(done.stdout.count("\n"), 4)

    def test_the_time_of_spans_is_shown_by_case(self):
        span = f"{BPFMON} span"
        done = self.bench("-n", 3, "-L", "s", "0.2,0.3", f"{span} load -- sleep {{s}}; {span} load -- sleep {{s}}; {span} rest -- true")
        seconds = re.search(r"\n  spans \(median\) +s=0\.2 +s=0\.3\n  load +(\S+ m?s) +(\S+ m?s)\n  rest +\S+ [mu]?s +\S+ [mu]?s\n", done.stdout)
        self.assertTrue(seconds, done.stdout)
        number = {value: float(value.split()[0]) / (1000 if "ms" in value else 1) for value in seconds.groups()}
        self.assertGreaterEqual(number[seconds[1]], 0.4)  # the sum of both
        self.assertGreaterEqual(number[seconds[2]], 0.6)
        self.assertIn("the same with --by span\n", done.stdout)
        bench = self.list()[0]["tags"]["bench"]
        compared = self.bpfmon("compare", "--tag", f"bench={bench}", "--by", "case", "--by", "span").stdout
        for value in seconds.groups():
            self.assertIn(value, compared)
        self.assertNotIn("span", self.bench("-n", 1, "true", "false || true").stdout)

    def test_spans_of_cases_with_long_names_are_rows(self):
        word = "x" * 40
        done = self.bench("-n", 2, f"{BPFMON} span a -- true {word}", f"{BPFMON} span b -- true {word}")
        part = done.stdout.split("spans (median)")[1].split("kept as")[0].splitlines()[1:]
        self.assertEqual({part[0], part[2]}, {"  a", "  b"})
        for at in 0, 2:
            self.assertRegex(part[at + 1], f"^    .*span {part[at].strip()} -- true x+ +\\S+ [mu]?s$")

    def test_commands_that_differ_at_their_end_look_different(self):
        commands = [f"true {'x' * 100} {n}" for n in (1, 2)]
        for width in 80, 100:
            with self.subTest(width=width):
                lines = self.bench("-n", 4, *commands, env={"COLUMNS": str(width)}).stdout.splitlines()
                shown = [line for line in lines if line.startswith("  true x")]
                self.assertEqual(sorted(re.search(r"\.\.\.x* (.) ", line)[1] for line in shown), ["1", "2"])
                self.assertLessEqual(max(len(line) for line in lines if "kept as" not in line), width)

    def test_compare_takes_the_runs_as_groups(self):
        self.bench("-n", 4, "-N", "-L", "s", "0.01,0.1", "sleep {s}")
        bench = self.list()[0]["tags"]["bench"]
        document = json.loads(self.bpfmon("compare", "--json", "--tag", f"bench={bench}", "--by", "s").stdout)
        self.assertEqual([(g["name"], len(g["runs"])) for g in document["groups"]], [("0.01", 4), ("0.1", 4)])
        self.assertEqual(document["values"]["wall_seconds"][1]["verdict"], "more than noise")


class Failures(BenchCase):
    def test_a_command_that_fails_ends_it(self):
        log = self.dir / "log"
        done = self.bench("-n", 3, "--order", "blocks", "-c", f"echo c >>{log}", f"echo a >>{log}", f"echo b >>{log}; exit 3", code=1)
        self.assertEqual(self.noted(), ["a", "a", "a", "c", "b", "c"])
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Abpfmon: run 1 of 'echo b .*' ended with 3; use --show-output .* --ignore-failure to continue\n\Z")

    def test_a_failure_leaves_no_results_of_before(self):
        paths = [self.dir / f"results.{end}" for end in ("json", "csv", "md")]
        words = [word for path, option in zip(paths, ("json", "csv", "markdown")) for word in (f"--export-{option}", path)]
        self.bench("-n", 1, *words, "true")
        self.assertEqual(len(json.loads(paths[0].read_text())["results"]), 1)
        self.assertEqual([path.exists() for path in paths], [True] * 3)
        others = lambda: sorted(path for path in self.dir.iterdir() if not path.name.startswith("store."))
        before = others()
        self.assert_refused(self.bpfmon("bench", "-n", 1, *words, "exit 3"), "use --force to overwrite it")
        self.assertEqual([path.exists() for path in paths], [True] * 3)
        self.bench("-n", 1, "--force", *words, "exit 3", code=1)
        self.assertEqual([path.exists() for path in paths], [False] * 3)
        self.assertEqual(others(), [path for path in before if path not in paths])

    def test_a_failure_removes_nothing_but_files(self):
        null = self.dir / "null"
        null.symlink_to("/dev/null")
        self.bench("-n", 1, "--force", "--export-json", null, "exit 3", code=1)
        self.assertTrue(null.is_symlink() and pathlib.Path("/dev/null").is_char_device())

    def test_failures_may_be_ignored(self):
        results = self.results("-n", 2, "-i", "exit 3", "kill -9 $$")
        self.assertEqual([r["exit_codes"] for r in results], [[3, 3], [None, None]])

    def test_failures_that_were_ignored_are_said(self):
        log = self.dir / "log"
        done = self.bench("-n", 3, "-i", "exit 3", "kill -9 $$", "true", f"echo x >>{log}; exit $(wc -l <{log})",
                          f"echo y >>{log}2; [ $(wc -l <{log}2) != 2 ] || exit 4")
        self.assertEqual(done.stderr.splitlines(), [
            "bpfmon: warning: 3 of 3 runs of 'exit 3' ended with 3", "bpfmon: warning: 3 of 3 runs of 'kill -9 $$' were killed by signal 9",
            f"bpfmon: warning: 3 of 3 runs of 'echo x >>{log}; exit $(wc -l <{log})' failed, one ended with 1",
            f"bpfmon: warning: 1 of 3 runs of 'echo y >>{log}2; [ $(wc -l <{log}2) != 2 ] || exit 4' ended with 4"])

    def test_a_run_whose_bpfmon_is_killed_is_said(self):
        done = self.bench("-n", 3, "kill -9 $PPID", code=2)
        self.assertEqual((done.stdout, done.stderr),
                         ("", "bpfmon: the bpfmon process of run 1 of 'kill -9 $PPID' was killed by signal 9; the benchmark ends here\n"))

    def test_what_cannot_be_executed_is_said(self):
        done = self.bench("-N", "/nowhere/program", code=1)
        self.assertEqual(done.stderr, "bpfmon: cannot execute '/nowhere/program': No such file or directory\n")

    def test_a_step_that_fails_ends_it(self):
        done = self.bench("-p", "exit 4", "true", code=1)
        self.assertEqual(done.stderr, "bpfmon: --prepare 'exit 4' ended with 4; the benchmark ends here\n")
        self.assertEqual(self.list(), [])

    def test_usage(self):
        for words, said in (
                ([], "no command given"),
                (["-n", "0", "true"], "--runs does not accept '0'"),
                (["-L", "a", "1", "-L", "a", "2", "true"], "--parameter-list does not accept 'a 2'"),
                (["-P", "a", "5", "1", "true"], "--parameter-scan does not accept 'a 5 1'"),
                (["-P", "a", "1"], "--parameter-scan does not accept 'a'"),
                (["true", "--", "true"], "unexpected 'true' before --"),
                (["-p", "a", "-p", "b", "1", "2", "3"], "there are 3 commands, but 2 values of --prepare"),
                (["-S", "", "true"], "--shell does not accept ''"),
                (["-S", "sh 'x", "true"], "--shell does not accept"),
                (["-N", "echo 'x"], "an unclosed quote"),
                (["--tag", "case=x", "true"], "sets the tag 'case'"),
                (["--tag", "threads=9", "-L", "threads", "1,2", "true {threads}"], "parameter 'threads' becomes a tag"),
                ([word for i in range(61) for word in ("--tag", f"t{i}=x")] + ["true"], "at most 64 tags"),
                (["-L", "bench", "1", "true"], "'bench'")):
            with self.subTest(words=words):
                self.assert_refused(self.bpfmon("bench", *words), said)

    def test_a_tag_of_the_environment_is_no_parameter(self):
        words = ["-n", 1, "-L", "threads", "1,2", "true {threads}"]
        self.assert_refused(self.bpfmon("bench", *words, env={"BPFMON_TAG_threads": "9"}), "BPFMON_TAG_threads")
        self.bench(*words, env={"BPFMON_TAG_thread": "9"})
        self.assertEqual({(run["tags"]["threads"], run["tags"]["thread"]) for run in self.list()}, {("1", "9"), ("2", "9")})

    def test_without_a_store_nothing_is_run(self):
        log = self.dir / "log"
        self.store.write_text("no database")
        self.assert_refused(self.bpfmon("bench", f"echo r >>{log}"), "cannot save the runs in the store")
        self.assertEqual(self.noted(), [])

    def test_a_benchmark_needs_the_store(self):
        log = self.dir / "log"
        words = ["bench", "-n", 1, f"echo r >>{log}"]
        self.assert_refused(self.bpfmon(*words, env={"BPFMON_NO_STORE": "1"}), "BPFMON_NO_STORE is set")
        self.assertEqual(self.noted(), [])
        for env, more in ({"BPFMON_NO_STORE": "0"}, []), ({"BPFMON_NO_STORE": "1"}, ["--store", self.store]):
            done = self.bpfmon(*words[:1], *more, *words[1:], env=env)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(self.list()), 2)

    def test_a_file_that_exists_is_not_replaced(self):
        path = self.dir / "mine"
        path.write_text("mine")
        log = self.dir / "log"
        self.assert_refused(self.bpfmon("bench", "-n", 1, "--export-json", path, f"echo r >>{log}"), "use --force to overwrite it")
        self.assertEqual((path.read_text(), self.noted()), ("mine", []))
        self.bench("-n", 1, "--force", "--export-json", path, f"echo r >>{log}; exit $(grep -c results {path})")
        self.assertEqual((len(json.loads(path.read_text())["results"]), self.noted()), (1, ["r"]))

    def test_a_file_that_cannot_be_written_is_said_before_the_first_run(self):
        log = self.dir / "log"
        done = self.bpfmon("bench", "--export-json", self.dir / "nowhere" / "file", f"echo r >>{log}")
        self.assert_refused(done, "cannot write the results to '")
        self.assertEqual(self.noted(), [])
        self.assertFalse(list(self.dir.glob("*file*")))

    def test_a_pipe_is_opened_once(self):
        pipe = self.dir / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as cat:
            self.bench("-n", 1, "--export-json", pipe, "true")
            self.assertEqual(len(json.loads(cat.communicate(timeout=PATIENCE)[0])["results"]), 1)

    def test_what_is_not_utf_8_is_refused(self):
        for words in ([b"printf \xff"], ["-L", b"a 1,\xff", "true"], ["-L", b"\xff 1", "true"], ["--", "echo", b"\xff"]):
            with self.subTest(words=words):
                self.assert_refused(self.bpfmon("bench", *words), "is not UTF-8")


class Ends(BenchCase):
    def marked(self):
        """The environment of a bench whose processes can be found."""
        env = {k: v for k, v in os.environ.items() if k != "BPFMON_NO_STORE"}
        return env | {"BPFMON_STORE": str(self.store), "BENCH_MARK": self.mark}

    def setUp(self):
        super().setUp()
        self.mark = f"mark-{os.getpid()}-{self.id()}"
        self.log = self.dir / "log"
        # the third run goes on until it is ended
        self.command = f"echo r >>{self.log}; [ $(wc -l <{self.log}) -lt 3 ] || exec sleep 1000"

    def assert_none_left(self):
        wait_for(lambda: not processes_of(self.mark), "processes of the benchmark are left")

    def test_ctrl_c_shows_what_was_measured(self):
        terminal = Terminal(self, [BPFMON, "bench", "-n", "9", self.command], self.marked())
        wait_for(lambda: len(self.noted()) == 3, "the third run does not begin")
        terminal.type(CTRL_C)
        self.assertEqual(terminal.wait(), -signal.SIGINT)
        self.assertRegex(terminal.text.decode(), r"  2 runs  +mean[^\n]*\n  echo r ")
        self.assertEqual([run["tags"]["round"] for run in self.list()], ["2", "1"])
        self.assert_none_left()

    def test_a_signal_to_it_ends_the_command(self):
        bench = subprocess.Popen([BPFMON, "bench", "-n", "9", self.command], env=self.marked(), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        wait_for(lambda: len(self.noted()) == 3, "the third run does not begin")
        bench.terminate()
        out, err = bench.communicate(timeout=PATIENCE)
        self.assertEqual((bench.returncode, err), (-signal.SIGTERM, ""))
        self.assertRegex(out, r"  2 runs  +mean[^\n]*\n  echo r ")
        self.assert_none_left()

    def test_killed_it_leaves_nothing_behind(self):
        command = f"echo r >>{self.log}; [ $(wc -l <{self.log}) -lt 3 ] || while [ ! -e {self.dir}/go ]; do sleep 0.05; done"
        bench = subprocess.Popen([BPFMON, "bench", "-n", "9", command], env=self.marked(), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        wait_for(lambda: len(self.noted()) == 3, "the third run does not begin")
        bench.kill()
        bench.wait(timeout=PATIENCE)
        (self.dir / "go").touch()  # the run that goes on ends as it would
        self.assert_none_left()
        bench.communicate(timeout=PATIENCE)

    def test_ctrl_c_in_a_step_still_cleans_up(self):
        command = [BPFMON, "bench", "-p", f"echo p >>{self.log}; exec sleep 1000", "-c", f"echo c >>{self.log}", "true"]
        terminal = Terminal(self, command, self.marked())
        wait_for(lambda: self.noted() == ["p"], "the step does not begin")
        terminal.type(CTRL_C)
        self.assertEqual(terminal.wait(), -signal.SIGINT)
        self.assertEqual(self.noted(), ["p", "c"])
        self.assertIn("nothing was measured", terminal.text.decode())
        self.assert_none_left()

    def test_a_signal_between_runs_starts_no_other(self):
        def interrupt():  # pending from before the start on, as what comes while the programs load
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            os.kill(os.getpid(), signal.SIGINT)

        for letter, noted in ("s", []), ("p", []), ("c", ["c"]):  # what is cleaned up is so in any case
            with self.subTest(step=letter):
                words = [f"-{letter}", f"echo {letter} >>{self.log}"]
                done = self.bench("-n", 3, *words, f"echo r >>{self.log}", code=-signal.SIGINT, preexec_fn=interrupt)
                self.assertEqual((self.noted(), done.stdout), (noted, ""))
                self.assertIn("nothing was measured", done.stderr)

    def test_progress_is_for_terminals(self):
        self.assertEqual(self.bench("-n", 3, "sleep 0.4").stderr, "")
        terminal = Terminal(self, [BPFMON, "bench", "-n", "100000"[:3], "sleep 0.4"], self.marked())
        terminal.expect("of 100 runs")
        terminal.type(CTRL_C)
        terminal.wait()


class Sudo(BenchCase):
    def test_under_sudo_runs_and_files_are_those_of_the_caller(self):
        user = "nobody"
        os.chown(self.dir, 65534, 65534)
        out = self.dir / "results.json"
        env = {"SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": user}
        who = self.dir / "who"
        self.bench("-n", 2, "--store", self.store, "--export-json", out, f"id -u >{who}", env=env)
        self.assertEqual([path.stat().st_uid for path in (self.store, out, who)], [65534, 65534, 0])
        self.assertEqual(len(self.ask("SELECT id FROM run")), 2)
