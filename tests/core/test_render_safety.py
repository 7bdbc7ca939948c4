"""No text of a log becomes live in a page, wherever in a value it stands."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from clm_sessions import render
from clm_sessions.model import Image, SessionInfo
from clm_sessions.render.markdown import markdown_html
from clm_sessions.tools import clm_describe_tool
from clm_sessions.view import ChunkView, DiffLine, Section, SectionKind, Step, chunk_view
from support import attacks, gallery
from support.safety import check, planted, strings

STRUCTURE = frozenset({"kind", "origin", "role", "status"})
TOOLS = STRUCTURE | {"name", "tool_use_id", "id", "keys"}
ROOMY = render.Options(max_steps=None, budget=None)
KINDS: tuple[SectionKind, ...] = SectionKind.__args__  # type: ignore[attr-defined]


def cycle(start: int):
    return itertools.cycle(attacks.ALL[start:] + attacks.ALL[:start]).__next__


@pytest.mark.parametrize("start", range(0, len(attacks.ALL), 7))
@pytest.mark.parametrize("keep", [STRUCTURE, TOOLS], ids=["every string", "known tools"])
def test_attacks_in_every_field_of_a_chunk_stay_text(start: int, keep: frozenset[str]):
    next_text = cycle(start)
    for content in gallery.gallery():
        view = chunk_view(planted(content, next_text, keep), clm_describe_tool)
        problems, words = check(render.chunk_html(view, options=ROOMY))
        assert problems == []
        assert attacks.CANARY in words


@pytest.mark.parametrize("attack", attacks.ALL)
def test_the_same_attack_in_every_field_of_a_chunk_stays_text(attack: str):
    for content in (gallery.work(), gallery.user()):
        view = chunk_view(planted(content, lambda: attack, STRUCTURE), clm_describe_tool)
        problems, words = check(render.chunk_html(view))
        assert problems == []
        assert attacks.CANARY in words


@pytest.mark.parametrize("attack", attacks.ALL)
def test_attacks_in_every_field_of_a_view_stay_text_even_in_those_that_name_a_kind(attack: str):
    sections = tuple(
        Section(
            kind=kind,
            text="x",
            title="x",
            language="x",
            diff=(DiffLine(sign="x", text="x"), DiffLine(sign="-", text="x"), DiffLine(sign="+", text="y")),
            header=("x",),
            rows=(("x", "x"),),
            image=Image(media_type="x", sha256="x", size=1),
            folded=kind == "text",
        )
        for kind in (*KINDS, "x")
    )
    step = Step(
        kind="x", title="x", subtitle="x", status="x", badges=("x",), sections=sections, subagent="x", family="x"
    )
    view = ChunkView(
        seq=1,
        number=2,
        anchor="x",
        kind="x",
        who="x",
        status="x",
        summary="x",
        badges=("x",),
        sections=sections,
        steps=(step,),
    )
    kept = dataclasses.replace(view, steps=(dataclasses.replace(step, kind="tool", status="ok"),), kind="ai")
    options = dataclasses.replace(ROOMY, subagent_href=lambda key: "?agent=1", more_href=lambda *_: "?all=1")
    for value, keep in ((view, frozenset[str]()), (kept, STRUCTURE)):
        problems, words = check(render.chunk_html(planted(value, lambda: attack, keep), options=options))
        assert problems == []
        assert attacks.CANARY in words


@pytest.mark.parametrize("kind", KINDS)
def test_what_follows_an_attack_is_readable_in_every_kind_of_section(kind: SectionKind):
    for attack in attacks.ALL:
        section = Section(kind=kind, text=attack, diff=(DiffLine(sign="+", text=attack),), rows=((attack, attack),))
        section = dataclasses.replace(section, image=Image(media_type=attack, sha256="", size=1))
        problems, words = check(render.section_html(section, render.Place(ROOMY)))
        assert problems == []
        assert attacks.CANARY in words


@pytest.mark.parametrize("attack", attacks.ALL)
def test_attacks_in_the_head_of_a_session_stay_text(attack: str):
    chunks = [planted(content.chunk, lambda: attack, STRUCTURE) for content in gallery.gallery()]
    info: SessionInfo = planted(gallery.INFO, lambda: attack)
    head = render.session_header_html(
        info, agent=attack, bars=render.bars(chunks, render.context_sizes(gallery.requests()))
    )
    aside = render.outline_html(render.outline(chunks), lambda seq: f"#c{seq}", here=3)
    problems, words = check(head + aside)
    assert problems == []
    assert attacks.CANARY in words


@pytest.mark.parametrize("attack", attacks.ALL)
def test_no_escape_sequence_or_control_character_of_a_log_reaches_the_terminal(attack: str):
    for content in (gallery.work(), gallery.more_tools(), gallery.user()):
        shown = render.text(chunk_view(planted(content, lambda: attack, STRUCTURE), clm_describe_tool), full=True)
        assert not [
            c for c in shown if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 or "\u202a" <= c <= "\u202e"
        ]
        assert attacks.CANARY in shown


@pytest.mark.parametrize("attack", attacks.MARKDOWN)
def test_markdown_links_lead_only_to_the_web_and_mail_and_load_nothing(attack: str):
    html = markdown_html(attack)
    assert html is None or check(html)[0] == []
    assert "<img" not in (html or "")


def test_live_links_carry_no_referrer_and_no_endorsement():
    html = markdown_html("[x](https://good.example/a?b=1&c=2)")
    assert html is not None
    assert 'href="https://good.example/a?b=1&amp;c=2" rel="noopener nofollow noreferrer"' in html


def test_a_relative_link_is_text_with_its_target_beside_it():
    assert check(markdown_html("[the plan](/-/logout)") or "")[1].strip() == "the plan (/-/logout)"


@pytest.mark.parametrize(
    "text",
    [
        ">" * 60 + " at the bottom",
        "|a|\n|-|\n|shown|one column too many|",
        "[hidden]: https://x.example 'a title nobody sees'",
        "```python and more words\ncode\n```",
        "- " * 60 + "deep",
        "1. one\n7. seven",
        "a &amp; b &copy; c",
        "<!-- a comment -->",
    ],
)
def test_markdown_swallows_no_word(text: str):
    html = markdown_html(text)
    words = check(html)[1] if html is not None else text
    for word in ("bottom", "column", "title", "more", "deep", "seven", "comment"):
        assert (word in words) == (word in text)


def test_planting_finds_every_string():
    content = planted(gallery.work(), lambda: "planted")
    assert set(strings(content)) == {"planted"}


def test_the_checker_notices_what_it_is_for():
    bad = ["<script>x</script>", '<p onclick="x">y</p>', '<a href="javascript:x">y</a>', "<p>", "</p>", "<!-- x -->"]
    bad += ['<p style="x">y</p>', '<p class="jp-Cell">y</p>', '<img src="https://x.example/y.png">', "<svg></svg>"]
    assert all(check(html)[0] for html in bad)
