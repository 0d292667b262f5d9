# SPDX-License-Identifier: BSD-2-Clause
"""%bpfmon and %%bpfmon of IPython: a statement or a cell as a span, and what it used."""

from __future__ import annotations

import shlex
from typing import Any, Dict, Optional, Tuple

from . import Row, in_run, span
from .feed import Feed

OUTSIDE = "bpfmon: this kernel is in no run, so nothing was counted; start it in one: sudo bpfmon -- jupyter notebook"
NAME = "cell"


def words_of(line: str) -> Tuple[str, Dict[str, str]]:
    """The name and the tags of `%%bpfmon NAME KEY=VALUE...`."""
    words = shlex.split(line)
    tags = dict(word.split("=", 1) for word in words if "=" in word)
    return " ".join(word for word in words if "=" not in word) or NAME, tags


def size_text(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024 or unit == "GiB":
            break
        count /= 1024
    return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"


def summary_of(line: Row) -> str:
    """A span in one line; what was not read is left out."""
    parts = [f"{line['wall_seconds']:.3f} s", f"CPU {line['cpu_seconds']:.3f} s"]
    for key, words in (("rss_peak_bytes", "memory {}"), ("rss_peak_upper_bytes", "never more than {}")):
        if line.get(key) is not None:
            parts.append(words.format(size_text(line[key])))
    parts += [f"read {size_text(line['read_bytes'])}, written {size_text(line['write_bytes'])}"] if "read_bytes" in line and "write_bytes" in line else []
    parts.append(f"{line['processes_total']} processes")
    return f"bpfmon: {line['name']}: " + ", ".join(parts) + ("" if line.get("complete") else "; INCOMPLETE")


def feed_open() -> Optional[Feed]:
    try:
        return Feed()
    except OSError:
        return None


def account(shell: Any, line: str, code: str) -> None:
    """Executes the code as a cell that prints its errors as ever, then prints what it used."""
    if not in_run():
        print(OUTSIDE)
        shell.run_cell(code)
        return
    name, tags = words_of(line)
    feed = feed_open()
    one = span(name, **tags)
    try:
        with one:
            shell.run_cell(code)
        print(said_of(one, feed))
    finally:
        if feed:
            feed.close()


def said_of(one: span, feed: Optional[Feed]) -> str:
    if one.id is None:
        return f"bpfmon: no span {one.name!r}: {one.refused or 'the run has ended'}"
    if not feed or not feed.wait(one.id):
        return f"bpfmon: {one.name}: span {one.id} of the run; its account is in the run when it has ended"
    return summary_of(feed.spans[one.id])


def register(shell: Any) -> None:
    def bpfmon(line: str, cell: Optional[str] = None) -> None:
        """%bpfmon STATEMENT, or %%bpfmon [NAME] [KEY=VALUE...]: as a span of the run, with what it used."""
        if cell is None and not line.strip():
            print("bpfmon: in a run: %%bpfmon NAME makes a cell a span of it" if in_run() else OUTSIDE)
        elif cell is None:
            account(shell, "statement", line)
        else:
            account(shell, line, cell)

    shell.register_magic_function(bpfmon, "line_cell", "bpfmon")
