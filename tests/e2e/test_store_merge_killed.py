# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon store merge, killed half-way while runs have edits: the store is whole, and the next merge completes it."""

import json
import resource
import shutil
import signal

from lib.store import CommandCase

SAMPLED = True
NEEDS = ()
STEPS = 8
WORDS = ("SELECT uuid, name, note, (SELECT group_concat(key || '=' || value) FROM tag WHERE run = run.id),"
         " edited_time_ns, (SELECT meta FROM run_text WHERE run = run.id) FROM run")
ROWS = "SELECT uuid, ended, (SELECT count(*) FROM {} WHERE run = run.id) FROM run"


class Killed(CommandCase):
    """
    Of four runs elsewhere, all edited there, ours has none, all, and half of two; of these the second was edited here
    later.
    """

    def setUp(self):
        super().setUp()
        self.other, self.lines = self.dir / "other.sqlite", self.dir / "all.jsonl"
        files = [self.big(*size, name=f"{i}.jsonl") for i, size in enumerate(((4000, 3000), (10, 10), (5000, 2000), (3000, 4000)))]
        for file in files:
            self.store_does("merge", "--store", self.other, file)
        with open(self.lines, "wb") as lines:
            for run in "1234":
                self.edit(self.other, run, f"theirs {run}")
                lines.write(self.bpfmon("export", run, "--store", self.other, "-f", "jsonl", text=False, errors=None).stdout)
        for file in files[2:]:
            text = file.read_text().splitlines(True)
            file.write_text("".join(text[: len(text) // 2]))
        for file in files[1:]:
            self.store_does("merge", file)
        self.edit(self.store, "3", "ours")
        self.begun = self.dir / "begun.sqlite"
        shutil.copyfile(self.store, self.begun)

    def edit(self, store, run, name):
        words = (run, "--name", name, "--note", f"note of {name}", "--tag", f"by={name}", "--tag", "size=")
        done = self.bpfmon("edit", "--store", store, *words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def restore(self):
        for path in self.dir.glob("store.sqlite*"):
            path.unlink()
        shutil.copyfile(self.begun, self.store)

    def merge_up_to(self, limit, source):
        """It is killed when a file of the store becomes larger than that."""

        def bound():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return self.bpfmon("store", "merge", source, preexec_fn=bound).returncode

    def words(self):
        """By run, what it is called, which is the same wherever it is kept."""
        called = {}
        for uuid, name, note, tags, edited_ns, text in self.ask(WORDS):
            meta = json.loads(text)
            self.assertEqual((meta["name"], meta.get("note")), (name, note))
            self.assertEqual(",".join(f"{key}={value}" for key, value in meta["tags"].items()), tags)
            self.assertEqual(round(meta.get("edited_time", 0) * 1e6) * 1000, edited_ns or 0)
            called[uuid] = name
        return called

    def rows(self):
        """By run, whether it has ended, and how much of it there is."""
        kept = {}
        for table in ("sample", "process"):
            for uuid, *rest in self.ask(ROWS.format(table)):
                kept.setdefault(uuid, []).extend(rest)
        return kept

    def assert_whole(self, before, after, rows):
        """Each run is called as before or as it will be; what has ended has all its rows."""
        done = self.bpfmon("store", "check")
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.store} is intact\n"), done.stderr)
        self.assertNotIn("belong to no run", done.stderr)
        for uuid, name in self.words().items():
            self.assertIn(name, {before.get(uuid), after[uuid]})
        for uuid, kept in self.rows().items():
            if kept[0]:
                self.assertEqual(kept, rows[uuid])
        self.assertLessEqual(before.keys(), self.words().keys())

    def kill_in_steps(self, source):
        before = self.words()
        self.store_does("merge", source)
        after, rows = self.words(), self.rows()
        self.assertEqual(sorted(after.values()), ["ours", "theirs 1", "theirs 2", "theirs 3"])
        self.assertTrue(all(kept[0] for kept in rows.values()))
        step, moments = self.store.stat().st_size // STEPS, set()
        for limit in range(step, 100 * step, step):
            self.restore()
            status = self.merge_up_to(limit, source)
            if not status:
                return moments
            self.assertEqual(status, -signal.SIGXFSZ)
            self.assert_whole(before, after, rows)
            moments.add(json.dumps(self.rows()))
            self.store_does("merge", source)
            self.assertEqual((self.words(), self.rows()), (after, rows))
            self.assert_sound_file()
        return self.fail("no limit was large enough")

    def test_a_store_with_edits_is_taken_over_by_the_next_merge(self):
        self.assertGreater(len(self.kill_in_steps(self.other)), 2)  # moments within it

    def test_lines_with_edits_are_taken_over_by_the_next_merge(self):
        self.assertGreater(len(self.kill_in_steps(self.lines)), 2)
