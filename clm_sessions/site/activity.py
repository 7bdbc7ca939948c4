"""When the sessions took place: a strip of bars above the list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date

from clm_sessions.model import SessionInfo
from clm_sessions.view.words import plural
from clm_sessions.zones import UTC, at

_BARS, _LEVELS = 60, 20


def strip(infos: Sequence[SessionInfo]) -> str:
    """Sessions by day, or by the stretch of days that makes no more than some sixty bars; each leads to its month (UTC).

    Empty if all are of one day.
    """
    days = Counter(at(info.started_at, UTC).toordinal() for info in infos if info.started_at is not None)
    if len(days) < 2:
        return ""
    first, last = min(days), max(days)
    width = next((w for w in (1, 7) if (last - first) // w < _BARS), (last - first) // _BARS + 1)
    first -= (first - 1) % 7 if width == 7 else 0  # weeks begin on Monday
    counts = Counter((day - first) // width for day in days.elements())
    bars = "".join(_bars(counts, first, width))
    per = {1: "day", 7: "week"}.get(width, f"{width} days")
    return (
        '<nav class="clm-context" aria-label="Sessions over time">'
        f'<ol class="clm-strip">{bars}</ol><p>Sessions per {per}, at most {max(counts.values()):,}</p></nav>\n'
    )


def _bars(counts: Counter[int], first: int, width: int) -> Iterator[str]:
    most = max(counts.values())
    for number in range(max(counts) + 1):
        count = counts[number]
        start = date.fromordinal(first + number * width)
        level = max(1, round(count / most * _LEVELS)) if count else 0
        words = f"{start.isoformat()}: {plural(count, 'session')}"
        yield (
            f'<li class="clm-bar clm-b{level}"><a href="#month={start.isoformat()[:7]}" tabindex="-1" title="{words}">'
            f"<span>{words}</span></a></li>"
        )
