"""Other views of a session, each with an address of its own: timeline, context, files, raw, and two sessions compared."""

from __future__ import annotations

from collections.abc import Sequence

from datasette_clm import loader, raw
from datasette_clm.tabs import compare, context, files, records, timeline
from datasette_clm.visit import Make

_SESSION = r"/-/session/(?P<session>[^/.]+)"
_JSON = r"(?P<format>\.json)?$"
_WANTS = ("tool_calls", "requests", "projects", "sources", "raw_blocks")
_ACCOUNT = ("source_lines", "record_types", "facts", "ingest_issues", "tool_calls", "requests", "projects")

ROUTES: Sequence[tuple[str, Make, Sequence[str], Sequence[str]]] = (
    (rf"{_SESSION}/timeline{_JSON}", timeline.answer, loader.NEEDS, _WANTS),
    (rf"{_SESSION}/context{_JSON}", context.answer, loader.NEEDS, _WANTS),
    (rf"{_SESSION}/files{_JSON}", files.answer, (*loader.NEEDS, "tool_calls"), _WANTS),
    (rf"{_SESSION}/raw{_JSON}", records.answer, (*raw.NEEDS, "chunks"), _ACCOUNT),
    (rf"{_SESSION}/raw/log$", records.download, raw.NEEDS, ()),
    (rf"/-/compare{_JSON}", compare.answer, loader.NEEDS, (*_WANTS, "attachments", "session_tools")),
)
"""Pattern behind the database's address, answer, the tables it needs and those it can do without."""
