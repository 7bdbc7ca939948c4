"""What the list of sessions can be narrowed by: counted once, here; the script only compares numbers."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from clm_sessions.model import SessionInfo
from clm_sessions.render.escape import bdi, esc
from clm_sessions.times import iso
from clm_sessions.view.words import one_line

_SHOWN, _MOST = 7, 300
STATUS = {
    "complete": "Complete",
    "ongoing": "Still going on",
    "interrupted": "Ended by an interruption",
    "error": "Ended in an error",
    "unanswered": "Last prompt unanswered",
    "empty": "Empty",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """``values``: label and number of sessions, as they are listed. The number of a value counts on from ``first``."""

    name: str
    label: str
    first: int
    values: Sequence[tuple[str, int]]


class Facets:
    """The facets of some sessions, and which values each session has. ``agents``: the label of each format."""

    def __init__(self, db: sqlite3.Connection, infos: Sequence[SessionInfo], agents: Mapping[str, str]) -> None:
        tools = _tools(db)
        status = dict(db.execute("SELECT id, status FROM sessions"))
        has = [
            {
                "project": _some(info.project_name),
                "model": info.models,
                "agent": _some(agents.get(info.format, info.format)),
                "status": tuple(_states(info, status.get(info.id))),
                "month": _some((iso(info.started_at) or "")[:7]),
                "tool": tools.get(info.id, ()),
            }
            for info in infos
        ]
        self.facets: list[Facet] = []
        self._numbers: list[list[int]] = [[] for _info in infos]
        first = 0
        for name, label in _LABELS.items():
            counts = Counter(value for one in has for value in set(one[name]))
            values = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
            if name == "month":
                values.sort(reverse=True)
            self.facets.append(Facet(name=name, label=label, first=first, values=values))
            numbers = {value: first + n for n, (value, _count) in enumerate(values)}
            for row, one in zip(self._numbers, has, strict=True):
                row.extend(sorted({numbers[value] for value in one[name] if value in numbers}))
            first += len(values)

    def of(self, row: int) -> str:
        """The numbers of the values that the session of a row has, as an attribute."""
        return " ".join(map(str, self._numbers[row]))

    def html(self) -> str:
        """The facets with something to choose between, as boxes to tick. Hidden until the script shows them."""
        groups = "".join(_group(facet) for facet in self.facets if len(facet.values) > 1)
        if not groups:
            return ""
        form = f'<form class="clm-facets" aria-label="Narrow the list" hidden>{groups}</form>'
        return f'<details class="clm-narrow" open><summary>Narrow the list</summary>{form}</details>'


_LABELS = {
    "project": "Project",
    "model": "Model",
    "agent": "Agent",
    "status": "Status",
    "month": "Month (UTC)",
    "tool": "Tool",
}


def _some(value: str | None) -> tuple[str, ...]:
    return (value,) if value else ()


def _states(info: SessionInfo, status: str | None) -> Iterator[str]:
    if status in STATUS:
        yield STATUS[status]
    if info.tool_errors:
        yield "With failed tools"
    if info.interruptions:
        yield "With interruptions"
    if info.compactions:
        yield "Compacted"
    if info.subagents:
        yield "With subagents"


def _tools(db: sqlite3.Connection) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for sid, tool in db.execute("SELECT session_id, tool FROM session_tools WHERE tool <> '' ORDER BY tool"):
        found[sid].append(tool)
    return found


def _group(facet: Facet) -> str:
    boxes = [_box(facet.name, facet.first + n, label, count) for n, (label, count) in enumerate(facet.values)]
    more = _list(boxes[_SHOWN:])
    rest = f"<details><summary>{len(boxes) - _SHOWN:,} more</summary>{more}</details>" if more else ""
    return f"<fieldset><legend>{facet.label}</legend>{_list(boxes[:_SHOWN])}{rest}</fieldset>"


def _list(boxes: Iterable[str]) -> str:
    rows = "".join(f"<li>{box}</li>" for box in boxes)
    return f"<ul>{rows}</ul>" if rows else ""


def _box(name: str, number: int, label: str, count: int) -> str:
    short = one_line(label, 60)
    return (
        f'<label><input type="checkbox" name="{name}" value="{esc(label)}" data-number="{number}">'
        f'{bdi(short, "span", "clm-value")}<span class="clm-n">{count:,}</span></label>'
    )
