"""The one stylesheet, the root element, and a whole document for exports."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources

from clm_sessions.render.escape import esc

_ROOT = '<div class="clm-root tex2jax_ignore mathjax_ignore">'


@cache
def css() -> str:
    """The stylesheet. Every rule is about classes that begin with ``clm-``."""
    return resources.files("clm_sessions.render").joinpath("clm.css").read_text("utf-8")


def root_html(body: str) -> str:
    """Rendered cards in the element the stylesheet needs around them; keeps typesetters of ``$…$`` away."""
    return f"{_ROOT}\n{body}</div>\n"


def page_html(title: str, body: str) -> str:
    """A self-contained HTML document. ``title`` is plain text; ``body`` comes from this package."""
    start, end = page_parts(title)
    return f"{start}{body}{end}"


def page_parts(title: str, *, style: str = "", script: str = "") -> tuple[str, str]:
    """What stands before and behind the body of such a document, for those who write it piece by piece.

    ``style`` is added to the stylesheet. ``script``: the one inline script that may run; the caller puts it into the body,
    to the letter.
    """
    sheet = f"\n{css()}{style}"
    start = (
        '<!doctype html>\n<html lang="en" class="clm-page">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(sheet, script)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{esc(title)}</title>\n<style>{sheet}</style>\n</head>\n<body>\n"
        f'<main class="clm-main">\n{_ROOT}\n'
    )
    return start, "</div>\n</main>\n</body>\n</html>\n"


def _policy(sheet: str, script: str) -> str:
    """Nothing is loaded or sent; one style sheet applies and at most one script runs, both known by their hash."""
    scripts = f"script-src {_source(script)}; " if script else ""
    return (
        f"default-src 'none'; {scripts}style-src {_source(sheet)}; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
