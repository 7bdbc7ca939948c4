"""The live view, without a kernel: its traits, its controls, what it draws."""

import gc
import re
import threading

import ipywidgets
import pytest
import traitlets

import jupyter_clm as jc
from clm_sessions.model import Session, SessionInfo
from jupyter_clm.live import models
from jupyter_clm.view import SessionView
from support.logs import entry, text, turn, write_log


@pytest.fixture
def view(long):
    made = long.view()
    yield made
    made.close()


def body(view):
    return view._controls.body.value


def numbers(view):
    """The numbers of the chunks that are drawn."""
    return [int(n) for n in re.findall(r'aria-label="Link to chunk (\d+)"', body(view))]


def test_the_first_page_is_shown_and_counted(view):
    assert numbers(view) == list(range(1, 11))
    assert (view.page, view.pages, view.n_hits, view.page_size) == (1, 15, 147, 10)
    assert "147 chunks · page 1 of 15" in view._controls.status.value


def test_a_query_narrows_marks_and_goes_back_to_page_one(view):
    view.page = 5
    view.query = "kale"
    assert (view.page, view.n_hits) == (1, len(view.hits))
    assert numbers(view) == [n + 1 for n in view.hits]
    assert "<mark class=clm-hit>kale</mark>" in body(view)
    assert f"{view.n_hits} of 147 chunks" in view._controls.status.value


def test_steps_that_hold_the_word_are_open_and_a_summary_too(view):
    view.query = "spacing_cm"
    assert re.search(r'<details class="clm-step clm-s-tool clm-f-edit clm-is-ok"[^>]* open>', body(view))
    view.query = "kale"
    assert '<details class="clm-summary" open>' in body(view)


def test_nothing_found_is_said_with_the_words_escaped(view):
    view.query = "<b>none</b>"
    assert view.n_hits == 0
    assert "&lt;b&gt;none&lt;/b&gt;" in body(view)
    assert view.pages == 1


def test_kinds_are_checked_put_in_order_and_filter(view):
    view.kinds = ["ai", "user", "ai"]
    assert view.kinds == ("user", "ai")
    assert view.n_hits == sum(c.kind in {"user", "ai"} for c in view.session.chunks)
    with pytest.raises(traitlets.TraitError, match="no kind 'tool'; there are: user, ai, system, compact"):
        view.kinds = ("tool",)
    assert view.kinds == ("user", "ai")


@pytest.mark.parametrize(("trait", "given", "kept"), [
    ("page", 999, 15), ("page", -3, 1), ("page_size", 0, 1), ("page_size", 10_000, 100), ("selected", -1, 0), ("selected", 10_000, 146),
])  # fmt: skip
def test_a_number_out_of_range_is_clamped(view, trait, given, kept):
    setattr(view, trait, given)
    assert getattr(view, trait) == kept


def test_the_page_is_clamped_through_a_link_too(view, sessions):
    with_few = sessions["81d62477"].view()
    link = traitlets.link((view, "page"), (with_few, "page"))
    view.page = 9
    assert (view.page, with_few.page) == (9, 1)
    link.unlink()
    with_few.close()


def test_linked_queries_search_both(view, sessions):
    other = sessions["81d62477"].view()
    with_link = traitlets.link((view, "query"), (other, "query"))
    view.query = "kale"
    assert other.n_hits > 0
    assert other.n_hits < len(other.session.chunks)
    with_link.unlink()
    other.close()


def test_the_number_of_hits_cannot_be_set_but_observed(view):
    seen = []
    view.observe(lambda change: seen.append(change["new"]), "n_hits")
    view.query = "kale"
    assert seen == [view.n_hits]
    with pytest.raises(traitlets.TraitError):
        view.n_hits = 3


def test_another_page_size_keeps_the_first_chunk_in_sight(view):
    view.page = 4
    view.page_size = 25
    assert view.page == 2
    assert 31 in numbers(view)


def test_a_jump_shows_the_page_of_the_chunk_and_gives_it_to_python(view):
    view.selected = 66
    assert view.page == 7
    assert 'aria-current="true" class="clm-chunk clm-selected' in body(view)
    assert view.selected_chunk.chunk == view.session.chunks[66]


def test_a_jump_to_what_a_filter_hides_lifts_the_filter(view):
    view.query, view.kinds = "kale", ("user",)
    view.selected = 66
    assert (view.query, view.kinds, view.n_hits, view.page) == ("", ("user", "ai", "system", "compact"), 147, 7)


def test_the_next_and_previous_hit_are_selected_and_the_page_follows(view):
    view.query, view.only_hits = "kale", False
    hits = list(view.hits)
    assert (view.n_hits, view.pages, len(hits)) == (4, 15, 4)
    assert [view.next_hit() for _ in range(5)] == [*hits, None]
    assert (view.selected, view.page) == (hits[-1], hits[-1] // 10 + 1)
    assert "4 hits in 147 chunks · page 15 of 15 · hit 4 of 4" in view._controls.status.value
    assert view._controls.next_hit.disabled
    view._controls.previous_hit.click()
    assert view.selected == hits[-2]
    view.page = 14
    assert view.next_hit() == hits[-1], "from a page without the selected hit the search goes on from that page"


def test_without_a_query_the_hits_are_the_chunks(view):
    assert [view.next_hit(), view.next_hit(), view.previous_hit(), view.previous_hit()] == [0, 1, 0, None]


def test_tools_and_failures_narrow_the_chunks(view):
    calls = view.session.tool_calls
    view.tools = ["Bash", "Bash"]
    assert view.tools == ("Bash",)
    assert list(view.hits) == sorted({call.chunk for call in calls if call.name == "Bash"})
    view.errors = True
    failed = {call.chunk for call in calls if call.name == "Bash" and call.status != "ok"}
    assert list(view.hits) == sorted(failed)
    view.tools = ()
    stopped = {chunk.seq for chunk in view.session.chunks if chunk.status in {"error", "interrupted"}}
    assert set(view.hits) == {call.chunk for call in calls if call.status != "ok"} | stopped
    with pytest.raises(traitlets.TraitError, match="the name of a tool is text, not 3"):
        view.tools = (3,)


@pytest.mark.parametrize(
    "filters", [{"errors": True}, {"tools": ("Bash",)}, {"tools": ("Bash",), "errors": True}, {"kinds": ()}]
)
def test_filters_say_the_same_over_a_log_and_a_database(long, stored, filters):
    one, two = long.view(**filters), stored.view(**filters)
    assert list(one.hits) == list(two.hits)
    assert one._controls.tools.options == two._controls.tools.options
    one.close()
    two.close()


def test_a_tool_that_the_session_never_called_leaves_nothing(view):
    view.tools = ("Nope",)
    assert (view.n_hits, view._controls.tools.value) == (0, ("Nope",))
    assert "No chunk of these kinds." in body(view)


def test_the_outline_lists_prompts_and_leads_to_them(view):
    options = view._controls.outline.options
    assert options[0] == ("1  Today: a watering schedule. Each bed should get what its thi… · 5 tools", 0)
    assert len(options) <= 100
    view._controls.outline.value = options[20][1]
    assert view.selected == options[20][1]
    assert view.page == view.selected // 10 + 1
    label, seq = view._controls.outline.options[-1]
    assert label.startswith("↓ later, from #")
    view._controls.outline.value = seq
    assert view.selected == seq
    assert (view._controls.outline.value, view._controls.outline.options[0][0]) == (99, "↑ earlier, from #20 back")
    assert view._controls.outline.options[-1][1] > seq


def test_all_steps_open_and_fold_and_again_after_a_person_touched_them(view):
    view._controls.expand.click()
    assert view.expanded is True
    assert "<details" in body(view)
    assert not re.search(r"<details class=.clm-step[^>]*(?<! open)>", body(view))
    view._controls.collapse.click()
    folded = body(view)
    assert not re.search(r"<details class=.clm-step[^>]* open>", folded)
    view._controls.collapse.click()
    assert body(view) != folded, "the page is sent anew"
    assert body(view).strip() == folded.strip()


def test_subagents_open_in_place_at_any_depth(sessions, database):
    for source in (sessions, database.sessions):
        view = source["ada2de14"].view(query="notes")
        first = view.session.subagents[0]
        view._controls.agent.value = first.id
        assert (view.agent, view.shown.id, view.selected) == (first.id, first.id, None)
        assert view.n_hits <= len(first.chunks)
        view.query = ""
        assert numbers(view) == list(range(1, len(first.chunks) + 1))
        view.selected = 1
        assert view.selected_chunk.chunk == first.chunks[1]
        view._controls.agent.value = view.session.id
        assert (view.agent, view.shown.id) == ("", view.session.id)
        with pytest.raises(traitlets.TraitError, match="no subagent 'b3fefa1a'"):
            view.agent = "b3fefa1a"
        view.close()


def test_a_subagent_of_a_subagent_is_found_from_the_session(sessions, database):
    for source in (sessions["ada2de14"], database.sessions["ada2de14"]):
        outer = next(agent for agent in source.subagents if agent.subagents)
        inner = outer.subagents[0]
        view = source.view(agent=inner.id)
        assert view.shown.id == inner.id
        assert [sid for _label, sid in view._controls.agent.options] == [source.id, outer.id, inner.id]
        view.close()


def test_what_is_loaded_is_said(view, sessions):
    assert "10 of 147 chunks are loaded here" in body(view)
    small = sessions["81d62477"].view()
    assert "chunks are here, whole." in body(small)
    small.close()


def test_controls_and_traits_follow_each_other(view):
    controls = view._controls
    controls.next.click()
    controls.next.click()
    assert (view.page, controls.page.value) == (3, 3)
    controls.previous.click()
    controls.page.value = 15
    assert view.page == 15
    assert controls.next.disabled
    controls.search.value = "kale"
    assert (view.query, view.page, controls.page.max) == ("kale", 1, view.pages)
    controls.boxes["ai"].value = False
    assert view.kinds == ("user", "system", "compact")
    view.kinds = ("ai",)
    assert [kind for kind, box in controls.boxes.items() if box.value] == ["ai"]
    controls.jump.value = " #67 "
    assert view.selected == 66
    controls.jump.value = "nonsense"
    assert view.selected == 66


def test_the_view_has_a_fixed_set_of_widgets_and_one_body(view, sessions):
    small = sessions["81d62477"].view()
    assert len(list(models(view))) == len(list(models(small))) <= 80
    view.page_size = 100
    assert len(list(models(view))) == len(list(models(small)))
    small.close()


def test_closing_frees_every_model_it_made(long):
    from ipywidgets.widgets import widget

    instances = widget._instances if hasattr(widget, "_instances") else ipywidgets.Widget.widgets
    gc.collect()
    before = len(instances)
    made = long.view(query="kale")
    assert len(instances) > before
    made.close()
    assert len(instances) == before


def test_only_the_page_is_read_from_a_database(stored, monkeypatch):
    asked = []
    real = type(stored.core).contents
    monkeypatch.setattr(
        type(stored.core), "contents", lambda self, a, b, **k: asked.append((a, b)) or real(self, a, b, **k)
    )
    view = stored.view(page=3)
    assert asked == [(20, 30)]
    assert numbers(view) == list(range(21, 31))
    view.close()


def test_a_view_over_a_database_shows_the_same(long, stored):
    one, two = long.view(query="kale", selected=19), stored.view(query="kale", selected=19)
    assert list(one.hits) == list(two.hits)
    assert body(one).replace(one._token, "") == body(two).replace(two._token, "")
    one.close()
    two.close()


def test_an_unknown_argument_is_named(long):
    with pytest.raises(TypeError, match="no trait pagesize"):
        long.view(pagesize=5)


def test_a_session_without_chunks_says_so():
    view = jc.NotebookSession(Session(info=SessionInfo(id="x", native_id="x", format="clm"))).view(selected=3)
    assert "This session has no chunks." in body(view)
    assert (view.n_hits, view.page, view.pages, view.selected, view.selected_chunk) == (0, 1, 1, None, None)
    view.close()


def test_what_is_very_long_is_cut_with_its_size_and_the_way_to_all_of_it(tmp_path):
    long_text = "x" * 5_000_000
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": long_text}]
    log = write_log(tmp_path / "5e550000-0000-4000-8000-000000000001.jsonl", [
        *turn(1, "read it", "reading"),
        entry("assistant", 4, [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "big.txt"}}]),
        entry("user", 5, result),
        entry("assistant", 6, text("done")),
    ])  # fmt: skip
    session = jc.load(log)
    view = session.view()
    assert len(body(view)) < 100_000
    assert "the whole is 5 MB" in body(view)
    assert "session.contents(0, 1)" in body(view)
    assert session.contents(1, 2)[0].tool_calls[0].result == long_text
    assert len(session.snapshot()) < 100_000
    view.close()


def test_the_page_stays_small_however_much_is_on_it(tmp_path):
    prose = "word and another word, " * 20_000
    log = write_log(
        tmp_path / "5e550000-0000-4000-8000-000000000002.jsonl", (e for n in range(60) for e in turn(n, prose, prose))
    )
    view = jc.load(log).view(page_size=100)
    assert len(body(view)) < 1_000_000
    assert numbers(view) == list(range(1, 101))
    view.close()


def test_the_text_form_is_short(view):
    assert isinstance(view, SessionView)
    assert repr(view) == (
        "<SessionView of The watering schedule and 39 crops (claude-code, garden-planner, 147 chunks, 129 tool calls), page 1 of 15>"
    )


def test_what_a_person_does_while_a_cell_changes_the_view_is_not_lost(view):
    def type_and_turn():
        for word in ("bed", "kale", "crops", "kale"):
            view._controls.search.value = word

    hand = threading.Thread(target=type_and_turn)
    hand.start()
    for page in range(1, 15):
        view.page = page
    hand.join()
    assert view.query == "kale"
    assert numbers(view) == [n + 1 for n in view.hits]
