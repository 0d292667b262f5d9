#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks that the chains of calls of all BPF programs fit into what any kernel allows: 512 bytes of stack, eight
frames. From 6.13 on x86 a kernel accepts more, so that loading a program there shows nothing. The verifier rounds
each frame up to 32 bytes. Prints the deepest chain of each program that does not fit, and exits 1 if there is one.

Usage: tools/check-stack.py [--list] [OBJECT]    (after make; BUILD=: the folder of build/bpfmon.bpf.o)
  --list   print the deepest chain of each program
"""
import argparse
import os
import re
import subprocess
import sys

MOST_BYTES, MOST_FRAMES, ROUNDED_TO = 512, 8, 32
SYMBOL = re.compile(r"([0-9a-f]{16}) .{5} ([F ]) (\S+)\t([0-9a-f]{16}) (?:\.hidden )?(\S+)")
FRAME = re.compile(r"\(r10 - (\w+)\)|r10\n.*r\d+ \+= -(\w+)")
# a helper's call has 85 00
CALL = re.compile(r"(\d+):\t85 10 00 00 .*\tcall (\S+)(?:\n.*R_BPF_64_32\s+(\S+))?")
POINTER = re.compile(r" = (\S+) ll\n.*R_BPF_64_64\s+(\S+)")
NEXT_CALL = re.compile(r"\tcall (\S+)")
TIMER_SET_CALLBACK = ("170", "0xaa")


def dump(*words):
    return subprocess.run(["llvm-objdump", *words], check=True, capture_output=True, text=True).stdout


def functions(path):
    """The functions of an object: names of programs and callbacks of timers; bytes of each; names that each calls."""
    places, programs = {}, set()
    for at, kind, section, size, name in SYMBOL.findall(dump("-t", path)):
        if int(size, 16) and not section.startswith((".data", ".bss", ".rodata", ".maps")):
            places[section, int(at, 16) // 8] = name
            if section != ".text":
                programs.add(name)
    where = {name: section for (section, _), name in places.items()}
    names = set(where)
    taken, calls = {}, {}
    for text in re.split(r"\n(?=[0-9a-f]{16} <(?!LBB))", dump("-d", "-r", path)):
        name = re.match(r"[0-9a-f]{16} <(\S+)>:", text)
        if not name or name[1] not in names:
            continue
        taken[name[1]] = max((int(a or b, 0) for a, b in FRAME.findall(text)), default=0)
        found = set()
        for pointer in POINTER.finditer(text):
            to, of = pointer.groups()
            call = NEXT_CALL.search(text, pointer.end())
            # a helper calls the function that it gets, except that a timer calls it later, with a stack of its own
            is_of_timer = call and call[1] in TIMER_SET_CALLBACK
            (programs if is_of_timer else found).add(places.get((of, int(to, 0) // 8), of))
        for at, to, of in CALL.findall(text):
            # a static function is called by its place: in the section of the relocation, or else of the caller
            place = (of, int(to, 0) + 1) if of else (where[name[1]], int(at) + 1 + int(to, 0))
            found.add(of if of in names else places[place])
        calls[name[1]] = found & names
    return programs & names, taken, calls


def chains(name, taken, calls):
    """All chains of calls that begin at a function."""
    deeper = [chain for called in sorted(calls[name]) for chain in chains(called, taken, calls)]
    return [[name, *chain] for chain in deeper or [[]]]


def bytes_of(chain, taken):
    return sum(-(-max(taken[name], 1) // ROUNDED_TO) * ROUNDED_TO for name in chain)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("object", nargs="?", default=os.path.join(os.environ.get("BUILD", "build"), "bpfmon.bpf.o"))
    options = parser.parse_args()
    programs, taken, calls = functions(options.object)
    fits = True
    for program in sorted(programs):
        found = chains(program, taken, calls)
        for chain in (max(found, key=lambda c: bytes_of(c, taken)), max(found, key=len)):
            is_too_deep = bytes_of(chain, taken) > MOST_BYTES or len(chain) > MOST_FRAMES
            fits = fits and not is_too_deep
            if is_too_deep or options.list:
                print(f"{bytes_of(chain, taken)} bytes, {len(chain)} frames: {' -> '.join(chain)}")
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main())
