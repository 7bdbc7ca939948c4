"""What can happen to a file between two imports: each is told apart, and what is there is shown as if read afresh."""

import gzip
import os
import shutil

import pytest

from clm_sessions import plugins
from clm_sessions.giveback import find, read
from clm_sessions.store import raw
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


LAST = b'{"type": "user", "uuid": "last", "timestamp": "2026-03-02T10:00:00Z", "message": {"content": "last words"}}'
AFTER = {
    "cut off": b"",
    "replaced by something longer": LAST.replace(b"last words", b"other words, and more of them") + b"\n",
    "replaced by something shorter": LAST.replace(b"last words", b"no") + b"\n",
}


@pytest.mark.parametrize("lines_before", [True, False], ids=["behind whole lines", "alone"])
@pytest.mark.parametrize("change", AFTER)
def test_a_last_line_without_an_end_is_kept_when_it_is_taken_back(tmp_path, change, lines_before):
    log = write_log(tmp_path / "logs" / "-home-dev-garden" / f"{session_id()}.jsonl", FIRST if lines_before else [])
    whole = log.read_bytes()
    db = tmp_path / "a.db"
    log.write_bytes(whole + LAST)
    import_logs(db, tmp_path / "logs")
    log.write_bytes(whole + AFTER[change])
    import_logs(db, tmp_path / "logs")
    assert generations(db)[0] == whole + LAST
    if whole + AFTER[change]:
        assert generations(db)[1] == whole + AFTER[change]
        check(db, log)


@pytest.mark.parametrize("before", ["packed", "plain"])
@pytest.mark.parametrize("after", ["packed", "plain"])
def test_a_log_that_is_changed_in_its_middle_while_it_is_packed_or_unpacked_is_kept_twice(db, log, before, after):
    packed = log.with_name(f"{log.name}.gz")
    old = log.read_bytes()
    new = old.replace(b"plan bed 30,", b"plan bed 99,")
    if before == "packed":
        log.unlink()
        packed.write_bytes(gzip.compress(old))
        import_logs(db, log.parent.parent)
        packed.unlink()
    log.unlink(missing_ok=True)
    (log if after == "plain" else packed).write_bytes(new if after == "plain" else gzip.compress(new))
    import_logs(db, log.parent.parent)
    reader = open_reader(db)
    kept = {b"".join(raw.read(reader, sid, n)) for sid in sources(db) for n in range(len(raw.sizes(reader, sid)))}
    reader.close()
    assert kept == {old, new}
    assert query(db, "SELECT count(*) FROM messages WHERE text LIKE 'plan bed 99,%'") == [(1,)]
    is_whole(db)


def sources(db):
    return [sid for (sid,) in query(db, "SELECT id FROM sources")]


def test_a_log_that_becomes_one_of_another_format_keeps_its_old_bytes(db, log):
    old = log.read_bytes()
    log.write_bytes(b'{"type":"meta","v":1,"id":"x"}\n{"type":"msg","role":"user","content":"hello"}\n')
    import_logs(db, log.parent.parent)
    assert generations(db) == [old, log.read_bytes()]
    assert query(db, "SELECT text FROM messages") == [("hello",)]
    is_whole(db)


def test_a_log_that_is_reached_another_way_goes_on_there(db, log, tmp_path):
    (tmp_path / "other").symlink_to(tmp_path / "logs")
    write_log(log, [*FIRST, *turn(70, "one more", "yes")])
    import_logs(db, tmp_path / "other" / "-home-dev-garden")
    assert query(db, "SELECT count(*), max(source_state) FROM messages, sessions") == [(len(FIRST) + 2, "present")]
    check(db, log)


def test_a_copy_that_goes_on_is_read_though_its_original_is_still_there(db, log, tmp_path):
    copy = tmp_path / "backup" / "-home-dev-garden" / log.name
    write_log(copy, [*FIRST, *turn(70, "one more", "yes")])
    write_log(log, [*FIRST, *turn(70, "one more", "yes")])
    import_logs(db, tmp_path / "backup")
    assert query(db, "SELECT count(*) FROM messages") == [(len(FIRST) + 2,)]
    log.unlink()
    copy.unlink()
    import_logs(db, tmp_path / "backup", tmp_path / "logs")
    assert generations(db) == [generations(db)[0]]
    assert query(db, "SELECT count(*) FROM sessions") == [(1,)]
    is_whole(db)


def test_a_shorter_copy_does_not_become_a_session_when_its_original_is_gone(db, log, tmp_path):
    write_log(tmp_path / "backup" / "-home-dev-garden" / log.name, FIRST[:20])
    import_logs(db, tmp_path / "logs", tmp_path / "backup")
    log.unlink()
    for _ in range(2):
        report = import_logs(db, tmp_path / "logs", tmp_path / "backup")
        assert query(db, "SELECT id, source_state, messages FROM sessions") == [(session_id(), "gone", len(FIRST))]
    assert report.json()["sources"] == {**report.json()["sources"], "new": 0, "changed": 0}
    is_whole(db)


def test_a_copy_that_differs_in_its_middle_alone_is_a_session_of_its_own(db, log, tmp_path):
    other = tmp_path / "backup" / "-home-dev-garden" / log.name
    other.parent.mkdir(parents=True)
    other.write_bytes(log.read_bytes().replace(b"plan bed 30,", b"plan bed 99,"))
    import_logs(db, tmp_path / "logs", tmp_path / "backup")
    assert query(db, "SELECT count(*) FROM sessions") == [(2,)]
    assert query(db, "SELECT count(*) FROM messages WHERE text LIKE 'plan bed 99,%'") == [(1,)]
    is_whole(db)


def test_a_copy_that_goes_on_takes_the_place_of_a_log_that_is_none_any_more_for_good(db, log):
    copy = write_log(log.parent.parent / "copied" / log.name, [*FIRST, *turn(70, "one more", "yes")])
    log.write_bytes(log.read_bytes()[:100])
    for _ in range(3):
        import_logs(db, log.parent.parent)
        assert query(db, "SELECT path, state FROM sources WHERE id = ?", session_id()) == [(str(copy), "present")]
    is_whole(db)


def test_a_log_that_is_being_packed_is_one_session_before_and_after(db, log):
    packed = log.with_name(f"{log.name}.gz")
    data = gzip.compress(log.read_bytes())
    packed.write_bytes(data[: len(data) // 2])
    report = import_logs(db, log.parent.parent)
    assert [(path, issue.kind) for path, issue in report.notices] == [(str(packed), "unreadable")]
    assert query(db, "SELECT id FROM sessions") == [(session_id(),)]
    packed.write_bytes(data)
    import_logs(db, log.parent.parent)  # both are there for a moment
    log.unlink()
    import_logs(db, log.parent.parent)
    assert query(db, "SELECT id, source_state FROM sessions") == [(session_id(), "present")]
    assert query(db, "SELECT path, state FROM sources") == [(str(packed), "present")]
    is_whole(db)
