"""The live list of sessions and two sessions side by side, without a kernel."""

import gc
import re

import ipywidgets
import pytest
import traitlets
from ipywidgets.widgets import widget

import jupyter_clm as jc
from datasette_clm.tables import TABLES


def instances():
    gc.collect()
    return len(widget._instances if hasattr(widget, "_instances") else ipywidgets.Widget.widgets)


@pytest.fixture(params=["logs", "database"])
def browser(request, sessions, database):
    view = (sessions if request.param == "logs" else database.sessions).view()
    yield view
    view.close()


def test_facets_narrow_each_other_but_not_themselves(browser, sessions):
    browser.project = "garden-planner"
    assert browser.n_hits == sum(s.project == "garden-planner" for s in sessions) == len(browser.hits)
    assert {s.project for s in browser.hits} == {"garden-planner"}
    projects = {value for _label, value in browser._facets["project"].options}
    assert projects == {"", *(s.project for s in sessions if s.project)}
    days = {value for _label, value in browser._facets["day"].options}
    assert days == {"", *(f"{s.started_at:%Y-%m-%d}" for s in browser.hits if s.started_at)}


def test_a_list_says_the_same_over_logs_and_a_database(sessions, database):
    one, two = sessions.view(), database.sessions.view()
    for name in one._facets:
        assert one._facets[name].options == two._facets[name].options
    assert {value for _label, value in one._facets["status"].options} >= {"", "complete", "unanswered"}
    one.close()
    two.close()


def test_words_are_found_in_title_and_project(browser):
    browser.query = "WATERING crops"
    assert [s.title for s in browser.hits] == ["The watering schedule and 39 crops"]
    assert "1 of " in browser._status.value


def test_a_value_that_no_session_has_leaves_nothing_and_stays_chosen(browser):
    browser.model = "<b>none</b>"
    assert (browser.n_hits, len(browser.hits), browser._facets["model"].value) == (0, 0, "<b>none</b>")
    browser._facets["model"].value = ""
    assert (browser.model, browser.n_hits > 20) == (None, True)


def test_the_chosen_session_opens_below_and_the_one_before_is_freed(browser):
    sid = next(sid for label, sid in browser._list.options if "watering schedule" in label)
    browser._list.value = sid
    assert (browser.selected, browser.view.session.id, browser.selected_session.id) == (sid, sid, sid)
    open_ones = instances()
    for _label, other in browser._list.options[:4]:
        browser._list.value = other
    assert instances() == open_ones
    browser.query = "no such words"
    assert browser.view.session.id == browser.selected, "what is open stays open"
    with pytest.raises(traitlets.TraitError, match="no session 'x' in this list"):
        browser.selected = "x"
    browser.selected = None
    assert browser.view is None


def test_sessions_are_opened_one_after_the_other(browser):
    browser.project = "garden-planner"
    ids = [session.id for session in browser.hits]
    assert browser.previous_session() is None
    assert browser._previous.disabled
    assert [browser.next_session() for _ in ids] == ids
    assert (browser.next_session(), browser.selected, browser._next.disabled) == (None, ids[-1], True)
    assert browser.previous_session() == browser.view.session.id == ids[-2]
    browser.project = None
    browser.query = "no such words"
    assert (browser.next_session(), browser.previous_session(), browser.selected) == (None, None, ids[-2])


def test_closing_a_list_frees_every_model(sessions):
    before = instances()
    view = sessions.view(selected=sessions[0].id)
    assert instances() > before + 100
    view.close()
    assert instances() == before


def test_the_static_form_of_a_list_is_its_table(sessions):
    view = sessions.view()
    bundle = view._repr_mimebundle_()
    assert "<table>" in bundle["text/html"]
    assert bundle["text/plain"] == f"<SessionsView of {len(sessions)} sessions>"
    view.close()


def test_two_sessions_stand_side_by_side_with_what_differs(sessions):
    a, b = sessions["b3fefa1a"], sessions["ada2de14"]
    before = instances()
    view = jc.compare(a, b)
    rows = {row.what: (row.a, row.b) for row in view.differences}
    assert rows["Tool calls"] == (f"{len(a.tool_calls)}", f"{len(b.tool_calls)}")
    assert rows["Failed calls"][0] == "4"
    assert rows["Bash calls"][0] == "53, 4 failed"
    assert "<td><bdi>53, 4 failed</bdi></td>" in view.children[1].value
    assert "Nothing beside it." in view._body.value
    view._next.click()
    assert view.page == 2
    view.page = 999
    assert (view.page, view._next.disabled) == (view.pages, True)
    view.page_size = 0
    assert view.page_size == 1
    view.close()
    assert instances() == before


def test_a_session_beside_itself_is_the_same_turn_by_turn(long, stored):
    for a, b in ((long, long), (long, stored)):
        view = jc.compare(a, b, page_size=20)
        assert all(left == right for left, right in view.pairs)
        assert view._body.value.count('class="clm-same"') == 20
        assert not [row for row in view.differences if not row.same]
        ids = re.findall(r' id="([^"]+)"', view._body.value)
        assert len(ids) == len(set(ids))
        view.close()


def test_a_wrong_argument_is_named(sessions):
    with pytest.raises(TypeError, match="no trait projects"):
        sessions.view(projects="x")
    with pytest.raises(TypeError, match="no trait query"):
        jc.compare(sessions[0], sessions[1], query="x")


def test_the_facets_are_those_of_the_table_in_datasette_and_count_alike(database):
    view = database.sessions.view()
    for facet in set(TABLES["sessions"].facets) - {"role"}:
        name, column = ("project", "project_name") if facet == "project_id" else (facet, facet)
        where = f"role IN ('main', 'orphan') AND {column} > ''"
        sql = f"SELECT {column} AS value, count(*) AS n FROM sessions WHERE {where} GROUP BY 1"
        counted = {row["value"]: row["n"] for row in database.sql(sql, engine="arrow").to_pylist()}
        shown = {value: int(label.rsplit(" · ", 1)[1]) for label, value in view._facets[name].options if value}
        assert shown == counted, name
    view.interrupted, view.compacted = "yes", "yes"
    assert [session.id[:8] for session in view.hits] == ["b3fefa1a"]
    view.close()
