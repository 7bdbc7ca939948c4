"""Which files a tool call changed or read, and how: from its description, so that it holds for tools of plugins too."""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clm_sessions.model import ToolCall
from clm_sessions.tools.files import PATHS
from clm_sessions.tools.parts import arg, details, failed
from clm_sessions.view import Section, ToolView
from clm_sessions.view.words import lines

_ENDINGS = {" (new)": "created", " (deleted)": "deleted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """One change of a file. ``what``: created, edited, written (new or not is unknown), deleted.

    ``added`` and ``removed`` count lines; None where that is not known, or the call failed. ``sections`` show it.
    """

    path: str
    what: str
    added: int | None = None
    removed: int | None = None
    failed: bool = False
    sections: tuple[Section, ...] = ()


def touches(call: ToolCall, view: ToolView, cwd: str | None = None) -> tuple[Touch, ...]:
    """The changes that a call of the family ``edit`` made (or tried to); empty for other calls and where no file is named.

    ``cwd``: the folder that relative paths are of.
    """
    if view.family != "edit":
        return ()
    diffs = [section for section in view.sections if section.kind == "diff"]
    if any(section.title for section in diffs):
        return tuple(_titled(call, diffs, cwd))
    path = arg(call, *PATHS)
    if not path:
        return ()
    shown = tuple(diffs) or tuple(s for s in view.sections if s.kind == "code" and not s.title and not s.folded)
    created = details(call).get("type") == "create"
    what = "created" if created else "edited" if diffs else "written"
    added, removed = _counted(diffs) if diffs else (sum(lines(s.text) for s in shown) if created else None, None)
    return (_touch(call, absolute(path, cwd), what, (added, 0 if created else removed), shown),)


def _titled(call: ToolCall, diffs: Sequence[Section], cwd: str | None) -> Iterator[Touch]:
    """A patch of several files: the title of each diff is its path, with what becomes of it."""
    for section in diffs:
        title = section.title or ""
        ending = next((end for end in _ENDINGS if title.endswith(end)), "")
        what = _ENDINGS.get(ending, "edited")
        counts: tuple[int | None, int | None] = _counted([section]) if what != "deleted" else (None, None)
        bare = Section(kind="diff", diff=section.diff)
        yield _touch(call, absolute(title.removesuffix(ending), cwd), what, counts, (bare,))


def _touch(
    call: ToolCall, path: str, what: str, counts: tuple[int | None, int | None], sections: tuple[Section, ...]
) -> Touch:
    bad = failed(call) or call.status == "unanswered"
    added, removed = (None, None) if bad else counts
    return Touch(path=path, what=what, added=added, removed=removed, failed=bad, sections=sections)


def _counted(diffs: Sequence[Section]) -> tuple[int, int]:
    signs = [line.sign for section in diffs for line in section.diff]
    return signs.count("+"), signs.count("-")


def absolute(path: str, cwd: str | None) -> str:
    """A path as it stands in a log, joined to the working directory if it is relative. By its letters alone."""
    if not cwd or posixpath.isabs(path) or ntpath.isabs(path) or path.startswith("~"):
        return path
    joined = f"{cwd.rstrip('/')}/{path.removeprefix('./')}"
    return posixpath.normpath(joined) if ".." in path.split("/") else joined
