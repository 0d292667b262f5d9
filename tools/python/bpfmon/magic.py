# SPDX-License-Identifier: BSD-2-Clause
"""%bpfmon and %%bpfmon of IPython: make a statement or a cell a span, and print what it used."""

from __future__ import annotations

import ast
import shlex
from typing import Any, Dict, Optional, Tuple

from . import Row, in_run, span
from .feed import Feed

OUTSIDE = (
    "bpfmon: this kernel is not in a run, so nothing was measured; start it in a run: bpfmon -- jupyter notebook, "
    "or, for exact figures without an agent, sudo bpfmon --user -- jupyter notebook"
)
NAME = "cell"


def words_of(line: str) -> Tuple[str, Dict[str, str]]:
    """Returns the name and the tags of `%%bpfmon NAME KEY=VALUE...`."""
    try:
        words = shlex.split(line)
    except ValueError:  # an unclosed quote is an ordinary character
        words = line.split()
    tags = dict(word.split("=", 1) for word in words if "=" in word)
    return " ".join(word for word in words if "=" not in word) or NAME, tags


def size_text(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024 or unit == "GiB":
            break
        count /= 1024
    return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"


def summary_of(line: Row) -> str:
    """Describes a span in one line. Values that were not read are left out."""
    parts = [f"{line['wall_seconds']:.3f} s", f"CPU {line['cpu_seconds']:.3f} s"]
    for key, words in (("rss_peak_bytes", "memory {}"), ("rss_peak_upper_bytes", "at most {}")):
        if line.get(key) is not None:
            parts.append(words.format(size_text(line[key])))
    parts += [f"read {size_text(line['read_bytes'])}, written {size_text(line['write_bytes'])}"] if "read_bytes" in line and "write_bytes" in line else []
    parts.append(f"{line['processes_total']} process{'' if line['processes_total'] == 1 else 'es'}")
    return f"bpfmon: {line['name']}: " + ", ".join(parts) + ("" if line.get("complete") else "; INCOMPLETE")


def feed_open() -> Optional[Feed]:
    try:
        return Feed()
    except OSError:
        return None


def execute(shell: Any, code: str) -> Any:
    """Executes code in the namespace of the user. Returns the value of a last expression, which the cell shows, like %%time."""
    text = shell.transform_cell(code)
    file = shell.compile.cache(text, shell.execution_count, raw_code=code)  # so that tracebacks show its lines
    body = shell.transform_ast(shell.compile.ast_parse(text, filename=file)).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(shell.compile(ast.Module(body, []), file, "exec"), shell.user_ns)
    return eval(shell.compile(ast.Expression(last.value), file, "eval"), shell.user_ns) if last else None


def account(shell: Any, name: str, tags: Dict[str, str], code: str) -> Any:
    """Executes code and prints what it used, also if it failed."""
    if not in_run():
        print(OUTSIDE)
        return execute(shell, code)
    feed = feed_open()
    one = span(name, **tags)
    try:
        with one:
            return execute(shell, code)
    finally:
        print(said_of(one, feed))
        if feed:
            feed.close()


def said_of(one: span, feed: Optional[Feed]) -> str:
    if one.id is None:
        return f"bpfmon: no span {one.name!r}: {one.refused or 'the run has ended'}"
    if not feed or not feed.wait(one.id):
        return f"bpfmon: {one.name}: span {one.id} of the run; the run has its values when it has ended"
    return summary_of(feed.spans[one.id])


def register(shell: Any) -> None:
    def bpfmon(line: str, cell: Optional[str] = None) -> Any:
        """%bpfmon STATEMENT, or %%bpfmon [NAME] [KEY=VALUE...]: make it a span of the run, and print what it used."""
        if cell is not None:
            return account(shell, *words_of(line), cell)
        if line.strip():
            return account(shell, "statement", {}, line)
        print("bpfmon: %%bpfmon NAME makes this cell a span of the run" if in_run() else OUTSIDE)
        return None

    shell.register_magic_function(bpfmon, "line_cell", "bpfmon")
