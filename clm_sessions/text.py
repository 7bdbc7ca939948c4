"""Texts as the rules compare them: what counts as white space at their ends, and what stands for U+0000."""

from __future__ import annotations

SPACE = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""JavaScript white space: Unicode spaces, line ends and U+FEFF (spec claude-code, "Trim")."""


def trim(text: str) -> str:
    """The text without white space at its ends."""
    return text.strip(SPACE)


def visible(text: str) -> str:
    """The text with U+0000 as its visible symbol, as columns hold it (decision 5); the length stays."""
    return text.replace("\0", "\u2400") if "\0" in text else text
