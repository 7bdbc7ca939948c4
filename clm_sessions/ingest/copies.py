"""Files that say what another one says: noted, and left."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping

from clm_sessions.ingest import ledger
from clm_sessions.ingest.discover import Files, LogFile, marked, place
from clm_sessions.ingest.keys import compare
from clm_sessions.model import Issue
from clm_sessions.packed import is_packed
from clm_sessions.sources import Prints


def leave(db: sqlite3.Connection, bundle: Files, key: str) -> None:
    """Of a bundle whose log is a copy, keep only what the files beside it say that the session has nowhere else."""
    have = {sid: source["path"] for sid, source in ledger.stored(db, key).items()}
    agents, side = bundle.agents.values(), bundle.side
    bundle.copies += [bundle.main] if bundle.main else []
    bundle.main, bundle.agents, bundle.side = None, {}, []
    for log in (*agents, *side):
        path = have.get(ledger.source_id(key, log), log.found.path)
        if path == log.found.path:
            place(bundle, log)
        elif log.role == "agent" and os.path.exists(path) and compare(log, path) != "copy":
            place(bundle, marked(log))
        else:
            bundle.copies.append(log)


def source_id(key: str, log: LogFile) -> str:
    """The key of the row of a file that is a copy."""
    return f"{ledger.source_id(key, log)}@{ledger.place_digest(log)}"


def note(db: sqlite3.Connection, bundle: Files, key: str) -> int:
    """Write down the copies in a bundle; how many there are."""
    for log in bundle.copies:
        sid = source_id(key, log)
        reason = "the same log is imported from another place; this file adds nothing to it"
        ledger.forget_unrecognised(db, log.found.path)
        ledger.put(db, {**ledger.row(log, sid, log.found.stat), "state": "copy"}, [Issue(kind="copy", reason=reason)])
    return len(bundle.copies)


def outlives(source: ledger.Source, taken: Mapping[str, tuple[str, Prints | None]]) -> bool:
    """Whether a file that is a copy of a log is all that is left of it. ``taken``: the path of each main log, by key."""
    if source["state"] != "copy" or source["role"] != "main":
        return False
    original = taken.get(source["id"].rpartition("@")[0])
    if original is None:
        return True
    path, consumed = original
    if consumed is not None and source["size"] < consumed.consumed and not is_packed(source["path"]):
        return False  # what is gone said more
    return not os.path.exists(path)
