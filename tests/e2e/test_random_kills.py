# SPDX-License-Identifier: BSD-2-Clause
"""SIGKILL for each combination of bpfmon's processes, at random moments."""

import collections
import itertools
import os
import signal
import shutil
import time

from lib import sweep
from lib.bpfmon import BPFMON
from lib.live import (LiveCase, bpf_objects, children_of, descriptor_links, executable_of, is_alive, loaded_objects, send,
                      stat_of, wait_for)

SAMPLED = True
KILLS = sweep.often(15, 300)  # so many runs
ROLES = ("launcher", "collector", "recorder", "keeper")
COMBINATIONS = [c for n in range(1, 5) for c in itertools.combinations(ROLES, n)]
PHASES = ("start", "midst", "end")
CODE = 43


def is_bpfmon(pid):
    return executable_of(pid) == os.path.realpath(BPFMON)


def roles_of(launcher):
    """The roles that there are by now, by name: forked in this order, each leads a session. What removes a cgroup has no
    folder open, and is not among them."""
    leaders = [pid for pid in sorted(children_of(launcher)) if (stat := stat_of(pid)) and stat[3] == pid and is_bpfmon(pid)]
    leaders = [pid for pid in leaders if not is_keeper_of_cgroup(pid)]
    return {"launcher": launcher, **dict(zip(("keeper", "recorder", "collector"), leaders))}


def is_keeper_of_cgroup(pid):
    links = {fd: link for fd, link in descriptor_links(pid).items() if int(fd) > 2}
    return len(links) == 1 and all(link.startswith("socket:") for link in links.values())


def git_reader_of(launcher, folder):
    """It holds a pipe to the launcher, the folder, and what it reads in there."""
    for pid in children_of(launcher):
        links = descriptor_links(pid)
        if links.get("0", "").startswith("pipe:") and links.get("1") == str(folder):
            return pid
    return None


class RandomKills(LiveCase):
    def setUp(self):
        super().setUp()
        self.random = sweep.chance()
        self.runtime = self.dir / "runtime"
        self.counted = collections.Counter()

    def make_repository(self):
        """One whose revision takes its time to be read."""
        folder = self.dir / ".git"
        (folder / "objects").mkdir(parents=True, exist_ok=True)
        (folder / "refs").mkdir(exist_ok=True)
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
        with (folder / "packed-refs").open("w") as file:
            file.writelines(f"{i:040x} refs/tags/{i}\n" for i in range(500000))

    def start(self, options=()):
        shutil.rmtree(self.runtime, ignore_errors=True)
        self.runtime.mkdir(mode=0o700)
        for name in ("stop", "beat", "witness"):
            (self.dir / name).unlink(missing_ok=True)
        script = 'while [ ! -e stop ]; do sleep 0.01; echo >>beat; done; echo "$$" >witness; exit "$0"'
        env = {**os.environ, "XDG_RUNTIME_DIR": str(self.runtime)}
        return self.live(["sh", "-c", script, str(CODE)], ["-i", "0.01", "--marks", *options], cwd=self.dir, env=env)

    def wait_for_phase(self, live, phase):
        if phase == "start":
            time.sleep(self.random.uniform(0, 0.15))
            return
        live.roles()
        wait_for((self.dir / "beat").exists, "the command's work")
        time.sleep(self.random.uniform(0, 0.1))

    def kill(self, live, names, phase):
        """Those of them that there are; the names of those."""
        live.remember()
        there = roles_of(live.pid) if live.process.poll() is None else {}
        objects = {item for pid in there.values() for item in bpf_objects(pid)}
        if phase == "end":
            (self.dir / "stop").touch()
            time.sleep(self.random.uniform(0, 0.03))
        hit = [name for name in names if name in there and is_alive(there[name])]
        for name in self.random.sample(hit, len(hit)):
            send(there[name], signal.SIGKILL)
        return hit, objects

    def command_goes_on(self, live):
        """If it had begun. It ends when it is told to."""
        time.sleep(0.05)  # a moment for what must not happen
        has_begun = (self.dir / "beat").exists()
        if has_begun and not (self.dir / "stop").exists():
            self.assert_goes_on(self.dir / "beat")
        (self.dir / "stop").touch()
        return live.finish(), has_begun

    def check_status(self, run, hit, has_begun):
        ran = (self.dir / "witness").exists()
        self.assertLessEqual(has_begun, ran, "the command did not come to its end")
        if run.code == -signal.SIGKILL:
            self.assertIn("launcher", hit)
        else:
            self.assertEqual(run.code, CODE if ran else 125, run.stderr)
        return ran

    def check_nothing_is_left(self, live, hit, objects):
        wait_for(lambda: not any(is_alive(pid) for pid in live.known), "the end of all processes")
        if "keeper" not in hit:  # which alone may remove it
            wait_for(lambda: not any(self.runtime.iterdir()), "the end of the folder")
        wait_for(lambda: not objects & loaded_objects(), "the end of its BPF objects")
        if live.out.exists():
            self.assert_whole_lines(live.out)

    def run_and_kill(self, names, phase, options=()):
        live = self.start(options)
        self.wait_for_phase(live, phase)
        hit, objects = self.kill(live, names, phase)
        run, has_begun = self.command_goes_on(live)
        ran = self.check_status(run, hit, has_begun)
        self.check_nothing_is_left(live, hit, objects)
        self.counted[phase, len(hit), run.code, ran] += 1
        live.clean()
        return live

    def test_every_combination_at_every_phase_leaves_the_command_alone_and_nothing_behind(self):
        rounds = sweep.part(itertools.product(PHASES, COMBINATIONS), 3)
        for phase, names in itertools.islice(itertools.cycle(rounds), KILLS):
            with self.subTest(phase=phase, names=names):
                self.run_and_kill(names, phase)
        print(f"{KILLS} runs: {dict(self.counted)}", flush=True)
        self.assert_no_orphans()

    def test_a_cgroup_of_its_own_is_removed_whichever_role_is_killed(self):
        for _, names in zip(range(max(KILLS // 6, 4)), itertools.cycle(c for c in COMBINATIONS if "launcher" not in c)):
            live = self.run_and_kill(names, self.random.choice(PHASES), ["--own-cgroup"])
            self.assertEqual(self.cgroups_of(live.pid), [])

    def cgroups_of(self, pid):
        return [path for path, names, _ in os.walk("/sys/fs/cgroup") if f"bpfmon-{pid}" in names]

    def test_a_git_reader_that_is_killed_costs_the_revision_and_nothing_else(self):
        hits = 0
        self.make_repository()
        for _ in range(max(KILLS // 6, 4)):
            live = self.start()
            end = time.monotonic() + 1
            while time.monotonic() < end and not (reader := git_reader_of(live.pid, self.dir)):
                pass
            hits += bool(reader)
            if reader:
                send(reader, signal.SIGKILL)
            wait_for((self.dir / "beat").exists, "the command's work")
            live.remember()
            run, has_begun = self.command_goes_on(live)
            self.assertTrue(self.check_status(run, [], has_begun))
            self.assertEqual(run.code, CODE)
            self.assert_complete(run)
            self.check_nothing_is_left(live, [], set())
            live.clean()
        print(f"{hits} readers of a revision were killed", flush=True)
