"""Two sessions in figures, one row for each thing that can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from clm_sessions.model import SessionInfo
from clm_sessions.view.words import cost, duration

_TOOLS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What is compared, and how it is in both; empty where it was not recorded."""

    what: str
    a: str
    b: str

    @property
    def same(self) -> bool:
        """Whether both are alike."""
        return self.a == self.b


def number(n: int | None) -> str:
    """A figure; empty where it was not recorded."""
    return "" if n is None else f"{n:,}"


_FIGURES: tuple[tuple[str, Callable[[SessionInfo], str]], ...] = (
    ("Models", lambda info: ", ".join(info.models)),
    ("Project", lambda info: info.project_name or ""),
    ("Branch", lambda info: info.git_branch or ""),
    ("Duration", lambda info: "" if info.duration_ms is None else duration(info.duration_ms) or "0 s"),
    ("Prompts", lambda info: number(info.prompts)),
    ("Replies", lambda info: number(info.requests)),
    ("Messages", lambda info: number(info.messages)),
    ("Input tokens", lambda info: number(info.usage.input)),
    ("Output tokens", lambda info: number(info.usage.output)),
    ("Cache read tokens", lambda info: number(info.usage.cache_read)),
    ("Cache written tokens", lambda info: number(info.usage.cache_creation)),
    ("Cost", lambda info: cost(info.cost_usd, info.unpriced_requests)),
    ("Compactions", lambda info: number(info.compactions)),
    ("Interruptions", lambda info: number(info.interruptions)),
    ("Subagents", lambda info: number(info.subagents)),
    ("Tool calls", lambda info: number(info.tool_calls)),
    ("Failed calls", lambda info: number(info.tool_errors)),
    ("Calls without a result", lambda info: number(info.unanswered)),
)


def of_figures(a: SessionInfo, b: SessionInfo) -> list[Difference]:
    """The figures of both sessions, also those that are nothing in both."""
    return [Difference(what=what, a=told(a), b=told(b)) for what, told in _FIGURES]


def of_tools(a: Mapping[str, tuple[int, int]], b: Mapping[str, tuple[int, int]]) -> Iterator[Difference]:
    """The tools that both called most, by name: calls, and how many of them failed."""
    names = sorted({*a, *b}, key=lambda name: (-(a.get(name, (0, 0))[0] + b.get(name, (0, 0))[0]), name))
    for name in names[:_TOOLS]:
        yield Difference(what=f"{name} calls", a=_calls(a.get(name)), b=_calls(b.get(name)))


def told(rows: Iterable[Difference]) -> list[Difference]:
    """The rows that say something: what is nothing in both is left out."""
    return [row for row in rows if {row.a, row.b} - {"", "0"}]


def _calls(found: tuple[int, int] | None) -> str:
    calls, bad = found or (0, 0)
    return f"{calls:,}" + (f", {bad:,} failed" if bad else "")
