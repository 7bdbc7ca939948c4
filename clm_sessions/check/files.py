"""The texts of a file as a person or a program would read them: JSON and notebooks unpacked, HTML without its tags."""

from __future__ import annotations

import gzip
import html
import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

_TAG = re.compile(r"<[^<>]{0,10000}>")
_MAX = 1 << 30
_JSON = (".json", ".ipynb", ".ndjson", ".jsonl")
_DEPTH = 3


_PRIVATE = b'class="clm-private"'
PRIVATE_PAGE = (
    "a page of a private database, nothing in it is redacted; make it of a copy for others: clm-sessions publish"
)
"""What is said of one."""


def private_page(data: bytes) -> bool:
    """Whether a page says that it was made of a private database: nothing in it was redacted."""
    return _PRIVATE in data and b"<html" in data[:1_000].lower()


def texts(name: str, data: bytes, depth: int = 0) -> Iterator[tuple[str, str]]:
    """(place in the file, text). Of what is no text the bytes are read as they are; packed files are unpacked."""
    lower = name.lower()
    if depth < _DEPTH and data[:2] == b"\x1f\x8b":
        yield from texts(lower.removesuffix(".gz"), _gunzipped(data), depth + 1)
        return
    if depth < _DEPTH and data[:4] == b"PK\x03\x04":
        yield from _zipped(data, depth)
        return
    text = _decoded(data)
    if lower.endswith(_JSON):
        yield from _json_texts(text)
    yield from _readings("", text)


def _readings(place: str, text: str) -> Iterator[tuple[str, str]]:
    """A text, and without the tags that may stand within a secret."""
    yield place, text
    if "<" in text and ">" in text:
        bare = html.unescape(_TAG.sub("", text))
        if bare != text:
            yield place, bare


def _json_texts(text: str) -> Iterator[tuple[str, str]]:
    """Every string of a document, or of a document a line; names of secrets are kept beside their values."""
    try:
        yield from _strings(json.loads(text), "")
    except (ValueError, RecursionError):
        for number, line in enumerate(text.splitlines(), 1):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            yield from _strings(value, f":{number}")


def _strings(value: Any, place: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON value
    work: list[tuple[str, Any, str]] = [(place, value, "")]
    while work:
        at, item, name = work.pop()
        if isinstance(item, dict):
            work += [(f"{at}/{key}"[:200], inner, str(key)) for key, inner in item.items()]
            work += [(at, str(key), "") for key in item]
        elif isinstance(item, list):
            if item and all(isinstance(each, str) for each in item):
                item = ["".join(item)]  # a notebook keeps a text as a list of its lines
            work += [(f"{at}/{number}"[:200], inner, name) for number, inner in enumerate(item)]
        elif isinstance(item, str):
            yield from _readings(at, item)
            if name:
                yield at, f'{name}: "{item}"'


def _decoded(data: bytes) -> str:
    for mark, coding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig")):
        if data.startswith(mark):
            return data.decode(coding, "replace")
    half = data[:4_000]
    if half.count(0) > len(half) // 3:
        return data.decode("utf-16-le", "replace")
    return data.decode("utf-8", "replace")


def _gunzipped(data: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return file.read(_MAX)
    except (OSError, EOFError):
        return b""


def _zipped(data: bytes, depth: int) -> Iterator[tuple[str, str]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for entry in packed.infolist():
                with packed.open(entry) as file:
                    for place, text in texts(entry.filename, file.read(_MAX), depth + 1):
                        yield f"/{entry.filename}{place}", text
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError):
        yield "", _decoded(data)
