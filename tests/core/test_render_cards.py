"""What a card says and links to, and what it leaves out when it grows too large."""

from __future__ import annotations

import itertools
import re
from datetime import timedelta, timezone

import pytest

from clm_sessions import render
from clm_sessions.model import Image
from clm_sessions.tools import describe
from clm_sessions.view import ChunkView, DiffLine, Section, Step, chunk_view
from support import gallery
from support.gallery import Builder
from support.safety import check


def card(section: Section) -> ChunkView:
    return ChunkView(seq=4, number=5, anchor="c4", kind="user", who="You", sections=(section,))


def words(html: str) -> str:
    problems, text = check(html)
    assert problems == []
    return " ".join(text.split())


def test_a_chunk_is_an_article_that_can_be_linked_to():
    view = chunk_view(gallery.user(), describe)
    assert render.chunk_html(view).startswith(
        '<article class="clm-chunk clm-user tex2jax_ignore mathjax_ignore" id="c1"'
    )
    assert 'href="#c1" aria-label="Link to chunk 2">#2</a>' in render.chunk_html(view)
    prefixed = render.chunk_html(view, options=render.Options(id_prefix="a7-"))
    assert 'id="a7-c1"' in prefixed
    assert 'href="#a7-c1"' in prefixed
    linked = render.chunk_html(view, options=render.Options(permalink=lambda v: f'?at={v.seq}&x="'))
    assert 'href="?at=1&amp;x=&quot;"' in linked


def test_a_reply_reads_in_order_without_any_style():
    text = words(render.chunk_html(chunk_view(gallery.work(), describe)))
    order = [
        "test-model-1",
        "2 Mar 2026, 09:17",
        "3.1k out",
        "1 of 5 tools failed",
        "Thinking",
        "I will look",
        "Read garden/beds.csv",
    ]
    order += ["5 lines", "✓ ok", "Edit", "+2 \u22122", "Bash", "exit 1", "✗ failed", "4.8 s", "Agent", "What changed"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_status_is_told_in_words_and_signs_and_not_by_colour_alone():
    for status, said in (
        ("ok", "✓ ok"),
        ("error", "✗ failed"),
        ("interrupted", "⊘ interrupted"),
        ("unanswered", "○ no result"),
    ):
        view = ChunkView(
            seq=0, number=1, anchor="c0", kind="ai", who="x", steps=(Step(kind="tool", title="T", status=status),)
        )
        assert said in words(render.chunk_html(view))


def test_times_carry_the_exact_moment_and_show_the_zone_asked_for():
    view = ChunkView(seq=0, number=1, anchor="c0", kind="user", who="You", started_at=gallery.START)
    east = render.Options(tz=timezone(timedelta(hours=9)))
    assert (
        '<time datetime="2026-03-02T09:14:00.000Z" title="2026-03-02 09:14:00 UTC">2 Mar 2026, 09:14</time>'
        in render.chunk_html(view)
    )
    assert "2 Mar 2026, 18:14" in render.chunk_html(view, options=east)


@pytest.mark.parametrize("ms", [-62_135_596_800_000, 253_402_300_799_999, 0])
def test_times_at_the_edge_of_the_calendar_are_no_error(ms: int):
    view = ChunkView(seq=0, number=1, anchor="c0", kind="ai", who="x", started_at=ms, ended_at=ms)
    for hours in (-12, 0, 14):
        render.chunk_html(view, options=render.Options(tz=timezone(timedelta(hours=hours))))


def test_unknown_times_and_tokens_are_left_out():
    view = ChunkView(seq=0, number=1, anchor="c0", kind="ai", who="x")
    assert words(render.chunk_html(view)) == "x #1"


def test_headings_never_skip_a_level():
    section = Section(kind="markdown", text="#### deep\n\n# top\n\n###### deepest\n\n## two")
    for level in (2, 3, 5, 6):
        html = render.chunk_html(card(section), options=render.Options(heading=level))
        levels = [int(n) for n in re.findall(r"<h(\d)", html)]
        assert levels[0] == level
        assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
        assert all(level < n <= 6 or n == 6 for n in levels[1:])


def test_a_step_with_nothing_inside_is_no_disclosure():
    view = ChunkView(seq=0, number=1, anchor="c0", kind="ai", who="x", steps=(Step(kind="thinking", title="Thinking"),))
    assert "<details" not in render.chunk_html(view)


def test_a_compaction_keeps_its_summary_folded():
    content = Builder(6, "compact", context_before=93_000, context_after=21_000).say("- beds moved").build()
    html = render.chunk_html(chunk_view(content, describe))
    assert "context compacted · 93k → 21k tokens" in words(html)
    assert '<details class="clm-summary"><summary>Show summary</summary>' in html


def test_subagents_are_linked_and_nested():
    view = chunk_view(gallery.work(), describe)
    options = render.Options(subagent_href=lambda key: f"?s={key}", subagent_html=lambda _key: "<p>nested</p>")
    html = render.chunk_html(view, options=options)
    assert f'href="?s={gallery.AGENT.id}"' in html
    assert '<div class="clm-nest"><p>nested</p></div>' in html


# -- images ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (gallery.png(2, 2), "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
        (b"<svg onload=x>", None),
        (b"\x89PN", None),
        (b"", None),
        (b"\x89PNG\r\n\x1a\n" + bytes(600_000), None),
    ],
)
def test_an_image_is_shown_by_what_its_bytes_prove(data: bytes, kind: str | None):
    url = render.data_url(gallery.image(data, "image/svg+xml"))
    assert url is None if kind is None else url and url.startswith(f"data:{kind};base64,")


def test_an_image_that_is_not_shown_says_what_it_is():
    image = Image(media_type="image/tiff", sha256="x", size=12_345)
    assert "Image not shown (image/tiff, 12 KB)" in words(render.chunk_html(card(Section(kind="image", image=image))))


def test_the_caller_decides_where_images_come_from():
    image = Image(media_type="image/png", sha256="ab", size=1)
    html = render.chunk_html(
        card(Section(kind="image", image=image)), options=render.Options(image_src=lambda i: f"/blob/{i.sha256}")
    )
    assert 'src="/blob/ab" alt="Image (image/png, 1 B)" loading="lazy"' in html


# -- sizes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["text", "markdown", "code", "terminal", "note"])
def test_a_long_section_is_cut_with_its_size_its_end_and_a_link(kind: str):
    text = "first line\n" + "x" * 79 + "\n" + ("y" * 79 + "\n") * 12_500 + "last line"
    view = card(Section(kind=kind, text=text))  # type: ignore[arg-type]
    html = render.chunk_html(
        view, options=render.Options(more_href=lambda v, step, section: f"?all={v.seq}-{step}-{section}")
    )
    said = words(html)
    assert len(html) < 80_000
    assert "Cut here; the whole is 1 MB. Show all" in said
    assert 'href="?all=4-None-0"' in html
    assert "first line" in said
    assert said.endswith("last line")
    assert "Show all" not in words(render.chunk_html(view))


def test_the_whole_of_a_section_can_be_had():
    text = "y" * 100_000
    whole = render.Options(max_prose=None, max_output=None, budget=None, max_rows=None)
    for kind in ("text", "markdown", "code", "terminal"):
        assert text in render.section_html(Section(kind=kind, text=text), render.Place(whole))  # type: ignore[arg-type]


def test_a_line_of_25_mb_makes_a_short_card():
    content = Builder(0, "ai").call("Bash", {"command": "x"}, "z" * 25_000_000).build()
    html = render.chunk_html(chunk_view(content, describe))
    assert len(html) < 40_000
    assert "the whole is 25 MB" in words(html)


def test_long_diffs_tables_and_cells_are_cut():
    diff = tuple(DiffLine(sign="+", text="x" * 99) for _ in range(1_000))
    rows = tuple((str(n), "y") for n in range(1_000))
    assert "the whole is 1,000 lines" in words(render.chunk_html(card(Section(kind="diff", diff=diff))))
    assert "the whole is 1,000 rows" in words(render.chunk_html(card(Section(kind="table", rows=rows))))
    assert "the whole is 1,000 rows" in words(render.chunk_html(card(Section(kind="key_values", rows=rows))))
    assert "… (50 KB)" in words(render.chunk_html(card(Section(kind="table", rows=(("z" * 50_000,),)))))


def test_a_card_of_thousands_of_steps_shows_the_first_and_says_how_many_more():
    steps = tuple(
        Step(kind="tool", title=f"T{n}", sections=(Section(kind="text", text="x" * 5_000),)) for n in range(4_100)
    )
    view = ChunkView(seq=0, number=1, anchor="c0", kind="ai", who="x", steps=steps)
    html = render.chunk_html(
        view, options=render.Options(more_href=lambda _v, step, section: f"?from={step}&s={section}")
    )
    assert "3,900 more steps not shown here" in words(html)
    assert 'href="?from=200&amp;s=None"' in html
    assert len(html) < 500_000
    later = words(render.chunk_html(view, options=render.Options(first_step=4_000)))
    assert "Steps 4001 to 4100 of 4100" in later
    assert "T4099" in later


def test_line_numbers_go_on_after_a_cut():
    text = "\n".join(f"line {n}" for n in range(1, 9_001))
    html = render.chunk_html(card(Section(kind="code", text=text, first_line=1)))
    for found in re.finditer(r'data-n="(\d+)">line (\d+)<', html):
        assert found[1] == found[2]
    assert 'data-n="9000">line 9000<' in html


# -- the head of a page ------------------------------------------------------------------------------------------------


def test_the_head_tells_what_is_known_and_leaves_out_what_is_not():
    html = render.session_header_html(gallery.INFO, agent="Claude Code")
    for said in ("Plan the beds for spring", "Claude Code 2.1.62", "87, 3 failed", "41k out", "2 h 11 min"):
        assert said in words(html)
    from clm_sessions.model import SessionInfo

    bare = words(render.session_header_html(SessionInfo(id="k", native_id="n", format="clm")))
    assert bare == "nAgentclmPrompts0Tool calls0"


def test_the_context_strip_links_each_bar_to_its_chunk_and_marks_compactions():
    chunks = [content.chunk for content in gallery.gallery()]
    bars = render.bars(chunks, render.context_sizes(gallery.requests()))
    assert [(bar.seq, bar.tokens, bar.compaction) for bar in bars] == [
        (2, 51_000, False),
        (4, 93_000, False),
        (6, 0, True),
        (7, 24_000, False),
        (8, 31_000, False),
    ]
    html = render.strip_html(bars, lambda seq: f"#c{seq}")
    assert 'class="clm-bar clm-b11"><a href="#c2"' in html
    assert "largest 93k tokens; marked: compacted" in words(html)


def test_many_turns_make_few_bars():
    chunks = [gallery.Builder(n, "ai").say("x").build().chunk for n in range(1_000)]
    bars = render.bars(chunks, {n: n for n in range(1_000)})
    assert len(bars) <= 120
    assert max(bar.tokens for bar in bars) == 999


def test_the_outline_lists_prompts_and_compactions_with_the_tools_that_followed():
    entries = render.outline(content.chunk for content in gallery.gallery())
    assert [(e.seq, e.kind, e.tool_calls, e.tool_errors) for e in entries] == [
        (1, "user", 5, 1),
        (3, "user", 10, 0),
        (6, "compact", 3, 0),
        (9, "user", 0, 0),
        (10, "user", 0, 0),
    ]
    html = render.outline_html(entries, lambda seq: f"?at={seq}", here=3)
    assert '<a href="?at=3" aria-current="true">' in html


# -- the page ----------------------------------------------------------------------------------------------------------


def test_a_page_stands_alone_and_allows_nothing_to_load_or_run():
    page = render.page_html("<Plan>", "<p>body</p>")
    assert page.startswith('<!doctype html>\n<html lang="en"')
    assert "default-src 'none'" in page
    assert "<title>&lt;Plan&gt;</title>" in page
    assert not re.search(r"<script|<link|@import|url\(", page)


def test_every_rule_of_the_stylesheet_is_about_our_own_classes():
    css = re.sub(r"/\*.*?\*/", "", render.css(), flags=re.DOTALL)
    assert css.count("{") == css.count("}")
    outer, depth = [], 0
    for line in css.splitlines():
        if depth == 0 and "{" in line and not line.startswith("@"):
            outer.append(line)
        depth += line.count("{") - line.count("}")
    assert outer
    assert all(".clm-" in line for line in outer)


def test_classes_in_the_cards_have_rules():
    css = render.css()
    html = gallery.page().partition("<body>")[2]
    used = {name for group in re.findall(r'class="([^"]+)"', html) for name in group.split() if name.startswith("clm-")}
    tokens = {name for name in used if re.fullmatch(r"clm-[a-z]{1,2}\d?", name)}
    plain = {
        "clm-section",
        "clm-picture",
        "clm-body",
        "clm-other",
        "clm-same",
        "clm-tool",
        "clm-transcript",
        "clm-imglink",
        "clm-dot",
    }
    missing = {name for name in used - tokens - plain if f".{name}" not in css}
    assert {name for name in missing if not re.fullmatch(r"clm-(?:s|is|at|b|f)-?\w+|clm-badge|clm-ai", name)} == set()
