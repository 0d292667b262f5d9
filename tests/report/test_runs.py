# SPDX-License-Identifier: BSD-2-Clause
"""Reports of runs that are large, cut off, hostile; and what the command line refuses."""

import json

import synthetic
from hostile import hostile_run
from lib.bpfmon import Case
from reports import PICTURES, ReportCase

MAX_PAGE = 5_000_000  # bytes
MAX_PAGES = ((20, 1, 115_000), (20, 40, 136_000), (300, 200, 195_000))  # samples, processes, bytes of a minified page


class Large(ReportCase):
    def test_a_day_at_a_second_and_ten_thousand_processes_lose_nothing(self):
        page = self.report(synthetic.lines(86400, 10000))
        size = page.stat().st_size
        seen = self.look(
            page,
            ("legend", {"chart": "memory"}),
            ("text", {"of": "#tl-count"}),
            ("select", {"of": "#tl-group", "value": "tree"}),
            ("select", {"of": "#tl-limit", "value": "all"}),
            ("text", {"of": "#tl-count"}),
            ("count", {"of": "#tl-rows .row"}),
            ("screenshot", {"path": str(PICTURES / "day.png"), "full": False}),
        )
        print(f"     86,400 samples, 10,000 processes: {size / 1e6:.1f} MB, opened in {seen.open_ms:.0f} ms")
        self.assertEqual((seen.problems, seen.requests), ([], []))
        self.assertLess(size, MAX_PAGE)
        self.assertEqual(seen.results[0]["rss_bytes"], "9.1 GiB")  # of one sample
        self.assertRegex(seen.results[1], r"^10,000 processes of 6 programs, up to \d+ at once$")
        self.assertEqual(seen.results[4:6], ["10,000 of 10,000 processes", 10001])

    def test_small_pages_have_only_what_they_need(self):
        for samples, processes, most in MAX_PAGES:
            with self.subTest(processes=processes):
                self.assertLess(self.report(synthetic.lines(samples, processes)).stat().st_size, most)

    def test_long_paths_and_arguments_are_cut_and_programs_stay_apart(self):
        page = self.report(self.long_lines(86400, 10000))
        size = page.stat().st_size
        _, count, args, _, programs = self.look_quietly(
            page,
            ("select", {"of": "#tl-group", "value": "tree"}),
            ("text", {"of": "#tl-count"}),
            ("attribute", {"of": "#processes-table tbody tr td.wide", "name": "data-tip"}),
            ("select", {"of": "#tl-group", "value": "program"}),
            ("text", {"of": "#tl-count"}),
        )
        print(f"     with long paths: {size / 1e6:.1f} MB")
        self.assertLess(size, MAX_PAGE)
        self.assertIn("of 10,000 processes", count)
        self.assertRegex(args, "^(deep/)*.*…$")
        self.assertIn("of 10,000 programs", programs)

    def long_lines(self, samples, processes):
        """Every process has a path of its own of 4 KiB, which differs from others only in the middle."""
        for line in synthetic.lines(samples, processes):
            if line["kind"] == "process":
                line["exe"] = f"/opt/{'deep/' * 780}{line['pid']}/environments/of/a/long/name/bin/tool"
                line["args"] = [line["exe"][:250]]
            yield line


class Hostile(ReportCase):
    def test_texts_are_inert_and_can_be_seen(self):
        page = self.report(hostile_run())
        pwned, images, scripts, command, _ = self.look_quietly(
            page,
            ("global", {"name": "pwned"}),
            ("count", {"of": "img"}),
            ("count", {"of": "script"}),
            ("text", {"of": "h1"}),
            ("screenshot", {"path": str(PICTURES / "hostile.png")}),
        )
        self.assertEqual((pwned, images, scripts), ("undefined", 0, 3))
        self.assertIn("</script><script>window.pwned=1</script>", command)
        self.assertIn("\\x1b[31m\\u202e\\n", command)

    def test_bytes_that_are_not_utf8_do_not_break_a_page(self):
        source = self.dir / "raw.jsonl"
        synthetic.write(source, synthetic.lines(5, 1))
        source.write_bytes(source.read_bytes().replace(b'"align"', b'"al\xff\xfeign"'))
        self.assertEqual(self.bpfmon(source).returncode, 0)
        (notices,) = self.look_quietly(self.dir / "raw.html", ("text", {"of": "#notices"}))
        self.assertIn("1 lines of the file are not JSON", notices)


class Unfinished(ReportCase):
    def test_a_run_that_was_cut_off_says_so_and_is_drawn_up_to_there(self):
        source = self.dir / "cut.jsonl"
        synthetic.write(source, list(synthetic.lines(50, 0))[:40])
        source.write_text(source.read_text()[:-20])
        self.assertEqual(self.bpfmon(source).returncode, 0)
        notices, badges, figures = self.look_quietly(
            self.dir / "cut.html", ("text", {"of": "#notices"}), ("texts", {"of": ".end"}), ("text", {"of": "#figures"})
        )
        self.assertIn("it was cut off, or is still going on; this report ends at 37.00 s", notices)
        self.assertEqual(badges, ["exit status unknown", "incomplete"])
        self.assertIn("55.5 s", figures)  # CPU: 37 times 1.5

    def test_what_was_lost_is_named(self):
        lines = list(synthetic.lines(5, 0))
        lines[-1].update(complete=False, losses={"process_records": 7})
        (notices,) = self.look_quietly(self.report(lines), ("text", {"of": "#notices"}))
        self.assertIn("lost: process_records 7", notices)


class CommandLine(ReportCase):
    def setUp(self):
        super().setUp()
        self.run_path = self.dir / "run.jsonl"
        synthetic.write(self.run_path, synthetic.lines(5, 2))

    def refused(self, words, *said, **kwargs):
        done = self.bpfmon(*words, **kwargs)
        text = done.stderr.decode()
        self.assertEqual((done.returncode, text.count("\n")), (2, 1), text)
        for word in said:
            self.assertIn(word, text)
        self.assertEqual(done.stdout, b"")

    def test_a_report_is_not_overwritten_but_with_force(self):
        self.assertEqual(self.bpfmon("run.jsonl").returncode, 0)
        first = (self.dir / "run.html").read_bytes()
        self.refused(["run.jsonl"], "run.html", "--force")
        self.assertEqual((self.dir / "run.html").read_bytes(), first)
        self.assertEqual(self.bpfmon("run.jsonl", "--force").returncode, 0)
        self.assertNotEqual((self.dir / "run.html").read_bytes(), first)  # each has a number of its own

    def test_a_run_from_stdin_goes_to_stdout(self):
        done = self.bpfmon("-", "-o", "-", input=self.run_path.read_bytes())
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith(b"<!doctype html>"))
        self.refused(["-"], "-o", input=b"")

    def test_the_end_of_the_path_or_f_says_the_format(self):
        self.assertEqual(self.bpfmon("run.jsonl", "-f", "svg").returncode, 0)
        self.assertEqual(self.bpfmon("run.jsonl", "-o", "other.svg").returncode, 0)
        self.assertEqual((self.dir / "run.svg").read_bytes(), (self.dir / "other.svg").read_bytes())

    def test_what_is_no_run_is_refused_in_one_line(self):
        (self.dir / "text").write_text("hello\n")
        (self.dir / "empty").write_text("")
        (self.dir / "later").write_text('{"kind":"meta","schema":"bpfmon/2"}\n')
        (self.dir / "none").write_text(json.dumps(synthetic.meta(0, 1)) + "\n")
        (self.dir / "two").write_bytes(2 * self.run_path.read_bytes())
        self.refused(["nowhere.jsonl"], "nowhere.jsonl", "no such file")
        self.refused(["text"], "it is not a bpfmon run")
        self.refused(["empty"], "it is not a bpfmon run")
        self.refused(["later"], "schema is not bpfmon/1")
        self.refused(["none"], "no samples")
        self.refused(["two"], "several runs")

    def test_wrong_usage_is_refused_in_one_line(self):
        self.refused(["run.jsonl", "other"], "other")
        self.refused(["run.jsonl", "-f", "gif"], "'gif'", "html", "svg")
        self.refused(["run.jsonl", "--nonsense"], "--nonsense")
        self.refused(["run.jsonl", "-o"], "missing value")
        self.refused(["run.jsonl", "-o", "nowhere/x.html"], "nowhere/x.html")

    def test_help_is_help(self):
        done = self.bpfmon("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"Usage: bpfmon report", done.stdout)


class Real(Case, ReportCase):
    def test_a_run_of_today_is_drawn(self):
        run = self.run_bpfmon(["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; /bin/true; exit 3"], ["-i", "0.05"])
        page = self.report(run.lines)
        badges, charts, processes = self.look_quietly(
            page,
            ("texts", {"of": ".end"}),
            ("count", {"of": "[data-chart], [data-folded]"}),
            ("text", {"of": "#tl-count"}),
        )
        self.assertEqual(badges, ["exit 3"])
        self.assertGreaterEqual(charts, 6)
        self.assertTrue(processes.startswith(f"{len(run.processes)} processes of 2 programs"), processes)

    def test_a_run_in_the_store_is_drawn_as_its_file_is(self):
        store = self.dir / "store.sqlite"
        run = self.run_bpfmon(["sh", "-c", "for i in 1 2 3; do sleep 0.1; done"], ["-i", "0.05", "--name", "kept", "--store", str(store)])
        self.assertEqual(self.bpfmon("kept", "--store", store).returncode, 0)
        of_file = self.report(run.lines)
        steps = [("text", {"of": of}) for of in ("h1", "#figures", "#processes-table", "#tl-count", "#flat")]
        steps += [("legend", {"chart": chart}) for chart in ("cpu", "memory")]
        self.assertEqual(self.look_quietly(self.dir / "kept.html", *steps), self.look_quietly(of_file, *steps))
