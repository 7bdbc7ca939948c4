"""What every describer of a tool needs: its arguments, its result, and what is left of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clm_sessions.model import ToolCall
from clm_sessions.view import Section, SectionKind
from clm_sessions.view.blocks import content_sections, content_text, json_section, json_text
from clm_sessions.view.words import one_line

Sections = tuple[Section, ...]
_SCALARS = (str, int, float, bool)


def inputs(call: ToolCall) -> Mapping[str, Any]:
    """The arguments by name; empty if they are no JSON object."""
    return call.input if isinstance(call.input, Mapping) else {}


def details(call: ToolCall) -> Mapping[str, Any]:
    """The structured facts logged beside the result; empty if there are none."""
    return call.detail if isinstance(call.detail, Mapping) else {}


def arg(call: ToolCall, *names: str) -> str:
    """The first of these arguments that is a string (or a number) as text; empty if there is none."""
    return text_of(inputs(call), *names)


def text_of(values: Any, *names: str) -> str:  # noqa: ANN401 - any JSON value
    """The first of these keys that holds a string (or a number), as text; empty if there is none."""
    if not isinstance(values, Mapping):
        return ""
    for name in names:
        value = values.get(name)
        if isinstance(value, _SCALARS) and not isinstance(value, bool) and value != "":
            return str(value)
    return ""


def number(values: Mapping[str, Any], *names: str) -> int | None:
    """The first of these keys that holds a whole number."""
    for name in names:
        value = values.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def items(value: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
    """A list as it is; anything else as an empty one."""
    return value if isinstance(value, list) else []


def output(call: ToolCall) -> str:
    """The text of the result."""
    return content_text(call.result)


def failed(call: ToolCall) -> bool:
    """Whether the call ended as an error or was interrupted."""
    return call.status in {"error", "interrupted"} or bool(call.is_error)


def result(call: ToolCall, kind: SectionKind = "terminal", title: str | None = "Result") -> Sections:
    """The result as sections of ``kind``; that of a failed call as terminal text under the title Error."""
    if failed(call):
        return content_sections(call.result, "terminal", "Error")
    return content_sections(call.result, kind, title)


def text_section(kind: SectionKind, text: str, title: str | None = None, language: str | None = None) -> Sections:
    """One section, or none for an empty text."""
    return (Section(kind=kind, text=text, title=title, language=language),) if text else ()


def rest(call: ToolCall, *shown: str) -> Sections:
    """The arguments a describer did not show, so that nothing is hidden."""
    if not isinstance(call.input, Mapping):
        return default_input(call)
    left = {str(name): value for name, value in call.input.items() if name not in shown}
    return (pairs(left, title="More arguments"),) if left else ()


def used(call: ToolCall, *names: str) -> tuple[str, ...]:
    """The name of the argument that ``arg`` takes from these, for ``rest``."""
    return next(((name,) for name in names if arg(call, name)), ())


def fitting(call: ToolCall, *names: str) -> tuple[str, ...]:
    """Like ``used``, if the argument fits on a line, so that a subtitle shows all of it."""
    return tuple(name for name in used(call, *names) if one_line(arg(call, name)) == arg(call, name))


def default_input(call: ToolCall) -> Sections:
    """All arguments: small scalar ones as key and value, others as JSON, broken ones as they are."""
    value = call.input
    if isinstance(value, str) or value is None:
        return text_section("code", value or call.args or "", "Arguments")
    if isinstance(value, Mapping):
        return (pairs({str(k): v for k, v in value.items()}, title="Arguments"),) if value else ()
    return (json_section(value, title="Arguments"),)


def pairs(values: Mapping[str, Any], title: str | None = None) -> Section:
    """Key and value where every value is small, JSON otherwise."""
    if all(_is_small(value) for value in values.values()):
        return Section(kind="key_values", rows=tuple((k, scalar(v)) for k, v in values.items()), title=title)
    return json_section(dict(values), title)


def scalar(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """A value on one row: strings bare, the rest as JSON."""
    return value if isinstance(value, str) else json_text(value)


def _is_small(value: object) -> bool:
    return value is None or (isinstance(value, _SCALARS) and len(str(value)) <= 400)


def first_text(values: Iterable[Any]) -> str:
    """The first non-empty string among values, on one line."""
    for value in values:
        if isinstance(value, str) and value.strip():
            return one_line(value)
    return ""
