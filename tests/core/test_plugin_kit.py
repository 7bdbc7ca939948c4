"""The kit passes the formats we ship, and finds each promise that a format breaks."""

import json
import os
from pathlib import Path

import pytest

from clm_sessions.formats.base import Claim, Confidence, Dialect, Located
from clm_sessions.formats.claude_code import ClaudeCode
from clm_sessions.formats.clm import Clm
from clm_sessions.model import Fact, Message, Text
from clm_sessions.testing import check_format
from support.tiny import Tiny, TinyReader, write_tiny

TESTS = Path(__file__).parents[1]
SHIPPED = [
    pytest.param(Clm, TESTS / "vectors" / "clm", id="clm vectors"),
    pytest.param(Clm, TESTS.parent / "demo" / "logs", id="clm demo"),
    pytest.param(ClaudeCode, TESTS / "vectors" / "claude", id="claude vectors"),
    pytest.param(ClaudeCode, TESTS.parent / "demo" / "logs", id="claude demo"),
    pytest.param(ClaudeCode, TESTS / "cases", id="claude cases"),
]


@pytest.mark.parametrize(("fmt", "folder"), SHIPPED)
def test_a_shipped_format_keeps_every_promise(fmt, folder):
    done = check_format(fmt(), folder)
    assert done.mutations == 1000
    assert done.logs > 1
    assert done.messages > 20
    assert done.cuts > 3 * done.logs


@pytest.fixture
def logs(tmp_path):
    write_tiny(tmp_path / "a.tiny", *(f"this is line {n}" for n in range(30)))
    write_tiny(tmp_path / "b.tiny", "one", "two", "three")
    (tmp_path / "b.note").write_text("a note")
    return tmp_path


def test_a_good_format_of_a_stranger_passes(logs):
    assert check_format(Tiny(), logs, mutations=200).lines == 33


class LooksAround(Tiny):
    def sniff(self, located, head):
        list(Path().iterdir())
        return super().sniff(located, head)


class Opens(Tiny):
    def sniff(self, located, head):
        Path(__file__).read_bytes()
        return super().sniff(located, head)


class AsksForTheFile(Tiny):
    def locate(self, path):
        os.stat("/")  # noqa: PTH116 - pathlib of Python 3.10 goes another way
        return super().locate(path)


class KnowsThePlace(Tiny):
    def locate(self, path):
        return Located(role="main", session=str(path)) if path.suffix == ".tiny" else None


class LikeAClaim:
    confidence, session = Confidence.SIGNATURE, None


class SaysYes(Tiny):
    def sniff(self, located, head):
        return LikeAClaim()


class KnowsNothing(Tiny):
    def sniff(self, located, head):
        return Claim(confidence=Confidence.NO)


class _Reader(TinyReader):
    """Each of these changes one answer of a good reader."""

    def feed(self, record, place):
        parsed = super().feed(record, place)
        if parsed.message is not None:
            self.change(parsed.message)
        return parsed

    def change(self, message):
        pass


def _with(reader):
    class Changed(Tiny):
        def reader(self, context, state=None):
            return reader(self, context, state)

    return Changed


class Forgets(TinyReader):
    def state(self):
        return {}


class Rambles(TinyReader):
    def state(self):
        return {"seen": self.seen, "everything": "x" * 70_000}


class NoJson(TinyReader):
    def state(self):
        return {"seen": self.seen, "set": {1}}


class Alive(TinyReader):
    """Gives away the list it goes on writing in."""

    def __init__(self, fmt, context, state):
        super().__init__(fmt, context, state)
        self.said = list((state or {}).get("said", []))

    def state(self):
        return {"seen": self.seen, "said": self.said}

    def feed(self, record, place):
        parsed = super().feed(record, place)
        if parsed.message is not None:
            self.said.append(1)
            object.__setattr__(parsed.message, "detail", {"nth": len(self.said)})
        return parsed


class Fragile(TinyReader):
    def feed(self, record, place):
        return super().feed({"say": record["say"].upper()}, place)


class Moody(TinyReader):
    count = 0

    def feed(self, record, place):
        Moody.count += 1
        parsed = super().feed(record, place)
        if parsed.message is not None:
            object.__setattr__(parsed.message, "detail", Moody.count)
        return parsed


class Typo(_Reader):
    def change(self, message):
        object.__setattr__(message, "kind", "User")


class OwnWord(_Reader):
    def change(self, message):
        object.__setattr__(message, "origin", "promt")


class Listed(_Reader):
    def change(self, message):
        object.__setattr__(message, "blocks", [Text(text="x")])


class Late(_Reader):
    def change(self, message):
        object.__setattr__(message, "at", "2026-05-04")


class BigDetail(_Reader):
    def change(self, message):
        object.__setattr__(message, "detail", {1, 2})


class NotAText(_Reader):
    def change(self, message):
        object.__setattr__(message, "blocks", (Text(text=7),))


class SetFact(TinyReader):
    def feed(self, record, place):
        parsed = super().feed(record, place)
        object.__setattr__(parsed, "facts", (Fact(name="odd", value={1}),))
        return parsed


class OneKey(TinyReader):
    def feed(self, record, place):
        parsed = super().feed(record, place)
        if parsed.message is not None:
            object.__setattr__(parsed.message, "place", place.__class__(line=1, offset=0, length=1))
        return parsed


class Nervous(Tiny):
    def __init__(self):
        super().__init__()

        class Shaken(Dialect):
            def interrupts(self, text):
                raise KeyError(text)

        self.dialect = Shaken()


class BadSide(Tiny):
    def side(self, located, name, data):
        return [Fact(name="note", value=json.loads(data))]


class Eats(Tiny):
    def decode(self, line, first):
        raise ValueError("no")


BROKEN = [
    (LooksAround, "sniff does I/O: os."),
    (Opens, "sniff does I/O: open"),
    (AsksForTheFile, "asks the file system: os.stat"),
    (KnowsThePlace, "where the folder lies elsewhere"),
    (SaysYes, "not a Claim"),
    (KnowsNothing, "no log below"),
    (_with(Forgets), "reading on differs from one go: message"),
    (_with(Rambles), "the state takes 70,0"),
    (_with(NoJson), "the state is no JSON"),
    (_with(Alive), "reading on differs from one go"),
    (_with(Fragile), "raised PluginError"),
    (_with(Moody), "two different outcomes"),
    (_with(Typo), "Message.kind is 'User'"),
    (_with(OwnWord), "Message.origin is 'promt', which is none of"),
    (_with(Listed), "Message.blocks is"),
    (_with(Late), "Message.at is '2026-05-04'"),
    (_with(BigDetail), "raised TypeError"),
    (_with(NotAText), "Message.blocks is"),
    (_with(SetFact), "the fact 'odd' is no JSON"),
    (_with(OneKey), "two chunks have one key"),
    (Nervous, "by the dialect, too) raised KeyError"),
    (BadSide, "side of b.note"),
    (Eats, "raised ValueError"),
]


@pytest.mark.parametrize(("fmt", "said"), BROKEN, ids=[said for _fmt, said in BROKEN])
def test_a_broken_promise_is_named(logs, fmt, said):
    with pytest.raises(AssertionError) as caught:
        check_format(fmt(), logs, mutations=300)
    assert said in str(caught.value)


def test_a_damage_that_was_found_can_be_seen_again(logs):
    def complaint(seed):
        with pytest.raises(AssertionError) as caught:
            check_format(_with(Fragile)(), logs, seed=seed)
        return str(caught.value).replace(str(logs), "")

    assert complaint(3) == complaint(3)
    assert "of seed 3" in complaint(3)


def test_the_words_an_origin_may_be_are_those_the_values_name():
    from clm_sessions.testing.values import ORIGINS

    assert all(word in Message.__doc__ for word in ORIGINS)
