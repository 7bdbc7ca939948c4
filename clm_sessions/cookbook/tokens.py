"""Recipes about tokens and what they cost. Most read ``daily_usage``, which adds up the replies of a session by day and model."""

from clm_sessions.cookbook.recipe import GROUPS, Recipe, sql

_OF_PROJECT = "(:project = '' OR u.session_id IN (SELECT id FROM sessions WHERE project_name = :project))"
_SUMS = """sum(u.replies) AS replies,
      sum(u.input_tokens) AS input_tokens, sum(u.output_tokens) AS output_tokens,
      sum(u.cache_read_tokens) AS cache_read_tokens, sum(u.cache_creation_tokens) AS cache_creation_tokens,
      round(sum(u.cost_usd), 2) AS cost_usd, sum(u.unpriced_replies) AS unpriced_replies"""


def _recipe(name: str, title: str, about: str, query: str, *tables: str) -> Recipe:
    return Recipe(name=name, group=GROUPS[0], title=title, about=about, tables=tables, sql=sql(query))


TOKENS = (
    _recipe(
        "cost_by_day", "Tokens and cost by day", "What was used and what it cost on each day (UTC), newest first.",
        f"""
    SELECT u.day, {_SUMS}
    FROM daily_usage u
    WHERE coalesce(u.day, '') >= :since AND {_OF_PROJECT}
    GROUP BY u.day ORDER BY u.day DESC
    """, "daily_usage", "sessions",
    ),
    _recipe(
        "cost_by_month", "Tokens and cost by month", "What was used and what it cost in each month.",
        f"""
    SELECT substr(u.day, 1, 7) AS month, {_SUMS}
    FROM daily_usage u
    WHERE {_OF_PROJECT}
    GROUP BY month ORDER BY month DESC
    """, "daily_usage", "sessions",
    ),
    _recipe(
        "cost_by_model", "Tokens and cost by model", "Which models answered, how much, and for how much.",
        f"""
    SELECT u.model, {_SUMS},
      round(sum(u.cost_usd) / (sum(u.replies) - sum(u.unpriced_replies)), 4) AS cost_usd_per_reply
    FROM daily_usage u
    WHERE coalesce(u.day, '') >= :since AND {_OF_PROJECT}
    GROUP BY u.model ORDER BY sum(u.cost_usd) DESC, replies DESC
    """, "daily_usage", "sessions",
    ),
    _recipe(
        "cost_by_project", "Tokens and cost by project", "Which projects took the most, subagents included.",
        """
    SELECT s.project_name, sum(s.role = 'main') AS sessions, sum(s.role <> 'main') AS subagents,
      sum(s.own_input_tokens) AS input_tokens, sum(s.own_output_tokens) AS output_tokens,
      sum(s.own_cache_read_tokens) AS cache_read_tokens, sum(s.own_cache_creation_tokens) AS cache_creation_tokens,
      round(sum(s.own_cost_usd), 2) AS cost_usd, sum(s.unpriced_requests) AS unpriced_replies, max(s.day) AS last_day
    FROM sessions s
    WHERE coalesce(s.day, '') >= :since
    GROUP BY s.project_name ORDER BY sum(s.own_cost_usd) DESC, output_tokens DESC
    """, "sessions",
    ),
    _recipe(
        "model_project_day", "Which model on which project on which day", "Replies and cost by day, project and model, newest first.",
        f"""
    SELECT u.day, s.project_name, {_SUMS.replace("AS replies,", "AS replies, u.model,", 1)}
    FROM daily_usage u JOIN sessions s ON s.id = u.session_id
    WHERE coalesce(u.day, '') >= :since AND (:project = '' OR s.project_name = :project)
      AND (:model = '' OR u.model = :model)
    GROUP BY u.day, s.project_name, u.model ORDER BY u.day DESC, sum(u.cost_usd) DESC
    """, "daily_usage", "sessions",
    ),
    _recipe(
        "most_expensive_sessions", "The most expensive sessions", "Sessions by estimated cost, their subagents included.",
        """
    SELECT t.title, t.project_name, t.started_at, t.prompts, count(*) - 1 AS subagents,
      sum(s.own_output_tokens) AS output_tokens, round(sum(s.own_cost_usd), 2) AS cost_usd,
      sum(s.unpriced_requests) AS unpriced_replies, t.id AS session_id
    FROM sessions s JOIN sessions t ON t.id = substr(s.id, 1, instr(s.id || ':', ':') - 1)
    WHERE coalesce(t.day, '') >= :since AND (:project = '' OR t.project_name = :project)
    GROUP BY t.id ORDER BY sum(s.own_cost_usd) DESC LIMIT 100
    """, "sessions",
    ),
    _recipe(
        "most_expensive_turns", "The most expensive turns", "Turns of the 200 most expensive sessions by estimated cost, with the prompt that began each.",
        """
    WITH expensive AS (
      SELECT s.id, s.title FROM sessions s
      WHERE coalesce(s.day, '') >= :since AND (:project = '' OR s.project_name = :project)
      ORDER BY s.own_cost_usd DESC LIMIT 200
    ), turns AS (
      SELECT r.session_id, e.title, r.chunk_seq, count(*) AS replies, sum(r.output_tokens) AS output_tokens,
        sum(r.cost_usd) AS cost
      FROM expensive e JOIN requests r ON r.session_id = e.id
      WHERE r.inherited = 0
      GROUP BY r.session_id, r.chunk_seq ORDER BY cost DESC LIMIT 100
    )
    SELECT t.title, t.chunk_seq, round(t.cost, 2) AS cost_usd, t.replies, t.output_tokens,
      (SELECT c.preview FROM chunks c WHERE c.session_id = t.session_id AND c.seq < t.chunk_seq AND c.kind = 'user'
       ORDER BY c.seq DESC LIMIT 1) AS prompt, t.session_id
    FROM turns t ORDER BY t.cost DESC
    """, "requests", "sessions", "chunks",
    ),
    _recipe(
        "cache_hits", "Cache hit share by month and model", "How much of what models read came from the cache. A low share costs.",
        f"""
    SELECT substr(u.day, 1, 7) AS month, u.model, sum(u.replies) AS replies,
      sum(u.input_tokens) AS input_tokens, sum(u.cache_read_tokens) AS cache_read_tokens,
      sum(u.cache_creation_tokens) AS cache_creation_tokens,
      round(100.0 * sum(u.cache_read_tokens)
        / (sum(u.input_tokens) + sum(u.cache_read_tokens) + coalesce(sum(u.cache_creation_tokens), 0)), 1)
        AS cache_hit_percent
    FROM daily_usage u
    WHERE u.cache_read_tokens IS NOT NULL AND {_OF_PROJECT}
    GROUP BY month, u.model ORDER BY month DESC, replies DESC
    """, "daily_usage", "sessions",
    ),
    _recipe(
        "unpriced_models", "Models without a price", "Whose replies no estimate counts, and why.",
        """
    SELECT u.model, (SELECT p.source FROM prices p WHERE p.model = u.model AND p.input_usd IS NULL) AS why,
      sum(u.unpriced_replies) AS unpriced_replies, sum(u.output_tokens) AS output_tokens
    FROM daily_usage u
    GROUP BY u.model HAVING sum(u.unpriced_replies) > 0 ORDER BY unpriced_replies DESC
    """, "daily_usage", "prices",
    ),
)  # fmt: skip
