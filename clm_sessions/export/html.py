"""A session as one HTML page that needs nothing else: it folds, finds and filters from a file, and prints whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timezone, tzinfo
from functools import cache
from importlib import resources
from itertools import chain, islice

from clm_sessions import render
from clm_sessions.export.controls import Start, Tools, bar_html, side_html
from clm_sessions.export.redacted import PRIVATE, AnySession
from clm_sessions.export.session import Describe, contents
from clm_sessions.render import Options
from clm_sessions.render.escape import bdi, esc
from clm_sessions.view import chunk_view
from clm_sessions.view.words import one_line, plural

_OPTIONS = Options(heading=2, max_prose=1_000_000, max_output=1_000_000, max_rows=10_000, max_steps=None, budget=None)
_PART = 25
"""Cards in a part. The browser passes over parts that are not on the screen: among thousands of cards that is quick."""
_CUT = 'class="clm-cut"'


def to_html(
    session: AnySession,
    describe: Describe,
    *,
    note: str = PRIVATE,
    agent: str | None = None,
    tz: tzinfo = timezone.utc,
    start: Start = Start(),  # noqa: B008 - frozen
) -> Iterator[str]:
    """One self-contained page: our style and script inline, images as data, subagents inside the steps that started them.

    Its policy lets that one script run, and nothing be loaded or sent. ``note``: what the file is (see ``redacted``);
    ``agent``: the label of the format; ``start``: what is shown first. Texts over a million characters are cut, and say so.
    """
    info, chunks, tools = session.info, session.chunks, Tools(session)
    options = replace(_OPTIONS, tz=tz)
    head, end = render.page_parts(one_line(info.title or info.native_id, 120), style=_own("css"), script=_own("js"))
    kind = "clm-private" if note == PRIVATE else "clm-redacted"
    yield f'{head}<p class="clm-what {kind}" role="note">{esc(note)}</p>\n'
    bars = render.bars(chunks, render.context_sizes(session.requests))
    yield render.session_header_html(info, options=options, agent=agent, bars=bars, level=1)
    outline = render.outline_html(render.outline(chunks), lambda seq: f"#c{seq}")
    yield f'<div class="clm-layout">{side_html(info, chunks, tools, outline, start)}'
    yield f'<div class="clm-transcript">\n{bar_html()}<script>{_own("js")}</script>\n'
    cards = _Cards(describe)
    own = cards.of(session, replace(options, step_class=tools.step_class))
    yield from _parts(chain(own, cards.left(session, options)))
    yield f'<p class="clm-foot">{cards.foot(tz)}</p>\n</div></div>\n{end}'


def _parts(cards: Iterator[str]) -> Iterator[str]:
    """The cards, some and some in an element of their own."""
    for first in cards:
        yield f'<div class="clm-part">\n{first}{"".join(islice(cards, _PART - 1))}</div>\n'


@cache
def _own(ending: str) -> str:
    """The stylesheet or the script of the page."""
    return resources.files("clm_sessions.export").joinpath(f"page.{ending}").read_text("utf-8")


class _Cards:
    """Writes the cards of a session, each subagent once: below the step that started it, or, if none did, at the end."""

    def __init__(self, describe: Describe) -> None:
        self._describe = describe
        self._done: set[str] = set()
        self._cut = 0

    def of(self, session: AnySession, options: Options) -> Iterator[str]:
        """The cards of a session, one after the other."""
        self._done.add(session.id)
        agents: dict[str, AnySession] = {agent.id: agent for agent in session.subagents}

        def nested(key: str) -> str | None:
            agent = agents.get(key)
            return None if agent is None or key in self._done else self._nested(agent, options)

        with_agents = replace(options, subagent_html=nested)
        for content in contents(session, images=True):
            card = render.chunk_html(chunk_view(content, self._describe), options=with_agents)
            self._cut += card.count(_CUT)
            yield card

    def left(self, session: AnySession, options: Options) -> Iterator[str]:
        """A card of the subagents of a session that no step started, if there are any."""
        left = [agent for agent in session.subagents if agent.id not in self._done]
        if left:
            level = options.heading
            inside = "".join(self._stray(agent, options) for agent in left)
            yield (
                '<article class="clm-chunk clm-stray"><div class="clm-head">'
                f'<h{level} class="clm-who">Subagents that no step started</h{level}></div>'
                f'<div class="clm-body">{inside}</div></article>\n'
            )

    def foot(self, tz: tzinfo) -> str:
        """What a reader should know at the end: whether anything is cut, and which zone the times are of."""
        cut = f"{plural(self._cut, 'text')} too long for a page: the log, and the export as JSON, have all of it. "
        zone = "UTC" if tz is timezone.utc else "those of the machine that wrote this"
        return f"{cut if self._cut else 'Nothing is cut. '}Times are {zone}."

    def _nested(self, agent: AnySession, options: Options) -> str:
        prefix, heading = f"a{len(self._done)}-", min(options.heading + 1, 5)
        inner = replace(options, id_prefix=prefix, heading=heading, step_class=None)
        return "".join((*self.of(agent, inner), *self.left(agent, inner)))

    def _stray(self, agent: AnySession, options: Options) -> str:
        about = bdi(one_line(agent.info.description or agent.info.title or agent.info.agent_id or agent.id))
        return (
            f'<details class="clm-stray-agent"><summary>{about} · {plural(agent.info.chunks, "chunk")}</summary>'
            f'<div class="clm-nest">{self._nested(agent, options)}</div></details>'
        )
