"""The facets of a list of sessions: those of the sessions table in Datasette but ``role``, for no subagents are listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from clm_sessions import times
from clm_sessions.library import StoredSession
from clm_sessions.store.rows import status
from jupyter_clm.find import fold, words
from jupyter_clm.session import NotebookSession

FACETS = {
    "project": "Project", "model": "Model", "format": "Format", "status": "Status", "interrupted": "Interrupted",
    "compacted": "Compacted", "tools_failed": "Tools failed", "git_branch": "Branch", "day": "Day (UTC)",
}  # fmt: skip
"""What a person calls them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A session with its value for each facet (None: not recorded) and the text that words are looked for in."""

    session: NotebookSession
    values: Mapping[str, str | None]
    text: str

    def meets(self, chosen: Mapping[str, str | None], looked_for: Sequence[str], *, but: str = "") -> bool:
        """Whether it has the chosen values (None: any), all ``but`` one, and holds all words."""
        fits = all(self.values[name] == value for name, value in chosen.items() if value is not None and name != but)
        return fits and all(word in self.text for word in looked_for)


def listed(sessions: Iterable[NotebookSession]) -> list[Listed]:
    """The sessions with what is asked about them. Of a database this reads one column more."""
    found = list(sessions)
    databases = {id(s.core.db): s.core.db for s in found if isinstance(s.core, StoredSession)}
    stands = {key: dict(db.execute("SELECT id, status FROM sessions").fetchall()) for key, db in databases.items()}

    def standing(session: NotebookSession) -> str | None:
        core = session.core
        return stands[id(core.db)].get(core.id) if isinstance(core, StoredSession) else status(core)

    return [_listed(session, standing(session)) for session in found]


def _listed(session: NotebookSession, stands: str | None) -> Listed:
    info = session.info
    values: dict[str, str | None] = {
        "project": info.project_name or None,
        "model": (info.models[0] or None) if info.models else None,
        "format": info.format,
        "status": stands,
        "interrupted": _yes(info.interruptions),
        "compacted": _yes(info.compactions),
        "tools_failed": _yes(info.tool_errors),
        "git_branch": info.git_branch or None,
        "day": times.day(info.started_at),
    }
    texts = (info.title, info.project_name, info.git_branch, info.id)
    return Listed(session=session, values=values, text=fold(" ".join(text for text in texts if text)))


def _yes(number: int | None) -> str:
    return "yes" if number else "no"


def matching(rows: Iterable[Listed], chosen: Mapping[str, str | None], query: str, *, but: str = "") -> list[Listed]:
    """The sessions that have the chosen values, all ``but`` one, and hold the words of the query in title, project, branch or id."""
    looked_for = words(query)
    return [row for row in rows if row.meets(chosen, looked_for, but=but)]


def counted(rows: Iterable[Listed], name: str) -> list[tuple[str, int]]:
    """The values of a facet and how many sessions have them: most first, of days the newest."""
    found = Counter(value for row in rows if (value := row.values[name]) is not None)
    return sorted(found.items(), reverse=True) if name == "day" else sorted(found.items(), key=lambda v: (-v[1], v[0]))
