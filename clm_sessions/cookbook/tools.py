"""Recipes about tools and files."""

from clm_sessions.cookbook.recipe import GROUPS, Recipe, sql


def _recipe(name: str, title: str, about: str, query: str, *tables: str) -> Recipe:
    return Recipe(name=name, group=GROUPS[1], title=title, about=about, tables=tables, sql=sql(query))


TOOLS = (
    _recipe(
        "tool_errors", "Tool error rates", "Which tools fail most, and how often they stay without an answer.",
        """
    SELECT t.name AS tool, count(*) AS calls, sum(t.status = 'error') AS errors,
      round(100.0 * sum(t.status = 'error') / count(*), 1) AS error_percent,
      sum(t.status = 'interrupted') AS interrupted, sum(t.status = 'unanswered') AS unanswered
    FROM tool_calls t
    WHERE t.inherited = 0
    GROUP BY t.name ORDER BY errors DESC, calls DESC
    """, "tool_calls",
    ),
    _recipe(
        "tool_errors_by_model", "Tool error rates by model", "Failed calls in the sessions that each model began, subagents included.",
        """
    SELECT s.model, count(*) AS sessions, sum(s.tool_calls) AS calls, sum(s.tool_errors) AS errors,
      round(100.0 * sum(s.tool_errors) / nullif(sum(s.tool_calls), 0), 1) AS error_percent,
      round(1.0 * sum(s.tool_calls) / nullif(sum(s.requests), 0), 2) AS calls_per_reply
    FROM sessions s
    WHERE s.inherited_messages = 0 AND coalesce(s.day, '') >= :since AND (:project = '' OR s.project_name = :project)
    GROUP BY s.model ORDER BY calls DESC
    """, "sessions",
    ),
    _recipe(
        "slowest_tools", "The slowest tools", "Time by tool: all of it, the mean and the longest call.",
        """
    SELECT t.name AS tool, count(*) AS calls, sum(t.duration_ms) AS total_ms, round(avg(t.duration_ms)) AS mean_ms,
      max(t.duration_ms) AS longest_ms
    FROM tool_calls t
    WHERE t.inherited = 0 AND t.duration_ms IS NOT NULL
    GROUP BY t.name ORDER BY total_ms DESC
    """, "tool_calls",
    ),
    _recipe(
        "slowest_calls", "The slowest tool calls", "Single calls by how long they took; permission prompts count as time.",
        """
    SELECT s.title, t.chunk_seq, t.name AS tool, t.duration_ms, t.status, t.started_at,
      substr(t.input, 1, 200) AS input, t.session_id
    FROM (SELECT rowid AS at FROM tool_calls WHERE inherited = 0 AND duration_ms IS NOT NULL ORDER BY duration_ms DESC LIMIT 100) top
    JOIN tool_calls t ON t.rowid = top.at JOIN sessions s ON s.id = t.session_id
    ORDER BY t.duration_ms DESC
    """, "tool_calls", "sessions",
    ),
    _recipe(
        "most_edited_files", "The most edited files", "Files by how often tools changed them, in how many sessions; only calls that went well.",
        """
    SELECT f.path AS file, sum(f.own_changes) AS changes, count(*) AS sessions, sum(f.lines_added) AS lines_added,
      sum(f.lines_removed) AS lines_removed, max(f.last_at) AS last_at
    FROM session_files f
    WHERE f.access = 'changed' AND f.own_changes > 0
    GROUP BY f.path ORDER BY changes DESC, f.path LIMIT 200
    """, "session_files",
    ),
    _recipe(
        "recent_errors", "What tools failed with", "The newest 200 failed calls with the beginning of what came back.",
        """
    SELECT s.title, t.chunk_seq, t.name AS tool, t.started_at, substr(t.input, 1, 200) AS input,
      substr(t.result, 1, 300) AS result, t.session_id
    FROM (SELECT rowid AS at FROM tool_calls WHERE status = 'error' ORDER BY rowid DESC LIMIT 400) new
    JOIN tool_calls t ON t.rowid = new.at JOIN sessions s ON s.id = t.session_id
    WHERE t.inherited = 0
    ORDER BY t.started_at DESC LIMIT 200
    """, "tool_calls", "sessions",
    ),
    _recipe(
        "commands", "Commands of the shell", "The first word of the newest 5,000 shell commands, with how often they failed.",
        """
    SELECT CASE WHEN instr(command || ' ', ' ') > 40 THEN substr(command, 1, 40)
      ELSE substr(command, 1, instr(command || ' ', ' ') - 1) END AS program,
      count(*) AS calls, sum(status = 'error') AS errors, sum(duration_ms) AS total_ms
    FROM (
      SELECT ltrim(coalesce(CASE WHEN json_valid(input) THEN json_extract(input, '$.command') END, input)) AS command,
        status, duration_ms
      FROM tool_calls WHERE rowid IN (SELECT rowid FROM tool_calls
        WHERE name IN ('Bash', 'bash', 'shell', 'exec_command') AND inherited = 0 ORDER BY rowid DESC LIMIT 5000)
    )
    GROUP BY program ORDER BY calls DESC LIMIT 100
    """, "tool_calls",
    ),
    _recipe(
        "subagents", "Kinds of subagents", "How often each kind was started, how long it ran, what it cost and how its tools failed.",
        """
    SELECT s.agent_type, count(*) AS runs, round(avg(s.duration_ms)) AS mean_ms, sum(s.own_tool_calls) AS tool_calls,
      sum(s.tool_errors) AS tool_errors, sum(s.own_output_tokens) AS output_tokens, round(sum(s.own_cost_usd), 2) AS cost_usd
    FROM sessions s
    WHERE s.role <> 'main' AND coalesce(s.day, '') >= :since
    GROUP BY s.agent_type ORDER BY runs DESC
    """, "sessions",
    ),
)  # fmt: skip
