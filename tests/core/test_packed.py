"""Compressed logs are what they hold; what is wrong with them is told."""

import gzip
import io
import sys
from contextlib import closing

import pytest
import zstandard

import clm_sessions
from clm_sessions import packed
from support import rollouts
from support.logs import dump, import_logs, query, turn, write_log

PACK = {".gz": gzip.compress, ".zst": zstandard.compress}
LOG = [rollouts.meta(), *rollouts.turn(1, "Sow the peas.", "Sown.", rollouts.usage(900, 500, 60))]
CONTENT = b"".join(b"line %d\n" % n for n in range(200_000))


@pytest.fixture(params=sorted(PACK))
def suffix(request):
    return request.param


def pack(path, suffix):
    """Replace a file by its compressed form."""
    target = path.with_name(path.name + suffix)
    target.write_bytes(PACK[suffix](path.read_bytes()))
    path.unlink()
    return target


def rows(db):
    """Every row but those that say where the files lie."""
    return dump(db, sources=False)


def test_the_content_reads_as_the_plain_file_does_in_any_order_and_over_several_frames(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(PACK[suffix](CONTENT[:1000]) + PACK[suffix](CONTENT[1000:]))
    file = packed.open_plain(str(path))
    assert file.read() == CONTENT
    plain = io.BytesIO(CONTENT)
    for at in (5, 1_500_000, 0, 999, 1001, len(CONTENT)):
        assert file.seek(at) == plain.seek(at)
        assert file.read(4096) == plain.read(4096)
    assert file.seek(len(CONTENT) + 9) == len(CONTENT)
    file.close()
    assert packed.content_size(str(path)) == len(CONTENT)


@pytest.mark.parametrize("damage", [lambda d: d[:-5], lambda d: d[:9] + bytes(20) + d[29:], lambda d: d + b"rubbish"])
def test_a_damaged_one_is_an_error_not_a_short_content(tmp_path, suffix, damage):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(damage(PACK[suffix](CONTENT[:100_000])))
    with closing(packed.open_plain(str(path))) as file, pytest.raises(OSError, match=r"damaged|too early"):
        file.read()


def test_a_content_too_large_for_one_go_is_refused(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(packed, "CONTENT_LIMIT", 1000)
    path = tmp_path / f"x{suffix}"
    path.write_bytes(PACK[suffix](CONTENT))
    with closing(packed.open_plain(str(path))) as file, pytest.raises(OSError, match="more than 1000 bytes"):
        file.read()


def test_without_the_extra_the_error_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = rollouts.write(tmp_path, 1, LOG)
    path.rename(path.with_name(path.name + ".zst"))
    report = import_logs(tmp_path / "x.db", tmp_path / "sessions")
    assert [(issue.kind, "clm-sessions[fast]" in issue.reason) for _path, issue in report.notices] == [
        ("unreadable", True)
    ]


def test_a_packed_log_gives_the_rows_of_the_plain_one(tmp_path, suffix):
    path = rollouts.write(tmp_path, 1, LOG)
    import_logs(tmp_path / "plain.db", tmp_path / "sessions")
    loaded = clm_sessions.load(path)
    target = pack(path, suffix)
    import_logs(tmp_path / "packed.db", tmp_path / "sessions")
    assert rows(tmp_path / "packed.db") == rows(tmp_path / "plain.db")
    assert clm_sessions.load(target) == loaded


def test_a_log_that_was_packed_since_is_the_same_session(tmp_path, suffix):
    db = tmp_path / "x.db"
    path = rollouts.write(tmp_path, 1, LOG)
    import_logs(db, tmp_path / "sessions")
    before = rows(db)
    pack(path, suffix)
    report = import_logs(db, tmp_path / "sessions")
    assert rows(db) == before
    assert report.totals["sessions"] == 1
    assert query(db, "SELECT state, generation, path LIKE ? FROM sources", f"%{suffix}") == [("present", 0, 1)]
    again = import_logs(db, tmp_path / "sessions")
    assert dict(again.sources) == {"unchanged": 1}


def test_a_packed_log_beside_its_plain_form_is_a_copy(tmp_path, suffix):
    path = rollouts.write(tmp_path, 1, LOG)
    path.with_name(path.name + suffix).write_bytes(PACK[suffix](path.read_bytes()))
    report = import_logs(tmp_path / "x.db", tmp_path / "sessions")
    assert report.totals["sessions"] == 1
    assert query(tmp_path / "x.db", "SELECT state FROM sources ORDER BY state") == [("copy",), ("present",)]


def test_a_packed_log_that_was_written_anew_is_read_anew(tmp_path, suffix):
    db = tmp_path / "x.db"
    more = rollouts.turn(2, "And the beans.", "Sown too.", rollouts.usage(2000, 1400, 160), 60)
    target = pack(rollouts.write(tmp_path, 1, LOG), suffix)
    import_logs(db, tmp_path / "sessions")
    target.write_bytes(PACK[suffix](rollouts.data([*LOG, *more])))
    import_logs(db, tmp_path / "sessions")
    assert query(db, "SELECT count(*) FROM messages WHERE origin = 'prompt'") == [(2,)]
    assert query(db, "SELECT generation FROM sources") == [(0,)]
    target.write_bytes(PACK[suffix](rollouts.data([LOG[0], *more])))
    import_logs(db, tmp_path / "sessions")
    assert query(db, "SELECT display, text FROM messages WHERE origin = 'prompt'") == [(None, "And the beans.")]
    assert query(db, "SELECT generation FROM sources") == [(1,)]


def test_logs_of_other_formats_may_be_packed_too(tmp_path, suffix):
    pack(write_log(tmp_path / "p" / "5e550000-0000-4000-8000-000000000001.jsonl", turn(1, "hi", "yes")), suffix)
    import_logs(tmp_path / "x.db", tmp_path / "p")
    assert query(tmp_path / "x.db", "SELECT format, prompts FROM sessions") == [("claude-code", 1)]
