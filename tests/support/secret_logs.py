"""Secrets of many kinds, made at run time, and logs with all of them in every field of every record of every format."""

from __future__ import annotations

import base64
import copy
import json
import random
import string
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from support.logs import session_id, turn, write_log

_LETTERS = string.ascii_letters + string.digits
_HEX = string.hexdigits[:16]
_UPPER = string.ascii_uppercase + string.digits

# kind: what stands before it, its beginning, its letters, how many, what stands behind it
_SHAPES: dict[str, tuple[str, str, str, int, str]] = {
    "github": ("", "ghp_", _LETTERS, 36, ""),
    "github app": ("", "ghs_", _LETTERS, 36, ""),
    "github fine": ("", "github_pat_", _LETTERS, 82, ""),
    "gitlab": ("", "glpat-", _LETTERS, 20, ""),
    "aws id": ("", "AKIA", _UPPER, 16, ""),
    "aws secret": ("AWS_SECRET_ACCESS_KEY=", "", _LETTERS, 40, ""),
    "google": ("", "AIza", _LETTERS, 35, ""),
    "openai": ("", "sk-proj-", _LETTERS, 64, ""),
    "anthropic": ("", "sk-ant-api03-", _LETTERS, 93, "AA"),
    "hugging face": ("", "hf_", string.ascii_letters, 34, ""),
    "slack bot": ("", "xoxb-123456789012-123456789012-", _LETTERS, 24, ""),
    "slack app": ("", "xapp-1-A0123456789-1234567890123-", _HEX, 64, ""),
    "stripe": ("", "sk_live_", _LETTERS, 24, ""),
    "stripe hook": ("", "whsec_", _LETTERS, 32, ""),
    "npm": ("", "npm_", _LETTERS, 36, ""),
    "pypi": ("", "pypi-AgEIcHlwaS5vcmc", _LETTERS, 80, ""),
    "sendgrid": ("", "SG.", _LETTERS, 22, "." + "aB3x" * 10 + "Qw1"),
    "twilio": ("TWILIO_AUTH_TOKEN=", "", _HEX, 32, ""),
    "digitalocean": ("", "dop_v1_", _HEX, 64, ""),
    "shopify": ("", "shpat_", _HEX, 32, ""),
    "grafana": ("", "glsa_", _LETTERS, 32, "_1a2b3c4d"),
    "databricks": ("", "dapi", _HEX, 32, ""),
    "linear": ("", "lin_api_", _LETTERS, 40, ""),
    "doppler": ("", "dp.pt.", _LETTERS, 43, ""),
    "vault": ("", "hvs.", _LETTERS, 90, ""),
    "telegram": ("bot token: ", "123456789:AA", _LETTERS, 33, ""),
    "mailgun": ("MAILGUN_API_KEY=", "key-", _HEX, 32, ""),
    "postman": ("", "PMAK-", _HEX, 24, "-" + "0a1b2c3d4e" * 3 + "5f6a"),
    "env password": ("DB_PASSWORD=", "", _LETTERS, 16, ""),
    "yaml password": ("password: '", "", _LETTERS, 14, "'"),
    "json secret": ('{"client_secret": "', "", _LETTERS, 28, '"}'),
    "postgres url": ("postgres://ada:", "", _LETTERS, 18, "@db.example.com/x"),
    "redis url": ("redis://:", "", _LETTERS, 18, "@cache.example.com:6379"),
    "mongodb url": ("mongodb+srv://app:", "", _LETTERS, 18, "@c0.example.net/db"),
    "basic auth url": ("https://ci:", "", _LETTERS, 18, "@git.example.com/x.git"),
    "bearer": ("Authorization: Bearer ", "", _LETTERS, 40, ""),
    "cookie": ("Cookie: sessionid=", "", _LETTERS, 32, "; theme=dark"),
    "api key header": ("X-Api-Key: ", "", _LETTERS, 32, ""),
    "curl user": ("curl -u admin:", "", _LETTERS, 16, " https://example.com"),
    "mysql flag": ("mysql -u root -p", "", _LETTERS, 14, " shop"),
    "cli flag": ("deploy --api-key ", "", _LETTERS, 32, " --now"),
    "netrc": ("machine x login me password ", "", _LETTERS, 16, ""),
    "ado.net": ("Server=x;User Id=sa;Password=", "", _LETTERS, 16, ";Database=y"),
    "docker login": ("docker login -u me -p ", "", _LETTERS, 20, " r.example.com"),
}


def secrets(seed: int = 7) -> dict[str, tuple[str, str]]:
    """By kind: (the secret, a text with it in it)."""
    dice = random.Random(seed)
    made: dict[str, tuple[str, str]] = {}
    for kind, (before, begin, letters, size, after) in _SHAPES.items():
        value = begin + "".join(dice.choice(letters) for _ in range(size))
        made[kind] = (value, f"{before}{value}{after}")
    head, body = (_coded({"alg": "HS256", "typ": "JWT"}), _coded({"sub": dice.random(), "iat": 1_700_000_000}))
    token = f"{head}.{body}.{''.join(dice.choice(_LETTERS) for _ in range(43))}"
    made["jwt"] = (token, token)
    lines = ["".join(dice.choice(_LETTERS) for _ in range(64)) for _ in range(4)]
    made["private key"] = (
        lines[2],
        "\n".join(("-----BEGIN RSA " + "PRIVATE KEY-----", *lines, "-----END RSA " + "PRIVATE KEY-----")),
    )
    return made


def _coded(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def plant(logs: Path, folder: Path, text: str | Callable[[int], str]) -> int:
    """Copy the logs to ``folder``, with a record more for each field that records of a format have, which holds ``text``.

    A field is a path of keys in a record of one type; fields are found in the logs themselves. A file that is one JSON
    value holds it in all its fields, a text at its end. ``text`` may be asked for by the number of the field. ``logs`` has
    a folder for each format. Gives how many fields there are.
    """
    told = text if callable(text) else lambda _number: text
    seen: set[tuple[Any, ...]] = set()
    for source in sorted(each for each in logs.rglob("*") if each.is_file()):
        target = folder / source.relative_to(logs)
        target.parent.mkdir(parents=True, exist_ok=True)
        lines = source.read_bytes().splitlines()
        if source.suffix != ".jsonl":
            seen.add((target,))
            target.write_text(_whole(source.read_text("utf-8"), told(len(seen))), "utf-8")
            continue
        for record in list(filter(None, map(_record, lines))):
            for place in _places(record):
                field = (source.relative_to(logs).parts[0], *_kind(record, place))
                if field not in seen:
                    seen.add(field)
                    fresh = {"uuid": f"planted-{len(seen)}"} if "uuid" in record else {}
                    lines.append(json.dumps(_planted({**record, **fresh}, place, told(len(seen)))).encode())
        target.write_bytes(b"\n".join((*lines, b"")))
    return len(seen)


def _whole(content: str, text: str) -> str:
    """A file that is one JSON value, or a text, with ``text`` in it."""
    try:
        value = json.loads(content)
    except ValueError:
        return f"{content}\n{text}\n"
    for place in list(_places(value)):
        value = _planted(value, place, text)
    return json.dumps(value)


def plant_names(folder: Path, names: Iterable[str]) -> None:
    """Logs of which folders, files and subagents are called by ``names``; those that no file can have are left out."""
    for number, name in enumerate(names):
        if "/" in name or "\n" in name or "\0" in name or len(name.encode()) > 200:
            continue
        sid = session_id(0x7000 + number)
        project = folder / "claude" / f"-home-dev-{name}"
        write_log(project / f"{sid}.jsonl", turn(1, "plan the beds", "done", session=sid))
        write_log(project / sid / "subagents" / f"agent-{name}.jsonl", turn(3, "count", "three", session=sid))
        write_log(project / f"{name}.jsonl", turn(5, "and the paths?", "done", session=name))
        (project / sid / "tool-results").mkdir()
        (project / sid / "tool-results" / f"{name}.txt").write_text(name, "utf-8")


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _kind(record: dict[str, Any], place: tuple[Any, ...]) -> tuple[Any, ...]:
    payload = record.get("payload")
    inner = payload.get("type") if isinstance(payload, dict) else None
    return (str(record.get("type")), str(inner), *("*" if isinstance(part, int) else part for part in place))


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, str):
        yield at
    elif isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(inner, (*at, key))


def _planted(record: Any, place: tuple[Any, ...], text: str) -> Any:
    """The record with the text behind what stands at a place, and as a name beside it."""
    new = copy.deepcopy(record)
    inner: Any = new
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = f"{inner[place[-1]]}\n{text}"
    if isinstance(inner, dict):
        inner[text] = text
    return new
