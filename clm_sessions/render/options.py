"""What the caller of the renderer decides: links, images, sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timezone, tzinfo

from clm_sessions.model import Image
from clm_sessions.render.images import data_url
from clm_sessions.view import ChunkView, Step

LATER = 400
"""Log text (characters) that a closed step may hold on the page though it could be fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How chunks are rendered. Sizes are in characters of log text; None lifts a cap.

    ``image_src``: address of an image, None for a placeholder. ``permalink``: address of a chunk (default
    ``#<prefix>c<seq>``). ``subagent_html`` gives the rendered transcript of a subagent by session key, to be
    nested (it must come from this renderer); ``subagent_href`` a link to it. ``more_href(view, step, section)``: where
    the whole of a cut section is; ``step`` None for a section of the chunk itself, ``section`` None for the steps
    from ``step`` on. ``later(view, step)``: address of a page that holds a closed step; such a step is left empty but for
    that link, for a script to fill when it is opened, if it holds more than ``LATER`` characters. ``step_class``: a class of
    the caller's own for a step, None for none; no word of a log. ``heading``: level of a chunk's heading. ``highlight``: colour code by language.

    ``max_prose``/``max_output``: text and code per section. ``max_rows`` of a table. ``first_step``, ``max_steps``:
    the steps shown. ``budget``: log text per chunk; past it each section shows ``floor`` characters.
    """

    image_src: Callable[[Image], str | None] = data_url
    permalink: Callable[[ChunkView], str] | None = None
    subagent_html: Callable[[str], str | None] | None = None
    subagent_href: Callable[[str], str | None] | None = None
    more_href: Callable[[ChunkView, int | None, int | None], str | None] | None = None
    later: Callable[[ChunkView, int], str | None] | None = None
    step_class: Callable[[Step], str | None] | None = None
    id_prefix: str = ""
    heading: int = 3
    highlight: bool = True
    max_prose: int | None = 65_536
    max_output: int | None = 16_384
    max_rows: int | None = 200
    first_step: int = 0
    max_steps: int | None = 200
    budget: int | None = 160_000
    floor: int = 400
    tz: tzinfo = timezone.utc
