#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Regenerates the parts of docs/man/* that the program's own help has: between `.\\" begin PART` and `.\\" end PART`.

Usage: tools/gen-manual.py FOLDER
Writes all pages to FOLDER. Parts of a page: head (title, name, synopsis), description, options (with the exit status),
commands (the list of subcommands).
"""

import os
import pathlib
import re
import subprocess
import sys

PAGES = pathlib.Path("docs/man")
BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
DATE = "2026-11-28"
OPTION = re.compile(r"^  (?:-(.), |    )?--([a-z-]+)(\[=[^]]+\]|(?: [^ ]+)+)?  +(.*)$")
COMMAND = re.compile(r"^       bpfmon ([a-z]+) +(.*)$")
EVERYWHERE = ("help", "version")  # options of each subcommand


def help_of(*words):
    return subprocess.run([BUILD / words[0], *words[1:], "--help"], capture_output=True, text=True, check=True).stdout


def roff(text):
    """Text whose dashes are themselves; a dot or quote at the beginning of a line is no request."""
    for mark, name in (("\\", "\\e"), ("-", "\\-"), ("~", "\\(ti"), ("^", "\\(ha")):
        text = text.replace(mark, name)
    return re.sub(r"(?m)^(?=[.'])", r"\\&", text)


def bold(text):
    return f"\\fB{text}\\fR"


def prose(text):
    """A paragraph of a help: options, commands between backquotes and pages are bold."""
    text = re.sub(r"(?<![\w-])--[a-z][a-z-]*|(?<=[ (])-[a-zA-Z](?=[ .])", lambda m: bold(m[0]), text)
    text = re.sub(r"`([^`]*)`", lambda m: bold(m[1]), text)
    text = re.sub(r"([a-z-]+)(\([18]\))", r"\\fB\1\\fR\2", text)
    return re.sub(r"\\e(?=fB|fR)", r"\\", roff(text))


def sentence(text):
    return text[0].upper() + text[1:]


class Help:
    """A help as usage, paragraphs before the options, rows of options, paragraphs behind them, exit status."""

    def __init__(self, text):
        text, _, self.exit_status = text.partition("\nExit status: ")
        # a row of an option that goes on in further lines is one line
        lines = re.sub(r"(?m)(?<=\S)\n {25,}(?=\S)", " ", text).split("\n")
        self.rows = [(at, OPTION.match(line)) for at, line in enumerate(lines) if OPTION.match(line)]
        listed = sum(1 for line in lines if re.match(r" +(-., )?--[a-z]", line))
        if len(self.rows) != listed:
            sys.exit(f"gen-manual.py: understands {len(self.rows)} of the {listed} options of {lines[0]}")
        first, last = (self.rows[0][0], self.rows[-1][0]) if self.rows else (len(lines), len(lines))
        usage = "\n".join(lines).split("\n\n")[0].split("\n")
        self.usage = [line[7:].strip() for line in usage if re.match(r"[Uu]sage: |       ", line)]
        self.before = paragraphs(lines[len(usage) : first])
        self.behind = paragraphs(lines[last + 1 :])
        self.titles = {at + 1: line.rstrip(":") for at, line in enumerate(lines[:last]) if re.match(r"[A-Z].*:$", line)}

    def options(self, but=()):
        """Rows of options, each below its title, if it has one; without those whose names or lines are in @but."""
        for at, row in self.rows:
            if at in self.titles:
                yield f".SS {self.titles[at]}"
            if row[2] not in but and row[0] not in but:
                yield option_shown(row)


def option_shown(row):
    letter, name, argument, text = row.groups()
    shown = (f"{bold(roff('-' + letter))}, " if letter else "") + bold(roff(f"--{name}"))
    if argument and argument.startswith("[="):
        shown += f"[=\\fI{roff(argument[2:-1])}\\fR]"
    elif argument:
        shown += f" \\fI{roff(argument.strip())}\\fR"
    return f".TP\n{shown}\n{roff(text)}."


def paragraphs(lines):
    """Each paragraph as roff; rows of a word and its meaning are a list."""
    for block in "\n".join(lines).strip("\n").split("\n\n"):
        rows = [(line, re.match(r"  ([\w-]+) +(\S.*)$", line)) for line in block.split("\n")]
        if len(rows) > 1 and all(row for _, row in rows[1:]):
            yield rows[0][0] + "".join(f"\n.TP\n{bold(roff(row[1]))}\n{prose(row[2])}" for _, row in rows[1:])
        elif block.strip():
            yield prose("\n".join(line.strip() for line in block.split("\n")))


def synopsis(usage):
    """The program and its fixed words are bold, what stands for something else is italic."""
    for line in usage:
        words = []
        for word in line.split(" "):
            word = re.sub(r"[A-Z]{2,}(?:=[A-Z]+)?", lambda m: f"\\fI{m[0]}\\fR", roff(word))
            word = re.sub(r"(?<![\\A-Za-z])(?:(?:\\-)+[a-z-]*|[a-z][a-z-]*)(?![a-z(])", lambda m: bold(m[0]), word)
            words.append(word)
        yield " ".join(words).replace("\\fR \\fB", " ")


def head_part(name, subject, shown):
    title = f"bpfmon-{name}"
    version = subprocess.run(["tools/version.sh", "--release"], capture_output=True, text=True, check=True).stdout.strip()
    yield f'.TH {roff(title.upper())} 1 {DATE} "bpfmon {version}" "User Commands"'
    yield f".SH NAME\n{roff(title)} \\- {roff(subject)}"
    yield ".SH SYNOPSIS\n.nf\n" + "\n".join(synopsis(shown.usage)) + "\n.fi"


def options_part(shown, but):
    rows = list(shown.options(but))
    if rows:
        yield ".SH OPTIONS"
    yield from rows
    for paragraph in shown.behind:
        yield f".PP\n{paragraph}"
    if shown.exit_status:
        text = " ".join(shown.exit_status.split())
        yield f'.SH "EXIT STATUS"\n{roff(sentence(text))}'


def commands_part(text):
    """The subcommands, below the titles that they have in the help."""
    for line in text.split("\n\nMeasurement")[0].split("\n"):
        row = COMMAND.match(line)
        if row:
            yield f".TP\n\\fBbpfmon\\-{row[1]}\\fR(1)\n{roff(sentence(row[2]))}."
        elif re.match(r"[A-Z]\w+:$", line):
            yield f".SS {line[:-1]}"


def parts_of(page, subjects, run):
    """The generated parts of a page, by name."""
    if page.suffix == ".8":
        return {"options": options_part(Help(help_of(page.stem)), ())}
    if page.name == "bpfmon.1":
        return {"commands": commands_part(help_of("bpfmon")), "options": options_part(run, ())}
    name = page.stem.removeprefix("bpfmon-")
    shown = Help(help_of("bpfmon", name))
    but = [row[0] for _, row in run.rows] if name == "attach" else EVERYWHERE
    description = [".SH DESCRIPTION", *"\n.PP\n".join(shown.before).split("\n")]
    return {"head": head_part(name, subjects[name], shown), "description": description, "options": options_part(shown, but)}


def regenerate(page, parts):
    text = page.read_text()
    for part, lines in parts.items():
        begin, end = f'.\\" begin {part}\n', f'.\\" end {part}\n'
        if text.count(begin) != 1 or text.count(end) != 1:
            sys.exit(f"gen-manual.py: {page} has to have one line '{begin.strip()}' and one '{end.strip()}'")
        before, _, behind = text.partition(begin)
        text = before + begin + "\n".join(lines) + "\n" + end + behind.partition(end)[2]
    return text


def main(folder):
    text = help_of("bpfmon")
    subjects = dict(COMMAND.match(line).groups() for line in text.split("\n") if COMMAND.match(line))
    for name in subjects:
        if not (PAGES / f"bpfmon-{name}.1").exists():
            sys.exit(f"gen-manual.py: the subcommand {name} has no page: docs/man/bpfmon-{name}.1")
    run = Help(text)
    for page in sorted(PAGES.glob("*.[18]")):
        (folder / page.name).write_text(regenerate(page, parts_of(page, subjects, run)))


main(pathlib.Path(sys.argv[1]))
