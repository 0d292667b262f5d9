# SPDX-License-Identifier: BSD-2-Clause
"""tools/check-stack.py on small programs: which chains of calls it reports."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

NEEDS = ()
TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check-stack.py"
FRAME = "volatile char a[{bytes}]; a[{bytes} - 1 - (n & 7)] = n;"


class Stack(unittest.TestCase):
    def reported(self, *frames, how="static ", through=None):
        """
        The tool's lines for a chain of functions with these sizes of stack, in bytes; the first is the program. With
        @through it passes the second one to the helper of this number.
        """
        text = f"static long (*helper)(void *, void *) = (void *){through};\n" if through else ""
        for i, size in reversed(list(enumerate(frames))):
            called = f"f{i + 1}(n + 1)" if i + 1 < len(frames) else "n"
            if through and not i:
                called = "helper((void *)n, f1)"
            before = f"{how}__attribute__((noinline)) long" if i else '__attribute__((section("tp/test"))) long'
            text += f"{before} f{i}(long n) {{ {FRAME.format(bytes=size)} return {called} + a[{size} - 8 + (n & 7)]; }}\n"
        with tempfile.TemporaryDirectory(prefix="bpfmon-stack-") as folder:
            made = pathlib.Path(folder, "test.o")
            subprocess.run(["clang", "-target", "bpf", "-O2", "-x", "c", "-", "-c", "-o", made], input=text, text=True, check=True)
            done = subprocess.run([sys.executable, TOOL, made], capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 1 if done.stdout else 0)
        return done.stdout.splitlines()

    def test_frames_of_512_bytes_fit(self):
        self.assertEqual(self.reported(192, 320), [])

    def test_a_chain_that_takes_more_is_reported(self):
        for how in ("static ", ""):
            with self.subTest(how=how):
                self.assertEqual(set(self.reported(192, 64, 280, how=how)), {"544 bytes, 3 frames: f0 -> f1 -> f2"})

    def test_a_callback_of_a_timer_has_a_stack_of_its_own_and_one_of_a_loop_has_not(self):
        for_each_map_elem, timer_set_callback = 164, 170
        self.assertEqual(self.reported(192, 64, 400, through=timer_set_callback), [])
        self.assertEqual(set(self.reported(8, 192, 400, through=timer_set_callback)), {"608 bytes, 2 frames: f1 -> f2"})
        self.assertEqual(set(self.reported(192, 64, 280, through=for_each_map_elem)), {"544 bytes, 3 frames: f0 -> f1 -> f2"})

    def test_more_than_eight_frames_are_reported(self):
        self.assertEqual(self.reported(*[8] * 8), [])
        self.assertEqual(set(self.reported(*[8] * 9)), {"288 bytes, 9 frames: " + " -> ".join(f"f{i}" for i in range(9))})
