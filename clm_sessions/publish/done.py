"""What a publication holds, or would hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clm_sessions.publish.options import Choices
from clm_sessions.redact import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """``sessions``: with subagents; ``left_behind``: those of the private database that are not in it.

    ``rows``: by table, empty if nothing was written; ``tally``: what was redacted; ``titles``: of the sessions that were
    chosen, redacted; ``size``: in bytes.
    """

    sessions: int
    left_behind: int
    rows: Mapping[str, int]
    tally: Tally
    titles: tuple[str, ...] = ()
    size: int = 0
    choices: Choices = field(default_factory=Choices)
