# SPDX-License-Identifier: BSD-2-Clause
"""What the meta line says of machine, limits, container, job and revision, against other witnesses."""

import contextlib
import json
import os
import pathlib
import resource
import subprocess
import time

from lib.attach import AttachCase
from lib.bpfmon import BPFMON, Case, cgroup, read_lines, truth
from lib.live import wait_for

NOBODY, NOGROUP = 65534, 65534
CALLED_BY_NOBODY = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOGROUP), "SUDO_USER": "nobody"}
MIB = 1 << 20
MEMORY = pathlib.Path("/sys/fs/cgroup/memory")
SECRET = "hunter2-4711"


def said_by(*argv, **popen):
    env = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True, env=env, **popen).stdout.strip()


class Machine(Case):
    def setUp(self):
        super().setUp()
        self.system = self.run_bpfmon(["true"]).meta["system"]

    def test_processors_are_those_of_lscpu(self):
        text = said_by("lscpu", "-p=CPU,CORE,SOCKET")
        rows = [line.split(",") for line in text.splitlines() if not line.startswith("#")]
        self.assertEqual(self.system["cpu_threads"], len(rows))
        self.assertEqual(self.system["cpu_cores"], len({(core, socket) for _, core, socket in rows}))
        self.assertEqual(self.system["cpu_sockets"], len({socket for _, _, socket in rows}))

    def test_the_model_is_that_of_lscpu(self):
        if os.uname().machine != "x86_64":
            self.skipTest("lscpu has names of its own for other processors")
        lines = [line.strip() for line in said_by("lscpu").splitlines()]
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("Model name:")]
        self.assertEqual([self.system["cpu_model"]], names)

    def test_memory_is_that_of_swap_areas_and_nodes(self):
        areas = pathlib.Path("/proc/swaps").read_text().splitlines()[1:]
        self.assertEqual(self.system["swap_bytes"], sum(int(area.split()[-3]) for area in areas) * 1024)
        nodes = list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))
        self.assertEqual(self.system.get("numa_nodes", 0), len(nodes))
        self.assertEqual(set(self.system.get("numa_memory_bytes", {})), {n.name.removeprefix("node") for n in nodes})

    def test_names_are_those_of_the_system(self):
        self.assertEqual(self.system["architecture"], said_by("uname", "-m"))
        self.assertEqual(self.system["os"], said_by("sh", "-c", '. /etc/os-release; echo "$PRETTY_NAME"'))

    def test_it_was_booted_when_the_kernel_says(self):
        line = next(l for l in pathlib.Path("/proc/stat").read_text().splitlines() if l.startswith("btime"))
        self.assertAlmostEqual(self.system["boot_time"], int(line.split()[1]), delta=2)


class Limits(Case):
    def limits(self, command=("true",), options=(), **kwargs):
        return self.run_bpfmon(list(command), options, **kwargs).meta["limits"]

    def test_all_cpus_are_those_of_nproc(self):
        limits = self.limits()
        self.assertEqual(limits["cpus_allowed_count"], int(said_by("env", "-u", "OMP_NUM_THREADS", "-u", "OMP_THREAD_LIMIT", "nproc")))

    def test_an_affinity_is_told(self):
        cpu = max(os.sched_getaffinity(0))
        out = self.dir / "run"
        subprocess.run(["taskset", "-c", str(cpu), BPFMON, "-q", "-o", out, "--", "true"], check=True)
        limits = read_lines(out)[0]["limits"]
        self.assertEqual((limits["cpus_allowed"], limits["cpus_allowed_count"]), (str(cpu), 1))

    def test_resource_limits_are_those_of_the_command(self):
        def lower():
            resource.setrlimit(resource.RLIMIT_NOFILE, (321, 321))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (3600, resource.RLIM_INFINITY))

        said = self.dir / "said"
        limits = self.limits(["sh", "-c", f"ulimit -n >{said}"], preexec_fn=lower)
        self.assertEqual(limits["rlimit_nofile"], int(said.read_text()))
        self.assertEqual((limits["rlimit_nofile"], limits["rlimit_core_bytes"]), (321, 0))
        self.assertEqual(limits["rlimit_cpu_seconds"], 3600)
        self.assertEqual("rlimit_as_bytes" in limits, resource.getrlimit(resource.RLIMIT_AS)[0] >= 0)


class CgroupLimits(AttachCase):
    def setUp(self):
        super().setUp()
        if not (MEMORY / "memory.limit_in_bytes").exists():
            self.skipTest("no cgroups of version 1 with the memory controller")
        manager = cgroup("memory")
        self.group = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        (self.group / "memory.limit_in_bytes").write_text(str(512 * MIB))

    def below(self, name):
        group = self.group / name
        group.mkdir()
        self.addCleanup(self.remove, group)
        return group

    def remove(self, group):
        """Who was in it may be just ending."""

        def is_removed():
            with contextlib.suppress(OSError):
                group.rmdir()
            return not group.exists()

        wait_for(is_removed, f"{group} to be empty")

    def meta_in(self, group, *options):
        out = self.dir / f"run-{time.monotonic_ns()}"
        argv = [truth("incgroup"), group, BPFMON, "-q", "-o", out, *options, "--", "true"]
        subprocess.run(argv, check=True, timeout=60)
        return read_lines(out)[0]

    def test_the_limit_of_a_cgroup_is_told(self):
        limits = self.meta_in(self.group)["limits"]
        self.assertEqual(limits["memory_max_bytes"], 512 * MIB)
        self.assertEqual(limits["cgroup"], f"/{self.group.relative_to(MEMORY)}")

    def test_the_smallest_limit_from_there_upwards_counts(self):
        low, high = self.below("low"), self.below("high")
        (low / "memory.limit_in_bytes").write_text(str(256 * MIB))
        self.assertEqual(self.meta_in(low)["limits"]["memory_max_bytes"], 256 * MIB)
        self.assertEqual(self.meta_in(high)["limits"]["memory_max_bytes"], 512 * MIB)

    def test_a_cgroup_of_its_own_is_within_the_limit(self):
        limits = self.meta_in(self.group, "--own-cgroup")["limits"]
        self.assertEqual(limits["memory_max_bytes"], 512 * MIB)

    def test_a_container_is_known_by_the_name_of_its_cgroup(self):
        name = "0123456789abcdef" * 4
        container = self.meta_in(self.below(f"libpod-{name}"))["container"]
        self.assertEqual((container["engine"], container["id"]), ("podman", name))

    def attached(self, *which):
        process = self.attach_to(list(which), ["-q", "--duration", "0.1"])
        return self.finish(process).meta

    def test_attached_it_is_that_of_the_process_or_of_the_cgroup(self):
        sleeper = self.start(truth("incgroup"), str(self.group), "sleep", "60")
        wait_for(lambda: (self.group / "cgroup.procs").read_text(), "the process in its cgroup")
        for which in (("-p", str(sleeper.pid)), ("--cgroup", str(self.group))):
            limits = self.attached(*which)["limits"]
            self.assertEqual(limits["memory_max_bytes"], 512 * MIB)
            self.assertEqual(limits["cgroup"], f"/{self.group.relative_to(MEMORY)}")


class RepositoryCase(AttachCase):
    """A repository of git's own making, with one commit."""

    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.place = self.dir / "repository"
        self.place.mkdir()
        self.git("init", "-q", "-b", "main")
        self.commit("first")

    def git(self, *words, at=None):
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "safe.directory=*"]
        return said_by("git", *who, *words, cwd=at or self.place)

    def commit(self, text, at=None):
        self.git("commit", "-q", "--allow-empty", "-m", text, at=at)

    def told(self, at=None, **kwargs):
        return self.run_bpfmon(["true"], cwd=at or self.place, **kwargs).meta.get("git")

    def assert_told(self, branch="main", at=None, **kwargs):
        expected = {"revision": self.git("rev-parse", "HEAD", at=at)}
        if branch:
            expected["branch"] = branch
        self.assertEqual(self.told(at, **kwargs), expected)

    def run_bpfmon(self, command, options=(), env=None, options_as_root=False, **kwargs):
        """Outputs are root's where the folder is: who reads the revision does not depend on it."""
        more = ["--record-as", "root"] if options_as_root else []
        return super().run_bpfmon(command, [*options, *more], env, **kwargs)


class Repository(RepositoryCase):
    def test_a_branch_and_its_revision_are_those_of_git(self):
        self.assert_told()
        self.git("checkout", "-q", "-b", "topic/a")
        self.commit("second")
        self.assert_told("topic/a")
        self.git("pack-refs", "--all")
        self.assert_told("topic/a")
        self.git("checkout", "-q", "--detach", "main")
        self.assert_told(None)

    def test_a_folder_below_is_in_the_repository(self):
        (self.place / "a" / "b").mkdir(parents=True)
        self.assert_told(at=self.place / "a" / "b")

    def test_a_worktree_has_its_own(self):
        tree = self.dir / "tree"
        self.git("worktree", "add", "-q", "-b", "other", str(tree))
        self.commit("second", at=tree)
        self.assertNotEqual(self.git("rev-parse", "HEAD"), self.git("rev-parse", "HEAD", at=tree))
        self.assert_told("other", at=tree)
        self.git("pack-refs", "--all")
        self.assert_told("other", at=tree)

    def test_outside_of_a_repository_there_is_none(self):
        self.assertIsNone(self.told(at="/proc"))

    def test_attached_it_is_that_of_the_process(self):
        sleeper = self.start("sleep", "60", cwd=self.place)
        wait_for(lambda: os.readlink(f"/proc/{sleeper.pid}/cwd") == str(self.place), "its folder")
        run = self.finish(self.attach_to(["-p", str(sleeper.pid)], ["-q", "--duration", "0.1"]))
        self.assertEqual(run.meta["git"]["revision"], self.git("rev-parse", "HEAD"))

    def give_to_nobody(self):
        said_by("chown", "-R", f"{NOBODY}:{NOGROUP}", str(self.place))

    def test_under_sudo_it_is_read_as_the_caller(self):
        self.give_to_nobody()
        self.place.chmod(0o700)
        self.assert_told(env=CALLED_BY_NOBODY, options_as_root=True)

    def test_what_the_caller_may_not_read_is_not_told(self):
        (self.place / ".git").chmod(0o700)
        self.assertIsNone(self.told(env=CALLED_BY_NOBODY, options_as_root=True))
        self.assert_told()

    def test_root_reads_no_other_user_s_repository(self):
        self.give_to_nobody()
        self.assertIsNone(self.told())

    def test_a_pipe_in_the_place_of_a_file_does_not_block(self):
        head = self.place / ".git" / "HEAD"
        head.unlink()
        os.mkfifo(head)
        run = self.run_bpfmon(["sh", "-c", "exit 7"], cwd=self.place)
        self.assertEqual(run.code, 7)
        self.assertNotIn("git", run.meta)

    def test_a_link_to_a_file_of_root_is_not_followed(self):
        key = self.dir / "key"
        key.write_text("f" * 64 + "\n")
        key.chmod(0o600)
        head = self.place / ".git" / "HEAD"
        head.unlink()
        head.symlink_to(key)
        run = self.run_bpfmon(["true"], cwd=self.place)
        self.assertNotIn("f" * 64, json.dumps(run.lines))


class Privacy(RepositoryCase):
    def test_secrets_show_up_nowhere(self):
        self.git("remote", "add", "origin", f"https://ada:{SECRET}@example.org/x.git")
        self.git("config", "user.signingkey", SECRET)
        env = {name: SECRET for name in ("AWS_SECRET_ACCESS_KEY", "SLURM_JWT", "CI_JOB_TOKEN", "LSB_JOBNAME",
                                         "SLURM_JOB_NAME", "JENKINS_URL", "KUBERNETES_SERVICE_HOST", "container")}
        env["SLURM_JOB_ID"] = "77"
        run = self.run_bpfmon(["true", SECRET], ["--no-args", "-v"], env, cwd=self.place)
        self.assertEqual(run.meta["scheduler"], {"SLURM_JOB_ID": "77"})
        self.assertIn("git", run.meta)
        self.assertNotIn(SECRET, json.dumps(run.lines) + run.stderr)


class Variables(Case):
    def setUp(self):
        super().setUp()
        names = [name for name in os.environ if name.startswith(("SLURM_", "PBS_", "OMP_"))]
        self.clean = {name: "" for name in names}

    def told(self, env, options=()):
        return self.run_bpfmon(["true"], options, {**self.clean, **env})

    def test_a_job_of_slurm_is_told(self):
        env = {"SLURM_JOB_ID": "4711", "SLURM_JOB_NAME": "align", "OMP_NUM_THREADS": "8"}
        scheduler = self.told(env).meta["scheduler"]
        self.assertEqual({key: scheduler.get(key) for key in env}, env)

    def test_the_job_is_the_scheduler_s_unless_it_is_named(self):
        env = {"SLURM_JOB_ID": "4711"}
        self.assertEqual(self.told(env).meta["job"], "4711")
        self.assertEqual(self.told(env, ["--job", "mine"]).meta["job"], "mine")

    def test_without_arguments_jobs_have_no_names(self):
        env = {"SLURM_JOB_ID": "4711", "SLURM_JOB_NAME": "align", "LSB_JOBNAME": "align --key x"}
        scheduler = self.told(env, ["--no-args"]).meta["scheduler"]
        self.assertEqual(scheduler["SLURM_JOB_ID"], "4711")
        self.assertFalse({"SLURM_JOB_NAME", "LSB_JOBNAME"} & set(scheduler))

    def test_odd_and_long_values_are_right(self):
        odd = "a\"b\n</script>\033[31m\u00e9"
        run = self.told({"SLURM_JOB_NAME": odd, "PBS_JOBNAME": "x" * 100_000, "PBS_QUEUE": b"q\xff"})
        scheduler = run.meta["scheduler"]
        self.assertEqual((scheduler["SLURM_JOB_NAME"], scheduler["PBS_QUEUE"]), (odd, "q\ufffd"))
        self.assertEqual(scheduler["PBS_JOBNAME"], "x" * 256)
        self.assertIs(run.meta["lossy"], True)
        self.assertNotIn("\033[31m", run.stderr)
