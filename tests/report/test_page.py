# SPDX-License-Identifier: BSD-2-Clause
"""The page in a browser: what it says, and what it does when it is used."""

import math
import pathlib

import synthetic
from reports import PICTURES, ReportCase

SAMPLES = 101  # one a second: 100 s
EVENTS = (
    {"kind": "event", "time": synthetic.START + 20, "event": "mark", "text": "epoch 1"},
    {"kind": "event", "time": synthetic.START + 60, "event": "mark", "text": "epoch 2"},
    {"kind": "event", "time": synthetic.START + 90, "event": "oom_kill", "pid": 1005, "comm": "ld", "rss_bytes": 1 << 30},
)
WHOLE = [0, 100]


def text(of):
    return ("text", {"of": of})


def texts(of):
    return ("texts", {"of": of})


def legend(chart):
    return ("legend", {"chart": chart})


def cursor(chart, at):
    return ("cursor", {"chart": chart, "at": at})


def mebibytes(n):
    return f"{math.floor(n / synthetic.MIB * 10 + 0.5) / 10:.1f} MiB"


class Page(ReportCase):
    def setUp(self):
        super().setUp()
        self.page = self.report(synthetic.lines(SAMPLES, 30, events=EVENTS))

    def look_at(self, *steps):
        return self.look_quietly(self.page, *steps)


class Charts(Page):
    def test_values_at_the_cursor_are_those_of_the_sample_in_all_charts(self):
        _, cpu, memory, io, alive, faults = self.look_at(
            cursor("cpu", 0.5), legend("cpu"), legend("memory"), legend("io"), legend("processes"), legend("faults")
        )
        sample, before = (synthetic.sample(i, 1, SAMPLES // 3) for i in (50, 49))
        for said in (cpu, memory, io, alive, faults):
            self.assertEqual(said["when"], "at 0:50.0, epoch 1")
        self.assertEqual((cpu["user_seconds"], cpu["system_seconds"], cpu["cores"]), ("1.25", "0.25", "1.50"))
        self.assertEqual(memory["rss_anon_bytes"], f"{sample['rss_anon_bytes'] / synthetic.MIB:.0f} MiB")
        self.assertEqual(memory["rss_file_bytes"], "100 MiB")
        self.assertEqual(io["write_bytes"], "1.0 MiB/s")
        self.assertEqual((alive["processes"], alive["threads"]), ("4", "17"))
        self.assertEqual(faults["minflt"], f"{sample['minflt'] - before['minflt']:,}/s")

    def test_the_values_are_next_to_the_cursor_in_the_chart_below_it(self):
        _, beside, here, there, _, gone = self.look_at(
            cursor("memory", 0.5), texts(".beside:visible"), ("box", {"of": ".beside"}), ("box", {"of": "[data-chart=memory] .u-over"}),
            ("away", {}), ("count", {"of": ".beside:visible"}),
        )  # fmt: skip
        self.assertRegex(beside[0], r"\Aat 0:50\.0, epoch 1\nanonymous \d+ MiB\nfile-backed 100 MiB\n")
        self.assertEqual((len(beside), gone), (1, 0))
        middle = there["x"] + there["width"] / 2
        self.assertTrue(middle < here["x"] < middle + 40, (here, there))

    def test_without_a_cursor_the_legend_has_the_largest_values(self):
        (memory,) = self.look_at(legend("memory"))
        self.assertEqual(memory["when"], "largest")
        self.assertEqual(memory["rss_anon_bytes"], "9.0 GiB")

    def test_zoom_is_that_of_all_charts_and_of_the_timeline_and_escape_ends_it(self):
        whole, axis, _, zoomed, ticks, _, again = self.look_at(
            ("range", {}),
            texts(".tick"),
            ("zoom", {"chart": "memory", "from": 0.25, "to": 0.75}),
            ("range", {}),
            texts(".tick"),
            ("press", {"of": "body", "key": "Escape"}),
            ("range", {}),
        )
        self.assertEqual(whole, [WHOLE] * 6)
        self.assertEqual(again, whole)
        self.assertNotEqual(ticks, axis)
        for start, end in zoomed:
            self.assertAlmostEqual(start, 25, delta=1)
            self.assertAlmostEqual(end, 75, delta=1)

    def test_a_zoom_selects_what_is_said_and_the_processes_that_lived_then(self):
        before, _, said, ranges, counted, _, after, again = self.look_at(
            ("count", {"of": "#selection:visible"}), ("zoom", {"chart": "memory", "from": 0.25, "to": 0.375}),
            ("until", {"of": "#selection", "like": "^Selected"}), ("range", {}), ("until", {"of": "#processes-count", "like": "alive"}),
            ("press", {"of": "body", "key": "Escape"}), ("until", {"of": "#processes-count", "like": "^30 processes$"}), ("count", {"of": "#selection:visible"}),
        )  # fmt: skip
        self.assertEqual((before, again, after), (0, 0, "30 processes"))
        first, last = ranges[0]
        lived = [
            line for line in synthetic.lines(SAMPLES, 30)
            if line["kind"] == "process" and line["start_time"] - synthetic.START <= last and line["end_time"] - synthetic.START >= first
        ]  # fmt: skip
        self.assertTrue(counted.startswith(f"{len(lived)} of 30 processes: those alive from 0:2"), counted)
        start, end = math.ceil(first), math.floor(last)
        took, (before, after) = end - start, (synthetic.sample(i, 1, SAMPLES // 3) for i in (start, end))
        read, written = (mebibytes(after[key] - before[key]) for key in ("read_bytes", "write_bytes"))
        self.assertRegex(said, rf"^Selected: 12\.\d s of 100 s, from 0:2\d\.\d to 0:3\d\.\d; measured from 0:{start}\.\d+ to 0:{end}\.\d+, ")
        self.assertIn(f", 1.50 cores ({1.5 * took:.1f} s of CPU time), up to 9.1 GiB resident, {read} read and {written} written, ", said)
        self.assertRegex(said, r", up to \d processes at a sample\.$")

    def test_tiles_are_of_the_selected_time_or_say_that_they_are_not(self):
        before, place, _, ranges, tiles, whole, there, _, after = self.look_at(
            texts(".tile"), ("box", {"of": "#stage"}), ("zoom", {"chart": "cpu", "from": 0.5, "to": 0.7}), ("range", {}), texts(".tile"),
            ("count", {"of": ".tile.selected"}), ("box", {"of": "#stage"}), ("press", {"of": "body", "key": "Escape"}), texts(".tile"),
        )  # fmt: skip
        self.assertEqual((before, whole), (after, 5))
        self.assertAlmostEqual(place["y"], there["y"], delta=0.1)  # the charts stay where they are
        first, last = ranges[0]
        start, end = math.ceil(first), math.floor(last)
        samples = [synthetic.sample(i, 1, SAMPLES // 3) for i in range(start, end + 1)]
        took, largest = end - start, max(samples, key=lambda s: s["rss_bytes"])
        read, written = (mebibytes(samples[-1][key] - samples[0][key]) for key in ("read_bytes", "write_bytes"))
        lived = sum(
            line["kind"] == "process" and line["start_time"] - synthetic.START <= last and line["end_time"] - synthetic.START >= first
            for line in synthetic.lines(SAMPLES, 30)
        )
        time, cpu, memory, io, processes, trouble = (tile.split("\n") for tile in tiles)
        self.assertEqual((time[0], time[2]), ("Selected time", "of 100 s"))
        self.assertEqual(cpu, ["CPU", "1.50 cores", "up to 1.50 cores", f"{1.5 * took:.1f} s", f"waited {10 * took} ms for a CPU"])
        self.assertEqual(memory[:2], ["Memory", f"{math.floor(largest['rss_bytes'] / synthetic.MIB + 0.5)} MiB"])
        self.assertEqual(memory[2:], [f"largest sample, resident at {largest['elapsed_seconds']:.1f} s"])
        self.assertEqual(io[:3], ["I/O: read", read, f"from storage; {written} written"])
        self.assertEqual(processes[:2], ["Processes", str(lived)])
        self.assertEqual(trouble[0], "Trouble, whole run")
        self.assertEqual(trouble[1:], before[5].split("\n")[1:])

    def test_a_selection_between_two_samples_has_no_figures(self):
        tiles, said = self.look(f"{self.page}#t=50.2,50.8", texts(".tile"), text("#selection")).results
        self.assertEqual([tile.split("\n")[1] for tile in tiles[1:4]], ["\u2013"] * 3)
        self.assertEqual(said, "Selected: 600 ms of 100 s, from 0:50.2 to 0:50.8; no interval of samples is within.")

    def test_keys_move_the_cursor_zoom_and_are_announced(self):
        chart = "[data-chart=processes] .plot"
        press = [("press", {"of": chart, "key": key}) for key in ("ArrowRight", "ArrowRight", "ArrowLeft")]
        *_, announced, said, _, zoomed, label = self.look_at(
            *press,
            text("#announced"),
            legend("cpu"),
            ("press", {"of": chart, "key": "+"}),
            ("range", {}),
            ("attribute", {"of": chart, "name": "aria-label"}),
        )
        self.assertEqual(announced, "0:01.0: threads 7, processes 4")
        self.assertEqual(said["when"], "at 0:01.0")
        self.assertTrue(all(end - start < 60 for start, end in zoomed), zoomed)
        self.assertIn("threads up to 18 at", label)

    def test_a_curve_can_be_hidden_and_shown(self):
        button = "[data-chart=io] .curve[data-key=rchar_bytes]"
        before, _, after = self.look_at(
            ("attribute", {"of": button, "name": "aria-pressed"}),
            ("press", {"of": button, "key": "Enter"}),
            ("attribute", {"of": button, "name": "aria-pressed"}),
        )
        self.assertEqual((before, after), ("false", "true"))


class Processes(Page):
    def test_a_process_stands_below_its_parent_and_the_largest_comes_first(self):
        _, names, values, count = self.look_at(
            ("select", {"of": "#tl-group", "value": "tree"}),
            texts("#tl-rows .name"),
            texts("#tl-rows .row:nth-child(2) > .num"),
            text("#tl-count"),
        )
        self.assertEqual(names[1], "align 1000")
        self.assertEqual(values, ["100 s", "70.0 s", "5.0 MiB"])
        self.assertEqual(count, "25 of 30 processes")
        self.assertEqual(len(names), 26)  # and the head

    def test_rows_can_be_programs_and_all(self):
        _, programs, _, _, everyone = self.look_at(
            ("select", {"of": "#tl-group", "value": "program"}),
            texts("#tl-rows .name"),
            ("select", {"of": "#tl-group", "value": "tree"}),
            ("select", {"of": "#tl-limit", "value": "all"}),
            ("count", {"of": "#tl-rows .row"}),
        )
        self.assertEqual(sorted(programs[1:]), sorted(f"{name} × 5" for name in synthetic.NAMES))
        self.assertEqual(everyone, 31)

    def test_the_search_finds_a_process_by_an_argument(self):
        _, rows, count = self.look_at(
            ("fill", {"of": "#find", "value": "part-000017"}),
            texts("#processes-table tbody tr td:nth-child(2)"),
            text("#processes-count"),
        )
        self.assertEqual((rows, count), (["1017"], "1 of 30 processes"))


class Tables(Page):
    def column(self, title, *keys):
        """The peaks of the processes, after the head of the column of that title was used so."""
        head = f"#processes-table th:has-text('{title}')"
        more = ("click", {"of": "#processes .more"})
        *_, column, order = self.look_at(
            more,
            *[("press", {"of": f"{head} button", "key": key}) for key in keys],
            texts("#processes-table tbody td:nth-child(11)"),
            ("attribute", {"of": head, "name": "aria-sort"}),
        )
        return [float(cell.split()[0]) for cell in column], order

    def test_a_head_sorts_falling_then_rising(self):
        peaks = [float(f"{5 + i * 31 % 400:.4g}") for i in range(30)]
        self.assertEqual(self.column("Peak RSS", "Enter"), (sorted(peaks, reverse=True), "descending"))
        self.assertEqual(self.column("Peak RSS", "Enter", "Space"), (sorted(peaks), "ascending"))

    def test_programs_are_there_with_what_they_used(self):
        rows, first = self.look_at(("count", {"of": "#programs-table tbody tr"}), text("#programs-table tbody tr"))
        self.assertEqual(rows, len(synthetic.NAMES))
        self.assertIn("52.5 s", first)

    def test_where_the_time_went_is_one_bar(self):
        self.assertNotIn("times-bar", pathlib.Path(self.page).read_text())  # it has no lifetimes
        lines = list(synthetic.lines(5, 1))
        lines[-1].update(lifetime_seconds=40, user_seconds=8, system_seconds=2, runqueue_wait_seconds=4)
        lines[-1].update(blkio_delay_seconds=12, reclaim_delay_seconds=0)
        parts, drawn = self.look_quietly(self.report(lines), texts(".times li"), ("count", {"of": ".times-bar i"}))
        self.assertEqual(drawn, 5)
        self.assertEqual(parts, [
            "Time of all threads, 40.0 s:", "user 8.00 s (20 %)", "system 2.00 s (5 %)", "run queue 4.00 s (10 %)",
            "disk 12.0 s (30 %)", "other 14.0 s (35 %)",
        ])  # fmt: skip

    def test_holders_of_an_exact_peak_are_named(self):
        lines = list(synthetic.lines(5, 1))
        holders = [{"pid": 7, "comm": "tail", "exe": "/bin/tail", "rss_bytes": 3 << 28}, {"pid": 8, "comm": "sh", "rss_bytes": 1 << 27}]
        lines[-1].update(rss_peak_exact_bytes=1 << 30, rss_peak_exact_elapsed_seconds=2, rss_peak_holders=holders)
        lines[-1]["rss_peak_others"] = {"processes": 3, "rss_bytes": 1 << 27}
        rows, others, figures = self.look_quietly(
            self.report(lines), texts("#holders-table tbody tr"), text("#holders p"), text("#figures")
        )
        self.assertEqual(rows, ["tail\t7\t768 MiB\t75.0 %", "sh\t8\t128 MiB\t12.5 %"])
        self.assertEqual(others, "3 more processes held 128 MiB in all.")
        self.assertIn("exact peak, resident at 2.00 s", figures)

    def test_what_devices_did_is_listed_by_device(self):
        lines = list(synthetic.lines(5, 1))
        lines[-1]["by"] = {
            "device": {"sda": {"block_read_bytes": 1 << 20}, "vda": {"block_read_bytes": 3 << 20, "block_read_ops": 1200, "block_read_latency_seconds": 2.5}},
            "<b>": {"x": {"cpu_seconds": 1}},
        }
        heads, rows = self.look_quietly(self.report(lines), texts("#instances thead tr"), texts("#instances tbody tr"))
        self.assertEqual(heads, ["Device\tRead\tReads\tTime of reads", "<b>\tCPU time"])
        self.assertEqual(rows, ["vda\t3.0 MiB\t1,200\t2.50 s", "sda\t1.0 MiB\t–\t–", "x\t1.00 s"])

    def test_peers_and_states_of_sockets_have_titles_in_words(self):
        lines = list(synthetic.lines(5, 1))
        lines[-1]["by"] = {"peer": {"10.0.0.7:443": {"net_rx_bytes": 1 << 20}}, "socket_state": {"time_wait": {"net_sockets": 9}}}
        titles, heads, rows = self.look_quietly(
            self.report(lines), texts("#instances h3"), texts("#instances thead tr"), texts("#instances tbody tr"))
        self.assertEqual(titles, ["By peer", "By state of TCP sockets"])
        self.assertEqual(heads, ["Peer\tReceived", "State of TCP sockets\tSockets"])
        self.assertEqual(rows, ["10.0.0.7:443\t1.0 MiB", "time wait\t9"])

    def test_the_note_is_below_the_title(self):
        lines = list(synthetic.lines(5, 1))
        lines[0]["note"] = "third try:\n<b>8 threads"
        note, hidden = self.look_quietly(self.report(lines), text("h1 + p"), text("#facts"))
        self.assertEqual(note, "third try:\\n<b>8 threads")
        self.assertNotIn("third try", hidden)

    def test_kinds_of_files_have_a_chart(self):
        lines = list(synthetic.lines(5, 1))
        for i, line in enumerate(lines[1:6]):
            line.update(rchar_files_bytes=i * i << 20, wchar_sockets_bytes=i * i << 10, rchar_pipes_bytes=0)
        legend, none = self.look_quietly(
            self.report(lines), ("legend", {"chart": "io-kinds"}), ("count", {"of": "[data-chart=io-kinds] [data-key=rchar_pipes_bytes]"}))
        self.assertEqual((legend, none), ({"when": "largest", "rchar_files_bytes": "7.0 MiB/s", "wchar_sockets_bytes": "7.0 KiB/s"}, 0))

    def test_events_are_listed_in_the_order_of_time(self):
        (rows,) = self.look_at(texts("#events-table tbody tr"))
        self.assertEqual([row.split("\t")[:2] for row in rows], [["0:20.000", "mark"], ["1:00.000", "mark"], ["1:30.000", "oom kill"]])
        self.assertEqual(rows[0].split("\t")[2], "epoch 1")
        self.assertIn("The kernel killed ld (1005) holding 1.0 GiB", rows[2])


class Facts(Page):
    def test_all_facts_of_the_run_are_listed(self):
        lines = list(synthetic.lines(5, 1))
        lines[0].update(scheduler={"SLURM_JOB_ID": "4711"})
        lines[0]["system"].update(cpu_model="EPYC 9654", swap_bytes=1 << 30)
        lines[0]["capabilities"]["swap_bytes"] = {"available": False, "reason": "this kernel has no swap"}
        folds = "#facts summary:has-text"
        *_, facts = self.look_quietly(
            self.report(lines),
            *[("press", {"of": f"{folds}('{title}')", "key": "Enter"}) for title in ("Run", "Machine", "Scheduler", "Not measured")],
            texts("#facts div"),
        )
        said = [fact.split("\n") for fact in facts]
        for fact in (
            ["Tags", "sample=A7, threads=8"], ["SLURM_JOB_ID", "4711"], ["Processor", "EPYC 9654"], ["Swap", "1.0 GiB"],
            ["Host", "node7"], ["swap_bytes", "this kernel has no swap"],
        ):
            self.assertIn(fact, said)

    def test_facts_are_folded_and_in_human_units(self):
        lines = list(synthetic.lines(5, 1))
        lines[0]["system"].update(boot_time=int(synthetic.START) - 100_000)
        lines[0]["limits"] = {"memory_max_bytes": 3 << 30, "rlimit_cpu_seconds": 7200, "rlimit_nofile": 20000}
        closed, summaries, *_, facts = self.look_quietly(
            self.report(lines),
            text("#facts dl"),
            texts("#facts summary"),
            ("click", {"of": "#facts summary:has-text('Machine')"}),
            ("click", {"of": "#facts summary:has-text('Limits')"}),
            texts("#facts div"),
        )
        self.assertEqual(closed, "")
        self.assertIn("Machine node7 · 4 CPUs · 64 GiB · Linux 6.12.0 x86_64", summaries)
        said = dict(fact.split("\n") for fact in facts if fact)
        self.assertEqual(said["Booted"], "2025-11-19 22:06:40 UTC, 27 h 47 min before the run")
        self.assertEqual((said["Memory, at most"], said["CPU time"], said["Open files"]), ("3.0 GiB", "2 h", "20,000"))


class Looks(Page):
    def test_light_and_dark_are_different_and_pictures_of_both_are_kept(self):
        light, _, _, dark, _, _, clicked = self.look_at(
            ("style", {"of": "body", "name": "backgroundColor"}),
            ("screenshot", {"path": str(PICTURES / "light.png")}),
            ("scheme", {"value": "dark"}),
            ("style", {"of": "body", "name": "backgroundColor"}),
            ("screenshot", {"path": str(PICTURES / "dark.png")}),
            ("click", {"of": "#theme"}),
            ("style", {"of": "body", "name": "backgroundColor"}),
        )
        self.assertNotEqual(light, dark)
        self.assertEqual(clicked, light)
        self.assertGreater((PICTURES / "dark.png").stat().st_size, 10000)

    def test_the_page_fits_a_narrow_screen_and_a_printer(self):
        _, width, _, _ = self.look_at(
            ("viewport", {"width": 400, "height": 800}),
            ("width", {}),
            ("screenshot", {"path": str(PICTURES / "narrow.png")}),
            ("pdf", {"path": str(PICTURES / "print.pdf")}),
        )
        self.assertLessEqual(width, 400)

    def test_every_control_can_be_reached_and_has_a_name(self):
        (unnamed,) = self.look_at(("unnamed", {}))
        self.assertEqual(unnamed, [])


class Policy(Page):
    def test_a_script_that_is_not_the_pages_own_does_not_run(self):
        seen = self.look(self.page, ("inject", {"code": "window.ran = 1"}), ("global", {"name": "ran"}))
        self.assertEqual(seen.results[1], "undefined")
        self.assertIn("Content Security Policy", " ".join(seen.problems))
