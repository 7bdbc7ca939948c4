"""What stands around the content of every page of a site."""

from __future__ import annotations

from clm_sessions.render.escape import esc
from clm_sessions.site.about import About

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
"""Scripts and styles come from files of the site alone; nothing else is loaded, and nothing is sent anywhere."""


def page(title: str, body: str, *, about: About, up: str = "", script: str) -> str:
    """A page. ``title`` is plain text, ``body`` HTML of ours, ``up`` the way to the folder of the site, ``script`` a name of ours."""
    note = f'<p class="clm-private" role="note">{esc(about.warning)}</p>\n' if about.warning else ""
    return (
        '<!doctype html>\n<html lang="en" class="clm-page">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="generator" content="clm-sessions">\n<link rel="icon" href="data:,">\n'
        f'<title>{esc(title)}</title>\n<link rel="stylesheet" href="{up}assets/site.css">\n'
        f'<script src="{up}assets/theme.js"></script>\n</head>\n<body>\n'
        f'<div class="clm-root clm-site">\n<main class="clm-main">\n{note}{body}</main>\n'
        f'<footer class="clm-main clm-colophon">{about.colophon}</footer>\n</div>\n'
        f'<script src="{up}assets/site.js"></script>\n<script src="{up}assets/{script}.js"></script>\n</body>\n</html>\n'
    )
