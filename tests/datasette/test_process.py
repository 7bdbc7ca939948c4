"""A real ``datasette`` process over real HTTP, as a person starts it."""

from __future__ import annotations

import json
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from support.site import ROOT, Page, served


def get(address, method="GET"):
    with urlopen(Request(address, method=method), timeout=20) as answer:
        return answer.status, dict(answer.headers), answer.read()


def test_page_and_json_agree_over_http(full):
    path, sid = full
    with served(path) as base:
        status, headers, body = get(f"{base}/full/-/session/{sid}")
        assert status == 200
        assert "script-src 'self'" in headers["content-security-policy"]
        data = json.loads(get(f"{base}/full/-/session/{sid}.json")[2])
        assert Page(body.decode()).chunks == [chunk["seq"] for chunk in data["chunks"]] == [0, 1, 2, 3]
        status, _headers, body = get(f"{base}/full/-/session/{sid}", "HEAD")
        assert (status, body) == (200, b"")
        with pytest.raises(HTTPError) as refused:
            get(f"{base}/full/-/session/{sid}", "POST")
        refused.value.close()
        assert refused.value.code in {403, 405}  # the 1.0 line turns away a POST from nowhere before we see it


def test_an_immutable_database_is_served_and_its_file_stays_as_it_is(full):
    path, sid = full
    before = path.read_bytes()
    with served("--immutable", path, "--setting", "base_url", "/x/") as base:
        body = get(f"{base}/x/full/-/session/{sid}")[2]
        image = Page(body.decode()).images[0]
        assert get(base + image)[2].startswith(b"\x89PNG")
    assert path.read_bytes() == before


def test_datasette_get_prints_a_session(full):
    path, sid = full
    command = [sys.executable, "-m", "datasette", str(path), "--get", f"/full/-/session/{sid}.json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=True)
    assert json.loads(done.stdout)["session"]["id"] == sid
