# SPDX-License-Identifier: BSD-2-Clause
"""tools/check-gpu.sh without a GPU: how it judges made runs, and its way through all cases with stand-ins."""

import datetime
import json
import os
import subprocess
import sys

from lib.bpfmon import TOP, Case

NEEDS = ()
JUDGE = TOP / "tests" / "gpu" / "judge.py"
SCRIPT = TOP / "tools" / "check-gpu.sh"
MIB = 1 << 20
UUID = "GPU-5a8f0b5e-0000-4000-8000-0123456789ab"
START = 1_800_000_000
SMI = f"""#!/bin/sh
case $* in
-L) echo "GPU 0: NVIDIA H200 (UUID: {UUID})" ;;
*compute-apps*) cat "$STAND_IN/apps.csv" ;;
*power.draw*) cat "$STAND_IN/power.csv"; exec /bin/sleep 60 ;;
*) echo "580.159, NVIDIA H200" ;;
esac
"""
# Takes the files that it would leave from a folder with the name of the case; nvidia-smi's go where that finds them.
BPFMON = """#!/bin/sh
[ "$1" != --version ] || { echo "bpfmon 1"; exit; }
while [ "$1" != -o ]; do shift; done
at=$(dirname "$2")
from=$STAND_IN/$(basename "$at")
while [ -e "$at/power.csv" ] && [ ! -s "$at/power.csv" ]; do /bin/sleep 0.05; done
cp "$from/apps.csv" "$STAND_IN/apps.csv"
cp "$from/run.jsonl" "$from"/load-*.jsonl "$at/"
"""


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


class Made(Case):
    """Files of a case that is ok, but for what a test changes."""

    def setUp(self):
        super().setUp()
        self.at = self.dir / "case"

    def make(self, *loads, samples=({},), context=520, **record):
        """Makes them with loads of so many MiB, each with @context MiB more by nvidia-smi."""
        self.at.mkdir(exist_ok=True)
        records, apps, whole = [], [], 0
        for nth, mib in enumerate(loads, 1):
            used = mib + context
            whole += used * MIB
            write_rows(self.at / f"load-{nth}.jsonl", [{"pid": nth, "mib": mib, "ready": START}, {"busy_seconds": 5.0}])
            records.append({"kind": "process", "pid": nth, "signal": None, "gpu_memory_peak_bytes": (mib + 520) * MIB,
                            "gpu_seconds": 4.5, **record})
            apps.append(f"{nth}, {used}\n")
        (self.at / "apps.csv").write_text("".join(apps))
        rows = [{"kind": "sample", "time": START + nth, "gpu_memory_bytes": whole, "gpu_seconds": 4.5, **sample}
                for nth, sample in enumerate(samples)]
        write_rows(self.at / "run.jsonl", [{"kind": "meta"}, *rows, *records])

    def make_energy(self, watts, measured, text="{}"):
        """Power by nvidia-smi, and energy by bpfmon at @measured watts, once a second."""
        self.make(256, samples=[{"by": {"gpu": {UUID: {"gpu_energy_joules": measured * nth}}}} for nth in range(15)])
        local = [datetime.datetime.fromtimestamp(START + nth / 5) for nth in range(70)]
        lines = [f"{at:%Y/%m/%d %H:%M:%S}.{at.microsecond // 1000:03}, {text.format(watts)}\n" for at in local]
        (self.at / "power.csv").write_text("".join(lines) + "2026/11")


class Judged(Made):
    def judge(self, case, status, words):
        done = subprocess.run([sys.executable, JUDGE, case, self.at], env={**os.environ, "GPU": UUID}, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (status, ""), done.stdout)
        self.assertRegex(done.stdout, words)

    def test_memory_is_what_was_asked_for_and_the_context(self):
        self.make(256)
        self.judge("memory", 0, r"^ok     memory: process 776\.0 MiB, asked 256, nvidia-smi 776 MiB \(ratio 1\.000\); job 776")

    def test_memory_without_the_allocation_fails(self):
        self.make(256, gpu_memory_peak_bytes=200 * MIB)
        self.judge("memory", 1, r"^FAILED memory: process 200\.0 MiB, asked 256")

    def test_memory_above_that_of_nvidia_smi_fails(self):
        self.make(256, context=518)
        self.judge("memory", 1, r"^FAILED memory: process 776\.0 MiB, .* nvidia-smi 774 MiB")

    def test_memory_of_two_processes_that_are_exchanged_fails(self):
        self.make(256, 1024)
        self.judge("memory", 0, r"asked 1024.*; job 2320\.0 MiB, asked 1280, nvidia-smi 2321 MiB")
        self.make(256, 1024, gpu_memory_peak_bytes=1544 * MIB)
        self.judge("memory", 1, r"process 1544\.0 MiB, asked 256")

    def test_memory_of_the_job_that_lacks_a_process_fails(self):
        self.make(256, 1024, samples=[{"gpu_memory_bytes": 776 * MIB}])
        self.judge("memory", 1, r"FAILED memory: job 776\.0 MiB, asked 1280")

    def test_missing_figure_or_record_fails(self):
        self.make(256, gpu_memory_peak_bytes=None)
        self.judge("memory", 1, "FAILED memory: the record of process 1 has no gpu_memory_peak_bytes")
        self.make(256, pid=2)
        self.judge("memory", 1, "FAILED memory: no record of process 1")
        (self.at / "run.jsonl").unlink()
        self.judge("memory", 1, r"FAILED memory: .*run\.jsonl")

    def test_figure_that_nvidia_smi_lacks_is_no_failure(self):
        self.make(256)
        (self.at / "apps.csv").write_text("1, [N/A]\n")
        self.judge("memory", 0, r"n/a    memory: nvidia-smi has no memory of processes: \[N/A\]")
        (self.at / "apps.csv").write_text("4711, 776\n")
        self.judge("memory", 0, "n/a    memory: nvidia-smi lists no process 1: is this another PID namespace")
        self.make_energy(300, 300, "[N/A]")
        self.judge("energy", 0, r"n/a    energy: nvidia-smi has no power.draw: \[N/A\]")

    def test_busy_time_has_the_bounds_of_an_estimate(self):
        self.make(256)
        self.judge("busy", 0, r"^ok     busy: 4\.50 s of 5\.00 s, job 4\.50 s \(ratio 0\.900\)")
        self.make(256, gpu_seconds=6.6)
        self.judge("busy", 1, r"FAILED busy: .* not within 0\.7 to 1\.3")
        self.make(256, samples=[{"gpu_seconds": 3}])
        self.judge("busy", 1, r"FAILED busy: .*job 3\.00 s")

    def test_killed_process_has_its_signal_and_leaves_no_memory(self):
        gone = [{}, {"gpu_memory_bytes": 0}]
        self.make(512, samples=gone, signal=9)
        self.judge("killed", 0, r"ok     killed: .*; 0 after its end")
        self.make(512, samples=gone)
        self.judge("killed", 1, "FAILED killed: .*signal None")
        self.make(512, signal=9)
        self.judge("killed", 1, r"FAILED killed: .*1032\.0 MiB in the last sample")

    def test_holder_is_idle_after_the_time_and_not_before(self):
        held = {"gpus_held": 1, "gpus_idle": 0}
        self.make(512, samples=[held] * 5 + [{"gpus_held": 1, "gpus_idle": 1}])
        self.judge("idle", 0, r"ok     idle: 1 GPU idle 5\.0 s after")
        self.make(512, samples=[held] * 3 + [{"gpus_held": 1, "gpus_idle": 1}])
        self.judge("idle", 1, r"FAILED idle: 1 GPU idle 3\.0 s after")
        self.make(512, samples=[held] * 9)
        self.judge("idle", 1, "FAILED idle: gpus_held became 1, gpus_idle never did")

    def test_energy_is_the_integral_of_power(self):
        self.make_energy(300, 310)
        self.judge("energy", 0, r"ok     energy: 3100\.0 J in 10\.0 s, by power\.draw 3000\.0 J \(ratio 1\.033\)")
        self.make_energy(300, 400)
        self.judge("energy", 1, r"FAILED energy: .*ratio 1\.333\)")
        self.make(256)
        self.judge("energy", 1, "FAILED energy: fewer than two samples have gpu_energy_joules")


class Script(Made):
    def setUp(self):
        super().setUp()
        self.bin, self.build, self.made = (self.dir / name for name in ("bin", "build", "made"))
        for folder in (self.bin, self.build, self.made):
            folder.mkdir()
        self.stand_in(self.bin / "sleep", "#!/bin/sh\nexec /bin/sleep 0.01\n")
        self.stand_in(self.bin / "nvidia-smi", SMI)
        self.stand_in(self.build / "bpfmon", BPFMON)
        self.stand_in(self.build / "gpuload", "#!/bin/sh\n")

    def stand_in(self, path, text):
        path.write_text(text)
        path.chmod(0o755)

    def make_cases(self, busy_seconds):
        for name in ("memory-256", "memory-2048", "busy", "together", "killed", "idle", "energy"):
            self.at = self.made / name
            self.make(256)
            if name == "together":
                self.make(256, 1024)
            elif name == "busy":
                self.make(256, gpu_seconds=busy_seconds)
            elif name == "killed":
                self.make(512, samples=[{}, {"gpu_memory_bytes": 0}], signal=9)
            elif name == "idle":
                self.make(512, samples=[{"gpus_held": 1, "gpus_idle": nth // 6} for nth in range(8)])
            elif name == "energy":
                self.make_energy(300, 300)
                (self.at / "power.csv").rename(self.made / "power.csv")

    def check(self, *args):
        env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "BUILD": str(self.build), "STAND_IN": str(self.made)}
        env.pop("GPU", None)
        return subprocess.run([SCRIPT, *args], env=env, cwd=self.dir, capture_output=True, text=True, timeout=60, check=False)

    def test_all_cases_are_run_and_kept(self):
        self.make_cases(5)
        done = self.check("kept")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        head, *lines = done.stdout.splitlines()
        self.assertEqual(head, f"GPU {UUID}, driver 580.159, NVIDIA H200, bpfmon 1")
        self.assertEqual([line[:7] for line in lines], ["ok     "] * 7, done.stdout)
        self.assertTrue((self.dir / "kept" / "killed" / "run.jsonl").exists())

    def test_failed_case_is_the_exit_status(self):
        self.make_cases(1)
        done = self.check()
        self.assertEqual((done.returncode, done.stdout.count("\nok ")), (1, 6), done.stdout)
        self.assertIn("\nFAILED busy 5 s of 10 s: 1.00 s of 5.00 s", done.stdout)
        self.assertTrue(done.stdout.endswith("\n1 of 7 cases failed\n"))

    def test_machine_without_a_gpu_has_a_status_of_its_own(self):
        self.stand_in(self.bin / "nvidia-smi", "#!/bin/sh\necho 'No devices found.'\n")
        done = self.check()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "check-gpu: no NVIDIA GPU: nvidia-smi -L lists none\n")

    def test_missing_bpfmon_is_reported(self):
        (self.build / "bpfmon").unlink()
        done = self.check()
        self.assertEqual(done.returncode, 2)
        self.assertIn("/build/bpfmon: run make, or set BUILD", done.stderr)
