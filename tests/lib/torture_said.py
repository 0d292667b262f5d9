# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon's output about a torture run, on the clock of the run's own log."""

PAGE = 4096
# Between two clocks that are read one after the other, and of the microseconds of the start
CLOCKS_NS = 50_000
# A drain of which nothing was seen to be late may still have begun that long before its end
DRAIN_NS = 200_000
# One that takes longer than its CPU time by this is taken again, or nearly so
HELD_UP_NS = 1_000_000


class Said:
    """The lines of a run, and how their times map to the clock of the log."""

    def __init__(self, lines, realtime_less_monotonic_ns, kinds, is_calm=True, adjusted_ns=0):
        of = lambda kind: [line for line in lines if line["kind"] == kind]
        (self.meta,), (self.summary,) = of("meta"), of("summary")
        self.samples, self.processes = of("sample"), of("process")
        self.process_samples = of("process_sample")
        self.is_calm = is_calm  # no other known program needs the CPUs
        self.kinds = kinds  # metrics: key -> (group, kind)
        self.clocks_ns = CLOCKS_NS + adjusted_ns  # what the clocks may differ by: bpfmon reads the epoch once, at its start
        self.epoch_less_log_ns = realtime_less_monotonic_ns
        self.start_ns = round(self.meta["start_time"] * 1e9) - realtime_less_monotonic_ns
        self.interval_ns = round(self.meta["interval_seconds"] * 1e9)
        cpus = self.meta["system"]["cpus"]
        # what the central counters of one space may be off by: its marks are made of those
        self.batch_bytes = 3 * cpus * max(32, 2 * cpus) * PAGE
        # reading PSS holds an address space: if its last process ends meanwhile, until the reading has ended
        self.held_ns = round(self.summary["self"].get("pss", {}).get("seconds_max", 0) * 1e9)
        self.windows = self.find_windows()

    def find_windows(self):
        """When each sample was read: after the tick that was its cause, and until its drain had ended.

        A tick has one sample; one that came so late that the next tick had passed has the tick before.
        The last sample has no tick. A sample's time is that of its drain, the begin or the end; a drain
        that was held up is taken again, so it takes little longer, or on a busy machine ends at any
        time before the next.
        """
        ends = [round(s["elapsed_seconds"] * 1e9) for s in self.samples]
        drain_ns = round(self.summary["self"]["drain_seconds_max"] * 1e9) + DRAIN_NS
        late = 1 if self.summary["late_ticks"] else 0
        windows = []
        for i, end in enumerate(ends):
            tick = end // self.interval_ns
            following = ends[i + 1] if i + 1 < len(ends) else end + self.interval_ns
            if i + 2 < len(ends) and following // self.interval_ns == tick:
                tick -= 1
            first = max(0, min((tick - late) * self.interval_ns, end - drain_ns))
            last = end + drain_ns + HELD_UP_NS if self.is_calm and not late else following
            windows.append((self.start_ns + first - self.clocks_ns, self.start_ns + last + self.clocks_ns))
        return windows

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
