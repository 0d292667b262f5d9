#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Brings the metrics, the summary and the spans in docs/bpfmon-1.schema.json up to date with the tables of the program.

Usage: tools/gen-schema.py METRICS SUMMARY SCHEMA    (writes to stdout)
  METRICS  rows of `bpfmon metrics`
  SUMMARY  user/lib/run/summary.def; what it calls a part or a status keeps its schema
"""

import json
import re
import sys

TYPES = {"s": "number", "bytes": "integer", "1": "integer", "J": "number", "W": "number", "Hz": "integer"}
FRACTIONS = {"cores", "gpus_used", "gpu_device_busy"}  # plain numbers that are not whole
OF_UNITS = {"COUNT": "integer", "BYTES": "integer", "NS": "number", "MILLI": "number", "MICROJOULE": "number"}
OF_TYPES = {"TRUTH": {"type": "boolean"}, "TEXT": {"type": "string"}}
ARGUMENTS = {
    "FIELD": ("in", "key", "type", "unit", "member", "there", "compare", "text"),
    "DERIVED": ("in", "key", "unit", "get", "set", "there", "compare", "text"),
    "OBJECT": ("in", "key", "opens", "there", "text"),
    "PART": ("key", "part", "there"),
}


def metrics(table, kind):
    found = {}
    for line in table:
        key, unit, _group, of_kind, text = line.split(None, 4)
        if of_kind == kind:
            is_whole = key not in FRACTIONS
            found[key] = {
                "type": TYPES[unit] if is_whole else "number",
                "minimum": 0,
                "description": text.strip(),
            }
    return {"type": "object", "properties": found}


def summary_rows(text):
    """The rows of summary.def, each a dictionary of its arguments."""
    text = re.sub(r"/\*.*?\*/|^#[^\n]*$", "", text, flags=re.S | re.M)
    rows = []
    for macro, inside in re.findall(r"^SUMMARY_([A-Z]+)\((.*?)\)$", text, re.S | re.M):
        arguments = re.findall(r'\s*((?:"[^"]*"|[^,"])*)(?:,|$)', inside)[: len(ARGUMENTS[macro])]
        row = dict(zip(ARGUMENTS[macro], (a.strip().strip('"') for a in arguments), strict=True))
        rows.append({"in": "LINE", "type": macro, "text": "", **row})
    return rows


def field_schema(row, rows, before):
    """What the schema says of a row; of what only the schema knows, as it was @before."""
    if row["type"] in OF_TYPES:
        schema = dict(OF_TYPES[row["type"]])
    elif row["type"] in ("NUMBER", "DERIVED"):
        schema = {"type": OF_UNITS[row["unit"]], "minimum": 0}
    elif row["type"] == "OBJECT":
        schema = {"type": "object"}
    else:
        return before[row["key"]]
    if row["text"]:
        schema["description"] = row["text"]
    if row["type"] == "OBJECT":
        old = before.get(row["key"], {})
        schema.update({"required": old["required"]} if "required" in old else {})
        schema["properties"] = object_schema(row["opens"], rows, old.get("properties", {}))
    return schema


def object_schema(name, rows, before):
    return {row["key"]: field_schema(row, rows, before) for row in rows if row["in"] == name and row["key"]}


def span_properties(summary, before):
    """What only the schema knows of a span, and what its line has of a summary: all but the programs."""
    own = {key: value for key, value in before.items() if key not in {*summary, "lossy"}}
    used = {key: value for key, value in summary.items() if key != "programs"}
    return {**own, **used, "lossy": before["lossy"]}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        table = file.readlines()
    with open(sys.argv[2], encoding="utf-8") as file:
        rows = summary_rows(file.read())
    with open(sys.argv[3], encoding="utf-8") as file:
        schema = json.load(file)
    for kind in ("counter", "gauge"):
        schema["$defs"][kind + "s"] = metrics(table, kind)
    before = schema["$defs"]["summary"]["properties"]
    summary = object_schema("LINE", rows, before)
    schema["$defs"]["summary"]["properties"] = {"kind": before["kind"], **summary, "lossy": before["lossy"]}
    span = schema["$defs"]["span"]
    span["properties"] = span_properties(summary, span["properties"])
    print(json.dumps(schema, indent="\t"))


main()
