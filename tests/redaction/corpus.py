"""The corpus of secrets: written without sight of the rules that it measures (see README.md)."""

import hashlib

from redaction.contextual import CASES
from redaction.making import Maker
from redaction.provider import KEYS, SHAPES, jwt, private_key
from redaction.surroundings import PLACES, cut, halved, json_once, json_twice, planted, same, wrap

SEED = "corpus 1"


def secrets():
    """All planted texts, in the same order and with the same values on every run."""
    maker = Maker(SEED)
    return [*_provider(maker), *_blocks(maker), *_contextual(maker)]


def _provider(maker):
    for number, (kind, shape) in enumerate(SHAPES.items()):
        for place, text, change in (PLACES[number % len(PLACES)], PLACES[(number + 11) % len(PLACES)]):
            yield planted(kind, "provider", place, change(text.replace("⟦S⟧", f"⟦{maker.make(shape)}⟧")))
    for place, text, change in PLACES[:30:4]:
        yield planted("jwt", "provider", place, change(text.replace("⟦S⟧", f"⟦{jwt(maker)}⟧")))


def _blocks(maker):
    """Private keys: the body is the secret, without the first and the last line."""
    ways = (
        ("cat", same),
        ("json", json_once),
        ("json twice", json_twice),
        ("diff", lambda marked: "+" + marked.replace("\n", "\n+")),
        ("indented", lambda marked: "data: |\n    " + marked.replace("\n", "\n    ")),
        ("crlf", lambda marked: marked.replace("\n", "\r\n")),
        ("numbered", numbered),
        ("narrow", lambda marked: wrap(marked, 40)),
    )
    for number, (place, change) in enumerate(ways):
        kind = KEYS[number % len(KEYS)]
        yield planted(kind, "provider", place, change(_body(private_key(maker, kind, 12))))
    for kind, place, change in ((KEYS[1], "cut off", cut), (KEYS[0], "colours", halved("\x1b[0m\x1b[36m"))):
        body = _body(private_key(maker, kind, 10)).replace("⟧\n⟦", "\n")
        yield planted(kind, "provider", place, change(body))


def numbered(marked: str) -> str:
    return "".join(f"{number:6}→{line}\n" for number, line in enumerate(marked.split("\n"), 1))


def _body(block: str) -> str:
    first, *lines, last = block.split("\n")
    return "\n".join([first, *(f"⟦{line}⟧" for line in lines), last])


def _contextual(maker):
    for kind, place, text, shape, change in CASES:
        marked = text.replace("⟦S⟧", f"⟦{maker.make(shape)}⟧")
        yield planted(kind, "contextual", place, (change or same)(marked))


def digest() -> str:
    """SHA-256 of the planted part: texts and stretches."""
    hashed = hashlib.sha256()
    for one in secrets():
        hashed.update(repr((one.kind, one.group, one.where, one.text, one.ranges)).encode())
    return hashed.hexdigest()
