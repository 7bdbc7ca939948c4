"""Rollouts of Codex CLI, its desktop app and its editor extension (spec other-formats 1, census "Codex rollouts")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from clm_sessions.formats.base import Claim, Confidence, Head, Located, LogFormat, Reader, StreamContext
from clm_sessions.formats.codex import files, sniff
from clm_sessions.formats.codex.dialect import CodexDialect
from clm_sessions.hookspecs import hookimpl
from clm_sessions.model import Fact


class Codex(LogFormat):
    """The format object. The rollout of a sub-agent is an agent log of the thread that started it."""

    name = "codex"
    label = "Codex"
    dialect = CodexDialect()
    resume_command: str | None = "codex resume {id}"

    def roots(self, home: Path, env: Mapping[str, str]) -> Iterable[Path]:
        """``sessions``, ``archived_sessions`` and the names of threads of $CODEX_HOME, else of ~/.codex."""
        return files.roots(home, env)

    def locate(self, path: PurePath) -> Located | None:
        """Any ``.jsonl``: rollouts are passed on under other names."""
        return files.locate(path)

    def sniff(self, located: Located, head: Head) -> Claim:
        """By any of the first records. The first ``session_meta`` says whether it is a sub-agent's, and whose."""
        confidence = sniff.confidence(head.objects())
        if confidence is Confidence.NO:
            return Claim(confidence=confidence)
        origin = sniff.first_origin(head.records)
        own = located.session if located.session is not None and files.is_uuid(located.session) else origin.id
        own = own or located.session
        if origin.agent and origin.parent is not None and origin.parent != own:
            return Claim(confidence=confidence, session=origin.parent, agent=own)
        return Claim(confidence=confidence, session=own)

    def reader(self, context: StreamContext, state: Mapping[str, Any] | None = None) -> Reader:
        """A reader for one rollout, fresh or going on from ``state``."""
        from clm_sessions.formats.codex.records import CodexReader  # most runs open no log

        return CodexReader(context, state)

    def index(self, data: bytes) -> Mapping[str, Sequence[Fact]]:
        """``title.index``: the names of threads in ``session_index.jsonl``."""
        return {thread: (Fact(name="title.index", value=name),) for thread, name in files.thread_names(data).items()}


class CodexDocument(Codex):
    """Rollouts of the first versions: one object a file, ``{"session": {...}, "items": [...]}``, without times."""

    name = "codex-json"
    label = "Codex (2025)"
    framer = "json"
    resume_command = None

    def locate(self, path: PurePath) -> Located | None:
        """``rollout-*.json``."""
        return files.locate_document(path)

    def sniff(self, located: Located, head: Head) -> Claim:
        """By its two parts."""
        document = head.records[0] if len(head.records) == 1 else None
        if not sniff.is_document(document):
            return Claim(confidence=Confidence.NO)
        own = located.session if located.session is not None and files.is_uuid(located.session) else None
        return Claim(confidence=Confidence.SIGNATURE, session=own or sniff.origin(document["session"]).id)

    def split(self, document: Any) -> Iterable[Any]:  # noqa: ANN401 - a JSON value
        """The session, then its items: records as those without an envelope."""
        if sniff.is_document(document):
            yield {"id": None, "timestamp": None, **document["session"]}
            yield from document["items"]
        else:
            yield document


@hookimpl
def clm_register_formats() -> Iterable[LogFormat]:
    """Codex is built in."""
    return (Codex(), CodexDocument())
