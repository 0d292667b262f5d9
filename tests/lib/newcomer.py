# SPDX-License-Identifier: BSD-2-Clause
"""An ordinary user, who may call sudo, with a folder and a PATH of its own."""

import fcntl
import os
import pathlib
import subprocess

from lib.bpfmon import Case

NOBODY = 65534
LOCK = pathlib.Path("/run/lock/bpfmon-test-sudo")  # the user has one PATH for sudo on the whole machine


class NewcomerCase(Case):
    """`nobody` may run anything by sudo, which looks in self.bin first; its home is self.home."""

    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.bin = self.dir / "bin"
        self.home = self.dir / "home"
        for folder in (self.bin, self.home):
            folder.mkdir()
        os.chown(self.home, NOBODY, NOBODY)
        self.path = f"{self.bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        self.allow_sudo()

    def allow_sudo(self):
        """nobody has no home in /etc/passwd, so sudo passes on where its files are."""
        lock = self.enterContext(LOCK.open("w"))
        fcntl.flock(lock, fcntl.LOCK_EX)
        rules = pathlib.Path(f"/etc/sudoers.d/bpfmon-test-{os.getpid()}")
        self.addCleanup(rules.unlink, missing_ok=True)
        rules.touch(mode=0o440)
        rules.write_text(
            f'Defaults:#{NOBODY} secure_path="{self.path}", env_keep += "XDG_STATE_HOME BPFMON_NO_CONFIG"\n'
            f"#{NOBODY} ALL = (ALL) NOPASSWD:SETENV: ALL\n"
        )
        subprocess.run(["visudo", "-c", "-q", "-f", rules], check=True)

    def type(self, command, folder, timeout=60):
        """Executes the line as nobody would; nothing in a pipe may fail unnoticed."""
        known = {key: value for key, value in os.environ.items() if not key.startswith(("BPFMON_", "MAKE", "SUDO_", "XDG_"))}
        env = {"HOME": str(self.home), "XDG_STATE_HOME": str(self.home / "state"), "PATH": self.path, "BPFMON_NO_CONFIG": "1"}
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd=folder,
            env={**known, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )

    def give(self, folder):
        """All of the folder becomes nobody's."""
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
