# SPDX-License-Identifier: BSD-2-Clause
"""A running bpfmon: its three processes, its files, and its programs and maps in the kernel."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from lib.bpfmon import BPFMON, Case, Run, read_lines

PATIENCE = 60  # seconds until a condition that does not become true is an error
PROGRAM_NAMES = ("follow__", "drain__", "memory__", "peak__", "oom__")
MAP_NAMES = {"tasks", "processes", "accounts", "events", "births", "mms"}


def wait_for(condition, what, seconds=PATIENCE):
    """Polls until the condition has a true value, which is returned."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"in vain waited for: {what}")
        time.sleep(0.01)
    return value


def stat_of(pid):
    """State, parent, group and session of a process; None if there is none."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    state, *numbers = text.rpartition(")")[2].split()[:4]
    return (state, *map(int, numbers))


def wait_for_exec(pid):
    """Until a child that Popen has started runs its program: Popen returns when exec has closed the pipe to it, which
    is before exec has given the process its name and made it dumpable, its user's own."""
    own = pathlib.Path("/proc/self/comm").read_text()
    wait_for(lambda: pathlib.Path(f"/proc/{pid}/comm").read_text() != own, "exec")


def is_alive(pid):
    stat = stat_of(pid)
    return stat is not None and stat[0] not in "ZX"


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children_of(pid):
    return [child for child in all_pids() if (stat := stat_of(child)) and stat[1] == pid]


def descendants_of(pid):
    return [found for child in children_of(pid) for found in (child, *descendants_of(child))]


def status_of(pid):
    """/proc/PID/status as a dictionary."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def executable_of(pid):
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)")
    return ""


def send(pid, *signals):
    """Sends a signal to a process that may have ended."""
    for sig in signals:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sig)


def descriptor_links(pid):
    found = {}
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found[fd] = os.readlink(f"/proc/{pid}/fd/{fd}")
    return found


def sockets_of(pid):
    """The number of its sockets: the recorder has two, a keeper one or none."""
    return sum(link.startswith("socket:") for link in descriptor_links(pid).values())


def bpf_objects(pid):
    """The BPF objects that a process holds: ("prog" or "map", id)."""
    found = set()
    for fd, link in descriptor_links(pid).items():
        if "bpf" in link:
            with contextlib.suppress(OSError):
                text = pathlib.Path(f"/proc/{pid}/fdinfo/{fd}").read_text()
                found |= {(k, int(i)) for k, i in re.findall(r"^(prog|map)_id:\s*(\d+)", text, re.M)}
    return found


def bpftool(kind):
    text = subprocess.run(["bpftool", kind, "list", "-j"], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(text or "[]")


def loaded_objects():
    """Programs and maps in the kernel with names of bpfmon, of any run."""
    programs = {("prog", p["id"]) for p in bpftool("prog") if p.get("name", "").startswith(PROGRAM_NAMES)}
    return programs | {("map", m["id"]) for m in bpftool("map") if m.get("name") in MAP_NAMES}


def orphans():
    """Those of them that no live process holds."""
    loaded = loaded_objects()
    return loaded - {item for pid in all_pids() for item in bpf_objects(pid)}


class Live:
    """A bpfmon in the background."""

    def __init__(self, case, command, options=(), out=True, **popen):
        self.out = case.dir / f"live-{time.monotonic_ns()}.jsonl" if out else None
        to = ["-o", str(self.out)] if out else []
        self.known = set()
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        self.process = subprocess.Popen([BPFMON, *to, *options, "--", *command], **popen)
        case.addCleanup(self.clean)
        self.pid = self.process.pid

    def remember(self):
        self.known |= {self.pid, *descendants_of(self.pid)}

    def clean(self):
        if self.process.poll() is None:
            self.remember()
        for pid in self.known - {self.pid}:
            if executable_of(pid) != "" and (stat := stat_of(pid)) and stat[1] in (*self.known, 1):
                send(pid, signal.SIGKILL, signal.SIGCONT)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()

    def role(self, is_it):
        def find():
            for pid in children_of(self.pid):
                if is_it(pid, stat_of(pid), any("bpf-prog" in l for l in descriptor_links(pid).values())):
                    return pid
            return None

        return wait_for(find, "a process of bpfmon")

    def roles(self):
        """Collector, recorder and command, when all three have taken their roles."""
        collector = self.role(lambda pid, stat, has_bpf: has_bpf)
        recorder = self.role(
            lambda pid, stat, has_bpf: pid != collector and stat and stat[3] == pid and not has_bpf and sockets_of(pid) >= 2
        )
        command = self.role(
            lambda pid, stat, has_bpf: pid not in (collector, recorder)
            and executable_of(pid) not in ("", os.path.realpath(BPFMON))
        )
        self.remember()
        return collector, recorder, command

    def lines(self):
        """The complete lines of the file now."""
        return read_lines(self.out) if self.out.exists() else []

    def samples(self):
        return [line for line in self.lines() if line["kind"] == "sample"]

    def wait_for_samples(self, more=1):
        """Waits until the file has so many more samples."""
        target = len(self.samples()) + more
        wait_for(lambda: len(self.samples()) >= target, f"{more} samples more in {self.out}")

    def finish(self):
        """Waits for bpfmon's end; returns the run."""
        stdout, stderr = self.process.communicate(timeout=PATIENCE)
        lines = self.lines() if self.out else []
        return Run(self.process.returncode, stdout, (stderr or b"").decode(errors="replace"), lines, None)


class LiveCase(Case):
    """A test that watches bpfmon while it runs."""

    def live(self, command, options=(), **kwargs):
        return Live(self, command, options, **kwargs)

    def work_until_told(self, code=43):
        """A command that makes processes until the file exists, then ends with the code."""
        stop = self.dir / f"stop-{time.monotonic_ns()}"
        beat = self.dir / f"beat-{time.monotonic_ns()}"
        script = 'while [ ! -e "$0" ]; do sleep 0.01; echo >>"$1"; done; exit "$2"'
        return ["sh", "-c", script, str(stop), str(beat), str(code)], stop, beat

    def assert_goes_on(self, beat):
        """The command of work_until_told() is still working."""

        def beats():
            return beat.stat().st_size if beat.exists() else 0

        before = beats()
        wait_for(lambda: beats() > before, "a further sign of life of the command")

    def assert_whole_lines(self, path):
        """The file has only complete JSON lines; they are returned."""
        text = path.read_text(encoding="utf-8")
        self.assertTrue(not text or text.endswith("\n"), text[-200:])
        return [json.loads(line) for line in text.splitlines()]

    def assert_no_orphans(self):
        """No program or map of bpfmon is in the kernel without a process that holds it."""
        seen = orphans()  # other runs, which begin and end, may be among them

        def fewer():
            seen.intersection_update(orphans())
            return not seen

        wait_for(fewer, f"the end of BPF objects without a process: {seen}", 20)
