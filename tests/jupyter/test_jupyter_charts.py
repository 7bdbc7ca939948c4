"""Charts of sources and sessions."""

import subprocess
import sys

import altair as alt
import pytest

import jupyter_clm as jc
from clm_sessions.errors import UsageError
from support.notebooks import LOGS, environment


@pytest.fixture(autouse=True)
def _renderer():
    before = alt.renderers.active
    yield
    alt.renderers.enable(before)


def values(chart):
    found = chart.to_dict()
    return (found.get("data") or found["layer"][0]["data"])["values"]


def test_charts_of_a_database_show_what_its_rows_say(database):
    tokens = jc.charts.tokens_over_time(database)
    owned = database.sql("SELECT sum(output_tokens) AS n FROM requests WHERE NOT inherited AND day IS NOT NULL")["n"][0]
    assert sum(bar["top"] - bar["bottom"] for bar in values(tokens)) == owned
    tools = jc.charts.tool_use(database, top=3)
    bash = database.sql("SELECT count(*) AS n FROM tool_calls WHERE name = 'Bash' AND NOT inherited")["n"][0]
    assert next((row["tool"], row["calls"]) for row in values(tools)) == ("Bash", bash)
    assert isinstance(jc.charts.activity_calendar(LOGS / "clm"), (alt.Chart, alt.LayerChart))


def test_costs_are_of_logs_that_are_opened_and_where_there_are_none_it_is_said(database):
    bars = values(jc.charts.cost_over_time(LOGS))
    assert all(bar["top"] > bar["bottom"] for bar in bars)
    assert "claude-opus-4-5-20251101" in {bar["model"] for bar in bars}
    with pytest.raises(UsageError, match="no reply here has an estimated cost"):
        jc.charts.cost_over_time(database)


def test_a_span_of_days_and_a_project_are_what_a_chart_is_of(database):
    one = jc.charts.tokens_over_time(database, since="2026-02-10", until="2026-02-10", project="garden-planner")
    assert {bar["words"][:10] for bar in values(one)} == {"10 Feb 202"}
    with pytest.raises(UsageError, match=r"no project 'nope' in the database; there are: .*garden-planner"):
        jc.charts.tool_use(database, project="nope")


def test_the_context_of_a_session_falls_at_each_compaction(long, stored):
    for session in (long, stored):
        bars = values(jc.charts.context_per_turn(session))
        assert sum(bar["compacted"] for bar in bars) == session.info.compactions == 2
        at = [n for n, bar in enumerate(bars) if bar["compacted"]]
        assert all(bars[n]["tokens"] < bars[n - 1]["tokens"] / 2 for n in at)


def test_a_timeline_shows_the_turns_or_what_ran_in_one(long, stored):
    assert len(values(jc.charts.session_timeline(long))) > 60
    rows = values(jc.charts.session_timeline(stored, turn=3))
    assert rows == values(jc.charts.session_timeline(long, turn=3))
    assert {row["kind"] for row in rows} == {"reply", "tool", "failed"}
    with pytest.raises(UsageError, match="no turn 99999: this session has"):
        jc.charts.session_timeline(long, turn=99_999)


def test_a_chart_is_shown_without_the_network_unless_somebody_chose_otherwise(database):
    alt.renderers.enable("default")
    chart = jc.charts.tool_use(database)
    shown, meta = chart._repr_mimebundle_()
    assert set(shown) == {"image/png", "text/plain"}
    assert shown["image/png"].startswith(b"\x89PNG")
    assert shown["text/plain"] == "<chart: Calls by tool, and those that failed>"
    assert 540 <= meta["image/png"]["width"] <= 580
    assert chart.to_dict()["background"] == "white"
    alt.renderers.enable("json")
    jc.charts.tool_use(database)
    assert alt.renderers.active == "json"


def test_without_altair_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['altair'] = None\nimport jupyter_clm as jc\n"
        "try: jc.charts.tool_use(sys.argv[1])\nexcept Exception as e: print(type(e).__name__, e)\n"
    )
    command = [sys.executable, "-W", "error", "-c", code, str(LOGS / "clm")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
    assert done.stdout == (
        "UsageError charts need Altair, which is not installed; run: pip install 'clm-sessions[charts]'\n"
    )


def test_a_chart_of_nothing_is_an_error_that_says_what_is_missing(database, sessions):
    charts = jc.charts
    for chart, words in (
        (charts.tokens_over_time, "no reply here has its tokens and a day"),
        (charts.tool_use, "no tool was called"),
    ):
        with pytest.raises(UsageError, match=words):
            chart(database, since="2027-01-01")
    timeless = sessions["20260214-101500-b1edfeed"]
    with pytest.raises(UsageError, match="this session has no times"):
        charts.session_timeline(timeless)
    with pytest.raises(UsageError, match="no reply of this session has its tokens"):
        charts.context_per_turn(timeless)


def test_what_a_chart_is_of_may_be_named_as_in_filters_and_what_it_cannot_be_of_is_said(database, long):
    one = jc.charts.tool_use(database, project="garden-planner")
    assert values(jc.charts.tool_use(database, project="GARDEN*")) == values(one)
    for wrong in (["garden-planner"], "*"):
        with pytest.raises(UsageError, match="; a chart is of one, or of all"):
            jc.charts.tool_use(database, project=wrong)
    with pytest.raises(UsageError, match="no path: <NotebookSession"):
        jc.charts.tool_use(long)
    for wrong in (database, "b3fefa1a"):
        with pytest.raises(UsageError, match="this chart is of one session, not of"):
            jc.charts.session_timeline(wrong)


def axis(chart):
    return chart.to_dict()["layer"][0]["encoding"]["x"]["axis"]["title"]


def test_a_timeline_is_measured_in_what_suits_it_and_says_what_it_leaves_out(long, monkeypatch):
    whole = jc.charts.session_timeline(long)
    assert axis(whole) == "hours"
    assert 3.6 < max(bar["end"] for bar in values(whole)) < 3.7
    assert axis(jc.charts.session_timeline(long, turn=1)) == "seconds"
    monkeypatch.setattr("jupyter_clm.charts.ROWS", 20)
    assert axis(jc.charts.session_timeline(long)) == "minutes · the first 20 of 74 turns"
    assert all(bar["end"] > bar["start"] for bar in values(whole))


def test_completion_offers_what_is_public_and_nothing_else():
    assert set(dir(jc)) == set(jc.__all__)
    assert dir(jc.charts) == sorted(jc.charts.__all__)
    assert all(callable(getattr(jc.charts, name)) for name in jc.charts.__all__)
