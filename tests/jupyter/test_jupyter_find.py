"""Search in one session."""

import pytest

from jupyter_clm.find import Finder, fold, words

QUERIES = [
    "kale",
    "KALE  crops",
    '"crops/kale.toml"',
    "café",
    "%",
    "_",
    "'",
    '"',
    "\\",
    "ok",
    "zzz-nowhere",
    "🌱",
    "\x00",
    "a b c d e",
]


def test_words_and_phrases_are_told_apart_and_repeats_dropped():
    assert words('Kale "two  words" kale "open') == ("kale", "two  words", '"open')
    assert words("   ") == ()


def test_case_and_accents_do_not_matter():
    assert fold("Café ÉTÉ") == fold("CAFE été") == "cafe ete"
    assert fold("水やり") in fold("今日の水やりは")


def test_no_word_finds_every_chunk(long):
    assert list(Finder(long.core).hits()) == list(range(147))
    assert list(Finder(long.core).hits("  ")) == list(range(147))


def test_a_chunk_is_found_by_what_a_tool_was_asked_and_what_it_answered(long):
    hits = Finder(long.core).hits("spacing_cm litres_per_week kale")
    assert hits == [19]
    assert long.chunks[19].kind == "ai"


def test_all_words_must_be_in_the_chunk_but_not_in_one_message(long):
    finder = Finder(long.core)
    both = set(finder.hits("library kale"))
    assert both == set(finder.hits("library")) & set(finder.hits("kale"))
    assert both


def test_kinds_narrow_what_is_found(long):
    finder = Finder(long.core)
    everything = finder.hits("kale")
    assert [n for n in everything if long.chunks[n].kind == "user"] == list(finder.hits("kale", ["user"]))
    assert list(finder.hits("", ["compact"])) == [n for n, c in enumerate(long.chunks) if c.kind == "compact"]
    assert list(finder.hits("", [])) == []


@pytest.mark.parametrize("query", QUERIES)
def test_a_log_and_its_database_give_the_same_answer(long, stored, query):
    assert list(Finder(long.core).hits(query)) == list(Finder(stored.core).hits(query))
    assert list(Finder(long.core).hits(query, ["user"])) == list(Finder(stored.core).hits(query, ["user"]))
