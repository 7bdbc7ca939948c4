"""Ready queries for those who study agents: one definition for Datasette, the cookbook page and docs/cookbook.md.

All count owned rows only, so that what a fork or a resumed session copied counts once. Costs are estimates.
"""

from clm_sessions.cookbook.page import markdown
from clm_sessions.cookbook.recipe import GROUPS, Recipe
from clm_sessions.cookbook.sessions import SESSIONS
from clm_sessions.cookbook.tokens import TOKENS
from clm_sessions.cookbook.tools import TOOLS

__all__ = ["GROUPS", "RECIPES", "Recipe", "markdown"]

RECIPES: tuple[Recipe, ...] = (*TOKENS, *TOOLS, *SESSIONS)
"""All recipes, in the order of their groups."""
