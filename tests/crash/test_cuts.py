"""Logs that grow by any bytes, file after file, imported after each step, end as one import of the whole."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clm_sessions import plugins
from clm_sessions.store import raw
from clm_sessions.verify import verify
from support.kept import write_logs
from support.logs import check_search_index, dump, import_logs, query

CASES = Path(__file__).parent.parent / "cases"
EXAMPLES = 400 if os.environ.get("CLM_NIGHTLY") else 40
"""For each of the five folders: 200 in all."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Whole logs: agents and side files of Claude Code, forks, clm, Codex."""
    made = tmp_path_factory.mktemp("whole")
    agents = write_logs(made / "agents", long=False) / "projects" / "-home-dev-garden"
    found = {
        "claude-code with agents": _copy(agents, made / "a" / "p"),
        "clm": _copy(made / "agents" / "clm", made / "c"),
    }
    for name in ("subagent-layouts", "resumed-copies", "codex-two-voices"):
        found[name] = _copy(CASES / name / "input", made / name)
    return found


def _copy(source, target):
    shutil.copytree(source, target)
    return target


def comparable(database):
    """All rows but the places and stats of the files, and how the archive is cut into blocks."""
    found = dump(database, sources=False)
    columns = "id, session_id, format, role, native_id, agent_id, lines, consumed, head_hash, tail_hash, first_at, last_at, refused, checkpoint"
    found["sources"] = sorted(map(repr, query(database, f"SELECT {columns} FROM sources")))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["claude-code with agents", "clm", "subagent-layouts", "resumed-copies", "codex-two-voices"]
)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_steps_of_growth_end_as_one_import(name, folders, tmp_path_factory, proved, data):
    whole = folders[name]
    files = {path.relative_to(whole): path.read_bytes() for path in sorted(whole.rglob("*")) if path.is_file()}
    work = tmp_path_factory.mktemp("cut", numbered=True)
    (work / "logs").mkdir()
    done = dict.fromkeys(files, 0)
    for step in range(data.draw(st.integers(1, 4), label="steps") + 1):
        for path, content in files.items():
            last = step and data.draw(st.booleans(), label=f"{path} to its end")
            done[path] = len(content) if last else data.draw(st.integers(done[path], len(content)), label=str(path))
            _write(work / "logs" / path, content[: done[path]])
        import_logs(work / "a.db", work / "logs")
    for path, content in files.items():
        _write(work / "logs" / path, content)
    import_logs(work / "a.db", work / "logs")
    import_logs(work / "fresh.db", work / "logs")
    assert comparable(work / "a.db") == comparable(work / "fresh.db")
    check_search_index(work / "a.db")
    assert verify(work / "a.db", plugins.build(entry_points=False), full=True).findings == []
    with closing(sqlite3.connect(work / "a.db")) as db:
        for sid, place in db.execute("SELECT id, path FROM sources WHERE generation IS NOT NULL"):
            assert b"".join(raw.read(db, sid)) == Path(place).read_bytes()
    shutil.rmtree(work)
    proved("ways to cut and grow logs, all rows equal to one import")


def _write(path, content):
    if content:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
