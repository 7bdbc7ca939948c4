"""No secret leaves: each of many kinds, in every field of every format, is nowhere in the bytes of what is published."""

from __future__ import annotations

import base64
import json
import sqlite3
import zlib
from contextlib import closing, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from clm_sessions import plugins
from clm_sessions.cli import cli
from support.hostile import write_hostile
from support.logs import import_logs
from support.secret_logs import plant, secrets

DEMO = Path(__file__).parents[2] / "demo" / "logs"


def run(*words):
    done = CliRunner().invoke(cli, [str(word) for word in words], obj={"registry": plugins.build(entry_points=False)})
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Everything the command writes about logs with all secrets in every field: folder, and what it printed."""
    folder = tmp_path_factory.mktemp("proof")
    everything = "\n".join(text for _value, text in secrets().values())
    fields = plant(DEMO, folder / "logs", everything)
    write_hostile(folder / "logs" / "hostile", [everything])
    assert fields > 400
    import_logs(folder / "a.db", folder / "logs")
    (folder / "out").mkdir()
    words = ("--all", "--json", "--report", "--with-datasette-config", "--with-images")
    return folder, run("publish", folder / "a.db", folder / "out" / "b.db", *words)


def forms(value):
    plain = value.encode()
    yield from (
        plain,
        json.dumps(json.dumps(value))[3:-3].encode(),
        value.encode("utf-16-le"),
        value.encode("utf-16-be"),
    )
    yield from (base64.b64encode(b"x" * n + plain)[4 : len(plain) // 3 * 4] for n in range(3))
    yield plain.hex().encode()


def unpacked(database):
    """What is packed in any cell of a database."""
    with closing(sqlite3.connect(database)) as db:
        tables = [
            row[0]
            for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'")
        ]
        for table in tables:
            for row in db.execute(f"SELECT * FROM [{table}]"):
                for cell in row:
                    if isinstance(cell, bytes):
                        for bits in (15, -15, 31):
                            with suppress(zlib.error):
                                yield zlib.decompress(cell, bits)


def test_no_secret_is_in_any_file_that_publishing_writes_nor_in_what_it_says(published):
    folder, said = published
    assert len(secrets()) >= 40
    private = (folder / "a.db").read_bytes()
    held = [path.read_bytes() for path in (folder / "out").iterdir()] + [
        said.encode(),
        *unpacked(folder / "out" / "b.db"),
    ]
    assert len(held) >= 4
    for kind, (value, _text) in secrets().items():
        assert value.encode() in private, f"{kind} was not planted"
        found = [form for form in forms(value) for data in held if form in data]
        assert not found, kind


def test_every_text_column_of_the_private_database_held_a_secret_and_none_of_the_published_one_does(published):
    folder, _said = published
    token = secrets()["github"][0]
    reached = set()
    for name, wanted in (("a.db", True), ("out/b.db", False)):
        with closing(sqlite3.connect(folder / name)) as db:
            for table in (
                "projects",
                "sessions",
                "chunks",
                "messages",
                "tool_calls",
                "requests",
                "session_tools",
                "facts",
            ):
                for (column,) in db.execute("SELECT name FROM pragma_table_info(?) WHERE type LIKE 'TEXT%'", (table,)):
                    hits = db.execute(f"SELECT count(*) FROM {table} WHERE instr({column}, ?)", (token,)).fetchone()[0]
                    assert not hits or wanted, (table, column)
                    reached |= {(table, column)} if hits else set()
    assert len(reached) > 30, reached
    assert {("sessions", "title"), ("messages", "text"), ("messages", "thinking"), ("tool_calls", "input")} <= reached


def test_the_published_file_is_found_by_search_and_agrees_with_itself(published):
    folder, _said = published
    with closing(sqlite3.connect(folder / "out" / "b.db")) as db:
        for table in ("messages", "tool_calls", "sessions"):
            db.execute(f"INSERT INTO {table}_fts({table}_fts, rank) VALUES ('integrity-check', 1)")
        assert db.execute("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'redacted'").fetchone()[0] > 10
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
