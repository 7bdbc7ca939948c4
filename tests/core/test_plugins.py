"""Plugins of strangers: listed, isolated, blocked, and who wins where two want the same."""

import json
import sqlite3
from dataclasses import replace

import pytest

import clm_sessions
from clm_sessions import hookimpl, plugins
from clm_sessions.errors import NotALogError
from clm_sessions.formats.base import Confidence
from clm_sessions.ingest import ingest
from clm_sessions.model import ToolCall
from clm_sessions.store import raw
from clm_sessions.view import Section, ToolView
from support.logs import dump, entry, query, session_id, text, turn, write_log
from support.tiny import Tiny, TinyReader, command, environment, install, write_tiny

HOOK = "from clm_sessions import hookimpl\nfrom clm_sessions.formats.base import LogFormat\n"
GOOD = """
from support.tiny import Tiny
from clm_sessions import hookimpl

@hookimpl
def clm_register_formats():
    return [Tiny()]
"""
BAD = {
    "fails-to-import": (
        "import no_such_module_at_all\n",
        "ModuleNotFoundError: No module named 'no_such_module_at_all'",
    ),
    "is-no-python": ("def (\n", "SyntaxError"),
    "leaves": ("raise SystemExit('bye')\n", "SystemExit: bye"),
    "raises-in-hook": (
        f"{HOOK}@hookimpl\ndef clm_register_formats():\n    return 1 / 0\n",
        "ZeroDivisionError: division by zero",
    ),
    "unknown-argument": (f"{HOOK}@hookimpl\ndef clm_describe_tool(call, weather):\n    pass\n", "weather"),
    "other-version": (
        f"{HOOK}class F(LogFormat):\n    name = 'f'\n    api_version = 2\n@hookimpl\ndef clm_register_formats():\n    return [F()]\n",
        "format 'f' has api_version 2; this version knows 1",
    ),
    "taken-name": (
        f"{HOOK}class F(LogFormat):\n    name = 'claude-code'\n@hookimpl\ndef clm_register_formats():\n    return [F()]\n",
        "a format named 'claude-code' is there already",
    ),
    "no-format": (
        f"{HOOK}@hookimpl\ndef clm_register_formats():\n    return [LogFormat]\n",
        "is no instance of LogFormat",
    ),
    "takes-a-command": (
        f"{HOOK}import click\n@hookimpl\ndef clm_register_commands(cli):\n    cli.add_command(click.Command('import'))\n",
        "a command named 'import' is there already",
    ),
    "raises-for-commands": (
        f"{HOOK}@hookimpl\ndef clm_register_commands(cli):\n    cli.nothing()\n",
        "clm_register_commands: AttributeError",
    ),
}


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """An environment with one good plugin among all bad ones."""
    site = tmp_path_factory.mktemp("site") / "packages"
    for name, (source, _reason) in BAD.items():
        install(site, name, source)
    install(site, "unknown-hook", f"{HOOK}@hookimpl\ndef clm_make_coffee():\n    pass\n")
    install(site, "forgot-the-marker", "def clm_register_formats():\n    return []\n")
    install(site, "tiny", GOOD, module="tiny_plugin")
    return environment(site, plugins.__file__.rsplit("/", 2)[0], __file__.rsplit("/", 2)[0])


@pytest.fixture(scope="module")
def listed(crowd):
    done = command(["plugins", "--json"], crowd)
    return {plugin["name"]: plugin for plugin in json.loads(done.stdout)["plugins"]}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_plugin_is_listed_with_its_origin_and_the_reason(listed, name):
    assert listed[name]["origin"] == f"{name} 1.0"
    assert BAD[name][1] in (listed[name]["failure"] or "")


def test_a_plugin_with_an_unknown_hook_or_none_runs_and_is_warned_about(crowd, listed):
    assert listed["unknown-hook"]["failure"] is None
    assert listed["unknown-hook"]["note"] == "unknown hook: clm_make_coffee"
    assert listed["forgot-the-marker"]["note"] == "implements no hook; is @hookimpl missing?"
    assert "(warning: unknown hook: clm_make_coffee)" in command(["plugins"], crowd).stdout


def test_all_other_plugins_and_the_built_ins_run(crowd, listed, tmp_path):
    assert {name for name, plugin in listed.items() if plugin["failure"] is None} == {
        "clm", "claude-code", "codex", "tools", "tiny", "unknown-hook", "forgot-the-marker",
    }  # fmt: skip
    assert listed["tiny"]["formats"] == ["tiny"]
    write_tiny(tmp_path / "logs" / "a.tiny", "hello")
    write_log(tmp_path / "logs" / f"{session_id()}.jsonl", turn(1, "hi", "yes"))
    command(["import", tmp_path / "x.db", tmp_path / "logs"], crowd)
    assert query(tmp_path / "x.db", "SELECT id, format FROM sessions ORDER BY id") == [
        (session_id(), "claude-code"),
        ("a", "tiny"),
    ]


def test_a_reason_is_one_line(listed):
    assert all("\n" not in (plugin["failure"] or "") for plugin in listed.values())


def test_blocked_plugins_do_not_run_built_in_or_not(crowd):
    done = command(["plugins", "--json"], {**crowd, "CLM_BLOCK_PLUGINS": "tiny, clm"})
    found = json.loads(done.stdout)
    assert [f["name"] for f in found["formats"]] == ["claude-code", "codex", "codex-json"]
    reasons = {p["name"]: p["failure"] for p in found["plugins"]}
    assert reasons["tiny"] == reasons["clm"] == "blocked by name"


def test_a_plugin_adds_a_command_to_the_real_command_line(tmp_path):
    source = f"{HOOK}import click\n@hookimpl\ndef clm_register_commands(cli):\n    @cli.command()\n    def greet():\n        click.echo('good day')\n"
    install(tmp_path / "site", "greeter", source)
    env = environment(tmp_path / "site")
    assert command(["greet"], env).stdout == "good day\n"
    assert "greet" in command(["--help"], env).stdout


def test_two_plugins_of_one_name_are_both_listed(tmp_path):
    install(
        tmp_path / "site",
        "tools",
        f"{HOOK}@hookimpl\ndef clm_register_commands(cli):\n    pass\n",
        module="strange_tools",
    )
    found = json.loads(command(["plugins", "--json"], environment(tmp_path / "site")).stdout)["plugins"]
    assert [(p["name"], p["failure"]) for p in found if p["name"].startswith("tools")] == [
        ("tools", None),
        ("tools (tools 1.0)", None),
    ]


# -- a format that raises during an import ------------------------------------------------------------------------

FILE = ["decode", "reader", "feed", "feed says nothing", "state", "at", "uuid", "a value no column takes", "dialect"]
FINDING = ["locate", "sniff"]


def registry(broken="", **change):
    return plugins.build([Tiny(broken, **change)], entry_points=False)


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    write_tiny(folder / "a.tiny", "first", "second")
    bad = write_tiny(folder / "bad.tiny", "one", "two")
    bad.write_text(bad.read_text() + '{"say": "boom", "run": "boom"}\n')
    (folder / "bad.note").write_text("a note")
    write_tiny(folder / "c.tiny", "third")
    write_log(folder / f"{session_id()}.jsonl", turn(1, "hi", "yes"))
    return folder


def everything(database):
    """All that a person sees, without sources: those may have been read in another order."""
    found = dump(database, sources=False)
    return {name: rows for name, rows in found.items() if name not in {"record_types", "source_lines"}}


class WrongReader(TinyReader):
    """Answers as a Tiny reader, but for ``change`` in what it says of each record of the bad file."""

    def feed(self, record, place):
        parsed = super().feed(record, place)
        if self.session != "bad":
            return parsed
        if self.fmt.broken == "exit":
            raise SystemExit(3)
        return replace(parsed, **self.fmt.wrong)

    def state(self):
        return {"seen": object()} if self.session == "bad" and self.fmt.broken == "no JSON" else super().state()


class Wrong(Tiny):
    """A Tiny format that answers with values of the wrong type for the bad file."""

    wrong: dict = {}  # noqa: RUF012 - set per test
    place: dict = {}  # noqa: RUF012
    claim: dict = {}  # noqa: RUF012

    def locate(self, path):
        found = super().locate(path)
        return replace(found, **self.place) if found is not None and path.stem == "bad" else found

    def sniff(self, located, head):
        claim = super().sniff(located, head)
        return replace(claim, **self.claim) if located.session == "bad" else claim

    def reader(self, context, state=None):
        return WrongReader(self, context, state)


WRONG = {
    "a time that is a float": {"wrong": {"at": 1.5}},
    "a type that is a number": {"wrong": {"type": 7}},
    "a type that is no text": {"wrong": {"type": "\ud800"}},
    "an issue that is a number": {"wrong": {"issue": 7}},
    "an issue that is no text": {"wrong": {"issue": "\ud800"}},
    "a state that is no JSON": {"broken": "no JSON"},
    "an exit": {"broken": "exit"},
    "a session that is a number": {"place": {"session": 7}},
    "an agent that is a number": {"place": {"role": "agent", "agent": 7}},
    "a claim for a number": {"claim": {"session": 7}},
    "a confidence that is a word": {"claim": {"confidence": "very"}},
}


@pytest.mark.parametrize("what", WRONG)
def test_a_format_that_answers_nonsense_costs_that_file_alone(logs, tmp_path, what):
    change = WRONG[what]
    fmt = Wrong(change.get("broken", ""), **{k: v for k, v in change.items() if k != "broken"})
    db = tmp_path / "x.db"
    ingest(db, [logs], plugins.build([fmt], entry_points=False))
    assert query(db, "SELECT id FROM sessions ORDER BY id") == [(session_id(),), ("a",), ("c",)]
    reasons = query(db, "SELECT reason FROM ingest_issues WHERE kind = 'plugin'")
    assert {reason.startswith("plugin tiny: ") for (reason,) in reasons} == {True}  # its side file may be named too


@pytest.mark.parametrize("broken", FINDING + FILE)
def test_a_format_that_raises_on_one_file_leaves_that_file_and_its_name_and_neighbours_are_imported(
    logs, tmp_path, broken
):
    db = tmp_path / "x.db"
    ingest(db, [logs], registry(broken))
    assert query(db, "SELECT id FROM sessions ORDER BY id") == [(session_id(),), ("a",), ("c",)]
    issues = query(db, "SELECT kind, reason, path FROM ingest_issues JOIN sources ON sources.id = source_id")
    assert [(kind, path) for kind, _reason, path in issues] == [
        ("plugin", str(logs / "bad.tiny"))
    ] or broken == "locate"
    reason = issues[0][1]
    assert reason.startswith("plugin tiny: ")
    assert f"boom in {broken}" in reason or broken in {"feed says nothing", "at", "uuid", "a value no column takes"}


@pytest.mark.parametrize("broken", FINDING + FILE)
def test_once_the_plugin_is_repaired_the_next_import_equals_a_fresh_one(logs, tmp_path, broken):
    db, fresh = tmp_path / "x.db", tmp_path / "fresh.db"
    ingest(db, [logs], registry(broken))
    ingest(db, [logs], registry())
    ingest(fresh, [logs], registry())
    assert everything(db) == everything(fresh)
    assert query(db, "SELECT count(*) FROM ingest_issues") == [(0,)]


@pytest.mark.parametrize("broken", FILE)
def test_rows_of_an_earlier_import_stay_and_the_new_bytes_are_kept_while_the_plugin_is_broken(logs, tmp_path, broken):
    db = tmp_path / "x.db"
    bad = logs / "bad.tiny"
    whole = bad.read_bytes()
    bad.write_bytes(whole[:15])
    ingest(db, [logs], registry())
    before = query(db, "SELECT * FROM messages WHERE session_id = 'bad'")
    bad.write_bytes(whole)
    ingest(db, [logs], registry(broken))
    assert query(db, "SELECT * FROM messages WHERE session_id = 'bad'") == before
    assert len(before) == 1
    assert query(db, "SELECT kind FROM ingest_issues") == [("plugin",)]
    with sqlite3.connect(db) as connection:
        assert b"".join(raw.read(connection, "bad")) == whole
    ingest(db, [logs], registry())
    assert query(db, "SELECT text FROM messages WHERE session_id = 'bad'") == [("1: one",), ("2: two",), ("3: boom",)]
    assert query(db, "SELECT count(*) FROM ingest_issues") == [(0,)]
    with sqlite3.connect(db) as connection:
        assert b"".join(raw.read(connection, "bad")) == whole


def test_a_side_file_its_format_cannot_read_costs_that_file_alone(logs, tmp_path):
    db = tmp_path / "x.db"
    ingest(db, [logs], registry("side"))
    assert query(db, "SELECT count(*) FROM sessions") == [(4,)]
    assert query(db, "SELECT reason, path FROM ingest_issues JOIN sources ON sources.id = source_id") == [
        ("plugin tiny: side: ValueError: boom in side", str(logs / "bad.note"))
    ]
    ingest(db, [logs], registry())
    assert query(db, "SELECT value FROM facts WHERE name = 'note'") == [('"a note"',)]
    ingest(db, [logs], registry("side"))
    assert query(db, "SELECT value FROM facts WHERE name = 'note'") == [('"a note"',)]


def test_a_format_that_raises_everywhere_is_listed_and_counted_in_the_report(logs, tmp_path):
    found = registry("sniff says yes")
    report = ingest(tmp_path / "x.db", [logs], found)
    assert report.issues["plugin"] == 3
    assert [(p.name, p.failure) for p in found.failures()] == [
        ("tiny", "sniff: TypeError: the answer is a bool, not a Claim")
    ]


@pytest.mark.parametrize("broken", ["locate", "sniff", "feed", "dialect"])
def test_the_report_of_the_command_says_which_file_which_plugin_and_why(tmp_path, broken):
    install(tmp_path / "site", "tiny", GOOD.replace("Tiny()", f"Tiny({broken!r})"), module="tiny_plugin")
    write_tiny(tmp_path / "logs" / "a.tiny", "hello")
    bad = write_tiny(tmp_path / "logs" / "bad.tiny", "oh")
    bad.write_text('{"say": "oh", "run": "boom"}\n')
    done = command(
        ["import", tmp_path / "x.db", tmp_path / "logs"], environment(tmp_path / "site", __file__.rsplit("/", 2)[0])
    )
    assert "issues    1 plugin" in done.stdout
    assert f"note      {bad}: plugin tiny: " in done.stdout
    assert f"boom in {broken}" in done.stdout


def test_roots_that_raise_leave_the_roots_of_others(tmp_path):
    class Rootless(Tiny):
        def roots(self, home, env):
            raise OSError("no home")

    found = plugins.build([Rootless()], entry_points=False)
    assert tmp_path / ".claude" / "projects" in found.roots(tmp_path, {})
    assert found.failures()[0].failure == "roots: OSError: no home"


@pytest.mark.parametrize("broken", [b for b in FINDING + FILE if b not in {"uuid", "a value no column takes"}])
def test_loading_one_log_says_in_one_line_which_plugin_failed(logs, broken):
    with pytest.raises(NotALogError, match="plugin tiny: ") as caught:
        clm_sessions.load(logs / "bad.tiny", registry=registry(broken))
    assert "\n" not in str(caught.value)
    assert {s.id for s in clm_sessions.load_all(logs, registry=registry(broken))} == {"a", "c", session_id()}


# -- who wins ----------------------------------------------------------------------------------------------------


def formats_of(tmp_path, *formats, only=None):
    """Which format takes a Claude Code log and a tiny log, and what is reported."""
    write_tiny(tmp_path / "logs" / "a.tiny", "hello")
    write_log(tmp_path / "logs" / f"{session_id()}.jsonl", turn(1, "hi", "yes"))
    report = ingest(tmp_path / "x.db", [tmp_path / "logs"], plugins.build(formats, entry_points=False), only=only)
    taken = dict(query(tmp_path / "x.db", "SELECT id, format FROM sessions"))
    return (
        taken.get("a"),
        taken.get(session_id()),
        [issue.reason for _path, issue in report.notices if issue.kind == "tie"],
    )


def test_the_surer_format_wins(tmp_path):
    sure = Tiny(name="zebra")
    guess = Tiny(name="ant", confidence=Confidence.SHAPE)
    assert formats_of(tmp_path, guess, sure) == ("zebra", "claude-code", [])


def test_a_foreign_format_wins_over_a_built_in_one_as_sure(tmp_path):
    assert formats_of(tmp_path, Tiny(name="zebra", suffix=".jsonl"))[1:] == ("zebra", [])


def test_a_foreign_format_less_sure_than_a_built_in_one_does_not_win(tmp_path):
    assert formats_of(tmp_path, Tiny(suffix=".jsonl", confidence=Confidence.SHAPE))[1] == "claude-code"


def test_of_equals_the_first_name_wins_and_the_tie_is_reported(tmp_path):
    for formats in ([Tiny(name="zebra"), Tiny(name="ant")], [Tiny(name="ant"), Tiny(name="zebra")]):
        assert formats_of(tmp_path, *formats) == (
            "ant",
            "claude-code",
            ["several formats claim it: ant, zebra; read as ant"],
        )


def test_the_format_named_by_the_user_wins_over_all(tmp_path):
    formats = (Tiny(name="zebra", confidence=Confidence.SHAPE), Tiny(name="ant"))
    assert formats_of(tmp_path, *formats, only="zebra") == ("zebra", None, [])


def test_a_tie_stands_in_the_summary_of_the_command(tmp_path):
    for name in ("ant", "zebra"):
        install(tmp_path / "site", name, GOOD.replace("Tiny()", f"Tiny(name={name!r})"))
    write_tiny(tmp_path / "a.tiny", "hello")
    env = environment(tmp_path / "site", __file__.rsplit("/", 2)[0])
    done = command(["import", tmp_path / "x.db", tmp_path / "a.tiny"], env)
    assert "a.tiny: several formats claim it: ant, zebra; read as ant" in done.stdout
    assert "read as" not in command(["import", tmp_path / "y.db", tmp_path / "a.tiny", "--format", "zebra"], env).stdout
    assert query(tmp_path / "y.db", "SELECT format FROM sessions") == [("zebra",)]


def test_a_second_format_of_one_name_is_refused_and_the_first_stays():
    first, second = Tiny(), Tiny()
    found = plugins.build([first, second], entry_points=False)
    assert found.formats["tiny"] is first
    assert [p.failure for p in found.failures()] == ["a format named 'tiny' is there already"]


# -- tools -------------------------------------------------------------------------------------------------------


def describer(answer):
    class Describer:
        @hookimpl
        def clm_describe_tool(self, call):
            return answer(call)

    return Describer()


CALL = ToolCall(id="1", name="Bash", input={"command": "ls"}, status="ok", message=0, result="kale")


def test_a_foreign_describer_beats_the_built_in_one(tmp_path):
    source = f"{HOOK}from clm_sessions.view import ToolView\n@hookimpl\ndef clm_describe_tool(call):\n    if call.name == 'Bash':\n        return ToolView(title='A shell, seen by a stranger')\n"
    install(tmp_path / "site", "stranger", source)
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    log = write_log(
        tmp_path / f"{session_id()}.jsonl", [*turn(1, "hi", "yes"), entry("assistant", 9, [call, *text("done")])]
    )
    assert "A shell, seen by a stranger" in command(["show", log], environment(tmp_path / "site")).stdout
    assert "A shell, seen by a stranger" not in command(["show", log], environment()).stdout


def test_a_describer_that_does_not_know_the_tool_leaves_it_to_the_built_in_one():
    found = plugins.build([describer(lambda call: None)], entry_points=False)
    assert found.describe(CALL).title == plugins.build(entry_points=False).describe(CALL).title


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda call: call.nothing, "AttributeError"),
        (lambda call: "<b>html</b>", "the answer is a str, not a ToolView"),
        (lambda call: ToolView(title=None), "the answer is a NoneType, not a str"),
        (lambda call: ToolView(title="x", sections=None), "TypeError"),
        (lambda call: ToolView(title="x", sections=("text",)), "the answer is a str, not a Section"),
        (lambda call: ToolView(title="x", sections=(Section(kind="hologram"),)), "no section has the kind 'hologram'"),
        (
            lambda call: ToolView(title="x", sections=(Section(kind="table", rows=((1, 2),)),)),
            "the answer is a int, not a str",
        ),
        (
            lambda call: ToolView(title="x", sections=(Section(kind="diff", diff=("+a",)),)),
            "the answer is a str, not a DiffLine",
        ),
    ],
)
def test_a_describer_that_raises_or_answers_nonsense_is_listed_and_the_next_is_asked(answer, reason):
    found = plugins.build([describer(answer)], entry_points=False)
    assert found.describe(CALL).title == plugins.build(entry_points=False).describe(CALL).title
    assert reason in found.failures()[0].failure
