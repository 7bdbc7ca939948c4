"""Check a clm log against the JSON Schema of its format. It reports; what is loaded does not depend on it.

The schema and the loader differ on purpose (spec clm 9): a line may be invalid and loaded, or valid and refused.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from clm_sessions.errors import UsageError
from clm_sessions.formats import clm_json
from clm_sessions.frames import TOO_DEEP, Decoded, RawLine, blank, decode_strict, lines

SCHEMA = "schemas/clm-session.schema.json"
LEVELS = 4096
MESSAGE_LIMIT = 200
"""Characters of a message: the validator quotes the value it rejects, which may be of any size."""


def check(path: Path) -> list[tuple[int, str]]:
    """The lines (from 1) that are not strict UTF-8 JSON valid under the schema, each with what is wrong, in order.

    Raises UsageError where jsonschema is not installed, OSError where the file cannot be read.
    """
    validators = _validators()
    found: list[tuple[int, str]] = []
    with path.open("rb") as file:
        for line in lines(file):
            wrong = _wrong(line, validators)
            if wrong is not None:
                found.append((line.number, wrong if len(wrong) <= MESSAGE_LIMIT else wrong[: MESSAGE_LIMIT - 1] + "…"))
    return found


def _validators() -> dict[str, Any]:
    """A validator for what all records share, and one for each type the schema knows; other types are free."""
    try:
        from jsonschema import Draft202012Validator  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise UsageError('checking a log needs jsonschema: pip install "clm-sessions[check]"') from None
    schema = json.loads(files("clm_sessions").joinpath(SCHEMA).read_text(encoding="utf-8"))
    whole = Draft202012Validator(schema)
    # oneOf tells the branches apart by type; asking the right one gives an error that names the fault
    shared = {key: value for key, value in schema.items() if key != "oneOf"}
    branches = {kind: whole.evolve(schema=schema["$defs"][kind]) for kind in ("meta", "msg")}
    return {"": whole.evolve(schema=shared), **branches}


def _wrong(line: RawLine, validators: dict[str, Any]) -> str | None:
    if line.skipped:
        return f"{line.length:,} bytes: too long to check"
    if blank(line.data):
        return "blank line"
    try:
        line.data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"not UTF-8 (byte {error.start + 1} of the line)"
    decoded = _decode(line.data)
    if decoded.problem is not None:
        return decoded.problem
    return _invalid(decoded.values[0], validators)


def _decode(data: bytes) -> Decoded:
    decoded = decode_strict(data, first=False)
    if decoded.problem != TOO_DEEP:
        return decoded
    try:  # the schema allows any depth; the parser of clm needs no recursion
        value, _ = clm_json.parse(data.decode(), LEVELS)
    except ValueError:
        return decoded
    return Decoded(values=(value,))


def _invalid(record: Any, validators: dict[str, Any]) -> str | None:  # noqa: ANN401 - a JSON value
    kind = record.get("type") if isinstance(record, dict) else None
    validator = validators[kind if kind in ("meta", "msg") else ""]
    try:
        error = min(validator.iter_errors(record), key=lambda e: len(e.absolute_path), default=None)
    except RecursionError:  # a message quotes the value it rejects
        return "not valid under the schema"
    if error is None:
        return None
    where = ".".join(str(part) for part in error.absolute_path)
    return f"{where}: {error.message}" if where else str(error.message)
