# SPDX-License-Identifier: BSD-2-Clause
"""Without BPF and without an agent: measured from /proc and by wait4(), run unmeasured, or refused."""

import os
import signal
import subprocess

from lib.bpfmon import AS_USER, BPFMON, truth
from lib.fromproc import OrdinaryUser
from lib.permitted import BPF, ROOT, needs

NEEDS = ()
MIB = 1 << 20
LEAVES_ONE = 'sleep 30 >/dev/null 2>&1 & echo $!; until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done'
OF_COUNTERS = {"cpu_seconds", "user_seconds", "minflt"}


class FromProc(OrdinaryUser):
    def root_of(self, run):
        pids = {p["pid"] for p in run.processes}
        return next(p for p in run.processes if p["ppid"] not in pids)

    def test_short_children_are_all_in_the_totals(self):
        run = self.run_unprivileged([truth("seqchildren"), "100", "5"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        self.assert_cpu(run, run.witness["cpu_seconds"])
        self.assertEqual(run.meta["source"], "procfs")
        self.assertEqual(run.summary["bounds"]["rss_peak_bytes"], "at_least")
        self.assertLessEqual(run.summary["processes_total"], 101)
        self.assertFalse(OF_COUNTERS & set(run.summary["bounds"]))
        self.assertIn("from /proc, without BPF (see bpfmon check): totals are exact", run.stderr)

    def test_a_storm_of_forks_is_all_in_the_totals(self):
        run = self.run_unprivileged([truth("forkstorm"), "4", "100"], ["-i", "0.02"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_cpu(run, run.witness["cpu_seconds"], own=0.1)

    def test_a_daemon_is_waited_for_by_the_launcher(self):
        run = self.run_unprivileged([truth("daemon"), "200"], ["--wait", "tree"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_cpu(run, run.witness["cpu_seconds"])

    def test_what_was_seen_alive_and_has_ended_since_is_counted_once(self):
        run = self.run_unprivileged([truth("spin"), "500"], ["--wait", "tree", "-i", "0.2"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_cpu(run, run.witness["cpu_seconds"])

    def test_a_peak_of_several_processes_between_two_samples_is_seen(self):
        run = self.run_unprivileged([truth("hoarders"), "together", "8", "20", "3000"], ["-i", "60"])
        self.assertGreaterEqual(run.summary["rss_peak_bytes"], 0.97 * 8 * 20 * MIB)
        self.assertLess(run.summary["process_rss_peak_bytes"], 40 * MIB)
        self.assertGreater(run.summary["rss_peak_elapsed_seconds"], 0)
        self.assertLess(run.summary["rss_peak_elapsed_seconds"], run.summary["wall_seconds"])

    def test_what_a_process_that_is_waited_for_had_by_waiting_is_counted_once(self):
        for argv in (["seqchildren", "5", "100"], ["killed", "400"], ["cloneparent", "400"]):
            with self.subTest(program=argv[0]):
                run = self.run_unprivileged([truth(argv[0]), *argv[1:]], ["--wait", "tree"])
                self.assertEqual(run.code, 0, run.stderr)
                self.assert_cpu(run, run.witness["cpu_seconds"], own=0.05)

    def test_the_record_of_a_parent_has_nothing_of_its_children(self):
        run = self.run_unprivileged([truth("seqchildren"), "19", "5"])
        parent = self.root_of(run)
        own = run.witness["cpu_seconds"] - run.witness["children_cpu_seconds"]
        self.assertLessEqual(parent["cpu_seconds"], own + 0.004)

    def test_what_a_parent_that_ignores_sigchld_loses_makes_totals_lower_bounds(self):
        run = self.run_unprivileged([truth("ignchld"), "10", "20"], ["-i", "0.02"])
        self.assertEqual(run.summary["bounds"]["cpu_seconds"], "at_least")
        self.assertLessEqual(run.summary["cpu_seconds"], 1.005 * run.witness["cpu_seconds"] + 0.012)
        self.assertIn("totals (a process ignored SIGCHLD)", run.stderr)

    def test_counters_only_grow_and_end_at_those_of_the_summary(self):
        run = self.run_unprivileged([truth("seqchildren"), "60", "10"], ["-i", "0.02"])
        for key in ("cpu_seconds", "user_seconds", "system_seconds", "minflt", "nvcsw"):
            values = [sample[key] for sample in run.samples]
            self.assertEqual(values, sorted(values), key)
            self.assertEqual(values[-1], run.summary[key], key)

    def test_the_peak_is_a_lower_bound_that_a_sample_has_seen(self):
        run = self.run_unprivileged([truth("touch"), "100", "300"], ["-i", "0.05"])
        self.assertGreaterEqual(run.summary["rss_peak_bytes"], 100 * MIB)
        self.assertLessEqual(run.summary["rss_peak_bytes"], 1.02 * 100 * MIB)
        self.assertNotIn("rss_peak_upper_bytes", run.summary)
        process = max(run.processes, key=lambda p: p["rss_peak_bytes"])
        self.assertEqual((process["comm"], process["exit_code"]), ("touch", 0))
        self.assertIs(process["rss_peak_exact"], False)

    def test_a_peak_between_samples_is_that_of_the_process_by_the_kernels_mark(self):
        run = self.run_unprivileged(["sh", "-c", f"{truth('touch')} 100 10; exit 0"], ["-i", "5"])
        of_process = run.summary["process_rss_peak_bytes"]
        self.assertGreaterEqual(of_process, 100 * MIB)
        self.assertLessEqual(of_process, 1.02 * 100 * MIB)
        # a look may have seen it with the shell
        self.assertGreaterEqual(run.summary["rss_peak_bytes"], of_process)
        self.assertLessEqual(run.summary["rss_peak_bytes"], of_process + 4 * MIB)
        run = self.run_unprivileged([truth("touch"), "100", "10"], ["-i", "5"])
        (process,) = run.processes
        self.assertGreaterEqual(process["rss_peak_bytes"], 100 * MIB)

    def test_processes_that_live_between_samples_are_looked_for(self):
        run = self.run_unprivileged(["sh", "-c", "sleep 2; sleep 2; exit 0"], ["-i", "60"])
        self.assertEqual([p["comm"] for p in run.processes].count("sleep"), 2)
        self.assertEqual(run.summary["processes_total"], 3)

    def test_what_children_without_a_record_used_is_in_the_record_that_waited_for_them(self):
        run = self.run_unprivileged([truth("seqchildren"), "40", "10"], ["-i", "5"])
        parent = self.root_of(run)
        self.assertGreater(parent["children_cpu_seconds"], 0.1)
        in_records = sum(p.get("cpu_seconds", 0) + p.get("children_cpu_seconds", 0) for p in run.processes)
        self.assertAlmostEqual(in_records, run.summary["cpu_seconds"], delta=0.03)
        self.assertRegex(run.stderr, r"\(ended between samples\) +- +[34]\d\d ms")
        run = self.run_unprivileged([truth("seqchildren"), "10", "200"], ["-i", "0.02"])
        parent = self.root_of(run)
        self.assertLess(parent.get("children_cpu_seconds", 0), 0.5)

    def test_the_end_of_the_command_is_its_own(self):
        self.assertEqual(self.run_unprivileged([truth("exitwith"), "43"]).code, 43)
        run = self.run_unprivileged([truth("selfkill"), str(int(signal.SIGKILL))])
        self.assertEqual((run.code, run.summary["signal"]), (-signal.SIGKILL, signal.SIGKILL))
        self.assertEqual(self.run_unprivileged(["/nonexistent"]).code, 127)

    def test_what_only_bpf_knows_is_absent_with_the_reason(self):
        run = self.run_unprivileged([truth("seqchildren"), "2", "5"], ["--net", "--exact-peak"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        for key in ("forks", "execs", "runqueue_wait_seconds", "net_tx_bytes"):
            self.assertNotIn(key, run.summary)
            self.assertIs(run.meta["capabilities"][key]["available"], False)
            self.assertIn("BPF", run.meta["capabilities"][key]["reason"])
        self.assertIn("--exact-peak has no effect: needs BPF", run.stderr)

    def test_an_option_that_yields_nothing_is_a_warning(self):
        for option in ("--net", "--io-kinds"):
            run = self.run_unprivileged(["true"], [option])
            self.assertEqual((run.code, run.stderr.count("has no effect")), (0, 1), run.stderr)
            self.assertRegex(run.stderr, f"(?m)^bpfmon: warning: {option} has no effect: .*BPF")
        for options in ([], ["--pss"], ["--metrics", "all"]):
            self.assertNotIn("has no effect", self.run_unprivileged(["true"], options).stderr)

    def test_spans_have_what_their_commands_used_and_their_status(self):
        inner = f"{BPFMON} span inner -- {truth('spin')} 200"
        run = self.run_unprivileged(["sh", "-c", f"""{BPFMON} span outer -- sh -c '{inner}; {truth('seqchildren')} 20 10; exit 5'
            echo $?; {truth('spin')} 100
            {BPFMON} span begin here; {truth('seqchildren')} 30 5; {BPFMON} span end here
            {BPFMON} span killed -- sh -c 'kill -9 $$'; echo $?"""], ["-i", "0.05"])
        self.assertEqual(run.stdout, b"5\n137\n", run.stderr)
        spans = {span["name"]: span for span in run.kind("span")}
        for name, least in (("outer", 0.4), ("inner", 0.2), ("here", 0.15), ("killed", 0)):
            self.assertTrue(spans[name]["complete"])
            # to a tick for each process that was read, of user and of system time
            self.assertGreaterEqual(spans[name]["cpu_seconds"], least - 0.04, name)
            self.assertLessEqual(spans[name]["cpu_seconds"], least + 0.06, name)
        self.assertEqual(spans["inner"]["parent"], spans["outer"]["id"])
        self.assertEqual([spans[name]["exit_code"] for name in ("outer", "inner")], [5, 0])
        self.assertEqual(spans["killed"]["signal"], signal.SIGKILL)
        tops = sum(span["cpu_seconds"] for span in spans.values() if "parent" not in span)
        self.assertLessEqual(tops, run.summary["cpu_seconds"])

    def test_a_span_has_no_upper_bound_of_memory(self):
        """Of processes that no sample saw nothing is known, so that even 0 B was possible as a bound."""
        run = self.run_unprivileged(["sh", "-c", f"{BPFMON} span part -- true; sleep 0.3"], ["-i", "60"])
        [span] = run.kind("span")
        self.assertNotIn("rss_peak_upper_bytes", span)

    def test_a_span_passes_signals_on(self):
        command = """trap "exit 7" TERM; echo > ready; while :; do sleep 0.01; done"""
        run = self.run_unprivileged(["sh", "-c", f"""cd {self.dir}; {BPFMON} span part -- sh -c '{command}' &
            until [ -e ready ]; do sleep 0.01; done; kill $!; wait $!; echo $?"""])
        self.assertEqual(run.stdout, b"7\n", run.stderr)
        self.assertEqual(run.kind("span")[0]["exit_code"], 7)

    def test_a_limit_ends_the_run(self):
        run = self.run_unprivileged([truth("touch"), "100", "60000"], ["-i", "0.05", "--limit", "rss<50MiB"])
        self.assertEqual(run.code, 124)
        self.assertTrue(run.summary["limit"]["ended"])

    def test_what_outlives_the_command_goes_on_and_has_a_record(self):
        run = self.run_unprivileged(["sh", "-c", LEAVES_ONE])
        pid = int(run.stdout)
        os.kill(pid, signal.SIGKILL)
        (left,) = [p for p in run.processes if p["pid"] == pid]
        self.assertEqual((left["comm"], left["end_time"]), ("sleep", None))
        self.assertIn(left["state"], ("S", "R", "D"))
        self.assertEqual(run.summary["outlived"], 1)

    @needs(ROOT, BPF)
    def test_a_kernel_that_refuses_bpf_to_root(self):
        run = self.run_bpfmon([truth("seqchildren"), "20", "5"], ["--inject-no-program", "tp_btf"])
        self.assertEqual(run.code, 0, run.stderr)
        self.assertIn("the kernel refuses programs of type tp_btf", run.stderr)
        self.assertIn("measuring from /proc instead", run.stderr)
        self.assert_cpu(run, run.witness["cpu_seconds"])

    @needs(ROOT)
    def test_bare_runs_the_command_unmeasured_if_the_kernel_refuses_bpf_to_root(self):
        bare = ["--inject-no-program", "tp_btf", "--if-unavailable", "bare"]
        script = 'id -u; id -u "$1"; kill -s "$2" $$; exit 3'
        for options, signal, code in ([], "0", 3), (["--user=nobody"], "0", 3), (["--own-cgroup"], "TERM", -15):
            run = self.run_bpfmon(["sh", "-c", script, "sh", "root", signal], [*bare, *options])
            uid = "65534" if "--user=nobody" in options else "0"
            self.assertEqual((run.code, run.stdout.decode().split(), run.lines), (code, [uid, "0"], []), run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            self.assertIn("running the command without measuring it: the kernel refuses programs of type tp_btf", run.stderr)
        self.assertEqual(self.run_bpfmon(["/nonexistent"], bare).code, 127)
        run = self.run_bpfmon(["sh", "-c", "sleep 0.1 & wait; exit 5"], [*bare, "--limit", "wall<0.01", "--marks", "--metrics-udp", "0"])
        self.assertEqual(run.code, 5, run.stderr)

    @needs(ROOT)
    def test_bare_still_runs_nothing_if_bpfmon_itself_fails(self):
        options = ["--inject-no-program", "tp_btf", "--if-unavailable", "bare", "--user=bpfmon-no-such-user"]
        run = self.run_bpfmon(["echo", "was run"], options)
        self.assertEqual((run.code, run.stdout), (125, b""))

    @needs(ROOT, BPF)
    def test_with_bpf_the_source_is_bpf(self):
        run = self.run_bpfmon(["true"])
        self.assertEqual((run.meta["source"], "bounds" in run.summary), ("bpf", False))


class Choice(OrdinaryUser):
    def as_nobody(self, *words):
        done = subprocess.run([BPFMON, *words], **AS_USER, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_nothing_is_run_that_would_not_be_exact(self):
        for options in (["--if-unavailable", "fail"], ["--require", "exact"]):
            code, out, err = self.as_nobody(*options, "--", "echo", "was run")
            self.assertEqual((code, out), (125, ""))
            self.assertIn("tracking processes needs root", err)

    def test_bare_runs_the_command_unmeasured(self):
        code, out, err = self.as_nobody("--if-unavailable", "bare", "--", "sh", "-c", "echo was run; exit 3")
        self.assertEqual((code, out), (3, "was run\n"))
        self.assertIn("warning: running the command without measuring it: tracking processes needs root", err)
        self.assertEqual(self.as_nobody("--if-unavailable", "bare", "--", "/nonexistent")[0], 127)

    def test_an_unknown_choice_is_an_error(self):
        for options in (["--if-unavailable", "guess"], ["--require", "all"]):
            self.assertEqual(self.as_nobody(*options, "--", "true")[0], 125)

    def test_a_line_of_configuration_chooses(self):
        home = self.dir / "bpfmon"
        home.mkdir()
        (home / "config").write_text("[run]\nif-unavailable = bare\n")
        env = {**os.environ, "XDG_CONFIG_HOME": str(self.dir), "HOME": str(self.dir)}
        env.pop("BPFMON_NO_CONFIG")
        done = subprocess.run([BPFMON, "-q", "--", "echo", "was run"], **AS_USER, cwd="/", env=env, capture_output=True,
                              check=True)
        self.assertEqual(done.stdout, b"was run\n")
        self.assertIn(b"running the command without measuring it", done.stderr)
