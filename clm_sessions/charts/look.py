"""What all charts share: their colours, their type, and how Altair is found."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from clm_sessions.errors import UsageError
from clm_sessions.render.escape import visible
from clm_sessions.view.words import one_line

if TYPE_CHECKING:
    import altair as alt

    Chart: TypeAlias = alt.Chart | alt.LayerChart
Row: TypeAlias = Mapping[str, Any]

INK, DIM, LINE = "#1b2027", "#5a6570", "#d9dde1"
ACCENT, BAD, EMPTY, WARN, GOOD = "#1d55c4", "#b0241c", "#eef1f4", "#b97a00", "#17693b"
SERIES = ("#2f6fde", "#1f9d76", "#d98b1f", "#9a4fc4", "#d0527c", "#4f9fb8", "#8b97a3")
"""Models in the order of what they used; the last is for all others together."""
HEAT = (EMPTY, "#c6d8f7", "#8fb3ee", "#4f84dd", "#1d55c5")
"""Days, from none to most."""
COLOURS: Mapping[str, str] = {
    INK: "ink",
    DIM: "dim",
    LINE: "line",
    ACCENT: "accent",
    BAD: "bad",
    WARN: "warn",
    GOOD: "good",
    **{colour: f"s{number}" for number, colour in enumerate(SERIES, 1)},
    **{colour: f"heat{number}" for number, colour in enumerate(HEAT)},
}
"""Each colour has a name, under which a page gives it its own value, light or dark."""
OTHER = "other"
_NAME = 60


def altair() -> Any:  # noqa: ANN401 - a module
    """Altair. UsageError if it is not installed."""
    return _needed("altair", "Altair")


def vl_convert() -> Any:  # noqa: ANN401 - a module
    """The converter to SVG. UsageError if it is not installed."""
    return _needed("vl_convert", "vl-convert-python")


def _needed(module: str, name: str) -> Any:  # noqa: ANN401 - a module
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UsageError(
            f"charts need {name}, which is not installed; run: pip install 'clm-sessions[charts]'"
        ) from None


def name(text: object, longest: int = _NAME) -> str:
    """Log text as a label: one line, nothing invisible in it, not longer than this."""
    return one_line(visible("unknown" if text is None else str(text)).replace("\ufffd", "?"), longest)


def base(rows: Iterable[Row]) -> Any:  # noqa: ANN401 - an alt.Chart
    """A chart over rows that stand in it."""
    alt = altair()
    return alt.Chart(alt.Data(values=list(rows)))


def finished(chart: Any, *, width: float, height: float, title: str, room: Mapping[str, int] | None = None) -> Chart:  # noqa: ANN401 - Altair's objects
    """The chart in our looks, on no background of its own. ``title`` is what it says to those who cannot see it.

    ``room``: what is left free around it for texts that are placed by hand (else the axes take what they need).
    """
    plain = {"gridColor": LINE, "domainColor": LINE, "tickColor": LINE, "labelColor": DIM, "titleColor": DIM}
    text = {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"}
    made: Chart = (
        chart.properties(
            width=width, height=height, description=title, padding=room or 2, autosize="none" if room else "pad"
        )
        .configure(background="transparent", font="system-ui, sans-serif")
        .configure_view(stroke=None)
        .configure_axis(**plain, **text)
        .configure_legend(labelColor=INK, labelFontSize=11, symbolType="square", symbolSize=80, labelLimit=0)
    )
    return made
