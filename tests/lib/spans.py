# SPDX-License-Identifier: BSD-2-Clause
"""Writes files of runs with spans, without running anything: tests of stores, tables and comparisons need known ones."""

import json
import uuid

START = 1763690000


def span(number, name, parent=None, *, begins=0.0, wall=1.0, code=0, **used):
    """The line of a span as bpfmon writes it; what is in `used` replaces or adds keys."""
    line = {"kind": "span", "id": number}
    line |= {"parent": parent} if parent else {}
    line |= {"name": name, "tags": {}, "pid": 1000 + number}
    line |= {"start_time": START + begins, "end_time": round(START + begins + wall, 6)}
    line |= {"complete": True, "losses": {}, "exit_code": code, "signal": None, "wall_seconds": wall, "samples": 0}
    line |= {"processes_total": 1, "cpu_seconds": 0.5, "read_bytes": 0, "write_bytes": 0}
    line |= {"rss_peak_bytes": 1 << 20, "rss_peak_elapsed_seconds": begins, "rss_peak_upper_bytes": 2 << 20}
    return {**line, **used}


def process(pid, in_span=None):
    """The record of a process that ended in the span of that number."""
    line = {"kind": "process", "pid": pid, "ns_pid": pid, "ppid": 1, "uid": 0}
    line |= {"span": in_span} if in_span else {}
    line |= {"comm": "cc", "exe": "/bin/cc", "start_time": START, "end_time": START + 1, "exit_code": 0, "signal": None}
    return line | {"threads_total": 1, "execs": 1, "cpu_seconds": 0.25}


def run_lines(*lines, meta=None, summary=True, **used):
    """The lines of a run; a span may be given as its dictionary, its place is the one that it is given at."""
    head = {"kind": "meta", "schema": "bpfmon/1", "run": str(uuid.uuid4()), "tags": {}, "start_time": START}
    head |= {"interval_seconds": 1, "command": ["make"], "user": "ada", "uid": 0, "host": "node1", **(meta or {})}
    end = {"kind": "summary", "complete": True, "losses": {}, "exit_code": 0, "signal": None, "wall_seconds": 20, "samples": 1}
    end |= {"processes_total": 9, "cpu_seconds": 10, "read_bytes": 4096, "write_bytes": 8192, "rss_peak_bytes": 8 << 20, "programs": [], **used}
    sample = {"kind": "sample", "time": START + 1, "elapsed_seconds": 1, "cpu_seconds": 1, "rss_bytes": 4096}
    return [head, *lines, sample, *([end] if summary else [])]


def write_lines(path, lines):
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))  # as bpfmon writes them
    return str(path)


def write_run_with_spans(path, *lines, **how):
    return write_lines(path, run_lines(*lines, **how))
