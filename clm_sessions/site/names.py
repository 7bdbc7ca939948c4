"""What the files of a site are called: nothing of a log stands in a name but letters, digits and dashes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
_DEVICE = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]")
_OTHER = re.compile(r"[^a-z0-9]+")
FOLDERS = ("assets", "data", "sessions")
MADE = re.compile(r"index\.html|assets/[a-z]+\.(?:css|js)|sessions/[a-z0-9-]+(?:\.\d+)?\.html|data/[a-z0-9-]+\.js")
"""Every name that a site of ours may have in its folder."""


def file_names(keys: Iterable[str]) -> dict[str, str]:
    """For each session key a name of its own, without ending, the same on file systems that know no upper case.

    A key that is fit to be one is its own name; any other is made readable, with a digest behind it.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for key in sorted(set(keys), key=lambda key: (not _fit(key), key)):
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        stem = _OTHER.sub("-", key.lower())[:60].strip("-") or "session"
        choices = (key if _fit(key) else "", *(f"{stem}-{digest[:length]}" for length in (8, 64)))
        names[key] = next(name for name in choices if name and name not in taken)
        taken.add(names[key])
    return names


def _fit(key: str) -> bool:
    return _PLAIN.fullmatch(key) is not None and not key.endswith("-") and not _DEVICE.fullmatch(key)


def page_name(name: str, number: int) -> str:
    """The file of page ``number`` (from 1) of a session."""
    return f"{name}.html" if number == 1 else f"{name}.{number}.html"
