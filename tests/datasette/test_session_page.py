"""The transcript page: what it shows, how it is paged, and that HTML, JSON and Markdown agree."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

from clm_sessions import open_db, plugins
from clm_sessions.export import PRIVATE, to_json, to_markdown
from support.logs import entry, import_logs, query, session_id, turn, write_log
from support.site import Page, local, site, tool_turn

pytestmark = pytest.mark.asyncio


async def fetch(ds, path):
    answer = await ds.client.get(path)
    assert answer.status_code == 200, (path, answer.status_code, answer.text[:300])
    return answer


async def test_the_plugin_is_installed_and_listed():
    ds = await site()
    listed = (await fetch(ds, "/-/plugins.json")).json()
    plugins = listed["plugins"] if isinstance(listed, dict) else listed
    assert "clm-sessions" in [plugin["name"] for plugin in plugins]


async def test_every_session_of_the_demo_has_a_page_whose_cards_agree_with_its_json(demo):
    ds = await site(demo)
    for sid, chunks in query(demo, "SELECT id, chunks FROM sessions"):
        address = ds.urls.path(f"/demo/-/session/{_tilde(sid)}")
        page = Page((await fetch(ds, address)).text)
        data = (await fetch(ds, f"{address}.json")).json()
        assert page.problems == []
        assert data["session"]["chunks"] == data["count"] == chunks
        assert page.chunks == [chunk["seq"] for chunk in data["chunks"]]
        for chunk in data["chunks"]:
            for step in chunk["steps"]:
                assert _squeezed(step["title"]) in _squeezed(page.text)


async def test_the_json_tells_the_facts_of_the_session_as_the_table_has_them(demo):
    ds = await site(demo)
    row = query(
        demo,
        "SELECT id, title, prompts, tool_calls, tool_errors, output_tokens, started_at FROM sessions WHERE subagents > 2",
    )[0]
    data = (await fetch(ds, f"/demo/-/session/{_tilde(row[0])}.json")).json()
    info = data["session"]
    assert (info["id"], info["title"], info["prompts"], info["tool_calls"], info["tool_errors"]) == row[:5]
    assert (info["tokens"]["output"], info["started_at"]) == row[5:]
    agents = query(demo, "SELECT id FROM sessions WHERE parent_id = ?", row[0])
    assert {agent["id"] for agent in data["relations"]["subagents"]} == {agent for (agent,) in agents}


async def test_the_markdown_holds_every_prompt_and_no_live_markup(demo):
    ds = await site(demo)
    sid = query(demo, "SELECT id FROM sessions WHERE title LIKE '%<script>%'")[0][0]
    answer = await fetch(ds, f"/demo/-/session/{_tilde(sid)}.md")
    assert answer.headers["content-type"].startswith("text/markdown")
    assert answer.text.startswith("# Show \\<script\\>")
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark", {"html": True}).parse(answer.text)
    kinds = {child.type for token in tokens for child in (token, *(token.children or ()))}
    assert not kinds & {"html_block", "html_inline", "image"}


async def test_a_session_that_does_not_exist_is_not_found_in_any_format(full):
    ds = await site(full[0])
    for tail in ("", ".json", ".md", "/cards", "/chunk/0", "/chunk/0.json", "/raw/0", "/chunk/0/text"):
        answer = await ds.client.get(f"/full/-/session/nobody{tail}")
        assert answer.status_code == 404, tail
    for path in (
        f"{full[1]}/chunk/999",
        f"{full[1]}/raw/99999",
        f"{full[1]}/chunk/1/text?step=99",
        f"{full[1]}/chunk/1234567890123",
    ):
        assert (await ds.client.get(f"/full/-/session/{path}")).status_code == 404, path


async def test_orphans_internal_agents_and_subagents_have_pages_that_say_what_they_are(demo):
    ds = await site(demo)
    words = {"orphan": "log is missing", "internal": "Run by the program", "subagent": "Subagent of"}
    for role, said in words.items():
        sid = query(demo, "SELECT id FROM sessions WHERE role = ?", role)[0][0]
        assert said in Page((await fetch(ds, f"/demo/-/session/{_tilde(sid)}")).text).text, role


# -- long sessions ----------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_session_of_5000_chunks_comes_in_pages_of_100_that_link_to_each_other(long):
    path, sid = long
    ds = await site(path)
    seen, address, hops = [], f"/long/-/session/{sid}", 0
    page = Page((await fetch(ds, address)).text)
    assert "Chunks 1\u2013100 of 5,000" in page.text
    data = (await fetch(ds, f"{address}.json")).json()
    assert (data["page"], data["pages"], data["count"], data["previous_url"]) == (1, 50, 5_000, None)
    while data["next_url"] and hops < 60:
        seen += [chunk["seq"] for chunk in data["chunks"]]
        data = (await fetch(ds, data["next_url"])).json()
        hops += 1
    seen += [chunk["seq"] for chunk in data["chunks"]]
    assert seen == list(range(5_000))


async def test_a_permalink_opens_the_page_that_holds_its_chunk(long):
    path, sid = long
    ds = await site(path)
    page = Page((await fetch(ds, f"/long/-/session/{sid}?chunk=1234")).text)
    assert page.chunks == list(range(1200, 1300))
    assert f"/long/-/session/{sid}?chunk=1234#c1234" in page.links
    assert Page((await fetch(ds, f"/long/-/session/{sid}?chunk=99999")).text).chunks[-1] == 4_999
    assert Page((await fetch(ds, f"/long/-/session/{sid}?page=999")).text).chunks[-1] == 4_999


async def test_a_page_of_a_long_session_is_small_and_quick(long):
    path, sid = long
    ds = await site(path)
    await fetch(ds, f"/long/-/session/{sid}?page=20")
    started = time.perf_counter()
    answer = await fetch(ds, f"/long/-/session/{sid}?page=25")
    assert time.perf_counter() - started < 2
    assert len(answer.content) < 400_000


@pytest.mark.parametrize(
    "asked",
    [
        "page=0",
        "page=-3",
        "page=x",
        "page=99999999999999999999",
        "chunk=-1",
        "chunk=1e9",
        "show=nothing",
        "tool=",
        "page=1&page=2",
    ],
)
async def test_nonsense_in_the_address_counts_as_not_asked(full, asked):
    ds = await site(full[0])
    assert Page((await fetch(ds, f"/full/-/session/{full[1]}?{asked}")).text).chunks == [0, 1, 2, 3]


# -- filters and finding ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "chunks", "there", "gone"),
    [
        ("show=prompts", [0, 2], "PROMPTCANARY", "REPLYCANARY"),
        ("show=replies", [1, 3], "REPLYCANARY", "THINKCANARY"),
        ("show=tools", [1], "RESULTCANARY", "REPLYCANARY"),
        ("show=thinking", [1], "THINKCANARY", "RESULTCANARY"),
        ("show=errors", [1], "RESULTCANARY failed", "THINKCANARY"),
        ("tool=Bash", [1], "RESULTCANARY word", "RESULTCANARY failed"),
        ("tool=Bash&tool=Read", [1], "RESULTCANARY failed", "THINKCANARY"),
        ("show=prompts&show=errors", [0, 1, 2], "PROMPTCANARY", "REPLYCANARY"),
        ("show=interrupted", [], "0 of 4 chunks", "RESULTCANARY"),
        ("q=resultcanary&only=1", [1], "RESULTCANARY", "PROMPTCANARY"),
        ("q=nowhere&only=1", [], "0 of 4 chunks", "REPLYCANARY"),
    ],
)
async def test_a_filter_shows_only_what_was_asked_for(full, asked, chunks, there, gone):
    ds = await site(full[0])
    html = (await fetch(ds, f"/full/-/session/{full[1]}?{asked}")).text
    page, data = Page(html), (await fetch(ds, f"/full/-/session/{full[1]}.json?{asked}")).json()
    assert page.problems == []
    assert page.chunks == chunks == [chunk["seq"] for chunk in data["chunks"]]
    transcript = html[html.index('class="clm-transcript"') :]
    assert there in transcript
    assert gone not in transcript


async def test_the_chips_switch_a_filter_on_and_off_again(full):
    ds = await site(full[0])
    plain = Page((await fetch(ds, f"/full/-/session/{full[1]}")).text)
    on = f"/full/-/session/{full[1]}?show=errors"
    assert on in plain.links
    again = Page((await fetch(ds, on)).text)
    assert f"/full/-/session/{full[1]}" in again.links
    assert f"/full/-/session/{full[1]}?show=errors&tool=Bash" in again.links


async def test_a_filter_is_paged_over_the_whole_session(long):
    path, sid = long
    ds = await site(path)
    data = (await fetch(ds, f"/long/-/session/{sid}.json?show=prompts&page=25")).json()
    assert (data["count"], data["pages"]) == (2_500, 25)
    assert [chunk["seq"] for chunk in data["chunks"]] == list(range(4_800, 5_000, 2))


# -- relations --------------------------------------------------------------------------------------------------


async def test_forks_are_linked_both_ways_and_copied_chunks_are_folded(case):
    ds = await site(case("resumed-copies"))
    first, fork, resumed = (f"5e550000-0000-4000-8000-0000000001{n}" for n in (30, 31, 32))
    root = "/resumed-copies/-/session/"
    origin = (await fetch(ds, root + first)).text
    assert "Continued in" in origin
    assert {root + fork, root + resumed} <= set(Page(origin).links)
    copy = (await fetch(ds, root + fork)).text
    assert root + first in Page(copy).links
    assert '<details class="clm-inherited"><summary>' in copy
    asked = (await fetch(ds, f"{root}{fork}?chunk=0")).text
    assert '<details class="clm-inherited" open>' in asked
    data = (await fetch(ds, f"{root}{fork}.json")).json()
    assert [chunk["inherited"] for chunk in data["chunks"]] == [True, True, False, False]
    assert data["relations"]["forked_from"]["id"] == first


async def test_a_subagent_is_linked_to_the_chunk_that_started_it_and_its_cards_come_alone(case):
    path = case("subagent-layouts")
    ds = await site(path)
    main, agent = query(path, "SELECT parent_id, id FROM sessions WHERE role = 'subagent' AND link = 'result'")[0]
    page = Page((await fetch(ds, f"/subagent-layouts/-/session/{main}")).text)
    own = f"/subagent-layouts/-/session/{_tilde(agent)}"
    assert own in page.links
    back = Page((await fetch(ds, own)).text)
    assert re.search(rf"/session/{main}\?chunk=\d+#c\d+", " ".join(back.links))
    cards = await fetch(ds, f"{own}/cards")
    assert "<html" not in cards.text
    ids = set(Page(f"<main>{cards.text}</main>").ids)
    assert ids
    assert not ids & set(page.ids)


# -- whole chunks and raw records -------------------------------------------------------------------------------


async def test_the_raw_record_is_the_very_line_of_the_log(full, tmp_path):
    ds = await site(full[0])
    path = query(full[0], "SELECT path FROM sources WHERE role = 'main'")[0][0]
    lines = await asyncio.to_thread(lambda: Path(path).read_bytes().split(b"\n"))
    for seq, line in query(full[0], "SELECT seq, line FROM messages ORDER BY seq"):
        answer = await fetch(ds, f"/full/-/session/{full[1]}/raw/{seq}")
        assert answer.content.rstrip(b"\n") == lines[line - 1]
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert "sandbox" in answer.headers["content-security-policy"]


async def test_a_chunk_alone_links_to_the_raw_records_of_all_its_messages(full):
    ds = await site(full[0])
    page = Page((await fetch(ds, f"/full/-/session/{full[1]}/chunk/1")).text)
    raws = [link for link in page.links if "/raw/" in link]
    assert len(raws) == 6
    for link in raws:
        await fetch(ds, link)


async def test_a_big_result_is_cut_on_the_page_and_whole_behind_its_link(imported, tmp_path):
    sid, big = session_id(9), "".join(f"line {n} of a long output\n" for n in range(120_000))
    log = [entry("user", 1, "go", session=sid), *tool_turn(2, "Bash", {"command": "cat"}, big, session=sid)]
    write_log(tmp_path / "-home-dev-garden" / f"{sid}.jsonl", log)
    ds = await site(imported("big", tmp_path))
    answer = await fetch(ds, f"/big/-/session/{sid}")
    assert len(answer.content) < 30_000
    assert f"/big/-/session/{sid}/chunk/1" in Page(answer.text).links
    step = await fetch(ds, f"/big/-/session/{sid}/chunk/1/cards?step=0")
    assert len(step.content) < 50_000
    assert "the whole is 3.4 MB" in step.text
    whole = await fetch(ds, f"/big/-/session/{sid}/chunk/1")
    texts = [link for link in Page(whole.text).links if "/text?" in link]
    assert (await fetch(ds, texts[0])).text.strip() == big.strip()
    data = (await fetch(ds, f"/big/-/session/{sid}/chunk/1.json")).json()
    assert max(len(s.get("text", "")) for step in data["steps"] for s in step["sections"]) == len(big)
    cut = (await fetch(ds, f"/big/-/session/{sid}.json")).json()
    assert {s["length"] for c in cut["chunks"] for step in c["steps"] for s in step["sections"] if s.get("cut")} == {
        len(big)
    }


async def test_images_come_from_datasette_itself_and_only_when_seen(full):
    ds = await site(full[0])
    html = (await fetch(ds, f"/full/-/session/{full[1]}")).text
    images = Page(html).images
    assert len(images) == 1
    assert 'loading="lazy"' in html
    answer = await fetch(ds, images[0])
    assert answer.content.startswith(b"\x89PNG")


async def test_every_local_link_on_a_page_leads_somewhere(full, case):
    for path in (full[0], case("subagent-layouts")):
        ds = await site(path)
        for (sid,) in query(path, "SELECT id FROM sessions"):
            address = f"/{path.stem}/-/session/{_tilde(sid)}"
            page = Page((await fetch(ds, address)).text)
            for link in {*local(page.links), *local(Page((await fetch(ds, f"{address}/chunk/0")).text).links)}:
                await fetch(ds, link if link.startswith("/") else address + link)


# -- where it runs ----------------------------------------------------------------------------------------------


async def test_all_links_and_images_keep_the_base_url(full):
    ds = await site(full[0], settings={"base_url": "/pre/fix/"})
    page = Page((await fetch(ds, f"/full/-/session/{full[1]}")).text)
    assert page.chunks == [0, 1, 2, 3]
    for link in [*local(page.links), *page.images]:
        assert link.startswith("/pre/fix/"), link
        await fetch(ds, link.removeprefix("/pre/fix"))
    data = (await fetch(ds, f"/full/-/session/{full[1]}.json")).json()
    assert data["chunks"][0]["url"].startswith("/pre/fix/full/-/session/")


@pytest.mark.parametrize("name", ["a b&c.v1", "dot.ted", "häßlich~2F", "-dash"])
async def test_databases_with_odd_names_work(full, tmp_path, name):
    copy = tmp_path / f"{name}.db"
    shutil.copy(full[0], copy)
    ds = await site(copy)
    page = Page((await fetch(ds, f"{ds.urls.database(name)}/-/session/{full[1]}")).text)
    assert page.chunks == [0, 1, 2, 3]
    for link in [*local(page.links), *page.images]:
        await fetch(ds, link)


@pytest.mark.parametrize(
    "odd", ["a/b.c dé", "..", "x.json", "a?b#c", "%2e%2e", "~tilde~", "'; DROP TABLE x; --", "🌱", "a" * 200]
)
async def test_sessions_with_odd_ids_have_pages(tmp_path, odd):
    write_log(tmp_path / "logs" / "-x" / f"{session_id(3)}.jsonl", turn(0, "hello", "there", session=session_id(3)))
    db = tmp_path / "odd.db"
    import_logs(db, tmp_path / "logs")
    _rename(db, session_id(3), odd)
    ds = await site(db)
    html = (await fetch(ds, f"/odd/-/session/{_tilde(odd)}")).text
    page = Page(html)
    assert page.problems == []
    for link in local(page.links):
        if "/search" not in link:
            await fetch(ds, link)
    table = (await fetch(ds, "/odd/sessions")).text
    assert f'href="/odd/-/session/{_tilde(odd)}"' in table


async def test_a_database_whose_route_is_not_its_name_works(full):
    ds = await site()
    from datasette.database import Database

    database = Database(ds, path=str(full[0]), is_mutable=False)
    ds.add_database(database, name="real")
    database.route = "alias-1a2b"
    page = Page((await fetch(ds, f"/alias-1a2b/-/session/{full[1]}")).text)
    for link in [*local(page.links), *page.images]:
        assert link.startswith("/alias-1a2b/"), link
        await fetch(ds, link)
    assert "Table" not in (await fetch(ds, "/alias-1a2b/sessions")).text[:0]
    assert f"/alias-1a2b/-/session/{full[1]}" in (await fetch(ds, "/alias-1a2b/sessions")).text


async def test_an_immutable_file_works_and_is_not_written_to(full, tmp_path):
    copy = tmp_path / "frozen.db"
    shutil.copy(full[0], copy)
    before = copy.read_bytes()
    from datasette.app import Datasette

    ds = Datasette(immutables=[str(copy)])
    await ds.invoke_startup()
    page = Page((await fetch(ds, f"/frozen/-/session/{full[1]}")).text)
    for link in [*local(page.links), *page.images]:
        await fetch(ds, link)
    assert copy.read_bytes() == before


async def test_several_databases_are_kept_apart_and_foreign_ones_have_no_pages(full, case, tmp_path):
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT, model TEXT)")
        db.execute("CREATE TABLE messages (id TEXT, text TEXT)")
        db.execute("INSERT INTO sessions VALUES ('s', 'theirs', 'm')")
    ds = await site(full[0], case("resumed-copies"), foreign)
    assert (await ds.client.get(f"/full/-/session/{full[1]}")).status_code == 200
    assert (await ds.client.get(f"/resumed-copies/-/session/{full[1]}")).status_code == 404
    for path in ("/foreign/-/session/s", "/foreign/-/search?q=x", "/foreign/-/session/s.json", "/nosuch/-/session/s"):
        assert (await ds.client.get(path)).status_code == 404
    table = (await fetch(ds, "/foreign/sessions")).text
    assert "/-/session/" not in table
    assert "Main columns only" not in table


async def test_a_database_of_a_newer_schema_is_refused_with_the_remedy(full, tmp_path):
    copy = tmp_path / "newer.db"
    shutil.copy(full[0], copy)
    with sqlite3.connect(copy) as db:
        db.execute("UPDATE _clm_meta SET value = '999' WHERE key = 'schema_version'")
    ds = await site(copy)
    answer = await ds.client.get(f"/newer/-/session/{full[1]}")
    assert answer.status_code == 404
    assert "upgrade clm-sessions" in answer.text
    assert (await ds.client.get("/newer/sessions")).status_code == 200


async def test_a_database_that_is_filled_after_the_start_is_noticed(full, tmp_path):
    late = tmp_path / "late.db"
    sqlite3.connect(late).close()
    ds = await site(late)
    assert (await ds.client.get(f"/late/-/session/{full[1]}")).status_code == 404
    with sqlite3.connect(full[0]) as source, sqlite3.connect(late) as target:
        source.backup(target)
    assert (await ds.client.get(f"/late/-/session/{full[1]}")).status_code == 200
    data = (await fetch(ds, "/late/sessions.json?_extra=facet_results")).json()
    facets = data["facet_results"].get("results", data["facet_results"])
    assert "model" in facets


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_only_get_and_head_are_answered(full, method):
    ds = await site(full[0])
    for tail in (
        f"session/{full[1]}",
        f"session/{full[1]}.json",
        f"session/{full[1]}/raw/0",
        f"session/{full[1]}/chunk/0",
        "search?q=x",
    ):
        answer = await ds.client.request(method, f"/full/-/{tail}")
        assert answer.status_code == 405, (method, tail)
        assert answer.headers["allow"] == "GET, HEAD"
    assert (await ds.client.request(method, "/-/clm-sessions/clm.css")).status_code == 405


async def test_head_answers_like_get(full):
    ds = await site(full[0])
    answer = await ds.client.request("HEAD", f"/full/-/session/{full[1]}")
    assert answer.status_code == 200


async def test_other_sites_may_read_data_but_not_pages_where_datasette_allows_that(full):
    ds = await site(full[0], cors=True)
    for tail, allowed in ((".json", True), (".md", True), ("", False), ("/raw/0", False), ("/cards", False)):
        headers = (await fetch(ds, f"/full/-/session/{full[1]}{tail}")).headers
        assert ("access-control-allow-origin" in headers) == allowed, tail
    ds = await site(full[0])
    assert "access-control-allow-origin" not in (await fetch(ds, f"/full/-/session/{full[1]}.json")).headers


async def test_it_works_without_threads(full):
    ds = await site(full[0], settings={"num_sql_threads": 0})
    assert Page((await fetch(ds, f"/full/-/session/{full[1]}")).text).chunks == [0, 1, 2, 3]


async def test_the_stylesheet_is_kept_by_browsers_until_it_changes(full):
    ds = await site(full[0])
    html = (await fetch(ds, f"/full/-/session/{full[1]}")).text
    address = re.search(r'href="(/-/clm-sessions/clm\.css\?v=[0-9a-f]+)"', html)[1]
    assert "immutable" in (await fetch(ds, address)).headers["cache-control"]
    assert "immutable" not in (await fetch(ds, "/-/clm-sessions/clm.css")).headers["cache-control"]
    assert html.count("clm.css") == 1


async def test_a_page_shows_one_state_of_the_database_though_an_import_commits_meanwhile(full, tmp_path):
    """Between two reads of one answer, another process changes the database: the answer does not see it."""
    from datasette_clm.guard import Access

    copy = tmp_path / "busy.db"
    shutil.copy(full[0], copy)
    with sqlite3.connect(copy) as db:
        db.execute("PRAGMA journal_mode = WAL")
    ds = await site(copy)
    access = Access(database=ds.get_database("busy"), tables=frozenset())

    def twice(db):
        first = db.execute("SELECT count(*) FROM messages").fetchone()[0]
        with sqlite3.connect(copy) as writer:
            writer.execute("DELETE FROM messages")
        return first, db.execute("SELECT count(*) FROM messages").fetchone()[0]

    before, after = await access.read(twice)
    assert before == after > 0
    assert await access.read(lambda db: db.execute("SELECT count(*) FROM messages").fetchone()[0]) == 0


def _tilde(text: str) -> str:
    from datasette.utils import tilde_encode

    return tilde_encode(text)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _rename(path, old: str, new: str) -> None:
    with sqlite3.connect(path) as db:
        for table, column in (
            ("sessions", "id"),
            *((t, "session_id") for t in ("chunks", "messages", "tool_calls", "requests", "sources")),
        ):
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, old))


async def test_an_export_says_what_the_pages_say(demo):
    """The same Markdown and the same data, but for addresses, paging, and the note that nothing is redacted."""
    ds = await site(demo)
    describe = plugins.from_environment().describe
    for session in (each for each in open_db(demo) if each.info.chunks <= 100):
        address = f"/demo/-/session/{_tilde(session.id)}"
        markdown = "".join(to_markdown(session, describe)).replace(f"- {PRIVATE}\n", "")
        assert markdown.rstrip() == (await fetch(ds, f"{address}.md")).text.rstrip()
        exported = json.loads("".join(to_json(session, describe)))
        served = _bare((await fetch(ds, f"{address}.json")).json())
        assert {key: served[key] for key in ("session", "relations", "count", "chunks")} == {
            key: value for key, value in exported.items() if key != "private"
        }


def _bare(value):
    """Data without addresses, and without what a filter left out."""
    if isinstance(value, list):
        return [_bare(each) for each in value]
    gone = {"url", "hidden_steps"}
    is_one = isinstance(value, dict)
    return {k: _bare(v) for k, v in value.items() if k not in gone and not k.endswith("_url")} if is_one else value
