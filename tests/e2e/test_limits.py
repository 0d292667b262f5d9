# SPDX-License-Identifier: BSD-2-Clause
"""What goes beyond a limit ends the run, with all that it has started; the witness is /proc."""

import pathlib
import signal
import tempfile
import time

from lib.bpfmon import BPFMON, Case

MIB = 1 << 20
DAEMON = "import os, signal, sys, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
STUBBORN = DAEMON + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen(sys.argv[1], 'a').write(f'{os.getpid()}\\n')\nwhile True: time.sleep(1)\n"
GROW = "b = []\nwhile True: b.append(bytearray(b'x' * 1000000))\n"
HOLD = "b = bytearray(b'x' * 60_000_000)\nimport time\nwhile True: time.sleep(1)\n"
FAST = ["-i", "0.05", "--limit-grace", "0.2"]


def is_alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "XZ"


class Ended(Case):
    def limited(self, limit, command, *options, code=124):
        run = self.run_bpfmon(command, [*FAST, "--limit", limit, *options])
        self.assertEqual(run.code, code, run.stderr)
        return run

    def hits(self, run):
        return [e for e in run.kind("event") if e["event"] == "limit"]

    def assert_hit(self, run, limit, most):
        """Before, PSS may have been below it once: what libraries share with processes outside is not all its own."""
        *below, hit = self.hits(run)
        self.assertLessEqual(len(below), 1)
        for early in below:
            self.assertFalse(early["ended"])
            self.assertLessEqual(early["memory_needed_bytes"], most)
        for key, value in run.summary["limit"].items():
            self.assertEqual(hit[key], value, key)
        self.assertEqual((hit["limit"], hit["ended"]), (limit, True))
        self.assertGreater(hit["value"], most)
        self.assertIn(f"beyond {limit}: ", run.stderr)
        self.assert_complete(run)
        return hit

    def test_memory_at_a_sample_names_the_process_with_the_most(self):
        run = self.limited("rss<100MiB", ["sh", "-c", 'sleep 60 & python3 -c "$0"', GROW])
        hit = self.assert_hit(run, "rss<100MiB", 100 * MIB)
        self.assertEqual(hit["comm"], next(p["comm"] for p in run.processes if p["pid"] == hit["pid"]))
        self.assertEqual(hit["comm"], "python3")
        self.assertEqual(run.summary["outlived"], 0)

    def test_the_whole_tree_is_gone_daemons_that_ignore_sigterm_included(self):
        pids = self.dir / "pids"
        script = f'for i in 1 2 3; do python3 -c "$0" {pids}; done; while [ $(wc -l <{pids}) -lt 3 ]; do :; done; exec python3 -c "$1"'
        run = self.limited("process.rss<50MiB", ["sh", "-c", script, STUBBORN, HOLD])
        self.assert_hit(run, "process.rss<50MiB", 50 * MIB)
        daemons = [int(pid) for pid in pids.read_text().split()]
        self.assertEqual(len(daemons), 3)
        self.assertEqual([pid for pid in daemons if is_alive(pid)], [])
        signals = {p["pid"]: p["signal"] for p in run.processes}
        self.assertEqual([signals[pid] for pid in daemons], [signal.SIGKILL] * 3)
        self.assertEqual(run.summary["signal"], signal.SIGTERM)

    def test_sigterm_is_enough_for_what_acts_on_it(self):
        said = self.dir / "said"
        script = f"trap 'echo asked >{said}; exit 7' TERM; while :; do sleep 0.01; done"
        run = self.limited("wall<0.3s", ["sh", "-c", script], "--limit-grace", "60")
        self.assert_hit(run, "wall<0.3s", 0.3)
        self.assertEqual(said.read_text(), "asked\n")
        self.assertEqual(run.summary["exit_code"], 7)

    def test_what_is_stopped_is_ended_as_well(self):
        run = self.limited("wall<0.3s", ["sh", "-c", "kill -STOP $$"], "--limit-grace", "60")
        self.assertEqual(run.summary["signal"], signal.SIGTERM)

    def test_time_is_seen_without_a_sample(self):
        run = self.limited("wall<0.2s", ["sleep", "60"], "-i", "3600")
        hit = self.assert_hit(run, "wall<0.2s", 0.2)
        self.assertNotIn("pid", hit)

    def test_cpu_time_processes_bytes_and_sockets(self):
        self.assert_hit(self.limited("cpu<100ms", ["sh", "-c", "while :; do :; done"]), "cpu<100ms", 0.1)
        self.assert_hit(self.limited("process.cpu<100ms", ["sh", "-c", "while :; do :; done"]), "process.cpu<100ms", 0.1)
        run = self.limited("processes<5", ["sh", "-c", "for i in 1 2 3 4 5 6 7; do sleep 60 & done; wait"])
        self.assert_hit(run, "processes<5", 5)
        run = self.limited("wchar_bytes<1MiB", ["sh", "-c", "while :; do head -c 100000 /dev/zero; done >/dev/null"])
        self.assert_hit(run, "wchar_bytes<1MiB", MIB)
        talk = "import socket\na, b = socket.socketpair()\nwhile True: a.send(b'x' * 1000); b.recv(1000)"
        self.assert_hit(self.limited("net<1MB", ["python3", "-c", talk], "--net"), "net<1MB", 10**6)

    def test_a_span_that_is_beyond_ends_the_run_and_is_named(self):
        command = ["sh", "-c", f'"$0" span small -- sleep 60 & "$0" span big -- python3 -c "$1"', str(BPFMON), HOLD]
        run = self.limited("span.rss<50MiB", command)
        hit = self.assert_hit(run, "span.rss<50MiB", 50 * MIB)
        self.assertEqual((hit["span_name"], hit["comm"]), ("big", "python3"))
        self.assertEqual(hit["span"], next(span["id"] for span in run.kind("span") if span["name"] == "big"))
        self.assertIn(f", in the span big, most of it in python3 ({hit['pid']})", run.stderr)

    def test_pss_is_compared_when_it_has_been_read(self):
        run = self.limited("pss<30MiB", ["python3", "-c", HOLD], "--pss=50")
        self.assert_hit(run, "pss<30MiB", 30 * MIB)

    def test_what_one_process_writes_is_its_own(self):
        write = "import sys\nwhile True: sys.stdout.buffer.write(b'x' * 10000)"
        command = ["sh", "-c", 'sleep 60 & python3 -c "$0" >/dev/null', write]
        for limit in ("process.wchar_bytes<1MiB", "wchar_bytes<1MiB"):
            hit = self.assert_hit(self.limited(limit, command), limit, MIB)
            self.assertEqual(hit["comm"], "python3")

    def test_what_calls_have_not_written_is_an_upper_bound_and_not_limited(self):
        script = "import mmap, sys\nfile = open(sys.argv[1], 'w+b')\nfile.truncate(8 << 20)\nheld = mmap.mmap(file.fileno(), 0)\n"
        script += "for at in range(0, len(held), 4096): held[at] = 1\n"
        with tempfile.NamedTemporaryFile(dir="/var/tmp") as file:
            run = self.limited("write<2MiB", ["python3", "-c", script, file.name], "-i", "0.02", code=0)
        summary = run.summary
        if not summary["write_bytes"]:
            self.skipTest("the file system of /var/tmp has no storage")
        self.assertGreater(summary["write_bytes"], summary["wchar_bytes"])
        self.assertEqual(summary["bounds"], {"write_bytes": "at_most"})
        self.assertIn(" read, up to ", run.stderr)

    def test_cores_are_compared_over_a_time_that_can_be_measured(self):
        self.limited("cores<0.5", ["sh", "-c", "sleep 0.3"], code=0)
        run = self.limited("cores<0.5", ["sh", "-c", "while :; do :; done"])
        hit = self.assert_hit(run, "cores<0.5", 0.5)
        self.assertIn(f"cores<0.5: {hit['value']:.3f} after", run.stderr)

    def test_a_process_is_not_older_than_its_run(self):
        run = self.limited("process.wall<0.3s", ["sleep", "60"], "-i", "0.02")
        hit = self.assert_hit(run, "process.wall<0.3s", 0.3)
        self.assertLessEqual(hit["value"], hit["elapsed_seconds"] + 1e-6)
        self.assertIn(f", in sleep ({hit['pid']})", run.stderr)

    def test_without_a_grace_sigkill_comes_at_once(self):
        run = self.limited("wall<0.2s", ["sh", "-c", "trap '' TERM; while :; do sleep 0.01; done"], "--limit-grace", "0")
        self.assertEqual(run.summary["signal"], signal.SIGKILL)

    def test_with_the_exact_peak_it_needs_no_sample(self):
        run = self.limited("rss<300MiB", ["python3", "-c", GROW], "--exact-peak", "-i", "3600")
        hit = self.assert_hit(run, "rss<300MiB", 300 * MIB)
        self.assertGreaterEqual(run.summary["rss_peak_exact_bytes"], hit["value"])

    def test_a_run_below_its_limits_is_left_alone(self):
        run = self.limited("rss<100GiB", ["sh", "-c", "exit 3"], "--limit", "wall<1h", "--exact-peak", code=3)
        self.assertEqual(self.hits(run), [])
        self.assertNotIn("limit", run.summary)

    def test_a_limit_of_children_that_fork_again_and_again(self):
        script = "while :; do (while :; do sleep 0.01; done) & sleep 0.02; done"
        run = self.limited("processes<20", ["sh", "-c", script])
        self.assertEqual([p["pid"] for p in run.processes if is_alive(p["pid"])], [])


class Cgroup(Case):
    def test_its_memory_is_looked_at_between_samples(self):
        run = self.run_bpfmon(["python3", "-c", GROW], ["-i", "3600", "--own-cgroup", "--limit", "rss<100MiB"])
        self.assertEqual(run.code, 124, run.stderr)
        self.assertEqual(run.summary["limit"]["comm"], "python3")


class Soft(Case):
    def test_it_is_reported_once_and_a_command_executed(self):
        said = self.dir / "said"
        options = ["-i", "0.05", "--soft-limit", "rss<20MiB", "--on-limit", f'echo "$BPFMON_LIMIT" >>{said}']
        hold = HOLD.partition("\n")[0] + f"\nimport os, time\nwhile not os.path.exists('{said}'): time.sleep(0.01)\nraise SystemExit(5)"
        run = self.run_bpfmon(["python3", "-c", hold], options)
        self.assertEqual(run.code, 5, run.stderr)
        (hit,) = [e for e in run.kind("event") if e["event"] == "limit"]
        self.assertFalse(hit["ended"])
        self.assertEqual(run.summary["limit"]["value"], hit["value"])
        deadline = time.monotonic() + 60
        while not said.read_text() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertRegex(said.read_text(), r"^rss<20MiB: [0-9.]+ MiB after [0-9.]+ m?s, most of it in python3 \([0-9]+\)\n$")


class AfterTheEnd(Case):
    def test_what_the_last_sample_is_beyond_is_reported(self):
        """It ended by itself: its exit status stays, and what ends a run that goes on is not told to."""
        out = self.dir / "out"
        wait = f"import os, time\nwhile '\"kind\":\"sample\"' not in open('{out}').read(): time.sleep(0.01)\n"
        forks = "for i in range(40):\n if not os.fork(): os._exit(0)\nos._exit(5)"
        options = ["-o", str(out), "-i", "3600", "--limit", "forks<30", "--limit", "rss<1TiB"]
        run = self.run_bpfmon(["python3", "-c", wait + forks], options)
        self.assertEqual(run.code, 5, run.stderr)
        (hit,) = [e for e in run.kind("event") if e["event"] == "limit"]
        self.assertEqual((hit["limit"], hit["ended"]), ("forks<30", False))
        self.assertEqual((hit["value"], run.summary["limit"]["value"], run.summary["forks"]), (40, 40, 40))
        self.assertIn("limit exceeded: forks<30: 40", run.stderr)


class Refused(Case):
    def refused(self, limit, *words):
        run = self.run_bpfmon(["true"], ["--limit", limit])
        self.assertEqual((run.code, run.lines), (125, []))
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        for word in (limit, *words):
            self.assertIn(word, run.stderr)

    def test_words_and_keys_of_figures_are_keys_of_limits(self):
        for limit in ("wall_seconds<0.1", "peak<1kB", "rss_peak_bytes<1kB", "memory_needed_bytes<1kB"):
            run = self.run_bpfmon(["sleep", "20"], ["-i", "0.1", "--limit", limit])
            self.assertEqual((run.code, run.summary["limit"]["limit"]), (124, limit))
        writes = f"head -c 1000000 /dev/zero >{self.dir}/file"
        run = self.run_bpfmon(["sh", "-c", writes], ["--limit", "written<100kB"])
        self.assertEqual(run.summary["limit"]["limit"], "written<100kB", run.stderr)

    def test_what_is_no_limit(self):
        self.refused("rss", "no <")
        self.refused("rss<=3", "has <=, but < is the only comparison")
        self.refused("rss>3", "has no < after its key, and < is the only comparison")
        self.refused("rss<", "no number")
        self.refused("rss<1h", "a unit that does not fit")
        self.refused("rss<1.2.3", "no number")
        self.refused("wall<99999999999d", "too large")
        self.refused("mem<1GiB", "must start with a key: memory, rss, cpu, wall, processes,")
        self.refused("net<1MiB", "--net")
        self.refused("pss<1MiB", "--pss")
        self.refused("process.vms_bytes<1MiB", "for a process")
        self.refused("span.cores<2", "for a span")
