# SPDX-License-Identifier: BSD-2-Clause
"""Several runs in one export: each is there as in an export of its own, and can be told from the others."""

import csv
import io
import json
import os
import re
import shlex
import subprocess

from lib.bpfmon import BPFMON, TOP
from lib.exports import PUSHED, SPANS, ExportCase
from lib.runs import write_run

SAMPLED = True
NEEDS = ()
WHOLE = TOP / "tests" / "data" / "golden" / "run.jsonl"
RUNS = (SPANS, WHOLE, PUSHED)


def table(text):
    return list(csv.DictReader(io.StringIO(text.decode(), newline="")))


class Several(ExportCase):
    def several(self, form, *words, said=b"", **kwargs):
        argv = [BPFMON, "export", "-f", form, *map(str, words or RUNS)]
        done = subprocess.run(argv, capture_output=True, timeout=60, check=False, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(said, done.stderr)
        self.assertEqual(bool(done.stderr), bool(said))
        return done.stdout

    def assert_rows_are_those_of_each_run(self, form):
        rows, whole = table(self.several(form)), []
        for path in RUNS:
            meta = json.loads(path.read_text().split("\n", 1)[0])
            alone = table(self.export(path, form))
            whole += [{"run": meta["run"], "run_name": meta.get("name") or "", **row} for row in alone]
        self.assertEqual(len(rows), len(whole))
        for row, own in zip(rows, whole, strict=True):
            self.assertEqual({key: cell for key, cell in row.items() if key in own}, own)
            self.assertEqual({cell for key, cell in row.items() if key not in own}, {""} if set(row) - set(own) else set())
        self.assertEqual(set(rows[0]), {key for own in whole for key in own})
        self.assertEqual(list(rows[0])[:2], ["run", "run_name"])
        return rows

    def test_csv_has_one_header_and_the_rows_of_all_with_their_run(self):
        rows = self.assert_rows_are_those_of_each_run("csv")
        self.assertEqual(len({row["run"] for row in rows}), 3)

    def test_csv_of_spans_has_the_columns_of_all(self):
        other = self.dir / "other.jsonl"
        text = SPANS.read_text().replace("ccddee01", "ccddee77").replace('"lr"', '"momentum"').replace('"build"', '"\\"a\\",b\\u001b"')
        other.write_text(text)
        rows = table(self.several("csv-spans", SPANS, WHOLE, other))
        own = table(self.export(SPANS, "csv-spans"))
        self.assertEqual([row["id"] for row in rows], [row["id"] for row in own] * 2)
        self.assertEqual([row["name"] for row in rows], [row["name"] for row in own] * 2)
        self.assertEqual([row["run_name"] for row in rows], ["build"] * len(own) + ['"a",b?'] * len(own))
        self.assertEqual({row["run"][-2:] for row in rows[len(own) :]}, {"77"})

    def test_a_document_is_a_list_of_those_of_each_run(self):
        self.assertEqual(json.loads(self.several("json")), [json.loads(self.export(path, "json")) for path in RUNS])

    def test_openmetrics_has_each_family_once_with_the_values_of_all(self):
        text = self.several("openmetrics").decode()
        families = re.findall(r"^# TYPE (\S+)", text, re.M)
        self.assertEqual(len(families), len(set(families)))
        self.assertTrue(text.endswith("# EOF\n"))
        self.assertEqual(text.count("# EOF"), 1)
        values = [line for line in text.splitlines() if line[0] != "#"]
        alone = [line for path in RUNS for line in self.export(path, "openmetrics").decode().splitlines() if line[0] != "#"]
        self.assertEqual(sorted(values), sorted(alone))
        family = ""
        for line in text.splitlines()[:-1]:  # those of a family are together
            family = line.split()[2] if line[0] == "#" else family
            self.assertTrue(line[0] == "#" or re.match(rf"{family}(_total)?[{{ ]", line), (family, line))

    def test_lines_and_blocks_follow_each_other(self):
        for form in ("jsonl", "influx", "gnu-time", "rmonitor"):
            with self.subTest(form=form):
                self.assertEqual(self.several(form), b"".join(self.export(path, form) for path in RUNS))

    def test_a_run_that_two_words_name_is_there_once(self):
        said = b"'%s' is given more than once" % bytes(SPANS)
        self.assertEqual(self.several("csv", SPANS, WHOLE, SPANS, said=said), self.several("csv", SPANS, WHOLE))
        alone = table(self.several("csv", SPANS, SPANS, said=said))
        self.assertEqual({row["run_name"] for row in alone}, {"build"})

    def test_runs_come_through_pipes(self):
        words = " ".join(f"<(cat {shlex.quote(str(path))})" for path in (SPANS, WHOLE))
        argv = ["bash", "-c", f"{shlex.quote(str(BPFMON))} export {words} - -f csv"]
        with open(PUSHED, "rb") as last, subprocess.Popen(["cat"], stdin=last, stdout=subprocess.PIPE) as cat:
            done = subprocess.run(argv, stdin=cat.stdout, capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout, self.several("csv"))

    def test_columns_do_not_depend_on_how_many_runs_a_name_has(self):
        store = ["--store", str(self.dir / "store.sqlite")]
        path = write_run(self.dir / "a.jsonl", None, {"start_time": 1, "command": ["x"], "name": "align"})
        subprocess.run([BPFMON, "store", "merge", *store, path], capture_output=True, timeout=60, check=True)
        self.assertRegex(self.several("csv", *store, "align~all"), b"^run,run_name,time,")
        self.assertRegex(self.several("csv", *store, "align"), b"^time,")
        self.assertEqual(len(json.loads(self.several("json", *store, "align~all"))), 1)

    def test_a_format_of_one_run_is_refused_with_a_command_that_works(self):
        for form in ("psrecord", "psrecord-plain", "prmon", "nextflow"):
            with self.subTest(form=form):
                argv = [BPFMON, "export", "-f", form, "-o", self.dir / "out", *RUNS]
                done = subprocess.run(argv, capture_output=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 2)
                said = done.stderr.decode()
                self.assertIn(f"{form} holds one run, but 3 are given", said)
                words = shlex.split(said.split("own file: ")[1])
                self.assertEqual(words[0], "bpfmon")
                words[words.index("FILE")] = str(self.dir / form)
                subprocess.run([BPFMON, *words[1:]], capture_output=True, timeout=60, check=True)
                self.assertTrue(any(name.startswith(form) for name in os.listdir(self.dir)))

    def test_help_names_the_formats_of_one_run(self):
        said = subprocess.run([BPFMON, "export", "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
        refused = set()
        for form in re.findall(r"^  ([\w-]+) ", said.split("\nFormats:\n")[1], re.M):
            argv = [BPFMON, "export", *RUNS, "-f", form, "-o", self.dir / f"out.{form}"]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
            refused |= {form} if "holds one run" in done.stderr else set()
        (listed,) = re.findall(r"most formats, but\s([^.]*) hold only one run\.", said)
        self.assertEqual(set(re.split(r", | and ", listed)), refused)
        table = (TOP / "docs/RUNS.md").read_text()
        self.assertEqual({name for row in re.findall(r"^\| (`.*`) \|.*\| refused \|$", table, re.M) for name in re.findall(r"`([\w-]+)`", row.split("|")[0])}, refused)

    def test_one_that_cannot_be_read_leaves_no_file(self):
        bad, out = self.dir / "bad.jsonl", self.dir / "out.csv"
        bad.write_text("{}\n")
        argv = [BPFMON, "export", SPANS, bad, "-f", "csv", "-o", out]
        done = subprocess.run(argv, capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))
        self.assertIn(b"bad.jsonl", done.stderr)
        self.assertFalse(out.exists())
