"""What a person gets wrong in a notebook, or expects to work, and what they are told."""

import inspect
import math
import sqlite3
import threading
from datetime import date, datetime, timezone

import numpy as np
import pandas as pd
import pytest

import jupyter_clm as jc
from clm_sessions.errors import ClmError, NoSessionError, NotALogError
from support.logs import import_logs
from support.notebooks import LOGS, plain

ONE = LOGS / "clm/20260214-101500-b1edfeed.jsonl"
LONG = "b3fefa1a"


def said(call, *given, **more):
    """The one line that is said instead of an answer."""
    with pytest.raises(ClmError) as caught:
        call(*given, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- opening --------------------------------------------------------------------------------------------------------


def test_a_path_that_is_of_another_kind_is_told_from_one_that_holds_nothing(database, tmp_path):
    assert said(jc.load, database.path).endswith("this is a database; open it with jupyter_clm.open")
    assert said(jc.load_all, database.path).endswith("this is a database; open it with jupyter_clm.open")
    (tmp_path / "notes.txt").write_text("no log")
    with pytest.raises(NotALogError, match=r"notes\.txt: no format recognises a session log here"):
        jc.load_all(tmp_path / "notes.txt")
    assert len(jc.load_all(tmp_path)) == 0
    assert "nope: no such database, log or folder" in said(jc.open, tmp_path / "nope")
    for reads in (jc.open, jc.load, jc.load_all, jc.sessions_df):
        assert said(reads, "").startswith("the path is empty")


def test_a_tilde_is_the_home_of_whoever_writes_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "one.jsonl").write_bytes(ONE.read_bytes())
    assert jc.load("~/one.jsonl").path == tmp_path / "one.jsonl"
    with jc.open("~/one.jsonl") as db:
        assert len(db) == len(jc.load_all("~/one.jsonl")) == 1


def test_sessions_of_a_database_are_found_by_place_slice_id_and_value(database):
    listed = database.sessions
    assert database[0] == listed[0]
    assert list(database[:3]) == list(listed[:3])
    for one in (LONG, database[LONG]):
        assert one in listed
        assert one in database
    assert "nope" not in listed
    assert listed.index(database[LONG]) == [s.id[:8] for s in listed].index(LONG)
    assert database[LONG] == database[LONG] != database[0]
    assert len({database[LONG], database[LONG]}) == 1
    with pytest.raises(IndexError, match="no session 99: there are 24, counted from 0"):
        listed[99]
    with pytest.raises(IndexError, match="no chunk 147: there are 147, counted from 0"):
        database[LONG][147]
    assert database[LONG][np.int64(3)].chunk.seq == 3


def test_an_error_about_opened_logs_names_their_path_and_not_the_private_database():
    with jc.open(LOGS / "clm") as db, pytest.raises(NoSessionError, match=r"begins with 'nope' in .*demo/logs/clm$"):
        db["nope"]


def test_a_database_that_was_closed_says_so(tmp_path):
    import_logs(tmp_path / "sessions.db", LOGS / "clm")
    db = jc.open(tmp_path / "sessions.db")
    db.close()
    db.close()
    assert repr(db) == "<NotebookDatabase sessions.db: closed>"
    closed = f"{db.path} is closed; jupyter_clm.open opens it again"
    for call in (len, list, jc.tool_calls_df, jc.charts.tool_use, lambda db: db.sql("SELECT 1"), lambda db: db["x"]):
        assert said(call, db) == closed


# -- views ----------------------------------------------------------------------------------------------------------


def test_a_view_that_was_closed_shows_what_remains_and_follows_nothing(stored, monkeypatch):
    view = stored.view()
    view.close()
    assert view.closed
    assert repr(view).endswith("147 chunks, 129 tool calls), closed>")
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_options: shown.append(data))
    view._ipython_display_()
    assert [set(data) for data in shown] == [{"text/plain", "text/html"}]
    before = threading.active_count()
    assert said(view.follow) == "this view was closed; session.follow() makes another"
    assert (threading.active_count(), view.following) == (before, False)


def test_a_session_of_opened_logs_is_not_followed_for_nothing_will_be_written():
    session = jc.open(LOGS)[LONG]
    for one in (session, session.subagents[0]):
        assert "jupyter_clm.load(PATH).follow()" in said(one.follow)


def test_what_is_no_session_is_not_shown_or_compared(database):
    assert said(jc.compare, database[0], LONG).startswith("no session: 'b3fefa1a'; take one of")
    assert said(jc.show, database) == f"no session: {database!r}; lists have a view() of their own"


def test_the_beginning_of_an_id_chooses_a_session_in_a_list(database):
    view = database.sessions.view(selected=LONG)
    assert view.selected == database[LONG].id
    view.close()


# -- frames ---------------------------------------------------------------------------------------------------------


def test_one_column_may_be_named_alone_and_none_or_the_same_twice_is_no_riddle(database):
    assert list(jc.sessions_df(database, columns="title")) == ["title"]
    assert list(jc.sessions_df(database, columns=["title", "id", "title"])) == ["title", "id"]
    assert list(jc.sessions_df(database, columns=pd.Index(["title"]))) == ["title"]
    assert said(jc.sessions_df, database, columns=[]).startswith("columns=[]: name at least one; sessions has: id, ")


@pytest.mark.parametrize("when", [5, pd.NaT, np.datetime64("2026-02-09"), math.nan])
def test_what_is_no_date_is_said_to_be_none(database, when):
    assert said(jc.sessions_df, database, since=when).endswith("no date; write 2026-03-02, or give a date or datetime")


def test_errors_name_the_table_as_it_was_named(database):
    assert said(jc.files_df, database, since="2026-01-01").startswith("files cannot be filtered by time")
    assert said(jc.issues_df, database, tool="Bash").startswith("issues cannot be filtered by tool")


# -- queries --------------------------------------------------------------------------------------------------------


def test_values_of_numpy_and_pandas_are_found_as_parameters(database):
    call = jc.tool_calls_df(database, session=LONG).iloc[5]
    asked = "SELECT count(*) AS n FROM tool_calls WHERE session_id = ? AND seq = ?"
    assert database.sql(asked, [call["session_id"], np.int64(call["seq"])])["n"][0] == 1
    assert database.sql("SELECT typeof(?) AS t", np.array([1.5]))["t"][0] == "real"
    missing = database.sql("SELECT ? IS NULL AND ? IS NULL AND :c IS NULL AS n", [pd.NA, pd.NaT, None])
    assert missing["n"][0] == 1


@pytest.mark.parametrize(
    "since",
    [
        datetime(2026, 3, 1, 23, tzinfo=timezone.utc),
        datetime(2026, 3, 1, 23),  # noqa: DTZ001 - a moment without a zone is UTC
        pd.Timestamp("2026-03-02T00:00", tz="Europe/Berlin"),
        np.datetime64("2026-03-01T23:00"),
        np.datetime64("2026-03-01T23:00:00.000000000"),
        "2026-03-01T23:00:00.000Z",
    ],
)
def test_a_moment_as_a_parameter_compares_with_those_in_the_tables(database, since):
    found = database.sql("SELECT started_at FROM sessions WHERE started_at >= :since ORDER BY 1", {"since": since})
    assert len(found) == len(jc.sessions_df(database, since="2026-03-01T23:00"))
    assert found["started_at"].min() >= pd.Timestamp("2026-03-01T23:00", tz="UTC")
    days = database.sql("SELECT count(*) AS n FROM sessions WHERE day >= ?", [date(2026, 3, 1)])
    assert days["n"][0] == len(database.sql("SELECT 1 FROM sessions WHERE day >= '2026-03-01'"))


def test_what_cannot_be_a_parameter_is_said_with_what_can(database):
    assert said(database.sql, "SELECT ?", "abc") == "sql: parameters are a list or a dict; write ['abc']"
    assert said(database.sql, "SELECT ?", 5) == "sql: parameters are a list or a dict; write [5]"
    listed = said(database.sql, "SELECT * FROM sessions WHERE id IN (?)", [["a", "b"]])
    assert listed == "sql: parameter 1 is a list; write IN (?, ?, …) with a parameter for each of its values"
    assert said(database.sql, "SELECT ?", [2**70]).startswith("sql: ")
    assert said(jc.sql, database, "SELECT 1") == "sql: the query is text and comes first, not a NotebookDatabase"
    assert database.sql("SELECT ? AS x", ["\ud800"])["x"][0] == "?"
    assert said(database.sql, "SELECT \ud800").startswith("sql: ")


def test_a_query_writes_nothing_anywhere(database, tmp_path):
    other = tmp_path / "other.db"
    for sql in (
        f"ATTACH '{other}' AS other",
        f"VACUUM INTO '{other}'",
        "CREATE TEMP TABLE mine (x)",
        "CREATE TEMP VIEW mine AS SELECT 1",
        "DELETE FROM sessions",
        "DROP TABLE sessions",
    ):
        assert said(database.sql, sql) == "sql: a query may only read; write a SELECT"
    assert not other.exists()
    assert len(database.sql("SELECT * FROM sessions")) == 39
    assert len(database.search("kale")) > 1


def test_the_help_of_a_table_function_says_what_each_filter_takes():
    for name in ("sessions_df", "chunks_df", "files_df"):
        told = inspect.getdoc(getattr(jc, name))
        arguments = inspect.signature(getattr(jc, name)).parameters
        assert not [each for each in arguments if each != "source" and f"``{each}``" not in told]


def test_a_number_that_is_nowhere_recorded_is_a_number_and_can_be_added_up(database):
    nothing = database.sql("SELECT cost_usd, output_tokens, NULL AS title FROM requests WHERE 0")
    found = database.sql("SELECT cost_usd, NULL AS output_tokens, NULL AS title FROM requests")
    for frame in (nothing, found):
        assert [str(kind) for kind in frame.dtypes] == ["Float64", "Int64", "string"]
    assert found["cost_usd"].sum() == 0
    assert found["output_tokens"].isna().all()


def test_a_view_whose_database_was_closed_says_so_to_who_clicks(tmp_path):
    import_logs(tmp_path / "sessions.db", LOGS)
    with jc.open(tmp_path / "sessions.db") as db:
        session, view, beside = db[LONG], db[LONG].view(), jc.compare(db[LONG], db[LONG])
    said_of_it = plain(session._repr_mimebundle_()["text/html"])
    assert said_of_it.startswith("The watering schedule and 39 crops")
    assert said_of_it.endswith("Its database was closed: open it again to read its chunks.")
    for one, button in ((view, view._controls.next), (beside, beside._next)):
        assert "page 1 of" in one._status.value
        button.click()
        assert "The database was closed: nothing more is read." in one._status.value
        with pytest.raises(sqlite3.ProgrammingError):
            one.page = 3
        one.close()


def test_a_recipe_takes_dates_and_says_which_names_there_are(database):
    name = "tool_errors_by_model"
    one = database.recipe(name, since="2026-02-10")
    for since in (date(2026, 2, 10), pd.Timestamp("2026-02-10", tz="UTC")):
        assert database.recipe(name, since=since).equals(one)
    assert database.recipe(name, since=None, project=None).equals(database.recipe(name))
    assert "no date" in said(database.recipe, name, since="yesterday")
    assert "no project 'nope' in the database; there are: garden-planner, " in said(
        database.recipe, name, project="nope"
    )
