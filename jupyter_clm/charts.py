"""The charts of the Datasette pages as Altair objects, of a path, a database or a session.

Altair shows charts by scripts from the network unless told otherwise. Where nobody chose, the first chart here chooses
pictures (PNG), which stay in the notebook and load nothing; ``alt.renderers.enable(…)`` chooses anything else. Needs the
extra ``charts``.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from clm_sessions import charts, times
from clm_sessions.charts.look import vl_convert
from clm_sessions.errors import UsageError
from clm_sessions.overview import NEEDS, WANTS, Asked, Overview, overview
from clm_sessions.view.timeline import Bar, Turn, of_turn, turns
from jupyter_clm.select import When, moment

if TYPE_CHECKING:
    from clm_sessions.charts.look import Chart
    from jupyter_clm.session import NotebookSession
    from jupyter_clm.tables import Source

MARGIN = 10
ROWS = 120
"""Bars in a timeline at most."""
_KINDS = {"agent": "subagent", "mark": "failed"}


def activity_calendar(
    source: Source, *, since: When | None = None, until: When | None = None, project: str | None = None
) -> Chart:
    """Sessions that began on each day."""
    found = _overview(source, since, until, project)
    return _shown(charts.activity_calendar([{"day": day, "sessions": number} for day, number in found.days]))


def tokens_over_time(
    source: Source, *, since: When | None = None, until: When | None = None, project: str | None = None
) -> Chart:
    """Output tokens by day, week or month and model, each reply counted once."""
    return _shown(charts.tokens_over_time(_rows(_overview(source, since, until, project).models), width=640))


def cost_over_time(
    source: Source, *, since: When | None = None, until: When | None = None, project: str | None = None
) -> Chart:
    """The estimated cost in US dollars, as ``tokens_over_time``. UsageError where nothing has an estimate."""
    rows = _rows(_overview(source, since, until, project).models)
    if not any(row["cost_usd"] is not None for row in rows):
        raise UsageError("no reply here has an estimated cost")
    return _shown(charts.cost_over_time(rows, width=640))


def tool_use(
    source: Source,
    *,
    since: When | None = None,
    until: When | None = None,
    project: str | None = None,
    top: int = 12,
) -> Chart:
    """Calls of the ``top`` most used tools, and how many failed."""
    return _shown(charts.tool_use(_rows(_overview(source, since, until, project).tools), top=top))


def session_timeline(session: NotebookSession, *, turn: int | None = None) -> Chart:
    """When the turns of a session ran; with ``turn`` (from 1) the replies, tools and subagents of that one.

    The first 120 bars with a time are shown. UsageError if there is no such turn.
    """
    from jupyter_clm.session import registry

    every = turns(session.core.chunks)
    if turn is None:
        rows = [_of_turn(each) for each in every]
    elif 0 < turn <= len(every):
        before = every[turn - 2].ended_at if turn > 1 else None
        found = of_turn(session.core, every[turn - 1], registry().describe, before=before)
        rows = [_of_bar(bar) for bar in found]
    else:
        raise UsageError(f"no turn {turn}: this session has {len(every)}, counted from 1")
    timed = [row for row in rows if row["start"] is not None and row["end"] is not None]
    return _shown(charts.session_timeline(timed[:ROWS]))


def context_per_turn(session: NotebookSession) -> Chart:
    """Tokens in the context window at the end of each turn, and where it was compacted."""
    chunks = session.core.chunks
    rows, compacted = [], False
    for turn in turns(chunks):
        compacted = compacted or turn.kind == "compact"
        sizes = [chunk.context_after for chunk in chunks[turn.first : turn.last + 1] if chunk.kind == "ai"]
        last = next((size for size in reversed(sizes) if size is not None), None)
        if last is not None:
            rows.append({"turn": turn.number, "tokens": last, "compacted": compacted})
            compacted = False
    return _shown(charts.context_per_turn(rows))


def _rows(found: Iterable[Any] | None) -> list[dict[str, Any]]:
    return [asdict(each) for each in found or ()]


def _overview(source: Source, since: When | None, until: When | None, project: str | None) -> Overview:
    from jupyter_clm.database import NotebookDatabase
    from jupyter_clm.database import open as open_

    with ExitStack() as stack:
        database = source if isinstance(source, NotebookDatabase) else stack.enter_context(open_(source))
        db = database.core.db
        key = None
        if project is not None:
            names = overview(db, Asked(), NEEDS).names
            keys = [each for each, name in names if project in {each, name}]
            if len(keys) != 1:
                there = ", ".join(str(name) for _key, name in names)
                what = "no project" if not keys else f"{len(keys)} projects"
                raise UsageError(f"{what} {project!r} in the database; there are: {there}")
            key = keys[0]
        asked = Asked(project=key, since=_day(since, "since"), until=_day(until, "until"))
        return overview(db, asked, (*NEEDS, *WANTS))


def _day(given: When | None, what: str) -> str | None:
    return None if given is None else times.day(moment(given, what))


def _of_turn(turn: Turn) -> dict[str, Any]:
    kind = "failed" if turn.status in {"error", "interrupted"} else "other" if turn.kind == "compact" else "reply"
    return {"label": turn.text or turn.kind, "kind": kind, "start": turn.started_at, "end": turn.ended_at, "depth": 0}


def _of_bar(bar: Bar) -> dict[str, Any]:
    failed = bar.status in {"error", "interrupted"}
    label = f"{bar.label} {bar.about}".strip()
    kind = "failed" if failed else _KINDS.get(bar.kind, bar.kind)
    return {"label": label, "kind": kind, "start": bar.start, "end": bar.end, "depth": bar.depth}


def _shown(chart: Chart) -> Chart:
    """The chart on paper of its own, for notebooks may be dark, and Altair told to show it without the network."""
    import altair as alt

    if alt.renderers.active in {"", "default"}:
        alt.renderers.register("clm-sessions", _render)
        alt.renderers.enable("clm-sessions")
    room = chart.to_dict(validate=False)["padding"]
    wider = {side: size + MARGIN for side, size in room.items()} if isinstance(room, dict) else room + MARGIN
    made: Chart = chart.properties(background="white", padding=wider)
    return made


def _render(spec: dict[str, Any], **_options: Any) -> tuple[dict[str, Any], dict[str, Any]]:  # noqa: ANN401 - Altair's
    """A picture of twice the size at which it is shown, so that it is sharp on fine screens; and words."""
    png = vl_convert().vegalite_to_png(spec, scale=2)
    size = {side: int.from_bytes(png[at : at + 4], "big") // 2 for side, at in (("width", 16), ("height", 20))}
    words = f"<chart: {spec.get('description', 'untitled')}>"
    return {"image/png": png, "text/plain": words}, {"image/png": size}
