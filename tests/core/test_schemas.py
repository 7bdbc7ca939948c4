"""A database of every schema there was opens, is brought to the current one by an import, and says the same."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from clm_sessions import open_db, plugins
from clm_sessions.errors import DatabaseError
from clm_sessions.store import migrations, schema
from clm_sessions.verify import verify
from support.logs import check_search_index, import_logs

SCHEMAS = sorted((Path(__file__).parent.parent / "schemas").glob("*.sql"), key=lambda p: int(p.stem))
OURS = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"


def rows(database, like=None):
    """Every row by table and column: the columns that ``like`` has, where given."""
    with closing(sqlite3.connect(database)) as db:
        tables = [name for name, _sql in db.execute(OURS) if name in schema.TABLES and name != "_clm_meta"]
        found = {}
        for table in like or tables:
            columns = (like or {}).get(table, ([c[1] for c in db.execute(f"PRAGMA table_info({table})")],))[0]
            found[table] = columns, sorted(map(repr, db.execute(f"SELECT {', '.join(columns)} FROM {table}")))
        return found


@pytest.fixture(params=SCHEMAS, ids=lambda p: p.stem)
def old(request, tmp_path):
    with closing(sqlite3.connect(tmp_path / "old.db")) as db:
        db.executescript(request.param.read_text())
    return tmp_path / "old.db"


def test_every_schema_has_a_fixture():
    assert [int(path.stem) for path in SCHEMAS] == list(range(1, schema.SCHEMA_VERSION + 1))


def test_a_database_of_any_schema_is_migrated_by_an_import_and_says_the_same(old, tmp_path):
    before = rows(old)
    (tmp_path / "empty").mkdir()
    import_logs(old, tmp_path / "empty")
    assert rows(old, before) == before
    check_search_index(old)
    assert verify(old, plugins.build(entry_points=False)).findings == []
    with open_db(old) as db:
        assert [len(session.read().messages) for session in db.sessions] == [
            session.info.messages for session in db.sessions
        ]
        assert db.search("kale")


def test_serving_does_not_migrate(old):
    with closing(sqlite3.connect(old)) as db:
        db.execute("UPDATE _clm_meta SET value = '0' WHERE key = 'schema_version'")
        db.commit()
    data = old.read_bytes()
    with pytest.raises(DatabaseError, match="older schema"):
        verify(old, plugins.build(entry_points=False))
    assert old.read_bytes() == data


def test_the_newest_fixture_is_what_the_code_makes(tmp_path):
    """It fails when a table changes. Not released yet: run tests/schemas/make.py. Released: add a migration and a schema."""
    with (
        closing(sqlite3.connect(":memory:")) as made,
        closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh,
    ):
        made.executescript(SCHEMAS[-1].read_text())
        schema.migrate(fresh)
        assert dict(made.execute(OURS)) == dict(fresh.execute(OURS))


def test_a_new_database_is_what_the_migrations_make_and_they_have_nothing_left_to_do():
    with (
        closing(sqlite3.connect(":memory:", isolation_level=None)) as made,
        closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh,
    ):
        schema.migrate(fresh)
        migrations.apply(made)
        objects = "SELECT type, name, tbl_name FROM sqlite_master ORDER BY name"
        assert made.execute(objects).fetchall() == fresh.execute(objects).fetchall()
        ours = f"{OURS} AND tbl_name <> '_sqlite_migrations'"
        assert dict(made.execute(ours)) == dict(fresh.execute(ours))
        assert [step.name for step in migrations.migrations.applied(Database(fresh))] == ["first"]
        assert migrations.migrations.pending(Database(fresh)) == []
