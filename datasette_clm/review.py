"""The review of what would be published: what redactors find, value by value, and a person's decisions as a rules file.

Everything is in the address, so the page needs no script and no POST: one form whose buttons lead to the next sessions,
to the decisions as text, and to the same as a file.
"""

from __future__ import annotations

import re
import secrets
import shlex
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from clm_sessions import times
from clm_sessions.errors import ClmError
from clm_sessions.publish import MARKER
from clm_sessions.publish.chosen import names, trees
from clm_sessions.publish.review import Place, Review, Value, review
from clm_sessions.publish.rules import Rules, salt_of
from clm_sessions.redact import KINDS, Personal, Redaction
from clm_sessions.render.escape import visible
from clm_sessions.store import reader
from clm_sessions.store.narrow import Narrow, of_sessions
from clm_sessions.view.words import one_line, plural
from datasette_clm import ask
from datasette_clm.urls import Urls
from datasette_clm.visit import Answer, Body, Missing, Page, Visit

NEEDS = ("sessions", "chunks", "messages", "tool_calls", "projects", "session_models")
MOST = 300
"""Values on one page; each is a field of the form, and so a part of an address."""
_DIGEST = re.compile(r"[0-9a-f]{32}")
_PUBLISHED = "This database was published: what was found in it is redacted already"
_FILTERS = ("project", "model", "format", "session")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which sessions (``filters`` as given), from which on, and what was decided so far."""

    filters: tuple[tuple[str, str], ...]
    start: int
    rules: Rules

    def values(self, name: str) -> tuple[str, ...]:
        """What was given for one filter."""
        return tuple(value for key, value in self.filters if key == name)


def parse(args: Any) -> Asked:  # noqa: ANN401 - Datasette's MultiParams
    """The question in the arguments of a request. Nonsense counts as not asked."""
    filters = [(name, value.strip()[:500]) for name in _FILTERS for value in args.getlist(name) if value.strip()]
    filters += [(name, day) for name in ("since", "until") if (day := _day(args.get(name)))]
    decided: dict[str, set[str]] = {
        name: {one for one in args.getlist(name) if _DIGEST.fullmatch(one)} for name in ("keep", "hide")
    }
    for key in args:
        if key.startswith("d.") and _DIGEST.fullmatch(key[2:]):
            for name, held in decided.items():
                (held.add if args.get(key) == name else held.discard)(key[2:])
    salt = salt_of(args.get("salt")) or secrets.token_bytes(16)
    return Asked(
        filters=tuple(filters),
        start=ask.number(args.get("start")) or 0,
        rules=Rules(salt=salt, keep=frozenset(decided["keep"]), hide=frozenset(decided["hide"])),
    )


def answer(db: sqlite3.Connection, visit: Visit) -> Answer:
    """The page."""
    if _published(db):
        return Missing(words=_PUBLISHED)
    asked = parse(visit.args)
    try:
        found = trees(db, _chosen(db, asked))
        redactors = [*visit.registry.redactors(), Personal(KINDS, names=names(db, sources=False))]
        done = review(db, found, Redaction(redactors), asked.rules, asked.start)
    except ClmError as error:
        return Page(template="clm_review.html", page={**_head(asked, visit.urls), "problem": str(error)})
    return Page(
        template="clm_review.html", page={**_head(asked, visit.urls), **_body(asked, len(found), done, visit.urls)}
    )


def rules_file(db: sqlite3.Connection, visit: Visit) -> Answer:
    """The decisions in the address, as a file."""
    if _published(db):
        return Missing(words=_PUBLISHED)
    return Body(content=parse(visit.args).rules.text(), kind="application/json", name="rules.json")


def _published(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM _clm_meta WHERE key = ?", (MARKER,)).fetchone() is not None


def _chosen(db: sqlite3.Connection, asked: Asked) -> list[str]:
    """The keys of the sessions that are asked for, newest first."""
    since, until = (_ms(asked.values(name), days) for name, days in (("since", 0), ("until", 1)))
    narrow = Narrow(
        projects=asked.values("project"), models=asked.values("model"), formats=asked.values("format"),
        since=since, until=until,
    )  # fmt: skip
    condition, bound = of_sessions(db, narrow, in_span=True)
    where = " AND ".join(("s.role IN ('main', 'orphan')", *([condition] if condition else [])))
    wanted = set(asked.values("session"))
    return [info.id for info in reader.session_infos(db, where, bound) if not wanted or info.id in wanted]


def _day(text: str | None) -> str | None:
    try:
        return date.fromisoformat(text or "").isoformat()
    except ValueError:
        return None


def _ms(given: Sequence[str], days: int) -> int | None:
    try:
        return times.parse(f"{date.fromisoformat(given[0]) + timedelta(days)}T00:00:00Z") if given else None
    except OverflowError:  # the last day of year 9999
        return None


def _head(asked: Asked, urls: Urls) -> dict[str, Any]:
    """What the page says whatever was found."""
    given = [word for name, value in asked.filters for word in (f"--{name}", value)] or ["--all"]
    return {
        "title": "Review before publishing",
        "action": urls.review(),
        "rules_action": urls.review("rules"),
        "filters": {name: ", ".join(asked.values(name)) for name in (*_FILTERS, "since", "until")},
        "hidden": [*asked.filters, ("salt", asked.rules.salt.hex())],
        "all_decided": [(name, one) for name in ("keep", "hide") for one in sorted(getattr(asked.rules, name))],
        "command": shlex.join(["clm-sessions", "publish", "DB", "OUT.db", *given, "--rules", "rules.json"]),
        "rules": asked.rules.text(),
        "problem": None,
    }


def _body(asked: Asked, everything: int, done: Review, urls: Urls) -> dict[str, Any]:
    listed = done.values[:MOST]
    here = {value.digest for value in listed}
    decided = [
        (name, one) for name in ("keep", "hide") for one in sorted(getattr(asked.rules, name)) if one not in here
    ]
    first = min(asked.start + 1, done.after)
    return {
        "summary": f"Sessions {first:,} to {done.after:,} of {everything:,}: {plural(len(done.values), 'different value')} "
        f"in {plural(sum(value.places for value in done.values), 'place')}",
        "more": plural(len(done.values) - MOST, "more value") if len(done.values) > MOST else "",
        "cut": [_title(done.titles.get(sid), sid) for sid in done.cut],
        "kinds": [
            {"kind": kind, "values": [_value(value, asked.rules, done.titles, urls) for value in values]}
            for kind, values in ((kind, list(group)) for kind, group in groupby(listed, key=lambda value: value.kind))
        ],
        "decided": decided,
        "next": done.after if done.after < everything else None,
        "size": f"{done.characters:,}",
    }  # fmt: skip


def _value(value: Value, rules: Rules, titles: Mapping[str, str], urls: Urls) -> dict[str, Any]:
    return {
        "digest": value.digest,
        "begins": visible(value.begins),
        "length": f"{value.length:,}",
        "places": plural(value.places, "place"),
        "choice": "hide" if value.digest in rules.hide else "keep" if value.digest in rules.keep else "",
        "shown": list(_places(value.shown, titles, urls)),
    }


def _places(shown: Sequence[Place], titles: Mapping[str, str], urls: Urls) -> Iterator[dict[str, Any]]:
    for place in shown:
        at = urls.session(place.session) if place.chunk is None else urls.at(place.session, place.chunk)
        yield {
            "href": at,
            "title": _title(titles.get(place.session), place.session),
            "field": place.field,
            "before": visible(one_line(place.sample.before, 80)),
            "after": visible(one_line(place.sample.after, 80)),
        }


def _title(title: str | None, sid: str) -> str:
    return visible(one_line(title or sid, 80))
