"""Which call started which subagent, and where subagents show (spec claude-code 9)."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Any

from clm_sessions.derive.logs import Log
from clm_sessions.derive.steps import teammates
from clm_sessions.formats.base import Dialect
from clm_sessions.model import Fact, Spawn, ToolCall, ToolUse
from clm_sessions.text import trim, visible

PARALLEL_MS = 100
FOLLOW_UPS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A subagent of a session. ``parent`` is the agent id of the log with its ``call`` (None: the main log)."""

    id: str
    log: Log
    call: ToolCall | None = None
    parent: str | None = None
    link: str | None = None
    prompt: str | None = None
    description: str | None = None
    agent_type: str | None = None
    team: str | None = None
    member: str | None = None
    color: str | None = None
    parallel: bool = False

    @property
    def order(self) -> tuple[bool, int, str]:
        """Sorts agents by start, unknown ones last, then by id."""
        start = self.log.span[0]
        return (start is None, start or 0, self.id)


@dataclass(frozen=True, slots=True)
class _Place:
    """A call and the log it stands in."""

    agent: str | None
    call: ToolCall
    spawn: Spawn | None


@dataclass(slots=True)
class _Calls:
    """All calls of the logs of a session: by id, and spawn calls by what can name an agent."""

    by_id: dict[str, list[_Place]] = field(default_factory=dict)
    by_summary: dict[str, deque[_Place]] = field(default_factory=dict)
    by_prompt: dict[str, deque[_Place]] = field(default_factory=dict)

    @classmethod
    def of(cls, logs: Iterable[Log], dialect: Dialect) -> _Calls:
        calls = cls()
        for log in logs:
            for call in log.tool_calls:
                if call.id:
                    calls._add(_Place(log.agent_id, call, _spawn(call, dialect)))
        return calls

    def _add(self, place: _Place) -> None:
        if place.call.id is not None:
            self.by_id.setdefault(place.call.id, []).append(place)
        spawn = place.spawn
        if spawn is None:
            return
        if spawn.team and spawn.member and spawn.description:
            self.by_summary.setdefault(visible(spawn.description), deque()).append(place)
        if spawn.prompt and trim(spawn.prompt):
            self.by_prompt.setdefault(visible(trim(spawn.prompt)), deque()).append(place)


def _spawn(call: ToolCall, dialect: Dialect) -> Spawn | None:
    return dialect.spawn(ToolUse(id=call.id, name=call.name, input=call.input, args=call.args))


def is_internal(log: Log, dialect: Dialect) -> bool:
    """Whether an agent log is kept out of the list: without messages, or one the program started for itself."""
    if not log.messages:
        return True
    opening = log.opening
    text = opening.joined if opening is not None and len(opening.blocks) == 1 else None
    return dialect.internal_agent(log.agent_id or "", text)


def link(main: Log | None, logs: Sequence[Log], side: Sequence[Fact], dialect: Dialect) -> list[Agent]:
    """The subagents of a session in start order, linked to their calls: best evidence first, each used once (9.4)."""
    agents = {log.agent_id: Agent(id=log.agent_id, log=log) for log in logs if log.agent_id is not None}
    order = sorted(agents, key=lambda agent: agents[agent].order)
    searched = ([main] if main is not None else []) + list(logs)
    meta = _metas(side)
    linked = _Linking(_Calls.of(searched, dialect), order).run(searched, agents, meta)
    colors = _colors(searched)
    for name, (place, method) in linked.items():
        agents[name] = _described(agents[name], place, method, colors)
    for name in order:
        agents[name] = _filled(agents[name], meta.get(name, {}))
    _inherit(agents, order)
    _cut_cycles(agents, order)
    _mark_parallel(agents, order)
    return [agents[name] for name in order]


class _Linking:
    """One run through the levels of evidence."""

    def __init__(self, calls: _Calls, order: Sequence[str]) -> None:
        self._calls = calls
        self._order = order
        self._used: set[str] = set()
        self._found: dict[str, tuple[_Place, str]] = {}

    def run(
        self, logs: Sequence[Log], agents: Mapping[str, Agent], meta: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, tuple[_Place, str]]:
        """By agent: the place of its call and the method."""
        hints = _hints(logs)
        for method in ("result", "hint"):
            self._by_ids(method, {agent: hints.get((agent, method), ()) for agent in self._order})
        named = {a: (visible(meta[a]["tool_use_id"]),) for a in self._order if a in meta and "tool_use_id" in meta[a]}
        self._by_ids("meta", named)
        for name in self._order:
            opening = agents[name].log.opening
            mates = teammates(opening) if opening is not None else ()
            if mates:
                self._by_text(name, "team", self._calls.by_summary.get(visible(mates[0]["summary"])))
        for name in self._order:
            opening = agents[name].log.opening
            if opening is not None:
                self._by_text(name, "prompt", self._calls.by_prompt.get(visible(trim(opening.joined))))
        return self._found

    def _by_ids(self, method: str, candidates: Mapping[str, Sequence[str]]) -> None:
        for agent in self._order:
            for call in candidates.get(agent, ()):
                places = (p for p in self._calls.by_id.get(call, ()) if p.agent != agent)
                place = next(places, None)
                if place is not None and self._take(agent, place, method):
                    break

    def _by_text(self, agent: str, method: str, places: deque[_Place] | None) -> None:
        if agent in self._found or not places:
            return
        while places and places[0].call.id in self._used:
            places.popleft()
        for place in places:
            if place.agent != agent and self._take(agent, place, method):
                return

    def _take(self, agent: str, place: _Place, method: str) -> bool:
        call = place.call.id
        if call is None or call in self._used or agent in self._found:
            return False
        self._used.add(call)
        self._found[agent] = (place, method)
        return True


def _hints(logs: Sequence[Log]) -> dict[tuple[str, str], list[str]]:
    """By (agent, evidence): the call ids the logs name, in order."""
    found: dict[tuple[str, str], list[str]] = {}
    for log in logs:
        for value in log.said.all("agent_hint"):
            found.setdefault((value["agent_id"], value["evidence"]), []).append(visible(value["tool_use_id"]))
    return found


def _metas(side: Sequence[Fact]) -> dict[str, Mapping[str, Any]]:
    return {fact.value["agent_id"]: fact.value for fact in side if fact.name == "agent_meta"}


def _colors(logs: Sequence[Log]) -> dict[str, str]:
    """By call id: the colour of the teammate it started."""
    return {visible(value["tool_use_id"]): value["color"] for log in logs for value in log.said.all("teammate_color")}


def _described(agent: Agent, place: _Place, method: str, colors: Mapping[str, str]) -> Agent:
    spawn = place.spawn or Spawn()
    return replace(
        agent,
        call=place.call,
        parent=place.agent,
        link=method,
        prompt=spawn.prompt,
        description=spawn.description,
        agent_type=spawn.agent_type,
        team=spawn.team,
        member=spawn.member,
        color=colors.get(place.call.id or ""),
    )


def _filled(agent: Agent, meta: Mapping[str, Any]) -> Agent:
    """What the call does not say, from meta.json."""
    return replace(
        agent,
        description=agent.description or meta.get("description"),
        agent_type=agent.agent_type or meta.get("agent_type"),
    )


def _inherit(agents: dict[str, Agent], order: Sequence[str]) -> None:
    """A follow-up log, begun at the last message of a teammate's log, belongs to the same call (9.5)."""
    alone = dict(agents)
    ends = {log.messages[-1].uuid: name for name in order if (log := agents[name].log).messages}
    for name in order:
        agent = agents[name]
        if agent.team is not None or not agent.log.messages:
            continue
        source = agent
        for _ in range(FOLLOW_UPS):
            parent_uuid = source.log.messages[0].parent_uuid
            if parent_uuid is None or parent_uuid not in ends or source.team is not None:
                break
            source = alone[ends[parent_uuid]]
        if source.team is not None:
            agents[name] = _following(agent, source)


def _following(agent: Agent, source: Agent) -> Agent:
    linked = agent if agent.call is not None else source
    return replace(
        agent,
        call=linked.call,
        parent=linked.parent,
        link=agent.link or "team",
        description=agent.description or source.description,
        agent_type=agent.agent_type or source.agent_type,
        team=source.team,
        member=source.member,
        color=source.color,
    )


def _cut_cycles(agents: dict[str, Agent], order: Sequence[str]) -> None:
    """Logs that name each other as parents would show nowhere: the first of a ring loses its link."""
    done: set[str] = set()
    for name in order:
        path: dict[str, None] = {}
        at: str | None = name
        while at is not None and at not in done and at not in path:
            path[at] = None
            at = agents[at].parent
        if at is not None and at in path:
            agents[at] = replace(agents[at], call=None, parent=None, link=None)
        done.update(path)


def _mark_parallel(agents: dict[str, Agent], order: Sequence[str]) -> None:
    """Agents that start within 100 ms of the first of their group run in parallel (9.7)."""
    for group in _together([(start, n) for n in order if (start := agents[n].log.span[0]) is not None]):
        if len(group) > 1:
            for name in group:
                agents[name] = replace(agents[name], parallel=True)


def _together(starts: Sequence[tuple[int, str]]) -> Iterator[list[str]]:
    group: list[str] = []
    first = 0
    for start, name in starts:
        if group and start - first > PARALLEL_MS:
            yield group
            group = []
        if not group:
            first = start
        group.append(name)
    yield group


def attach(log: Log, children: Sequence[Agent]) -> dict[int, list[str]]:
    """By chunk of ``log``: the agents that show in it, in start order. ``children``: those of this log, in that order.

    By parent call; those without one where a chunk was running when they started (9.6).
    """
    found: dict[int, list[tuple[int, str]]] = {}
    loose: list[tuple[int, int, str]] = []
    for number, agent in enumerate(children):
        if agent.call is not None:
            if agent.call.chunk is not None:
                found.setdefault(agent.call.chunk, []).append((number, agent.id))
        elif (start := agent.log.span[0]) is not None:
            loose.append((start, number, agent.id))
    for chunk, number, name in _running(log, loose):
        found.setdefault(chunk, []).append((number, name))
    return {chunk: [name for _, name in sorted(each)] for chunk, each in found.items()}


def _running(log: Log, starts: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """(chunk, number, agent) for each AI chunk with start <= agent start <= end: one sweep over the times."""
    if not starts:
        return
    spans = sorted(
        (chunk.started_at, chunk.ended_at, chunk.seq)
        for chunk in log.chunks
        if chunk.kind == "ai" and chunk.started_at is not None and chunk.ended_at is not None
    )
    begun = [span[0] for span in spans]
    open_: list[tuple[int, int]] = []
    at = 0
    for start, number, name in starts:
        until = bisect_right(begun, start)
        for _, end, chunk in spans[at:until]:
            heappush(open_, (end, chunk))
        at = max(at, until)
        while open_ and open_[0][0] < start:
            heappop(open_)
        for _, chunk in open_:
            yield chunk, number, name
