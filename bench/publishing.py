"""What publishing costs beyond writing: publishing.py publish|copy DB OUT.

``publish``  every session, redacted as by default, into the new file OUT
``copy``     the rows of the same tables by one INSERT ... SELECT each, with their indexes and search indexes, and VACUUM

Prints the CPU seconds, all modules loaded before the clock starts, as JSON.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

from clm_sessions.publish import publish
from clm_sessions.redact import Secrets
from clm_sessions.store import schema
from clm_sessions.store.connect import PAGE_SIZE, open_reader

LEFT_OUT = {
    "sources",
    "source_lines",
    "record_types",
    "ingest_issues",
    "raw_blocks",
    "attachments",
    "message_attachments",
}


def published(database: str, out: str) -> None:
    with closing(open_reader(Path(database))) as db:
        keys = [key for (key,) in db.execute("SELECT id FROM sessions")]
        publish(db, Path(out), keys, [Secrets()])


def copied(database: str, out: str) -> None:
    with closing(sqlite3.connect(out, isolation_level=None)) as new:
        new.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        new.execute("PRAGMA journal_mode = MEMORY")
        schema.migrate(new)
        new.execute("ATTACH ? AS private", (database,))
        new.execute("BEGIN")
        for table in [name for name in schema.TABLES if name not in LEFT_OUT and name != "_clm_meta"]:
            columns = ", ".join(c[1] for c in new.execute(f"PRAGMA table_xinfo({table})") if not c[6])
            new.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM private.{table}")
        for table, names in schema.FTS.items():
            searched = ", ".join(names)
            new.execute(f"INSERT INTO {table}_fts(rowid, {searched}) SELECT rowid, {searched} FROM {table}")
        new.execute("COMMIT")
        new.execute("DETACH private")
        new.execute("VACUUM")


if __name__ == "__main__":
    what, database, out = sys.argv[1:]
    begun = time.process_time()
    {"publish": published, "copy": copied}[what](database, out)
    print(json.dumps({"cpu": time.process_time() - begun}))
