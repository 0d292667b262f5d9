# SPDX-License-Identifier: BSD-2-Clause
"""Samples of processes in files and stores: kept, given back, shown, merged, pruned."""

import json
import sqlite3

from lib.bpfmon import read_lines, truth
from lib.store import StoreCase

SAMPLED = True
NEEDS = ()
# A child has from its birth on the name that its parent has given itself (of 15 bytes at most).
RENAMED = r"""
import ctypes, os, time
ctypes.CDLL(None).prctl(15, b"a\"',\\\x1b[2J\xff\xff\n")
if not os.fork():
    hoard = b"x" * (50 << 20)
    time.sleep(1)
    os._exit(0)
os.wait()
"""


class Kept(StoreCase):
    def setUp(self):
        super().setUp()
        self.out = self.dir / "run.jsonl"

    def record_heaviest(self, *options, command=(truth("hoarders"), "together", "8", "10", "800")):
        self.record("-i", "0.05", "--process-samples", "4", "-o", self.out, *options, command=command)
        return [line for line in read_lines(self.out) if line["kind"] == "process_sample"]

    def export(self, run, form="jsonl"):
        done = self.bpfmon("export", run, "-f", form, text=False, errors=None)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def test_without_the_option_there_are_no_process_samples(self):
        for options in ((), ("--process-samples", "0")):
            self.record("-i", "0.05", "--force", "-o", self.out, *options)
            self.assertNotIn("process_sample", self.out.read_text())
        self.assertEqual(self.ask("SELECT count(*) FROM process_sample"), [(0,)])

    def test_rows_of_the_store_are_the_lines_of_the_file(self):
        lines = self.record_heaviest()
        self.assertTrue(lines)
        keys = ("elapsed_seconds", "pid", "comm", "cpu_seconds", "rss_bytes", "rss_anon_bytes", "swap_bytes")
        rows = self.ask(f"SELECT {', '.join(keys)} FROM process_samples ORDER BY elapsed_seconds, rank")
        self.assertEqual([dict(zip(keys, row)) for row in rows], [{key: line[key] for key in keys} for line in lines])

    def test_an_export_of_the_store_is_what_was_written(self):
        self.record_heaviest()
        timed = [line for line in self.out.read_bytes().splitlines() if b'"kind":"process"' not in line]
        stored = self.export(1)
        self.assertEqual([line for line in stored.splitlines() if b'"kind":"process"' not in line], timed)
        self.assertEqual(self.export(self.out), self.out.read_bytes())

    def test_hostile_names_come_back_and_are_inert_in_the_terminal(self):
        lines = self.record_heaviest(command=("python3", "-c", RENAMED))
        strange = next(line for line in lines if '"' in line.get("comm", ""))
        self.assertIs(strange["lossy"], True)
        self.assertIn(strange, [json.loads(line) for line in self.export(1).splitlines()])
        shown = self.bpfmon("show", 1)
        self.assertEqual(shown.returncode, 0)
        self.assertNotIn("\x1b", shown.stdout)

    def test_show_has_the_heaviest_five_at_the_peak(self):
        self.record("-i", "0.05", "--process-samples", "20", "-o", self.out,
                    command=(truth("hoarders"), "together", "8", "10", "800"))
        lines = read_lines(self.out)
        peak = max((line for line in lines if line["kind"] == "sample"), key=lambda line: line["rss_bytes"])
        then = [line for line in lines if line["kind"] == "process_sample" and line["time"] == peak["time"]]
        for run in ("1", self.out):
            shown = self.bpfmon("show", run).stdout
            table = shown.split("at the peak (", 1)[1].split("\n\n", 1)[0].splitlines()[1:]
            self.assertEqual([int(row.split()[1]) for row in table], [line["pid"] for line in then[:5]])

    def test_show_has_no_table_of_processes_without_process_samples(self):
        self.record("-i", "0.05", "-o", self.out)
        for run in ("1", self.out):
            self.assertNotIn("at the peak (", self.bpfmon("show", run).stdout)

    def test_one_document_has_them_in_a_list(self):
        lines = self.record_heaviest()
        self.assertEqual(json.loads(self.export(1, "json"))["process_samples"], lines)

    def test_merged_of_a_store_and_of_a_file_and_pruned(self):
        lines = self.record_heaviest()
        other, self.store = self.store, self.dir / "merged.sqlite"
        for source in (other, self.out):
            self.store.unlink(missing_ok=True)
            done = self.bpfmon("store", "merge", source)
            self.assertEqual(done.returncode, 0, done.stderr)
            columns = "elapsed_ns, rank, pid, comm, start_time_ns, cpu_ns, rss_bytes, rss_anon_bytes, swap_bytes, lossy"
            every = f"SELECT {columns} FROM process_sample ORDER BY elapsed_ns, rank"
            with sqlite3.connect(other) as db:
                self.assertEqual(self.ask(every), db.execute(every).fetchall())
            db.close()
            self.assertEqual(self.ask("SELECT count(*) FROM process_sample"), [(len(lines),)])
        self.assertEqual(self.bpfmon("store", "prune", "--keep", "0").returncode, 0)
        self.assertEqual(self.ask("SELECT count(*) FROM process_sample"), [(0,)])
        self.assert_sound_file()
