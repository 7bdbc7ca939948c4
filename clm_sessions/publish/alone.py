"""One session as a value that others may see: what ``publish`` does to many in a file, for exports."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from clm_sessions.model import Session
from clm_sessions.publish.mask import Mask
from clm_sessions.publish.options import Choices
from clm_sessions.redact import Personal, Redaction, Redactor, Tally, user_names
from clm_sessions.redact.known import Known
from clm_sessions.store import schema


class Alone:
    """Redacts a session with its subagents, which are read twice: a secret found in one place is hidden in all others.

    ``redactors``: of secrets; those of personal data and of the choices are added. ``names``: of users known from elsewhere.
    """

    def __init__(
        self, session: Session, redactors: Sequence[Redactor], choices: Choices, names: Iterable[str] = ()
    ) -> None:
        if "subagents" in choices.left_out:
            session = replace(session, subagents=())
        tree = list(_tree(session))
        paths = (path for each in tree for path in (each.info.cwd, each.info.project) if path)
        personal = Personal(choices.personal, names={*names, *user_names(paths)}, words=choices.hide)
        shown = {each.id for each in tree}
        first = Redaction([*redactors, personal], keep=choices)
        look = Mask(first.text, left_out=choices.left_out, shown=shown)
        for each in tree:
            look.session(each)
        known = Known(first.values(), choices.everywhere)
        self._redaction = Redaction([*redactors, personal, known], keep=choices, key=first.key)
        self._mask = Mask(self._redaction.text, left_out=choices.left_out, shown=shown, picture=self._redaction.digest)
        self.session = self._masked(session)
        """The session, redacted."""

    @property
    def tally(self) -> Tally:
        """What was redacted."""
        return self._redaction.tally

    def text(self, text: str) -> str:
        """Any other text that is to stand beside the session, redacted too."""
        return self._redaction.text(text)

    def _masked(self, session: Session) -> Session:
        return replace(self._mask.session(session), subagents=[self._masked(agent) for agent in session.subagents])


def is_published(db: sqlite3.Connection) -> bool:
    """Whether a database was written by ``publish``: what is in it is redacted already."""
    return db.execute("SELECT 1 FROM _clm_meta WHERE key = ?", (schema.PUBLISHED,)).fetchone() is not None


def _tree(session: Session) -> Iterator[Session]:
    yield session
    for agent in session.subagents:
        yield from _tree(agent)
