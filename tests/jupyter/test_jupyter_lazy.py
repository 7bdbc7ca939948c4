"""A view over a long session in a database reads what it shows, and little else."""

import sqlite3
from contextlib import contextmanager

import pytest

import jupyter_clm as jc
from support.logs import import_logs, session_id, turn, write_log

LONG, SHORT = 100_000, 100


def grown(folder, chunks):
    """A database of one session that was made long with SQL: prompts and replies in turn."""
    log = write_log(folder / f"{session_id()}.jsonl", turn(1, "question", "answer"))
    path = folder / "s.db"
    import_logs(path, log)
    db = sqlite3.connect(path)
    with db:
        for table, seqs in (("chunks", ("seq",)), ("messages", ("seq", "chunk_seq"))):
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            picked = ", ".join("n" if name in seqs else f"t.{name}" for name in names)
            db.execute(
                "WITH RECURSIVE more(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM more WHERE n < ?) "
                f"INSERT INTO {table} ({', '.join(names)}) SELECT {picked} FROM more JOIN {table} t ON t.seq = n % 2",
                (chunks - 1,),
            )
        db.execute("UPDATE sessions SET chunks = ?, messages = ?", (chunks, chunks))
    db.close()
    return path


@contextmanager
def steps(database):
    """Counts what SQLite does, in tens of its steps."""
    count = [0]

    def one_more():
        count[0] += 10

    database.core.db.set_progress_handler(one_more, 10)
    yield count
    database.core.db.set_progress_handler(None, 0)


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    made = [jc.open(grown(tmp_path_factory.mktemp(f"grown-{n}"), n)) for n in (LONG, SHORT)]
    yield made
    for one in made:
        one.close()


def test_opening_and_turning_pages_costs_the_same_for_100_000_chunks_as_for_100(opened):
    spent = []
    for database in opened:
        with steps(database) as count:
            view = database.sessions[0].view()
            view.page = view.pages // 2
            view.selected = view.n_hits - 1
            view.next_hit()
        assert view.page == view.pages
        spent.append(count[0])
        view.close()
    long, short = spent
    assert long < 200_000, "looking at every chunk once takes twice as many"
    assert long < 6 * short


def test_the_bound_is_one_that_looking_at_every_chunk_breaks(opened):
    view = opened[0].sessions[0].view()
    with steps(opened[0]) as count:
        view.kinds = ("user",)
    assert view.n_hits == LONG // 2
    assert count[0] > 400_000
    view.close()
