"""Search: any text a person types gets an answer, and the answer leads to the place."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from support.site import Page, site

pytestmark = pytest.mark.asyncio
QUERIES = json.loads((Path(__file__).parent.parent / "cases/search-punctuation/input/queries.json").read_text("utf-8"))
MORE = [
    "",
    " ",
    "\x00",
    "a\x00b",
    "*",
    '"*',
    "NEAR(",
    "a" * 5_000,
    "🌱" * 600,
    "\ud83c",
    "title:x",
    "-",
    "^x",
    "{a b}: c",
    "%",
    "水やり",
]


def words(queries):
    return [one if isinstance(one, str) else one["query"] for one in queries]


@pytest.mark.parametrize("q", words(QUERIES) + MORE)
async def test_no_query_is_an_error_anywhere(case, q):
    ds = await site(case("search-punctuation"))
    sid = "5e550000-0000-4000-8000-000000000109"
    asked = quote(q.encode("utf-8", "surrogatepass"))
    for path in (
        f"search?q={asked}",
        f"search.json?q={asked}",
        f"session/{sid}?q={asked}",
        f"session/{sid}.json?q={asked}",
    ):
        answers = [await ds.client.get(f"/search-punctuation/-/{path}") for _again in range(2)]
        assert answers[0].status_code == 200, (path, answers[0].text[:200])
        assert answers[0].content == answers[1].content
        assert "fts5:" not in answers[0].text
    for table in ("messages", "tool_calls", "sessions"):
        answer = await ds.client.get(f"/search-punctuation/{table}.json?_search={asked}")
        assert answer.status_code == 200, (table, answer.text[:200])


async def test_a_hit_is_marked_and_links_to_its_chunk(demo):
    ds = await site(demo)
    html = (await ds.client.get("/demo/-/search?q=rain")).text
    assert "<mark>rain</mark>" in html
    page = Page(html)
    assert page.problems == []
    places = [link for link in page.links if "?chunk=" in link]
    assert places
    for link in places[:5]:
        target = Page((await ds.client.get(link.split("#")[0])).text)
        assert int(link.rsplit("#c", 1)[1]) in target.chunks


async def test_html_and_json_find_the_same_places_in_the_same_order(demo):
    ds = await site(demo)
    page = Page((await ds.client.get("/demo/-/search?q=water")).text)
    data = (await ds.client.get("/demo/-/search.json?q=water")).json()
    assert [link for link in page.links if "?chunk=" in link] == [place["url"] for place in data["places"]]
    assert all(any(piece["found"] for piece in place["pieces"]) for place in data["places"])


async def test_accents_fold_and_a_run_of_text_without_spaces_is_found(case):
    ds = await site(case("search-punctuation"))
    for q in ("cafe", "水やり"):
        assert (await ds.client.get(f"/search-punctuation/-/search.json?q={quote(q)}")).json()["count"] > 0, q


async def test_a_session_is_found_by_its_title(demo):
    ds = await site(demo)
    data = (await ds.client.get("/demo/-/search.json?q=strawberries")).json()
    assert "Strawberries" in data["sessions"][0]["title"]


async def test_search_in_one_session_finds_nothing_elsewhere(demo):
    ds = await site(demo)
    every = (await ds.client.get("/demo/-/search.json?q=the")).json()["places"]
    sid = every[0]["session"]
    here = (await ds.client.get(f"/demo/-/search.json?q=the&session={quote(sid)}")).json()["places"]
    assert here
    assert {place["session"] for place in here} == {sid}


async def test_marks_that_a_log_brings_itself_cannot_break_the_page():
    from clm_sessions.store.search import pieces

    assert pieces("a\x02b\x03c") == [("a", False), ("b", True), ("c", False)]
    assert pieces("\x03a\x02\x02b") == [("a", False), ("b", True)]
    assert pieces("") == []
