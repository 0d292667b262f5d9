# SPDX-License-Identifier: BSD-2-Clause
"""More marks than samples are taken for: phases that no sample tells apart share what they used."""

import itertools
import json
import subprocess

from lib.bpfmon import BPFMON, read_lines
from lib.marks import MarksCase, python

SAMPLED = True
TOLERATED = 0.002  # a sample that is no later tells phases apart, however short they are

WORK = """
import json, time
said = []
for i in range(int(sys.argv[1])):
    said.append(time.process_time())
    s.send(b"mark phase %d" % i)
    while time.process_time() < said[i] + float(sys.argv[2]):
        pass
said.append(time.process_time())
s.send(b"mark end")
print(json.dumps(said))
time.sleep(1)
"""


class Fast(MarksCase):
    def phases(self, number, seconds):
        path = self.dir / "run.jsonl"
        done = subprocess.run([BPFMON, "-q", "--marks", "-o", str(path), "--", *python(WORK, number, seconds)],
                              stdout=subprocess.PIPE, check=True, timeout=60)
        text = subprocess.run([BPFMON, "show", "--by", "phase", str(path)], stdout=subprocess.PIPE, check=True)
        shown = subprocess.run([BPFMON, "show", "--by", "phase", "--json", str(path)], stdout=subprocess.PIPE, check=True)
        self.run = json.loads(shown.stdout)
        self.text = text.stdout.decode()
        return self.run["phases"], json.loads(done.stdout)

    def check(self, number, seconds):
        phases, said = self.phases(number, seconds)
        self.assertEqual([p["text"] for p in phases[1:]], [*(f"phase {i}" for i in range(number)), "end"])
        groups = [i for i, p in enumerate(phases) if "shared_with" not in p]
        self.assertLess(len(groups), number)
        for head, following in zip(groups, [*groups[1:], len(phases)], strict=True):
            members = phases[head + 1 : following]
            self.assertEqual([p["shared_with"] for p in members], [head] * len(members))
            self.assertFalse([key for p in members for key in p if key.endswith("_bytes") or key == "cpu_seconds"])
            self.assertEqual(phases[head].get("shared_phases", 1), following - head)
            if head and following < len(phases):
                # a tick at each end, and what is tolerated of a phase that is not told apart exactly
                took = said[following - 1] - said[head - 1]
                self.assertAlmostEqual(phases[head]["cpu_seconds"], took, delta=0.012 + took / 5)
        total = sum(phases[i]["cpu_seconds"] for i in groups)
        self.assertAlmostEqual(total, self.run["summary"]["cpu_seconds"], places=6)
        self.assertIn("= these ", self.text)

    def test_a_hundred_in_a_second(self):
        self.check(150, 0.01)

    def test_phases_of_20_ms(self):
        self.check(100, 0.02)

    def test_slow_ones_do_not_share(self):
        path = self.dir / "run.jsonl"
        subprocess.run([BPFMON, "-q", "--marks", "-o", str(path), "--", *python(WORK, 6, 0.3)], check=True, timeout=60,
                       stdout=subprocess.DEVNULL)
        shown = subprocess.run([BPFMON, "show", "--by", "phase", "--json", str(path)], stdout=subprocess.PIPE, check=True)
        late = self.lateness(read_lines(path))
        for phase, (before, after) in zip(json.loads(shown.stdout)["phases"][1:], itertools.pairwise(late), strict=False):
            if max(before, after) <= TOLERATED:
                self.assertNotIn("shared_with", phase)

    def lateness(self, lines):
        """Of each mark, how long after it its sample was taken."""
        marks = [line["elapsed_seconds"] for line in lines if line.get("event") == "mark"]
        samples = [line["elapsed_seconds"] for line in lines if line["kind"] == "sample"]
        return [next(s for s in samples if s >= m) - m for m in marks]
