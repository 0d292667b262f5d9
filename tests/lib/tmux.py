# SPDX-License-Identifier: BSD-2-Clause
"""A terminal whose screen can be looked at: tmux, with a server of the test's own."""

import os
import shutil
import subprocess

from lib.live import wait_for


class Tmux:
    """A shell in a terminal of that size. Text is waited for on the screen, and never for a time."""

    def __init__(self, case, width=120, height=30, env=None):
        if not shutil.which("tmux"):
            case.skipTest("needs tmux: tools/install-deps.sh shells")
        self.socket = str(case.dir / "tmux")
        names = {"PS1": "$ ", "LC_ALL": "C.UTF-8", **(env or {})}
        settings = [f"{name}={value}" for name, value in names.items()]
        inherited = {name: value for name, value in os.environ.items() if name not in ("TMUX", "NO_COLOR", "ENV")}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "env", *settings, "sh", env=inherited)
        case.addCleanup(self.tmux, "kill-server", check=False)
        self.expect("$")

    def tmux(self, *words, check=True, **kwargs):
        kwargs = {"capture_output": True, "text": True, "timeout": 60, **kwargs}
        return subprocess.run(["tmux", "-u", "-S", self.socket, *words], check=check, **kwargs).stdout

    def screen(self, *options):
        """What is on the screen; with -e, its colours too."""
        return self.tmux("capture-pane", "-p", *options)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def press(self, *keys):
        """Keys by their names: Left, Enter, q."""
        self.tmux("send-keys", *keys)

    def run(self, command):
        self.type(command)
        self.press("Enter")

    def resize(self, width, height):
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def expect(self, *texts, without=()):
        """Waits until all of these are on the screen and none of those; returns the screen."""

        def is_there():
            screen = self.screen()
            return screen if all(t in screen for t in texts) and not any(t in screen for t in without) else None

        try:
            return wait_for(is_there, f"{texts} on the screen, without {without}")
        except AssertionError as e:
            raise AssertionError(f"{e}; it has:\n{self.screen()}") from None
