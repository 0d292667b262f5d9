#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Brings the metrics in docs/bpfmon-1.schema.json up to date with the table of the program.

Usage: tools/gen-schema.py TABLE SCHEMA    (TABLE: rows of `bpfmon metrics`; writes to stdout)
"""

import json
import sys

TYPES = {"s": "number", "bytes": "integer", "1": "integer"}
FRACTIONS = {"cores"}  # a plain number that is not whole


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


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        table = file.readlines()
    with open(sys.argv[2], encoding="utf-8") as file:
        schema = json.load(file)
    for kind in ("counter", "gauge"):
        schema["$defs"][kind + "s"] = metrics(table, kind)
    print(json.dumps(schema, indent="\t"))


main()
