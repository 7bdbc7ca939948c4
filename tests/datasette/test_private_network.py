"""The same over real sockets: a machine on a network, its neighbour at a second address, proxies and Unix sockets."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest

from support.site import ROOT, served

SERVER, NEIGHBOUR = "192.0.2.1", "192.0.2.2"
ASK = """
import json, sys
from urllib.error import HTTPError
from urllib.request import urlopen
def get(address):
    try:
        with urlopen(address, timeout=20) as answer:
            return [answer.status, answer.read().decode("utf-8", "replace")]
    except HTTPError as error:
        with error:
            return [error.code, error.read().decode("utf-8", "replace")]
print(json.dumps([get(address) for address in sys.argv[1:]]))
"""


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False, timeout=20)


class Machines:
    """Two network namespaces joined by a cable: one serves, the other is its neighbour."""

    def __init__(self):
        self.server, self.neighbour = (f"clm{os.getpid()}{end}" for end in "ab")
        steps = [("netns", "add", self.server), ("netns", "add", self.neighbour)]
        steps.append(
            ("link", "add", "cable", "netns", self.server, "type", "veth", "peer", "cable", "netns", self.neighbour)
        )
        for name, address in ((self.server, SERVER), (self.neighbour, NEIGHBOUR)):
            steps.append(("-n", name, "address", "add", f"{address}/24", "dev", "cable"))
            steps += [("-n", name, "link", "set", device, "up") for device in ("cable", "lo")]
        for step in steps:
            done = ip(*step)
            if done.returncode:
                self.remove()
                pytest.skip(f"NOT TESTED over a second address: ip {' '.join(step)}: {done.stderr.strip()}")

    def remove(self):
        for name in (self.server, self.neighbour):
            ip("netns", "delete", name)

    def ask(self, machine, *addresses):
        command = ["ip", "netns", "exec", machine, sys.executable, "-c", ASK, *addresses]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)

    @contextmanager
    def serving(self, *arguments):
        command = ["ip", "netns", "exec", self.server, sys.executable, "-m", "datasette", "serve", *map(str, arguments)]
        command += ["--host", "0.0.0.0", "--port", "8001"]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _try in range(200):
                time.sleep(0.1)
                if ":8001" in ip("netns", "exec", self.server, "ss", "-ltn").stdout:
                    break
            yield
        finally:
            process.terminate()
            process.wait(10)


@pytest.fixture(scope="module")
def machines():
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("NOT TESTED over a second address: that needs root and the command ip (Debian: iproute2)")
    made = Machines()
    yield made
    made.remove()


def test_a_neighbour_on_the_network_sees_nothing_and_the_machine_itself_everything(full, machines):
    paths = (
        "/",
        "/full.db",
        "/full/messages.json",
        "/full/messages_fts_data.json",
        f"/full/-/session/{full[1]}",
        "/-/databases.json",
    )
    with machines.serving("--immutable", full[0]):
        for machine in (machines.neighbour, machines.server):  # its own address on the network is no loopback either
            replies = machines.ask(machine, *(f"http://{SERVER}:8001{path}" for path in paths))
            assert {status for status, _text in replies} == {403}
            assert not [text for _status, text in replies if "CANARY" in text or "messages" in text]
        here = machines.ask(
            machines.server, *(f"http://127.0.0.1:8001{path}" for path in paths[:1] + paths[2:3] + paths[4:])
        )
        assert {status for status, _text in here} == {200}
        assert any("PROMPTCANARY" in text for _status, text in here)


def test_a_published_copy_is_shown_to_a_neighbour(published, machines):
    with machines.serving("--immutable", published):
        status, text = machines.ask(machines.neighbour, f"http://{SERVER}:8001/full/messages.json")[0]
        assert (status, "PROMPTCANARY" in text) == (200, True)


def answer(connection, path, headers):
    connection.request("GET", path, headers=headers)
    reply = connection.getresponse()
    text = reply.read().decode("utf-8", "replace")
    connection.close()
    return reply.status, text


def test_over_http_a_forged_address_opens_nothing(full):
    """The server believes ``X-Forwarded-For`` of a neighbour on its own machine; we do not."""
    with served(full[0]) as base:
        place = base.removeprefix("http://")
        assert answer(HTTPConnection(place), "/full/messages.json", {})[0] == 200
        for headers in (
            {"X-Forwarded-For": "127.0.0.1"},
            {"Forwarded": "for=127.0.0.1"},
            {"Host": "rebound.example"},
            {"Origin": "https://evil.example"},
        ):
            status, text = answer(HTTPConnection(place), "/full/messages.json", headers)
            assert (status, "CANARY" in text) == (403, False), headers


class Local(HTTPConnection):
    """A connection over a Unix socket."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)


def test_a_unix_socket_is_there_to_be_handed_on_so_it_counts_as_elsewhere(full, tmp_path):
    path = tmp_path / "s"
    with served(full[0], uds=path):
        status, text = answer(Local(str(path)), "/full/messages.json", {"Host": "localhost"})
    assert (status, "Unix socket" in text, "CANARY" in text) == (403, True, False)
