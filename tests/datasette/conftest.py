"""Databases for the Datasette tests, each imported once by the real importer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from clm_sessions.publish import publish
from clm_sessions.store.connect import open_reader
from support.logs import import_logs, session_id, turn, write_log
from support.site import LINE, full_log

CASES = Path(__file__).parent.parent / "cases"
DEMO = Path(__file__).parent.parent.parent / "demo" / "logs"
LONG = 5_000


def pytest_report_header() -> str:
    """Say which line is tested."""
    return LINE


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """Datasette prints every refused request with all variables where rich is installed: slow, and of no use here."""
    import datasette.handle_exception

    monkeypatch.setattr(datasette.handle_exception, "rich", None)


@pytest.fixture(scope="session")
def imported(tmp_path_factory) -> Callable[..., Path]:
    """Import folders into a database; the same name gives the same file."""
    made: dict[str, Path] = {}

    def make(name: str, *roots: Path) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name) / f"{name}.db"
            import_logs(made[name], *roots)
        return made[name]

    return make


@pytest.fixture(scope="session")
def case(imported) -> Callable[[str], Path]:
    """The database of one case."""
    return lambda name: imported(name, CASES / name / "input")


@pytest.fixture(scope="session")
def demo(imported) -> Path:
    """The database of the demo logs."""
    return imported("demo", DEMO)


@pytest.fixture(scope="session")
def full(imported, tmp_path_factory) -> tuple[Path, str]:
    """A database with one session that has a bit of everything, and its id."""
    folder = tmp_path_factory.mktemp("full-logs")
    sid = full_log(folder)
    return imported("full", folder), sid


@pytest.fixture(scope="session")
def long(imported, tmp_path_factory) -> tuple[Path, str]:
    """A database with one session of 5,000 chunks, and its id."""
    folder = tmp_path_factory.mktemp("long-logs")
    sid = session_id(77)
    turns = (
        one for n in range(LONG // 2) for one in turn(n, f"Question {n} about bed {n % 7}", f"Answer {n}", session=sid)
    )
    write_log(folder / "-home-dev-garden" / f"{sid}.jsonl", turns)
    return imported("long", folder), sid


@pytest.fixture(scope="session")
def published(full, tmp_path_factory) -> Path:
    """The published copy of the same database, under the same name."""
    out = tmp_path_factory.mktemp("published") / "full.db"
    with closing(open_reader(full[0])) as db:
        publish(db, out, [full[1]], [])
    return out
