"""Images: only those whose bytes prove their kind, never from elsewhere, never SVG."""

from __future__ import annotations

import base64

from clm_sessions.model import Image
from clm_sessions.render.escape import esc
from clm_sessions.view.words import size

DATA_URL_LIMIT = 512_000
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def sniff(data: bytes) -> str | None:
    """The media type the first bytes prove: png, jpeg, gif or webp; None for all else."""
    for magic, media_type in _MAGIC:
        if data.startswith(magic):
            return media_type
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def data_url(image: Image) -> str | None:
    """A ``data:`` address for an image of at most 512,000 bytes that is loaded and of a known kind, else None."""
    if image.data is None or len(image.data) > DATA_URL_LIMIT:
        return None
    media_type = sniff(image.data)
    return f"data:{media_type};base64,{base64.b64encode(image.data).decode()}" if media_type else None


def image_html(image: Image, src: str | None) -> str:
    """The picture, or a line in its place that says what it is."""
    what = f"{image.media_type}, {size(image.size)}"
    if src is None:
        return f'<p class="clm-noimg" dir="auto">Image not shown ({esc(what)})</p>'
    return f'<p class="clm-picture"><img class="clm-img" src="{esc(src)}" alt="Image ({esc(what)})" loading="lazy" decoding="async"></p>'
