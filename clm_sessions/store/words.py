"""What a person types into a search box, as queries for the search indexes. Any text is a valid query.

Words must all occur; ``"quoted words"`` are a phrase; a word that ends in ``*`` is a prefix; what ``-word`` or
``-"a phrase"`` names must not occur (a flag of one or two letters, as in ``ls -la``, is a word, and so is what begins with two
dashes). Punctuation inside a word makes it a phrase of its parts, operators are words. Accents fold: cafe finds Café.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clm_sessions.store import unspaced

_PIECE = re.compile(r'(-?)"([^"]*)"(\*?)|(\S+)')
_EXCLUDED = re.compile(r"-[^\W\d_]\w\w")
_UNSTORABLE = re.compile('["\\0\ud800-\udfff]')
TERMS = 64
TERM_LENGTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word or phrase; whether it is only how a word begins; whether it must not occur."""

    text: str
    prefix: bool = False
    excluded: bool = False


def terms(text: str) -> list[Term]:
    """The different terms of a text, at most ``TERMS``; of a longer one the first ``TERM_LENGTH`` characters as a prefix.

    Terms without a letter or digit are left out. If nothing but exclusions is asked for, they are words.
    """
    found: dict[Term, None] = {}
    for piece in _PIECE.finditer(text):
        dash, phrase, star, word = piece.groups()
        excluded = bool(dash) or (word is not None and _EXCLUDED.match(word) is not None)
        term = (phrase if word is None else word[1:] if excluded else word)[: TERM_LENGTH + 1]
        prefix = bool(star) or (word or "").endswith("*") or len(term) > TERM_LENGTH
        term = _UNSTORABLE.sub(" ", term[:TERM_LENGTH])
        if any(c.isalnum() for c in term):
            found[Term(text=term, prefix=prefix, excluded=excluded)] = None
        if len(found) == TERMS:
            break
    if all(term.excluded for term in found):
        return [Term(text=term.text, prefix=term.prefix) for term in found]
    return list(found)


def fts_query(text: str) -> str | None:
    """The query for an index of words; None if there is no letter or digit in the text."""
    return _query([(term, f'"{term.text}"{"*" if term.prefix else ""}') for term in terms(text)])


def unspaced_query(text: str) -> str | None:
    """The query for an index of scripts without spaces (``store.unspaced``)."""
    return _query([(term, _unspaced(term)) for term in terms(text)])


def _query(asked: Sequence[tuple[Term, str]]) -> str | None:
    wanted = " ".join(query for term, query in asked if not term.excluded)
    return "".join([wanted, *(f" NOT {query}" for term, query in asked if term.excluded)]) or None


def _unspaced(term: Term) -> str:
    words, goes_on = unspaced.phrase(term.text)
    return f'"{words}"{"*" if goes_on or term.prefix else ""}'
