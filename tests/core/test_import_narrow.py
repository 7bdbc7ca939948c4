"""An importer that is told which paths changed leaves the rows that an import of everything leaves."""

import json
import random
import shutil
from pathlib import Path

import pytest

from clm_sessions import plugins
from clm_sessions.ingest import Choice, Importer
from clm_sessions.verify import verify
from support.kept import write_logs
from support.logs import NO_PRICES, dump, import_logs, query, session_id, turn, write_log

REGISTRY = plugins.build(entry_points=False)
STEPS = 25
CODEX = Path(__file__).parents[2] / "demo" / "logs" / "codex"


def append(folder, files, rng):
    path = rng.choice([f for f in files if f.suffix == ".jsonl"])
    claude = json.dumps(turn(rng.randrange(10**6), "more", "yes", session=path.stem)[0]).encode()
    with path.open("ab") as file:  # another format's line would make it a log of both
        file.write((claude if path.stem.startswith(session_id()[:8]) else path.read_bytes()[-200:]) + b"\n")
    return [path]


def rewrite(folder, files, rng):
    path = rng.choice(files)
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.5 else data.replace(b"bed", b"row"))
    return [path]


def rename(folder, files, rng):
    path = rng.choice(files)
    to = path.with_name(rng.choice([path.stem + ".old", session_id(rng.randrange(40)) + ".jsonl"]))
    path.rename(to)
    return [path, to]


def move_folder(folder, files, rng):
    place = rng.choice(files).parent
    if place == folder:
        return []
    to = folder / f"moved-{rng.randrange(10**6)}"
    place.rename(to)
    return [place, to]


def copy(folder, files, rng):
    path = rng.choice([f for f in files if f.suffix == ".jsonl"])
    to = folder / f"copied-{rng.randrange(10**6)}" / path.name
    to.parent.mkdir()
    shutil.copy(path, to)
    return [to.parent]


def delete(folder, files, rng):
    path = rng.choice(files)
    if rng.random() < 0.3 and path.parent != folder:
        shutil.rmtree(path.parent)
        return [path.parent]
    path.unlink()
    return [path]


def new(folder, files, rng):
    sid = session_id(100 + rng.randrange(100))
    path = folder / f"p{rng.randrange(3)}" / f"{sid}.jsonl"
    shared = turn(1, "the same start", "yes", session=session_id(100))
    return [write_log(path, [*shared, *turn(rng.randrange(10**6), "a new one", "yes", session=sid)])]


def rows(database):
    """All rows, but of files that no format recognises: they are noted when they are looked at."""
    return {table: [r for r in found if not r.startswith("('unrecognised/")] for table, found in dump(database).items()}


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_to_files_telling_of_it_equals_looking_at_everything(tmp_path, seed):
    rng = random.Random(seed)
    folder = tmp_path / "logs"
    write_logs(folder, long=False)
    shutil.copytree(CODEX, folder / "codex")
    importer = Importer(tmp_path / "a.db", REGISTRY, book=NO_PRICES)
    try:
        importer.run([folder])
        import_logs(tmp_path / "b.db", folder)
        for step in range(STEPS):
            files = sorted(f for f in folder.rglob("*") if f.is_file())
            happens = rng.choice([append, append, append, rewrite, rename, move_folder, copy, delete, new])
            touched = happens(folder, files, rng)
            for _ in range(2):  # what a copy became that was overtaken by another is seen the second time
                importer.run([folder], paths=map(str, touched))
                import_logs(tmp_path / "b.db", folder)
            assert rows(tmp_path / "a.db") == rows(tmp_path / "b.db"), (step, happens.__name__, touched)
    finally:
        importer.close()
    assert verify(tmp_path / "a.db", REGISTRY).findings == []


def test_a_file_that_no_format_wants_costs_no_transaction(tmp_path):
    write_log(tmp_path / "logs" / f"{session_id()}.jsonl", turn(1, "a", "b"))
    importer = Importer(tmp_path / "a.db", REGISTRY, book=NO_PRICES)
    try:
        importer.run([tmp_path / "logs"])
        (tmp_path / "logs" / "notes.txt").write_text("nothing")
        before = (tmp_path / "a.db-wal").stat().st_mtime_ns
        report = importer.run([tmp_path / "logs"], paths=[str(tmp_path / "logs" / "notes.txt")])
        assert (report.bytes, report.notices, +report.sources) == (0, [], {})
        assert (tmp_path / "a.db-wal").stat().st_mtime_ns == before
    finally:
        importer.close()


def test_what_lies_behind_a_link_is_not_read_when_it_changes_either(tmp_path):
    outside = write_log(tmp_path / "outside" / f"{session_id(2)}.jsonl", turn(1, "a", "b", session=session_id(2)))
    write_log(tmp_path / "logs" / f"{session_id()}.jsonl", turn(1, "a", "b"))
    (tmp_path / "logs" / "link").symlink_to(tmp_path / "outside")
    importer = Importer(tmp_path / "a.db", REGISTRY, book=NO_PRICES)
    try:
        importer.run([tmp_path / "logs"])
        report = importer.run([tmp_path / "logs"], paths=[str(tmp_path / "logs" / "link" / outside.name), str(outside)])
        assert +report.sessions == {}
        report = importer.run([tmp_path / "logs"], paths=[str(tmp_path / "logs" / "link")])
        assert [issue.kind for _path, issue in report.notices] == ["passed_over"]
    finally:
        importer.close()


def test_an_index_beside_the_folders_is_taken_in_when_it_changes(tmp_path):
    home = tmp_path / "home"
    shutil.copytree(CODEX, home)
    roots = [home / "sessions", home / "session_index.jsonl"]
    index = roots[1]
    index.write_text("")
    log = next((home / "sessions").rglob("*.jsonl"))
    importer = Importer(tmp_path / "a.db", REGISTRY, book=NO_PRICES)
    try:
        importer.run(roots)
        thread = log.stem[-36:]
        index.write_text(
            json.dumps({"id": thread, "thread_name": "The peas", "updated_at": "2026-03-14T09:00:00Z"}) + "\n"
        )
        importer.run(roots, paths=[str(index)])
        named = "SELECT session_id, value FROM facts WHERE name = 'title.index'"
        assert query(tmp_path / "a.db", named) == [(thread, '"The peas"')]
        (home / "history.jsonl").write_text("{}\n")  # a neighbour of the index
        assert +importer.run(roots, paths=[str(home / "history.jsonl")]).sessions == {}
        import_logs(tmp_path / "b.db", *roots)
        assert rows(tmp_path / "a.db") == rows(tmp_path / "b.db")
    finally:
        importer.close()


def test_what_is_left_out_stays_so_when_it_changes(tmp_path):
    logs = tmp_path / "logs"
    taken = write_log(logs / "p" / f"{session_id(1)}.jsonl", turn(1, "a", "b"))
    secret = write_log(logs / "secret" / f"{session_id(2)}.jsonl", turn(1, "a", "b", session=session_id(2)))
    importer = Importer(tmp_path / "a.db", REGISTRY, book=NO_PRICES, choice=Choice(exclude=("secret",)))
    try:
        importer.run([logs])
        for path in (taken, secret):
            with path.open("a") as file:
                file.write(json.dumps(turn(5, "more", "yes", session=path.stem)[0]) + "\n")
        report = importer.run([logs], paths=[str(taken), str(secret)])
        assert (report.sessions["changed"], report.left_out) == (1, (1, 1))
    finally:
        importer.close()
    assert query(tmp_path / "a.db", "SELECT id FROM sessions") == [(session_id(1),)]
