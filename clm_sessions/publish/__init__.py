"""Make a database that others may see: chosen sessions, redacted, in a new file that never held anything else.

The private file is only read. Each session is read as values, masked, and written by the code that writes imports, so a
published database is one of ours in every respect; it has no sources, no raw archive and no bytes that were deleted.
It is read twice: a secret that shows itself in one place is hidden in all others too.
"""

from __future__ import annotations

import json
import mmap
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from clm_sessions import __version__
from clm_sessions.errors import DatabaseError, UsageError
from clm_sessions.publish.mask import PARTS, Mask
from clm_sessions.publish.options import Choices
from clm_sessions.redact import Personal, Redaction, Redactor, Tally, user_names
from clm_sessions.redact.known import Known, is_telling
from clm_sessions.store import reader, schema
from clm_sessions.store.connect import PAGE_SIZE
from clm_sessions.store.rows import bundle_rows, images
from clm_sessions.store.writer import Writer

__all__ = ["PARTS", "Choices", "Mask", "Published", "publish"]

MARKER = schema.PUBLISHED


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What a publication holds, or would hold. ``rows``: by table; ``tally``: what was redacted; ``size``: in bytes."""

    sessions: int
    left_behind: int
    rows: dict[str, int]
    tally: Tally
    size: int = 0
    choices: Choices = field(default_factory=Choices)


def publish(
    db: sqlite3.Connection,
    out: Path | None,
    chosen: Sequence[str],
    redactors: Sequence[Redactor],
    choices: Choices | None = None,
    progress: Callable[[str, int, int], None] = lambda _what, _done, _all: None,
) -> Published:
    """Publish the sessions of keys ``chosen`` (with their subagents) into the new file ``out``; None: only report.

    ``redactors``: of secrets; those of personal data and of the choices are added. ``progress`` is told what is done, how
    many sessions of how many. UsageError if the file is there; DatabaseError if a redacted value stands in it all the same.
    """
    choices = choices or Choices()
    if out is not None and out.exists():
        raise UsageError(f"{out}: there is such a file; name another, or remove it")
    roots = _roots(db, chosen, choices)
    shown = {sid for root in roots for sid in root}
    personal = Personal(choices.personal, names=_names(db), words=choices.hide)
    first = Redaction([*redactors, personal], keep=choices.keep)
    _each(db, roots, Mask(first.text, left_out=choices.left_out, shown=shown), progress, "looking for secrets")
    known = Known(first.values())
    second = Redaction([*redactors, personal, known], keep=choices.keep, key=first.key)
    mask = Mask(second.text, left_out=choices.left_out, shown=shown, picture=second.digest)
    everything = db.execute("SELECT count(*) FROM sessions").fetchone()[0]
    if out is None:
        rows: dict[str, int] = {}
        _each(db, roots, mask, progress, "redacting")
        return Published(
            sessions=len(shown), left_behind=everything - len(shown), rows=rows, tally=second.tally, choices=choices
        )
    with _file(out) as part:
        rows = _write(db, part, roots, mask, choices, progress)
        leaks = _leaks(part, second.values())
        if leaks:
            raise DatabaseError(
                f"{out}: not published: {', '.join(sorted(set(leaks)))} still stood in it after redaction; hide the words by --hide"
            )
        size = part.stat().st_size
    return Published(
        sessions=len(shown),
        left_behind=everything - len(shown),
        rows=rows,
        tally=second.tally,
        size=size,
        choices=choices,
    )


def _roots(db: sqlite3.Connection, chosen: Sequence[str], choices: Choices) -> list[list[str]]:
    """The keys of each chosen session with its subagents, parents first. UsageError if nothing is chosen."""
    seen: dict[str, None] = {}
    roots: list[list[str]] = []
    for sid in chosen:
        if sid not in seen:
            tree = [sid] if "subagents" in choices.left_out else _tree(db, sid)
            tree = [each for each in tree if each not in seen]
            seen |= dict.fromkeys(tree)
            roots.append(tree)
    if not roots:
        raise UsageError("no session is chosen; nothing to publish")
    return roots


def _tree(db: sqlite3.Connection, sid: str) -> list[str]:
    found = {sid: None}
    waiting = [sid]
    for each in waiting:
        fresh = [child for child in reader.children(db, each) if child not in found]
        waiting += fresh
        found |= dict.fromkeys(fresh)
    return list(found)


def _names(db: sqlite3.Connection) -> set[str]:
    """The users whose home folders the sessions ran in."""
    paths = db.execute(
        "SELECT path FROM projects UNION SELECT DISTINCT cwd FROM sessions UNION SELECT path FROM sources"
    )
    return user_names(path for (path,) in paths if isinstance(path, str))


def _each(
    db: sqlite3.Connection,
    roots: Sequence[Sequence[str]],
    mask: Mask,
    progress: Callable[[str, int, int], None],
    what: str,
) -> None:
    for number, root in enumerate(roots):
        progress(what, number, len(roots))
        for sid in root:
            mask.session(reader.load_session(db, sid))
    progress(what, len(roots), len(roots))


@contextmanager
def _file(out: Path) -> Iterator[Path]:
    """A file to write beside ``out``, which it becomes at the end; nothing is left where that does not come."""
    out.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{out.name}.", suffix=".part", dir=out.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        os.link(part, out)  # refuses a file that came there meanwhile
    finally:
        for each in (part, *(part.with_name(part.name + end) for end in ("-journal", "-wal", "-shm"))):
            each.unlink(missing_ok=True)


def _write(
    db: sqlite3.Connection,
    part: Path,
    roots: Sequence[Sequence[str]],
    mask: Mask,
    choices: Choices,
    progress: Callable[[str, int, int], None],
) -> dict[str, int]:
    with closing(sqlite3.connect(part, isolation_level=None)) as new:
        new.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        new.execute("PRAGMA journal_mode = MEMORY")  # the file is thrown away if this ends before its end
        new.execute("PRAGMA secure_delete = ON")
        schema.migrate(new)
        writer = Writer(new)
        for number, root in enumerate(roots):
            progress("writing", number, len(roots))
            writer.begin()
            for sid in root:
                sessions = [mask.session(reader.load_session(db, sid))]
                writer.sync(bundle_rows(sessions), images(sessions), ())
            writer.commit()
        progress("writing", len(roots), len(roots))
        told = {"left_out": sorted(choices.left_out), "personal": sorted(choices.personal), "version": __version__}
        new.execute("INSERT INTO _clm_meta VALUES (?, ?)", (MARKER, json.dumps(told)))
        for table in schema.FTS:
            new.execute(f"INSERT INTO {table}_fts({table}_fts) VALUES ('optimize')")  # noqa: S608 - names are ours
        new.execute("PRAGMA optimize")
        new.execute("PRAGMA journal_mode = DELETE")
        new.execute("VACUUM")
        wrong = new.execute("PRAGMA integrity_check").fetchone()[0]
        if wrong != "ok":
            raise DatabaseError(f"{part}: {wrong}; free some space and run it again")
        return {table: new.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in schema.TABLES}  # noqa: S608


def _leaks(part: Path, values: Mapping[str, str]) -> list[str]:
    """The kinds of redacted values that stand in the bytes of a file, as they are or as JSON has them."""
    telling = {value: kind for value, kind in values.items() if is_telling(value)}
    with part.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return [
            kind
            for value, kind in telling.items()
            if any(
                data.find(form) >= 0 for form in {value.encode("utf-8", "replace"), json.dumps(value)[1:-1].encode()}
            )
        ]
