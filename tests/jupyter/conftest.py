"""The demo logs, read once, and a database made of them by the real importer."""

import pytest

import jupyter_clm as jc
from support.logs import import_logs
from support.notebooks import LOGS

LONG = "b3fefa1a"


@pytest.fixture(scope="session")
def sessions():
    return jc.load_all(LOGS)


@pytest.fixture(scope="session")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("db") / "sessions.db"
    import_logs(path, LOGS)
    with jc.open(path) as opened:
        yield opened


@pytest.fixture
def long(sessions):
    """The session of 147 chunks."""
    return sessions[LONG]


@pytest.fixture
def stored(database):
    """The same session from the database."""
    return database.sessions[LONG]
