"""Cases from public bug reports: find them, import them, and work out each number that ``expect.json`` may name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import clm_sessions
from clm_sessions import plugins, render
from clm_sessions.view import chunk_view
from support.logs import import_logs, query

HERE = Path(__file__).parent.parent / "cases"
STAGED = "5e550000-0000-4000-8000-000000000110.jsonl"
FORMATS = set(plugins.build(entry_points=False).formats)


def folder() -> Path:
    """Where the cases are: ``$CLM_CASES``, or our own."""
    return Path(os.environ.get("CLM_CASES") or HERE)


def expected(case: Path) -> dict[str, Any]:
    """What expect.json says."""
    return json.loads((case / "expect.json").read_text(encoding="utf-8"))


def found() -> tuple[list[Path], list[Path]]:
    """(cases to run, cases that wait for a format that is not there yet)."""
    cases = sorted(p.parent for p in folder().glob("*/expect.json"))
    waiting = [c for c in cases if expected(c).get("format") not in {None, *FORMATS}]
    return [c for c in cases if c not in waiting], waiting


def stages(case: Path, work: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """(database, what it should hold) after each stage; most cases have one stage."""
    wanted, db = expected(case), work / "case.db"
    source = case / "input"
    if (case / "make_input.py").exists():
        source = work / "made"
        subprocess.run([sys.executable, str(case / "make_input.py"), str(source), "25"], check=True)
    if "stages" not in wanted:
        import_logs(db, source)
        yield db, wanted
        return
    log = work / "growing" / STAGED
    log.parent.mkdir()
    for file, each in zip(sorted(source.iterdir()), wanted["stages"], strict=True):
        log.write_bytes(file.read_bytes())
        import_logs(db, log.parent)
        yield db, each


@dataclass(frozen=True)
class Imported:
    """A database, and the SQL condition that keeps to the session a case names (``:scope`` in queries)."""

    path: Path
    scope: str = "1"


def one(db: Imported, sql: str, *arguments: Any) -> Any:
    """The first value of a query."""
    return query(db.path, sql.replace(":scope", db.scope), *arguments)[0][0]


def column(db: Imported, sql: str) -> list[Any]:
    """The first column of a query."""
    return [row[0] for row in query(db.path, sql.replace(":scope", db.scope))]


MAIN = "session_id IN (SELECT id FROM sessions WHERE role = 'main') AND inherited = 0 AND :scope"
BAD = "kind NOT IN ('repaired', 'refused', 'copy', 'unrecognised', 'tie')"
TOKENS = {
    "input": "sum(input_tokens)",
    "output": "sum(output_tokens)",
    "cache_read": "sum(cache_read_tokens)",
    "cache_write": "sum(cache_creation_tokens)",
    "cached": "sum(cache_read_tokens)",
    "total": "sum(input_tokens) + sum(output_tokens) + sum(cache_read_tokens) + ifnull(sum(cache_creation_tokens), 0)",
}
# Where a format's own counts are other than ours: Codex says how much it read, cached or not.
OWN_TOKENS = {"codex": {"input": "sum(input_tokens) + sum(cache_read_tokens)"}}


def prompts(db: Imported) -> int:
    """Prompts a person typed, each once."""
    return one(db, f"SELECT count(*) FROM messages WHERE kind = 'user' AND origin = 'prompt' AND {MAIN}")


def replies(db: Imported) -> int:
    """Replies, each once."""
    return one(db, f"SELECT count(*) FROM requests WHERE {MAIN}")


def spoken(db: Imported) -> int:
    """Replies; in Codex, which names no reply, each message of the agent that holds text."""
    if log_format(db) != "codex":
        return replies(db)
    return one(db, f"SELECT count(text) FROM messages WHERE role = 'assistant' AND origin = 'reply' AND {MAIN}")


def log_format(db: Imported) -> str:
    """The format of the imported logs; the first by name of several."""
    return one(db, "SELECT min(format) FROM sessions")


def tokens(db: Imported, wanted: dict[str, int]) -> dict[str, int]:
    """The token counts that the case names, each reply once."""
    out = {}
    counts = TOKENS | OWN_TOKENS.get(log_format(db), {})
    for key in wanted:
        if key in counts:
            out[key] = one(db, f"SELECT {counts[key]} FROM requests WHERE {MAIN}")
        elif key == "output_all_once":
            out[key] = one(db, "SELECT sum(output_tokens) FROM requests WHERE inherited = 0")
        elif key == "output_main":
            out[key] = one(db, f"SELECT sum(output_tokens) FROM requests WHERE {MAIN}")
        elif key == "output_subagents_linked":
            linked = "SELECT id FROM sessions WHERE role = 'subagent' AND parent_tool_call_id IS NOT NULL"
            out[key] = one(db, f"SELECT sum(output_tokens) FROM requests WHERE session_id IN ({linked})")
    return out


def branches(db: Imported) -> int:
    """Parents under which a person typed more than one prompt."""
    return one(
        db,
        "SELECT count(*) FROM (SELECT 1 FROM messages WHERE origin = 'prompt' AND parent_uuid IS NOT NULL "
        "GROUP BY session_id, parent_uuid HAVING count(*) > 1)",
    )


def of_origin(origin: str) -> Callable[[Imported, Any], int]:
    """Counts messages of one origin."""
    return lambda db, _wanted: one(db, "SELECT count(*) FROM messages WHERE origin = ?", origin)


def html(db: Imported) -> str:
    """Every chunk of every session as the renderer draws it, with the session headers."""
    registry = plugins.build(entry_points=False)
    pages = []
    for session in clm_sessions.open_db(db.path):
        views = [chunk_view(content, registry.describe) for content in session.contents()]
        pages.append(render.session_header_html(session.info))
        pages += [render.chunk_html(view, options=render.Options()) for view in views]
    return "\n".join(pages)


class Page(HTMLParser):
    """What a browser would make of a page: tags, attributes, and the text that is seen."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self._hidden = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._hidden += tag in {"script", "style"}

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text += data


def live(db: Imported, forbidden: list[str]) -> list[str]:
    """Of the forbidden elements, attributes and schemes, those that are live in the rendered page."""
    page = Page(html(db))
    names = {name for _tag, name, _value in page.attributes}
    urls = [v.strip().lower() for _t, name, v in page.attributes if name in {"href", "src", "action", "formaction"}]
    return [
        what
        for what in forbidden
        if what in page.tags or what in names or (what.endswith(":") and any(u.startswith(what) for u in urls))
    ]


def title(db: Imported, _wanted: Any) -> Any:
    """The title of the one session."""
    return one(db, "SELECT title FROM sessions WHERE role = 'main'")


ANSWERS: dict[str, Callable[[Imported, Any], Any]] = {
    "human_prompts": lambda db, _w: prompts(db),
    "human_prompts_best": lambda db, _w: prompts(db),
    "human_prompts_min": lambda db, w: min(w, prompts(db)),
    "assistant_messages": lambda db, _w: spoken(db),
    "api_replies": lambda db, _w: replies(db),
    "tool_calls": lambda db, _w: one(db, f"SELECT count(*) FROM tool_calls WHERE {MAIN}"),
    "tool_results_paired": lambda db, _w: one(db, f"SELECT count(result_message_seq) FROM tool_calls WHERE {MAIN}"),
    "tool_errors": lambda db, _w: one(db, "SELECT count(*) FROM tool_calls WHERE status = 'error'"),
    "unanswered": lambda db, _w: column(
        db, "SELECT tool_use_id FROM tool_calls WHERE result_message_seq IS NULL ORDER BY session_id, seq"
    ),
    "orphan_results": lambda db, _w: one(
        db, "SELECT count(*) FROM messages, json_each(layout) WHERE json_extract(value, '$[0]') = 'R'"
    ),
    "usage": tokens,
    "problem_lines": lambda db, _w: column(db, f"SELECT line FROM ingest_issues WHERE {BAD} ORDER BY line"),
    "branches": lambda db, _w: branches(db),
    "sessions": lambda db, _w: one(db, "SELECT count(*) FROM sessions WHERE role = 'main'"),
    "main_sessions": lambda db, _w: one(db, "SELECT count(*) FROM sessions WHERE role = 'main'"),
    "orphans": lambda db, _w: one(db, "SELECT count(*) FROM sessions WHERE role = 'orphan'"),
    "subagents": lambda db, _w: one(db, "SELECT count(*) FROM sessions WHERE role IN ('subagent', 'orphan')"),
    "subagents_linked": lambda db, _w: one(
        db, "SELECT count(*) FROM sessions s JOIN tool_calls t ON t.subagent_id = s.id AND t.session_id = s.parent_id"
    ),
    "records": lambda db, _w: dict(query(db.path, "SELECT id, messages FROM sessions")),
    "projects": lambda db, w: sorted(column(db, "SELECT path FROM projects"), key=w.index),
    "title": title,
    "titles": lambda db, w: sorted(column(db, "SELECT title FROM sessions WHERE role = 'main'"), key=w.index),
    "id": lambda db, w: w if w in column(db, "SELECT id FROM sessions") else column(db, "SELECT id FROM sessions"),
    "format": lambda db, _w: one(db, "SELECT DISTINCT format FROM sessions"),
    "refused": lambda db, _w: column(db, "SELECT relative_path FROM sources WHERE refused IS NOT NULL ORDER BY path"),
    "unknown_records": lambda db, _w: one(
        db, "SELECT sum(records) FROM record_types WHERE disposition = 'raw' AND type NOT LIKE '%/%'"
    ),
    "bash_commands": of_origin("bash_command"),
    "slash_commands": of_origin("command"),
    "notifications": of_origin("notification"),
    "interruptions": of_origin("interruption"),
    "compactions": lambda db, _w: one(db, "SELECT count(*) FROM chunks WHERE kind = 'compact'"),
    "images": lambda db, _w: one(db, "SELECT count(*) FROM message_attachments"),
    "models": lambda db, _w: column(db, "SELECT DISTINCT model FROM session_models ORDER BY model"),
    "forbidden_live": lambda db, w: [what for what in w if what not in live(db, w)],
    "must_be_visible_text": lambda db, w: [words for words in w if words in Page(html(db)).text],
}


def answers(db: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    """Each wanted key, worked out from the database. A key nobody knows is a KeyError.

    Where a case names one id, its counts are of that session.
    """
    scope = "session_id = '" + wanted["id"] + "'" if "id" in wanted else "1"
    return {key: ANSWERS[key](Imported(db, scope), value) for key, value in wanted.items()}


def sentences(case: Path) -> list[str]:
    """The sentences of case.md below "Right outcome": its bullets, and paragraphs that are none."""
    text = (case / "case.md").read_text(encoding="utf-8")
    body = text[text.index("Right outcome") :].split("\n", 1)[1]
    return [line.removeprefix("- ").strip() for line in body.splitlines() if line.strip()]
