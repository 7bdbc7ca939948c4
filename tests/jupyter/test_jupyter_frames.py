"""Records and data frames."""

import subprocess
import sys
from datetime import datetime, timezone

import pandas as pd
import pytest

from clm_sessions.errors import UsageError
from jupyter_clm.frames import TABLES, columns, kind
from support.notebooks import LOGS, environment

INTERNAL = {"layout", "result_layout", "input_is_text", "source_state"}
DTYPES = {
    "integer": "Int64",
    "real": "Float64",
    "flag": "boolean",
    "text": "string",
    "category": "category",
    "json": "object",
}


def declared(database, table):
    return {row[1]: row[2] for row in database.core.db.execute(f"PRAGMA table_xinfo({table})") if not row[6]}


@pytest.mark.parametrize("table", TABLES)
def test_columns_are_those_of_the_database_and_hold_what_it_declares(database, table):
    real = declared(database, table)
    assert set(columns(table)) == set(real) - INTERNAL
    for name in columns(table):
        assert (kind(table, name) in {"integer", "flag"}) == (real[name] == "INTEGER"), name


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("subagents", [False, True])
def test_a_log_and_its_database_give_the_same_frame(sessions, database, table, subagents):
    crosses = [
        "inherited",
        "inherited_messages",
        "forked_from",
        "own_input_tokens",
        "own_output_tokens",
        "own_cache_read_tokens",
    ]
    crosses += [
        "own_cache_creation_tokens",
        "own_chunks",
        "own_tool_calls",
        "link",
        "parent_id",
        "parent_tool_call_id",
        "parent_agent_id",
        "role",
        "status",
        "cost_usd",
        "own_cost_usd",
        "unpriced_requests",
    ]
    one, two = sessions.to_df(table, subagents=subagents), database.sessions.to_df(table, subagents=subagents)
    left = [name for name in columns(table) if name not in crosses]
    assert len(one) > 20
    pd.testing.assert_frame_equal(one[left], two[left], check_categorical=False)


@pytest.mark.parametrize("table", TABLES)
def test_dtypes_do_not_depend_on_what_is_in_the_rows(sessions, table):
    full, empty = sessions.to_df(table), sessions[:0].to_df(table)
    assert list(full.columns) == list(empty.columns) == list(columns(table))
    for frame in (full, empty):
        for name in columns(table):
            what = kind(table, name)
            if what == "time":
                assert frame[name].dtype == "datetime64[ms, UTC]", name
            elif what == "day":
                assert frame[name].dtype == "datetime64[s]", name
            else:
                assert frame[name].dtype == DTYPES[what] or (
                    what == "text" and pd.api.types.is_string_dtype(frame[name])
                ), name


def test_what_was_not_recorded_is_missing_and_zero_is_zero(sessions):
    frame = sessions.to_df()
    clm = frame[frame["format"] == "clm"]
    assert clm["output_tokens"].isna().all()
    assert (frame["tool_errors"] == 0).any()


def test_times_are_utc_moments_and_inputs_are_values(long):
    calls = long.tool_calls.to_df()
    first = long.tool_calls[0]
    assert calls["started_at"][0] == datetime.fromtimestamp(first.started_at / 1000, timezone.utc)
    assert calls["input"][0] == first.input
    assert calls["ended_at"].sub(calls["started_at"]).dt.total_seconds().mul(1000).dropna().ge(0).all()
    assert long.to_records("tool_calls")[0]["started_at"].tzinfo is timezone.utc


def test_chunks_messages_calls_and_requests_are_sequences_too(long, stored):
    for name in ("chunks", "messages", "tool_calls", "requests"):
        rows = getattr(long, name)
        assert len(rows) == len(rows.to_df()) == len(rows.to_records())
        assert rows == getattr(long.core, name)
        assert rows == getattr(stored, name)
        assert list(rows[2:4]) == list(getattr(long.core, name))[2:4]
    assert repr(long.tool_calls) == f"<129 tool calls of {long.id}; .to_df() for a data frame>"


def test_an_unknown_table_is_named(long):
    with pytest.raises(UsageError, match="no table 'nope'; there are: sessions, chunks"):
        long.to_df("nope")


def test_without_pandas_the_error_names_the_extra_and_records_still_work():
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "import jupyter_clm as jc, sys\n"
        "s = jc.load_all(sys.argv[1])\n"
        "assert len(s.to_records()) == len(s)\n"
        "try: s.to_df()\n"
        "except Exception as e: print(type(e).__name__, e)\n"
    )
    assert run(code) == "UsageError a frame of pandas needs pandas: pip install 'clm-sessions[pandas]'\n"


def test_without_ipywidgets_all_but_the_view_works_and_its_error_names_the_extra():
    code = (
        "import sys; sys.modules['ipywidgets'] = sys.modules['IPython'] = None\n"
        "import jupyter_clm as jc, sys\n"
        "s = jc.load_all(sys.argv[1])[0]\n"
        "assert 'clm-chunk' in s.snapshot()\n"
        "try: s.view()\n"
        "except Exception as e: print(type(e).__name__, e)\n"
    )
    assert run(code) == "UsageError the live view needs ipywidgets: pip install 'clm-sessions[jupyter]'\n"


def run(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(LOGS)],
        check=True,
        capture_output=True,
        text=True,
        env=environment(),
    )
    return done.stdout
