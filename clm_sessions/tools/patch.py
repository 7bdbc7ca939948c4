"""Changes to a file as lines of a diff, from a structured patch or from the old and the new text. Linear time."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clm_sessions.view import DiffLine

Diff = tuple[DiffLine, ...]
_CONTEXT = 3
_COMPARE_LIMIT = 10_000
"""Old lines times new lines up to which difflib looks for the smallest change; it is quadratic at best."""


def from_structured(patch: Any) -> Diff:  # noqa: ANN401 - any JSON value
    """Hunks of ``{oldStart, newStart, lines: ["-a", "+b", " c"]}``; empty if the value is anything else."""
    if not isinstance(patch, list):
        return ()
    hunks = [hunk for hunk in patch if isinstance(hunk, Mapping)]
    return tuple(line for index, hunk in enumerate(hunks) for line in _hunk(hunk, first=index == 0))


def _hunk(hunk: Mapping[str, Any], *, first: bool) -> Iterator[DiffLine]:
    lines = [line for line in hunk.get("lines") or () if isinstance(line, str)] if _is_list(hunk.get("lines")) else []
    old, new = _start(hunk, "oldStart"), _start(hunk, "newStart")
    if lines and not first:
        yield DiffLine(sign="@", text=f"@@ line {new} @@" if new is not None else "@@")
    for line in lines:
        sign = line[:1] if line[:1] in {"+", "-"} else " "
        at = old if sign == "-" else new
        yield DiffLine(sign=sign, text=line[1:] if line[:1] in {"+", "-", " "} else line, number=at)
        if line[:1] == "\\":
            continue
        old = old + 1 if old is not None and sign != "+" else old
        new = new + 1 if new is not None and sign != "-" else new


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _start(hunk: Mapping[str, Any], name: str) -> int | None:
    value = hunk.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def from_texts(old: str, new: str) -> Diff:
    """The lines of both texts. Where they begin and end alike only three lines of context are kept."""
    before, after = old.split("\n"), new.split("\n")
    if before[-1] == after[-1] == "":
        before.pop()
        after.pop()
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    return (
        *(DiffLine(sign=" ", text=line) for line in before[max(0, head - _CONTEXT) : head]),
        *_middle(before[head : len(before) - tail], after[head : len(after) - tail]),
        *(DiffLine(sign=" ", text=line) for line in before[len(before) - tail :][:_CONTEXT]),
    )


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


def _middle(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffLine]:
    if len(old) * len(new) > _COMPARE_LIMIT:
        yield from (DiffLine(sign="-", text=line) for line in old)
        yield from (DiffLine(sign="+", text=line) for line in new)
        return
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (DiffLine(sign=" ", text=line) for line in old[i:j])
            continue
        yield from (DiffLine(sign="-", text=line) for line in old[i:j])
        yield from (DiffLine(sign="+", text=line) for line in new[k:m])


def badge(diff: Diff) -> str:
    """Lines that came and went: plus two, minus one."""
    added = sum(line.sign == "+" for line in diff)
    removed = sum(line.sign == "-" for line in diff)
    return f"+{added} \u2212{removed}"
