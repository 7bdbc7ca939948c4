"""Tools that ask the web."""

from __future__ import annotations

from clm_sessions.model import ToolCall
from clm_sessions.tools.parts import arg, details, fitting, items, number, rest, result, text_section, used
from clm_sessions.view import ToolView
from clm_sessions.view.words import one_line, plural, size


def fetch(call: ToolCall) -> ToolView:
    """WebFetch: address, question, answer. The answer is Markdown; nothing in it is loaded."""
    facts = details(call)
    code, weight = number(facts, "code"), number(facts, "bytes")
    return ToolView(
        title=call.name or "WebFetch",
        subtitle=one_line(arg(call, "url")),
        badges=tuple(
            word
            for word in (f"HTTP {code}" if code is not None else "", size(weight) if weight is not None else "")
            if word
        ),
        sections=text_section("text", arg(call, "prompt"), "Question")
        + rest(call, *used(call, "prompt"), *fitting(call, "url"))
        + result(call, "markdown", "Answer"),
        family="web",
    )


def search(call: ToolCall) -> ToolView:
    """WebSearch: the words and what came back."""
    results = items(details(call).get("results"))
    return ToolView(
        title=call.name or "WebSearch",
        subtitle=one_line(arg(call, "query")),
        badges=(plural(len(results), "result"),) if results else (),
        sections=rest(call, *fitting(call, "query")) + result(call, "markdown"),
        family="web",
    )


TABLE = {"WebFetch": fetch, "WebSearch": search}
