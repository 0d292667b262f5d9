# SPDX-License-Identifier: BSD-2-Clause
"""GPUs of a run: the figures are those that a stub of the driver's library was told to give (tests/nvml/stub.c)."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time

from lib.agent import NOBODY, AgentCase
from lib.bpfmon import BPFMON, Case, read_lines
from lib.gpus import MIB, Gpus, environment
from lib.live import PATIENCE, children_of, stat_of, wait_for
from lib.manager import ManagedAgent

KEYS = ("gpu_seconds", "gpus_used", "gpus_held", "gpus_idle", "gpu_memory_bytes")
IDLE = "gpu GPU-a NVIDIA H200\nutilization 0 0\nmemory 1000 150000000000\npower 80000\nenergy 1000000 80\nclock 345\nreasons 0x0\n"
BUSY = "gpu GPU-a NVIDIA H200\nutilization 50 20\nmemory 300000000 150000000000\npower 400000\nenergy 1000000 400\nclock 1980\nreasons 0x4\n"
SECOND = "gpu GPU-b NVIDIA H200\nutilization 0 0\nmemory 9000000000 150000000000\npower 90000\nenergy 500 90\nclock 345\n"


def process(pid, mib):
    return f"process {pid} {mib * MIB}\n"


def reader_of(pid):
    """The process that reads GPUs for the bpfmon process `pid`, or one below it."""
    for child in children_of(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it may end meanwhile
            if pathlib.Path(f"/proc/{child}/comm").read_text() == "bpfmon-gpu\n":
                return child
            if found := reader_of(child):
                return found
    return None


class GpuCase(Case):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o777)
        self.gpus = Gpus(self.dir)
        self.gpus.say(IDLE + SECOND)
        self.out = self.dir / "run.jsonl"

    def start(self, script, *options):
        """A run of `script`, whose shell function `told NAME` tells a PID, and which ends with `wait_go`."""
        shell = f'told() {{ echo "$2" >{self.dir}/$1.new; mv {self.dir}/$1.new {self.dir}/$1; }}\n'
        shell += f"wait_go() {{ while [ ! -e {self.dir}/go ]; do sleep 0.02; done; }}\n{script}"
        words = [*self.gpus.before, BPFMON, "-o", self.out, "-i", "0.1", *options, "--", "sh", "-c", shell]
        run = subprocess.Popen(words, env=environment(**self.gpus.env), stderr=subprocess.PIPE)
        self.addCleanup(run.communicate)
        self.addCleanup(self.go)
        return run

    def go(self):
        (self.dir / "go").touch()

    def pid(self, name):
        return int(wait_for(lambda: (self.dir / name).exists() and (self.dir / name).read_text(), name))

    def samples(self):
        return [line for line in read_lines(self.out) if line["kind"] == "sample"] if self.out.exists() else []

    def wait_for_sample(self, condition, what):
        """The first sample from now on with the condition."""
        before = len(self.samples())
        return wait_for(lambda: next(filter(condition, self.samples()[before:]), None), what)

    def finish(self, run):
        self.go()
        _, said = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, said)
        lines = read_lines(self.out)
        self.summary = lines[-1]
        self.processes = {line["pid"]: line for line in lines if line["kind"] == "process"}
        self.assertEqual(self.summary["kind"], "summary")
        self.assertTrue(self.summary["complete"], self.summary)
        return said.decode()


class Run(GpuCase):
    def test_each_process_has_its_own_memory_and_those_outside_none(self):
        run = self.start("told one $$; sleep 60 2>/dev/null & told two $!; wait_go; kill $!")
        one, two = self.pid("one"), self.pid("two")
        self.gpus.say(BUSY + process(one, 100) + process(two, 50) + process(os.getpid(), 2000))
        seen = self.wait_for_sample(lambda s: s.get("gpu_memory_bytes") == 150 * MIB, "both processes")
        self.assertEqual(seen["gpus_held"], 1)
        self.assertEqual(seen["gpu_device_memory_bytes"], 300000000)
        self.assertEqual(seen["gpu_power_watts"], 400)
        self.assertEqual(seen["gpu_clock_hertz"], 1980000000)
        self.assertEqual(list(seen["by"]["gpu"]), ["GPU-a"])
        self.finish(run)
        self.assertEqual(self.processes[one]["gpu_memory_peak_bytes"], 100 * MIB)
        self.assertEqual(self.processes[two]["gpu_memory_peak_bytes"], 50 * MIB)
        self.assertEqual([p for p in self.processes.values() if "gpu_memory_peak_bytes" in p and p["pid"] not in (one, two)], [])
        self.assertEqual(self.summary["gpu_memory_peak_bytes"], 150 * MIB)
        self.assertEqual(self.summary["gpus_held_peak"], 1)

    def test_the_time_of_a_process_alone_on_a_device_is_its_utilization(self):
        run = self.start("told one $$; wait_go")
        self.gpus.say(BUSY + process(self.pid("one"), 100))
        first = self.wait_for_sample(lambda s: s.get("gpus_used", 0) > 0.4, "work")
        last = self.wait_for_sample(lambda s: s["elapsed_seconds"] > first["elapsed_seconds"] + 1, "more work")
        share = (last["gpu_seconds"] - first["gpu_seconds"]) / (last["elapsed_seconds"] - first["elapsed_seconds"])
        # what was told at the first of both may be up to one pass older, at a loaded machine several
        self.assertGreater(last["gpu_seconds"], first["gpu_seconds"])
        self.assertLessEqual(last["gpu_seconds"], 0.5 * last["elapsed_seconds"])
        self.assertGreater(share, 0)
        self.assertAlmostEqual(last["gpus_used"], 0.5, places=2)
        self.assertEqual(last["gpus_idle"], 0)
        said = self.finish(run)
        (record,) = [p for p in self.processes.values() if "gpu_seconds" in p]
        self.assertEqual(record["gpu_seconds"], self.summary["gpu_seconds"])
        self.assertIn("GPU", said)

    def test_a_device_that_is_only_held_is_idle(self):
        run = self.start("told one $$; wait_go", "--stalled-after", "1s")
        self.gpus.say(IDLE + process(self.pid("one"), 100))
        self.wait_for_sample(lambda s: s.get("gpus_held") == 1 and s["gpus_idle"] == 0, "the holder")
        idle = self.wait_for_sample(lambda s: s["gpus_idle"] == 1, "idleness")
        self.assertEqual(idle["gpus_used"], 0)
        self.wait_for_sample(lambda s: s["gpu_idle_seconds"] > 1, "its time")
        self.finish(run)
        self.assertEqual(self.summary["gpu_seconds"], 0)
        self.assertGreater(self.summary["gpu_idle_seconds"], 1)

    def test_an_error_of_a_device_that_is_held_is_counted_and_said_with_its_number(self):
        run = self.start("told one $$; wait_go")
        held = process(self.pid("one"), 100)
        self.gpus.say(IDLE + held + SECOND)
        self.wait_for_sample(lambda s: s.get("gpus_held") == 1, "the holder")
        self.gpus.say(IDLE + held + "xid 79\n" + SECOND + "xid 13\n")
        self.wait_for_sample(lambda s: s["gpu_xid_errors"] == 1, "the error")
        said = self.finish(run)
        self.assertEqual(self.summary["gpu_xid_errors"], 1)
        self.assertEqual([line for line in said.splitlines() if "Xid" in line], ["bpfmon: warning: the driver reports error Xid 79 of GPU-a, NVIDIA H200"])

    def test_a_span_has_what_its_processes_use(self):
        run = self.start(f"told outer $$; cd {self.dir}; {BPFMON} span inner -- sh -c 'echo $$ >inner; until [ -e seen ]; do sleep 0.02; done'; wait_go")
        outer, inner = self.pid("outer"), self.pid("inner")
        self.gpus.say(BUSY + process(inner, 70) + SECOND + process(outer, 30))
        self.wait_for_sample(lambda s: s.get("gpu_memory_bytes") == 100 * MIB and s["gpu_seconds"] > 0, "both devices")
        (self.dir / "seen").touch()
        self.finish(run)
        (span,) = [line for line in read_lines(self.out) if line["kind"] == "span"]
        self.assertEqual(span["gpu_memory_peak_bytes"], 70 * MIB)
        self.assertGreater(span["gpu_seconds"], 0)
        self.assertEqual(self.summary["gpu_memory_peak_bytes"], 100 * MIB)

    def test_without_bpf_the_figures_are_the_same(self):
        run = self.start("told one $$; wait_go", "--inject-no-program", "tp_btf")
        self.gpus.say(BUSY + process(self.pid("one"), 100))
        self.wait_for_sample(lambda s: s.get("gpu_memory_bytes") == 100 * MIB and s["gpu_seconds"] > 0, "the process")
        self.finish(run)

    def test_a_driver_that_hangs_delays_no_sample_and_no_end(self):
        run = self.start("told one $$; wait_go")
        self.gpus.say(BUSY + process(self.pid("one"), 100))
        self.wait_for_sample(lambda s: s.get("gpu_seconds", 0) > 0, "some work")
        reader = reader_of(run.pid)
        os.kill(reader, signal.SIGSTOP)
        self.addCleanup(os.kill, reader, signal.SIGKILL)
        missing = self.wait_for_sample(lambda s: "gpus_held" not in s, "a sample without GPUs")
        self.assertEqual([key for key in KEYS if key in missing], [])
        self.finish(run)
        self.assertEqual(stat_of(reader)[0], "T")  # it is not waited for
        self.assertGreater(self.summary["gpu_seconds"], 0)  # up to then

    def test_a_driver_whose_library_crashes_costs_only_its_metrics(self):
        run = self.start("told one $$; wait_go")
        self.gpus.say(BUSY + process(self.pid("one"), 100))
        self.wait_for_sample(lambda s: s.get("gpus_held") == 1, "the process")
        os.kill(reader_of(run.pid), signal.SIGSEGV)
        self.wait_for_sample(lambda s: "gpus_held" not in s, "a sample without GPUs")
        self.finish(run)

    def test_a_device_that_is_lost_takes_only_its_values_along(self):
        run = self.start("told one $$; wait_go")
        one = self.pid("one")
        self.gpus.say(BUSY + process(one, 100) + SECOND + process(one, 30))
        self.wait_for_sample(lambda s: s.get("gpus_held") == 2, "both devices")
        self.gpus.say(BUSY + process(one, 100) + SECOND + "result * 15\n")
        left = self.wait_for_sample(lambda s: s.get("gpus_held") == 1, "one device")
        self.assertEqual(left["gpu_memory_bytes"], 100 * MIB)
        self.assertEqual(left["gpu_power_watts"], 400)
        self.finish(run)

    def test_instances_of_a_device_are_devices(self):
        self.gpus.say(IDLE + "instance MIG-x 1 0\nmemory 1000 20000000000\ninstance MIG-y 2 0\nmemory 1000 20000000000\n")
        run = self.start("told one $$; wait_go")
        one = self.pid("one")
        self.gpus.say(
            IDLE
            + "instance MIG-x 1 0\nmemory 1000 20000000000\ninstance MIG-y 2 0\nmemory 5000 20000000000\n"
            + process(one, 40)
        )
        seen = self.wait_for_sample(lambda s: s.get("gpus_held") == 1, "the instance")
        self.assertEqual(list(seen["by"]["gpu"]), ["MIG-y"])
        self.assertEqual(seen["gpu_memory_bytes"], 40 * MIB)
        self.assertNotIn("gpu_seconds", seen)  # the driver does not tell it of instances
        self.finish(run)

    def test_the_drivers_account_of_a_process_that_has_ended_counts(self):
        on = "accounting on\n"
        self.gpus.say(IDLE + on)
        run = self.start("told one $$; wait_go")
        one = self.pid("one")
        self.gpus.say(BUSY + on + process(one, 100))
        self.wait_for_sample(lambda s: s.get("gpu_memory_bytes") == 100 * MIB, "the process")
        started = int(time.time() * 1e6)
        # as soon as it has ended the driver says that it had 700 MiB at one time, and worked 90 % of 10 s
        self.gpus.say(IDLE + on + f"account {one} {started} 10000 90 20 {700 * MIB}\n")
        self.finish(run)
        record = self.processes[one]
        self.assertEqual(record["gpu_memory_peak_bytes"], 700 * MIB)
        self.assertAlmostEqual(record["gpu_seconds"], 9, places=6)
        self.assertAlmostEqual(self.summary["gpu_seconds"], 9, places=6)
        self.assertEqual(self.summary["gpu_memory_peak_bytes"], 700 * MIB)

    def test_metrics_of_gpus_can_be_limits(self):
        run = self.start("told one $$; wait_go", "--limit", "gpu_memory_bytes<200MiB", "--limit-grace", "0.2")
        self.gpus.say(BUSY + process(self.pid("one"), 300))
        run.wait(PATIENCE)
        self.assertEqual(run.returncode, 124)


class Reader(GpuCase):
    def test_it_has_no_rights_but_to_look_at_descriptors(self):
        run = self.start("told one $$; wait_go")
        self.pid("one")
        reader = wait_for(lambda: reader_of(run.pid), "the reader")
        self.wait_for_sample(lambda s: "gpus_held" in s, "a pass")
        status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{reader}/status").read_text().splitlines())
        allowed = 1 << 19 | 1 << 2  # CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH
        for caps in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertEqual(int(status[caps], 16) & ~allowed, 0, caps)
        self.assertEqual(int(status["CapBnd"], 16), 0)
        opened = [os.readlink(f"/proc/{reader}/fd/{fd}") for fd in os.listdir(f"/proc/{reader}/fd")]
        self.assertEqual([name for name in opened if not name.startswith(("/dev/null", "pipe:"))], [])
        self.finish(run)
        wait_for(lambda: not stat_of(reader) or stat_of(reader)[0] in "ZX", "its end")

    def test_it_ends_if_the_collector_is_killed(self):
        run = self.start("told one $$; wait_go")
        self.pid("one")
        reader = wait_for(lambda: reader_of(run.pid), "the reader")
        os.kill(stat_of(reader)[1], signal.SIGKILL)
        wait_for(lambda: not stat_of(reader) or stat_of(reader)[0] in "ZX", "its end")
        self.go()
        run.communicate(timeout=PATIENCE)


class None_(Case):
    def test_without_a_gpu_there_is_no_metric_and_one_reason(self):
        run = self.run_bpfmon(["true"])
        self.assertEqual([key for key in run.summary if key.startswith("gpu")], [])
        reasons = run.meta["capabilities"]
        self.assertFalse(reasons["gpu"]["available"])
        self.assertIn("no GPU", reasons["gpu"]["reason"])
        self.assertEqual([key for key in reasons if key.startswith("gpu")], ["gpu"])
        self.assertEqual([key for key in run.meta["units"] if key.startswith("gpu")], [])


class GpuAgent(ManagedAgent):
    def __init__(self, gpus, config):
        self.gpus = gpus
        super().__init__(config)

    def start(self):
        os.environ.update(self.gpus.env)
        self.before = self.gpus.before
        try:
            super().start()
        finally:
            for name in self.gpus.env:
                del os.environ[name]


class Agents(AgentCase, GpuCase):
    def setUp(self):
        super().setUp()
        self.agent = GpuAgent(self.gpus, "[agent]\ninterval = 100ms\nstalled_after = 1s\n")
        self.addCleanup(self.agent.clean)
        self.out.touch()
        os.chown(self.out, NOBODY, NOBODY)

    def start(self, script, *options):
        shell = f'told() {{ echo "$2" >{self.dir}/$1; }}\nwait_go() {{ while [ ! -e {self.dir}/go ]; do sleep 0.02; done; }}\n{script}'
        run = self.agent.bpfmon("--force", "-o", self.out, "-i", "0.1", *options, "--", "sh", "-c", shell)
        self.addCleanup(run.communicate)
        self.addCleanup(self.go)
        return run

    def node(self):
        """The last sample of the whole node."""
        lines = self.agent.jobs(uid=0)
        run = next(x["run"] for x in lines if x["kind"] == "meta" and x["node_job"]["id"] == "node")
        return next((x for x in lines if x["kind"] == "sample" and x["run"] == run), {})

    def test_a_run_of_a_user_and_the_node_have_them(self):
        run = self.start("told one $$; wait_go")
        self.gpus.say(BUSY + process(self.pid("one"), 100) + SECOND)
        self.wait_for_sample(lambda s: s.get("gpu_memory_bytes") == 100 * MIB and s["gpu_seconds"] > 0, "the process")
        node = wait_for(lambda: (n := self.node()).get("gpus_held") == 1 and n, "the node")
        self.assertEqual(node["gpu_memory_bytes"], 100 * MIB)
        self.assertAlmostEqual(node["gpu_power_watts"], 490)  # of both devices, held or not
        self.finish(run)

    def test_a_restart_of_the_agent_keeps_what_was_counted(self):
        run = self.start("told one $$; wait_go")
        one = self.pid("one")
        self.gpus.say(BUSY + process(one, 100))
        self.wait_for_sample(lambda s: s.get("gpu_seconds", 0) > 0.3, "some use")
        self.agent.restart()
        before = self.samples()[-1]
        after = self.wait_for_sample(lambda s: s.get("gpu_seconds", 0) > before["gpu_seconds"], "more use")
        self.assertGreaterEqual(after["gpu_energy_joules"], before["gpu_energy_joules"])
        self.finish(run)
        values = [s["gpu_seconds"] for s in self.samples() if "gpu_seconds" in s]
        self.assertEqual(values, sorted(values))
        self.assertGreater(self.processes[one]["gpu_seconds"], before["gpu_seconds"])
