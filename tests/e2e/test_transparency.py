# SPDX-License-Identifier: BSD-2-Clause
"""The command finds the world as it would without bpfmon."""

import json
import os
import re
import resource
import signal
import subprocess
import time

from lib.bpfmon import QUIET, Case, cgroup, truth
from lib.permitted import BPF, ROOT, needs
from lib.terminal import Terminal

SAMPLED = True
NEEDS = ()
ODD_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin::/nowhere",
    "EMPTY": "",
    "NEWLINE": "a\nb",
    "EQUALS": "a=b=c",
    "BYTES": "\udcff\udc80",
    "BPFMON_TEST_OWN": "kept",
    "BPFMON_NO_ARGS": "1",
    "SUDO_COMMAND": "nothing",
}


def nicer_by(step):
    """The nice value that os.nice() of it leads to from ours; 19 is the last one."""
    return min(os.getpriority(os.PRIO_PROCESS, 0) + step, 19)


SPAN_SOCKET = re.compile(rb'(,\s*)?"BPFMON_SPAN_SOCKET=@bpfmon-span-[0-9a-f]{16}"(?=\])')


class Transparency(Case):
    """`state` says the same byte by byte, run by bpfmon and run by us."""

    def both(self, options=(), **popen):
        """What `state` says without and with bpfmon, as bytes."""
        said = []
        for before in ([], [*QUIET, "-i", "0.01", *options, "--"]):
            out = self.dir / f"state-{time.monotonic_ns()}.json"
            done = subprocess.run([*before, truth("state"), str(out)], check=False, timeout=10, **popen)
            self.assertEqual(done.returncode, 0)
            said.append(out.read_bytes())
        return said[0], self.without_socket(said[1])

    def without_socket(self, said):
        """Without the one variable that is added, at the end of the environment."""
        said, nr = SPAN_SOCKET.subn(b"", said)
        self.assertEqual(nr, 1)
        return said

    def check(self, key=None, value=None, **popen):
        """Both say the same; and, so that the test can fail, the odd thing was there."""
        without, with_bpfmon = self.both(**popen)
        self.assertEqual(json.loads(with_bpfmon), json.loads(without))
        self.assertEqual(with_bpfmon, without)
        if key:
            self.assertEqual(json.loads(without)[key], value)
        return json.loads(without)

    def fds(self, state):
        return [entry["fd"] for entry in state["fds"]]

    def test_a_plain_run_looks_the_same(self):
        self.check()

    def test_a_closed_stdout_stays_closed(self):
        self.assertEqual(self.fds(self.check(preexec_fn=lambda: os.close(1))), [0, 2])

    def test_a_closed_stdin_stays_closed(self):
        self.assertEqual(self.fds(self.check(preexec_fn=lambda: os.close(0))), [1, 2])

    def test_a_closed_stderr_stays_closed(self):
        self.assertEqual(self.fds(self.check(preexec_fn=lambda: os.close(2))), [0, 1])

    def test_all_three_closed_stay_closed(self):
        state = self.check(preexec_fn=lambda: os.closerange(0, 3))
        self.assertEqual(self.fds(state), [])

    def test_inherited_descriptors_are_passed_on(self):
        low, high = os.open("/dev/zero", os.O_RDONLY), os.open(self.dir, os.O_RDONLY)
        os.dup2(high, 200)
        for fd in (low, high, 200):
            self.addCleanup(os.close, fd)
        self.assertEqual(self.fds(self.check(pass_fds=(low, high, 200))), [0, 1, 2, low, high, 200])

    def check_ignored(self, mask, prepare):
        """Whoever started the tests may ignore more: make does."""
        self.assertEqual(int(self.check(preexec_fn=prepare)["SigIgn"], 16) & mask, mask)

    def test_ignored_signals_stay_ignored(self):
        def prepare():
            for sig in (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGTSTP):
                signal.signal(sig, signal.SIG_IGN)

        ignored = sum(1 << sig - 1 for sig in (1, 2, 13, 20))
        self.check_ignored(ignored, prepare)

    def test_an_ignored_sigchld_stays_ignored_and_the_end_is_seen(self):
        def prepare():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        self.check_ignored(1 << signal.SIGCHLD - 1, prepare)

    def test_blocked_signals_stay_blocked(self):
        def prepare():
            signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGUSR1, signal.SIGCHLD, signal.SIGTERM, 40})

        blocked = sum(1 << sig - 1 for sig in (10, 15, 17, 40))
        self.check("SigBlk", f"{blocked:016x}", preexec_fn=prepare)

    def test_the_umask_is_kept(self):
        self.check("Umask", "0027", umask=0o027)

    def test_limits_are_kept(self):
        limits = {
            resource.RLIMIT_CORE: (0, 0),
            resource.RLIMIT_NOFILE: (64, 128),
            resource.RLIMIT_MEMLOCK: (4096, 8192),
            resource.RLIMIT_STACK: (1 << 20, 1 << 21),
        }

        def prepare():
            for which, pair in limits.items():
                resource.setrlimit(which, pair)

        told = self.check(preexec_fn=prepare)["rlimits"]
        for which, pair in limits.items():
            self.assertEqual(told[which], [f"{value:x}" for value in pair])

    def test_niceness_and_affinity_are_kept(self):
        cpu = min(os.sched_getaffinity(0))

        def prepare():
            os.nice(7)
            os.sched_setaffinity(0, {cpu})

        state = self.check("nice", nicer_by(7), preexec_fn=prepare)
        self.assertEqual(state["Cpus_allowed_list"], str(cpu))

    def test_a_scheduling_policy_is_kept(self):
        self.check("sched_policy", os.SCHED_BATCH, preexec_fn=lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)))

    def test_the_directory_is_kept_even_when_it_is_gone(self):
        gone = self.dir / "gone"

        def prepare():
            gone.mkdir()
            os.chdir(gone)
            gone.rmdir()

        self.check("cwd", f"{gone} (deleted)", preexec_fn=prepare)

    def test_odd_values_in_the_environment_are_kept_in_their_order(self):
        state = self.check(env=ODD_ENVIRONMENT)
        self.assertIn("NEWLINE=a\nb", state["environment"])
        self.assertEqual(len(state["environment"]), len(ODD_ENVIRONMENT))

    def test_an_empty_environment_stays_empty(self):
        self.check("environment", [], env={})

    @needs(ROOT, BPF)
    def test_the_cgroup_is_kept(self):
        with cgroup() as path:
            state = self.check(preexec_fn=lambda: (path / "cgroup.procs").write_text(str(os.getpid())))
            self.assertIn(f"/{path.name}", state["cgroup"])

    @needs(ROOT, BPF)
    def test_a_cgroup_of_its_own_changes_nothing_else_for_the_command(self):
        without, with_own = map(json.loads, self.both(options=["--own-cgroup"]))
        its = with_own.pop("cgroup").splitlines()
        ours = without.pop("cgroup").splitlines()
        self.assertEqual(with_own, without)
        (line,) = [line for line in its if line not in ours]
        self.assertRegex(line, r"/bpfmon-\d+(-\d)?$")

    def test_marks_change_nothing_but_one_variable_for_the_command(self):
        without, with_marks = map(json.loads, self.both(options=["--marks"], env=ODD_ENVIRONMENT))
        *its, added = with_marks.pop("environment")
        self.assertEqual(its, without.pop("environment"))
        self.assertEqual(with_marks, without)
        self.assertRegex(added, r"^BPFMON_MARK_SOCKET=/.*/marks$")

    def test_metrics_over_udp_change_nothing_for_the_command(self):
        without, with_metrics = self.both(options=["--metrics-udp", "0"])
        self.assertEqual(with_metrics, without)

    def test_the_oom_score_is_kept(self):
        def prepare():
            with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
                file.write("321")

        self.check("oom_score_adj", "321", preexec_fn=prepare)

    def test_everything_at_once_is_kept(self):
        def prepare():
            os.close(0)
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.nice(3)

        self.check("nice", nicer_by(3), preexec_fn=prepare, umask=0o077, env=ODD_ENVIRONMENT, cwd="/proc")

    def on_a_terminal(self, shell):
        """What `state` says in one session with a terminal, twice, from this shell."""
        alone, followed = self.dir / "alone", self.dir / "followed"
        term = Terminal(self, shell, env={"PS1": "> ", "PATH": "/usr/bin:/bin"})
        clean = "env -i A=b"  # a shell tells its commands their paths
        state = truth("state")
        term.type(f"{clean} {state} {alone}; {clean} {' '.join(QUIET)} -- {state} {followed}; echo en''ded; exit\n")
        term.expect("ended")
        term.wait()
        self.assertEqual(self.without_socket(followed.read_bytes()), alone.read_bytes())
        return json.loads(alone.read_bytes())

    def test_a_terminal_is_the_same_for_a_job_of_an_interactive_shell(self):
        state = self.on_a_terminal(["bash", "--norc", "--noprofile", "--noediting", "-i"])
        self.assertEqual((state["has_tty"], state["foreground"]), (True, True))
        self.assertEqual(state["isatty"], [1, 1, 1])

    def test_a_terminal_is_the_same_without_job_control(self):
        state = self.on_a_terminal(["bash", "--norc", "--noprofile", "--noediting", "+m"])
        self.assertEqual((state["has_tty"], state["foreground"]), (True, True))

    def test_a_program_can_read_what_is_typed(self):
        term = Terminal(self, [*QUIET, "--", "sh", "-c", 'read line; echo "got $line"; exit 5'])
        term.type("words\n")
        term.expect("got words")
        self.assertEqual(term.wait(), 5)
