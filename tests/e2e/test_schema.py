# SPDX-License-Identifier: BSD-2-Clause
"""Every line that bpfmon writes is as docs/bpfmon-1.schema.json says."""

import json
import re
import subprocess
import unittest

from lib.bpfmon import BPFMON, TOP, Case, read_lines, truth
from lib.permitted import BPF, ROOT, needs
from lib.spans import process, span

SAMPLED = True
NEEDS = ()
SCHEMA = json.loads((TOP / "docs" / "bpfmon-1.schema.json").read_text())

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
}


def same(a, b):
    """Equal as in JSON, where true is not 1."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def one_of(schemas, value, where):
    found = [list(problems(s, value, where)) for s in schemas]
    fitting = sum(not f for f in found)
    if fitting != 1:
        closest = min(found, key=len)
        yield f"{where}: fits {fitting} of the kinds; the closest says {closest}"


def properties(schema, value, where):
    for key, item in value.items():
        if key in schema.get("properties", {}):
            yield from problems(schema["properties"][key], item, f"{where}.{key}")
        elif "additionalProperties" in schema:
            yield from problems(schema["additionalProperties"], item, f"{where}.{key}")
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{where}: no {key}"


KNOWN = {
    "$ref": lambda ref, v, w: problems(SCHEMA["$defs"][ref.removeprefix("#/$defs/")], v, w),
    "oneOf": one_of,
    "allOf": lambda all_of, v, w: (p for s in all_of for p in problems(s, v, w)),
    "type": lambda t, v, w: check(any(TYPES[n](v) for n in ([t] if isinstance(t, str) else t)), w, t, v),
    "const": lambda c, v, w: check(same(c, v), w, c, v),
    "enum": lambda e, v, w: check(any(same(c, v) for c in e), w, e, v),
    "minimum": lambda n, v, w: check(not TYPES["number"](v) or v >= n, w, f"at least {n}", v),
    "maximum": lambda n, v, w: check(not TYPES["number"](v) or v <= n, w, f"at most {n}", v),
    "pattern": lambda r, v, w: check(not isinstance(v, str) or re.search(r, v), w, r, v),
    "minLength": lambda n, v, w: check(not isinstance(v, str) or len(v) >= n, w, f"{n} letters", v),
    "maxLength": lambda n, v, w: check(not isinstance(v, str) or len(v) <= n, w, f"{n} letters", v),
    "minItems": lambda n, v, w: check(not isinstance(v, list) or len(v) >= n, w, f"{n} items", v),
    "items": lambda s, v, w: (p for i, x in enumerate(v) for p in problems(s, x, f"{w}[{i}]"))
    if isinstance(v, list)
    else (),
}
SAYS_NOTHING = {"$schema", "$id", "$defs", "title", "description"}
OF_OBJECTS = {"properties", "additionalProperties", "required"}


def check(good, where, wanted, value):
    return () if good else (f"{where}: {value!r} is not {wanted}",)


def problems(schema, value, where="line"):
    """What of @value is not as the schema says; the subset of JSON Schema that ours uses."""
    for word, argument in schema.items():
        if word in KNOWN:
            yield from KNOWN[word](argument, value, where)
        elif word not in SAYS_NOTHING | OF_OBJECTS:
            raise NotImplementedError(f"the test does not know '{word}'")
    if isinstance(value, dict):
        yield from properties(schema, value, where)


class Validator(unittest.TestCase):
    """The validator itself: what is wrong must be found."""

    EVENT = {"kind": "event", "time": 1.5, "event": "lost", "count": 3}

    def test_a_good_line_has_no_problems(self):
        self.assertEqual(list(problems(SCHEMA, self.EVENT)), [])

    def test_further_keys_are_allowed(self):
        self.assertEqual(list(problems(SCHEMA, dict(self.EVENT, more=[1]))), [])

    def test_a_wrong_type_is_found(self):
        self.assertNotEqual(list(problems(SCHEMA, dict(self.EVENT, count="3"))), [])
        self.assertNotEqual(list(problems(SCHEMA, dict(self.EVENT, count=True))), [])
        self.assertNotEqual(list(problems(SCHEMA, dict(self.EVENT, count=-1))), [])

    def test_a_missing_key_is_found(self):
        self.assertNotEqual(list(problems(SCHEMA, {"kind": "event", "time": 1})), [])

    def test_an_unknown_kind_is_found(self):
        self.assertNotEqual(list(problems(SCHEMA, dict(self.EVENT, kind="weather"))), [])


class Table(unittest.TestCase):
    def test_the_schema_has_exactly_the_metrics_of_the_program(self):
        said = subprocess.run([BPFMON, "metrics"], stdout=subprocess.PIPE, text=True, check=True).stdout
        rows = [line.split()[:4] for line in said.splitlines()[1:]]
        for kind in ("counter", "gauge"):
            keys = [row[0] for row in rows if row[3] == kind]
            self.assertEqual(list(SCHEMA["$defs"][kind + "s"]["properties"]), keys)


class Spans(unittest.TestCase):
    """Of lines made by hand: what a program writes is in the unit test of the line of a span."""

    GOOD = (
        span(1, "build"),
        span(2, "a b\n\u00e9", 1, code=None, end_time=None, in_place=True, tags={"sample": "A7"}),
        span(3, "killed", 1, code=None, signal=9, oom_kills=1, complete=False, losses={"exits": 2}, reason="lost"),
    )

    def test_the_line_of_a_span_is_valid(self):
        for line in self.GOOD:
            self.assertEqual(list(problems(SCHEMA, line)), [], line)

    def test_a_process_may_have_a_span(self):
        self.assertEqual(list(problems(SCHEMA, process(7, 3))), [])
        self.assertNotEqual(list(problems(SCHEMA, dict(process(7), span=0))), [])

    def test_a_wrong_line_of_a_span_is_found(self):
        wrong = ({"id": 0}, {"parent": 0}, {"name": None}, {"tags": {"a": 1}}, {"in_place": False}, {"cpu_seconds": -1}, {"losses": {"exits": 0}})
        for keys in wrong:
            self.assertNotEqual(list(problems(SCHEMA, self.GOOD[0] | keys)), [], keys)

    def test_each_key_of_the_line_is_in_the_schema(self):
        known = {*SCHEMA["$defs"]["span"]["properties"], *SCHEMA["$defs"]["counters"]["properties"]}
        self.assertEqual([key for line in self.GOOD for key in line if key not in known], [])


class Golden(unittest.TestCase):
    def test_the_golden_file_is_valid(self):
        for line in read_lines(TOP / "tests" / "data" / "golden" / "run.jsonl"):
            self.assertEqual(list(problems(SCHEMA, line)), [], line)


@needs(ROOT, BPF)
class Lines(Case):
    def assert_valid(self, run, kinds):
        for line in run.lines:
            self.assertEqual(list(problems(SCHEMA, line)), [], line)
        self.assertEqual({line["kind"] for line in run.lines}, kinds)

    def test_a_whole_run_is_valid(self):
        run = self.run_bpfmon(["sh", "-c", "ls / | cat; exit 3"], ["-i", "0.05"])
        self.assertEqual(run.code, 3)
        self.assert_valid(run, {"meta", "sample", "process", "summary"})

    def test_samples_of_processes_are_valid(self):
        until_there_is_one = ["sh", "-c", "until grep -qs process_sample run-*.jsonl; do sleep 0.05; done"]
        run = self.run_bpfmon(until_there_is_one, ["-i", "0.05", "--process-samples", "5"], cwd=self.dir)
        self.assert_valid(run, {"meta", "sample", "process_sample", "process", "summary"})

    def test_a_signal_is_valid(self):
        run = self.run_bpfmon(["sh", "-c", "kill -TERM $$"])
        self.assert_valid(run, {"meta", "sample", "process", "summary"})
        self.assertEqual(run.summary["signal"], 15)

    def test_a_process_that_outlives_the_command_is_valid(self):
        run = self.run_bpfmon(["sh", "-c", "sleep 2 >/dev/null 2>&1 &"])
        self.assert_valid(run, {"meta", "sample", "process", "summary"})
        self.assertEqual(run.summary["outlived"], 1)

    def test_names_that_are_not_utf8_are_valid(self):
        program = bytes(self.dir) + b"/caf\xe9"
        run = self.run_bpfmon(["sh", "-c", b"cp /bin/true '" + program + b"'; '" + program + b"' \xff"])
        self.assert_valid(run, {"meta", "sample", "process", "summary"})
        self.assertTrue(any(p.get("lossy") for p in run.processes))

    def test_a_run_with_pss_is_valid(self):
        command = [truth("touch"), "1400", "100"]  # too large for 0.1 % of 30 s
        run = self.run_bpfmon(command, ["-i", "0.05", "--pss=0.1"])
        self.assert_valid(run, {"meta", "sample", "process", "event", "summary"})
        self.assertIn("pss", run.summary["self"])

    def test_a_run_with_marks_is_valid(self):
        metric = 'a,t=v s="x",i=1i,u=18446744073709551615u,b=t,f=.5 1763690000000000001'
        script = '"$0" mark "$1"; "$0" mark --metric "$2"; "$0" mark -m "b v=1"'
        run = self.run_bpfmon(["sh", "-c", script, BPFMON, b"caf\xe9 \"3\"\n", metric], ["--marks"])
        self.assert_valid(run, {"meta", "sample", "process", "event", "metric", "summary"})
        self.assertEqual(run.summary["pushed"]["metrics"], 2)

    def test_few_metrics_and_no_arguments_are_valid(self):
        run = self.run_bpfmon([truth("exitwith"), "0"], ["--metrics", "io", "--no-args"])
        self.assert_valid(run, {"meta", "sample", "process", "summary"})
        self.assertNotIn("command", run.meta)
        self.assertNotIn("cpu_seconds", run.summary)
