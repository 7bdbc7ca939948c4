"""The other views of a session and two sessions compared: what they say, what they leave out, how much they read."""

from __future__ import annotations

import json

import pytest

from support.attacks import ALL, CANARY
from support.hostile import hostile_id, write_hostile
from support.logs import entry, import_logs, query, session_id, text, write_log
from support.site import Page, full_log, site, tool_turn

pytestmark = pytest.mark.asyncio
NEIGHBOURS = "ada2de14-42d0-4d0a-8fb5-2888590c60ab"
WATERING = "b3fefa1a-c3a9-4d2c-b6b9-8bfadc90601f"
VANE = "019ceb66-f880-78e7-aaae-2cb85bfe0c60"
PLAN, FORK = "81d62477-2bbe-4869-a861-ed30d6cd686c", "4d979a0e-bcb2-4795-b9e2-0904a0d58973"
VIEWS = ("", "/timeline", "/context", "/files", "/raw")


async def got(ds, path, status=200):
    answer = await ds.client.get(path)
    assert answer.status_code == status, path
    return answer


async def test_every_view_names_all_views_and_says_which_it_is(demo):
    ds = await site(demo)
    for view in VIEWS:
        html = (await got(ds, f"/demo/-/session/{NEIGHBOURS}{view}")).text
        page = Page(html)
        assert page.problems == [], view
        for other in VIEWS:
            assert f"/demo/-/session/{NEIGHBOURS}{other}" in page.links, (view, other)
        assert html.count('aria-current="page"') == 1
        assert f"/demo/-/compare?a={NEIGHBOURS}" in page.links


# -- timeline ---------------------------------------------------------------------------------------------------


async def test_the_timeline_holds_every_call_and_subagent_with_its_recorded_times(demo):
    ds = await site(demo)
    found = (await got(ds, f"/demo/-/session/{NEIGHBOURS}/timeline.json")).json()
    rows = [row for turn in found["turns"] for row in turn["rows"]]
    calls = query(demo, "SELECT count(*) FROM tool_calls WHERE session_id LIKE ? || '%'", NEIGHBOURS)[0][0]
    assert sum(row["kind"] in {"tool", "agent"} for row in rows) == calls
    assert {row["session"] for row in rows} == {
        row[0] for row in query(demo, "SELECT id FROM sessions WHERE id = ? OR (id LIKE ? || ':%' AND role = 'subagent')", NEIGHBOURS, NEIGHBOURS)
    }  # fmt: skip
    known = {row[0] for row in query(demo, "SELECT at FROM messages UNION SELECT started_at FROM sessions")}
    assert {row["started_at"] for row in rows} <= known
    page = Page((await got(ds, f"/demo/-/session/{NEIGHBOURS}/timeline")).text)
    for row in rows:
        assert row["url"] in page.links


async def test_a_log_without_times_is_shown_in_its_order_and_says_so(demo):
    ds = await site(demo)
    html = (await got(ds, "/demo/-/session/20260214-101500-b1edfeed/timeline")).text
    assert "records no times" in html
    assert "clm-track" not in html
    assert html.index("wc -l birds.txt") < html.index("grep -vc squirel")


async def test_a_turn_of_thousands_of_calls_is_paged_and_the_page_of_all_turns_stays_small(tmp_path):
    sid = session_id(3)
    lines = [entry("user", 0, "go", session=sid)]
    lines += (
        line for n in range(1000) for line in tool_turn(2 * n + 1, "Bash", {"command": f"step {n}"}, "ok", session=sid)
    )
    write_log(tmp_path / "logs" / "-x" / f"{sid}.jsonl", lines)
    import_logs(tmp_path / "busy.db", tmp_path / "logs")
    ds = await site(tmp_path / "busy.db")
    page = (await got(ds, f"/busy/-/session/{sid}/timeline")).text
    assert page.count("clm-bar-row") < 100
    assert "This turn alone" in page
    one = (await got(ds, f"/busy/-/session/{sid}/timeline.json?turn=1")).json()
    assert one["count"] == 2000
    seen = []
    while one["next_url"]:
        seen += one["turns"][0]["rows"]
        one = (await got(ds, one["next_url"])).json()
    seen += one["turns"][0]["rows"]
    assert [row["about"] for row in seen if row["kind"] == "tool"] == [f"step {n}" for n in range(1000)]


async def test_five_thousand_chunks_are_read_a_page_at_a_time(long):
    ds = await site(long[0])
    found = (await got(ds, f"/long/-/session/{long[1]}/timeline.json?page=999")).json()
    assert (found["page"], found["pages"], found["count"]) == (125, 125, 2500)
    assert found["turns"][-1]["text"] == "Question 2499 about bed 0"
    for view in VIEWS[1:]:
        assert len((await got(ds, f"/long/-/session/{long[1]}{view}")).text) < 200_000, view


@pytest.mark.parametrize("asked", ["turn=0", "turn=99999", "turn=x", "page=0", "page=-1", "page=999999999999"])
async def test_nonsense_in_the_address_counts_as_not_asked(demo, asked):
    ds = await site(demo)
    for view in VIEWS[1:]:
        await got(ds, f"/demo/-/session/{NEIGHBOURS}{view}?{asked}")


# -- context ----------------------------------------------------------------------------------------------------


async def test_the_context_is_what_the_replies_recorded(demo):
    ds = await site(demo)
    found = (await got(ds, f"/demo/-/session/{WATERING}/context.json")).json()
    recorded = query(
        demo,
        "SELECT chunk_seq, coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_creation_tokens, 0) "
        "FROM requests WHERE session_id = ? ORDER BY seq",
        WATERING,
    )
    turns = {turn["chunk"]: turn for turn in found["turns"] if turn["tokens"] is not None}
    assert {chunk: turn["tokens"] for chunk, turn in turns.items()} == {chunk: n for chunk, n in recorded if n}
    for turn in turns.values():
        assert abs(sum(turn["parts"].values()) - turn["tokens"]) <= len(turn["parts"])
    compactions = [turn for turn in found["turns"] if turn["kind"] == "compact"]
    assert len(compactions) == 2
    assert all(turn["context_before"] > turn["context_after"] for turn in compactions)


async def test_without_token_counts_only_characters_are_told(demo):
    ds = await site(demo)
    found = (await got(ds, "/demo/-/session/20260214-101500-b1edfeed/context.json")).json()
    assert (found["peak_tokens"], found["turns"]) == (None, [])
    assert found["characters"]["prompts"] > 0
    assert "No sizes were recorded" in (await got(ds, "/demo/-/session/20260214-101500-b1edfeed/context")).text


# -- files ------------------------------------------------------------------------------------------------------


async def test_files_are_listed_with_their_changes_in_order_and_the_tab_counts_them(demo):
    ds = await site(demo)
    found = (await got(ds, f"/demo/-/session/{WATERING}/files.json")).json()
    water = next(file for file in found["files"] if file["path"].endswith("planner/water.py"))
    chunks = [change["chunk"] for change in water["changes"]]
    assert chunks == sorted(chunks)
    assert water["added"] == sum(change["added"] or 0 for change in water["changes"])
    page = Page((await got(ds, f"/demo/-/session/{WATERING}")).text)
    assert f"Files {found['count']}" in " ".join(page.text.split())
    assert any(line.startswith("+") for change in water["changes"] for line in change["diff"])


async def test_a_file_has_an_address_of_its_own(demo):
    ds = await site(demo)
    path = "/home/dev/code/garden-planner/planner/water.py"
    page = Page((await got(ds, f"/demo/-/session/{WATERING}/files?file={path}")).text)
    assert page.problems == []
    assert "planner/water.py" in page.text
    assert "crops/kale.toml" not in page.text
    await got(ds, f"/demo/-/session/{WATERING}/files?file=/nowhere", 404)


async def test_changes_of_subagents_are_named_and_copies_are_counted_once(demo):
    ds = await site(demo)
    found = (await got(ds, f"/demo/-/session/{VANE}/files.json")).json()
    assert [(file["path"].rpartition("/")[2], file["changes_count"]) for file in found["files"]] == [
        ("check.py", 1),
        ("heater.md", 1),
    ]
    harbours = "69d5afd4-ebdf-4ad5-abc9-c82100df5484"
    agent = query(demo, "SELECT title FROM sessions WHERE id = ?", f"{harbours}:a9b1e77e00000001")[0][0]
    assert f"by {agent}" in " ".join(Page((await got(ds, f"/demo/-/session/{harbours}/files")).text).text.split())


# -- raw --------------------------------------------------------------------------------------------------------


async def test_every_line_of_a_log_is_listed_once_and_what_became_of_it_adds_up(demo):
    ds = await site(demo)
    for sid in [row[0] for row in query(demo, "SELECT id FROM sessions WHERE role = 'main'")]:
        url, records = f"/demo/-/session/{sid}/raw.json", []
        while url:
            found = (await got(ds, url)).json()
            records += found["records"]
            url = found["next_url"]
        assert [record["line"] for record in records] == list(range(1, found["lines"] + 1)), sid
        assert sum(found["dispositions"].values()) == found["lines"]
        certain = [record["disposition"].split(":")[0] for record in records]
        for name in set(certain) & {"message", "issue", "blank"}:
            assert certain.count(name) == found["dispositions"].get(name, 0), (sid, name)


async def test_the_bytes_of_all_lines_are_the_log_and_the_download_is_byte_for_byte(full):
    ds = await site(full[0])
    found = (await got(ds, f"/full/-/session/{full[1]}/raw.json")).json()
    answer = await got(ds, f"/full/-/session/{full[1]}/raw/log")
    source = query(full[0], "SELECT path FROM sources WHERE session_id = ?", full[1])[0][0]
    with open(source, "rb") as log:  # noqa: ASYNC230, PTH123
        content = log.read()
    assert answer.content == content
    assert answer.headers["content-disposition"] == f'attachment; filename="{full[1]}.jsonl"'
    assert sum(record["bytes"] for record in found["records"]) == len(content)


async def test_one_line_is_shown_as_indented_json_and_a_broken_one_as_it_is(full):
    ds = await site(full[0])
    page = Page((await got(ds, f"/full/-/session/{full[1]}/raw?line=2")).text)
    assert page.problems == []
    assert '"type": "user"' in page.text
    issue = query(full[0], "SELECT line FROM ingest_issues WHERE session_id = ?", full[1])[0][0]
    assert "{not json ISSUECANARY" in (await got(ds, f"/full/-/session/{full[1]}/raw?line={issue}")).text
    one = (await got(ds, f"/full/-/session/{full[1]}/raw.json?line={issue}")).json()
    assert one["record"]["disposition"].startswith("issue")
    await got(ds, f"/full/-/session/{full[1]}/raw?line=9999", 404)


async def test_records_can_be_looked_for_by_type(demo):
    ds = await site(demo)
    found = (await got(ds, f"/demo/-/session/{NEIGHBOURS}/raw.json?type=system/turn_duration")).json()
    assert len(found["records"]) == sum(found["types"]["system/turn_duration"].values()) == 2
    assert {record["type"] for record in found["records"]} == {"system/turn_duration"}


async def test_a_line_too_long_for_a_page_does_not_hide_those_after_it(tmp_path):
    sid = session_id(4)
    lines = [
        *tool_turn(0, "Bash", {"command": "x"}, "y" * 9_000_000, session=sid),
        entry("assistant", 5, text("after"), session=sid),
    ]
    write_log(tmp_path / "logs" / "-x" / f"{sid}.jsonl", lines)
    import_logs(tmp_path / "wide.db", tmp_path / "logs")
    ds = await site(tmp_path / "wide.db")
    seen, url = [], f"/wide/-/session/{sid}/raw.json"
    while url:
        found = (await got(ds, url)).json()
        seen += [record["line"] for record in found["records"]]
        url = found["next_url"]
    assert seen == [1, 2, 3]


async def test_without_an_archive_the_raw_view_says_so(tmp_path):
    sid = full_log(tmp_path / "logs")
    import_logs(tmp_path / "bare.db", tmp_path / "logs", keep_raw=False)
    ds = await site(tmp_path / "bare.db")
    assert "cannot be shown" in (await got(ds, f"/bare/-/session/{sid}/raw")).text
    await got(ds, f"/bare/-/session/{sid}/raw?line=1", 404)
    await got(ds, f"/bare/-/session/{sid}/raw/log", 404)


# -- two sessions -----------------------------------------------------------------------------------------------


async def test_a_fork_is_offered_first_and_its_copied_turns_stand_once(demo):
    ds = await site(demo)
    offered = (await got(ds, f"/demo/-/compare.json?a={PLAN}")).json()["candidates"]
    assert FORK in {one["id"] for one in offered[:2]}
    assert offered[-1]["why"] == "same project"
    found = (await got(ds, f"/demo/-/compare.json?a={PLAN}&b={FORK}")).json()
    assert [turn["same"] for turn in found["turns"]][:2] == [True, False]
    figures = {row["what"]: (row["a"], row["b"], row["same"]) for row in found["differences"]}
    assert figures["Tool calls"] == ("16", "12", False)
    html = (await got(ds, f"/demo/-/compare?a={PLAN}&b={FORK}")).text
    page = Page(html)
    assert page.problems == []
    assert len(page.ids) == len(set(page.ids))
    assert page.text.count("Let's fork here.") == 1


async def test_a_session_that_is_not_there_cannot_be_compared(demo):
    ds = await site(demo)
    await got(ds, "/demo/-/compare", 404)
    await got(ds, f"/demo/-/compare?a={PLAN}&b=nobody", 404)


# -- hostile logs -----------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_no_attack_is_live_on_any_view(imported, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile-tabs")
    write_hostile(folder)
    ds = await site(imported("hostile", folder))
    for number in range(0, len(ALL), 4):
        sid = hostile_id(number)
        for path in (*(f"session/{sid}{view}" for view in VIEWS[1:]), f"session/{sid}/raw?line=2", f"compare?a={sid}"):
            page = Page((await got(ds, f"/hostile/-/{path}")).text)
            assert page.problems == [], path
        page = Page(
            (
                await got(
                    ds, f"/hostile/-/compare?a={sid}&b={hostile_id(number + 1) if number + 1 < len(ALL) else sid}"
                )
            ).text
        )
        assert page.problems == [], sid
        assert CANARY in page.text
        for view in VIEWS[1:]:
            json.loads((await got(ds, f"/hostile/-/session/{sid}{view}.json")).content)
