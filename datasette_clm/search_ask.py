"""What a reader asked for in the address of the search page. Nonsense counts as not asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from clm_sessions.store.narrow import Narrow
from datasette_clm import ask

WHERE: Mapping[str, str] = {
    "prompts": "user",
    "replies": "ai",
    "thinking": "thinking",
    "tool input": "input",
    "tool output": "output",
    "system": "system",
    "summaries": "compact",
    "sidechains": "sidechain",
}
"""The words of the page for kinds of text that the core searches."""
WORDS = {kind: word for word, kind in WHERE.items()}
TITLES = "titles"
SORTS = ("best", "newest")
FACETS = ("where", "tool", "project", "model", "format", "time")
_TIME = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?")
_LONGEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAsk:
    """The words ``q`` and the facets, empty if not asked.

    ``where``: one of ``WHERE``, or titles. ``time``: a UTC month or day. ``session``: only in that one. ``page`` counts from 1.
    """

    q: str = ""
    where: str = ""
    tool: str = ""
    project: str = ""
    model: str = ""
    format: str = ""
    time: str = ""
    session: str = ""
    sort: str = "best"
    page: int = 1

    @property
    def chosen(self) -> dict[str, str]:
        """The facets that narrow the search."""
        return {name: value for name in FACETS if (value := getattr(self, name))}

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of text, for the core."""
        return (WHERE[self.where],) if self.where in WHERE else ()

    @property
    def of_places(self) -> Narrow:
        """What is asked of a place itself."""
        since, until = span(self.time) or (None, None)
        return Narrow(tools=_some(self.tool), since=since, until=until)

    @property
    def of_sessions(self) -> Narrow:
        """What is asked of its session."""
        return Narrow(projects=_some(self.project), models=_some(self.model), formats=_some(self.format))

    def query(self, **change: object) -> dict[str, object]:
        """The parts of an address, with changes; from the first page on, unless that is what changes."""
        return {name: value for name, value in {**asdict(self), "page": 1, **change}.items() if value != _PLAIN[name]}


_PLAIN = asdict(SearchAsk())


def parse(args: Any, *, tables: frozenset[str]) -> SearchAsk:  # noqa: ANN401 - Datasette's MultiParams
    """The question in the arguments of a request. What cannot be told without a table that is denied is not asked."""
    given = {name: (args.get(name) or "")[:_LONGEST] for name in (*FACETS, "session", "sort")}
    if given["where"] not in {*WHERE, TITLES}:
        given["where"] = ""
    if given["sort"] not in SORTS:
        given["sort"] = "best"
    if not span(given["time"]):
        given["time"] = ""
    if "tool_calls" not in tables:
        given["tool"] = ""
    if "session_models" not in tables:
        given["model"] = ""
    return SearchAsk(q=ask.parse(args).q, page=ask.number(args.get("page")) or 1, **given)


def span(time: str) -> tuple[int, int] | None:
    """Milliseconds from the beginning of a UTC month (2026-03) or day (2026-03-14) to its end; None for other text."""
    found = _TIME.fullmatch(time)
    if not found:
        return None
    year, month, day = (int(part or 0) for part in found.groups())
    try:
        start = datetime(year, month, day or 1, tzinfo=timezone.utc)
        end = start + timedelta(days=1) if day else (start + timedelta(days=31)).replace(day=1)
    except (ValueError, OverflowError):
        return None
    return int(start.timestamp() * 1000), int(end.timestamp() * 1000)


def _some(value: str) -> tuple[str, ...]:
    return (value,) if value else ()
