"""``verify``: nothing wrong is found in what is right, and each of the damages is found in what is not."""

import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clm_sessions import plugins
from clm_sessions.errors import DatabaseError
from clm_sessions.ingest import ingest
from clm_sessions.store import raw
from clm_sessions.store.schema import FTS, TABLES
from clm_sessions.verify import verify
from clm_sessions.verify.findings import AGAIN
from support.kept import BOOK, kept_database
from support.logs import check_search_index, dump, import_logs, session_id, turn, write_log
from support.tiny import Tiny, write_tiny

EACH = 10
"""Damages in each table: 17 tables and the shadow tables of 4 search indexes make more than 200."""
SHADOWS = [f"{table}_fts_{part}" for table in FTS for part in ("data", "docsize")] + ["messages_fts_idx"]
SHADOWS += [f"messages_fts_cjk_{part}" for part in ("data", "docsize")]
DEMO = Path(__file__).parent.parent.parent / "demo" / "logs"
NIGHTLY = bool(os.environ.get("CLM_NIGHTLY"))


def check(database, **options):
    return verify(database, plugins.build(entry_points=False), **options)


def noticed(database):
    """Whether the check finds something, or refuses the file with a reason."""
    try:
        return bool(check(database).total)
    except DatabaseError:
        return True


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return kept_database(tmp_path_factory.mktemp("kept"))


def rows_of(db, table):
    """The columns of a table, what names a row in it, and its rows with that before them."""
    info = db.execute(f"PRAGMA table_xinfo({table})").fetchall()
    columns = [name for _cid, name, _type, _null, _default, _pk, hidden in info if not hidden]
    # A first leaf is found without its row.
    key, some = ("term", "WHERE term <> x''") if table.endswith("_idx") else ("rowid", "")
    return columns, key, db.execute(f"SELECT {key}, {', '.join(columns)} FROM {table} {some} ORDER BY {key}").fetchall()


def changed(rng, value):
    """A value in which one byte is another; of a number that is no whole one, another number."""
    if isinstance(value, int):
        return value ^ (1 << rng.randrange(8)), "?"
    if isinstance(value, float):
        return value + 2.0 ** -rng.randrange(8), "?"
    data = bytearray(value if isinstance(value, bytes) else value.encode())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(7)
    return bytes(data), "?" if isinstance(value, bytes) else "CAST(? AS TEXT)"


def damage(database, table, seed):
    """Damage one row, or one byte of one value, as the seed says; what was done."""
    rng = random.Random(f"{table} {seed}")
    with closing(sqlite3.connect(database)) as db:
        columns, key, rows = rows_of(db, table)
        rowid, *values = rng.choice(rows)
        if seed % 3 == 0:
            db.execute(f"DELETE FROM {table} WHERE {key} = ?", (rowid,))
            db.commit()
            return f"{table}: row {values[:3]} deleted"
        while True:
            column = rng.randrange(len(columns))
            if values[column] in (None, "", b""):
                continue
            value, slot = changed(rng, values[column])
            if rowid == 10 and columns[column] == "block":
                continue  # how far its segments are merged, and a counter: what is found does not depend on all of it
            try:
                db.execute(f"UPDATE {table} SET {columns[column]} = {slot} WHERE {key} = ?", (value, rowid))
            except sqlite3.IntegrityError:
                continue
            db.commit()
            return f"{table}: {columns[column]} of {values[:3]!r:.200}: {values[column]!r:.100} became {value!r:.100}"


def test_nothing_is_wrong_with_what_was_imported(kept):
    result = check(kept, full=True)
    assert (result.findings, result.notes) == ([], [])
    assert result.checked["lines"] > 300
    assert result.checked["images"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("table", [*TABLES, *SHADOWS])
def test_each_of_the_seeded_damages_is_found(kept, tmp_path, table, proved):
    assert EACH * len([*TABLES, *SHADOWS]) >= 200
    missed = []
    for seed in range(EACH * (10 if NIGHTLY else 1)):
        copy = tmp_path / "copy.db"
        shutil.copy(kept, copy)
        done = damage(copy, table, seed)
        if not noticed(copy):
            missed.append(done)
    assert not missed
    proved("seeded damages, each found by verify", EACH * (10 if NIGHTLY else 1))


@pytest.mark.slow
@pytest.mark.parametrize("table", [*TABLES, *SHADOWS])
def test_what_can_be_made_again_is_made_again(kept, tmp_path, table, proved):
    """Where a finding says so, an import with ``again`` leaves nothing to find, and the rows there were."""
    want = dump(kept)
    repaired = 0
    for seed in range(EACH * (10 if NIGHTLY else 1)):
        copy = tmp_path / "copy.db"
        shutil.copy(kept, copy)
        done = damage(copy, table, seed)
        try:
            found = check(copy)
        except DatabaseError:
            continue
        if {finding.remedy for finding in found.findings} == {AGAIN}:
            import_logs(copy, kept.parent / "logs", again=True, book=BOOK)
            assert check(copy).findings == [], done
            # A file that is not where its row says has moved, and what it said there is kept as it was.
            assert done.startswith("sources: path of") or dump(copy) == want, done
            repaired += 1
    assert repaired or table in ("_clm_meta", "raw_blocks")
    proved("damages made good by import --again", repaired)


@pytest.mark.slow
def test_any_byte_of_the_file_may_change_and_either_nothing_is_lost_or_it_is_found(kept, tmp_path):
    """What is neither content nor needed to find it (free pages, counters in page heads) may change unnoticed."""
    want, data = dump(kept), kept.read_bytes()
    rng = random.Random(8)
    found = 0
    for _ in range(1000 if NIGHTLY else 100):
        copy = tmp_path / "copy.db"
        at = rng.randrange(len(data))
        copy.write_bytes(data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :])
        if noticed(copy):
            found += 1
        else:
            assert dump(copy) == want, at
            check_search_index(copy)
    assert found > 30


def test_nothing_is_written_and_nothing_is_left_behind(kept):
    before = kept.read_bytes(), sorted(p.name for p in kept.parent.iterdir())
    check(kept, full=True)
    assert (kept.read_bytes(), sorted(p.name for p in kept.parent.iterdir())) == before


def test_a_database_that_somebody_writes_to_is_checked_as_it_was(kept, tmp_path):
    database = tmp_path / "a.db"
    shutil.copy(kept, database)
    with closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM messages")
        result = check(database)
        writer.execute("ROLLBACK")
    assert result.findings == []
    assert result.checked["search indexes"] == 6


def test_rows_of_an_import_without_the_archive_are_said_not_to_be_compared(tmp_path):
    database = kept_database(tmp_path, keep_raw=False)
    result = check(database)
    assert result.findings == []
    assert result.checked["rows"] == 0
    assert any("--no-raw" in note for note in result.notes)


def test_an_archive_left_out_for_a_while_is_made_whole_by_the_next_import_that_keeps_it(tmp_path):
    log = tmp_path / "logs" / f"{session_id()}.jsonl"
    for number, keep in enumerate((False, True, False, True)):
        write_log(log, [e for n in range(number + 1) for e in turn(n, f"prompt {n} " * 9000, "ok")])
        import_logs(tmp_path / "a.db", log, keep_raw=keep)
        assert check(tmp_path / "a.db").findings == []
        assert bool(check(tmp_path / "a.db").notes) is not keep
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        assert b"".join(raw.read(db, session_id())) == log.read_bytes()


def test_a_format_that_is_not_installed_is_said(tmp_path):
    write_tiny(tmp_path / "logs" / "a.tiny", "hello")
    ingest(tmp_path / "a.db", [tmp_path / "logs"], plugins.build([Tiny()], entry_points=False))
    assert check(tmp_path / "a.db").notes == ["a: rows not compared: the format 'tiny' is not installed"]
    assert verify(tmp_path / "a.db", plugins.build([Tiny()], entry_points=False)).notes == []


@pytest.mark.parametrize("broken", ["feed", "reader", "state", "decode", "dialect", "side", "a value no column takes"])
def test_what_a_broken_plugin_left_is_not_taken_for_damage(tmp_path, broken):
    logs = tmp_path / "logs"
    write_tiny(logs / "good.tiny", "hello")
    write_tiny(logs / "bad.tiny", "one", "two")
    (logs / "bad.note").write_text("a note")
    whole, breaks = (plugins.build([Tiny(how)], entry_points=False) for how in ("", broken))
    database = tmp_path / "a.db"
    ingest(database, [logs], breaks)
    assert verify(database, whole).findings == []
    ingest(database, [logs], whole)
    assert verify(database, whole).findings == []
    for path in (logs / "bad.tiny", logs / "bad.note"):
        path.write_text(path.read_text() + '{"say": "boom", "run": "boom"}\n')
    ingest(database, [logs], breaks)
    assert verify(database, whole).findings == []
    (logs / "bad.tiny").unlink()
    ingest(database, [logs], breaks)
    assert verify(database, whole).findings == []


def test_the_full_check_reads_the_files_too(tmp_path):
    log = write_log(
        tmp_path / "logs" / f"{session_id()}.jsonl", [e for n in range(99) for e in turn(n, "kale " * 9, "ok")]
    )
    database = tmp_path / "a.db"
    import_logs(database, log)
    data = log.read_bytes()
    assert (check(database, full=True).findings, check(database, full=True).notes) == ([], [])
    log.write_bytes(data + b"{}\n")
    assert "has grown" in check(database, full=True).notes[0]
    log.write_bytes(data[::-1])
    assert "was rewritten" in check(database, full=True).notes[0]
    middle = slice(len(data) // 2, len(data) // 2 + 2000)
    log.write_bytes(data[: middle.start] + data[middle].replace(b"kale", b"leek") + data[middle.stop :] + b"{}\n")
    assert check(database).findings == []
    (found,) = check(database, full=True).findings
    assert "though nothing shows a change" in found.what


@pytest.mark.parametrize(
    "case", [*sorted((Path(__file__).parent.parent / "cases").glob("*/input")), DEMO], ids=lambda p: p.parent.name
)
def test_every_case_and_the_demo_pass(case, tmp_path):
    import_logs(tmp_path / "a.db", case)
    assert check(tmp_path / "a.db", full=True).findings == []


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE tool_calls SET inherited = NULL",
        "UPDATE requests SET inherited = NULL",
        "UPDATE chunks SET seq = NULL WHERE seq = 1",
        "UPDATE facts SET seq = NULL WHERE seq = 1",
        "UPDATE requests SET session_id = X'FF' WHERE rowid = 1",
        "UPDATE messages SET session_id = X'C3' WHERE rowid = 1",
    ],
)
def test_a_row_without_a_sound_key_or_mark_is_made_again(kept, tmp_path, damage):
    copy = tmp_path / "copy.db"
    shutil.copy(kept, copy)
    with closing(sqlite3.connect(copy)) as db:
        db.execute(damage)
        db.commit()
    assert {finding.remedy for finding in check(copy).findings} == {AGAIN}
    import_logs(copy, kept.parent / "logs", again=True, book=BOOK)
    assert check(copy).findings == []
    assert dump(copy) == dump(kept)


def test_keys_of_sources_that_are_no_text_any_more_are_text_again(kept, tmp_path):
    copy = tmp_path / "copy.db"
    shutil.copy(kept, copy)
    with closing(sqlite3.connect(copy)) as db:
        db.execute("UPDATE sources SET id = CAST(id AS BLOB)")
        db.commit()
    assert check(copy).findings != []
    import_logs(copy, kept.parent / "logs", again=True)
    assert check(copy).findings == []
    assert dump(copy) == dump(kept)
