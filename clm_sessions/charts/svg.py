"""A chart as SVG that is safe inside a page: built anew from what is known to be harmless, everything else left out.

Colours become CSS variables (``--clm-chart-ink`` …) with the chart's own as their fallback, so one picture serves light,
dark and any theme. Nothing in it runs, loads or styles; links are only those that the caller names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, fromstring

from clm_sessions.charts.look import COLOURS, vl_convert
from clm_sessions.errors import UsageError, one_line
from clm_sessions.render.escape import esc

if TYPE_CHECKING:
    from clm_sessions.charts.look import Chart

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_BASE = "https://vega.github.io/vega-datasets/"
"""What Vega puts before an address that has no host."""
_SHAPES = {"path", "rect", "line", "text", "tspan"}
_GIVEN = {
    "d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "width", "height", "transform", "fill", "stroke", "opacity",
    "fill-opacity", "stroke-opacity", "stroke-width", "stroke-dasharray", "text-anchor", "font-size", "font-weight",
}  # fmt: skip
_VALUE = re.compile(r"[-+\w.,()# ]*", re.ASCII)
_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_PAINT = {"fill", "stroke"}


def svg(chart: Chart, *, title: str, links: Collection[str] = (), cls: str = "clm-chart") -> str:
    """The picture. ``title`` names it; ``links``: the addresses that marks may lead to. UsageError without vl-convert, or if that fails.

    With links it is a group of links, which the keyboard passes by: a table of the same must stand beside it.
    """
    root = fromstring(_converted(chart.to_json(validate=False)))  # noqa: S314 - made here, not read
    width, height = (round(float(root.get(side, "0"))) for side in ("width", "height"))
    role = "group" if links else "img"
    inner = "".join(_drawn(root, frozenset(links)))
    return (
        f'<svg class="{esc(cls)}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="{role}" '
        f'aria-label="{esc(title)}">{inner}</svg>'
    )


def _converted(chart: str) -> str:
    """What vl-convert draws. After a chart that it refused it reports that failure once more, with whatever comes next."""
    try:
        try:
            return str(vl_convert().vegalite_to_svg(chart))
        except ValueError:
            return str(vl_convert().vegalite_to_svg(chart))
    except ValueError as error:
        raise UsageError(f"a chart could not be drawn: {one_line(error)}") from None


def _drawn(parent: Element, links: frozenset[str]) -> Iterator[str]:
    """What stands inside of an element."""
    for element in parent:
        tag = element.tag.removeprefix(_SVG)
        inner = "".join(_drawn(element, links))
        if tag == "a" and inner:
            yield _linked(element, inner, links)
        elif tag == "g" and inner:
            given = _attributes(element)
            yield f"<g{given}>{inner}</g>" if given else inner
        elif tag in _SHAPES:
            yield from _shape(element, tag, inner)


def _shape(element: Element, tag: str, inner: str) -> Iterator[str]:
    if tag in {"text", "tspan"}:
        inner = esc(element.text or "") + inner
        if inner:
            yield f"<{tag}{_attributes(element)}>{inner}</{tag}>"
    elif _visible(element):
        words = element.get("aria-label")
        title = f"<title>{esc(words)}</title>" if words else ""
        yield f"<{tag}{_attributes(element)}>{title}</{tag}>"


def _visible(element: Element) -> bool:
    """Whether a shape has something to show: Vega draws many that have not."""
    return any(element.get(paint, "none") not in {"none", "transparent"} for paint in _PAINT)


def _linked(element: Element, inner: str, links: frozenset[str]) -> str:
    href = element.get(_HREF, "").removeprefix(_BASE)
    return f'<a href="{esc(href)}" tabindex="-1">{inner}</a>' if href in links else inner


def _attributes(element: Element) -> str:
    given = [(name, value) for name, value in element.items() if name in _GIVEN and _VALUE.fullmatch(value)]
    return "".join(f' {name}="{_value(name, value)}"' for name, value in given)


def _value(name: str, value: str) -> str:
    if name in _PAINT and value.lower() in COLOURS:
        return f"var(--clm-chart-{COLOURS[value.lower()]}, {value})"
    return _NUMBER.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), value)
