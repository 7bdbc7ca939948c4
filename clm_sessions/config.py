"""The optional file of settings: where the database and the logs are, what to leave out, and a person's own prices.

    database = "~/sessions.db"
    roots = ["~/.claude/projects", "/srv/logs"]
    exclude = ["*-scratch-*"]

    [prices]
    "my-model*" = { input = 3, output = 15 }

It is TOML. Relative paths are below the folder of the file; ``~`` is the home folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clm_sessions.errors import UsageError
from clm_sessions.prices import Price, parse_own

VARIABLE = "CLM_SESSIONS_CONFIG"
_TYPES: Mapping[str, str] = {
    "database": "a text",
    "roots": "a list of texts",
    "exclude": "a list of texts",
    "prices": "a table",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the file says; what it leaves out is None or empty. ``path``: where it is, None if there is none."""

    path: Path | None = None
    database: Path | None = None
    roots: tuple[Path, ...] = ()
    exclude: tuple[str, ...] = ()
    prices: tuple[Price, ...] = ()


def config_path(environ: Mapping[str, str], home: Path) -> Path:
    """Where the file is looked for: ``$CLM_SESSIONS_CONFIG``, else below ``$XDG_CONFIG_HOME`` or ``~/.config``."""
    named = environ.get(VARIABLE)
    if named:
        return Path(named)
    base = environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else home / ".config") / "clm-sessions" / "config.toml"


def load_config(environ: Mapping[str, str], home: Path, named: Path | None = None) -> Config:
    """The settings in the file ``named``, else in the default one, which need not be there.

    UsageError, naming file and key, if a named file is missing, no TOML, or has keys or types that are not known.
    """
    path = named or config_path(environ, home)
    if named is None and not environ.get(VARIABLE) and not os.path.isfile(path):  # noqa: PTH113 - Path.is_file raises where it may not look
        return Config()
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        value = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot read the settings: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text; settings are TOML") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: no TOML: {error}") from None
    return _checked(path, value, home)


def _checked(path: Path, value: Mapping[str, Any], home: Path) -> Config:
    for key, given in value.items():
        if key not in _TYPES:
            raise UsageError(f"{path}: {key!r} is no setting; there are: {', '.join(_TYPES)}")
        if key == "prices":
            continue
        right = isinstance(given, str) if key == "database" else _texts(given)
        if not right or "" in (given if isinstance(given, list) else [given]):
            raise UsageError(f"{path}: {key} must be {_TYPES[key]}, none of them empty")
    base = path.absolute().parent
    database = value.get("database")
    return Config(
        path=path,
        database=None if database is None else _place(database, base, home),
        roots=tuple(_place(root, base, home) for root in value.get("roots", ())),
        exclude=tuple(value.get("exclude", ())),
        prices=parse_own(value.get("prices", {}), str(path)),
    )


def _texts(given: object) -> bool:
    return isinstance(given, list) and all(isinstance(item, str) for item in given)


def _place(text: str, base: Path, home: Path) -> Path:
    if text == "~" or text.startswith("~/"):
        return home / text[2:]
    return base / text
