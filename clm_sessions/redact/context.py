"""Secrets known by what they are called: ``PASSWORD=…``, ``"apiKey": "…"``, ``--token …``, ``Cookie: …``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from clm_sessions.redact.commands import told
from clm_sessions.redact.shapes import carried_on
from clm_sessions.redact.spans import Span
from clm_sessions.redact.values import plausible

_STEMS = ("pass", "secret", "token", "key", "cred", "auth", "bearer", "cookie", "session", "pin", "otp", "dsn", "salt", "connectionstring", "connection_string", "pw", "psk", "kennwort", "_code")  # fmt: skip
_NAME_BEFORE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_NAME_AFTER = re.compile(r"[A-Za-z0-9_-]{0,40}")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_LAST = {
    "password", "passwords", "passwd", "pwd", "passphrase", "passcode", "pass", "pw", "secret", "secrets", "token", "apikey", "authtoken", "accesstoken",
    "credential", "credentials", "authorization", "auth", "bearer", "cookie", "cookies", "sessionid", "sid", "dsn", "pin",
    "otp", "privatekey", "secretkey", "accesskey", "salt", "psk", "passwort", "kennwort", "authkey", "csrf", "xsrf", "jwt",
}  # fmt: skip
_KEYS = {
    "api", "access", "secret", "private", "auth", "encryption", "signing", "master", "account", "storage", "service", "deploy",
    "license", "licence", "admin", "app", "application", "client", "subscription", "shared", "security", "integration", "ingest",
    "write", "read", "routing", "server", "personal", "session", "hmac", "crypt", "cipher", "webhook", "aes", "host", "user",
    "functions", "function", "recovery", "wallet", "consumer", "preshared", "algolia",
}  # fmt: skip
_TRAILING = {"value", "prod", "production", "dev", "staging", "live", "test", "base64", "b64", "hex", "new", "old", "current", "id", "string", "env", "raw", "plain", "default", "base", "data"}  # fmt: skip
_WEAK = {"auth", "salt", "pin", "sid", "session", "id", "otp", "csrf", "xsrf", "cookie", "cookies", "credential", "credentials", "secrets"}  # fmt: skip
_OPEN = {"password", "passwords", "passwd", "pwd", "passphrase", "passcode", "pass", "pw", "psk", "passwort", "kennwort"}  # fmt: skip
_JOINED = ("password", "passwd", "secret", "token", "apikey")
"""Ends of names written as one word: ``PGPASSWORD``."""
_CODES = {"device", "authorization", "recovery", "backup", "otp"}

_ASSIGNED = re.compile(
    r"""["'`\])]{0,2}[ \t]{0,40}(?::[ \t]{0,2}[A-Za-z_&][A-Za-z0-9_.\[\]|&' ]{0,30}?[ \t]{0,2})?(?P<op>:=|=>|->|:-|\|\||\?\?|=(?!=)|:(?!:))[ \t]{0,8}
    (?:[>|][-+]?[ \t]{0,8}\r?\n[ \t+-]{1,40})?
    (?P<scheme>(?i:bearer|basic|token|digest|apikey|bot)[ \t]+)?(?:[bfru]{0,2}(?P<quote>\"{3}|["'`])|(?P<bare>(?=[^\s"'`])))""",
    re.VERBOSE,
)
_NEXT = re.compile(
    r"""["'`\]),]{0,3}[ \t]{0,40}(?:[-:=|?>,(]|(?:for|of|is|was|to|set|now|lautet|ist)\b)""", re.IGNORECASE
)
"""What stands after a name that may have a value: a quick look."""
_FLAG = re.compile(r"""[ \t]+(?:\\\r?\n[ \t]*)?(?P<quote>["'])?(?=[^\s"'-])""")
_PAIR = re.compile(r"""["'][ \t]{0,2},[ \t]{0,4}(?P<quote>["'])""")
_SAID = re.compile(
    r"""(?:[ \t]+(?:for|of)[ \t]+\S{1,40})?[ \t]+(?:is|was|to|set to|now|lautet|ist)[ \t]*:?[ \t]+(?P<quote>["'`])?(?=[^\s"'`])""",
    re.IGNORECASE,
)
_SETTER = re.compile(r"(?:^|[._])(?:set|with)_?[A-Z]?[A-Za-z]*$")
_CALL = re.compile(r"""\([ \t]*(?P<quote>["'])(?=[^"'\n]+["'][ \t]*\))""")
_SET_BEFORE = re.compile(r"(?:\bset[ ]+(?:-[a-zA-Z]*x[a-zA-Z]*|-x -g|-Ux)|\bsetx|^ENV)[ \t]+$", re.MULTILINE)
_COLON = re.compile(r"[\"']?[ \t]*:[ \t]*[\"']?")
_QUOTED = re.compile(r"""["'`]?[ \t]*=[ \t]*["'`]""")
_WORD_BEFORE = re.compile(r"\b([A-Za-z]{2,10})(?:[ ]|[_-]\r?\n)$")
_SPOKEN = {"api", "secret", "access", "private", "auth", "license", "signing", "encryption"}
_LOOK = 160
"""So much of a value is looked at, in characters."""
_WIDE = 60
"""A line may have been broken in its value from this column on."""
_TAG = re.compile(r">(?=[^<>\s])")
_BARE_END = re.compile(r"[\s\"'`,;)}\]<>]|$")
_LINE_END = re.compile(r"[\r\n\"'`]|$")


def named(text: str) -> Iterator[Span]:
    """Places that are secrets because of their name."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter whose lower case is two
        lower = "".join(c if len(low := c.lower()) != 1 else low for c in text)
    done = -1
    for at, to in _stems(lower):
        if to > done:
            name, start, done = _name(text, at, to)
            kind = _kind(name) or _spoken(text, start, name)
            if kind is not None and (_NEXT.match(text, done) or name.isupper() or name.startswith("--")):
                for span in _values(text, start, done, name, kind):
                    yield span
                    done = max(done, span.end)
    yield from told(text, lower, _kind)


def _stems(lower: str) -> Iterator[tuple[int, int]]:
    """Where a word of a name for a secret stands, in order."""
    places: list[tuple[int, int]] = []
    for stem in _STEMS:
        at = lower.find(stem)
        while at >= 0:
            places.append((at, at + len(stem)))
            at = lower.find(stem, at + len(stem))
    places.sort()
    return iter(places)


def _name(text: str, at: int, end: int) -> tuple[str, int, int]:
    """The whole name around a stem, and where it stands."""
    before = text[max(0, at - 60) : at]
    start = at - len(before) + len(before.rstrip(_NAME_BEFORE))
    after = _NAME_AFTER.match(text, end)
    end = after.end() if after else end
    return text[start:end], start, end


@lru_cache(maxsize=4_096)
def _kind(name: str) -> str | None:
    """``password``, ``secret``, … or ``weak`` for a name that may well hold something else; None if it is no secret's."""
    words = [part.lower() for part in _PARTS.findall(name)]
    while len(words) > 1 and (words[-1] in _TRAILING or words[-1].isdigit()) and words[-2:] != ["session", "id"]:
        words.pop()
    if not words:
        return None
    last = words[-1]
    if words[-2:] == ["session", "id"] or words[-2:] == ["connection", "string"]:
        return "weak"
    if last in {"key", "keys"}:
        return "key" if len(words) > 1 and words[-2] in _KEYS else None
    if last == "code":
        return "key" if len(words) > 1 and words[-2] in _CODES else None
    if last not in _LAST:
        joined = next((end for end in _JOINED if last.endswith(end)), None)
        return None if joined is None else "password" if joined.startswith("passw") else "secret"
    return "password" if last in _OPEN else "weak" if last in _WEAK else "secret"


def _spoken(text: str, start: int, name: str) -> str | None:
    """The kind of a name in two words, ``API key``, or broken by a line end."""
    if name.lower() != "key":
        return None
    before = _WORD_BEFORE.search(text, max(0, start - 16), start)
    return "key" if before and before[1].lower() in _SPOKEN else None


def _values(text: str, start: int, end: int, name: str, kind: str) -> Iterator[Span]:
    """What stands after a name, if it may be its value."""
    if name.lower().endswith("cookie"):
        begin = _COLON.match(text, end) or _QUOTED.match(text, end)
        if begin is not None:
            yield from _crumbs(text, begin.end())
        return
    place = _place(text, start, end, name, kind)
    if place is None:
        return
    from_, to, how = place
    if plausible(text[from_ : min(to, from_ + _LOOK)], name, kind, how):
        if to - from_ == _LOOK and (rest := _BARE_END.search(text, to)):
            to = rest.start()
        if kind != "password" and how != "quoted" and to - text.rfind("\n", 0, to) > _WIDE:
            to = carried_on(text, to)
        yield Span(start=from_, end=to, kind=_label(name, kind), value=text[from_:to])


def _place(text: str, start: int, end: int, name: str, kind: str) -> tuple[int, int, str] | None:
    """Where the value of a name stands, from and to, and how: see ``plausible``."""
    if found := _ASSIGNED.match(text, end):
        scheme, env = bool(found["scheme"]) and kind != "password", _env(text, start, found)
        env = env and (not found["quote"] or found.start("op") == end)
        how = "env" if scheme or env else "quoted" if found["quote"] else "bare"
        return *_extent(text, found.end(), found["quote"], line=scheme or env), how
    if found := (name.startswith("--") and _FLAG.match(text, end)) or None:
        return *_extent(text, found.end(), found["quote"], line=False), "env"
    if found := _PAIR.match(text, end):
        return *_extent(text, found.end(), found["quote"], line=False), "bare"
    if found := _TAG.match(text, end):
        return *_extent(text, found.end(), None, line=False), "bare"
    if _SETTER.search(name) and (found := _CALL.match(text, end)):
        return *_extent(text, found.end(), found["quote"], line=False), "quoted"
    if name.isupper() and (found := _FLAG.match(text, end)) and _SET_BEFORE.search(text, max(0, start - 24), start):
        return *_extent(text, found.end(), found["quote"], line=False), "env"
    if kind != "weak" and name.lower() != "pass" and (found := _SAID.match(text, end)):
        return *_extent(text, found.end(), found["quote"], line=False), "quoted" if found["quote"] else "said"
    return None


def _env(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether it is a line of an environment file or a shell: an upper-case name, at most ``export`` before it."""
    name_end = found.start()
    line = text.rfind("\n", 0, start) + 1
    before = text[line:start].strip(" \t+->|#$")
    name = text[start:name_end]
    return (
        found["op"] == "="
        and name.isupper()
        and (before in {"", "export", "ENV", "ARG", "-e", "set"} or before.endswith(("export", "env", "-e")))
    )


def _extent(text: str, start: int, quote: str | None, *, line: bool) -> tuple[int, int]:
    """From where to where a value goes: to its closing quote, the end of the line, or of the word."""
    if quote:
        end = text.find(quote, start, start + 4_000)
        while end > 0 and text[end - 1] == "\\":
            end = text.find(quote, end + 1, start + 4_000)
        if end >= 0:
            return start, end
    found = (_LINE_END if line else _BARE_END).search(text, start, start + _LOOK)
    stretch = text[start : found.start() if found else start + _LOOK]
    if line:
        stretch = re.split(r"\s+(?:#|&&|\|\||;|\||-[-a-zA-Z]|https?:)", stretch, maxsplit=1)[0].rstrip()
        if " " in stretch and not stretch.lower().startswith(("bearer ", "basic ")):
            stretch = stretch.split(" ", 1)[0]
    return start, start + len(stretch)


_CRUMB = re.compile(r"(?:^|[;\s])\s*([A-Za-z0-9_.%*-]{1,80})=([^;\s,(){}]{6,})")
_CRUMBS_END = re.compile(r"[\r\n\"'`]")
_ATTRIBUTES = {"path", "expires", "max-age", "domain", "samesite", "version"}


def _crumbs(text: str, start: int) -> Iterator[Span]:
    """The values of a Cookie header; attributes such as Path and Expires are none."""
    stop = _CRUMBS_END.search(text, start, start + 4_000)
    end = stop.start() if stop else min(len(text), start + 4_000)
    for found in _CRUMB.finditer(text[start:end]):
        if found[1].lower() not in _ATTRIBUTES and not found[2].startswith(("$", "<", "{")):
            yield Span(start=start + found.start(2), end=start + found.end(2), kind="cookie", value=found[2])


def _label(name: str, kind: str) -> str:
    low = name.lower()
    if kind == "password":
        return "password"
    for word, label in (
        ("auth", "authorization"),
        ("cookie", "cookie"),
        ("session", "session-id"),
        ("private", "private-key"),
        ("key", "key"),
        ("token", "token"),
    ):
        if word in low:
            return label
    return "secret"
