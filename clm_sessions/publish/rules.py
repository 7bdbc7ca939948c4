"""A person's decisions about single findings, as a file that does not hold what was found.

JSON: ``{"clm-sessions rules": 1, "salt": HEX, "keep": [DIGEST, …], "hide": [DIGEST, …]}``. A digest is made of the value
and the salt by PBKDF2, slowly: who has the file cannot read a value out of it, but can try whether a guess is one. So a
rules file is for the machine it was made on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from clm_sessions.errors import UsageError

MARK = "clm-sessions rules"
VERSION = 1
LARGEST = 16_000_000
_ROUNDS = 1_000
_SALT = 16


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Findings by the digests of their values: those that stay, and those hidden wherever they stand."""

    salt: bytes
    keep: Collection[str] = field(default=frozenset())
    hide: Collection[str] = field(default=frozenset())

    @cached_property
    def _known(self) -> dict[str, str]:
        return {}

    def digest(self, value: str) -> str:
        """What stands for a value in a rules file of this salt: 32 hexadecimal digits."""
        found = self._known.get(value)
        if found is None:
            data = value.encode("utf-8", "surrogatepass")
            found = self._known[value] = hashlib.pbkdf2_hmac("sha256", data, self.salt, _ROUNDS).hex()[:32]
        return found

    def keeps(self, value: str) -> bool:
        """Whether a value stays as it is."""
        return bool(self.keep) and self.digest(value) in self.keep and not self.hides(value)

    def hides(self, value: str) -> bool:
        """Whether a value is hidden wherever it stands, be it a plain word. Hiding goes before keeping."""
        return bool(self.hide) and self.digest(value) in self.hide

    def text(self) -> str:
        """The file."""
        told = {MARK: VERSION, "salt": self.salt.hex(), "keep": sorted(self.keep), "hide": sorted(self.hide)}
        return json.dumps(told, indent=1) + "\n"


def read_rules(path: Path) -> Rules:
    """The rules of a file. UsageError if it is none."""
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError("too long")  # noqa: TRY301 - one remedy for all
        return parse_rules(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: no rules file ({error}); download one from the review page") from None


def parse_rules(text: str) -> Rules:
    """The rules of a text. ValueError says what it lacks."""
    given = json.loads(text)
    if not isinstance(given, dict) or given.get(MARK) != VERSION:
        raise ValueError(f'it has no "{MARK}": {VERSION}')
    salt = salt_of(given.get("salt"))
    if salt is None:
        raise ValueError("it has no salt")
    lists = [given.get(name, []) for name in ("keep", "hide")]
    if not all(isinstance(each, list) and all(isinstance(one, str) for one in each) for each in lists):
        raise ValueError("keep and hide are lists of digests")
    return Rules(salt=salt, keep=frozenset(lists[0]), hide=frozenset(lists[1]))


def salt_of(text: object) -> bytes | None:
    """The salt that hexadecimal digits stand for; None if they are none."""
    try:
        salt = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        return None
    return salt if len(salt) == _SALT else None
