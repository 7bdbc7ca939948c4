"""Finding in a session, on all of its pages, and the parts of a page that are fetched when they are opened."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasette_clm.pages import ITEMS, WEIGHT, page_of
from support.logs import entry, query, session_id, text, write_log
from support.site import Page, local, site, tool_turn

FOUND = re.compile(r'data-n="(\d+)" id="([\w-]+)"')


async def fetch(ds, path):
    answer = await ds.client.get(path)
    assert answer.status_code == 200, (path, answer.status_code, answer.text[:300])
    return answer.text


def hits(html):
    """The numbers of what was found on a page, and where."""
    return [(int(number), anchor) for number, anchor in FOUND.findall(html)]


@pytest.mark.asyncio
async def test_a_word_of_chunk_4900_is_found_from_the_first_page_and_shown_among_its_neighbours(long):
    ds = await site(long[0])
    html = await fetch(ds, f"/long/-/session/{long[1]}?q=question+2450")
    page = Page(html)
    assert hits(html) == [(1, "c4900")]
    assert page.chunks == list(range(4900, 5000))
    assert "1 of 1 for question 2450" in page.text


@pytest.mark.asyncio
async def test_the_places_are_counted_over_all_pages_and_each_has_the_page_that_holds_it(long):
    ds = await site(long[0])
    root = f"/long/-/session/{long[1]}"
    places = [place["chunk"] for place in await _json(ds, f"{root}.json?q=bed+3")]
    assert places == [2 * n for n in range(2_500) if n % 7 == 3]
    html = await fetch(ds, f"{root}?q=bed+3&hit=200")
    assert f"200 of {len(places)}" in Page(html).text
    assert (200, f"c{places[199]}") in hits(html)
    page = Page(html)
    assert [n for n, _anchor in hits(html)] == [n + 1 for n, seq in enumerate(places) if seq in page.chunks]
    links = page.links
    assert f"{root}?q=bed+3&hit=199#c{places[198]}" in links
    assert f"{root}?q=bed+3&hit=201#c{places[200]}" in links
    assert f"{len(places)} of {len(places)}" in Page(await fetch(ds, f"{root}?q=bed+3&hit=99999")).text


@pytest.mark.asyncio
async def test_from_a_chunk_on_the_next_place_is_the_one_to_stand_at(long):
    ds = await site(long[0])
    html = await fetch(ds, f"/long/-/session/{long[1]}?q=bed+3&chunk=2500")
    before = sum(1 for n in range(2_500) if n % 7 == 3 and 2 * n < 2_500)
    assert f"{before + 1} of " in Page(html).text
    assert 2500 in Page(html).chunks


@pytest.mark.asyncio
@pytest.mark.parametrize("q", ["RESULTCANARY failed", "esultcanar", "/x/tool"])
async def test_the_step_that_holds_the_words_is_open_and_numbered(full, q):
    ds = await site(full[0])
    html = await fetch(ds, f"/full/-/session/{full[1]}?q={q}")
    for _number, anchor in hits(html):
        step = html[html.rindex("<", 0, html.index(f'id="{anchor}"')) :]
        assert step.startswith("<details")
        assert re.match(r"[^>]* open>", step)
    assert hits(html)


@pytest.mark.asyncio
@pytest.mark.parametrize("q", ["", "   ", "%", "_", "\\", '"', "nowhere", "'; DROP", "a*b", "🌱", "x" * 600])
async def test_any_text_may_be_looked_for(full, q):
    ds = await site(full[0])
    answer = await ds.client.get(f"/full/-/session/{full[1]}", params={"q": q})
    assert answer.status_code == 200
    assert Page(answer.text).problems == []
    assert Page(answer.text).chunks == [0, 1, 2, 3]


@pytest.mark.asyncio
async def test_tools_that_may_not_be_seen_are_not_found(full):
    metadata = {"databases": {"full": {"tables": {"tool_calls": {"allow": False}}}}}
    ds = await site(full[0], metadata=metadata)
    html = await fetch(ds, f"/full/-/session/{full[1]}?q=resultcanary")
    assert hits(html) == []
    assert "Nothing found" in html


@pytest.mark.asyncio
async def test_a_closed_step_is_left_out_of_the_page_and_its_part_alone_is_what_the_whole_chunk_shows(
    imported, tmp_path
):
    sid, output = session_id(21), "".join(f"OUTPUT {n}\n" for n in range(200))
    log = [entry("user", 1, "go", session=sid), *tool_turn(2, "Bash", {"command": "make"}, output, session=sid)]
    log += [
        *tool_turn(4, "Bash", {"command": "true"}, "short", session=sid),
        entry("assistant", 6, text("ok"), session=sid),
    ]
    write_log(tmp_path / "-home-dev-garden" / f"{sid}.jsonl", log)
    ds = await site(imported("later", tmp_path))
    root = f"/later/-/session/{sid}"
    html = await fetch(ds, root)
    assert "OUTPUT 7" not in html
    assert "short" in html
    assert f"{root}/chunk/1?step=0#c1-1" in Page(html).links
    part = await fetch(ds, f"{root}/chunk/1/cards?step=0")
    whole = await fetch(ds, f"{root}/chunk/1?step=0")
    assert "OUTPUT 199" in part
    assert part in whole
    assert 'open><summary class="clm-row">' in whole
    filtered = await fetch(ds, f"{root}?show=replies&show=errors")
    assert "#c1-1" not in filtered


@pytest.mark.asyncio
async def test_a_filtered_page_names_its_steps_as_the_whole_one_does(full):
    ds = await site(full[0])
    root = f"/full/-/session/{full[1]}"
    whole = Page(await fetch(ds, root))
    few = Page(await fetch(ds, f"{root}?tool=Read"))
    steps = [one for one in few.ids if "-" in one and not one.endswith("-h") and one.startswith("c1-")]
    assert steps == ["c1-3"]
    assert set(steps) <= set(whole.ids)


@pytest.mark.asyncio
async def test_the_raw_records_of_a_chunk_are_one_click_away(full):
    ds = await site(full[0])
    root = f"/full/-/session/{full[1]}"
    assert f"{root}/chunk/1?records=1#records" in Page(await fetch(ds, root)).links
    part = Page(f"<main>{await fetch(ds, f'{root}/chunk/1/cards?records=1')}</main>")
    assert part.problems == []
    seqs = [seq for (seq,) in query(full[0], "SELECT seq FROM messages WHERE chunk_seq = 1 ORDER BY seq")]
    assert local(part.links) == [f"{root}/raw/{seq}" for seq in seqs]


@pytest.mark.asyncio
async def test_a_subagent_of_thousands_of_chunks_comes_page_by_page(long):
    ds = await site(long[0])
    cards, seen = f"/long/-/session/{long[1]}/cards", []
    for number in (1, 2, 50):
        part = Page(f"<main>{await fetch(ds, f'{cards}?page={number}')}</main>")
        seen += [int(one.rpartition("-c")[2]) for one in part.ids if re.fullmatch(r"s\w+-c\d+", one)]
        more = [link for link in part.links if link.startswith(f"/long/-/session/{long[1]}?page=")]
        assert more == ([f"/long/-/session/{long[1]}?page={number + 1}"] if number < 50 else [])
    assert seen == [*range(200), *range(4_900, 5_000)]


@given(st.lists(st.integers(0, 220), max_size=400), st.integers(0, 450))
def test_pages_hold_every_chunk_once_and_no_page_is_much_too_heavy(weights, chunk):
    seqs = list(range(len(weights)))
    first = page_of(seqs, weight=weights.__getitem__)
    pages = [page_of(seqs, weight=weights.__getitem__, page=number) for number in range(1, first.pages + 1)]
    assert [seq for page in pages for seq in page.seqs] == seqs
    for page in pages:
        assert len(page.seqs) <= ITEMS
        assert sum(weights[seq] for seq in page.seqs[:-1]) < WEIGHT
        assert page.span(page.number) == (page.first, page.last) or not seqs
    held = page_of(seqs, weight=weights.__getitem__, chunk=chunk)
    assert chunk in held.seqs or chunk >= len(seqs)


async def _json(ds, path):
    answer = await ds.client.get(path)
    return answer.json()["hits"]
