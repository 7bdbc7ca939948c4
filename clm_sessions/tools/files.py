"""Tools that read and change files."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clm_sessions.model import ToolCall
from clm_sessions.tools import patch
from clm_sessions.tools.parts import (
    Sections,
    arg,
    details,
    failed,
    fitting,
    inputs,
    items,
    number,
    output,
    rest,
    result,
    text_of,
    text_section,
    used,
)
from clm_sessions.view import Section, ToolView
from clm_sessions.view.words import lines, one_line, plural

PATHS = ("file_path", "path", "notebook_path", "filePath")
_CONTENT = ("content", "text", "file_text")
_EDITS = ("old_string", "new_string", "edits", "replace_all")
_PLACE = ("offset", "limit")
_OPEN_UP_TO = 60
_NUMBERED = re.compile(r" {0,6}(\d{1,9})(→|\t)(.*)", re.DOTALL)


def read(call: ToolCall) -> ToolView:
    """Read, NotebookRead, read_file: the text, with the line numbers of the file where the log has them."""
    sections = result(call, "code", None)
    if isinstance(call.result, str) and not failed(call):
        sections = numbered(call.result, arg(call, *PATHS), tabs=call.name == "Read")
    first = sections[0].first_line if sections else None
    place = _PLACE if first is not None else ()
    return ToolView(
        title=call.name or "Read",
        subtitle=one_line(arg(call, *PATHS)),
        badges=_extent(call, sections),
        sections=rest(call, *fitting(call, *PATHS), *place) + sections,
        family="read",
    )


def _extent(call: ToolCall, sections: Sections) -> tuple[str, ...]:
    """How much of a file was read: ``40 lines``, or ``lines 7 to 46`` of one read from its middle."""
    file = details(call).get("file")
    logged = number(file, "numLines") if isinstance(file, Mapping) else None
    if not isinstance(call.result, str) or failed(call) or not sections:
        return (plural(logged, "line"),) if logged else ()
    count, first = lines(sections[0].text) if logged is None else logged, sections[0].first_line
    return (
        f"lines {first:,} to {first + count - 1:,}" if first and first > 1 and count > 1 else plural(count, "line"),
    )


def numbered(text: str, path: str, *, tabs: bool) -> Sections:
    """File text whose lines carry their numbers (``  12→text``) as code beginning at that line; the rest after it.

    ``tabs``: the number may also end in a tab.
    """
    rows = text.split("\n")
    plain: list[str] = []
    first = None
    for row in rows:
        found = _NUMBERED.fullmatch(row)
        if (
            found is None
            or (found[2] == "\t" and not tabs)
            or (first is not None and int(found[1]) != first + len(plain))
        ):
            break
        first = int(found[1]) if first is None else first
        plain.append(found[3])
    if first is None:
        return text_section("code", text, language=path)
    code = Section(kind="code", text="\n".join(plain), language=path, first_line=first)
    return (code, *text_section("note", "\n".join(rows[len(plain) :]).strip("\n"), "After the file"))


def write(call: ToolCall) -> ToolView:
    """Write, write_file: the new file, or what changed in an old one."""
    diff = patch.from_structured(details(call).get("structuredPatch"))
    content = arg(call, *_CONTENT)
    body: Sections = text_section("code", content, language=arg(call, *PATHS))
    if diff:
        body = (Section(kind="diff", diff=diff), *(_fold(section, "The whole file") for section in body))
    return ToolView(
        title=call.name or "Write",
        subtitle=one_line(arg(call, *PATHS)),
        badges=(patch.badge(diff) if diff else plural(lines(content), "line"),),
        sections=body + rest(call, *fitting(call, *PATHS), *used(call, *_CONTENT)) + said(call),
        open=bool(diff) and len(diff) <= _OPEN_UP_TO,
        family="edit",
    )


def edit(call: ToolCall) -> ToolView:
    """Edit, MultiEdit: a diff from the logged patch, else from the old and new texts."""
    edits = items(inputs(call).get("edits")) or [inputs(call)]
    structured = patch.from_structured(details(call).get("structuredPatch"))
    diffs = [structured] if structured else [_texts(one) for one in edits]
    whole = tuple(line for diff in diffs for line in diff)
    badges = [patch.badge(whole)] if whole else []
    badges += ["every match"] if inputs(call).get("replace_all") is True else []
    badges += ["changed by the person"] if details(call).get("userModified") is True else []
    shown = fitting(call, *PATHS) + (_EDITS if all(diffs) else ())
    return ToolView(
        title=call.name or "Edit",
        subtitle=one_line(arg(call, *PATHS)),
        badges=tuple(badges),
        sections=tuple(Section(kind="diff", diff=diff) for diff in diffs if diff) + rest(call, *shown) + said(call),
        open=0 < len(whole) <= _OPEN_UP_TO,
        family="edit",
    )


def _texts(one: object) -> patch.Diff:
    old, new = text_of(one, "old_string", "oldText", "old_text"), text_of(one, "new_string", "newText", "new_text")
    return patch.from_texts(old, new) if old or new else ()


def notebook_edit(call: ToolCall) -> ToolView:
    """NotebookEdit: the new source of a cell."""
    kind = arg(call, "cell_type")
    source = text_section("code", arg(call, "new_source"), language="markdown" if kind == "markdown" else "python")
    return ToolView(
        title=call.name or "NotebookEdit",
        subtitle=one_line(arg(call, *PATHS)),
        badges=tuple(word for word in (arg(call, "edit_mode"), kind) if word),
        sections=source
        + rest(
            call, *fitting(call, *PATHS), *used(call, "new_source"), *used(call, "cell_type"), *used(call, "edit_mode")
        )
        + said(call),
        open=bool(source),
        family="edit",
    )


def listing(call: ToolCall) -> ToolView:
    """LS, list_dir."""
    return ToolView(
        title=call.name or "LS",
        subtitle=one_line(arg(call, *PATHS)),
        badges=(plural(lines(output(call)), "line"),) if output(call) and not failed(call) else (),
        sections=rest(call, *fitting(call, *PATHS)) + result(call, title=None),
        family="read",
    )


def said(call: ToolCall) -> Sections:
    """What the tool said when it was done: an error in full view, a success folded away."""
    sections = result(call, "text", "Result")
    return sections if failed(call) else tuple(_fold(section, section.title or "Result") for section in sections)


def _fold(section: Section, title: str) -> Section:
    return Section(
        kind=section.kind, text=section.text, language=section.language, image=section.image, title=title, folded=True
    )


TABLE = {
    "Read": read,
    "NotebookRead": read,
    "read_file": read,
    "Write": write,
    "write_file": write,
    "Edit": edit,
    "MultiEdit": edit,
    "NotebookEdit": notebook_edit,
    "LS": listing,
    "list_dir": listing,
}
