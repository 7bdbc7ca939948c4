"""Lists of sessions, and databases."""

import threading

import pytest

import jupyter_clm as jc
from clm_sessions.errors import DatabaseError, NoSessionError
from jupyter_clm.collection import _prefixes
from support.notebooks import cards_of, plain
from support.safety import check


def test_sessions_are_taken_by_position_by_id_by_its_beginning_and_in_slices(sessions):
    first = sessions[0]
    assert sessions[first.id] is first
    assert sessions[first.id[:8]] is first
    assert [s.id for s in sessions[1:3]] == [sessions[1].id, sessions[2].id]
    assert isinstance(sessions[1:3], jc.SessionList)
    assert sessions[-1] is list(sessions)[-1]
    assert first in sessions
    with pytest.raises(IndexError):
        sessions[len(sessions)]


def test_a_beginning_that_several_share_is_refused(sessions):
    with pytest.raises(NoSessionError, match=r"\d+ sessions with an id that is or begins with '2026'"):
        sessions["2026"]
    with pytest.raises(NoSessionError):
        sessions[""]


def test_ids_complete_after_a_bracket(sessions):
    assert sessions._ipython_key_completions_() == [s.id for s in sessions]


def test_the_table_shows_twenty_and_counts_the_rest(sessions):
    html = sessions._repr_mimebundle_()["text/html"]
    assert html.count("<tr>") == 21
    assert "Plan the beds" in plain(sessions[-5:]._repr_mimebundle_()["text/html"])
    assert f"{len(sessions) - 20} more: slice the list" in plain(html)
    assert check(cards_of(html))[0] == []
    assert len(html) < 60_000
    assert repr(sessions) == f"<SessionList of {len(sessions)} sessions>"


def test_the_ids_shown_are_enough_to_take_a_session(sessions):
    for session, short in zip(sessions, _prefixes([s.id for s in sessions]), strict=True):
        assert len(short) >= 8
        assert sessions[short] is session


def test_a_database_gives_the_same_sessions(sessions, database):
    assert [s.id for s in database.sessions] == [s.id for s in sessions]
    assert database.session(sessions[0].id[:8]).id == sessions[0].id
    assert repr(database) == f"<NotebookDatabase sessions.db: {len(sessions)} sessions>"
    assert database.search("kale")[0].session_id in {s.id for s in sessions}


def test_a_database_can_be_read_from_the_thread_that_answers_widgets(stored):
    view = stored.view()
    done = []

    def turn():
        view.query = "kale"
        view.page = 2
        done.append(view.n_hits)

    thread = threading.Thread(target=turn)
    thread.start()
    thread.join()
    assert done == [len(view.hits)]
    assert view.n_hits > 0
    view.close()


def test_a_database_is_closed_by_with_and_a_missing_one_says_what_to_do(tmp_path, database):
    with jc.open(database.path) as again:
        assert len(again.sessions) > 0
    with pytest.raises(Exception, match="closed"):
        again.sessions  # noqa: B018
    with pytest.raises(DatabaseError, match=r"none\.db: no such database, log or folder"):
        jc.open(tmp_path / "none.db")


def test_show_takes_a_path_or_a_session(sessions, tmp_path):
    view = jc.show(sessions[0], page_size=5)
    assert view.page_size == 5
    view.close()
