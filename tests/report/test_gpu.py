# SPDX-License-Identifier: BSD-2-Clause
"""Reports of runs that used GPUs and energy: charts, tables, tiles and pictures; and that others show nothing of them."""

import re
import subprocess

from lib.bpfmon import BPFMON

import synthetic
from reports import PICTURES, ReportCase
from test_svg import SVG, ElementTree

SAMPLES = 301  # one a second: 5 minutes
GPUS = [f"GPU-00000000-0000-4000-8000-00000000000{i}" for i in range(2)]
GIB = 1 << 30
HOLDS_FROM, WORKS_UNTIL = 20, 200  # seconds; the second GPU is never used
NAMES = ["gpu", "gpu-memory", "power"]
KEYS = re.compile(r"gpu|joules|watts|hertz|energy", re.IGNORECASE)


def of_gpus(i):
    """At second @i: two GPUs are held from 20 s on; one works at 80 to 90 % until 200 s."""
    held = i >= HOLDS_FROM
    works = HOLDS_FROM <= i < WORKS_UNTIL
    worked = 0.85 * max(0, min(i, WORKS_UNTIL) - HOLDS_FROM)
    since = max(0, i - HOLDS_FROM)
    return {
        "gpu_seconds": worked,
        "gpu_memory_busy_seconds": worked / 2,
        "gpu_idle_seconds": 2 * since - worked,
        "gpus_used": (0.8 + i % 3 / 20) if works else 0,
        "gpus_held": 2 * held,
        "gpus_idle": held + (held and i > WORKS_UNTIL + 30),
        "gpu_memory_bytes": (11 + i % 5) * GIB * held,
        "gpu_device_busy": (0.9 + i % 2 / 20 if works else 0.05) * held,
        "gpu_device_memory_bytes": 20 * GIB * held,
        "gpu_power_watts": (610.5 + i % 7 if works else 140) * held,
        "gpu_energy_joules": 613 * min(since, WORKS_UNTIL - HOLDS_FROM) + 140 * max(0, i - WORKS_UNTIL),
        "gpu_clock_hertz": 1980000000 * held,
        "gpu_throttled_seconds": 0,
        "gpu_ecc_errors": 0,
        "gpu_xid_errors": 0,
        "host_energy_joules": 250 * i + i % 5 * 20,
        "energy_apportioned_joules": 90 * i + i % 4 * 10,
        "energy_unapportioned_joules": 160 * i + i % 5 * 20 - i % 4 * 10,
    }


def used():
    """The lines of that run; its second process used the first GPU."""
    last = of_gpus(SAMPLES - 1)
    of_all = {
        GPUS[0]: {"gpu_seconds": 153, "gpus_used": 0.85, "gpu_memory_bytes": 11 * GIB, "gpu_power_watts": 312.5,
                  "gpu_energy_joules": 96000.25, "gpu_clock_hertz": 1980000000},
        GPUS[1]: {"gpu_seconds": 0, "gpus_used": 0, "gpu_memory_bytes": GIB // 2, "gpu_power_watts": 71, "gpu_energy_joules": 28000,
                  "gpu_clock_hertz": 345000000},
    }  # fmt: skip
    for line in synthetic.lines(SAMPLES, 12):
        if line["kind"] == "sample":
            line |= of_gpus(round(line["elapsed_seconds"]))
        elif line["kind"] == "process" and line["pid"] == 1001:
            line |= {"gpu_seconds": 153, "gpu_memory_peak_bytes": 15 * GIB}
        elif line["kind"] == "summary":
            line |= {key: value for key, value in last.items() if re.search("joules|seconds|errors", key)}
            line |= {"gpu_memory_peak_bytes": 15 * GIB, "gpus_held_peak": 2, "gpus_used_peak": 0.9}
            line["by"] = {"gpu": of_all, "energy": {"package-0": {"host_energy_joules": last["host_energy_joules"]}}}
        yield line


class Gpus(ReportCase):
    def test_charts_have_the_gpus_their_memory_and_the_power(self):
        page = self.report(used())
        _, gpus, memory, power, _ = self.look_quietly(
            page, ("cursor", {"chart": "gpu", "at": 0.5}), ("legend", {"chart": "gpu"}), ("legend", {"chart": "gpu-memory"}),
            ("legend", {"chart": "power"}), ("screenshot", {"path": str(PICTURES / "gpu.png")}),
        )  # fmt: skip
        at = of_gpus(150)
        self.assertEqual(gpus["when"], "at 2:30.0")
        self.assertEqual((gpus["gpus_held"], gpus["gpus_idle"]), ("2", "1"))
        self.assertEqual((gpus["gpus_used"], gpus["gpu_device_busy"]), (f"{at['gpus_used']:.2f}", f"{at['gpu_device_busy']:.2f}"))
        self.assertEqual((memory["gpu_memory_bytes"], memory["gpu_device_memory_bytes"]), ("11.0 GiB", "20.0 GiB"))
        self.assertEqual((power["gpu_power_watts"], power["gpu_energy_joules"]), (f"{at['gpu_power_watts']:.0f} W", "613 W"))
        rates = {key: at[key] - of_gpus(149)[key] for key in ("host_energy_joules", "energy_apportioned_joules")}
        self.assertEqual({key: power[key] for key in rates}, {key: f"{rate:.0f} W" for key, rate in rates.items()})

    def test_tables_and_tiles_have_the_units(self):
        page = self.report(used())
        tiles, title, tables, head, row = self.look_quietly(
            page, ("texts", {"of": ".tile"}), ("text", {"of": "#instances-title"}), ("texts", {"of": "#instances table"}),
            ("texts", {"of": "#processes-table th"}), ("texts", {"of": "#processes-table tbody tr"}),
        )  # fmt: skip
        (of_gpu,) = [tile for tile in tiles if tile.startswith("GPUs used")]
        for said in ("0.51 of 2 GPUs", "up to 0.90", "2 min 33 s of work, idle for 6 min 47 s", "up to 15.0 GiB of their memory", "124 kJ, by all processes"):
            self.assertIn(said, of_gpu)
        (of_cpu,) = [tile for tile in tiles if tile.startswith("CPU")]
        self.assertIn("27.0 kJ of the machine's 75.0 kJ, by CPU time", of_cpu)
        self.assertEqual(title, "Where GPU time and energy went")
        for said in (GPUS[0], "11.0 GiB", "313 W", "96.0 kJ", "1.98 GHz", "345 MHz", "512 MiB", "71.0 W"):
            self.assertIn(said, tables[0])
        self.assertRegex(tables[1], r"package-0\s+75\.0 kJ")
        self.assertEqual({"GPU", "Peak GPU memory"} & {one.strip(" ▼▲\n") for one in head}, {"GPU", "Peak GPU memory"})
        self.assertIn("15.0 GiB", next(one for one in row if "\t1001\t" in one))

    def test_selection_has_the_gpus_of_its_time(self):
        _, tiles = self.look_quietly(self.report(used()), ("zoom", {"chart": "gpu", "from": 0.3, "to": 0.5}), ("texts", {"of": ".tile.selected"}))
        (of_gpu,) = [tile for tile in tiles if tile.startswith("GPUs used")]
        self.assertIn("0.85 of 2 GPUs", of_gpu)
        self.assertIn("up to 15.0 GiB of their memory", of_gpu)

    def test_pictures_have_a_panel_of_each(self):
        for name, texts in (("gpu", ["held", "used", "1.5"]), ("gpu-memory", ["this run", "16 GiB"]), ("power", ["machine", "GPUs held", "200 W"])):
            source, out = self.dir / "run.jsonl", self.dir / f"{name}.svg"
            synthetic.write(source, used())
            done = self.bpfmon(source, "--panel", name, "-o", out, "--force", "-q")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            drawn = ["".join(text.itertext()) for text in ElementTree.parse(out).getroot().iter(f"{SVG}text")]
            for text in texts:
                self.assertIn(text, drawn)
            self.assertFalse([text for text in drawn if "machine 64" in text or "peak" in text], drawn)  # those of memory

    def test_run_without_gpus_and_energy_shows_nothing_of_them(self):
        """As on a machine without any, and as one that has them and did not use them."""
        none = dict.fromkeys(of_gpus(0), 0)
        plain = list(synthetic.lines(101, 3))
        for lines in (plain, [line | (none if line["kind"] == "sample" else {}) for line in plain]):
            page = self.report(lines)
            count, said = self.look_quietly(page, ("count", {"of": ", ".join(f"[data-chart={name}]" for name in NAMES)}), ("text", {"of": "body"}))
            self.assertEqual(count, 0)
            self.assertNotRegex(said, KEYS)
            figure = self.report(lines, "svg").read_text()
            self.assertNotRegex(figure, KEYS)

    def test_panel_without_data_is_refused_with_those_that_have_some(self):
        source = self.dir / "run.jsonl"
        synthetic.write(source, synthetic.lines(11, 3))
        done = self.bpfmon(source, "--panel", "gpu", "-o", "x.svg")
        self.assertIn(b"no data for the panel 'gpu'; it has data for cpu, memory, io, ", done.stderr)
        synthetic.write(source, used())
        done = self.bpfmon(source, "--panel", "network", "-o", "x.svg")
        self.assertIn(b"cpu, memory, gpu, gpu-memory, io, power, processes, faults, switches\n", done.stderr)

    def test_comparison_has_their_charts_and_units(self):
        for number, lines in enumerate((used(), synthetic.lines(SAMPLES, 3))):
            of_run = list(lines)
            of_run[0] |= {"run": f"00000000-0000-4000-8000-00000000000{number}"}
            synthetic.write(self.dir / f"{number}.jsonl", of_run)
        argv = [BPFMON, "compare", "0.jsonl", "1.jsonl", "--html", "both.html", "--force"]
        done = subprocess.run(argv, cwd=self.dir, capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        said, charts = self.look_quietly(self.dir / "both.html", ("text", {"of": "body"}), ("count", {"of": "[data-chart=gpus_used]"}))
        self.assertEqual(charts, 1)
        for text in ("Energy of the GPUs held", "124 kJ", "GPUs used, at the peak"):
            self.assertIn(text, said)
