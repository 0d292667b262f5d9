#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Shows the way from nodes into databases, as root, on this machine alone.

Two real agents, and as many simulated nodes as asked for: each has a bpfmon-push of its own, which reads a stream of
jobs that this program replays. They send to a VictoriaMetrics, one of the real ones and a further simulated one to
an InfluxDB, and a Prometheus scrapes a bpfmon-exporter. Then the queries of all dashboards are asked, and a table says what it cost.

Usage: tools/run-fleet.py [--nodes N] [--jobs N] [--seconds N]
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "tests"))

from lib import servers  # noqa: E402
from lib.bpfmon import BPFMON, BUILD  # noqa: E402

INTERVAL = 15  # seconds, the default of bpfmon-push
USER = "nobody"
CHOSEN = {"$__rate_interval": "1m", "$__range": "1h", "$instance": ".*", "$user": ".*", "$kind": ".*", "$job": "slurm/0.1"}
OF_INFLUXDB = {
    "$timeFilter": "time >= now() - 1h", "$__interval": "30s", "${instance:regex}": ".*", "${user:regex}": ".*", "${kind:regex}": ".*",
    "${job:regex}": r"slurm\/0\.1",
}  # fmt: skip
SAMPLE = (
    '{{"kind":"sample","run":"run{job}","time":{now:.6f},"elapsed_seconds":{age:.6f},"cpu_seconds":{cpu},"user_seconds":{cpu},'
    '"runqueue_wait_seconds":0.5,"minflt":{n},"majflt":3,"read_bytes":{n}000,"write_bytes":{n}00,"rchar_bytes":{n}000,'
    '"wchar_bytes":{n}000,"processes":4,"threads":8,"rss_bytes":{n}4096,"rss_anon_bytes":{n}2048,"swap_bytes":0,'
    '"cgroup_memory_bytes":{n}4096,"cgroup_oom_kills":0,"cores":0.97,"system_seconds":0.5,"nvcsw":{n},"nivcsw":{n}'
    + "".join(f',"wait_{what}_seconds":0.5' for what in "child futex pipe socket disk lock poll timer other unseen".split())
    + "}}\n"
)
ENDED = {
    "complete": True, "wall_seconds": 4, "cpu_seconds": 3, "user_seconds": 2, "system_seconds": 1, "runqueue_wait_seconds": 0.5,
    "memory_needed_bytes": 1 << 28, "rss_peak_bytes": 1 << 28, "read_bytes": 5, "write_bytes": 6, "processes_total": 7,
    "oom_kills": 0,
}  # fmt: skip
OF_AGENT = "cpu_seconds rss_bytes tasks max_tasks accounts max_accounts jobs late_ticks lines_dropped".split()


class Children:
    """Processes to be ended by their PIDs."""

    def __init__(self):
        self.all = []

    def start(self, argv, log):
        with open(log, "ab") as out:
            child = subprocess.Popen(list(map(str, argv)), stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.all.append(child)
        return child

    def end(self):
        for child in reversed(self.all):
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
        for child in reversed(self.all):
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(10)
            child.kill()


def used_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_kib(pid, key="RssAnon"):
    return int(re.search(rf"{key}:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])


def config_write(folder, name, url, more="", push=""):
    """The configuration of a node, and the folder for what waits."""
    spool = folder / f"{name}.spool"
    spool.mkdir()
    shutil.chown(spool, USER)
    path = folder / f"{name}.conf"
    path.write_text(f"[agent]\nsocket = {folder}/{name}.sock\n{more}\n[push]\nurl = {url}\ninstance = {name}\nfolder = {spool}\n{push}\n")
    return path


class Replay:
    """Writes the lines of simulated nodes, each to its own bpfmon-push, once in an interval of the agent."""

    def __init__(self, children, folder, nodes, jobs, url, scraped, url_influx):
        self.jobs, self.start, self.n, self.lines = jobs, time.time(), 0, 0
        self.listeners, self.streams, self.pushes = [], [], []
        for number in range(nodes):
            name = f"sim{number:04}"
            # one has all metrics, as the panels of a job need
            config = config_write(folder, name, url, push="metrics = all" if not number else "")
            argv = [BUILD / "bpfmon-push", "--config", config, "--stream", self.listen(folder, name), "--user", USER]
            self.pushes.append(children.start(argv, folder / f"{name}.log"))
        config = config_write(folder, "influx0", url_influx, push="metrics = all")
        argv = [BUILD / "bpfmon-push", "--config", config, "--stream", self.listen(folder, "influx0"), "--user", USER]
        children.start(argv, folder / "influx0.log")
        argv = [BUILD / "bpfmon-exporter", "--stream", self.listen(folder, "exported"), "--listen", f"127.0.0.1:{scraped}", "--user", USER]
        children.start(argv, folder / "exported.log")
        for number, listener in enumerate(self.listeners):
            number = number if number < nodes else 0  # those besides have the jobs of the first
            listener.settimeout(60)
            stream, _ = listener.accept()
            self.streams.append(stream)
            stream.sendall("".join(self.meta(number, job) for job in ("node", *range(jobs))).encode())

    def listen(self, folder, name):
        path = folder / f"{name}.stream"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        path.chmod(0o666)
        listener.listen()
        self.listeners.append(listener)
        return f"unix:{path}"

    def meta(self, node, job):
        about = {"id": f"slurm/{node}.{job}", "kind": "slurm", "name": f"job{job}", "user": f"user{node % 50}", "uid": 1000}
        if job == "node":
            about = {"id": "node", "kind": "node", "name": "node", "user": "", "uid": 0}
        line = {"kind": "meta", "schema": "bpfmon/1", "run": f"run{job}", "start_time": time.time() - 4, "interval_seconds": 5}
        return json.dumps(line | {"node_job": about, "limits": {"memory_max_bytes": 1 << 30}}) + "\n"

    def ended(self, node):
        """A job that is over before a sample of it is sent."""
        job = f"short{self.n}"
        return self.meta(node, job) + json.dumps({"kind": "summary", "run": f"run{job}"} | ENDED) + "\n"

    def step(self):
        self.n += 1
        now = time.time()
        values = {"now": now, "age": now - self.start, "cpu": self.n * 5 + 0.5, "n": self.n * 7}
        agent = {"kind": "agent", "run": "agent", "time": now, "losses": {"tasks": 0}, **dict.fromkeys(OF_AGENT, self.n)}
        lines = [SAMPLE.format(job=job, **values) for job in ("node", *range(self.jobs))]
        data = "".join([*lines, json.dumps(agent), "\n"]).encode()
        for number, stream in enumerate(self.streams):
            stream.sendall(data + (self.ended(number).encode() if not self.n % 12 else b""))


def agent_start(children, folder, name, url):
    """A real agent and its bpfmon-push."""
    group = subprocess.run(["id", "-gn", USER], capture_output=True, text=True, check=True).stdout.strip()
    more = f"admin_group = {group}\n[history]\nstore ="
    config = config_write(folder, name, url, more)
    children.start([BPFMON, "agent", "--config", config], folder / f"{name}.log")
    children.start([BUILD / "bpfmon-push", "--config", config, "--user", USER], folder / f"{name}.log")


def dashboard_queries():
    for path in sorted((TOP / "share/bpfmon/grafana").glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", []):
                query = target.get("expr", "")
                for name, value in CHOSEN.items():
                    query = query.replace(name, value)
                if query and "bpfmon_exporter_" not in query:
                    yield query


def influxdb_queries():
    dashboard = json.loads((TOP / "share/bpfmon/grafana/bpfmon-influxdb.json").read_text())
    for panel in [*dashboard["panels"], {"targets": dashboard["templating"]["list"][1:]}]:
        for target in panel.get("targets", []):
            query = target["query"]
            for name, value in (OF_INFLUXDB | {"${__to}": str(time.time_ns() // 1_000_000)}).items():
                query = query.replace(name, value)
            yield query


def influxql(server, query):
    return server.get_json("/query", db="bpfmon", q=query)["results"][0].get("series", [])


def promql(server, query):
    return server.get_json("/api/v1/query", query=query)["data"]["result"]


def answered(server, queries, ask=promql):
    """How many of the queries have a row, and how many there are."""
    found = [(query, ask(server, query)) for query in queries]
    for query, rows in found:
        if not rows:
            print("  no answer:", query)
    return f"{sum(bool(rows) for _, rows in found)} of {len(found)}"


def value(server, query):
    rows = promql(server, query)
    return float(rows[0]["value"][1]) if rows else 0


def work(children, folder):
    """A job that all agents see."""
    children.start([BPFMON, "-q", "--", "sh", "-c", "while :; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.1; done"], folder / "work.log")


def follow(replay, seconds):
    """Writes lines each 5 s."""
    end, step = time.monotonic() + seconds, time.monotonic()
    while time.monotonic() < end:
        if time.monotonic() >= step:
            replay.step()
            step += 5
        time.sleep(max(0, min(step, end) - time.monotonic()))


def table_print(rows):
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        print(f"{name:<{width}}  {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--nodes", type=int, default=20, help="simulated nodes (20)")
    parser.add_argument("--jobs", type=int, default=10, help="jobs of each (10)")
    parser.add_argument("--seconds", type=int, default=90, help="of measuring (90)")
    options = parser.parse_args()
    children = Children()
    with tempfile.TemporaryDirectory(prefix="bpfmon-fleet-") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        stack.callback(children.end)
        run(options, children, folder, stack)


def run(options, children, folder, stack):
    for engine in ("vm", "influx", "prom", "blocks"):
        (folder / engine).mkdir()
    vm = servers.victoriametrics(folder / "vm")
    stack.callback(vm.stop)
    influx = servers.influxdb(folder / "influx")
    stack.callback(influx.stop)
    scraped = servers.free_port()
    prometheus = servers.prometheus(folder / "prom", folder / "blocks", scraped=scraped)
    stack.callback(prometheus.stop)
    agent_start(children, folder, "node1", f"{vm.url}/write")
    agent_start(children, folder, "node2", f"{influx.url}/write?db=bpfmon")
    work(children, folder)
    print(f"starting {options.nodes} simulated nodes", flush=True)
    replay = Replay(children, folder, options.nodes, options.jobs, f"{vm.url}/write", scraped, f"{influx.url}/write?db=bpfmon")
    follow(replay, 2 * INTERVAL)  # all series exist
    pids = [push.pid for push in replay.pushes]
    before = [used_seconds(pid) for pid in pids], used_seconds(vm.process.pid), time.monotonic()
    print(f"measuring for {options.seconds} s", flush=True)
    follow(replay, options.seconds)
    took = time.monotonic() - before[2]
    push_share = (sum(map(used_seconds, pids)) - sum(before[0])) / took / max(1, len(pids))
    vm_share = (used_seconds(vm.process.pid) - before[1]) / took
    window = f"{int(took)}s"
    samples = value(vm, f'sum(count_over_time({{__name__=~"bpfmon_.*", instance=~"sim.*"}}[{window}])) / {int(took)}')
    sent = value(vm, f'sum(rate(bpfmon_push_sent_bytes_total{{instance=~"sim.*"}}[{window}]))')
    series = value(vm, 'count({__name__=~"bpfmon_.*", instance=~"sim.*"})')
    lost = value(vm, 'sum(bpfmon_push_samples_dropped_total) + sum(bpfmon_push_samples_rejected_total)')
    of_scrapes = [query for query in dashboard_queries() if "bpfmon_push_" not in query]
    rows = influxql(influx, "SELECT last(cpu_seconds_total) FROM bpfmon_job WHERE instance = 'node2' GROUP BY job")
    table_print(
        [
            ("simulated nodes", f"{options.nodes} with {options.jobs} jobs each"),
            ("series", f"{series:.0f} in VictoriaMetrics, of these nodes"),
            ("samples", f"{samples:.0f}/s stored; {lost:.0f} lost"),
            ("network", f"{sent:.0f} B/s, {sent / samples if samples else 0:.1f} B a sample"),
            ("bpfmon-push", f"{100 * push_share:.3f} % of a core and {max(map(memory_kib, pids), default=0)} KiB of its own each"),
            ("VictoriaMetrics", f"{100 * vm_share:.1f} % of a core, {memory_kib(vm.process.pid, 'VmRSS') // 1024} MiB"),
            ("dashboards, VictoriaMetrics", f"{answered(vm, dashboard_queries())} queries have an answer"),
            ("dashboards, Prometheus", f"{answered(prometheus, of_scrapes)} queries have an answer"),
            ("dashboards, InfluxDB", f"{answered(influx, influxdb_queries(), influxql)} queries have an answer"),
            ("InfluxDB", f"{len(rows)} jobs of a real agent"),
        ]
    )


if __name__ == "__main__":
    main()
