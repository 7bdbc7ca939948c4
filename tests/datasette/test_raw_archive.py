"""Raw records where the archive is missing, was not kept, or is damaged."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

from support.logs import import_logs
from support.site import full_log, site

pytestmark = pytest.mark.asyncio


async def test_a_damaged_block_is_said_to_be_damaged_and_the_transcript_still_opens(full, tmp_path):
    copy = tmp_path / "hurt.db"
    shutil.copy(full[0], copy)
    with sqlite3.connect(copy) as db:
        db.execute("UPDATE raw_blocks SET data = zeroblob(length(data))")
    ds = await site(copy)
    answer = await ds.client.get(f"/hurt/-/session/{full[1]}/raw/0")
    assert answer.status_code == 404
    assert "damaged" in answer.text
    assert (await ds.client.get(f"/hurt/-/session/{full[1]}")).status_code == 200


async def test_without_an_archive_there_is_no_raw_record_and_no_error(tmp_path):
    sid = full_log(tmp_path / "logs")
    import_logs(tmp_path / "bare.db", tmp_path / "logs", keep_raw=False)
    ds = await site(tmp_path / "bare.db")
    answer = await ds.client.get(f"/bare/-/session/{sid}/raw/0")
    assert answer.status_code == 404
    assert "no raw records" in answer.text
