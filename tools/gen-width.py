#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes user/lib/base/width_table.h: which characters take two columns of a terminal, and which none.

Usage: tools/gen-width.py >user/lib/base/width_table.h
"""

import unicodedata

HANGUL_VOWELS = range(0x1160, 0x1200)  # joined to the consonant before them
SOFT_HYPHEN = 0xAD


def width(c):
    category = unicodedata.category(chr(c))
    if c in HANGUL_VOWELS or (category in ("Mn", "Me", "Cf") and c != SOFT_HYPHEN):
        return 0
    if category == "Cn" and not (0x20000 <= c <= 0x3FFFD):
        return None  # as its neighbours have it
    return 2 if unicodedata.east_asian_width(chr(c)) in "WF" else 1


def ranges(wanted):
    found, last = [], None
    for c in range(0x80, 0x110000):
        w = width(c)
        if w == wanted:
            if last == wanted:
                found[-1][1] = c
            else:
                found.append([c, c])
        last = last if w is None else w
    return found


def table(name, rows):
    print(f"static const struct range {name}[] = {{")
    for i in range(0, len(rows), 4):
        print("\t" + " ".join(f"{{ 0x{a:x}, 0x{b:x} }}," for a, b in rows[i : i + 4]))
    print("};")


print("/* SPDX-License-Identifier: BSD-2-Clause */")
print(f"/* Made by tools/gen-width.py of Unicode {unicodedata.unidata_version}. */")
print("/* clang-format off */")
table("wide", ranges(2))
table("without_width", ranges(0))
print("/* clang-format on */")
