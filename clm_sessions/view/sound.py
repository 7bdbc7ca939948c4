"""Whether what a describer answered can be shown: plugins may answer anything."""

from __future__ import annotations

from typing import TypeVar, get_args

from clm_sessions.view.model import DiffLine, Section, SectionKind, ToolView

_KINDS = get_args(SectionKind)
_T = TypeVar("_T")


def sound(answer: object) -> ToolView:
    """The answer, if it is a view of texts and of sections of a known kind. TypeError or ValueError if not."""
    view = _expect(ToolView, answer)
    texts = [view.title, view.subtitle, view.family, *view.badges]
    for section in view.sections:
        if _expect(Section, section).kind not in _KINDS:
            raise ValueError(f"no section has the kind {section.kind!r}")
        texts += [section.text, *section.header, *(cell for row in section.rows for cell in row)]
        texts += [_expect(DiffLine, line).text for line in section.diff]
    for text in texts:
        _expect(str, text)
    return view


def _expect(kind: type[_T], answer: object) -> _T:
    """The answer, if it is of that kind. TypeError if not."""
    if not isinstance(answer, kind):
        raise TypeError(f"the answer is a {type(answer).__name__}, not a {kind.__name__}")
    return answer
