# SPDX-License-Identifier: BSD-2-Clause
"""A small C project, generated, the same in every run: something real for make to build."""

import os
import random

FILES = 30
FUNCTIONS = 5		# per file: sized for 50 to 100 ms of compiling

MAKEFILE = """\
CC = gcc
CFLAGS = -O2 -std=gnu11
OBJECTS = {objects}
prog: $(OBJECTS)
\t$(CC) -o $@ $(OBJECTS)
%.o: %.c
\t$(CC) $(CFLAGS) -c -o $@ $<
"""

FUNCTION = """\
static long step_{i}(const struct node *n, long *table, size_t len)
{{
	long sum = {a};

	for (size_t i = 0; i + {b} < len; i++) {{
		switch ((table[i] ^ n->key) % {c}) {{
		case 0:
			sum += table[i + {b}] * {d};
			break;
		case 1:
			table[i] ^= sum >> {e};
			break;
		case 2:
			sum -= n->name[i % sizeof(n->name)] / {d};
			break;
		default:
			sum = (sum << {e}) | table[i] % {c};
		}}
	}}
	snprintf((char *)table, len, "%s:%ld", n->name, sum);
	return n->next ? sum + step_{before}(n->next, table, len / 2) : sum;
}}
"""


def source(number, rng):
    parts = ["#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n",
             "struct node {\n\tstruct node *next;\n\tlong key;\n\tchar name[32];\n};\n",
             "static long step_0(const struct node *n, long *table, size_t len)\n"
             "{\n\treturn n->key + table[len / 2];\n}\n"]
    for i in range(1, FUNCTIONS + 1):
        parts.append(FUNCTION.format(i=i, before=i - 1, a=rng.randint(1, 999),
                                     b=rng.randint(1, 7), c=rng.randint(4, 31),
                                     d=rng.randint(2, 99), e=rng.randint(1, 9)))
    parts.append(f"long part_{number}(const struct node *n, long *table, size_t len)\n"
                 f"{{\n\treturn step_{FUNCTIONS}(n, table, len);\n}}\n")
    return "\n".join(parts)


def generate(folder, files=FILES):
    """Writes the project of so many files, and main.c, into a new folder."""
    os.mkdir(folder)
    rng = random.Random(20240)
    names = [f"part{i:02}" for i in range(files)]
    for i, name in enumerate(names):
        write(os.path.join(folder, name + ".c"), source(i, rng))
    declared = "".join(f"long part_{i}(const void *, long *, size_t);\n" for i in range(files))
    used = "".join(f"\tsum += part_{i}(argv, table, 64);\n" for i in range(files))
    write(os.path.join(folder, "main.c"),
          f"#include <stddef.h>\n{declared}\nint main(int argc, char **argv)\n{{\n"
          f"\tlong table[64] = {{ argc }}, sum = 0;\n\n{used}\treturn (int)sum;\n}}\n")
    objects = " ".join(f"{name}.o" for name in names + ["main"])
    write(os.path.join(folder, "Makefile"), MAKEFILE.format(objects=objects))


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
