"""Table pages answer questions by clicks: links, facets, places as the transcript counts them, words for numbers."""

from __future__ import annotations

import re
from html import unescape

import pytest

from datasette_clm import tables
from support.logs import query
from support.site import site

pytestmark = pytest.mark.asyncio


async def page(ds, path):
    answer = await ds.client.get(path)
    assert answer.status_code == 200, (path, answer.text[:300])
    return answer.text


def ways(html):
    """The questions of a page: what each link says, and where it leads."""
    part = re.search(r'<span class="clm-ways">(.*?)</span>', html, re.DOTALL)
    return {words: unescape(href) for href, words in re.findall(r'<a href="([^"]*)">([^<]*)</a>', part[1])}


def count(html):
    found = re.search(r"([\d,]+) rows?\b", html)
    return int(found[1].replace(",", "")) if found else 0


async def test_each_question_of_a_table_is_answered_by_the_page_its_link_leads_to(demo):
    ds = await site(demo)
    for name, table in tables.TABLES.items():
        if table.ways:
            links = ways(await page(ds, f"/demo/{name}"))
            assert [*links] == [words for words, _query in table.ways] + ["Main columns only"] * bool(table.main)
            for href in links.values():
                assert href.startswith(f"/demo/{name}?")
                assert "timed out" not in await page(ds, href)


@pytest.mark.parametrize(
    ("table", "words", "where"),
    [
        ("sessions", "Interrupted", "interruptions > 0"),
        ("sessions", "Context compacted", "compactions > 0"),
        ("sessions", "Most failed tools", "tool_errors > 0"),
        ("sessions", "Ongoing", "status = 'ongoing'"),
        ("sessions", "Unanswered", "status = 'unanswered'"),
        ("tool_calls", "Failed: which tools fail most", "status = 'error'"),
        ("chunks", "Where context was compacted", "kind = 'compact'"),
        ("session_files", "Changed files", "edits + writes > 0"),
        ("session_files", "Without copied history", "own_reads + own_changes > 0"),
    ],
)
async def test_a_question_counts_what_the_database_holds(demo, table, words, where):
    ds = await site(demo)
    want = query(demo, f"SELECT count(*) FROM {table} WHERE {where}")[0][0]
    assert want
    assert count(await page(ds, ways(await page(ds, f"/demo/{table}"))[words])) == want


async def test_links_keep_to_the_base_url(demo):
    ds = await site(demo, settings={"base_url": "/pre/"})
    assert all(href.startswith("/pre/demo/chunks?") for href in ways(await page(ds, "/demo/chunks")).values())


@pytest.mark.parametrize(
    ("table", "column", "place"),
    [("chunks", "preview", "seq"), ("messages", "preview", "chunk_seq"), ("tool_calls", "subject", "chunk_seq"), ("session_files", "file", "last_chunk")],
)  # fmt: skip
async def test_the_words_of_a_row_open_its_place_in_the_transcript(demo, table, column, place):
    ds = await site(demo)
    html = await page(ds, f"/demo/{table}?_size=max")
    sid, seq = query(
        demo,
        f"SELECT session_id, {place} FROM {table} WHERE {place} > 2 AND {column} <> '' ORDER BY session_id LIMIT 1",
    )[0]
    assert f'<a href="/demo/-/session/{sid}?chunk={seq}#c{seq}">' in html
    assert f'title="stored as {seq}">#{seq + 1}</a>' in html


async def test_what_a_row_is_about_stands_before_its_bulk_and_its_ids(demo):
    ds = await site(demo)
    for table, words, bulk in (
        ("messages", "preview", "text"),
        ("tool_calls", "subject", "input"),
        ("chunks", "preview", "key"),
    ):
        columns = re.findall(r'data-column="([^"]*)" data-column-type', await page(ds, f"/demo/{table}"))
        assert columns.index(words) < 5
        assert columns.index(bulk) > 12


async def test_flags_and_projects_read_as_words(demo):
    ds = await site(demo)
    calls = await page(ds, "/demo/tool_calls?_size=max")
    assert '<span class="clm-dim-cell" title="0">no</span>' in calls
    assert '<span title="1">yes</span>' in calls
    project = query(demo, "SELECT id FROM projects WHERE name = 'tidewise'")[0][0]
    assert f'<a href="/demo/sessions?project_id={project}"><bdi>tidewise</bdi></a>' in calls
    assert f'<a href="/demo/sessions?project_id={project}"><bdi>tidewise</bdi></a>' in await page(ds, "/demo/projects")


async def test_datasette_looks_for_no_more_facets_on_our_tables_unless_it_is_asked_to(demo):
    ds = await site(demo)
    assert "Suggested facets" not in await page(ds, "/demo/messages")
    assert "Suggested facets" in await page(ds, "/demo/messages?_nosuggest=")


async def test_every_kind_of_row_and_every_filter_may_be_combined(demo):
    """A facet of one, then of another: the numbers shown are those of both."""
    ds = await site(demo)
    found = (await ds.client.get("/demo/tool_calls.json?status=error&_extra=facet_results")).json()["facet_results"]
    found = found.get("results", found)
    shown = {one["value"]: one["count"] for one in found["name"]["results"]}
    assert shown == dict(query(demo, "SELECT name, count(*) FROM tool_calls WHERE status = 'error' GROUP BY name"))
