"""Tables of logs and databases as frames: engines, types, filters, SQL."""

import inspect
import shutil
import sqlite3
import subprocess
import sys
from datetime import date, datetime, timedelta, timezone

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import jupyter_clm as jc
from clm_sessions.cookbook import RECIPES
from clm_sessions.errors import NotALogError, UsageError
from support.notebooks import LOGS, environment

FUNCTIONS = {
    "sessions": jc.sessions_df,
    "chunks": jc.chunks_df,
    "messages": jc.messages_df,
    "tool_calls": jc.tool_calls_df,
    "requests": jc.requests_df,
    "files": jc.files_df,
    "issues": jc.issues_df,
}
REAL = {"files": "sources", "issues": "ingest_issues"}


def count(database, table, where="1", *bound):
    return database.core.db.execute(f"SELECT count(*) FROM {REAL.get(table, table)} WHERE {where}", bound).fetchone()[0]


@pytest.mark.parametrize("table", FUNCTIONS)
def test_the_three_engines_give_the_same_rows_of_each_table(database, table):
    one = FUNCTIONS[table](database)
    two = FUNCTIONS[table](database, engine="polars")
    three = FUNCTIONS[table](database, engine="arrow")
    assert len(one) == len(two) == len(three) == count(database, table) > 0
    assert list(one.columns) == two.columns == three.column_names
    for name in ("session_id", "id", "started_at", "at", "day", "output_tokens", "inherited", "lines", "reason"):
        if name in one:
            values = [None if pd.isna(v) else v.date() if name == "day" else v for v in one[name]]
            assert values == two[name].to_list() == three[name].to_pylist(), name


def test_types_are_those_of_the_columns_in_each_engine(database):
    arrow = jc.tool_calls_df(database, engine="arrow").schema
    polars = jc.tool_calls_df(database, engine="polars").schema
    pandas = jc.tool_calls_df(database).dtypes
    assert (arrow.field("started_at").type, polars["started_at"], str(pandas["started_at"])) == (
        pa.timestamp("ms", tz="UTC"), pl.Datetime("ms", "UTC"), "datetime64[ms, UTC]",
    )  # fmt: skip
    assert (arrow.field("name").type, polars["name"]) == (pa.dictionary(pa.int32(), pa.string()), pl.Categorical)
    assert (arrow.field("is_error").type, polars["is_error"], pandas["is_error"]) == (pa.bool_(), pl.Boolean, "boolean")
    assert (arrow.field("seq").type, polars["seq"], pandas["seq"]) == (pa.int64(), pl.Int64, "Int64")
    assert (arrow.field("day").type, polars["day"], pandas["day"]) == (pa.date32(), pl.Date, "datetime64[s]")
    assert (arrow.field("input").type, polars["input"], pandas["input"]) == (pa.string(), pl.String, "object")


@pytest.mark.parametrize("engine", ["pandas", "polars", "arrow"])
def test_types_do_not_depend_on_what_is_in_the_rows(database, engine):
    full, empty = (jc.chunks_df(database, engine=engine, until=until) for until in (None, "1971-01-01"))
    assert len(full) > len(empty) == 0
    if engine == "arrow":
        assert full.schema.equals(empty.schema)
    else:
        assert list(full.dtypes) == list(empty.dtypes) or engine == "pandas"
        assert [str(t).split("(")[0] for t in full.dtypes] == [str(t).split("(")[0] for t in empty.dtypes]


@pytest.mark.parametrize("engine", ["polars", "arrow"])
def test_sessions_of_a_log_take_an_engine_too(sessions, long, engine):
    assert sessions.to_df("tool_calls", engine=engine).shape[0] == len(sessions.to_df("tool_calls"))
    assert long.to_df(engine=engine).shape[0] == len(long.chunks.to_df(engine=engine)) == 147


def test_a_path_a_folder_and_a_database_give_the_same_frame(database):
    stored = jc.messages_df(database, columns=["session_id", "seq", "text", "inherited"])
    pd.testing.assert_frame_equal(jc.messages_df(LOGS, columns=list(stored)), stored, check_categorical=False)
    pd.testing.assert_frame_equal(jc.messages_df(str(database.path), columns=list(stored)), stored)
    log = next((LOGS / "clm").glob("20260214*"))
    assert len(jc.chunks_df(log)) == len(jc.load(log).chunks)


def test_logs_that_are_opened_leave_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with jc.open(LOGS / "clm") as opened:
        assert len(opened) == len(opened.sessions) > 0
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "note.txt").write_text("hello")
    with pytest.raises(NotALogError, match=r"note\.txt: no format recognises"):
        jc.open(tmp_path / "note.txt")


def test_a_span_of_days_is_inclusive_and_a_span_of_moments_is_not(database):
    day = "2026-02-09"
    calls = jc.tool_calls_df(database, since=day, until=day)
    assert len(calls) == count(database, "tool_calls", "day = ?", day) > 5
    assert set(calls["day"].dt.date) == {date(2026, 2, 9)}
    same = [(date(2026, 2, 9),) * 2, (datetime(2026, 2, 9, tzinfo=timezone.utc), datetime.fromisoformat("2026-02-10"))]
    for since, until in same:
        assert len(jc.tool_calls_df(database, since=since, until=until)) == len(calls)
    first = calls["started_at"].min()
    assert len(jc.tool_calls_df(database, since=first, until=first + timedelta(milliseconds=1))) >= 1
    assert len(jc.sessions_df(database, since=day, until=day)) >= calls["session_id"].nunique()


def test_each_filter_finds_what_the_rows_say(database):
    every = jc.tool_calls_df(database)
    assert set(jc.tool_calls_df(database, tool="bash")["name"]) == {"Bash"}
    assert len(jc.tool_calls_df(database, tool=["Bash", "Edit"])) == every["name"].isin(["Bash", "Edit"]).sum()
    bash = jc.chunks_df(database, tool="Bash")
    assert {*zip(bash["session_id"], bash["seq"], strict=True)} == {
        (sid, seq) for sid, seq, name in zip(every["session_id"], every["chunk_seq"], every["name"], strict=True) if name == "Bash"
    }  # fmt: skip
    requests = jc.requests_df(database)
    model = requests["model"].value_counts().index[0]
    assert set(jc.requests_df(database, model=model)["model"]) == {model}
    by_call = jc.tool_calls_df(database, model=model)
    models = jc.messages_df(database, columns=["session_id", "seq", "model"]).set_index(["session_id", "seq"])["model"]
    assert {models[sid, seq] for sid, seq in zip(by_call["session_id"], by_call["message_seq"], strict=True)} == {model}
    sid = database["b3fefa1a"].id
    assert set(jc.chunks_df(database, session="b3fefa1a")["session_id"]) == {sid}
    assert len(jc.chunks_df(database, session=[database["b3fefa1a"], "81d62477"])) > 147
    project = jc.sessions_df(database, project="garden-planner", format="claude-code")
    assert set(project["project_name"]) == {"garden-planner"}


def test_only_the_columns_that_are_asked_for_come_in_that_order(database):
    assert list(jc.messages_df(database, columns=["text", "seq"]).columns) == ["text", "seq"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"columns": ["nope"]}, "requests has no column 'nope'; there are: session_id, chunk_seq"),
        ({"since": "tomorrowish"}, "since='tomorrowish': no date; write 2026-03-02"),
        ({"tool": "Bash"}, "requests cannot be filtered by tool; these can: sessions, tool_calls, chunks"),
        ({"project": "nope"}, "no project 'nope' in the database; there are: "),
        ({"engine": "excel"}, "no engine 'excel'; there are: pandas, polars, arrow"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(database, wrong, words):
    with pytest.raises(UsageError) as error:
        jc.requests_df(database, **wrong)
    assert str(error.value).startswith(words)
    assert "\n" not in str(error.value)


def test_help_shows_the_filters():
    assert {"since", "until", "tool", "columns", "engine"} <= set(inspect.signature(jc.chunks_df).parameters)
    assert jc.chunks_df.__name__ == "chunks_df"


def test_a_day_of_many_days_costs_the_work_of_that_day(database, tmp_path):
    path = shutil.copy(database.path, tmp_path / "many.db")
    with sqlite3.connect(path) as db:
        names = [r[1] for r in db.execute("PRAGMA table_info(messages)")]
        given = [{"session_id": "session_id || n", "day": "date('2000-01-01', n || ' days')"}.get(n, n) for n in names]
        given[names.index("at")] = "strftime('%Y-%m-%dT12:00:00.000Z', '2000-01-01', n || ' days')"
        db.execute(
            "WITH RECURSIVE days(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM days WHERE n < 300) INSERT INTO messages "
            f"SELECT {', '.join(given)} FROM days, (SELECT * FROM messages WHERE session_id LIKE 'b3fefa1a%' AND session_id NOT LIKE '%:%')"
        )
    db.close()
    with jc.open(path) as opened:
        whole, frame = steps(opened, columns=["seq"])
        part, day = steps(opened, columns=["seq"], since="2000-03-01", until="2000-03-01")
        assert len(day) == len(jc.messages_df(database, session="b3fefa1a"))
        assert len(frame) > 250 * len(day)
        assert part < whole / 20


def steps(opened, **asked):
    found = [0]

    def step():
        found[0] += 1

    opened.core.db.set_progress_handler(step, 100)
    frame = opened.to_df("messages", **asked)
    opened.core.db.set_progress_handler(None, 0)
    return found[0], frame


def test_sql_gives_frames_with_types_and_takes_parameters(database):
    frame = jc.sql(
        "SELECT name, day, count(*) AS calls, avg(duration_ms) AS mean, min(started_at) AS started_at, max(is_error) AS is_error "
        "FROM tool_calls WHERE name = :tool AND day IS NOT NULL GROUP BY day",
        database,
        {"tool": "Bash"},
    )
    assert len(frame) > 3
    assert [str(t) for t in frame.dtypes] == [
        str(frame["name"].dtype), "datetime64[s]", "Int64", "Float64", "datetime64[ms, UTC]", "boolean",
    ]  # fmt: skip
    assert frame["calls"].sum() == count(database, "tool_calls", "name = 'Bash' AND day IS NOT NULL")
    mixed = database.sql("SELECT 1 AS a, 'x' AS a, x'00' AS b UNION ALL SELECT 'y', NULL, NULL", engine="polars")
    assert mixed.to_dict(as_series=False) == {"a": ["1", "y"], "a_2": ["x", None], "b": [b"\0", None]}
    assert jc.sql("SELECT ? AS day, ? AS at", database, ["no day", "no time"], engine="arrow").to_pylist() == [
        {"day": "no day", "at": "no time"}
    ]
    assert database.sql("SELECT at FROM messages WHERE 0", engine="polars").schema["at"] == pl.Datetime("ms", "UTC")


def test_sql_has_the_functions_of_the_datasette_pages_and_recipes_answer(database):
    frame = jc.sql("SELECT clm_arg(input, 'command') AS command, clm_duration(1500) AS took, clm_path('{') AS none FROM tool_calls WHERE name = 'Bash'", database)  # fmt: skip
    assert frame["command"].notna().all()
    assert set(frame["took"]) == {"1.5 s"}
    assert frame["none"].isna().all()
    for recipe in RECIPES:
        assert database.recipe(recipe.name, engine="arrow").num_columns > 1
    with pytest.raises(UsageError, match="no recipe 'nope'; there are: "):
        database.recipe("nope")
    with pytest.raises(UsageError, match="has no parameter 'planet'"):
        database.recipe(RECIPES[0].name, planet="x")


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DELETE FROM sessions", "sql: a query may only read; write a SELECT"),
        ("SELEC 1", 'sql: near "SELEC": syntax error'),
        ("SELECT 1; SELECT 2", "sql: You can only execute one statement at a time."),
        ("BEGIN", "sql: this statement gives no rows; write a SELECT"),
    ],
)
def test_sql_only_reads(database, sql, words):
    with pytest.raises(UsageError) as error:
        database.sql(sql)
    assert str(error.value) == words
    assert not database.core.db.in_transaction


@pytest.mark.parametrize(
    ("module", "engine", "extra"), [("polars", "polars", "polars"), ("pyarrow", "arrow", "parquet"), ("pandas", "pandas", "pandas")]
)  # fmt: skip
def test_a_missing_library_is_named_with_its_extra(module, engine, extra):
    code = (
        f"import sys; sys.modules[{module!r}] = None\nimport jupyter_clm as jc\n"
        f"try: jc.chunks_df(sys.argv[1], engine={engine!r})\nexcept Exception as e: print(type(e).__name__, e)\n"
    )
    command = [sys.executable, "-W", "error", "-c", code, str(LOGS / "clm")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
    assert done.stdout == f"UsageError a frame of {engine} needs {module}: pip install 'clm-sessions[{extra}]'\n"
