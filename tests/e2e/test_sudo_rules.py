# SPDX-License-Identifier: BSD-2-Clause
"""The rules that docs/sudoers ships let a user run its own commands, and give it nothing of root's."""

import os
import pathlib
import re
import subprocess

from lib.bpfmon import BPFMON, TOP, Case

SAMPLED = True
NOBODY = 65534
SHIPPED = TOP / "docs" / "sudoers"
ESCAPES = {
    "a command as root": ["--", "id", "-u"],
    "no option at all": ["id", "-u"],
    "another user": ["--user=root", "--", "id", "-u"],
    "two users": ["--user", "--user=root", "--", "id", "-u"],
    "two users, the other way": ["--user=root", "--user", "--", "id", "-u"],
    "root's rights for files": ["--user", "--record-as", "root", "-o", "FILE", "--", "true"],
    "the same in one word": ["--user", "--record-as=root", "-oFILE", "--", "true"],
    "a file before the user": ["-o", "FILE", "--user", "--", "true"],
    "a file of root's": ["--user", "--force", "-o", "FILE", "--", "true"],
    "a store of root's": ["--user", "--store", "FILE", "--", "true"],
    "words in one": ["--user -- id -u"],
    "the rule's words behind root's": ["-q", "--", "id", "-u", "--user", "--", "x"],
    "a line of its own": ["--", "id\n--user -- x"],
    "another line first": ["--user=root\n--user -- x", "--", "id", "-u"],
    "an attachment": ["attach", "--pid", "1", "--duration", "0.1"],
    "an attachment after the user": ["--user", "attach", "--pid", "1", "--duration", "0.1"],
    "a report": ["report", "/etc/shadow", "-o", "FILE"],
    "an export": ["export", "/etc/shadow", "-f", "json", "-o", "FILE"],
    "a port of root's": ["--user", "--metrics-udp", "53", "--", "sh", "-c", "id -u"],
}
VARIABLES = ["BPFMON_USER=root", "BPFMON_RECORD_AS=root", "BPFMON_OUTPUT=FILE", "BPFMON_STORE=FILE", "BPFMON_FORCE=1"]


class Rules(Case):
    """What `nobody` gets, which is no member of a group that sudo knows."""

    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.file = self.dir / "roots"  # where only root can write

    def install(self, alias, more=""):
        text = SHIPPED.read_text().replace("/usr/local/bin/bpfmon", BPFMON)
        text = re.sub(r"^#? ?%bpfmon .*\n", "", text, flags=re.M)
        text += f"#{NOBODY} ALL = (root) NOPASSWD: {alias}\n{more}"
        path = pathlib.Path(f"/etc/sudoers.d/bpfmon-test-{os.getpid()}")
        self.addCleanup(path.unlink, missing_ok=True)
        path.touch(mode=0o440)
        path.write_text(text)
        subprocess.run(["visudo", "-c", "-q", "-f", path], check=True)

    def sudo(self, *words, variables=()):
        known = {k: v for k, v in os.environ.items() if not k.startswith("BPFMON_")}
        return subprocess.run(
            ["sudo", "-n", BPFMON, *(word.replace("FILE", str(self.file)) for word in words)],
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd="/",
            env=known | dict(v.replace("FILE", str(self.file)).split("=") for v in variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def check_escapes(self, are_options_taken):
        for name, words in ESCAPES.items():
            with self.subTest(name):
                done = self.sudo(*words)
                self.assertNotIn("0", done.stdout.split(), (words, done))
                self.assertFalse(self.file.exists(), (words, done))
                self.assertNotIn("root:", done.stdout + done.stderr)
                if not are_options_taken:
                    self.assertNotEqual(done.returncode, 0, (words, done))

    def check_the_command_is_the_users(self, *options):
        done = self.sudo("--user", *options, "--", "sh", "-c", "id -u; exit 7")
        self.assertEqual((done.returncode, done.stdout), (7, f"{NOBODY}\n"), done.stderr)

    def test_the_shipped_file_is_valid_and_gives_only_the_strict_rule(self):
        subprocess.run(["visudo", "-c", "-q", "-f", SHIPPED], check=True)
        given = re.findall(r"^%bpfmon .*: (\w+)$", SHIPPED.read_text(), re.M)
        self.assertEqual(given, ["BPFMON_USER"])

    def test_the_strict_rule(self):
        self.install("BPFMON_USER")
        self.check_the_command_is_the_users()
        self.check_escapes(False)

    def test_the_rule_with_options(self):
        self.install("BPFMON_USER_OPTIONS")
        self.check_the_command_is_the_users("-q", "--no-store")
        self.check_escapes(True)

    def test_variables_that_a_policy_lets_through_choose_nothing(self):
        self.install("BPFMON_USER", f'Defaults:#{NOBODY} env_keep += "BPFMON_*"\n')
        done = self.sudo("--user", "--", "id", "-u", variables=VARIABLES)
        self.assertEqual(done.stdout, f"{NOBODY}\n", done.stderr)
        self.assertFalse(self.file.exists())
        self.assertEqual(done.stderr.count(" under sudo, because"), len(VARIABLES), done.stderr)

    def test_a_rule_without_user_is_one_for_root_and_its_variables_still_choose_nothing(self):
        self.install(BPFMON, f'Defaults:#{NOBODY} env_keep += "BPFMON_*"\n')
        done = self.sudo("-q", "--", "id", "-u", variables=VARIABLES)
        self.assertEqual(done.stdout, "0\n", done.stderr)  # docs/SECURITY.md says so
        self.assertFalse(self.file.exists())
