# SPDX-License-Identifier: BSD-2-Clause
"""The spool of bpfmon-push: what waits on the disk, when it is full, damaged, or the program is killed."""

import collections
import os
import re
import subprocess
import time

from lib.permitted import ROOT, needs
from lib.push import AS_USER, PUSH, PushCase, Server, batches_of, fields, names_in, until
from lib.sweep import chance, often

BUSY = (503, b"", {"Retry-After": "1"})  # else the times between two tries grow to a minute
LIVE = 900  # jobs with samples
LINES_OF_A_TICK = LIVE + 4  # and those of other jobs, their user, the agent and the program itself


class SpoolCase(PushCase):
    def refusing(self):
        """A server that is busy until its answer is another."""
        server = Server(self)
        server.answer = lambda text: BUSY
        return server

    def wait_on_disk(self, pushes, names):
        until(lambda: set(names) <= set(names_in(pushes.spooled("rows"))))


class Full(SpoolCase):
    def sample_all(self, numbers):
        """A sample of each live job, with figures that no compression makes small."""
        for number in range(LIVE):
            keys = ("rss_bytes", "rss_anon_bytes", "swap_bytes", "cgroup_memory_bytes", "processes", "threads")
            self.agent.sample(f"live{number}", cpu_seconds=1, **{key: numbers.getrandbits(60) for key in keys})

    def ticks(self, server):
        """Times of the samples that the server accepted, with the number of lines of each."""
        return collections.Counter(fields(line)[3] for line in server.lines if not line.startswith("bpfmon_job_ended"))

    def test_oldest_samples_go_first_and_are_counted_to_the_point(self):
        numbers = chance()
        server = Server(self)
        pushes = self.push(server.url, spool="1M")
        for number in range(LIVE):
            self.agent.begin(f"live{number}")
        self.sample_all(numbers)
        names = self.jobs(1, "early")  # it is summed up in the series of other
        until(lambda: max(self.ticks(server).values(), default=0) == LINES_OF_A_TICK)
        server.answer = lambda text: BUSY
        down = time.time_ns()
        names += self.jobs(50)
        while self.dropped(pushes) < 4 * LINES_OF_A_TICK:
            self.sample_all(numbers)
            time.sleep(0.5)
        self.assertLessEqual(sum(path.stat().st_size for path in pushes.folder.iterdir()), 1 << 20)
        server.answer = lambda text: 204
        values = until(lambda: (found := server.own(samples_dropped_total=1)) and found["spool_used_bytes"] == 0 and found)
        self.assertEqual(collections.Counter(server.names()), collections.Counter(names))
        self.assertEqual((values["rows_total"], values["rows_dropped_total"]), (len(names), 0))
        self.check_sums(server, values, down)
        pushes.end()

    def dropped(self, pushes):
        """Samples, as the newest line of the program itself says that waits on the disk."""
        lines = [line for line in pushes.spooled("samples") if line.startswith("bpfmon_push,")]
        return int(re.search(r"samples_dropped_total=(\d+)", lines[-1])[1]) if lines else 0

    def check_sums(self, server, values, down):
        ticks = self.ticks(server)
        self.assertEqual(values["samples_total"], sum(lines for at, lines in ticks.items() if at < values["time"]))
        self.assertEqual(values["samples_rejected_total"], 0)
        dropped, rest = divmod(values["samples_dropped_total"], LINES_OF_A_TICK)
        self.assertEqual(rest, 0)
        # all that were dropped, at least a second each, are older than those that came, but for what was just being sent
        late = sorted(at for at in ticks if at > down)
        self.assertGreaterEqual(late[1] - down, dropped * 990_000_000)

    @needs(ROOT)
    def test_a_full_disk_costs_nothing_while_the_server_answers(self):
        folder = self.dir / "disk"
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M,mode=777", "tmpfs", folder], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", folder], check=True)
        server = Server(self)
        pushes = self.push(server.url, folder=folder)
        pushes.folder = folder
        self.job("before")
        until(lambda: "before" in server.names())
        with (folder / "other").open("wb", buffering=0) as other:
            while True:
                try:
                    other.write(b"x" * 4096)
                except OSError:
                    break
        self.jobs(50, "full")
        until(lambda: len(set(server.names())) == 51)
        server.answer = lambda text: BUSY
        waiting = self.jobs(1000, "waits")
        time.sleep(2.5)  # they wait in memory, but for what fits into a page or two
        self.assertLess(len(pushes.spooled("rows")), 2 * len(waiting))
        (folder / "other").unlink()
        self.wait_on_disk(pushes, waiting)
        pushes.kill()
        server.settle()
        server.answer = lambda text: 204
        self.again(pushes)
        until(lambda: len(set(server.names())) == 51 + len(waiting))
        self.assertEqual(server.own(rows_total=len(waiting))["rows_dropped_total"], 0)
        pushes.end()


class Killed(SpoolCase):
    def test_no_row_is_lost_or_changed_whenever_it_is_killed(self):
        """A row that was neither on the disk nor sent when its reader was killed is written to the next one again."""
        numbers = chance()
        server = Server(self)
        answers = (lambda text: 204, lambda text: BUSY, lambda text: time.sleep(0.05) or 204)
        begin = time.time() - 5000
        pushes = self.push(server.url)
        unread, count = [], 0
        for _ in range(often(30, 100)):
            server.answer = numbers.choice(answers)
            new = [(f"job{number}", begin + number) for number in range(count, count + 20)]
            count += len(new)
            unread += new
            for name, start in unread:
                self.job(name, start=start)
            time.sleep(numbers.random() * 1.3)
            pushes.kill()
            kept = set(names_in(pushes.spooled("rows"))) | set(server.names())
            unread = [(name, start) for name, start in unread if name not in kept]
            self.agent.hang_up()
            self.again(pushes)
        server.answer = lambda text: 204
        for name, start in unread:
            self.job(name, start=start)
        until(lambda: len(set(server.names())) == count)
        until(lambda: not pushes.spooled("rows"))
        self.assertEqual(len(set(server.of("bpfmon_job_ended"))), count)  # the same bytes when sent again
        pushes.end()


class Damaged(SpoolCase):
    def spool(self, batches=4, **config):
        """Rows in a file of the spool, one batch each tick, and their program ended."""
        server = self.refusing()
        pushes = self.push(server.url, **config)
        for number in range(batches):
            self.job(f"job{number}")
            self.wait_on_disk(pushes, [f"job{number}"])
        pushes.end()
        self.agent.hang_up()
        server.settle()  # a request on its way would be accepted, and its lines sent again
        server.answer = lambda text: 204
        (path,) = pushes.files("rows")
        return server, pushes, path

    def test_a_damaged_batch_is_counted_and_the_others_arrive(self):
        for where in (0, 1, 3):
            server, pushes, path = self.spool()
            data = bytearray(path.read_bytes())
            data[[at for at, _ in batches_of(data)][where] + 30] ^= 0x10
            path.write_bytes(data)
            self.again(pushes)
            values = server.own(spool_damaged_total=1)
            until(lambda server=server: len(server.names()) >= 3)
            self.assertEqual(values["spool_damaged_total"], 1)
            self.assertEqual(server.own(rows_total=3)["rows_dropped_total"], 1, where)
            self.assertEqual(len(server.names()), 3)
            pushes.end()
            self.agent.hang_up()

    def test_a_file_that_was_cut_off_loses_its_last_batch(self):
        server, pushes, path = self.spool()
        os.truncate(path, path.stat().st_size - 5)
        self.again(pushes)
        until(lambda: len(set(server.names())) == 3)
        self.assertEqual(server.own(spool_damaged_total=1)["rows_total"], 3)
        self.job("next")
        until(lambda: "next" in server.names())
        pushes.end()

    def test_files_that_are_none_of_its_own_stay(self):
        server, pushes, path = self.spool(2)
        strange = {"rows-1": b"x", "rows-zzzzzzzzzzzzzzzz": b"y", "notes": b"z", "rows-00000000000000ff": b"no batch"}
        for name, text in strange.items():
            (pushes.folder / name).write_bytes(text)
            os.chown(pushes.folder / name, path.stat().st_uid, -1)
        self.again(pushes)
        until(lambda: len(set(server.names())) == 2)
        server.own(spool_damaged_total=1)
        left = {name for name in strange if (pushes.folder / name).exists()}
        self.assertEqual(left, set(strange) - {"rows-00000000000000ff"})
        pushes.end()


class Folder(SpoolCase):
    def refused(self, pushes):
        argv = [PUSH, "--config", pushes.config, "--stream", f"unix:{pushes.stream}", *AS_USER]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        (line,) = done.stderr.splitlines()
        return line

    def test_a_second_program_in_the_same_folder_ends(self):
        server = Server(self)
        pushes = self.push(server.url)
        line = self.refused(pushes)
        self.assertIn(f"cannot use the folder {pushes.folder}", line)
        self.assertIn("another bpfmon-push uses it", line)
        self.job("goes_on")
        until(lambda: "goes_on" in server.names())
        pushes.end()

    def test_a_folder_that_cannot_be_used_is_named(self):
        server = Server(self)
        pushes = self.push(server.url)
        pushes.end()
        text = pushes.config.read_text()
        closed, file = self.dir / "closed", self.dir / "file"
        closed.mkdir(mode=0o555)
        file.write_text("")
        for folder, why in ((self.dir / "none", "No such file"), (file, "Not a directory"), (closed, "Permission denied")):
            pushes.config.write_text(text.replace(str(pushes.folder), str(folder)))
            self.assertRegex(self.refused(pushes), f"cannot use the folder {folder} .*{why}")
