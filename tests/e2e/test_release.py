# SPDX-License-Identifier: BSD-2-Clause
"""What a release consists of: version, tarballs, SBOM, RPM packages; built from a repository with a tag of its own."""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
import unittest

from lib.bpfmon import BPFMON, BUILD, TOP, said_by
from lib.installed import files_below, make
from lib.permitted import ROOT, needs

SAMPLED = True
NEEDS = ()
RELEASE = said_by(TOP / "tools" / "version.sh", "--release")
WHEN = 1_700_000_000  # of the commit
GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
GIT |= {f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in (("NAME", "n"), ("EMAIL", "e"), ("DATE", f"{WHEN} +0000"))}
PROGRAMS = ("bpfmon", "bpfmon-exporter", "bpfmon-push", "bpfmon-top", "bpfmon-web")
GIVEN = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
# a root that has a shell, and stubs that record what scripts of packages call
STUB = '#!/bin/sh\necho "${0##*/} $*" >>/calls\n'
CALLED = ("systemctl", "systemd-sysusers", "systemd-tmpfiles")


def git(folder, *words):
    argv = ["git", "-C", str(folder), *map(str, words)]
    return subprocess.run(argv, env={**os.environ, **GIT}, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


@functools.cache
def repository():
    """A repository of the files of this one, with the tag of the release."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-release-"))
    unittest.addModuleCleanup(shutil.rmtree, folder)
    names = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", TOP, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], stdout=subprocess.PIPE, check=True, text=True
    ).stdout.split("\0")
    for name in filter(None, names):
        if (TOP / name).exists():  # or is removed, and not committed yet
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, folder / name, follow_symlinks=False)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "release")
    git(folder, "tag", f"v{RELEASE}")
    return folder


def dist(folder, *words, umask=0o022):
    """What tools/make-dist.sh writes of that repository: the paths."""
    argv = [folder / "tools" / "make-dist.sh", folder / "dist", *words]
    done = subprocess.run(argv, env=GIVEN, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, umask=umask, check=False)
    if done.returncode:
        raise AssertionError(done.stdout)
    return [pathlib.Path(line) for line in done.stdout.splitlines() if line.endswith(".tar.gz")]


@functools.cache
def source_tarball():
    (path,) = dist(repository())
    return path


class ReleaseCase(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="bpfmon-release-")))


class Version(ReleaseCase):
    def version(self, *words):
        return said_by(self.dir / "tools" / "version.sh", *words)

    def test_it_is_that_of_the_tag_and_names_what_came_after(self):
        (self.dir / "tools").mkdir()
        shutil.copy2(TOP / "tools" / "version.sh", self.dir / "tools")
        news = self.dir / "NEWS.md"
        news.write_text("# News\n\n## 0.3.0\n\nText.\n\n## 0.2.0\n")
        self.assertEqual(self.version(), "0.3.0", "without git")
        git(self.dir, "init", "-q")
        git(self.dir, "add", "-A")
        git(self.dir, "commit", "-qm", "one")
        commit = git(self.dir, "rev-parse", "--short=9", "HEAD")
        self.assertEqual(self.version(), f"0.3.0+g{commit}", "without a tag")
        git(self.dir, "tag", "v0.2.0")
        git(self.dir, "tag", "other-9.9")
        self.assertEqual(self.version(), "0.2.0")
        news.write_text("# News\n\n## 0.4.0\n")
        self.assertEqual((self.version(), self.version("--release")), ("0.2.0+dirty", "0.4.0"))
        git(self.dir, "commit", "-qam", "two")
        commit = git(self.dir, "rev-parse", "--short=9", "HEAD")
        self.assertEqual(self.version(), f"0.2.0+1.g{commit}")
        news.write_text("# News\n")
        self.assertEqual(self.version(), f"0.2.0+1.g{commit}.dirty")
        (self.dir / "VERSION").write_text("1.2.3\n")
        self.assertEqual(self.version(), "1.2.3", "in a tarball")

    def test_the_python_package_in_the_repository_has_the_release(self):
        text = (TOP / "tools/python/bpfmon/__init__.py").read_text()
        self.assertEqual(re.findall(r'^__version__ = "(.*)"', text, re.M), [RELEASE])

    def test_each_program_shows_it(self):
        version = said_by(BPFMON, "--version").split()[1]
        self.assertIn(RELEASE.split(".")[0], version)
        for name in PROGRAMS:
            self.assertEqual(said_by(BUILD / name, "--version"), f"{name} {version}")


class Tarball(ReleaseCase):
    def test_two_folders_at_different_times_write_the_same_bytes(self):
        other = self.dir / "another folder"
        git(self.dir, "clone", "-q", repository(), str(other))
        for path in other.rglob("*.[ch]"):
            os.utime(path, (WHEN - 9, WHEN - 9))
        (path,) = dist(other, umask=0o077)
        self.assertEqual(path.name, f"bpfmon-{RELEASE}.tar.gz")
        self.assertTrue(path.read_bytes() == source_tarball().read_bytes())

    def test_it_has_the_files_of_the_commit_and_what_was_made(self):
        (repository() / "uncommitted").write_text("")
        self.addCleanup((repository() / "uncommitted").unlink)
        with tarfile.open(source_tarball()) as tar:
            members = {member.name.partition("/")[2]: member for member in tar.getmembers() if not member.isdir()}
            of_git = set(git(repository(), "ls-files").splitlines())
            made = {"VERSION", "bpfmon.cdx.json", "skeleton/x86/bpfmon.skel.h", "skeleton/arm64/bpfmon.skel.h"}
            self.assertEqual(set(members), of_git | made)
            self.assertEqual({(m.uid, m.gid, m.mtime, m.mode & 0o022) for m in members.values()}, {(0, 0, WHEN, 0)})
            top = f"bpfmon-{RELEASE}"
            read = lambda name: tar.extractfile(f"{top}/{name}").read().decode()
            self.assertEqual(read("VERSION"), f"{RELEASE}\n")
            self.assertIn(f"\nVersion:        {RELEASE}\n", read("packaging/rpm/bpfmon.spec"))
            arch = {"x86_64": "x86", "aarch64": "arm64"}[os.uname().machine]
            self.assertTrue(read(f"skeleton/{arch}/bpfmon.skel.h") == (BUILD / "bpfmon.skel.h").read_text(), "this build has other programs of the kernel")

    def test_a_changed_program_of_the_kernel_is_compiled_again(self):
        with tarfile.open(source_tarball()) as tar:
            tar.extractall(self.dir, filter="tar")
        (top,) = self.dir.iterdir()
        argv = ["make", "-n", "-C", top, "CLANG=clang", "build/bpfmon.skel.h"]
        said = lambda: subprocess.run(argv, env=GIVEN, stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertNotIn("clang", said())
        changed = top / "bpf" / "exits.bpf.c"
        os.utime(changed, (time.time(), time.time()))
        self.assertIn("clang", said())

    def test_a_tag_that_news_does_not_have_is_refused(self):
        clone = self.dir / "clone"
        git(self.dir, "clone", "-q", "--no-tags", repository(), str(clone))
        git(clone, "tag", "v77.0.0")
        with self.assertRaisesRegex(AssertionError, "the tag is v77.0.0, but NEWS.md begins with"):
            dist(clone)

    @needs(ROOT)
    def test_the_static_one_needs_nothing_of_the_machine(self):
        _, path = dist(repository(), "static")
        with tarfile.open(path) as tar:
            tar.extractall(self.dir, filter="tar")
        (top,) = self.dir.iterdir()
        self.assertEqual(said_by("chroot", top, "/bin/bpfmon", "--version"), f"bpfmon {RELEASE}")
        beside = files_below(top / "libexec")
        self.assertIn("bpfmon/bash", beside)
        self.assertFalse([name for name in beside if "/bpfmon-" in name], "the other programs need shared libraries")
        argv = [top / "bin" / "bpfmon", "-q", "--no-store", "-o", self.dir / "run.jsonl", "--", "true"]
        self.assertEqual(subprocess.run(argv, check=False).returncode, 0)
        pages = files_below(top / "share" / "man")
        self.assertIn("man1/bpfmon-show.1", pages)
        self.assertNotIn("man1/bpfmon-top.1", pages)


class Sbom(unittest.TestCase):
    """The list beside what readelf says of this build."""

    OF = {"libc": "glibc", "libm": "glibc", "ld-linux-x86-64": "glibc", "ld-linux-aarch64": "glibc", "libcrypt": "libxcrypt", "libz": "zlib", "libsqlite3": "sqlite"}
    OF |= {"libncursesw": "ncurses", "libtinfo": "ncurses", "libcurl": "curl", "libinih": "inih", "libjansson": "jansson"}
    INSIDE = {"uplot"}  # of the program itself

    def setUp(self):
        self.document = json.loads(said_by(TOP / "tools" / "gen-sbom.py"))
        self.uses = {row["ref"]: set(row["dependsOn"]) for row in self.document["dependencies"]}
        self.components = {row["bom-ref"]: row for row in self.document["components"]}

    def libraries(self, path):
        """The components that a program or library is linked with."""
        names = re.findall(r"\(NEEDED\).*\[(.*?)\.so", said_by("readelf", "-d", path))
        return {self.OF.get(name, name) for name in names}

    def test_programs_and_libraries_are_linked_with_what_it_names(self):
        self.assertEqual(set(self.components), set(self.uses) - {"bpfmon-source"} | self.INSIDE)
        for name in [*PROGRAMS, "libexec/bash"]:
            linked = self.libraries(BUILD / name)
            self.assertEqual(self.uses[name] - self.INSIDE, linked or {"glibc"}, name)
        self.assertEqual(self.uses["bpfmon-source"], {*PROGRAMS, "libexec/bash"})

    def test_libraries_have_the_versions_of_their_packages_and_what_they_need(self):
        found = {}
        for name in PROGRAMS:
            for library, path in re.findall(r"(\S+?)\.so\S* => (/\S+)", said_by("ldd", BUILD / name)):
                found[self.OF.get(library, library)] = path
        own = {name for name, row in self.components.items() if row["type"] == "library"} - self.INSIDE
        self.assertLessEqual(own, set(found))
        for name in own:
            path = os.path.realpath(found[name])
            package = said_by("dpkg", "-S", f"*{pathlib.Path(path).name}").split(":")[0]
            version = re.sub(r"^\d+:|[-.+](dfsg.*|\d+(\+.*)?)$", "", said_by("dpkg-query", "-W", "-f", "${Version}", f"{package}:{said_by('dpkg', '--print-architecture')}"))
            self.assertTrue(self.components[name]["version"].startswith(version.partition("-")[0]), (name, version))
        self.assertEqual(self.libraries(os.path.realpath(found["libbpf"])), self.uses["libbpf"])


@needs(ROOT)
class Rpm(ReleaseCase):
    """From the tarball alone, without clang and bpftool."""

    def build(self):
        topdir = self.dir / "rpm"
        argv = ["rpmbuild", "-tb", "--quiet", "--nodeps", "--define", f"_topdir {topdir}", str(source_tarball())]
        done = subprocess.run(argv, env={**GIVEN, "CLANG": "/bin/false", "BPFTOOL": "/bin/false"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        return sorted(topdir.glob("RPMS/*/*.rpm"))

    def make_root(self):
        """A root with a shell, and stubs that write down what scripts call."""
        root = self.dir / "root"
        for name in ("sh", "rm"):
            program = shutil.which(name)
            for path in [program, *re.findall(r"(/lib\S*|/usr/lib\S*) \(", said_by("ldd", program))]:
                to = root / "usr" / path.removeprefix("/usr/").removeprefix("/")
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, to)
        for name in ("bin", "lib", "lib64"):
            if (root / "usr" / name).exists():
                (root / name).symlink_to(f"usr/{name}")
        (root / "dev").mkdir()
        (root / "dev" / "null").touch()
        for name in CALLED:
            (root / "usr/bin" / name).write_text(STUB)
            (root / "usr/bin" / name).chmod(0o755)
        return root

    def rpm(self, *words):
        return said_by("rpm", "--root", self.root, "--dbpath", "/var/lib/rpm", *map(str, words), stderr=subprocess.DEVNULL)

    def test_packages_have_what_make_install_installs(self):
        packages = self.build()
        self.assertEqual([re.sub(r"-\d.*", "", path.name) for path in packages], ["python3-bpfmon", "bpfmon-jobs", "bpfmon-jobs-exporter", "bpfmon-jobs-push"])
        lint = subprocess.run(["rpmlint", "-r", TOP / "packaging/rpm/bpfmon.rpmlintrc", *packages, TOP / "packaging/rpm/bpfmon.spec"], stdout=subprocess.PIPE, text=True, check=False)
        self.assertIn(" 0 errors, 0 warnings", lint.stdout)
        self.root = self.make_root()
        before = files_below(self.root)
        self.rpm("--nodeps", "-i", *packages)
        installed = {name.removesuffix(".gz") for name in files_below(self.root) - before if not name.startswith("var/lib/rpm/")}
        made = self.dir / "made"
        make("install", DESTDIR=made, PREFIX="/usr", SYSCONFDIR="/etc")
        module = {name for name in installed if "/site-packages/" in name}
        self.assertEqual(installed - module - {"calls"}, files_below(made))
        self.assertEqual(len([name for name in module if name.endswith(".py")]), len(list((TOP / "tools/python/bpfmon").glob("*.py"))))
        calls = (self.root / "calls").read_text().splitlines()
        self.assertIn("systemctl daemon-reload", calls)
        self.assertLess(calls.index("systemd-sysusers bpfmon.conf"), calls.index("systemd-tmpfiles --create bpfmon.conf"))
        self.assertFalse([call for call in calls if "enable" in call or "start" in call], "an installation starts nothing")
        for name in PROGRAMS:
            program = self.root / "usr" / ("bin" if name == "bpfmon" else "libexec/bpfmon") / name
            self.assertEqual(said_by(program, "--version"), f"{name} {RELEASE}")

        (self.root / "usr/libexec/bpfmon/bpfmon").write_text("the copy of install-caps")
        (self.root / "calls").write_text("")
        self.rpm("-e", *self.rpm("-qa").split())
        left = {name for name in files_below(self.root) - before if not name.startswith("var/lib/rpm/")}
        self.assertEqual(left, {"calls"})
        calls = (self.root / "calls").read_text()
        for unit in ("bpfmon-agent.socket bpfmon-agent.service", "bpfmon-exporter.service", "bpfmon-push.service"):
            self.assertIn(f"systemctl --no-reload disable --now {unit}\n", calls)
        self.assertNotIn("try-restart", calls)
