"""Secrets found by their own shape: the tokens of ``rules``, private keys, passwords in addresses and headers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from clm_sessions.redact.readings import BREAK, Reading, joined
from clm_sessions.redact.rules import ANYWHERE, Rule, candidates
from clm_sessions.redact.spans import Span

_LONGEST = 4_096
"""How far from its beginning a token may go on."""
_BROKEN = 1_000
"""How far lines are joined for what is no token without the next line."""
_PLACEHOLDERS = 300
"""The longest placeholder."""
_SHORTEST = 15
_WIDE = 39
"""Lines below this width were not broken by a terminal, in characters."""
_BLANK = {"", " ", "\t"}
_LINE_ENDS = "\r\t │┃║"
_SIGN = re.compile(r"[+-]+|[ \t]*(?:\d{1,6}(?:→|\t)|[│┃║])[ \t]*")
"""What stands before a line in a diff, a numbered listing or a frame."""
_DISTINCTIVE = 4
_MADE_UP = re.compile(r"[xX]{8}|EXAMPLE$|^(.)\1*$")
"""The placeholder of a manual."""
_CUT = re.compile(r"(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{8,300}(?=\.{3}|…|[ ]?\[(?:truncated|cut|\d))")
"""What is left of a token that the log cut off and says so."""
_WORD = re.compile(r"[A-Za-z0-9+/]")
_RUN = re.compile(r"[A-Za-z0-9_=+/.-]*")
_MORE = re.compile(
    BREAK.pattern + r"(?=[A-Za-z_=+/.-]*\d)(?=[0-9_=+/.-]*[A-Za-z])[A-Za-z0-9_+/=.-]{8,}(?=[\s\"'`,;)\]}]|$)"
)
"""The rest of a token on the next line: a run of letters and digits that is not a name with a value."""

_KEY = re.compile(r"-----BEGIN (?P<what>(?:[A-Z0-9]+ )*?PRIVATE KEY(?: BLOCK)?)-----")
_KEY_BODY = re.compile(r"(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]{1,60}-----)?")
_KEY_CUT = re.compile(r"(?:[ \t\r\n+|>\"',\\]*(?:[A-Za-z0-9+/=]{16,}|[A-Z][A-Za-z-]{2,20}: [^\n]*))+")
_PUTTY = re.compile(r"Private-Lines: \d+\r?\n(?:[ \t+]*[A-Za-z0-9+/=]{10,}\r?\n?)+")

_URL = re.compile(
    r"(?<=://)(?P<user>[^\s:/@\"'<>`,]{0,200}):(?P<secret>[^\s@\"'<>`]{1,300}"
    r"(?:@[^\s@/?&,\"'<>`]{1,100}(?=@[A-Za-z0-9\[]))*)@(?=[A-Za-z0-9\[_$%-])"
)
_QUERY = re.compile(
    r"[?&;](?:[a-z0-9_-]*(?:token|secret|passw(?:or)?d|api_?-?key|signature|credential)|key|sig|auth|code|pwd"
    r"|X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature)=(?P<secret>[^&\s\"'<>`#\\)\]]{8,2000})",
    re.IGNORECASE,
)
_OTP = re.compile(r"[?&]secret=(?P<secret>[A-Z2-7]{12,}=*)", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"[${<*]|%(?![0-9A-Fa-f]{2})|^(?:x+|\.+|pass(?:word)?|pwd|secret|token|user)$", re.IGNORECASE)


def shaped(read: Reading, words: Iterable[str]) -> Iterator[Span]:
    """Places of ``read`` that are secrets by shape. ``words``: its ``long_words``."""
    text = read.text
    whole = list(_known(read, " ".join(words)))
    yield from whole
    broken = _broken_words(text)
    if broken and next(_known(Reading(broken), broken), None) is not None:
        begun = {span.start for span in whole}
        lines = joined(text)
        for span in _known(lines, broken):
            start, end = lines.place(span.start, span.end)
            if "\n" in text[start:end] and start not in begun:
                yield Span(start=start, end=end, kind=span.kind, value=span.value)
    yield from _private_keys(text)


def long_words(text: str) -> set[str]:
    """The words that are long enough for a token, each once."""
    return {word for word in text.split() if len(word) >= _SHORTEST}


def _broken_words(text: str) -> str:
    """The words that are long enough if lines broken in their midst are joined."""
    ends = {
        line.rstrip(_LINE_ENDS).rpartition(" ")[2] + after[sign.end() if sign else 0 :].split(" ", 1)[0]
        for line, after in itertools.pairwise(text.split("\n"))
        if len(line) >= _WIDE and ((sign := _SIGN.match(after)) or after[:1] not in _BLANK)
    }
    return " ".join(word for word in ends if len(word) >= _SHORTEST)


def _known(read: Reading, words: str) -> Iterator[Span]:
    """The tokens of ``rules``. ``words``: a shorter text that holds every token, to look there first."""
    if not words:
        return
    for rule, begin in candidates(words):
        yield from _tokens(read, rule, begin)
    for kind, inside, pattern in ANYWHERE:
        if inside in words and pattern.search(words):
            for found in pattern.finditer(read.text):
                yield Span(start=found.start(), end=found.end(), kind=kind, value=found[0])


def _tokens(read: Reading, rule: Rule, begin: str) -> Iterator[Span]:
    text, at, run, done = read.text, -1, 0, 0
    alone = rule.alone(begin)
    while (at := text.find(begin, max(at + 1, done))) >= 0:
        if alone and at and _WORD.match(text[at - 1]) and not read.seam(at):
            continue
        after = at + len(begin)
        found = rule.rest.match(text, after, after + _LONGEST)
        if found is not None and len(found[0]) <= _PLACEHOLDERS and _MADE_UP.search(found[0]):
            continue
        end = found.end() if found else after
        if found is None and run < after:
            run = _run(text, after)
        stop = carried_on(text, end) if found else _stop(text, end, run)
        if stop > end:
            lines = joined(text[at:stop])
            longer = rule.rest.match(lines.text, len(begin))
            if longer is not None:
                start, end = lines.place(0, longer.end())
                yield Span(start=at + start, end=at + end, kind=rule.kind, value=lines.text[: longer.end()])
                done = at + end - len(begin) + 1
                continue
        if found is None and len(begin) >= _DISTINCTIVE:
            found = _CUT.match(text, after)
        if found is not None:
            yield Span(start=at, end=found.end(), kind=rule.kind, value=text[at : found.end()])
            dot = text.find(".", after, found.end())  # another may begin at the next part, and end later
            done = found.end() - len(begin) + 1 if dot < 0 else dot


def _stop(text: str, end: int, run: int) -> int:
    """How far a token may go on that is too short without the next line. ``run``: where its line ends."""
    broken = BREAK.match(text, run)
    return carried_on(text, _run(text, broken.end()), _BROKEN) if broken and run - end < _BROKEN else end


def carried_on(text: str, end: int, longest: int = _LONGEST) -> int:
    """Where a value that ends a line ends on the next lines, ``longest`` characters later at most."""
    stop = min(end + longest, len(text))
    while (more := _MORE.match(text, end, stop)) is not None:
        end = more.end()
    return end


def _run(text: str, at: int) -> int:
    """Where a run of letters, digits and the marks of tokens ends."""
    found = _RUN.match(text, at, at + _LONGEST)
    return found.end() if found else at


def _private_keys(text: str) -> Iterator[Span]:
    if "PRIVATE KEY" in text:
        for found in _KEY.finditer(text):
            body = _KEY_BODY.match(text, found.end())
            end = body.end() if body and body[0].endswith("-----") else found.end()
            if end == found.end():
                cut = _KEY_CUT.match(text, end)
                end = cut.end() if cut else end
            yield Span(start=found.start(), end=end, kind="private-key", value=text[found.start() : end])
    if "Private-Lines: " in text:
        for found in _PUTTY.finditer(text):
            yield Span(start=found.start(), end=found.end(), kind="private-key")


def addressed(text: str) -> Iterator[Span]:
    """Passwords and tokens inside addresses."""
    if "://" in text:
        for found in _URL.finditer(text):
            if found["secret"] != found["user"] and not _PLACEHOLDER.search(found["secret"]):
                yield _named(found, "url-password")
    if "=" in text and ("?" in text or "&" in text):
        for found in _QUERY.finditer(text):
            if not _PLACEHOLDER.search(found["secret"]) and any(c.isdigit() for c in found["secret"]):
                yield _named(found, "url-token")
    if "otpauth://" in text:
        for found in _OTP.finditer(text):
            yield _named(found, "otp-secret")


def _named(found: re.Match[str], kind: str) -> Span:
    return Span(start=found.start("secret"), end=found.end("secret"), kind=kind, value=found["secret"])
