# SPDX-License-Identifier: BSD-2-Clause
"""Snakemake with a span for each job: `bpfmon -- python3 -m bpfmon.snakemake`, with the options of snakemake.

A span has the name of the job's rule, and a tag for each wildcard. Snakemake starts a shell for a job, or itself for a
rule with `run:`; here that process begins a span first. Outside of a run this is Snakemake and nothing else.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
import shutil
import subprocess
import sys
import threading
from typing import Any, Callable, Dict, List

from . import NAME_BYTES, PROGRAM, TAG_BYTES, _cut, in_run

MAX_TAGS = 16
EXECUTORS = (("snakemake.executors.local", "Executor"), ("snakemake.executors", "CPUExecutor"))  # of Snakemake 8, and 7
SHELLS = ("libexec/bash", "../libexec/bpfmon/bash")  # from the folder of bpfmon: as built, and installed
MAINS = ("snakemake.cli", "snakemake")

_thread = threading.local()  # Snakemake starts the processes of a job in a thread that is for the job


class Spans:
    """How the process of a job is started within a span."""

    def __init__(self, program: str) -> None:
        self.program = program
        folder = os.path.dirname(os.path.realpath(program))
        places = (os.path.join(folder, place) for place in SHELLS)
        self.bash = next((path for path in places if os.access(path, os.X_OK)), "")

    def words(self, job: Any, shell: str) -> List[str]:
        """What begins a span of this job and executes the shell."""
        tags: Dict[str, object] = {"rule": job.rule.name, **dict(job.wildcards.items())}
        name = _cut(job.rule.name, NAME_BYTES)
        texts = [_cut(f"{key}={value}", TAG_BYTES) for key, value in list(tags.items())[:MAX_TAGS]]
        if self.bash and os.path.basename(shell) == "bash":  # in a third of the time
            return [self.bash, f"--span-name={name}", *(f"--span-tag={text}" for text in texts)]
        return [self.program, "span", name, "-q", *(word for text in texts for word in ("--tag", text)), "--", shell]


def with_job(function: Callable[..., Any]) -> Callable[..., Any]:
    """cached_or_run(self, job, ...) of an executor, which says for whom this thread starts processes."""

    @functools.wraps(function)
    def called(self: Any, job: Any, *args: Any, **kwargs: Any) -> Any:
        _thread.job = job
        try:
            return function(self, job, *args, **kwargs)
        finally:
            _thread.job = None

    return called


def with_span(function: Callable[..., None], spans: Spans) -> Callable[..., None]:
    """Popen.__init__(self, args, ...), which starts the shell of a job within a span."""

    @functools.wraps(function)
    def called(self: Any, args: Any, *rest: Any, **options: Any) -> None:
        job = getattr(_thread, "job", None)
        if job is not None and options.get("shell"):
            del options["shell"]
            shell = options.pop("executable", None) or "/bin/sh"
            args = [*spans.words(job, shell), "-c", *([args] if isinstance(args, (str, bytes)) else args)]
        function(self, args, *rest, **options)

    return called


def install() -> str:
    """Makes each job a span from now on. Why not, or nothing."""
    program = shutil.which(PROGRAM)
    if not program:
        return f"there is no program {PROGRAM}; set BPFMON_PROGRAM to its path"
    for module, name in EXECUTORS:
        try:
            executor: Any = getattr(importlib.import_module(module), name)
            executor.cached_or_run = with_job(executor.cached_or_run)
        except (ImportError, AttributeError):
            continue
        setattr(subprocess.Popen, "__init__", with_span(subprocess.Popen.__init__, Spans(program)))
        return ""
    return "this version of Snakemake starts jobs in a way that is not known here"


def main() -> None:
    why = install() if in_run() else ""
    if why:
        logging.getLogger("bpfmon").warning("bpfmon: no spans: %s", why)
    sys.argv[0] = "snakemake"
    for module in MAINS:
        try:
            snakemake: Any = importlib.import_module(module)
        except ImportError:
            continue
        snakemake.main()
        return
    sys.exit("bpfmon: there is no package snakemake for this Python")


if __name__ == "__main__":
    main()
