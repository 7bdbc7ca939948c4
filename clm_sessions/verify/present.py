"""The files that are still there, read whole and held against what was archived of them (``--full``)."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from clm_sessions.ingest.archived import extent
from clm_sessions.ingest.ledger import Source, prints_of, stat_of
from clm_sessions.packed import open_plain
from clm_sessions.sources import file_stat, prints
from clm_sessions.store import raw
from clm_sessions.verify.findings import AGAIN, Result


def check_present(db: sqlite3.Connection, source: Source, result: Result) -> None:
    """Whether a file begins with what was read of it. One that visibly changed since then is only worth a note."""
    path = Path(source["path"])
    if source["consumed"] is None or not path.is_file():
        return
    try:
        with closing(open_plain(source["path"])) as file:
            touched = file_stat(os.fstat(file.fileno())) != stat_of(source)
            alike = prints(file, source["consumed"]) == prints_of(source)
            same = alike
            if extent(source) is not None:
                file.seek(0)
                same = all(file.read(len(d)) == d for d in raw.read(db, source["id"], source["generation"]))
    except OSError as error:
        result.note(f"{path}: cannot read: {error.strerror or error}")
        return
    result.checked["files"] += 1
    alike |= not touched
    if not same and alike:
        result.add("sources", f"{path}: its middle is not what was imported, though nothing shows a change", AGAIN)
    elif touched:
        result.note(f"{path}: it {'has grown' if same else 'was rewritten'} since it was imported; import again")
