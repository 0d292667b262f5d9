# SPDX-License-Identifier: BSD-2-Clause
"""The Debian packages that `make deb` builds. They are kept in a cache by the content of their sources."""

import hashlib
import os
import pathlib
import shutil
import subprocess

from lib.bpfmon import BUILD, TOP
from lib.installed import make

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "bpfmon" / "deb"
NAMES = ("bpfmon-jobs", "bpfmon-jobs-exporter", "bpfmon-jobs-push", "python3-bpfmon")


def sources_key():
    """A hash of all files of the tree but tests."""
    listed = subprocess.run(["git", "ls-files", "-zco", "--exclude-standard", "--", ":!tests"], cwd=TOP, stdout=subprocess.PIPE, check=True)
    key = hashlib.sha256()
    for name in sorted(listed.stdout.split(b"\0")):
        path = TOP / os.fsdecode(name)
        if path.is_file():
            key.update(name + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return key.hexdigest()[:16]


def build():
    """The folder of the packages, and of what lintian has found in them, in the file "lintian"."""
    folder = CACHE / sources_key()
    if not folder.exists():
        make("deb")
        lintian = ["lintian", "--allow-root", "--fail-on", "error,warning", *map(str, (BUILD / "deb").glob("*.changes"))]
        said = subprocess.run(lintian, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        (BUILD / "deb" / "lintian").write_text(said.stdout)
        shutil.rmtree(CACHE, ignore_errors=True)
        shutil.copytree(BUILD / "deb", CACHE / "new").rename(folder)
    return folder


def packages(folder):
    """The packages for users in it, by name: none with symbols for debuggers."""
    return {name: next(folder.glob(f"{name}_*.deb")) for name in NAMES}


def raise_version(package, to):
    """Writes the same package of a higher version into a folder. Its program has a byte more, but works as before."""
    tree = to / "tree"
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = tree / "DEBIAN" / "control"
    version = subprocess.run(["dpkg-deb", "-f", package, "Version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    control.write_text(control.read_text().replace(f": {version}\n", f": {version}+1\n").replace(f"(= {version})", f"(= {version}+1)"))
    for program in tree.glob("usr/bin/bpfmon"):
        with open(program, "ab") as file:
            file.write(b"\0")
    subprocess.run(["dpkg-deb", "-b", "-Znone", tree, to], stdout=subprocess.DEVNULL, check=True)
    shutil.rmtree(tree)
