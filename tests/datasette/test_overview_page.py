"""The overview of a database as a page and as JSON, with pictures and without."""

import re
import sys

import pytest

from clm_sessions.store import connect
from datasette_clm import pictures
from support.attacks import CANARY
from support.hostile import write_hostile
from support.site import Page, local, site

pytestmark = pytest.mark.asyncio
DRAWN = {"svg", "g", "path", "rect", "line", "text", "tspan", "title", "select", "option"}
GIVEN = {"d", "viewbox", "width", "height", "transform", "fill", "stroke", "opacity", "font-size", "text-anchor"}
GIVEN |= {"stroke-width", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "fill-opacity", "stroke-opacity", "font-weight"}
GIVEN |= {"scope", "selected"}
PICTURE = '<svg class="clm-chart'
PLAIN = {"class", "role", "aria-label", "value", "name", "href"}


class Overview(Page):
    """A page on which pictures may stand, of those elements and attributes alone."""

    def _inside(self, tag, given):
        kept = {name: value for name, value in given.items() if name not in GIVEN}
        if tag in DRAWN:
            strange = [value for name, value in given.items() if name in GIVEN and re.search(r"url|:|//", value or "")]
            self.problems += [f"value {value!r} in <{tag}>" for value in strange]
            kept = {name: value for name, value in kept.items() if name not in PLAIN}
            self.problems += [f"attribute {name} of <{tag}>" for name in kept]
        else:
            super()._inside(tag, kept)


@pytest.fixture
def no_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setitem(sys.modules, "vl_convert", None)


async def overview(ds, path):
    answer = await ds.client.get(path)
    assert answer.status_code == 200, path
    page = Overview(answer.text)
    assert page.problems == [], path
    return page, answer.text


async def test_the_page_has_figures_pictures_and_a_table_beside_each_picture(demo):
    ds = await site(demo)
    page, html = await overview(ds, "/demo/-/overview")
    figures = (await ds.client.get("/demo/-/overview.json")).json()["figures"]
    for number in (figures["sessions"], figures["prompts"], figures["skipped"]):
        assert f"{number:,}" in page.text
    assert html.count(PICTURE) == 2 * html.count('class="clm-chart clm-wide-only"')
    assert html.count(PICTURE) >= 6
    assert html.count('<details class="clm-twin">') >= 4
    assert "<style" not in html[html.index("<main") : html.index("</main>")]


async def test_every_mark_and_figure_leads_to_a_page_that_is_there(demo):
    ds = await site(demo)
    page, html = await overview(ds, "/demo/-/overview")
    marks = re.findall(r'<a href="([^"]+)" tabindex="-1">', html)
    assert len(set(marks)) > 20
    assert set(marks) <= {link.replace("&", "&amp;") for link in page.links}
    links = sorted(set(local(page.links)))
    for link in links[:: max(1, len(links) // 25)]:
        assert (await ds.client.get(link)).status_code == 200, link


async def test_a_day_and_a_tool_lead_to_as_many_rows_as_the_page_says(demo):
    ds = await site(demo)
    found = (await ds.client.get("/demo/-/overview.json")).json()
    for one, number in ((found["days"][0], "sessions"), (found["tools"][0], "calls")):
        table, _, query = one["url"].partition("?")
        rows = (await ds.client.get(f"{table}.json?{query}&_shape=array&_size=1000")).json()
        assert len(rows) == one[number]


async def test_project_and_days_are_kept_in_the_address_and_nonsense_is_not(demo):
    ds = await site(demo)
    everything = (await ds.client.get("/demo/-/overview.json")).json()
    key = next(one["key"] for one in everything["projects"] if one["name"] == "tidewise")
    path = f"/demo/-/overview?project={key}&since=2026-03-01&until=2026-03-31"
    page, html = await overview(ds, path)
    asked = (await ds.client.get(path.replace("overview?", "overview.json?"))).json()
    assert asked["asked"] == {"project": key, "since": "2026-03-01", "until": "2026-03-31"}
    assert 0 < asked["figures"]["sessions"] < everything["figures"]["sessions"]
    assert "day__gte=2026-03-01" in html
    assert asked["html"] == path
    odd = (await ds.client.get("/demo/-/overview.json?since=soon&until=2026-13-77")).json()
    assert odd["figures"] == everything["figures"]
    page, _html = await overview(ds, "/demo/-/overview?project=nobody")
    assert "Nothing was recorded of this" in page.text


async def test_an_empty_database_says_how_to_fill_it(tmp_path):
    connect.close_writer(connect.open_writer(tmp_path / "empty.db"))
    page, html = await overview(await site(tmp_path / "empty.db"), "/empty/-/overview")
    assert "There are no sessions in this database yet" in page.text
    assert PICTURE not in html


async def test_without_the_extra_the_same_numbers_are_tables_and_one_line_says_what_to_install(demo, no_extra):
    ds = await site(demo)
    page, html = await overview(ds, "/demo/-/overview")
    assert PICTURE not in html
    assert page.text.count("pip install 'clm-sessions[charts]'") == 1
    assert html.count('<details class="clm-twin" open>') >= 3
    assert "clm-meter clm-b20" in html
    assert "Bash" in page.text


async def test_no_attack_is_live_in_any_picture_or_table(imported, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile-logs")
    write_hostile(folder)
    ds = await site(imported("hostile", folder))
    for path in ("/hostile/-/overview", "/hostile/-/overview?since=2026-03-01"):
        page, _html = await overview(ds, path)
        assert CANARY in page.text


async def test_parts_that_may_not_be_seen_are_not_there(demo):
    denied = {
        "requests": "clm-tokens",
        "tool_calls": "clm-tools",
        "chunks": "clm-cuts",
        "source_lines": "lines skipped",
    }
    for table, mark in denied.items():
        rule = {"databases": {"demo": {"tables": {table: {"allow": False}}}}}
        _page, html = await overview(await site(demo, metadata=rule), "/demo/-/overview")
        assert mark not in html, table
        assert "clm-recent" in html
    _page, html = await overview(await site(demo), "/demo/-/overview")
    assert all(mark in html for mark in denied.values())


async def test_a_log_that_claims_to_be_of_another_age_breaks_nothing(demo, tmp_path):
    import shutil
    import sqlite3

    shutil.copy(demo, tmp_path / "ages.db")
    with sqlite3.connect(tmp_path / "ages.db") as db:
        for table in ("sessions", "requests", "tool_calls"):
            for number, day in enumerate(("0001-01-01", "9999-12-31")):
                db.execute(f"UPDATE {table} SET day = ? WHERE rowid % 9 = ?", (day, number))
    db.close()
    page, html = await overview(await site(tmp_path / "ages.db"), "/ages/-/overview?since=0001-01-01&until=9999-12-31")
    assert html.count(PICTURE) >= 6
    assert "without a time" in page.text


async def test_pictures_of_the_same_figures_are_drawn_once(demo):
    ds = await site(demo)
    await ds.client.get("/demo/-/overview")
    before = pictures._drawn.cache_info()
    await ds.client.get("/demo/-/overview")
    after = pictures._drawn.cache_info()
    assert after.misses == before.misses
    assert after.hits >= before.hits + 3


async def test_menus_and_the_page_of_the_database_lead_here(demo):
    ds = await site(demo)
    for path in ("/", "/demo", "/demo/sessions"):
        assert "/demo/-/overview" in (await ds.client.get(path)).text
