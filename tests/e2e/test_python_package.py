# SPDX-License-Identifier: BSD-2-Clause
"""The Python package: spans, marks and metrics in a run, nothing outside; runs that it records and reads."""

import json
import os
import re
import shutil
import subprocess
import sys

from lib.bpfmon import BPFMON, BUILD, TOP, read_lines, said_by
from lib.documents import documented_commands
from lib.installed import make
from lib.newcomer import NewcomerCase
from lib.package import FOLDER, PYTHON, PackageCase, needs

SAMPLED = True
BURN = """
import bpfmon, os, subprocess, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
"""


class Spans(PackageCase):
    def test_a_block_has_name_tags_and_what_it_used(self):
        run = self.within(
            BURN + "burn(0.1)\na = time.process_time()\n"
            "with bpfmon.span('load', file='a b', n=7) as one:\n b = time.process_time()\n burn(0.2)\n"
            " subprocess.run(['/bin/true'], check=True)\n c = time.process_time()\n"
            "print(one.id, c - b, time.process_time() - a)\nburn(0.1)"
        )
        number, least, most = map(float, run.stdout.split())
        (span,) = run.kind("span")
        self.assertEqual((span["id"], span["name"], span["tags"], span["in_place"]), (number, "load", {"file": "a b", "n": "7"}, True))
        self.assertEqual(span["processes_total"], 2)
        (child,) = [p for p in run.processes if p.get("span") == span["id"] and p["comm"] == "true"]
        own = span["cpu_seconds"] - child["cpu_seconds"]
        self.assertGreaterEqual(own, least - 0.005)
        self.assertLessEqual(own, most + 0.005)

    def test_they_are_nested_and_equal_names_are_many(self):
        run = self.within("import bpfmon\nwith bpfmon.span('x'):\n for _ in range(2):\n  with bpfmon.span('x'): pass")
        first, *others = sorted(run.kind("span"), key=lambda span: span["id"])
        self.assertEqual([first.get("parent"), *(span["parent"] for span in others)], [None, first["id"], first["id"]])

    def test_an_exception_ends_them_and_goes_on(self):
        run = self.within("import bpfmon\ntry:\n with bpfmon.span('a'), bpfmon.span('b'): 1/0\nexcept ZeroDivisionError: pass\nwith bpfmon.span('c'): pass")
        spans = self.spans(run)
        self.assertNotIn("parent", spans["c"])
        self.assertLessEqual(max(spans["a"]["end_time"], spans["b"]["end_time"]), spans["c"]["start_time"])

    def test_a_generator_that_is_left_ends_with_the_block_around_it(self):
        run = self.within(
            "import bpfmon\ndef steps():\n with bpfmon.span('in'): yield\n"
            "with bpfmon.span('out'):\n left = steps(); next(left)\nwith bpfmon.span('after'): pass\ndel left"
        )
        spans = self.spans(run)
        self.assertEqual((spans["in"]["parent"], spans["after"].get("parent")), (spans["out"]["id"], None))
        self.assertEqual(run.stderr, "")

    def test_another_thread_has_none_at_the_same_time_which_is_a_warning_once(self):
        run = self.within(
            "import bpfmon, threading\ndef work():\n with bpfmon.span('thread') as one: said.append((one.id, one.refused))\n"
            "said = []\ndef start():\n t = threading.Thread(target=work); t.start(); t.join()\n"
            "with bpfmon.span('main'): start(); start()\nstart()\nprint(*said, sep='\\n')"
        )
        lines = run.stdout.decode().splitlines()
        self.assertIn("of another thread", lines[0])
        self.assertEqual(lines[2], "(2, '')")
        self.assertEqual(sorted(self.spans(run)), ["main", "thread"])
        self.assertEqual(run.stderr.count("no span 'thread'"), 1)

    def test_another_task_has_none_at_the_same_time(self):
        run = self.within(
            "import asyncio, bpfmon\n@bpfmon.track\nasync def step(event, other):\n event.set(); await other.wait()\n"
            "async def main():\n"
            " with bpfmon.span('whole'): await step(asyncio.Event(), done())\n"
            " a, b = asyncio.Event(), asyncio.Event()\n await asyncio.gather(step(a, b), step(b, a))\n"
            "def done():\n event = asyncio.Event(); event.set(); return event\n"
            "with bpfmon.span('around'): asyncio.run(main())"
        )
        names = sorted(span["name"] for span in run.kind("span"))
        self.assertEqual(names, ["around", "step", "step", "whole"])
        self.assertIn("of another task", run.stderr)

    def test_a_child_of_fork_does_not_end_the_span_of_its_parent(self):
        run = self.within(
            BURN + "with bpfmon.span('parent'):\n pid = os.fork()\n if pid: os.waitpid(pid, 0); burn(0.1)\n"
            " else:\n  with bpfmon.span('child'): pass\n"
            "if not pid: os._exit(0)"
        )
        spans = self.spans(run)
        self.assertEqual(spans["child"]["parent"], spans["parent"]["id"])
        self.assertGreaterEqual(spans["parent"]["cpu_seconds"], 0.1)
        self.assertEqual(run.stderr, "")

    def test_processes_of_a_pool_have_theirs_at_the_same_time(self):
        run = self.within(
            "import bpfmon, multiprocessing\nbarrier = multiprocessing.Barrier(2, timeout=60)\n"
            "def work(n):\n with bpfmon.span('work', n=n): barrier.wait()\n"
            "with multiprocessing.get_context('fork').Pool(2) as pool: pool.map(work, range(2), 1)"
        )
        self.assertEqual(sorted(span["tags"]["n"] for span in run.kind("span")), ["0", "1"])
        self.assertEqual(len({span["pid"] for span in run.kind("span")}), 2)

    def test_track_makes_each_call_a_span(self):
        run = self.within(
            "import asyncio, bpfmon\n@bpfmon.track\ndef plain(a, b=2):\n 'says so'\n return a + b\n"
            "@bpfmon.track('named', k='v')\ndef other(): pass\n@bpfmon.track()\nasync def later(): return 5\n"
            "assert plain(1) == 3 and plain.__doc__ == 'says so' and plain.__name__ == 'plain'\nother()\n"
            "assert asyncio.run(later()) == 5\n"
            "try:\n @bpfmon.track\n def many(): yield\nexcept TypeError as error: print(error)"
        )
        self.assertEqual({name: span["tags"] for name, span in self.spans(run).items()}, {"plain": {}, "named": {"k": "v"}, "later": {}})
        self.assertIn(b"many is a generator", run.stdout)

    def test_texts_of_any_kind_are_taken_or_cut(self):
        run = self.within("import bpfmon\nwith bpfmon.span('é\\\"\\n' + 'ü' * 300, key='x' * 999, lone='\\udc80'): pass")
        (span,) = run.kind("span")
        self.assertTrue(span["name"].startswith('é"\nü'))
        self.assertEqual(len(span["name"].encode()), 254)
        self.assertEqual((len(span["tags"]["key"]), span["tags"]["lone"]), (251, "?"))

    def test_what_the_run_refuses_is_said_and_the_job_goes_on(self):
        run = self.within("import bpfmon\nwith bpfmon.span('') as one: print(one.id, one.refused)\nprint('on')")
        self.assertTrue(run.stdout.startswith(b"None "), run.stdout)
        self.assertTrue(run.stdout.endswith(b"on\n"))
        self.assertIn("no span ''", run.stderr)


    def test_static_and_class_methods_are_tracked_in_either_order(self):
        run = self.within(
            "import bpfmon\nclass A:\n @bpfmon.track\n @staticmethod\n def one(): return 1\n @staticmethod\n @bpfmon.track\n def two(): return 2\n"
            " @bpfmon.track('three')\n @classmethod\n def three(cls): return cls.__name__\n"
            "assert (A().one(), A.one(), A().two(), A().three(), A.three()) == (1, 1, 2, 'A', 'A')"
        )
        self.assertEqual(sorted(span["name"] for span in run.kind("span")), ["A.one", "A.one", "A.two", "three", "three"])

    def test_texts_that_cannot_be_made_are_a_warning(self):
        run = self.within(
            "import bpfmon\nclass Bad:\n def __str__(self): raise ValueError('no text')\n"
            "with bpfmon.span('x', a=Bad()) as one: assert one.id is None and 'no text' in one.refused\n"
            "with bpfmon.span('y', **{'\\udc80': 1}): pass\nassert not bpfmon.mark(Bad()) and bpfmon.mark(5)"
        )
        self.assertEqual([span["name"] for span in run.kind("span")], ["y"])
        self.assertIn("no span 'x': its name or tags cannot be converted to text: no text", run.stderr)
        self.assertIn("no mark: no text", run.stderr)

    def test_a_default_timeout_of_the_job_is_not_that_of_its_spans(self):
        run = self.within(
            "import bpfmon, multiprocessing, socket\nsocket.setdefaulttimeout(0.001)\n"
            "def work(n):\n for i in range(40):\n  with bpfmon.span('work') as one: assert one.id, one.refused\n"
            "with multiprocessing.get_context('fork').Pool(8) as pool: pool.map(work, range(8), 1)"
        )
        self.assertEqual((len(run.kind("span")), run.stderr), (320, ""))

    def test_a_span_that_cannot_be_ended_is_ended_later(self):
        run = self.within(
            "import bpfmon, logging, os, resource\nwith bpfmon.span('outer'):\n"
            " with bpfmon.span('inner'):\n  resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
            " resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n with bpfmon.span('next'): pass\nwith bpfmon.span('after'): pass"
        )
        spans = self.spans(run)
        self.assertEqual((spans["next"]["parent"], spans["after"].get("parent")), (spans["outer"]["id"], None))
        self.assertLessEqual(spans["inner"]["end_time"], spans["next"]["start_time"])
        self.assertIn("span 'inner' has not ended: cannot reach the run: Too many open files", run.stderr)

    def test_a_span_whose_begin_is_interrupted_has_not_begun(self):
        run = self.within(
            "import bpfmon, os, signal, socket, time\ndef handler(*_): raise KeyboardInterrupt\nsignal.signal(signal.SIGUSR1, handler)\n"
            "recv = socket.socket.recv\n"
            "def interrupted(self, n):\n socket.socket.recv = recv\n os.kill(os.getpid(), signal.SIGUSR1)\n time.sleep(9)\n"
            "with bpfmon.span('outer'):\n socket.socket.recv = interrupted\n try:\n  with bpfmon.span('inner'): assert 0\n"
            " except KeyboardInterrupt: pass\n with bpfmon.span('next'): pass"
        )
        spans = self.spans(run)
        self.assertEqual(spans["next"]["parent"], spans["outer"]["id"])
        self.assertEqual(run.stderr, "")

    def test_a_handler_of_logging_may_use_spans(self):
        run = self.within(
            "import bpfmon, logging, threading\nlock = threading.Lock()\n"
            "class Handler(logging.Handler):\n def emit(self, record):\n  with bpfmon.span('emit'): pass\n"
            "logging.getLogger('bpfmon').addHandler(Handler())\nlogging.getLogger('job').addHandler(Handler())\n"
            "def warn():\n for i in range(200): logging.getLogger('job').warning('x')\n"
            "def refuse():\n for i in range(200):\n  with bpfmon.span('', n=i): pass\n"
            "threads = [threading.Thread(target=f, daemon=True) for f in (warn, refuse)]\n"
            "for t in threads: t.start()\nfor t in threads:\n t.join(60)\n assert not t.is_alive()"
        )
        self.assertIn("emit", {span["name"] for span in run.kind("span")})


class Pushes(PackageCase):
    SCRIPT = (
        "import bpfmon\nassert bpfmon.mark('half é')\n"
        "assert bpfmon.metric('mark', 0.5, step=7, big=2**63, ok=True, text='a\"\\\\b', bad=float('nan'), tags={'a b': 'c,d=e', 'empty': ''})\n"
        "assert not bpfmon.metric('none', float('inf'))\nbpfmon.metric('timed', 1, time_ns=1763690000000000000)"
    )

    def check(self, *options):
        run = self.within(self.SCRIPT, *options)
        self.assertEqual([line["text"] for line in run.kind("event") if line["event"] == "mark"], ["half é"])
        first, timed = sorted(run.kind("metric"), key=lambda line: line["elapsed_seconds"])
        self.assertEqual((first["name"], first["tags"]), ("mark", {"a b": "c,d=e"}))
        self.assertEqual(first["fields"], {"value": 0.5, "step": 7, "big": 2**63, "ok": True, "text": 'a"\\b'})
        self.assertEqual((timed["fields"], timed["reported_time"]), ({"value": 1}, 1763690000))
        self.assertEqual((run.summary["pushed"]["malformed"], run.stderr), (0, ""))

    def test_marks_and_metrics_arrive(self):
        self.check()

    def test_and_by_the_socket_of_marks_alone(self):
        before, self.SCRIPT = self.SCRIPT, "import os\ndel os.environ['BPFMON_SPAN_SOCKET']\n" + self.SCRIPT
        self.check("--marks")
        self.SCRIPT = before

    def test_names_and_tags_that_no_line_can_hold_are_changed_or_refused(self):
        run = self.within(
            "import bpfmon\nassert bpfmon.metric('a\\\\', 1, tags={'path': 'C:\\\\tmp\\\\', 'b\\\\,': 'x\\ny\\0z'})\n"
            "assert bpfmon.metric('c\\nd,x=1 v', 2) and bpfmon.metric(5, 3, step=None)\n"
            "for name in ('', '#5'): assert not bpfmon.metric(name, 1)\n"
            "assert not bpfmon.metric('e', 1, tags={'': 'x'}) and not bpfmon.mark('') and not bpfmon.metric('f', object())"
        )
        found = {line["name"]: (line["tags"], line["fields"]) for line in run.kind("metric")}
        self.assertEqual(found, {"a/": ({"path": "C:\\tmp/", "b/,": "x y z"}, {"value": 1}), "c d,x=1 v": ({}, {"value": 2}), "5": ({}, {"value": 3})})
        self.assertEqual(run.summary["pushed"]["malformed"], 0)
        for said in ("no metric ''", "no metric '#5'", "no metric 'e'", "no metric 'f'", "no mark"):
            self.assertIn(said, run.stderr)

    def test_an_array_of_one_number_is_that_number(self):
        run = self.within(
            "import bpfmon\nclass Array:\n def __init__(self, v): self.v = v\n def __float__(self): return self.v\n"
            " def __index__(self): raise TypeError('only integer scalar arrays')\nassert bpfmon.metric('loss', Array(0.5))"
        )
        self.assertEqual([line["fields"] for line in run.kind("metric")], [{"value": 0.5}])

    def test_a_message_that_is_too_large_does_not_close_the_socket_of_marks(self):
        run = self.within("import bpfmon\nassert not bpfmon.metric('x', 'y' * 300_000)\nbpfmon._address = None\nassert bpfmon.metric('x', 1)", "--marks")
        self.assertEqual([line["fields"] for line in run.kind("metric")], [{"value": 1}])

    def test_more_than_that_socket_holds_arrive_all_the_same(self):
        run = self.within("import bpfmon\nfor i in range(600): assert bpfmon.mark(f'm{i}')", "--marks")
        self.assertEqual(run.summary["pushed"]["marks"], 600)


class Outside(PackageCase):
    def test_nothing_is_done_sent_or_loaded(self):
        done = self.outside(
            "import sys\nbefore = set(sys.modules)\nimport bpfmon\n"
            "with bpfmon.span('x', a=1) as one: assert one.id is None and not one.refused\n"
            "def f(): pass\nassert bpfmon.track(f) is f and bpfmon.track('n')(f) is f\n"
            "assert not bpfmon.in_run() and not bpfmon.mark('x') and not bpfmon.metric('x', 1)\n"
            "assert not {'socket', 'logging', 'subprocess'} & (set(sys.modules) - before)"
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_a_run_that_is_gone_is_no_run(self):
        address = self.within("import os; print(os.environ['BPFMON_SPAN_SOCKET'])").stdout.decode().strip()
        script = f"import os; os.environ['BPFMON_SPAN_SOCKET'] = {address!r}; os.environ['BPFMON_MARK_SOCKET'] = '/nowhere/x'\nimport bpfmon\n"
        done = self.outside(script + "assert not bpfmon.mark('x')\nwith bpfmon.span('x') as one: pass\nassert one.id is None and not bpfmon.in_run()")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class OneFile(PackageCase):
    def test_a_copy_of_the_module_is_enough(self):
        shutil.copy(FOLDER / "bpfmon" / "__init__.py", self.dir / "bpfmon.py")
        run = self.within("import bpfmon\nwith bpfmon.span('x'): bpfmon.mark('m')\nprint(bpfmon.__file__)", path=self.dir)
        self.assertEqual(run.stdout.decode().strip(), str(self.dir / "bpfmon.py"))
        self.assertEqual((len(run.kind("span")), run.summary["pushed"]["marks"]), (1, 1))


class Runs(PackageCase):
    def setUp(self):
        super().setUp()
        sys.path.insert(0, str(FOLDER))
        self.addCleanup(sys.path.remove, str(FOLDER))
        for name, value in (("BPFMON_STORE", str(self.store)), ("BPFMON_NO_STORE", None)):
            before = os.environ.get(name)
            self.set_variable(name, value)
            self.addCleanup(self.set_variable, name, before)
        import bpfmon

        self.package = bpfmon
        self.package.PROGRAM = BPFMON

    def set_variable(self, name, value):
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value

    def file(self, *options, script="true"):
        path = self.dir / "run.jsonl"
        self.record("-o", str(path), "--name", "align", "--tag", "sample=A7", *options, command=("sh", "-c", script))
        return path

    def test_one_of_the_store_is_the_one_of_its_file(self):
        path = self.file("-i", "0.05", "--process-samples", "2", script=f"{BPFMON} span s -- sleep 0.2; {BPFMON} mark m")
        lines = read_lines(path)
        found = [self.package.load(which, **store) for which, store in ((None, {}), (1, {}), ("1", {}), ("align", {"store": self.store}), (path, {}), (str(path), {}))]
        for run in found:
            for kind, rows in (("sample", run.samples), ("process", run.processes), ("span", run.spans), ("event", run.events), ("process_sample", run.process_samples)):
                self.assertCountEqual([line for line in lines if line["kind"] == kind], rows, kind)
            self.assertEqual((run.meta["run"], run.summary), (lines[0]["run"], lines[-1]))
            self.assertEqual((run.name, run.tags, run.exit_code, run.signal, run.complete), ("align", {"sample": "A7"}, 0, None, True))
            self.assertEqual([mark["text"] for mark in run.marks], ["m"])
            said = [lines[-1][f"memory_needed_{what}"] for what in ("bytes", "witness", "bound")]
            self.assertEqual([run.memory_needed.bytes, run.memory_needed.witness, run.memory_needed.bound], said)

    def test_a_file_that_was_cut_off_has_what_there_is(self):
        path = self.file(script="sleep 0.1")
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]) + b'{"kind":"sam')
        run = self.package.load(path)
        self.assertEqual((len(run.samples), run.complete, run.exit_code), (1, False, None))
        self.assertEqual(run.summary["samples"], 1)
        self.package.PROGRAM = "/nowhere/bpfmon"
        self.assertEqual(self.package.load(path).summary, {})

    def test_what_is_not_there_is_an_exception_of_its_own(self):
        self.file()
        for which in (99, "nosuch", self.dir / "nosuch"):
            with self.assertRaisesRegex(self.package.RunNotFound, str(which)):
                self.package.load(which)
        other = self.dir / "other"
        other.write_text("{}\n")
        with self.assertRaisesRegex(self.package.BpfmonError, "is not a run of bpfmon"):
            self.package.load(other)
        self.package.PROGRAM = "/nowhere/bpfmon"
        for action in (lambda: self.package.load(1), lambda: self.package.run(["true"])):
            with self.assertRaisesRegex(self.package.BpfmonMissing, "/nowhere/bpfmon"):
                action()

    def test_run_records_a_command(self):
        run = self.package.run(["sh", "-c", "echo said; exit 3"], name="made", tags={"n": 8, "x": "a=b"}, interval=0.5, stdout=subprocess.PIPE, text=True)
        self.assertEqual((run.exit_code, run.name, run.tags, run.stdout), (3, "made", {"n": "8", "x": "a=b"}, "said\n"))
        self.assertEqual((run.meta["interval_seconds"], run.command[0]), (0.5, "sh"))
        self.assertEqual(self.package.load("made").id, run.id)
        self.package.run(["true"], options=["--no-store"])
        self.assertEqual(len(self.list()), 1)

    def test_what_names_no_run_is_not_found(self):
        self.package.run(["true"])
        (self.dir / "text").write_text("no run\n")
        for word in ("nothing", "4711", "--help"):
            with self.assertRaises(self.package.RunNotFound):
                self.package.load(word)
        with self.assertRaises(self.package.BpfmonError) as caught:
            self.package.load(str(self.dir / "text"))
        self.assertNotIsInstance(caught.exception, self.package.RunNotFound)

    def test_a_program_that_cannot_be_executed_is_missing(self):
        self.package.PROGRAM = str(self.dir)
        self.addCleanup(setattr, self.package, "PROGRAM", BPFMON)
        with self.assertRaises(self.package.BpfmonMissing):
            self.package.run(["true"])

    def test_run_of_a_command_that_fails(self):
        killed = self.package.run(["sh", "-c", "kill -9 $$"])
        self.assertEqual((killed.exit_code, killed.signal), (None, 9))
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            self.package.run(["sh", "-c", "exit 3"], check=True)
        self.assertEqual(caught.exception.returncode, 3)
        with self.assertRaises(TypeError):
            self.package.run("true")
        with self.assertRaisesRegex(self.package.BpfmonError, "recorded nothing and exited with 125.*nonsense"):
            self.package.run(["true"], options=["--nonsense"], stderr=subprocess.PIPE)
        with self.assertRaisesRegex(FileNotFoundError, "nosuch"):
            self.package.run(["true"], cwd=self.dir / "nosuch")

    @needs("pandas")
    def test_pandas_takes_the_rows(self):
        path = self.file("-i", "0.05", script="sleep 0.2")
        done = self.outside(
            "import warnings; warnings.simplefilter('default')\nimport sys, bpfmon, pandas\n"
            "print(pandas.DataFrame(bpfmon.load(sys.argv[1]).samples).cpu_seconds.max())", str(path)
        )
        self.assertEqual(done.stdout.strip(), str(read_lines(path)[-1]["cpu_seconds"]), done.stderr)


    @needs("pandas")
    def test_many_runs_are_one_frame(self):
        for number in range(3):
            self.package.run(["true"], name="align", tags={"threads": number, "a": "x=y"})
        self.package.run(["true"], name="other")
        done = self.outside(
            "import warnings; warnings.simplefilter('ignore')\nimport bpfmon, json\n"
            "f = bpfmon.runs(name='align')\nassert 'schema' not in f\n"
            "print(json.dumps([json.loads(f.to_json(orient='records')), len(bpfmon.runs()), len(bpfmon.runs('al*')), len(bpfmon.runs(name='nosuch')),\n"
            "list(bpfmon.runs(tag={'threads': 1, 'a': 'x=y'}).tags), len(bpfmon.runs(tag=['threads', 'a=none'])), len(bpfmon.runs(state='failed', command='true'))]))\n"
            "try: bpfmon.runs(nosuch=1)\nexcept bpfmon.BpfmonError as error: print(error)\n"
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said, refused = done.stdout.splitlines()
        rows, *said = json.loads(said)
        listed = [run for run in self.list() if run["name"] == "align"]
        self.assertEqual([(row["id"], row["run"], row["tags"]) for row in rows], [(run["id"], run["run"], run["tags"]) for run in listed])
        for row, run in zip(rows, listed):
            self.assertAlmostEqual(row["wall_seconds"], run["wall_seconds"], places=6)
        self.assertEqual(said, [4, 3, 0, [{"threads": "1", "a": "x=y"}], 0, 0])
        self.assertIn("--nosuch", refused)


@needs("IPython")
class Magic(PackageCase):
    SCRIPT = """
import warnings; warnings.simplefilter("ignore")
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in ("%load_ext bpfmon", "%bpfmon", "%%bpfmon load file=a\\nx = 5\\nx + 1", "%bpfmon y = x * 2", "print(x, y)", "%%bpfmon broken\\n1/0"):
    done = shell.run_cell(cell)
    print("->", done.success, done.result, type(done.error_in_exec).__name__)
"""
    RESULTS = ["-> True None NoneType", "-> True None NoneType", "-> True 6 NoneType", "-> True None NoneType", "-> True None NoneType", "-> False None ZeroDivisionError"]

    def test_cells_are_spans_with_a_summary(self):
        run = self.within(self.SCRIPT, "-i", "0.05")
        text = run.stdout.decode()
        self.assertEqual({name: span["tags"] for name, span in self.spans(run).items()}, {"load": {"file": "a"}, "statement": {}, "broken": {}})
        self.assertEqual([line for line in text.splitlines() if line.startswith("-> ")], self.RESULTS)
        for name, span in self.spans(run).items():
            self.assertIn(f"bpfmon: {name}: {span['wall_seconds']:.3f} s, CPU {span['cpu_seconds']:.3f} s", text)

    def test_outside_they_say_so_and_execute_the_cell(self):
        done = self.outside(self.SCRIPT)
        self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("-> ")], self.RESULTS, done.stderr)
        self.assertEqual(done.stdout.count("this kernel is not in a run"), 4)
        self.assertNotRegex(done.stdout, "sudo bpfmon (?!--user )")  # as root the notebook would be root's


@needs("setuptools, wheel, pip, pytest")
class Wheel(PackageCase):
    """Installed without network into a virtual environment, as a user does."""

    def install(self, wheel):
        """The environment's Python; it finds the distribution's pytest."""
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", "--system-site-packages", self.dir / "venv"], check=True)
        python = self.dir / "venv" / "bin" / "python3"
        subprocess.run([PYTHON, "-m", "pip", "-q", "--python", python, "install", "--no-index", wheel], check=True, cwd=self.dir)
        return python

    def said_outside(self, python, script):
        """What it prints, with no folder of programs in PATH but the system's."""
        env = {"HOME": str(self.dir), "PATH": "/usr/bin:/bin", "BPFMON_STORE": str(self.store), "BPFMON_NO_CONFIG": "1"}
        return subprocess.run([python, "-c", script], env=env, cwd=self.dir, stdout=subprocess.PIPE, text=True, check=True).stdout.split()

    def test_it_has_the_package_its_types_and_the_plugin(self):
        make("wheel", PYTHON=PYTHON)
        version = said_by(BPFMON, "--version").split()[1]
        python = self.install(BUILD / "dist" / f"bpfmon-{version}-py3-none-any.whl")
        (site,) = self.dir.glob("venv/lib/python3*/site-packages")
        self.assertTrue((site / "bpfmon/py.typed").exists())
        self.assertTrue(list(site.glob("bpfmon-*.dist-info/**/LICENSE")))
        self.assertEqual(self.said_outside(python, "import bpfmon; print(bpfmon.__version__, bpfmon.PROGRAM)"), [version, "bpfmon"])
        (self.dir / "test_one.py").write_text("def test_one(): pass\n")
        path = self.dir / "out.jsonl"
        for options in ([], ["-p", "bpfmon.pytest_plugin"]):  # which names what is there already
            argv = [BPFMON, "-q", "--no-store", "--force", "-o", str(path), "--", python, "-m", "pytest", *options, "--bpfmon", "test_one.py"]
            done = self.python(argv, path=self.dir)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual([json.loads(line)["name"] for line in path.read_text().splitlines() if '"kind":"span"' in line], ["test_one.py::test_one"])

    def test_with_a_program_in_it_nothing_else_is_needed(self):
        argv = [TOP / "tools/make-wheel.sh", "7.8.9", self.dir / "wheels", BPFMON, BUILD / "libexec/bash"]
        subprocess.run(argv, env=os.environ | {"PYTHON": PYTHON}, check=True, stdout=subprocess.DEVNULL)
        (wheel,) = (self.dir / "wheels").iterdir()
        self.assertEqual(wheel.name, f"bpfmon-7.8.9-py3-none-manylinux_2_17_{os.uname().machine}.whl")
        python = self.install(wheel)
        said = self.said_outside(python, "import bpfmon; print(bpfmon.__version__, bpfmon.PROGRAM, bpfmon.run(['true']).exit_code)")
        self.assertEqual(said, ["7.8.9", str(self.dir / "venv/bin/bpfmon"), "0"])
        self.assertTrue(os.access(self.dir / "venv/libexec/bpfmon/bash", os.X_OK))


@needs("pytest, pandas")
class Documented(PackageCase):
    """docs/STUDY.md, as it stands there but for sudo; the wheel is built above."""

    BLOCK = re.compile(r"<!-- (run|file): (\S+) -->\n```\w+\n(.*?)\n```\n", re.S)

    def setUp(self):
        super().setUp()
        self.blocks = {name: text for _, name, text in self.BLOCK.findall((TOP / "docs" / "STUDY.md").read_text())}
        (self.dir / "bin").mkdir()
        (self.dir / "bin" / "bpfmon").symlink_to(BPFMON)
        (self.dir / "bin" / "python3").symlink_to(PYTHON)
        (self.dir / "input.txt").write_text("input\n")
        for name in ("job.py", "read.py"):
            (self.dir / name).write_text(self.blocks[name].replace(", sudo=True", ""))
        (self.dir / "test_one.py").write_text("def test_one(): pass\n")

    def type(self, command):
        environment = self.environment() | {"PATH": f"{self.dir / 'bin'}:{os.environ['PATH']}", "BPFMON_PROGRAM": "", "PYTHONWARNINGS": "default"}
        command = re.sub(r"sudo (--\S+ )?| --user\b", "", command)  # as an ordinary user: below
        done = subprocess.run(["sh", "-ec", command], env=environment, cwd=self.dir, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_the_job_and_what_reads_its_run(self):
        self.type(self.blocks["job"])
        lines = read_lines(self.dir / "run.jsonl")
        spans = {line["name"]: line["tags"] for line in lines if line["kind"] == "span"}
        self.assertEqual(spans, {"load": {"file": "input.txt"}, "read": {}})
        self.assertEqual(lines[-1]["pushed"] | {"marks": 1, "metrics": 3}, lines[-1]["pushed"])
        (one_line,) = [command for document, command in documented_commands() if document == "docs/STUDY.md" and "pandas" in command]
        self.assertEqual(self.type(one_line).strip(), str(max(line["rss_bytes"] for line in lines if line["kind"] == "sample")))
        self.assertEqual(self.type("python3 job.py"), "")

    def test_runs_are_recorded_and_read(self):
        first, second = self.type("python3 read.py").splitlines()
        self.assertTrue(first.startswith("3 "), first)
        self.assertIn("{'sample': 'A7'}", second)

    def test_pytest(self):
        text = self.type(self.blocks["pytest"])
        self.assertIn("1 passed", text)
        self.assertIn("::test_one ", text)


class Sudo(NewcomerCase):
    """An ordinary user records by sudo: what is written on the way is the user's own."""

    def test_run_with_sudo(self):
        (self.bin / "bpfmon").symlink_to(BPFMON)
        (self.home / "job.py").write_text(
            "import bpfmon\nrun = bpfmon.run(['id', '-u'], sudo=True, options=['--user'], name='mine')\n"
            "assert bpfmon.load('mine').id == run.id\nprint(run.exit_code, run.meta['user'])"
        )
        shutil.copytree(FOLDER / "bpfmon", self.home / "bpfmon", ignore=shutil.ignore_patterns("__pycache__"))
        self.give(self.home)
        done = self.type(f"{PYTHON} -B job.py", self.home)
        self.assertEqual((done.returncode, done.stdout), (0, "65534\n0 nobody\n"))

    def test_the_recipe_for_pytest_runs_it_as_the_user(self):
        (self.bin / "bpfmon").symlink_to(BPFMON)
        (self.bin / "python3").symlink_to(PYTHON)
        recipe = dict((name, text) for _, name, text in Documented.BLOCK.findall((TOP / "docs" / "STUDY.md").read_text()))["pytest"]
        (self.home / "test_one.py").write_text("import os\ndef test_one(): assert os.getuid() == os.geteuid() == 65534\n")
        shutil.copytree(FOLDER / "bpfmon", self.home / "package" / "bpfmon", ignore=shutil.ignore_patterns("__pycache__"))
        self.give(self.home)
        done = self.type(f"export PYTHONPATH={self.home}/package; {recipe}", self.home)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("1 passed", done.stdout)
        self.assertIn("::test_one ", done.stdout)
        self.assertEqual({file.stat().st_uid for file in self.home.rglob("*") if "bpfmon-test" not in file.name}, {65534})
