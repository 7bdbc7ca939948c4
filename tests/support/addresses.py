"""Every address of the plugin, found by asking the plugin for its routes: whoever adds one is covered, or told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from itertools import islice
from typing import Any

import datasette_clm

try:
    from re import _parser as parser
except ImportError:  # Python 3.10
    import sre_parse as parser

Places = Mapping[str, str]
_HREF = re.compile(r'\shref="(/[^"#]*)')
_LINES = {"format", "tail"}
"""Groups that are filled with what their pattern allows, not with a sample."""


def patterns() -> list[str]:
    """The patterns of all routes of the plugin."""
    return [pattern for pattern, _view in datasette_clm.register_routes()]


def addresses(places: Places) -> list[str]:
    """All addresses that the patterns stand for, their named groups filled with ``places``."""
    return [_asked(address, places) for pattern in patterns() for address in written(pattern, places)]


def _asked(address: str, places: Places) -> str:
    """An address that says nothing without a question, with one."""
    return f"{address}?a={places['session']}" if "/-/compare" in address and "session" in places else address


def written(pattern: str, places: Places) -> list[str]:
    """What one pattern stands for. A group that has no place, and no few words of its own, is an error that says so."""
    compiled = re.compile(pattern)
    names = {number: name for name, number in compiled.groupindex.items()}
    found = list(dict.fromkeys(_texts(parser.parse(pattern), names, places)))
    assert all(compiled.search(one) for one in found), (pattern, found)
    return found


def _texts(items: Iterable[tuple[Any, Any]], names: Mapping[int, str], places: Places) -> Iterator[str]:
    found = [""]
    for kind, about in items:
        found = [before + more for before in found for more in _one(str(kind), about, names, places)]
    yield from found


def _one(kind: str, about: Any, names: Mapping[int, str], places: Places) -> list[str]:
    if kind == "AT":
        return [""]
    if kind == "LITERAL":
        return [chr(about)]
    if kind == "BRANCH":
        return [text for branch in about[1] for text in _texts(branch, names, places)]
    if kind == "MAX_REPEAT" and about[:2] == (0, 1):
        return ["", *_texts(about[2], names, places)]
    if kind == "SUBPATTERN":
        name = names.get(about[0])
        return [places[name]] if name in places else list(_texts(about[3], names, places))
    raise AssertionError(f"say in the test what stands here: {kind} {about}, groups {sorted(names.values())}")


def ours(link: str) -> bool:
    """Whether a link leads to one of our pages."""
    path = link.partition("?")[0]
    return any(re.search(pattern, path) for pattern in patterns())


async def reached(client: Any, starts: Iterable[str], most: int = 150) -> list[str]:
    """``starts``, and the pages of ours that are linked on them: so the words behind the ``?`` are found too."""
    found = dict.fromkeys(starts)
    for address in list(found):
        answer = await client.get(address)
        links = (
            (unescape(link) for link in _HREF.findall(answer.text)) if "html" in answer.headers["content-type"] else ()
        )
        found.update(dict.fromkeys(islice((link for link in links if ours(link)), 12)))
    return list(found)[:most]
