# SPDX-License-Identifier: BSD-2-Clause
"""The manifest for Kubernetes against the types of its API, which also find a key that does not exist."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from lib.kubelet import manifest_read

MODULES = pathlib.Path(__file__).parent / "node_modules"
CHECK = """import type {{ I{kind} }} from "kubernetes-models/{api}";
export const object: I{kind} = {text};
"""
OPTIONS = "--noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler --target es2022".split()


def check(objects):
    """The complaints of the compiler."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-test-"))
    try:
        (folder / "node_modules").symlink_to(MODULES)
        for i, one in enumerate(objects):
            text = CHECK.format(kind=one["kind"], api=one["apiVersion"], text=json.dumps(one))
            (folder / f"{i}.ts").write_text(text)
        argv = [MODULES / ".bin/tsc", *OPTIONS, *folder.glob("*.ts")]
        return subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False, cwd=folder).stdout
    finally:
        shutil.rmtree(folder)


class Manifest(unittest.TestCase):
    def setUp(self):
        self.objects = manifest_read()
        self.spec = self.objects[-1]["spec"]["template"]["spec"]

    def test_all_objects_are_of_the_types_of_the_api(self):
        self.assertEqual([one["kind"] for one in self.objects], ["Namespace", "ConfigMap", "DaemonSet"])
        self.assertEqual(check(self.objects), "")

    def test_a_misspelt_key_is_found(self):
        self.spec["hostPid"] = self.spec.pop("hostPID")
        self.assertIn("'\"hostPid\"' does not exist", check(self.objects[-1:]))

    def test_no_container_is_privileged_or_may_become_so(self):
        for one in self.spec["containers"]:
            context = one["securityContext"]
            found = [context[key] for key in ("privileged", "allowPrivilegeEscalation", "readOnlyRootFilesystem")]
            self.assertEqual(found, [False, False, True])
            self.assertEqual(context["capabilities"]["drop"], ["ALL"])
        self.assertFalse(self.spec["automountServiceAccountToken"])
        self.assertEqual(self.spec["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
        names = [volume["name"] for volume in self.spec["volumes"]]
        mounts = [mount for one in self.spec["containers"] for mount in one["volumeMounts"]]
        self.assertLessEqual({mount["name"] for mount in mounts}, set(names))
        writable = [mount["name"] for mount in mounts if not mount.get("readOnly")]
        self.assertEqual(writable, ["run", "history"])
