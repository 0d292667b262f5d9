#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks that no files of user/ or bpf/ call each other in circles. Makes the graph of files from the symbols that
each object file defines and those that its code uses, and prints each strongly connected group of two or more.
Such a group is one module cut in pieces, or has a dependency that points the wrong way. Exits 1 if there is one.

Only code counts: a table of functions, such as that of the subcommands, may name files that read the table.

Usage: tools/check-circles.py [--list] [--edges]    (after make; BUILD=: the folder of the objects)
  --list   print the groups and exit 0
  --edges  print below each group which file needs which symbols of which other
"""
import argparse
import collections
import os
import struct
import sys

FOLDERS = ("bpf", "user")
SHT_SYMTAB, SHT_RELA, SHT_REL = 2, 4, 9
SHF_EXECINSTR = 4
STB_LOCAL = 0


def objects(build):
    """Each source with an object file: path of the source, of the object."""
    for top in FOLDERS:
        for folder, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                if name.endswith(".c"):
                    source = os.path.join(folder, name)
                    made = os.path.join(build, source.replace(".bpf.c", ".c")[:-2] + ".o")
                    if not os.path.exists(made):
                        sys.exit(f"{made} is missing: run make first")
                    yield source, made


def sections(image):
    """The section headers of a 64-bit little-endian ELF file: type, flags, offset, size, link, info, size of an entry."""
    (offset,), (size, count) = struct.unpack_from("<Q", image, 40), struct.unpack_from("<HH", image, 58)
    for i in range(count):
        _, kind, flags, _, at, length, link, info, _, entry = struct.unpack_from("<IIQQQQIIQQ", image, offset + i * size)
        yield kind, flags, at, length, link, info, entry


def symbols(path):
    """The global symbols that the object file defines, and those of others that its code uses."""
    with open(path, "rb") as f:
        image = f.read()
    headers = list(sections(image))
    _, _, at, length, strings, _, entry = next(h for h in headers if h[0] == SHT_SYMTAB)
    names, defined = [], set()  # names: of each symbol that is global, else None
    for offset in range(at, at + length, entry):
        name, info, _, section = struct.unpack_from("<IBBH", image, offset)
        start = headers[strings][2] + name
        text = image[start:image.index(b"\0", start)].decode()
        names.append(text if info >> 4 != STB_LOCAL else None)
        if names[-1] and section:
            defined.add(text)
    used = set()
    for kind, _, at, length, _, of, entry in headers:
        if kind in (SHT_REL, SHT_RELA) and headers[of][1] & SHF_EXECINSTR:
            used |= {names[struct.unpack_from("<Q", image, offset + 8)[0] >> 32] for offset in range(at, at + length, entry)}
    return defined, used - defined - {None}


def graph(build):
    """By source: the other sources that its code calls or reads, each with the symbols."""
    edges, needed, places = {}, {}, collections.defaultdict(set)
    for source, made in objects(build):
        defined, needed[source] = symbols(made)
        for name in defined:
            places[name].add(source)
    for source, names in needed.items():
        edges[source] = collections.defaultdict(set)
        for name in names:
            if len(places[name]) == 1:  # one that two programs have, such as main, leads nowhere
                edges[source][min(places[name])].add(name)
    return edges


def strong_groups(edges):
    """The strongly connected groups of two or more, by Tarjan's algorithm without recursion."""
    index, low, stack, on_stack, groups = {}, {}, [], set(), []
    for root in sorted(edges):
        if root in index:
            continue
        work = [(root, iter(sorted(edges[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            nxt = next((n for n in rest if n not in index or n in on_stack), None)
            if nxt is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    group, stack[at:] = stack[at:], []
                    on_stack -= set(group)
                    if len(group) > 1:
                        groups.append(sorted(group))
            elif nxt in index:
                low[node] = min(low[node], index[nxt])
            else:
                index[nxt] = low[nxt] = len(index)
                stack.append(nxt)
                on_stack.add(nxt)
                work.append((nxt, iter(sorted(edges[nxt]))))
    return sorted(groups, key=lambda group: (-len(group), group))


def print_group(group, edges, with_edges):
    print(f"{len(group)} files in a circle: {' '.join(group)}")
    for source in group if with_edges else ():
        for other in group:
            if other != source and edges[source][other]:
                print(f"\t{source} needs of {other}: {' '.join(sorted(edges[source][other]))}")


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--edges", action="store_true")
    args = parser.parse_args()
    edges = graph(os.environ.get("BUILD", "build"))
    groups = strong_groups(edges)
    for group in groups:
        print_group(group, edges, args.edges)
    if args.list:
        print(f"{len(groups)} groups, {sum(map(len, groups))} files of {len(edges)}")
    sys.exit(1 if groups and not args.list else 0)


if __name__ == "__main__":
    main()
