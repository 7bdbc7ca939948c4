"""Charts, each defined once: Altair objects for notebooks, and the same ones as safe SVG for pages.

Every function takes plain rows (mappings such as dicts) and, for marks that lead somewhere, a function that gives the
address. The extra ``charts`` brings Altair and vl-convert; without it a call raises UsageError, which says so.
"""

from clm_sessions.charts.activity import activity_calendar
from clm_sessions.charts.over_time import cost_over_time, tokens_over_time
from clm_sessions.charts.session import context_per_turn, session_timeline
from clm_sessions.charts.svg import svg
from clm_sessions.charts.tools import tool_use

__all__ = [
    "activity_calendar",
    "context_per_turn",
    "cost_over_time",
    "session_timeline",
    "svg",
    "tokens_over_time",
    "tool_use",
]
