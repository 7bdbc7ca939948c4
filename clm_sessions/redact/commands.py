"""Secrets known by their place in commands, in the files of programs and in the calls of code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from clm_sessions.redact.spans import Span
from clm_sessions.redact.values import plausible

_BEFORE, _AFTER = 400, 600
"""How far around its sign a pattern is looked for, in characters."""

_LOGIN = re.compile(r"(?:-u|--user|--proxy-user)[ =]{1,2}[\"']?(?P<user>[^\s:\"']{1,80}):(?P<secret>[^\s\"']{3,200})")
_SHORT = re.compile(
    r"\b(?:sshpass|ldapsearch|smbclient|redis-cli|docker login|(?:helm )?registry login|podman login|htpasswd|mysql(?:dump|admin)?|mariadb|az login|twine upload|7z|zip|unzip)\b"
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
    r"\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC)[ \t]+(?:\\\r?\n[ \t]*)?(?P<secret>(?=[^\s\"'`]*[0-9A-Z=])[A-Za-z0-9._~+/=-]{12,})"
)
_ETH = re.compile(r"(?i)(?:private|mnemonic|wallet|deployer)[^\n]{0,40}?(?P<secret>0x[0-9a-f]{64})\b")
_SEED = re.compile(
    r"(?i)(?:mnemonic|(?:seed|recovery)[ _-]?phrase)[\"']?\s{0,3}[:=]?\s{0,3}(?:is )?[\"']?(?P<secret>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})"
)
_COOKIE_FLAG = re.compile(r"(?:\s-b|--cookie)[ =][\"']?[A-Za-z0-9_.-]{1,80}=(?P<secret>[^\s;\"']{8,4000})")
_COOKIE_SET = re.compile(
    r"[A-Za-z0-9_.-]{1,80}=(?P<secret>[^\s;,\"'=]{16,4000}=*);[ ]?(?i:path|httponly|max-age|expires|secure)\b"
)
_PRINCIPAL = re.compile(
    r"(?:[Cc]redentials?|[Bb]asic_?[Aa]uth|\blogin|[Aa]uthenticate)\([^()\n]{0,80}?[\"'][^\"'\n]{1,80}[\"'],[ ]?[\"'](?P<secret>[^\"'\n]{4,200})[\"']"
)
_HTPASSWD = re.compile(r"\bhtpasswd\s+-[a-zA-Z]*b[a-zA-Z]*\s+\S+\s+\S+\s+[\"']?(?P<secret>[^\s\"']{4,200})")
_WINDOWS = re.compile(
    r"(?i)\bnet[ ]+(?:user[ ]+[^\s/]+|use[ ]+(?:\S:[ ]+)?\\\S+)[ ]+(?:/user:\S+[ ]+)?[\"']?(?P<secret>[^\s/\"'][^\s\"']{3,200})"
)
_SECURE_STRING = re.compile(r"(?i)\bConvertTo-SecureString\b[^\n\"']{0,60}[\"'](?P<secret>[^\"'\n]{4,200})[\"']")
_ASKED = re.compile(r"(?i)\bpassword for [\"']?[^\s\"']{1,200}[\"']?:[ \t]+(?P<secret>[^\s\"']{4,200})")
_SAID_TO_BE = (
    r"[\"'\u2019”»]?\s{0,2}(?:[:=\uff1a]|は|是|为|為|는|은|es|est|é|is|ist|to)?\s{0,2}[\"'`“„«「]{0,2}(?P<secret>"
)
_PASSWORDS = "密码|密碼|口令|パスワード|비밀번호|암호|пароль|contraseña|mot de passe|senha|wachtwoord|hasło|lösenord"
_TOKENS = "令牌|密钥|密鑰|トークン|토큰|токен|ключ|schlüssel"
_FOREIGN = re.compile(rf"(?i)(?:{_PASSWORDS}){_SAID_TO_BE}(?:(?![\"'`])[!-~]){{6,200}})")
_FOREIGN_TOKEN = re.compile(
    rf"(?i)(?:{_TOKENS}){_SAID_TO_BE}(?=[a-z_./+=-]*\d)(?=[\d_./+=-]*[a-z])[a-z0-9_./+=-]{{16,4000}})"
)
_TOLD: tuple[tuple[tuple[str, ...], re.Pattern[str], str, str], ...] = (
    (("-u",), _LOGIN, "password", "env"),
    ((" -p", " -a", " -w"), _SHORT, "password", "env"),
    (("sudo -s", "--password-stdin", "passwd"), _PIPED, "password", "env"),
    (("login",), _NETRC, "password", "env"),
    (("requirepass", "masterauth"), _REQUIREPASS, "password", "env"),
    (("identified by '", "password '"), _IDENTIFIED, "password", "env"),
    ((":5432:", ":*:"), _PGPASS, "password", "env"),
    (("credential", "auth(", "login(", "authenticate("), _PRINCIPAL, "password", "quoted"),
    (("bearer ", "basic "), _BEARER, "authorization", "env"),
    (("htpasswd",), _HTPASSWD, "password", "env"),
    (("net use",), _WINDOWS, "password", "env"),
    (("securestring",), _SECURE_STRING, "password", "env"),
    (("password for",), _ASKED, "password", "said"),
    (tuple(_PASSWORDS.split("|")), _FOREIGN, "password", "said"),
    (tuple(_TOKENS.split("|")), _FOREIGN_TOKEN, "token", ""),
    ((" -b ", "--cookie"), _COOKIE_FLAG, "cookie", "env"),
    (("path=/", "httponly", "max-age="), _COOKIE_SET, "cookie", "env"),
    (("0x",), _ETH, "private-key", ""),
    (("mnemonic", "phrase"), _SEED, "seed-phrase", ""),
)
"""Signs that must stand near by (lower case), the pattern, the kind, how the value stands there ("": it needs no look)."""
_WITHIN = ("pass", "auth", "cred", "cookie", "bearer")
"""Words of names (``context``) that stand in many signs: where they do not stand, the signs need not be looked for."""
_SIGNS = tuple(
    (sign, number, next((stem for stem in _WITHIN if stem in sign), ""), sign.isascii())
    for number, told_ in enumerate(_TOLD)
    for sign in told_[0]
)
_PAIR = re.compile(
    r"\b(?:name|key)[\"']?[ ]?[:=][ ]?[\"']?(?P<name>[A-Za-z0-9_.-]{2,80})[\"']?,?\s{1,80}[\"']?value[\"']?[ ]?[:=][ ]?(?P<quote>[\"']?)(?P<secret>[^\s\"'<>]{4,4000})",
    re.IGNORECASE,
)
"""A name and its value as two fields, as manifests and settings in XML have them."""


def told(text: str, lower: str, kind_of: Callable[[str], str | None]) -> Iterator[Span]:
    """Secrets at their places. ``lower``: the text in lower case, as long as the text; ``kind_of``: see ``context``."""
    absent = {stem for stem in _WITHIN if stem not in lower}
    plain = lower.isascii()
    numbers = dict.fromkeys(
        number
        for sign, number, stem, plain_sign in _SIGNS
        if stem not in absent and (plain_sign or not plain) and sign in lower
    )
    for number in numbers:
        signs, pattern, kind, how = _TOLD[number]
        for start, end in _around(lower, signs):
            for found in pattern.finditer(text, start, end):
                if not how or plausible(found["secret"], "", "password", how):
                    yield Span(start=found.start("secret"), end=found.end("secret"), kind=kind, value=found["secret"])
    for start, end in _around(lower, ("value",)):
        for found in _PAIR.finditer(text, start, end):
            kind_ = kind_of(found["name"])
            if kind_ and plausible(found["secret"], found["name"], kind_, "quoted" if found["quote"] else "env"):
                label = "password" if kind_ == "password" else "secret"
                yield Span(start=found.start("secret"), end=found.end("secret"), kind=label, value=found["secret"])


def _around(lower: str, signs: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """The stretches around the signs, from where to where; those that touch are one."""
    places: list[int] = []
    for sign in signs:
        at = lower.find(sign)
        while at >= 0:
            places.append(at)
            at = lower.find(sign, at + len(sign))
    places.sort()
    start = end = 0
    for at in places:
        if at - _BEFORE > end:
            if end:
                yield start, end
            start = at - _BEFORE
        end = at + _AFTER
    if end:
        yield max(0, start), end
