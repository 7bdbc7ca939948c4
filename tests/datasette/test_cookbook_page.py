"""Ready queries and SQL functions on a real Datasette of either line: they answer, lead to the transcript, and keep to permissions."""

import json
import re
from pathlib import Path

import pytest
from datasette.utils import StartupError

from clm_sessions.cookbook import RECIPES
from support.logs import import_logs, own_prices
from support.site import MODERN, Page, cookies, site

DOCS = Path(__file__).parents[2] / "docs"
DEMO = Path(__file__).parents[2] / "demo" / "logs"
SQL = "/demo/-/query" if MODERN else "/demo"


@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    """The demo logs with prices of our own."""
    made = tmp_path_factory.mktemp("priced") / "demo.db"
    import_logs(made, DEMO, book=own_prices(**{"claude-*": {"input": 3, "output": 15}}))
    return made


async def rows(ds, sql, **more):
    found = (await ds.client.get(f"{SQL}.json", params={"sql": sql, "_shape": "array", **more})).json()
    return [list(row.values()) for row in found]


async def value(ds, expression):
    return (await rows(ds, f"select {expression}"))[0][0]


@pytest.mark.asyncio
async def test_every_recipe_is_a_canned_query_and_stands_on_the_page(priced):
    ds = await site(priced)
    page = await ds.client.get("/demo/-/cookbook")
    assert page.status_code == 200
    for recipe in RECIPES:
        assert f'id="{recipe.name}"' in page.text
        assert f'href="/demo/{recipe.name}"' in page.text
        answer = await ds.client.get(f"/demo/{recipe.name}.json?_shape=array")
        assert (answer.status_code, type(answer.json())) == (200, list), recipe.name
    html = (await ds.client.get("/demo/cost_by_model?since=2026-02-10&project=")).text
    assert "Tokens and cost by model" in html
    assert re.search(r"\$\d", html)


@pytest.mark.asyncio
async def test_results_that_name_sessions_lead_to_them(priced):
    ds = await site(priced)
    for address in (
        "/demo/most_expensive_turns",
        f"{SQL}?sql=select+session_id,+chunk_seq,+3+as+seq+from+requests+limit+3",
    ):
        page = Page((await ds.client.get(address)).text.replace("<body", "<main><body"))
        places = [link for link in page.links if "/demo/-/session/" in link]
        assert any("?chunk=" in link for link in places)
        for link in places[:4]:
            assert (await ds.client.get(link)).status_code == 200


@pytest.mark.asyncio
async def test_the_cookbook_is_found_from_the_menu_of_the_database(priced):
    ds = await site(priced)
    assert "/demo/-/cookbook" in (await ds.client.get("/demo")).text


DENIED = {"databases": {"demo": {"tables": {"tool_calls": {"allow": {"id": "alice"}}}}}}
NO_SQL = {"databases": {"demo": {"allow_sql": {"id": "alice"}}}}


@pytest.mark.asyncio
@pytest.mark.parametrize("actor", [None, "alice"])
async def test_a_recipe_over_a_denied_table_is_neither_named_nor_run(priced, actor):
    ds = await site(priced, metadata=DENIED)
    status = 200 if actor else 403
    for end in ("", ".json"):
        assert (await ds.client.get(f"/demo/tool_errors{end}", cookies=cookies(ds, actor))).status_code == status
    assert (await ds.client.get("/demo/cost_by_day", cookies=cookies(ds, actor))).status_code == 200
    cookbook = (await ds.client.get("/demo/-/cookbook", cookies=cookies(ds, actor))).text
    assert "cost_by_day" in cookbook
    assert ("slowest_calls" in cookbook) is (actor == "alice")
    if actor is None:
        assert "slowest_calls" not in (await ds.client.get("/demo")).text


@pytest.mark.asyncio
@pytest.mark.parametrize("actor", [None, "alice"])
async def test_without_the_permission_to_run_sql_the_page_shows_sql_alone(priced, actor):
    ds = await site(priced, **{"config" if MODERN else "metadata": NO_SQL})
    page = (await ds.client.get("/demo/-/cookbook", cookies=cookies(ds, actor))).text
    assert "FROM daily_usage" in page
    assert ('name="since"' in page) is (actor == "alice")
    assert (await ds.client.get("/demo/cost_by_day", cookies=cookies(ds, actor))).status_code == (200 if actor else 403)


@pytest.mark.asyncio
async def test_without_sessions_there_is_no_page(priced):
    ds = await site(priced, metadata={"databases": {"demo": {"tables": {"sessions": {"allow": False}}}}})
    assert (await ds.client.get("/demo/-/cookbook")).status_code == 403
    assert (await ds.client.get("/demo/cost_by_day")).status_code == 403


@pytest.mark.asyncio
async def test_a_query_that_the_user_gave_the_same_name_stays(priced):
    own = {"databases": {"demo": {"queries": {"cost_by_day": {"sql": "select 7 as mine"}}}}}
    ds = await site(priced, **{"config" if MODERN else "metadata": own})
    assert (await ds.client.get("/demo/cost_by_day.json?_shape=array")).json() == [{"mine": 7}]


# -- functions --------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("expression", "want"),
    [
        ("clm_preview('  one\n two  three ', 9)", "one two t…"), ("clm_preview('a')", "a"), ("clm_preview(NULL)", None),
        ("clm_preview(7)", None), ("clm_preview('a', -1)", None), ("clm_preview(x'ff')", None),
        ("""clm_path('{"file_path": "/a/b"}')""", "/a/b"), ("""clm_path('{"path": 3}')""", None), ("clm_path('not json')", None),
        ("clm_path(NULL)", None), ("clm_path('[1]')", None), ("""clm_arg('{"a": "x"}', 'a')""", "x"),
        ("""clm_arg('{"a": 7}', 'a')""", 7), ("""clm_arg('{"a": [1, true]}', 'a')""", "[1, true]"),
        ("""clm_arg('{"a": 7}', 'b')""", None), ("""clm_arg('{"a": 7}', 3)""", None),
        ("""clm_arg('{"a": 99999999999999999999999}', 'a')""", "99999999999999999999999"),
        ("clm_duration(112000)", "1 min 52 s"), ("clm_duration('112000')", "1 min 52 s"), ("clm_duration(-1)", None),
        ("clm_duration(1e300)", None), ("clm_duration('x')", None), ("clm_url('a/b')", "/demo/-/session/a~2Fb"),
        ("clm_url('s', 4)", "/demo/-/session/s?chunk=4#c4"), ("clm_url('s', 'x')", None), ("clm_url(NULL, 1)", None),
        ("clm_price('mine', '2026-03-02', 1000000, 0)", 2.0), ("clm_price('mine', NULL, 0, 1000000, 1000000, 0)", 11.0),
        ("clm_price('mine', '2026-03-02', NULL, 0)", None), ("clm_price('mine', 3, 1, 1)", None), ("clm_price(1, 2)", None),
        ("clm_price()", None), ("clm_price('mine', '2026-03-02', 'x', 1)", None),
        ("clm_price('mine', '2026-03-02', 1, 1, 1, 1, 1, 1)", None),
    ],
)  # fmt: skip
async def test_a_function_answers_or_gives_null(priced, expression, want):
    ds = await site(priced, metadata={"plugins": {"clm-sessions": {"prices": {"mine": {"input": 2, "output": 9}}}}})
    assert await value(ds, expression) == want


@pytest.mark.asyncio
async def test_functions_are_there_for_our_databases_alone(priced, tmp_path):
    import sqlite3

    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("create table t (a)")
    ds = await site(priced, other)
    address = "/other/-/query.json" if MODERN else "/other.json"
    answer = await ds.client.get(address, params={"sql": "select clm_duration(1)"})
    assert "no such function" in json.dumps(answer.json())


@pytest.mark.asyncio
async def test_the_examples_of_the_page_about_sql_run(priced):
    ds = await site(priced)
    examples = re.findall(r"```sql\n(.*?)```", (DOCS / "sql.md").read_text("utf-8"), re.DOTALL)
    assert len(examples) >= 4
    for sql in examples:
        assert await rows(ds, sql.strip()), sql


# -- prices of this Datasette -----------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_configured_prices_win_on_a_session_page(priced):
    plain = await site(priced)
    sid = (await rows(plain, "select id from sessions where own_cost_usd > 0 and model like 'claude-haiku%' limit 1"))[
        0
    ][0]
    free = await site(priced, metadata={"plugins": {"clm-sessions": {"prices": {"*": {"input": 0, "output": 0}}}}})
    assert (await plain.client.get(f"/demo/-/session/{sid}.json")).json()["session"]["cost"]["usd"] > 0
    assert (await free.client.get(f"/demo/-/session/{sid}.json")).json()["session"]["cost"]["usd"] == 0
    assert "$0 est." in (await free.client.get(f"/demo/-/session/{sid}")).text


@pytest.mark.asyncio
async def test_prices_that_are_none_are_refused_at_the_start(priced):
    with pytest.raises(StartupError, match="plugins: clm-sessions: the price of 'x' must have input and output"):
        await site(priced, metadata={"plugins": {"clm-sessions": {"prices": {"x": {"in": 1}}}}})
