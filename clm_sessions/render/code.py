"""Code in colour by Pygments, line by line, for a short list of languages and texts up to 20 KB."""

from __future__ import annotations

import re
from functools import cache
from pathlib import PurePath
from typing import Any

from clm_sessions.render.escape import esc, visible

HIGHLIGHT_LIMIT = 20_000
_LINE_LIMIT = 500
_BLANK_LIMIT = 300
"""Lexers need quadratic time for long lines and for long runs of white space (measured: 4 s for 16 KB of C)."""
_BLANKS = re.compile(r"\s+")
_LANGUAGES = {
    "bash": "sh bash zsh shell console shellscript bats",
    "c": "c h",
    "cpp": "cpp cc cxx hpp hh c++",
    "csharp": "cs c# csharp",
    "css": "css",
    "diff": "diff patch",
    "docker": "dockerfile docker",
    "go": "go golang",
    "html": "html htm vue svelte",
    "ini": "ini cfg conf",
    "java": "java",
    "javascript": "js javascript mjs cjs jsx",
    "json": "json jsonc ipynb",
    "kotlin": "kt kotlin kts",
    "lua": "lua",
    "markdown": "md markdown",
    "php": "php",
    "python": "py python python3 pyi",
    "ruby": "rb ruby",
    "rust": "rs rust",
    "scss": "scss",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml",
    "typescript": "ts typescript tsx mts",
    "xml": "xml plist",
    "yaml": "yaml yml",
}
_COLOURED = {
    "c": "Comment",
    "k": "Keyword Operator.Word Name.Tag",
    "s": "String",
    "m": "Number Name.Constant",
    "nf": "Name.Function Name.Class Name.Decorator Name.Exception",
    "nb": "Name.Builtin Name.Attribute Name.Variable",
    "gd": "Generic.Deleted",
    "gi": "Generic.Inserted",
}
"""Our classes (short names as Pygments has them) and the token types they stand for."""
_BY_NAME = {name: language for language, names in _LANGUAGES.items() for name in names.split()}


def language(name: str | None) -> str | None:
    """One of our languages for a language's name or a file's name or path; None if there is none."""
    if not name or len(name) > 1000:
        return None
    word = name.strip().lower()
    path = PurePath(word.replace("\\", "/"))
    return _BY_NAME.get(word) or _BY_NAME.get(path.suffix[1:]) or _BY_NAME.get(path.name)


def code_lines(text: str, name: str | None = None) -> list[str]:
    """The lines of a text as HTML, coloured where the language is known and the text is short enough."""
    text = visible(text)
    known = language(name)
    if known is None or len(text) > HIGHLIGHT_LIMIT or _is_slow(text):
        return esc(text).split("\n")
    lines = _coloured(text, known).split("\n")
    return lines if len(lines) == text.count("\n") + 1 else esc(text).split("\n")


def _coloured(text: str, known: str) -> str:
    """Escaped text with spans that never cross a line end."""
    parts = []
    for kind, piece in _lexer(known).get_tokens(text):
        name = _class_of(kind)
        if not name:
            parts.append(esc(piece))
            continue
        rows = (f'<span class="{name}">{esc(row)}</span>' if row else "" for row in piece.split("\n"))
        parts.append("\n".join(rows))
    return "".join(parts)


def _is_slow(text: str) -> bool:
    longest_blank = max(map(len, _BLANKS.findall(text)), default=0)
    return longest_blank > _BLANK_LIMIT or max(map(len, text.split("\n"))) > _LINE_LIMIT


@cache
def _lexer(known: str) -> Any:  # noqa: ANN401 - Pygments has no common public type for lexers by name
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(known, stripnl=False, stripall=False, ensurenl=False)


@cache
def _class_of(kind: Any) -> str:  # noqa: ANN401 - as above
    """Our class for a Pygments token type, by its nearest ancestor that has one."""
    from pygments.token import string_to_tokentype

    classes = {
        string_to_tokentype(name): f"clm-{short}" for short, names in _COLOURED.items() for name in names.split()
    }
    while kind is not None and kind not in classes:
        kind = kind.parent
    return classes.get(kind, "")


def numbered(lines: list[str], first: int | None) -> str:
    """Lines of HTML as one text, each with its number for the margin if ``first`` is known."""
    if first is None:
        return "\n".join(lines)
    return "\n".join(f'<span class="clm-line" data-n="{n}">{line}</span>' for n, line in enumerate(lines, first))
