# SPDX-License-Identifier: BSD-2-Clause
"""A real kubelet with containerd, below a folder of the test: static pods, images made of the truth programs.

Both run in a mount namespace of their own, in which /var/log, /var/lib/bpfmon and the folders that they share are
the test's. Cgroups are those that a kubelet has: /kubepods, which no other program of the machine may use.
"""

import contextlib
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import unittest

from lib.bpfmon import TOP, truth
from lib.live import wait_for
from lib.servers import free_port

PATIENCE = 240  # seconds, for what a kubelet does
CGROUPS = pathlib.Path("/sys/fs/cgroup")
CONTAINERD = """version = 2
root = "{dir}/containerd"
state = "{dir}/containerd-state"
[grpc]
address = "{dir}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "localhost/pause:1"
restrict_oom_score_adj = true
disable_tcp_service = true
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
"""
KUBELET = {
    "kind": "KubeletConfiguration",
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
    "authorization": {"mode": "AlwaysAllow"},
    "cgroupDriver": "cgroupfs",
    "enforceNodeAllocatable": [],
    "failSwapOn": False,
    "fileCheckFrequency": "1s",
    "makeIPTablesUtilChains": False,
    "evictionHard": {"memory.available": "1Mi"},
    "address": "127.0.0.1",
    "healthzPort": 0,
}
# $0: the folder; the folders that pods see are the test's, also where the kubelet has no option for them
INSIDE = """set -e
mount --make-rprivate /
mkdir -p "$0/log/pods" "$0/log/containers" "$0/history" /var/lib/bpfmon
mount --bind "$0/log" /var/log
mount --bind "$0/history" /var/lib/bpfmon
touch "$0/ready"
exec sleep infinity
"""


def manifest_read():
    """The objects of the manifest, by the distribution's Python, which has the parser that yamllint needs."""
    program = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))"
    with open(TOP / "share/bpfmon/kubernetes/bpfmon.yaml", "rb") as manifest:
        done = subprocess.run(["/usr/bin/python3", "-c", program], stdin=manifest, capture_output=True, check=True)
    return json.loads(done.stdout)


def put(archive, name, data, mode=0o644):
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), mode
    archive.addfile(info, io.BytesIO(data))


def image_write(path, name, programs):
    """An OCI archive of one layer, from scratch, with these programs in its root."""
    blobs = {}

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as archive:
        for program in programs:
            put(archive, program, pathlib.Path(truth(program)).read_bytes(), 0o755)
    top = blob(layer.getvalue(), "layer.v1.tar")
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": [f"/{programs[0]}", "1", "1000000"]},
        "rootfs": {"type": "layers", "diff_ids": [top["digest"]]},
    }
    config = blob(json.dumps(config).encode(), "config.v1+json")
    manifest = blob(json.dumps({"schemaVersion": 2, "config": config, "layers": [top]}).encode(), "manifest.v1+json")
    manifest["annotations"] = {"io.containerd.image.name": name}
    with tarfile.open(path, "w") as archive:
        put(archive, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        put(archive, "index.json", json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode())
        for digest, data in blobs.items():
            put(archive, f"blobs/sha256/{digest}", data)


class Kubelet:
    """Started at once from the program of tools/fetch-kubelet.sh; stop() ends all that it has started."""

    def __init__(self, program):
        self.program = program
        for needed in ("containerd", "ctr", "runc"):
            if not shutil.which(needed):
                raise unittest.SkipTest(f"{needed} is not installed; tools/install-deps.sh kubelet")
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-kubelet-", dir="/var/tmp"))
        self.name = self.dir.name
        self.pods = self.dir / "manifests"
        self.pods.mkdir()
        self.processes = []
        freezer = CGROUPS / "freezer"
        self.own_cgroup = (freezer if freezer.is_dir() else CGROUPS) / self.name
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        self.holder = self.run("holder", ["unshare", "-m", "sh", "-c", INSIDE, str(self.dir)])
        wait_for((self.dir / "ready").exists, "the mount namespace")
        self.own_cgroup.mkdir()
        config = self.dir / "containerd.toml"
        config.write_text(CONTAINERD.format(dir=self.dir))
        # what it starts stays there, and is found when it has lost its parent
        containerd = self.inside("containerd", "--config", str(config))
        self.run("containerd", [truth("incgroup"), str(self.own_cgroup), *containerd])
        wait_for(lambda: not self.ctr("version", check=False).returncode, "containerd", PATIENCE)
        self.add_image("localhost/pause:1", ["livethreads"])
        self.port = free_port()
        self.read_only_port = free_port()
        ports = {"port": self.port, "readOnlyPort": self.read_only_port}
        settings = {**KUBELET, **ports, "staticPodPath": str(self.pods), "volumePluginDir": f"{self.dir}/plugins"}
        path = self.dir / "kubelet.json"
        path.write_text(json.dumps(settings))
        socket = f"unix://{self.dir}/containerd.sock"
        options = [
            f"--config={path}",
            f"--root-dir={self.dir}/kubelet",
            f"--cert-dir={self.dir}/certificates",
            "--container-runtime=remote",
            f"--container-runtime-endpoint={socket}",
            "--hostname-override=node1",
            "-v=2",
        ]
        self.run("kubelet", self.inside(self.program, *options))

    def inside(self, *words):
        """The command in the mount namespace."""
        return ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", *words]

    def run(self, name, argv):
        with open(self.dir / f"{name}.log", "ab") as log:
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def said(self, name="kubelet"):
        return (self.dir / f"{name}.log").read_text(errors="replace")

    def ctr(self, *words, check=True):
        argv = ["ctr", f"--address={self.dir}/containerd.sock", "--namespace=k8s.io", *words]
        return subprocess.run(argv, check=check, capture_output=True, text=True)

    def import_image(self, path):
        self.ctr("images", "import", "--snapshotter=native", str(path))

    def add_image(self, name, programs):
        path = self.dir / "image.tar"
        image_write(path, name, programs)
        self.import_image(path)

    def add_pod(self, name, spec, namespace="lab"):
        """A static pod; its name has the node's appended. It is renamed into place, since the folder is watched."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}
        path = self.dir / f"{namespace}-{name}.json"
        path.write_text(json.dumps(pod))
        path.rename(self.pods / path.name)
        return f"{name}-node1"

    def remove_pods(self):
        for path in self.pods.iterdir():
            path.unlink()

    def containers(self, pod):
        """By name the ids of its containers, as the links of the kubelet have them."""
        found = {}
        for path in sorted((self.dir / "log/containers").iterdir(), key=lambda path: path.lstat().st_ctime):
            match = re.fullmatch(rf"{pod}_[^_]+_(.+)-([0-9a-f]{{64}})\.log", path.name)
            if match:
                found.setdefault(match[1], []).append(match[2])
        return found

    def cgroup_of(self, container, controller="cpuacct"):
        """Its folder, by the name that containerd has for it."""
        folders = os.walk(CGROUPS / controller / "kubepods")
        return next((pathlib.Path(folder) for folder, _, _ in folders if folder.endswith(container)), None)

    def stop(self):
        self.remove_pods()
        with contextlib.suppress(AssertionError):
            wait_for(lambda: not self.live_pods(), "the end of the pods", 30)
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
        tops = [self.own_cgroup, CGROUPS / "kubepods", *(top / "kubepods" for top in CGROUPS.iterdir())]
        wait_for(lambda: not self.ends(tops), "the end of all processes and cgroups")
        for line in reversed(pathlib.Path("/proc/mounts").read_text().splitlines()):
            if line.split()[1].startswith(str(self.dir)):
                subprocess.run(["umount", "--lazy", line.split()[1]], check=False)
        shutil.rmtree(self.dir, ignore_errors=True)

    def live_pods(self):
        """Their cgroups, which may go meanwhile."""
        tops = [CGROUPS / "memory/kubepods", CGROUPS / "kubepods"]
        return [name for top in tops for _, names, _ in os.walk(top) for name in names if name.startswith("pod")]

    def ends(self, tops):
        """Ends the processes of these cgroups, and removes those that are empty. What is left."""
        left = []
        for top in tops:
            for folder, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError, ProcessLookupError):
                    for pid in pathlib.Path(folder, "cgroup.procs").read_text().split():
                        os.kill(int(pid), signal.SIGKILL)
                    os.rmdir(folder)
            if top.exists():
                left.append(top)
        if left:
            time.sleep(0.05)
        return left
