"""Importing: again, grown, rewritten, moved, copied, gone; always as if it had been read afresh."""

import os
import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clm_sessions
from clm_sessions.errors import DatabaseError, UsageError
from clm_sessions.store import raw
from support.kept import image
from support.logs import check_search_index, dump, entry, import_logs, query, session_id, text, turn, write_log

TOOLS = [
    entry("user", 20, "look at it"),
    entry("assistant", 21, [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a"}}]),
    entry("user", 22, [{"type": "tool_result", "tool_use_id": "t1", "content": "the crop is kale"}]),
    entry("assistant", 23, text("It is kale.")),
]


@pytest.fixture
def log(tmp_path):
    return tmp_path / "projects" / "-home-dev-garden" / f"{session_id()}.jsonl"


@pytest.fixture
def db(tmp_path):
    return tmp_path / "sessions.db"


def fresh(tmp_path, name, root):
    """What a first import of ``root`` gives, without what depends on history."""
    other = tmp_path / f"{name}.db"
    import_logs(other, root)
    return comparable(other)


def comparable(database):
    """All rows but source states and the raw archive (which keeps older generations)."""
    found = dump(database, sources=False)
    found["sources"] = sorted(
        map(repr, query(database, "SELECT id, session_id, format, role, lines, consumed FROM sources"))
    )
    return found


def test_importing_twice_changes_no_row(log, db):
    write_log(log, [*turn(1, "hello", "hi"), *TOOLS])
    import_logs(db, log.parent.parent)
    before = dump(db)
    report = import_logs(db, log.parent.parent)
    assert dump(db) == before
    assert report.json()["sources"] == {"new": 0, "changed": 0, "unchanged": 1, "gone": 0}
    assert report.json()["sessions"] == {"new": 0, "changed": 0, "unchanged": 1, "gone": 0}


def test_a_touched_file_with_the_same_bytes_changes_no_row_but_its_stat(log, db):
    write_log(log, turn(1, "hello", "hi"))
    import_logs(db, log.parent)
    before = comparable(db)
    os.utime(log, (1, 1))
    report = import_logs(db, log.parent)
    assert comparable(db) == before
    assert report.json()["sessions"]["unchanged"] == 1


def test_a_grown_log_is_read_from_where_it_was_left_and_equals_a_fresh_import(log, db, tmp_path):
    write_log(log, turn(1, "hello", "hi"))
    import_logs(db, log.parent)
    write_log(log, [*turn(1, "hello", "hi"), *TOOLS])
    report = import_logs(db, log.parent)
    assert report.json()["sources"]["changed"] == 1
    assert comparable(db) == fresh(tmp_path, "fresh", log.parent)
    check_search_index(db)
    assert [h.message_seq for h in clm_sessions.open_db(db).search("kale")]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 4000), max_size=4))
def test_a_log_cut_anywhere_and_imported_in_steps_equals_one_go(cuts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cut")
    log = folder / "p" / f"{session_id()}.jsonl"
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    entries = [
        *turn(1, "héllo 水やり", "hi"),
        b'{"torn',
        *TOOLS,
        entry("user", 30, [image, *text("see")]),
        *turn(20, "x", "y"),
    ]
    whole = write_log(log, entries, end=b"").read_bytes()
    db = folder / "steps.db"
    for cut in [*sorted(c for c in cuts if c < len(whole)), len(whole)]:
        log.write_bytes(whole[:cut])
        import_logs(db, log.parent)
    assert comparable(db) == fresh(folder, "one", log.parent)
    check_search_index(db)
    with sqlite3.connect(db) as connection:
        assert b"".join(raw.read(connection, session_id())) == whole


def test_a_rewritten_log_replaces_its_rows_and_the_old_bytes_stay_in_the_archive(log, db, tmp_path):
    first = write_log(log, [*turn(1, "first", "one"), *TOOLS]).read_bytes()
    import_logs(db, log.parent)
    second = write_log(log, turn(1, "second", "two")).read_bytes()
    import_logs(db, log.parent)
    assert comparable(db) == fresh(tmp_path, "fresh", log.parent)
    check_search_index(db)
    with sqlite3.connect(db) as connection:
        assert b"".join(raw.read(connection, session_id(), 0)) == first
        assert b"".join(raw.read(connection, session_id())) == second
    assert not clm_sessions.open_db(db).search("kale")


def test_a_file_rewritten_with_the_same_size_and_time_is_noticed(log, db, tmp_path):
    write_log(log, turn(1, "aaaa", "hi"))
    stamp = log.stat()
    import_logs(db, log.parent)
    write_log(log, turn(1, "bbbb", "hi"))
    os.utime(log, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    import_logs(db, log.parent)
    assert comparable(db) == fresh(tmp_path, "fresh", log.parent)


def test_a_vanished_log_keeps_its_rows_and_is_marked_and_comes_back(log, db):
    write_log(log, turn(1, "hello", "hi"))
    other = write_log(log.parent / f"{session_id(2)}.jsonl", turn(1, "other", "yes", session=session_id(2)))
    import_logs(db, log.parent)
    data = log.read_bytes()
    log.unlink()
    report = import_logs(db, log.parent)
    assert report.json()["sessions"] == {"new": 0, "changed": 0, "unchanged": 1, "gone": 1}
    assert query(db, "SELECT source_state, messages FROM sessions WHERE id = ?", session_id()) == [("gone", 2)]
    assert len(clm_sessions.open_db(db).session(session_id()).messages) == 2
    assert import_logs(db, log.parent).json()["sessions"]["gone"] == 0
    log.write_bytes(data)
    import_logs(db, log.parent)
    assert query(db, "SELECT DISTINCT source_state FROM sessions") == [("present",)]
    assert other.exists()


def test_the_order_of_import_does_not_matter(tmp_path):
    fork = [*turn(1, "start", "ok"), *turn(9, "own", "done", session=session_id(2))]
    write_log(tmp_path / "p" / f"{session_id()}.jsonl", [*turn(1, "start", "ok"), *turn(3, "more", "fine")])
    write_log(tmp_path / "p" / f"{session_id(2)}.jsonl", fork)
    paths = sorted((tmp_path / "p").iterdir())
    one, two = tmp_path / "one.db", tmp_path / "two.db"
    for path in paths:
        import_logs(one, path)
    for path in reversed(paths):
        import_logs(two, path)
    both = fresh(tmp_path, "both", tmp_path / "p")
    assert comparable(one) == comparable(two) == both
    assert query(one, "SELECT id, forked_from, inherited_messages FROM sessions ORDER BY id") == [
        (session_id(), None, 0),
        (session_id(2), session_id(), 2),
    ]


def test_a_moved_log_stays_one_session_at_its_new_place(log, db, tmp_path):
    write_log(log, turn(1, "hello", "hi"))
    import_logs(db, tmp_path / "projects")
    new = tmp_path / "projects" / "-home-dev-elsewhere" / log.name
    new.parent.mkdir()
    log.rename(new)
    import_logs(db, tmp_path / "projects")
    assert query(db, "SELECT id, path, state FROM sources") == [(session_id(), str(new), "present")]
    assert query(db, "SELECT count(*) FROM sessions") == [(1,)]


def test_a_backup_of_a_log_adds_nothing_and_is_named(log, db, tmp_path):
    backup = write_log(tmp_path / "backup" / "-home-dev-garden" / log.name, turn(1, "hello", "hi"))
    write_log(log, [*turn(1, "hello", "hi"), *TOOLS])
    import_logs(db, tmp_path)
    assert query(db, "SELECT count(*) FROM sessions") == [(1,)]
    assert query(db, "SELECT state FROM sources WHERE path = ?", str(backup)) == [("copy",)]
    assert query(db, "SELECT kind, count(*) FROM ingest_issues") == [("copy", 1)]
    before = dump(db)
    import_logs(db, tmp_path)
    assert dump(db) == before


def test_two_different_logs_of_one_id_are_two_sessions(log, db, tmp_path):
    write_log(log, turn(1, "hello", "hi"))
    write_log(log.parent.parent / "-home-dev-other" / log.name, turn(1, "something else", "no"))
    import_logs(db, tmp_path / "projects")
    titles = [row[0] for row in query(db, "SELECT title FROM sessions ORDER BY title")]
    assert titles == ["hello", "something else"]
    before = dump(db)
    import_logs(db, tmp_path / "projects")
    assert dump(db) == before


def test_every_line_has_one_disposition(log, db):
    entries = [*turn(1, "a", "b"), b"", b"[1]", b"nonsense", {"type": "novelty"}, *turn(1, "a", "b"), b"\0\0"]
    data = write_log(log, entries, end=b"\n{").read_bytes()
    import_logs(db, log.parent)
    counts = dict(query(db, "SELECT disposition, lines FROM source_lines"))
    assert sum(counts.values()) == len(data.split(b"\n"))
    assert counts == {"message": 2, "duplicate": 2, "blank": 1, "raw": 1, "issue": 3, "pending": 1}
    assert query(db, "SELECT kind, line FROM ingest_issues ORDER BY line") == [
        ("not_object", 4),
        ("bad_line", 5),
        ("bad_line", 9),
    ]


def test_the_database_is_private_and_one_file(log, db):
    write_log(log, turn(1, "a", "b"))
    import_logs(db, log.parent)
    assert db.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in db.parent.iterdir() if p.name.startswith("sessions.db")] == ["sessions.db"]


def test_without_the_raw_archive_the_rows_are_the_same(log, db, tmp_path):
    write_log(log, [*turn(1, "a", "b"), *TOOLS])
    import_logs(db, log.parent, keep_raw=False)
    assert query(db, "SELECT count(*) FROM raw_blocks") == [(0,)]
    assert comparable(db) == fresh(tmp_path, "raw", log.parent)


def test_a_database_of_someone_else_is_left_alone(db, log):
    with sqlite3.connect(db) as other:
        other.execute("CREATE TABLE sessions (id)")
    write_log(log, turn(1, "a", "b"))
    with pytest.raises(DatabaseError, match="not made by clm-sessions"):
        import_logs(db, log.parent)
    assert query(db, "SELECT name FROM sqlite_master") == [("sessions",)]


def test_a_database_of_a_newer_version_is_refused_with_the_remedy(db, log):
    write_log(log, turn(1, "a", "b"))
    import_logs(db, log.parent)
    with sqlite3.connect(db) as connection:
        connection.execute("UPDATE _clm_meta SET value = '99' WHERE key = 'schema_version'")
    with pytest.raises(DatabaseError, match="upgrade clm-sessions"):
        import_logs(db, log.parent)
    with pytest.raises(DatabaseError, match="upgrade clm-sessions"):
        clm_sessions.open_db(db)


def test_a_missing_path_is_named(db, tmp_path):
    with pytest.raises(UsageError, match="nowhere: no such file or folder"):
        import_logs(db, tmp_path / "nowhere")


def test_an_unreadable_log_is_recorded_and_its_neighbours_are_kept(log, db, monkeypatch):
    write_log(log, turn(1, "a", "b"))
    bad = write_log(log.parent / f"{session_id(2)}.jsonl", turn(1, "c", "d", session=session_id(2)))
    import_logs(db, log.parent)
    bad.unlink()
    bad.symlink_to("/nonexistent/log")
    report = import_logs(db, log.parent)
    assert report.json()["sessions"]["gone"] == 1
    assert query(db, "SELECT count(*) FROM sessions") == [(2,)]


def test_an_agent_beside_a_shorter_copy_of_a_log_is_imported(log, db, tmp_path):
    write_log(log, [*turn(1, "hello", "hi"), *TOOLS])
    copy = write_log(tmp_path / "projects" / "-home-dev-other" / log.name, turn(1, "hello", "hi"))
    agent = [
        entry("user", 1, "look", isSidechain=True, agentId="only"),
        entry("assistant", 2, text("done"), agentId="only"),
    ]
    write_log(copy.with_suffix("") / "subagents" / "agent-only.jsonl", agent)
    import_logs(db, tmp_path / "projects")
    assert query(db, "SELECT id, role FROM sessions ORDER BY id") == [
        (session_id(), "main"),
        (f"{session_id()}:only", "subagent"),
    ]
    before = dump(db)
    import_logs(db, tmp_path / "projects")
    assert dump(db) == before


def test_a_log_keeps_its_key_from_whatever_root_it_is_imported(log, db, tmp_path):
    write_log(log, turn(1, "hello", "hi"))
    other = write_log(log.parent.parent / "-home-dev-other" / log.name, turn(2, "something else", "no"))
    import_logs(db, tmp_path / "projects")
    before = query(db, "SELECT id FROM sessions ORDER BY id")
    write_log(other, [*turn(2, "something else", "no"), *turn(3, "more", "yes")])
    import_logs(db, other.parent)
    import_logs(db, tmp_path / "projects")
    assert query(db, "SELECT id FROM sessions ORDER BY id") == before


def test_a_log_read_as_the_wrong_format_by_force_is_read_as_the_right_one_by_force(log, db):
    write_log(log, turn(1, "hello", "hi"))
    import_logs(db, log, only="clm")
    assert query(db, "SELECT format, messages FROM sessions") == [("clm", 0)]
    import_logs(db, log, only="claude-code")
    assert query(db, "SELECT format, messages FROM sessions") == [("claude-code", 2)]


def test_a_rewritten_log_leaves_no_project_without_sessions(log, db):
    write_log(log, turn(1, "hello", "hi"))
    import_logs(db, log.parent)
    write_log(log, [e | {"cwd": "/home/dev/elsewhere"} for e in turn(2, "moved", "yes")])
    import_logs(db, log.parent)
    assert query(db, "SELECT path FROM projects") == [("/home/dev/elsewhere",)]


def test_record_types_that_differ_by_a_nul_only_are_counted_together(log, db):
    write_log(log, [*turn(1, "hello", "hi"), b'{"type":"a\\u0000"}', '{"type":"a␀"}'.encode()])
    import_logs(db, log.parent)
    assert query(db, "SELECT records FROM record_types WHERE type = 'a␀'") == [(2,)]


def test_an_import_with_nothing_to_do_leaves_the_file_as_it_is_and_goes_on_beside_a_writer(log, db):
    write_log(log, turn(1, "hello", "hi"))
    (log.parent / "other.jsonl").write_text('{"no": "log"}\n')
    import_logs(db, log.parent)
    before = db.read_bytes(), db.stat().st_mtime_ns
    with sqlite3.connect(db, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        report = import_logs(db, log.parent)
        other.execute("ROLLBACK")
    assert report.json()["sessions"]["unchanged"] == 1
    assert (db.read_bytes(), db.stat().st_mtime_ns) == before


def test_a_picture_that_two_logs_give_different_types_has_one_whatever_came_first(tmp_path):
    def picture(number, media_type):
        block = image()
        block["source"]["media_type"] = media_type
        path = tmp_path / f"{number}" / f"{session_id(number)}.jsonl"
        return write_log(path, [entry("user", 1, [block], session=session_id(number))]).parent

    png, webp = picture(1, "image/png"), picture(2, "image/webp")
    for name, roots in {"a": (png, webp), "b": (webp, png)}.items():
        for root in roots:
            import_logs(tmp_path / f"{name}.db", root)
        assert query(tmp_path / f"{name}.db", "SELECT media_type FROM attachments") == [("image/png",)]
        import_logs(tmp_path / f"{name}.db", *roots, again=True)
        assert query(tmp_path / f"{name}.db", "SELECT media_type FROM attachments") == [("image/png",)]
