"""Print docs/cookbook.md, made from the recipes.

``python docs/cookbook.py > docs/cookbook.md``; a test holds the page against this.
"""

from __future__ import annotations

from clm_sessions.cookbook import RECIPES, markdown


def page() -> str:
    """The page."""
    return markdown(RECIPES)


if __name__ == "__main__":
    print(page(), end="")
