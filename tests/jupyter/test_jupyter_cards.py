"""The cards of a page: bounded, marked, with their subagents, and nothing from a log ever live."""

import itertools
import re

import pytest

import jupyter_clm as jc
from jupyter_clm.cards import mark
from support import attacks
from support.hostile import write_hostile
from support.logs import session_id
from support.notebooks import cards_of
from support.safety import check

QUERIES = [
    "",
    "<",
    ">",
    "&",
    '"',
    "'",
    "amp",
    "lt",
    "mark",
    "class clm",
    "readable",
    "<script>",
    "</article>",
    "x=",
    "&lt;",
    "span",
]


def body(view):
    return view._controls.body.value


@pytest.fixture(scope="module")
def hostiles(tmp_path_factory):
    """A session for each attack, the attack in every field, and one with all attacks."""
    folder = tmp_path_factory.mktemp("hostile")
    write_hostile(folder)
    return jc.load_all(folder)


@pytest.fixture(scope="module")
def hostile(hostiles):
    """The session with all attacks."""
    return hostiles[session_id(0xFFF)]


@pytest.mark.parametrize("query", QUERIES)
def test_no_page_of_a_hostile_session_holds_anything_that_is_not_ours(hostile, query):
    view = hostile.view(page_size=100, query=query)
    for page in range(1, view.pages + 1):
        view.page = page
        problems, _words = check(cards_of(view._controls.head.value + body(view) + view._controls.status.value))
        assert problems == []
    view.close()


@pytest.mark.parametrize("text", attacks.MARKUP)
def test_a_search_for_an_attack_shows_the_attack(hostile, text):
    view = hostile.view(query=text, page_size=100)
    problems, _words = check(cards_of(body(view) + view._controls.status.value))
    assert problems == []
    view.close()


def test_hostile_sessions_are_harmless_as_snapshot_in_a_list_and_with_their_subagents(hostiles):
    nested = 0
    for start in range(0, len(hostiles), 20):
        assert check(cards_of(hostiles[start : start + 20]._html()))[0] == []
    for session in hostiles:
        view = session.view(page_size=50)
        nested += body(view).count('class="clm-nest"')
        for html in (session.snapshot(), view._controls.head.value + body(view)):
            assert check(cards_of(html))[0] == []
        view.close()
    assert nested > 100


def test_hostile_sessions_are_harmless_side_by_side_and_their_labels_are_one_line(hostiles):
    for a, b in itertools.pairwise(hostiles[:40]):
        view = jc.compare(a, b, page_size=20)
        for html in (view.children[1].value, view._status.value, view._body.value, view._snapshot()):
            assert check(cards_of(html))[0] == []
        view.close()
    listed = hostiles.view()
    assert check(cards_of(listed._status.value + listed._snapshot()))[0] == []
    labels = [label for widget in (listed._list, *listed._facets.values()) for label, _value in widget.options]
    assert not [label for label in labels if "\n" in label or "\u202e" in label]
    listed.close()


@pytest.mark.parametrize(("html", "words", "marked"), [
    ("<p>a cat</p>", ["cat"], "<p>a <mark class=clm-hit>cat</mark></p>"),
    ('<p title="cat">Cat &amp; dog</p>', ["cat"], '<p title="cat"><mark class=clm-hit>Cat</mark> &amp; dog</p>'),
    ("<p>&amp;&nbsp;&lt;amp</p>", ["amp", "nbsp", "lt"], "<p>&amp;&nbsp;&lt;<mark class=clm-hit>amp</mark></p>"),
    ("<p>&lt;b&gt; b</p>", ["<b>"], "<p><mark class=clm-hit>&lt;b&gt;</mark> b</p>"),
    ("<p>catalogue</p>", ["cat", "catalogue"], "<p><mark class=clm-hit>catalogue</mark></p>"),
    ("<p>x</p>", ["p", ""], "<p>x</p>"),
    ("<p>it&#x27;s</p>", ["it's", "x27"], "<p><mark class=clm-hit>it&#x27;s</mark></p>"),
])  # fmt: skip
def test_words_are_marked_in_the_text_alone(html, words, marked):
    assert mark(html, words) == marked


def test_the_transcript_of_a_subagent_stands_in_the_step_that_started_it(sessions, database):
    for source in (sessions, database.sessions):
        view = source["ada2de14"].view()
        nests = re.findall(r'<div class="clm-nest">', body(view))
        assert len(nests) == 4
        assert "three helpers" in body(view)
        ids = re.findall(r' id="([^"]+)"', body(view))
        assert len(ids) == len(set(ids)) > 10
        assert check(cards_of(body(view)))[0] == []
        view.close()


def test_what_is_held_by_a_folded_section_is_unfolded_by_a_search(long):
    view = long.view(query="spacing_cm")
    assert re.search(r'<details class="clm-step clm-s-tool clm-f-edit clm-is-ok"[^>]* open>', body(view))
    view.close()
