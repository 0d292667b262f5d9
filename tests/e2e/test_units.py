# SPDX-License-Identifier: BSD-2-Clause
"""The units of systemd, as they are installed: systemd finds nothing wrong, and little that they could harm."""

import pathlib
import re
import shutil
import stat
import subprocess

from lib.bpfmon import TOP, Case
from lib.installed import UNITS, files_below, make
from lib.permitted import ROOT, needs

SAMPLED = True
NEEDS = ()
MOST_EXPOSURE = {"bpfmon-agent.service": 3.0, "bpfmon-exporter.service": 2.0, "bpfmon-push.service": 2.0}
# the macros of user/lib/base/seccomp.def that stand for the role of a unit's program
ROLES = {
    "bpfmon-agent.service": r"SECCOMP_AGENT|\b(ALL|ROLES|BOOKS|TRACK)\b",
    "bpfmon-exporter.service": r"EXPORTER|\bALL\b",
    "bpfmon-push.service": r"PUSH|EXPORTER|\bALL\b",
}
CONFIG = "etc/bpfmon/agent.conf"


def expanded(sets, names):
    """The system calls of a list of calls and of sets of systemd, which may be in each other."""
    found = set()
    for name in names:
        found |= expanded(sets, sets[name]) if name.startswith("@") else {name}
    return found


def calls_allowed(sets, unit):
    """What the SystemCallFilter= of a unit's text leaves."""
    allowed = expanded(sets, ["@default"])
    for tilde, words in re.findall(r"^SystemCallFilter=(~?)(.*)$", unit, re.M):
        calls = expanded(sets, words.split())
        allowed = allowed - calls if tilde else allowed | calls
    return allowed


class Units(Case):
    """An installation whose programs are where its units look for them."""

    @classmethod
    def analyze(cls, *argv):
        done = subprocess.run(["systemd-analyze", *argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def setUp(self):
        super().setUp()
        if not shutil.which("systemd-analyze"):
            self.skipTest("needs systemd-analyze: tools/install-deps.sh systemd")
        make("install", PREFIX=self.dir, SYSCONFDIR=self.dir / "etc")
        self.units = self.dir / "lib" / "systemd" / "system"

    def test_systemd_finds_nothing_wrong_with_the_units(self):
        self.assertEqual({path.name for path in self.units.iterdir()}, set(UNITS))
        for unit in UNITS:
            self.assertEqual(self.analyze("verify", "--man=no", str(self.units / unit)), (0, ""), unit)

    def test_systemd_rates_the_services_as_little_exposed(self):
        if int(re.match(r"systemd (\d+)", self.analyze("--version")[1])[1]) < 250:
            self.skipTest("needs systemd 250 or later, which rates units that are not loaded")
        for unit, most in MOST_EXPOSURE.items():
            code, said = self.analyze("security", "--offline=yes", "--no-pager", f"--threshold={most * 10:.0f}", str(self.units / unit))
            exposure = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said)
            self.assertIsNotNone(exposure, said)
            self.assertLessEqual(float(exposure[1]), most, said)
            self.assertEqual(code, 0, said)

    def test_a_unit_allows_the_system_calls_that_its_program_allows_itself(self):
        sets, name = {}, None
        for line in self.analyze("syscall-filter", "--no-pager")[1].splitlines():
            if line.startswith("@"):
                name = line.split()[0]
                sets[name] = []
            elif line.startswith("    ") and name and not line.strip().startswith("#"):
                sets[name].append(line.strip())
        rows = re.findall(r"^CALL(?:_IF)?\((\w+), ([^,]*?)[,)]", (TOP / "user/lib/base/seccomp.def").read_text(), re.M)
        self.assertGreater(len(rows), 100)
        for unit, roles in ROLES.items():
            calls = {call for call, words in rows if re.search(roles, words)}
            self.assertEqual(calls - calls_allowed(sets, (self.units / unit).read_text()), set(), unit)

    def test_each_capability_is_in_the_table_of_rights(self):
        unit = (self.units / "bpfmon-agent.service").read_text()
        table = (TOP / "docs" / "NODE.md").read_text().partition("| the agent has | for |")[2].partition("\n\n")[0]
        given = re.findall(r"^CapabilityBoundingSet=(.*)$", unit, re.M)
        self.assertEqual(sorted(" ".join(given).split()), sorted(re.findall(r"CAP_\w+", table)))

    @needs(ROOT)
    def test_users_and_folders_are_those_of_the_units(self):
        root = self.dir / "root"
        (root / "etc").mkdir(parents=True)
        for name in ("sysusers", "tmpfiles"):
            create = ["--create"] if name == "tmpfiles" else []
            files = sorted((self.dir / "lib" / f"{name}.d").iterdir())
            argv = [f"systemd-{name}", f"--root={root}", *create, *map(str, files)]
            done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            self.assertEqual((done.returncode, "rror" in done.stdout), (0, False), done.stdout)
        groups = dict(line.split(":")[::3] for line in (root / "etc" / "group").read_text().splitlines())
        self.assertEqual(set(groups["bpfmon-admin"].split(",")), {"bpfmon-exporter", "bpfmon-push"})
        users = {line.split(":")[0] for line in (root / "etc" / "passwd").read_text().splitlines()}
        self.assertLessEqual({"bpfmon", "bpfmon-exporter", "bpfmon-push"}, users)
        history = (root / "var/lib/bpfmon").stat()
        self.assertEqual(stat.S_IMODE(history.st_mode), 0o700)
        self.assertNotEqual(history.st_uid, 0)
        for folder in (self.dir / "etc" / "bpfmon", pathlib.Path("/run/bpfmon")):
            found = (root / str(folder).lstrip("/")).stat()
            self.assertEqual((stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid), (0o755, 0, 0), folder)


class Installation(Case):
    def test_what_is_installed_is_taken_away_but_the_configuration(self):
        make("install", DESTDIR=self.dir, PREFIX="/usr")
        make("uninstall", DESTDIR=self.dir, PREFIX="/usr")
        self.assertEqual(files_below(self.dir), {CONFIG})

    def test_a_configuration_that_is_there_stays(self):
        config = self.dir / CONFIG
        make("install", DESTDIR=self.dir, PREFIX="/usr")
        sample = config.read_text()
        self.assertEqual(sample.replace("\nadmin_group = bpfmon-admin\n", "\n#admin_group =\n"), (TOP / "docs" / "agent.conf").read_text())
        self.assertNotEqual(sample, (TOP / "docs" / "agent.conf").read_text())
        config.write_text("[agent]\ninterval = 2s\n")
        make("install", DESTDIR=self.dir, PREFIX="/usr")
        self.assertEqual(config.read_text(), "[agent]\ninterval = 2s\n")

    def test_the_paths_in_units_are_those_of_the_installation(self):
        make("install", DESTDIR=self.dir, PREFIX="/opt/bpfmon", SYSCONFDIR="/opt/etc")
        self.assertTrue((self.dir / "opt" / CONFIG).exists())
        for unit in UNITS:
            text = (self.dir / "opt/bpfmon/lib/systemd/system" / unit).read_text()
            self.assertNotRegex(text, "@[A-Z]+@")
            for line in re.findall(r"^Exec\w+=(/\S+)(.*)$", text, re.M):
                self.assertRegex(line[0], "^/opt/bpfmon/")
                self.assertRegex(line[1], "--config /opt/etc/bpfmon/agent.conf$")
