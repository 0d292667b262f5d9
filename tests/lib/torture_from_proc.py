# SPDX-License-Identifier: BSD-2-Clause
"""Compares bpfmon's numbers from /proc about a torture run with what wait4() said of it, and with the run's own log.

The totals have been waited for, so they are exact but for what the processes use that say so; records and samples are
lower bounds.
"""

from collections import Counter

from lib.torture_checks import born_ns, process_of
from lib.torture_said import mib

TICK_NS = 10_000_000  # of /proc/PID/stat
# What the shell and the witness around the program use, and the launcher's copy before it executes them
OWN_SECONDS = 0.012
OWN = {"minflt": 400, "majflt": 100, "nvcsw": 50, "nivcsw": 100}
TIMES = ("cpu_seconds", "user_seconds", "system_seconds")
COUNTERS = (*TIMES, *OWN)


def end(said, _log):
    """The run is one without BPF and without losses, and ended as the command."""
    if said.meta["source"] != "procfs":
        yield f"the source is {said.meta['source']}"
    if not said.is_complete or said.summary["losses"]:
        yield f"it has losses: {said.summary['losses']}"
    if (said.code, said.summary["exit_code"]) != (said.setup["code"], said.setup["code"]):
        yield f"it ended with {said.code}, and says {said.summary['exit_code']}, not {said.setup['code']}"


def totals(said, _log):
    """Not above what wait4() said, nor below unless they are said to be lower bounds."""
    for key in COUNTERS:
        found, least = said.summary[key], said.wait4[key]
        most = 1.005 * least + 0.002 + OWN_SECONDS if key in TIMES else least + OWN[key]
        if found > most:
            yield f"{key} is {found}, but only {least} were used, and up to {most - least:.3f} by others"
        if key not in said.summary["bounds"] and found < least - (1e-5 if key in TIMES else 0):
            yield f"{key} is {found}, but {least} were used"


def records(said, log):
    """Each is of a process that there was, once, born when it was, and of its user."""
    most = Counter(p.pid for p in log.processes.values())
    for (pid, start), count in Counter((r["pid"], r["start_time"]) for r in said.processes).items():
        if count > 1:
            yield f"process {pid} of {start} has {count} records"
    for pid, count in Counter(r["pid"] for r in said.processes if r["comm"] == "torture").items():
        if count > most[pid]:
            yield f"process {pid} has {count} records, but there were {most[pid]}"
    for record in said.processes:
        process = process_of(said, log, record)
        if record["uid"] != said.setup["uid"]:
            yield f"process {record['pid']} has user {record['uid']}"
        if process and not process.begin - TICK_NS <= born_ns(said, record) + TICK_NS / 2 <= process.born + TICK_NS:
            yield f"process {record['pid']} has its start {(born_ns(said, record) - process.born) / 1e9} s after its first line"
    known = len(log.processes) + said.setup["others"]
    if not len(said.processes) <= said.summary["processes_total"] <= known:
        yield f"{len(said.processes)} records, {said.summary['processes_total']} processes, and there were {known}"


def births(said, log):
    """Where the number of processes is said to be exact, it has all that the log knows."""
    if "processes_total" not in said.summary["bounds"] and said.summary["processes_total"] < len(log.processes):
        yield f"{said.summary['processes_total']} processes, and there were {len(log.processes)}"


def claims(said, log):
    """No record has more than its process used; all of them not more than the total."""
    for record in said.processes:
        process = process_of(said, log, record)
        used = process and process.used_itself()
        if not used or "cpu_seconds" not in record:  # no look has seen it
            continue
        if round(record["cpu_seconds"] * 1e6) > used[0]:
            yield f"process {record['pid']} has {record['cpu_seconds']} s of CPU, but used {used[0] / 1e6}"
        if record["minflt"] > used[1]:
            yield f"process {record['pid']} has {record['minflt']} faults, but {used[1]}"
    for key in COUNTERS:
        total = sum(record.get(key, 0) for record in said.processes)
        if total > said.summary[key] + 1e-6 and not (key in OWN and key.endswith("csw")):
            yield f"{key}: the records have {total}, the summary {said.summary[key]}"


def monotony(said, _log):
    """No counter falls, and the last sample has what the summary has."""
    kinds = [key for key, (_group, kind) in said.kinds.items() if kind == "counter" and key in said.samples[0]]
    for key in kinds:
        values = [sample[key] for sample in said.samples if key in sample]
        if values != sorted(values):
            yield f"{key} falls: {next((a, b) for a, b in zip(values, values[1:]) if b < a)}"
        if key in said.summary and values[-1] != said.summary[key]:
            yield f"{key} of the last sample is {values[-1]}, of the summary {said.summary[key]}"


def peak(said, log):
    """A lower bound, so it is not below a sample; and it has no more than all processes can have had, each for itself."""
    seen = max(sample["rss_bytes"] for sample in said.samples)
    if said.summary["rss_peak_bytes"] < seen:
        yield f"rss_peak_bytes is {mib(said.summary['rss_peak_bytes'])}, but a sample has {mib(seen)}"
    most = 0
    for process in log.processes.values():
        most += max(use.space.bounds("rss", use.space.begin(), use.space.gone())[1] for use in process.uses)
    if seen > most + said.setup["others"] * (32 << 20):
        yield f"a sample has {mib(seen)}, but only {mib(most)} are possible"


CHECKS = {check.__name__: check for check in (end, totals, records, births, claims, monotony, peak)}


def violations(said, log):
    """All of them, as (name of the check, text)."""
    for name, check in CHECKS.items():
        for text in check(said, log):
            yield name, text
