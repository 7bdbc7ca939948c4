"""``export-log``: the log comes back byte for byte after its file was deleted, every content it ever had."""

import gzip
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from clm_sessions import giveback, plugins
from clm_sessions.errors import DatabaseError, NoSessionError, UsageError
from clm_sessions.store.connect import open_reader
from clm_sessions.verify import verify
from support.kept import MAIN, REWRITTEN, change_logs, kept_database, write_logs
from support.logs import dump, import_logs, session_id, turn, write_log


def command(*words):
    done = subprocess.run(
        [sys.executable, "-m", "clm_sessions", *map(str, words)], capture_output=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr.decode()


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """(database, {generation: files by path}): its logs are gone."""
    folder = tmp_path_factory.mktemp("export")
    logs = write_logs(folder / "logs")
    import_logs(folder / "kept.db", logs)
    first = contents(logs)
    change_logs(logs)
    import_logs(folder / "kept.db", logs)
    second = contents(logs)
    shutil.rmtree(logs)
    logs.mkdir()
    import_logs(folder / "kept.db", logs)
    return folder / "kept.db", {0: first, 1: second}


def log_of(files, sid):
    return next(data for path, data in files.items() if path.endswith(f"garden/{sid}.jsonl"))


def test_the_log_of_every_session_comes_back_after_all_files_were_deleted(kept):
    database, seen = kept
    with closing(open_reader(database)) as db:
        for path, data in {**seen[0], **seen[1]}.items():
            name = path.rsplit("/", 1)[1].removesuffix(".jsonl")
            if "backup" in path or "notes" in path or "/subagents/" in path or not path.endswith(".jsonl"):
                continue
            assert b"".join(giveback.read(db, giveback.find(db, name)[0])) == data, path


def test_an_earlier_content_of_a_rewritten_log_comes_back_too(kept):
    database, seen = kept
    assert command("export-log", REWRITTEN, database)[1] == log_of(seen[1], REWRITTEN)
    assert command("export-log", REWRITTEN, database, "--generation", "0")[1] == log_of(seen[0], REWRITTEN)
    code, out, _err = command("export-log", REWRITTEN, database, "--list")
    assert code == 0
    assert [("earlier" in line, "newest" in line) for line in out.decode().splitlines()] == [
        (True, False),
        (False, True),
    ]
    code, _out, err = command("export-log", REWRITTEN, database, "--generation", "7")
    assert (code, len(err.splitlines())) == (1, 1)
    assert "--list" in err


def test_a_session_goes_to_a_folder_with_its_agents_and_side_files_and_can_be_imported_from_there(kept, tmp_path):
    database, seen = kept
    code, out, err = command("export-log", MAIN[:-4] + "0001", database, "-o", f"{tmp_path / 'out'}{os.sep}")
    assert (code, out) == (0, b""), err
    want = {p.removeprefix("projects/"): data for p, data in seen[1].items() if MAIN in p}
    assert contents(tmp_path / "out") == want
    assert len(want) == 4
    assert {p.stat().st_mode & 0o077 for p in (tmp_path / "out").rglob("*")} == {0}
    import_logs(tmp_path / "again.db", tmp_path / "out")
    tables = ("messages", "chunks", "tool_calls", "facts", "requests")
    with closing(sqlite3.connect(database)) as old, closing(sqlite3.connect(tmp_path / "again.db")) as new:
        for table in tables:
            rows = f"SELECT * FROM {table} WHERE session_id LIKE '{MAIN}%' ORDER BY session_id, seq"
            assert old.execute(rows).fetchall() == new.execute(rows).fetchall()


def test_the_log_of_a_subagent_comes_back_by_its_own_id(kept):
    database, seen = kept
    want = next(data for path, data in seen[1].items() if path.endswith("agent-a1.jsonl"))
    assert command("export-log", f"{MAIN}:a1", database)[1] == want


def test_nothing_is_overwritten(kept, tmp_path):
    target = tmp_path / "log.jsonl"
    target.write_text("mine")
    code, _out, err = command("export-log", MAIN, kept[0], "-o", target)
    assert code == 1
    assert "is there already" in err
    assert target.read_text() == "mine"


def test_an_unknown_session_and_a_prefix_of_several_are_errors_of_one_line(kept):
    for name, says in (("nowhere", "no sessions"), (MAIN[:-2], "sessions with an id")):
        code, _out, err = command("export-log", name, kept[0])
        assert (code, len(err.splitlines())) == (1, 1)
        assert says in err
    with closing(open_reader(kept[0])) as db, pytest.raises(NoSessionError):
        giveback.find(db, "")


def test_a_log_that_was_imported_without_the_archive_is_said_not_to_be_there(tmp_path):
    database = kept_database(tmp_path, keep_raw=False)
    code, out, err = command("export-log", MAIN, database)
    assert (code, out, len(err.splitlines())) == (1, b"", 1)
    assert "--no-raw" in err


def test_a_log_that_grew_while_the_archive_was_left_out_is_not_given_back_in_part(tmp_path):
    log = write_log(tmp_path / "logs" / f"{session_id()}.jsonl", turn(1, "a", "b"))
    import_logs(tmp_path / "a.db", log)
    write_log(log, [*turn(1, "a", "b"), *turn(2, "c", "d")])
    import_logs(tmp_path / "a.db", log, keep_raw=False)
    with closing(open_reader(tmp_path / "a.db")) as db, pytest.raises(UsageError, match="--no-raw"):
        giveback.read(db, giveback.find(db, session_id())[0])


def test_an_earlier_content_that_was_not_kept_whole_is_not_given_back(tmp_path):
    log, db = tmp_path / "logs" / f"{session_id()}.jsonl", tmp_path / "a.db"
    for number, keep in enumerate((True, False, True)):  # grows without the archive, then is written anew
        entries = turn(1, "a", "b") if number < 2 else turn(9, "z", "y")
        write_log(log, [*entries, *(turn(2, "c", "d") if number == 1 else [])])
        import_logs(db, tmp_path / "logs", keep_raw=keep)
    with closing(open_reader(db)) as reader:
        kept = giveback.find(reader, session_id())[0]
        assert kept.whole == (False, True)
        assert "generation 0 (earlier)  not kept whole" in next(kept.lines())
        with pytest.raises(UsageError, match="not kept whole"):
            b"".join(giveback.read(reader, kept, 0))
        assert b"".join(giveback.read(reader, kept, 1)) == log.read_bytes()
    assert verify(db, plugins.build(entry_points=False)).findings == []


def test_a_damaged_archive_is_said_to_be_so(kept, tmp_path):
    database = tmp_path / "a.db"
    shutil.copy(kept[0], database)
    with closing(sqlite3.connect(database)) as db:
        db.execute("UPDATE raw_blocks SET data = x'00' || substr(data, 2) WHERE source_id = ?", (MAIN,))
        db.commit()
    code, out, err = command("export-log", MAIN, database)
    assert (code, out, len(err.splitlines())) == (1, b"", 1)
    assert "damaged at byte 0" in err
    with closing(open_reader(database)) as db, pytest.raises(DatabaseError):
        list(giveback.read(db, giveback.find(db, MAIN)[0]))


def test_a_packed_log_comes_back_as_what_it_holds(tmp_path):
    log = write_log(tmp_path / "logs" / f"{session_id()}.jsonl", turn(1, "a", "b"))
    data = log.read_bytes()
    log.with_name(f"{log.name}.gz").write_bytes(gzip.compress(data))
    log.unlink()
    import_logs(tmp_path / "a.db", tmp_path / "logs")
    assert command("export-log", session_id(), tmp_path / "a.db")[1] == data
    assert not verify(tmp_path / "a.db", plugins.build(entry_points=False), full=True).total
    command("export-log", session_id(), tmp_path / "a.db", "-o", f"{tmp_path}{os.sep}out{os.sep}")
    assert [p.name for p in (tmp_path / "out").rglob("*.jsonl*")] == [log.name]


def test_a_log_of_many_small_imports_takes_few_blocks_and_comes_back(tmp_path):
    """As a watched log does: each import takes up the last block again."""
    log = tmp_path / "logs" / f"{session_id()}.jsonl"
    rng = random.Random(3)
    entries = []
    for number in range(30):
        entries += turn(number, "".join(rng.choices("abc ", k=4000)), "ok")
        write_log(log, entries, end=b"" if number % 3 else b"\n")
        import_logs(tmp_path / "a.db", log)
    assert command("export-log", session_id(), tmp_path / "a.db")[1] == log.read_bytes()
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        assert db.execute("SELECT count(*) FROM raw_blocks").fetchone()[0] == 1
    assert dump(tmp_path / "a.db")["raw_blocks"]


def test_a_packed_log_and_a_plain_one_of_the_same_name_both_come_back(tmp_path):
    folder = tmp_path / "logs" / "-home-dev-garden"
    write_log(folder / f"{session_id()}.jsonl", turn(1, "a", "b"))
    agent = folder / session_id() / "subagents" / "agent-a1.jsonl"
    for words in ("packed", "plain"):
        write_log(agent, [{**e, "agentId": "a1", "isSidechain": True} for e in turn(2, words, "yes")])
        if words == "packed":
            packed = agent.read_bytes()
            agent.with_name("agent-a1.jsonl.gz").write_bytes(gzip.compress(packed))
    db = tmp_path / "a.db"
    import_logs(db, tmp_path / "logs")
    with closing(open_reader(db)) as reader:
        written = list(giveback.write_all(reader, giveback.find(reader, session_id()), tmp_path / "out"))
    contents = {path.read_bytes() for path, _size in written}
    assert {packed, agent.read_bytes()} < contents
    assert len(contents) == len(written) == 3
