"""One session: what ran when, and how its context grew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from clm_sessions.charts.look import ACCENT, BAD, DIM, GOOD, SERIES, WARN, Row, altair, base, finished, name
from clm_sessions.view.words import count, duration

if TYPE_CHECKING:
    from clm_sessions.charts.look import Chart

_KINDS = {"reply": ACCENT, "tool": GOOD, "subagent": WARN, "failed": BAD, "other": SERIES[-1]}
_LANE, _LABELS = 22, 150


def session_timeline(rows: Iterable[Row], *, width: int = 800, link: Callable[[Row], str] | None = None) -> Chart:
    """A bar for each row, in their order: ``label``, ``kind`` (reply, tool, subagent, failed), ``start`` and ``end`` in milliseconds.

    Rows without both times are left out; ``depth`` indents a label. ``link``: the address of a row. UsageError without Altair.
    """
    alt = altair()
    timed = [row for row in rows if row["start"] is not None and row["end"] is not None]
    first = min((row["start"] for row in timed), default=0)
    drawn = [
        {
            "place": place,
            "label": "\u2003" * min(row.get("depth") or 0, 6) + name(row["label"], 28),
            "kind": row["kind"] if row["kind"] in _KINDS else "other",
            "start": (row["start"] - first) / 1000,
            "end": (max(row["end"], row["start"]) - first) / 1000,
            "words": f"{name(row['label'])}: {duration(max(0, row['end'] - row['start']))}",
            **({"href": link(row)} if link is not None else {}),
        }
        for place, row in enumerate(timed)
    ]
    y = alt.Y("place:O", axis=None, scale=alt.Scale(paddingInner=0.35))
    x = alt.X(
        "start:Q", axis=alt.Axis(title="seconds", grid=True, domain=False, ticks=False), scale=alt.Scale(nice=False)
    )
    colour = alt.Color("kind:N", legend=None, scale=alt.Scale(domain=list(_KINDS), range=list(_KINDS.values())))
    lanes = base(drawn).encode(y=y, tooltip="words:N", description="words:N")
    lanes = lanes.encode(href="href:N") if link is not None else lanes
    made = alt.layer(
        lanes.mark_bar(cornerRadius=2, minBandSize=2).encode(x=x, x2="end:Q", color=colour),
        lanes.mark_text(align="left", baseline="middle", color=DIM, limit=_LABELS - 8).encode(
            x=alt.value(-_LABELS), text="label:N"
        ),
    )
    room = {"left": _LABELS, "right": 12, "top": 2, "bottom": 40}
    height = _LANE * max(1, len(drawn))
    return finished(made, width=width - _LABELS - 12, height=height, title="What ran when", room=room)


def context_per_turn(
    rows: Iterable[Row], *, width: int = 800, height: int = 160, link: Callable[[Row], str] | None = None
) -> Chart:
    """A bar for each row: ``turn`` (a number), ``tokens`` in the context, ``compacted`` (whether it was compacted before).

    Rows without tokens are left out. ``link``: the address of a row. UsageError without Altair.
    """
    alt = altair()
    drawn = [
        {
            "turn": row["turn"],
            "tokens": row["tokens"],
            "compacted": bool(row.get("compacted")),
            "words": f"Turn {row['turn']}: {count(row['tokens'])} tokens"
            + (", compacted before" if row.get("compacted") else ""),
            **({"href": link(row)} if link is not None else {}),
        }
        for row in rows
        if row["tokens"] is not None
    ]
    turns = alt.Axis(title="turn", labelOverlap=True, labelAngle=0, ticks=False)
    tokens = alt.Axis(title=None, format="~s", tickCount=4, domain=False, ticks=False)
    colour = alt.Color("compacted:N", legend=None, scale=alt.Scale(domain=[False, True], range=[ACCENT, WARN]))
    bars = (
        base(drawn)
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            x=alt.X("turn:O", axis=turns),
            y=alt.Y("tokens:Q", axis=tokens),
            color=colour,
            tooltip="words:N",
            description="words:N",
        )
    )
    bars = bars.encode(href="href:N") if link is not None else bars
    return finished(bars, width=width - 52, height=height, title="Tokens in the context by turn")
