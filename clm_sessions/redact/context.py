"""Secrets known by what they are called: ``PASSWORD=…``, ``"apiKey": "…"``, ``--token …``, ``Cookie: …``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clm_sessions.redact.spans import Span
from clm_sessions.redact.values import plausible

_STEMS = ("pass", "pwd", "secret", "token", "key", "cred", "auth", "bearer", "cookie", "session", "pin", "otp", "dsn", "signature", "salt", "connectionstring", "connection_string", "pw")  # fmt: skip
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.-]{0,60}$")
_NAME_AFTER = re.compile(r"[A-Za-z0-9_-]{0,40}")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_LAST = {
    "password", "passwd", "pwd", "passphrase", "passcode", "pass", "pw", "secret", "secrets", "token", "apikey", "authtoken", "accesstoken",
    "credential", "credentials", "authorization", "auth", "bearer", "cookie", "cookies", "sessionid", "sid", "dsn", "pin",
    "otp", "privatekey", "secretkey", "accesskey", "signature", "salt", "authkey", "csrf", "xsrf", "jwt",
}  # fmt: skip
_KEYS = {
    "api", "access", "secret", "private", "auth", "encryption", "signing", "master", "account", "storage", "service", "deploy",
    "license", "licence", "admin", "app", "application", "client", "subscription", "shared", "security", "integration", "ingest",
    "write", "read", "routing", "server", "personal", "session", "hmac", "crypt", "cipher", "webhook", "aes", "host", "user",
    "functions", "function", "recovery", "wallet", "consumer",
}  # fmt: skip
_TRAILING = {"value", "prod", "production", "dev", "staging", "live", "test", "base64", "b64", "hex", "new", "old", "current", "id", "string", "env", "raw", "plain", "default"}  # fmt: skip
_WEAK = {"auth", "signature", "salt", "pin", "sid", "session", "id", "otp", "csrf", "xsrf", "cookie", "cookies", "credential", "credentials", "secrets"}  # fmt: skip
_OPEN = {"password", "passwd", "pwd", "passphrase", "passcode", "pass", "pw"}

_ASSIGNED = re.compile(
    r"""["'`\])]{0,2}[ \t]{0,8}(?::[ \t]{0,2}[A-Za-z_][A-Za-z0-9_.\[\]| ]{0,30}?[ \t]{0,2})?(?P<op>:=|=>|->|=(?!=)|:(?!:))[ \t]{0,8}
    (?P<scheme>(?i:bearer|basic|token|digest|apikey|bot)[ \t]+)?(?:[bfru]{0,2}(?P<quote>\"{3}|["'`])|(?P<bare>(?=[^\s"'`])))""",
    re.VERBOSE,
)
_FLAG = re.compile(r"""[ \t]+(?P<quote>["'])?(?=[^\s"'-])""")
_PAIR = re.compile(r"""["'][ \t]{0,2},[ \t]{0,4}(?P<quote>["'])""")
_SAID = re.compile(
    r"""(?:[ \t]+(?:for|of)[ \t]+\S{1,40})?[ \t]+(?:is|was|to|set to|now)[ \t]*:?[ \t]+(?P<quote>["'`])?(?=[^\s"'`])""",
    re.IGNORECASE,
)
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
            kind = _kind(name)
            if kind is not None:
                yield from _values(text, start, done, name, kind)
    yield from _commands(text, lower)


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
    before = _NAME_BEFORE.search(text, max(0, at - 60), at)
    start = before.start() if before else at
    after = _NAME_AFTER.match(text, end)
    end = after.end() if after else end
    return text[start:end], start, end


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
    if last not in _LAST:
        return None
    return "password" if last in _OPEN else "weak" if last in _WEAK else "secret"


def _values(text: str, start: int, end: int, name: str, kind: str) -> Iterator[Span]:
    """What stands after a name, if it may be its value."""
    cookie = name.lower().endswith("cookie")
    found = _ASSIGNED.match(text, end)
    if found is not None:
        from_, to = _extent(
            text, found.end(), found["quote"], line=cookie or bool(found["scheme"]) or _env(text, start, found)
        )
        if cookie:
            if found["quote"] or found["op"].startswith(":"):
                yield from _crumbs(text, from_, to)
            return
        how = "quoted" if found["quote"] else "env" if _env(text, start, found) else "bare"
        if found["scheme"]:
            how = "env"
    elif name.startswith("--") and (found := _FLAG.match(text, end)):
        from_, to = _extent(text, found.end(), found["quote"], line=False)
        how = "env"
    elif found := _PAIR.match(text, end) or _TAG.match(text, end):
        from_, to = _extent(text, found.end(), found.groupdict().get("quote"), line=False)
        how = "bare"
    elif kind == "password" and name.lower() != "pass" and (found := _SAID.match(text, end)):
        from_, to = _extent(text, found.end(), found["quote"], line=False)
        how = "quoted" if found["quote"] else "said"
    else:
        return
    value = text[from_:to]
    if plausible(value, name, kind, how):
        yield Span(start=from_, end=to, kind=_label(name, kind), value=value)


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
    found = (_LINE_END if line else _BARE_END).search(text, start)
    end = found.start() if found else len(text)
    stretch = text[start:end]
    if line:
        stretch = re.split(r"\s+(?:#|&&|\|\||;|\||-[-a-zA-Z]|https?:)", stretch, maxsplit=1)[0].rstrip()
        if " " in stretch and not stretch.lower().startswith(("bearer ", "basic ")):
            stretch = stretch.split(" ", 1)[0]
    return start, start + len(stretch)


_CRUMB = re.compile(r"(?:^|[;\s])\s*([A-Za-z0-9_.%*-]{1,80})=([^;\s,(){}]{6,})")


def _crumbs(text: str, start: int, end: int) -> Iterator[Span]:
    """The values of a Cookie header; attributes such as Path and Expires are none."""
    stop = re.compile(r"[\r\n\"'`]").search(text, start)
    end = max(end, min(stop.start(), start + 4_000) if stop else min(len(text), start + 4_000))
    for found in _CRUMB.finditer(text[start:end]):
        if found[1].lower() not in {"path", "expires", "max-age", "domain", "samesite", "version"} and not found[
            2
        ].startswith(("$", "<", "{")):
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


_LOGIN = re.compile(r"(?:-u|--user|--proxy-user)[ =]{1,2}[\"']?(?P<user>[^\s:\"']{1,80}):(?P<secret>[^\s\"']{3,200})")
_PROGRAMS = (
    "sshpass", "ldapsearch", "smbclient", "redis-cli", "docker login", "registry login", "podman login", "htpasswd", "mysql",
    "mariadb", "unzip -p", "7z ", "zip -p",
)  # fmt: skip
_SHORT = re.compile(
    r"\b(?:sshpass|ldapsearch|smbclient|redis-cli|docker login|(?:helm )?registry login|podman login|htpasswd|mysql(?:dump|admin)?|mariadb|7z|zip|unzip)\b"
    r"[^\n|;&]{0,120}?\s-[pawP]\s?[\"']?(?P<secret>[^\s\"'-][^\s\"']{3,100})"
)
_PIPED = re.compile(
    r"\b(?:echo|printf)\s+(?:-n\s+)?[\"']?(?P<secret>[^\s\"'$][^\s\"'|]{3,200})[\"']?\s*\|\s*(?:sudo -S|[^\n|]{0,80}--password-stdin|[^\n|]{0,40}passwd)"
)
_NETRC = re.compile(r"\blogin\s+\S+\s+password\s+(?P<secret>\S{4,200})")
_REQUIREPASS = re.compile(r"(?m)^\s*(?:requirepass|masterauth)\s+[\"']?(?P<secret>[^\s\"']{4,200})")
_IDENTIFIED = re.compile(
    r"(?i)\b(?:user|role|grant|login)\b[^\n;]{0,120}\b(?:identified by|password)\s+'(?P<secret>[^']{4,200})'"
)
_PGPASS = re.compile(
    r"(?m)^[ \t+>-]*[A-Za-z0-9_.*-]+:(?:\d{2,5}|\*):[A-Za-z0-9_*-]+:[A-Za-z0-9_.-]+:(?P<secret>[^\s:]{4,100})$"
)
_BEARER = re.compile(
    r"\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC)[ \t]+(?P<secret>(?=[^\s\"'`]*[0-9A-Z=])[A-Za-z0-9._~+/=-]{12,})"
)
_ETH = re.compile(r"(?i)(?:private|mnemonic|wallet|deployer)[^\n]{0,40}?(?P<secret>0x[0-9a-f]{64})\b")
_SEED = re.compile(
    r"(?i)(?:mnemonic|(?:seed|recovery)[ _-]?phrase)[\"']?\s{0,3}[:=]?\s{0,3}(?:is )?[\"']?(?P<secret>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})"
)
_TOLD: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = (
    (("-u ", "--user", "--proxy-user", "-u="), _LOGIN, "password"),
    (_PROGRAMS, _SHORT, "password"),
    (("sudo -s", "--password-stdin", "passwd"), _PIPED, "password"),
    (("login",), _NETRC, "password"),
    (("requirepass", "masterauth"), _REQUIREPASS, "password"),
    (("identified by '", "password '"), _IDENTIFIED, "password"),
    ((":5432:", ":*:"), _PGPASS, "password"),
    (("bearer ", "basic "), _BEARER, "authorization"),
    (("0x",), _ETH, "private-key"),
    (("mnemonic", "phrase"), _SEED, "seed-phrase"),
)
"""Signs that must stand in the text (lower case), the pattern, the kind."""


def _commands(text: str, lower: str) -> Iterator[Span]:
    """Passwords at their places in commands and in the files of programs."""
    for signs, pattern, kind in _TOLD:
        if any(sign in lower for sign in signs):
            for found in pattern.finditer(text):
                if plausible(found["secret"], "", "password", "env"):
                    yield Span(start=found.start("secret"), end=found.end("secret"), kind=kind, value=found["secret"])
