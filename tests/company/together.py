"""Our plugin in the company of others that people install beside it: ./tests/run makes an environment of its own for it."""

from __future__ import annotations

import json
import re
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from datasette.app import Datasette
from datasette_auth_passwords.utils import hash_password

from support.addresses import addresses
from support.logs import import_logs, query, session_id, turn, write_log
from support.site import MODERN, full_log, served

OTHERS = ["datasette-auth-passwords", "datasette-mcp", "datasette-search-all", "datasette-themes"]
OTHERS += [] if MODERN else ["datasette-dashboards"]
CHART = {"title": "A", "db": "a", "query": "SELECT kind, count(*) AS n FROM chunks GROUP BY 1", "library": "vega-lite"}
CHART |= {"display": {"mark": "bar", "encoding": {"x": {"field": "kind"}, "y": {"field": "n"}}}}
PLUGINS = {
    "datasette-auth-passwords": {"alice_password_hash": hash_password("secret", iterations=1_000)},
    "datasette-dashboards": {"agents": {"title": "Agents", "charts": {"kinds": CHART}}},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two databases, one for all and one for alice alone."""
    folder = tmp_path_factory.mktemp("company")
    full_log(folder / "logs")
    import_logs(folder / "a.db", folder / "logs")
    write_log(folder / "own" / "p" / f"{session_id(2)}.jsonl", turn(1, "PRIVATECANARY", "yes", session=session_id(2)))
    import_logs(folder / "private.db", folder / "own")
    rules = {"databases": {"private": {"allow": {"id": "alice"}}}, "plugins": PLUGINS}
    (folder / "rules.json").write_text(json.dumps(rules))
    return folder


@pytest.fixture(scope="module")
def said(folder):
    return folder / "said.txt"


@pytest.fixture(scope="module")
def base(folder, said):
    options = ["--config" if MODERN else "--metadata", folder / "rules.json", "--secret", "x"]
    with served(folder / "a.db", folder / "private.db", *options, said=said) as base:
        yield base


def cookie(actor):
    return {"cookie": f"ds_actor={Datasette(secret='x').sign({'a': {'id': actor}}, 'actor')}"} if actor else {}


def get(address, **headers):
    with urlopen(Request(address, headers=headers), timeout=30) as answer:
        return answer.status, answer.read().decode()


def test_the_others_are_installed_and_loaded(base):
    loaded = json.loads(get(f"{base}/-/plugins.json")[1])
    loaded = loaded["plugins"] if isinstance(loaded, dict) else loaded
    assert {*OTHERS, "clm-sessions"} <= {plugin["name"] for plugin in loaded}


def test_every_page_of_all_of_us_is_there_and_the_log_knows_of_no_error(base, folder, said, proved):
    tables = [row[0] for row in query(folder / "a.db", "SELECT name FROM sqlite_master WHERE type = 'table'")]
    paths = [
        "/",
        "/a",
        "/-/search?q=word",
        "/-/login",
        "/-/plugins",
        "/a/-/query?sql=select+1" if MODERN else "/a?sql=select+1",
    ]
    paths += [f"/a/{table}" for table in tables if not table.startswith(("_", "sqlite_")) and "_fts" not in table]
    paths += ["/a/sessions?_search=word", f"/a/sessions/{session_id()}"]
    paths += [] if MODERN else ["/-/dashboards", "/-/dashboards/agents"]
    ours = addresses({"database": "a", "session": session_id(), "chunk": "0", "message": "0"})
    for path in (*paths, *ours):
        try:
            status, text = get(base + path)
        except HTTPError as error:
            status, text = error.code, error.read().decode()
        assert status == 200, (path, text[-500:])
    proved("pages of several plugins together", len(paths) + len(ours))
    assert not re.search("Traceback|Exception|ERROR", said.read_text()), said.read_text()


@pytest.mark.parametrize("theme", ["dark", "sepia"])
def test_a_theme_comes_with_our_page(base, theme):
    page = get(f"{base}/a/-/session/{session_id()}", cookie=f"ds_theme={theme}")[1]
    assert f"{theme}.css" in page
    assert "PROMPTCANARY" in page


def test_search_all_offers_our_tables(base):
    assert "/a/messages" in get(f"{base}/-/search?q=word")[1]


# -- tools for agents -------------------------------------------------------------------------------------------


class Agent:
    """What an agent's program says to /-/mcp, as one actor."""

    def __init__(self, base, actor=None):
        self.address, self.number = f"{base}/-/mcp", 0
        self.headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        self.headers |= cookie(actor)
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.say("initialize", about)
        self.say("notifications/initialized", answer=False)

    def say(self, method, params=None, *, answer=True):
        self.number += answer
        body = {"jsonrpc": "2.0", "method": method, "params": params or {}} | ({"id": self.number} if answer else {})
        asked = Request(self.address, json.dumps(body).encode(), self.headers, method="POST")
        with urlopen(asked, timeout=30) as got:
            session = got.headers.get("mcp-session-id")
            self.headers |= {"mcp-session-id": session} if session else {}
            text = got.read().decode()
        return json.loads(text)["result"] if answer else None

    def call(self, name, **arguments):
        """Whether it went wrong, and the text of the answer."""
        result = self.say("tools/call", {"name": name, "arguments": arguments})
        return result.get("isError", False), "".join(part.get("text", "") for part in result["content"])


def test_our_search_and_our_sessions_are_tools(base):
    agent = Agent(base)
    tools = {tool["name"]: tool for tool in agent.say("tools/list")["tools"]}
    assert {"search_sessions", "get_session", "execute_sql"} <= tools.keys()
    assert tools["get_session"]["annotations"]["readOnlyHint"]
    assert tools["get_session"]["inputSchema"]["required"] == ["session"]
    wrong, found = agent.call("search_sessions", words="resultcanary")
    assert not wrong
    place = json.loads(found)["places"][0]
    wrong, page = agent.call("get_session", session=place["session"])
    assert not wrong
    assert "PROMPTCANARY" in page
    assert "RESULTCANARY" in page


def test_a_tool_shows_what_the_caller_may_see_and_no_more(base):
    alice, bob, nobody = Agent(base, "alice"), Agent(base, "bob"), Agent(base)
    wrong, page = alice.call("get_session", session=session_id(2), database="private")
    assert not wrong
    assert "PRIVATECANARY" in page
    wrong, words = alice.call("search_sessions", words="word")
    assert wrong
    assert "Say which database: a, private" in words
    for agent in (bob, nobody):
        answers = [
            agent.call("get_session", session=sid, database=name)
            for sid, name in ((session_id(2), "private"), ("x", "private"), ("x", "not-there"))
        ]
        assert all(wrong for wrong, _words in answers)
        assert len({words.replace("not-there", "private") for _wrong, words in answers}) == 1
        wrong, words = agent.call("search_sessions", words="PRIVATECANARY", database="private")
        assert wrong
        assert "CANARY" not in words
        assert json.loads(agent.call("search_sessions", words="PRIVATECANARY")[1])["places"] == []


@pytest.mark.parametrize("arguments", [{"session": "nobody"}, {"session": ""}, {"session": "../a"}])
def test_a_session_that_is_not_there_is_said_in_one_line(base, arguments):
    wrong, words = Agent(base).call("get_session", **arguments)
    assert wrong
    assert "no such session" in words
    assert "\n" not in words
