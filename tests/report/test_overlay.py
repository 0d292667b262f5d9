# SPDX-License-Identifier: BSD-2-Clause
"""Several runs in one page: each is a curve, with the right values where the cursor is."""

import subprocess

from lib.bpfmon import BPFMON

import synthetic
from reports import PICTURES, ReportCase

MIB = 1 << 20


def run(slope, seconds, every=1.0, **meta):
    """Memory that grows by @slope MiB a second, and half a core."""
    lines = [{**synthetic.meta(int(seconds), every), **meta}]
    for i in range(int(seconds / every) + 1):
        t = i * every
        lines.append({"kind": "sample", "elapsed_seconds": t, "cpu_seconds": t / 2, "cores": 0.5,
                      "rss_bytes": int(slope * t * MIB), "rchar_bytes": int(slope * MIB * t)})
    lines.append({"kind": "summary", "complete": True, "wall_seconds": seconds, "rss_peak_bytes": int(slope * seconds * MIB)})
    return lines


class Overlay(ReportCase):
    def overlay(self, *runs, options=()):
        names = [f"run-{i}.jsonl" for i in range(len(runs))]
        for name, lines in zip(names, runs):
            synthetic.write(self.dir / name, lines)
        done = subprocess.run([BPFMON, "compare", *names, "--html", "page.html", "--force", *options], cwd=self.dir,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.table = done.stdout.decode()
        return self.dir / "page.html"

    def test_the_legend_has_the_value_of_each_run_at_the_cursor(self):
        # 10 and 30 MiB a second; the second run is sampled at other times
        page = self.overlay(run(10, 100), run(30, 99, every=1.5))
        name, _, legend = self.look_quietly(
            page, ("text", {"of": "#runs"}), ("cursor", {"chart": "rss_bytes", "at": 0.5}), ("legend", {"chart": "rss_bytes"}))
        self.assertEqual(name, "A run-0.jsonl\nB run-1.jsonl")
        at = float(legend["when"].split()[1].split(":")[-1]) + 60 * int(legend["when"].split()[1].split(":")[0])
        self.assertLess(abs(at - 50), 1)
        a, b = (float(legend[key].split()[0]) * (1024 if "GiB" in legend[key] else 1) for key in "AB")
        self.assertLess(abs(a - 10 * at), 10)
        self.assertLess(abs(b - 30 * at), 30)

    def test_a_run_that_is_over_has_no_value(self):
        page = self.overlay(run(10, 100), run(30, 20))
        _, legend = self.look_quietly(page, ("cursor", {"chart": "rss_bytes", "at": 0.9}), ("legend", {"chart": "rss_bytes"}))
        self.assertEqual(legend["B"], "–")
        self.assertNotEqual(legend["A"], "–")

    def test_peaks_are_the_largest(self):
        page = self.overlay(run(10, 100), run(30, 99))
        (legend,) = self.look_quietly(page, ("legend", {"chart": "rss_bytes"}))
        self.assertEqual(legend, {"when": "largest", "A": "1000 MiB", "B": "2.90 GiB"})
        self.look_quietly(page, ("screenshot", {"path": str(PICTURES / "overlay.png")}))

    def test_the_table_is_in_the_page(self):
        page = self.overlay(run(10, 10), run(20, 10))
        (text,) = self.look_quietly(page, ("text", {"of": "#comparison"}))
        self.assertIn("rss_peak_bytes", text)
        self.assertIn("+100.0 %", text)

    def test_hostile_names_are_text(self):
        evil = "</script><script>window.hit=1</script>"
        page = self.overlay(run(1, 5, host=evil), run(2, 5, host="h"))
        text, hit = self.look_quietly(page, ("text", {"of": "#comparison"}), ("global", {"name": "hit"}))
        self.assertIn(evil, text)
        self.assertEqual(hit, "undefined")

    def test_of_many_runs_some_of_each_group_are_drawn(self):
        runs = [run(1 + i, 5, tags={"build": "old" if i < 10 else "new"}) for i in range(20)]
        page = self.overlay(*runs, options=["--by", "build"])
        names, left = self.look_quietly(page, ("texts", {"of": "#runs b"}), ("text", {"of": "#left-out"}))
        self.assertEqual([name.strip() for name in names], [f"{g}-{i}" for i in range(1, 7) for g in "AB"])
        self.assertTrue(left.startswith("8 more runs"), left)
