"""Whatever stands in a record, reading and deriving raise nothing and lose no neighbour."""

from __future__ import annotations

import io
import json
import random

import pytest

from clm_sessions.derive import Bundle, derive, nest
from clm_sessions.derive.steps import correspondence, items
from clm_sessions.formats.base import StreamContext
from clm_sessions.read import read_stream
from support import claude_vectors
from support.claude_entries import FORMAT

ODD = [None, True, False, 0, -1, 1.5, 10**30, "", " ", "x", "\x00", "\u2028", [], [[]], {}, {"type": "text"}, [None],
       ["text"], "2026-03-02T09:00:00.000Z", "9999-12-31T23:59:59Z", "<system-reminder>", "<synthetic>", {"id": "t"}]  # fmt: skip
ROUNDS, EACH = 12, 1000


def records():
    found = []
    for log in sorted(claude_vectors.FOLDER.rglob("*.jsonl")):
        for line in log.read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and len(line) < 5000:
                found.append(record)
    return found


def mutate(value, chance, rng):
    """A copy in which a value here and there became another one, a key was lost or doubled under another name."""
    if rng.random() < chance:
        return rng.choice(ODD)
    if isinstance(value, dict):
        return {k: mutate(v, chance, rng) for k, v in value.items() if rng.random() > chance / 2}
    if isinstance(value, list):
        return [mutate(v, chance, rng) for v in value for _ in range(1 + (rng.random() < chance))]
    return value


def read(entries, agent=None):
    data = "".join(json.dumps(e) + "\n" for e in entries).encode()
    context = StreamContext(role="agent" if agent else "main", session="s", agent=agent)
    return read_stream(FORMAT, context, io.BytesIO(data))[0]


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_mutated_records_are_read_and_derived(seed):
    rng = random.Random(seed)
    whole = records()
    chosen = [rng.choice(whole) for _ in range(EACH)]
    marked = {"type": "user", "uuid": "sentinel", "message": {"content": "sentinel"}}
    entries = [mutate(record, 0.04, rng) for record in chosen]
    agents = {name: read(entries[i : i + 50], name) for i, name in enumerate(("a", "b", "ag01", "acompact-1"))}
    main = read([*entries[: EACH // 2], marked, *entries[EACH // 2 :]])
    assert sum(main.lines.values()) == EACH + 1
    assert "sentinel" in {m.uuid for m in main.messages}
    side = [f for agent in agents for f in _meta(agent, rng)]
    bundle = Bundle(format="claude-code", key="s", session="s", main=main, agents=agents, side=side)
    sessions = derive(bundle, FORMAT.dialect)
    assert sessions == derive(bundle, FORMAT.dialect)
    assert len(sessions) == 1 + len(agents)
    for session in nest(list(sessions)):
        answers = correspondence(enumerate(session.messages), FORMAT.dialect)
        for content in session.contents():
            items(content, FORMAT.dialect, answers=answers)
        placed = [seq for chunk in session.chunks for seq in chunk.messages]
        rest = [seq for seq, m in enumerate(session.messages) if m.kind in ("hard_noise", "sidechain")]
        assert sorted(placed + rest) == list(range(len(session.messages)))


def _meta(agent, rng):
    located = FORMAT.locate(claude_vectors.FOLDER / "s" / "subagents" / f"agent-{agent}.meta.json")
    value = mutate({"agentType": "x", "description": "d", "toolUseId": "toolu_T1"}, 0.3, rng)
    return FORMAT.side(located, "meta", json.dumps(value).encode())
