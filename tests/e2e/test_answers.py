# SPDX-License-Identifier: BSD-2-Clause
"""What show and compare say first, of runs that are written by hand, so that each number is known."""

import json

from lib.spans import run_lines, write_lines
from lib.store import CommandCase

SAMPLED = True
NEEDS = ()
MIB = 1 << 20


def mark(text, at):
    return {"kind": "event", "event": "mark", "elapsed_seconds": at, "text": text, "pid": 7}


def sample(at, cpu, rss=MIB):
    return {"kind": "sample", "elapsed_seconds": at, "cpu_seconds": cpu, "rss_bytes": rss}


def program(exe, processes, cpu):
    return {"exe": exe, "processes": processes, "cpu_seconds": cpu, "rss_peak_bytes": MIB}


class Answers(CommandCase):
    def write(self, name, *lines, meta=None, **used):
        meta = {"system": {"cpus": 4}, "limits": {"cpus_allowed_count": 2}, **(meta or {})}
        whole = run_lines(*lines, meta=meta, **used)
        return write_lines(self.dir / f"{name}.jsonl", whole[:-2] + whole[-1:])  # without its own sample

    def phases(self, name, factor=1):
        """load, train, load, train of a run of 20 s; train takes `factor` times the CPU time."""
        lines, cpu = [sample(0.5, 0.1)], 0.1
        for at, text, used in ((2, "load", 0.5), (6, "train", 2), (12, "load", 0.5), (14, "train", 3)):
            lines += [sample(at, cpu), mark(text, at)]
            cpu += used * (factor if text == "train" else 1)
        lines += [sample(20, cpu)]
        programs = [program("/bin/py", 1, 4 * factor), program("/bin/sh", 3, 1)]
        return self.write(name, *lines, cpu_seconds=cpu, cores_mean=cpu / 20, programs=programs, rss_peak_upper_bytes=8 * MIB)

    def said(self, *words, width="120"):
        done = self.bpfmon(*words, env={"COLUMNS": width})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_show_has_the_answer_above_the_figures_and_in_json(self):
        run = self.phases("a")
        text = self.said("show", run)
        answer = "  request     9 MiB (peak up to 8.0 MiB + 10 %); used 0.30 of 2 cores; 60 % of the time in phase train (x 2)\n"
        self.assertIn("ended with 0 after 20.0 s\n" + answer + "  CPU", text)
        said = json.loads(self.said("show", "--json", run))["answer"]
        self.assertEqual(said["longest_phase"], {"text": "train", "count": 2, "seconds": 12})
        self.assertEqual((said["request_bytes"], said["request_is_least"]), (9 * MIB, False))
        self.assertEqual((said["cores_used"], said["cores_available"]), (0.305, 2))

    def test_show_has_one_bar_of_where_the_time_went(self):
        used = {"lifetime_seconds": 40, "user_seconds": 8, "system_seconds": 2, "runqueue_wait_seconds": 4}
        bar = [
            "  time        uuuuuuuuuusssqqqqq................................",
            "              u user 8.00 s (20 %), s system 2.00 s (5 %),",
            "              q run queue 4.00 s (10 %), . not running 26.0 s (65 %),",
            "              all threads 40.0 s",
        ]
        text = self.said("show", self.write("off", **used), width="80")
        self.assertIn("\n".join(bar) + "\n", text)
        delays = {f"{name}_delay_seconds": 0 for name in ("swapin", "reclaim", "thrashing", "compact", "cow")}
        run = self.write("on", **used, **delays | {"blkio_delay_seconds": 12, "thrashing_delay_seconds": 4})
        text = self.said("show", run, width="40")
        self.assertTrue(text.isascii())
        (bar,) = (line.split()[1] for line in text.splitlines() if line.startswith("  time "))
        self.assertEqual({letter: bar.count(letter) for letter in bar}, {"u": 5, "s": 1, "q": 3, "d": 5, "m": 3, ".": 9})
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 40)
        self.assertEqual(json.loads(self.said("show", "--json", run))["time"], {
            "user_seconds": 8, "system_seconds": 2, "queue_seconds": 4, "disk_seconds": 8, "memory_seconds": 4, "other_seconds": 14,
        })  # fmt: skip
        self.assertNotIn("  time ", self.said("show", self.write("old")))

    def test_equal_phases_are_summed_unless_each_is_asked_for(self):
        run = self.phases("a")
        rows = [line.split() for line in self.said("show", "--by", "phase", run).splitlines()[3:]]
        self.assertEqual([row[:6] for row in rows[1:]], [
            ["(start)", "1", "2.00", "s", "100", "ms"],
            ["load", "2", "6.00", "s", "1.00", "s"],
            ["train", "2", "12.0", "s", "5.00", "s"],
        ])  # fmt: skip
        each = self.said("show", "--by", "phase", "--each", run).splitlines()[4:]
        self.assertEqual([line.split()[0] for line in each], ["(start)", "load", "train", "load", "train"])
        said = json.loads(self.said("show", "--by", "phase", "--json", run))
        self.assertEqual([phase["text"] for phase in said["phases"]], [None, "load", "train", "load", "train"])
        names = {phase["text"]: (phase["count"], phase["wall_seconds"], phase["cpu_seconds"]) for phase in said["phase_names"]}
        self.assertEqual(names, {None: (1, 2, 0.1), "load": (2, 6, 1), "train": (2, 12, 5)})

    def test_compare_says_what_changed_and_hides_the_rest(self):
        a, b = self.phases("a"), self.phases("b", 1.5)
        text = self.said("compare", a, b)
        self.assertIn("  b.jsonl used 41 % more CPU time than a.jsonl (8.60 s against 6.10 s); 1 other value changed. With one run each", text)
        table = text.split("\n\n")[2]
        self.assertEqual([line.split()[0] for line in table.splitlines()[1:5]], ["wall_seconds", "cpu_seconds", "rss_peak_upper_bytes", "cores_mean"])
        self.assertIn("--all shows them", table)
        self.assertNotIn("processes_total", text)
        full = self.said("compare", "--all", a, b)
        self.assertIn("processes_total", full)
        self.assertNotIn("--all", full)
        said = json.loads(self.said("compare", "--json", a, b))
        self.assertEqual(sorted(said["verdicts"][0]["changed"]), ["cores_mean", "cpu_seconds"])
        self.assertIn("b.jsonl used 41 % more CPU time than a.jsonl", said["verdicts"][0]["text"])

    def steps(self, part, *words, key="cpu_seconds"):
        said = json.loads(self.said("compare", "--by", part, "--json", *words))
        steps = said["phases" if part == "phase" else "programs"]
        return {s["path"][0]: (s["counts"], [v.get("median") for v in s["values"].get(key, [])]) for s in steps}

    def test_phases_and_programs_are_compared_by_their_names(self):
        a, b = self.phases("a"), self.phases("b", 1.5)
        self.assertEqual(self.steps("phase", a, b), {
            "(start)": ([[1], [1]], [0.1, 0.1]), "load": ([[2], [2]], [1, 1]), "train": ([[2], [2]], [5, 7.5]),
        })  # fmt: skip
        self.assertEqual(self.steps("phase", a, b, key="wall_seconds")["train"][1], [12, 12])
        self.assertEqual(self.steps("program", a, b), {"/bin/py": ([[1], [1]], [4, 6]), "/bin/sh": ([[3], [3]], [1, 1])})
        self.assertRegex(self.said("compare", "--by", "program", a, b), r"cpu_seconds  *a.jsonl procs  *b.jsonl procs .*\n  /bin/py +1 +1 +4.00 s +6.00 s")
        failed = self.bpfmon("compare", "--by", "phase", a, b, "--fail-if", "cpu_seconds > +20%")
        self.assertEqual((failed.returncode, failed.stderr), (1, "bpfmon: failed: train: cpu_seconds: 7.50 s against 5.00 s, +50.0 % > +20% (too few runs to tell; 4 runs of each side are needed)\n"))
        self.assertIn("the runs have no phases", self.said("compare", "--by", "phase", *(self.write(name) for name in "cd")))

    def test_phases_that_no_sample_tells_apart_have_only_their_time(self):
        run = self.write("a", sample(1, 1), mark("x", 2), mark("y", 3), sample(5, 2), sample(20, 3))
        steps = self.steps("phase", run, run)
        self.assertEqual((steps["x"][1], steps["y"][1]), ([], []))
        self.assertEqual(self.steps("phase", run, run, key="wall_seconds")["y"][1], [17, 17])

    def test_a_tag_that_is_called_like_a_part_is_named_as_it_is_shown(self):
        runs = [self.write(name, meta={"tags": {"phase": name}}) for name in "ab"]
        self.assertIn("  a  phase=a  1 run\n", self.said("compare", "--by", "tags.phase", *runs))

    def test_groups_of_numbers_are_in_their_order(self):
        for i, threads in enumerate((8, 16, 1)):
            self.store_does("merge", self.write(f"t{threads}", meta={"tags": {"threads": str(threads)}, "start_time": 1763690000 + i}))
        names = lambda *words: [g["name"] for g in json.loads(self.said("compare", "--by", "threads", "--json", *words))["groups"]]
        self.assertEqual(names(), ["1", "8", "16"])
        self.assertEqual(names("--baseline", "16"), ["16", "1", "8"])
        self.assertEqual(names(*(str(self.dir / f"t{n}.jsonl") for n in (8, 16, 1))), ["8", "1", "16"])
