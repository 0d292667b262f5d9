# SPDX-License-Identifier: BSD-2-Clause
"""Reads spans of the current run as they end, from its live feed (docs/RUN.md)."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections import deque
from typing import Dict, Iterable, Iterator

from . import Row

PACKET_BYTES = 1 << 20
PATIENCE_SECONDS = 10  # limit for a stopped run, in addition to its interval


class Feed:
    """Reads the feed in its own thread, because the run drops unread lines. Raises OSError if there is no feed."""

    def __init__(self) -> None:
        address = os.environ.get("BPFMON_SPAN_SOCKET")
        if not address:
            raise ConnectionRefusedError("this process is not in a run")
        self.meta: Row = {}
        self.spans: Dict[int, Row] = {}  # ended spans, by number
        self.peaks: Dict[int, int] = {}  # for each span the largest process that ended directly in it
        self.refused = ""
        self._sample_times = deque([0.0, 0.0], 2)  # of the last two samples
        self._changed = threading.Condition()
        self._is_over = False
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(None)  # not the default timeout of the job
        try:
            self._socket.connect("\0" + address[1:])
            self._socket.send(b'{"live":"samples"}')
        except OSError:
            self._socket.close()
            raise
        threading.Thread(target=self._listen, name="bpfmon feed", daemon=True).start()

    def _packets(self) -> Iterator[bytes]:
        while True:
            try:
                packet = self._socket.recv(PACKET_BYTES)
            except OSError:
                return
            if not packet:
                return
            yield packet

    def _listen(self) -> None:
        rest = b""
        for packet in self._packets():
            *lines, rest = (rest + packet).split(b"\n")
            with self._changed:
                for line in lines:
                    self._take(line)
                self._changed.notify_all()
        with self._changed:
            self.refused = "" if self.meta else rest.decode(errors="replace")  # a refusal is not a line
            self._is_over = True
            self._changed.notify_all()

    def _take(self, text: bytes) -> None:
        line = json.loads(text)
        if line["kind"] == "meta":
            self.meta = line
        elif line["kind"] == "sample":
            self._sample_times.append(line["time"])
        elif line["kind"] == "span":
            self.spans[line["id"]] = line
        elif line["kind"] == "process" and "span" in line and line.get("rss_peak_bytes"):
            self.peaks[line["span"]] = max(self.peaks.get(line["span"], 0), line["rss_peak_bytes"])

    def wait(self, *numbers: int) -> bool:
        """Waits until these spans have ended, or two more samples were taken: a span without a line still has processes then.
        Returns True if all have ended."""
        now = time.time()
        with self._changed:
            self._changed.wait_for(lambda: self.meta or self._is_over, PATIENCE_SECONDS)
            most = 2 * float(self.meta.get("interval_seconds", 1)) + PATIENCE_SECONDS
            self._changed.wait_for(lambda: self._is_over or self._has(numbers) or self._sample_times[0] > now, most)
            return self._has(numbers)

    def _has(self, numbers: Iterable[int]) -> bool:
        return all(number in self.spans for number in numbers)

    def peaks_within(self) -> Dict[int, int]:
        """Returns for each span the largest process that ended in it or in a span inside it."""
        largest = dict(self.peaks)
        for number, peak in self.peaks.items():
            above = self.spans.get(number, {}).get("parent")
            while above:
                largest[above] = max(largest.get(above, 0), peak)
                above = self.spans.get(above, {}).get("parent")
        return largest

    def close(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread
        except OSError:
            pass
        self._socket.close()
