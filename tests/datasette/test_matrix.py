"""Who sees what: every address of the plugin, under every configuration, as every actor, in every format.

The addresses are found by asking the plugin, the columns by listing the schema: in the database each text ends in the
name of its own column. So a page that shows something of a table that is denied is caught, whoever wrote it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
import pytest_asyncio

from datasette_clm.tables import TABLES
from support.addresses import addresses, patterns, reached
from support.logs import query, session_id
from support.planted import plant
from support.site import MODERN, ROOT, cookies, full_log, site

pytestmark = [pytest.mark.asyncio, pytest.mark.slow]
CANARY = re.compile(r"canary-([a-z_]+)\.")
RAW = "RESULTCANARY"  # in the bytes of the log, which say nothing of tables
DENY, ALICE = {"allow": False}, {"allow": {"id": "alice"}}
NOBODY = "5e550000-0000-4000-8000-00000000dead"


def database(**rules):
    return {"databases": {"planted": rules}}


def tables(rule, *names):
    return database(tables=dict.fromkeys(names, rule))


@pytest.fixture(scope="module")
def planted(imported, tmp_path_factory):
    """The database: a session with a bit of everything, and one with subagents."""
    folder = tmp_path_factory.mktemp("planted")
    full_log(folder / "logs")
    cases = sorted((ROOT / "tests" / "cases").glob("*/input"))
    every = imported("every", folder / "logs", ROOT / "demo" / "logs", *cases)
    path = folder / "planted.db"

    def text(column, before, _row):
        return before or None if column.table == "raw_blocks" else f"{before} canary-{column.table}.{column.name}"

    plant(every, path, text)
    return path


@pytest.fixture(scope="module")
def sessions(planted):
    busy = "SELECT id FROM sessions WHERE role = 'main' ORDER BY subagents DESC LIMIT 1"
    return [session_id(), query(planted, busy)[0][0]]


def places(sid):
    return {"database": "planted", "session": sid, "chunk": "1", "message": "0"}


class Seen(NamedTuple):
    """An answer, and the tables that it shows something of."""

    status: int
    kind: str
    text: str
    tables: frozenset[str]


async def walk(ds, paths, given=None):
    """What is seen at each address."""
    seen = {}
    for path in paths:
        answer = await ds.client.get(path, cookies=given or {})
        kind, text = answer.headers["content-type"], answer.text
        seen[path] = Seen(answer.status_code, kind, text, frozenset(CANARY.findall(text)))
    return seen


@pytest.fixture(scope="module")
def kept():
    """What is seen where all is allowed, once it is known: the same for all tests of this file."""
    return {}


@pytest_asyncio.fixture
async def everything(planted, sessions, kept):
    """What is seen at every address of two sessions, at those linked on their pages, and at those of no session."""
    if not kept:
        ds = await site(planted)
        for sid in sessions:
            kept.update(dict.fromkeys(await reached(ds.client, addresses(places(sid)))))
        kept.update(dict.fromkeys(addresses(places(NOBODY))))
        kept.update(await walk(ds, kept))
    return kept


@pytest.fixture
def few(everything, sessions):
    """The same without those that were found by links."""
    wanted = {path for sid in (*sessions, NOBODY) for path in addresses(places(sid))}
    return {path: seen for path, seen in everything.items() if path in wanted}


def closed(walked, proved):
    """Nothing is shown, and what is refused tells nothing of what is there. Addresses that name no database may answer."""
    for path, seen in walked.items():
        assert not seen.tables, path
        assert RAW not in seen.text, path
        assert seen.status == 403 or not path.startswith("/planted/"), path
    same_words(walked)
    proved("addresses that were closed to somebody", len(walked))


TOKEN = re.compile(r'name="csrftoken" value="[^"]*"')
"""0.65 gives each page a token of its own for the form that signs out."""


def same_words(walked):
    """All that is refused is refused with the same words."""
    words = {}
    for path, seen in walked.items():
        if seen.status == 403:
            text = TOKEN.sub("", seen.text)
            assert words.setdefault(seen.kind, text) == text, path


async def test_where_all_is_allowed_the_addresses_show_their_tables(everything, proved):
    """Without this control, silence in the other tests would prove nothing."""
    shown = set().union(*(seen.tables for seen in everything.values()))
    assert {"sessions", "chunks", "messages", "tool_calls", "projects"} <= shown
    assert any(RAW in seen.text and "/raw/" in path for path, seen in everything.items())
    for pattern in patterns():
        assert any(re.search(pattern, path.partition("?")[0]) for path in everything), pattern
    for path, seen in everything.items():
        assert seen.status == 200 or (seen.status == 404 and re.search(f"{NOBODY}|/raw/|/text", path)), path
    proved("addresses in the permission matrix", len(everything))


@pytest.mark.parametrize("actor", [None, "bob", "alice"])
@pytest.mark.parametrize("rules", [DENY, database(**DENY)], ids=["instance", "database"])
async def test_a_denied_instance_or_database_shows_nothing_to_anybody(planted, everything, rules, actor, proved):
    ds = await site(planted, metadata=rules)
    closed(await walk(ds, everything, cookies(ds, actor)), proved)


@pytest.mark.parametrize(
    ("rules", "of_all"),
    [(ALICE, True), (database(**ALICE), True), (tables(ALICE, "sessions", "messages", "chunks", "sources"), False)],
    ids=["instance", "database", "tables"],
)
async def test_what_only_alice_may_see_only_alice_sees(planted, everything, few, rules, of_all, proved):
    ds = await site(planted, metadata=rules)
    for actor in (None, "bob"):
        walked = await walk(ds, everything, cookies(ds, actor))
        shown = {path: seen for path, seen in walked.items() if of_all or seen.tables or "/session/" in path}
        closed(shown, proved)
    for path, seen in (await walk(ds, few, cookies(ds, "alice"))).items():
        assert (seen.status, seen.tables) == (few[path].status, few[path].tables), path


@pytest.mark.parametrize("table", TABLES)
async def test_a_table_that_is_denied_is_on_no_page_and_what_exists_is_not_told(planted, few, table, proved):
    walked = await walk(await site(planted, metadata=tables(DENY, table)), few)
    for path, seen in walked.items():
        assert table not in seen.tables, path
        assert seen.status in {few[path].status, 403}, path
    same_words(walked)
    for path in (path for path in walked if NOBODY in path):
        there = path.replace(NOBODY, session_id())
        assert (walked[path].status == 403) == (walked[there].status == 403), path
    proved("addresses with one table denied", len(walked))


async def test_pages_need_no_permission_to_run_sql(planted, few):
    for path, seen in (await walk(await site(planted, metadata=database(allow_sql=False)), few)).items():
        assert (seen.status, seen.tables) == (few[path].status, few[path].tables), path


if MODERN:

    async def test_a_site_that_denies_by_default_shows_nothing(planted, everything, proved):
        closed(await walk(await site(planted, default_deny=True), everything), proved)

    async def test_a_token_for_other_things_shows_nothing(planted, everything, proved):
        ds = await site(planted)
        token = ds.sign({"a": {"id": "alice", "_r": {"a": ["vi"]}}}, "actor")
        closed(await walk(ds, everything, {"ds_actor": token}), proved)
