# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon span: what begins, ends and survives; what is refused; and that the command notices nothing."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

from lib.bpfmon import BPFMON, Case, read_lines, truth
from lib.live import Live, descendants_of, wait_for

VARIABLE = "BPFMON_SPAN_SOCKET"
# a process of its own in a run, by the socket alone: as any program can do it
ASK = """
import json, os, socket, sys
def ask(message):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("\\0" + os.environ["BPFMON_SPAN_SOCKET"][1:])
    s.send(message if isinstance(message, bytes) else json.dumps(message).encode())
    return s.recv(256).decode()
"""


class SpanCase(Case):
    def run_shell(self, script, *options, **kwargs):
        return self.run_bpfmon(["sh", "-c", script], ["-q", *options], env={"B": BPFMON}, **kwargs)

    def run_python(self, script, *options):
        return self.run_bpfmon([sys.executable, "-c", ASK + script], ["-q", *options], env={"B": BPFMON})

    def only_span(self, run):
        (span,) = run.kind("span")
        return span

    def spans(self, run):
        return {span["name"]: span for span in run.kind("span")}


class Begins(SpanCase):
    def test_name_tags_and_status_are_the_commands(self):
        run = self.run_shell('"$B" span "a b" --tag k=v -t x=1=2 -- sh -c "exit 7"')
        span = self.only_span(run)
        self.assertEqual((run.code, run.stderr), (7, ""))
        self.assertEqual((span["name"], span["tags"], span["exit_code"]), ("a b", {"k": "v", "x": "1=2"}, 7))
        self.assertTrue(span["complete"])
        self.assertIsNone(span["signal"])
        self.assertGreaterEqual(span["start_time"], run.meta["start_time"])
        self.assertGreaterEqual(span["end_time"], span["start_time"])

    def test_the_summary_has_their_number_and_the_longest(self):
        script = '"$B" span align -- sleep 0.3; "$B" span sort -- true'
        for length in ("short", "full"):
            run = self.run_bpfmon(["sh", "-c", script], ["--summary", length], env={"B": BPFMON})
            self.assertRegex(run.stderr, r"\n  spans       2, the longest align of (\d{3} ms|\d\.\d\d s)")
        run = self.run_bpfmon(["true"], ["--summary", "short"])
        self.assertNotIn("  spans ", run.stderr)

    def test_processes_have_the_number_of_the_innermost_one(self):
        run = self.run_shell('"$B" span out -- sh -c "true & wait; \\"$B\\" span in -- sh -c \\"true & wait\\""; true & wait')
        spans = self.spans(run)
        self.assertEqual(spans["in"]["parent"], spans["out"]["id"])
        self.assertNotIn("parent", spans["out"])
        self.assertEqual([spans[name]["processes_total"] for name in ("out", "in")], [4, 2])
        by_span = [p.get("span") for p in run.processes]
        self.assertEqual([by_span.count(n) for n in (spans["out"]["id"], spans["in"]["id"])], [2, 2])

    def test_one_may_have_the_name_of_another_and_be_within_it(self):
        run = self.run_shell('"$B" span x -- "$B" span x -- true; "$B" span x -- true')
        first, second, third = sorted(run.kind("span"), key=lambda s: s["id"])
        self.assertEqual(second["parent"], first["id"])
        self.assertEqual((first["exit_code"], second["exit_code"]), (0, 0))
        self.assertNotIn("parent", third)

    def test_an_exec_is_part_of_it(self):
        span = self.only_span(self.run_shell('"$B" span x -- sh -c "exec sh -c \\"exec true\\""'))
        self.assertEqual((span["processes_total"], span["exit_code"]), (1, 0))

    def test_what_it_used_before_is_not_the_spans(self):
        run = self.run_python(
            "import time\nwhile time.process_time() < 0.2: pass\n"
            "ask({'span': 'begin', 'name': 'x'})\nos._exit(0)"
        )
        (process,) = run.processes
        self.assertGreaterEqual(process["cpu_seconds"], 0.2)
        self.assertLess(self.only_span(run)["cpu_seconds"], process["cpu_seconds"] - 0.15)

    def test_it_ends_with_its_last_process(self):
        run = self.run_bpfmon([BPFMON, "span", "d", "--", truth("daemon"), "-w", "300"], ["-q", "--wait=tree"])
        span = self.only_span(run)
        self.assertEqual((span["exit_code"], span["complete"]), (0, True))
        self.assertGreater(span["processes_total"], 1)
        last = max(p["end_time"] for p in run.processes if p.get("span"))
        self.assertAlmostEqual(span["end_time"], last, delta=0.001)

    def test_one_that_is_killed_has_its_signal(self):
        span = self.only_span(self.run_shell('"$B" span x -- sh -c "kill -9 \\$\\$"'))
        self.assertEqual((span["signal"], span["exit_code"]), (9, None))

    def test_those_whose_processes_are_killed_at_any_moment_end_with_them(self):
        """Also while they begin: a process that has ended by then has no span."""
        seed = time.time_ns()
        run = self.run_python(
            f"""
import random, time
any_of = random.Random({seed})
ready, says = os.pipe()
for i in range(600):
    begun = time.time()
    pid = os.fork()
    if not pid:
        os.write(says, b"x")
        ask({{"span": "begin", "name": str(i)}})
        time.sleep(60)
    os.read(ready, 1)
    time.sleep(any_of.uniform(0, 0.001))
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    print(pid, begun, time.time())
"""
        )
        lives = [line.split() for line in run.stdout.splitlines()]
        self.assertEqual((run.code, len(lives)), (0, 600), run.stderr)
        spans = self.spans(run)
        self.assertGreater(len(spans), 0, seed)
        for name, span in spans.items():
            pid, begun, ended = lives[int(name)]
            self.assertEqual((span["pid"], span["signal"], span["processes_total"]), (int(pid), 9, 1), seed)
            self.assertTrue(span["complete"], seed)
            # the kernel's times are those of another clock
            self.assertGreaterEqual(span["start_time"], float(begun) - 0.001, seed)
            self.assertLessEqual(span["end_time"], float(ended) + 0.001, seed)

    def test_one_that_is_stopped_and_outlives_the_command_is_reported_without_an_end(self):
        run = self.run_shell('"$B" span x -- sh -c "kill -STOP \\$\\$" >/dev/null 2>&1 & sleep 0.3; echo $!')
        os.kill(int(run.stdout), signal.SIGKILL)
        span = self.only_span(run)
        self.assertEqual((span["end_time"], span["exit_code"], span["outlived"]), (None, None, 1))
        self.assertTrue(span["complete"])

    def test_threads_and_memory_of_it_are_counted(self):
        run = self.run_bpfmon([BPFMON, "span", "t", "--", truth("threads"), "3", "10"], ["-q", "-i", "0.02"])
        span = self.only_span(run)
        self.assertEqual(span["threads_created"], run.summary["threads_created"])
        self.assertLessEqual(span["rss_peak_upper_bytes"], run.summary["rss_peak_upper_bytes"])
        self.assertGreater(span["process_rss_peak_bytes"], 0)

    def test_samples_have_each_live_span_where_asked_for(self):
        run = self.run_shell(
            '"$B" span a -- sh -c "\\"$B\\" span b -- sleep 0.5; sleep 0.3"', "--span-samples", "-i", "0.05"
        )
        spans = self.spans(run)
        a, b = (str(spans[name]["id"]) for name in "ab")
        by = [sample["by"]["span"] for sample in run.samples if "by" in sample]
        self.assertTrue(any(a in s and b in s for s in by) and any(a in s and b not in s for s in by))
        for before, after in zip(by, by[1:]):
            if a in before and a in after:
                self.assertLessEqual(before[a]["cpu_seconds"], after[a]["cpu_seconds"])
                self.assertLessEqual(after.get(b, before[a])["cpu_seconds"], after[a]["cpu_seconds"])
        self.assertTrue(any(0 < s[b]["rss_bytes"] < s[a]["rss_bytes"] for s in by if b in s))
        self.assertLessEqual(by[-1][a]["cpu_seconds"], spans["a"]["cpu_seconds"])
        self.assertFalse(any("by" in sample for sample in self.run_shell('"$B" span a -- sleep 0.1').samples))

    def test_in_a_cgroup_of_its_own(self):
        run = self.run_shell('"$B" span x -- true; true', "--own-cgroup")
        self.assertEqual(self.only_span(run)["processes_total"], 1)


class InPlace(SpanCase):
    def test_a_shell_has_spans_of_its_own_lines(self):
        run = self.run_shell('"$B" span begin one; true & wait; "$B" span end one; "$B" span begin two; "$B" span end two')
        spans = self.spans(run)
        self.assertEqual((run.code, run.stderr, list(spans)), (0, "", ["one", "two"]))
        self.assertEqual([spans[name]["in_place"] for name in spans], [True, True])
        self.assertLessEqual(spans["one"]["end_time"], spans["two"]["start_time"])
        self.assertEqual(spans["one"]["exit_code"], None)
        self.assertEqual(spans["one"]["processes_total"], 3)  # the shell, true, and the one that ends it

    def test_cpu_is_between_both_moments(self):
        run = self.run_python(
            "import time\n"
            "def burn(s):\n    end = time.process_time() + s\n    while time.process_time() < end: pass\n"
            "burn(0.1)\nat = [time.process_time()]\nask({'span': 'begin', 'name': 'x', 'in_place': True})\n"
            "at.append(time.process_time())\nburn(0.2)\nat.append(time.process_time())\n"
            "ask({'span': 'end', 'name': 'x'})\nat.append(time.process_time())\nburn(0.1)\nprint(*at)"
        )
        before, began, ends, after = map(float, run.stdout.split())
        used = self.only_span(run)["cpu_seconds"]
        self.assertTrue(ends - began <= used <= after - before, (began, ends, used, before, after))

    def test_overlapping_ones_are_refused_and_the_run_goes_on(self):
        run = self.run_python(
            "for n in 'ab': ask({'span': 'begin', 'name': n, 'in_place': True})\n"
            "print(ask({'span': 'end', 'name': 'a'}))\nprint(ask({'span': 'end', 'name': 'b'}))\n"
            "print(ask({'span': 'end', 'name': 'a'}))\nprint(ask({'span': 'end', 'name': 'a'}))"
        )
        said = run.stdout.decode().splitlines()
        self.assertEqual(said[0], "'b', begun within 'a', has not ended")
        self.assertEqual(said[1:3], ["2", "1"])
        self.assertIn("has not begun span 'a'", said[3])
        self.assertEqual(len(run.kind("span")), 2)

    def test_an_answer_is_one_line_of_text_whatever_the_name(self):
        run = self.run_python("print(ask({'span': 'end', 'name': 'x\\n\\x1b[31m'}))")
        self.assertEqual(run.stdout, b"this process has not begun span 'x??[31m'\n")

    def test_one_that_is_not_ended_ends_with_its_process(self):
        span = self.only_span(self.run_python("ask({'span': 'begin', 'name': 'x', 'in_place': True})"))
        self.assertIsNotNone(span["end_time"])

    def test_a_command_as_a_span_cannot_be_ended_from_within(self):
        run = self.run_shell('"$B" span x -- sh -c "\\"$B\\" span end x"')
        self.assertEqual(run.code, 2)
        self.assertIn("this process has not begun span", run.stderr)

    def test_memory_of_it_is_bounded_though_it_ends_between_samples(self):
        run = self.run_python(
            "ask({'span': 'begin', 'name': 'x', 'in_place': True})\na = bytearray(64 << 20)\ndel a\n"
            "ask({'span': 'end', 'name': 'x'})",
            "-i",
            "10",
        )
        self.assertGreaterEqual(self.only_span(run)["rss_peak_upper_bytes"], 64 << 20)


class Refused(SpanCase):
    def ask_from_outside(self, address, message):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.connect("\0" + address[1:])
            s.send(message)
            return s.recv(256).decode()

    def live(self):
        live = Live(self, ["sh", "-c", f'echo "${VARIABLE}"; read line; true'], ["-q"], stdin=subprocess.PIPE)
        address = live.process.stdout.readline().decode().strip()
        self.assertRegex(address, "^@bpfmon-span-[0-9a-f]{16}$")
        return live, address

    def end(self, live):
        live.process.communicate(b"\n", timeout=60)
        self.assertEqual(live.process.returncode, 0)
        lines = read_lines(live.out)
        (summary,) = [line for line in lines if line["kind"] == "summary"]
        self.assertTrue(summary["complete"], summary)
        return [line for line in lines if line["kind"] == "span"]

    def test_a_process_outside_of_the_run(self):
        live, address = self.live()
        said = self.ask_from_outside(address, b'{"span":"begin","name":"x"}')
        self.assertEqual(said, "the process is not part of this run")
        inside = descendants_of(live.pid)[-1]
        said = self.ask_from_outside(address, json.dumps({"span": "begin", "name": "x", "pid": inside}).encode())
        self.assertEqual(said, "the process is not part of this run")
        self.assertEqual(self.end(live), [])

    def test_a_process_that_asks_for_one_that_did_not_start_it(self):
        run = self.run_python(f"print(ask({{'span': 'begin', 'name': 'x', 'pid': {os.getpid()}}}))")
        self.assertIn("is not the parent of the caller", run.stdout.decode())

    def test_messages_that_are_none(self):
        live, address = self.live()
        for message in (
            b"{}",
            b"{",
            b'{"span":"begin"}',
            b'{"span":"begin","name":""}',
            b'{"span":"begin","name":5}',
            b'{"span":"middle","name":"x"}',
            b'{"span":"begin","name":"x","uid":0}',
            b'{"span":"begin","name":"x","name":"y"}',
            b'{"span":"begin","name":"x","tags":[]}',
            b'{"span":"begin","name":"x","tags":{"a=b":"c"}}',
            b'{"span":"begin","name":"x","tags":{"":"c"}}',
            b'{"span":"begin","name":"x","tags":{"a":{}}}',
            b'{"span":"begin","name":"x","pid":-1}',
            b'{"span":"begin","name":"x","a\\n\\u001b[31m":1}',
            json.dumps({"span": "begin", "name": "x", "tags": {str(i): "" for i in range(17)}}).encode(),
            json.dumps({"span": "begin", "name": "x" * 256}).encode(),
            b'{"a":' * 9000,
            b'{"span":"begin","name":"' + b"x" * 60000 + b'"}',
        ):
            said = self.ask_from_outside(address, message)
            self.assertRegex(said, "^[^0-9\n]{5}[^\n]*$", message[:80])
            self.assertNotIn("part of this run", said, message[:80])
        for message in (b"x", b"[]", b"\xff\xfe", b"[" * 9000, b"mark x"):  # what is no object is a mark or metrics
            self.assertEqual(self.ask_from_outside(address, message), "the process is not part of this run")
        self.assertEqual(self.end(live), [])

    def test_connections_that_say_nothing(self):
        live, address = self.live()
        silent = []
        for _ in range(300):
            silent.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            self.addCleanup(silent[-1].close)
            silent[-1].connect("\0" + address[1:])
        said = self.ask_from_outside(address, b'{"span":"begin","name":"x"}')
        self.assertEqual(said, "the process is not part of this run")
        self.assertEqual(self.end(live), [])

    def test_more_than_32_within_each_other(self):
        run = self.run_python("for i in range(40): said = ask({'span': 'begin', 'name': str(i)}); print(said)")
        said = run.stdout.decode().splitlines()
        self.assertEqual(said[:32], [str(i) for i in range(1, 33)])
        self.assertEqual(set(said[32:]), {"spans are already nested 32 levels deep"})
        self.assertEqual(len(run.kind("span")), 32)
        self.assertTrue(run.summary["complete"])

    def test_hostile_names_are_written_as_text(self):
        names = ['"},{"', "\n\x1b[31m\x00"[:2] + "x", "é\u202e", "$(reboot)", "../../x"]
        run = self.run_python(f"for n in {names!r}: print(ask({{'span': 'begin', 'name': n}}))")
        self.assertEqual(sorted(s["name"] for s in run.kind("span")), sorted(names), run.stdout)

    def test_a_name_that_is_no_text_is_replaced(self):
        run = self.run_bpfmon([BPFMON, "span", b"a\xff\xfeb", "--", "true"], ["-q"])
        self.assertEqual((run.code, self.only_span(run)["name"]), (0, "a\ufffd\ufffdb"))


class Command(SpanCase):
    """What is executed as a span is executed as it would be without."""

    def span(self, *words, **kwargs):
        env = {k: v for k, v in os.environ.items() if k != VARIABLE} | kwargs.pop("env", {})
        return subprocess.run([BPFMON, "span", *words], capture_output=True, text=True, timeout=60, env=env, check=False, **kwargs)

    def test_outside_of_a_run_it_runs_and_one_line_says_so_unless_quiet(self):
        for env in ({}, {VARIABLE: ""}):
            done = self.span("x", "--", "sh", "-c", "echo out; exit 3", env=env)
            self.assertEqual((done.returncode, done.stdout), (3, "out\n"))
            self.assertEqual(done.stderr, "bpfmon: span 'x': not inside a bpfmon run; the command is executed without a span\n")
            done = self.span("x", "-q", "--", "sh", "-c", "echo out; exit 3", env=env)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "out\n", ""))

    def test_in_place_it_fails_outside_of_a_run_unless_quiet(self):
        for word in ("begin", "end"):
            done = self.span(word, "x")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            done = self.span(word, "x", "-q")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.assertEqual(self.span(word, "-q").returncode, 2)

    def test_a_name_that_is_too_long_is_named_as_the_reason(self):
        for words, code in ((["a" * 256, "--", "true"], 125), (["begin", "a" * 256], 2), (["end", "a" * 256, "-q"], 2)):
            done = self.span(*words)
            self.assertEqual((done.returncode, done.stderr), (code, "bpfmon: span: the name has 256 bytes; the limit is 255\n"))
        self.assertEqual(self.span("a" * 255, "-q", "--", "true").returncode, 0)

    def test_in_a_run_that_has_ended_it_runs_and_one_line_says_so(self):
        gone = {VARIABLE: "@bpfmon-span-0000000000000000"}
        done = self.span("x", "--", "sh", "-c", "exit 3", env=gone)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1))
        self.assertIn("the run has ended", done.stderr)
        done = self.span("x", "-q", "--", "sh", "-c", "exit 3", env=gone)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        done = self.span("x", "--", "true", env={VARIABLE: "/nonsense"})
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1))

    def test_status_of_what_cannot_be_executed(self):
        self.assertEqual(self.span("x", "--", "/nonexistent").returncode, 127)
        self.assertEqual(self.span("x", "--", "/etc/passwd").returncode, 126)

    def test_usage(self):
        for words, code in (
            ([], 2),
            (["x"], 2),
            (["begin"], 2),
            (["end"], 2),
            (["begin", "a", "b"], 2),
            (["--", "true"], 125),
            (["a", "b", "--", "true"], 125),
            (["", "--", "true"], 125),
            (["a", "--"], 125),
            (["a", "--tag", "novalue", "--", "true"], 125),
            (["a" * 256, "--", "true"], 125),
            (["a", *(w for i in range(17) for w in ("-t", f"{i}=x")), "--", "true"], 125),
        ):
            done = self.span(*words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (code, 1), (words, done.stderr))
        self.assertEqual(self.span("begin", "x").returncode, 2)

    def test_a_name_may_be_begin_or_end(self):
        run = self.run_shell('"$B" span begin -- true && "$B" span end -- true')
        self.assertEqual([s["name"] for s in run.kind("span")], ["begin", "end"])

    def test_its_environment_limits_signals_and_descriptors_are_the_same(self):
        look = self.dir / "look"
        look.write_text("env | grep -v ^_= | sort; ulimit -a; grep -E 'Sig[^Q]|Cap|NoNew|Seccomp' /proc/self/status; ls /proc/self/fd")
        run = self.run_shell(f"trap '' USR1; sh {look} > {self.dir}/a; \"$B\" span x -- sh {look} > {self.dir}/b")
        plain, inside = ((self.dir / name).read_text() for name in "ab")
        self.assertEqual(run.code, 0, run.stderr)
        self.assertIn("Seccomp", plain)
        self.assertEqual(inside, plain)

    def test_a_run_within_a_run_has_its_own_spans(self):
        inner = self.dir / "inner.jsonl"
        run = self.run_shell(f'"$B" -q -o {inner} -- "$B" span x -- true')
        self.assertEqual(run.kind("span"), [])
        self.assertEqual([line["name"] for line in read_lines(inner) if line["kind"] == "span"], ["x"])

    def test_a_collector_that_does_not_answer_does_not_keep_the_command_from_running(self):
        live = Live(self, ["sh", "-c", f'read line; "{BPFMON}" span x -- echo ran'], ["-q"], stdin=subprocess.PIPE)
        collector, _, _ = live.roles()
        os.kill(collector, signal.SIGSTOP)
        live.process.stdin.write(b"\n")
        live.process.stdin.flush()
        self.assertEqual(live.process.stdout.readline(), b"ran\n")
        os.kill(collector, signal.SIGCONT)
        _, said = live.process.communicate(timeout=60)
        self.assertIn(b"the run does not answer", said)
