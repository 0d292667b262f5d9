# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon as `make install` puts it into a folder."""

import os
import subprocess

from lib.bpfmon import BUILD, TOP

UNITS = ("bpfmon-agent.service", "bpfmon-agent.socket", "bpfmon-exporter.service", "bpfmon-push.service")


def make(target, **variables):
    """Runs a target of the Makefile, which must succeed, with no variable of a make above."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    words = [f"{name}={text}" for name, text in {"BUILD": BUILD, **variables}.items()]
    argv = ["make", "-s", "-C", str(TOP), target, *words]
    done = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(argv)} ended with {done.returncode}: {done.stdout}")


def files_below(folder):
    """The paths of all files in it, below it."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
