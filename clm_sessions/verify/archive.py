"""The raw archive: every block unpacks to the bytes that were archived, and the blocks cover what they should."""

from __future__ import annotations

import sqlite3

from clm_sessions.errors import DatabaseError
from clm_sessions.ingest.archived import archived
from clm_sessions.ingest.ledger import Source
from clm_sessions.store import raw
from clm_sessions.verify.findings import AGAIN, LOST, Result


def check_archive(db: sqlite3.Connection, source: Source, result: Result) -> bool:
    """Check all generations of a source; whether all is well."""
    before = result.total
    for generation, size in enumerate(archived(source)):
        newest = generation == source["generation"] and source["state"] == "present"
        remedy = AGAIN if newest else LOST
        at = 0
        for block in raw.blocks(db, source["id"], generation):
            result.checked["blocks"] += 1
            if block.offset != at:
                result.add("raw_blocks", f"{source['id']}, generation {generation}: a hole at byte {at}", remedy)
            try:
                at = block.offset + len(raw.unpack(source["id"], generation, block))
            except DatabaseError as error:
                result.add("raw_blocks", f"{error}, generation {generation}", remedy)
                at = block.offset + block.length
        if at != size:
            what = f"{source['id']}, generation {generation}: {at} of {size} bytes are there"
            result.add("raw_blocks", what, remedy)
    return result.total == before


def check_strays(db: sqlite3.Connection, sizes: dict[str, int], result: Result) -> None:
    """Blocks of no known source or generation. ``sizes``: how many generations each source has in the archive."""
    for sid, generation, count in db.execute(
        "SELECT source_id, generation, count(*) FROM raw_blocks GROUP BY source_id, generation"
    ):
        if not isinstance(generation, int) or not 0 <= generation < sizes.get(sid, 0):
            result.add("raw_blocks", f"{sid}: {count} blocks of a generation {generation} that nobody knows", LOST)
