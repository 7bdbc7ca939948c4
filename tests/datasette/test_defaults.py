"""Table pages with no metadata file: facets, sort, labels, descriptions, units, cells; the user's own settings win."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

from clm_sessions.store import schema
from datasette_clm import tables
from support.logs import query
from support.site import MODERN, site

pytestmark = pytest.mark.asyncio


async def page(ds, path):
    answer = await ds.client.get(path)
    assert answer.status_code == 200, (path, answer.text[:300])
    return answer.text


async def facets(ds, path):
    data = (await ds.client.get(f"{path}.json?_extra=facet_results")).json()
    found = data["facet_results"]
    return found.get("results", found)


async def test_every_table_and_column_of_the_schema_is_described(demo):
    with sqlite3.connect(demo) as db:
        names = [
            row[0]
            for row in db.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%\\_fts%' ESCAPE '\\'"
            )
        ]
        for name in set(names) - {"sqlite_stat1", "sqlite_stat4"}:
            assert name in tables.TABLES, name
            columns = [row[1] for row in db.execute(f"PRAGMA table_xinfo([{name}])")]
            assert set(tables.column_words(name, columns)) == set(columns), name
            table = tables.TABLES[name]
            for column in (*table.facets, *table.main, *filter(None, (table.label, table.sort, table.sort_desc))):
                assert column in columns, (name, column)


async def test_every_default_facet_and_sort_column_begins_an_index():
    for name, table in tables.TABLES.items():
        indexed = {columns[0] for columns in schema.INDEXES.get(name, ())}
        assert set(table.facets) <= indexed, name
        assert {table.sort_desc} - {None} <= indexed, name


async def test_the_sessions_table_shows_facets_newest_first_and_links_to_transcripts(demo):
    ds = await site(demo)
    found = await facets(ds, "/demo/sessions")
    assert {"model", "project_id", "status", "role"} <= set(found)
    projects = {result["label"] for result in found["project_id"]["results"]}
    assert "garden-planner" in projects
    rows = (await ds.client.get("/demo/sessions.json?_shape=objects")).json()["rows"]
    times = [row["started_at"] for row in rows]
    assert times == sorted(times, reverse=True)
    html = await page(ds, "/demo/sessions")
    for sid, title in query(demo, "SELECT id, title FROM sessions WHERE role = 'main' AND title IS NOT NULL LIMIT 5"):
        assert f"/demo/-/session/{sid}" in html, title
    assert "the title opens the transcript" in html
    assert "_facet=" in html or "facet" in html


@pytest.mark.parametrize("name", [name for name, table in tables.TABLES.items() if name != "_sqlite_migrations"])
async def test_every_table_page_opens_with_its_description_and_facets(demo, name):
    ds = await site(demo)
    html = await page(ds, f"/demo/{name}")
    assert tables.TABLES[name].about in html
    if tables.TABLES[name].facets:
        assert set(await facets(ds, f"/demo/{name}")) == set(tables.TABLES[name].facets)


async def test_columns_are_described_with_their_units(demo):
    ds = await site(demo)
    html = await page(ds, "/demo/sessions")
    assert "From first to last entry, in milliseconds" in html
    if not MODERN:
        units = ds.table_metadata("demo", "tool_calls")["units"]
        assert units == {"duration_ms": "ms"}
        assert (await ds.client.get("/demo/tool_calls.json?duration_ms__gt=1 s")).status_code == 200


async def test_internal_tables_are_not_on_the_index_of_the_database(demo):
    ds = await site(demo)
    listed = (await ds.client.get("/demo.json")).json()["tables"]
    hidden = {one["name"] for one in listed if one["hidden"]}
    assert {"_clm_meta", "_sqlite_migrations", "raw_blocks", "source_lines", "messages_fts"} <= hidden
    shown = {one["name"] for one in listed} - hidden
    assert shown == {name for name, table in tables.TABLES.items() if not table.hidden}


async def test_the_users_own_settings_win(demo):
    own = {
        "facets": ["format"], "sort": "day", "description": "Mine", "label_column": "id", "columns": {"title": "My title"},
    }  # fmt: skip
    ds = await site(
        demo, metadata={"databases": {"demo": {"tables": {"sessions": own, "raw_blocks": {"hidden": False}}}}}
    )
    html = await page(ds, "/demo/sessions")
    assert "Mine" in html
    assert "the title opens the transcript" not in html
    assert "My title" in html
    assert set(await facets(ds, "/demo/sessions")) == {"format"}
    rows = (await ds.client.get("/demo/sessions.json?_shape=objects")).json()["rows"]
    days = [row["day"] for row in rows if row["day"]]
    assert days == sorted(days)
    listed = (await ds.client.get("/demo.json")).json()["tables"]
    assert not next(one for one in listed if one["name"] == "raw_blocks")["hidden"]


async def test_a_users_descending_sort_replaces_ours(demo):
    ds = await site(demo, metadata={"databases": {"demo": {"tables": {"projects": {"sort_desc": "path"}}}}})
    rows = (await ds.client.get("/demo/projects.json?_shape=objects")).json()["rows"]
    paths = [row["path"] for row in rows]
    assert paths == sorted(paths, reverse=True)


async def test_cells_read_well(demo):
    ds = await site(demo)
    calls = await page(ds, "/demo/tool_calls?_size=max")
    assert '<details class="clm-text-cell">' in calls
    assert 'class="clm-bad-cell">error' in calls
    sid, chunk = query(demo, "SELECT session_id, chunk_seq FROM tool_calls WHERE chunk_seq > 3 LIMIT 1")[0]
    assert f"/demo/-/session/{sid}?chunk={chunk}#c{chunk}" in calls
    sessions = await page(ds, "/demo/sessions?_size=max")
    tokens = query(demo, "SELECT max(cache_read_tokens) FROM sessions")[0][0]
    assert f'title="{tokens:,}">{tokens / 1e6:.0f}M' in sessions
    assert "<time datetime=" in sessions


async def test_a_long_text_is_whole_on_the_page_of_its_row(demo):
    ds = await site(demo)
    sid, seq, text = query(demo, "SELECT session_id, seq, result FROM tool_calls ORDER BY length(result) DESC LIMIT 1")[
        0
    ]
    html = await page(ds, f"/demo/tool_calls/{sid},{seq}")
    assert "clm-text-cell" not in html
    assert text.split("\n")[-2][:60] in html.replace("&#34;", '"').replace("&#39;", "'")


async def test_search_on_the_tables_works(demo):
    ds = await site(demo)
    for name, words in (("messages", "rain"), ("tool_calls", "pytest"), ("sessions", "beds")):
        data = (await ds.client.get(f"/demo/{name}.json?_search={words}&_shape=objects")).json()
        assert data["rows"], name


async def test_menus_and_start_page_lead_to_the_sessions(demo):
    ds = await site(demo)
    start = await page(ds, "/")
    assert "Agent sessions" in start
    database = await page(ds, "/demo")
    assert "/demo/-/search" in database
    table = await page(ds, "/demo/messages")
    assert "/demo/-/search" in table


async def test_a_database_attached_while_running_gets_the_same_defaults(demo, tmp_path):
    from datasette.database import Database

    copy = tmp_path / "more.db"
    shutil.copy(demo, copy)
    ds = await site()
    ds.add_database(Database(ds, path=str(copy), is_mutable=True), name="more")
    assert "model" in await facets(ds, "/more/sessions")
