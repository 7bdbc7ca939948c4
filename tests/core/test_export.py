"""Sessions and tables as files: whole, private, safe to open, and the same from a log and from a database."""

import base64
import csv
import hashlib
import io
import json
import os
import re
import stat
import sys
from dataclasses import replace
from datetime import date, datetime, timezone
from importlib import resources
from pathlib import Path

import pytest

from clm_sessions import load, open_db, plugins
from clm_sessions.errors import UsageError
from clm_sessions.export import PRIVATE, parquet, tables, to_html, to_json, to_markdown
from clm_sessions.store.columns import NAMES, PUBLIC
from support.logs import entry, import_logs, query, session_id, text, write_log
from support.terminals import piped

DEMO = Path(__file__).parents[2] / "demo" / "logs"
SID = session_id()
FORMULAS = ["=1+1", "+cmd|'/c calc'!A1", "-2+3", "@SUM(1)", "\tx", "\rx", "'quoted", "\uff1d1"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "demo.db"
    import_logs(path, DEMO)
    return path


@pytest.fixture
def small(tmp_path):
    """One session with every JSON oddity, formulas as prompts, and a picture."""
    odd = '{"n": 1e999, "big": ' + "9" * 5000 + ', "nan": NaN}'
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "x"}}
    lines = [*(entry("user", n, formula) for n, formula in enumerate(FORMULAS)), entry("assistant", 20, [call])]
    raw = json.dumps(entry("assistant", 21, [{"type": "tool_use", "id": "u", "name": "Odd", "input": "ODD"}])).replace(
        '"ODD"', odd
    )
    write_log(tmp_path / "logs" / "p" / f"{SID}.jsonl", [*lines, raw.encode(), entry("assistant", 22, text("é 水 🌱"))])
    import_logs(tmp_path / "a.db", tmp_path / "logs")
    return tmp_path / "a.db"


# -- sessions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [to_markdown, to_json, to_html])
def test_a_log_and_the_database_made_of_it_give_the_same_file(tmp_path, make):
    describe = plugins.from_environment().describe
    log = next(DEMO.rglob("b3fefa1a*.jsonl"))
    import_logs(tmp_path / "a.db", log)
    session = open_db(tmp_path / "a.db").session("b3fefa1a")
    assert "".join(make(session, describe)) == "".join(make(load(log), describe))


def test_every_form_holds_every_chunk_and_says_that_it_is_private(demo):
    describe = plugins.from_environment().describe
    for session in open_db(demo):
        chunks = session.info.chunks
        made = json.loads("".join(to_json(session, describe)))
        assert [chunk["seq"] for chunk in made["chunks"]] == list(range(chunks))
        assert (made["count"], made["private"]) == (chunks, PRIVATE)
        markdown = "".join(to_markdown(session, describe))
        assert markdown.count("\n## ") >= chunks
        page = "".join(to_html(session, describe))
        assert all(f'id="c{seq}"' in page for seq in range(chunks))
        assert PRIVATE in page
        assert PRIVATE in markdown


def test_the_page_loads_nothing_and_runs_one_script_of_ours(demo):
    describe = plugins.from_environment().describe
    for session in open_db(demo):
        page = "".join(to_html(session, describe))
        ((script,), (style,)) = (re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL) for tag in ("script", "style"))
        assert script == (resources.files("clm_sessions.export") / "page.js").read_text("utf-8")
        policy = (
            f"default-src 'none'; script-src {hashed(script)}; style-src {hashed(style)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )
        assert page.index(f'content="{policy}"') < page.index("<style>")
        assert page.count("<script") == 1
        assert "<link" not in page
        assert not re.search(r"<[^>]* style=", page)
        addresses = re.findall(r'<[^>]*\s(?:src|srcset|data|poster|action)="([^"]*)"', page)
        assert all(address.startswith("data:image/") for address in addresses)


def hashed(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_every_link_within_the_page_leads_to_a_place_in_it(demo):
    describe = plugins.from_environment().describe
    for session in open_db(demo):
        page = "".join(to_html(session, describe))
        ids = set(re.findall(r'<[^>]* id="([^"]*)"', page))
        links = set(re.findall(r'<a [^>]*href="#([^"]*)"', page))
        assert links
        assert links <= ids
        assert set(re.findall(r'aria-labelledby="([^"]*)"', page)) <= ids


def test_a_subagent_that_no_step_started_stands_at_the_end(demo):
    session = next(s for s in open_db(demo) if s.info.subagents).read()
    agent = session.subagents[0]
    loose = replace(session, chunks=[replace(chunk, subagents=()) for chunk in session.chunks], subagents=[agent])
    page = "".join(to_html(loose, plugins.from_environment().describe))
    _before, _head, end = page.partition("Subagents that no step started")
    assert end.count("<article") == agent.info.chunks
    assert page.count("<article") == session.info.chunks + agent.info.chunks + 1


def test_a_text_that_is_too_long_for_a_page_is_cut_and_the_page_says_where_the_whole_is(tmp_path):
    write_log(tmp_path / "p" / f"{SID}.jsonl", [entry("user", 0, "beet " * 300_000), entry("assistant", 1, text("ok"))])
    session = load(tmp_path / "p" / f"{SID}.jsonl")
    page = "".join(to_html(session, plugins.from_environment().describe))
    assert "Cut here; the whole is 1.5 MB." in page
    assert "1 text too long for a page: the log, and the export as JSON, have all of it." in page
    assert (
        len(
            json.loads("".join(to_json(session, plugins.from_environment().describe)))["chunks"][0]["sections"][0][
                "text"
            ]
        )
        > 1_400_000
    )


def test_a_subagent_stands_inside_the_step_that_started_it_and_only_there(demo):
    session = next(s for s in open_db(demo) if s.info.subagents)
    page = "".join(to_html(session, plugins.from_environment().describe))
    agents = sum(agent.info.chunks for agent in session.subagents)
    assert page.count("<article") == session.info.chunks + agents
    ids = [part.split('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))


def test_a_file_is_readable_by_its_owner_alone_and_replaces_another_whole(demo, tmp_path):
    target = tmp_path / "out.html"
    target.write_text("old")
    target.chmod(0o644)
    os.umask(os.umask(0))
    assert piped("export", "b3fefa1a", demo, "-o", target).exit_code == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert target.read_text("utf-8").startswith("<!doctype html>")
    assert piped("export", "nowhere", demo, "-o", tmp_path / "x.md").exit_code == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.html"]


def test_what_is_no_file_is_written_to_as_it_is(demo):
    assert piped("export-table", "sessions", demo, "--csv", "-o", "/dev/null").exit_code == 0
    assert not Path("/dev/null").is_file()


def test_the_ending_decides_the_form_and_standard_output_needs_one(demo, tmp_path):
    for name, start in (("a.md", "# "), ("a.json", "{"), ("a.HTML", "<!doctype")):
        assert piped("export", "b3fefa1a", demo, "-o", tmp_path / name).exit_code == 0
        assert (tmp_path / name).read_text("utf-8").startswith(start)
    assert piped("export", "b3fefa1a", demo).output.startswith("clm-sessions: which form?")
    assert piped("export", "b3fefa1a", demo, "--private", "-o", tmp_path / "b.md").exit_code == 0
    assert piped("export", "b3fefa1a", demo, "--private", "--md").output == (tmp_path / "b.md").read_text("utf-8")
    log = next(DEMO.rglob("b3fefa1a*.jsonl"))
    assert piped("export", log, "--json").exit_code == 0


# -- tables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", PUBLIC)
def test_every_table_comes_whole_in_every_form(demo, table):
    ((expected,),) = query(demo, f"SELECT count(*) FROM {table}")
    rows = list(csv.reader(io.StringIO(piped("export-table", table, demo, "--csv").output, newline="")))
    assert len(rows) == expected + 1
    listed = json.loads(piped("export-table", table, demo, "--json").output)
    lines = [json.loads(line) for line in piped("export-table", table, demo, "--ndjson").output.splitlines()]
    assert listed == lines
    assert len(lines) == expected
    assert all(list(line) == rows[0] for line in lines)


def test_csv_tells_null_from_empty_and_gives_every_value_back(small):
    with open_db(small) as db:
        names = ["session_id", "seq", "model", "text", "thinking"]
        out = "".join(tables.to_csv(tables.open_table(db.db, "messages", names), exact=True))
    rows = list(csv.reader(io.StringIO(out, newline="")))[1:]
    stored = query(small, f"SELECT {', '.join(names)} FROM messages ORDER BY session_id, seq")
    assert rows == [["" if value is None else str(value) for value in row] for row in stored]
    assert ",," in out


def test_no_cell_of_a_csv_is_a_formula_and_one_apostrophe_brings_it_back(small):
    out = piped("export-table", "messages", small, "--csv", "--columns", "text").output
    cells = [row[0] for row in csv.reader(io.StringIO(out, newline=""))][1:]
    assert not [cell for cell in cells if cell[:1] in {"=", "+", "-", "@", "\t", "\r", "\uff1d"}]
    restored = [cell.removeprefix("'") for cell in cells]
    assert restored[: len(FORMULAS)] == FORMULAS
    exact = piped("export-table", "messages", small, "--csv", "--columns", "text", "--exact").output
    assert [row[0] for row in csv.reader(io.StringIO(exact, newline=""))][1 : len(FORMULAS) + 1] == FORMULAS


def test_json_is_json_to_everyone_whatever_the_log_holds(small):
    def refuse(word):
        raise AssertionError(word)

    out = piped("export-table", "tool_calls", small, "--ndjson").output
    calls = [json.loads(line, parse_constant=refuse) for line in out.splitlines()]
    assert calls[0]["input"] == {"command": "x"}
    assert isinstance(calls[0]["inherited"], bool)
    assert "水" in piped("export-table", "messages", small, "--ndjson").output


def test_files_and_subagents_are_names_of_parts(demo):
    agents = [json.loads(line) for line in piped("export-table", "subagents", demo, "--ndjson").output.splitlines()]
    assert {agent["role"] for agent in agents} == {"subagent"}
    assert (
        piped("export-table", "files", demo, "--csv").output == piped("export-table", "sources", demo, "--csv").output
    )
    assert set(NAMES) == {*PUBLIC, "files", "issues", "subagents"}


def test_an_unknown_column_is_named_with_those_there_are(demo):
    done = piped("export-table", "projects", demo, "--csv", "--columns", "id,nope")
    assert done.output == "clm-sessions: projects has no column 'nope'; there are: id, name, path, label\n"


def test_rows_come_one_after_the_other(demo):
    with open_db(demo) as db:
        lines = tables.to_ndjson(tables.open_table(db.db, "messages"))
        first = next(lines)
        assert json.loads(first)["seq"] == 0
        assert not isinstance(lines, list)


def test_without_pyarrow_the_extra_is_named(demo, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = piped("export-table", "sessions", demo, "-o", tmp_path / "s.parquet")
    assert done.output == "clm-sessions: Parquet needs pyarrow: pip install 'clm-sessions[parquet]'\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("table", NAMES)
def test_parquet_has_the_rows_and_the_types(demo, tmp_path, table, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(parquet, "ROWS", 50)  # several groups
    assert piped("export-table", table, demo, "-o", tmp_path / "t.parquet").exit_code == 0
    found = pq.read_table(tmp_path / "t.parquet")
    lines = [json.loads(line) for line in piped("export-table", table, demo, "--ndjson").output.splitlines()]
    assert found.num_rows == len(lines)
    assert found.column_names == (list(lines[0]) if lines else found.column_names)
    if table == "sessions":
        assert found.schema.field("started_at").type == pa.timestamp("ms", tz="UTC")
        assert found.schema.field("day").type == pa.date32()
        assert found.schema.field("parallel").type == pa.bool_()
        assert found.schema.field("output_tokens").type == pa.int64()
        row = next(r for r in found.to_pylist() if r["id"].startswith("b3fefa1a"))
        assert row["started_at"] == datetime(2026, 2, 10, 8, 6, tzinfo=timezone.utc).replace(
            second=row["started_at"].second, microsecond=row["started_at"].microsecond
        )
        assert row["day"] == date(2026, 2, 10)
    if table == "attachments":
        assert found.schema.field("data").type == pa.binary()


def test_a_table_that_is_not_public_is_refused(demo):
    with open_db(demo) as db, pytest.raises(UsageError, match="no table"):
        tables.open_table(db.db, "_clm_meta")
    assert piped("export-table", "_clm_meta", demo, "--csv").exit_code == 2
