"""Full-text search in a large database, made small here."""

import pytest

import clm_sessions
from clm_sessions.store import search
from support.logs import import_logs, session_id, turn, write_log


@pytest.fixture
def db(tmp_path):
    """One session of six messages, all with the word beans."""
    turns = [line for n in range(0, 6, 2) for line in turn(n, f"beans {n}", f"beans {n + 1}")]
    log = write_log(tmp_path / "projects" / "-home-dev-garden" / f"{session_id()}.jsonl", turns)
    import_logs(tmp_path / "sessions.db", log.parent)
    with clm_sessions.open_db(tmp_path / "sessions.db") as opened:
        yield opened


def places(db, **asked):
    return sorted(hit.message_seq for hit in search.hits(db.db, *found(db, **asked)))


def found(db, **asked):
    it = search.find(db.db, "beans", **asked)
    return it, it.places


def test_of_a_word_in_more_places_than_are_ranked_the_newest_are_found(db):
    assert places(db, ranked=3) == [3, 4, 5]
    assert found(db, ranked=3)[0].newest == {"messages": 4}


def test_a_word_in_no_more_places_than_are_ranked_is_found_in_all(db):
    assert places(db, ranked=6) == [0, 1, 2, 3, 4, 5]
    assert found(db, ranked=6)[0].newest == {}
