# SPDX-License-Identifier: BSD-2-Clause
"""What the meta line says of machine, limits, container and job, against other witnesses."""

import contextlib
import os
import pathlib
import resource
import subprocess
import time

from lib.attach import AttachCase
from lib.bpfmon import BPFMON, Case, cgroup, read_lines, said_by, truth
from lib.live import wait_for

SAMPLED = True
MIB = 1 << 20
MEMORY = pathlib.Path("/sys/fs/cgroup/memory")


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
            self.skipTest("the processor is no x86: lscpu names others by a table of its own")
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

    def test_an_affinity_is_recorded(self):
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
            self.skipTest("no memory controller of version 1 is mounted at /sys/fs/cgroup/memory")
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

    def test_the_limit_of_a_cgroup_is_recorded(self):
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


class Variables(Case):
    def setUp(self):
        super().setUp()
        names = [name for name in os.environ if name.startswith(("SLURM_", "PBS_", "OMP_"))]
        self.clean = {name: "" for name in names}

    def told(self, env, options=()):
        return self.run_bpfmon(["true"], options, {**self.clean, **env})

    def test_a_job_of_slurm_is_recorded(self):
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
