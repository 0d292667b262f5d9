# SPDX-License-Identifier: BSD-2-Clause
"""What was run is kept, and found and shown again."""

import contextlib
import json
import os
import pwd
import re
import sqlite3
import stat
import subprocess
import unicodedata

from lib.bpfmon import BPFMON, read_lines, truth
from lib.live import children_of, executable_of, wait_for
from lib.permitted import BPF, ROOT, needs
from lib.store import StoreCase

NEEDS = ()
HOSTILE = "a\"b'c\n</script>\x1b[31m\u202e"


def columns_of(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


@needs(ROOT, BPF)
class Kept(StoreCase):
    def test_the_store_has_what_the_file_has(self):
        out = self.dir / "run.jsonl"
        self.record("-i", "0.05", "-o", out, command=("sh", "-c", "sleep 0.3; (exit 4) & exit 3"), code=3)
        lines = read_lines(out)
        start = lines[0]["start_time"]
        samples = self.ask("SELECT elapsed_seconds, cpu_seconds, rss_bytes, cores FROM samples ORDER BY 1")
        told = [x for x in lines if x["kind"] == "sample"]
        self.assertGreaterEqual(len(told), 6)
        self.assertEqual(len(samples), len(told))
        for row, line in zip(samples, told):
            for value, key in zip(row, ("elapsed_seconds", "cpu_seconds", "rss_bytes", "cores")):
                self.assertAlmostEqual(value, line[key], 9) if key in line else self.assertIsNone(value)
        columns = "pid, ppid, comm, exe, args, exit_code, cpu_seconds, minflt, rss_peak_bytes"
        processes = self.ask(f"SELECT {columns} FROM processes ORDER BY seq")
        told = [x for x in lines if x["kind"] == "process"]
        self.assertEqual(len(processes), 3)
        for row, line in zip(processes, told):
            line["args"] = json.dumps(line["args"], separators=(",", ":"))
            self.assertEqual(row, tuple(line[key] for key in columns.split(", ")))
        (row,) = self.list()
        self.assertEqual(row["run"], lines[0]["run"])
        self.assertEqual((row["state"], row["complete"], row["exit_code"]), ("failed", True, 3))
        self.assertEqual(row["start_time"], start)
        self.assertEqual(row["cpu_seconds"], lines[-1]["cpu_seconds"])
        shown = self.show("1")
        self.assertEqual(set(shown), {"schema", "state", "meta", "summary", "answer", "time"})
        self.assertEqual((shown["meta"], shown["summary"]), (lines[0], lines[-1]))

    def summary_of(self, *options, command=("true",)):
        return self.bpfmon(*options, "--", *command).stderr

    def test_a_short_saved_run_has_a_short_summary(self):
        short = self.summary_of().splitlines()
        self.assertEqual([line.split()[0] for line in short], ["bpfmon:", "request", "used", "saved"])
        self.assertIn("\n  faults", self.bpfmon("show", "1").stdout)
        for options in (("--summary", "full"), ("--no-store",)):
            self.assertIn("\n  faults", self.summary_of(*options))
        self.assertEqual(len(self.summary_of("--summary", "short", command=("sleep", "1.1")).splitlines()), 4)
        self.assertIn("\n  faults", self.summary_of(command=("sleep", "1.1")))

    def test_show_of_the_file_and_of_the_store_are_the_same(self):
        out = self.dir / "run.jsonl"
        self.record("-o", out, "--name", "same", command=(truth("spin"), "200"))
        texts = {self.bpfmon("show", run).stdout for run in ("1", "same", out)}
        self.assertEqual(len(texts), 1)
        (text,) = texts
        for word in ("same", "spin 200", "CPU, cores", "memory, rss", "complete: nothing was lost"):
            self.assertIn(word, text)

    def test_a_file_that_was_cut_off_is_shown_as_such(self):
        out = self.dir / "run.jsonl"
        self.record("-i", "0.05", "-o", out, command=("sleep", "0.4"))
        whole = out.read_bytes()
        for part in (0.3, 0.6):
            out.write_bytes(whole[: int(len(whole) * part)])
            shown = self.show(out)["summary"]
            self.assertFalse(shown["complete"])
            self.assertIn("cut off", shown["reason"])
            for key in ("self", "outlived", "late_ticks"):  # nobody knows
                self.assertNotIn(key, shown)
            self.assertNotIn("  bpfmon  ", self.bpfmon("show", out).stdout)
        done = self.bpfmon("show", "-", input=whole.decode())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("complete: nothing was lost", done.stdout)

    def test_the_store_is_its_users_alone(self):
        self.record()
        for path in self.dir.glob("store.sqlite*"):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)
            self.assertEqual(path.stat().st_uid, 0)

    def test_under_sudo_the_store_is_the_callers(self):
        nobody = pwd.getpwnam("nobody")
        os.chown(self.dir, nobody.pw_uid, nobody.pw_gid)
        as_caller = {"SUDO_UID": str(nobody.pw_uid), "SUDO_GID": str(nobody.pw_gid), "SUDO_USER": "nobody"}
        state = self.dir / "state"
        self.record(env={**as_caller, "BPFMON_STORE": "", "XDG_STATE_HOME": str(state)})
        (kept,) = (state / "bpfmon").glob("*.sqlite")
        self.assertEqual(kept.name, os.uname().nodename + ".sqlite")
        for path in (state, kept.parent, kept):
            self.assertEqual(path.stat().st_uid, nobody.pw_uid)
        (row,) = self.list(env={**as_caller, "BPFMON_STORE": "", "XDG_STATE_HOME": str(state)})
        self.assertEqual(row["user"], "nobody")

    def test_no_store_keeps_nothing(self):
        self.record("--no-store")
        self.assertFalse(self.store.exists())

    def test_the_summary_names_the_run(self):
        done = self.bpfmon("--", "true")
        self.assertIn("as run 1: bpfmon show 1", done.stderr)

    def test_hostile_words_are_kept_and_shown_harmlessly(self):
        long = "x" * 100_000
        self.record("--name", HOSTILE, "--tag", f"t={HOSTILE}", command=("true", HOSTILE, long, b"\xff\xfe"))
        (row,) = self.list()
        self.assertEqual((row["name"], row["tags"]), (HOSTILE, {"t": HOSTILE}))
        shown = self.show(HOSTILE)
        self.assertEqual(shown["meta"]["command"], ["true", HOSTILE, long, "\ufffd\ufffd"])
        for words in (("list",), ("show", "1")):
            text = self.bpfmon(*words, env={"COLUMNS": "100", "LC_ALL": "C.UTF-8"}).stdout
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\u202e", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100, text)

    def test_a_name_that_takes_more_room_as_text_comes_back_whole(self):
        out = self.dir / "run.jsonl"
        self.record("-o", out, command=(truth("names"), "ff" * 15))
        said = [line for line in read_lines(out) if line["kind"] == "process"]
        self.assertIn("\ufffd" * 15, [line["comm"] for line in said])
        stored = self.bpfmon("export", "1", "-f", "jsonl").stdout.splitlines()
        self.assertEqual([line for line in map(json.loads, stored) if line["kind"] == "process"], said)


class Found(StoreCase):
    def setUp(self):
        super().setUp()
        self.record("--name", "align", "--job", "7", "--tag", "threads=8", command=(truth("spin"), "100"))
        self.record("--name", "align", "--tag", "threads=16", "--tag", "fast=", command=("sh", "-c", "exit 5"), code=5)
        self.record("--name", "sort", env={"BPFMON_TAG_sample": "A7"}, command=("sh", "-c", "kill -9 $$"), code=-9)

    def ids(self, *options):
        return [row["ref"] for row in self.list(*options)]

    @needs(ROOT, BPF)
    def test_filters(self):
        for options, expected in (
            ((), "321"),
            (("--name", "align"), "21"),
            (("--name", "s*"), "3"),
            (("--job", "7"), "1"),
            (("--tag", "threads"), "21"),
            (("--tag", "threads=8"), "1"),
            (("--tag", "threads", "--tag", "fast"), "2"),
            (("--tag", "sample=A7"), "3"),
            (("--command", "exit 5"), "2"),
            (("--user", "root"), "321"),
            (("--user", "nobody"), ""),
            (("--host", os.uname().nodename[:1] + "*"), "321"),
            (("--state", "failed"), "32"),
            (("--state", "running"), ""),
            (("--since", "1h"), "321"),
            (("--since", "2200-01-01"), ""),
            (("--limit", "2"), "32"),
            (("--sort", "cpu", "--limit", "1"), "1"),
            (("--sort", "name"), "213"),
            (("--sort", "exit_code"), "213"),  # a run without one is the last
            (("--sort", "signal"), "321"),
        ):
            with self.subTest(options=options):
                self.assertEqual("".join(self.ids(*options)), expected)

    def test_the_table_fits_the_width(self):
        self.record("--name", "\u65e5\u672c\u8a9e" * 5, command=("true", "\u65e5" * 50))
        for width in (40, 60, 80, 100, 120, 200):
            text = self.bpfmon("list", env={"COLUMNS": str(width)}).stdout
            lines = text.splitlines()
            self.assertEqual(len(lines), 5)
            self.assertLessEqual(max(map(columns_of, lines)), width, text)
            if width >= 120:
                self.assertIn("exit 5", text)
                at = lines[0].index("command")  # all of them begin there
                self.assertIn("  true \u65e5", lines[1])
                self.assertEqual(columns_of(lines[1].partition("true")[0]), at)

    def test_a_cell_that_is_cut_has_a_mark_and_a_file_has_it_whole(self):
        name, note, command = "n" * 50, "a note " * 20, "c" * 200
        tags = [f"{key}={'v' * 90}6" for key in ("one", "two", "three", "four")]
        self.record("--name", name, "--note", note, *[word for tag in tags for word in ("--tag", tag)], command=("true", command))
        for width in (60, 100, 120, 160):
            cells = re.split(" {2,}", self.bpfmon("list", "--limit", "1", env={"COLUMNS": str(width)}).stdout.splitlines()[1].strip())
            cut = [cell for cell in cells if any(whole.startswith(cell) or whole.endswith(cell) for whole in (name, note, " ".join(sorted(tags)), f"true {command}"))]
            self.assertEqual(cut, [], cells)
        for words in (("list",), ("list", "--columns", "tags,note,name,command"), ("show",)):
            text = self.bpfmon(*words, env={"COLUMNS": ""}).stdout
            for whole in (name, note.strip(), *tags, command):
                self.assertIn(whole, text, words)

    def test_a_run_that_is_shown_fits_the_width(self):
        for width in (60, 80):
            for run in ("1", "3"):
                text = self.bpfmon("show", run, env={"COLUMNS": str(width), "LC_ALL": "C.UTF-8"}).stdout
                self.assertLessEqual(max(map(columns_of, text.splitlines())), width, text)

    def test_a_run_is_named_by_number_name_or_uuid(self):
        uuid = self.list("--name", "sort")[0]["run"]
        for name in ("3", "sort", uuid, uuid[:8]):
            self.assertEqual(self.show(name)["meta"]["run"], uuid)

    def test_an_error_is_one_line(self):
        empty = self.dir / "empty"
        empty.write_text("")
        foreign = self.dir / "other.jsonl"
        foreign.write_text('{"a": 1}\n')
        for words, said in (
            (("show", "99"), ("no run '99'", "bpfmon list")),
            (("show", "nobody-has-this"), ("no run 'nobody-has-this'",)),
            (("show", "align~all"), ("2 runs", "2, 1")),
            (("show", "align~2"), ("'align~2'", "only 2")),
            (("show", "1", "2"), ("'2'",)),
            (("show", empty), ("empty", "not a bpfmon run")),
            (("show", foreign), ("other.jsonl", "not a bpfmon run")),
            (("show", "/nonexistent/x.jsonl"), ("/nonexistent/x.jsonl", "no such file")),
            (("show", self.dir), (self.dir, "Is a directory")),
            (("show", "a\x1b[31m\nb"), ("a?[31m?b",)),
            (("list", "--since", "yesterday"), ("yesterday",)),
            (("list", "--since", "2999-01-01"), ("2999-01-01",)),
            (("list", "--state", "odd"), ("odd",)),
            (("list", "--sort", "colour"), ("colour",)),
            (("list", "--limit", "-1"), ("-1",)),
            (("list", "--nam", "x"), ("--nam",)),
            (("list", "--store", foreign), ("other.jsonl", "not a bpfmon store")),
            (("list", "--store", self.dir / "none.sqlite"), ("none.sqlite", "No such file")),
        ):
            with self.subTest(words=words):
                self.assert_refused(self.bpfmon(*words), *said)

    def test_a_broken_pipe_or_full_disk_is_reported(self):
        for words in (("list",), ("show", "1")):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = self.bpfmon(*words, capture_output=False, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 2)
            self.assertIn("stdout", done.stderr)

    def test_runs_of_other_hosts_are_listed_beside_ours(self):
        state = self.dir / "state" / "bpfmon"
        state.mkdir(parents=True)
        own = state / f"{os.uname().nodename}.sqlite"
        self.store.replace(own)
        (state / "node7.sqlite").write_bytes(own.read_bytes())
        with contextlib.closing(sqlite3.connect(state / "node7.sqlite")) as db, db:
            db.execute("UPDATE run SET uuid = 'x' || substr(uuid, 2)")  # other runs
        (state / "damaged.sqlite").write_bytes(b"rubbish" * 1000)
        env = {"BPFMON_STORE": "", "XDG_STATE_HOME": str(self.dir / "state"), "HOME": str(self.dir)}
        done = self.bpfmon("list", "--json", env=env)
        self.assertEqual(done.returncode, 0)
        self.assertIn("skipping the store", done.stderr)
        self.assertIn("damaged.sqlite'", done.stderr)
        ids = {json.loads(line)["ref"] for line in done.stdout.splitlines()}
        self.assertEqual(ids, {"1", "2", "3", "node7:1", "node7:2", "node7:3"})
        shown = self.bpfmon("show", "--json", "node7:2", env=env)
        self.assertEqual(json.loads(shown.stdout)["summary"]["exit_code"], 5)


@needs(ROOT, BPF)
class Running(StoreCase):
    def test_a_run_that_goes_on_is_listed_and_shown(self):
        environment = {k: v for k, v in os.environ.items() if k != "BPFMON_NO_STORE"}
        command = [BPFMON, "-q", "-i", "0.05", "--stalled-after", "0.2", "--store", self.store, "--", "sh", "-c", "read x"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as run:
            try:
                self.wait_for_samples(3)
                (row,) = self.list("--state", "running")
                self.assertGreater(row["wall_seconds"], 0)
                shown = self.show("1")["summary"]
                self.assertFalse(shown["complete"])
                self.assertIn("still going on", shown["reason"])
                self.assertEqual(self.show("1")["state"], "running")
                self.check_text(run.pid)
                wait_for(lambda: "  stalled     nothing was done for " in self.shown_as_text(), "the stall")
            finally:
                run.stdin.close()
                run.wait()
        (row,) = self.list()
        self.assertEqual((row["state"], row["complete"]), ("failed", True))
        self.assertEqual(self.show("1")["state"], "failed")
        text = self.shown_as_text()
        self.assertNotIn("running", text.replace("not running", ""))  # of the time of its threads
        self.assertNotIn("alive", text)
        self.assertNotIn("stalled", text)

    def shown_as_text(self, *words, before=()):
        argv = [*before, BPFMON, "show", "--store", self.store, *words, "1"]
        return subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout.decode()

    def check_text(self, launcher):
        """What it was so far, and its processes now; without the feed all but these."""
        (shell,) = [pid for pid in children_of(launcher) if executable_of(pid) not in ("", os.path.realpath(BPFMON))]
        text = self.shown_as_text("--color", "always")
        self.assertRegex(text, "\x1b\\[34mbpfmon: running, [0-9.]+ m?s so far\x1b\\[0m\n")
        self.assertRegex(text, r"\n  alive       1 process at [0-9.]+ m?s\n")
        self.assertRegex(text, rf"\n  sh +{shell} +[0-9.]+ [KM]iB")
        self.assertNotIn("INCOMPLETE", text)
        self.assertRegex(self.shown_as_text("-f", "markdown"), r"\n\*\*running, [0-9.]+ m?s so far\*\*\n")
        elsewhere = self.shown_as_text(before=["unshare", "--net"])
        self.assertIn("  alive       unknown: it has ended, or is on another host\n", elsewhere)
        self.assertIn("bpfmon: running, ", elsewhere)

    def wait_for_samples(self, n):
        wait_for(lambda: self.store.exists() and self.ask("SELECT 1 FROM sqlite_master WHERE name='samples'"), "a store")
        wait_for(lambda: self.ask("SELECT count(*) FROM sample")[0][0] >= n, "samples in the store")
