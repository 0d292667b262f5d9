# SPDX-License-Identifier: BSD-2-Clause
"""The notebook on stores with little in them, on a run as a file, and as a file itself."""

import json
import os
import random

from lib import manyruns
from lib.bpfmon import read_lines
from lib.manyruns import HOSTILE, MIB
from lib.notebook import NOTEBOOK, NotebookCase

WORK = "for i in 1 2 3; do true | /bin/true; done; head -c 30000000 /dev/zero | tail -c 20000000 >/dev/null; sleep 0.3"
ONE = {
    "title": "title",
    "elapsed": "samples.elapsed_seconds.tolist()",
    "memory": "samples.rss_bytes.astype(float).tolist()",
    "drawn": "(figures[0].axes[1].lines[0].get_ydata() * size_of(samples.rss_bytes)[0]).tolist()",
    "rates": "figures[0].axes[2].lines[1].get_ydata()[1:].tolist()",
    "programs": "programs.processes.to_dict()",
    "largest": "programs.largest_mib.to_dict()",
}


class One(NotebookCase):
    def assert_shows(self, result, lines):
        """The curves and the programs of the run that left these lines."""
        samples = [line for line in lines if line["kind"] == "sample"]
        processes = [line for line in lines if line["kind"] == "process"]
        found = result.answers
        self.assert_close(found["elapsed"], [sample["elapsed_seconds"] for sample in samples])
        self.assertEqual(found["memory"], [sample["rss_bytes"] for sample in samples])
        self.assert_close(found["drawn"], found["memory"])
        pairs = zip(samples, samples[1:])
        rates = [(b["write_bytes"] - a["write_bytes"]) / MIB / (b["elapsed_seconds"] - a["elapsed_seconds"]) for a, b in pairs]
        self.assertEqual(len(found["rates"]), len(rates))
        for a, b in zip(found["rates"], rates):
            self.assertAlmostEqual(a, b, delta=1e-6 * abs(b))
        for program, count in found["programs"].items():
            own = [line for line in processes if line["exe"] == program]
            self.assertEqual(count, len(own))
            self.assertAlmostEqual(found["largest"][program], max(line["rss_peak_bytes"] for line in own) / MIB)
        self.assertEqual(sum(found["programs"].values()), len(processes))

    def test_a_recorded_run_from_the_store_and_from_its_file(self):
        path = self.dir / "run $x^{.jsonl"
        self.record("-i", "0.05", "-o", path, command=("sh", "-c", WORK))
        self.assert_shows(self.succeed(ONE), read_lines(path))
        self.assert_shows(self.succeed(ONE, f"RUN = {str(path)!r}"), read_lines(path))

    def test_a_file_needs_no_store_for_its_curves(self):
        (run,) = manyruns.runs(1)
        manyruns.write(self.dir / "run.jsonl", [run])
        path = str(self.dir / "run.jsonl")
        self.stop("There is no store at", self.store, "sudo bpfmon", parameters=f"RUN = {path!r}", images=1)

    def test_the_run_that_was_asked_for(self):
        made = manyruns.runs(3)
        self.merge(made)
        self.assert_shows(self.succeed(ONE, "RUN = 2"), made[1].lines())
        self.stop("There is no run 4711", self.store, parameters="RUN = 4711")

    def test_the_store_of_the_user_and_host(self):
        self.store = self.dir / "bpfmon" / f"{os.uname().nodename}.sqlite"
        made = manyruns.runs(2)
        self.merge(made)
        result = self.succeed(ONE, env={"BPFMON_STORE": "", "XDG_STATE_HOME": str(self.dir)})
        self.assert_shows(result, made[1].lines())

    def test_a_store_whose_path_looks_like_a_query(self):
        self.store = self.dir / "a?mode=rw#b %41.sqlite"
        self.merge(manyruns.runs(1))
        self.succeed()


class Little(NotebookCase):
    def made(self, **kwargs):
        return manyruns.run(random.Random(1), 1, **kwargs)

    def test_a_run_that_has_not_ended_is_shown_and_then_there_is_no_more_to_say(self):
        self.merge([self.made(has_ended=False)])
        self.stop("Of the 1 runs", "none has ended", images=1)

    def test_the_newest_run_goes_on_and_another_has_ended(self):
        rng = random.Random(2)
        self.merge([manyruns.run(rng, 1), manyruns.run(rng, 2, has_ended=False)])
        result = self.succeed({"title": "title"})
        self.assertIn("which has not ended", result.answers["title"])
        self.assertEqual(result.printed, "2 runs: 1 succeeded, 0 failed, 1 have not ended\n")

    def test_a_run_of_which_no_memory_was_read(self):
        self.merge([self.made(has_memory=False)])
        said = "figures[0].axes[1].texts[0].get_text()"
        result = self.succeed({"beyond": "requests.runs_beyond.tolist()", "limit": "bool(limits.isna().all())", "said": said})
        self.assertEqual(result.answers, {"beyond": [0] * 6, "limit": True, "said": "not read"})

    def test_runs_of_which_nothing_but_the_time_was_read(self):
        run = self.made()
        run.samples[:] = [{key: sample[key] for key in ("kind", "time", "elapsed_seconds")} for sample in run.samples]
        run.processes[:] = [{**process, "cpu_seconds": None, "rss_peak_bytes": None, "exe": None} for process in run.processes]
        for key in ("cpu_seconds", "rss_peak_bytes"):
            del run.summary[key]
        run.meta["system"], run.meta["limits"], run.meta["tags"] = {}, {}, {}
        self.merge([run])
        result = self.succeed({"efficiency": "bool(ended.efficiency.isna().all())", "by": "by", "processes": "programs.processes.tolist()"})
        self.assertEqual(result.answers, {"efficiency": True, "by": "name", "processes": [2]})
        path = str(self.dir / "made.jsonl")
        self.succeed(parameters=f"RUN = {path!r}")

    def test_it_begins_with_the_runs_of_the_name_of_the_newest(self):
        rng = random.Random(2)
        made = [manyruns.run(rng, i) for i in range(1, 4)]
        for run, name in zip(made, ("other", "a*b", "a*b")):
            run.meta["name"] = name
        self.merge(made)
        result = self.succeed({"names": "ended.name.tolist()"}, "NAME = None")
        self.assertEqual(result.answers["names"], ["a*b", "a*b"])

    def test_runs_that_all_failed(self):
        rng = random.Random(3)
        self.merge([manyruns.run(rng, i, has_failed=True) for i in range(5)])
        result = self.succeed({"failed": "by_tag.failed.tolist()"})
        self.assertEqual(set(result.answers["failed"]), {1})

    def test_runs_without_a_name_and_a_tag(self):
        run = self.made()
        run.meta["name"], run.meta["tags"] = None, {}
        self.merge([run])
        self.succeed()

    def test_no_runs(self):
        self.stop("There is no store at", self.store)
        self.record()
        self.assertEqual(self.bpfmon("store", "prune", "--keep", "0").returncode, 0)
        self.stop("There is no run", self.store, "sudo bpfmon")

    def test_no_runs_of_the_name(self):
        self.merge([self.made()])
        self.stop("Of the 0 runs named nobody*", parameters="NAME = 'nobody*'", images=1)


class Spans(NotebookCase):
    ASK = {"by": "by_span.to_dict('index')", "tags": "spans.tags.tolist()", "starts": "spans.start_time.tolist()", "ids": "spans.id.tolist()"}

    def made(self):
        run = manyruns.run(random.Random(4), 1)
        peak = {"rss_peak_bytes": 10 * MIB, "rss_peak_upper_bytes": 30 * MIB}
        run.spans = [
            manyruns.span(run.meta, 1, "align", 0, 3, cpu_seconds=1.5, **peak),
            manyruns.span(run.meta, 2, "align", 1, 2, cpu_seconds=0.25, exit_code=3, rss_peak_exact_bytes=20 * MIB),
            manyruns.span(run.meta, 3, HOSTILE, 2, 4, cpu_seconds=2, exit_code=None, signal=9, rss_peak_bytes=5 * MIB),
            manyruns.span(run.meta, 4, "open", 2, None, exit_code=None, wall_seconds=7, cpu_seconds=0, **peak),
        ]
        return run

    def assert_spans(self, result, run):
        found = result.answers
        self.assertEqual(found["tags"], [span["tags"] for span in run.spans])
        self.assert_close(found["starts"], [span["start_time"] for span in run.spans])
        self.assertEqual(found["ids"], [1, 2, 3, 4])
        keys = ("spans", "wall_seconds", "longest_seconds", "cpu_seconds", "peak_mib", "most_mib", "processes", "failed")
        by = {name: [row[key] for key in keys] for name, row in found["by"].items()}
        self.assert_close(by["align"], [2, 4, 3, 1.75, 20, 30, 4, 1])
        self.assert_close(by["open"], [1, 7, 7, 0, 10, 30, 2, 0])
        hostile = by[HOSTILE]
        self.assertNotEqual(hostile[5], hostile[5])  # not a number: there is no upper bound
        self.assert_close([*hostile[:5], *hostile[6:]], [1, 2, 2, 2, 5, 2, 1])

    def test_spans_of_a_file_are_a_table_and_equal_names_are_summed(self):
        run = self.made()
        self.merge([run])
        self.assert_spans(self.succeed(self.ASK, f"RUN = {str(self.dir / 'made.jsonl')!r}"), run)

    def test_spans_of_a_run_in_the_store_are_the_same(self):
        run = self.made()
        self.merge([run])
        self.assert_spans(self.succeed(self.ASK), run)

    def test_a_run_without_spans_has_an_empty_table(self):
        run = self.made()
        run.spans = []
        self.merge([run])
        for parameters in ("", f"RUN = {str(self.dir / 'made.jsonl')!r}"):
            self.assertEqual(self.succeed({"by": "len(by_span)", "spans": "len(spans)"}, parameters).answers, {"by": 0, "spans": 0})


class File(NotebookCase):
    def test_it_has_no_outputs_and_every_cell_an_id(self):
        book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        self.assertEqual((book["nbformat"], book["nbformat_minor"]), (4, 5))
        code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        for cell in code:
            self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
        self.assertEqual(len({cell["id"] for cell in book["cells"]}), len(book["cells"]))
