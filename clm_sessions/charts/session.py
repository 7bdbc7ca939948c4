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
_SEEN = 400
"""No bar is drawn shorter than this part of a timeline, or it would not be seen."""
_UNITS = ((3 * 86_400_000, "days", 86_400_000), (3 * 3_600_000, "hours", 3_600_000), (180_000, "minutes", 60_000))
"""What a timeline is measured in from so many milliseconds on, and how many these are; below, seconds."""


def session_timeline(
    rows: Iterable[Row], *, width: int = 800, note: str = "", link: Callable[[Row], str] | None = None
) -> Chart:
    """A bar for each row, in their order: ``label``, ``kind`` (reply, tool, subagent, failed), ``start`` and ``end`` in milliseconds.

    Rows without both times are left out; ``depth`` indents a label. ``note`` stands below. ``link``: the address of a
    row. UsageError without Altair.
    """
    alt = altair()
    timed = [row for row in rows if row["start"] is not None and row["end"] is not None]
    first = min((row["start"] for row in timed), default=0)
    span = max((row["end"] - first for row in timed), default=0)
    unit, size = _unit(span)
    drawn = [
        {
            "place": place,
            "label": "\u2003" * min(row.get("depth") or 0, 6) + name(row["label"], 28),
            "kind": row["kind"] if row["kind"] in _KINDS else "other",
            "start": (row["start"] - first) / size,
            "end": (max(row["end"], row["start"] + span / _SEEN) - first) / size,
            "words": f"{name(row['label'])}: {duration(max(0, row['end'] - row['start']))}",
            **({"href": link(row)} if link is not None else {}),
        }
        for place, row in enumerate(timed)
    ]
    y = alt.Y("place:O", axis=None, scale=alt.Scale(paddingInner=0.35))
    x = alt.X(
        "start:Q",
        axis=alt.Axis(title=f"{unit}{note and ' · '}{note}", grid=True, domain=False, ticks=False),
        scale=alt.Scale(nice=False),
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


def _unit(span: float) -> tuple[str, int]:
    return next(((name, size) for least, name, size in _UNITS if span >= least), ("seconds", 1_000))


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
