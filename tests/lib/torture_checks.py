# SPDX-License-Identifier: BSD-2-Clause
"""Compares bpfmon's numbers about a torture run with the run's own log.

Each check is a generator of violations, as texts; CHECKS names them.
"""

import math
from collections import Counter

from lib.account import exact
from lib.torture_bounds import of_process, of_sample, possible_peak, sure_peak
from lib.torture_said import mib, outside

# The time of the exact peak is that of the kernel's event
PEAK_NS = 1_000_000
# A start is by the clock of boot time, found once
BIRTH_NS = 1_000_000
SAMPLE_KEYS = {
    "rss_bytes": "rss",
    "rss_anon_bytes": "a",
    "rss_file_bytes": "f",
    "rss_shmem_bytes": "s",
    "hugetlb_bytes": "h",
}


def samples(said, log):
    """Each is within the bounds of its time."""
    for sample, window in zip(said.samples, said.windows):
        if window[0] < log.first_ns:
            continue
        for key, kind in SAMPLE_KEYS.items():
            if key in sample:
                least, most = of_sample(log, kind, *window)
                yield from outside(f"{key} of the sample at {sample['elapsed_seconds']} s", sample[key], least, most)


def process_samples(said, log):
    """Each is within the bounds of that process; those of a sample are not more than the sample."""
    windows = dict(zip((s["elapsed_seconds"] for s in said.samples), said.windows))
    sums = dict.fromkeys(windows, 0)
    for row in said.process_samples:
        window = windows[row["elapsed_seconds"]]
        sums[row["elapsed_seconds"]] += row["rss_bytes"]
        if window[0] < log.first_ns:
            continue
        bounds = of_process(log, row["pid"], *window)
        what = f"rss_bytes of process {row['pid']} at {row['elapsed_seconds']} s"
        if bounds:
            yield from outside(what, row["rss_bytes"], *bounds)
        else:
            yield f"{what}: there is no such process"
    for sample, window in zip(said.samples, said.windows):
        # a space that several processes use is read once for each, and may change between
        unsure = sum(high - low for low, high in shared_bounds(log, *window))
        if sums[sample["elapsed_seconds"]] > sample["rss_bytes"] + unsure:
            yield f"process samples at {sample['elapsed_seconds']} s have more than their sample"


def shared_bounds(log, first, last):
    """The bounds of each space that more than one process was in meanwhile."""
    for space in log.spaces.values():
        if sum(use.begin <= last and use.gone >= first for use in space.uses) > 1:
            yield space.bounds("rss", max(first, space.begin()), min(last, space.gone()))


def upper_bound(said, log):
    """It is not below the lower bound of their sum. Absent where the kernel's mark of a process may be too low."""
    if "rss_peak_upper_bytes" not in said.summary:
        if not any(p.resets for p in log.processes.values()) and not any(s.freed_as_it_grew() for s in log.spaces.values()):
            yield "rss_peak_upper_bytes is absent, though no process reset its marks or grew as it freed memory"
        return
    if any(p.resets for p in log.processes.values()):
        return  # memory that came and went between two samples cannot be known
    least, when, count = sure_peak(log)
    found = said.summary["rss_peak_upper_bytes"]
    if found < least - count * said.batch_bytes:
        at = (when - said.start_ns) / 1e9
        yield f"rss_peak_upper_bytes is {mib(found)}, but {mib(least)} are certain at {at:.6f} s, in {count} spaces"


def lower_bound(said, log):
    """It is not above the upper bound of their sum, nor below its own parts."""
    found = said.summary["rss_peak_bytes"]
    most, _when, _count = possible_peak(log, said.held_ns)
    if found > most + said.batch_bytes:
        yield f"rss_peak_bytes is {mib(found)}, but only {mib(most)} are possible"
    seen = max(s["rss_bytes"] for s in said.samples)
    if found < seen:
        yield f"rss_peak_bytes is {mib(found)}, but a sample has {mib(seen)}"


def held_at_most(log, pid, first, last):
    """Of all address spaces that were its own then; a shared one may be attributed to any process that ever used it."""
    spaces = {}
    for process in log.processes.values():
        for use in process.uses:
            if process.pid == pid and (len(use.space.uses) > 1 or (use.begin <= last and use.gone >= first)):
                spaces[use.space.name] = use.space
    there = [s for s in spaces.values() if s.begin() <= last and s.gone() >= first]
    return sum(s.bounds("rss", max(first, s.begin()), min(last, s.gone()))[1] for s in there)


def holders(said, log):
    """None has more than its upper bound at the peak; all add up to the peak."""
    summary = said.summary
    when = said.start_ns + round(summary["rss_peak_exact_elapsed_seconds"] * 1e9)
    for holder in summary["rss_peak_holders"]:
        most = held_at_most(log, holder["pid"], when - PEAK_NS - said.held_ns, when + PEAK_NS)
        if holder["rss_bytes"] > most + said.batch_bytes:
            yield f"holder {holder['pid']} has {mib(holder['rss_bytes'])}, but can have had only {mib(most)}"
    held = sum(h["rss_bytes"] for h in summary["rss_peak_holders"]) + summary["rss_peak_others"]["rss_bytes"]
    if held != summary["rss_peak_exact_bytes"]:
        yield f"the holders have {mib(held)}, the exact peak is {mib(summary['rss_peak_exact_bytes'])}"


def exact_peak(said, log):
    """It is the sum of what they held, within a batch for each address space."""
    summary = said.summary
    if "rss_peak_exact_bytes" not in summary:
        return
    found = summary["rss_peak_exact_bytes"]
    least, _when, count = sure_peak(log)
    most, _when, possible = possible_peak(log, said.held_ns)
    least, most = least - count * said.batch_bytes, most + possible * said.batch_bytes
    yield from outside("rss_peak_exact_bytes", found, least, most)
    yield from holders(said, log)
    upper = summary.get("rss_peak_upper_bytes", math.inf)
    reset = any(p.resets for p in log.processes.values())
    if not reset and upper < found - possible * said.batch_bytes:
        yield f"rss_peak_upper_bytes is {mib(upper)}, the exact peak {mib(found)}"
    if summary["rss_peak_bytes"] > found + possible * said.batch_bytes:
        yield f"rss_peak_bytes is {mib(summary['rss_peak_bytes'])}, the exact peak {mib(found)}"


def hugetlb_peak(said, log):
    """At samples, where it is read: not above the upper bound, nor below a sample."""
    found = said.summary.get("hugetlb_peak_bytes")
    if found is None:
        return
    most, _when, _count = possible_peak(log, said.held_ns, "h")
    seen = max(s.get("hugetlb_bytes", 0) for s in said.samples)
    yield from outside("hugetlb_peak_bytes", found, seen, most)


def least_mark(use, windows):
    """Lower bound of a mark: before a reset only what a sample saw."""
    if use.sure >= use.until:
        return 0
    steps, since = use.space.lower["rss"], max(use.sure, use.space.reset_ns)
    seen = [min(steps.within(*w)) for w in windows if use.sure <= w[0] and w[1] <= min(since, use.until)]
    return max([0, *seen, *(steps.within(since, use.until) if since < use.until else [])])


def peak_of(process, windows):
    """Bounds of a process's mark: the peak over its images; of inherited memory only the growth."""
    least = most = 0
    for i, use in enumerate(process.uses):
        begin, gone = use.space.begin(), use.space.gone()
        low = least_mark(use, windows)
        high = use.space.bounds("rss", begin, gone)[1]
        is_own = use.space.uses[0] is use
        if use.space.name.startswith("launcher") or (i + 1 < len(process.uses) and not is_own):
            continue  # shared until its exec, or the launcher's
        if not is_own:
            low = 0  # whether it is its own what it shares until its end
        if i == 0 and use.space.parent and i + 1 < len(process.uses):
            low -= process.inherited[1]
            high -= process.inherited[0]
        least, most = max(least, low), max(most, high)
    return least, most


def born_ns(said, record):
    """Its start on the clock of the log."""
    return round(record["start_time"] * 1e9) - said.epoch_less_log_ns


def process_of(said, log, record):
    """The process of a record. A PID may have belonged to two processes in turn."""
    found = [p for p in log.processes.values() if p.pid == record["pid"]]
    return min(found, key=lambda p: abs(p.born - born_ns(said, record)), default=None)


def record_peaks(said, log):
    """A peak that is marked as exact is exact."""
    for record in said.processes:
        process = process_of(said, log, record)
        if not process or not record.get("rss_peak_exact") or "rss_peak_bytes" not in record:
            continue
        least, most = peak_of(process, said.windows)
        what = f"rss_peak_bytes of process {record['pid']}, said to be exact,"
        batch = said.batch_bytes
        yield from outside(what, record["rss_peak_bytes"], least - batch, most + batch)


def explained_peaks(said, log):
    """No process held more than it touched itself and had from its creator, whether that is called exact or not."""
    for record in said.processes:
        process = process_of(said, log, record)
        if not process or "rss_peak_bytes" not in record:
            continue
        most = max(use.space.bounds("rss", use.space.begin(), use.space.gone())[1] for use in process.uses)
        yield from outside(f"rss_peak_bytes of process {record['pid']}", record["rss_peak_bytes"], 0, most + said.batch_bytes)


def moved_bytes(said, _log):
    """None, as no process makes a call on a socket."""
    of_sockets = [key for key, (group, _kind) in said.kinds.items() if group == "net"]
    for line in [*said.samples, *said.processes, said.summary]:
        for key in of_sockets:
            if line.get(key):
                yield f"{key} of {line['kind']} {line.get('pid', '')} is {line[key]}"


def records(said, log):
    """Each process has exactly one, with its execs and threads, and was born when it was."""
    expected = sorted(p.pid for p in log.processes.values() if p.pid)
    found = sorted(r["pid"] for r in said.processes)
    if expected != found:
        missing, more = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
        yield f"{len(expected)} processes have {len(found)} records; missing {list(missing)}, too many {list(more)}"
    if said.summary["processes_total"] != len(expected):
        yield f"processes_total is {said.summary['processes_total']}, but there were {len(expected)}"
    for r in said.processes:
        p = process_of(said, log, r)
        if p is None:
            continue
        if r["execs"] != p.execs:
            yield f"process {p.pid} has {r['execs']} execs, but made {p.execs}"
        if not 1 + p.threads_begun <= r["threads_total"] <= 1 + p.threads:
            yield f"process {p.pid} has {r['threads_total']} threads, but 1 + {p.threads}"
        born = born_ns(said, r)
        if not p.begin - BIRTH_NS <= born <= p.born + BIRTH_NS:
            yield f"process {p.pid} has its start {(born - p.born) / 1e9} s after its first line"


def completeness(said, _log):
    """The run is complete, or the losses are named."""
    if not said.is_complete and not any(said.summary["losses"].values()):
        yield f"incomplete, but nothing was lost: {said.summary['losses']}"
    if said.is_complete and any(said.summary["losses"].values()):
        yield f"complete, but something was lost: {said.summary['losses']}"


NOT_ALWAYS = {"cgroup", "host", "net", "block", "io-kinds", "delay"}  # groups of metrics


def counters_of(said):
    return [k for k, (group, kind) in said.kinds.items() if kind == "counter" and group not in NOT_ALWAYS]


def monotony(said, _log):
    """No counter falls, and the last sample has what the summary has."""
    for key in counters_of(said):
        for before, after in zip(said.samples, said.samples[1:]):
            if after[key] < before[key]:
                yield f"{key} falls from {before[key]} to {after[key]} at {after['elapsed_seconds']} s"
        if said.samples[-1][key] != said.summary[key]:
            yield f"{key} of the last sample is {said.samples[-1][key]}, of the summary {said.summary[key]}"
    for sample in said.samples:
        if sample["processes"] != sample["forks"] + 1 - sample["exits"]:
            yield f"processes at {sample['elapsed_seconds']} s are not forks + 1 - exits"


def sums(said, _log):
    """The records add up to the summary."""
    for key in counters_of(said):
        if not said.processes or key not in said.processes[0]:
            continue
        total = sum(exact(key, r[key]) for r in said.processes)
        if total != exact(key, said.summary[key]):
            yield f"{key}: the records have {total}, the summary {exact(key, said.summary[key])}"


CHECKS = {
    check.__name__: check
    for check in (
        samples, process_samples, upper_bound, lower_bound, exact_peak, hugetlb_peak, record_peaks,
        explained_peaks, moved_bytes, records, completeness, monotony, sums,
    )
}  # fmt: skip
# the checks that also apply to a run with losses
OF_ANY_RUN = {"completeness", "monotony", "explained_peaks", "moved_bytes"}


def violations(said, log):
    """All of them, as (name of the check, text)."""
    for name, check in CHECKS.items():
        if said.is_complete or name in OF_ANY_RUN:
            for text in check(said, log):
                yield name, text
