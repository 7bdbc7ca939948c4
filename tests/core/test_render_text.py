"""Text of terminals, code and diffs; and that no text makes the renderer slow."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clm_sessions import render
from clm_sessions.render.ansi import ansi_html, plain, spans
from clm_sessions.render.code import code_lines, language
from clm_sessions.render.diff import diff_html
from clm_sessions.render.escape import visible
from clm_sessions.render.markdown import markdown_html
from clm_sessions.tools import describe
from clm_sessions.view import DiffLine, Section, SectionKind, chunk_view
from support import attacks, gallery
from support.safety import check


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("\x1b[31mred\x1b[0m x", '<span class="clm-ansi-red">red</span> x'),
        (
            "\x1b[1;92mok\x1b[22m.",
            '<span class="clm-ansi-green clm-ansi-bold">ok</span><span class="clm-ansi-green">.</span>',
        ),
        ("\x1b[38;5;196mx", '<span class="clm-ansi-red">x</span>'),
        ("\x1b[38;2;10;20;240mx", '<span class="clm-ansi-blue">x</span>'),
        ("\x1b[38;2;90;90;90mx", '<span class="clm-ansi-black">x</span>'),
        ("\x1b[41mx\x1b[49my", '<span class="clm-ansi-on-red">x</span>y'),
        ("\x1b[7mx", '<span class="clm-ansi-on-inverse">x</span>'),
        ("\x1b[8mx\x1b[28m", "x"),
        ("\x1b[31ma\nb", '<span class="clm-ansi-red">a</span>\n<span class="clm-ansi-red">b</span>'),
        ("a<b\x1b[0m&", "a&lt;b&amp;"),
        ("10%\r60%\r100%", "100%"),
        ("abcdef\rxy", "xycdef"),
        ("abcdef\r\x1b[Kxy", "xy"),
        ("ab\bc", "ac"),
        ("a\r\nb", "a\nb"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]never ended", "never ended"),
        ("\x1b[2J\x1b[1;1Hx\x1b(Bz", "xz"),
        ("\x07\x00", "␇␀"),
    ],
)
def test_terminal_output_is_coloured_overwritten_and_freed_of_escapes(text: str, html: str):
    assert ansi_html(text) == html


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("ab\x1b[]0;13m8\r\b\nK\x07"), max_size=60))
def test_no_escape_survives_and_pieces_add_up(text: str):
    joined = "".join(piece for _style, piece in spans(text))
    assert "\x1b" not in joined
    assert joined == plain(text)
    assert check(ansi_html(text))[0] == []


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80))
def test_visible_text_is_stable_can_be_written_and_loses_nothing_else(text: str):
    once = visible(text)
    assert visible(once) == once
    once.encode("utf-8")
    assert [c for c in text if c.isalnum()] == [c for c in once if c.isalnum()] or "⟨" in once or "\ufffd" in once


def test_joiners_that_scripts_need_stay():
    joined = "\u0645\u06cc\u200c\u062e\u0648 \U0001f469\u200d\U0001f33e"
    assert visible(joined) == joined


@pytest.mark.parametrize(
    ("name", "known"),
    [("python", "python"), ("py", "python"), ("a/b.TSX", "typescript"), ("C:\\x\\y.rs", "rust"), ("Dockerfile", "docker"), ("x.unknown", None), ("", None), (None, None), ("a" * 5_000, None)],
)  # fmt: skip
def test_languages_are_known_by_name_and_by_file(name: str | None, known: str | None):
    assert language(name) == known


@settings(max_examples=100, deadline=None)
@given(
    text=st.text(st.sampled_from("ab \n\t'\"\\{}<>&#/*=é"), max_size=80),
    name=st.sampled_from(["py", "js", "bash", "json", "html", "md", "yaml", "c", None]),
)
def test_code_comes_back_line_by_line_whatever_its_language(text: str, name: str | None):
    lines = code_lines(text, name)
    problems, words = check("\n".join(lines))
    assert problems == []
    assert words == text
    assert all(check(line)[0] == [] for line in lines)


def test_a_diff_marks_what_changed_inside_a_line():
    lines = (DiffLine(sign="-", text="bed 1, kale", number=7), DiffLine(sign="+", text="bed 2, kale", number=7))
    assert diff_html(lines) == (
        '<span class="clm-line clm-del" data-n="7">-bed <mark>1</mark>, kale\n</span>'
        '<span class="clm-line clm-add" data-n="7">+bed <mark>2</mark>, kale\n</span>'
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(" +-@"), st.text(st.sampled_from("ab<"), max_size=5)), max_size=12))
def test_a_diff_keeps_every_line(lines: list[tuple[str, str]]):
    problems, words = check(diff_html([DiffLine(sign=sign, text=text) for sign, text in lines]))
    assert problems == []
    assert words == "".join(f"{'' if sign == '@' else sign}{text}\n" for sign, text in lines)


def test_markdown_is_laid_out():
    html = markdown_html(gallery.REPLY) or ""
    for part in (
        "<strong>one bed clockwise</strong>",
        '<h4 class="clm-h2">What changed</h4>',
        "<ol>",
        "<table>",
        "<blockquote>",
    ):
        assert part in html
    assert '<span class="clm-k">def</span>' in html


def test_line_breaks_people_type_stay():
    assert markdown_html("one\ntwo") == "<p>one<br>\ntwo</p>\n"


@pytest.mark.parametrize("kind", ["markdown", "terminal", "code", "text"])
@pytest.mark.parametrize("name", attacks.SLOW)
def test_no_text_of_40_kb_takes_long(name: str, kind: SectionKind):
    whole = render.Options(max_prose=None, max_output=None, budget=None)
    for length in (19_900, 40_000):
        section = Section(kind=kind, text=attacks.SLOW[name](length), language="c")
        start = time.process_time()
        html = render.section_html(section, render.Place(whole))
        assert time.process_time() - start < 5.0  # half a second, mostly; what is not linear takes minutes
        assert len(html) < 1_500_000


def test_terminal_text_of_a_card():
    view = chunk_view(gallery.work(), describe)
    short, full = render.text(view), render.text(view, full=True)
    assert "#3 test-model-1 · 2 Mar 2026, 09:17 · 26 s · 3.1k out · 1 of 5 tools failed\n" in short
    assert "  • Bash pytest -q tests/test_rotation.py · exit 1 · ✗ failed · 4.8 s\n" in short
    assert "      -1,kale,2026\n" in short
    assert "1 failed, 11 passed" not in short
    assert "1 failed, 11 passed in 0.42s\n" in full
    assert "\x1b" not in short + full
    assert "\x1b[1;36m#3" in render.text(view, colour=True)


def test_terminal_text_keeps_the_indentation_of_a_diff_and_cuts_long_output():
    edit = gallery.Builder(0, "ai").call(
        "Edit", {"file_path": "f", "old_string": "    a", "new_string": "        a"}, "ok"
    )
    assert "      +        a\n" in render.text(chunk_view(edit.build(), describe))
    long = gallery.Builder(0, "ai").call("Bash", {"command": "x"}, "line\n" * 50_000)
    shown = render.text(chunk_view(long.build(), describe), full=True)
    assert "[… cut here; the whole is 250 KB, 50,001 lines …]" in shown
    assert len(shown) < 60_000
