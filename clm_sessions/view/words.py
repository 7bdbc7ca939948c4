"""Numbers as people say them, and text on one line."""

from __future__ import annotations


def count(n: int) -> str:
    """``999``, ``3.1k``, ``41k``, ``1.2M``."""
    return str(n) if abs(n) < 1000 else _scaled(n, ("k", "M", "G"))


def size(n: int) -> str:
    """A number of bytes: ``12 B``, ``3.4 KB``, ``25 MB``."""
    return f"{n} B" if n < 1000 else _scaled(n, (" KB", " MB", " GB"))


def _scaled(n: int, units: tuple[str, ...]) -> str:
    """Thousands, millions, ... with two digits that count."""
    power = next((p for p in range(1, len(units)) if abs(n) < 999.5 * 1000**p), len(units))
    value = n / 1000**power
    digits = f"{value:.1f}".removesuffix(".0") if abs(value) < 9.95 else f"{value:.0f}"
    return digits + units[power - 1]


def duration(ms: int) -> str:
    """``40 ms``, ``4.8 s``, ``1 min 52 s``, ``2 h 11 min``, ``3 d 4 h``; empty if negative."""
    if ms < 9_950:
        return "" if ms < 0 else f"{ms} ms" if ms < 1000 else f"{ms / 1000:.1f}".removesuffix(".0") + " s"
    seconds = round(ms / 1000)
    parts = ((seconds // 86_400, "d"), (seconds // 3600 % 24, "h"), (seconds // 60 % 60, "min"), (seconds % 60, "s"))
    first = next(index for index, (number, _unit) in enumerate(parts) if number)
    return " ".join(f"{number} {unit}" for number, unit in parts[first : first + 2] if number)


def money(usd: float) -> str:
    """``$0``, ``<$0.01``, ``$1.84``, ``$1,240``."""
    if 0 < usd < 0.005:
        return "<$0.01"
    return "$0" if usd == 0 else f"${usd:,.2f}" if usd < 999.5 else f"${usd:,.0f}"


def cost(usd: float | None, unpriced: int | None = None) -> str:
    """``$1.84 est.``, with how many replies it leaves out; empty if nothing could be priced."""
    if usd is None:
        return ""
    return f"{money(usd)} est." + (f", without {plural(unpriced, 'reply', 'replies')}" if unpriced else "")


def plural(n: int, one: str, many: str | None = None) -> str:
    """``1 line``, ``2 lines``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def one_line(text: str, limit: int = 160) -> str:
    """The beginning of a text with its white space drawn together, cut with an ellipsis. Looks at 4 limits."""
    words = " ".join(text[: limit * 4].split())
    return words if len(words) <= limit and len(text) <= limit * 4 else words[:limit].rstrip() + "…"


def percent(part: int, whole: int) -> str:
    """``3.9 %``, ``18 %``, ``0 %``; of nothing it is nothing."""
    share = 100 * part / whole if whole else 0.0
    return f"{share:.1f}".removesuffix(".0") + " %" if share < 9.95 else f"{share:.0f} %"


def lines(text: str) -> int:
    """Lines of a text; a final line break ends a line and begins none."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def near(path: str, folder: str | None) -> str:
    """A path below ``folder`` without that folder, which is the same for all; any other text as it is."""
    base = (folder or "").rstrip("/\\")
    return path[len(base) + 1 :] or path if base and path.startswith((f"{base}/", f"{base}\\")) else path
