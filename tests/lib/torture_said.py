# SPDX-License-Identifier: BSD-2-Clause
"""What bpfmon says of a torture run, on the clock of the run's own log."""

PAGE = 4096
# Between two clocks that are read one after the other, and of the microseconds of the start
CLOCKS_NS = 50_000


class Said:
    """The lines of a run, and how their times map to the clock of the log."""

    def __init__(self, lines, realtime_less_monotonic_ns, kinds):
        of = lambda kind: [line for line in lines if line["kind"] == kind]
        (self.meta,), (self.summary,) = of("meta"), of("summary")
        self.samples, self.processes = of("sample"), of("process")
        self.process_samples = of("process_sample")
        self.kinds = kinds  # metrics: key -> (group, kind)
        self.epoch_less_log_ns = realtime_less_monotonic_ns
        self.start_ns = round(self.meta["start_time"] * 1e9) - realtime_less_monotonic_ns
        self.interval_ns = round(self.meta["interval_seconds"] * 1e9)
        cpus = self.meta["system"]["cpus"]
        # what the central counters of one space may be off by: its marks are made of those
        self.batch_bytes = 3 * cpus * max(32, 2 * cpus) * PAGE
        self.windows = self.find_windows()

    def find_windows(self):
        """When each sample was read: from its time, which is the begin of its drain, to the end of that."""
        drain_ns = round(self.summary["self"]["drain_seconds_max"] * 1e9)
        begins = [self.start_ns + round(s["elapsed_seconds"] * 1e9) for s in self.samples]
        return [(begin - CLOCKS_NS, begin + drain_ns + CLOCKS_NS) for begin in begins]

    @property
    def is_complete(self):
        return self.summary["complete"]


def mib(size):
    return f"{size / (1 << 20):.2f} MiB"


def outside(what, value, least, most):
    if value < least:
        yield f"{what} is {mib(value)}, but {mib(least)} are certain (and {mib(most)} possible)"
    if value > most:
        yield f"{what} is {mib(value)}, but only {mib(most)} are possible (and {mib(least)} certain)"
