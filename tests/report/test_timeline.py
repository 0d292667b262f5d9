# SPDX-License-Identifier: BSD-2-Clause
"""The timeline of a report: processes in lanes, and of many a row for each program."""

import synthetic
from reports import PICTURES, ReportCase

COMPILERS = 276  # each with its as and its shell


def text(of):
    return ("text", {"of": of})


def texts(of):
    return ("texts", {"of": of})


def compiler(number, name, start, end, cpu):
    line = synthetic.process(number, 100, 1000)
    line.update(comm=name, exe=f"/usr/libexec/gcc/{name}", args=[name, "-quiet", f"/src/file{number // 3:03}.c"], pid=2000 + number, ppid=1000)
    line.update(start_time=synthetic.START + start, end_time=synthetic.START + end, cpu_seconds=cpu, exit_code=0, rss_peak_bytes=(10 + number % 7) << 20)
    return line


def build():
    """A build of four jobs: make, and 828 short processes of three programs, of which one fails."""
    *lines, summary = synthetic.lines(101, 0)
    lines.append({**synthetic.process(0, 100, 1), "comm": "make", "exe": "/usr/bin/make"})
    for i in range(COMPILERS):
        start = i // 4 * 1.4
        lines.append(compiler(3 * i, "sh", start, start + 1.3, 0.01))
        lines.append(compiler(3 * i + 1, "cc1", start + 0.1, start + 1, 0.9))
        lines.append(compiler(3 * i + 2, "as", start + 1, start + 1.2, 0.1))
    lines[-1]["exit_code"] = 1
    return [*lines, summary]


class Few(ReportCase):
    def look_at(self, *steps):
        return self.look_quietly(self.report(synthetic.lines(101, 30)), *steps)

    def test_processes_are_packed_into_lanes_in_which_none_overlaps(self):
        said, group = self.look_at(("lives", {}), ("count", {"of": "#tl-lanes canvas"}))
        self.assertEqual((len(said["bars"]), said["rest"], group), (30, 0, 1))
        self.assertEqual({bar["lane"] for bar in said["bars"]}, {0, 1})
        for a in said["bars"]:
            for b in said["bars"]:
                if a["lane"] == b["lane"] and a["start"] < b["start"]:
                    self.assertLessEqual(a["end"], b["start"])

    def test_a_colour_is_a_program_and_the_key_has_its_name(self):
        said, key = self.look_at(("lives", {}), texts("#tl-key button"))
        colours = {}
        for bar in said["bars"]:
            colours.setdefault(bar["label"], set()).add(bar["colour"])
        self.assertEqual(sorted(colours), sorted(synthetic.NAMES))
        self.assertEqual(sorted(key), sorted(synthetic.NAMES))
        self.assertEqual(len(set.union(*colours.values())), len(synthetic.NAMES))
        self.assertTrue(all(len(of) == 1 for of in colours.values()), colours)

    def test_keys_go_from_process_to_process_and_enter_zooms_to_its_life(self):
        lanes = "#tl-lanes canvas"
        *_, said, _, zoomed = self.look_at(
            *[("press", {"of": lanes, "key": key}) for key in ("ArrowRight", "ArrowRight")],
            text("#tl-lanes .said"),
            ("press", {"of": lanes, "key": "Enter"}),
            ("range", {}),
        )
        self.assertTrue(said.startswith("sort (1001) · 0:00.000 to "), said)
        for part in ("exit 0", "CPU ", "peak 36.0 MiB", "of align (1000)", "sort --in /data/A7/part-000001.fastq.gz"):
            self.assertIn(part, said)
        self.assertAlmostEqual(zoomed[0][0], 0, delta=1e-3)
        self.assertLess(zoomed[0][1], 1)

    def test_one_that_failed_and_one_that_goes_on_can_be_told(self):
        *lines, summary = synthetic.lines(101, 5)
        lines[-1].update(exit_code=None, signal=9)
        lines[-2].update(end_time=None, exit_code=None, state="R")
        said, key = self.look_quietly(self.report([*lines, summary]), ("lives", {}), text("#tl-key"))
        self.assertEqual({bar["pid"]: (bar["failed"], bar["open"]) for bar in said["bars"]},
                         {1000: (False, False), 1001: (False, False), 1002: (False, False), 1003: (False, True), 1004: (True, False)})
        self.assertIn("failed or killed", key)
        self.assertIn("alive at the end", key)


class Many(ReportCase):
    def look_at(self, *steps):
        return self.look_quietly(self.report(build()), *steps)

    def test_beyond_fifty_processes_a_row_is_a_program_with_its_sums(self):
        names, rows, count, _ = self.look_at(
            texts("#tl-rows .name"), texts("#tl-rows .row"), text("#tl-count"), ("screenshot", {"path": str(PICTURES / "build.png")})
        )
        self.assertEqual(names, ["program", "cc1 × 276", "make × 1", "as × 276", "sh × 276"])  # the most CPU time first
        self.assertEqual(rows[1].split("\n"), ["cc1 × 276", "4", "4 min 8 s", "16.0 MiB"])
        self.assertEqual(count, "829 processes of 4 programs, up to 9 at once")

    def test_a_program_opens_into_lanes_by_keyboard_and_closes(self):
        row = "#tl-rows .row:nth-child(2) .open"
        before, _, after, lanes, _, closed, left = self.look_at(
            ("attribute", {"of": row, "name": "aria-expanded"}),
            ("press", {"of": row, "key": "Enter"}),
            ("attribute", {"of": row, "name": "aria-expanded"}),
            ("lives", {"of": row}),
            ("press", {"of": row, "key": "Enter"}),
            ("attribute", {"of": row, "name": "aria-expanded"}),
            ("count", {"of": ".opened"}),
        )
        self.assertEqual((before, after, closed, left), ("false", "true", "false", 0))
        self.assertEqual((len(lanes["bars"]), {bar["lane"] for bar in lanes["bars"]}), (276, {0, 1, 2, 3}))
        self.assertEqual(lanes["bars"][0]["label"], "file000.c")  # what tells it from the others

    def test_rows_and_open_lanes_follow_the_zoom(self):
        row = "#tl-rows .row:nth-child(2) .open"
        _, _, ticks, said = self.look_at(
            ("click", {"of": row}), ("zoom", {"chart": "cpu", "from": 0.25, "to": 0.5}), texts("#tl-rows .tick"), ("lives", {"of": row})
        )
        self.assertTrue(all(tick.startswith(("0:2", "0:3", "0:4", "0:5")) for tick in ticks), ticks)
        self.assertTrue(all(bar["end"] > 24 and bar["start"] < 51 for bar in said["bars"]))
