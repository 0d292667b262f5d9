# SPDX-License-Identifier: BSD-2-Clause
"""Databases that a run is sent to: each on loopback, in a folder of its own, ended by its own PID."""

import contextlib
import json
import pathlib
import random
import shutil
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

READY_SECONDS = 60  # until a server that does not start is an error


def need(*programs, group="servers"):
    """Skips the test if one of them is not installed, which CI counts as failed."""
    for program in programs:
        if not shutil.which(program):
            raise unittest.SkipTest(f"{program} is not installed; tools/install-deps.sh {group}")


def free_port():
    """Below the range of ports that the kernel chooses from (32768 and up): no other program is given it meanwhile."""
    while True:
        with contextlib.closing(socket.socket()) as sock, contextlib.suppress(OSError):
            port = random.randrange(20000, 32000)
            sock.bind(("127.0.0.1", port))
            return port


def addresses_of_localhost():
    """(family, address), as this machine has them."""
    found = [(socket.AF_INET, "127.0.0.1")]
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as sock:
        sock.bind(("::1", 0))
        found.append((socket.AF_INET6, "::1"))
    return found


class Server:
    """A program that answers HTTP on loopback."""

    def __init__(self, argv, port, ready, log):
        self.url = f"http://127.0.0.1:{port}"
        self.log = pathlib.Path(log)
        with self.log.open("wb") as file:
            self.process = subprocess.Popen(argv, stdout=file, stderr=file, stdin=subprocess.DEVNULL)
        try:
            self.wait_until_ready(ready)
        except BaseException:
            self.stop()
            raise

    def wait_until_ready(self, path):
        end = time.monotonic() + READY_SECONDS
        while True:
            try:
                self.get(path)
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise AssertionError(self.log.read_text(errors="replace")) from None
                time.sleep(0.05)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def get(self, path, **query):
        with urllib.request.urlopen(f"{self.url}{path}?{urllib.parse.urlencode(query)}", timeout=60) as answer:
            return answer.read()

    def get_json(self, path, **query):
        return json.loads(self.get(path, **query))

    def post(self, path, body, **query):
        """The status and the text of the answer."""
        request = urllib.request.Request(f"{self.url}{path}?{urllib.parse.urlencode(query)}", data=body, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


def influxdb(folder):
    need("influxd")
    port, rpc = free_port(), free_port()
    config = pathlib.Path(folder) / "influxdb.conf"
    config.write_text(f"""
reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "{folder}/meta"
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
[monitor]
  store-enabled = false
[subscriber]
  enabled = false
[http]
  bind-address = "127.0.0.1:{port}"
""")
    server = Server(["influxd", "-config", str(config)], port, "/ping", f"{folder}/log")
    server.post("/query", b"", q="CREATE DATABASE bpfmon")
    return server


def influxdb_rows(server, text):
    """The rows of the answer to a query as dictionaries; times are in ns."""
    (result,) = server.get_json("/query", db="bpfmon", q=text, epoch="ns")["results"]
    return [dict(zip(one["columns"], row)) for one in result.get("series", []) for row in one["values"]]


SCRAPING = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
- job_name: bpfmon
  honor_labels: true
  static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def victoriametrics(folder, scraped=None, options=()):
    """@scraped: the port of loopback that it reads metrics from."""
    need("victoria-metrics")
    port = free_port()
    scraping = []
    if scraped:
        config = pathlib.Path(folder) / "scraping.yml"
        config.write_text(SCRAPING.format(port=scraped))
        scraping = [f"-promscrape.config={config}"]
    argv = [
        "victoria-metrics",
        f"-storageDataPath={folder}/data",
        f"-httpListenAddr=127.0.0.1:{port}",
        "-retentionPeriod=100y",
        "-search.latencyOffset=0s",
        "-search.disableCache",
        "-memory.allowedBytes=256MB",
        "-loggerLevel=WARN",
        *scraping,
        *options,
    ]
    return Server(argv, port, "/health", f"{folder}/log")


def prometheus(folder, blocks, scraped=None):
    """@scraped: the port of loopback that it reads metrics from."""
    need("prometheus")
    port = free_port()
    config = pathlib.Path(folder) / "prometheus.yml"
    config.write_text("global: {}\n")
    if scraped:
        config.write_text(SCRAPING.format(port=scraped))
    argv = [
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={blocks}",
        "--storage.tsdb.retention.time=100y",
        f"--web.listen-address=127.0.0.1:{port}",
        "--scrape.discovery-reload-interval=100ms",
        "--log.level=warn",
    ]
    return Server(argv, port, "/-/ready", f"{folder}/log")
