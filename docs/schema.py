"""Print docs/schema.md, made from the schema and from what the Datasette plugin says of tables and columns.

``python docs/schema.py > docs/schema.md``; a test holds the page against this.
"""

from __future__ import annotations

import sqlite3

from clm_sessions.store.schema import FTS, INDEXED_CHARACTERS, INDEXES, SCHEMA_VERSION, TABLES, migrate
from datasette_clm.tables import TABLES as WORDS
from datasette_clm.tables import column_words

HEAD = f"""# Tables

Schema {SCHEMA_VERSION} of the database that `clm-sessions import` makes. Times are ISO 8601 text in UTC, `day` columns the UTC
day, durations milliseconds. Empty (NULL) means "not recorded", 0 means "recorded as zero". Rows of a session are named by
`session_id` and a `seq` that follows its place in the log; importing again, or in another order, gives the same rows.

Full-text search ({", ".join(f"`{table}_fts`" for table in FTS)}) covers the first {INDEXED_CHARACTERS:,} characters of each text;
texts in scripts without spaces stand in `…_fts_cjk` as well, two characters a word, under the same rowid.
Costs are estimates by the table `prices`, which says where each price is from; what is not known has no price.
Totals over sessions: sum the `own_*` columns, or rows with `inherited = 0`; the other counts say what a session shows.
"""


def page() -> str:
    """The page."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrate(db)
    return HEAD + "".join(_table(db, table) for table in TABLES)


def _table(db: sqlite3.Connection, table: str) -> str:
    columns = [(row[1], row[2]) for row in db.execute(f"PRAGMA table_xinfo({table})")]
    words = column_words(table, [name for name, _type in columns])
    rows = "".join(f"| `{name}` | {kind.split()[0]} | {words[name]} |\n" for name, kind in columns)
    indexed = ", ".join("`" + ", ".join(index) + "`" for index in INDEXES.get(table, ()))
    note = f"\nIndexed: {indexed}.\n" if indexed else ""
    return f"\n## {table}\n\n{WORDS[table].about}\n\n| column | type | meaning |\n|---|---|---|\n{rows}{note}"


if __name__ == "__main__":
    print(page(), end="")
