"""Files and their changes as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clm_sessions import render
from clm_sessions.model import SessionInfo
from clm_sessions.render.escape import bdi, esc
from clm_sessions.render.when import time_html
from clm_sessions.view.words import one_line, plural
from datasette_clm.html import options
from datasette_clm.tabs.touching import Change, File
from datasette_clm.visit import Visit

_BUDGET, _ALONE, _AMONG = 250_000, 60_000, 6_000
"""Characters of diffs on a page, of one change on the page of its file, and of one on the page of all files."""


def file_html(
    files: Sequence[File], limit: tuple[int, int | None, bool], visit: Visit, info: SessionInfo
) -> Iterator[str]:
    """The files, each a disclosure with some of its changes. ``limit``: the first, the one past the last, whether alone."""
    first, last, alone = limit
    how = options(
        visit.urls,
        info.id,
        visit.tables,
        heading=4,
        more_href=None,
        max_output=_ALONE if alone else _AMONG,
        budget=_BUDGET,
    )
    place = render.Place(how)
    for file in files:
        shown = file.changes[first:last]
        opened = " open" if alone or len(files) <= 12 else ""
        inner = "".join(_change(change, place, visit) for change in shown)
        left = len(file.changes) - len(shown)
        if not alone:
            link = visit.urls.tab(info.id, "files", query={"file": file.path})
            words = f"All {plural(len(file.changes), 'change')} of this file" if left else "This file alone"
            inner += f'<p class="clm-goto"><a href="{esc(link)}">{words}</a></p>'
        yield f'<details class="clm-file"{opened}><summary>{_summary(file)}</summary><div class="clm-inner">{inner}</div></details>\n'


def _summary(file: File) -> str:
    cut = max(file.name.rfind("/"), file.name.rfind("\\")) + 1
    folder = bdi(file.name[:cut], "span", "clm-folder") if cut else ""
    path = folder + bdi(file.name[cut:] or file.name, "strong")
    done = list(dict.fromkeys(change.touch.what for change in file.changes if not change.touch.failed))
    facts = [f'<span class="clm-kind">{what}</span>' for what in done]
    facts += [plural(len(file.changes), "change")]
    facts += [_counts(file.added, file.removed)] if file.added is not None or file.removed is not None else []
    failures = sum(change.touch.failed for change in file.changes)
    facts += [f'<span class="clm-is-error">✗ {failures:,} failed</span>'] if failures else []
    by = list(dict.fromkeys(change.who for change in file.changes if change.who))
    facts += [f"by {bdi(one_line(', '.join(by), 80))}"] if by else []
    return f'<span class="clm-path">{path}</span> <span class="clm-end">{" ".join(facts)}</span>'


def _counts(added: int | None, removed: int | None) -> str:
    plus = f'<span class="clm-plus">+{added or 0:,}</span>'
    return f'{plus} <span class="clm-minus">\u2212{removed:,}</span>' if removed else plus


def _change(change: Change, place: render.Place, visit: Visit) -> str:
    call, touch = change.call, change.touch
    link = visit.urls.at(change.session, call.chunk or 0)
    facts = [f"{esc(touch.what)} by {bdi(one_line(call.name or 'a tool', 40), 'b')}"]
    facts += [time_html(call.started_at, place.options.tz)] if call.started_at is not None else []
    facts += [_counts(touch.added, touch.removed)] if touch.added is not None or touch.removed is not None else []
    facts += ['<span class="clm-is-error">✗ failed</span>'] if touch.failed else []
    facts += [f"subagent {bdi(change.who)}"] if change.who else []
    body = "".join(render.section_html(section, place, link) for section in touch.sections)
    dot = '<span class="clm-dot"> · </span>'
    return (
        f'<div class="clm-change"><p class="clm-change-head"><a href="{esc(link)}">#{(call.chunk or 0) + 1}</a>{dot}'
        f"{dot.join(facts)}</p>{body}</div>"
    )


def paths_html(paths: Sequence[tuple[str, int]]) -> str:
    """Files that were only read, as a list."""
    rows = "".join(f"<li>{bdi(one_line(path, 300))} <small>{plural(n, 'time')}</small></li>" for path, n in paths)
    return f'<ul class="clm-read">{rows}</ul>' if rows else ""
