#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the Grafana dashboards share/bpfmon/grafana/*.json: for engines of PromQL, and one for InfluxQL.

Usage: tools/gen-dashboards.py [--check]
  --check  changes nothing; exits 1 when a dashboard is not up to date
"""

import json
import pathlib
import sys

from dashboards.influxql import influxdb
from dashboards.promql import jobs, nodes, one_job, users

TOP = pathlib.Path(__file__).resolve().parent.parent


def main():
    is_check = sys.argv[1:] == ["--check"]
    stale = []
    for one in (jobs(), one_job(), users(), nodes(), influxdb()):
        path = TOP / f"share/bpfmon/grafana/{one['uid']}.json"
        text = json.dumps(one, indent="\t", ensure_ascii=False) + "\n"
        if is_check and path.read_text() != text:
            stale.append(path.name)
        elif not is_check:
            path.write_text(text)
    if stale:
        sys.exit(f"not up to date, run tools/gen-dashboards.py: {', '.join(stale)}")


main()
