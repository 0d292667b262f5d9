#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks the names of functions and types in bpf/, include/ and user/: a function's name is unique in
the tree, static ones included, since that is what perf, gdb, bpftool and cscope show; it has an
underscore, as noun_verb() has; and json_* is jansson's. A function of user/ that only its own file uses
is static, and each is used; a file shares at most 30 of its functions with others. Prints each violation as "file:line: what"; exits 1 if there is one.

Usage: tools/check-names.py
"""
import collections
import os
import re
import sys

FOLDERS = ("bpf", "include", "user")
USERS = ("user", "tests")  # of functions of user/
ONE_WORD = {"main"}
MOST_SHARED = 30
# What stands around the name of a function, or in the place of it.
WRAPPERS = {"BPF_PROG", "BPF_KPROBE", "BPF_KRETPROBE"}
NOT_NAMES = {"SEC", "__attribute__", "__cleanup", "_Static_assert"}

# Comments, texts and preprocessor lines, in which nothing is defined; line ends are kept. In front of
# a comment or text no other can begin, so that one pass from left to right finds them.
SKIPPED = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*""",
    re.S | re.M)
TYPE = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{|\btypedef\b[^;{]*?\b(\w+)\s*;")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def keep_lines_of_macros(match):
    """The lines of the preprocessor stay: a macro uses functions, too."""
    return match.group() if match.group().lstrip().startswith("#") else blank(match)


def without_parentheses(text):
    """The text with what is in parentheses blanked, which leaves the names before them."""
    depth = 0
    out = []
    for c in text:
        depth -= c == ")"
        out.append(c if depth == 0 else " ")
        depth += c == "("
    return "".join(out)


def function_of(head):
    """Of what stands before a { at file level: the offset and the name of the function, or None."""
    outer = without_parentheses(head)
    if "=" in outer:
        return None
    for match in re.finditer(r"(\w+)\s*\(", outer):
        if match.group(1) in WRAPPERS:
            match = re.compile(r"\s*(\w+)").match(head, match.end())
        elif match.group(1) in NOT_NAMES:
            continue
        return match.start(1), match.group(1)
    return None


def functions(text):
    """Each function that is defined in the text: its offset and name."""
    depth = start = 0
    for match in re.finditer(r"[{};]", text):
        c = match.group()
        if c == "{" and depth == 0:
            found = function_of(text[start:match.start()])
            if found:
                yield start + found[0], found[1]
        depth += (c == "{") - (c == "}")
        if depth == 0:
            start = match.end()


def types(text):
    for match in TYPE.finditer(text):
        at = 1 if match.group(1) else 2
        yield match.start(at), match.group(at)



def sources(folders=FOLDERS, ends=(".c", ".h")):
    for top in folders:
        for folder, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(ends):
                    yield path


def unshared():
    """Each function with external linkage that no other file of C uses."""
    defined = {}  # name -> file, line, whether its own file uses it
    shared = collections.Counter()  # by file
    used = collections.defaultdict(set)  # word -> files
    for path in sources(USERS, (".c", ".h", ".def")):
        with open(path, encoding="utf-8") as f:
            text = SKIPPED.sub(keep_lines_of_macros, f.read())
        words = collections.Counter(re.findall(r"\w+", text))
        for word, count in words.items():
            if count > 1 or not (path.startswith("user") and path.endswith(".h")):  # once: the declaration
                used[word].add(path)
        for offset, name in functions(SKIPPED.sub(blank, text)):
            start = max(text.rfind(c, 0, offset) for c in ";}")
            if path.startswith("user") and path.endswith(".c") and "static" not in text[start + 1:offset].split():
                defined[name] = path, text.count("\n", 0, offset) + 1, words[name] > 1
                shared[path] += not name.startswith("__wrap_")
    for path, count in shared.items():
        if count > MOST_SHARED:
            yield path, 1, f"{count} public functions: more than {MOST_SHARED} are no interface of one module"
    for name, (path, line, used_here) in defined.items():
        if name != "main" and not name.startswith("__wrap_") and not used[name] - {path}:
            yield path, line, f"{name}() is {'public, and no other file uses it' if used_here else 'not used'}"


def violations():
    """Each violation: file, line, what."""
    places = collections.defaultdict(dict)  # name -> file -> line: in one file it is #if and #else
    for path in sources():
        with open(path, encoding="utf-8") as f:
            text = SKIPPED.sub(blank, f.read())
        for offset, name in functions(text):
            line = text.count("\n", 0, offset) + 1
            places[name].setdefault(path, line)
            if "_" not in name.strip("_") and name not in ONE_WORD:
                yield path, line, f"{name}() is one word, not noun_verb()"
            if name.startswith("json_"):
                yield path, line, f"{name}() has a name of jansson's"
        for offset, name in types(text):
            if name.startswith("json_"):
                yield path, text.count("\n", 0, offset) + 1, f"the type {name} has a name of jansson's"
    places.pop("main", None)  # there is more than one program
    for name, files in places.items():
        for path, line in files.items():
            others = ", ".join(f"{p}:{n}" for p, n in files.items() if p != path)
            if others:
                yield path, line, f"{name}() is defined more than once: {others}"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    if sys.argv[1:]:
        sys.exit(__doc__.strip())
    found = sorted([*violations(), *unshared()])
    for path, line, what in found:
        print(f"{path}:{line}: {what}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
