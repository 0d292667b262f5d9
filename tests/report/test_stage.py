# SPDX-License-Identifier: BSD-2-Clause
"""The upper half of the page: head, tiles, overview, lanes of names, CPU and memory on one time axis."""

import json
import subprocess
import time

import synthetic
from lib.bpfmon import BPFMON
from reports import PICTURES, ReportCase

SAMPLES = 101  # one a second: 100 s
MARKS = (
    (0.5, "load"), (20, "train epoch 1"), (40, "train epoch 2"), (60, "evaluate, with a name that is far too long for its band" * 3),
    (70, "a"), (70.1, "b"), (70.2, "c"), (80, "save"),
)
EVENTS = (
    *({"kind": "event", "time": synthetic.START + at, "elapsed_seconds": at, "event": "mark", "text": text} for at, text in MARKS),
    *({"kind": "event", "time": synthetic.START + at, "event": "oom_kill", "pid": 1005, "comm": "ld"} for at in (90, 90.5, 92)),
)


def text(of):
    return ("text", {"of": of})


def texts(of):
    return ("texts", {"of": of})


def press(of, key):
    return ("press", {"of": of, "key": key})


def held(i, pid, comm, rss):
    return {"kind": "process_sample", "time": synthetic.START + i, "elapsed_seconds": i, "pid": pid, "comm": comm,
            "start_time": synthetic.START, "rss_bytes": rss * synthetic.MIB}


def with_held(processes):
    """A run in whose samples @processes hold 100 MiB each."""
    for line in synthetic.lines(SAMPLES, 3):
        yield line
        if line["kind"] == "sample":
            at = int(line["elapsed_seconds"])
            yield from (held(at, 2000 + i, f"prog{i % 3}", 100) for i in range(processes))


class Stage(ReportCase):
    def setUp(self):
        super().setUp()
        self.page = self.report(synthetic.lines(SAMPLES, 30, events=EVENTS))

    def look_at(self, *steps):
        return self.look_quietly(self.page, *steps)

    def near(self, ranges, start, end, delta=1.5):
        for a, b in ranges:
            self.assertAlmostEqual(a, start, delta=delta)
            self.assertAlmostEqual(b, end, delta=delta)


class Head(Stage):
    def test_name_command_tags_and_one_sentence_come_first(self):
        title, command, chips, said = self.look_at(text("h1"), text("#command"), texts("#chips > *"), text("#sentence"))
        self.assertEqual((title, command), ("synthetic", "./align.sh --samples 101"))
        self.assertEqual(chips, ["exit 0", "sample A7", "threads 8"])
        self.assertEqual(said, "Ran for 100 s, used 1.50 of 4 cores on average, held up to 9.1 GiB of memory, and ended with 0.")

    def test_a_run_without_a_name_has_that_of_its_command(self):
        lines = list(synthetic.lines(5, 1))
        del lines[0]["name"]
        self.assertEqual(self.look_quietly(self.report(lines), text("h1"), ("title", {})), ["align.sh", "align.sh – bpfmon report"])

    def test_a_run_without_a_summary_has_the_processes_that_are_known(self):
        lines = [line for line in synthetic.lines(SAMPLES, 12) if line["kind"] != "summary"]
        source, page = self.dir / "cut.jsonl", self.dir / "cut.html"
        synthetic.write(source, lines)
        self.bpfmon(source, "-o", page, "-q")
        tile = self.look_quietly(page, texts(".tile"))[0][4]
        self.assertTrue(tile.startswith("Processes\n12 or more\nup to 9 at a sample\n"), tile)

    def test_what_was_written_may_be_an_upper_bound(self):
        lines = list(synthetic.lines(SAMPLES, 3))
        lines[-1] |= {"read_bytes": 0, "write_bytes": 200 << 20, "wchar_bytes": 1 << 20, "bounds": {"write_bytes": "at_most"}}
        tile = self.look_quietly(self.report(lines), texts(".tile"))[0][3]
        self.assertTrue(tile.startswith("I/O: written\nup to 200 MiB\nto storage"), tile)

    def test_six_tiles_have_a_colour_for_trouble_only(self):
        lines = list(synthetic.lines(SAMPLES, 3))
        tiles, bad, ink = self.look_quietly(self.report(lines), texts(".tile dt"), ("count", {"of": ".tile.bad"}), ("count", {"of": ".spark"}))
        self.assertEqual(tiles, ["Wall time", "CPU", "Memory", "I/O: read", "Processes", "Trouble"])
        self.assertEqual((bad, ink), (0, 4))
        lines[-1].update(exit_code=3, complete=False, losses={"records": 2}, oom_kills=1)
        bad, said, _ = self.look_quietly(self.report(lines), texts(".tile.bad"), text("#notices"), ("screenshot", {"path": str(PICTURES / "trouble.png"), "full": False}))
        self.assertIn("The kernel killed a process.", said)  # which one is not known
        self.assertIn("1 OOM kill\nexit 3, 2 lost", bad[1])

    def test_limit_that_ended_the_run_is_named_instead_of_the_signal(self):
        hit = {"limit": "rss<500MiB", "ended": True, "unit": "bytes", "value": 501 << 20, "elapsed_seconds": 3, "pid": 1002, "comm": "gzip"}
        lines = list(synthetic.lines(SAMPLES, 3, events=[{"kind": "event", "time": synthetic.START + 3, "event": "limit", **hit}]))
        lines[-1].update(signal=15, limit=hit)
        chip, said, notice, trouble, row = self.look_quietly(
            self.report(lines), text("#chips .end"), text("#sentence"), text("#notices"), texts(".tile.bad"), text("#events-table tbody tr")
        )
        self.assertEqual(chip, "ended by a limit, rss<500MiB")
        self.assertIn(", and was ended by the limit rss<500MiB.", said)
        self.assertEqual(notice, "Ended by a limit. rss<500MiB: 501 MiB after 3.00 s, most of it in gzip (1002).")
        self.assertIn("ended by a limit, rss<500MiB", trouble[0])
        self.assertIn("rss<500MiB: 501 MiB, most of it in gzip (1002); it ended the run", row)
        lines[-1].update(exit_code=0, limit=hit | {"ended": False})
        del lines[-1]["signal"]
        chip, notice = self.look_quietly(self.report(lines), text("#chips .end"), text("#notices"))
        self.assertEqual(chip, "exit 0")
        self.assertTrue(notice.startswith("Beyond a limit. rss<500MiB: 501 MiB"), notice)

    def test_request_cores_and_longest_phase_are_those_of_the_summary_in_a_terminal(self):
        lines = list(synthetic.lines(5, 1, events=[{"kind": "event", "time": synthetic.START + 1, "elapsed_seconds": 1, "event": "mark", "text": "train"}]))
        lines[0]["limits"] = {"cpu_max_cores": 2.5}
        lines[-1].update(cpu_seconds=2.999, cores_mean=0.74975)
        for more in (
            {"rss_peak_bytes": 522 << 20, "rss_peak_upper_bytes": 700 << 20},
            {"rss_peak_exact_bytes": 9 << 30, "exit_code": 1},
            {"oom_kills": 1, "oom": {"limit_bytes": 3 << 28}},
        ):
            lines[-1].update(more)
            with self.subTest(more):
                page = self.report(lines)
                shown = subprocess.run([BPFMON, "show", self.dir / "run.jsonl"], stdout=subprocess.PIPE, check=True, text=True).stdout
                answer = next(line for line in shown.splitlines() if line.startswith("  request "))
                request, used, phase = answer.split(maxsplit=1)[1].split("; ")
                self.assertEqual((used, phase), ("used 0.74 of 2.50 cores", "75 % of the time in phase train"))
                tiles, said = self.look_quietly(page, texts(".tile"), text("#sentence"))
                self.assertIn(phase, tiles[0].split("\n"))
                self.assertIn(f"CPU\n{used.removeprefix('used ')}\n30 % busy", tiles[1])
                self.assertIn(f"request {request}", tiles[2].split("\n"))
                self.assertIn(f", {used} on average, ", said)


class Running(ReportCase):
    def test_a_run_that_goes_on_is_blue_and_no_trouble(self):
        store = self.dir / "store.sqlite"
        words = ["-q", "-i", "0.05", "--name", "live", "--store", store, "--", "sleep", "60"]
        with subprocess.Popen([BPFMON, *map(str, words)], stderr=subprocess.DEVNULL) as run:
            try:
                while self.bpfmon("live", "--store", store, "--force").returncode:
                    self.assertIsNone(run.poll())
                    time.sleep(0.05)
            finally:
                run.terminate()
        figures, chips, said, bad, notices, kind = self.look_quietly(
            self.dir / "live.html", text("#figures"), texts("#chips > *"), text("#sentence"), texts(".tile.bad dd b"), text("#notices"), ("count", {"of": ".end.live"})
        )
        self.assertRegex(chips[0], r"^running, [\d.]+ m?s so far$")
        self.assertIn("It is running", said)
        for word in ("request", "largest process"):  # what may still grow, and is known of those that have ended
            self.assertNotIn(word, figures)
        self.assertEqual((kind, len(chips), notices), (1, 1, ""))
        # bpfmon may have got no CPU for some samples: the recorder's own count of them is the witness
        words = [BPFMON, "export", "live", "-f", "jsonl", "--store", str(store)]
        lines = map(json.loads, subprocess.run(words, capture_output=True, check=True).stdout.splitlines())
        late = sum(line["count"] for line in lines if line.get("event") == "late_ticks")
        for tile in bad:
            self.assertRegex(tile, r"^\d+ samples? missing$")
            self.assertLessEqual(int(tile.split()[0]), late)


class Zoom(Stage):
    def test_zoom_rescales_values_is_in_the_address_and_back_goes_back(self):
        whole, _, address, tops, _, legend, _, again, _, forth = self.look_at(
            ("tops", {}),
            ("zoom", {"chart": "memory", "from": 0.5, "to": 0.9}),
            ("address", {}),
            ("tops", {}),
            ("away", {}),
            ("legend", {"chart": "memory"}),
            ("back", {}),
            ("range", {}),
            ("forward", {}),
            ("range", {}),
        )
        self.assertRegex(address, r"^#t=[\d.]+,[\d.]+$")
        self.assertGreater(whole["memory"], 9 << 30)
        self.assertLess(tops["memory"], 1 << 30)
        self.assertEqual(legend["when"], "largest here")
        self.assertTrue(legend["rss_anon_bytes"].endswith(" MiB"), legend)
        self.near(again, 0, 100, 0)
        self.near(forth, 50, 90)

    def test_an_address_with_a_time_opens_zoomed(self):
        page = f"{self.page}#t=25,50"
        ranges, handles, _, _, other = self.look(
            page, ("range", {}), ("attribute", {"of": "#brush-from", "name": "aria-valuetext"}), ("click", {"of": "#reset-zoom"}), ("address", {}), ("range", {})
        ).results
        self.near(ranges, 25, 50, 0)
        self.assertEqual(handles, "0:25.0")
        self.near(other, 0, 100, 0)

    def test_the_brush_takes_mouse_finger_and_keys(self):
        _, mouse, _, moved, _, _, finger, _, _, keys, _, address = self.look_at(
            ("brush", {"from": 0.2, "to": 0.4}),
            ("range", {}),
            ("brush", {"from": 0.3, "to": 0.5}),  # within the window: it moves
            ("range", {}),
            press("body", "Escape"),
            ("brush", {"from": 0.6, "to": 0.8, "finger": True}),
            ("range", {}),
            press("#brush-window", "ArrowRight"),
            press("#brush-window", "Shift+ArrowLeft"),
            ("range", {}),
            press("#brush-to", "End"),
            ("address", {}),
        )
        self.near(mouse, 20, 40)
        self.near(moved, 40, 60)
        self.near(finger, 60, 80)
        self.near(keys, 51, 71)
        self.assertRegex(address, r"^#t=5\d[\d.]*,100$")


class Lanes(Stage):
    def test_phases_have_bands_with_names_that_overlap_nothing(self):
        names, overlaps, flags, covering = self.look_at(texts("#bands .band"), ("overlaps", {"of": "#bands .band"}), ("overlaps", {"of": "#flags .flag"}), ("covering", {}))
        self.assertEqual((names[1], names[2], names[-1]), ("load", "train epoch 1", "save"))
        self.assertIn("2 phases", names)
        self.assertEqual((overlaps, flags, covering), ([], [], []))

    def test_a_press_on_a_band_zooms_and_arrow_keys_go_on(self):
        *_, focused, _, zoomed = self.look_at(
            press("#bands .band[tabindex='0']", "ArrowRight"), ("press_here", {"key": "ArrowRight"}), ("focused_text", {}), ("press_here", {"key": "Enter"}), ("range", {})
        )
        self.assertEqual(focused, "train epoch 1")
        self.near(zoomed, 20, 40, 0.001)

    def test_charts_of_the_stage_have_one_gutter_and_one_height(self):
        plots, lefts = self.look_at(("plots", {}), ("lefts", {"of": "#stage .u-over, #bands, #brush"}))
        (_, *cpu), (_, *memory) = plots[:2]
        self.assertEqual(cpu, memory)
        self.assertEqual(len({height for _, _, height in plots}), 1)
        self.assertEqual(len(set(lefts)), 1, lefts)


class Curves(ReportCase):
    def test_flat_charts_are_a_line_of_text_and_drawn_on_demand(self):
        lines = [{**line, "majflt": 0, "minflt": 0} if line["kind"] == "sample" else line for line in synthetic.lines(SAMPLES, 3)]
        folded, before, _, after = self.look_quietly(
            self.report(lines), texts("#flat li"), ("count", {"of": "[data-chart=faults]"}), ("click", {"of": "#flat button"}), ("legend", {"chart": "faults"})
        )
        self.assertEqual((folded, before), (["Page faults minor 0/s, major 0/s all the time Draw"], 0))
        self.assertEqual(after["minflt"], "0/s")

    def test_memory_is_stacked_by_process_and_by_kind_on_demand(self):
        labels, legend, _, kinds = self.look_quietly(
            self.report(with_held(2)), texts("[data-chart=memory] .curve"), ("legend", {"chart": "memory"}), ("select", {"of": ".choice", "value": "by kind"}), ("legend", {"chart": "memory"})
        )
        self.assertEqual((legend["held-0"], legend["held-1"], legend["rss_bytes"]), ("100 MiB", "100 MiB", "9.1 GiB"))
        self.assertRegex(labels[2], "^up to 7 processes not sampled ")  # of 3 to 9
        self.assertEqual(kinds["rss_file_bytes"], "100 MiB")

    def test_memory_of_many_processes_is_stacked_by_program(self):
        labels, at, legend, _ = self.look_quietly(
            self.report(with_held(9)), texts("[data-chart=memory] .curve"), ("cursor", {"chart": "memory", "at": 0.5}), ("legend", {"chart": "memory"}),
            ("screenshot", {"path": str(PICTURES / "held.png")}),
        )
        self.assertEqual([label.split()[0] for label in labels[:3]], ["prog0", "prog1", "prog2"])
        self.assertRegex(labels[3], "^not sampled ")  # a run of fewer processes than were sampled
        self.assertIsNone(at)
        self.assertEqual([legend[f"held-{i}"] for i in range(3)], ["300 MiB"] * 3)

    def test_a_limit_that_is_near_is_drawn_and_one_that_is_far_on_demand(self):
        lines = list(synthetic.lines(SAMPLES, 3))
        lines[0]["limits"] = {"memory_max_bytes": 12 << 30, "cpu_max_cores": 2}
        limit = "[data-chart=memory] [data-key=limit-%s]"
        near, far, top, _, shown, higher = self.look_quietly(
            self.report(lines),
            ("attribute", {"of": limit % "limit", "name": "aria-pressed"}),
            ("attribute", {"of": limit % "machine", "name": "aria-pressed"}),
            ("tops", {}),
            ("click", {"of": limit % "machine"}),
            ("attribute", {"of": limit % "machine", "name": "aria-pressed"}),
            ("tops", {}),
        )
        self.assertEqual((near, far, shown), ("true", "false", "true"))
        self.assertLess(top["memory"], 13 << 30)
        self.assertGreater(higher["memory"], 64 << 30)


class Looks(Stage):
    def test_texts_have_contrast_in_light_and_dark(self):
        light, _, dark, _ = self.look_at(("faint", {}), ("scheme", {"value": "dark"}), ("faint", {}), ("screenshot", {"path": str(PICTURES / "stage-dark.png"), "full": False}))
        self.assertEqual((light, dark), ([], []))

    def test_a_phone_has_no_sideways_scroll_and_nothing_that_overlaps(self):
        _, width, bands, covering, _ = self.look_at(
            ("viewport", {"width": 390, "height": 844}), ("width", {}), ("overlaps", {"of": "#bands .band"}), ("covering", {}), ("screenshot", {"path": str(PICTURES / "phone.png")})
        )
        self.assertEqual((width, bands, covering), (390, [], []))
