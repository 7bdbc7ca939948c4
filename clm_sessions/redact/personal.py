"""Personal data, each kind by choice: user names in home folders, e-mail addresses, IP addresses, host names, own words.

Names get pseudonyms that are the same all over one publication, so that a path still reads as one.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from urllib.parse import quote

from clm_sessions.redact.spans import Span

KINDS = ("users", "emails", "addresses", "hosts")
"""What may be chosen beside own words."""

_NAME = r"(?P<name>[^\s/\\\"'`<>|:*?,;()\[\]{}$]{1,64})"
_HOMES = (
    re.compile(rf"/(?<![A-Za-z0-9_]/)(?:home|Users|mnt/[a-z]/Users|export/home|var/home|data/home)/{_NAME}"),
    re.compile(rf":(?<=\b[A-Za-z]:)(?:\\{{1,4}}|/)Users(?:\\{{1,4}}|/){_NAME}"),
    re.compile(r"-(?<![A-Za-z0-9_/]-)(?:home|Users)-(?P<name>[A-Za-z0-9_]{1,64})(?=-|\b)"),
)
"""Home folders, those of Windows, and folders as Claude Code writes them. Each begins with one sign, which is quickly found."""
_NOT_PEOPLE = {
    "shared",
    "public",
    "default",
    "user",
    "username",
    "you",
    "me",
    "name",
    "root",
    "runner",
    "linuxbrew",
    "project",
    "app",
}
_DOMAIN = re.compile(r"@(?:[\w-]{1,63}\.)+[^\W\d_]{2,24}\b")
_LONGEST_NAME = 64
_NOT_MAIL = re.compile(
    r"(?i)@(?:[a-z0-9-]+\.)*(?:example\.(?:com|org|net)|[a-z0-9-]+\.(?:invalid|test|example)|localhost)$|^git@|\.(?:png|jpg|svg|py|js|ts)$"
)
_IPV4_SIGN = re.compile(r"\.\d{1,3}\.\d")
_IPV4 = re.compile(r"(?<![\d.v-])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.]|-\w)")
_IPV6_SIGN = re.compile(r":[0-9a-fA-F]{0,4}:")
_IPV6 = re.compile(
    r"(?<![\w:.])(?:(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|(?=[0-9a-fA-F:]{6,})[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4})*::(?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4})*)?)(?![\w:.])"
)
_NOBODY = re.compile(
    r"^(?:127\.|0\.0\.0\.0|255\.|1\.1\.1\.1$|8\.8\.8\.8$|8\.8\.4\.4$|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.)"
)
_HOST_SIGN = re.compile(r"\.(?i:local|lan|internal|intranet|corp|home|ts\.net)")
_HOST = re.compile(
    r"(?i)(?<![\w.@-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:local|lan|internal|intranet|corp|home|localdomain|home\.arpa|ts\.net)\b(?![\w.-]*\.\w|\()"
)
_HOST_OF_PROMPT = re.compile(r"@(?<=\w@)(?P<host>(?i:[a-z0-9][a-z0-9-]{2,62}))(?=:[~/]|[ ~]*[$#%] )")
_IN_NAME = re.compile(r"[\w.@:-]*")


class Personal:
    """Finds personal data.

    ``kinds``: some of ``KINDS``; ``names``: user names known from elsewhere (the paths of all sessions), found wherever
    they stand as a word; ``words``: the user's own list, found without regard to case.
    """

    name = "personal"
    version = "1"

    def __init__(self, kinds: Collection[str] = KINDS, *, names: Iterable[str] = (), words: Iterable[str] = ()) -> None:
        wrong = set(kinds) - set(KINDS)
        if wrong:
            raise ValueError(f"no kind of personal data: {', '.join(sorted(wrong))}; there are {', '.join(KINDS)}")
        self._kinds = frozenset(kinds)
        self._names = (
            _listed(name for name in names if len(name) > 2 and name.lower() not in _NOT_PEOPLE)
            if "users" in kinds
            else None
        )
        self._words = _listed(words, re.IGNORECASE)

    def spans(self, text: str) -> Iterator[Span]:
        """The personal data in ``text``."""
        if "users" in self._kinds:
            yield from _users(text, self._names)
        if "emails" in self._kinds:
            yield from _emails(text)
        if "addresses" in self._kinds:
            yield from _addresses(text)
        if "hosts" in self._kinds:
            yield from _hosts(text)
        if self._words is not None:
            yield from (_span(m, "word", value=m[0].lower()) for m in self._words.finditer(text))


def user_names(paths: Iterable[str]) -> set[str]:
    """The names of users whose home folders stand in paths."""
    return {m["name"] for path in paths for p in _HOMES for m in p.finditer(path) if _person(m["name"])}


def _users(text: str, names: re.Pattern[str] | None) -> Iterator[Span]:
    for pattern in _HOMES:
        for found in pattern.finditer(text):
            if _person(found["name"]):
                yield Span(start=found.start("name"), end=found.end("name"), kind="user", value=found["name"])
    if names is not None:
        yield from (_span(m, "user") for m in names.finditer(text))


def _emails(text: str) -> Iterator[Span]:
    for domain in _DOMAIN.finditer(text):
        before = text[max(0, domain.start() - _LONGEST_NAME) : domain.start()]
        at = len(before)
        while at and (before[at - 1].isalnum() or before[at - 1] in "._%+-"):
            at -= 1
        name = before[at:]
        if name and not _NOT_MAIL.search(name + domain[0]):
            yield Span(start=domain.start() - len(name), end=domain.end(), kind="email")


def _addresses(text: str) -> Iterator[Span]:
    for start, end in _names_around(text, _IPV4_SIGN):
        yield from (_span(m, "ip-address") for m in _IPV4.finditer(text, start, end) if not _NOBODY.match(m[0]))
    for start, end in _names_around(text, _IPV6_SIGN):
        yield from (_span(m, "ip-address") for m in _IPV6.finditer(text, start, end) if not _NOBODY.match(m[0]))


def _hosts(text: str) -> Iterator[Span]:
    for start, end in _names_around(text, _HOST_SIGN):
        yield from (_span(m, "host") for m in _HOST.finditer(text, start, end))
    for found in _HOST_OF_PROMPT.finditer(text):
        yield Span(start=found.start("host"), end=found.end("host"), kind="host")


def _names_around(text: str, sign: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The runs of letters, digits and signs of names that hold a sign, and one character more, each once: from, to."""
    done = 0
    while (found := sign.search(text, done)) is not None:
        start = found.start()
        while start > done and _IN_NAME.fullmatch(text[start - 1]):
            start -= 1
        run = _IN_NAME.match(text, found.end())
        done = run.end() if run else found.end()
        yield start, done + 1


def _person(name: str) -> bool:
    return name.lower() not in _NOT_PEOPLE and not name.startswith((".", "%", "user-")) and name != "..."


def _listed(words: Iterable[str], flags: int = 0) -> re.Pattern[str] | None:
    kept = {way for word in words if word.strip() for way in _spellings(word.strip())}
    each = map(_one, sorted(kept, key=lambda way: (-len(way), way)))
    return re.compile(rf"(?:{'|'.join(each)})(?![A-Za-z0-9])", flags | re.DOTALL) if kept else None


def _one(word: str) -> str:
    """A pattern for a word; where it holds spaces, a line may have been broken there."""
    pattern = re.escape(word)
    if " " in word:
        return "(?<![A-Za-z0-9])" + pattern.replace("\\ ", r"\s+")
    # The word first, what must not stand before it last: so the beginning of one word alone is quickly found.
    return rf"{pattern}(?<![A-Za-z0-9].{{{len(word)}}})"


def _spellings(word: str) -> Iterator[str]:
    """A word as it stands, with its accents apart as file systems have them, as JSON writes it, and as addresses do."""
    for way in (word, unicodedata.normalize("NFC", word), unicodedata.normalize("NFD", word)):
        yield from (way, json.dumps(way)[1:-1], quote(way.encode("utf-8", "replace")))


def _span(found: re.Match[str], kind: str, value: str | None = None) -> Span:
    return Span(start=found.start(), end=found.end(), kind=kind, value=value)
