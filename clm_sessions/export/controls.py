"""What stands beside and above the cards of an exported page: find, filters, outline. Without its script it is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clm_sessions.export.redacted import AnySession
from clm_sessions.library import StoredSession
from clm_sessions.model import Chunk, SessionInfo
from clm_sessions.render.escape import esc
from clm_sessions.view import Step
from clm_sessions.view.words import one_line, plural

_KINDS = {
    "user": ("prompt", "prompts"),
    "ai": ("reply", "replies"),
    "system": ("command output", "command outputs"),
    "compact": ("compaction", "compactions"),
}
_FAILED = frozenset(("error", "interrupted", "unanswered"))
_STOPS = frozenset(("interruption", "notice"))
_KEYS = (
    ("/", "find in session"),
    ("n p", "next, previous place found"),
    ("j k", "next, previous chunk"),
    ("] [", "next, previous prompt"),
    ("o", "open or close the steps of a chunk"),
    ("O", "open or close all steps"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a page shows when it is opened; empty: everything.

    Places that hold the words of ``query``; chunks of these ``kinds``, with calls of the ``tool``, with ``errors``.
    """

    query: str = ""
    kinds: tuple[str, ...] = ()
    tool: str = ""
    errors: bool = False


class Tools:
    """The tools of a session by number, most often called first: log text is in no class and in no script."""

    def __init__(self, session: AnySession) -> None:
        if isinstance(session, StoredSession):
            sql = "SELECT tool, calls FROM session_tools WHERE session_id = ?"
            rows = session.db.execute(sql, (session.id,)).fetchall()
        else:
            rows = list(Counter(call.name for call in session.tool_calls).items())
        self.calls: dict[str, int] = dict(sorted(rows, key=lambda row: (-row[1], row[0])))
        self._numbers = {name: number for number, name in enumerate(self.calls)}

    def step_class(self, step: Step) -> str | None:
        """The classes by which the script finds a step: its tool, and whether something went wrong."""
        number = self._numbers.get(step.tool) if step.tool is not None else None
        words = [f"clm-t{number}"] if number is not None else []
        words += ["clm-bad"] if step.status in _FAILED or step.kind in _STOPS else []
        return " ".join(words) or None


def side_html(info: SessionInfo, chunks: Sequence[Chunk], tools: Tools, outline: str, start: Start) -> str:
    """The column beside the cards."""
    return (
        '<div class="clm-side" role="region" aria-label="Find your way">'
        '<div class="clm-asked" role="search" aria-label="Find and filter" hidden>'
        '<p class="clm-find"><label class="clm-sr" for="clm-q">Find in session</label><input id="clm-q" type="search" '
        f'placeholder="Find in session" autocomplete="off" spellcheck="false" value="{esc(start.query)}"></p>'
        f'<div class="clm-chips" role="group" aria-label="Show only">{"".join(_chips(info, chunks, start))}</div>'
        f"{_tool_choice(tools, start)}"
        '<p class="clm-tools"><button type="button" id="clm-all">Open all steps</button></p>'
        f"{_keys()}</div>{outline}</div>\n"
    )


def bar_html() -> str:
    """The bar above the cards: what is found and shown, and the way through it."""
    return (
        '<div class="clm-found-bar" role="region" aria-label="Found" hidden><p class="clm-said" role="status"></p>'
        '<button type="button" id="clm-prev">Previous</button><button type="button" id="clm-next">Next</button>'
        '<button type="button" id="clm-only" aria-pressed="false">Only chunks with it</button>'
        '<button type="button" id="clm-clear">Show all</button></div>\n'
    )


def _chips(info: SessionInfo, chunks: Sequence[Chunk], start: Start) -> Iterator[str]:
    counts: Counter[str] = Counter(chunk.kind for chunk in chunks)
    for kind, (one, many) in _KINDS.items():
        if counts[kind]:
            yield _chip(kind, plural(counts[kind], one, many), pressed=kind in start.kinds)
    if info.tool_errors or info.interruptions or info.unanswered:
        yield _chip("errors", "failed or stopped", pressed=start.errors)


def _chip(kind: str, label: str, *, pressed: bool) -> str:
    return f'<button type="button" data-only="{kind}" aria-pressed="{str(pressed).lower()}">{label}</button>'


def _tool_choice(tools: Tools, start: Start) -> str:
    if not tools.calls:
        return ""
    options = "".join(
        f'<option value="{number}"{" selected" if name == start.tool else ""}>{esc(one_line(name, 60))} ({calls:,})</option>'
        for number, (name, calls) in enumerate(tools.calls.items())
    )
    return (
        '<p class="clm-tool"><label for="clm-tool">Tool</label><select id="clm-tool" autocomplete="off">'
        f'<option value="">all</option>{options}</select></p>'
    )


def _keys() -> str:
    rows = "".join(
        f"<div><dt>{' '.join(f'<kbd>{key}</kbd>' for key in keys.split())}</dt><dd>{what}</dd></div>"
        for keys, what in _KEYS
    )
    return (
        f'<details class="clm-keys"><summary>Keys</summary><dl>{rows}</dl>'
        '<p><label><input type="checkbox" id="clm-use-keys" autocomplete="off" checked> Use these keys</label></p></details>'
    )
