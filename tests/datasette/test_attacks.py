"""Nothing in a log is live on any of our pages, nor on Datasette's own pages of the same tables."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from support.attacks import ALL, CANARY
from support.hostile import hostile_id, write_hostile
from support.logs import query
from support.site import Page, site

pytestmark = pytest.mark.asyncio
SCRIPT = re.compile(r"<(script|style)\b([^>]*)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)


@pytest.fixture(scope="module")
def hostile(imported, tmp_path_factory):
    """A database with the attacks in every field, imported by the real importer."""
    folder = tmp_path_factory.mktemp("hostile-logs")
    write_hostile(folder)
    return imported("hostile", folder)


def tilde(text):
    from datasette.utils import tilde_encode

    return tilde_encode(text)


def frame(page):
    """What stands outside of our part: the links with the database's name may differ, nothing else."""
    return [(tag, tuple((name, value) for name, value in attrs if name != "href")) for tag, attrs in page.outside]


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, len(ALL), 12))
async def test_no_attack_is_live_on_any_page_in_any_field(hostile, full, start):
    ds = await site(hostile, full[0])
    benign = {
        tail: frame(Page((await ds.client.get(f"/full/-/session/{full[1]}{tail}")).text)) for tail in ("", "/chunk/1")
    }
    sids = [hostile_id(number) for number in range(start, min(start + 12, len(ALL)))]
    for sid in sids:
        agents = [row[0] for row in query(hostile, "SELECT id FROM sessions WHERE parent_id = ?", sid)]
        assert agents, sid
        for one in (sid, *agents):
            for tail in ("", "/chunk/1", "/cards"):
                answer = await ds.client.get(f"/hostile/-/session/{tilde(one)}{tail}")
                assert answer.status_code == 200, (one, tail)
                page = Page(answer.text if tail != "/cards" else f"<main>{answer.text}</main>")
                assert page.problems == [], (one, tail)
                assert CANARY in page.text, (one, tail)
                if tail != "/cards":
                    assert frame(page) == benign[tail], (one, tail)


@pytest.mark.slow
async def test_every_chunk_of_the_session_with_all_attacks_is_there_and_dead(hostile):
    ds = await site(hostile)
    sid = query(hostile, "SELECT id FROM sessions ORDER BY chunks DESC LIMIT 1")[0][0]
    pages = (await ds.client.get(f"/hostile/-/session/{sid}.json")).json()["pages"]
    assert pages > 2
    for number in range(1, pages + 1):
        page = Page((await ds.client.get(f"/hostile/-/session/{sid}?page={number}")).text)
        assert page.problems == []
    for asked in ("q=readable", "show=errors", "show=tools&show=thinking"):
        assert Page((await ds.client.get(f"/hostile/-/session/{sid}?{asked}")).text).problems == []
    assert Page((await ds.client.get("/hostile/-/search?q=readable")).text).problems == []


async def test_table_pages_of_a_hostile_log_hold_no_live_cell(hostile, full):
    ds = await site(hostile, full[0])
    for table in (
        "sessions",
        "chunks",
        "messages",
        "tool_calls",
        "facts",
        "projects",
        "ingest_issues",
        "session_tools",
        "sources",
    ):
        answer = await ds.client.get(f"/hostile/{table}?_size=200")
        assert answer.status_code == 200, table
        for cell in re.findall(r'<td class="col-[^"]*"[^>]*>(.*?)</td>', answer.text, re.DOTALL):
            assert Page(f"<main>{cell}</main>").problems == [], (table, cell[:300])
    assert CANARY in (await ds.client.get("/hostile/sessions")).text


async def test_json_and_markdown_of_a_hostile_log_are_not_pages(hostile):
    ds = await site(hostile)
    for tail, kind in (
        (".json", "application/json"),
        (".md", "text/markdown"),
        ("/raw/0", "text/plain"),
        ("/chunk/0/text", "text/plain"),
    ):
        answer = await ds.client.get(f"/hostile/-/session/{hostile_id(0)}{tail}")
        assert answer.headers["content-type"].startswith(kind)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"


async def test_the_page_of_the_hostile_markup_case_shows_what_stands_after_the_tags(case):
    ds = await site(case("hostile-markup"))
    sid = "5e550000-0000-4000-8000-000000000108"
    page = Page((await ds.client.get(f"/hostile-markup/-/session/{sid}")).text)
    assert page.problems == []
    assert "still readable" in page.text
    listed = (await ds.client.get("/hostile-markup/messages")).text
    assert "still readable" in listed
    assert "<script>window.__hit" not in listed
    sessions = (await ds.client.get("/hostile-markup/sessions")).text
    assert "<script>window.__hit" not in sessions
    assert "</html>" in sessions


async def test_no_page_embeds_log_text_in_a_script(hostile):
    """Data is fetched or linked, never written into a script element, so no log can close one."""
    ds = await site(hostile)
    for number in range(0, len(ALL), 7):
        html = (await ds.client.get(f"/hostile/-/session/{hostile_id(number)}")).text
        for _tag, _attributes, body in SCRIPT.findall(html):
            assert CANARY not in body
            assert "__hit" not in body


# -- the policy -------------------------------------------------------------------------------------------------


async def test_only_inline_scripts_that_stand_on_a_page_without_log_text_are_allowed(hostile, full):
    ds = await site(hostile, full[0])
    policies = set()
    for path in (
        f"/full/-/session/{full[1]}",
        *(f"/hostile/-/session/{hostile_id(n)}" for n in range(0, len(ALL), 10)),
    ):
        answer = await ds.client.get(path)
        policy = answer.headers["content-security-policy"]
        policies.add(policy)
        hashes = set(re.findall(r"'sha256-([^']+)'", policy))
        inline = [
            body for _tag, attributes, body in SCRIPT.findall(answer.text) if "src=" not in attributes and body.strip()
        ]
        assert {base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in inline} == hashes
    assert len(policies) == 1
    policy = policies.pop()
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "default-src 'none'" in policy
    assert "img-src 'self' data:" in policy


async def test_the_policy_names_no_script_that_a_log_could_smuggle_in():
    from datasette_clm.csp import policy

    made = policy("<script>ours()</script><script src='/x.js'></script><style>a{}</style>")
    assert made.count("sha256-") == 2
    assert policy("<p>nothing</p>").split("; ")[1] == "script-src 'self'"


async def test_messages_of_datasette_itself_are_shown_once(full):
    """The page is rendered twice for its policy; a flash message must not be lost in the second."""
    ds = await site(full[0])
    cookie = ds.sign([["Hello from elsewhere", 1]], "messages")
    answer = await ds.client.get(f"/full/-/session/{full[1]}", cookies={"ds_messages": cookie})
    assert "Hello from elsewhere" in answer.text


async def test_json_is_what_it_says_even_with_lone_surrogates(hostile):
    ds = await site(hostile)
    number = next(n for n, attack in enumerate(ALL) if "\ud800" in attack)
    answer = await ds.client.get(f"/hostile/-/session/{hostile_id(number)}.json")
    assert json.loads(answer.content)["session"]["id"] == hostile_id(number)
