"""Sessions and views of a notebook as files for others."""

import re

import pytest

import jupyter_clm as jc
from clm_sessions.errors import UsageError
from clm_sessions.export import PRIVATE
from clm_sessions.publish import Choices
from support.logs import entry, session_id, text, write_log

TOKEN = "ghp_" + "Zq7" * 12


@pytest.fixture
def log(tmp_path):
    """A prompt with a token, and a call that failed."""
    call = {"type": "tool_use", "id": "t", "name": "Task", "input": {"description": "look"}}
    back = [{"type": "tool_result", "tool_use_id": "t", "content": "done", "is_error": True}]
    lines = [entry("user", 0, f"use {TOKEN}"), entry("assistant", 1, [*text("I do"), call]), entry("user", 2, back)]
    return write_log(tmp_path / "p" / f"{session_id()}.jsonl", lines)


def test_a_session_in_a_notebook_is_written_redacted_by_default(log, tmp_path):
    session = jc.load(log)
    page = session.to_html(tmp_path / "a.html")
    assert page == tmp_path / "a.html"
    assert page.stat().st_mode & 0o777 == 0o600
    assert TOKEN not in page.read_text("utf-8")
    assert TOKEN not in session.to_markdown()
    assert TOKEN in session.to_html(tmp_path / "b.html", redact=False).read_text("utf-8")
    assert TOKEN in session.to_markdown(redact=False)
    assert PRIVATE in session.to_markdown(redact=False)
    hidden = session.to_markdown(choices=Choices(hide=("done",)))
    assert "word-" in hidden
    with pytest.raises(UsageError, match="redacts nothing"):
        session.to_markdown(redact=False, choices=Choices())


def test_a_live_view_is_written_as_a_page_that_begins_with_what_it_shows(log, tmp_path):
    view = jc.load(log).view(query=f"use {TOKEN}", kinds=("user",), errors=True, tools=("Task",))
    page = view.to_html(tmp_path / "a.html").read_text("utf-8")
    view.close()
    assert TOKEN not in page
    assert re.search(r'id="clm-q"[^>]* value="use \[redacted github-token [0-9a-f]{4}\]"', page)
    assert re.findall(r'data-only="(\w+)" aria-pressed="true"', page) == ["user", "errors"]
    assert '<option value="0" selected>Task (1)</option>' in page
    assert page.count("<article") == 2
