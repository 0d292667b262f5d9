# SPDX-License-Identifier: BSD-2-Clause
"""Names and limits of pods, from cgroups and a tree of log files as a kubelet makes them. tests/servers/test_kubelet.py has a
real one."""

import json
import pathlib
import subprocess

from lib.agent import Agent
from lib.bpfmon import BPFMON, truth
from lib.cgroups import CgroupCase
from lib.live import wait_for
from lib.node import rmdir_patiently

ALONE = True  # /kubepods is of one kubelet
CGROUPS = pathlib.Path("/sys/fs/cgroup")
UID = "51e1a002-8b78-56e9-8187-88bcf63b946b"
MAIN, SANDBOX = "7e" * 32, "50" * 32
POD = f"kubepods/burstable/pod{UID}"
# below $0 is what the kubelet would have in /var/log
LOGS = 'mount --bind "$0" /var/log && exec "$@"'


class Pods(CgroupCase):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)  # the user of the history goes through it
        (self.dir / f"pods/lab_align-x7f2k_{UID}/main").mkdir(parents=True)
        (self.dir / "containers").mkdir()
        # the file that it leads to is not there: only its name is read
        link = self.dir / f"containers/align-x7f2k_lab_main-{MAIN}.log"
        link.symlink_to(f"/var/log/pods/lab_align-x7f2k_{UID}/main/0.log")
        self.tops = [CGROUPS / name for name in ("memory", "cpu")] if (CGROUPS / "memory").is_dir() else [CGROUPS]
        self.addCleanup(self.remove)
        for top in self.tops:
            for name in ("", MAIN, SANDBOX):
                (top / POD / name).mkdir(parents=True, exist_ok=True)
        config = f"[agent]\n[history]\nstore = {self.dir}/store/node.db\n"
        self.agent = Agent(config, before=("unshare", "-m", "sh", "-c", LOGS, str(self.dir)))
        self.addCleanup(self.agent.clean)

    def remove(self):
        for top in self.tops:
            for name in (f"{POD}/{MAIN}", f"{POD}/{SANDBOX}", POD, "kubepods/burstable", "kubepods"):
                rmdir_patiently(top / name)

    def put(self, container, **files):
        """Writes the files of version 1, cpu_shares for cpu.shares, as the kubelet does."""
        for name, value in files.items():
            for top in self.tops:
                path = top / POD / container / name.replace("_", ".", 1)
                if path.exists():
                    path.write_text(f"{value}\n")

    def sleep_in(self, container):
        folders = ",".join(str(top / POD / container) for top in self.tops)
        return self.start(truth("incgroup"), folders, "sleep", "60")

    def job(self, job, key):
        """Its meta line, once node_job has the key."""

        def described():
            lines = self.agent.jobs(uid=0)
            metas = [line for line in lines if line["kind"] == "meta" and line["node_job"]["id"] == job]
            return next((meta for meta in metas if key in meta["node_job"]), None)

        return wait_for(described, f"{key} of {job}")

    def test_a_container_has_the_names_of_its_pod_in_jobs_and_in_the_history(self):
        main, sandbox = self.sleep_in(MAIN), self.sleep_in(SANDBOX)
        pod = self.job(f"pod/{UID}", "pod")
        self.assertEqual(pod["name"], "lab/align-x7f2k")
        job = self.job(f"container/{MAIN}", "container")["node_job"]
        self.assertEqual((job["namespace"], job["pod"], job["container"]), ("lab", "align-x7f2k", "main"))
        # no link has its name, as it holds the namespaces of the pod
        job = self.job(f"container/{SANDBOX}", "pod")["node_job"]
        self.assertEqual((job["namespace"], job["pod"]), ("lab", "align-x7f2k"))
        self.assertNotIn("container", job)
        done = subprocess.run([BPFMON, "jobs", "--agent", self.agent.socket], capture_output=True, text=True, check=True)
        names = [line.split()[3] for line in done.stdout.splitlines() if "align-x7f2k" in line]
        self.assertEqual(sorted(names), ["lab/align-x7f2k", "lab/align-x7f2k/-", "lab/align-x7f2k/main"])
        for process in (main, sandbox):
            self.end(process)
        self.remove()
        store = self.dir / "store" / "node.db"
        listed = [BPFMON, "list", "--store", store, "--name", "lab/align-x7f2k/*", "--json"]

        def ended():
            done = subprocess.run(listed, capture_output=True, text=True, check=False)
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            return {row["name"]: row["job"] for row in rows if row["state"] != "unfinished"}

        wait_for(lambda: len(ended()) == 2, "both containers in the history")
        self.assertEqual(ended()["lab/align-x7f2k/main"], f"container/{MAIN}")

    def test_limits_and_the_request_are_those_that_the_kubelet_has_written(self):
        # of 100m and 250m
        for container in ("", MAIN):
            self.put(container, cpu_shares=102)
        self.put(MAIN, cpu_cfs_quota_us=25000, memory_limit_in_bytes=64 << 20)
        self.sleep_in(MAIN)
        pod = self.job(f"pod/{UID}", "cpu_request_cores")
        self.assertEqual(pod["node_job"]["cpu_request_cores"], 0.1)
        container = self.job(f"container/{MAIN}", "cpu_request_cores")
        self.assertEqual(container["node_job"]["cpu_request_cores"], 0.1)
        self.assertEqual(container["limits"], {"memory_max_bytes": 64 << 20, "cpu_max_cores": 0.25})
