"""Recipes about sessions and the people in them."""

from clm_sessions.cookbook.recipe import GROUPS, Recipe, sql

_ASKED = "coalesce(s.day, '') >= :since AND (:project = '' OR s.project_name = :project)"


def _recipe(name: str, title: str, about: str, query: str, *tables: str) -> Recipe:
    return Recipe(name=name, group=GROUPS[2], title=title, about=about, tables=tables, sql=sql(query))


SESSIONS = (
    _recipe(
        "longest_runs", "The longest unattended runs", "Turns by how long the agent worked without a person, with the prompt that began each.",
        """
    SELECT s.title, c.seq AS chunk_seq, c.duration_ms, c.tool_calls, c.tool_errors, c.output_tokens, c.status,
      (SELECT p.preview FROM chunks p WHERE p.session_id = c.session_id AND p.seq < c.seq AND p.kind = 'user'
       ORDER BY p.seq DESC LIMIT 1) AS prompt, c.session_id
    FROM (SELECT session_id, seq FROM chunks WHERE kind = 'ai' AND duration_ms IS NOT NULL
      ORDER BY duration_ms DESC LIMIT 300) top
    JOIN chunks c ON c.session_id = top.session_id AND c.seq = top.seq JOIN sessions s ON s.id = c.session_id
    WHERE NOT EXISTS (SELECT 1 FROM messages m
      WHERE m.session_id = c.session_id AND m.chunk_seq = c.seq AND m.inherited = 1)
    ORDER BY c.duration_ms DESC LIMIT 100
    """, "chunks", "sessions", "messages",
    ),
    _recipe(
        "interrupted_prompts", "Prompts that led to interruptions", "What a person had asked for when they stopped the agent, newest first.",
        """
    SELECT s.title, c.seq AS chunk_seq, c.started_at, c.duration_ms, c.tool_calls,
      (SELECT p.preview FROM chunks p WHERE p.session_id = c.session_id AND p.seq < c.seq AND p.kind = 'user'
       ORDER BY p.seq DESC LIMIT 1) AS prompt, c.session_id
    FROM chunks c JOIN sessions s ON s.id = c.session_id
    WHERE c.status = 'interrupted' AND coalesce(c.day, '') >= :since AND (:project = '' OR s.project_name = :project)
    ORDER BY c.started_at DESC LIMIT 200
    """, "chunks", "sessions",
    ),
    _recipe(
        "sessions_by_branch", "Sessions by branch", "What was done on each branch of a project, and for how much.",
        f"""
    SELECT s.project_name, s.git_branch, count(*) AS sessions, sum(s.prompts) AS prompts, sum(s.own_tool_calls) AS tool_calls,
      sum(s.own_output_tokens) AS output_tokens, round(sum(s.own_cost_usd), 2) AS cost_usd,
      min(s.day) AS first_day, max(s.day) AS last_day
    FROM sessions s
    WHERE s.role = 'main' AND {_ASKED}
    GROUP BY s.project_name, s.git_branch ORDER BY last_day DESC
    """, "sessions",
    ),
    _recipe(
        "unanswered_sessions", "Sessions that wait for an answer", "Sessions that end with a prompt nobody answered, newest first.",
        f"""
    SELECT s.title, s.project_name, s.git_branch, s.ended_at, s.prompts, s.tool_calls, s.id AS session_id
    FROM sessions s
    WHERE s.status = 'unanswered' AND {_ASKED}
    ORDER BY s.ended_at DESC LIMIT 200
    """, "sessions",
    ),
    _recipe(
        "troubled_sessions", "Sessions that went badly", "Sessions by failed tool calls and interruptions for each prompt.",
        f"""
    SELECT s.title, s.project_name, s.started_at, s.status, s.prompts, s.tool_calls, s.tool_errors,
      s.interruptions, s.compactions, round(1.0 * (s.tool_errors + s.interruptions) / max(s.prompts, 1), 1) AS trouble_per_prompt,
      s.id AS session_id
    FROM sessions s
    WHERE s.role = 'main' AND s.tool_errors + s.interruptions > 0 AND {_ASKED}
    ORDER BY trouble_per_prompt DESC LIMIT 100
    """, "sessions",
    ),
    _recipe(
        "compactions", "Where context was compacted", "Compactions, newest first: what the context held before and after.",
        """
    SELECT s.title, c.seq AS chunk_seq, c.started_at, c.context_before, c.context_after, c.session_id
    FROM chunks c JOIN sessions s ON s.id = c.session_id
    WHERE c.kind = 'compact' AND coalesce(c.day, '') >= :since
    ORDER BY c.started_at DESC LIMIT 200
    """, "chunks", "sessions",
    ),
    _recipe(
        "rewound_prompts", "Prompts that were taken back", "Prompts a person rewound to before them, newest first.",
        """
    SELECT s.title, c.seq AS chunk_seq, c.started_at, c.preview AS prompt, c.session_id
    FROM chunks c JOIN sessions s ON s.id = c.session_id
    WHERE c.status = 'abandoned' AND coalesce(c.day, '') >= :since
    ORDER BY c.started_at DESC LIMIT 200
    """, "chunks", "sessions",
    ),
    _recipe(
        "hours_of_the_day", "When people ask", "Prompts and commands by hour of the day (UTC), on all days and at weekends.",
        """
    SELECT substr(c.started_at, 12, 2) AS hour, count(*) AS prompts, sum(strftime('%w', c.day) IN ('0', '6')) AS at_weekends
    FROM chunks c JOIN sessions s ON s.id = c.session_id
    WHERE c.kind = 'user' AND s.role = 'main' AND c.day >= :since AND (:project = '' OR s.project_name = :project)
    GROUP BY hour ORDER BY hour
    """, "chunks", "sessions",
    ),
    _recipe(
        "autonomy_by_month", "How long agents go without a person", "Tool calls and minutes for each prompt, by month and kind of agent.",
        """
    SELECT substr(s.day, 1, 7) AS month, s.format, count(*) AS sessions, sum(s.prompts) AS prompts,
      round(1.0 * sum(s.own_tool_calls) / nullif(sum(s.prompts), 0), 1) AS calls_per_prompt,
      round(1.0 * sum(s.own_output_tokens) / nullif(sum(s.prompts), 0)) AS output_tokens_per_prompt,
      round(100.0 * sum(s.interruptions) / nullif(sum(s.prompts), 0), 1) AS interruptions_per_100_prompts
    FROM sessions s
    WHERE s.role = 'main' AND s.inherited_messages = 0 AND (:project = '' OR s.project_name = :project)
    GROUP BY month, s.format ORDER BY month DESC
    """, "sessions",
    ),
    _recipe(
        "forks", "Forks and resumed sessions", "Sessions that began with a copy of another one, and how much of them is copied.",
        """
    SELECT s.title, s.forked_from, s.messages, s.inherited_messages, s.started_at,
      round(s.own_cost_usd, 2) AS cost_usd, s.id AS session_id
    FROM sessions s
    WHERE s.forked_from IS NOT NULL
    ORDER BY s.started_at DESC LIMIT 200
    """, "sessions",
    ),
)  # fmt: skip
