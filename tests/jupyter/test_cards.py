"""The cards of a page: bounded, marked, with their subagents, and nothing from a log ever live."""

import json
import re

import pytest
from test_session import cards_of

import jupyter_clm as jc
from jupyter_clm.cards import mark
from support import attacks
from support.logs import entry, session_id, write_log
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
def hostile(tmp_path_factory):
    """A session with every attack in every field a log can fill."""
    seq = iter(range(10_000))
    entries = [{"type": "custom-title", "customTitle": attacks.MARKUP[0], "sessionId": session_id()}]
    for text in attacks.ALL:
        where = {"cwd": text, "gitBranch": text, "version": text}
        call = {"type": "tool_use", "id": text, "name": text, "input": {text: [{text: text}]}}
        answer = {
            "type": "tool_result",
            "tool_use_id": text,
            "content": [{"type": "text", "text": text}, {"type": text}],
        }
        entries += [
            entry("user", next(seq), text, **where),
            entry(
                "assistant",
                next(seq),
                [{"type": "thinking", "thinking": text}, {"type": "text", "text": text}, call],
                model=text,
                **where,
            ),
            entry("user", next(seq), [answer], toolUseResult={"stdout": text, "stderr": text}, **where),
        ]
    folder = tmp_path_factory.mktemp("hostile")
    return jc.load(write_log(folder / f"{session_id()}.jsonl", [json.dumps(e).encode() for e in entries]))


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


def test_a_hostile_session_is_harmless_as_snapshot_and_in_a_list(hostile):
    for html in (hostile.snapshot(), jc.SessionList([hostile])._html()):
        assert check(cards_of(html))[0] == []


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
    assert '<details class="clm-step clm-s-tool clm-f-edit clm-is-ok" open>' in body(view)
    view.close()
