"""What each table and column is, for people who look at them: words, facets, sort order, labels, units.

Facets are columns with an index of their own, so that they stay quick at a million rows; none is an array facet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The defaults of one table. ``columns``: what is said of each that ``SHARED`` does not say better."""

    about: str
    facets: tuple[str, ...] = ()
    sort_desc: str | None = None
    sort: str | None = None
    label: str | None = None
    hidden: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    main: tuple[str, ...] = ()
    """The columns a first look needs, beside the key, which Datasette always shows; a link shows only these."""


UNITS: Mapping[str, str] = {"duration_ms": "ms", "span_ms": "ms"}

SHARED: Mapping[str, str] = {
    "session_id": "The session it belongs to",
    "seq": "Place in the session, from 0",
    "chunk_seq": "The chunk that shows it; empty for noise that is never shown",
    "message_seq": "The message it stands in",
    "source_id": "The file it was read from",
    "format": "Format of the log, which is the agent that wrote it",
    "model": "Model that answered",
    "day": "Day in UTC",
    "at": "Time in UTC",
    "started_at": "First time in UTC",
    "ended_at": "Last time in UTC",
    "duration_ms": "Duration in milliseconds",
    "inherited": "1 if it was copied from another session (fork, resume): that one owns it and its tokens",
    "input_tokens": "Input tokens, without those from or to the cache; empty if never recorded",
    "output_tokens": "Output tokens, reasoning included",
    "cache_read_tokens": "Tokens read from the cache",
    "cache_creation_tokens": "Tokens written to the cache",
    "reasoning_tokens": "Output tokens spent on reasoning, where the log tells them apart",
    "agent_id": "What the agent calls a subagent",
    "native_id": "What the agent calls the session",
    "line": "Line of the log, from 1",
    "byte_offset": "Place in the log, in bytes from 0",
    "byte_length": "Length in bytes",
    "sha256": "The image, by hash of its bytes",
    "disposition": "What became of it: message, fact, noise, duplicate, raw, blank, issue or pending",
    "reply_id": "The agent's id of the API reply",
    "search_text": "The part of the text that search covers",
    "search_thinking": "The part of the thinking that search covers",
    "search_input": "The part of the arguments that search covers",
    "search_result": "The part of the result that search covers",
}

TABLES: Mapping[str, Table] = {
    "sessions": Table(
        about="One agent session a row; subagents are sessions with a parent. The title opens the transcript.",
        facets=("project_id", "model", "format", "role", "status", "git_branch"),
        sort_desc="started_at",
        label="title",
        main=(
            "title",
            "project_id",
            "model",
            "git_branch",
            "started_at",
            "duration_ms",
            "status",
            "prompts",
            "tool_calls",
            "tool_errors",
            "interruptions",
            "compactions",
            "subagents",
            "output_tokens",
            "cache_read_tokens",
        ),
        columns={
            "id": "Key of the session",
            "title": "Title, or the first prompt",
            "project_id": "Project, by working directory",
            "role": "main, subagent, orphan (its session's log is missing) or internal (started by the program for itself)",
            "status": "How it stands at its end",
            "model": "First model that answered",
            "git_branch": "Branch checked out",
            "day": "Day it began, in UTC",
            "duration_ms": "From first to last entry, in milliseconds",
            "prompts": "Prompts a person typed",
            "chunks": "Units of display: prompts, replies with their tools, command output, compactions",
            "messages": "Entries of the log that take part",
            "tool_calls": "Tool calls made",
            "tool_errors": "Tool calls that failed",
            "unanswered": "Tool calls without a result",
            "interruptions": "Times a person interrupted",
            "compactions": "Times the context was compacted",
            "subagents": "Subagents started",
            "images": "Images in it",
            "requests": "API replies",
            "own_input_tokens": "Input tokens without inherited replies",
            "own_output_tokens": "Output tokens without inherited replies: sum these over sessions",
            "own_cache_read_tokens": "Tokens read from the cache, without inherited replies",
            "own_cache_creation_tokens": "Tokens written to the cache, without inherited replies",
            "own_chunks": "Chunks, without those copied from another session",
            "own_tool_calls": "Tool calls, without those copied from another session",
            "inherited_messages": "Messages copied from another session",
            "context_tokens": "Tokens that went through the context window, over all compactions",
            "context_phases": "Stretches between compactions: number, tokens added, peak, size after",
            "parent_id": "The session that started this subagent",
            "parent_tool_call_id": "The tool call that started it",
            "parent_agent_id": "The subagent that started it",
            "link": "How the parent is known: result, hint, meta, team or prompt",
            "agent_type": "Kind of subagent",
            "description": "What the subagent was started for",
            "team": "Team it works in",
            "member": "Its name in the team",
            "color": "Its colour in the team",
            "parallel": "1 if it ran beside others",
            "forked_from": "The session it was forked or resumed from",
            "cwd": "Working directory",
            "project_name": "Name of the project",
            "version": "Version of the agent",
            "provider": "Provider of the model",
            "agent": "Agent that wrote the log",
            "models": "All models that answered",
            "source_state": "present, or gone: the log is no longer there",
        },
    ),
    "chunks": Table(
        about="Units of display: a prompt, a run of replies with their tools, command output, or a compaction.",
        facets=("kind", "status", "day"),
        label="preview",
        main=(
            "kind",
            "preview",
            "status",
            "started_at",
            "duration_ms",
            "tool_calls",
            "tool_errors",
            "output_tokens",
        ),
        columns={
            "kind": "user, ai, system or compact",
            "preview": "How its text begins",
            "status": "complete, error or interrupted",
            "span_ms": "Latest minus earliest time, in milliseconds",
            "messages": "Messages in it",
            "tool_calls": "Tool calls made in it",
            "tool_errors": "Tool calls that failed",
            "context_before": "Tokens in the context before a compaction",
            "context_after": "Tokens in the context after it",
            "key": "Kind and the id of its first message: stable over imports",
            "sidechain": "Messages of an agent logged in the main log",
            "subagents": "Subagents attached here",
        },
    ),
    "messages": Table(
        about="Entries of the logs, in the order of the log. Search covers text and thinking.",
        facets=("kind", "origin", "role", "model", "day"),
        main=("chunk_seq", "kind", "origin", "model", "at", "text", "thinking"),
        columns={
            "kind": "user, ai, system, compact, hard_noise (never shown) or sidechain",
            "origin": "What it is: prompt, command, reply, tool_result, interruption, …",
            "role": "Role in the log",
            "is_sidechain": "1 if an agent wrote it into the main log",
            "is_meta": "1 if the program added it",
            "uuid": "The log's id of the entry",
            "parent_uuid": "The entry it follows",
            "source_tool_use_id": "The tool call it answers, where the log says so beside the content",
            "part": "Records joined on one line are counted from 0",
            "usage": "Tokens as this entry states them: input, output, cache read, cache written, reasoning",
            "command": "A slash command: name, message, arguments",
            "layout": "How text, thinking, tools and images follow each other; empty for one text",
            "detail": "Small facts the log gave beside the content",
            "display": "What a person should read, where that differs from the text",
            "text": "Text blocks, joined",
            "thinking": "Thinking blocks, joined",
        },
    ),
    "tool_calls": Table(
        about="Tool calls with their results, one row each. Search covers input and result.",
        facets=("name", "status", "day"),
        label="name",
        main=(
            "chunk_seq",
            "name",
            "status",
            "duration_ms",
            "path",
            "input",
            "result",
            "subagent_id",
        ),
        columns={
            "name": "Tool",
            "status": "ok, error, interrupted or unanswered",
            "is_error": "The log's own error flag",
            "path": "File the tool was asked about",
            "subagent_id": "The subagent it started",
            "tool_use_id": "The log's id of the call",
            "result_message_seq": "The message that holds the result",
            "input_is_text": "1 if the arguments were logged as text",
            "result_layout": "How a result of several blocks is made up",
            "input": "Arguments, as JSON",
            "result": "What came back, as text",
        },
    ),
    "requests": Table(
        about="API replies, each counted once: totals of tokens are sums over the rows with inherited = 0.",
        facets=("model", "day"),
        main=(
            "chunk_seq",
            "model",
            "at",
            "input_tokens",
            "output_tokens",
            "cache_read_tokens",
            "cache_creation_tokens",
        ),
    ),
    "projects": Table(
        about="Working directories the sessions ran in.",
        sort="name",
        label="name",
        columns={"id": "Key of the project", "name": "Last part of the path", "path": "Working directory"},
    ),
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
            "role": "main, agent or side (a file beside the log)",
            "state": "present, gone, copy, unreadable or unrecognised",
            "path": "Where it is on this machine",
            "relative_path": "Path below the folder that was imported",
            "folder": "Folder of the project",
            "archived": "How many bytes of each generation the raw archive has, as a JSON list",
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
        columns={
            "kind": "bad_line, not_object (a note), refused, repaired, unreadable, unrecognised, copy, plugin or tie",
            "reason": "What was wrong",
            "seq": "Place in the file's list, from 0",
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


def column_words(table: str, columns: Iterable[str]) -> dict[str, str]:
    """What is said of these columns of a table: its own words, else the shared ones."""
    own = TABLES[table].columns
    return {column: text for column in columns if (text := own.get(column) or SHARED.get(column))}
