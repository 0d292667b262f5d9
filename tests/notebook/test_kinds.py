# SPDX-License-Identifier: BSD-2-Clause
"""The notebook's classifier on 5,000 runs of six kinds. They are a generator's (lib/kindruns.py), not measured: what is
tested is that it learns what is there, that it is asked about runs it has not seen, and that its matrix counts them."""

import random

from lib import kindruns
from lib.kindruns import KINDS
from lib.notebook import FIGURES, NotebookCase

COUNT = 5000
ASK = {
    "confusion": "confusion.to_dict('index')",
    "accuracy": "accuracy",
    "training": "[int(run) for run in training]",
    "held_out": "[int(run) for run in held_out]",
    "numbers": "numbers.shape",
    "title": "figures[-1].axes[0].get_title()",
    "cells": "[int(text.get_text()) for text in figures[-1].axes[0].texts]",
    "axes": "len(figures[-1].axes)",
}
ALIKE = {"call", "recall"}


class Kinds(NotebookCase):
    def test_of_5000_runs_of_six_kinds_those_held_out_are_told_apart(self):
        made = kindruns.runs(COUNT)
        self.merge(made)
        answers = self.succeed(ASK).answers
        held_out, training, confusion = set(answers["held_out"]), set(answers["training"]), answers["confusion"]
        self.assertFalse(held_out & training)
        self.assertEqual(len(held_out | training), COUNT)
        names = dict(self.ask("SELECT id, name FROM run"))
        self.assertEqual(list(confusion), sorted(KINDS))
        for name in KINDS:
            held = sum(names[run] == name for run in held_out)
            self.assertEqual(sum(confusion[name].values()), held)
            self.assertAlmostEqual(held, 0.2 * sum(run.meta["name"] == name for run in made), delta=1)
        right = sum(confusion[name][name] for name in KINDS)
        self.assertAlmostEqual(answers["accuracy"], right / len(held_out))
        self.assertGreater(answers["accuracy"], 0.9)
        for true, given in ((true, given) for true in KINDS for given in KINDS if true != given):
            if {true, given} != ALIKE:  # these are several spreads apart
                self.assertEqual(confusion[true][given], 0, (true, given))
        self.assertGreater(sum(confusion[a][b] for a in ALIKE for b in ALIKE - {a}), 0)  # and these are not
        self.assertEqual(sorted(answers["cells"]), sorted(n for row in confusion.values() for n in row.values() if n))
        self.assertEqual(answers["axes"], FIGURES["kinds"])
        self.assertIn(f"{len(training):,} known runs, {len(held_out):,} held out", answers["title"])

    def test_names_with_few_runs_are_left_out(self):
        rng = random.Random(2)
        self.merge([kindruns.run(rng, kind, i) for kind, nr in (("align", 30), ("sort", 30), ("train", 9)) for i in range(nr)])
        self.assertEqual(self.succeed(ASK).answers["confusion"], {"align": {"align": 6, "sort": 0}, "sort": {"align": 0, "sort": 6}})
