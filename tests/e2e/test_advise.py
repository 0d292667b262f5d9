# SPDX-License-Identifier: BSD-2-Clause
"""What to request for the next run, from runs whose needs are known."""

import json
import math
import socket

from lib.runs import write_run
from lib.store import StoreCase

MIB = 1 << 20


class Advised(StoreCase):
    def setUp(self):
        super().setUp()
        self.files = []

    def write(self, mib, wall=100.0, cores=1.0, tags=None, meta=None, **summary):
        values = {"wall_seconds": wall, "cpu_seconds": wall * cores, "rss_peak_bytes": mib * MIB, "exit_code": 0, **summary}
        path = self.dir / f"{len(self.files)}.jsonl"
        head = {"name": "align", "start_time": 1763690000 + len(self.files), **(meta or {})}
        self.files.append(write_run(path, tags, head, **values))

    def advise(self, *options):
        """The advice as JSON, once the runs are in the store."""
        done = self.bpfmon("store", "merge", *self.files)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.bpfmon("advise", "--json", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def print(self, *options):
        done = self.bpfmon("advise", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout


class Requests(Advised):
    def test_percentiles_and_requests_are_those_of_the_runs(self):
        for i in range(1, 101):
            self.write(mib=i * 10, wall=60.0 * i, cores=i / 25)
        said = self.advise("--name", "align")
        self.assertEqual((said["schema"], said["runs"], said["left_out"]), ("bpfmon-advise/1", 100, 0))
        memory = said["rss_peak_bytes"]
        self.assertEqual([memory[k] // MIB for k in ("median", "p95", "p99", "largest", "request")], [500, 950, 990, 1000, 1100])
        self.assertEqual(said["cores"]["request"], 4)
        self.assertEqual(said["wall_seconds"]["request"], 7500)
        self.assertAlmostEqual(said["chance_beyond_largest"], 1 / 101)
        self.assertAlmostEqual(said["covered"], math.pow(0.05, 1 / 100), 8)

    def test_three_runs_say_how_little_is_known(self):
        for mib in (100, 120, 110):
            self.write(mib)
        self.assertAlmostEqual(self.advise()["covered"], math.pow(0.05, 1 / 3))
        text = self.print("--name", "align")
        self.assertIn("3 runs tell little", text)
        self.assertIn("chance of 1 in 4", text)
        self.assertIn("at least 36 %", text)

    def test_runs_without_values_are_left_out(self):
        self.write(100)
        self.write(200, rss_peak_bytes=None)
        self.write(300, exit_code=1)
        said = self.advise()
        self.assertEqual((said["runs"], said["left_out"], said["failed"]), (2, 1, 1))

    def test_two_kinds_of_runs_are_cheapest_with_a_small_first_request(self):
        for i in range(95):
            self.write(100 + i % 5)
        for _ in range(5):
            self.write(3000)
        least = self.advise("--node-memory", "4GiB")["least_waste"]
        self.assertLess(least["rss_bytes"], 200 * MIB)
        self.assertAlmostEqual(least["retried"], 0.05)

    def test_lines_for_schedulers_and_workflows(self):
        for mib in (100, 120, 110):
            self.write(mib, wall=600.0, cores=1.5, write_bytes=80 * MIB)
        self.advise()
        self.assertEqual(
            self.print("--for", "slurm"),
            "#SBATCH --mem=150M\n#SBATCH --cpus-per-task=2\n#SBATCH --time=00:13:00\n#SBATCH --tmp=100M\n",
        )
        self.assertEqual(
            self.print("--for", "k8s"),
            "resources:\n  requests:\n    memory: 150Mi\n    cpu: 1500m\n    ephemeral-storage: 100Mi\n  limits:\n    memory: 150Mi\n",
        )
        self.assertIn("memory = { 150.MB * (2 ** (task.attempt - 1)) }", self.print("--for", "nextflow"))
        self.assertIn("mem_mb=lambda wildcards, attempt: 150 * 2 ** (attempt - 1)", self.print("--for", "snakemake"))


class Sizes(Advised):
    def test_a_tag_explains_the_memory(self):
        for i in range(1, 21):
            self.write(mib=50 + 3 * i, tags={"reads": str(i * 1000), "lane": str(i % 4)})
        by_size = self.advise()["by_size"]
        self.assertEqual((by_size["tag"], by_size["runs"]), ("reads", 20))
        self.assertAlmostEqual(by_size["bytes_per_unit"], 3 * MIB / 1000)
        self.assertAlmostEqual(by_size["base_bytes"] / MIB, 50)
        self.assertAlmostEqual(by_size["explained"], 1)
        other = self.advise("--by", "lane")["by_size"]
        self.assertEqual(other["tag"], "lane")
        self.assertLess(other["explained"], 0.1)

    def test_the_files_of_the_command_explain_the_memory(self):
        for i in range(1, 9):
            (self.dir / f"in{i}").write_bytes(b"x" * (i * 10000))
            command = ["./align", f"in{i}" if i % 2 else f"--input=in{i}", "--threads", "4"]
            self.write(mib=10 + i, meta={"cwd": str(self.dir), "command": command, "host": socket.gethostname()})
        by_size = self.advise()["by_size"]
        self.assertNotIn("tag", by_size)
        self.assertAlmostEqual(by_size["bytes_per_unit"], MIB / 10000)
        self.assertIn("bytes of the files that the command names", self.print())

    def test_what_explains_nothing_is_not_told(self):
        for i in range(20):
            self.write(mib=100 + i % 2, tags={"lane": str(i // 2)})
        self.assertNotIn("by_size", self.advise())
        done = self.bpfmon("advise", "--by", "size", "--json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("the tag 'size' explains nothing", done.stderr)


class Use(Advised):
    def test_what_was_requested_of_slurm(self):
        for mib in (100, 300):
            self.write(mib, cores=1.0, meta={"scheduler": {"SLURM_MEM_PER_NODE": "800", "SLURM_CPUS_ON_NODE": "4"}})
        self.write(1000, cores=1.0, meta={"scheduler": {"SLURM_MEM_PER_CPU": "200", "SLURM_CPUS_ON_NODE": "4"}})
        said = self.advise()
        self.assertEqual((said["memory_requested"]["runs"], said["memory_requested"]["needed_more"]), (3, 1))
        self.assertAlmostEqual(said["memory_requested"]["used"], (100 + 300 + 800) / 2400)
        self.assertAlmostEqual(said["cores_requested"]["used"], 0.25)
        self.assertIn("of the memory requested so far 50 % was used (3 runs, 1 needed more)", self.print())

    def test_limits_of_the_cgroup_stand_for_a_request(self):
        self.write(100, cores=1.0, meta={"limits": {"memory_max_bytes": 400 * MIB, "cpu_max_cores": 2.5}})
        said = self.advise()
        self.assertAlmostEqual(said["memory_requested"]["used"], 0.25)
        self.assertAlmostEqual(said["cores_requested"]["used"], 0.4)

    def test_a_request_that_nothing_tells_is_absent(self):
        self.write(100, meta={"scheduler": {"SLURM_MEM_PER_NODE": "0", "NSLOTS": "many"}})
        said = self.advise()
        self.assertNotIn("memory_requested", said)
        self.assertNotIn("cores_requested", said)


class Refusals(Advised):
    def test_what_cannot_be_advised_on(self):
        self.write(100, rss_peak_bytes=None)
        self.bpfmon("store", "merge", *self.files)
        self.assert_refused(self.bpfmon("advise"), "of 1 runs", "bpfmon list")
        self.assert_refused(self.bpfmon("advise", "--json", "--for", "slurm"), "--json", "--for")
        self.assert_refused(self.bpfmon("advise", "--for", "pbs"), "pbs")
        self.assert_refused(self.bpfmon("advise", "--node-memory", "many"), "many")

    def test_what_was_recorded_is_enough(self):
        for mib in (10, 40):
            self.record("--name", "grow", command=("python3", "-c", f"b = bytearray({mib} << 20)"))
        done = self.bpfmon("advise", "--name", "grow", "--json")
        said = json.loads(done.stdout)
        rows = self.list("--name", "grow")
        self.assertEqual(said["rss_peak_bytes"]["largest"], max(row["rss_peak_bytes"] for row in rows))
        self.assertEqual(said["wall_seconds"]["largest"], max(row["wall_seconds"] for row in rows))
