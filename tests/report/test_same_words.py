# SPDX-License-Identifier: BSD-2-Clause
"""The same run in a terminal, on a page, in a picture and in top: the same words and figures."""

import re
import shlex
import xml.etree.ElementTree as ElementTree

import synthetic
from cases import make
from lib.bpfmon import BPFMON, read_lines, said_by
from lib.permitted import BPF, ROOT, needs
from lib.tmux import Tmux
from reports import PICTURES, ReportCase

SVG = "{http://www.w3.org/2000/svg}"
DURATION = r"[\d.]+ (?:d|h|min|s|ms|us)(?: \d+ (?:h|min|s))?"


def found(pattern, text):
    match = re.search(pattern, text)
    if not match:
        raise AssertionError(f"{pattern} is not in:\n{text}")
    return match[1]


class SameWords(ReportCase):
    def show(self, run):
        """What the summary has, by the name of each."""
        text = said_by(BPFMON, "show", run)
        lines = text.splitlines()
        head = next(line for line in lines if line.startswith("bpfmon: "))
        return {
            "slowdown": next((line.strip() for line in lines if line.startswith(("  Stood still", "  Ran for"))), ""),
            "end": found(r"the command (.*?) after", head),
            "wall": found(f"after ({DURATION})", head),
            "cpu": found(rf"\n  CPU +({DURATION}) \(", text),
            "waited": found(rf"\n  waited +({DURATION}) for a CPU", text),
            "peak": found(r"\n  memory +peak (?:between |at least |)([\d.]+ \w+) ", text),
        }

    def page(self, run):
        page = self.dir / "run.html"
        self.assertEqual(self.bpfmon(run, "-o", page, "--force", "-q").returncode, 0)
        slowdown, sentence, tiles, coloured, _, width, _ = self.look_quietly(
            page,
            ("texts", {"of": "#slowdown:not([hidden])"}),
            ("text", {"of": "#sentence"}),
            ("texts", {"of": ".tile"}),
            ("texts", {"of": ".tile.warn, .tile.bad"}),  # bad: on a busy machine samples can be missing, too
            ("screenshot", {"path": str(PICTURES / f"same-{run.stem}.png"), "full": False}),
            ("width", {}),
            ("faint", {}),
        )
        tiles = {tile.split("\n")[0]: tile for tile in tiles}
        self.assertEqual(len(coloured), len(slowdown))
        self.assertEqual(bool(re.search(r"\b(?:waited|stood still)\b", tiles["Trouble"])), bool(slowdown), tiles["Trouble"])
        return {
            "slowdown": "".join(slowdown).removesuffix("."),
            "end": found(r"and ((?:ended|was) .*)\.$", sentence),
            "wall": found(f"Wall time\n({DURATION})", tiles["Wall time"]),
            "cpu": found(f"({DURATION}): user", tiles["CPU"]),
            "waited": found(f"waited ({DURATION}) for a CPU", tiles["CPU"]),
            "peak": found(r"Memory\n([\d.]+ \w+)", tiles["Memory"]),
        }

    def picture(self, run):
        path = self.dir / "run.svg"
        self.assertEqual(self.bpfmon(run, "-o", path, "--force", "-q").returncode, 0)
        texts = ["".join(text.itertext()) for text in ElementTree.parse(path).getroot().iter(f"{SVG}text")]
        about = texts[1]
        return {
            "slowdown": next((text for text in texts if text.startswith(("Stood still", "Ran for"))), ""),
            "end": found("resident, (.*)$", about),
            "wall": found(f" ({DURATION}) wall", about),
            "cpu": found(f" ({DURATION}) CPU", about),
            "peak": found(r"peak ([\d.]+ \w+) resident", about),
        }

    def top(self, run):
        terminal = Tmux(self, 220, 40)
        terminal.run(f"{shlex.quote(BPFMON)} top {shlex.quote(str(run))}")
        terminal.expect("p go on")  # it shows the last moment with a process
        terminal.press("p")
        screen = terminal.expect(" after ")
        terminal.press("q")
        first = screen.splitlines()[0]
        return {
            "slowdown": next((line.strip() for line in screen.splitlines() if line.startswith(("Stood still", "Ran for"))), ""),
            "end": found(f"   ((?:ended with|was) .*) after {DURATION}", first),
            "wall": found(f"after ({DURATION})", first),
            "cpu": found(f" ({DURATION}) CPU", screen),
        }

    def compare(self, run):
        said = self.show(run)
        for other in (self.page, self.picture, self.top):
            got = other(run)
            self.assertEqual(got, {key: said[key] for key in got}, other.__name__)
        return said

    def recorded(self, name):
        self.assertEqual(make.make(self.dir, 6, [name]), {})
        return self.dir / f"{name}.jsonl"

    @needs(ROOT, BPF)
    def test_stalled_run(self):
        run = self.recorded("lock")
        said = self.compare(run)
        self.assertRegex(said["slowdown"], r"^Stood still for [\d.]+ of [\d.]+ s: flock waited for a lock held by \d+ sleep$")
        stalled, resumed = [line for line in read_lines(run) if line.get("event") in ("stalled", "resumed")][:2]
        self.assertAlmostEqual(
            resumed["time"] - stalled["since_time"], float(said["slowdown"].split()[3]), delta=0.05
        )
        self.assertIn('fill="#fff4d9"', (self.dir / "run.svg").read_text())  # the band of that time

    @needs(ROOT, BPF)
    def test_starved_run(self):
        said = self.compare(self.recorded("starved"))
        self.assertEqual(
            said["slowdown"],
            f"Ran for {said['wall']}, of which {said['waited']} waiting for a CPU: the machine was busy with other work",
        )

    def test_run_of_a_day_that_nothing_slowed_down(self):
        lines = list(synthetic.lines(1441, 3, 60))
        lines[-1] |= {"runqueue_wait_seconds": 7.25, "rss_peak_upper_bytes": lines[-1]["rss_peak_bytes"]}
        run = self.dir / "day.jsonl"
        synthetic.write(run, lines)
        said = self.compare(run)
        self.assertEqual((said["slowdown"], said["wall"], said["cpu"], said["peak"]), ("", "24 h", "36 h", "9.1 GiB"))

    def test_durations_of_the_page_are_those_of_the_terminal(self):
        table = [line.split("\t") for line in (make.HERE.parents[1] / "data" / "durations").read_text().splitlines()]
        page = self.report(synthetic.lines(5, 1))
        (said,) = self.look_quietly(page, ("durations", {"ns": [int(ns) for ns, _ in table]}))
        self.assertEqual(said, [text for _, text in table])
