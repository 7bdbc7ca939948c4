"""Log text as safe HTML text: escaped, with what would be invisible or would reorder the line made visible."""

from __future__ import annotations

import html
import re

_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_INVISIBLE = (0x180E, 0x200B, *range(0x2060, 0x2065), 0xFEFF, *range(0xFFF9, 0xFFFC))
_VISIBLE = {
    **{code: chr(0x2400 + code) for code in range(0x20) if code not in {0x09, 0x0A}},
    0x7F: "\u2421",
    **{code: f"⟨U+{code:04X}⟩" for code in (*range(0x80, 0xA0), *_BIDI, *_INVISIBLE)},
    **{code: f"⟨U+{code:X}⟩" for code in (*range(0xE0000, 0xE0080), *range(0xE0100, 0xE01F0))},
    **dict.fromkeys((*range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "\ufffd"),
}
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)


def visible(text: str) -> str:
    """Text in which control, bidi and invisible characters are shown: NUL as ␀, U+202E as ⟨U+202E⟩; CRLF as LF.

    Tab and line feed stay. Joiners that scripts and emoji need (U+200C, U+200D) stay.
    """
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    return text.translate(_VISIBLE) if _ODD.search(text) else text


def esc(text: str) -> str:
    """Log text for an element or a quoted attribute."""
    return html.escape(visible(text), quote=True)


def bdi(text: str, tag: str = "bdi", cls: str = "") -> str:
    """Log text in one line, kept apart from the direction of its neighbours."""
    start = f'<{tag} class="{cls}"' if cls else f"<{tag}"
    direction = "" if tag == "bdi" else ' dir="auto"'
    return f"{start}{direction}>{esc(text)}</{tag}>"


def scrollable(text: str) -> str:
    """The attribute that lets the keyboard scroll a box, if the text could be wider or higher than it."""
    wide = len(text) > 2_000 or text.count("\n") > 12 or max(map(len, text.split("\n"))) > 36
    return ' tabindex="0"' if wide else ""
