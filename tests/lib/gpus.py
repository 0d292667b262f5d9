# SPDX-License-Identifier: BSD-2-Clause
"""A machine with GPUs and energy counters for one command: a /dev and a /sys/class of its own, and a stub of the driver's library."""

import os
import pathlib
import shutil

from lib.bpfmon import BUILD

MIB = 1 << 20
# for `unshare -m sh -c`, with a new folder in $0: /dev as it is, and nvidiactl
WITH_NVIDIACTL = """mkdir -p "$0" && mount -t tmpfs -o mode=755 none "$0" || exit 1
for one in /dev/*; do
	to=$0/${one##*/}
	if [ -L "$one" ]; then cp -P "$one" "$to"
	elif [ -d "$one" ]; then mkdir "$to" && mount --rbind "$one" "$to"
	else : >"$to" && mount --bind "$one" "$to"; fi || exit 1
done
{ [ -e "$0/nvidiactl" ] || : >"$0/nvidiactl"; } && mount --move "$0" /dev && exec "$@\""""
# the same with the folder $0 of zones of powercap in place of those of the machine
WITH_POWERCAP = """mount -t tmpfs -o mode=755 none /sys/class && mkdir /sys/class/powercap &&
mount --bind "$0" /sys/class/powercap && exec "$@\""""


class Gpus:
    """What the stub answers: a file that may be replaced at any time (tests/nvml/stub.c)."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.script = self.folder / "gpus"
        self.say("")

    def say(self, text):
        new = self.script.with_suffix(".new")
        new.write_text(text)
        new.chmod(0o644)
        new.rename(self.script)

    @property
    def before(self):
        return [shutil.which("unshare"), "-m", "sh", "-c", WITH_NVIDIACTL, str(self.folder / "dev")]

    @property
    def env(self):
        return {"LD_LIBRARY_PATH": str(BUILD / "nvml"), "BPFMON_NVML_SCRIPT": str(self.script)}


class Powercap:
    """Zones of RAPL: `package-0`, and `dram` within it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder) / "powercap"
        self.zones = [self.zone("intel-rapl:0", "package-0"), self.zone("intel-rapl:0:0", "dram")]

    def zone(self, name, what):
        zone = self.folder / name
        zone.mkdir(parents=True)
        (zone / "name").write_text(f"{what}\n")
        (zone / "max_energy_range_uj").write_text("262143328850\n")
        (zone / "energy_uj").write_text("0\n")
        return zone

    def set(self, package_uj, dram_uj):
        for zone, value in zip(self.zones, (package_uj, dram_uj)):
            with open(zone / "energy_uj", "r+b") as f:  # as the kernel: whoever has it open reads the new value
                f.write(b"%020d\n" % value)

    @property
    def before(self):
        return [shutil.which("unshare"), "-m", "sh", "-c", WITH_POWERCAP, str(self.folder)]


def environment(**more):
    return {**os.environ, **more}
