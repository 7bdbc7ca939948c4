"""What an open session page is told when it asks for news."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from support.logs import import_logs, session_id, turn, write_log
from support.site import Page, site, tool_turn

pytestmark = pytest.mark.asyncio
SID = session_id(0x21)
SINCE = f"/a/-/session/{SID}/since"


@pytest.fixture
def write(tmp_path):
    """Write the log anew with these entries, and import it."""

    def write(*entries):
        write_log(tmp_path / "logs" / "p" / f"{SID}.jsonl", entries)
        import_logs(tmp_path / "a.db", tmp_path / "logs")
        return tmp_path / "a.db"

    return write


def turns(stop):
    return [one for n in range(stop) for one in turn(n, f"Question {n}", f"Answer {n}", session=SID)]


async def marks(ds):
    html = (await ds.client.get(f"/a/-/session/{SID}")).text
    return re.search('data-marks="([^"]*)"', html)[1]


async def ask(ds, query=""):
    answer = await ds.client.get(f"{SINCE}?{query}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    return answer.json()


async def test_a_page_that_holds_everything_is_told_nothing(write):
    ds = await site(write(*turns(3)))
    assert await ask(ds, f"have={await marks(ds)}") == {
        "ok": True, "frozen": False, "total": 6, "chunks": [], "more": False,
    }  # fmt: skip


async def test_it_is_given_the_very_cards_that_are_new_or_have_grown(write):
    ds = await site(write(*turns(3)))
    have = await marks(ds)
    write(*turns(3), *tool_turn(6, "Bash", {"command": "ls"}, "beds", session=SID), *turns(5)[8:])
    news = await ask(ds, f"have={have}")
    assert [one["seq"] for one in news["chunks"]] == [5, 6, 7]
    html = (await ds.client.get(f"/a/-/session/{SID}")).text
    for one in news["chunks"]:
        assert one["html"] in html
        assert Page(f"<main>{one['html']}</main>").problems == []
    assert ".".join([*have.split(".")[:5], *(one["mark"] for one in news["chunks"])]) == await marks(ds)


async def test_a_result_that_comes_late_changes_the_card_of_its_call(write):
    use, back = tool_turn(6, "Bash", {"command": "slow"}, "beds", session=SID)
    ds = await site(write(*turns(3), use, *turns(6)[8:]))
    have = await marks(ds)
    write(*turns(3), use, *turns(6)[8:], back)
    assert 5 in [one["seq"] for one in (await ask(ds, f"have={have}"))["chunks"]]


async def test_what_is_too_much_for_one_answer_comes_in_several(write):
    ds = await site(write(*turns(60)))
    have = []
    for more in (True, True, False):
        news = await ask(ds, f"have={'.'.join(have)}")
        assert news["more"] == more
        have += [one["mark"] for one in news["chunks"]]
    assert len(have) == 120
    assert (await ask(ds, f"first=100&have={'.'.join(have[100:])}"))["chunks"] == []


async def test_without_marks_only_the_number_of_chunks_is_told(write):
    ds = await site(write(*turns(60)))
    assert await ask(ds) == {"ok": True, "frozen": False, "total": 120, "chunks": [], "more": False}
    assert "data-marks" not in (await ds.client.get(f"/a/-/session/{SID}")).text
    assert "data-marks" in (await ds.client.get(f"/a/-/session/{SID}?page=2")).text


@pytest.mark.parametrize(
    "query", ["first=x&have=%00", "first=-1&have=....", "first=999999999&have=", "have=" + "z" * 9_000]
)
async def test_nonsense_counts_as_holding_nothing(write, query):
    ds = await site(write(*turns(2)))
    assert (await ask(ds, query))["total"] == 4


async def test_a_session_that_is_gone_is_not_found(write):
    ds = await site(write(*turns(2)))
    assert (await ds.client.get("/a/-/session/nobody/since")).status_code == 404


async def test_an_immutable_database_says_that_it_will_not_change(write, tmp_path):
    copy = shutil.copy(write(*turns(2)), tmp_path / "b.db")
    ds = await site(immutables=[str(copy)])
    assert (await ds.client.get(f"/b/-/session/{SID}/since")).json()["frozen"]
    assert "clm-live" not in (await ds.client.get(f"/b/-/session/{SID}")).text


async def test_with_tool_calls_denied_news_hold_no_word_of_a_tool(write):
    database = write(*turns(1), *tool_turn(6, "Bash", {"command": "SECRET"}, "SECRET", session=SID))
    ds = await site(database, metadata={"databases": {"a": {"tables": {"tool_calls": {"allow": False}}}}})
    news = await ask(ds, "have=")
    assert len(news["chunks"]) == 2
    assert "SECRET" not in json.dumps(news)
