"""Exports are made for others: secrets are hidden in every form, and the file says what it is."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from clm_sessions import load, load_all, open_db, plugins
from clm_sessions.export import PRIVATE, redacted, to_html, to_json, to_markdown
from clm_sessions.publish import Choices, publish
from clm_sessions.redact import WITHHELD, Secrets
from support.logs import entry, import_logs, session_id, text, write_log
from support.secret_logs import plant, secrets
from support.terminals import piped

DEMO = Path(__file__).parents[2] / "demo" / "logs"
REGISTRY = plugins.build(entry_points=False)
TOKEN = "ghp_" + "Zq7" * 12
PASSWORD = "t0p-Sh3lf!"
SID = session_id()
FORMS = (to_html, to_json, to_markdown)


@pytest.fixture
def log(tmp_path):
    """A session and its subagent: a password that says what it is in the one, and stands bare in the other."""
    spawn = {
        "type": "tool_use",
        "id": "s",
        "name": "Task",
        "input": {"description": "look", "prompt": f"try {PASSWORD}"},
    }
    back = [{"type": "tool_result", "tool_use_id": "s", "content": "done"}]
    home = {"cwd": "/home/ada/garden"}
    path = write_log(
        tmp_path / "-home-ada-garden" / f"{SID}.jsonl",
        [
            entry("user", 0, f"use {TOKEN}", **home),
            entry("assistant", 1, [*text(f"DB_PASSWORD={PASSWORD}"), spawn], **home),
            entry("user", 9, back, toolUseResult={"agentId": "a1", "status": "completed"}, **home),
        ],
    )
    agent = {"isSidechain": True, "agentId": "a1", **home}
    write_log(
        path.with_suffix("") / "subagents" / "agent-a1.jsonl",
        [entry("user", 2, f"try {PASSWORD}", **agent), entry("assistant", 3, text("it opens"), **agent)],
    )
    return path


def written(session, **more):
    """Every form of a session that was redacted."""
    made = redacted(session, REGISTRY.redactors(), **more)
    return made, ["".join(form(made.session, REGISTRY.describe, note=made.note)) for form in FORMS]


def test_a_secret_that_shows_itself_once_is_hidden_in_every_form_in_subagents_too(log, tmp_path):
    import_logs(tmp_path / "a.db", log.parent)
    with open_db(tmp_path / "a.db") as db:
        for session in (load(log), db.session(SID)):
            made, files = written(session)
            for file in files:
                assert made.note in html.unescape(file)
                assert not re.search(rf"{TOKEN}|{re.escape(PASSWORD)}|/home/ada", file)
                assert "[redacted password " in file.replace("\\", "")
            assert files[0].count("<article") == 4
    assert made.note.startswith("Redacted: secrets, user names, ")
    assert "Found: github-token, password, user names. Left out: images. " in made.note


def test_no_secret_of_any_kind_in_any_field_is_in_any_form(tmp_path):
    planted = secrets()
    fields = plant(DEMO, tmp_path / "logs", "\n".join(text for _value, text in planted.values()))
    assert fields > 400
    seen = 0
    for session in load_all(tmp_path / "logs", registry=REGISTRY)[::6]:
        for file in written(session, query=planted["jwt"][1])[1]:
            seen += 1
            bare = html.unescape(re.sub(r"<[^<>]{0,2000}>", "", file)).replace("\\", "")
            assert [kind for kind, (value, _text) in planted.items() if value in file or value in bare] == []
    assert seen >= 9


def test_words_somebody_looked_for_are_redacted_like_the_rest(log):
    made, _files = written(load(log), query=f"where is {PASSWORD}")
    assert PASSWORD not in made.query
    assert made.query.startswith("where is [redacted password ")


def test_where_a_redactor_raises_the_text_is_withheld_and_the_file_says_so(log):
    class Broken:
        name, version = "broken", "1"

        def spans(self, text):
            if "opens" in text:
                raise ValueError(text)
            return ()

    made = redacted(load(log), [Secrets(), Broken()])
    page = "".join(to_html(made.session, REGISTRY.describe, note=made.note))
    assert "opens" not in page
    assert WITHHELD in page
    assert "Texts that a redactor failed on are left out whole." in page


def test_what_is_hidden_and_left_out_is_a_choice_and_the_file_tells_it(log):
    choices = Choices(left_out=frozenset({"subagents", "thinking"}), personal=frozenset({"emails"}), hide=("garden",))
    made, (page, *_rest) = written(load(log), choices=choices)
    assert page.count("<article") == 2
    assert "word-" in page
    assert "garden" not in page
    assert made.note.startswith("Redacted: secrets, e-mail addresses and words of the writer's own were looked for")
    assert "Left out: subagents, thinking." in made.note


def test_a_published_copy_is_exported_as_it_was_published(log, tmp_path):
    import_logs(tmp_path / "a.db", log.parent)
    with open_db(tmp_path / "a.db") as db:
        publish(db.db, tmp_path / "b.db", [SID], [Secrets()])
    with open_db(tmp_path / "b.db") as db:
        made, files = written(db.session(SID))
        assert made.session is not None
        assert made.note.startswith("From a published copy: it was redacted when it was published.")
        assert "".join(to_markdown(db.session(SID), REGISTRY.describe, note=made.note)) == files[2]
        assert not any(PASSWORD in file for file in files)


@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_the_command_redacts_unless_it_is_told_aloud_not_to(log, tmp_path, ending):
    for_others, private = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    done = piped("export", log, "-o", for_others)
    assert done.exit_code == 0
    assert f"{for_others}: Redacted: secrets" in done.output
    assert TOKEN not in for_others.read_text("utf-8")
    done = piped("export", log, "-o", private, "--private")
    assert done.output == f"{private}: {PRIVATE}\n"
    assert TOKEN in private.read_text("utf-8")
    assert PRIVATE in private.read_text("utf-8")


@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_check_tells_a_private_export_from_one_for_others(log, tmp_path, ending):
    (tmp_path / "out").mkdir()
    assert piped("export", log, "-o", tmp_path / "out" / f"a.{ending}").exit_code == 0
    done = piped("check", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert piped("export", log, "-o", tmp_path / "out" / f"b.{ending}", "--private").exit_code == 0
    done = piped("check", tmp_path / "out")
    assert done.exit_code == 1
    assert "a session as it was written; export it without --private" in done.output


def test_the_command_takes_the_choices_of_publish_but_not_with_private(log, tmp_path):
    out = tmp_path / "a.md"
    assert piped("export", log, "-o", out, "--hide", "garden", "--keep-personal", "users").exit_code == 0
    assert "word-" in out.read_text("utf-8")
    done = piped("export", log, "-o", tmp_path / "b.md", "--private", "--hide", "garden")
    assert done.output == "clm-sessions: --private redacts nothing: leave out --hide\n"
    assert not (tmp_path / "b.md").exists()


def test_json_says_under_which_word_it_stands(log):
    found = json.loads("".join(to_json(load(log), REGISTRY.describe)))
    assert (found["private"], "redacted" in found) == (PRIVATE, False)
    made, files = written(load(log))
    found = json.loads(files[1])
    assert (found["redacted"], "private" in found) == (made.note, False)
