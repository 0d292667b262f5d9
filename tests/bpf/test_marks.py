# SPDX-License-Identifier: BSD-2-Clause
"""Marks and metrics that programs push: which are accepted, what is kept, what phases come to."""

import json
import os
import re
import socket
import subprocess
import sys

from lib.bpfmon import BPFMON, TOP
from lib.live import descriptor_links, wait_for
from lib.marks import SENDER, MarksCase, marks, python, texts

PRINT_ANSWERS = """
for what in "begin", "end":
    print(send(json.dumps({"span": what, "name": "again", "in_place": True})))
"""
PARALLEL = 'for i in $(seq 60); do "$0" mark "p$i" & done; wait'
DOCS = (TOP / "docs" / "PARTS.md").read_text()


def example(name):
    """The code of a block in the documentation."""
    (code,) = re.findall(rf"^<!-- {name} -->\n```\w+\n(.*?)^```", DOCS, re.M | re.S)
    return code


class Examples(MarksCase):
    def test_the_shell_of_the_documentation_marks(self):
        (self.dir / "bpfmon").symlink_to(BPFMON)
        path = f"{self.dir}:{os.environ['PATH']}"
        run = self.run_bpfmon(["sh", "-c", example("shell")], env={"PATH": path})
        self.assert_pushed(run, marks=1, metrics=1)
        self.assertEqual(texts(run), ["epoch 3"])
        (metric,) = run.kind("metric")
        self.assertEqual((metric["name"], metric["tags"]), ("loss", {"phase": "train"}))
        self.assertEqual(metric["fields"], {"value": 0.5})

    def test_the_python_of_the_documentation_sends_marks_metrics_and_spans(self):
        run = self.run_bpfmon([sys.executable, "-c", example("python") + PRINT_ANSWERS])
        self.assertEqual(run.stdout.decode().split(), ["2", "2"])
        self.assert_pushed(run, marks=1, metrics=1)
        self.assertEqual(texts(run), ["epoch 3"])
        (metric,) = run.kind("metric")
        self.assertEqual((metric["name"], metric["tags"], metric["fields"]), ("loss", {"phase": "train"}, {"value": 0.5, "step": 7}))
        spans = [(span["name"], span["tags"]) for span in run.kind("span") if span["in_place"]]
        self.assertEqual(spans, [("load", {"file": "a.csv"}), ("again", {})])

    def test_the_header_of_the_documentation_marks(self):
        source, program = self.dir / "mark.c", self.dir / "mark"
        source.write_text(example("header"))
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-I", TOP / "tools" / "c", "-o", program, source], check=True)
        run = self.run_bpfmon([str(program)])
        self.assert_pushed(run, marks=1, metrics=2)
        self.assertEqual([(span["name"], span["tags"]) for span in run.kind("span")], [("align", {"sample": "A7"})])
        subprocess.run([program], check=True, timeout=60)


class Senders(MarksCase):
    def test_every_mark_of_300_that_come_and_go_is_kept(self):
        run = self.shell('for i in $(seq 300); do "$0" mark "n$i" || exit 1; done; exit 43')
        self.assertEqual(run.code, 43)
        self.assert_pushed(run, marks=300)
        self.assertEqual(texts(run), [f"n{i}" for i in range(1, 301)])

    def test_marks_of_many_at_once_are_kept(self):
        run = self.shell(PARALLEL)
        self.assert_pushed(run, marks=60)
        self.assertEqual(set(texts(run)), {f"p{i}" for i in range(1, 61)})

    def test_the_last_thing_that_a_command_does_is_kept(self):
        run = self.run_marks(python("s.send(b'mark bye'); os._exit(7)"))
        self.assertEqual(run.code, 7)
        self.assert_pushed(run, marks=1)

    def test_the_sender_is_the_process_that_sent(self):
        run = self.shell('"$0" mark one; exec 2>/dev/null; "$0" mark two')
        senders = {line["pid"]: line["text"] for line in marks(run)}
        self.assertEqual(len(senders), 2)
        words = {p["pid"]: p["args"][-1] for p in run.processes if p["args"][1:2] == ["mark"]}
        self.assertEqual(senders, words)

    def test_a_sender_in_a_pid_namespace_has_the_pid_of_the_collectors_namespace(self):
        run = self.shell('unshare --fork --pid "$0" mark inner')
        self.assert_pushed(run, marks=1)
        (mark,) = marks(run)
        self.assertIn(mark["pid"], [p["pid"] for p in run.processes if p["ns_pid"] == 1])

    def test_a_stranger_is_refused_and_counted(self):
        live, path = self.live_marks('read line; "$0" mark ours', stdin=subprocess.PIPE)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
            stranger.sendto(b"mark theirs", path)
            stranger.sendto(b"a b=1\nc d=2", path)
        gone = [sys.executable, "-c", SENDER + "s.send(b'mark theirs, and gone')"]
        subprocess.run(gone, env={**os.environ, "BPFMON_MARK_SOCKET": path}, check=True)
        live.process.stdin.write(b"\n")
        run = live.finish()
        self.assert_pushed(run, marks=1, refused=4)
        self.assertEqual(texts(run), ["ours"])

    def test_a_stranger_is_refused_while_the_run_goes_on(self):
        live, path = self.live_marks('read line; "$0" mark ours; read line', ["-i", "60"], stdin=subprocess.PIPE)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
            stranger.sendto(b"mark theirs", path)
        live.process.stdin.write(b"\n")
        live.process.stdin.flush()
        wait_for(lambda: any(line.get("text") == "ours" for line in live.lines()), "the mark of ours")
        live.process.stdin.write(b"\n")
        self.assert_pushed(live.finish(), marks=1, refused=1)

    def test_a_run_inside_of_a_run_has_marks_of_its_own(self):
        inner = self.dir / "inner.jsonl"
        run = self.shell(f'"$0" mark outer; "$0" -q --marks -o {inner} -- "$0" mark inner; "$0" mark outer again')
        self.assertEqual(texts(run), ["outer", "outer again"])
        lines = [json.loads(line) for line in inner.read_text().splitlines()]
        self.assertEqual([line["text"] for line in lines if line.get("event") == "mark"], ["inner"])


class Input(MarksCase):
    def test_a_flood_is_counted_and_does_no_harm(self):
        run = self.run_marks(python("for i in range(100000): s.send(b'mark %d' % i)\nsys.exit(43)"), ["-i", "0.1"])
        self.assertEqual(run.code, 43)
        pushed = run.summary["pushed"]
        self.assert_pushed(run, marks=pushed["marks"], dropped=100000 - pushed["marks"])
        self.assertGreaterEqual(pushed["marks"], 2000)
        self.assertGreater(pushed["dropped"], 0)
        self.assertEqual(texts(run)[0], "0")

    def test_a_flood_of_metrics_leaves_room_for_marks(self):
        flood = "text = b'\\n'.join(b'a v=%di' % i for i in range(50))\nfor i in range(400): s.send(text)\ns.send(b'mark after')"
        run = self.run_marks(python(flood))
        pushed = run.summary["pushed"]
        self.assert_pushed(run, marks=1, metrics=pushed["metrics"], dropped=20000 - pushed["metrics"])
        self.assertGreaterEqual(pushed["metrics"], 2000)

    def test_garbage_is_counted_and_does_no_harm(self):
        garbage = (
            "for d in (b'', b'\\0' * 9, b'\\xff\\xfe', b'mark ', b'mark \\n', b'mark ' + b'x' * 1025, b'x' * 70000,"
            " b'nonsense', b'{\"kind\":\"summary\"}'): s.send(d)\n"
            "s.send(b'a b=1\\nbad\\nc d=2')\ns.send(b'mark \\xff\\0\\x1b[31m\"\\n')\ns.send(b'mark ' + b'y' * 1024)\nsys.exit(43)"
        )
        run = self.run_marks(python(garbage))
        self.assertEqual(run.code, 43)
        self.assert_pushed(run, marks=2, metrics=2, malformed=10)
        self.assertEqual(texts(run), ["\ufffd\0\x1b[31m\"", "y" * 1024])
        self.assertIs(marks(run)[0]["lossy"], True)

    def test_names_and_values_are_what_was_sent(self):
        line = 'my\\ loss,a\\,b=</script>,t=\\=1 s="say \\"hi\\"",i=-9223372036854775808i,u=18446744073709551615u,y=t 5'
        run = self.run_marks([BPFMON, "mark", "--metric", line])
        (metric,) = run.kind("metric")
        self.assertEqual((metric["name"], metric["tags"]), ("my loss", {"a,b": "</script>", "t": "=1"}))
        self.assertEqual(metric["fields"], {"s": 'say "hi"', "i": -(2**63), "u": float(2**64), "y": True})
        self.assertEqual(metric["reported_time"], 5e-9)

    def test_descriptors_that_are_sent_along_are_not_kept(self):
        """The kernel refuses them from Linux 6.16 on, and before that they are dropped; a mark without any is taken."""
        kept = self.dir / "kept"
        kept.touch()
        send = f"""
f = os.open('{kept}', os.O_RDONLY)
sent = 0
for i in range(100):
    try:
        sent += bool(socket.send_fds(s, [b'mark x'], [f] * 10))
    except PermissionError:
        pass
s.send(b'mark x')
print(sent + 1, flush=True)
sys.stdin.read()
"""
        live = self.live(python(send), ["--marks"], stdin=subprocess.PIPE)
        collector = live.role(lambda pid, stat, has_bpf: has_bpf)
        sent = int(live.process.stdout.readline())
        wait_for(lambda: sum(line.get("event") == "mark" for line in live.lines()) == sent, f"{sent} marks")
        self.assertNotIn(str(kept), descriptor_links(collector).values())
        self.assertIn(sent, (1, 101))
        self.assert_pushed(live.finish(), marks=sent)

    def test_without_the_option_there_is_no_socket(self):
        run = self.run_bpfmon(["sh", "-c", 'echo "$BPFMON_MARK_SOCKET"'])
        self.assertEqual(run.stdout, b"\n")
        self.assertNotIn("pushed", run.summary)


class Phases(MarksCase):
    WORK = """
import json, resource

def used():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime

said = []

def mark(text):
    before = used()
    s.send(b"mark " + text)
    sys.stdin.readline()
    said.append((before, used()))

for i in range(4):
    mark(b"phase %d" % i)
    end = used() + (0, 0.3, 0.1, 0.2)[i]
    while used() < end:
        pass
mark(b"end")
print(json.dumps(said))
"""
    TICK = 0.01  # what a sample may lack of a thread that runs

    def test_the_cpu_time_of_each_phase_is_what_the_program_measured(self):
        live = self.live(python(self.WORK), ["--marks", "-i", "60"], stdin=subprocess.PIPE)
        for nth in range(1, 6):
            wait_for(lambda n=nth: sum(line.get("event") == "mark" for line in live.lines()) == n, f"mark {nth}")
            live.process.stdin.write(b"\n")
            live.process.stdin.flush()
        run = live.finish()
        self.assert_pushed(run, marks=5)
        at = [
            next(s["cpu_seconds"] for s in run.samples if s["elapsed_seconds"] >= mark["elapsed_seconds"])
            for mark in marks(run)
        ]
        said = json.loads(run.stdout)
        for k in range(4):
            (before, began), (ended, after) = said[k : k + 2]
            self.assertGreaterEqual(at[k + 1] - at[k], ended - began - self.TICK)
            self.assertLessEqual(at[k + 1] - at[k], after - before + self.TICK)
        self.assertGreater(at[2] - at[1], 0.29)

    def test_marks_are_as_far_apart_as_they_were_sent(self):
        code = "import time\nt = [time.monotonic()]\nfor i in range(2): s.send(b'mark x'); t.append(time.monotonic()); time.sleep(0.1)\nprint(*t)"
        run = self.run_marks(python(code))
        begin, first, second = map(float, run.stdout.split())
        apart = marks(run)[1]["elapsed_seconds"] - marks(run)[0]["elapsed_seconds"]
        self.assertGreater(apart, 0.1 - 0.002)  # two clocks are read within 1 ms
        self.assertLess(apart, second - begin + 0.002)
        self.assertLess(first, second)
