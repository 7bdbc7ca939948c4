"""A session page that is open shows what is written meanwhile: a real import writes, a real Chromium looks."""

from __future__ import annotations

import json
import time
from itertools import count

import pytest
from datasette.app import Datasette
from playwright.sync_api import expect

from support.logs import import_logs, session_id, turn, write_log
from support.site import MODERN, opened, served, tool_turn

pytestmark = pytest.mark.browser
NUMBERS = count(1)


class Agent:
    """A session that is being written. ``root`` holds the logs, ``database`` what is imported of them."""

    def __init__(self, root, database):
        self.sid = session_id(next(NUMBERS))
        self.root, self.database = root, database
        self.log = write_log(root / "p" / f"{self.sid}.jsonl", self.turns(0, 30))
        import_logs(database, root)

    @property
    def path(self):
        return f"/{self.database.stem}/-/session/{self.sid}"

    def turns(self, start, stop):
        more = "more\n" * 8
        return [
            one for n in range(start, stop) for one in turn(n, f"Question {n}\n{more}", f"Answer {n}", session=self.sid)
        ]

    def write(self, *entries):
        with self.log.open("a") as file:
            file.writelines(json.dumps(entry) + "\n" for entry in entries)
        import_logs(self.database, self.root)

    def rewrite(self, *entries):
        write_log(self.log, entries)
        import_logs(self.database, self.root)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("live")


@pytest.fixture(scope="module")
def address(folder):
    """One server for all, of a database that each test writes a session of its own into."""
    Agent(folder / "logs", folder / "a.db")
    with served(folder / "a.db") as base:
        yield base


@pytest.fixture
def agent(folder, address):
    return Agent(folder / "logs", folder / "a.db")


@pytest.fixture
def page(chromium, address, agent):
    """The open page of the agent's session."""
    with opened(chromium, address) as (page, wrong):
        page.goto(address + agent.path)
        page.evaluate("window.mine = 1")
        yield page
        assert page.evaluate("window.mine") == 1, "the page was loaded again"
        assert wrong == []


def top(page, seq):
    return page.locator(f"#c{seq}").evaluate("(card) => card.getBoundingClientRect().top")


def test_new_chunks_appear_within_two_seconds_and_the_reader_stays_where_he_was(page, agent, proved):
    page.locator("#c20").evaluate("(card) => card.scrollIntoView()")
    before = top(page, 20)
    agent.write(*agent.turns(30, 32))
    began = time.monotonic()
    expect(page.locator("#c63")).to_contain_text("Answer 31", timeout=2_000)
    proved("milliseconds until a new chunk is on an open page", round(1000 * (time.monotonic() - began)))
    assert abs(top(page, 20) - before) < 2
    cards = [one.get_attribute("id") for one in page.locator(".clm-transcript .clm-item > .clm-chunk").all()]
    assert cards == [f"c{n}" for n in range(64)]
    page.get_by_role("status").get_by_role("link", name="4 new chunks").click()
    expect(page.locator("#c60")).to_be_in_viewport()


def test_a_reader_at_the_end_goes_along(page, agent):
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    for turns in ((30, 34), (34, 35)):
        agent.write(*agent.turns(*turns))
        expect(page.locator(f"#c{2 * turns[1] - 1}")).to_be_in_viewport(timeout=3_000)
    expect(page.get_by_role("status").filter(has_text="new chunk")).to_have_text("2 new chunks")


def test_a_chunk_that_grows_keeps_what_the_reader_opened_and_what_he_looks_at(page, agent):
    agent.write(*tool_turn(60, "Bash", {"command": "first"}, "one", session=agent.sid))
    step = page.locator("#c59 details.clm-step")
    step.locator("summary").first.click(timeout=3_000)
    step.first.evaluate("(one) => { one.mine = true; }")
    before = step.first.evaluate("(one) => one.getBoundingClientRect().top")
    agent.write(*tool_turn(62, "Bash", {"command": "second"}, "two", session=agent.sid))
    expect(step).to_have_count(2, timeout=3_000)
    assert step.first.evaluate("(one) => one.open && one.mine")
    assert not step.nth(1).evaluate("(one) => one.open")
    assert abs(step.first.evaluate("(one) => one.getBoundingClientRect().top") - before) < 2


def test_what_grows_above_moves_nothing_below(page, agent):
    """The result of a slow call belongs to a chunk that the reader has passed."""
    use, back = tool_turn(60, "Bash", {"command": "slow"}, "at last\n" * 30, session=agent.sid)
    agent.write(use, *agent.turns(32, 42))
    page.locator("#c59 details.clm-step > summary").first.click(timeout=3_000)
    page.locator("#c75").evaluate("(card) => card.scrollIntoView()")
    before = top(page, 75)
    height = page.locator("#c59").evaluate("(card) => card.offsetHeight")
    agent.write({**back, "timestamp": "2026-03-02T09:10:00.000Z"})
    expect(page.locator("#c59")).to_contain_text("at last", timeout=3_000)
    assert page.locator("#c59").evaluate("(card) => card.offsetHeight") > height
    assert abs(top(page, 75) - before) < 2


def test_other_pages_of_the_session_only_say_what_is_new(chromium, address, agent):
    agent.write(*agent.turns(30, 60))
    with opened(chromium, address) as (page, wrong):
        for query, total in (("", 120), ("?q=question", 122)):
            page.goto(f"{address}{agent.path}{query}")
            cards = page.locator(".clm-item").count()
            agent.write(*agent.turns(total // 2, total // 2 + 1))
            news = page.get_by_role("link", name="2 new chunks")
            expect(news).to_have_attribute("href", f"{agent.path}?chunk={total}#c{total}", timeout=3_000)
            assert page.locator(".clm-item").count() == cards
            news.click()
            expect(page.locator(f"#c{total}")).to_be_in_viewport()
        assert wrong == []


def test_a_log_that_was_cut_loses_its_cards(page, agent):
    agent.rewrite(*agent.turns(0, 28))
    expect(page.locator(".clm-item")).to_have_count(56, timeout=3_000)
    agent.write(*agent.turns(28, 29))
    expect(page.locator(".clm-item")).to_have_count(58, timeout=3_000)
    assert page.locator("#c57").text_content().count("Answer 28") == 1


def test_a_hidden_tab_rests_and_catches_up_when_it_is_looked_at(page, agent):
    hide = "Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })"
    tell = "document.dispatchEvent(new Event('visibilitychange'))"
    page.evaluate(f"{hide}; {tell}")
    page.wait_for_timeout(200)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    agent.write(*agent.turns(30, 31))
    page.wait_for_timeout(1_500)
    assert asked == []
    page.evaluate(f"delete document.hidden; {tell}")
    expect(page.locator("#c61")).to_be_attached(timeout=1_000)


def test_a_server_that_is_away_for_a_while_is_asked_again(page, agent):
    page.route("**/since?*", lambda route: route.fulfill(status=200, body="<p>a proxy says that it is tired"))
    page.wait_for_timeout(1_300)
    agent.write(*agent.turns(30, 31))
    page.unroute("**/since?*")
    expect(page.locator("#c61")).to_be_attached(timeout=6_000)


def test_a_page_whose_permission_is_withdrawn_says_so_and_asks_no_more(chromium, folder, tmp_path):
    agent = Agent(folder / "logs", tmp_path / "a.db")
    (tmp_path / "rules.json").write_text(json.dumps({"databases": {"a": {"allow": {"id": "root"}}}}))
    options = ["--config" if MODERN else "--metadata", tmp_path / "rules.json", "--secret", "x"]
    cookie = Datasette(secret="x").sign({"a": {"id": "root"}}, "actor")
    with served(tmp_path / "a.db", *options) as base, opened(chromium, base) as (page, wrong):
        page.context.add_cookies([{"name": "ds_actor", "value": cookie, "url": base}])
        page.goto(base + agent.path)
        page.context.clear_cookies()
        agent.write(*agent.turns(30, 31))
        told = page.get_by_role("status").filter(has_text="no longer")
        expect(told).to_have_text("You may no longer see this session.", timeout=3_000)
        page.wait_for_timeout(1_500)
        assert page.locator("#c61").count() == 0
        assert len(wrong) == 1
        assert "403" in wrong[0]


def test_an_immutable_database_is_not_asked(chromium, folder, tmp_path):
    agent = Agent(folder / "logs", tmp_path / "a.db")
    with served("--immutable", tmp_path / "a.db") as base, opened(chromium, base) as (page, wrong):
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(base + agent.path)
        page.wait_for_timeout(1_300)
        assert not [url for url in asked if "since" in url]
        assert wrong == []
