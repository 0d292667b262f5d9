# SPDX-License-Identifier: BSD-2-Clause
"""What runs in a container is followed from outside: each process once, with its CPU, and with the
pid it has inside."""

import os
import subprocess

from lib.bpfmon import TRUTH_SKIP, read_lines
from lib.containers import NOBODY, ContainersCase, InsideCase

SAMPLED = True
PIDS = ["/bin/nspids", "5", "20"]
STORM = ["/bin/forkstorm", "3", "40"]


class Containers(ContainersCase):
    def run_in(self, starter, command=(), options=(), env=None):
        """Runs the command in a container; what it says of itself is the run's witness."""
        environment = {"TRUTH_OUT": "/out/witness.json", **(env or {})}
        run = self.run_bpfmon([*starter, *command], options, env=environment)
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        self.assert_records(run, run.summary["processes_total"])
        self.assert_sums(run)
        run.witness = self.read_witness()
        return run

    def payload(self, run, program):
        """The records of the program and its descendants, in the order of birth."""
        records = {p["pid"]: p for p in run.processes}
        named = [p for p in run.processes if p["comm"] == program]
        found = [self.only(p for p in named if records[p["ppid"]]["comm"] != program)]
        for process in found:
            found += [p for p in run.processes if p["ppid"] == process["pid"]]
        self.assertTrue(all(p["exit_code"] == 0 for p in found), found)
        return sorted(found, key=lambda p: p["start_time"])

    def check_cpu(self, payload, run):
        self.assertEqual(len(payload), run.witness["processes"])
        cpu, after = sum(p["cpu_seconds"] for p in payload), self.after_witness(run.witness, payload)
        self.assert_cpu(cpu, run.witness["cpu_seconds"], after)

    def check_pids(self, run, first=1):
        payload = self.payload(run, "nspids")
        self.check_cpu(payload, run)
        self.assertEqual(run.witness["own_pids"][0], first)
        self.assertEqual([p["ns_pid"] for p in payload], run.witness["own_pids"])
        for child in payload[1:]:
            self.assertEqual(child["ppid"], payload[0]["pid"])
            self.assertGreaterEqual(child["cpu_seconds"], 0.020)
        return payload

    def check_storm(self, run):
        payload = self.payload(run, "forkstorm")
        self.check_cpu(payload, run)
        # the first process was the runtime's until it executed ours: those threads are its
        threads = sum(p["threads_total"] - 1 for p in payload[1:])
        self.assertEqual(threads, run.witness["threads_created"])
        self.assertEqual(len({p["ns_pid"] for p in payload}), len(payload))

    def outlived(self, run):
        return [p for p in run.processes if p["end_time"] is None]

    def test_podman(self):
        environment, podman = self.podman()
        self.check_pids(self.run_in(podman, PIDS, env=environment))

    def test_podman_whose_container_forks_and_makes_threads(self):
        environment, podman = self.podman()
        self.check_storm(self.run_in(podman, STORM, ["-i", "0.01"], env=environment))

    def test_a_container_that_podman_leaves_in_the_background(self):
        environment, podman = self.podman()
        podman.insert(2, "--detach")
        run = self.run_in(podman, PIDS, ["--wait=tree"], env=environment)
        self.check_pids(run)
        self.assertEqual(run.summary["outlived"], 0)

    def test_podman_of_a_user(self):
        self.needs("podman", "runc")
        self.needs_namespaces_for_nobody()
        uid, there = self.user()
        podman = ["podman", "run", *self.podman_options()]
        run = self.run_in([*there, *self.become(uid), *podman], PIDS, env=self.configure())
        payload = self.check_pids(run)
        self.assertEqual({p["uid"] for p in payload}, {uid})
        # it leaves a process that holds the namespaces for its next call
        left = self.only(self.outlived(run))
        self.assertEqual((left["uid"], run.summary["outlived"]), (uid, 1))

    def test_runc(self):
        self.check_pids(self.run_in(self.runtime("runc", *PIDS)))

    def test_runc_whose_container_forks_and_makes_threads(self):
        self.check_storm(self.run_in(self.runtime("runc", *STORM), options=["-i", "0.01"]))

    def test_crun(self):
        self.check_pids(self.run_in(self.runtime("crun", *PIDS)))

    def test_a_pid_namespace_in_that_of_a_container(self):
        run = self.run_in(self.runtime("runc", "/bin/suidstart", *PIDS, also=["CAP_SYS_ADMIN"]))
        payload = self.check_pids(run)
        starter = self.by_pid(run, payload[0]["ppid"])
        self.assertEqual((starter["comm"], starter["ns_pid"]), ("suidstart", 1))

    def bubblewrap(self):
        self.needs("bwrap")
        return ["bwrap", "--bind", str(self.root), "/", "--proc", "/proc", "--unshare-pid"]

    def test_bubblewrap(self):
        self.check_pids(self.run_in(self.bubblewrap(), PIDS), first=2)  # its own first is 1

    def test_bubblewrap_of_a_user(self):
        self.needs_namespaces_for_nobody()
        run = self.run_in([*NOBODY, *self.bubblewrap(), "--unshare-user"], PIDS)
        payload = self.check_pids(run, first=2)
        self.assertEqual({p["uid"] for p in payload}, {65534})

    def test_namespaces_of_a_user(self):
        self.needs_namespaces_for_nobody()
        run = self.run_in([*NOBODY, "unshare", "-Urpf", f"--root={self.root}"], PIDS)
        self.assertEqual({p["uid"] for p in self.check_pids(run)}, {65534})

    def test_a_starter_that_is_setuid_root(self):
        starter = self.dir / "suidstart"
        starter.write_bytes((self.root / "bin" / "suidstart").read_bytes())
        starter.chmod(0o4755)
        said = self.root / "out" / "witness.json"
        command = [str(self.root) + PIDS[0], *PIDS[1:]]
        if subprocess.run([*NOBODY, starter, "/bin/true"], check=False).returncode == TRUTH_SKIP:
            self.skipTest(f"{self.dir} is mounted nosuid")
        run = self.run_in([*NOBODY, str(starter)], command, env={"TRUTH_OUT": str(said)})
        payload = self.check_pids(run)
        parent = self.by_pid(run, payload[0]["ppid"])
        self.assertEqual((parent["comm"], parent["ns_pid"]), ("suidstart", parent["pid"]))
        self.assertEqual({p["uid"] for p in [parent, *payload]}, {65534})  # the real one


class Inside(InsideCase):
    """bpfmon itself in a container: it works where it may, or says what is missing."""

    def bpfmon(self, *options):
        environment, podman = self.podman()
        podman[2:2] = ["--rm", *options]
        command = ["/bin/bpfmon", "-q", "--require", "exact", "-o", "/out/run.jsonl", "--", "/bin/nspids", "2", "20"]
        return subprocess.run([*podman, *command], env={**os.environ, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    def test_with_all_privileges(self):
        done = self.bpfmon("--privileged")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = read_lines(self.root / "out" / "run.jsonl")
        self.assertTrue(lines[-1]["complete"], lines[-1])
        processes = [line for line in lines if line["kind"] == "process"]
        self.assertEqual(len(processes), self.read_witness()["processes"])
        self.assertEqual({p["pid"] for p in processes}, set(self.read_witness()["own_pids"]))
        self.assertEqual([p["pid"] for p in processes], [p["ns_pid"] for p in processes])
        cpu, witness = sum(p["cpu_seconds"] for p in processes), self.read_witness()
        self.assert_cpu(cpu, witness["cpu_seconds"], self.after_witness(witness, processes))

    def test_without_rights_the_error_names_the_missing_ones(self):
        for options, word in (([], "--privileged"), (["--cap-add=BPF,PERFMON"], "seccomp")):
            done = self.bpfmon(*options)
            self.assertEqual(done.returncode, 125)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(word, done.stderr)
