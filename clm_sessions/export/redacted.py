"""A session as others may see it, and the line at the head of a file that says what the file is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clm_sessions.library import StoredSession
from clm_sessions.model import Session
from clm_sessions.publish.alone import Alone, is_published
from clm_sessions.publish.chosen import names
from clm_sessions.publish.options import Choices
from clm_sessions.redact import KINDS, Redactor, Tally

AnySession = Session | StoredSession
PRIVATE = "Private: what the log says stands here as it was written, secrets included; nothing was redacted"
_PUBLISHED = "From a published copy: it was redacted when it was published"
_READ_IT = "No program knows every secret: read it before others do"
_PERSONAL = {"users": "user names", "emails": "e-mail addresses", "addresses": "IP addresses", "hosts": "host names"}
_FOUND = {
    "user": "user names",
    "email": "e-mail addresses",
    "ip-address": "IP addresses",
    "host": "host names",
    "word": "own words",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What is written to a file: the ``session``, and the ``note`` that says whether it was redacted, and how.

    ``query``: words that somebody looked for in it, redacted like the rest.
    """

    session: AnySession
    note: str = PRIVATE
    query: str = ""

    @property
    def private(self) -> bool:
        """Whether it stands there as it was written."""
        return self.note == PRIVATE


def redacted(
    session: AnySession, redactors: Sequence[Redactor], choices: Choices | None = None, *, query: str = ""
) -> Written:
    """A session with its subagents redacted by the engine of ``publish``; one of a published copy is so already.

    It is held in memory as a whole. Where a redactor raises, the text is withheld, and the note says so.
    """
    stored = session if isinstance(session, StoredSession) else None
    if stored is not None and is_published(stored.db):
        return Written(session=stored, note=f"{_PUBLISHED}. {_READ_IT}.", query=query)
    choices = choices or Choices()
    whole = session if isinstance(session, Session) else session.read(images="images" not in choices.left_out)
    alone = Alone(whole, redactors, choices, names(stored.db) if stored is not None else ())
    query = alone.text(query)
    return Written(session=alone.session, note=f"{'. '.join(_said(alone.tally, choices))}.", query=query)


def _said(tally: Tally, choices: Choices) -> Iterator[str]:
    """The sentences of the note, without their full stops."""
    hidden = ["secrets", *(_PERSONAL[kind] for kind in KINDS if kind in choices.personal)]
    hidden += ["words of the writer's own"] if choices.hide else []
    yield f"Redacted: {_listed(hidden)} were looked for and hidden"
    yield (
        f"Found: {', '.join(sorted(_FOUND.get(kind, kind) for kind in tally.places))}"
        if tally.places
        else "None was found"
    )
    if tally.withheld:
        yield "Texts that a redactor failed on are left out whole"
    if choices.left_out:
        yield f"Left out: {', '.join(sorted(choices.left_out))}"
    yield _READ_IT


def _listed(words: Sequence[str]) -> str:
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]
