"""The tables. The file must open on SQLite 3.34: no STRICT tables, no ``->>``.

Keys come from content and place, never from a counter, so that importing in another order gives the same rows:
a session by the agent's own id, everything in it by the session and a seq.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from datetime import datetime, timezone

from clm_sessions.errors import DatabaseError

APPLICATION = "clm-sessions"
PUBLISHED = "published"
"""The key of ``_clm_meta`` by which a database says that it was made to be seen."""
SCHEMA_VERSION = 1
PUBLISHED = "published"
"""The key of ``_clm_meta`` by which a database says that it was made to be seen by others."""
INDEXED_CHARACTERS = 65_536
"""Search covers the first this many characters of each text (a stated limit; the whole text is stored)."""

TABLES: dict[str, str] = {
    "_clm_meta": """
        key TEXT PRIMARY KEY, value TEXT""",
    "projects": """
        id TEXT PRIMARY KEY, name TEXT, path TEXT, label TEXT""",
    "sessions": """
        id TEXT PRIMARY KEY, title TEXT, project_id TEXT REFERENCES projects(id), status TEXT, model TEXT,
        started_at TEXT, duration_ms INTEGER, prompts INTEGER, tool_calls INTEGER, tool_errors INTEGER,
        interruptions INTEGER, compactions INTEGER, subagents INTEGER, output_tokens INTEGER, git_branch TEXT,
        format TEXT, role TEXT, day TEXT, ended_at TEXT, chunks INTEGER, messages INTEGER, requests INTEGER,
        unanswered INTEGER, images INTEGER, input_tokens INTEGER, cache_read_tokens INTEGER,
        cache_creation_tokens INTEGER, reasoning_tokens INTEGER,
        own_input_tokens INTEGER, own_output_tokens INTEGER, own_cache_read_tokens INTEGER,
        own_cache_creation_tokens INTEGER, own_chunks INTEGER, own_tool_calls INTEGER, inherited_messages INTEGER,
        context_tokens INTEGER, context_phases TEXT,
        parent_id TEXT REFERENCES sessions(id), agent_type TEXT, description TEXT,
        forked_from TEXT REFERENCES sessions(id), parent_tool_call_id TEXT, parent_agent_id TEXT, link TEXT,
        agent_id TEXT, team TEXT, member TEXT, color TEXT, parallel INTEGER,
        native_id TEXT, cwd TEXT, project_name TEXT, version TEXT,
        provider TEXT, agent TEXT, models TEXT, source_state TEXT,
        cost_usd REAL, own_cost_usd REAL, unpriced_requests INTEGER,
        interrupted TEXT GENERATED ALWAYS AS (CASE WHEN interruptions > 0 THEN 'yes' ELSE 'no' END) VIRTUAL,
        compacted TEXT GENERATED ALWAYS AS (CASE WHEN compactions > 0 THEN 'yes' ELSE 'no' END) VIRTUAL,
        tools_failed TEXT GENERATED ALWAYS AS (CASE WHEN tool_errors > 0 THEN 'yes' ELSE 'no' END) VIRTUAL""",
    "chunks": """
        session_id TEXT REFERENCES sessions(id), seq INTEGER, preview TEXT, kind TEXT, status TEXT, started_at TEXT,
        duration_ms INTEGER, tool_calls INTEGER, tool_errors INTEGER, output_tokens INTEGER, context_before INTEGER,
        context_after INTEGER, day TEXT, ended_at TEXT, span_ms INTEGER, messages INTEGER, input_tokens INTEGER,
        cache_read_tokens INTEGER, cache_creation_tokens INTEGER, reasoning_tokens INTEGER,
        key TEXT, sidechain TEXT, subagents TEXT, PRIMARY KEY (session_id, seq)""",
    "messages": f"""
        session_id TEXT REFERENCES sessions(id), chunk_seq INTEGER, preview TEXT, kind TEXT, origin TEXT, model TEXT,
        at TEXT, role TEXT, day TEXT, inherited INTEGER, is_sidechain INTEGER, is_meta INTEGER, seq INTEGER,
        agent_id TEXT, uuid TEXT, parent_uuid TEXT, reply_id TEXT, source_tool_use_id TEXT, line INTEGER,
        byte_offset INTEGER, byte_length INTEGER, part INTEGER, earlier TEXT, usage TEXT, command TEXT, layout TEXT,
        detail TEXT, display TEXT, text TEXT, thinking TEXT,
        search_text TEXT GENERATED ALWAYS AS (substr(text, 1, {INDEXED_CHARACTERS})) VIRTUAL,
        search_thinking TEXT GENERATED ALWAYS AS (substr(thinking, 1, {INDEXED_CHARACTERS})) VIRTUAL,
        PRIMARY KEY (session_id, seq)""",
    "tool_calls": f"""
        session_id TEXT REFERENCES sessions(id), chunk_seq INTEGER, name TEXT, subject TEXT, status TEXT,
        duration_ms INTEGER, started_at TEXT, project_id TEXT REFERENCES projects(id),
        subagent_id TEXT REFERENCES sessions(id), day TEXT, ended_at TEXT, path TEXT, is_error INTEGER,
        inherited INTEGER, seq INTEGER, message_seq INTEGER, result_message_seq INTEGER, tool_use_id TEXT,
        input_is_text INTEGER, result_layout TEXT, input TEXT, result TEXT,
        search_input TEXT GENERATED ALWAYS AS (substr(input, 1, {INDEXED_CHARACTERS})) VIRTUAL,
        search_result TEXT GENERATED ALWAYS AS (substr(result, 1, {INDEXED_CHARACTERS})) VIRTUAL,
        PRIMARY KEY (session_id, seq)""",
    "requests": """
        session_id TEXT REFERENCES sessions(id), chunk_seq INTEGER, model TEXT, at TEXT, input_tokens INTEGER,
        output_tokens INTEGER, cache_read_tokens INTEGER, cache_creation_tokens INTEGER, cost_usd REAL,
        reasoning_tokens INTEGER, cache_creation_1h_tokens INTEGER,
        project_id TEXT REFERENCES projects(id), day TEXT, inherited INTEGER, seq INTEGER, message_seq INTEGER,
        reply_id TEXT, PRIMARY KEY (session_id, seq)""",
    "session_models": """
        session_id TEXT REFERENCES sessions(id), model TEXT, requests INTEGER, output_tokens INTEGER,
        PRIMARY KEY (session_id, model)""",
    "session_tools": """
        session_id TEXT REFERENCES sessions(id), tool TEXT, calls INTEGER, errors INTEGER,
        PRIMARY KEY (session_id, tool)""",
    "session_files": """
        session_id TEXT REFERENCES sessions(id), file TEXT, access TEXT, reads INTEGER, edits INTEGER, writes INTEGER,
        lines_added INTEGER, lines_removed INTEGER, first_chunk INTEGER, last_chunk INTEGER, last_at TEXT,
        project_id TEXT REFERENCES projects(id), first_at TEXT, day TEXT, own_reads INTEGER, own_changes INTEGER,
        inherited INTEGER, path TEXT, read_by TEXT, changed_by TEXT, PRIMARY KEY (session_id, path)""",
    "facts": """
        session_id TEXT REFERENCES sessions(id), seq INTEGER, name TEXT, value TEXT, line INTEGER, side TEXT,
        PRIMARY KEY (session_id, seq)""",
    "attachments": """
        sha256 TEXT PRIMARY KEY, media_type TEXT, bytes INTEGER, data BLOB""",
    "message_attachments": """
        session_id TEXT REFERENCES sessions(id), message_seq INTEGER, position INTEGER,
        sha256 TEXT REFERENCES attachments(sha256), PRIMARY KEY (session_id, message_seq, position)""",
    "sources": """
        id TEXT PRIMARY KEY, session_id TEXT REFERENCES sessions(id), format TEXT, role TEXT, state TEXT,
        path TEXT, relative_path TEXT, folder TEXT, native_id TEXT, agent_id TEXT, device INTEGER, inode INTEGER,
        size INTEGER, mtime_ns INTEGER, ctime_ns INTEGER, generation INTEGER, lines INTEGER, consumed INTEGER,
        head_hash TEXT, tail_hash TEXT, first_at TEXT, last_at TEXT, refused TEXT, checkpoint TEXT,
        archived TEXT, checksum TEXT""",
    "source_lines": """
        source_id TEXT REFERENCES sources(id), disposition TEXT, lines INTEGER, PRIMARY KEY (source_id, disposition)""",
    "record_types": """
        source_id TEXT REFERENCES sources(id), type TEXT, disposition TEXT, records INTEGER,
        PRIMARY KEY (source_id, type, disposition)""",
    "ingest_issues": """
        source_id TEXT REFERENCES sources(id), seq INTEGER, kind TEXT, reason TEXT, line INTEGER, byte_offset INTEGER,
        session_id TEXT REFERENCES sessions(id), PRIMARY KEY (source_id, seq)""",
    "daily_usage": """
        session_id TEXT REFERENCES sessions(id), day TEXT, model TEXT, replies INTEGER, input_tokens INTEGER,
        output_tokens INTEGER, cache_read_tokens INTEGER, cache_creation_tokens INTEGER, reasoning_tokens INTEGER,
        cost_usd REAL, unpriced_replies INTEGER, PRIMARY KEY (session_id, day, model)""",
    "prices": """
        model TEXT, seq INTEGER, from_day TEXT, until_day TEXT, input_above INTEGER, input_up_to INTEGER,
        input_usd REAL, output_usd REAL, cache_read_usd REAL, cache_creation_usd REAL, cache_creation_1h_usd REAL,
        reasoning_usd REAL, source TEXT, checksum TEXT, PRIMARY KEY (model, seq)""",
    "raw_blocks": """
        source_id TEXT REFERENCES sources(id), generation INTEGER, byte_offset INTEGER, byte_length INTEGER,
        codec TEXT, digest TEXT, data BLOB, PRIMARY KEY (source_id, generation, byte_offset)""",
}

# Each column a person would facet or sort on begins an index. Where links or facets of a large table ask for some of its
# rows, the other facets are counted over one index alone: whichever SQLite takes, that of what is counted or that of what
# is asked for, it holds both columns. Without them every row would be looked up, and long texts lie between the rows.
INDEXES: dict[str, tuple[tuple[str, ...], ...]] = {
    "sessions": (
        ("project_id",),
        ("format",),
        ("role",),
        ("status",),
        ("model",),
        ("git_branch",),
        ("day",),
        ("started_at",),
        ("duration_ms",),
        ("output_tokens",),
        ("parent_id",),
        ("forked_from",),
        ("native_id",),
        ("agent_type",),
        ("interrupted",),
        ("compacted",),
        ("tools_failed",),
    ),
    "chunks": (
        ("kind", "status", "day"),
        ("status", "kind", "day"),
        ("day", "kind", "status"),
        ("started_at",),
        ("duration_ms",),
    ),
    "messages": (
        ("session_id", "chunk_seq"),
        ("kind", "origin", "day"),
        ("origin", "day", "kind"),
        ("day", "kind", "origin"),
        ("uuid",),
    ),
    "tool_calls": (
        ("session_id", "chunk_seq"),
        ("name", "status", "inherited", "day", "project_id"),
        ("status", "name", "day", "project_id", "inherited"),
        (
            "project_id",
            "session_id",
            "seq",
            "name",
            "status",
            "day",
            "inherited",
        ),  # its rows come in the order of the page
        ("day", "name", "status", "project_id", "inherited"),
        ("path",),
        ("subagent_id",),
        ("duration_ms",),
        ("inherited", "name", "status", "duration_ms", "path"),  # rates and times of tools without their texts
    ),
    "requests": (
        ("model", "project_id", "day", "inherited"),
        ("project_id", "model", "day", "inherited"),
        ("day", "model", "inherited", "project_id", "output_tokens", "cost_usd"),
        ("at",),
        ("reply_id",),
    ),
    "daily_usage": (("day",), ("model",)),
    "session_models": (("model",),),
    "session_tools": (("tool",),),
    "session_files": (
        ("access", "file", "project_id", "day", "inherited"),
        ("project_id", "file", "access", "day", "inherited"),
        ("file", "access", "inherited", "project_id", "day"),
        ("day", "access", "inherited", "project_id", "file"),
        ("path",),
        ("last_at",),
        ("edits",),
    ),
    "facts": (("name",),),
    "message_attachments": (("sha256",),),
    "sources": (("path",), ("session_id",), ("state",), ("format",), ("role",)),
    "source_lines": (("disposition",),),
    "record_types": (("type",), ("disposition",)),
    "ingest_issues": (("kind",), ("session_id",)),
}

FTS: dict[str, tuple[str, ...]] = {
    "messages": ("search_text", "search_thinking"),
    "tool_calls": ("search_input", "search_result"),
    "sessions": ("title",),
}
TOKENIZE = "unicode61 remove_diacritics 2"
TOKENIZE_UNSPACED = f"{TOKENIZE} categories 'L* M* N* Co'"
"""In scripts without spaces a vowel may be a mark (Thai): it is part of its word."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database to this schema, all or nothing. DatabaseError if it is someone else's, or newer than this version.

    The connection must be in autocommit mode.
    """
    if _current(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _current(connection):  # another program may have been faster
            if schema_version(connection) is None:
                create(connection)
                _record_first(connection)
            else:
                from clm_sessions.store.migrations import apply  # sqlite-utils is slow to import, and rarely needed

                apply(connection)
            connection.execute("INSERT OR REPLACE INTO _clm_meta VALUES ('application', ?)", (APPLICATION,))
            connection.execute("INSERT OR REPLACE INTO _clm_meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has taken it back already
            connection.execute("ROLLBACK")
        raise


def create(connection: sqlite3.Connection) -> None:
    """Make all tables, indexes and search indexes in an empty database."""
    for table, definition in TABLES.items():
        connection.execute(f"CREATE TABLE {table} ({definition})")
    for table, indexes in INDEXES.items():
        for columns in indexes:
            connection.execute(f"CREATE INDEX idx_{table}_{'_'.join(columns)} ON {table} ({', '.join(columns)})")
    for table, searched in FTS.items():
        # Datasette knows a search index by content="table", in double quotes.
        connection.execute(
            f"CREATE VIRTUAL TABLE {table}_fts USING fts5 ({', '.join(searched)}, "
            f"tokenize='{TOKENIZE}', content=\"{table}\")"
        )
        # FTS5 flushes pending terms at this many bytes; 16 MB makes bulk indexing half as long. An older SQLite
        # that does not know the setting refuses it, and only loses the speed.
        with suppress(sqlite3.OperationalError):
            connection.execute(f"INSERT INTO {table}_fts({table}_fts, rank) VALUES ('hashsize', 16777216)")
        connection.execute(unspaced_index(table))


def unspaced_index(table: str) -> str:
    """The statement that makes the search index of a table for scripts without spaces (``store.unspaced``)."""
    columns = ", ".join(FTS[table])
    return f"CREATE VIRTUAL TABLE {table}_fts_cjk USING fts5 ({columns}, tokenize=\"{TOKENIZE_UNSPACED}\", content='')"


def _record_first(connection: sqlite3.Connection) -> None:
    """Note the first migration as applied, as sqlite-utils does, which need not be imported for it."""
    connection.execute(
        "CREATE TABLE _sqlite_migrations (id INTEGER PRIMARY KEY, migration_set TEXT, name TEXT, applied_at TEXT)"
    )
    connection.execute(
        "CREATE UNIQUE INDEX idx__sqlite_migrations_migration_set_name ON _sqlite_migrations (migration_set, name)"
    )
    connection.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('clm_sessions', 'first', ?)",
        (str(datetime.now(timezone.utc)),),
    )


def _current(connection: sqlite3.Connection) -> bool:
    version = schema_version(connection)
    if version is None and connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise DatabaseError("this SQLite file was not made by clm-sessions; name another file for the import")
    check_version(version)
    return version == SCHEMA_VERSION


def schema_version(connection: sqlite3.Connection) -> int | None:
    """The schema version of a database of ours; None if it has no marker table."""
    try:
        row = connection.execute("SELECT value FROM _clm_meta WHERE key = 'schema_version'").fetchone()
    except sqlite3.OperationalError:
        return None
    except sqlite3.DatabaseError as error:
        raise DatabaseError(f"not a readable SQLite database: {error}") from error
    return int(row[0]) if row and str(row[0]).isdigit() else None


def refuse_published(connection: sqlite3.Connection) -> None:
    """DatabaseError if a database of ours is a published copy: nothing private may come into it."""
    if connection.execute("SELECT 1 FROM _clm_meta WHERE key = ?", (PUBLISHED,)).fetchone():
        raise DatabaseError(
            "it is a published copy, which takes no imports and is never changed; name the private database, or serve it with --no-import"
        )


def check_version(version: int | None, *, required: bool = False) -> None:
    """DatabaseError if the database is newer than this version knows (decision 14), or has no marker though required."""
    if required and version is None:
        raise DatabaseError("not a clm-sessions database")
    if version is not None and version > SCHEMA_VERSION:
        raise DatabaseError(
            f"the database has schema {version}, this version knows {SCHEMA_VERSION}; upgrade clm-sessions to open it"
        )
