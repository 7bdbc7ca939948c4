"""Pages of large tables: what SQLite knows of their sizes, and that facets of narrowed pages read one index alone."""

from __future__ import annotations

import sqlite3

import pytest

from clm_sessions.store import planner, schema
from datasette_clm import tables
from datasette_clm.tabs import touching

ROWS = 6_000
FEW = {
    "status": 2,
    "kind": 2,
    "origin": 3,
    "inherited": 2,
    "access": 2,
    "model": 2,
    "name": 5,
    "project_id": 5,
    "day": 30,
}


@pytest.fixture(scope="module")
def large():
    """Rows by the thousand in which some values are frequent, as in any real database."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(db)
    for table in ("messages", "tool_calls", "requests", "session_files", "chunks"):
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        made = [f"n % {FEW[c]} || ''" if c in FEW else "n" for c in columns]
        db.execute(
            f"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {ROWS}) "
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(made)} FROM r"
        )
    sessions = ((f"s{n}", f"2026-01-01T00:00:00.{n % 1000:03d}Z") for n in range(ROWS))
    db.executemany("INSERT INTO sessions (id, started_at) VALUES (?, ?)", sessions)
    planner.analyse(db)
    yield db
    db.close()


@pytest.mark.parametrize("table", ["messages", "tool_calls", "requests", "session_files", "chunks"])
def test_each_facet_of_a_page_narrowed_by_another_one_is_counted_over_an_index(large, table):
    facets = tables.TABLES[table].facets
    copied = ("inherited",) * (table in {"tool_calls", "requests", "session_files"})
    for narrowed in (*facets, *copied):
        for facet in facets:
            sql = f"SELECT {facet}, count(*) FROM {table} WHERE {narrowed} = '0' AND {facet} IS NOT NULL GROUP BY 1"
            plan = large.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()[0][3]
            assert "COVERING" in plan, (narrowed, facet, plan)


def test_only_large_tables_are_analysed(large):
    known = {table for (table,) in large.execute("SELECT DISTINCT tbl FROM sqlite_stat1")}
    assert known == {"messages", "tool_calls", "requests", "session_files", "chunks"}


def test_what_belongs_to_a_session_is_looked_up_though_most_sessions_have_no_parent_or_fork(large):
    for column in ("parent_id", "forked_from"):
        sql = f"SELECT id FROM sessions WHERE {column} = 'x' ORDER BY started_at, id"
        assert f"idx_sessions_{column}" in large.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()[0][3]
    sql = f"{touching.TREE} SELECT t.path FROM tree CROSS JOIN tool_calls t ON t.session_id = tree.id WHERE t.name IN ('0')"
    plan = [row[3] for row in large.execute(f"EXPLAIN QUERY PLAN {sql}", ('["x"]',))]
    assert not [step for step in plan if "AUTOMATIC" in step or "BLOOM" in step or step.startswith("SCAN t ")], plan


def test_a_table_is_analysed_again_only_when_it_has_grown_several_times():
    db = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(db)

    def grow(upto):
        first = db.execute("SELECT coalesce(max(seq), 0) + 1 FROM chunks").fetchone()[0]
        db.executemany("INSERT INTO chunks (session_id, seq) VALUES ('s', ?)", ((n,) for n in range(first, upto + 1)))
        planner.analyse(db)
        return [int(stat.split()[0]) for (stat,) in db.execute("SELECT stat FROM sqlite_stat1 WHERE tbl = 'chunks'")]

    assert {*grow(6_000)} == {6_000}
    assert {*grow(12_000)} == {6_000}
    assert {*grow(24_000)} == {24_000}
    db.close()


def test_a_database_that_takes_no_writes_keeps_its_plans(tmp_path):
    path = tmp_path / "s.db"
    db = sqlite3.connect(path, isolation_level=None)
    schema.migrate(db)
    db.executemany("INSERT INTO chunks (session_id, seq) VALUES ('s', ?)", ((n,) for n in range(6_000)))
    db.close()
    read = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    planner.analyse(read)
    assert read.execute("SELECT count(*) FROM chunks").fetchone()[0] == 6_000
    read.close()
