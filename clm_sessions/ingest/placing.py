"""Bring the keys of all files of one session id to what they should be (``naming``), and sort the files by session."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace

from clm_sessions.formats.base import LogFormat
from clm_sessions.ingest import ledger
from clm_sessions.ingest.archived import extent, stored
from clm_sessions.ingest.discover import Files, LogFile, unmarked_agent
from clm_sessions.ingest.keys import place_digest
from clm_sessions.ingest.moving import move
from clm_sessions.ingest.naming import Claim, Named, claim_of, named
from clm_sessions.model import Issue
from clm_sessions.packed import is_packed, open_plain
from clm_sessions.sources import bundle_key, changed
from clm_sessions.store import raw

Source = ledger.Source
_COPY = Issue(kind="copy", reason="the same log is imported from another place; this file adds nothing to it")


@dataclass(slots=True, kw_only=True)
class Placed:
    """The files of one session id by session, each with its key.

    ``moved``: keys of the sessions that got or lost a file. ``copies``: what happened to each file that adds nothing.
    ``put_off``: files that cannot be compared with the others now.
    """

    sessions: list[tuple[str, Files]] = field(default_factory=list)
    moved: set[str] = field(default_factory=set)
    copies: list[str] = field(default_factory=list)
    put_off: list[tuple[LogFile, OSError]] = field(default_factory=list)


def place_all(
    db: sqlite3.Connection, plain: str, found: Sequence[LogFile], formats: Mapping[str, LogFormat], *, again: bool
) -> Placed:
    """Give rows and bytes of the files that claim a session id the keys they should have.

    ``plain``: its key; ``found``: those of its files that there are; ``again``: trust no earlier comparison.
    """
    rows = ledger.of_id(db, plain)
    copies = {row["path"]: row for row in rows if row["state"] == "copy"}
    known = [row for row in rows if row["state"] not in ("copy", "unrecognised")]
    nameless = [log for log in found if log.role == "agent" and log.agent is None]
    claims = _claims(db, [log for log in found if log not in nameless], known, copies)
    names = None if again else _as_before(claims, {row["id"]: row for row in rows}, copies)
    names = named(claims, plain) if names is None else names
    names += [_nameless(log, plain) for log in nameless]
    moves = {one.was: one.sid for one in names if one.was is not None and one.was != one.sid}
    spare = {one.sid: f"{one.key}:@{place_digest(one.claim.path)}" for one in names if one.how == "spare"}
    out = Placed(moved={bundle_key(sid) for sids in (moves, moves.values(), spare) for sid in sids})
    for sid in spare:
        ledger.drop(db, sid)
    move(db, {**moves, **spare})  # rows of spare ones go with the next writing of their session
    out.moved |= _settle_rows(db, names, {row["id"]: row for row in known})
    _settle_copies(db, names, copies, moves, out)
    out.put_off = [(c.log, c.problem) for c in claims if c.log and c.problem and c.sid is None and not _is_in(c, names)]
    _sort(names, out, formats)
    return out


def _claims(
    db: sqlite3.Connection, found: Sequence[LogFile], known: Sequence[Source], copies: Mapping[str, Source]
) -> list[Claim]:
    here = {(log.found.path, log.role): log for log in found}
    claims = []
    for row in known:
        log = here.pop((row["path"], row["role"]), None)
        told = {
            "sid": row["id"],
            "there": log is not None or (row["state"] != "gone" and os.path.exists(row["path"])),
            "archived": None if extent(row) is None else (lambda row=row: nullcontext(stored(db, row))),
            "read": None if row["consumed"] is None else ledger.prints_of(row),
        }
        claim = claim_of(log, **told) if log is not None else _claim_of_row(row, told)
        if log is not None and len(raw.sizes(db, row["id"])) < 2:
            claim.spare = ledger.untouched(row, log) or _went_on(claim)
        claims.append(claim)
    for log in here.values():
        copy = copies.get(log.found.path)
        before = copy["id"].rpartition("@")[0] if copy is not None and ledger.untouched(copy, log) else None
        claims.append(claim_of(log, copy_of=before))
    return claims


def _claim_of_row(row: Source, told: Mapping[str, object]) -> Claim:
    return Claim(
        path=row["path"],
        role=row["role"],
        format=row["format"],
        session=row["native_id"],
        folder=row["folder"],
        agent=unmarked_agent(row["agent_id"], row["folder"], row["path"]),
        **told,  # type: ignore[arg-type] # fields of a claim
    )


def _as_before(claims: Sequence[Claim], rows: Mapping[str, Source], copies: Mapping[str, Source]) -> list[Named] | None:
    """The names that the files have, if nothing else happened than that some went on; None: they must be compared."""
    names = []
    for claim in claims:
        row = copies.get(claim.path) if claim.sid is None else rows[claim.sid]
        if row is None or (claim.log is None and row["state"] != "gone" and not claim.there):
            return None
        if claim.log is not None and not ledger.untouched(row, claim.log) and not _went_on(claim):
            return None
        sid = row["id"]
        names.append(
            Named(
                claim=claim,
                key=bundle_key(sid).partition("@")[0],
                sid=sid,
                was=claim.sid,
                how="copy" if claim.sid is None else "read" if claim.log else "kept",
            )
        )
    gone = {claim.sid for claim in claims if not claim.there}
    return None if any(one.how == "copy" and one.sid.rpartition("@")[0] in gone for one in names) else names


def _went_on(claim: Claim) -> bool:
    """Whether a file is longer than it was, and begins and goes on as it did where that is looked at."""
    if claim.log is None or claim.read is None or is_packed(claim.path) or claim.role not in ("main", "agent"):
        return False
    try:
        with closing(open_plain(claim.path)) as file:
            return changed(file, claim.log.found.stat.size, claim.read) == "grown"
    except OSError:
        return False


def _nameless(log: LogFile, plain: str) -> Named:
    """An agent's log that does not say of which agent adds nothing to a session."""
    return Named(claim=claim_of(log), key=plain, sid=f"{plain}@{place_digest(log.found.path)}", how="copy")


def _is_in(claim: Claim, names: Iterable[Named]) -> bool:
    return any(one.claim is claim for one in names)


def _settle_rows(db: sqlite3.Connection, names: Iterable[Named], known: Mapping[str, Source]) -> set[str]:
    """What else a row says of its name. A log that has another agent's name now is to be read again.

    The keys of the sessions with rows that no file stands for any more.
    """
    gone = set()
    for one in names:
        if one.was is None:
            continue
        row = known[one.was]
        if row["role"] == "agent" and row["agent_id"] != one.sid.partition(":")[2]:
            unread = "consumed = NULL, mtime_ns = NULL, checkpoint = NULL, " if one.claim.log is not None else ""
            db.execute(f"UPDATE sources SET {unread}agent_id = ? WHERE id = ?", (one.sid.partition(":")[2], one.sid))
            ledger.seal(db, one.sid)
        if one.how == "kept" and one.claim.log is not None and row["state"] != "gone":
            ledger.set_state(db, one.sid, "gone")
            gone.add(one.key)
    return gone


def _settle_copies(
    db: sqlite3.Connection, names: Iterable[Named], before: Mapping[str, Source], moves: Mapping[str, str], out: Placed
) -> None:
    """Note the files that add nothing, each beside the one it is a copy of."""
    now = {one.claim.path: one for one in names if one.claim.log is not None and one.how in ("read", "copy")}
    for path, row in before.items():
        original, _at, digest = row["id"].rpartition("@")
        if path in now and row["id"] != now[path].sid:
            ledger.forget(db, row["id"])
        elif path not in now and original in moves:
            ledger.forget(db, row["id"])
            ledger.put(db, {**row, "id": f"{moves[original]}@{digest}"}, [_COPY])
    for path, one in now.items():
        if one.how == "copy" and one.claim.log is not None:
            _note_copy(db, one.claim.log, one.sid, before.get(path), out)


def _note_copy(db: sqlite3.Connection, log: LogFile, sid: str, before: Source | None, out: Placed) -> None:
    same = before is not None and ledger.untouched(before, log)
    out.copies.append("new" if before is None else "unchanged" if same else "changed")
    ledger.forget_unrecognised(db, log.found.path)
    if before is None or before["id"] != sid or not same:
        ledger.put(db, {**ledger.row(log, sid, log.found.stat), "state": "copy"}, [_COPY])


def _sort(names: Iterable[Named], out: Placed, formats: Mapping[str, LogFormat]) -> None:
    """The files that are to be read by session; a session that only got or lost some has none."""
    files: dict[tuple[str, str], Files] = {}
    for one in sorted(names, key=lambda one: one.sid):
        claim = one.claim
        if claim.format in formats and (claim.log is not None or one.key in out.moved):
            fresh = Files(format=formats[claim.format], session=claim.session)
            into = files.setdefault((one.key, claim.format), fresh)
            if claim.log is not None and one.how == "read":
                _put(into, claim.log, one)
    out.sessions = [(key, into) for (key, _format), into in files.items()]


def _put(files: Files, log: LogFile, one: Named) -> None:
    if log.role == "main":
        files.main = log
    elif log.role == "agent":
        agent = one.sid.partition(":")[2]
        files.agents[agent] = replace(log, agent=agent)
    else:
        files.side.append(replace(log, mark=one.sid.removeprefix(ledger.source_id(one.key, log))))
