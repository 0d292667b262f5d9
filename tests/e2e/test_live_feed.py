# SPDX-License-Identifier: BSD-2-Clause
"""The lines of a run that is under way, for those who connect to its socket."""

import json
import os
import signal
import socket
import subprocess
import sys

from lib.agent import NOBODY
from lib.bpfmon import BPFMON, truth
from lib.live import LiveCase, wait_for


THREADS = """
import sys, threading
end = threading.Event()
threads = [threading.Thread(target=end.wait) for _ in range(20)]
for t in threads: t.start()
sys.stdin.read()
end.set()
"""


class Feed:
    """A connection to a run's socket, which has sent its wish."""

    def __init__(self, name, wish):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(60)
        self.socket.connect("\0" + name[1:])
        self.socket.send(json.dumps({"live": wish}).encode() if isinstance(wish, str) else wish)

    def answer(self):
        return self.socket.recv(1 << 16).decode()

    def lines(self):
        """All there are until the run ends."""
        rest = b""
        while packet := self.socket.recv(1 << 16):
            *whole, rest = (rest + packet).split(b"\n")
            yield from map(json.loads, whole)
        assert not rest, rest

    def close(self):
        self.socket.close()


class LiveFeedCase(LiveCase):
    def start_run(self, command, options=()):
        """A run whose command waits for a line on its standard input."""
        self.out = self.dir / "run.jsonl"
        argv = [BPFMON, *options, "-q", "-o", str(self.out), "--", *command]
        run = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        return run

    def meta(self):
        wait_for(lambda: self.out.exists() and b"\n" in self.out.read_bytes(), "the meta line")
        return json.loads(self.out.read_text().splitlines()[0])

    def feed(self, wish="processes"):
        feed = Feed(self.meta()["live_socket"], wish)
        self.addCleanup(feed.close)
        return feed

    def end(self, run):
        run.stdin.close()
        self.assertEqual(run.wait(timeout=60), 0)
        return [json.loads(line) for line in self.out.read_text().splitlines()]


class Feeds(LiveFeedCase):
    TREE = ["sh", "-c", "sleep 1000 & child=$!; echo there; read line; kill $child; wait; true"]

    def test_who_listens_gets_what_the_file_gets_from_then_on_and_every_live_process(self):
        run = self.start_run(self.TREE, ["-i", "0.1"])
        run.stdout.readline()
        lines = self.feed().lines()
        first = [next(lines) for _ in range(4)]
        while len([line for line in first if line["kind"] == "sample"]) < 4:
            first.append(next(lines))
        file = self.end(run)
        got = first + list(lines)
        self.assertEqual(got[0], file[0])
        self.assertEqual(got[-1], file[-1])
        since = got[1]["elapsed_seconds"]
        wanted = [line for line in file[1:] if line["kind"] != "sample" or line["elapsed_seconds"] >= since]
        self.assertEqual([line for line in got[1:] if line["kind"] != "process_sample"], wanted)
        records = {(line["pid"], line["start_time"]): line for line in file if line["kind"] == "process"}
        live = [line for line in got if line["kind"] == "process_sample"]
        self.assertEqual({line["comm"] for line in live}, {"sh", "sleep"})
        for line in live:
            record = records[line["pid"], line["start_time"]]
            self.assertEqual((line["ppid"], line["uid"]), (record["ppid"], record["uid"]))
            self.assertEqual(line["threads"], 1)
            self.assertLessEqual(line["cpu_seconds"], record["cpu_seconds"])
            self.assertLessEqual(line["minflt"], record["minflt"])
        for line in live[-2:]:  # by then they have executed their programs
            self.assertEqual(line["exe"], records[line["pid"], line["start_time"]]["exe"])

    def test_threads_are_those_that_live(self):
        run = self.start_run([sys.executable, "-c", THREADS], ["-i", "0.1"])
        for line in self.feed().lines():
            if line["kind"] == "process_sample" and line.get("threads") == 21:
                break
        else:
            self.fail("there were never 21 threads")
        self.end(run)

    def test_samples_alone(self):
        run = self.start_run(self.TREE, ["-i", "0.1", "--process-samples", "5"])
        run.stdout.readline()
        lines = self.feed("samples").lines()
        first = [next(lines) for _ in range(5)]
        self.end(run)
        self.assertNotIn("process_sample", {line["kind"] for line in first + list(lines)})

    def test_one_who_does_not_read_changes_nothing_for_the_run(self):
        run = self.start_run(["sh", "-c", '"$0" 10 100; echo there; read line; true', truth("forkstorm")], ["-i", "0.01"])
        silent = [self.feed() for _ in range(8)]
        run.stdout.readline()
        file = self.end(run)
        self.assertEqual(file[-1]["kind"], "summary")
        self.assertTrue(file[-1]["complete"], file[-1])
        records = [line for line in file if line["kind"] == "process"]
        self.assertEqual(len(records), file[-1]["processes_total"])
        self.assertEqual(next(silent[0].lines())["kind"], "meta")

    def test_an_attachment_has_one(self):
        target = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        self.out = self.dir / "run.jsonl"
        run = subprocess.Popen([BPFMON, "attach", "-q", "-i", "0.1", "-o", str(self.out), "-p", str(target.pid)])
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        for line in self.feed().lines():
            if line["kind"] == "process_sample":
                break
        self.assertEqual((line["pid"], line["comm"]), (target.pid, "sleep"))
        feed = self.feed(b'{"span":"begin","name":"x"}')
        self.assertIn("spans need a run that started the command", feed.answer())
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(timeout=60), 0)


class Refusals(LiveFeedCase):
    def test_another_user_sees_nothing(self):
        run = self.start_run(["cat"])
        name = self.meta()["live_socket"]
        pid = os.fork()
        if not pid:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os._exit("another user" not in Feed(name, "processes").answer())
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.end(run)

    def test_a_wish_that_is_none(self):
        run = self.start_run(["cat"])
        for wish in (b'{"live":"all"}', b'{"live":1}', b'{"live":"samples","more":1}', b'{"live":"' + b"x" * 100 + b'"}'):
            answer = self.feed(wish).answer()
            self.assertRegex(answer, "live|more", wish)
        self.end(run)

    def test_a_ninth_one_is_refused_and_a_place_is_free_again(self):
        run = self.start_run(["cat"])
        feeds = [self.feed() for _ in range(8)]
        for feed in feeds:
            self.assertTrue(feed.answer().startswith('{"kind":"meta"'))
        self.assertIn("8 others", self.feed().answer())
        feeds[3].close()
        wait_for(lambda: self.feed().answer().startswith("{"), "a free place")
        self.end(run)
