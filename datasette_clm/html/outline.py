"""The outline beside the cards."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from clm_sessions import render
from clm_sessions.render import Entry
from clm_sessions.render.escape import bdi, esc
from clm_sessions.view.words import one_line
from datasette_clm.loader import Loaded
from datasette_clm.urls import Urls

_WHOLE = 200
"""Up to so many entries the outline is that of all pages."""
_NEAR = 12


def outline(loaded: Loaded, urls: Urls, at: Callable[[int], str]) -> str:
    """Prompts and compactions of the session, or of this page with the other pages as one line each before and after.

    Of a filtered session: those that what is shown belongs to.
    """
    entries = render.outline(loaded.chunks)
    held, page = loaded.page.seqs, loaded.page
    if not held or not entries:
        return ""
    starts = [entry.seq for entry in entries]
    if loaded.ask.narrows:
        wanted = {max(0, bisect_right(starts, seq) - 1) for seq in held}
        return render.outline_html([entry for n, entry in enumerate(entries) if n in wanted], at)
    if len(entries) <= _WHOLE:
        return render.outline_html(entries, at)
    first = max(0, bisect_right(starts, held[0]) - 1)
    near = render.outline_html(entries[first : bisect_right(starts, held[-1])], at)
    before = _page_list(loaded, entries, range(1, page.number)[-_NEAR:], urls)
    after = _page_list(loaded, entries, range(page.number + 1, page.pages + 1)[:_NEAR], urls)
    return before + near + after


def _page_list(loaded: Loaded, entries: Sequence[Entry], pages: range, urls: Urls) -> str:
    rows = ""
    starts = [entry.seq for entry in entries]
    for number in pages:
        begin, end = loaded.page.span(number)
        inside = bisect_left(starts, begin - 1)
        words = one_line(entries[inside].text, 60) if inside < len(starts) and starts[inside] < end else ""
        about = f" {bdi(words, 'span', 'clm-about')}" if words else ""
        rows += f'<li><a href="{esc(urls.session(loaded.info.id, query={"page": number}))}">{begin:,}\u2013{end:,}{about}</a></li>'
    return f'<ol class="clm-pagelist">{rows}</ol>' if rows else ""
