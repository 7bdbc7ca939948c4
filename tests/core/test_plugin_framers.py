"""Formats that are no lines: one JSON document, and a database; from the file to the rows and again."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

import clm_sessions
from clm_sessions import plugins
from clm_sessions.errors import NotALogError, Refused
from clm_sessions.formats.base import Claim, Confidence, Located, LogFormat, Parsed
from clm_sessions.ingest import ingest
from clm_sessions.model import Message, Text
from clm_sessions.store import raw
from clm_sessions.testing import check_format
from support.logs import dump, query


class Letters:
    """The reader of both: a record says who wrote what."""

    def state(self):
        return {}

    def feed(self, record, place):
        if isinstance(record, dict):
            record = (record.get("who"), record.get("words"))
        who, words = record if isinstance(record, tuple) else (None, None)
        if who == "stop":
            raise Refused("these letters are sealed")
        if who not in ("me", "you") or not isinstance(words, str):
            return Parsed(disposition="issue", issue="a letter without words")
        mine = who == "me"
        message = Message(
            place=place, role="user" if mine else "assistant", kind="user" if mine else "ai",
            origin="prompt" if mine else "reply", blocks=(Text(text=words),),
        )  # fmt: skip
        return Parsed(disposition="message", type=who, message=message)


class Book(LogFormat):
    """``{"book": 1, "letters": [{"who": "me", "words": "…"}]}`` in ``*.book``."""

    name = label = "book"
    framer = "json"

    def locate(self, path):
        return Located(role="main", session=path.stem) if path.suffix == ".book" else None

    def sniff(self, located, head):
        mine = any(isinstance(document, dict) and "book" in document for document in head.records)
        return Claim(confidence=Confidence.SIGNATURE if mine else Confidence.NO)

    def split(self, document):
        letters = document.get("letters") if isinstance(document, dict) else None
        return letters if isinstance(letters, list) else ()

    def reader(self, context, state=None):
        return Letters()


class Box(LogFormat):
    """A database with a table of letters, in ``*.box``."""

    name = label = "box"
    framer = "sqlite"
    queries = ("SELECT who, words FROM letters ORDER BY rowid", "SELECT 'me', note FROM notes ORDER BY rowid")

    def locate(self, path):
        return Located(role="main", session=path.stem) if path.suffix == ".box" else None

    def sniff(self, located, head):
        return Claim(confidence=Confidence.SIGNATURE if b"TABLE letters" in head.data else Confidence.NO)

    def reader(self, context, state=None):
        return Letters()


def write_book(path, *letters):
    path.write_text(json.dumps({"book": 1, "letters": [{"who": who, "words": words} for who, words in letters]}))


def write_box(path, *letters):
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE letters (who, words)")
        db.execute("CREATE TABLE notes (note)")
        db.executemany("INSERT INTO letters VALUES (?, ?)", letters)


FORMATS = [pytest.param(Book(), write_book, id="json"), pytest.param(Box(), write_box, id="sqlite")]
FIRST, SECOND = (("me", "Dear friend"), ("you", "Dear me")), (("me", "Farewell"), ("you", "No!"), ("me", "Well then"))


def run(fmt, tmp_path):
    return ingest(tmp_path / "x.db", [tmp_path / "logs"], plugins.build([fmt], entry_points=False)).json()


@pytest.fixture
def log(tmp_path):
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs" / "aunt"


@pytest.mark.parametrize(("fmt", "write"), FORMATS)
def test_a_log_is_imported_with_one_line_of_the_account_for_each_record(fmt, write, log, tmp_path):
    write(log.with_suffix(f".{fmt.name}"), *FIRST, ("nobody", "?"))
    assert run(fmt, tmp_path)["sessions"]["new"] == 1
    assert query(tmp_path / "x.db", "SELECT id, format, title, chunks FROM sessions") == [
        ("aunt", fmt.name, "Dear friend", 2)
    ]
    assert query(tmp_path / "x.db", "SELECT kind, text, line FROM messages ORDER BY seq") == [
        ("user", "Dear friend", 1),
        ("ai", "Dear me", 2),
    ]
    assert dict(query(tmp_path / "x.db", "SELECT disposition, lines FROM source_lines")) == {"message": 2, "issue": 1}
    assert query(tmp_path / "x.db", "SELECT kind, reason, line FROM ingest_issues") == [
        ("bad_line", "a letter without words", 3)
    ]


@pytest.mark.parametrize(("fmt", "write"), FORMATS)
def test_an_unchanged_log_is_not_read_again(fmt, write, log, tmp_path):
    write(log.with_suffix(f".{fmt.name}"), *FIRST)
    run(fmt, tmp_path)
    before = dump(tmp_path / "x.db")
    assert run(fmt, tmp_path)["sources"] == {"new": 0, "changed": 0, "unchanged": 1, "gone": 0}
    assert dump(tmp_path / "x.db") == before


@pytest.mark.parametrize(("fmt", "write"), FORMATS)
def test_a_rewritten_log_equals_a_fresh_import_and_its_old_bytes_are_kept(fmt, write, log, tmp_path):
    path = log.with_suffix(f".{fmt.name}")
    write(path, *FIRST)
    old = path.read_bytes()
    run(fmt, tmp_path)
    write(path, *SECOND)
    report = run(fmt, tmp_path)
    assert report["sources"]["changed"] == report["sessions"]["changed"] == 1
    assert [row[0] for row in query(tmp_path / "x.db", "SELECT text FROM messages ORDER BY seq")] == [
        "Farewell",
        "No!",
        "Well then",
    ]
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        assert b"".join(raw.read(db, "aunt", 0)) == old
        assert b"".join(raw.read(db, "aunt")) == path.read_bytes()
    (tmp_path / "x.db").rename(tmp_path / "old.db")
    run(fmt, tmp_path)
    for table in ("sessions", "chunks", "messages"):
        assert dump(tmp_path / "x.db")[table] == dump(tmp_path / "old.db")[table]


@pytest.mark.parametrize(("fmt", "write"), FORMATS)
def test_loading_gives_what_the_database_gives_back(fmt, write, log, tmp_path):
    path = log.with_suffix(f".{fmt.name}")
    write(path, *FIRST)
    run(fmt, tmp_path)
    loaded = clm_sessions.load(path, registry=plugins.build([fmt], entry_points=False))
    with clm_sessions.open_db(tmp_path / "x.db") as db:
        assert replace(db.session("aunt").read(), subagents=()) == loaded


@pytest.mark.parametrize(("fmt", "write"), FORMATS)
def test_a_refused_log_shows_nothing_and_says_why(fmt, write, log, tmp_path):
    path = log.with_suffix(f".{fmt.name}")
    write(path, *FIRST, ("stop", ""), *SECOND)
    run(fmt, tmp_path)
    assert query(tmp_path / "x.db", "SELECT count(*) FROM messages") == [(0,)]
    assert query(tmp_path / "x.db", "SELECT kind, reason FROM ingest_issues") == [
        ("refused", "these letters are sealed")
    ]
    assert dict(query(tmp_path / "x.db", "SELECT disposition, lines FROM source_lines")) == {"raw": 6}
    with pytest.raises(NotALogError, match="these letters are sealed"):
        clm_sessions.load(path, registry=plugins.build([fmt], entry_points=False))


@pytest.mark.parametrize(("fmt", "write"), FORMATS)
def test_both_pass_the_kit(fmt, write, log, tmp_path):
    write(log.with_suffix(f".{fmt.name}"), *FIRST, *SECOND)
    assert check_format(fmt, tmp_path / "logs", mutations=300).messages == 5


def test_a_document_cut_short_is_not_recognised_and_its_rows_stay_until_it_is_whole(log, tmp_path):
    path = log.with_suffix(".book")
    write_book(path, *FIRST)
    run(Book(), tmp_path)
    path.write_bytes(path.read_bytes()[:-5])
    run(Book(), tmp_path)
    assert query(tmp_path / "x.db", "SELECT kind FROM ingest_issues") == [("unrecognised",)]
    assert query(tmp_path / "x.db", "SELECT count(*) FROM messages") == [(2,)]
    write_book(path, *SECOND)
    run(Book(), tmp_path)
    assert query(tmp_path / "x.db", "SELECT count(*) FROM ingest_issues") == [(0,)]
    assert query(tmp_path / "x.db", "SELECT count(*) FROM messages") == [(3,)]


def test_a_database_without_the_table_of_a_query_is_refused_with_the_reason(log, tmp_path):
    path = log.with_suffix(".box")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE letters (who, words)")
    run(Box(), tmp_path)
    assert "no such table: notes" in query(tmp_path / "x.db", "SELECT reason FROM ingest_issues")[0][0]
