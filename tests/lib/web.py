# SPDX-License-Identifier: BSD-2-Clause
"""A `bpfmon serve` of a store, and requests to it."""

import http.client
import re
import select
import subprocess
import urllib.parse

from lib.bpfmon import BPFMON

WAIT_SECONDS = 60


class Web:
    """Started with these options, as the user `uid`; `token` is what it printed."""

    def __init__(self, store, *options, env=None, uid=None):
        argv = [BPFMON, "serve", *(["--store", str(store)] if store else []), *map(str, options)]
        who = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
        self.process = subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, cwd="/", **who
        )
        if not select.select([self.process.stdout], [], [], WAIT_SECONDS)[0]:
            raise TimeoutError("bpfmon serve says nothing")
        self.url = self.process.stdout.readline().strip()
        said = re.fullmatch(r"http://([^:]+):(\d+)/\?token=([0-9a-f]{48})", self.url)
        if not said:
            raise AssertionError(self.url + self.process.stderr.read())
        self.port, self.token = int(said[2]), said[3]
        self.host = f"127.0.0.1:{self.port}"

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS)

    def request(self, path, method="GET", body=None, cookie=True, **headers):
        """The response, with its body as `text`."""
        connection = self.connect()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if cookie:
            headers["Cookie"] = f"bpfmon-{self.port}={self.token if cookie is True else cookie}"
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        response.text = response.read()
        connection.close()
        return response

    def edit(self, ref, *pairs, cookie=True, **headers):
        headers = {"Origin": f"http://{self.host}", **headers}
        headers = {name: value for name, value in headers.items() if value}
        form = urllib.parse.urlencode(pairs)
        headers["Content_Type"] = "application/x-www-form-urlencoded"
        return self.request(f"/runs/{ref}/edit", "POST", form, cookie, **headers)

    def follow(self, ref, after=0, last=None, of="runs"):
        """The events of a run under way, or of a job of the node: (event, id, data); it is the caller who stops."""
        connection = self.connect()
        headers = {"Cookie": f"bpfmon-{self.port}={self.token}", **({"Last-Event-ID": str(last)} if last else {})}
        connection.request("GET", f"/{of}/{ref}/live?after={after}", headers=headers)
        response = connection.getresponse()
        if response.status != 200:
            raise AssertionError(response.read())
        event = {}
        try:
            for line in response:
                key, _, value = line.decode().rstrip("\n").partition(": ")
                if key:
                    event[key] = value
                elif "data" in event:
                    yield event.get("event", "message"), event.get("id"), event["data"]
                    event = {}
        finally:
            connection.close()

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(WAIT_SECONDS)
        finally:
            self.process.kill()
            self.process.communicate()
