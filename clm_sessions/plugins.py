"""Find, check, isolate and list plugins. ``build`` makes a ``Registry``; nothing here is global.

A plugin that fails to import, asks for an unknown argument, brings a format of another API version or of a
taken name, or raises, is listed with its reason; the others run. ``CLM_BLOCK_PLUGINS=a,b`` blocks by name.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

import pluggy

from clm_sessions import hookspecs
from clm_sessions.errors import UsageError
from clm_sessions.formats.base import API_VERSION, Claim, Confidence, Head, Located, LogFormat
from clm_sessions.model import ToolCall

if TYPE_CHECKING:
    from pathlib import PurePath

    import click

    from clm_sessions.view import ToolView

BUILTIN: tuple[tuple[str, str], ...] = (
    ("clm", "clm_sessions.formats.clm"),
    ("claude-code", "clm_sessions.formats.claude_code"),
    ("tools", "clm_sessions.tools"),
)
GROUP = "clm"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    """A plugin as listed: where it came from, the hooks it implements, and why it does not run (None: it runs)."""

    name: str
    origin: str
    hooks: tuple[str, ...] = ()
    failure: str | None = None


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
    """The plugins of one run: formats by name, describers of tool calls, and what failed."""

    manager: pluggy.PluginManager
    plugins: list[PluginInfo] = field(default_factory=list)
    formats: dict[str, LogFormat] = field(default_factory=dict)
    foreign: set[str] = field(default_factory=set)

    def recognise(
        self, located: Mapping[str, Located], heads: Mapping[str, Head], *, only: str | None = None
    ) -> Recognised | None:
        """The format a file belongs to: higher confidence, then foreign over built-in, then name order.

        ``located`` and ``heads`` are by format name (framings differ). ``only`` keeps one format.
        """
        claims: list[tuple[Claim, str]] = []
        for name in sorted(located):
            if (only and name != only) or name not in heads:
                continue
            claim = self._sniff(name, located[name], heads[name])
            if claim.confidence or only:
                claims.append((claim, name))
        if not claims:
            return None
        claim, name = min(claims, key=lambda c: (-c[0].confidence, c[1] not in self.foreign, c[1]))
        tied = tuple(
            n
            for c, n in claims
            if n != name and c.confidence == claim.confidence and (n in self.foreign) == (name in self.foreign)
        )
        session = claim.session or located[name].session
        return Recognised(
            format=self.formats[name], located=located[name], session=session, confidence=claim.confidence, tied=tied
        )

    def _sniff(self, name: str, located: Located, head: Head) -> Claim:
        try:
            return self.formats[name].sniff(located, head)
        except Exception as error:  # noqa: BLE001 - a plugin border: one bad format must not stop the others
            self.fail(name, f"sniff raised {error!r}")
            return Claim(confidence=Confidence.NO)

    def locate(self, path: PurePath) -> dict[str, Located]:
        """What each format takes the file to be, by path alone; formats that do not want it are left out."""
        found: dict[str, Located] = {}
        for name, fmt in self.formats.items():
            try:
                located = fmt.locate(path)
            except Exception as error:  # noqa: BLE001 - a plugin border
                self.fail(name, f"locate raised {error!r}")
                continue
            if located is not None:
                found[name] = located
        return found

    def describe(self, call: ToolCall) -> ToolView | None:
        """How to show a tool call. A describer that raises is listed as failed, and the next one is asked."""
        for impl in reversed(self.manager.hook.clm_describe_tool.get_hookimpls()):
            try:
                view: ToolView | None = impl.function(*[call for _ in impl.argnames])
            except Exception as error:  # noqa: BLE001 - a plugin border
                self.fail(impl.plugin_name, f"clm_describe_tool raised {error!r}")
                continue
            if view is not None:
                return view
        return None

    def register_commands(self, cli: click.Group) -> None:
        """Let plugins add commands. One that raises is listed and the rest are asked."""
        for impl in self.manager.hook.clm_register_commands.get_hookimpls():
            try:
                impl.function(*[cli for _ in impl.argnames])
            except Exception as error:  # noqa: BLE001 - a plugin border
                self.fail(impl.plugin_name, f"clm_register_commands raised {error!r}")

    def fail(self, name: str, reason: str) -> None:
        """Record that a plugin failed (its first reason stays)."""
        for i, info in enumerate(self.plugins):
            if info.name == name:
                if info.failure is None:
                    self.plugins[i] = PluginInfo(name=name, origin=info.origin, hooks=info.hooks, failure=reason)
                return
        self.plugins.append(PluginInfo(name=name, origin="?", failure=reason))

    def failures(self) -> list[PluginInfo]:
        """Plugins that do not run, or raised."""
        return [p for p in self.plugins if p.failure]

    def format(self, name: str) -> LogFormat:
        """The format of that name. UsageError names those there are."""
        if name not in self.formats:
            raise UsageError(f"no format {name!r}; there are: {', '.join(sorted(self.formats)) or 'none'}")
        return self.formats[name]


def build(extra: Iterable[object] = (), *, entry_points: bool = True, block: Iterable[str] = ()) -> Registry:
    """Load built-ins, then installed plugins (entry-point group ``clm``), then ``extra`` objects.

    ``extra`` may hold plugin modules or objects with hook implementations, or bare ``LogFormat`` instances.
    """
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    registry = Registry(manager=manager)
    blocked = set(block)
    for name, module in BUILTIN:
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
    known = {p.name for p in registry.plugins}
    if name in known:
        name = f"{name} ({origin})"
    try:
        plugin = _resolve(thing)
        if isinstance(plugin, LogFormat):
            _take_formats(registry, [plugin], origin)
            registry.plugins.append(PluginInfo(name=name, origin=origin))
            return
        hooks = _register(registry, name, plugin)
        registry.plugins.append(PluginInfo(name=name, origin=origin, hooks=hooks))
        if "clm_register_formats" in hooks:
            _take_formats(registry, list(plugin.clm_register_formats()), origin)
    except Exception as error:  # noqa: BLE001 - a plugin border: whatever it raises is its own failure
        registry.plugins = [p for p in registry.plugins if p.name != name]
        registry.plugins.append(PluginInfo(name=name, origin=origin, failure=f"{type(error).__name__}: {error}"))
        if registry.manager.has_plugin(name):
            registry.manager.unregister(name=name)


def _resolve(thing: object) -> Any:  # noqa: ANN401 - a plugin may be any object
    if isinstance(thing, str):
        return importlib.import_module(thing)
    return thing.load() if isinstance(thing, EntryPoint) else thing


def _register(registry: Registry, name: str, plugin: object) -> tuple[str, ...]:
    registry.manager.register(plugin, name=name)
    hooks = []
    for caller in registry.manager.get_hookcallers(plugin) or ():
        if caller.spec is None:
            warnings.warn(f"plugin {name}: unknown hook {caller.name}", UserWarning, stacklevel=2)
        hooks.append(caller.name)
    return tuple(sorted(hooks))


def _take_formats(registry: Registry, formats: list[LogFormat], origin: str) -> None:
    for fmt in formats:
        if fmt.api_version != API_VERSION:
            raise UsageError(f"format {fmt.name!r} has api_version {fmt.api_version}; this version knows {API_VERSION}")
        if not fmt.name or fmt.name in registry.formats:
            raise UsageError(f"a format named {fmt.name!r} is there already")
        registry.formats[fmt.name] = fmt
        if origin != "built-in":
            registry.foreign.add(fmt.name)
