"""What an HTML fragment of ours may hold, found by parsing it; and attacks planted into values."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

TAGS = {
    "article",
    "div",
    "p",
    "span",
    "bdi",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "a",
    "time",
    "details",
    "summary",
    "pre",
    "code",
    "kbd",
    "mark",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "dl",
    "dt",
    "dd",
    "ul",
    "ol",
    "li",
    "blockquote",
    "strong",
    "em",
    "s",
    "br",
    "hr",
    "img",
    "nav",
    "small",
}
VOID = {"br", "hr", "img"}
ATTRIBUTES = {
    "class",
    "id",
    "dir",
    "href",
    "title",
    "rel",
    "tabindex",
    "datetime",
    "open",
    "start",
    "src",
    "alt",
    "loading",
}
ATTRIBUTES |= {"decoding", "data-n", "aria-hidden", "aria-label", "aria-labelledby", "aria-current"}
_CLASS = re.compile(
    r"(?:clm-[a-z0-9-]+|tex2jax_ignore|mathjax_ignore)(?: (?:clm-[a-z0-9-]+|tex2jax_ignore|mathjax_ignore))*"
)
_LINK = re.compile(r"(?:https?://[^\s\\]+|mailto:[^\s\\]+|#[\w-]*|\?[\w=&%.-]*)")
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+")
_ID = re.compile(r"[\w-]+")


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.problems: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.problems.append(f"element <{tag}>")
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            self._attribute(tag, name, value or "")

    def _attribute(self, tag: str, name: str, value: str) -> None:
        rule = {"class": _CLASS, "href": _LINK, "src": _PICTURE, "id": _ID}.get(name)
        if name not in ATTRIBUTES or (rule and not rule.fullmatch(value)):
            self.problems.append(f"attribute {name}={value!r} of <{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> without its beginning")

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        self.problems.append(f"comment {data!r}")

    def handle_decl(self, decl: str) -> None:
        self.problems.append(f"declaration {decl!r}")

    def unknown_decl(self, data: str) -> None:
        self.problems.append(f"declaration {data!r}")

    def handle_pi(self, data: str) -> None:
        self.problems.append(f"instruction {data!r}")


def check(html: str) -> tuple[list[str], str]:
    """What is in a fragment that we never write (empty: all is well), and its visible text."""
    html.encode("utf-8")
    parser = _Parser()
    parser.feed(html)
    parser.close()
    problems = parser.problems + [f"<{tag}> never ended" for tag in parser.open]
    return problems, "".join(parser.words)


def planted(value: Any, next_text: Callable[[], str], keep: frozenset[str] = frozenset()) -> Any:
    """The same value with every string in it replaced, found by walking; fields and keys named in ``keep`` stay."""
    if isinstance(value, str):
        return next_text()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return dataclasses.replace(
            value, **{name: planted(v, next_text, keep) for name, v in fields.items() if name not in keep}
        )
    if isinstance(value, Mapping):
        return {_key(k, next_text, keep): v if k in keep else planted(v, next_text, keep) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(planted(item, next_text, keep) for item in value)
    return value


def _key(key: Any, next_text: Callable[[], str], keep: frozenset[str]) -> Any:
    return next_text() if isinstance(key, str) and "keys" not in keep else key


def strings(value: Any) -> Iterator[str]:
    """Every string in a value."""
    if isinstance(value, str):
        yield value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from strings(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from strings(key)
            yield from strings(inner)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from strings(item)
