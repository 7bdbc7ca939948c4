"""The overview counts everything once: its figures are those of ``stats``, which has proofs of its own."""

from contextlib import closing
from pathlib import Path

import pytest

from clm_sessions import times
from clm_sessions.overview import WANTS, Asked, overview
from clm_sessions.stats import stats
from clm_sessions.store.connect import open_reader
from clm_sessions.store.narrow import Narrow
from support.logs import import_logs, session_id, turn, write_log

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    path = tmp_path_factory.mktemp("overview") / "demo.db"
    import_logs(path, ROOT / "demo" / "logs")
    with_db = open_reader(path)
    yield with_db
    with_db.close()


def agree(db, asked, narrow):
    found, model, tool = overview(db, asked, WANTS), *(stats(db, by, narrow=narrow) for by in ("model", "tool"))
    total = stats(db, "day", narrow=narrow).total
    figures = found.figures
    assert (figures.prompts, figures.replies, figures.output_tokens) == (
        total.prompts,
        total.replies,
        total.usage.output,
    )
    assert (figures.tool_calls, figures.errors) == (total.tool_calls, total.errors or 0)
    assert {(one.tool, one.calls, one.errors) for one in found.tools} == {
        (row.key, row.tool_calls, row.errors) for row in tool.rows
    }
    by_model = {}
    for used in found.models:
        by_model[used.model] = by_model.get(used.model, 0) + used.replies
    assert by_model == {row.key: row.replies for row in model.rows if row.replies}
    return found


def test_all_of_a_database_with_forks_and_resumes(demo):
    assert demo.execute("SELECT count(*) FROM requests WHERE inherited").fetchone()[0] > 0
    found = agree(demo, Asked(), None)
    whole = demo.execute("SELECT count(*) FROM sessions WHERE role IN ('main', 'orphan')").fetchone()[0]
    assert found.figures.sessions == whole == sum(project.sessions for project in found.projects)
    assert sum(number for _day, number in found.days) <= whole
    assert (
        found.figures.skipped
        == demo.execute("SELECT sum(lines) FROM source_lines WHERE disposition = 'issue'").fetchone()[0]
    )


def test_one_project(demo):
    key, name = next(pair for pair in overview(demo, Asked(), ()).names if pair[1] == "garden-planner")
    found = agree(demo, Asked(project=key), Narrow(projects=(name,)))
    assert [project.name for project in found.projects] == [name]
    assert {one.project for one in found.recent} == {name}


def test_a_span_of_days_holds_its_first_and_its_last(demo):
    narrow = Narrow(since=times.parse("2026-02-10"), until=times.parse("2026-02-20"))
    found = agree(demo, Asked(since="2026-02-10", until="2026-02-19"), narrow)
    days = [day for day, _number in found.days]
    assert days[0] >= "2026-02-10"
    assert days[-1] == "2026-02-19"


def test_where_context_was_compacted_or_someone_interrupted_is_there_newest_first(demo):
    cuts = overview(demo, Asked(), WANTS).cuts
    assert {one.compacted for one in cuts} == {True, False}
    assert [one.at for one in cuts] == sorted((one.at for one in cuts), reverse=True)
    for one in cuts:
        kind, status = demo.execute(
            "SELECT kind, status FROM chunks WHERE session_id = ? AND seq = ?", (one.session, one.chunk)
        ).fetchone()
        assert (kind == "compact") if one.compacted else (status == "interrupted")


def test_what_stands_in_tables_that_may_not_be_read_is_unknown(demo):
    found = overview(demo, Asked(), ())
    assert (found.models, found.tools, found.cuts) == (None, None, None)
    figures = found.figures
    assert {figures.prompts, figures.replies, figures.output_tokens, figures.tool_calls, figures.skipped} == {None}
    assert figures.sessions > 0


def test_the_sums_over_replies_and_calls_read_an_index_and_no_row(demo):
    for sql in (
        "SELECT r.day, r.model, sum(r.output_tokens) FROM requests r WHERE r.inherited = 0 GROUP BY 1, 2",
        "SELECT t.name, count(*), sum(t.status = 'error') FROM tool_calls t WHERE t.inherited = 0 GROUP BY 1",
    ):
        plan = " ".join(row[3] for row in demo.execute(f"EXPLAIN QUERY PLAN {sql}"))
        assert "USING COVERING INDEX" in plan


def test_projects_of_one_name_are_told_apart_by_their_folders_unless_those_may_not_be_read(tmp_path):
    for number, cwd in enumerate(("/home/ann/garden", "/home/bob/garden", "/home/bob/tide"), 1):
        log = turn(1, "Water", "Done", session=session_id(number), cwd=cwd)
        write_log(tmp_path / "logs" / f"-p{number}" / f"{session_id(number)}.jsonl", log)
    import_logs(tmp_path / "named.db", tmp_path / "logs")
    with closing(open_reader(tmp_path / "named.db")) as db:
        found, closed = overview(db, Asked(), WANTS), overview(db, Asked(), ())
    names = ["ann/garden", "bob/garden", "tide"]
    assert [name for _key, name in found.names] == sorted(one.name for one in found.projects) == names
    assert sorted(one.project for one in found.recent) == names
    assert [name for _key, name in closed.names] == ["garden", "garden", "tide"]
