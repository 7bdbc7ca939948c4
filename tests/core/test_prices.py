"""Costs: what the price library says, what a person says, and nothing where nobody says anything."""

import random
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta, timezone

import pytest

from clm_sessions import plugins
from clm_sessions.errors import UsageError
from clm_sessions.model import Usage
from clm_sessions.prices import Book, cost, packaged, parse_own
from clm_sessions.store import costs, schema
from clm_sessions.verify import verify
from support.logs import NO_PRICES, entry, import_logs, own_prices, query, session_id, turn, write_log
from support.terminals import piped

genai_prices = pytest.importorskip("genai_prices", reason="needs the extra prices")
MILLION = 1_000_000
USAGES = [
    Usage(input=1200, output=300),
    Usage(input=0, output=0, cache_read=0, cache_creation=0),
    Usage(
        input=7, output=90_000, cache_read=150_000, cache_creation=60_000, cache_creation_1h=50_000, reasoning=70_000
    ),
    Usage(input=300_000, output=5, cache_read=20_000),
    Usage(input=200_000, output=1),
    Usage(input=1, output=1, cache_read=200_000),
]


def of_library(model, at, usage):
    """What the library itself makes of a reply."""
    given = {
        "input_tokens": usage.input + (usage.cache_read or 0) + (usage.cache_creation or 0),
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_creation,
        "cache_write_1h_tokens": usage.cache_creation_1h,
        "output_reasoning_tokens": usage.reasoning,
    }
    known = genai_prices.units._get_registry()._reported_usage_keys
    used = genai_prices.Usage(**{key: value for key, value in given.items() if value is not None and key in known})
    return float(genai_prices.calc_price(used, model, genai_request_timestamp=at).total_price)


def all_models():
    from genai_prices.data_snapshot import get_snapshot

    return sorted({model.id for provider in get_snapshot().providers for model in provider.models})


def test_every_model_of_the_library_costs_what_the_library_says():
    rng, compared = random.Random(4), 0
    for model in all_models():
        prices = packaged.look_up(model)
        if any(price.input is None for price in prices):
            continue
        at = datetime(2024, 1, 1, 12, tzinfo=timezone.utc) + timedelta(days=rng.randrange(1200))
        for usage in USAGES:
            ours = cost(prices, at.date().isoformat(), usage)
            assert ours == pytest.approx(of_library(model, at, usage), rel=1e-9, abs=1e-12), (model, at, usage)
            compared += 1
    assert compared > 2000


@pytest.mark.parametrize(
    ("model", "day", "usage", "usd"),
    [
        # 3 in, 15 out, 0.30 read, 3.75 written, 6 written for an hour
        ("claude-sonnet-4-20250514", "2025-06-01", {"input": MILLION, "output": 0}, 3),
        (
            "claude-sonnet-4-20250514", "2025-06-01",
            {"input": 0, "output": 10_000, "cache_read": 100_000, "cache_creation": 30_000, "cache_creation_1h": 10_000},
            0.15 + 0.03 + 0.075 + 0.06,
        ),
        ("claude-opus-4-5-20251101", "2025-12-01", {"input": 2000, "output": 1000, "cache_creation": 8000}, 0.01 + 0.025 + 0.05),
        ("claude-haiku-4-5-20251001", "2025-12-01", {"input": 1000, "output": 1000, "cache_read": 50_000}, 0.001 + 0.005 + 0.005),
        # 1.25 in, 10 out, 0.125 read; reasoning is output
        ("gpt-5", "2025-12-01", {"input": 4000, "output": 1000, "cache_read": 8000, "reasoning": 900}, 0.005 + 0.01 + 0.001),
        # 1.25 and 10 up to 200,000 tokens of input, 2.50 and 15 above, for all of them
        ("gemini-2.5-pro", "2025-12-01", {"input": 200_000, "output": 1000}, 0.25 + 0.01),
        ("gemini-2.5-pro", "2025-12-01", {"input": 200_001, "output": 1000}, 0.5000025 + 0.015),
        # cheaper since 2025-06-10
        ("o3", "2025-06-09", {"input": 1000, "output": 1000}, 0.05), ("o3", "2025-06-10", {"input": 1000, "output": 1000}, 0.01),
    ],
)  # fmt: skip
def test_five_models_cost_what_their_lists_say(model, day, usage, usd):
    assert Book().cost(model, day, Usage(**usage)) == pytest.approx(usd)


@pytest.mark.parametrize(
    ("model", "day", "usage"),
    [
        ("no-such-model", "2025-12-01", {"input": 1, "output": 1}), ("<synthetic>", "2025-12-01", {"input": 0, "output": 0}),
        ("", "2025-12-01", {"input": 1, "output": 1}), (None, "2025-12-01", {"input": 1, "output": 1}),
        ("gpt-5", "2025-12-01", {"output": 1}), ("gpt-5", "2025-12-01", {"input": 1}), ("gpt-5", "2025-12-01", {}),
        ("gpt-5", "2025-12-01", {"input": -1, "output": 1}),
        ("o3", None, {"input": 1, "output": 1}),  # its price changed once
        ("deepseek-chat", "2025-12-01", {"input": 1, "output": 1}),  # its price depends on the hour
        ("text-embedding-3-small", "2025-12-01", {"input": 1, "output": 1}),  # no price of output
    ],
)  # fmt: skip
def test_what_is_not_known_has_no_cost(model, day, usage):
    assert Book().cost(model, day, Usage(**usage)) is None


def test_a_model_of_one_price_needs_no_day():
    assert Book().cost("gpt-5", None, Usage(input=1000, output=0)) == pytest.approx(0.00125)


def test_the_database_reckons_as_the_library_does():
    models = [m for m in all_models() if m.startswith(("claude", "gpt-5", "o3", "gemini-2", "grok", "deepseek"))]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        schema.migrate(db)
        days = ["2024-02-03", "2025-06-10", "2026-07-01", None]
        replies = [(model, day, usage) for model in models for day in days for usage in [*USAGES, Usage(output=3)]]
        db.execute("INSERT INTO sessions (id) VALUES ('s')")
        db.executemany(
            "INSERT INTO requests (session_id, seq, model, day, inherited, input_tokens, output_tokens, cache_read_tokens, "
            "cache_creation_tokens, reasoning_tokens, cache_creation_1h_tokens) VALUES ('s', ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)",
            [(n, m, d, *u.counts().values(), u.cache_creation_1h) for n, (m, d, u) in enumerate(replies)],
        )
        costs.settle(db, ["s"], Book())
        stored = [usd for (usd,) in db.execute("SELECT cost_usd FROM requests ORDER BY seq")]
        assert stored == [Book().cost(*reply) for reply in replies]
        assert sum(usd is not None for usd in stored) > 500
        assert list(costs.wrong(db)) == []
        total, unpriced = db.execute("SELECT cost_usd, unpriced_requests FROM sessions").fetchone()
        assert total == pytest.approx(sum(usd for usd in stored if usd is not None))
        assert unpriced == stored.count(None)


# -- imports ----------------------------------------------------------------------------------------------------

BOOK = own_prices(**{"claude-test-1": {"input": 3, "output": 15}})


def logs(folder, **more):
    return write_log(
        folder / "logs" / f"{session_id()}.jsonl", [*turn(1, "one", "two", **more), *turn(2, "three", "four")]
    )


def of_session(database):
    return query(database, "SELECT cost_usd, own_cost_usd, unpriced_requests FROM sessions ORDER BY id")


def test_without_prices_costs_are_empty_and_a_later_import_fills_them_in(tmp_path):
    database, log = tmp_path / "a.db", logs(tmp_path)
    import_logs(database, log, book=NO_PRICES)
    assert of_session(database) == [(None, None, 2)]
    import_logs(database, log, book=BOOK)
    assert of_session(database) == [(pytest.approx(0.00018), pytest.approx(0.00018), 0)]
    before = database.read_bytes()
    assert import_logs(database, log, book=BOOK).sources["unchanged"] == 1
    assert database.read_bytes() == before


def test_prices_are_asked_for_once_and_those_of_models_that_are_gone_go(tmp_path):
    database, log = tmp_path / "a.db", logs(tmp_path, model="claude-old-1")
    both = own_prices(**{"claude-*": {"input": 3, "output": 15}})
    import_logs(database, log, book=both)
    assert query(database, "SELECT model FROM prices") == [("claude-old-1",), ("claude-test-1",)]
    logs(tmp_path)
    import_logs(database, log, book=own_prices(**{"claude-*": {"input": 99, "output": 99}}))
    assert query(database, "SELECT model, input_usd FROM prices") == [("claude-test-1", 3.0)]
    import_logs(tmp_path / "b.db", log, book=both)
    assert query(database, "SELECT * FROM prices") == query(tmp_path / "b.db", "SELECT * FROM prices")


def test_the_order_of_imports_does_not_matter(tmp_path):
    own = session_id(2)
    first = write_log(tmp_path / "logs" / f"{session_id()}.jsonl", turn(1, "one", "two"))
    copied = [*turn(1, "one", "two"), *turn(9, "own", "yes", session=own)]
    second = write_log(tmp_path / "logs" / f"{own}.jsonl", copied)
    for name, order in (("a", (first, second)), ("b", (second, first))):
        for log in order:
            import_logs(tmp_path / f"{name}.db", log, book=BOOK)
    assert of_session(tmp_path / "a.db") == of_session(tmp_path / "b.db")
    shown, own_cost, unpriced = of_session(tmp_path / "a.db")[1]
    assert (shown > own_cost, unpriced) == (True, 0)


def test_verify_asks_nobody_for_prices_and_finds_a_cost_that_does_not_follow_from_them(tmp_path):
    database = tmp_path / "a.db"
    import_logs(database, logs(tmp_path), book=BOOK)
    assert verify(database, plugins.build(entry_points=False)).findings == []
    for damage in (
        "UPDATE requests SET cost_usd = cost_usd * 2 WHERE seq = 0", "UPDATE sessions SET own_cost_usd = NULL",
        "UPDATE prices SET input_usd = 4", "UPDATE sessions SET unpriced_requests = 7", "UPDATE requests SET cost_usd = 'x'",
        "DELETE FROM prices",
    ):  # fmt: skip
        with closing(sqlite3.connect(database)) as db:
            db.execute(damage)
            db.commit()
        assert verify(database, plugins.build(entry_points=False)).findings, damage
        import_logs(database, tmp_path / "logs", book=BOOK, again=True)
        assert verify(database, plugins.build(entry_points=False)).findings == [], damage


def test_a_reply_written_for_an_hour_into_the_cache_costs_more(tmp_path):
    usage = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 1000}
    kept = usage | {"cache_creation": {"ephemeral_5m_input_tokens": 400, "ephemeral_1h_input_tokens": 600}}
    log = write_log(
        tmp_path / f"{session_id()}.jsonl",
        [entry("assistant", n, "x", usage=u, model="claude-opus-4-5-20251101") for n, u in enumerate((usage, kept))],
    )
    import_logs(tmp_path / "a.db", log, book=Book())
    assert query(tmp_path / "a.db", "SELECT cost_usd FROM requests ORDER BY seq") == [
        (pytest.approx(0.00625),), (pytest.approx(0.0025 + 0.006),),
    ]  # fmt: skip


# -- a person's own prices --------------------------------------------------------------------------------------


def test_own_prices_win_and_say_so():
    book = Book(own=parse_own({"GPT-5*": {"input": 1, "output": 2}, "*": {"input": 0, "output": 0}}, "x"))
    assert book.cost("gpt-5-codex", None, Usage(input=MILLION, output=MILLION, cache_read=MILLION)) == 4
    assert book.cost("no-such-model", None, Usage(input=5, output=5)) == 0
    assert [price.source for price in book.prices("gpt-5-codex")] == ["your own prices"]


@pytest.mark.parametrize(
    "given",
    [
        "x", [], {"m": 3}, {"m": {"input": 1}}, {"m": {"input": 1, "output": "2"}}, {"m": {"input": 1, "output": -2}},
        {"m": {"input": 1, "output": True}}, {"m": {"input": 1, "output": float("inf")}},
        {"m": {"input": 1, "output": float("nan")}}, {"m": {"input": 1, "output": 1, "cached": 1}},
    ],
)  # fmt: skip
def test_what_is_wrong_with_own_prices_is_told_in_one_line_with_the_place(given):
    with pytest.raises(UsageError, match=r"^settings\.toml: .*price") as raised:
        parse_own(given, "settings.toml")
    assert "\n" not in str(raised.value)


def test_the_command_prices_everything_anew_with_the_prices_of_the_settings(tmp_path):
    database, settings = tmp_path / "a.db", tmp_path / "config.toml"
    import_logs(database, logs(tmp_path), book=BOOK)
    settings.write_text('[prices]\n"claude-*" = { input = 0, output = 1000000 }\n', encoding="utf-8")
    shown = piped("--config", settings, "prices", database)
    assert (shown.exit_code, "your own prices" in shown.output) == (0, True)
    assert of_session(database) == [(8.0, 8.0, 0)]
    assert "$8.00" in piped("stats", database, "--by", "model").output
    assert verify(database, plugins.build(entry_points=False)).findings == []
