#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints the software bill of materials of bpfmon, as CycloneDX JSON: its programs, the libraries that each is linked with,
and what is a part of it. Versions are those of this machine, which built the release.

Usage: tools/gen-sbom.py >bpfmon.cdx.json     SOURCE_DATE_EPOCH is the time of the document
"""

import datetime
import json
import os
import pathlib
import re
import subprocess
import uuid

TOP = pathlib.Path(__file__).resolve().parents[1]
UPLOT = "uplot"  # in the pages of a report
# name: licence, name for pkg-config, what it is linked with in turn
LIBRARIES = {
    "curl": ("curl", "libcurl", ()),
    "glibc": ("LGPL-2.1-or-later", "", ()),
    "inih": ("BSD-3-Clause", "inih", ()),
    "jansson": ("MIT", "jansson", ()),
    "libbpf": ("LGPL-2.1-only OR BSD-2-Clause", "libbpf", ("libelf", "zlib")),
    "libelf": ("GPL-2.0-or-later OR LGPL-3.0-or-later", "libelf", ("zlib",)),
    "libmicrohttpd": ("LGPL-2.1-or-later", "libmicrohttpd", ()),
    "libxcrypt": ("LGPL-2.1-or-later", "libcrypt", ()),
    "ncurses": ("X11-distribute-modifications-variant", "ncursesw", ()),
    "sqlite": ("blessing", "sqlite3", ()),
    "zlib": ("Zlib", "zlib", ()),
}
# what each is linked with, beside glibc
PROGRAMS = {
    "bpfmon": ("inih", "jansson", "libbpf", "sqlite", UPLOT),
    "bpfmon-exporter": ("inih", "jansson", "libmicrohttpd", "libxcrypt"),
    "bpfmon-push": ("curl", "inih", "jansson", "zlib"),
    "bpfmon-top": ("jansson", "ncurses", "sqlite"),
    "bpfmon-web": ("inih", "jansson", "libmicrohttpd", "sqlite", "zlib", UPLOT),
    "libexec/bash": (),
}


def said(*argv):
    return subprocess.run(argv, cwd=TOP, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def licences(text):
    return [{"expression": text} if " " in text else {"license": {"id": text}}]


def library(name):
    licence, package, _ = LIBRARIES[name]
    version = said("pkg-config", "--modversion", package) if package else said("getconf", "GNU_LIBC_VERSION").split()[1]
    purl = f"pkg:generic/{name}@{version}"
    return {"type": "library", "bom-ref": name, "name": name, "version": version, "licenses": licences(licence), "purl": purl}


def uplot():
    (version,) = re.findall(r"uplot@([\d.]+)", (TOP / "third_party/uplot/README.md").read_text())
    purl = f"pkg:npm/uplot@{version}"
    return {"type": "library", "bom-ref": UPLOT, "name": UPLOT, "version": version, "licenses": licences("MIT"), "purl": purl}


def dependencies():
    yield {"ref": "bpfmon-source", "dependsOn": sorted(PROGRAMS)}
    for name, uses in PROGRAMS.items():
        yield {"ref": name, "dependsOn": sorted({*uses, "glibc"})}
    for name, (_, _, uses) in LIBRARIES.items():
        yield {"ref": name, "dependsOn": sorted({*uses, "glibc"} - {name})}


def main():
    version = said("tools/version.sh")
    when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), datetime.timezone.utc)
    own = {"version": version, "licenses": licences("BSD-2-Clause AND (GPL-2.0-only OR BSD-2-Clause) AND GPL-2.0-only")}
    components = [{"type": "application", "bom-ref": name, "name": name, **own} for name in PROGRAMS]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'bpfmon {version} {when.isoformat()}')}",
        "version": 1,
        "metadata": {
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "bom-ref": "bpfmon-source", "name": "bpfmon", **own},
        },
        "components": [*components, *map(library, LIBRARIES), uplot()],
        "dependencies": list(dependencies()),
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
