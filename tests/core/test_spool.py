"""The long texts of a large log wait in a file until they are written; nothing else is different."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clm_sessions import plugins
from clm_sessions.errors import DatabaseError
from clm_sessions.ingest import bundle
from clm_sessions.model import Image, Message, Place, Text, Thinking, ToolResult
from clm_sessions.spool import LONG, Spool
from clm_sessions.verify import verify
from support.logs import dump, entry, import_logs, session_id, write_log

LOGS = [Path(__file__).parents[1] / "vectors", Path(__file__).parents[1] / "cases", Path(__file__).parents[2] / "demo"]
LONG_TEXT = "long \N{SNOWMAN} text " * LONG


def message(*blocks):
    return Message(place=Place(line=1, offset=0, length=1), role="user", kind="user", origin="prompt", blocks=blocks)


@pytest.mark.parametrize("folder", LOGS, ids=lambda p: p.name)
def test_a_database_is_the_same_whether_texts_waited_in_a_file_or_not(folder, tmp_path, monkeypatch):
    import_logs(tmp_path / "memory.db", folder)
    monkeypatch.setattr(bundle, "SPOOLED", 0)
    monkeypatch.setattr("clm_sessions.spool.LONG", 1)
    import_logs(tmp_path / "file.db", folder)
    assert dump(tmp_path / "file.db") == dump(tmp_path / "memory.db")
    assert verify(tmp_path / "file.db", plugins.build(entry_points=False)).findings == []


def test_what_waits_comes_back_as_it_was_and_the_file_has_no_name(tmp_path):
    spool = Spool(tmp_path)
    image = Image(media_type="image/png", sha256="0", size=3, data=b"png")
    given = message(
        Text(text=LONG_TEXT, extra={"a": 1}),
        Text(text="short"),
        Thinking(text=LONG_TEXT),
        ToolResult(tool_use_id="1", content=LONG_TEXT, is_error=True),
        ToolResult(tool_use_id="2", content=(Text(text=LONG_TEXT + "\ud800"), image)),
    )
    text, short, thinking, result, parts = spool.keep(given).blocks
    assert (text.text, text.extra, thinking.text) == (LONG_TEXT, {"a": 1}, LONG_TEXT)
    assert short is given.blocks[1]
    assert (result.content, result.is_error) == (LONG_TEXT, True)
    assert (parts.content[0].text, parts.content[1].data) == (LONG_TEXT + "\ud800", b"png")
    assert result.held is not result.content
    assert list(tmp_path.iterdir()) == []
    spool.close()


def test_a_message_without_long_texts_stays_itself(tmp_path):
    spool = Spool(tmp_path)
    given = message(Text(text="short"))
    assert spool.keep(given) is given
    spool.close()


def test_no_room_for_the_file_is_said_with_the_folder(tmp_path):
    with pytest.raises(DatabaseError, match=r"nowhere: cannot keep texts here .* free some space"):
        Spool(tmp_path / "nowhere")


def test_growing_a_large_log_line_by_line_gives_what_one_import_gives(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "SPOOLED", 0)
    entries = [entry("user", n, LONG_TEXT + str(n)) for n in range(1, 6)]
    log = tmp_path / "logs" / f"{session_id()}.jsonl"
    for number in range(1, 6):
        write_log(log, entries[:number])
        import_logs(tmp_path / "steps.db", tmp_path / "logs")
    import_logs(tmp_path / "once.db", tmp_path / "logs")
    assert dump(tmp_path / "steps.db") == dump(tmp_path / "once.db")
    with closing(sqlite3.connect(tmp_path / "steps.db")) as db:
        assert [len(t) for (t,) in db.execute("SELECT text FROM messages")] == [len(LONG_TEXT) + 1] * 5
