# SPDX-License-Identifier: BSD-2-Clause
"""The pages of bpfmon serve in a browser: the list, and a run that goes on while one looks."""

import os
import subprocess

from lib.bpfmon import BPFMON
from lib.web import Web

from reports import PICTURES, ReportCase


class Served(ReportCase):
    def setUp(self):
        super().setUp()
        self.store = self.dir / "store.sqlite"
        environment = {k: v for k, v in os.environ.items() if k != "BPFMON_NO_STORE"} | {"BPFMON_STORE": str(self.store)}
        words = ["-q", "-i", "0.1", "--name", "goes on", "--tag", "sample=A7", "--", "sh", "-c", "while sleep 0.1; do :; done"]
        self.run_ = subprocess.Popen([BPFMON, *words], env=environment)
        self.addCleanup(self.run_.wait)
        self.addCleanup(self.run_.terminate)
        while subprocess.run([BPFMON, "report", "goes on", "-o", "/dev/null", "-q"], env=environment, stderr=subprocess.DEVNULL, check=False).returncode:
            self.assertIsNone(self.run_.poll())
        self.web = Web(self.store)
        self.addCleanup(self.web.close)

    def test_a_run_goes_on_in_the_page_without_being_fetched_again(self):
        seen = self.look(
            self.web.url,
            ("until", {"of": "#runs .end", "like": "running, "}),
            ("screenshot", {"path": str(PICTURES / "served-list.png")}),
            ("click", {"of": "#runs .what a"}),
            ("until", {"of": "#live-state", "like": "follow the run"}),
            ("until", {"of": ".tile", "like": r"Wall time so far\s*[3-9]"}),
            ("until", {"of": "#chips", "like": r"running, [4-9]"}),
            ("screenshot", {"path": str(PICTURES / "served-run.png")}),
            ("count", {"of": "#edit"}),
        )
        self.assertEqual(seen.problems, [])
        host = f"http://{self.web.host}/"
        self.assertEqual([url for url in seen.requests if not url.startswith(host)], [])
        self.assertEqual(seen.requests.count(host + "runs/1"), 1)
        self.assertEqual(seen.results[-1], 0)  # a run that goes on cannot be edited
