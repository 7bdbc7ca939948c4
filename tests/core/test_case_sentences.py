"""The sentences of each case.md that are no number of expect.json. tests/CASES.md says which test holds which."""

import shutil
import subprocess
import sys
import time

import pytest

import clm_sessions
from clm_sessions import plugins, render
from clm_sessions.store import raw, reader
from clm_sessions.view import chunk_view
from support import cases
from support.cases import Page
from support.logs import dump, import_logs, query

CASES = cases.HERE


def imported(name, tmp_path, part="input"):
    """The database of one case."""
    db = tmp_path / f"{name}.db"
    import_logs(db, CASES / name / part)
    return db


def views(db, sid=None):
    """The chunk views of one session."""
    sessions = clm_sessions.open_db(db)
    session = sessions.session(sid) if sid else sessions.sessions[0]
    registry = plugins.build(entry_points=False)
    return [chunk_view(content, registry.describe) for content in session.contents()]


def page(db, sid=None):
    """The visible page of one session."""
    return Page("".join(render.chunk_html(view, options=render.Options()) for view in views(db, sid)))


# -- clm-forward ------------------------------------------------------------------------------------------------


def test_a_clm_session_is_named_by_its_file_and_starts_at_its_created_second(tmp_path):
    db = imported("clm-forward", tmp_path)
    sql = "SELECT id, started_at, model, agent FROM sessions WHERE id LIKE '20260302-09%'"
    assert query(db, sql) == [("20260302-090000-0a1b2c3d", "2026-03-02T09:00:00.000Z", "test-model", "gardener")]
    meta = query(db, "SELECT json_extract(value, '$.id') FROM facts WHERE name = 'meta'")
    assert ("20260302-090000-0a1b2c3d",) in meta


def test_broken_arguments_are_kept_as_text_and_an_orphan_result_is_shown(tmp_path):
    db = imported("clm-forward", tmp_path)
    calls = query(db, "SELECT tool_use_id, input, result FROM tool_calls ORDER BY seq")
    assert calls == [("c1", '{"shelf": 2}', "basil, mint"), ("c2", '{"shelf": ', "bad args")]
    assert "no such call" in page(db, "20260302-090000-0a1b2c3d").text


def test_an_unknown_record_and_a_bad_line_are_counted(tmp_path):
    db = imported("clm-forward", tmp_path)
    counts = dict(query(db, "SELECT disposition, lines FROM source_lines WHERE source_id LIKE '20260302-09%'"))
    assert (counts["raw"], counts["issue"]) == (1, 1)


def test_messages_without_times_get_none_and_keep_file_order(tmp_path):
    db = imported("clm-forward", tmp_path)
    rows = query(db, "SELECT at, line FROM messages WHERE session_id LIKE '20260302-09%' ORDER BY seq")
    assert {at for at, _line in rows} == {None}
    assert [line for _at, line in rows] == sorted(line for _at, line in rows)


def test_a_newer_clm_file_is_refused_by_version_and_the_others_load(tmp_path):
    db = imported("clm-forward", tmp_path)
    assert "version 2" in query(db, "SELECT reason FROM ingest_issues WHERE kind = 'refused'")[0][0]
    assert query(db, "SELECT id FROM sessions ORDER BY id") == [
        ("20260302-090000-0a1b2c3d",),
        ("20260302-110000-00000001",),
    ]


# -- growing-file -----------------------------------------------------------------------------------------------

STAGES = sorted((CASES / "growing-file" / "input").iterdir())


def grow(tmp_path, *numbers):
    """Import the stages in turn over one file."""
    log, db = tmp_path / "p" / cases.STAGED, tmp_path / "grown.db"
    log.parent.mkdir(exist_ok=True)
    for number in numbers:
        shutil.copyfile(STAGES[number - 1], log)
        import_logs(db, log.parent)
    return db


def content(db):
    """Rows but for the file's stat, with the hits of a search."""
    rows = {name: found for name, found in dump(db, sources=False).items() if name != "source_lines"}
    hits = [(h.session_id, h.message_seq) for h in clm_sessions.open_db(db).search("the")]
    return rows, hits


def without_lengths(found):
    """Content without the message rows, which note whether their line had ended."""
    rows, hits = found
    return {name: rows[name] for name in rows if name != "messages"}, hits


def test_half_a_record_gives_nothing_and_no_issue(tmp_path):
    db = grow(tmp_path, 1)
    assert query(db, "SELECT count(*) FROM messages") == [(2,)]
    assert query(db, "SELECT count(*) FROM ingest_issues") == [(0,)]
    assert query(db, "SELECT lines FROM source_lines WHERE disposition = 'pending'") == [(1,)]


def test_a_grown_file_equals_a_fresh_load_of_it(tmp_path):
    grown = content(grow(tmp_path, 1, 2))
    (tmp_path / "fresh").mkdir()
    assert grown == content(grow(tmp_path / "fresh", 2))


def test_a_whole_last_record_without_newline_loses_and_doubles_nothing(tmp_path):
    two, after, alone = (tmp_path / name for name in ("two", "after", "alone"))
    for folder in (two, after, alone):
        folder.mkdir()
    want = content(grow(two, 2))
    assert (
        without_lengths(content(grow(after, 2, 3))) == without_lengths(content(grow(alone, 3))) == without_lengths(want)
    )


def test_a_shorter_different_file_replaces_the_old_rows(tmp_path):
    db = grow(tmp_path, 1, 2, 4)
    assert query(db, "SELECT count(*) FROM messages") == [(2,)]


def test_an_unchanged_file_changes_nothing(tmp_path):
    before = dump(grow(tmp_path, 2))
    import_logs(tmp_path / "grown.db", tmp_path / "p")
    assert dump(tmp_path / "grown.db") == before


# -- hostile-markup ---------------------------------------------------------------------------------------------


def test_terminal_codes_and_bidi_overrides_do_not_reach_the_page_raw(tmp_path):
    db = imported("hostile-markup", tmp_path)
    html = cases.html(cases.Imported(db))
    assert "\x1b" not in html
    assert not set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069") & set(html)


# -- joined-records ---------------------------------------------------------------------------------------------


def test_no_line_is_lost_because_of_its_neighbours_and_both_joined_records_are_read(tmp_path):
    db = imported("joined-records", tmp_path)
    assert query(db, "SELECT line, part FROM messages ORDER BY seq") == [(1, 0), (2, 0), (3, 0), (3, 1), (4, 0), (5, 0)]
    assert query(db, "SELECT line, kind FROM ingest_issues ORDER BY line") == [(3, "repaired"), (4, "bad_line")]


# -- late-first-turn --------------------------------------------------------------------------------------------


def test_a_session_starts_at_its_first_dated_record(tmp_path):
    db = imported("late-first-turn", tmp_path)
    first = min(
        line.split(b'"timestamp":"')[1][:24]
        for line in next((CASES / "late-first-turn" / "input").iterdir()).read_bytes().split(b"\n")
        if b'"timestamp":"' in line
    )
    assert query(db, "SELECT started_at FROM sessions") == [(first.decode(),)]


# -- not-typed-by-a-person --------------------------------------------------------------------------------------


def test_each_record_of_a_session_is_what_it_is(tmp_path):
    db = imported("not-typed-by-a-person", tmp_path)
    found = dict(query(db, "SELECT line, kind || ' ' || origin FROM messages"))
    expected = {
        1: "hard_noise context", 2: "user command", 3: "system command_output", 4: "user prompt", 6: "ai tool_result",
        7: "ai interruption", 8: "ai notification", 9: "hard_noise context", 10: "user prompt", 12: "user bash_command",
        13: "system command_output", 14: "hard_noise system", 15: "compact compact_summary", 16: "user prompt",
    }  # fmt: skip
    assert {line: found[line] for line in expected} == expected


def test_the_chunks_show_command_notice_and_interruption_as_such(tmp_path):
    drawn = views(imported("not-typed-by-a-person", tmp_path))
    steps = [step.kind for view in drawn for step in view.steps]
    assert "interruption" in steps
    assert "notification" in steps
    assert "caveat" not in "".join(view.summary for view in drawn).lower()
    assert [view.kind for view in drawn].count("compact") == 1


def test_a_compaction_does_not_split_the_session_and_drops_nothing(tmp_path):
    db = imported("not-typed-by-a-person", tmp_path)
    assert query(db, "SELECT count(*) FROM sessions") == [(1,)]
    before = query(db, "SELECT count(*) FROM chunks WHERE seq < (SELECT seq FROM chunks WHERE kind = 'compact')")
    assert before[0][0] > 5


# -- nul-padding ------------------------------------------------------------------------------------------------


def test_the_nul_bytes_of_a_hole_stay_in_the_raw_archive_alone(tmp_path):
    db = imported("nul-padding", tmp_path)
    sid = query(db, "SELECT id FROM sessions")[0][0]
    assert "␀" not in page(db).text
    assert "\0" not in page(db).text
    with cases_connection(db) as connection:
        assert b"\0" * 300 in b"".join(raw.read(connection, sid))


def cases_connection(db):
    """A plain connection."""
    import sqlite3

    return sqlite3.connect(db)


# -- parallel-tools ---------------------------------------------------------------------------------------------


def test_results_are_paired_by_id_and_an_error_with_a_string_detail_is_an_error(tmp_path):
    db = imported("parallel-tools", tmp_path)
    rows = query(db, "SELECT tool_use_id, status, result_message_seq FROM tool_calls ORDER BY seq")
    assert [row[1] for row in rows] == ["ok", "ok", "error", "unanswered"]
    session = clm_sessions.open_db(db).sessions[0].read()
    for call in session.tool_calls[:3]:
        answer = session.messages[call.result_message].blocks[0]
        assert answer.tool_use_id == call.id


def test_a_fan_out_of_tools_loses_no_turn(tmp_path):
    db = imported("parallel-tools", tmp_path)
    lines = next((CASES / "parallel-tools" / "input").iterdir()).read_bytes().count(b"\n")
    assert query(db, "SELECT count(*) FROM messages") == [(lines,)]


# -- project-names ----------------------------------------------------------------------------------------------


def test_project_names_are_short_and_split_windows_paths_anywhere(tmp_path):
    db = imported("project-names", tmp_path)
    assert {row[0] for row in query(db, "SELECT name FROM projects")} == {
        "alpha-beta",
        "beta",
        "my-app",
        "a b_c",
        "one",
    }


def test_a_session_that_moves_belongs_to_where_it_started(tmp_path):
    db = imported("project-names", tmp_path)
    sql = "SELECT p.path FROM sessions s JOIN projects p ON p.id = s.project_id WHERE s.id LIKE '%0115'"
    assert query(db, sql) == [("/home/dev/one",)]


def test_a_note_beside_the_logs_is_passed_over_in_silence(tmp_path):
    db = imported("project-names", tmp_path)
    assert query(db, "SELECT count(*) FROM ingest_issues") == [(0,)]
    assert query(db, "SELECT count(*) FROM sources WHERE path LIKE '%notes.txt'") == [(0,)]


# -- resumed-copies ---------------------------------------------------------------------------------------------


def short(sid):
    """The last three characters of an id."""
    return sid[-3:] if sid else None


def test_copied_history_is_told_apart_and_points_to_where_it_came_from(tmp_path):
    db = imported("resumed-copies", tmp_path)
    rows = query(db, "SELECT id, forked_from, inherited_messages, messages FROM sessions ORDER BY id")
    assert [(short(a), short(b), c, d) for a, b, c, d in rows] == [
        ("130", None, 0, 4),
        ("131", "130", 2, 4),
        ("132", "130", 4, 6),
    ]


def test_tokens_are_given_as_shown_and_as_owned(tmp_path):
    db = imported("resumed-copies", tmp_path)
    rows = query(db, "SELECT id, output_tokens, own_output_tokens FROM sessions ORDER BY id")
    assert [(short(a), b, c) for a, b, c in rows] == [("130", 70, 70), ("131", 80, 50), ("132", 130, 60)]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
def test_the_order_in_which_copies_are_imported_does_not_matter(order, tmp_path):
    files = sorted((CASES / "resumed-copies").rglob("*.jsonl"))
    db = tmp_path / "ordered.db"
    for number in order:
        import_logs(db, files[number])
    together = imported("resumed-copies", tmp_path)
    left, right = dump(db, sources=False), dump(together, sources=False)
    assert left == right


# -- search-punctuation -----------------------------------------------------------------------------------------

QUERIES = __import__("json").loads((CASES / "search-punctuation" / "input" / "queries.json").read_text())


@pytest.mark.parametrize("text", QUERIES)
def test_no_query_is_an_error_and_the_answer_is_the_same_each_time(text, tmp_path):
    with clm_sessions.open_db(imported("search-punctuation", tmp_path)) as db:
        assert db.search(text) == db.search(text)


@pytest.mark.parametrize(
    "text", [q for q in QUERIES[: QUERIES.index("🌱") + 1] if any(c.isalnum() for c in q) and q != '"quoted']
)
def test_a_query_with_a_letter_or_digit_finds_the_record_that_has_its_words(text, tmp_path):
    with clm_sessions.open_db(imported("search-punctuation", tmp_path)) as db:
        hits = db.search(text)
        words = [w.strip("\"'.,?!()[]{}$#%:;") for w in text.replace("/", " ").replace("\\", " ").split()]
        said = [db.session(h.session_id).messages[h.message_seq].display.lower() for h in hits if h.kind == "message"]
    assert said
    fold = str.maketrans("é", "e")
    assert any(all(w.lower().translate(fold) in s.translate(fold) for w in words) for s in said)


@pytest.mark.parametrize("text", ["*", "-", '"', "'", "( (", "", ")", "🌱"])
def test_a_query_of_punctuation_alone_finds_nothing_quietly(text, tmp_path):
    with clm_sessions.open_db(imported("search-punctuation", tmp_path)) as db:
        assert db.search(text) == []


# -- split-usage ------------------------------------------------------------------------------------------------


def test_all_blocks_of_split_replies_are_shown_in_file_order_and_the_notice_is_no_model(tmp_path):
    db = imported("split-usage", tmp_path)
    kinds = [step.kind for view in views(db) for step in view.steps]
    assert [k for k in kinds if k in ("thinking", "text", "tool")][:4] == ["thinking", "text", "tool", "text"]
    assert query(db, "SELECT DISTINCT model FROM requests") == [("claude-test-1",)]
    assert query(db, "SELECT origin FROM messages WHERE model = '<synthetic>'") == [("synthetic",)]


# -- subagent-layouts -------------------------------------------------------------------------------------------


def test_helpers_are_linked_to_the_very_call_that_started_them(tmp_path):
    db = imported("subagent-layouts", tmp_path)
    rows = query(
        db,
        "SELECT s.agent_id, s.parent_id = t.session_id, t.name IN ('Task', 'Agent') FROM sessions s "
        "JOIN tool_calls t ON t.tool_use_id = s.parent_tool_call_id AND t.subagent_id = s.id ORDER BY 1",
    )
    assert rows == [("aaaa0001", 1, 1), ("bbbb0002", 1, 1), ("cccc0003", 1, 1), ("dddd0004", 1, 1)]
    orphan = query(db, "SELECT native_id, parent_id FROM sessions WHERE role = 'orphan'")
    assert orphan == [("5e550000-0000-4000-8000-000000000121", None)]


def test_prompts_written_by_an_agent_are_not_typed_by_a_person(tmp_path):
    db = imported("subagent-layouts", tmp_path)
    assert query(db, "SELECT role, sum(prompts) FROM sessions GROUP BY role ORDER BY role") == [
        ("main", 1),
        ("orphan", 0),
        ("subagent", 0),
    ]


def test_files_beside_the_logs_are_not_read_as_logs(tmp_path):
    db = imported("subagent-layouts", tmp_path)
    logs = query(db, "SELECT path FROM sources WHERE role IN ('main', 'agent')")
    assert all(path.endswith(".jsonl") for (path,) in logs)
    assert query(db, "SELECT sum(own_output_tokens) FROM sessions WHERE role IN ('main', 'subagent')") == [(450,)]


# -- unknown-record-types ---------------------------------------------------------------------------------------


def test_an_unknown_block_shows_as_a_labelled_raw_block_beside_its_neighbours(tmp_path):
    db = imported("unknown-record-types", tmp_path)
    session = clm_sessions.open_db(db).sessions[0].read()
    unknown = [b.type for m in session.messages for b in m.blocks if type(b).__name__ == "Unknown"]
    assert len(unknown) == 2
    text = page(db).text
    assert all(kind in text for kind in unknown)
    assert all(m.joined in text for m in session.messages if m.kind in ("user", "ai") and m.joined)


def test_unknown_records_are_counted_and_kept_raw_but_not_shown(tmp_path):
    db = imported("unknown-record-types", tmp_path)
    types = query(db, "SELECT type FROM record_types WHERE disposition = 'raw' ORDER BY type")
    assert types == [("(no type)",), ("greenhouse-latch",), ("weather-report",)]
    assert "greenhouse-latch" not in page(db).text
    with cases_connection(db) as connection:
        sid = reader.session_infos(connection)[0].id
        assert b"greenhouse-latch" in b"".join(raw.read(connection, sid))


def test_lines_that_are_no_objects_are_notes_of_their_own_kind(tmp_path):
    db = imported("unknown-record-types", tmp_path)
    found = dict(query(db, "SELECT line, kind FROM ingest_issues"))
    assert set(found) == {5, 6, 7}
    assert "not_object" in found.values()


# -- very-long-line ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_line(tmp_path_factory):
    """The 50 MB line of the case, imported by the real command; with its peak memory in MB and its seconds."""
    work = tmp_path_factory.mktemp("long")
    subprocess.run([sys.executable, CASES / "very-long-line" / "make_input.py", work / "logs", "25"], check=True)
    code = (
        "import re, resource, sys\nfrom pathlib import Path\nfrom clm_sessions.cli import main\n"
        f"sys.argv = ['clm-sessions', 'import', {str(work / 'long.db')!r}, {str(work / 'logs')!r}, '--json']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        # On Linux ru_maxrss begins with the size of the parent; VmHWM is this process's own.
        "own = re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text()) if sys.platform == 'linux' else None\n"
        "print(int(own[1]) // 1024 if own else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return work / "long.db", int(done.stdout.split()[-1]), time.monotonic() - started


def test_a_very_long_line_costs_less_than_eight_times_its_size_and_takes_seconds(long_line):
    db, peak, seconds = long_line
    size = query(db, "SELECT max(byte_length) FROM messages")[0][0] / 1e6
    assert size > 49
    assert peak < 8 * size
    assert seconds < 60


def test_the_page_of_a_very_long_result_is_short_and_says_the_full_size(long_line):
    db, _peak, _seconds = long_line
    html = cases.html(cases.Imported(db))
    assert len(html.encode()) < 1_000_000
    assert "the whole is 26 MB" in Page(html).text


def test_the_head_of_a_very_long_result_is_found_and_its_end_is_past_the_limit(long_line):
    db, _peak, _seconds = long_line
    head = query(db, "SELECT substr(result, 1, 60) FROM tool_calls")[0][0]
    with clm_sessions.open_db(db) as opened:
        assert opened.search(max(head.split(), key=len))
    assert query(db, "SELECT length(search_result) FROM tool_calls") == [(65536,)]
