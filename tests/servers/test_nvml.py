# SPDX-License-Identifier: BSD-2-Clause
"""NVIDIA's own header and library beside what bpfmon declares and calls, on a machine without a GPU."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from lib.bpfmon import BUILD, TOP

NEEDS = ()

SOURCE = TOP / "user/lib/measure/nvml_library.c"
# as root the library makes the /dev/nvidiactl that it does not find: here in a /dev that ends with the command
OWN_DEV = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev && exec "$@"', "sh"]
COMPILE = "-std=gnu11 -Wall -Wextra -Werror -fsyntax-only".split()


class Nvml(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        fetched = subprocess.run([TOP / "tools/fetch-nvml.sh"], stdout=subprocess.PIPE, text=True, check=True)
        cls.folders = list(map(pathlib.Path, fetched.stdout.split()))
        assert len(cls.folders) == 2

    def test_declarations_are_those_of_nvidia(self):
        for folder in self.folders:
            with self.subTest(folder.name):
                argv = [shutil.which("clang") or "cc", *COMPILE, f"-isystem{folder}", f"-I{TOP}/user/lib", TOP / "tests/nvml/abi.c"]
                subprocess.run(argv, check=True)

    def test_each_function_that_is_called_is_in_the_library(self):
        called = set(re.findall(r'"(nvml\w+)"', SOURCE.read_text()))
        self.assertGreater(len(called), 30)
        for folder in self.folders:
            with self.subTest(folder.name):
                symbols = subprocess.run(
                    ["nm", "-D", "--defined-only", folder / "libnvidia-ml.so.1"], stdout=subprocess.PIPE, text=True, check=True
                ).stdout
                self.assertLessEqual(called, set(re.findall(r" T (\w+)", symbols)))

    def test_without_a_driver_there_is_no_device(self):
        if pathlib.Path("/proc/driver/nvidia").exists():
            self.skipTest("this machine has a GPU of NVIDIA")
        for folder in self.folders:
            with self.subTest(folder.name):
                argv = [*([] if os.geteuid() else OWN_DEV), BUILD / "nvmlpass"]
                env = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
                opened = subprocess.run(argv, stdout=subprocess.PIPE, text=True, env=env)
                self.assertEqual(opened.stdout, "No such device: no NVIDIA driver is loaded\n")
                self.assertEqual(opened.returncode, 1)
