"""Modules that the base install does not bring, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from clm_sessions.errors import UsageError


def need(module: str, extra: str, what: str) -> Any:  # noqa: ANN401 - a module
    """The module; UsageError says how to install it where it is missing."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise UsageError(f"{what} needs {package}: pip install 'clm-sessions[{extra}]'") from error
