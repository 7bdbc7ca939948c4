"""Tools by use, and how often each failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from clm_sessions.charts.look import ACCENT, BAD, INK, Row, altair, base, finished, name
from clm_sessions.view.words import percent, plural

if TYPE_CHECKING:
    from clm_sessions.charts.look import Chart

ROW = 24
_NAMES, _NUMBERS = 116, 132


def tool_use(
    rows: Iterable[Row], *, width: int = 540, top: int = 12, link: Callable[[str], str] | None = None
) -> Chart:
    """``rows``: ``tool``, ``calls`` and ``errors``; the ``top`` most used are shown. ``link``: the address of a tool.

    UsageError without Altair.
    """
    alt = altair()
    most = sorted(rows, key=lambda row: (-row["calls"], str(row["tool"])))[:top]
    drawn = [
        {
            "place": place,
            "tool": name(row["tool"], 40),
            "calls": row["calls"],
            "failed": row["errors"] or 0,
            "count": f"{row['calls']:,}",
            "share": f"{percent(row['errors'], row['calls'])} failed" if row["errors"] else "",
            "words": f"{name(row['tool'])}: {plural(row['calls'], 'call')}, {row['errors'] or 0:,} failed",
            **({"href": link(row["tool"])} if link is not None and row["tool"] is not None else {}),
        }
        for place, row in enumerate(most)
    ]
    y = alt.Y("place:O", axis=None, scale=alt.Scale(paddingInner=0.45, paddingOuter=0.2))
    x = alt.X("calls:Q", axis=None, scale=alt.Scale(nice=False, zero=True))
    rows_ = base(drawn).encode(y=y, tooltip="words:N", description="words:N")
    rows_ = rows_.encode(href="href:N") if link is not None else rows_
    inner = width - _NAMES - _NUMBERS
    text = {"baseline": "middle", "fontSize": 12}
    made = alt.layer(
        rows_.mark_bar(color=ACCENT, opacity=0.75, cornerRadius=2).encode(x=x),
        rows_.transform_filter("datum.failed > 0").mark_bar(color=BAD, cornerRadius=2).encode(x=alt.X("failed:Q")),
        rows_.mark_text(**text, align="left", color=ACCENT, limit=_NAMES - 10).encode(
            x=alt.value(-_NAMES), text="tool:N"
        ),
        rows_.mark_text(**text, align="left", color=INK).encode(x=alt.value(inner + 8), text="count:N"),
        rows_.mark_text(**text, align="right", color=BAD).encode(x=alt.value(inner + _NUMBERS), text="share:N"),
    )
    room = {"left": _NAMES, "right": _NUMBERS + 1, "top": 2, "bottom": 2}
    return finished(
        made, width=inner, height=ROW * max(1, len(drawn)), title="Calls by tool, and those that failed", room=room
    )
