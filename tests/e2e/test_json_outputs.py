# SPDX-License-Identifier: BSD-2-Clause
"""Every output that is JSON, of a run with hostile names: none of its characters steers a terminal, and a reader
of JSON gets back what was written."""

import json
import subprocess
import unicodedata

from lib.bpfmon import BPFMON
from lib.runs import write_run
from lib.store import StoreCase

SAMPLED = True
NEEDS = ()
# U+009B begins what ESC [ begins; U+202E turns the direction; DEL; and the words around them
HOSTILE = "a\u009b31mb\u202etxt.exe\u2066\u007f\u0085\u001b]0;x\u0007"
PAGE_DATA = b'<script type="application/json" id="data">'


def steering(text):
    """The characters in it that steer a terminal, line ends aside."""
    kinds = {c: unicodedata.bidirectional(c) for c in text}
    turns = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return [c for c in text if (unicodedata.category(c) == "Cc" and c not in "\r\n") or kinds[c] in turns]


class JsonOutputs(StoreCase):
    def setUp(self):
        super().setUp()
        names = dict.fromkeys(["name", "job", "user", "host", "cwd"], HOSTILE)
        meta = {
            "start_time": 1763690000,
            "command": [HOSTILE],
            HOSTILE: {"nested": [HOSTILE, {HOSTILE: 1}]},
            "system": {"os": HOSTILE, "cpus": 2},
            **names,
        }
        self.run_file = write_run(
            self.dir / "run.jsonl",
            {"key": HOSTILE},
            meta,
            wall_seconds=2,
            reason=HOSTILE,
            programs=[{"exe": HOSTILE, "processes": 1, "cpu_seconds": 1}],
        )
        lines = open(self.run_file, encoding="utf-8").read().splitlines()
        more = [
            {"kind": "sample", "elapsed_seconds": 1, "rss_bytes": 4096, "cpu_seconds": 0.5},
            {"kind": "event", "event": "mark", "time": 1763690000.5, "elapsed_seconds": 0.5, "text": HOSTILE, "pid": 3},
            {"kind": "event", "event": HOSTILE, "time": 1763690000.5, HOSTILE: HOSTILE},
            {"kind": "process", "pid": 3, "comm": HOSTILE, "exe": HOSTILE, "args": [HOSTILE], "start_time": 1763690000},
            {"kind": "metric", "elapsed_seconds": 1, "name": HOSTILE, "tags": {HOSTILE: HOSTILE}, "fields": {HOSTILE: HOSTILE, "f": 1}},
            {"kind": HOSTILE, HOSTILE: HOSTILE},
        ]
        # as others may write it: nothing is escaped that need not be
        text = [lines[0], *[json.dumps(line, ensure_ascii=False) for line in more], lines[1]]
        with open(self.run_file, "w", encoding="utf-8") as out:
            out.write("\n".join(json.dumps(json.loads(line), ensure_ascii=False) for line in text) + "\n")

    def printed(self, *words):
        done = self.bpfmon(*words, text=False, errors=None)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_harmless(self, out, name):
        """It is UTF-8 and steers nothing; what a reader makes of its lines."""
        self.assertEqual(steering(out.decode()), [], name)
        return [json.loads(line) for line in out.splitlines()]

    def test_what_shows_and_compares_a_file(self):
        for words in [("show", "--json"), ("show", "--json", "--by", "phase")]:
            document = self.assert_harmless(self.printed(*words, self.run_file), words)[0]
            self.assertEqual(document["meta"]["name"], HOSTILE)
            self.assertEqual(document["meta"][HOSTILE]["nested"][1], {HOSTILE: 1})
        other = write_run(self.dir / "other.jsonl", {}, {"name": "plain", HOSTILE: [{HOSTILE: 2}]}, wall_seconds=3)
        self.assertEqual(steering(self.printed("compare", "--json", self.run_file, other).decode()), [])

    def test_every_export_that_is_json(self):
        for form in ("jsonl", "json", "rmonitor"):
            out = self.printed("export", self.run_file, "-f", form).decode()
            self.assertEqual(steering(out), [], form)
            documents = [json.loads(line) for line in out.splitlines()] if form == "jsonl" else [json.loads(out)]
            self.assertTrue(documents)
        self.printed("export", self.run_file, "-f", "prmon", "-o", self.dir / "p")
        self.assertEqual(steering((self.dir / "p.json").read_text()), [])

    def test_the_data_of_a_report(self):
        page = self.printed("report", self.run_file, "-o", "-")
        data = page.partition(PAGE_DATA)[2].partition(b"</script>")[0]
        self.assertEqual(steering(data.decode()), [])
        self.assertEqual(json.loads(data)["meta"]["name"], HOSTILE)

    def test_what_is_kept_in_a_store(self):
        self.printed("store", "merge", self.run_file)
        for words in [("list", "--json"), ("show", "--json", "1"), ("export", "1", "-f", "jsonl")]:
            self.assert_harmless(self.printed(*words), words)
        self.assertEqual(self.list()[0]["name"], HOSTILE)
        (args,) = self.ask("SELECT args FROM process")[0]
        self.assertEqual(steering(args), [])
        self.assertEqual(json.loads(args), [HOSTILE])

    def test_a_run_that_is_recorded(self):
        name = HOSTILE.replace("\x1b", "")
        out = self.dir / "live.jsonl"
        argv = [BPFMON, "-q", "--no-store", "--name", name, "--tag", f"k={name}", "-o", out, "--", "sh", "-c", "exit 0", name]
        self.assertEqual(subprocess.run(argv, timeout=120, check=False).returncode, 0)
        text = out.read_text(encoding="utf-8")
        self.assertEqual(steering(text), [])
        meta = json.loads(text.splitlines()[0])
        self.assertEqual((meta["name"], meta["tags"]["k"], meta["command"][-1]), (name, name, name))
