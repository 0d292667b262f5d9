# SPDX-License-Identifier: BSD-2-Clause
"""Writes files of runs without running anything: tests of comparisons and lists need many known ones."""

import json
import random
import uuid


def write_run(path, tags=None, meta=None, **summary):
    """A file of JSON Lines with only a meta and a summary line."""
    head = {"kind": "meta", "schema": "bpfmon/1", "run": str(uuid.uuid4()), "tags": tags or {}, **(meta or {})}
    end = {"kind": "summary", "complete": True, "losses": {}, **summary}
    path.write_text(json.dumps(head) + "\n" + json.dumps(end) + "\n")
    return str(path)


def write_group(folder, tag, value, seed, count=10, factor=1.0):
    """`count` runs with the same tags; their values scatter by 5 % around those of `factor` 1."""
    chance = random.Random(seed)
    key, paths = tag, []
    for i in range(count):
        near = lambda v: v * factor * (1 + chance.uniform(-0.05, 0.05))
        paths.append(
            write_run(
                folder / f"{value}-{i}.jsonl",
                {key: value},
                wall_seconds=round(near(12.5), 9),
                rss_peak_bytes=int(near(300e6)) // 4096 * 4096,
                minflt=int(near(20)),
                exit_code=0,
            )
        )
    return paths
