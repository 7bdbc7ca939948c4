"""Whether a value beside the name of a secret is one: no placeholder, no code, no plain word."""

from __future__ import annotations

import re

_REFERENCE = re.compile(
    r"^\$|\$\{|\$\(|\{\{|<[^>]*>?$|^%[A-Za-z(]|^@|\(\)?$|\bos\.|environ|getenv|process\.env|import\.meta|^env[.:]|^secrets?[.:/]|^vault:|^var\.|^self\.|^this\."
    r"|^(?:config|settings|args|options|request|req|ctx|props|data|params|opts|c|cfg|conf|user|res|response|row|body|headers?|kwargs|app|db|client|secret|token|key)(?:\.|\[|\()"
)
_MASKED = re.compile(
    r"^[*x•.#_?X-]+$|\*{3}|•{2}|\.{3}|…|^x{3}|xxxx|XXXX|\[redacted|<redacted|REDACTED|^0+$|^1?23456?7?8?9?0?$"
)
_WORDS = {
    "password", "passwd", "secret", "token", "null", "none", "nil", "true", "false", "undefined", "string", "str", "bytes", "int", "number",
    "bool", "boolean", "object", "any", "optional", "required", "example", "placeholder", "changeme", "change_me", "dummy", "fake", "test",
    "redacted", "hidden", "masked", "unknown", "default", "empty", "value", "here", "yes", "no", "on", "off", "inherit", "auto", "manual",
    "text", "file", "filename", "path", "stdin", "bearer", "basic", "oauth", "oauth2", "jwt", "apikey", "api_key", "api-key", "header", "query", "cookie", "prompt", "login", "session",
}  # fmt: skip
_TELLS = re.compile(
    r"^(?i:your|my|the|some|insert|replace|enter|put|add|example|dummy|fake|sample|placeholder)(?:[-_ ]|(?<=[a-z])[A-Z][a-z])|(?i:[-_](?:here|placeholder|example))$|EXAMPLE(?:KEY)?$"
)
_IDENTIFIER = re.compile(r"^[^\W\d]+(?:[.\-/:][^\W\d]+)*$")
_CODE = re.compile(r"[(){}\[\]<>|]|=>|::|\|\||&&|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")
_PLAIN = re.compile(
    r"^(?:\d{1,5}|\d+(?:\.\d+)+[a-z0-9-]*|\d{4}-\d\d-\d\d.*|[\d,._:-]+[a-zA-Z%]{0,3}|v?\d+(?:\.\d+)*|/[\w./-]*|\.{1,2}/.*|~/.*|https?://[^:@]*|[A-Za-z]:\\.*)$"
)
_ID = re.compile(r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
_PATH = re.compile(r"^[\w.-]*/[\w./-]+\.[A-Za-z]{1,6}$")
_NUMBERED = re.compile(r"^[A-Za-z_]+[-_]?\d{1,2}$")
_SYMBOL = re.compile(r"[^\w\-./: ]")
_WRITTEN = re.compile(r"\\+u[0-9a-f]{4}")

_LONG, _FEW, _RANDOM = 16, 2, 20


def plausible(value: str, name: str, kind: str, how: str) -> bool:
    """Whether ``value`` is worth hiding.

    ``kind``: password, key, secret, or weak for a name that may hold something harmless. ``how`` it stands there: quoted,
    bare (code, YAML), env (a line of an environment, an argument of a command), or said (prose).
    """
    value = _WRITTEN.sub("ü", value.strip())
    if len(value) < (4 if kind == "password" and how == "env" else 6) or "\n" in value or "[redacted" in value:
        return False
    low = value.lower()
    if (
        low in _WORDS
        or low == name.lower()
        or _REFERENCE.search(value)
        or _MASKED.search(value)
        or _PLAIN.match(value)
        or _PATH.match(value)
    ):
        return False
    if _TELLS.search(value) or (
        " " in value and (kind != "password" or how not in {"quoted", "env"} or value.count(" ") > 6)
    ):
        return False
    if kind == "weak" and _ID.match(value):
        return False
    if how == "env" and kind == "password":
        return True
    digits, mixed = any(c.isdigit() for c in value), value != low and value != value.upper()
    symbols = bool(_SYMBOL.search(value))
    if kind == "password":
        return _password(value, how, digits, mixed, symbols)
    if _CODE.search(value):
        return False
    return _key(value, kind, how, digits, mixed)


def _password(value: str, how: str, digits: bool, mixed: bool, symbols: bool) -> bool:
    if how == "quoted":
        if " " in value:
            return digits and symbols
        return (
            (digits and not _NUMBERED.match(value))
            or (symbols and not _CODE.search(value))
            or (mixed and not _IDENTIFIER.match(value))
            or (digits and len(value) >= 7)
        )
    if how == "bare" and _CODE.search(value):
        return False
    return (
        digits
        and (mixed or symbols or any(c.isalpha() for c in value))
        and not _IDENTIFIER.match(value)
        and (len(value) >= 7 or symbols)
    ) or (how == "said" and symbols and any(c.isalpha() for c in value[:-1]) and not value[:-1].isalpha())


def _key(value: str, kind: str, how: str, digits: bool, mixed: bool) -> bool:
    """A token: long, letters and digits in one, not words joined by dashes."""
    if len(value) < (16 if kind == "weak" or how == "said" else 10 if how != "env" else 8):
        return False
    if _IDENTIFIER.match(value):
        return (
            mixed
            and len(value) >= 24
            and not re.search(r"[._/-]", value)
            and len(re.findall(r"[a-z][A-Z]", value)) >= 5
        )
    letters = sum(c.isalpha() for c in value)
    if how == "env" and kind != "weak" and len(value) >= _LONG:
        return digits and letters >= _FEW
    words = [w for w in re.split(r"[-_./: ]", value) if w]
    random = any(len(w) >= _RANDOM and not w.isalpha() for w in words)
    if digits and len(words) > 1 and not random and sum(w.isalpha() and len(w) > 2 for w in words) * 2 > len(words):
        return False  # claude-sonnet-4-5, test_token_1
    return digits and letters >= _FEW
