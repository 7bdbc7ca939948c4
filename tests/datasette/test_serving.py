"""``clm-sessions serve`` as a person starts it, and the settings that docs/publish.md gives."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from support.outside import LAN, ask
from support.site import MODERN, ROOT, cookies, site

DOCS = (ROOT / "docs" / "publish.md").read_text(encoding="utf-8")
SETTINGS = re.findall(r"--setting (\w+) (\w+)", DOCS)


def test_serve_listens_on_this_machine_alone_and_says_so(full, tmp_path):
    said = tmp_path / "said"
    command = [sys.executable, "-m", "clm_sessions", "serve", str(full[0]), "--no-import", "--port", "0"]
    with said.open("w") as file, subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, cwd=ROOT) as process:
        try:
            end = time.monotonic() + 30
            while "Uvicorn running" not in said.read_text():
                assert time.monotonic() < end, said.read_text()
                time.sleep(0.05)
            address = re.search(r"http://127\.0\.0\.1:(\d+)/full/\S+", said.read_text())
            with urlopen(address[0], timeout=20) as answer:
                assert answer.status == 200
            with pytest.raises(ConnectionRefusedError):  # what listens on all addresses is found at this one, too
                socket.create_connection(("127.0.0.2", int(address[1])), 2)
        finally:
            process.terminate()
    assert "for this machine alone" in said.read_text()


def test_serve_tells_that_a_published_copy_takes_no_imports(published, tmp_path):
    command = [sys.executable, "-m", "clm_sessions", "serve", str(published), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=ROOT)
    assert done.returncode != 0
    assert "published copy" in done.stderr
    assert "--no-import" in done.stderr


@pytest.mark.asyncio
async def test_the_settings_for_a_published_copy_close_download_and_sql(published):
    ways = ("/full.db", "/full/-/query.json?sql=select+1" if MODERN else "/full.json?sql=select+1")

    async def statuses(**more):
        ds = await site(immutables=[str(published)], **more)
        return [(await ask(ds, path, client=LAN)).status for path in ways]

    assert await statuses() == [200, 200]
    assert {name for name, _value in SETTINGS} == {
        "allow_download",
        "default_allow_sql",
        "suggest_facets",
        "allow_csv_stream",
    }
    assert await statuses(settings={name: value == "on" for name, value in SETTINGS}) == [403, 403]


@pytest.mark.asyncio
async def test_the_settings_for_passwords_let_in_those_who_signed_in_and_nobody_else(full, tmp_path):
    from datasette.utils import parse_metadata

    text = next(block for block in re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL) if "alice" in block)
    ds = await site(Path(full[0]), metadata=parse_metadata(text))
    alice = {"cookie": f"ds_actor={cookies(ds, 'alice')['ds_actor']}", "x-forwarded-for": "192.0.2.7"}
    assert (await ask(ds, "/full/messages.json", headers=alice)).status == 200
    assert (await ask(ds, "/full/messages.json", client=LAN)).status == 403
    assert (await ask(ds, "/full/messages.json")).status == 403
