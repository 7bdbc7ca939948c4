"""The review before publishing: every value once, none of them shown, and decisions that the command understands."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from click.testing import CliRunner

from clm_sessions import plugins
from clm_sessions.cli import cli
from datasette_clm import review
from support.hostile import write_hostile
from support.logs import import_logs, session_id, turn, write_log
from support.site import Page, site

pytestmark = pytest.mark.asyncio
TOKEN = "ghp_" + "Zq7" * 12
PASSWORD = "t0p-Sh3lf!"
ADDRESS = "ada@lovelace.org"


@pytest.fixture(scope="module")
def private(tmp_path_factory):
    folder = tmp_path_factory.mktemp("review")
    for number, (name, prompt) in enumerate((("garden", f"use {TOKEN}"), ("pond", f"DB_PASSWORD={PASSWORD}"))):
        sid, about = session_id(number), {"cwd": f"/home/ada/{name}"}
        write_log(
            folder / "logs" / f"-home-ada-{name}" / f"{sid}.jsonl",
            turn(1, prompt, f"mail {ADDRESS}", session=sid, **about),
        )
    import_logs(folder / "a.db", folder / "logs")
    return folder / "a.db"


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words], obj={"registry": plugins.build(entry_points=False)})


def fields(page, *, holding=""):
    """The digests on a page, of the values beside which these words stand."""
    parts = page.split("<fieldset>")[1:]
    return [re.search(r"d\.([0-9a-f]{32})", part)[1] for part in parts if holding in part]


async def test_every_value_is_there_once_with_its_places_and_none_is_shown(private):
    ds = await site(private)
    answer = await ds.client.get("/a/-/review")
    assert answer.status_code == 200
    for secret in (TOKEN, TOKEN[4:16], PASSWORD, "lovelace"):
        assert secret not in answer.text
    for kind in ("github-token", "password", "email", "user"):
        assert f">{kind} <" in answer.text
    assert len(fields(answer.text)) == len(set(fields(answer.text))) == 4
    assert f"/a/-/session/{session_id(0)}?chunk=0#c0" in answer.text
    assert "<script" not in answer.text.split("<main")[1].split("</main")[0]


async def test_the_sessions_are_those_that_are_asked_for_and_the_command_says_so(private):
    ds = await site(private)
    page = (await ds.client.get("/a/-/review?project=pond&since=2026-03-01")).text
    assert "github-token" not in page
    assert "password" in page
    assert "--project pond --since 2026-03-01 --rules rules.json" in page
    wrong = await ds.client.get("/a/-/review?project=<b>nothing&until=nonsense&start=99999999999")
    assert wrong.status_code == 200
    assert "no project" in wrong.text
    assert "<b>nothing" not in wrong.text


async def test_decisions_come_back_as_a_file_that_publishing_obeys(private, tmp_path):
    ds = await site(private)
    page = (await ds.client.get("/a/-/review")).text
    salt = re.search(r'name="salt" value="([0-9a-f]+)"', page)[1]
    again = (await ds.client.get(f"/a/-/review?salt={salt}")).text
    (address,) = fields(again, holding="mail")[:1]
    (token,) = fields(again, holding="gh…")
    query = f"salt={salt}&d.{address}=keep&d.{token}="
    chosen = (await ds.client.get(f"/a/-/review?{query}")).text
    assert chosen.count(f'value="{address}"') >= 1
    assert len(re.findall(r'value="keep" checked', chosen)) == 1
    answer = await ds.client.get(f"/a/-/review/rules?{query}&hide={token}")
    assert answer.headers["content-disposition"] == 'attachment; filename="rules.json"'
    told = json.loads(answer.text)
    assert (told["keep"], told["hide"]) == ([address], [])
    (tmp_path / "rules.json").write_text(answer.text)
    done = run("publish", private, tmp_path / "out.db", "--all", "--rules", tmp_path / "rules.json")
    assert done.exit_code == 0, done.output
    held = (tmp_path / "out.db").read_bytes()
    assert ADDRESS.encode() in held
    assert TOKEN.encode() not in held


async def test_what_was_published_has_no_review_and_a_denied_table_none_either(private, tmp_path):
    run("publish", private, tmp_path / "b.db", "--all")
    ds = await site(tmp_path / "b.db")
    for path in ("review", "review/rules"):
        assert (await ds.client.get(f"/b/-/{path}")).status_code == 404
    for table in review.NEEDS:
        denied = await site(private, metadata={"databases": {"a": {"tables": {table: {"allow": False}}}}})
        for path in ("review", "review/rules"):
            assert (await denied.client.get(f"/a/-/{path}")).status_code == 403, table
    assert (await ds.client.post("/b/-/review")).status_code in {403, 405}


async def test_more_sessions_than_one_page_holds_are_on_the_next_and_decisions_go_with_it(
    private, tmp_path, monkeypatch
):
    monkeypatch.setattr("clm_sessions.publish.review.ENOUGH", 1)
    ds = await site(shutil.copy(private, tmp_path / "a.db"))
    first = (await ds.client.get("/a/-/review")).text
    assert 'name="start" value="1"' in first
    kept = fields(first)[0]
    salt = re.search(r'name="salt" value="([0-9a-f]+)"', first)[1]
    second = (await ds.client.get(f"/a/-/review?salt={salt}&start=1&keep={kept}")).text
    assert "Sessions 2 to 2 of 2" in second
    assert "Next sessions" not in second
    assert kept in second


@pytest.mark.slow
async def test_nothing_of_a_hostile_log_is_live_on_the_page(private, tmp_path):
    write_hostile(tmp_path / "logs")
    import_logs(tmp_path / "h.db", tmp_path / "logs")
    ds = await site(tmp_path / "h.db", private)
    form = set(Page((await ds.client.get("/a/-/review")).text).problems)  # fields, which a transcript has none of
    page = Page((await ds.client.get("/h/-/review")).text)
    assert "/home/" in page.text
    assert set(page.problems) <= form
