"""The outline beside the cards."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import groupby

from clm_sessions import render
from clm_sessions.render import Entry
from clm_sessions.render.escape import bdi, esc
from clm_sessions.view.words import one_line
from datasette_clm.loader import PAGE, Loaded
from datasette_clm.urls import Urls

_OUTLINE = 200
_NEAR = 12


def outline(loaded: Loaded, urls: Urls, at: Callable[[int], str]) -> str:
    """Prompts and compactions of this page, with the other pages as one line each before and after.

    Of a filtered session: those that what is shown belongs to.
    """
    entries = render.outline(loaded.chunks)
    held = loaded.page.seqs
    if not held:
        return ""
    if loaded.ask.narrows:
        starts = [entry.seq for entry in entries]
        wanted = {bisect_right(starts, seq) - 1 for seq in held}
        near = [entry for number, entry in enumerate(entries) if number in wanted]
    else:
        near = [entry for entry in entries if held[0] <= entry.seq <= held[-1]]
    html = render.outline_html(near[:_OUTLINE], at)
    if loaded.ask.narrows or loaded.page.pages == 1:
        return html
    first = {number: next(group) for number, group in groupby(entries, lambda entry: entry.seq // PAGE + 1)}
    before = _page_list(loaded, first, range(1, loaded.page.number), urls)
    after = _page_list(loaded, first, range(loaded.page.number + 1, loaded.page.pages + 1), urls)
    return before + html + after


def _page_list(loaded: Loaded, first: dict[int, Entry], pages: range, urls: Urls) -> str:
    near = pages[-_NEAR:] if pages and pages[-1] < loaded.page.number else pages[:_NEAR]
    rows = ""
    for number in near:
        begin, end = (number - 1) * PAGE + 1, min(number * PAGE, loaded.page.total)
        about = f" {bdi(one_line(first[number].text, 60), 'span', 'clm-about')}" if number in first else ""
        rows += f'<li><a href="{esc(urls.session(loaded.info.id, query={"page": number}))}">{begin:,}\u2013{end:,}{about}</a></li>'
    return f'<ol class="clm-pagelist">{rows}</ol>' if rows else ""
