"""The recipes of the cookbook: each runs, counts what is owned, and says which tables it reads."""

import re
import runpy
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clm_sessions.cookbook import GROUPS, RECIPES
from clm_sessions.cookbook.recipe import PARAMETERS
from clm_sessions.store.schema import TABLES
from support.logs import import_logs, own_prices, session_id, turn, write_log

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    made = tmp_path_factory.mktemp("cookbook") / "a.db"
    import_logs(made, ROOT / "demo" / "logs", book=own_prices(**{"claude-*": {"input": 3, "output": 15}}))
    return made


def run(database, recipe, **given):
    """The rows of a recipe as dicts."""
    with closing(sqlite3.connect(database)) as db:
        db.row_factory = sqlite3.Row
        asked = dict.fromkeys(recipe.parameters, "") | given
        return [dict(row) for row in db.execute(recipe.sql, asked)]


def named(name):
    return next(recipe for recipe in RECIPES if recipe.name == name)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_recipe_runs_and_says_which_tables_it_reads(database, recipe):
    read = set()

    def note(action, table, _column, _database, _trigger):
        if action == sqlite3.SQLITE_READ and table:
            read.add(table)
        return sqlite3.SQLITE_OK

    with closing(sqlite3.connect(database)) as db:
        db.set_authorizer(note)
        rows = db.execute(recipe.sql, dict.fromkeys(recipe.parameters, "")).fetchall()
    assert read & TABLES.keys() == set(recipe.tables)
    assert len(rows) <= 1000
    assert recipe.group in GROUPS
    assert set(recipe.parameters) <= PARAMETERS.keys()
    assert re.fullmatch(r"[a-z_]+", recipe.name)
    assert recipe.about.endswith(".")


def test_most_recipes_find_something_in_the_demo_logs(database):
    empty = {recipe.name for recipe in RECIPES if not run(database, recipe)}
    assert empty <= {"unanswered_sessions", "rewound_prompts", "forks", "unpriced_models"}


def test_all_ways_to_add_up_tokens_and_cost_come_to_the_same(database):
    sums = {}
    for name in ("cost_by_day", "cost_by_month", "cost_by_model", "cost_by_project", "model_project_day"):
        rows = run(database, named(name))
        sums[name] = sum(row["output_tokens"] or 0 for row in rows), round(sum(row["cost_usd"] or 0 for row in rows), 1)
    assert len({tokens for tokens, _usd in sums.values()}) == 1
    assert max(usd for _tokens, usd in sums.values()) - min(usd for _tokens, usd in sums.values()) < 0.2


def test_a_project_and_a_day_narrow_what_is_counted(database):
    by_project = {row["project_name"]: row["output_tokens"] for row in run(database, named("cost_by_project"))}
    project = max((name for name in by_project if name), key=lambda name: by_project[name] or 0)
    days = run(database, named("cost_by_day"), project=project)
    assert sum(row["output_tokens"] or 0 for row in days) == by_project[project]
    last = max(row["day"] for row in days if row["day"])
    assert [row["day"] for row in run(database, named("cost_by_day"), project=project, since=last)] == [last]
    assert run(database, named("cost_by_day"), project="no such project") == []


def test_what_a_fork_copied_counts_once(tmp_path):
    own = session_id(2)
    logs = tmp_path / "logs"
    write_log(logs / f"{session_id()}.jsonl", turn(1, "one", "two"))
    write_log(logs / f"{own}.jsonl", [*turn(1, "one", "two"), *turn(9, "own", "yes", session=own)])
    import_logs(tmp_path / "a.db", logs)
    assert [row["replies"] for row in run(tmp_path / "a.db", named("cost_by_day"))] == [2]
    assert [row["session_id"] for row in run(tmp_path / "a.db", named("forks"))] == [own]


def test_the_page_of_recipes_is_what_the_recipes_give():
    made = runpy.run_path(str(ROOT / "docs" / "cookbook.py"))["page"]()
    page = ROOT / "docs" / "cookbook.md"
    assert page.read_text(encoding="utf-8") == made, "run: python docs/cookbook.py > docs/cookbook.md"
