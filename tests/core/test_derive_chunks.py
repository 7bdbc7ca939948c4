"""Chunks: what belongs together and when it happened (spec claude-code 6, 10 and 11)."""

from __future__ import annotations

from clm_sessions.derive import Bundle, derive
from clm_sessions.formats.base import Dialect
from clm_sessions.model import Context, Message, Phase, Place, Stream, Text, Usage
from support.claude_entries import call, entry, reply, result, session, text, user

NOISE = "<system-reminder>x</system-reminder>"


def spell(chunks):
    return [(c.key, c.messages) for c in chunks]


def test_messages_are_grouped_in_file_order_and_noise_ends_nothing():
    s = session(
        user("u1", "hi", 1),
        reply("a1", "x", 2),
        user("n", NOISE, 3),
        entry("system", "s", 4, subtype="turn_duration"),
        user("side", "x", 5, isSidechain=True),
        reply("a2", "y", 6),
        user("c", "<local-command-stdout>o</local-command-stdout>", 7),
        user("k", "sum", 8, isCompactSummary=True),
        reply("a3", "z", 9),
    )
    assert spell(s.chunks) == [
        ("user-u1", (0,)), ("ai-a1", (1, 5)), ("system-c", (6,)), ("compact-k", (7,)), ("ai-a3", (8,)),
    ]  # fmt: skip
    assert [c.seq for c in s.chunks] == [0, 1, 2, 3, 4]


def test_an_earlier_message_widens_the_span_but_does_not_move_the_start():
    chunk = session(reply("a", "x", 20), reply("b", "x", 5), reply("c", "x", 30)).chunks[0]
    assert (chunk.duration_ms, chunk.span_ms) == (10_000, 25_000)
    assert chunk.ended_at - chunk.started_at == 10_000


def test_unknown_times_stay_unknown_and_the_first_known_one_starts_the_chunk():
    s = session(reply("a", "x"), reply("b", "x", 5), user("u", "x"), reply("c", "x"))
    ai, person, last = s.chunks
    assert ai.started_at == ai.ended_at == s.messages[1].at
    assert (person.started_at, person.duration_ms, person.span_ms) == (None, None, None)
    assert (last.started_at, last.ended_at, last.duration_ms) == (None, None, None)


def test_a_chunk_of_messages_without_uuid_is_named_by_its_line():
    place = Place(line=7, offset=0, length=1)
    messages = [
        Message(place=place, role="user", kind="user", origin="prompt", blocks=(Text(text="x"),)),
        Message(place=Place(line=8, offset=1, length=1, part=2), role="assistant", kind="ai", origin="reply"),
    ]
    (s,) = derive(Bundle(format="x", key="k", session="k", main=Stream(messages=messages)), Dialect())
    assert [c.key for c in s.chunks] == ["user-7", "ai-8.2"]
    assert s.info.usage == Usage()
    assert s.info.started_at is None


def test_sidechain_entries_lie_in_the_chunks_that_were_running():
    s = session(
        reply("a", "x", 10),
        user("early", "x", 9, isSidechain=True),
        user("second", "x", 15, isSidechain=True),
        user("first", "x", 10, isSidechain=True),
        user("timeless", "x", isSidechain=True),
        reply("b", "x", 20),
        user("late", "x", 20, isSidechain=True),
    )
    assert s.chunks[0].sidechain == (2, 3)


def test_usage_counts_each_reply_once_by_its_largest_entry():
    s = session(
        reply("a", "x", reply_id="m1", usage={"input_tokens": 1, "output_tokens": 5}),
        reply("b", "x", reply_id="m1", usage={"input_tokens": 1, "output_tokens": 50}),
        user("u", "x"),
        reply("c", "x", reply_id="m1", usage={"input_tokens": 1, "output_tokens": 9}),
        reply("d", "x", reply_id="m2", usage={"output_tokens": 0}),
        reply("e", "x", reply_id="m3"),
        reply("f", "x", reply_id="m4", model="<synthetic>", usage={"output_tokens": 0}),
    )
    assert s.info.usage == Usage(input=1, output=50)
    assert [c.usage for c in s.chunks] == [Usage(input=1, output=50), Usage(), Usage(input=1, output=9)]
    assert [(r.reply_id, r.message, r.usage) for r in s.requests] == [
        ("m1", 1, Usage(input=1, output=50)), ("m2", 4, Usage(output=0)), ("m3", 5, None),
    ]  # fmt: skip
    assert (s.info.requests, s.info.models) == (3, ("m",))


def test_of_equal_entries_of_a_reply_the_last_counts():
    same = {"input_tokens": 1}
    s = session(reply("a", "x", reply_id="m1", usage=same), reply("b", "x", reply_id="m1", usage=same))
    assert s.requests[0].message == 1


def test_replies_without_any_id_count_each():
    first = reply("a", "x", usage={"output_tokens": 1})
    second = reply("b", "x", usage={"output_tokens": 1})
    for each in (first, second):
        del each["message"]["id"]
    assert session(first, second).info.usage == Usage(output=2)


def filled(uuid, tokens, **more):
    return reply(uuid, "x", usage={"cache_read_input_tokens": tokens}, **more)


def test_the_context_without_compaction_is_one_phase():
    s = session(filled("a", 5), filled("b", 9), filled("c", 0), filled("d", 99, isSidechain=True))
    assert s.info.context == Context(consumption=9, phases=(Phase(number=1, contribution=9, peak=9, after=None),))
    assert session(filled("a", 0)).info.context == Context()


def test_each_compaction_opens_a_phase():
    s = session(filled("a", 100), user("k", "sum", isCompactSummary=True), filled("b", 20), filled("c", 70))
    assert s.info.context == Context(
        consumption=150,
        phases=(
            Phase(number=1, contribution=100, peak=100, after=20),
            Phase(number=2, contribution=50, peak=70, after=None),
        ),
    )
    ai, compact, after = s.chunks
    assert (ai.context_before, ai.context_after) == (None, 100)
    assert (compact.context_before, compact.context_after) == (100, 20)
    assert (after.context_before, after.context_after) == (100, 70)


def test_a_compaction_that_nothing_follows_has_no_size_after_it():
    s = session(filled("a", 100), user("k", "sum", isCompactSummary=True))
    assert s.info.context == Context(consumption=100, phases=(Phase(number=1, contribution=100, peak=100, after=None),))


def test_a_chunk_is_complete_failed_or_interrupted():
    def status(*entries):
        return session(*entries).chunks[-1].status

    use = reply("a", [call("t")])
    assert status(use, user("r", [result("t")])) == "complete"
    assert status(use, user("r", [result("t", is_error=True)])) == "error"
    assert (
        status(use, user("r", [result("t", is_error=True)]), user("i", "[Request interrupted by user]"))
        == "interrupted"
    )
    assert status(use, user("r", [result("t")], toolUseResult="User rejected tool use")) == "interrupted"


def test_a_prompt_that_was_rewound_is_marked():
    s = session(
        user("u1", "x", parentUuid=None),
        reply("a1", "x", parentUuid="u1"),
        user("dead", "x", parentUuid="a1"),
        reply("a2", "x", parentUuid="dead"),
        user("kept", "x", parentUuid="a1"),
        reply("a3", [call("t1")], parentUuid="kept"),
        user("r1", [result("t1")], parentUuid="a3"),
    )
    assert [c.key for c in s.chunks if c.status == "abandoned"] == ["user-dead"]


def test_where_the_chain_of_parents_is_broken_the_latest_sibling_was_kept():
    s = session(
        user("one", "x", parentUuid="p"), user("two", "x", parentUuid="p"), reply("a", "x", parentUuid="unknown")
    )
    assert [c.status for c in s.chunks] == ["abandoned", None, "complete"]


def test_a_ring_of_parents_ends():
    s = session(user("a", "x", parentUuid="b"), user("b", "x", parentUuid="a"), user("c", "x", parentUuid="b"))
    assert [c.status for c in s.chunks] == [None, None, None]


def test_a_preview_says_what_a_collapsed_card_would():
    def preview(*entries):
        return session(*entries).chunks[-1].preview

    assert preview(user("u", " a\n b ")) == "a b"
    assert preview(reply("a", [text("first"), call("t")])) == "first"
    assert preview(reply("a", [call("t", "Read")])) == "Read"
    assert preview(reply("a", [call("t")]), user("r", [result("t", "out")])) == "out"
    assert preview(reply("a", [call("t", "ExitPlanMode", plan="# Plan")])) == "# Plan"
    assert preview(reply("a", "x"), user("i", "[Request interrupted by user]")) == "[Request interrupted by user]"
    assert preview(user("u", "x" * 5000)) == "x" * 199 + "…"
    assert preview(user("u", "<local-command-stdout>out</local-command-stdout>")) == "out"
