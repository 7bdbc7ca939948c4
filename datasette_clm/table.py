"""What is said of a table, and of the columns that several tables have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode


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
    ways: tuple[tuple[str, str], ...] = ()
    """Questions people come with: what a link says, and the query string that answers it."""


def only(*names: str) -> str:
    """The part of an address that shows these columns only, in this order."""
    return urlencode([("_col", name) for name in names])


UNITS: Mapping[str, str] = {"duration_ms": "ms", "span_ms": "ms"}

SHARED: Mapping[str, str] = {
    "session_id": "The session it belongs to",
    "seq": "Place in the session, from 0",
    "chunk_seq": "The chunk that shows it, stored from 0, shown as #1, #2, … as in the transcript; empty for noise that is never shown",
    "message_seq": "The message it stands in, from 0",
    "project_id": "Project, by working directory",
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
    "cost_usd": "Estimated cost in US dollars, by list prices; empty if it has no price",
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
