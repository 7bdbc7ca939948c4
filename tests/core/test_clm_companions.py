"""Files beside a clm log: the log before it was compacted, images, spooled output; and what a compaction keeps."""

import hashlib
import itertools
import json
import random
import sqlite3

import pytest

import clm_sessions
from clm_sessions import plugins
from clm_sessions.verify import verify
from datasette_clm.raw import record
from support.logs import check_search_index, dump, import_logs, query

SID = "20260302-090000-0a1b2c3d"
META = {"type": "meta", "v": 1, "id": SID, "created": 1772442000, "model": "m1"}
PROMPT = {"type": "prompt", "hash": "00aa11bb22cc33dd", "content": "You help in a garden."}
PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
SHA = hashlib.sha256(PNG).hexdigest()


def asks(text, **more):
    return {"role": "user", "content": text, **more, "type": "msg"}


def says(text):
    return {"role": "assistant", "content": text, "type": "msg"}


def calls(call, name="sh"):
    return {"role": "assistant", "tool_calls": [{"id": call, "name": name, "args": "{}"}], "type": "msg"}


def gives(call, text, name="sh"):
    return {"role": "tool", "content": text, "tool_call_id": call, "tool_name": name, "type": "msg"}


OLD = [META, PROMPT, asks("sow peas"), calls("c1"), gives("c1", "started background job 3"), says("sown"),
       asks("and beans"), calls("c2"), gives("c2", "beans"), says("done")]  # fmt: skip
SUMMARY = asks("Summary: peas and beans are sown.")
NEW = [
    META,
    PROMPT,
    SUMMARY,
    *OLD[6:],
    asks("now leeks"),
    says("leeks too"),
    asks('[background job 3 ("peas") finished'),
]
LATER = asks("Summary: peas, beans, leeks.")
NEWER = [META, PROMPT, LATER, *NEW[-3:], asks("water all"), says("wet")]
SHOWN = ["user", "ai", "user", "ai"]


def write(folder, records, name=f"{SID}.jsonl"):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(b"".join(json.dumps(r).encode() + b"\n" for r in records))
    return path


def rewrite(folder, records):
    """As clm does it: the old log becomes the backup, a new file takes its place."""
    (folder / f"{SID}.jsonl").replace(folder / f"{SID}.jsonl.bak")
    write(folder, records, f"{SID}.jsonl.tmp").replace(folder / f"{SID}.jsonl")


def said(db):
    """(kind, preview) of every chunk."""
    return query(db, "SELECT kind, preview FROM chunks ORDER BY seq")


def sound(db):
    check_search_index(db)
    result = verify(db, plugins.build(entry_points=False), full=True)
    assert result.findings == []
    assert not result.notes


ONCE = [("user", "sow peas"), ("ai", "sown"), ("user", "and beans"), ("ai", "done"),
        ("compact", "Summary: peas and beans are sown."), ("user", "now leeks"),
        ("ai", "leeks too")]  # fmt: skip
TWICE = [*ONCE, ("compact", "Summary: peas, beans, leeks."), ("user", "water all"), ("ai", "wet")]


def test_a_compacted_log_keeps_what_its_backup_has_and_gets_a_compact_chunk(tmp_path):
    write(tmp_path / "clm", OLD)
    rewrite(tmp_path / "clm", NEW)
    db = tmp_path / "x.db"
    import_logs(db, tmp_path / "clm")
    assert said(db) == ONCE
    assert query(db, "SELECT prompts, compactions, messages, tool_calls FROM sessions") == [(3, 1, 12, 2)]
    lines = dict(query(db, "SELECT disposition, lines FROM source_lines WHERE source_id = ?", SID))
    assert lines == {"fact": 2, "message": 4, "duplicate": 4}
    assert query(db, "SELECT source_tool_use_id FROM messages WHERE origin = 'notification'") == [("c1",)]
    assert query(db, "SELECT DISTINCT earlier FROM messages WHERE seq < 8") == [(f"/{SID}.jsonl.bak#0",)]
    with sqlite3.connect(db) as rows:
        for seq, entry in enumerate([*OLD[2:], *NEW[2:3], *NEW[7:]]):
            assert json.loads(record(rows, SID, seq)) == entry
    sound(db)
    with clm_sessions.open_db(db) as stored:
        assert stored[SID].read() == clm_sessions.load(tmp_path / "clm" / f"{SID}.jsonl")


@pytest.mark.parametrize("raw", [True, False], ids=["archived", "not archived"])
@pytest.mark.parametrize("backup", [True, False], ids=["with backups", "without"])
def test_steps_and_compactions_in_any_number_give_what_was_said(tmp_path, backup, raw):
    folder, db = tmp_path / "clm", tmp_path / "x.db"

    def step():
        if not backup:
            (folder / f"{SID}.jsonl.bak").unlink(missing_ok=True)
        import_logs(db, folder, keep_raw=raw)

    write(folder, OLD[:7])
    step()
    write(folder, OLD)
    step() if not backup else None
    rewrite(folder, NEW[:7])
    step()
    assert said(db) == ONCE[:5]
    write(folder, NEW[:-1])
    step()
    step()
    assert said(db) == ONCE
    write(folder, NEW)
    step() if not backup else None
    rewrite(folder, NEWER)
    step()
    assert said(db) == TWICE
    if raw:
        sound(db)
        before = dump(db, sources=False)
        import_logs(db, folder, again=True)
        assert dump(db, sources=False) == before
        sound(db)
    for path in folder.iterdir():
        path.unlink()
    import_logs(db, folder, keep_raw=raw)
    import_logs(db, folder, again=True, keep_raw=raw)
    assert said(db) == TWICE


@pytest.mark.parametrize("seed", range(10))
def test_a_log_compacted_at_any_time_and_imported_now_and_then_says_all_that_was_said(tmp_path, seed):
    rng = random.Random(seed)
    folder, db, raw = tmp_path / "clm", tmp_path / "x.db", seed % 3 > 0
    number, unseen, said, log = itertools.count(), False, [], []
    for step in range(14):
        if rng.random() < 0.5 or not log:
            fresh = [rng.choice((asks, says))(f"message {next(number)}") for _ in range(rng.randrange(1, 4))]
            log, said = [*log, *fresh], [*said, *fresh]
            write(folder, [META, *log])
        elif rng.random() < 0.5:
            if unseen:  # else the backup of the one before would be gone unseen
                import_logs(db, folder, keep_raw=raw)
            summary, unseen = asks(f"summary {next(number)}"), True
            log = [PROMPT, summary, *[r for r in log if r is not PROMPT][-rng.randrange(1, len(log) + 1) :]]
            said = [*said, summary]
            rewrite(folder, [META, *log])
        if rng.random() < 0.4 or step == 13:
            import_logs(db, folder, keep_raw=raw)
            unseen = False
    assert query(db, "SELECT text FROM messages ORDER BY seq") == [(record["content"],) for record in said]
    summaries = query(db, "SELECT text FROM messages WHERE kind = 'compact' ORDER BY seq")
    assert summaries == [(r["content"],) for r in said if r["content"].startswith("summary")]
    if raw:
        sound(db)


def test_the_order_in_which_log_and_backup_are_seen_changes_nothing(tmp_path):
    write(tmp_path / "all", OLD)
    rewrite(tmp_path / "all", NEW)
    import_logs(tmp_path / "once.db", tmp_path / "all")
    want = dump(tmp_path / "once.db", sources=False)
    log, backup = ((tmp_path / "all" / f"{SID}.jsonl{end}").read_bytes() for end in ("", ".bak"))
    part = backup[: backup.index(b"and beans") + 40]
    steps = [{"": part}, {"": log}, {".bak": backup}, {"": log, ".bak": backup}]
    for number, order in enumerate(itertools.permutations(steps)):
        folder, db = tmp_path / f"f{number}", tmp_path / f"{number}.db"
        folder.mkdir()
        for files in (*order, steps[3]):
            for end, content in files.items():
                path = folder / f"{SID}.jsonl{end}"
                if not path.exists() or path.read_bytes() != content:
                    path.with_suffix(".new").write_bytes(content)
                    path.with_suffix(".new").replace(path)
            import_logs(db, folder)
        assert dump(db, sources=False) == want, [list(files) for files in order]
    sound(db)


def test_a_log_that_was_edited_shows_its_new_content(tmp_path):
    folder, db = tmp_path / "clm", tmp_path / "x.db"
    write(folder, OLD)
    import_logs(db, folder)
    for edited in ([*OLD[:4], says("nothing")], OLD[:2] + OLD[6:], [META, asks("all new"), says("yes")]):
        write(folder, edited)
        import_logs(db, folder)
        assert query(db, "SELECT count(*) FROM messages") == [(sum(r["type"] == "msg" for r in edited),)]
        assert query(db, "SELECT compactions FROM sessions") == [(0,)]
        sound(db)


def test_words_said_again_and_again_are_told_apart_in_linear_time(tmp_path):
    folder, db = tmp_path / "clm", tmp_path / "x.db"
    again = [asks("go on"), says("ok")] * 3000
    write(folder, [META, asks("begin"), *again])
    rewrite(folder, [META, asks("Summary"), *again[:40], asks("stop"), *again])
    import_logs(db, folder)
    assert query(db, "SELECT messages, compactions FROM sessions") == [(1 + 6000 + 1 + 1 + 6000, 1)]


def test_a_backup_alone_is_no_session_and_one_of_another_program_is_nothing(tmp_path):
    write(tmp_path / "clm", OLD, f"{SID}.jsonl.bak")
    write(tmp_path / "clm", OLD, f"{SID}.jsonl.tmp")
    (tmp_path / "clm" / "notes.jsonl.bak").write_text('{"a": 1}\n')
    db = tmp_path / "x.db"
    report = import_logs(db, tmp_path / "clm")
    assert query(db, "SELECT id, role, lines FROM sources") == [(f"{SID}/{SID}.jsonl.bak", "earlier", 10)]
    assert report.totals["sessions"] == 0
    assert not report.notices
    assert not report.issues
    sound(db)


def test_images_are_shown_when_they_are_there_and_outlive_their_files(tmp_path):
    folder, db = tmp_path / "clm", tmp_path / "x.db"
    image = {"type": "image", "media_type": "image/png", "sha256": SHA, "bytes": len(PNG)}
    lost = {**image, "sha256": "0" * 64}
    odd = [{"type": "image", "sha256": "../../etc/passwd"}, "x", None, {"type": 7}]
    write(folder, [META, asks("look", attachments=[image, lost, *odd]), says("nice")])
    import_logs(db, folder)
    assert query(db, "SELECT images FROM sessions") == [(3,)]
    assert query(db, "SELECT count(*) FROM attachments") == [(0,)]
    sound(db)
    blobs = folder / f"{SID}.blobs"
    blobs.mkdir()
    (blobs / f"{SHA}.png").write_bytes(PNG)
    (blobs / f"{'0' * 64}.png").write_bytes(PNG)  # not what its name says
    (blobs / "other.txt").write_bytes(b"x")
    import_logs(db, folder)
    assert query(db, "SELECT media_type, bytes, data FROM attachments") == [("image/png", len(PNG), PNG)]
    sound(db)
    with clm_sessions.open_db(db) as stored:
        assert stored[SID].read() == clm_sessions.load(folder / f"{SID}.jsonl")
    import_logs(tmp_path / "fresh.db", folder)
    assert dump(db, sources=False) == dump(tmp_path / "fresh.db", sources=False)
    (blobs / f"{SHA}.png").unlink()
    write(folder, [META, asks("look", attachments=[image, lost, *odd]), says("nice"), asks("more")])
    import_logs(db, folder)
    import_logs(db, folder, again=True)
    assert query(db, "SELECT data FROM attachments") == [(PNG,)]
    sound(db)


def test_an_image_another_session_has_does_not_stand_in_for_a_missing_file(tmp_path):
    image = {"type": "image", "media_type": "image/png", "sha256": SHA, "bytes": len(PNG)}
    for number in (1, 2):
        write(tmp_path / "clm", [META, asks("look", attachments=[image])], f"s{number}.jsonl")
    (tmp_path / "clm" / "s1.blobs").mkdir()
    (tmp_path / "clm" / "s1.blobs" / f"{SHA}.png").write_bytes(PNG)
    db = tmp_path / "x.db"
    import_logs(db, tmp_path / "clm")
    assert query(db, "SELECT session_id FROM message_attachments") == [("s1",)]
    sound(db)


def test_a_spooled_output_is_kept_and_named(tmp_path):
    folder, db = tmp_path / "clm", tmp_path / "x.db"
    write(folder, OLD)
    (folder / f"{SID}.spool").mkdir()
    (folder / f"{SID}.spool" / "out-1.txt").write_text("all of it\n" * 1000)
    import_logs(db, folder)
    side = f"{SID}/out-1.txt"
    assert query(db, "SELECT value, side FROM facts WHERE name = 'full_result'") == [('{"name":"out-1.txt"}', side)]
    assert query(db, "SELECT role, size FROM sources WHERE id = ?", side) == [("side", 10_000)]
    sound(db)
