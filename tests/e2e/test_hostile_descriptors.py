# SPDX-License-Identifier: BSD-2-Clause
"""A descriptor that an ordinary user sends, and whose close waits for an hour, keeps nobody else waiting."""

import contextlib
import errno
import os
import pathlib
import signal
import socket
import subprocess
import traceback

from lib import hostile
from lib.agent import DESCRIBED, DESCRIPTION, NOBODY, OTHER, READY, REQUEST, START, STOP
from lib.agent import AgentCase, Client, hello
from lib.bpfmon import BPFMON
from lib.faults import LIBRARY
from lib.live import LiveCase, children_of, descriptor_links, stat_of, status_of, wait_for

SAMPLED = True
SO_TIMESTAMPNS = 35
PLACES = ("stream", "process", "marks", "udp", "cgroup", "spans")
# in a run: says where its socket is, and ends with the input
SPANS = 'echo "$BPFMON_SPAN_SOCKET"; "$0" mark before; read line; "$0" mark after; "$0" span inner -- true'


def stop(pid):
    """A process that goes on for a moment would leave the last descriptor to the test, whose close then waits."""
    os.kill(pid, signal.SIGSTOP)
    tasks = [f"{pid}/task/{task}" for task in os.listdir(f"/proc/{pid}/task")]
    wait_for(lambda: all((stat_of(task) or "T")[0] == "T" for task in tasks), "the agent to be stopped")


class Agent(AgentCase):
    CONFIG = "[limits]\nrequests_per_second = 10000\njobs_per_user = 1000\n"

    def last_one_to_close(self, how):
        """Of each kind: `how(client)` returns what sends a descriptor, and does so while the agent is stopped, which then
        has the only one of it."""
        for kind, make in hostile.KINDS.items():
            with self.subTest(kind=kind), Client(self.agent, NOBODY) as c:
                send, held = how(c), make(self)
                stop(self.agent.pid)
                try:
                    send(held.fileno())
                    held.close()
                finally:
                    os.kill(self.agent.pid, signal.SIGCONT)
                self.assert_served(OTHER)
                self.assert_served(NOBODY)
            self.assert_served(OTHER)

    def test_in_a_request_that_is_refused(self):
        self.last_one_to_close(lambda c: lambda fd: c.message(REQUEST, hello("node", ["stream"]), [fd]))

    def test_with_a_packet_that_takes_none(self):
        self.last_one_to_close(lambda c: lambda fd: c.packet(START, fds=[fd]))

    def test_more_than_are_taken(self):
        null = os.open("/dev/null", os.O_RDONLY)
        self.addCleanup(os.close, null)
        self.last_one_to_close(lambda c: lambda fd: c.packet(REQUEST, 1, 5, b"x", fds=[null] * 200 + [fd]))

    def test_in_the_queue_of_a_connection_that_is_closed(self):
        def how(c):
            def send(fd):
                c.packet(99)
                c.packet(99, fds=[fd])

            return send

        self.last_one_to_close(how)

    def test_behind_a_packet_without_a_byte(self):
        def how(c):
            def send(fd):
                c.send(b"")
                c.packet(99, fds=[fd])
                c.close()

            return send

        self.last_one_to_close(how)

    def test_with_a_later_packet_of_a_request(self):
        def how(c):
            c.packet(REQUEST, 1, 5, b"x")
            return lambda fd: c.packet(REQUEST, 1, 4, b"x", fds=[fd])

        self.last_one_to_close(how)

    def test_in_the_queue_of_the_stream(self):
        def how(c):
            c.listen()

            def send(fd):
                c.stream.sendmsg([b"x"], hostile.rights([fd]))
                c.close()

            return send

        self.last_one_to_close(how)

    def test_in_the_queue_of_the_socket_for_marks(self):
        """The agent's thread that receives them may wait: the run still ends, and others are served meanwhile."""
        self.through_marks((socket.SO_PASSCRED, SO_TIMESTAMPNS))

    def test_in_the_queue_of_a_socket_for_marks_with_room_for_it(self):
        before = self.state()
        self.through_marks(())
        self.assert_sound(before)

    def through_marks(self, options):
        place = self.dir / "marks"
        sleeper = self.start("sleep", "600")

        def how(c):
            marks = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            place.unlink(missing_ok=True)
            marks.bind(str(place))
            for option in options:
                marks.setsockopt(socket.SOL_SOCKET, option, 1)
            with marks:
                c.request("processes", [("process", self.pidfd(sleeper.pid)), ("marks", marks.fileno())])
                self.assertEqual(c.answer()[0], READY)
            c.message(DESCRIPTION, DESCRIBED)
            c.packet(START)
            self.assertEqual(c.lines(lambda line: line["kind"] == "meta")[-1]["kind"], "meta")

            def send(fd):
                with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
                    s.connect(str(place))
                    s.sendmsg([b"mark x"], hostile.rights([fd]))
                c.packet(STOP)

            return send

        self.last_one_to_close(how)
        wait_for(lambda: self.clients() == 1, "the end of these runs")
        self.assert_idle()

    def test_a_file_whose_server_does_not_answer(self):
        """In each place of a request: to close such a descriptor waits, be it the last one or not."""
        hung = hostile.HungFile(self.dir / "hung")
        self.addCleanup(hung.end)
        for place in PLACES:
            with self.subTest(place=place), Client(self.agent, NOBODY) as c:
                ours, theirs = socket.socketpair()
                names = ["stream", place] if place != "stream" else [place]
                with ours, theirs:

                    def send(fd, c=c, theirs=theirs, names=names):
                        c.message(REQUEST, hello("processes", names), [theirs.fileno(), fd][-len(names) :])

                    hung.send(send)
                self.assertTrue(c.is_refused())
                self.assert_served(OTHER)
            self.assert_served(OTHER)

    def test_whoever_sends_many_is_refused_and_nobody_else_is(self):
        hung = hostile.HungFile(self.dir / "hung")
        end = contextlib.ExitStack()
        end.callback(hung.end)
        self.addCleanup(end.close)
        said = set()

        def is_refused_for_that():
            with Client(self.agent, NOBODY) as c:
                hung.send(lambda fd: c.packet(REQUEST, 1, 0, b"x", fds=[fd]))
                answer = c.answer()  # none: with many closes that hang, a connection is not kept until that is read
            said.add(answer and answer[2])
            return any(why and "cannot be closed" in why for why in said)

        wait_for(is_refused_for_that, "the refusal")
        self.assert_served(OTHER)
        end.close()
        wait_for(lambda: not self.is_refused_now(), "the end of these closes")

    def is_refused_now(self):
        with Client(self.agent, NOBODY) as c:
            c.request("node", once=True)
            return c.answer()[0] != READY

    def test_what_receives_them_has_no_rights(self):
        (porter,) = children_of(self.agent.pid)
        status = status_of(porter)
        self.assertNotIn("0", status["Uid"].split() + status["Gid"].split())
        self.assertEqual({status[caps] for caps in ("CapEff", "CapPrm", "CapBnd", "CapAmb")}, {"0" * 16})
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        links = {fd: link for fd, link in descriptor_links(porter).items() if int(fd) > 2}
        self.assertEqual([link.partition(":")[0] for link in links.values()], ["socket"], links)

    def test_the_agent_ends_with_it(self):
        agent = self.new_agent()
        (porter,) = children_of(agent.pid)
        os.kill(porter, signal.SIGKILL)
        self.assertIsNotNone(agent.process.wait(60))
        self.assertIn("the porter process, which receives messages for the agent, has ended", agent.said())

    def test_the_agent_ends_at_once_with_those_that_it_has_not_accepted(self):
        agent = self.new_agent()
        stop(agent.pid)
        try:
            with Client(agent, NOBODY) as c, hostile.within(hostile.lingering(self)) as held:
                c.packet(START, fds=[held.fileno()])
            os.kill(agent.pid, signal.SIGTERM)
        finally:
            os.kill(agent.pid, signal.SIGCONT)
        self.assertEqual(agent.end(), 0)


class Run(LiveCase):
    """Root's run, and the socket for its spans, to which any user can connect."""

    def begin(self, env=None):
        live = self.live(["sh", "-c", SPANS, BPFMON], stdin=subprocess.PIPE, env={**os.environ, **(env or {})})
        return live, live.process.stdout.readline().decode().strip()

    def stranger(self, address, *sendings):
        """A process of an ordinary user that connects for each of these, and sends; what the kernel says to that."""
        told, tell = os.pipe()
        pid = os.fork()
        if not pid:  # it ends by a signal, as what ends does not linger
            try:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                os.write(tell, bytes([self.send_to(address, sending) for sending in sendings]))
                signal.pause()
            finally:
                traceback.print_exc()
                os._exit(1)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        os.close(tell)
        with os.fdopen(told, "rb") as f:
            said = f.read(len(sendings))
        self.assertEqual(len(said), len(sendings))
        return set(said)

    def send_to(self, address, sending):
        held = hostile.within(hostile.lingering(self))
        self.kept.append(held)
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.settimeout(5)
        try:
            s.connect("\0" + address[1:])
            for text in sending[:-1]:
                s.send(text)
            s.sendmsg([sending[-1]], hostile.rights([held.fileno()]))
        except TimeoutError:
            return errno.ETIMEDOUT
        except OSError as e:
            return e.errno
        self.kept.remove(held)
        held.close()
        return 0

    def setUp(self):
        super().setUp()
        self.kept = []  # what was not sent is not closed

    def attacked_run(self, env=None):
        live, address = self.begin(env)
        wait_for(lambda: any(line.get("text") == "before" for line in live.lines()), "its first mark")
        ways = ((b"mark x",), (b"", b"x"), (b"mark x", b"mark y"), (b'{"live":"samples"}', b"x"), (b"x" * 9000, b"x"))
        said = self.stranger(address, *ways)
        live.process.stdin.write(b"\n")
        live.process.stdin.flush()
        run = live.finish()
        self.assertEqual(run.code, 0, run.stderr)
        self.assert_complete(run)
        self.assertEqual([e["text"] for e in run.kind("event") if e["event"] == "mark"], ["before", "after"])
        self.assertEqual([span["name"] for span in run.kind("span")], ["inner"])
        return said

    def test_it_ends_with_its_command(self):
        said = self.attacked_run()
        self.assertTrue(said <= {0, errno.EPERM, errno.EPIPE, errno.ECONNRESET}, said)

    def test_it_does_on_a_kernel_that_does_not_refuse_descriptors(self):
        """What sets that option fails, as before Linux 6.16."""
        report = self.dir / "report"
        report.touch()
        faults = {"FAULT": "setsockopt", "FAULT_AT": "1", "FAULT_NUMBER": "0", "FAULT_PROCESS": "0", "FAULT_REPORT": str(report)}
        said = self.attacked_run({"LD_PRELOAD": LIBRARY, "FAULT_ERROR": str(errno.ENOPROTOOPT), **faults})
        self.assertNotEqual(report.read_text(), "")
        self.assertIn(0, said)  # some were sent, and none was waited for

    def test_more_than_it_keeps(self):
        """It takes no more connections when too many are kept that it cannot close, and goes on."""
        report = self.dir / "report"
        report.touch()
        faults = {"FAULT": "setsockopt", "FAULT_AT": "1", "FAULT_NUMBER": "0", "FAULT_PROCESS": "0", "FAULT_REPORT": str(report)}
        live, address = self.begin({"LD_PRELOAD": LIBRARY, "FAULT_ERROR": str(errno.ENOPROTOOPT), **faults})
        wait_for(lambda: any(line.get("text") == "before" for line in live.lines()), "its first mark")
        self.stranger(address, *[(b"mark x",)] * 100)
        collector = live.roles()[0]
        self.assertLess(len(os.listdir(f"/proc/{collector}/fd")), 200)
        used = self.cpu_ticks(collector)
        live.wait_for_samples(1)
        self.assertLess(self.cpu_ticks(collector) - used, 50)
        os.kill(live.roles()[2], signal.SIGKILL)
        run = live.finish()
        self.assertEqual(run.code, -signal.SIGKILL)

    def cpu_ticks(self, pid):
        return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
