# SPDX-License-Identifier: BSD-2-Clause
"""A newcomer's path: README alone, as an ordinary user, from a clone to a page that opens in a browser.

The clone gets the objects of this build, so that its make has nothing to compile; all else is as README says.
"""

import html.parser
import re
import shutil
import subprocess

from lib.bpfmon import BPFMON, BUILD, TOP, said_by
from lib.documents import documented_commands
from lib.newcomer import NewcomerCase


class Page(html.parser.HTMLParser):
    """The title and the elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.title, self.tags, self.inside = "", [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.inside = tag

    def handle_data(self, data):
        self.title += data if self.inside == "title" else ""
        self.inside = None


def command_of_readme(beginning):
    """The one command of README that begins so."""
    (found,) = {command for document, command in documented_commands() if document == "README.md" and command.startswith(beginning)}
    return found


class Newcomer(NewcomerCase):
    def setUp(self):
        super().setUp()
        self.clone = self.home / "bpfmon"
        argv = ["git", "-c", "safe.directory=*", "-C", TOP, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(argv, stdout=subprocess.PIPE, check=True, text=True).stdout.split("\0")
        for name in filter(None, names):
            if (TOP / name).exists():  # or is removed, and not committed yet
                (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(TOP / name, self.clone / name, follow_symlinks=False)
        (self.clone / "VERSION").write_text(said_by(BPFMON, "--version").split()[1])  # without git it would be another
        for part in ("user", "bpf", "libexec", "page", "web"):
            shutil.copytree(BUILD / part, self.clone / "build" / part)
        for path in BUILD.glob("bpfmon*"):
            shutil.copy2(path, self.clone / "build")
        for name in ("libbpfmon.a", "version.h"):
            shutil.copy2(BUILD / name, self.clone / "build")
        (self.clone / "align.sh").write_text("#!/bin/sh\nseq 200000 | sort -R | tail -1\n")
        (self.clone / "align.sh").chmod(0o755)
        self.give(self.home)

    def type_well(self, command):
        done = self.type(command, self.clone)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
        return done.stdout

    def open_in_browser(self, page):
        """The document as the browser has made it, or the file itself where there is none."""
        browser = shutil.which("chromium")
        if not browser:
            return page.read_text()
        options = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --virtual-time-budget=3000 --dump-dom"
        return self.type_well(f"{browser} {options} file://{page} 2>/dev/null")

    def test_from_a_clone_to_a_page_in_the_browser(self):
        command = command_of_readme("make run")
        said = self.type_well(f"sudo {command}")
        self.assertIn("complete: nothing was lost", said)
        self.assertNotIn("  CC  ", said, "the objects of this build were not taken")
        self.assertTrue(said.endswith("\nmeasured by BPF\n"), said)
        said = self.type_well(command)  # what root has built is there
        self.assertIn("\nmeasured from /proc, without BPF", said)
        self.type_well(f"sudo make -s install PREFIX={self.dir} SYSCONFDIR={self.dir}/etc")  # README: PREFIX=
        said = self.type_well(command_of_readme("sudo bpfmon --user --name align"))
        number = re.search(r"bpfmon show (\d+)", said)[1]
        listed = self.type_well(command_of_readme("bpfmon list --name align"))
        self.assertRegex(listed, rf"(?m)^ *{number} .* align +\./align\.sh")
        self.assertIn("./align.sh", self.type_well(f"bpfmon show {number}"))
        self.type_well(command_of_readme("bpfmon report align"))
        (path,) = self.clone.glob("*.html")
        self.assertNotEqual(path.stat().st_uid, 0)
        page = Page(self.open_in_browser(path))
        self.assertIn("bpfmon", page.title)
        if shutil.which("chromium"):
            self.assertIn("align", page.title)
            self.assertIn("canvas", page.tags)  # the charts were drawn
