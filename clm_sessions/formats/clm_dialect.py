"""What the text of clm records says beyond its fields: how calls ended, background jobs, the time of day (spec clm 5)."""

from __future__ import annotations

import re
from typing import Any

from clm_sessions import times
from clm_sessions.formats.base import Dialect

_JOB_STARTED = re.compile(r"started background job (\d{1,18})\b", re.ASCII)
_JOB_DONE = re.compile(r'\[background job (\d{1,18}) \(".{0,1000}?"\) finished', re.ASCII | re.DOTALL)
_OUTCOME = re.compile(
    r"(?:timed out after (?P<timed_out_ms>\d{1,18}) ms"
    r"|\(exit status (?P<exit_status>-?\d{1,9})\)"
    r"|\(killed by signal (?P<signal>\d{1,9})\b[^()\n]{0,80}\))\]?\s*\Z",
    re.ASCII,
)
_TIME = re.compile(
    r"\[context update\] current time: (?:[A-Z][a-z]{2}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) ([+-]\d{4})",
    re.ASCII,
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class ClmDialect(Dialect):
    """Ids of calls repeat, and only the text of a result says that the call failed."""

    tool_ids = "reused"

    def failed(self, result: str) -> bool:
        """Whether the text says failed, denied, timed out, killed, or an exit status other than 0."""
        end = outcome(result)
        return bool(end.keys() - {"exit_status"}) or end.get("exit_status", 0) != 0


def outcome(result: str) -> dict[str, Any]:
    """What a result text says of how its call ended; empty where it says nothing.

    Keys: ``failed``, ``denied`` (true), ``timed_out_ms``, ``exit_status``, ``signal``. Newer versions of clm leave
    the wrapper ``[tool failed: ...]`` out.
    """
    found: dict[str, Any] = {}
    if result.startswith("[tool failed"):
        found["failed"] = True
    if result.startswith("[tool failed: denied by user"):
        found["denied"] = True
    end = _OUTCOME.search(result, max(0, len(result) - 200))
    if end:
        found |= {name: int(value) for name, value in end.groupdict().items() if value is not None}
    return found


def job_started(result: str) -> str | None:
    """The number of the background job a result says was started."""
    found = _JOB_STARTED.match(result)
    return found[1] if found else None


def job_done(content: str) -> str | None:
    """The number of the background job whose end a user record begins with (nobody typed it)."""
    found = _JOB_DONE.match(content)
    return found[1] if found else None


def context_time(content: str) -> int | None:
    """The time a context update gives, in ms since the epoch: an approximate anchor, never the time of a message."""
    found = _TIME.match(content)
    if not found or found[2] not in _MONTHS:
        return None
    day, month, year, clock, zone = found.groups()
    return times.parse(f"{year}-{_MONTHS.index(month) + 1:02}-{int(day):02}T{clock}{zone}")
