"""A static site of a published copy: a list with facets and search, and pages of each session. It needs no server.

Every page is made by the one renderer. The site loads nothing from elsewhere, and works from a folder as from the web.
"""

from clm_sessions.site.build import Built, build

__all__ = ["Built", "build"]
