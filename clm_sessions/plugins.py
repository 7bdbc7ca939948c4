"""Find, check, isolate and list plugins. ``build`` makes a ``Registry``; nothing here is global.

A plugin that fails to import, asks for an unknown argument, brings a format of another API version or of a
taken name, or raises, is listed with its reason; all else runs. ``CLM_BLOCK_PLUGINS=a,b`` blocks by name.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from clm_sessions import hookspecs
from clm_sessions.errors import PluginError, UsageError, one_line
from clm_sessions.formats.base import API_VERSION, Claim, Confidence, Head, Located, LogFormat
from clm_sessions.model import Issue, ToolCall

if TYPE_CHECKING:
    import click

    from clm_sessions.redact import Redactor
    from clm_sessions.view import ToolView

BUILTIN: tuple[tuple[str, str], ...] = (
    ("clm", "clm_sessions.formats.clm"),
    ("claude-code", "clm_sessions.formats.claude_code"),
    ("codex", "clm_sessions.formats.codex"),
    ("tools", "clm_sessions.tools"),
)
GROUP = "clm"
BLOCK = "CLM_BLOCK_PLUGINS"
_T = TypeVar("_T")
_Place = TypeVar("_Place", Located, Claim)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    """A plugin as listed: where it came from, the hooks it implements and the formats it brought.

    ``failure``: the first thing that went wrong with it (None: nothing). ``note``: what looks like a slip, such as a
    hook nobody calls.
    """

    name: str
    origin: str
    hooks: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    failure: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """The format that won a file; ``tied`` names others that were as sure of it."""

    format: LogFormat
    located: Located
    session: str | None
    confidence: Confidence
    tied: tuple[str, ...] = ()


@dataclass
class Registry:
    """The plugins of one run: formats by name (``foreign``: not our own), describers of tool calls, what failed.

    Where a method takes ``problems``, what went wrong with a plugin at this question is added to that list too.
    """

    manager: pluggy.PluginManager
    plugins: list[PluginInfo] = field(default_factory=list)
    formats: dict[str, LogFormat] = field(default_factory=dict)
    foreign: set[str] = field(default_factory=set)

    def format(self, name: str) -> LogFormat:
        """The format of that name. UsageError names those there are."""
        if name not in self.formats:
            raise UsageError(f"no format {name!r}; there are: {', '.join(sorted(self.formats)) or 'none'}")
        return self.formats[name]

    def roots(self, home: Path, env: Mapping[str, str]) -> list[Path]:
        """Where the agents of all formats keep their logs. The folders need not exist."""
        found: list[Path] = []
        for fmt in self.formats.values():
            with self.border(fmt.plugin, "roots"):
                found += [Path(root) for root in fmt.roots(home, env)]
        return found

    def locate(
        self, path: PurePath, *, only: str | None = None, problems: list[Issue] | None = None
    ) -> dict[str, Located]:
        """What each format (or ``only`` one) takes the file to be, by path alone; those that do not want it are left out."""
        found: dict[str, Located] = {}
        for name, fmt in self.formats.items():
            if only not in (None, name):
                continue
            with self.border(fmt.plugin, "locate", problems):
                located = fmt.locate(path)
                if located is not None:
                    found[name] = _named(_expect(Located, located))
        return found

    def recognise(
        self,
        located: Mapping[str, Located],
        heads: Mapping[str, Head],
        *,
        only: str | None = None,
        problems: list[Issue] | None = None,
    ) -> Recognised | None:
        """The format a file belongs to: higher confidence, then foreign over built-in, then name order.

        ``located`` and ``heads`` are by format name (framings differ). ``only`` takes that format, however sure it is.
        """
        claims: dict[str, Claim] = {}
        for name in (only,) if only else sorted(located):
            if name in located and name in heads:
                claims[name] = Claim(confidence=Confidence.NO)
                with self.border(self.formats[name].plugin, "sniff", problems):
                    claims[name] = _named(_expect(Claim, self.formats[name].sniff(located[name], heads[name])))
        rank = {n: (-c.confidence, n not in self.foreign) for n, c in claims.items() if c.confidence or only}
        if not rank:
            return None
        won = min(rank, key=lambda name: (rank[name], name))
        place, claim = located[won], claims[won]
        return Recognised(
            format=self.formats[won],
            located=place if claim.agent is None else replace(place, role="agent", agent=claim.agent),
            session=claim.session or place.session,
            confidence=claim.confidence,
            tied=tuple(name for name in rank if name != won and rank[name] == rank[won]),
        )

    def describe(self, call: ToolCall) -> ToolView | None:
        """How to show a tool call, foreign plugins first. Where one raises or answers nonsense, the next is asked."""
        from clm_sessions.view.sound import sound  # whoever only imports logs has no need of it

        for impl in reversed(self.manager.hook.clm_describe_tool.get_hookimpls()):
            with self.border(impl.plugin_name, "clm_describe_tool"):
                view = impl.function(*[call for _ in impl.argnames])
                if view is not None:
                    return sound(view)
        return None

    def redactors(self) -> list[Redactor]:
        """Our own redactor of secrets, then those of plugins. PluginError if one could not be had: publishing fails closed."""
        from clm_sessions.redact import Redactor, Secrets

        found: list[Redactor] = [Secrets()]
        for impl in self.manager.hook.clm_register_redactors.get_hookimpls():
            try:
                answer: Any = impl.function()
                found += [_expect(Redactor, redactor) for redactor in answer]  # type: ignore[type-abstract]
            except (Exception, SystemExit) as error:
                raise PluginError.of(impl.plugin_name, "clm_register_redactors", error) from error
        return found

    def register_commands(self, cli: click.Group) -> None:
        """Let plugins add commands. One that raises is listed and the rest are asked; no command is replaced."""
        for impl in self.manager.hook.clm_register_commands.get_hookimpls():
            before = dict(cli.commands)
            with self.border(impl.plugin_name, "clm_register_commands"):
                impl.function(*[cli for _ in impl.argnames])
            for name in [name for name in before if cli.commands.get(name) is not before[name]]:
                cli.commands[name] = before[name]
                self.fail(impl.plugin_name, f"a command named {name!r} is there already")

    def fail(self, name: str, reason: str) -> None:
        """Record that a plugin failed (its first reason stays)."""
        for i, info in enumerate(self.plugins):
            if info.name == name and info.failure is None:
                self.plugins[i] = replace(info, failure=reason)

    def failures(self) -> list[PluginInfo]:
        """Plugins that do not run, or raised."""
        return [p for p in self.plugins if p.failure]

    @contextmanager
    def border(self, plugin: str, what: str, problems: list[Issue] | None = None) -> Iterator[None]:
        """Whatever is raised inside is that plugin's failure; the others go on."""
        try:
            yield
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the border
            self.fail(plugin, f"{what}: {one_line(error)}")
            if problems is not None:
                problems.append(Issue(kind="plugin", reason=str(PluginError.of(plugin, what, error))))


def from_environment(environ: Mapping[str, str] | None = None) -> Registry:
    """The plugins of this process: all that are installed but those ``CLM_BLOCK_PLUGINS`` names."""
    named = (os.environ if environ is None else environ).get(BLOCK, "")
    return build(block=[name.strip() for name in named.split(",")])


def build(
    extra: Iterable[object] = (), *, builtins: bool = True, entry_points: bool = True, block: Iterable[str] = ()
) -> Registry:
    """Load built-ins, then installed plugins (entry-point group ``clm``), then ``extra`` objects.

    ``extra`` may hold plugin modules or objects with hook implementations, or bare ``LogFormat`` instances.
    """
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    registry = Registry(manager=manager)
    blocked = set(block)
    for name, module in BUILTIN if builtins else ():
        _add(registry, name, module, "built-in", blocked)
    for point in _installed() if entry_points else ():
        _add(registry, point.name, point, _origin(point), blocked)
    for number, thing in enumerate(extra, 1):
        name = getattr(thing, "__name__", None) or getattr(thing, "name", None) or f"extra-{number}"
        _add(registry, str(name), thing, "passed in", blocked)
    return registry


def _installed() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda p: (p.name, p.value))


def _origin(point: EntryPoint) -> str:
    dist = point.dist
    return f"{dist.name} {dist.version}" if dist else point.value


def _add(registry: Registry, name: str, thing: object, origin: str, blocked: set[str]) -> None:
    if name in blocked:
        registry.plugins.append(PluginInfo(name=name, origin=origin, failure="blocked by name"))
        return
    if name in {p.name for p in registry.plugins}:
        name = f"{name} ({origin})"
    hooks: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    try:
        plugin = _resolve(thing)
        formats = [plugin] if isinstance(plugin, LogFormat) else []
        if not formats:
            hooks, strange = _register(registry.manager, name, plugin)
        if "clm_register_formats" in hooks:
            formats = list(plugin.clm_register_formats())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin border: whatever it raises is its own failure
        registry.plugins.append(PluginInfo(name=name, origin=origin, failure=one_line(error)))
        if registry.manager.has_plugin(name):
            registry.manager.unregister(name=name)
        return
    note = f"unknown hook: {', '.join(strange)}" if strange else None
    if not (hooks or formats or strange):
        note = "implements no hook; is @hookimpl missing?"
    registry.plugins.append(PluginInfo(name=name, origin=origin, hooks=hooks, note=note))
    for fmt in formats:
        _take(registry, fmt)


def _resolve(thing: object) -> Any:  # noqa: ANN401 - a plugin may be any object
    if isinstance(thing, str):
        return importlib.import_module(thing)
    return thing.load() if isinstance(thing, EntryPoint) else thing


def _register(manager: pluggy.PluginManager, name: str, plugin: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The hooks a plugin implements: those there are, and others."""
    manager.register(plugin, name=name)
    callers = sorted(manager.get_hookcallers(plugin) or (), key=lambda caller: caller.name)
    return tuple(c.name for c in callers if c.spec), tuple(c.name for c in callers if not c.spec)


def _take(registry: Registry, fmt: object) -> None:
    """Take in a format of the plugin listed last. One that cannot be taken is that plugin's failure."""
    info = registry.plugins[-1]
    reason = None
    if not isinstance(fmt, LogFormat):
        registry.fail(info.name, f"{fmt!r} is no instance of LogFormat")
        return
    if fmt.api_version != API_VERSION:
        reason = f"format {fmt.name!r} has api_version {fmt.api_version}; this version knows {API_VERSION}"
    elif not fmt.name:
        reason = f"{type(fmt).__name__} has no name"
    elif fmt.name in registry.formats:
        reason = f"a format named {fmt.name!r} is there already"
    if reason is not None:
        registry.fail(info.name, reason)
        return
    object.__setattr__(fmt, "plugin", info.name)  # a format may be a frozen value
    registry.formats[fmt.name] = fmt
    registry.plugins[-1] = replace(info, formats=(*info.formats, fmt.name))
    if info.origin != "built-in":
        registry.foreign.add(fmt.name)


def _expect(kind: type[_T], answer: object) -> _T:
    """The answer, if it is of that kind. TypeError if not."""
    if not isinstance(answer, kind):
        raise TypeError(f"the answer is a {type(answer).__name__}, not a {kind.__name__}")
    return answer


def _named(answer: _Place) -> _Place:
    """What a format answers about a file, if its names are texts and its confidence is one. TypeError if not."""
    for what in ("session", "agent", "folder"):
        value = getattr(answer, what, None)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{what} is a {type(value).__name__}, not a str")
    confidence = getattr(answer, "confidence", Confidence.NO)
    if not isinstance(confidence, int):
        raise TypeError(f"confidence is a {type(confidence).__name__}, not a Confidence")
    return answer
