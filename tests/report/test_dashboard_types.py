# SPDX-License-Identifier: BSD-2-Clause
"""The dashboards against the types that Grafana publishes for them."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

from lib.bpfmon import TOP

MODULES = pathlib.Path(__file__).parent / "node_modules"
# JSON has the values of an enum as plain strings
CHECK = """import type { Dashboard } from "@grafana/schema";
type Plain<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
export const dashboard: Plain<Dashboard> = %s;
"""


class Types(unittest.TestCase):
    def test_dashboards_are_what_grafana_expects(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-test-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "node_modules").symlink_to(MODULES)
        for dashboard in (TOP / "share/bpfmon/grafana").glob("*.json"):
            (folder / f"{dashboard.stem}.ts").write_text(CHECK % dashboard.read_text())
        options = "--noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler --target es2022".split()
        argv = [MODULES / ".bin/tsc", *options, *folder.glob("*.ts")]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout)
