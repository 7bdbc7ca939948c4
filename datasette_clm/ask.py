"""What a reader asked for in the address of a session page. Nonsense counts as not asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PARTS = ("prompts", "replies", "tools", "thinking", "errors", "interrupted")
_LONGEST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """``page`` from 1, or the page that holds ``chunk`` (a seq).

    ``show``: some of ``PARTS``; ``tools``: tool names. With none of these everything is shown. ``q``: words to find,
    ``hit`` the place (from 1) at which to stand; ``only``: leave out the chunks without them.
    """

    page: int | None = None
    chunk: int | None = None
    show: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    q: str = ""
    hit: int | None = None
    only: bool = False

    @property
    def narrows(self) -> bool:
        """Whether only part of the session is asked for."""
        return bool(self.show or self.tools or (self.q and self.only))

    def query(self, **change: object) -> dict[str, object]:
        """The filters as parts of an address, with changes."""
        return {"show": self.show, "tool": self.tools, "q": self.q, "only": int(self.only), **change}

    def toggled(self, *, show: str = "", tool: str = "", chunk: int = 0) -> dict[str, object]:
        """The filters with one part or tool switched on, or off if it is on, at the page of a chunk."""
        return self.query(show=_toggle(self.show, show), tool=_toggle(self.tools, tool), chunk=chunk)


def _toggle(given: tuple[str, ...], one: str) -> tuple[str, ...]:
    if not one:
        return given
    return tuple(x for x in given if x != one) if one in given else (*given, one)


def parse(args: Any) -> Ask:  # noqa: ANN401 - Datasette's MultiParams
    """The question in the arguments of a request."""
    return Ask(
        page=number(args.get("page")) or None,
        chunk=number(args.get("chunk")),
        show=tuple(part for part in PARTS if part in args.getlist("show")),
        tools=tuple(dict.fromkeys(name for name in args.getlist("tool") if name))[:20],
        q=(args.get("q") or "").strip()[:_LONGEST],
        hit=number(args.get("hit")) or None,
        only=args.get("only") == "1",
    )


def number(text: str | None) -> int | None:
    """A whole number from 0 on of at most nine digits, else None."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None
