"""Nobody sees through our pages what Datasette would not show them. ``test_matrix.py`` asks every address; here are the rest."""

from __future__ import annotations

import shutil

import pytest

from datasette_clm import loader, overview, raw
from support.site import MODERN, cookies, site

pytestmark = pytest.mark.asyncio
CANARIES = (
    "PROMPTCANARY",
    "THINKCANARY",
    "TOOLCANARY",
    "RESULTCANARY",
    "REPLYCANARY",
    "Title word",
    "ISSUECANARY",
    "/home/dev",
)
TOOLS = ("TOOLCANARY", "RESULTCANARY")
DENY = {"allow": False}
ALICE = {"allow": {"id": "alice"}}
SESSION_TABLES = loader.NEEDS
FILES_TABLES = (*SESSION_TABLES, "tool_calls")
RAW_TABLES = (*raw.NEEDS, "chunks")
ROUTES: dict[str, tuple[str, ...]] = {
    "session/{sid}": SESSION_TABLES,
    "session/{sid}.json": SESSION_TABLES,
    "session/{sid}.md": SESSION_TABLES,
    "session/{sid}?q=resultcanary": SESSION_TABLES,
    "session/{sid}?show=errors&tool=Bash": SESSION_TABLES,
    "session/{sid}.json?show=tools": SESSION_TABLES,
    "session/{sid}/cards": SESSION_TABLES,
    "session/{sid}/chunk/1": SESSION_TABLES,
    "session/{sid}/chunk/1.json": SESSION_TABLES,
    "session/{sid}/chunk/1.md": SESSION_TABLES,
    "session/{sid}/chunk/1/cards?step=1": SESSION_TABLES,
    "session/{sid}/chunk/1/cards": SESSION_TABLES,
    "session/{sid}?q=resultcanary&only=1": SESSION_TABLES,
    "session/{sid}/chunk/0/text": SESSION_TABLES,
    "session/{sid}/raw/0": raw.NEEDS,
    "overview": overview.NEEDS,
    "overview.json": overview.NEEDS,
    "search?q=resultcanary": SESSION_TABLES,
    "search.json?q=word": SESSION_TABLES,
    "session/{sid}/timeline": SESSION_TABLES,
    "session/{sid}/timeline.json": SESSION_TABLES,
    "session/{sid}/timeline?turn=1": SESSION_TABLES,
    "session/{sid}/context": SESSION_TABLES,
    "session/{sid}/context.json": SESSION_TABLES,
    "session/{sid}/files": FILES_TABLES,
    "session/{sid}/files.json": FILES_TABLES,
    "session/{sid}/raw": RAW_TABLES,
    "session/{sid}/raw.json": RAW_TABLES,
    "session/{sid}/raw?line=2": RAW_TABLES,
    "session/{sid}/raw?type=user": RAW_TABLES,
    "session/{sid}/raw/log": raw.NEEDS,
    "compare?a={sid}": SESSION_TABLES,
    "compare?a={sid}&b={sid}": SESSION_TABLES,
    "compare.json?a={sid}&b={sid}": SESSION_TABLES,
    "session/nobody": SESSION_TABLES,
    "session/nobody/timeline": SESSION_TABLES,
    "session/nobody/raw": RAW_TABLES,
    "session/nobody.json": SESSION_TABLES,
    "session/nobody/raw/1": raw.NEEDS,
}
NEEDED = sorted({table for tables in ROUTES.values() for table in tables})
OPTIONAL = sorted(set(loader.WANTS) - set(SESSION_TABLES))


def table(name, rule=None):
    return {"databases": {"full": {"tables": {name: rule or DENY}}}}


@pytest.mark.parametrize("denied", NEEDED)
async def test_a_denied_table_closes_every_route_that_needs_it_and_no_other(full, denied):
    ds = await site(full[0], metadata=table(denied))
    for path, needs in ROUTES.items():
        answer = await ds.client.get(f"/full/-/{path.format(sid=full[1])}")
        if denied in needs:
            assert answer.status_code == 403, path
            assert not [canary for canary in CANARIES if canary in answer.text], path
        else:
            assert answer.status_code == (404 if "nobody" in path else 200), path


async def test_tables_that_are_allowed_open_a_page_though_their_database_is_denied(full):
    """As Datasette's own table pages do: the nearer rule counts."""
    tables = {name: {"allow": True} for name in (*loader.NEEDS, *loader.WANTS)}
    ds = await site(full[0], metadata={"databases": {"full": {**DENY, "tables": tables}}})
    assert (await ds.client.get("/full/messages.json")).status_code == 200
    for path in ROUTES:
        answer = await ds.client.get(f"/full/-/{path.format(sid=full[1])}")
        assert answer.status_code == (404 if "nobody" in path else 200), path


async def test_with_tool_calls_denied_the_pages_hold_no_word_of_a_tool(full):
    ds = await site(full[0], metadata=table("tool_calls"))
    for path, needs in ROUTES.items():
        if "nobody" in path or set(raw.NEEDS) <= set(needs) or "tool_calls" in needs:
            continue
        answer = await ds.client.get(f"/full/-/{path.format(sid=full[1])}")
        assert answer.status_code == 200, path
        body = answer.text.replace("resultcanary", "")
        assert not [canary for canary in TOOLS if canary in body], path
    page = (await ds.client.get(f"/full/-/session/{full[1]}")).text
    assert "PROMPTCANARY" in page
    assert "REPLYCANARY" in page
    assert "tool=Bash" not in page


@pytest.mark.parametrize(
    ("denied", "gone"),
    [
        ("attachments", ".blob"),
        ("requests", "clm-strip"),
        ("projects", '"project": "/home/dev/garden"'),
        ("session_tools", "?tool=Bash"),
        ("ingest_issues", "could not be used"),
        ("raw_blocks", "/raw/"),
        ("sources", "/raw/"),
    ],
)
async def test_an_optional_part_is_there_and_silently_left_out_when_denied(full, denied, gone):
    paths = [path for path in ROUTES if "nobody" not in path and "/raw" not in path and "tool=" not in path]

    async def everything(metadata):
        ds = await site(full[0], metadata=metadata)
        answers = [await ds.client.get(f"/full/-/{path.format(sid=full[1])}") for path in paths]
        assert {answer.status_code for answer in answers} == {200}
        return "".join(answer.text for answer in answers)

    assert gone in await everything(None)
    assert gone not in await everything(table(denied))


async def test_whether_a_session_exists_is_not_told_to_those_who_may_not_see_it(full):
    ds = await site(full[0], metadata=table("sessions"))
    there = await ds.client.get(f"/full/-/session/{full[1]}")
    nobody = await ds.client.get("/full/-/session/nobody")
    assert there.status_code == nobody.status_code == 403
    assert there.text == nobody.text


async def test_whether_a_database_is_ours_is_not_told_to_those_who_may_not_see_it(full, tmp_path):
    import sqlite3

    other = tmp_path / "other.db"
    sqlite3.connect(other).close()
    ds = await site(full[0], other, metadata=DENY)
    answers = [await ds.client.get(f"/{name}/-/session/x") for name in ("full", "other")]
    assert [answer.status_code for answer in answers] == [403, 403]


@pytest.mark.parametrize(
    "shadow",
    [
        "messages_fts",
        "MESSAGES_FTS",
        "messages_fts_data",
        "messages_fts_docsize",
        "tool_calls_fts",
        "sessions_fts_idx",
        "messages_fts_cjk",
        "tool_calls_fts_cjk_data",
    ],
)
async def test_the_tables_behind_a_text_index_follow_the_table_they_index(full, shadow):
    indexed = shadow.lower().split("_fts")[0]
    ds = await site(full[0])
    assert (await ds.client.get(f"/full/{shadow.lower()}.json")).status_code in ({200, 403} if MODERN else {200})
    for rule, actor in ((DENY, None), (ALICE, "bob")):
        ds = await site(full[0], metadata=table(indexed, rule))
        answer = await ds.client.get(f"/full/{shadow}.json", cookies=cookies(ds, actor))
        assert answer.status_code == 403 or (shadow.isupper() and answer.status_code == 404)


if not MODERN:

    async def test_a_rule_at_the_top_of_the_file_is_not_shadowed_by_our_defaults(full):
        """0.65 takes ``tables`` at the top for every database that has none of its own."""
        ds = await site(full[0], metadata={"tables": {"messages": DENY}})
        assert (await ds.client.get("/full/messages.json")).status_code == 403
        assert (await ds.client.get(f"/full/-/session/{full[1]}")).status_code == 403


async def test_links_to_our_pages_are_shown_only_to_those_who_may_follow_them(full):
    for metadata, there in ((None, True), (table("messages"), False), ({"databases": {"full": ALICE}}, False)):
        ds = await site(full[0], metadata=metadata)
        answers = [await ds.client.get(path) for path in ("/", "/full", "/full/sessions")]
        linked = any(
            "/full/-/search" in answer.text or "Agent sessions" in answer.text
            for answer in answers
            if answer.status_code == 200
        )
        assert linked == there, metadata


async def test_the_stylesheet_holds_nothing_of_any_database_and_needs_no_permission(full):
    ds = await site(full[0], metadata=DENY)
    answer = await ds.client.get("/-/clm-sessions/clm.css")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/css")
    assert "url(" not in answer.text


async def test_cells_of_other_tables_do_not_tell_titles_of_denied_sessions(full, tmp_path):
    copy = tmp_path / "full.db"
    shutil.copy(full[0], copy)
    ds = await site(copy, metadata=table("sessions"))
    answer = await ds.client.get("/full/messages")
    assert answer.status_code == 200
    assert "Title word" not in answer.text
