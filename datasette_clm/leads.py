"""Where the marks and figures of the overview lead: table pages with the same project and days, filtered."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from clm_sessions.overview import Asked
from datasette_clm.urls import Urls

_OWN = {"inherited": "0"}
_WHOLE = {"role__in": "main,orphan"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Leads:
    """The addresses of three tables, and what of them is asked for. Plain text, so that pictures can be kept by it."""

    sessions: str
    requests: str
    tools: str
    asked: Asked

    @classmethod
    def of(cls, urls: Urls, asked: Asked) -> Leads:
        """The tables of a database."""
        sessions, requests, tools = map(urls.table, ("sessions", "requests", "tool_calls"))
        return cls(sessions=sessions, requests=requests, tools=tools, asked=asked)

    def all_sessions(self) -> str:
        """Sessions that began in the time asked for."""
        return _at(self.sessions, {**_WHOLE, **self._project(), **self._days()})

    def day(self, day: str) -> str:
        """Sessions that began on a day."""
        return _at(self.sessions, {**_WHOLE, **self._project(), "day": day})

    def cut(self, column: str) -> str:
        """Sessions (subagents too) that were compacted or interrupted, most often first."""
        return _at(self.sessions, {f"{column}__gt": "0", **self._project(), **self._days(), "_sort_desc": column})

    def replies(self, first: str | None = None, last: str | None = None, model: str | None = None, **more: str) -> str:
        """Replies from one day to another (None: the days asked for), of a model (None: of all)."""
        days = self._days(first or self.asked.since, last or self.asked.until)
        return _at(self.requests, {**_OWN, **_is("model", model), **days, **more})

    def tool(self, tool: str | None = None, **more: str) -> str:
        """Calls of a tool (None: of all)."""
        return _at(self.tools, {**_OWN, **_is("name", tool), **self._days(), **more})

    def _project(self) -> dict[str, str]:
        key = self.asked.project
        return {} if key is None else {"project_name": key[1:]} if key.startswith("~") else {"project_id": key}

    def _days(self, first: str | None = None, last: str | None = None) -> dict[str, str]:
        first, last = first or self.asked.since, last or self.asked.until
        if first is not None and first == last:
            return {"day": first}
        return {key: day for key, day in (("day__gte", first), ("day__lte", last)) if day is not None}


def _is(column: str, value: str | None) -> dict[str, str]:
    return {} if value is None else {column: value}


def _at(table: str, filters: dict[str, str]) -> str:
    return f"{table}?{urlencode(filters, errors='replace')}"
