"""What a publication did, for the person who is about to let it go: the same text for the terminal and for a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clm_sessions.publish.done import Published
from clm_sessions.redact import Sample

_LISTED = 20
_ROWS = (("messages", "messages"), ("tool_calls", "tool calls"), ("attachments", "images"))


def report(done: Published, out: Path | None) -> Iterator[str]:
    """The lines of the report, in Markdown. What stood in a log is indented as code; every line is one line."""
    yield f"# {_line(str(out)) if out else 'What would be published'}"
    yield ""
    yield from _kept(done)
    yield ""
    yield from _redacted(done)
    yield from _look(done)


def report_data(done: Published, out: Path | None) -> dict[str, Any]:
    """The same as JSON. ``redacted``: by kind, in how many places and how many different values."""
    tally = done.tally
    return {
        "file": str(out) if out else None,
        "bytes": done.size or None,
        "sessions": done.sessions,
        "left_behind": done.left_behind,
        "rows": done.rows,
        "left_out": sorted(done.choices.left_out),
        "personal": sorted(done.choices.personal),
        "redacted": {kind: {"places": n, "values": len(tally.secrets[kind])} for kind, n in tally.places.most_common()},
        "withheld": tally.withheld,
        "failures": dict(tally.failures),
        "samples": [asdict(sample) for samples in tally.samples.values() for sample in samples],
        "titles": list(done.titles),
    }


def _kept(done: Published) -> Iterator[str]:
    rows = ", ".join(f"{done.rows[table]:,} {word}" for table, word in _ROWS if done.rows.get(table))
    yield f"- kept: {done.sessions:,} sessions and subagents{f' ({rows}, {done.size:,} bytes)' if rows else ''}"
    yield f"- left behind: {done.left_behind:,} sessions and subagents"
    parts = ", ".join(sorted(done.choices.left_out)) or "nothing"
    yield f"- left out of them: {parts}; and always the raw archive, the paths of logs, and hashes of their bytes"
    shown = sorted({"users", "emails", "addresses", "hosts"} - done.choices.personal)
    if shown:
        yield f"- personal data that stays, by your choice: {', '.join(shown)}"


def _redacted(done: Published) -> Iterator[str]:
    tally = done.tally
    yield f"## Redacted: {sum(tally.places.values()):,} places"
    yield ""
    yield "| kind | places | different values |"
    yield "|---|--:|--:|"
    for kind, places in tally.places.most_common():
        yield f"| {_line(kind)} | {places:,} | {len(tally.secrets[kind]):,} |"


def _look(done: Published) -> Iterator[str]:
    """What a person should look at: what was withheld, what no program can judge, and places to judge the rest by."""
    yield ""
    yield "## Look at these before you let it go"
    yield ""
    if done.tally.withheld:
        yield f"- {done.tally.withheld:,} texts were withheld whole, for a redactor failed on them:"
        yield from (f"    {_line(why)}: {n:,}" for why, n in _first(done.tally.failures))
    if "images" not in done.choices.left_out:
        yield "- images are in it as they are: no redactor looks into a picture"
    yield "- a secret that nothing tells from a word, and what people wrote about others, are yours to find: read it"
    yield "- a key that stood in a log was read by a program and a model: revoke it, hidden or not"
    yield ""
    yield "Titles:"
    yield ""
    yield from (f"    {_line(title)}" for title in done.titles[:_LISTED])
    if len(done.titles) > _LISTED:
        yield f"    … and {len(done.titles) - _LISTED:,} more"
    for kind, samples in sorted(done.tally.samples.items()):
        yield ""
        yield f"{_line(kind)}:"
        yield ""
        yield from (f"    {_place(sample)}" for sample in samples)


def _place(sample: Sample) -> str:
    return _line(f"…{sample.before} ⟦{sample.tag}, {sample.length:,} characters⟧ {sample.after}…")


def _first(failures: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(failures.items(), key=lambda pair: (-pair[1], pair[0]))[:_LISTED]


def _line(text: str) -> str:
    """Text of a log on one line, with nothing in it that acts on a terminal or ends the code it stands in."""
    return "".join(c if c.isprintable() else " " for c in text)[:300]
