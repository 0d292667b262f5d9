# SPDX-License-Identifier: BSD-2-Clause
"""What to request for the next run, from runs whose needs are known."""

import json
import math
import re
import socket
import subprocess
import textwrap

from lib.runs import write_run
from lib.spans import span, write_run_with_spans
from lib.store import StoreCase

NEEDS = ()
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

    def print(self, *options, warning=""):
        done = self.bpfmon("advise", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, f"^{warning}$")
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

    def test_memory_is_what_a_run_needed_where_that_is_known(self):
        self.write(mib=500, memory_needed_bytes=100 * MIB, memory_needed_witness="pss", memory_needed_bound="equal")
        self.write(mib=200)
        said = self.advise("--name", "align")
        self.assertEqual(said["memory_needed_bytes"]["largest"], 200 * MIB)
        self.assertEqual(said["memory_needed_bytes"]["median"], 100 * MIB)
        self.assertEqual(said["rss_peak_bytes"]["largest"], 500 * MIB)
        self.assertEqual(said["memory_needed_bytes"]["request"], said["rss_peak_bytes"]["request"])

    def test_three_runs_say_how_little_is_known(self):
        for mib in (100, 120, 110):
            self.write(mib)
        self.assertAlmostEqual(self.advise()["covered"], math.pow(0.05, 1 / 3))
        text = self.print("--name", "align")
        self.assertIn("3 runs are few", text)
        self.assertIn("with a probability of 1 in 4,", text)
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
        said = self.advise("--node-memory", "4GiB")
        for best in (said["least_waste"], said["most_runs"]):
            self.assertLess(best["rss_bytes"], 200 * MIB)
            self.assertAlmostEqual(best["retried"], 0.05)

    def test_runs_that_need_more_than_a_node_are_in_no_first_request(self):
        for mib in [100] * 20 + [3000]:
            self.write(mib)
        said = self.advise("--node-memory", "1GiB")
        self.assertEqual((said["too_large"], said["least_waste"]["rss_bytes"], said["most_runs"]["rss_bytes"]), (1, 100 * MIB, 100 * MIB))
        self.assertIn("1 of the 21 runs needs more memory than --node-memory", self.print("--node-memory", "1GiB"))
        said = self.advise("--node-memory", "50MiB")
        self.assertEqual((said["too_large"], "least_waste" in said, "most_runs" in said), (21, False, False))
        self.assertIn("21 of the 21 runs need more", self.print("--node-memory", "50MiB"))

    def test_a_request_as_printed_is_enough(self):
        for kib in range(30):
            self.write(1067 + kib / 10)
        exact = self.advise()["least_waste"]["rss_bytes"]
        text = self.print()
        (printed,) = re.findall(r"least waste +([\d,]+) MiB", text)
        self.assertGreaterEqual(int(printed.replace(",", "")) * MIB, exact)
        self.assertIn(f"{math.ceil((1067 + 2.9) * 1.1):,} MiB", text)

    def test_a_little_more_than_a_core_is_a_core(self):
        for i in range(10):
            self.write(100, cores=1.04, meta={"scheduler": {"SLURM_CPUS_ON_NODE": "1"}})
        said = self.advise()
        self.assertEqual((said["cores"]["request"], said["cores_requested"]["needed_more"]), (1, 0))
        self.write(100, cores=1.06, meta={"scheduler": {"SLURM_CPUS_ON_NODE": "1"}})
        said = self.advise()
        self.assertEqual((said["cores"]["request"], said["cores_requested"]["needed_more"]), (2, 1))

    def test_what_is_doubtful_of_the_runs_is_in_the_first_line(self):
        self.write(100)
        self.write(200, meta={"name": "sort"})
        self.write(300, complete=False, losses={"tasks": 1})
        said = self.advise()
        self.assertEqual((said["runs"], said["incomplete"]), (3, 1))
        self.assertEqual(self.print().splitlines()[0], "3 runs of different names, 1 of them incomplete")
        self.assertEqual(self.print("--name", "sort").splitlines()[0], "sort: 1 run")

    def test_runs_of_jobs_are_chosen_by_a_pattern(self):
        for i in range(3):
            self.write(100 + i, meta={"job": f"4711[{i}].server"})
        self.write(900, meta={"job": "4712[0].server"})
        self.assertEqual(self.advise("--job", "4711[*")["runs"], 3)
        self.assertEqual(self.advise("--job", "4711[2].server")["rss_peak_bytes"]["largest"], 102 * MIB)

    def test_lines_for_schedulers_and_workflows(self):
        for mib in (100, 120, 110):
            self.write(mib, wall=600.0, cores=1.5, write_bytes=80 * MIB)
        self.advise()
        few = r"bpfmon: warning: based on only 3 runs; record more for a better estimate\n"
        self.assertEqual(
            self.print("--for", "slurm", warning=few),
            "#SBATCH --mem=150M\n#SBATCH --cpus-per-task=2\n#SBATCH --time=00:13:00\n#SBATCH --tmp=100M\n",
        )
        self.assertEqual(
            self.print("--for", "k8s", warning=few),
            "resources:\n  requests:\n    memory: 150Mi\n    cpu: 1500m\n    ephemeral-storage: 100Mi\n  limits:\n    memory: 150Mi\n",
        )
        self.assertEqual(
            self.print("--for", "nextflow", warning=few),
            "cpus = 2\nmemory = { 120.MB * (2 ** (task.attempt - 1)) }\ntime = { 13.min * task.attempt }\n"
            "errorStrategy = 'retry'\nmaxRetries = 1\ndisk = '100 MB'\n",
        )
        self.assertIn("[120.MB * (2 ** (task.attempt - 1)), 200.MB].min()", self.print("--for", "nextflow", "--node-memory", "200MiB", warning=few))

    def test_snakemake_reads_its_lines_as_they_are_meant(self):
        for mib in [100] * 40 + [3000]:
            self.write(mib, wall=600.0, cores=1.5, write_bytes=80 * MIB)
        self.advise()
        for options, attempts, most in (([], 7, 105 * 64), (["--node-memory", "3100MiB"], 6, 3250)):
            lines = self.print("--for", "snakemake", *options)
            rule = f"rule a:\n    output: 'out'\n{textwrap.indent(lines, '    ')}    shell: 'echo {{threads}} {{resources.mem_mb}} {{resources.disk_mb}} >>tried; false'\n"
            (self.dir / "Snakefile").write_text(rule)
            (self.dir / "tried").unlink(missing_ok=True)
            command = ["/usr/bin/snakemake", "--cores", "2", "-q"]
            done = subprocess.run(command, cwd=self.dir, capture_output=True, text=True, timeout=120, check=False)
            tried = [[int(number) for number in line.split()] for line in (self.dir / "tried").read_text().splitlines()]
            # MB of Snakemake are of 10^6: 105 of them are the 100 MiB of most runs, 92 the 88 MiB written
            self.assertEqual(tried, [[2, min(105 * 2**i, most), 93] for i in range(attempts)], done.stderr)


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

    def test_what_explains_nothing_is_not_shown(self):
        for i in range(20):
            self.write(mib=100 + i % 2, tags={"lane": str(i // 2)})
        self.assertNotIn("by_size", self.advise())
        done = self.bpfmon("advise", "--by", "size", "--json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("tag 'size' cannot predict the memory", done.stderr)


    def test_what_chance_explains_of_few_runs_is_not_shown(self):
        for memory, lane in zip((100, 110, 120, 130, 140), (1, 3, 2, 3, 4)):
            self.write(mib=memory, tags={"lane": str(lane), "plate": str(memory % 7)})
        self.assertGreater(self.advise("--by", "lane")["by_size"]["explained"], 0.5)
        self.assertNotIn("by_size", self.advise())

    def test_memory_that_shrinks_with_a_tag_is_shown_on_demand(self):
        for i in range(1, 21):
            self.write(mib=1000 - 40 * i, tags={"threads": str(i)})
        self.assertNotIn("by_size", self.advise())
        self.assertIn("by size: memory = 1.0 GiB - 40.0 MiB x threads", self.print("--by", "threads"))

    def test_numbers_that_have_no_squares_explain_nothing(self):
        for i in range(1, 11):
            self.write(mib=100 + i, tags={"seed": f"{i}e200"})
        self.assertNotIn("by_size", self.advise())

    def test_names_and_tags_control_no_terminal(self):
        for i in range(1, 11):
            self.write(mib=100 * i, tags={"a\x1b[31mb\n": str(i)}, meta={"name": "\x1b[2J"})
        self.assertIn("a\x1b[31mb\n", self.advise()["by_size"]["tag"])
        text = self.print("--name", "\x1b[2J")
        self.assertIn("x a?[31mb?\n", text)
        self.assertNotIn("\x1b", text)


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


class Spans(Advised):
    """`--by span` and `--span`, of two runs of 900 MiB."""

    def setUp(self):
        super().setUp()
        align = lambda number, mib, **how: span(number, "align", cpu_seconds=1.5, wall=1.0, **{"rss_peak_bytes": mib * MIB, "rss_peak_upper_bytes": mib * MIB, **how})
        sort = span(3, "sort", code=1, rss_peak_bytes=20 * MIB, rss_peak_upper_bytes=20 * MIB, write_bytes=8 * MIB)
        for i, spans in enumerate(((align(1, 100), align(2, 150), sort), (align(1, 120), span(2, "a\x1b[2J")))):
            how = {"meta": {"name": "flow"}, "rss_peak_bytes": 900 * MIB}
            self.files.append(write_run_with_spans(self.dir / f"spans{i}.jsonl", *spans, **how))
        done = self.bpfmon("store", "merge", *self.files)
        self.assertEqual(done.returncode, 0, done.stderr)

    few = r"bpfmon: warning: \d of \d names have fewer than 10 spans: record more\n"

    def test_a_rule_requests_what_its_spans_needed_not_what_the_run_did(self):
        # 150 MiB and 10 % are 165, which the summary of a run rounds to 170, or 179 MB of Snakemake
        lines = "threads: 2\nretries: 1\nresources:\n    mem_mb=lambda wildcards, attempt: 179 * 2 ** (attempt - 1),\n    runtime=lambda wildcards, attempt: 1 * attempt,\n"
        text = self.print("--span", "align", "--for", "snakemake", warning=self.few)
        self.assertEqual(text, "# align: 3 spans of 2 runs; memory 170 MiB (peak up to 150 MiB + 10 %)\n" + lines)
        self.assertEqual(self.print("--by", "span", "--span", "al*", "--for", "snakemake", warning=self.few), text)

    def test_each_name_has_a_block_with_the_words_of_a_run(self):
        blocks = self.print("--by", "span", "--for", "slurm", warning=self.few).split("\n\n")
        self.assertEqual([b.split(":")[0] for b in blocks], ["# a?[2J", "# align", "# sort"])
        self.assertIn("1 failed; memory at least 22 MiB (peak up to 20.0 MiB + 10 %, of a span that failed)\n", blocks[2])
        self.assertIn("#SBATCH --mem=22M\n", blocks[2])
        self.assertIn("\n// align: ", self.print("--by", "span", "--for", "nextflow", warning=self.few))
        self.assertIn("memory = { 170.MB * (2 ** (task.attempt - 1)) }\n", self.print("--span", "align", "--for", "nextflow", warning=self.few))
        self.assertRegex(self.print("--span", "align", warning=self.few), r"\n  memory +120 MiB +150 MiB +150 MiB +150 MiB +170 MiB\n  cores .* 2.00\n")

    def test_json_has_a_member_for_each_name(self):
        done = self.bpfmon("advise", "--by", "span", "--json")
        said = json.loads(done.stdout)
        self.assertEqual((said["schema"], said["by"]), ("bpfmon-advise/1", "span"))
        _, align, sort = said["spans"]
        self.assertEqual((align["name"], align["spans"], align["runs"], align["request_is_least"]), ("align", 3, 2, False))
        self.assertEqual((align["memory_needed_bytes"]["request"], align["memory_needed_bytes"]["largest"]), (170 * MIB, 150 * MIB))
        self.assertEqual((sort["failed"], sort["request_is_least"]), (1, True))

    def test_what_has_no_spans_or_no_size_is_refused(self):
        self.assert_refused(self.bpfmon("advise", "--span", "align", "--by", "reads"), "advice for spans cannot use the tag 'reads'")
        self.assert_refused(self.bpfmon("advise", "--span", "none"), "no run matches the filters")
        none = write_run_with_spans(self.dir / "none.jsonl", meta={"name": "none"})
        self.bpfmon("store", "merge", none)
        self.assert_refused(self.bpfmon("advise", "--name", "none", "--by", "span"), "no span can be used", "bpfmon show RUN --by span")


class Refusals(Advised):
    def test_what_cannot_be_advised_on(self):
        self.write(100, rss_peak_bytes=None)
        self.bpfmon("store", "merge", *self.files)
        self.assert_refused(self.bpfmon("advise"), "none of the 1 runs that match the filters can be used", "bpfmon list")
        self.assert_refused(self.bpfmon("advise", "--name", "none"), "no run matches the filters")
        self.assert_refused(self.bpfmon("advise", "none"), "no run is called 'none'")
        self.assert_refused(self.bpfmon("advise", "--for", "slurm", "--by", "size"), "--for", "--by")
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
