"""What can happen to a file between two imports: each is told apart, and what is there is shown as if read afresh."""

import gzip
import os
import shutil

import pytest

from clm_sessions import plugins
from clm_sessions.giveback import find, read
from clm_sessions.store.connect import open_reader
from clm_sessions.verify import verify
from support.logs import dump, entry, import_logs, query, session_id, text, turn, write_log

FIRST = [e for n in range(60) for e in turn(n, f"plan bed {n}, it is a long bed", "I will plan it.")]


@pytest.fixture
def log(tmp_path):
    return write_log(tmp_path / "logs" / "-home-dev-garden" / f"{session_id()}.jsonl", FIRST)


@pytest.fixture
def db(tmp_path, log):
    import_logs(tmp_path / "a.db", tmp_path / "logs")
    return tmp_path / "a.db"


def check(db, log):
    """The database shows what a fresh import of the logs shows, and is whole."""
    fresh = db.with_name("fresh.db")
    fresh.unlink(missing_ok=True)
    import_logs(fresh, log.parent.parent)
    assert dump(db, sources=False) == dump(fresh, sources=False)
    is_whole(db)


def is_whole(db):
    assert verify(db, plugins.build(entry_points=False), full=True).findings == []


def generations(db):
    """The bytes of every generation of the log."""
    reader = open_reader(db)
    kept = find(reader, session_id())[0]
    found = [b"".join(read(reader, kept, number)) for number in range(len(kept.sizes))]
    reader.close()
    return found


CHANGES = {
    "shrunk by whole lines": lambda data: b"".join(data.splitlines(keepends=True)[:50]),
    "shrunk in the midst of a line": lambda data: data[: len(data) // 2],
    "rewritten from the first byte": lambda data: data.replace(b"bed", b"row"),
    "one word in the middle, of the same length": lambda data: data.replace(b"plan bed 30,", b"plan bed 99,"),
    "the last line only": lambda data: data[: data[:-1].rindex(b"\n") + 1] + b'{"type": "user"}\n',
    "longer and other from the first byte on": lambda data: data.replace(b"bed", b"garden bed"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("keeps_time", [True, False], ids=["same time", "new time"])
def test_a_rewritten_log_shows_its_new_content_and_keeps_the_old_bytes(db, log, change, keeps_time):
    old, stamp = log.read_bytes(), log.stat()
    new = CHANGES[change](old)
    assert new != old
    log.write_bytes(new)
    if keeps_time:
        os.utime(log, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    report = import_logs(db, log.parent.parent)
    assert report.json()["sources"]["changed"] == 1
    assert generations(db) == [old, new]
    check(db, log)


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 4096, b"not a log\n", b"{}\n"], ids=["nothing", "NUL", "text", "JSON"]
)
def test_a_log_that_is_a_log_no_more_keeps_its_rows_and_is_named(db, log, content):
    old, rows = log.read_bytes(), dump(db, sources=False)["messages"]
    log.write_bytes(content)
    for _ in range(2):
        import_logs(db, log.parent.parent)
        assert dump(db, sources=False)["messages"] == rows
        assert query(db, "SELECT id, state FROM sources") == [(session_id(), "unreadable")]
        assert query(db, "SELECT kind FROM ingest_issues") == [("unrecognised",)]
        is_whole(db)
    assert generations(db) == [old]
    log.write_bytes(old)
    import_logs(db, log.parent.parent)
    check(db, log)


def test_a_rotated_log_begins_another_generation(db, log):
    old = log.read_bytes()
    log.rename(log.with_name(f"{log.name}.1"))
    write_log(log, turn(1, "a new day", "good morning"))
    import_logs(db, log.parent.parent)
    assert generations(db) == [old, log.read_bytes()]
    check(db, log)


def test_a_packed_log_stays_the_same_session_with_the_same_bytes(db, log):
    data, rows = log.read_bytes(), dump(db, sources=False)
    log.with_name(f"{log.name}.gz").write_bytes(gzip.compress(data))
    log.unlink()
    import_logs(db, log.parent.parent)
    assert dump(db, sources=False) == rows
    assert generations(db) == [data]
    is_whole(db)


def test_a_log_that_moves_and_grows_on_the_way_is_one_session(db, log):
    place = log.parent.parent / "-home-dev-else" / log.name
    place.parent.mkdir()
    log.rename(place)
    data = write_log(place, [*FIRST, *turn(61, "more", "yes")]).read_bytes()
    import_logs(db, log.parent.parent)
    assert query(db, "SELECT id, path, state FROM sources") == [(session_id(), str(place), "present")]
    assert generations(db)[-1] == data
    check(db, log)


def test_a_copy_that_outlives_its_original_takes_its_place(db, log):
    copy = log.parent.parent / "backup" / log.name
    copy.parent.mkdir()
    shutil.copy(log, copy)
    import_logs(db, log.parent.parent)
    assert query(db, "SELECT state, count(*) FROM sources GROUP BY state") == [("copy", 1), ("present", 1)]
    log.unlink()
    import_logs(db, log.parent.parent)
    assert query(db, "SELECT path, state FROM sources") == [(str(copy), "present")]
    assert query(db, "SELECT count(*) FROM ingest_issues") == [(0,)]
    check(db, log)


def test_two_logs_of_one_agent_that_say_different_things_are_both_kept(db, log):
    agent = [e | {"isSidechain": True, "agentId": "a1"} for e in turn(70, "count", "three")]
    other = [e | {"isSidechain": True, "agentId": "a1"} for e in turn(80, "weigh", "four")]
    write_log(log.parent / session_id() / "subagents" / "agent-a1.jsonl", agent)
    write_log(log.parent / "agent-a1.jsonl", other)
    for _ in range(2):
        import_logs(db, log.parent.parent)
        said = {words for (words,) in query(db, "SELECT text FROM messages WHERE session_id LIKE '%:%'")}
        assert said == {"count", "three", "weigh", "four"}
        check(db, log)
    write_log(log.parent / "agent-a1.jsonl", agent)
    import_logs(db, log.parent.parent)
    assert query(db, "SELECT count(*) FROM sources WHERE state = 'copy'") == [(1,)]
    is_whole(db)


def test_a_subagent_log_that_is_gone_is_marked_while_its_session_goes_on(db, log):
    agent = [e | {"isSidechain": True, "agentId": "a1"} for e in turn(70, "count", "three")]
    path = write_log(log.parent / session_id() / "subagents" / "agent-a1.jsonl", agent)
    import_logs(db, log.parent.parent)
    path.unlink()
    import_logs(db, log.parent.parent)
    write_log(log, [*FIRST, *turn(61, "more", "yes")])
    import_logs(db, log.parent.parent)
    assert query(db, "SELECT id, source_state FROM sessions ORDER BY id") == [
        (session_id(), "present"),
        (f"{session_id()}:a1", "gone"),
    ]
    assert query(db, "SELECT count(*) FROM messages WHERE session_id LIKE '%:a1'") == [(2,)]
    is_whole(db)


def test_a_session_whose_id_looks_like_an_agent_of_another_is_a_session_of_its_own(db, log):
    sid = f"{session_id()}:a1"
    said = [entry("user", 1, "I am no agent", session=sid), entry("assistant", 2, text("no"), session=sid)]
    write_log(log.parent / f"{sid}.jsonl", said)
    for _ in range(2):
        import_logs(db, log.parent.parent)
        write_log(log, [*FIRST, *turn(61, "more", "yes")])
        assert query(db, "SELECT count(*) FROM sessions") == [(2,)]
    is_whole(db)
