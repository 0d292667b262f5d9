# SPDX-License-Identifier: BSD-2-Clause
"""What reading a run may take, however it was made: CPU time in proportion to its size, and a bounded part of /tmp."""

import json
import os
import resource
import subprocess
import unittest

from lib.bpfmon import BPFMON, Case

SAMPLED = True
NEEDS = ()
KEPT_TAGS = 64  # of a run, as recording has them
TAGS = 100_000
CPU_SECONDS = 60  # in proportion to the tags it takes 2; in proportion to their square, 150 on the same machine
GIB = 1 << 30


class Bounds(Case):
    def test_influx_takes_many_tags_in_time(self):
        path = self.dir / "run.jsonl"
        tags = {f"tag{i:06}": "v" for i in range(TAGS)}
        pushed = {f"pushed{i:06}": "v" for i in range(TAGS)}
        fields = {f"tag{i:06}": i for i in range(0, TAGS, 2)}  # the names of tags: each gets another
        lines = [
            {"kind": "meta", "schema": "bpfmon/1", "start_time": 1763690000, "tags": tags},
            {"kind": "metric", "elapsed_seconds": 1, "name": "m", "tags": pushed, "fields": fields},
            {"kind": "summary", "complete": True, "wall_seconds": 2},
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        done = subprocess.run(
            [BPFMON, "export", path, "-f", "influx"],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS)),
            capture_output=True,
            timeout=3600,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        keys, _, values = done.stdout.decode().strip().partition(" ")
        kept = list(tags)[:KEPT_TAGS]
        self.assertEqual(keys, "m," + ",".join(f"{key}=v" for key in [*kept, *pushed]))
        named = {f"field_{key}" if key in kept else key: v for key, v in fields.items()}
        self.assertEqual(values.partition(" ")[0], ",".join(f"{key}={v}" for key, v in named.items()))

    def test_a_pipe_that_does_not_end_is_refused(self):
        stat = os.statvfs("/tmp")
        if stat.f_bavail * stat.f_frsize < 2 * GIB and "CI" not in os.environ:
            raise unittest.SkipTest("/tmp has less than 2 GiB free")
        with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as endless:
            done = subprocess.run(
                [BPFMON, "show", "-"],
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (GIB + GIB // 2,) * 2),
                stdin=endless.stdout,
                capture_output=True,
                text=True,
                timeout=1800,
                check=False,
            )
            endless.kill()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("more than 1 GiB", done.stderr)
        self.assertIn("a file", done.stderr)

    def test_a_run_through_a_pipe_is_shown_as_from_its_file(self):
        path = self.dir / "run.jsonl"
        path.write_text(
            '{"kind":"meta","schema":"bpfmon/1","start_time":1763690000,"command":["a"]}\n'
            '{"kind":"sample","elapsed_seconds":1,"rss_bytes":4096}\n'
            '{"kind":"summary","complete":true,"wall_seconds":2,"rss_peak_bytes":4096}\n'
        )
        show = lambda word, **how: subprocess.run([BPFMON, "show", word], capture_output=True, timeout=120, check=True, **how).stdout
        self.assertEqual(show("-", input=path.read_bytes()), show(path))
