# SPDX-License-Identifier: BSD-2-Clause
"""Pods of a real kubelet, as an agent sees them that is a pod itself: of the DaemonSet in share/bpfmon/kubernetes, with its
rights, in the image that `make image` makes. What the kubelet and the cgroups say is the second witness.
"""

import json
import os
import pathlib
import re
import shlex
import ssl
import subprocess
import urllib.request

from lib.bpfmon import BPFMON, TOP, Case
from lib.documents import documented_commands
from lib.kubelet import CGROUPS, PATIENCE, Kubelet, manifest_read
from lib.live import all_pids, executable_of, status_of, wait_for
from lib.servers import free_port

ALONE = True
LONG = True  # builds a kubelet, once

IMAGE = "localhost/truth:1"
COMMANDS = [command for document, command in documented_commands() if document == "docs/KUBERNETES.md"]
SETTINGS = """
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=301:301"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
"""
STORAGE = """
[storage]
driver = "vfs"
graphroot = "{dir}/storage"
runroot = "{dir}/state"
"""
# of a process that the runtime moves into a cgroup: up to a tick for each of its threads (NODE.md)
MOVED_SECONDS = 0.12


def container(name, *command, **also):
    return {"name": name, "image": IMAGE, "imagePullPolicy": "Never", "command": list(command), **also}


class Kubernetes(Case):
    @classmethod
    def setUpClass(cls):
        fetched = subprocess.run([TOP / "tools/fetch-kubelet.sh"], check=True, stdout=subprocess.PIPE, text=True)
        cls.kubelet = Kubelet(fetched.stdout.strip())
        cls.addClassCleanup(cls.kubelet.stop)
        cls.kubelet.add_image(IMAGE, ["spin", "touch", "livethreads"])
        cls.kubelet.import_image(cls.make_image())
        cls.port = free_port()
        cls.pod = cls.kubelet.add_pod("bpfmon", cls.spec_of_daemon_set(), namespace="bpfmon")
        wait_for(cls.socket, "the agent's socket", PATIENCE)

    @classmethod
    def make_image(cls):
        folder = cls.kubelet.dir
        (folder / "containers.conf").write_text(SETTINGS)
        (folder / "storage.conf").write_text(STORAGE.format(dir=folder / "podman"))
        env = {
            **os.environ,
            "BUILDER": "podman",
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
        }
        tar = folder / "bpfmon.tar"
        save = ["podman", "save", "--format=oci-archive", f"--output={tar}", "localhost/bpfmon:latest"]
        for argv in (["make", "-s", "image"], save):
            done = subprocess.run(argv, cwd=TOP, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if done.returncode:
                raise AssertionError(done.stdout.decode())
        return tar

    @classmethod
    def spec_of_daemon_set(cls):
        """As a static pod, which has no ConfigMap and no Secret, on a node without a network for pods."""
        _, config_map, daemon_set = manifest_read()
        spec = daemon_set["spec"]["template"]["spec"]
        spec["hostNetwork"] = True
        for one in spec["containers"]:
            one["imagePullPolicy"] = "Never"
        # the lines for Prometheus, as KUBERNETES.md says
        config = config_map["data"]["exporter.conf"].replace("listen = 127.0.0.1:9433\n", "", 1)
        config = re.sub("(?m)^#(listen|certificate|key|password_file) ", r"\1 ", config).replace(":9433", f":{cls.port}")
        cls.put_files("config", {**config_map["data"], "exporter.conf": config})
        cls.put_files("secret", cls.make_secret())
        for volume in spec["volumes"]:
            if volume.pop("configMap", None):
                volume["hostPath"] = {"path": str(cls.kubelet.dir / "config")}
            if volume.pop("secret", None):
                volume["hostPath"] = {"path": str(cls.kubelet.dir / "secret")}
        return spec

    @classmethod
    def put_files(cls, name, files):
        """As the kubelet makes them of a ConfigMap or a Secret, for the group of the pod."""
        folder = cls.kubelet.dir / name
        folder.mkdir(mode=0o755)
        for file, text in files.items():
            path = folder / file
            path.write_text(text)
            path.chmod(0o440)
            os.chown(path, 0, 65521)

    @classmethod
    def make_secret(cls):
        folder = cls.kubelet.dir
        typed = [command for command in COMMANDS if "openssl" in command]
        for command in typed:
            subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)
        if len(typed) != 2:
            raise AssertionError(typed)
        return {name: (folder / name).read_text() for name in ("tls.crt", "tls.key", "passwords")}

    @classmethod
    def socket(cls):
        """By a link, as its own path is longer than that of a socket may be."""
        short = cls.kubelet.dir / "agent"
        for found in cls.kubelet.dir.glob("kubelet/pods/*/volumes/kubernetes.io~empty-dir/run/bpfmon"):
            short.unlink(missing_ok=True)
            short.symlink_to(found)
        return short / "agent.sock" if (short / "agent.sock").exists() else None

    def lines(self):
        """Those of `bpfmon jobs --json`."""
        argv = [BPFMON, "jobs", "--json", "--agent", self.socket()]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def job(self, job):
        """The meta line and the last sample of a job; None: it is not there, or has no sample."""
        lines = self.lines()
        meta = next((line for line in lines if line["kind"] == "meta" and line["node_job"]["id"] == job), None)
        if not meta:
            return None
        sample = next((line for line in lines if line["kind"] == "sample" and line["run"] == meta["run"]), None)
        return sample and (meta, sample)

    def named(self, job):
        """The same, once the job has its names."""
        return wait_for(lambda: (found := self.job(job)) and "pod" in found[0]["node_job"] and found, f"names of {job}", PATIENCE)

    def add_pod(self, name, *containers, **also):
        """The pod, and by name the ids of its containers once all are there."""
        pod = self.kubelet.add_pod(name, {"hostNetwork": True, "containers": list(containers), **also})
        wanted = {one["name"] for one in containers}
        wait_for(lambda: wanted <= self.kubelet.containers(pod).keys(), f"the containers of {pod}", PATIENCE)
        return pod, {name: ids[-1] for name, ids in self.kubelet.containers(pod).items()}

    def inside(self, *words):
        """What bpfmon in the agent's container prints."""
        agent = self.kubelet.containers(self.pod)["agent"][-1]
        return self.kubelet.ctr("task", "exec", f"--exec-id=x{os.urandom(4).hex()}", agent, "bpfmon", *words).stdout

    def history(self, name):
        """The rows of `list --node` with this name that have ended, the oldest first."""
        rows = map(json.loads, self.inside("list", "--node", "--name", name, "--json").splitlines())
        return sorted((row for row in rows if row["state"] == "ended"), key=lambda row: row["id"])

    def metrics(self):
        trust = ssl.create_default_context(cafile=self.kubelet.dir / "tls.crt")
        passwords = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        passwords.add_password(None, f"https://127.0.0.1:{self.port}", "prometheus", "PASSWORD")
        trust.check_hostname = False  # it is asked by address here
        handlers = urllib.request.HTTPSHandler(context=trust), urllib.request.HTTPBasicAuthHandler(passwords)
        with urllib.request.build_opener(*handlers).open(f"https://127.0.0.1:{self.port}/metrics", timeout=60) as answer:
            return answer.read().decode()

    def status_of(self, pod):
        """What the kubelet has of the pod's first container."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.kubelet.read_only_port}/pods", timeout=60) as answer:
            pods = json.load(answer)["items"] or []
        found = next((one for one in pods if one["metadata"]["name"] == pod), {})
        return (found.get("status", {}).get("containerStatuses") or [{}])[0]

    def test_a_pod_with_two_containers_has_its_names_and_limits_everywhere(self):
        resources = {"requests": {"cpu": "100m"}, "limits": {"cpu": "250m", "memory": "64Mi"}}
        pod, ids = self.add_pod(
            "align", container("main", "/spin", "1000000", resources=resources), container("side", "/livethreads", "1", "100000")
        )
        wait_for(lambda: "cpu_request_cores" in self.named(f"container/{ids['main']}")[0]["node_job"], "the request", PATIENCE)
        meta, _ = self.named(f"container/{ids['main']}")
        found = {key: meta["node_job"].get(key) for key in ("namespace", "pod", "container", "cpu_request_cores")}
        self.assertEqual(found, {"namespace": "lab", "pod": pod, "container": "main", "cpu_request_cores": 0.1})
        self.assertEqual(meta["limits"], {"memory_max_bytes": 64 << 20, "cpu_max_cores": 0.25})
        meta, _ = self.named(f"container/{ids['side']}")
        self.assertEqual(meta["node_job"]["container"], "side")
        self.assertNotIn("cpu_request_cores", meta["node_job"])
        uid = self.kubelet.cgroup_of(ids["main"]).parent.name.removeprefix("pod")
        meta, _ = self.named(f"pod/{uid}")
        self.assertEqual((meta["name"], meta["node_job"]["pod"]), (f"lab/{pod}", pod))
        self.assertNotIn("container", meta["node_job"])
        rows = [line.split() for line in self.inside("jobs").splitlines()]
        row = next(row for row in rows if f"lab/{pod}/main" in row)
        self.assertEqual((row[0], row[5:7]), (f"container/{ids['main'][:12]}", ["0.10", "0.25"]))
        labels = f'name="{ids["main"][:12]}",namespace="lab",pod="{pod}",container="main",nested="yes"'
        wait_for(lambda: labels in self.metrics(), "the names in the exporter", PATIENCE)
        text = self.metrics()
        self.assertRegex(text, rf"bpfmon_job_cpu_request_cores\{{[^}}]*{labels}\}} 0.1\n")
        self.assertRegex(text, rf"bpfmon_job_cpu_limit_cores\{{[^}}]*{labels}\}} 0.25\n")
        self.assertRegex(text, rf"bpfmon_job_memory_limit_bytes\{{[^}}]*{labels}\}} {64 << 20}\n")
        # no line of them lacks the names
        job = f'job="container/{ids["main"]}"'
        lines = [line for line in text.splitlines() if job in line]
        self.assertEqual([line for line in lines if labels not in line], [])

    def test_cpu_of_a_container_is_that_of_its_cgroup(self):
        _, ids = self.add_pod("burn", container("main", "/spin", "1000000"))
        usage = self.kubelet.cgroup_of(ids["main"]) / "cpuacct.usage"
        self.named(f"container/{ids['main']}")
        least = int(usage.read_text()) / 1e9
        before = self.job(f"container/{ids['main']}")[1]["elapsed_seconds"]
        sample = wait_for(
            lambda: (now := self.job(f"container/{ids['main']}")[1])["elapsed_seconds"] > before and now, "a further sample"
        )
        most = int(usage.read_text()) / 1e9
        self.assertGreaterEqual(sample["cpu_seconds"], least - MOVED_SECONDS)
        self.assertLessEqual(sample["cpu_seconds"], most + MOVED_SECONDS)

    def test_a_container_that_restarts_is_two_jobs_of_one_name(self):
        pod, _ = self.add_pod("again", container("main", "/spin", "1500"))
        rows = wait_for(lambda: len(rows := self.history(f"lab/{pod}/main")) > 1 and rows, "two jobs in the history", PATIENCE)
        self.assertEqual(len({row["job"] for row in rows}), len(rows))
        self.assertGreaterEqual(rows[0]["cpu_seconds"], 1.5 - MOVED_SECONDS)
        wait_for(lambda: self.status_of(pod).get("restartCount", 0) >= 1, "the kubelet's count", PATIENCE)

    def test_an_oom_kill_is_the_containers(self):
        limits = {"limits": {"memory": "32Mi"}, "requests": {"cpu": "10m"}}
        pod, _ = self.add_pod("greedy", container("main", "/touch", "64", "60000", resources=limits))
        reason = lambda: self.status_of(pod).get("lastState", {}).get("terminated", {}).get("reason")
        wait_for(lambda: reason() == "OOMKilled", "the kubelet's reason", PATIENCE)
        row = wait_for(lambda: next(iter(self.history(f"lab/{pod}/main")), None), "the job in the history", PATIENCE)
        shown = json.loads(self.inside("show", "--node", "--json", str(row["id"])))
        self.assertGreaterEqual(shown["summary"]["oom_kills"], 1)

    def test_agent_and_exporter_have_no_further_rights(self):
        kept = {"CAP_BPF": 39, "CAP_PERFMON": 38, "CAP_SYS_PTRACE": 19, "CAP_DAC_READ_SEARCH": 2}
        programs = {"/usr/bin/bpfmon": sum(1 << bit for bit in kept.values()), "/usr/libexec/bpfmon/bpfmon-exporter": 0}
        for program, most in programs.items():
            ours = [status_of(pid) for pid in all_pids() if executable_of(pid) == program]
            self.assertTrue(ours, program)
            for status in ours:
                self.assertEqual(int(status["CapPrm"], 16) & ~most, 0, status)
                self.assertNotEqual(status["Uid"].split()[0], "0", status)
                self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), status)

    def test_commands_of_the_document_find_the_pods(self):
        pod, _ = self.add_pod("typed", container("main", "/spin", "1500"))
        row = wait_for(lambda: next(iter(self.history(f"lab/{pod}/main")), None), "the container in the history", PATIENCE)
        typed = [shlex.split(words) for _, _, words in (command.partition(" -- ") for command in COMMANDS) if words]
        said = {words[1]: self.inside(*(word.replace("812", str(row["id"])) for word in words[1:])) for words in typed}
        self.assertEqual(list(said), ["jobs", "list", "show"])
        self.assertIn(f"lab/{pod}", said["jobs"])
        self.assertIn(f"lab/{pod}/main", said["list"])
        self.assertIn(f"lab/{pod}/main", said["show"])

    def test_the_limit_of_the_agent_has_room(self):
        agent = self.kubelet.containers(self.pod)["agent"][-1]
        folder = self.kubelet.cgroup_of(agent, "memory")
        most = int((folder / "memory.max_usage_in_bytes").read_text())
        self.assertLess(most, int((folder / "memory.limit_in_bytes").read_text()) / 2)
        said = next(pathlib.Path(self.kubelet.dir).glob("log/pods/bpfmon_*/agent/*.log")).read_text()
        self.assertNotIn("error", said)
        self.assertTrue((CGROUPS / "memory/kubepods").is_dir())
