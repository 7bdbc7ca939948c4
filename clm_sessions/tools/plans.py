"""Tools that plan, keep a list, or ask the person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clm_sessions.model import ToolCall
from clm_sessions.tools.files import said
from clm_sessions.tools.parts import (
    Sections,
    arg,
    details,
    failed,
    fitting,
    inputs,
    items,
    rest,
    result,
    scalar,
    text_of,
    text_section,
    used,
)
from clm_sessions.view import Section, ToolView
from clm_sessions.view.words import one_line

MARKS = {"completed": "✓ done", "in_progress": "▸ in progress", "pending": "○ open"}


def todos(call: ToolCall) -> ToolView:
    """TodoWrite: the list as a table, with what is done counted."""
    listed = [one for one in items(inputs(call).get("todos")) if isinstance(one, Mapping)]
    now = next((text_of(one, "content", "subject") for one in listed if one.get("status") == "in_progress"), "")
    done = sum(one.get("status") == "completed" for one in listed)
    table = Section(kind="table", header=("Status", "Task"), rows=tuple(_rows(listed)))
    return ToolView(
        title=call.name or "TodoWrite",
        subtitle=one_line(now),
        badges=(f"{done} of {len(listed)} done",) if listed else (),
        sections=((table,) if listed else ()) + rest(call, *(["todos"] if listed else [])) + said(call),
        family="plan",
    )


def _rows(listed: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    for one in listed:
        status = text_of(one, "status")
        yield MARKS.get(status, status), text_of(one, "content", "subject", "id")


def task(call: ToolCall) -> ToolView:
    """TaskCreate, TaskUpdate, TaskGet, TaskList: one entry of a list."""
    number, status = arg(call, "taskId", "task_id", "id"), arg(call, "status")
    about = arg(call, "subject", "title")
    words = (f"#{number}" if number else "", about, MARKS.get(status, status))
    return ToolView(
        title=call.name or "Task list",
        subtitle=one_line(" ".join(word for word in words if word)),
        sections=text_section("markdown", arg(call, "description"))
        + rest(call, *used(call, "description"), *fitting(call, "subject", "title"))
        + said(call),
        family="plan",
    )


def plan(call: ToolCall) -> ToolView:
    """ExitPlanMode: the plan itself."""
    text = arg(call, "plan") or text_of(details(call), "plan")
    return ToolView(
        title=call.name or "ExitPlanMode",
        subtitle=one_line(text[:2000].lstrip("# \n").partition("\n")[0]),
        sections=text_section("markdown", text) + rest(call, *used(call, "plan")) + said(call),
        open=bool(text),
        family="plan",
    )


def ask(call: ToolCall) -> ToolView:
    """AskUserQuestion: each question with its choices, and what was answered."""
    questions = [one for one in items(inputs(call).get("questions")) if isinstance(one, Mapping)]
    answers = details(call).get("answers")
    answered: Sections = ()
    if isinstance(answers, Mapping) and answers:
        rows = tuple((str(question), scalar(answer)) for question, answer in answers.items())
        answered = (Section(kind="key_values", rows=rows, title="Answers"),)
    first = text_of(questions[0], "question", "header") if questions else arg(call, "question")
    shown = tuple(section for one in questions for section in _question(one))
    return ToolView(
        title=call.name or "AskUserQuestion",
        subtitle=one_line(first),
        sections=shown
        + rest(call, *(["questions"] if shown else []))
        + answered
        + (said(call) if answered else result(call, "text", "Answer")),
        open=not failed(call),
        family="question",
    )


def _question(one: Mapping[str, Any]) -> Iterable[Section]:
    yield from text_section("text", text_of(one, "question", "header"))
    options = items(one.get("options"))
    rows = tuple((text_of(o, "label"), text_of(o, "description")) for o in options if isinstance(o, Mapping))
    if rows:
        yield Section(kind="table", header=("Choice", "Meaning"), rows=rows)


TABLE = {
    "TodoWrite": todos,
    "TaskCreate": task,
    "TaskUpdate": task,
    "TaskGet": task,
    "TaskList": task,
    "ExitPlanMode": plan,
    "AskUserQuestion": ask,
}
