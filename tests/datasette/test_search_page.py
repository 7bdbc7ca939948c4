"""Search: any text a person types gets an answer, and the answer leads to the place."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from urllib.parse import quote, urlencode

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


def untimed(html):
    """The page without how long it took."""
    return re.sub(r'(?<=class="clm-took">)[^<]*', "", html)


@pytest.mark.parametrize("q", words(QUERIES) + MORE)
async def test_no_query_is_an_error_anywhere(case, q):
    ds = await site(case("search-punctuation"))
    sid = "5e550000-0000-4000-8000-000000000109"
    asked = quote(q.encode("utf-8", "surrogatepass"))
    for path in (
        f"search?q={asked}",
        f"search.json?q={asked}",
        f"search.csv?q={asked}",
        f"session/{sid}?q={asked}",
        f"session/{sid}.json?q={asked}",
    ):
        answers = [await ds.client.get(f"/search-punctuation/-/{path}") for _again in range(2)]
        assert answers[0].status_code == 200, (path, answers[0].text[:200])
        assert untimed(answers[0].text) == untimed(answers[1].text)
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


async def found(ds, database, **asked):
    return (await ds.client.get(f"/{database}/-/search.json?{urlencode(asked)}")).json()


async def test_a_facet_leads_to_as_many_places_as_it_says(demo):
    ds = await site(demo)
    facets = (await found(ds, "demo", q="water"))["facets"]
    assert {"prompts", "tool input", "tool output"} <= facets["where"].keys()
    for name in ("where", "tool", "project", "model", "format"):
        for value, number in facets[name].items():
            assert (await found(ds, "demo", q="water", **{name: value}))["count"] == number, (name, value)
    for day, number in facets["day"].items():
        assert (await found(ds, "demo", q="water", time=day))["count"] == number
    assert sum(facets["day"].values()) == (await found(ds, "demo", q="water", time=max(facets["day"])[:7]))["count"]


async def test_each_facet_on_the_page_is_a_link_and_what_is_chosen_can_be_removed(demo):
    ds = await site(demo)
    page = Page((await ds.client.get("/demo/-/search?q=water")).text)
    link = next(link for link in page.links if "tool=Read" in link)
    narrowed = (await ds.client.get(link)).text
    assert Page(narrowed).problems == []
    assert "/demo/-/search?q=water" in Page(narrowed).links
    assert 'name="tool" value="Read"' in narrowed


async def test_a_session_with_many_places_shows_some_and_leads_to_all_of_them(demo):
    ds = await site(demo)
    html = (await ds.client.get("/demo/-/search?q=water")).text
    more = re.search(r'<a href="([^"]*)">(\d+) more places in this session', html)
    data = (await ds.client.get(more[1].replace("&amp;", "&").replace("/search?", "/search.json?"))).json()
    assert data["count"] == int(more[2]) + 3


async def test_pages_hold_every_session_once(demo):
    ds = await site(demo)
    data = await found(ds, "demo", q="the")
    seen = []
    for number in range(1, data["pages"] + 1):
        seen += (await found(ds, "demo", q="the", page=number))["in_session"]
    assert len(seen) == len(set(seen)) == data["session_count"]
    assert (await found(ds, "demo", q="the", page=999))["page"] == data["pages"]


async def test_the_newest_can_come_first(demo):
    ds = await site(demo)
    data = await found(ds, "demo", q="water", sort="newest")
    newest = {}
    for place in data["places"]:
        newest[place["session"]] = max(place["at"] or "", newest.get(place["session"], ""))
    assert list(newest.values()) == sorted(newest.values(), reverse=True)


@pytest.mark.parametrize(
    "odd", ["project=nowhere", "tool=x%5B", "time=2026-13", "where=x", "page=0", "model=%00", "sort=x"]
)
async def test_a_filter_that_fits_nothing_is_an_answer(demo, odd):
    ds = await site(demo)
    answer = await ds.client.get(f"/demo/-/search?q=water&{odd}")
    assert answer.status_code == 200
    assert Page(answer.text).problems == []


async def test_what_finds_nothing_offers_other_searches(demo):
    ds = await site(demo)
    html = (await ds.client.get("/demo/-/search?q=zeppelin+water&project=x")).text
    assert "Nothing found" in html
    assert {"/demo/-/search?q=water", "/demo/-/search?q=zeppelin+water"} <= set(Page(html).links)


async def test_a_word_with_a_dash_is_left_out_and_the_page_says_so(demo):
    ds = await site(demo)
    every, fewer = [(await found(ds, "demo", q=q))["count"] for q in ("water", "water -rain")]
    assert 0 < fewer < every
    assert "Without <bdi>rain</bdi>" in (await ds.client.get("/demo/-/search?q=water+-rain")).text


async def test_the_search_as_sql_gives_rows(demo):
    ds = await site(demo)
    for more in ("", "&tool=Read", "&project=garden-planner&time=2026-02"):
        html = (await ds.client.get(f"/demo/-/search?q=water{more}")).text
        link = next(link for link in Page(html).links if "sql=" in link)
        answer = await ds.client.get(link.replace("?", ".json?", 1) + "&_shape=array")
        assert answer.status_code == 200, link
        assert any("«water»" in row["snippet"] for row in answer.json())


async def test_csv_holds_the_places_with_the_best_first(demo):
    ds = await site(demo)
    rows = list(csv.DictReader(io.StringIO((await ds.client.get("/demo/-/search.csv?q=water")).text)))
    data = await found(ds, "demo", q="water")
    assert len(rows) == data["count"]
    assert rows[0]["url"] == data["places"][0]["url"]


async def test_a_denied_table_gives_no_place_count_or_value(demo):
    deny = {"databases": {"demo": {"tables": {t: {"allow": False} for t in ("tool_calls", "session_models")}}}}
    ds = await site(demo, metadata=deny)
    data = await found(ds, "demo", q="water", tool="Read", model="claude")
    assert data["count"] == (await found(ds, "demo", q="water"))["count"] > 0
    assert data["facets"]["tool"] == data["facets"]["model"] == {}
    assert not {"tool input", "tool output"} & data["facets"]["where"].keys()
    assert not any(place["tool"] for place in data["places"])
    assert "Read" not in (await ds.client.get("/demo/-/search?q=water")).text


async def test_of_a_very_common_word_the_newest_are_counted_and_the_page_says_so(demo, monkeypatch):
    from datasette_clm import search_find

    monkeypatch.setattr(search_find, "RANKED", 5)
    ds = await site(demo)
    data = await found(ds, "demo", q="the")
    assert data["approximate"]
    assert data["count"] <= 10
    assert "very common" in (await ds.client.get("/demo/-/search?q=the")).text
