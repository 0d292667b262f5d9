# SPDX-License-Identifier: BSD-2-Clause
"""Without BPF where /proc and the kernel give less: containers, seccomp filters, hidepid, namespaces; and among many
processes."""

import os
import subprocess

from lib.bpfmon import TRUTH_SKIP, Run, read_lines, truth
from lib.containers import NOBODY as AS_NOBODY
from lib.containers import InsideCase
from lib.fromproc import OrdinaryUser

SAMPLED = True
CHILDREN = [truth("seqchildren"), "40", "5"]
# the mount of a kernel before 5.8, which has the same options everywhere, does not know this word
HIDEPID = "mount -t proc -o hidepid=invisible proc /proc"
NO_PROC = "mount -t tmpfs none /proc"


class Place(OrdinaryUser):
    def assert_measured(self, run, own=0.012, least_known=1):
        self.assertEqual(run.code, 0, run.stderr)
        self.assertEqual(run.meta["source"], "procfs")
        self.assert_complete(run)
        self.assertNotIn("cpu_seconds", run.summary["bounds"])
        OrdinaryUser.assert_cpu(self, run, run.witness["cpu_seconds"], own)  # containers have another
        self.assertIn(len({process["exe"] for process in run.processes} - {None}), (least_known, 1))

    def in_own_mounts(self, script):
        """The prefix of an ordinary user for whom /proc is mounted anew."""
        return ["unshare", "-m", "sh", "-c", f'{script} && exec "$@"', "sh", *AS_NOBODY]

    def skip_unless_possible(self, before):
        done = subprocess.run([*before, "true"], stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            self.skipTest(f"the machine refuses it: {done.stderr}")


class Filter(Place):
    def below_filter(self, error, **kwargs):
        run = self.run_bpfmon(CHILDREN, before=[truth("nobpf"), error], cwd="/", **kwargs)
        if run.code == TRUTH_SKIP:
            self.skipTest(run.stderr)
        return run

    def test_a_filter_that_refuses_bpf_to_an_ordinary_user(self):
        for error in ("EPERM", "ENOSYS"):
            run = self.below_filter(error, user=65534, group=65534, extra_groups=[])
            self.assert_measured(run)

    def test_a_filter_that_refuses_bpf_to_root(self):
        for error in ("EPERM", "ENOSYS"):
            run = self.below_filter(error)
            self.assert_measured(run)
            self.assertIn("measuring from /proc instead", run.stderr)
            self.assertIn("a seccomp filter may be the cause", run.stderr)

    def test_the_exit_status_below_a_filter(self):
        run = self.run_bpfmon([truth("exitwith"), "43"], before=[truth("nobpf"), "EPERM"])
        self.assertEqual((run.code, run.summary["exit_code"]), (43, 43))


class Proc(Place):
    def test_other_users_processes_are_hidden(self):
        before = self.in_own_mounts(HIDEPID)
        self.skip_unless_possible(before)
        self.assertEqual(subprocess.run([*before, "test", "-e", "/proc/1"], check=False).returncode, 1)
        self.assert_measured(self.run_bpfmon(CHILDREN, before=before, cwd="/"))

    def test_proc_is_not_mounted(self):
        before = self.in_own_mounts(NO_PROC)
        run = self.run_bpfmon(["sh", "-c", f"echo was run > {self.dir}/ran"], before=before, cwd="/")
        self.assertEqual((run.code, run.lines), (125, []))
        self.assertIn("/proc", run.stderr)
        self.assertIn("is not mounted", run.stderr)
        self.assertFalse((self.dir / "ran").exists())

    def test_proc_is_not_mounted_for_root_below_a_filter(self):
        before = ["unshare", "-m", "sh", "-c", f'{NO_PROC} && exec "$@"', "sh", truth("nobpf"), "EPERM"]
        run = self.run_bpfmon(["touch", f"{self.dir}/ran"], before=before)
        self.assertEqual(run.code, 125, run.stderr)
        self.assertFalse((self.dir / "ran").exists())


class Namespaces(Place):
    def setUp(self):
        super().setUp()
        self.skip_unless_possible([*AS_NOBODY, "unshare", "-Urpf", "--mount-proc"])

    def test_a_user_namespace_with_a_pid_namespace(self):
        before = [*AS_NOBODY, "unshare", "-Urpf", "--mount-proc"]
        run = self.run_bpfmon(CHILDREN, before=before, cwd="/")
        self.assert_measured(run)
        (first,) = [p for p in run.processes if p["start_time"] == min(p["start_time"] for p in run.processes)][:1]
        self.assertLess(first["pid"], 20)

    def test_proc_of_another_pid_namespace(self):
        before = [*AS_NOBODY, "unshare", "-Urpf"]
        run = self.run_bpfmon(["touch", f"{self.dir}/ran"], before=before, cwd="/")
        self.assertEqual((run.code, run.lines), (125, []), run.stderr)
        self.assertIn("belongs to another PID namespace", run.stderr)
        self.assertFalse((self.dir / "ran").exists())


class Many(Place):
    def test_a_thousand_processes_that_live_at_once(self):
        run = self.run_unprivileged([truth("liveprocs"), "1000", "1.5"], ["-i", "0.2"])
        self.assert_measured(run, own=0.03)
        self.assertGreaterEqual(max(sample["processes"] for sample in run.samples), 1001)
        self.assertEqual(run.summary["processes_total"], 1001)
        self.assertEqual(len({p["pid"] for p in run.processes}), len(run.processes))

    def test_a_storm_of_forks_at_short_intervals(self):
        run = self.run_unprivileged([truth("forkstorm"), "8", "200"], ["-i", "0.01"])
        self.assert_measured(run, own=0.1, least_known=0)  # a storm may leave bpfmon no CPU until it is over
        self.assertLessEqual(run.summary["processes_total"], run.witness["processes"])
        keys = {(p["pid"], p["start_time"]) for p in run.processes}
        self.assertEqual(len(keys), len(run.processes))


class Container(InsideCase, Place):
    """bpfmon in a container without capabilities, below the engine's own filter."""

    def setUp(self):
        super().setUp()
        for name in ("seqchildren", "exitwith"):
            (self.root / "bin" / name).write_bytes(open(truth(name), "rb").read())
            (self.root / "bin" / name).chmod(0o755)

    def inside(self, command, *options):
        """A run in podman's container; its files are the container's."""
        environment, podman = self.podman()
        podman[2:2] = ["--rm", *options]
        words = ["/bin/bpfmon", "--no-store", "-o", "/out/run.jsonl", "--", *command]
        done = subprocess.run([*podman, *words], env={**os.environ, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        out, said = self.root / "out" / "run.jsonl", self.root / "out" / "witness.json"
        witness = self.read_witness() if said.exists() else None
        return Run(done.returncode, done.stdout, done.stderr, read_lines(out) if out.exists() else [], witness)

    def test_a_container_of_an_ordinary_user(self):
        for capabilities in (["--cap-drop=all"], []):
            run = self.inside(["/bin/seqchildren", "40", "5"], "--user=65534:65534", *capabilities)
            self.assert_measured(run)
            for name in ("run.jsonl", "witness.json"):
                (self.root / "out" / name).unlink()

    def test_a_container_whose_root_has_no_capabilities(self):
        self.assert_measured(self.inside(["/bin/seqchildren", "40", "5"], "--cap-drop=all"))

    def test_a_container_whose_filter_refuses_bpf_in_spite_of_capabilities(self):
        run = self.inside(["/bin/seqchildren", "40", "5"], "--cap-add=BPF,PERFMON")
        self.assert_measured(run)
        self.assertIn("measuring from /proc instead", run.stderr)

    def test_the_exit_status_in_a_container(self):
        run = self.inside(["/bin/exitwith", "43"], "--user=65534:65534", "--cap-drop=all")
        self.assertEqual((run.code, run.summary["exit_code"]), (43, 43), run.stderr)
