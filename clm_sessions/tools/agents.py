"""Tools that set others to work: subagents, skills, background tasks, messages."""

from __future__ import annotations

from clm_sessions.model import ToolCall
from clm_sessions.tools.parts import arg, details, fitting, number, rest, result, text_section, used
from clm_sessions.view import ToolView
from clm_sessions.view.words import count, one_line, plural


def agent(call: ToolCall) -> ToolView:
    """Task, Agent: what it was told, what it answered, what it spent."""
    facts = details(call)
    calls, tokens = number(facts, "totalToolUseCount"), number(facts, "totalTokens")
    badges = [arg(call, "subagent_type")]
    badges += [plural(calls, "call")] if calls else []
    badges += [f"{count(tokens)} tok"] if tokens else []
    badges += ["in the background"] if facts.get("isAsync") is True else []
    return ToolView(
        title=call.name or "Agent",
        subtitle=one_line(arg(call, "description", "name") or arg(call, "prompt")),
        badges=tuple(badge for badge in badges if badge),
        sections=text_section("markdown", arg(call, "prompt"), "Prompt")
        + rest(call, *used(call, "prompt"), *fitting(call, "description", "name"), *fitting(call, "subagent_type"))
        + result(call, "markdown", "Answer"),
        family="agent",
    )


def skill(call: ToolCall) -> ToolView:
    """Skill, SlashCommand: its name and its arguments."""
    return ToolView(
        title=call.name or "Skill",
        subtitle=one_line(f"{arg(call, 'skill', 'command', 'name')} {arg(call, 'args')}".strip()),
        sections=rest(call, *fitting(call, "skill", "command", "name")) + result(call, "text"),
        family="agent",
    )


def message(call: ToolCall) -> ToolView:
    """SendMessage: to whom and what."""
    to, text = arg(call, "recipient", "to", "target_agent_id"), arg(call, "content", "message")
    return ToolView(
        title=call.name or "SendMessage",
        subtitle=one_line(" ".join(word for word in (f"to {to}" if to else "", arg(call, "summary") or text) if word)),
        sections=text_section("markdown", text)
        + rest(call, *used(call, "content", "message"), *fitting(call, "recipient", "to", "target_agent_id"))
        + result(call, "text"),
        family="agent",
    )


def job(call: ToolCall) -> ToolView:
    """TaskOutput, TaskStop, AgentOutput, Workflow: looks after work in the background."""
    known = ("task_id", "agentId", "shell_id", "name", "id")
    return ToolView(
        title=call.name or "TaskOutput",
        subtitle=one_line(arg(call, *known)),
        sections=rest(call, *fitting(call, *known)) + result(call, title="Output"),
        family="agent",
    )


TABLE = {
    "Task": agent,
    "Agent": agent,
    "Skill": skill,
    "SlashCommand": skill,
    "SendMessage": message,
    "TaskOutput": job,
    "TaskStop": job,
    "AgentOutputTool": job,
    "Workflow": job,
}
