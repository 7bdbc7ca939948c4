"""From paths to bundles: the files that make up each session, recognised by their format."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from clm_sessions.formats.base import Head, Located, LogFormat
from clm_sessions.frames import document, head, read_head
from clm_sessions.model import Issue
from clm_sessions.packed import is_packed, open_plain, plain_name
from clm_sessions.plugins import Registry
from clm_sessions.sources import FileStat, Found, readable, walk


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the database already knows of a file: enough not to look into it again while its stat is the same."""

    stat: FileStat
    format: str
    role: str
    session: str | None
    agent: str | None = None
    folder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """A file that takes part in a session: a log, or a file beside the logs (roles ``side`` and ``earlier``)."""

    found: Found
    format: LogFormat
    role: str
    session: str
    agent: str | None = None
    folder: str | None = None
    mark: str = ""
    """What its key has behind the name of a file beside the logs, where another one has that name (``naming``)."""


@dataclass(slots=True, kw_only=True)
class Files:
    """The files of one session: its log (None: missing), the logs of its subagents, files beside them.

    ``copies`` are further files that claim the same place.
    """

    format: LogFormat
    session: str
    main: LogFile | None = None
    agents: dict[str, LogFile] = field(default_factory=dict)
    side: list[LogFile] = field(default_factory=list)
    copies: list[LogFile] = field(default_factory=list)

    def logs(self) -> list[LogFile]:
        """Main log first, then agent logs by name."""
        first = [self.main] if self.main else []
        return first + [self.agents[a] for a in sorted(self.agents)]


@dataclass(slots=True, kw_only=True)
class Discovery:
    """All that was found below the roots. ``paths``: of every file that was looked at; ``logs``: by path.

    ``problems``: by path, why a plugin could not say whether an unrecognised file is its own.
    """

    bundles: list[Files] = field(default_factory=list)
    indexes: list[LogFile] = field(default_factory=list)
    logs: dict[str, LogFile] = field(default_factory=dict)
    issues: list[tuple[str, Issue]] = field(default_factory=list)
    unrecognised: list[Found] = field(default_factory=list)
    problems: dict[str, Issue] = field(default_factory=dict)
    paths: set[str] = field(default_factory=set)


def discover(
    roots: Iterable[Path],
    registry: Registry,
    *,
    known: Mapping[str, Known] | None = None,
    only: str | None = None,
) -> Discovery:
    """Walk the roots and sort every file into its session. Files no format wants by name are passed over.

    ``known``: by path; these are not opened. ``only``: the one format to try. A root that is a file brings the
    other files of its session along.
    """
    out = Discovery()
    logs = [log for root in roots for log in _below(root, registry, known or {}, only, out)]
    _sort(logs, out)
    out.bundles = _bundles(out.logs.values())
    return out


def discover_at(
    paths: Collection[str],
    before: dict[str, LogFile],
    roots: Sequence[Path],
    registry: Registry,
    *,
    known: Mapping[str, Known] | None = None,
    only: str | None = None,
) -> Discovery:
    """What became of some absolute paths; ``before``: all logs by path; it is brought up to date.

    Gives the sessions that they, or what lies below them, are or were part of, whole. Nothing else is looked at.
    """
    out, known = Discovery(), known or {}
    logs: list[LogFile] = []
    lost: list[LogFile] = []
    for path in sorted(paths):
        below = path + os.sep
        gone = [path] if os.path.isfile(path) else [p for p in before if p == path or p.startswith(below)]
        lost += [before.pop(p) for p in gone if p in before]
    for root in roots:
        if not os.path.isdir(root):
            near = any(
                _is_near(path, root) and registry.locate(PurePath(plain_name(path)), only=only) for path in paths
            )
            logs += _below(root, registry, known, only, out) if near else []
            continue
        for path in sorted(paths):
            logs += _recognised(_items(walk(root, path), out), registry, known, only, out)
    _sort(logs, out)
    before.update(out.logs)
    out.bundles = _bundles(before.values(), touched=out.logs, lost=lost)
    return out


def _below(
    root: Path, registry: Registry, known: Mapping[str, Known], only: str | None, out: Discovery
) -> list[LogFile]:
    """The logs below a root; of a root that is a file, those of its session."""
    before = len(out.unrecognised)
    below = _recognised(_items(around(root), out), registry, known, only, out)
    if os.path.isdir(root):
        return below
    wanted = os.path.realpath(root)  # its neighbours are only looked at for what belongs to it
    out.unrecognised[before:] = [f for f in out.unrecognised[before:] if os.path.realpath(f.path) == wanted]
    return _of_session(below, wanted)


def _recognised(
    files: Iterable[Found], registry: Registry, known: Mapping[str, Known], only: str | None, out: Discovery
) -> list[LogFile]:
    return [log for found in files if (log := _recognise(found, registry, known, only, out)) is not None]


def _sort(logs: Iterable[LogFile], out: Discovery) -> None:
    """Put logs and indexes where they belong, each path once."""
    unique = {log.found.path: log for log in logs}
    out.paths |= set(unique)
    out.indexes = [log for path, log in sorted(unique.items()) if log.role == "index"]
    out.logs = {path: log for path, log in unique.items() if log.role != "index"}


def around(root: Path) -> Iterator[Found | tuple[str, Issue]]:
    """What is looked at for a root, as ``walk`` gives it: what lies below a folder; a file and its neighbours."""
    yield from walk(root)
    for beside in siblings(root) if not os.path.isdir(root) else ():
        yield from walk(beside)


def _items(walked: Iterable[Found | tuple[str, Issue]], out: Discovery) -> Iterator[Found]:
    for item in walked:
        if isinstance(item, Found):
            yield item
        else:
            out.issues.append(item)


def siblings(root: Path) -> list[Path]:
    """What may belong to the session of a file: the files of its folder, and the folders named as it is, or ``NAME.…``."""
    path = Path(os.path.abspath(root))
    try:
        beside = sorted(p for p in path.parent.iterdir() if p != path)
    except OSError:
        return []
    return [p for p in beside if p.is_file() or (p.is_dir() and _is_named(p.name, path))]


def _is_named(folder: str, path: Path) -> bool:
    name = path.with_suffix("").name
    return folder == name or folder.startswith(f"{name}.")


def _is_near(path: str, root: Path) -> bool:
    """Whether a path is that of a root that is a file, or of one of its neighbours."""
    top = Path(os.path.abspath(root))
    above = os.path.join(top.parent, "")
    first, _sep, rest = path[len(above) :].partition(os.sep)
    return path.startswith(above) and (not rest or _is_named(first, top))


def _of_session(logs: list[LogFile], wanted: str) -> list[LogFile]:
    """Of a file's neighbours, those that belong to the same session; none to the log of an agent alone."""
    mine = [log for log in logs if os.path.realpath(log.found.path) == wanted]
    if all(log.role == "agent" for log in mine):
        return mine
    names = {(log.format.name, log.session) for log in mine}
    return mine + [
        log for log in logs if (log.format.name, log.session) in names and log.role != "main" and log not in mine
    ]


def _recognise(
    found: Found, registry: Registry, known: Mapping[str, Known], only: str | None, out: Discovery
) -> LogFile | None:
    before = known.get(found.path)
    same = None
    if before is not None and before.session and before.format in registry.formats:
        same = unmarked(_log(found, registry.formats[before.format], before, before.session))
        if before.stat == found.stat and only in (None, before.format):
            return same
    problems: list[Issue] = []
    try:
        log = _claimed(found, registry, only, problems, out)
    except OSError as error:
        out.issues.append((found.path, Issue(kind="unreadable", reason=f"cannot read: {error.strerror or error}")))
        return None
    if log is None and problems:
        log = same  # its own plugin may be the one that cannot tell
        out.paths.add(found.path)
    if log is None and found.path in out.paths:
        out.unrecognised.append(found)
        if problems:
            out.problems[found.path] = problems[0]
    else:
        out.issues += [(found.path, problem) for problem in problems]
    return log


def _claimed(
    found: Found, registry: Registry, only: str | None, problems: list[Issue], out: Discovery
) -> LogFile | None:
    """The file as the format that wins it takes it; None: nobody does. Those looked into are noted in ``out.paths``."""
    located = registry.locate(PurePath(plain_name(found.path)), only=only, problems=problems)
    if is_packed(found.path):
        located = {name: place for name, place in located.items() if registry.formats[name].framer != "sqlite"}
    for name, place in sorted(located.items()):
        if place.role == "index":
            return _log(found, registry.formats[name], place, "")
        if place.role == "side":
            return _log(found, registry.formats[name], place, place.session) if place.session is not None else None
    quiet = all(place.role == "earlier" for place in located.values())  # nobody misses a backup of something else
    quiet |= any(place.role == "known" for place in located.values())
    located = {name: place for name, place in located.items() if place.role != "known"}
    if not located:
        return None
    if not quiet:
        out.paths.add(found.path)
    won = registry.recognise(located, _heads(found.path, located, registry, problems), only=only, problems=problems)
    if won is None or won.session is None:
        return None
    if won.tied:
        names = ", ".join((won.format.name, *won.tied))
        out.issues.append(
            (found.path, Issue(kind="tie", reason=f"several formats claim it: {names}; read as {won.format.name}"))
        )
    return _log(found, won.format, won.located, won.session)


def _log(found: Found, fmt: LogFormat, place: Known | Located, session: str) -> LogFile:
    agent = None if place.agent is None else readable(place.agent)
    folder = None if place.folder is None else readable(place.folder)
    return LogFile(found=found, format=fmt, role=place.role, session=readable(session), agent=agent, folder=folder)


def _heads(path: str, names: Iterable[str], registry: Registry, problems: list[Issue]) -> dict[str, Head]:
    """The first records of a file as each of the formats frames them."""
    heads = {}
    plain: Head | None = None  # what all formats see that read lines as JSON without ways of their own
    with closing(open_plain(path)) as file:
        data = read_head(file)
        for name in names:
            fmt = registry.formats[name]
            if fmt.framer == "json":
                file.seek(0)
                heads[name] = Head(records=document(file.read()).values, data=data)
                continue
            if type(fmt).decode is LogFormat.decode and fmt.framer == "jsonl":
                plain = heads[name] = plain or Head(records=head(data, fmt.decode), data=data)
                continue
            with registry.border(fmt.plugin, "decode", problems):
                heads[name] = Head(records=head(data, fmt.decode) if fmt.framer == "jsonl" else (), data=data)
    return heads


def _bundles(
    logs: Collection[LogFile], *, touched: Container[str] | None = None, lost: Iterable[LogFile] = ()
) -> list[Files]:
    """Files by session. The largest of several main logs comes first; an agent log goes to the main log it lies by.

    ``touched``: only sessions with one of these paths, and those that the ``lost`` logs were part of.
    """
    groups: dict[tuple[str, str], list[LogFile]] = {}
    for log in _rooted(logs):
        groups.setdefault((log.format.name, log.session), []).append(log)
    if touched is not None:
        names = {(log.format.name, log.session) for log in lost}
        groups = {n: ms for n, ms in groups.items() if n in names or any(m.found.path in touched for m in ms)}
    bundles: list[Files] = []
    for (_name, session), members in sorted(groups.items()):
        mains = sorted((m for m in members if m.role == "main"), key=lambda m: (-m.found.stat.size, m.found.relative))
        made = [Files(format=members[0].format, session=session, main=main) for main in mains]
        made = made or [Files(format=members[0].format, session=session)]
        for log in sorted(members, key=lambda m: (-m.found.path.count(os.sep), -m.found.stat.size, m.found.relative)):
            if log.role != "main":
                place(max(made, key=lambda b: nearness(b.main.found.path if b.main else None, log.found.path)), log)
        bundles += made
    return bundles


def _rooted(logs: Collection[LogFile]) -> Iterator[LogFile]:
    """The logs, those of agents that an agent started put with its session, where formats name the agent alone."""
    mains = {(log.format.name, log.session) for log in logs if log.role == "main"}
    session_of = {(log.format.name, log.agent): log.session for log in logs if log.role == "agent"}
    for log in logs:
        path: dict[str, None] = {}
        at = log.session
        while (log.format.name, at) not in mains and (log.format.name, at) in session_of and at not in path:
            path[at] = None
            at = session_of[log.format.name, at]
        if at in path:  # they name each other: none is inside another
            for passed in path:
                del session_of[log.format.name, passed]
            yield log
            continue
        session_of.update(((log.format.name, passed), at) for passed in path)
        yield replace(log, session=at) if at != log.session else log


def nearness(main: str | None, path: str) -> int:
    """How much of its path a file shares with the folder of a main log."""
    try:
        return 0 if main is None else len(os.path.commonpath([os.path.dirname(main), path]))
    except ValueError:  # on another drive
        return 0


def unmarked(log: LogFile) -> LogFile:
    """The log with the id that its agent has itself."""
    return replace(log, agent=unmarked_agent(log.agent, log.folder, log.found.path))


def unmarked_agent(agent: str | None, folder: str | None, path: str) -> str | None:
    """The id that an agent has itself, without the digest of its place that tells it from another one of its id."""
    mark = place_mark(folder, path)
    while agent is not None and agent.endswith(mark):
        agent = agent.removesuffix(mark)
    return agent


def place_mark(folder: str | None, path: str) -> str:
    """What tells a file from another one of its name: a digest of its place, whatever root it was found below."""
    place = "/".join((folder or "", *PurePath(path).parts[-2:]))
    return f"~{hashlib.sha256(place.encode('utf-8', 'replace')).hexdigest()[:8]}"


def place(bundle: Files, log: LogFile) -> None:
    """Put a file into a bundle, behind those that claim the same place."""
    if log.role in ("side", "earlier"):
        bundle.side.append(log)
    elif log.agent is None or log.agent in bundle.agents:
        bundle.copies.append(log)
    else:
        bundle.agents[log.agent] = log
