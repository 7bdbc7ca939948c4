"""Frames: from bytes to records with their place. Nothing here raises on content.

``lines`` and ``read_head`` split JSONL files, ``decode_strict`` reads one line (``quick``: only if it is the usual
one), ``head`` reads the first records, ``parse_args`` reads an argument text, ``document`` reads a file that is one JSON value, ``rows`` reads an SQLite file without writing to it.
"""

from clm_sessions.frames.decoded import Decoded
from clm_sessions.frames.lines import LINE_LIMIT, RawLine, head, lines, read_head
from clm_sessions.frames.sqlite import rows
from clm_sessions.frames.strict import TOO_DEEP, blank, decode_strict, document, parse_args, quick, too_deep

__all__ = [
    "LINE_LIMIT",
    "TOO_DEEP",
    "Decoded",
    "RawLine",
    "blank",
    "decode_strict",
    "document",
    "head",
    "lines",
    "parse_args",
    "quick",
    "read_head",
    "rows",
    "too_deep",
]
