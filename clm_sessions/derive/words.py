"""Texts on one line: titles and previews."""

from __future__ import annotations

from clm_sessions.text import SPACE, trim


def headline(text: str, limit: int = 200) -> str:
    """The first line that holds anything, its white space drawn together, cut with an ellipsis at ``limit``."""
    line = trim(text).partition("\n")[0]
    return _one_line(line, limit)


def preview(text: str, limit: int = 200) -> str:
    """The beginning of a text on one line, cut with an ellipsis at ``limit`` characters."""
    return _one_line(text.lstrip(SPACE), limit)


def _one_line(text: str, limit: int) -> str:
    words = " ".join(text[: 4 * limit].split())
    if len(words) <= limit and len(text) <= 4 * limit:
        return words
    return words[: limit - 1].rstrip() + "…"
