"""Tables: aligned and as wide as the terminal for a person, a record a line with tabs between for a pipe."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from clm_sessions.cli.common import on_terminal, paint, write

Row = Sequence[str]
_GAP = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column. ``right``: its texts stand on the right. ``least``: how narrow it may get (None: it does not shrink).

    ``drop``: where there is no room, the column with the highest number goes first; 0 stays. ``style`` is what
    ``click.style`` takes.
    """

    title: str
    right: bool = False
    least: int | None = None
    drop: int = 0
    style: tuple[tuple[str, bool | str], ...] = ()


DIM = (("dim", True),)


def records(rows: Iterable[Row]) -> None:
    """Rows for a pipe: nothing is cut, no header."""
    write("\t".join(row) + "\n" for row in rows)


def table(columns: Sequence[Column], rows: Sequence[Row], total: Row | None = None) -> None:
    """Rows under a header, on a terminal fitted to its width. ``total`` stands below a line."""
    width = shutil.get_terminal_size().columns if on_terminal() else None
    write(f"{line}\n" for line in lines(columns, rows, total, width))


def lines(columns: Sequence[Column], rows: Sequence[Row], total: Row | None, width: int | None) -> Iterator[str]:
    """The lines of a table of at most ``width`` cells (None: as wide as it needs), whose cells are plain text."""
    every = [*rows, *([total] if total is not None else [])]
    needs = [max([wide(column.title), *(wide(row[n]) for row in every)]) for n, column in enumerate(columns)]
    shown, widths = _fitted(columns, needs, width)

    def line(cells: Callable[[int], str], **style: bool | str) -> str:
        parts = [_cell(cells(n), widths[n], columns[n], style) for n in shown]
        return (" " * _GAP).join(parts).rstrip()

    yield line(lambda n: columns[n].title, bold=True)
    for row in rows:
        yield line(lambda n, row=row: row[n])  # type: ignore[misc]
    if total is not None:
        yield line(lambda n: "─" * widths[n], dim=True)
        yield line(lambda n: total[n], bold=True)


def _fitted(columns: Sequence[Column], needs: Sequence[int], width: int | None) -> tuple[list[int], dict[int, int]]:
    """Which columns are shown, and how wide each is: they shrink, then go one by one, then shrink to nearly nothing."""
    shown = list(range(len(columns)))
    if width is None:
        return shown, dict(enumerate(needs))
    while True:
        least = {n: columns[n].least for n in shown}
        widths, room = _shrunk(shown, needs, {n: size for n, size in least.items() if size is not None}, width)
        goes = max((n for n in shown if columns[n].drop), key=lambda n: columns[n].drop, default=None)
        if room >= 0:
            return shown, widths
        if goes is None:
            return shown, _shrunk(shown, needs, {n: 4 for n, size in least.items() if size is not None}, width)[0]
        shown.remove(goes)


def _shrunk(
    shown: Sequence[int], needs: Sequence[int], least: Mapping[int, int], width: int
) -> tuple[dict[int, int], int]:
    """Widths, those that may shrink made smaller where they have most to give, and the cells that are left (or lack)."""
    widths = {n: needs[n] for n in shown}
    room = width - sum(widths.values()) - _GAP * (len(shown) - 1)
    while room < 0:
        longest = max(least, key=lambda n: widths[n] - least[n], default=None)
        if longest is None or widths[longest] <= least[longest]:
            break
        widths[longest] -= 1
        room += 1
    return widths, room


def _cell(text: str, width: int, column: Column, style: dict[str, bool | str]) -> str:
    text = fit(text, width)
    space = " " * (width - wide(text))
    painted = paint(text, **(style or dict(column.style)))
    return space + painted if column.right else painted + space


def wide(text: str) -> int:
    """How many cells of a terminal a text fills."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    width = int(wcswidth(text))
    return len(text) if width < 0 else width


def fit(text: str, width: int) -> str:
    """The text, cut with an ellipsis if it fills more cells than that."""
    if wide(text) <= width:
        return text
    if text.isascii():
        return text[: max(0, width - 1)].rstrip() + "…" if width > 0 else ""
    while text and wide(text) > width - 1:
        text = text[:-1]
    return text.rstrip(" \u200d") + "…" if width > 0 else ""
