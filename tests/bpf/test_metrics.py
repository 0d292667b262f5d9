# SPDX-License-Identifier: BSD-2-Clause
"""What is written is what was asked for, and each thing once."""

import json
import subprocess

from lib.account import RUN_ONLY, AccountCase, metric_kinds, plain_kinds, record_counters
from lib.bpfmon import BPFMON, truth

OF_SAMPLE = {"kind", "time", "elapsed_seconds"}


class Metrics(AccountCase):
    def in_line(self, line):
        """The metrics in it; `execs` of a process is no metric, but always there."""
        own = {"execs"} if line["kind"] == "process" else set()
        return [key for key in line if key in metric_kinds() and key not in own]

    def test_a_plain_run_has_every_metric(self):
        run = self.run_bpfmon([truth("spin"), "20"])
        every = list(plain_kinds())
        self.assertGreaterEqual(len(every), 25)
        can = [key for key, said in run.meta["capabilities"].items() if said["available"]]
        self.assertEqual(can, every)
        self.assertEqual(list(run.meta["units"]), every)
        for sample in run.samples:
            self.assertEqual(self.in_line(sample), every)
            self.assertEqual(set(sample) - OF_SAMPLE, set(every))
        self.assertEqual(self.in_line(self.only(run.processes)), record_counters())
        for key, (_group, kind) in plain_kinds().items():
            self.assertEqual(key in run.summary, kind == "counter", key)

    def test_only_what_was_asked_for(self):
        run = self.run_bpfmon([truth("seqchildren"), "3", "5"], ["--metrics", "cpu,io,rss_bytes"])
        kinds = metric_kinds()
        asked = [k for k, (group, _) in kinds.items() if group in ("cpu", "io") or k == "rss_bytes"]
        self.assertEqual(list(run.meta["units"]), asked)
        self.assertEqual(list(run.meta["capabilities"]), asked)
        for sample in run.samples:
            self.assertEqual(self.in_line(sample), asked)
        of_process = [key for key in asked if kinds[key][1] == "counter" and key not in RUN_ONLY]
        for process in run.processes:
            self.assertEqual(self.in_line(process), of_process)
        self.assert_records(run, 4)
        self.assertGreaterEqual(run.summary["cpu_seconds"], 0.015)

    def test_one_metric_alone(self):
        for key in plain_kinds():
            with self.subTest(key=key):
                run = self.run_bpfmon([truth("spin"), "10"], ["--metrics", key])
                self.assert_complete(run)
                self.assertEqual(self.in_line(run.samples[-1]), [key])
                for sample in run.samples[:-1]:  # nothing has been read yet at the first
                    expected = [] if key in ("pss_bytes", "uss_bytes") else [key]
                    self.assertEqual(self.in_line(sample), expected)

    def test_processes_are_counted_whatever_was_asked_for(self):
        run = self.run_bpfmon([truth("seqchildren"), "3", "0"], ["--metrics", "cpu_seconds"])
        self.assertEqual(run.summary["processes_total"], 4)
        self.assert_records(run, 4)

    def test_one_metric_alone_has_its_value(self):
        least = {"cpu_seconds": 0.06, "execs": 1, "minflt": 10, "forks": 3, "exits": 4}
        for key, value in least.items():
            with self.subTest(key=key):
                run = self.run_bpfmon([truth("seqchildren"), "3", "20"], ["--metrics", key])
                self.assertGreaterEqual(run.summary[key], value)
        run = self.run_bpfmon([truth("spin"), "100"], ["--metrics", "user_seconds,system_seconds"])
        split = run.summary["user_seconds"] + run.summary["system_seconds"]
        self.assertGreaterEqual(split, 0.1)

    def test_an_unknown_metric_is_refused_in_one_line(self):
        for name in ("bogus", "cpu,bogus", "cpu_second", "cpu,,io", ""):
            with self.subTest(name=name):
                marker = self.dir / "ran"
                done = subprocess.run(
                    [BPFMON, "--metrics", name, "--", "touch", str(marker)],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    check=False,
                )
                self.assertEqual(done.returncode, 125)
                self.assertEqual(done.stdout, b"")
                self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
                self.assertFalse(marker.exists())

    def test_no_object_has_a_key_twice(self):
        def once(pairs):
            keys = [key for key, _ in pairs]
            self.assertEqual(len(keys), len(set(keys)), keys)
            return dict(pairs)

        path = self.dir / "once.jsonl"
        command = ["sh", "-c", "/bin/true; :"]
        subprocess.run([BPFMON, "-q", "-o", str(path), "--", *command], check=True)
        lines = path.read_text().splitlines()
        kinds = [json.loads(line, object_pairs_hook=once)["kind"] for line in lines]
        self.assertEqual((kinds[0], kinds[-1]), ("meta", "summary"))
        self.assertEqual(sorted(set(kinds)), ["meta", "process", "sample", "summary"])
