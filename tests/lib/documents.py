# SPDX-License-Identifier: BSD-2-Clause
"""The commands that README.md, docs/*.md and the manual pages show, as a reader would type them."""

import re
import shutil

from lib.bpfmon import TOP

SHELL = ("sh", "bash", "shell", "console")
# what begins a command in the documents, installed or not
PROGRAMS = set(
    "apt bpfmon bpfmon-exporter bpfmon-push influx influxdb3 make python3 jupyter curl kubectl openssl podman promtool sed jq head cat cp echo printf install tee chown chmod journalctl systemctl systemd-sysusers systemd-tmpfiles srun sbatch for".split()
)
# what begins a line of a program in another language, or of output, and is the name of a program by accident
NOT_PROGRAMS = {"import", "with", "sum"}


def blocks_of(text):
    """Each indented block and each fenced one of a shell, as its lines."""
    fence = block = None
    before = ""
    for line in [*text.splitlines(), "end"]:
        if line.startswith("```"):
            if fence is None:
                fence, block = line[3:].strip(), []
                continue
            if fence in SHELL:
                yield block
            fence = block = None
        elif fence is not None:
            block.append(line)
        elif line.startswith("    ") and (block is not None or not before.strip()):
            block = [*(block or []), line[4:]]
        elif block is not None and line.strip():
            yield block
            block = None
        before = line


def program_of(line):
    """The program that the line begins with; None: it is no command."""
    words = re.sub(r"^(sudo( --?[\w-]+(=\S+)?)* )?([A-Z_]+=\S+ )*", "", line).split()
    if not words or line[0].isspace() or words[0] in NOT_PROGRAMS:
        return None
    if words[0] in PROGRAMS or words[0].startswith("./") or words[0].endswith(".py"):
        return words[0]
    if re.fullmatch(r"[a-z][\w.-]*", words[0]) and shutil.which(words[0]):
        raise AssertionError(f"is this a command, for PROGRAMS, or no program, for NOT_PROGRAMS? {line}")
    return None


def commands_in(block):
    """The commands of a block, without their comments; a loop is one command."""
    if any(line.startswith("$ ") for line in block):
        block = [line[2:] for line in block if line.startswith("$ ")]
    loop = []
    for line in block:
        line = re.sub(r"\s{2,}# .*|\s+#$", "", line) if not loop else line
        if loop or line.startswith("for ") or re.match(r"\w+\(\) \{", line):
            loop.append(line)
            if line.strip() not in ("done", "}"):
                continue
            line, loop = "\n".join(loop), []
        if line.strip() and (program_of(line) or re.match(r"\w+\(\) \{", line)):
            yield line.strip()


def manual_commands(text):
    for line in re.findall(r"(?m)^\$ \\fB(.*)\\fR$", text):
        for mark, meant in (("\\-", "-"), ("\\(aq", "'"), ("\\(dq", '"'), ("\\(ti", "~"), ("\\(ha", "^"), ("\\e", "\\")):
            line = line.replace(mark, meant)
        yield line


def documented_commands():
    """(document, command) of each; a command that a document has twice is there once."""
    found = []
    for path in [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]:
        for block in blocks_of(path.read_text()):
            found += [(str(path.relative_to(TOP)), command) for command in commands_in(block)]
    for path in sorted((TOP / "docs/man").iterdir()):
        found += [(str(path.relative_to(TOP)), command) for command in manual_commands(path.read_text())]
    return list(dict.fromkeys(found))
