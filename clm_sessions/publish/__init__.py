"""Make a database that others may see: chosen sessions, redacted, in a new file that never held anything else.

The private file is only read. Each session is read as values, masked, and written by the code that writes imports, so a
published database is one of ours in every respect; it has no sources, no raw archive and no bytes that were deleted.
It is read twice: a secret that shows itself in one place is hidden in all others too.
"""

from __future__ import annotations

import base64
import json
import mmap
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from clm_sessions import __version__
from clm_sessions.errors import DatabaseError, UsageError
from clm_sessions.publish.chosen import names, trees
from clm_sessions.publish.done import Published
from clm_sessions.publish.mask import PARTS, Mask
from clm_sessions.publish.options import Choices
from clm_sessions.redact import Personal, Redaction, Redactor
from clm_sessions.redact.known import SHORTEST, Known, Pieces, is_telling
from clm_sessions.store import planner, reader, schema
from clm_sessions.store.connect import PAGE_SIZE
from clm_sessions.store.rows import bundle_rows, images
from clm_sessions.store.writer import Writer

__all__ = ["MARKER", "PARTS", "Choices", "Mask", "Published", "publish"]

MARKER = schema.PUBLISHED
_BLOCK = 1 << 20
_AT_ONCE = 20_000
"""Messages written in one transaction, at least: search indexes are fed once in each."""


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
    if out is not None and os.path.lexists(out):
        raise UsageError(f"{out}: there is such a file; name another, or remove it")
    roots = trees(db, chosen, subagents="subagents" not in choices.left_out)
    shown = {sid for root in roots for sid in root}
    personal = Personal(choices.personal, names=names(db), words=choices.hide)
    first = Redaction([*redactors, personal], keep=choices)
    _each(db, roots, Mask(first.text, left_out=choices.left_out, shown=shown), progress, "looking for secrets")
    known = Known(first.values(), choices.everywhere)
    second = first.again(known)
    mask = Mask(second.text, left_out=choices.left_out, shown=shown, picture=second.digest)
    rows: dict[str, int] = {}
    size = 0
    if out is None:
        titles = _each(db, roots, mask, progress, "redacting")
    else:
        with _file(out) as part:
            rows, titles = _write(db, part, roots, mask, choices, progress)
            if leaks := sorted(set(_leaks(part, second.values()))):
                raise DatabaseError(
                    f"{out}: not published: {', '.join(leaks)} still stood in it after redaction; hide the words by --hide"
                )
            size = part.stat().st_size
    everything = db.execute("SELECT count(*) FROM sessions").fetchone()[0]
    return Published(
        sessions=len(shown),
        left_behind=everything - len(shown),
        rows=rows,
        tally=second.tally,
        titles=tuple(titles),
        size=size,
        choices=choices,
    )


def _each(
    db: sqlite3.Connection,
    roots: Sequence[Sequence[str]],
    mask: Mask,
    progress: Callable[[str, int, int], None],
    what: str,
) -> list[str]:
    """Mask every session for what is found in it; the titles of those that were chosen."""
    titles: list[str] = []
    for number, root in enumerate(roots):
        progress(what, number, len(roots))
        infos = [mask.session(reader.load_session(db, sid)).info for sid in root]
        titles += [infos[0].title or infos[0].id] if infos else []
    progress(what, len(roots), len(roots))
    return titles


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
) -> tuple[dict[str, int], list[str]]:
    """Fill the new file. Gives its rows by table, and the titles of the sessions that were chosen."""
    titles: list[str] = []
    with closing(sqlite3.connect(part, isolation_level=None)) as new:
        new.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        new.execute("PRAGMA journal_mode = MEMORY")  # the file is thrown away if this ends before its end
        new.execute("PRAGMA secure_delete = ON")
        schema.migrate(new)
        writer = Writer(new)
        for number, root in enumerate(roots):
            progress("writing", number, len(roots))
            if not new.in_transaction:
                writer.begin()
                waiting = 0
            for place, sid in enumerate(root):
                session = mask.session(reader.load_session(db, sid))
                writer.sync(bundle_rows([session]), images([session]), ())
                waiting += len(session.messages)
                titles += [session.info.title or session.info.id] if not place else []
            if waiting > _AT_ONCE or number == len(roots) - 1:
                writer.commit()
        progress("writing", len(roots), len(roots))
        told = {"left_out": sorted(choices.left_out), "personal": sorted(choices.personal), "version": __version__}
        new.execute("INSERT INTO _clm_meta VALUES (?, ?)", (MARKER, json.dumps(told)))
        for table in schema.FTS:
            new.execute(f"INSERT INTO {table}_fts({table}_fts) VALUES ('optimize')")  # noqa: S608 - names are ours
        planner.analyse(new)
        new.execute("PRAGMA journal_mode = DELETE")
        new.execute("VACUUM")
        wrong = new.execute("PRAGMA integrity_check").fetchone()[0]
        if wrong != "ok":
            raise DatabaseError(f"{part}: {wrong}; free some space and run it again")
        counted = {table: new.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in schema.TABLES}  # noqa: S608
        return counted, titles


def _leaks(part: Path, values: Mapping[str, str]) -> list[str]:
    """The kinds of redacted values that stand in the bytes of a file, in any form of ``forms``."""
    kinds = {form: kind for value, kind in values.items() if is_telling(value) for form in forms(value)}
    pieces = Pieces(kinds)
    overlap = max(map(len, kinds), default=0)
    found: list[str] = []
    with part.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for start in range(0, len(data), _BLOCK):
            found += [kinds[form] for form in pieces.within(data[start : start + _BLOCK + overlap])]
    return found


def forms(value: str) -> set[bytes]:
    """The bytes a value may stand in a file as: as text, as JSON writes it, in two-byte characters, in base64 wherever in it."""
    plain = value.encode("utf-8", "replace")
    found = {plain, json.dumps(value)[1:-1].encode(), value.encode("utf-16-le", "replace")}
    for before, skipped in enumerate((0, 2, 3)):  # the ends depend on what stands beside it
        found.add(base64.b64encode(b"\0" * before + plain)[skipped:-4])
    return {form for form in found if len(form) >= SHORTEST}
