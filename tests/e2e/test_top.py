# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon top on a terminal: keys, sizes, the end of its source and its own, and how it leaves the terminal."""

import contextlib
import os
import pathlib
import re
import shlex
import signal
import subprocess

from lib.bpfmon import BPFMON, BUILD, TOP
from lib.live import descendants_of, wait_for
from lib.store import StoreCase
from lib.tmux import Tmux

SAMPLED = True
RECORDED = TOP / "tests/data/top/run.jsonl"
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|38;5;\d+|4[0-7]|48;5;\d+)(?:;[0-9;]*)?m")
WORK = 'for i in 1 2 3 4 5 6 7; do /bin/true; done; sleep 1000 & while [ -e "$0" ]; do sleep 0.05; done; kill $!'


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
            return f.read().strip()
    except OSError:
        return None


def parent_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


class TopCase(StoreCase):
    def start(self, *words, before="", env=None):
        """top in a terminal, with what was on its screen and its settings before."""
        self.terminal = Tmux(self, env={"BPFMON_STORE": self.store, **(env or {})})
        self.terminal.run(f"stty -g >{self.dir}/before; echo this was $((1 + 1)) before")
        self.terminal.expect("this was 2 before")
        self.terminal.run(f"{before}{BPFMON} top {shlex.join(map(str, words))}; echo status $?")

    def assert_restored(self, status):
        """The shell has its terminal back, with the screen and the settings it had."""
        self.terminal.expect("this was 2 before", f"status {status}", without=("q quit",))
        self.terminal.run(f"stty -g >{self.dir}/after; echo looked $((2 + 2)) times")
        self.terminal.expect("looked 4 times")
        self.assertEqual((self.dir / "after").read_text(), (self.dir / "before").read_text())

    def pid_of(self, name):
        """The process of that name in the terminal."""
        pane = int(self.terminal.tmux("display-message", "-p", "#{pane_pid}"))
        return wait_for(lambda: next((pid for pid in descendants_of(pane) if name_of(pid) == name), None), name)


class Replay(TopCase):
    def test_keys_go_through_a_run_that_has_ended_and_q_gives_the_terminal_back(self):
        self.start(RECORDED)
        t = self.terminal
        t.expect("at 2.00 s of 2.02 s", "align", "q quit")
        t.press("Left")
        t.expect("at 1.75 s of")
        t.press("[", "[", "[", "[", "[", "[")
        t.expect("at 251 ms of", "─sh -c while")
        t.type("/while")
        t.expect("/while_", "─sh -c while", without=("─sleep",))
        t.press("Enter", "Escape")
        t.expect("─sleep", "q quit")
        t.press("Down", "Space")
        t.expect("▸/bin/sh ./align.sh (+3) [11 ended]", without=("─sleep",))
        t.press("Space", "Down", "Enter")
        t.expect("what it has used", "started by", "with all below")
        t.press("Escape", "?")
        t.expect("fold or unfold a row")
        t.press("?", "c")
        t.expect("[x] +RSS")
        t.press("Escape")
        for _ in range(12):
            t.press("Right")
        t.expect("ended with 0 after 2.02 s")
        t.press("q")
        self.assert_restored(0)

    def test_sizes_change_at_any_time_and_leave_no_rubbish(self):
        self.start(RECORDED)
        t = self.terminal
        t.expect("q quit")
        for width, height in ((40, 10), (300, 100), (61, 13), (2, 2), (120, 30)):
            t.resize(width, height)
        screen = t.expect("at 2.00 s of 2.02 s", "< > sort")
        t.press("?")
        t.expect("this help")
        t.press("?")
        t.expect("at 2.00 s of 2.02 s", without=("this help",))
        self.assertEqual(t.screen(), screen)
        t.resize(40, 10)
        small = t.expect("q quit", "of 2.02 s", without=("< > sort",))
        self.assertTrue(all(len(line) <= 40 for line in small.splitlines()), small)
        self.assertIn("q quit", small.rstrip().splitlines()[-1])
        t.press("q")
        t.expect("status 0")

    def test_limit_that_ended_the_run_is_named_with_the_process_that_had_the_most(self):
        out = self.dir / "limited.jsonl"
        hold = "b = bytearray(b'x' * 60_000_000)\nimport time\nwhile True: time.sleep(1)\n"
        run = self.run_bpfmon(["python3", "-c", hold], ["-i", "0.05", "--limit", "rss<50MiB", "-o", out, "--no-store"])
        self.assertEqual(run.code, 124, run.stderr)
        pid = run.summary["limit"]["pid"]
        self.start(out)
        t = self.terminal
        t.expect("event", "ended by limit rss<50MiB: ", f", most of it in python3 ({pid}) at ")
        t.press("p")
        t.expect("ended by limit rss<50MiB after ", "q quit")
        t.press("q")
        t.expect("status 0")

    def test_colours_are_for_terminals_that_have_them_and_not_for_NO_COLOR(self):
        self.start(RECORDED)
        self.terminal.expect("q quit")
        self.assertRegex(self.terminal.screen("-e"), COLOUR)
        self.terminal.press("q")
        self.terminal.expect("status 0")
        for before, branch in (("NO_COLOR=1", "└─"), ("TERM=vt100 LC_ALL=C", "`-")):
            with self.subTest(before):
                self.terminal.run(f"clear; {before} {BPFMON} top {RECORDED}; echo ended $?")
                self.terminal.expect("q quit", branch)
                self.assertNotRegex(self.terminal.screen("-e"), COLOUR)
                self.terminal.press("q")
                self.terminal.expect("ended 0")


class Sources(TopCase):
    def test_source_that_is_killed_and_top_that_is_terminated(self):
        begun = self.dir / "begun"
        begun.write_text("".join(RECORDED.read_text().splitlines(keepends=True)[:30]))
        self.start("-", before=f"{{ cat {begun}; exec sleep 1000; }} | ")
        self.terminal.expect("running, ", "live")
        os.kill(self.pid_of("sleep"), signal.SIGKILL)
        self.terminal.expect("its end was not recorded")
        os.kill(self.pid_of("bpfmon-top"), signal.SIGTERM)
        self.assert_restored(143)

    def test_what_cannot_be_shown_is_refused_with_a_line(self):
        (self.dir / "none").write_text("no run\n")
        self.start(self.dir / "none")
        self.terminal.expect("it is not a bpfmon run", "status 2")
        self.assert_refused(self.bpfmon("top", RECORDED), "top needs a terminal")

    def test_run_of_the_store_while_it_goes_on_and_when_it_has_ended(self):
        go_on = self.dir / "go-on"
        go_on.touch()
        run = self.start_run("-q", "-i", "0.2", "--name", "waits", "--", "sh", "-c", WORK, str(go_on))
        self.addCleanup(go_on.unlink, missing_ok=True)
        wait_for(lambda: "waits" in self.bpfmon("list", "--state", "running").stdout, "the run in the store")
        self.start(env={"BPFMON_NO_STORE": "0"})
        self.terminal.expect("1 run under way", "waits")
        self.terminal.press("Enter")
        self.terminal.expect("running, ", "─sleep 1000", "/usr/bin/true x7")
        go_on.unlink()
        self.assertEqual(run.wait(60), 0)
        self.terminal.expect("ended with 0 after")
        self.terminal.press("Escape")
        self.terminal.expect("0 runs under way")
        self.terminal.press("q")
        self.assert_restored(0)
        self.terminal.run(f"clear; {BPFMON} top waits")
        self.terminal.expect("at ", "waits", "sleep 1000")

    def test_newest_run_that_follows_a_process_which_is_then_selected(self):
        go_on = self.dir / "go-on"
        go_on.touch()
        self.addCleanup(go_on.unlink, missing_ok=True)
        outer = self.start_run("-q", "-i", "0.2", "--name", "outer", "--", "sh", "-c", WORK, str(go_on))
        sleeper = wait_for(lambda: self.sleeper_below(outer.pid), "the process that is looked for")
        inner = self.start_run("attach", "-q", "-i", "0.2", "--name", "inner", "--pid", str(sleeper))
        wait_for(lambda: len(self.bpfmon("list", "--state", "running", "--json").stdout.splitlines()) == 2, "both runs")
        self.start("--pid", sleeper, env={"BPFMON_NO_STORE": "0"})
        self.terminal.expect("inner", "1 live", "sleep 1000")
        self.start("--pid", parent_of(sleeper), env={"BPFMON_NO_STORE": "0"})
        self.terminal.expect("outer", "─sleep 1000", "while")
        slow = self.start_run("-q", "-i", "1000", "--name", "slow", "--", "sh", "-c", WORK, str(go_on))
        young = wait_for(lambda: self.sleeper_below(slow.pid), "a process that no sample has")
        wait_for(lambda: "slow" in self.bpfmon("list", "--state", "running").stdout, "the run in the store")
        self.start("--pid", young, env={"BPFMON_NO_STORE": "0"})
        self.terminal.expect("slow", " live, ", "q quit")
        go_on.unlink()
        self.assertEqual(slow.wait(60), 0)
        self.assertEqual((inner.wait(60), outer.wait(60)), (0, 0))
        self.start("--pid", sleeper)
        self.terminal.expect(f"process {sleeper}", "status 2")

    def start_run(self, *words):
        """A run that goes into the store, which tests have switched off elsewhere."""
        env = {k: v for k, v in os.environ.items() if k != "BPFMON_NO_STORE"} | {"BPFMON_STORE": str(self.store)}
        run = subprocess.Popen([BPFMON, *words], env=env)
        self.addCleanup(run.wait)
        return run

    def sleeper_below(self, pid):
        for below in descendants_of(pid):
            with contextlib.suppress(OSError):
                if pathlib.Path(f"/proc/{below}/cmdline").read_bytes() == b"sleep\x001000\x00":
                    return below
        return None


class Program(TopCase):
    def test_bpfmon_itself_loads_no_ncurses(self):
        def libraries(name):
            return subprocess.run(["ldd", BUILD / name], capture_output=True, text=True, check=True).stdout

        self.assertNotIn("ncurses", libraries("bpfmon"))
        self.assertIn("ncursesw", libraries("bpfmon-top"))
