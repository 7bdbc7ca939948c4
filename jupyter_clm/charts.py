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
from clm_sessions.store.narrow import is_project
from clm_sessions.times import plausible
from clm_sessions.view.timeline import Bar, Turn, of_turn, turns
from jupyter_clm.select import When, moment

if TYPE_CHECKING:
    from clm_sessions.charts.look import Chart
    from jupyter_clm.session import NotebookSession
    from jupyter_clm.tables import Source

__all__ = [
    "activity_calendar",
    "context_per_turn",
    "cost_over_time",
    "session_timeline",
    "tokens_over_time",
    "tool_use",
]
MARGIN = 10
ROWS = 120
"""Bars in a timeline at most."""
_KINDS = {"agent": "subagent", "mark": "failed"}


def __dir__() -> list[str]:
    """What completion offers."""
    return __all__


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
    rows = _dated(_overview(source, since, until, project), "output_tokens", "no reply here has its tokens and a day")
    return _shown(charts.tokens_over_time(rows, width=640))


def cost_over_time(
    source: Source, *, since: When | None = None, until: When | None = None, project: str | None = None
) -> Chart:
    """The estimated cost in US dollars, as ``tokens_over_time``. UsageError where nothing has an estimate."""
    rows = _dated(_overview(source, since, until, project), "cost_usd", "no reply here has an estimated cost")
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
    rows = _some(_rows(_overview(source, since, until, project).tools), "calls", "no tool was called here")
    return _shown(charts.tool_use(rows, top=max(1, top)))


def session_timeline(session: NotebookSession, *, turn: int | None = None) -> Chart:
    """When the turns of a session ran; with ``turn`` (from 1) the replies, tools and subagents of that one.

    The first 120 bars with a time are shown; below it is said what is left out. UsageError if there is no such turn, or
    none has a time.
    """
    from jupyter_clm.session import registry

    every = turns(_session(session).core.chunks)
    if turn is None:
        rows = [_of_turn(each) for each in every]
    elif 0 < turn <= len(every):
        before = every[turn - 2].ended_at if turn > 1 else None
        found = of_turn(session.core, every[turn - 1], registry().describe, before=before)
        rows = [_of_bar(bar) for bar in found]
    else:
        raise UsageError(f"no turn {turn}: this session has {len(every)}, counted from 1")
    timed = [row for row in _some(rows, "start", "this session has no times") if row["end"] is not None]
    what = "turns" if turn is None else "steps"
    notes = [f"the first {ROWS} of {len(timed):,} {what}"] if len(timed) > ROWS else []
    notes += [f"{len(rows) - len(timed):,} without a time"] if len(rows) > len(timed) else []
    return _shown(charts.session_timeline(timed[:ROWS], note=", ".join(notes)))


def context_per_turn(session: NotebookSession) -> Chart:
    """Tokens in the context window at the end of each turn, and where it was compacted. UsageError if none is recorded."""
    chunks = _session(session).core.chunks
    rows, compacted = [], False
    for turn in turns(chunks):
        compacted = compacted or turn.kind == "compact"
        sizes = [chunk.context_after for chunk in chunks[turn.first : turn.last + 1] if chunk.kind == "ai"]
        last = next((size for size in reversed(sizes) if size is not None), None)
        if last is not None:
            rows.append({"turn": turn.number, "tokens": last, "compacted": compacted})
            compacted = False
    return _shown(charts.context_per_turn(_some(rows, "tokens", "no reply of this session has its tokens")))


def _session(given: NotebookSession) -> NotebookSession:
    from jupyter_clm.session import NotebookSession

    if not isinstance(given, NotebookSession):
        raise UsageError(f"this chart is of one session, not of {given!r}; jupyter_clm.load(PATH) gives one")
    return given


def _dated(found: Overview, measure: str, nothing: str) -> list[dict[str, Any]]:
    rows = [row for row in _rows(found.models) if plausible(row["day"]) and row[measure]]
    return _some(rows, measure, nothing)


def _some(rows: list[dict[str, Any]], column: str, nothing: str) -> list[dict[str, Any]]:
    """The rows; UsageError where no row has a value, for a chart of nothing says nothing."""
    if not any(row[column] is not None for row in rows):
        raise UsageError(nothing)
    return rows


def _rows(found: Iterable[Any] | None) -> list[dict[str, Any]]:
    return [asdict(each) for each in found or ()]


def _overview(source: Source, since: When | None, until: When | None, project: str | None) -> Overview:
    from jupyter_clm.database import NotebookDatabase
    from jupyter_clm.database import open as open_

    with ExitStack() as stack:
        database = source if isinstance(source, NotebookDatabase) else stack.enter_context(open_(source))
        db = database.core.db
        key = None if project is None else _project(project, overview(db, Asked(), NEEDS).names)
        asked = Asked(project=key, since=_day(since, "since"), until=_day(until, "until"))
        return overview(db, asked, (*NEEDS, *WANTS))


def _project(asked: object, names: Iterable[tuple[str, str]]) -> str:
    """The key of the one project that is named so, as in the filters of frames."""
    keys = [key for key, name in names if isinstance(asked, str) and is_project(asked, name, key)]
    if len(keys) != 1:
        there = ", ".join(str(name) for _key, name in names)
        what = "no project" if not keys else f"{len(keys)} projects"
        raise UsageError(f"{what} {asked!r} in the database; there are: {there}; a chart is of one, or of all")
    return keys[0]


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
