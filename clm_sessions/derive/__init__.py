"""From the streams of one session to sessions as values: chunks, tool calls, subagents, usage, facts.

Pure functions of what is in a ``Bundle``; nothing depends on time, order of calls or earlier runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from clm_sessions.derive import agents as _agents
from clm_sessions.derive import facts as _facts
from clm_sessions.derive.logs import Log, analyse, counts
from clm_sessions.derive.usage import total
from clm_sessions.derive.words import headline
from clm_sessions.formats.base import Dialect
from clm_sessions.model import Fact, Session, SessionInfo, Stream

__all__ = ["Bundle", "derive", "nest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The logs of one session. ``key``: its id in our tables; ``session``: the agent program's own id.

    ``folder``: name of the project folder. ``main`` is None where the log is missing or was refused. ``agents``:
    agent logs by agent id. ``side``: facts of the files beside them.
    """

    format: str
    key: str
    session: str
    folder: str | None = None
    main: Stream | None = None
    agents: Mapping[str, Stream] = field(default_factory=dict)
    side: Sequence[Fact] = ()


def derive(bundle: Bundle, dialect: Dialect) -> tuple[Session, ...]:
    """The sessions of a bundle, flat: the main one first (if its log is there), then its agents.

    Agents come in start order, those the program started for itself last. Their ids are ``<key>:<agent id>``.
    """
    main = None if bundle.main is None else analyse(None, bundle.main, dialect)
    logs = [analyse(name, stream, dialect) for name, stream in sorted(bundle.agents.items())]
    hidden = [log for log in logs if _agents.is_internal(log, dialect)]
    shown = [log for log in logs if not _agents.is_internal(log, dialect)]
    linked = _agents.link(main, shown, bundle.side, dialect)
    internal = _agents.link(None, hidden, bundle.side, dialect)
    maker = _Maker(bundle, dialect, main, linked)
    sessions = [] if main is None else [maker.main(main)]
    sessions += [maker.agent(agent) for agent in linked]
    sessions += [maker.internal(agent) for agent in internal]
    return tuple(sessions)


class _Maker:
    """Makes sessions of analysed logs, given all that is known of the agents."""

    def __init__(self, bundle: Bundle, dialect: Dialect, main: Log | None, agents: Sequence[_agents.Agent]) -> None:
        self._bundle = bundle
        self._dialect = dialect
        self._main = main
        self._children: dict[str | None, list[_agents.Agent]] = {}
        for agent in agents:
            self._children.setdefault(agent.parent, []).append(agent)

    def main(self, log: Log) -> Session:
        """The session of the main log."""
        stream, said = log.stream, log.said
        uuids = {m.uuid for m in log.messages if m.uuid is not None}
        started = stream.first_at if stream.first_at is not None else said.number("created")
        info = replace(
            self._info(log),
            title=_facts.given_title(said, uuids, self._bundle.side)
            or _facts.text_title(log.chunks, log.messages, self._dialect),
            started_at=started,
            ended_at=stream.last_at,
            duration_ms=None if started is None or stream.last_at is None else stream.last_at - started,
            subagents=len(self._children.get(None, ())),
        )
        return self._session(log, info)

    def agent(self, agent: _agents.Agent) -> Session:
        """The session of a subagent; an orphan where neither a main log nor a call is known."""
        nested = agent.parent is not None
        known = nested or self._main is not None
        parent = f"{self._bundle.key}:{agent.parent}" if nested else self._bundle.key
        info = replace(
            self._agent_info(agent),
            role="subagent" if known else "orphan",
            parent_id=parent if known else None,
            parent_call=agent.call.id if agent.call is not None else None,
            parent_agent_id=agent.parent,
            link=agent.link,
            team=agent.team,
            member=agent.member,
            color=agent.color,
            parallel=agent.parallel,
            subagents=len(self._children.get(agent.id, ())),
        )
        return self._session(agent.log, info)

    def internal(self, agent: _agents.Agent) -> Session:
        """A run the program started for itself: kept, but in nobody's list."""
        parent = None if self._main is None else self._bundle.key
        return self._session(agent.log, replace(self._agent_info(agent), role="internal", parent_id=parent))

    def _agent_info(self, agent: _agents.Agent) -> SessionInfo:
        log = agent.log
        start, end = log.span
        asked = agent.prompt or (log.opening.display if log.opening is not None else "")
        return replace(
            self._info(log),
            id=f"{self._bundle.key}:{agent.id}",
            agent_id=agent.id,
            description=agent.description,
            agent_type=agent.agent_type,
            title=agent.description or headline(asked) or None,
            started_at=start,
            ended_at=end,
            duration_ms=None if start is None or end is None else end - start,
        )

    def _info(self, log: Log) -> SessionInfo:
        said = log.said
        cwd = said.first("cwd")
        models = dict.fromkeys(r.model for r in log.requests if r.model is not None)
        given = said.first("model")
        return SessionInfo(
            id=self._bundle.key,
            native_id=self._bundle.session,
            format=self._bundle.format,
            project=cwd,
            project_name=_facts.project_name(cwd, self._bundle.folder, self._dialect),
            cwd=cwd,
            git_branch=said.first("git_branch"),
            version=said.last("version"),
            provider=said.first("provider"),
            agent=said.first("agent"),
            models=tuple(models) or ((given,) if given else ()),
            ongoing=_facts.ongoing(log.messages, self._dialect),
            usage=total(enumerate(log.messages)),
            context=log.context,
            **counts(log),
        )

    def _session(self, log: Log, info: SessionInfo) -> Session:
        children = [] if info.role == "internal" else self._children.get(log.agent_id, [])
        attached = _agents.attach(log, children)
        started = {a.call.id: f"{self._bundle.key}:{a.id}" for a in reversed(children) if a.call is not None}
        return Session(
            info=info,
            messages=log.messages,
            chunks=[replace(c, subagents=tuple(attached[c.seq])) if c.seq in attached else c for c in log.chunks],
            tool_calls=[c.linked(started[c.id]) if c.id is not None and c.id in started else c for c in log.tool_calls],
            requests=log.requests,
            facts=log.stream.facts,
            issues=log.stream.issues,
        )


def nest(sessions: Sequence[Session]) -> list[Session]:
    """The sessions with each subagent inside its parent; those without a parent here, and internal ones, on top."""
    by_id = {session.id: session for session in sessions}
    children: dict[str, list[str]] = {}
    top: list[str] = []
    for session in sessions:
        parent = session.info.parent_id
        if session.info.role == "subagent" and parent is not None and parent in by_id:
            children.setdefault(parent, []).append(session.id)
        else:
            top.append(session.id)
    # Parents before children; then from the last to the first, so that children are whole before they are put in.
    order = list(top)
    for each in order:
        order.extend(children.get(each, ()))
    for each in reversed(order):
        if each in children:
            by_id[each] = replace(by_id[each], subagents=tuple(by_id[child] for child in children[each]))
    return [by_id[each] for each in top]
