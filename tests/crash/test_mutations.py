"""Damaged logs, a whole folder of them at a time, through the real importer: nothing stops it and no neighbour is lost."""

import json
import random
from pathlib import PurePath

import pytest

from clm_sessions import plugins
from clm_sessions.testing.mutate import mutate_lines
from clm_sessions.verify import verify
from support import rollouts
from support.logs import check_search_index, entry, import_logs, query, text
from support.logs import session_id as claude_id

EACH = 10_000
"""Damaged logs of each format."""
FOLDER = 500


def claude(number):
    sid = claude_id(number)
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls", "description": "look"}}
    entries = [
        entry("user", 1, "mark-1 ask", session=sid),
        entry("assistant", 2, [*text("mark-2 reply"), use], session=sid),
        entry(
            "user", 3, [{"type": "tool_result", "tool_use_id": "t1", "content": "a\nb"}, *text("mark-3")], session=sid
        ),
        {"type": "summary", "summary": "Beds", "leafUuid": f"{sid[-4:]}-2"},
        entry("assistant", 5, [{"type": "thinking", "thinking": "hm"}, *text("mark-4 done")], session=sid),
        entry("user", 6, "mark-5 again", session=sid),
    ]
    return f"projects/-home-dev-garden/{sid}.jsonl", entries


def clm(number):
    entries = [
        {"type": "meta", "v": 1, "id": f"c{number}", "created": 1_700_000_000, "model": "m", "provider": "p"},
        {"type": "msg", "role": "user", "content": "mark-1 ask"},
        {"type": "msg", "role": "assistant", "content": "mark-2 reply", "tool_calls": [{"id": "1", "name": "sh", "args": '{"cmd":"ls"}'}]},
        {"type": "msg", "role": "tool", "tool_call_id": "1", "tool_name": "sh", "content": "out"},
        {"type": "msg", "role": "assistant", "content": "mark-3 done"},
        {"type": "msg", "role": "user", "content": "mark-4 again"},
    ]  # fmt: skip
    return f"clm/c{number}.jsonl", entries


def codex(number):
    entries = [
        rollouts.meta(number),
        rollouts.item("message", 1, role="user", content=[{"type": "input_text", "text": "mark-1 ask"}]),
        rollouts.item("message", 2, role="assistant", content=[{"type": "output_text", "text": "mark-2 reply"}]),
        rollouts.item("function_call", 3, name="shell", arguments='{"command":["ls"]}', call_id="c1"),
        rollouts.item("function_call_output", 4, call_id="c1", output="a\nb"),
        rollouts.item("message", 5, role="assistant", content=[{"type": "output_text", "text": "mark-3 done"}]),
    ]
    return f"sessions/2026/03/02/rollout-2026-03-02T10-00-00-{rollouts.thread_id(number)}.jsonl", entries


FORMATS = {"claude-code": claude, "clm": clm, "codex": codex}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_logs_are_all_accounted_for_and_whole_lines_are_kept(name, tmp_path, proved):
    rng = random.Random(f"{name} 11")
    for start in range(0, EACH, FOLDER):
        folder, database = tmp_path / f"logs{start}", tmp_path / f"{start}.db"
        lines, marks = {}, {}
        for number in range(start + 1, start + FOLDER + 1):
            place, entries = FORMATS[name](number)
            whole = [json.dumps(e).encode() for e in entries]
            data = mutate_lines(rng, b"\n".join(whole) + b"\n")
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            kept = data.split(b"\n")
            lines[str(path)] = len(kept) - (not kept[-1])
            marks[str(path)] = {
                f"mark-{m}" for m in range(6) for line in whole if b"mark-%d" % m in line and line in kept
            }
        assert sum(map(len, marks.values())) > 2 * FOLDER
        import_logs(database, folder, only=name)
        _check(database, lines, marks)
        import_again = import_logs(database, folder, only=name).json()
        assert (import_again["sources"]["new"], import_again["sources"]["changed"]) == (0, 0)
        proved(f"damaged logs of {name}, every line accounted for", FOLDER)


def _check(database, lines, marks):
    counted = dict(
        query(
            database,
            "SELECT s.path, sum(l.lines) FROM sources s JOIN source_lines l ON l.source_id = s.id GROUP BY s.id",
        )
    )
    unread = {path for (path,) in query(database, "SELECT path FROM sources WHERE state <> 'present'")}
    assert {path: n for path, n in lines.items() if n and path not in unread} == counted
    refused = {path for (path,) in query(database, "SELECT path FROM sources WHERE refused IS NOT NULL")}
    # Of two records of one uuid the first counts, and it may be the damaged one.
    refused |= {
        path
        for (path,) in query(
            database,
            "SELECT s.path FROM sources s JOIN source_lines l ON l.source_id = s.id WHERE l.disposition = 'duplicate'",
        )
    }
    said = {}
    for path, words in query(
        database,
        "SELECT s.path, coalesce(m.display, '') || coalesce(m.text, '') FROM sources s JOIN messages m ON m.session_id = s.session_id",
    ):
        said[path] = said.get(path, "") + words
    lost = {
        path: want
        for path, want in marks.items()
        if path not in refused and any(m not in said.get(path, "") for m in want)
    }
    assert {PurePath(path).name: sorted(want) for path, want in lost.items()} == {}
    check_search_index(database)
    result = verify(database, plugins.build(entry_points=False))
    assert result.findings == []
