"""Data for the scripts of a site. A page opened from a folder may load scripts but no other files, so data are scripts."""

from __future__ import annotations

import json
from typing import Any

_MARKUP = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&'\x7f"}


def script(name: str, value: Any) -> str:  # noqa: ANN401 - any JSON value
    """A script that hands ``value`` to the page under ``name``, which is ours.

    It is ASCII, whatever the texts: no character set a server claims for it changes where a string ends. Read as HTML by
    mistake it holds no tag.
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return f'clmData("{name}",{text.translate(_MARKUP)});\n'
