"""Files that tool calls read and changed, one entry a session and file. Shell commands may do more; nobody can tell.

Only calls that went well count: a refused edit changed nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from clm_sessions.model import Session, ToolCall
from clm_sessions.text import visible

Action = Literal["read", "edit", "write"]
ACTIONS: Mapping[str, Action] = {
    "Read": "read", "NotebookRead": "read", "read_file": "read", "view_image": "read",
    "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit", "edit_file": "edit",
    "Write": "write", "write_file": "write",
}  # fmt: skip
"""What the tools of the built-in formats that name one file do with it."""
PATHS = ("file_path", "notebook_path", "path")
"""Arguments that name a file."""
_PATCHES = ("apply_patch",)
MARKS: Mapping[str, Action] = {"*** Add File: ": "write", "*** Update File: ": "edit", "*** Delete File: ": "edit"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """One call on one file. ``added`` and ``removed`` are lines; None where the log does not tell."""

    path: str
    action: Action
    added: int | None = None
    removed: int | None = None


@dataclass(slots=True, kw_only=True)
class File:
    """A file in one session: how often it was read, edited in part, written whole; in which chunks, by which calls (by seq).

    Times are milliseconds since 1970; lines are None where no call tells of them.
    """

    path: str
    reads: int = 0
    edits: int = 0
    writes: int = 0
    added: int | None = None
    removed: int | None = None
    first_chunk: int | None = None
    last_chunk: int | None = None
    first_at: int | None = None
    last_at: int | None = None
    read_by: list[int] = field(default_factory=list)
    changed_by: list[int] = field(default_factory=list)

    def add(self, seq: int, call: ToolCall, touch: Touch) -> None:
        """Count one more touch."""
        self.reads += touch.action == "read"
        self.edits += touch.action == "edit"
        self.writes += touch.action == "write"
        self.added = _sum(self.added, touch.added)
        self.removed = _sum(self.removed, touch.removed)
        self.first_chunk = call.chunk if self.first_chunk is None else self.first_chunk
        self.last_chunk = self.last_chunk if call.chunk is None else call.chunk
        self.first_at = call.started_at if self.first_at is None else self.first_at
        self.last_at = self.last_at if call.started_at is None else call.started_at
        (self.read_by if touch.action == "read" else self.changed_by).append(seq)


def files(session: Session) -> list[File]:
    """The files of a session, in the order in which they were first touched."""
    found: dict[str, File] = {}
    for seq, call in enumerate(session.tool_calls):
        for touch in touches(call):
            path = visible(touch.path)
            if path not in found:
                found[path] = File(path=path)
            found[path].add(seq, call, touch)
    return list(found.values())


def touches(call: ToolCall) -> Iterator[Touch]:
    """What one call did to which files; nothing if it did not end well, or is no such tool."""
    if call.status != "ok":
        return
    action = ACTIONS.get(call.name or "")
    if action is not None:
        path = path_of(call)
        if path:
            added, removed = (None, None) if action == "read" else _changed(call.detail)
            yield Touch(path=path, action=action, added=added, removed=removed)
    elif call.name in _PATCHES:
        yield from _patched(call.input)


def path_of(call: ToolCall) -> str | None:
    """The file that a call names in its arguments."""
    if isinstance(call.input, dict):
        return next((value for name in PATHS if isinstance(value := call.input.get(name), str)), None)
    return None


def below(path: str, folder: str | None) -> str:
    """A path as seen from a folder, if it lies below it."""
    if folder:
        start = folder.rstrip("/\\")
        if path.startswith(start) and path[len(start) : len(start) + 1] in {"/", "\\"}:
            return path[len(start) + 1 :] or path
    return path


def _sum(one: int | None, other: int | None) -> int | None:
    return one if other is None else (one or 0) + other


def _changed(detail: Any) -> tuple[int | None, int | None]:  # noqa: ANN401 - a JSON value
    """Lines added and removed, as the hunks of a structured patch say."""
    hunks = detail.get("structuredPatch") if isinstance(detail, dict) else None
    if not isinstance(hunks, list) or not hunks:
        return None, None
    lines = [
        line[:1]
        for hunk in hunks
        if isinstance(hunk, dict) and isinstance(hunk.get("lines"), list)
        for line in hunk["lines"]
        if isinstance(line, str)
    ]
    return lines.count("+"), lines.count("-")


def _patched(given: Any) -> Iterator[Touch]:  # noqa: ANN401 - a JSON value
    """The files of a patch in the notation of Codex."""
    if isinstance(given, dict):
        given = next((value for name in ("input", "patch") if isinstance(value := given.get(name), str)), None)
    if not isinstance(given, str):
        return
    path, action, signs = "", None, list[str]()
    for line in (*given.split("\n"), "*** End Patch"):
        mark = next((mark for mark in MARKS if line.startswith(mark)), None)
        if mark is None and not line.startswith("*** End Patch"):
            signs.append(line[:1])
            continue
        if action is not None and path:
            yield Touch(path=path, action=action, added=signs.count("+"), removed=signs.count("-"))
        path, action, signs = (line[len(mark) :].strip(), MARKS[mark], []) if mark else ("", None, [])
