# SPDX-License-Identifier: BSD-2-Clause
"""Every kind of process and thread is followed: counted once, with its CPU, end and user."""

from lib.account import AccountCase
from lib.bpfmon import truth


class Trees:
    """Each test runs at two intervals; the witness is one process more."""

    interval = None

    def run_tree(self, program, *args, env=None):
        return self.run_witnessed([truth(program), *args], ["-i", self.interval], env=env)

    def check(self, run, reaped=True, above=0):
        """Counts and CPU are what the program says, and what wait4() says if it reaps all. @above: what the program missed."""
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_counts(run, run.witness["processes"] + 1, run.witness["threads_created"])
        cpu = sum(p["cpu_seconds"] for p in self.inside(run))
        self.assert_cpu(cpu, run.witness["cpu_seconds"], above + self.after_witness(run.witness, self.inside(run)))
        if reaped:
            self.assert_cpu(cpu, run.wait4["cpu_seconds"])
        self.assert_sums(run)

    def first(self, run):
        return self.by_pid(run, run.wait4["pid"])

    def below_first(self, run):
        return [p for p in self.inside(run) if p is not self.first(run)]

    def assert_ended_with(self, process, exit_code, signal):
        self.assertEqual((process["exit_code"], process["signal"]), (exit_code, signal))
        self.assertLessEqual(process["start_time"], process["end_time"])
        self.assertNotIn("state", process)

    def test_one_process_that_burns_cpu(self):
        run = self.run_tree("spin", "300")
        self.check(run)
        self.assertGreaterEqual(self.first(run)["cpu_seconds"], 0.3)
        self.assert_ended_with(self.first(run), 0, None)

    def test_children_one_after_the_other(self):
        run = self.run_tree("seqchildren", "150", "20")
        self.check(run)
        for child in self.below_first(run):
            self.assertGreaterEqual(child["cpu_seconds"], 0.020)
            self.assertEqual(child["ppid"], run.wait4["pid"])
            self.assert_ended_with(child, 0, None)

    def test_children_that_no_wait_ever_sees(self):
        run = self.run_tree("ignchld", "100", "20")
        self.check(run, reaped=False, above=run.witness["children_unread_seconds"])
        self.assertLess(run.wait4["cpu_seconds"], 1)  # else this shows nothing
        self.assertGreaterEqual(run.summary["cpu_seconds"], 2)

    def test_a_daemon_in_a_session_of_its_own(self):
        run = self.run_tree("daemon", "-w", "200")
        self.check(run, reaped=False)
        self.assertGreaterEqual(max(p["cpu_seconds"] for p in self.inside(run)), 0.2)

    def test_a_grandchild_that_is_its_grandparents_child(self):
        run = self.run_tree("cloneparent", "100")
        self.check(run)
        self.assertEqual([p["ppid"] for p in self.below_first(run)], [run.wait4["pid"]] * 2)

    def test_children_of_vfork(self):
        run = self.run_tree("vforker", "100", truth("execnames"))
        self.check(run)
        self.assertEqual(run.summary["execs"], 102)
        self.assertEqual([p["execs"] for p in self.below_first(run)], [1] * 100)

    def test_children_of_posix_spawn(self):
        run = self.run_tree("spawner", "100", truth("execnames"))
        self.check(run)
        self.assertEqual(run.summary["execs"], 102)

    def test_threads_one_after_the_other(self):
        run = self.run_tree("threads", "200", "0.5")
        self.check(run)
        self.assertEqual(self.first(run)["threads_total"], 201)

    def test_an_exec_by_a_thread_that_is_not_the_leader(self):
        said = self.dir / "before.json"
        run = self.run_tree("threadexec", truth("spin"), "50", env={"TRUTH_BEFORE": str(said)})
        run.witness["threads_created"] += 4  # spin knows nothing of them
        self.check(run)
        self.assertEqual(self.first(run)["threads_total"], 5)
        self.assertEqual(self.first(run)["execs"], 2)
        self.assertEqual(self.first(run)["comm"], "spin")
        self.assertGreaterEqual(self.first(run)["cpu_seconds"], 0.07)

    def test_a_leader_that_ends_before_its_thread(self):
        run = self.run_tree("leaderfirst", "100")
        self.check(run)
        self.assertEqual(run.witness["leader_state"], "Z")
        self.assertGreaterEqual(self.first(run)["rss_peak_bytes"], 20 << 20)
        self.assert_ended_with(self.first(run), 0, None)

    def test_a_zombie_that_its_parent_never_reaps(self):
        run = self.run_tree("zombie", "100", "0.3")
        self.check(run, reaped=False)
        zombie = self.by_pid(run, run.witness["zombie_pid"])
        self.assert_cpu(zombie["cpu_seconds"], run.witness["zombie_cpu_seconds"])
        self.assert_ended_with(zombie, 0, None)
        self.assertGreaterEqual(self.first(run)["end_time"] - zombie["end_time"], 0.29)

    def test_a_child_that_is_killed(self):
        run = self.run_tree("killed", "100")
        self.check(run)
        self.assertEqual(run.witness["signal"], 9)
        self.assert_ended_with(self.only(self.below_first(run)), None, 9)
        self.assert_ended_with(self.first(run), 0, None)

    def test_a_child_of_another_user(self):
        run = self.run_tree("setuidchild", "12345", "50")
        self.check(run)
        self.assertEqual(self.only(self.below_first(run))["uid"], 12345)
        self.assertEqual(self.first(run)["uid"], 0)

    def test_a_pid_namespace(self):
        run = self.run_tree("pidns", "100")
        self.skip_if_lacking(run)
        self.check(run)
        self.assertEqual(run.witness["inside_pids"], [1, 2])
        self.assertEqual(sorted(p["ns_pid"] for p in self.below_first(run)), [1, 2])
        outer = self.by_pid(run, run.witness["outside_pid"])
        self.assertEqual((outer["ns_pid"], outer["ppid"]), (1, run.wait4["pid"]))
        self.assertEqual(self.first(run)["ns_pid"], self.first(run)["pid"])

    def test_kernel_workers_of_io_uring(self):
        run = self.run_tree("iouring", "8000", str(self.dir))
        self.skip_if_lacking(run)
        self.assert_complete(run)
        workers = self.first(run)["threads_total"] - 1
        self.assertGreater(run.witness["workers_seen"], 0)
        self.assertGreaterEqual(workers, run.witness["workers_seen"])
        run.witness["threads_created"] = workers
        self.check(run)
        self.assertGreater(run.witness["cpu_seconds"], 2 * run.witness["own_thread_seconds"])

    def test_the_endings_of_commands(self):
        for command, code, end in (
            (["exitwith", "42"], 42, (42, None)),
            (["selfkill", "15"], 143, (None, 15)),
            (["selfkill", "11"], 139, (None, 11)),
        ):
            with self.subTest(command=command):
                run = self.run_tree(*command)
                self.assertEqual(run.code, code)
                self.assert_ended_with(self.first(run), *end)


class TreesAtOneSecond(Trees, AccountCase):
    interval = "1"


class TreesAtTenMilliseconds(Trees, AccountCase):
    interval = "0.01"
