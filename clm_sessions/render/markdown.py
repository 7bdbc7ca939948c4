"""Markdown of a hostile log as safe HTML: no HTML of its own, no images, links only to http, https and mailto.

Two guards, each enough alone: markdown-it-py with raw HTML off, and an nh3 allow-list over what it makes. Text that is
long, or shaped to cost more than linear time or to make parts disappear, is shown as it stands (``None`` from
``markdown_html``).
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from clm_sessions.render.code import code_lines, language
from clm_sessions.render.escape import esc, scrollable, visible

MARKDOWN_LIMIT = 20_000
_BRACKET_LIMIT = 1_000
_CELL_LIMIT = 5_000
_NESTING = 40
_WORD = re.compile(r"[^\W_]")
_DELIMITERS = frozenset("|-: \t>")
_LINK = re.compile(r"(?:https?://|mailto:)[^\s\\]+", re.IGNORECASE)
_CLASS = re.compile(r"clm-[a-z0-9-]{1,30}(?: clm-[a-z0-9-]{1,30})*")
_HEADINGS = {f"h{n}" for n in range(1, 7)}
_TAGS = {"p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "span", "bdi"}
_TAGS |= {"table", "thead", "tbody", "tr", "th", "td", "div"} | _HEADINGS
_ATTRIBUTES = {"*": {"class", "dir"}, "a": {"href", "title"}, "ol": {"start"}, "pre": {"tabindex"}, "div": {"tabindex"}}


def markdown_html(text: str, heading: int = 4, *, highlight: bool = True) -> str | None:
    """Safe HTML of Markdown; None if the text should rather be shown as it stands.

    Headings become levels from ``heading`` on, never skipping one. Line breaks stay line breaks.
    """
    if len(text) > MARKDOWN_LIMIT or text.count("[") > _BRACKET_LIMIT or _cells(text) > _CELL_LIMIT:
        return None
    source = visible(text)
    parser = _parser()
    tokens = parser.parse(source)
    if _written(tokens) < len(_WORD.findall(source)):
        return None
    env = {"heading": heading, "highlight": highlight}
    return _clean(visible(parser.renderer.render(_levels(tokens, heading), parser.options, env)))


def _cells(text: str) -> int:
    """How many table cells the text could make at most."""
    if "|" not in text:
        return 0
    rows = text.split("\n")
    return max(row.count("|") + 1 if _DELIMITERS.issuperset(row) and "-" in row else 0 for row in rows) * len(rows)


def _written(tokens: Sequence[Token]) -> int:
    """Letters and digits that come out again: nesting limits and ragged tables must not swallow text."""
    return sum(len(_WORD.findall(token.content)) + len(_WORD.findall(token.info)) for token in tokens)


def _levels(tokens: list[Token], top: int) -> list[Token]:
    """Give headings levels from ``top`` on that never skip one; the class keeps how large it was meant."""
    now = top - 1
    for token in tokens:
        if token.type == "heading_open":
            now = max(top, min(top + int(token.tag[1]) - 1, now + 1, 6))
            token.attrSet("class", f"clm-{token.tag}")
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{now}"
    return tokens


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True, "maxNesting": _NESTING})
    parser.enable(["table", "strikethrough"])
    parser.disable("reference")  # a definition is not displayed, so it would hide text
    parser.renderer = _Renderer(parser)
    return parser


class _Renderer(RendererHTML):
    """Our HTML for the few tokens where the default would load, link or trust something."""

    def __init__(self, parser: MarkdownIt) -> None:
        super().__init__(parser)
        self.rules["code_block"] = self.rules["fence"]

    def fence(self, tokens: Sequence[Token], idx: int, _options: object, env: MutableMapping[str, Any]) -> str:
        """A code block with its language as a label."""
        token = tokens[idx]
        words = token.info.split(maxsplit=1)
        known = language(words[0]) if words else None
        body = token.content.removesuffix("\n")
        lines = code_lines(body, known if env["highlight"] else None)
        label = f'<div class="clm-lang"><bdi>{esc(token.info.strip())}</bdi></div>' if words else ""
        return f'{label}<pre class="clm-code"{scrollable(body)}><code dir="ltr">' + "\n".join(lines) + "</code></pre>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401 - as the base class has it
        """A link to the picture instead of the picture: nothing is loaded from elsewhere."""
        token = tokens[idx]
        alt = self.renderInlineAsText(token.children, options, env) or "image"
        src = str(token.attrs.get("src", ""))
        if _is_link(src):
            return f'<a class="clm-imglink" href="{esc(src)}">image: {esc(alt)}</a>'
        return f'<span class="clm-dead">image: {esc(alt)} ({esc(src)})</span>'

    def link_open(self, tokens: Sequence[Token], idx: int, _options: object, env: MutableMapping[str, Any]) -> str:
        """A live link for http, https and mailto; for anything else the text, with the target behind it."""
        href = str(tokens[idx].attrs.get("href", ""))
        title = str(tokens[idx].attrs.get("title", ""))
        live = _is_link(href)
        env.setdefault("links", []).append(None if live else href)
        if not live:
            return '<span class="clm-dead">'
        return f'<a href="{esc(href)}"' + (f' title="{esc(title)}">' if title else ">")

    def link_close(self, _tokens: Sequence[Token], _idx: int, _options: object, env: MutableMapping[str, Any]) -> str:
        """See ``link_open``."""
        href = env["links"].pop()
        return "</a>" if href is None else f" ({esc(href)})</span>"

    def table_open(self, _tokens: Sequence[Token], _idx: int, _options: object, _env: object) -> str:
        """A table that scrolls inside its own box."""
        return '<div class="clm-scroll" tabindex="0"><table>\n'

    def table_close(self, _tokens: Sequence[Token], _idx: int, _options: object, _env: object) -> str:
        """See ``table_open``."""
        return "</table></div>\n"

    def text(self, tokens: Sequence[Token], idx: int, _options: object, _env: object) -> str:
        """Plain text."""
        return esc(tokens[idx].content)


def _is_link(href: str) -> bool:
    return _LINK.fullmatch(href) is not None


def _clean(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener nofollow noreferrer",
    )


def _attribute(_tag: str, name: str, value: str) -> str | None:
    if name == "class":
        return value if _CLASS.fullmatch(value) else None
    if name == "href":
        return value if _is_link(value) else None
    if name == "dir":
        return value if value in {"auto", "ltr"} else None
    return "0" if name == "tabindex" else value
