"""The tables about files and what was kept of them, and the small ones beside those of ``tables``."""

from __future__ import annotations

from collections.abc import Mapping

from datasette_clm.table import Table

KEPT: Mapping[str, Table] = {
    "session_models": Table(
        about="Which models answered in which session.",
        facets=("model",),
        columns={"requests": "API replies of the model"},
    ),
    "session_tools": Table(
        about="Which tools were called in which session.",
        facets=("tool",),
        columns={"tool": "Tool", "calls": "Calls", "errors": "Calls that failed"},
    ),
    "facts": Table(
        about="What logs say about their sessions rather than in them: titles, modes, links.",
        facets=("name",),
        columns={
            "name": "What it is about",
            "value": "What was said, as JSON",
            "side": "The file beside the log that says it",
        },
    ),
    "attachments": Table(
        about="Images of the sessions, each kept once.",
        columns={"media_type": "Type the log states", "bytes": "Size in bytes", "data": "The image"},
    ),
    "message_attachments": Table(
        about="Which image stands in which message.",
        hidden=True,
        columns={"position": "Place among the images of the message, from 0"},
    ),
    "sources": Table(
        about="The files that were read, and what was found when they were last looked at.",
        facets=("state", "format", "role"),
        label="relative_path",
        main=(
            "session_id",
            "format",
            "role",
            "state",
            "relative_path",
            "size",
            "lines",
            "generation",
            "first_at",
            "last_at",
            "refused",
        ),
        columns={
            "id": "Key of the file",
            "session_id": "The session it became",
            "role": "main, agent, side (a file beside the log), earlier (the log before it was compacted) or index (of many sessions)",
            "state": "present, gone, copy, unreadable or unrecognised",
            "path": "Where it is on this machine",
            "relative_path": "Path below the folder that was imported",
            "folder": "Folder of the project",
            "archived": "How many bytes of each generation the raw archive has, as a JSON list; below zero if more were read, null if none was kept",
            "checksum": "Hash of this row and of its account, by which damage shows",
            "device": "Device number",
            "inode": "File number",
            "size": "Size in bytes",
            "mtime_ns": "Time of its last change, in nanoseconds since 1970",
            "ctime_ns": "Time its file record changed, in nanoseconds since 1970",
            "generation": "How often it was rewritten: raw blocks of older generations stay",
            "lines": "Lines in it",
            "consumed": "Bytes read up to the last whole line",
            "head_hash": "Hash of its first block",
            "tail_hash": "Hash of the last block that was read",
            "first_at": "Time of its first dated entry, in UTC",
            "last_at": "Latest time in it, in UTC",
            "refused": "Why its format refuses it",
            "checkpoint": "Where reading goes on",
        },
    ),
    "source_lines": Table(
        about="Lines of each file by what became of them; they add up to the lines of the file.",
        hidden=True,
        facets=("disposition",),
        columns={"lines": "Lines"},
    ),
    "record_types": Table(
        about="Records of each file by their type in the log.",
        hidden=True,
        facets=("type", "disposition"),
        columns={"type": "Type as the log has it", "records": "Records"},
    ),
    "ingest_issues": Table(
        about="Places where a log could not be used as it stands. The rest of the log was read.",
        facets=("kind",),
        label="reason",
        main=("kind", "reason", "line", "session_id"),
        ways=(
            ("Lines that are not JSON", "kind=bad_line"),
            ("Files not read", "kind__in=unreadable,unrecognised,refused"),
        ),
        columns={
            "kind": "bad_line, not_object (a note), refused, repaired, unreadable, unrecognised, copy, plugin or tie",
            "reason": "What was wrong",
            "seq": "Place in the file's list, from 0",
        },
    ),
    "daily_usage": Table(
        about="What each session used of each model on each day (UTC): its own replies, so all rows may be added up.",
        facets=("model", "day"),
        sort_desc="day",
        columns={
            "replies": "API replies",
            "unpriced_replies": "Those of them that have no price",
            "cost_usd": "Estimated cost in US dollars of the others",
        },
    ),
    "prices": Table(
        about="The prices that costs were estimated by, in US dollars per million tokens. One without numbers: no price is known.",
        columns={
            "model": "Model, as the logs name it",
            "seq": "Place among the prices of the model, from 0",
            "from_day": "First day it holds for; empty: from the beginning",
            "until_day": "Day from which it holds no more; empty: open",
            "input_above": "It holds for replies with more input tokens than these, those of the cache included",
            "input_up_to": "And with at most these",
            "input_usd": "Input",
            "output_usd": "Output",
            "cache_read_usd": "Read from the cache",
            "cache_creation_usd": "Written to the cache",
            "cache_creation_1h_usd": "Written to the cache for an hour",
            "reasoning_usd": "Output spent on reasoning",
            "source": "Where the price is from, with the version",
            "checksum": "Hash of all prices, by which damage shows",
        },
    ),
    "raw_blocks": Table(
        about="The bytes of every file, packed: the archive behind the raw record of each message.",
        hidden=True,
        columns={
            "generation": "How often the file had been rewritten",
            "byte_length": "Length of the bytes it holds",
            "codec": "How they are packed",
            "digest": "Hash of the block, by which damage shows",
            "data": "The packed bytes",
        },
    ),
    "_clm_meta": Table(
        about="Says that this database was made by clm-sessions, and by which schema.",
        hidden=True,
        columns={"key": "What", "value": "Its value"},
    ),
    "_sqlite_migrations": Table(
        about="Which migrations of the schema were applied.",
        hidden=True,
        columns={
            "id": "Number",
            "migration_set": "Set of migrations",
            "name": "Migration",
            "applied_at": "When it was applied",
        },
    ),
}
