"""Attacks in every text column of a database, walked over every page in a real browser: none runs, none loads, none is heard of.

Columns and pages are found by listing the schema and asking the plugin. ``test_datasette_pages.py`` does the same with
attacks in every field of a log, brought in by the importer.
"""

from __future__ import annotations

import json
import sqlite3
from itertools import product
from urllib.request import urlopen
from zlib import crc32

import pytest
from datasette.utils import tilde_encode
from playwright.sync_api import Error

from support.addresses import addresses
from support.attacks import CANARY, MARKUP
from support.logs import import_logs, query, session_id
from support.planted import columns, plant
from support.site import ROOT, Page, full_log, opened, served

pytestmark = [pytest.mark.browser, pytest.mark.slow]
RUNS = [attack.encode("utf-8", "replace").decode() for attack in MARKUP]


def attack(column, _before, row):
    return RUNS[(row + crc32(f"{column.table}.{column.name}".encode())) % len(RUNS)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """``a.db``: an attack in each text, another in each row; ``b.db``: in keys and words of a small vocabulary too."""
    folder = tmp_path_factory.mktemp("attacks")
    for number in range(1, len(RUNS) + 2):
        full_log(folder / "logs", number)
    cases = (ROOT / "tests" / "cases").glob("*/input")  # so that hardly a column has no value at all
    import_logs(folder / "plain.db", folder / "logs", ROOT / "demo" / "logs", *cases)
    plant(folder / "plain.db", folder / "a.db", attack)
    plant(
        folder / "plain.db",
        folder / "b.db",
        lambda c, before, row: attack(c, before, row) + before,
        words=True,
        keys=True,
    )
    return folder


@pytest.fixture(scope="module")
def base(folder):
    with served(folder / "a.db", folder / "b.db") as base:
        yield base


def test_every_attack_stands_in_every_column_of_sessions(folder):
    with sqlite3.connect(folder / "a.db") as db:
        planted = [c for c in columns(db) if c.table == "sessions" and not (c.key or c.json or c.empty)]
        assert len(planted) > 20
        for column in planted:
            held = {row[0] for row in db.execute(f"SELECT [{column.name}] FROM sessions")}
            assert held >= set(RUNS) or column.name in {"status", "role", "format", "link", "source_state", "day"}, (
                column
            )


def look(page, wrong, address):
    page.goto(address)
    page.evaluate("document.querySelectorAll('main details').forEach((d) => { d.open = true; })")
    assert page.evaluate("window.__hit") is None, address
    assert wrong == [], address


def test_nothing_runs_on_any_page_of_any_session(chromium, base, proved):
    with opened(chromium, base) as (page, wrong):
        for number in range(1, len(RUNS) + 2):
            look(page, wrong, f"{base}/a/-/session/{session_id(number)}")
        for number in (1, 20, 40):
            places = {"database": "a", "session": session_id(number), "chunk": "1", "message": "0"}
            paths = [
                path
                for path in addresses(places)
                if not path.endswith((".css", ".json", ".md", ".csv", "/log", "/rules"))
            ]
            for path in [*paths, "/a/-/search?q=readable", f"/a/-/session/{session_id(number)}?q=readable"]:
                wrong[:] = []
                page.goto(base + path)
                assert page.evaluate("window.__hit") is None, path
                assert [one for one in wrong if "404" not in one] == [], path
                proved("pages with attacks in every column, looked at in Chromium")
        proved("pages with attacks in every column, looked at in Chromium", len(RUNS) + 1)


def test_nothing_runs_on_the_tables_of_datasette_either(chromium, base, folder):
    tables = query(
        folder / "a.db", "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%\\_fts%' ESCAPE '\\'"
    )
    with opened(chromium, base) as (page, wrong):
        for path in ["/", "/a", *(f"/a/{name}" for (name,) in tables if not name.startswith(("_", "sqlite_")))]:
            page.goto(base + path)
            assert page.evaluate("window.__hit") is None, path
            assert [one for one in wrong if not one.startswith("console")] == [], path


def test_keys_and_words_of_a_small_vocabulary_run_nothing(chromium, base, folder):
    rows = query(folder / "b.db", "SELECT id FROM sessions ORDER BY rowid LIMIT 4")
    with opened(chromium, base) as (page, wrong):
        for (sid,) in rows:
            for tail in ("", "/chunk/1"):
                page.goto(f"{base}/b/-/session/{tilde_encode(sid)}{tail}")
                assert page.evaluate("window.__hit") is None, sid
        assert [one for one in wrong if "404" not in one and "500" not in one] == []


# -- the control ------------------------------------------------------------------------------------------------

CONTEXTS = ("<div>{}</div>", '<p title="{}">x</p>', "<title>{}</title>")
POKE = """() => {
  for (const one of document.querySelectorAll('*')) one.dispatchEvent(new MouseEvent('mouseover'));
  for (const one of document.querySelectorAll('a[href^="javascript" i], a[href*="script:" i], [onclick]')) one.click();
}"""


def test_the_attacks_do_run_or_load_where_nothing_holds_them_back(chromium, proved):
    """Without this control a silent browser would prove nothing."""
    fired, elsewhere = set(), []
    context = chromium.new_context()
    context.route("**/*", lambda route: (elsewhere.append(route.request.url), route.abort()))
    page = context.new_page()
    for attack, text in product(RUNS, CONTEXTS):
        if attack in fired:
            continue
        elsewhere.clear()
        try:
            page.set_content(text.replace("{}", attack.replace("\0", "")), wait_until="commit")
            page.evaluate(POKE)
            page.wait_for_timeout(40)
            hit = page.evaluate("window.__hit === 1")
            page.evaluate("delete window.__hit")
        except Error:  # it led the page elsewhere
            hit = True
        if hit or any("evil" in url for url in elsewhere):
            fired.add(attack)
            page.close()
            page = context.new_page()
    context.close()
    proved("attacks that run or load something where nothing holds them back", len(fired))
    assert len(fired) >= 24


# -- without a browser: what the parser sees --------------------------------------------------------------------


def get(address):
    with urlopen(address, timeout=30) as answer:
        return answer.read().decode()


def test_the_attacks_are_read_as_text(base):
    for number in (1, 30, 60):
        address = f"{base}/a/-/session/{session_id(number)}"
        page = Page(get(address))
        assert page.problems == []
        assert page.text.count(CANARY) > 5
        chunks = json.loads(get(f"{address}/since?have="))["chunks"]
        assert len(chunks) == 4
        assert [Page(f"<main>{one['html']}</main>").problems for one in chunks] == [[], [], [], []]
