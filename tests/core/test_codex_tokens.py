"""Running totals become the tokens of each reply: their sum is the last total."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clm_sessions.derive import Bundle, derive
from clm_sessions.formats.codex import Codex
from clm_sessions.formats.codex.tokens import Tokens
from clm_sessions.model import Usage
from support import rollouts as r


def take(*infos, continued=False):
    """What each of these counts adds."""
    tokens = Tokens()
    return [tokens.take(info, continued=continued) for info in infos]


def info(total, last=None):
    """The ``info`` of a count."""
    return r.counts(total, last)["payload"]["info"]


def session(*records):
    """The session these records make."""
    bundle = Bundle(format="codex", key="k", session=r.thread_id(), main=r.stream(*records))
    return derive(bundle, Codex.dialect)[0]


def test_cached_input_is_told_apart_and_reasoning_is_part_of_output():
    assert take(info(r.usage(900, 500, 100, 20))) == [Usage(input=400, cache_read=500, output=100, reasoning=20)]


def test_a_total_that_did_not_rise_adds_nothing():
    first, second = r.usage(900, 500, 100), r.usage(2000, 1400, 160)
    counted = take(None, info(first), info(first), {}, info(second), info(second))
    assert [u is not None for u in counted] == [False, True, False, False, True, False]
    assert counted[4] == Usage(input=200, cache_read=900, output=60, reasoning=0)


def test_a_total_that_fell_begins_anew():
    counted = take(info(r.usage(900, 500, 100)), info(r.usage(300, 0, 10)), info(r.usage(500, 100, 30)))
    assert [u.total for u in counted] == [1000, 310, 220]


def test_a_total_that_went_back_to_an_earlier_one_counts_the_reply_alone():
    totals = [r.usage(1000, 0, 0), r.usage(3000, 0, 0), r.usage(1500, 0, 0)]
    assert [u.total for u in take(*(info(t, r.usage(500, 0, 0)) for t in totals))] == [1000, 2000, 500]


def test_a_thread_that_goes_on_from_another_does_not_count_what_was_used_there():
    first = info(r.usage(9000, 5000, 1000), r.usage(900, 500, 100))
    assert [u.total for u in take(first, continued=True)] == [1000]
    assert [u.total for u in take(first)] == [10_000]


@pytest.mark.parametrize("value", ["12", True, -3, 1.5, [], {}, None])
def test_what_is_no_count_is_not_recorded(value):
    assert take(info({"input_tokens": value, "output_tokens": 5})) == [Usage(output=5)]
    assert take(info({"input_tokens": value})) == [None]


def test_counts_without_a_total_are_taken_as_they_are():
    assert take({"last_token_usage": r.usage(9, 4, 1)}) == [Usage(input=5, cache_read=4, output=1, reasoning=0)]


@given(st.lists(st.tuples(*[st.integers(0, 10**9)] * 3), min_size=1, max_size=20))
def test_the_sum_over_the_replies_is_the_last_total(steps):
    given_, cached, output, infos = 0, 0, 0, []
    for more, part, out in steps:
        given_, cached, output = given_ + more, cached + min(part, more), output + out
        infos += [info(r.usage(given_, cached, output))] * 2
    counted = [u for u in take(*infos) if u is not None]
    assert sum(u.input + u.cache_read for u in counted) == given_
    assert sum(u.cache_read for u in counted) == cached
    assert sum(u.output for u in counted) == output


def test_a_reply_is_all_up_to_its_count_and_costs_what_the_count_says():
    made = session(
        *r.opens(1),
        *r.asks("Sow."),
        *r.answers("First I look."),
        r.calls("c1"),
        r.calls("c2"),
        r.gives("c1", "pea"),
        r.gives("c2", "bean"),
        r.counts(r.usage(900, 500, 100)),
        *r.answers("Sown."),
        r.counts(r.usage(2000, 1400, 160)),
        *r.opens(2),
        *r.asks("On."),
        *r.answers("Stopped before its count."),
    )
    assert [(q.model, q.usage and q.usage.output, q.chunk) for q in made.requests] == [
        ("gpt-test-1", 100, 1),
        ("gpt-test-1", 60, 1),
        ("gpt-test-1", None, 3),
    ]
    assert made.info.usage.total == 2160
    assert [c.usage.output for c in made.chunks] == [None, 160, None, None]
    assert [len({m.reply_id for m in made.messages if m.role == "assistant"})] == [3]


def test_a_count_for_nothing_that_was_said_is_counted_and_not_drawn():
    compacted = r.record("compacted", {"message": ""})
    made = session(*r.turn(1, "Sow.", "Sown.", r.usage(900, 0, 9)), compacted, r.counts(r.usage(1900, 0, 19)))
    assert [q.chunk for q in made.requests] == [1, None]
    assert made.info.usage.total == 1919
    assert [c.kind for c in made.chunks] == ["user", "ai", "compact"]
