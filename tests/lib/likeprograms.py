# SPDX-License-Identifier: BSD-2-Clause
"""Small programs of 21 kinds with six inputs each, for `bpfmon like`: real ones, as Debian has them.

Inputs of a kind differ in size, in what is in them, and in options, so that one run of a kind takes up to thirty times as
long as another: most take from a tenth of a second to one.
"""

import os
import random
import shutil

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau".split()
LOOP = """
import sys
n, kind = int(sys.argv[1]), sys.argv[2]
x = 0
d = {}
for i in range(n):
    if kind == "sum": x += i * i % 7
    elif kind == "dict": d[i % 5000] = d.get(i % 5000, 0) + i
    else: x += len(str(i))
"""
GROW = """
import sys, time
chunks = []
for i in range(int(sys.argv[1])):
    chunks.append(bytearray(int(sys.argv[2]) << 20))
    chunks[-1][::4096] = b"x" * len(chunks[-1][::4096])
    time.sleep(float(sys.argv[3]))
"""
SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{functions}
int main(void) {{ return {calls}; }}
"""
FUNCTION = "static int f{i}(int x) {{ int s = 0; for (int i = 0; i < x; i++) s += i * {i} ^ (s >> 3); switch (s % 5) {{ case 0: return s; case 1: return s * 2; default: return -s; }} }}\n"


def write_text(path, rng, lines):
    """Lines of a number and eight words; of the words there are 5,000 different rows."""
    rows = [" ".join(rng.choices(WORDS, k=8)) for _ in range(5000)]
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(f"{rng.randrange(10**6)} {rows[rng.randrange(5000)]}\n" for _ in range(lines))


def write_source(path, functions):
    body = "".join(FUNCTION.format(i=i) for i in range(functions))
    path.write_text(SOURCE.format(functions=body, calls="+".join(f"f{i}({i})" for i in range(functions))), encoding="utf-8")


def write_tree(folder, rng, files, size):
    for i in range(files):
        at = folder / f"d{i % 37}" / f"e{i % 11}"
        at.mkdir(parents=True, exist_ok=True)
        (at / f"f{i}").write_bytes(rng.randbytes(size))


def write_project(folder, files, functions):
    """Units that make compiles, each into an object."""
    folder.mkdir()
    for i in range(files):
        write_source(folder / f"u{i}.c", functions)
    rule = "all: $(patsubst %.c,%.o,$(wildcard *.c))\n%.o: %.c\n\tgcc -O1 -c $< -o $@\n"
    (folder / "Makefile").write_text(rule, encoding="utf-8")


class Inputs:
    """Files in @folder, made once."""

    def __init__(self, folder, seed=1):
        self.folder, rng = folder, random.Random(seed)
        self.text, self.noise, self.trees, self.sources, self.projects = [], [], [], [], []
        for i in range(6):
            self.text.append(self.path(f"text{i}"))
            write_text(self.text[-1], rng, 100000 * (i + 1))
            self.noise.append(self.path(f"noise{i}"))
            self.noise[-1].write_bytes(rng.randbytes((2 + 3 * i) << 20))
            self.trees.append(self.path(f"tree{i}"))
            write_tree(self.trees[-1], rng, 800 * (i + 1), (500, 4000, 20000)[i % 3])
            self.sources.append(self.path(f"source{i}.c"))
            write_source(self.sources[-1], 60 * (i + 1))
            self.projects.append(self.path(f"project{i}"))
            write_project(self.projects[-1], 3 + 2 * i, 10 + 5 * (i % 3))

    def path(self, name):
        return self.folder / name

    def out(self, name):
        """A path that nothing is at."""
        at = self.path(f"out-{name}")
        if at.is_dir():
            shutil.rmtree(at)
        elif at.exists():
            at.unlink()
        return at

    def mixed(self, i):
        return self.text[i] if i % 2 else self.noise[i // 2]


def sh(script, *words):
    return ["sh", "-c", script, "sh", *words]


def sqlite(inputs, i):
    rows = 20000 * (i + 1)
    insert = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<{rows}) INSERT INTO t SELECT i, random(), hex(randomblob({8 + 8 * (i % 3)})) FROM n;"
    return ["sqlite3", inputs.out("db.sqlite"), f"CREATE TABLE t(a INTEGER PRIMARY KEY, b, c); CREATE INDEX x ON t(b); {insert}"]


def make(inputs, i):
    for at in inputs.projects[i].glob("*.o"):
        at.unlink()
    return ["make", "-s", "-j2", "-C", inputs.projects[i]]


# of a kind: the command of its run number i, from 0 to 5; what it writes goes into the folder
KINDS = {
    "sort": lambda n, i: ["sort", *([], ["-n"], ["-r"], ["-u"], ["-k3"], ["-n", "-r"])[i], "-o", n.out("sorted"), n.text[i]],
    "gzip": lambda n, i: sh('gzip "$1" -c "$2" >"$3"', f"-{(1, 6, 6, 3, 9, 6)[i]}", n.mixed(i), n.out("gz")),
    "xz": lambda n, i: sh('xz "$1" -T1 -c "$2" >"$3"', f"-{(1, 0, 2, 1, 0, 1)[i]}", (n.noise[0], n.text[1], n.noise[1], n.text[2], n.text[3], n.text[0])[i], n.out("xz")),
    "bzip2": lambda n, i: sh('bzip2 "$1" -c "$2" >"$3"', f"-{(1, 6, 9, 3, 9, 6)[i]}", (n.noise[0], n.text[1], n.noise[1], n.text[2], n.text[3], n.text[0])[i], n.out("bz2")),
    "sha256sum": lambda n, i: ["sha256sum", *(n.noise[: i + 1] if i % 2 else [n.noise[i]] * (6 - i))],
    "grep": lambda n, i: sh('grep "$1" "$2" "$3" >/dev/null', ("-c", "-v", "-i", "-n", "-o", "-E")[i], ("9 al.*pi", "alpha", "GAMMA.*NU", "beta$", "x[ix]", "(mu|nu) (rho|pi)")[i], n.text[5 - i % 3]),
    "awk": lambda n, i: ["awk", ("{s+=$1} END {print s}", "{c[$2]++} END {for (k in c) print k, c[k]}", "$3==\"pi\" {n++} END {print n}", "{gsub(/a/, \"b\"); l+=length($0)} END {print l}", "{x=$1 % 17; t[x]+=NF} END {print t[3]}", "length($0)>60 {n++} END {print n}")[i], n.text[3 + i % 3]],
    "sed": lambda n, i: sh('sed "$1" "$2" >"$3"', ("s/alpha/ALPHA/g", "/pi/d", "s/[0-9]*/<&>/", "y/abc/xyz/", "s/\\(mu\\) \\(nu\\)/\\2 \\1/", "1~2d")[i], n.text[3 + i % 3], n.out("sed")),
    "pyloop": lambda n, i: ["/usr/bin/python3", "-c", LOOP, str(800000 * (i + 1)), ("sum", "dict", "str")[i % 3]],
    "pygrow": lambda n, i: ["/usr/bin/python3", "-c", GROW, str(10 + 6 * i), str((2, 5, 8)[i % 3]), ("0.02", "0.01", "0.03")[i // 2]],
    "dd": lambda n, i: ["dd", ("if=/dev/zero", f"if={n.noise[5]}")[i % 2], f"of={n.out('dd')}", f"bs={(4096, 65536, 16384)[i % 3]}", f"count={(20000, 600, 6000, 12000, 4000, 1500)[i]}", "status=none"],
    "tar": lambda n, i: ["tar", "-C", n.folder, "-cf", n.out("tar"), n.trees[i].name],
    "find": lambda n, i: ["find", *([n.folder], ["/usr/share"], ["/usr/lib"], ["/usr/include"], ["/usr/share/doc"], ["/usr/lib", "/usr/share"])[i], *([], ["-name", "*.so"], ["-type", "l"], ["-size", "+100k"], ["-newer", "/etc/passwd"], ["-name", "*e*"])[i], "-fprint", "/dev/null"],
    "gcc": lambda n, i: ["gcc", f"-O{i % 3}", "-c", n.sources[i], "-o", n.out("object.o")],
    "make": make,
    "sleeploop": lambda n, i: sh('for i in $(seq "$1"); do sleep "$2"; done', *(("10", "0.05"), ("20", "0.02"), ("6", "0.1"), ("15", "0.04"), ("30", "0.02"), ("8", "0.07"))[i]),
    "forkloop": lambda n, i: sh('i=0; while [ $i -lt "$1" ]; do "$2"; i=$((i + 1)); done', str((100, 200, 400, 600, 800, 300)[i]), ("/bin/true", "/bin/echo", "/bin/true", "/usr/bin/id", "/bin/true", "/bin/uname")[i].replace("/bin/echo", "/bin/false")),
    "sqlite": sqlite,
    "openssl": lambda n, i: ["openssl", "speed", "-seconds", "1", *("-bytes", str((16, 256, 1024, 64, 8192, 4096)[i])), ("sha256", "md5", "sha1", "sha512", "sha256", "md5")[i]],
    "cp": lambda n, i: ["cp", "-r", n.trees[i], n.out("copy")],
    "perl": lambda n, i: ["perl", "-ne", ("$c{$_}++ for split; END {print scalar keys %c}", "$s += length; END {print $s}", "s/alpha/x/g; $n += tr/x//; END {print $n}", "push @l, $_ if /pi/; END {print scalar @l}", "@f = split; $t{$f[1]} .= $f[0]; END {print length $t{pi}}", "$h{$_ % 1000} += $_ for /\\d+/g; END {print scalar keys %h}")[i], n.text[3 + i % 3]],
}  # fmt: skip


def environment():
    """Without what makes a program's output depend on who runs it."""
    return {**os.environ, "LC_ALL": "C"}
