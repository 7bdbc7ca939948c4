"""The command as people see it: on terminals of some widths, in pipes, with filters, and when it fails."""

import json
import os
import re
import subprocess
import sys

import pytest

from clm_sessions.cli.tables import Column, fit, lines, wide
from clm_sessions.errors import ClmError
from support.attacks import TERMINAL
from support.logs import entry, import_logs, session_id, text, turn, write_log
from support.terminals import bare, environment, on_terminal, piped, strange

ONE, TWO, FORK = session_id(1), session_id(2), session_id(3)


def use(number, tool, call, **more):
    return entry("assistant", number, [{"type": "tool_use", "id": f"t{number}", "name": tool, "input": call}], **more)


def result(number, of, content, **more):
    block = {"type": "tool_result", "tool_use_id": f"t{of}", "content": content, **more}
    return entry("user", number, [block])


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terminal")
    first = [
        *turn(1, "Plan the beds for Café Ölbaum", "Gladly: kale, then 水やり."),
        use(10, "Bash", {"command": "ls beds"}),
        result(11, 10, "kale.csv\n\x1b[31mred\x1b[0m\x07 done"),
        use(12, "Read", {"file_path": "/home/dev/garden/none.txt"}),
        result(13, 12, "no such file", is_error=True),
        entry("assistant", 14, [{"type": "thinking", "thinking": "Rotation matters here."}, *text("All planned.")]),
    ]
    write_log(folder / "logs" / "-home-dev-garden" / f"{ONE}.jsonl", first)
    copied = [{**each, "sessionId": FORK} for each in first]
    more = [
        e | {"timestamp": "2026-03-04T09:00:00.000Z"} for e in turn(30, "And the greenhouse?", "Later.", session=FORK)
    ]
    write_log(folder / "logs" / "-home-dev-garden" / f"{FORK}.jsonl", [*copied, *more])
    harbour = {"session": TWO, "cwd": "/home/dev/harbour", "model": "gpt-harbour-2"}
    other = [
        e | {"timestamp": "2026-03-05T23:30:00.000Z"}
        for e in turn(1, "Chart the tides\u202e", "Tides are done.", **harbour)
    ]
    write_log(folder / "logs" / "-home-dev-harbour" / f"{TWO}.jsonl", other)
    import_logs(folder / "a.db", folder / "logs")
    return folder / "a.db"


# -- list -------------------------------------------------------------------------------------------------------


def test_list_in_a_pipe_is_a_record_a_line_with_tabs_between(database):
    rows = [line.split("\t") for line in piped("list", database, "--utc").output.splitlines()]
    assert [row[1] for row in rows] == [TWO, ONE, FORK]
    assert {len(row) for row in rows} == {10}
    assert rows[0][0] == "2026-03-05 23:30"


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (("--project", "harbour"), [TWO]), (("--project", "/home/dev/garden"), [ONE, FORK]), (("--project", "GARD*"), [ONE, FORK]),
        (("--model", "harbour"), [TWO]), (("--format", "claude-code"), [TWO, ONE, FORK]), (("--since", "2026-03-05"), [TWO]),
        (("--until", "2026-03-02"), [ONE, FORK]), (("--day", "2026-03-03"), [FORK]), (("--day", "2026-03-04"), [FORK]),
        (("--limit", "1"), [TWO]),
    ],
)  # fmt: skip
def test_list_can_be_narrowed(database, asked, found):
    shown = [json.loads(line)["id"] for line in piped("list", database, "--utc", "--json", *asked).output.splitlines()]
    assert shown == found


def test_a_name_that_is_not_there_is_told_with_those_that_are(database):
    done = piped("list", database, "--project", "gardn")
    assert done.exit_code == 1
    assert done.output == "clm-sessions: no project 'gardn' in the database; there are: garden\n"
    assert "claude-test-1, gpt-harbour-2" in piped("search", "x", database, "--model", "zzz").output


@pytest.mark.parametrize("width", [45, 80, 160])
def test_a_table_fits_its_terminal_and_its_short_ids_work(database, width):
    shown = on_terminal(width, "list", database)
    rows = bare(shown).splitlines()
    assert max(map(wide, rows)) <= width
    assert "TITLE" in rows[0]
    short = next(word for word in rows[1].split() if word.startswith("5e55"))
    assert piped("show", short, database).exit_code == 0
    assert "\x1b[" in shown
    assert "\x1b" not in on_terminal(width, "list", database, NO_COLOR="1")


# -- search -----------------------------------------------------------------------------------------------------


def test_search_marks_what_it_found_and_finds_a_copied_message_once(database):
    done = piped("search", "cafe", database, "--utc")
    assert done.output == f"{ONE}\t1\t2026-03-02 09:00\tprompt\tgarden\tPlan the beds for **Café** Ölbaum\n"
    assert "\x1b[" in on_terminal(80, "search", "cafe", database)
    hit = json.loads(piped("search", "水やり", database, "--json").output)
    assert [piece["text"] for piece in hit["pieces"] if piece["found"]] == ["水やり"]


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (("done",), {"Bash", "reply"}), (("done", "--kind", "tool"), {"Bash"}), (("done", "--kind", "ai"), {"reply"}),
        (("done", "--tool", "bash"), {"Bash"}), (("done", "--project", "harbour"), {"reply"}),
        (("done", "--model", "harbour"), {"reply"}), (("done", "--model", "claude"), {"Bash"}),
        (("done", "--day", "2026-03-05"), {"reply"}), (("done", "--until", "2026-03-04"), {"Bash"}),
        (("rotation", "--kind", "thinking"), {"reply"}), (("rotation", "--kind", "ai"), set()), (("planned", "--kind", "thinking"), set()),
    ],
)  # fmt: skip
def test_search_can_be_narrowed(database, asked, names):
    shown = piped("search", asked[0], database, "--utc", "--json", *asked[1:])
    assert {json.loads(line)["name"] for line in shown.output.splitlines()} == names
    assert shown.exit_code == 0


@pytest.mark.parametrize("query", ["don't", '"half', "NEAR(", "a AND", "* *", "🌱", "-", "^", "col:x", "\\", "'; --"])
def test_any_text_is_a_valid_query(database, query):
    done = piped("search", "--json", "--", query, database)
    assert (done.exit_code, done.stderr) == (0, "")


def test_words_need_no_quotes_and_an_unknown_last_word_is_no_database(database, monkeypatch):
    monkeypatch.setenv("CLM_SESSIONS_HOME", str(database.parent))
    (database.parent / "sessions.db").unlink(missing_ok=True)
    (database.parent / "sessions.db").symlink_to(database)
    assert "**Plan** the **beds**" in piped("search", "plan", "beds").output


def test_search_says_when_there_is_nothing(database):
    assert "nothing found" in on_terminal(80, "search", "zeppelin", database)
    assert "no letter or digit" in on_terminal(80, "search", "??", database)


# -- show -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "there", "away"),
    [
        ((), "Plan the beds", "matters here.\n    "),
        (("--chunks", "2"), "ls beds", "Plan the beds for"),
        (("--chunks", "-1"), "Plan the beds", "ls beds"),
        (("--kind", "user"), "Plan the beds", "ls beds"),
        (("--tool", "r*"), "none.txt", "ls beds"),
        (("--errors",), "no such file", "ls beds"),
        (("--grep", "KALE\\.csv"), "kale.csv", "All planned"),
        (("--no-thinking",), "All planned", "Rotation"),
        (("--thinking",), "Rotation matters here.", None),
    ],
)
def test_show_can_be_narrowed(database, asked, there, away):
    done = piped("show", ONE, database, *asked)
    body = done.output.split("\n", 2)[2]  # without the heading
    assert there in body
    assert away is None or away not in body


@pytest.mark.parametrize(
    "wrong", [("--chunks", "9"), ("--chunks", "0"), ("--chunks", "x"), ("--chunks", "-"), ("--grep", "(")]
)
def test_show_tells_in_one_line_what_it_cannot_do(database, wrong):
    done = piped("show", ONE, database, *wrong)
    assert done.exit_code == 1
    assert len(done.output.splitlines()) == 1


def test_show_goes_through_the_pager_on_a_terminal_and_only_there(database, tmp_path):
    pager = tmp_path / "pager"
    pager.write_text(f"#!{sys.executable}\nimport sys\nprint('PAGED', len(sys.stdin.read()) > 100)\n")
    pager.chmod(0o755)
    assert "PAGED True" in on_terminal(80, "show", ONE, database, PAGER=str(pager))
    assert "PAGED" not in on_terminal(80, "show", ONE, database, "--no-pager", PAGER=str(pager))
    assert "PAGED" not in on_terminal(80, "list", database, PAGER=str(pager))
    env = environment(PAGER=str(pager))
    done = subprocess.run(
        [sys.executable, "-m", "clm_sessions", "show", ONE, database],
        capture_output=True,
        text=True,
        env=env,
        check=True,
    )
    assert "PAGED" not in done.stdout


def test_prose_is_wrapped_on_a_terminal_and_nothing_else(tmp_path):
    long = "word " * 60
    code = "x" * 200
    write_log(tmp_path / "p" / f"{ONE}.jsonl", turn(1, f"- {long}\n\n```\n{code}\n```", "ok"))
    import_logs(tmp_path / "a.db", tmp_path / "p")
    _title, *rows = bare(on_terminal(80, "show", ONE, tmp_path / "a.db", "--no-pager")).splitlines()
    assert max(len(row) for row in rows if "word" in row) <= 80
    assert f"  {code}" in rows
    assert f"  - {long.strip()}" in piped("show", ONE, tmp_path / "a.db").output


# -- hostile text, pipes, errors ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Terminal attacks in every text of a log, its project and its tools."""
    folder = tmp_path_factory.mktemp("hostile")
    for number, attack in enumerate(TERMINAL, 1):
        sid = session_id(number)
        bad = f"needle {attack} needle"
        entries = [
            entry("user", 1, bad, session=sid, cwd=f"/home/dev/{bad}"),
            entry("assistant", 2, [{"type": "thinking", "thinking": bad}, *text(bad)], session=sid, model=bad),
            entry("assistant", 3, [{"type": "tool_use", "id": "t", "name": bad, "input": {bad: bad}}], session=sid),
            entry("user", 4, [{"type": "tool_result", "tool_use_id": "t", "content": bad}], session=sid),
            {"type": "summary", "summary": bad, "leafUuid": f"{sid[-4:]}-1"},
        ]
        write_log(folder / "logs" / "-p" / f"{sid}.jsonl", entries)
    import_logs(folder / "a.db", folder / "logs")
    return folder / "a.db"


@pytest.mark.parametrize(
    "words",
    [
        ("list",), ("search", "needle"), ("stats", "--by", "project"), ("stats", "--by", "model"), ("stats", "--by", "tool"),
        ("stats", "--by", "session"), ("show", ONE, "--full", "--no-pager"), ("export", ONE, "--md"), ("export", ONE, "--json"),
        ("export", ONE, "--html"), ("export-table", "messages", "--csv"), ("export-table", "tool_calls", "--ndjson"), ("verify",),
        ("list", "--project", "\x1b[31m\u202e"), ("show", "\x1b]0;x\x07"),
    ],
)  # fmt: skip
def test_no_log_text_acts_on_a_terminal(hostile, words):
    command, *rest = words
    wanted = (
        [command, *rest[:1], hostile, *rest[1:]] if rest and not rest[0].startswith("-") else [command, hostile, *rest]
    )
    assert strange(on_terminal(100, *wanted)) == set()


def test_a_log_as_it_is_does_not_go_to_a_terminal(hostile):
    assert "could act on this terminal" in on_terminal(80, "export-log", ONE, hostile)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (("clm_sessions",), ("list",)),
        (("clm_sessions",), ("show", ONE)),
        (("clm_sessions",), ("export-table", "messages", "--csv")),
        (("datasette", "clm"), ("stats",)),
    ],
)
def test_a_reader_that_leaves_early_is_no_error(hostile, program, words):
    wanted = [*words[:2], hostile, *words[2:]] if len(words) > 1 else [*words, hostile]
    command = [sys.executable, "-m", *program, *map(str, wanted)]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, env=environment(), check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("lst",), 2, "No such command 'lst'"), (("list", "--nope"), 2, "list --help"),
        (("show",), 2, "Missing argument"), (("export", "x"), 1, "which form?"), (("list", "nowhere.db"), 1, "no such database"),
        (("export-table", "nonsense"), 2, "nonsense"), (("stats", "--since", "soon"), 1, "write 2026-03-02"),
        (("stats", "--day", "today", "--since", "today"), 1, "--day stands for"), (("completion", "tcsh"), 2, "tcsh"),
    ],
)  # fmt: skip
def test_an_error_is_one_line_and_debug_tells_the_rest(monkeypatch, tmp_path, words, code, said):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    done = piped(*words)
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (code, "", 1)
    assert done.stderr.startswith("clm-sessions: ")
    assert said in done.stderr
    if code == 1:
        assert isinstance(piped(*words, "--debug").exception, ClmError)
        assert isinstance(piped("--debug", *words).exception, ClmError)


@pytest.mark.parametrize(("words", "code"), [(("--nope",), 2), (("list", "--nope"), 2), (("list", "nowhere.db"), 1)])
def test_so_it_is_where_the_command_is_a_process(tmp_path, words, code):
    command = [sys.executable, "-m", "clm_sessions", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(HOME=str(tmp_path)), check=False)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (code, "", 1)


# -- completion ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_asks_this_program(shell):
    assert "_CLM_SESSIONS_COMPLETE" in piped("completion", shell).output


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("clm-sessions show 5e55", ONE), ("clm-sessions export-table tool", "tool_calls"), ("clm-sessions sea", "search"), ("clm-sessions stats --by blo", "block")],
)  # fmt: skip
def test_a_shell_completes_commands_sessions_tables_and_values(database, tmp_path, typed, offered):
    (tmp_path / "sessions.db").symlink_to(database)
    env = environment(
        CLM_SESSIONS_HOME=str(tmp_path),
        _CLM_SESSIONS_COMPLETE="bash_complete",
        COMP_WORDS=typed,
        COMP_CWORD=str(typed.count(" ")),
    )
    done = subprocess.run([sys.executable, "-m", "clm_sessions"], capture_output=True, text=True, env=env, check=True)
    assert f"plain,{offered}" in done.stdout.splitlines()
    assert done.stderr == ""


def test_completion_without_a_database_offers_nothing_and_says_nothing(tmp_path):
    env = environment(
        CLM_SESSIONS_HOME=str(tmp_path),
        _CLM_SESSIONS_COMPLETE="bash_complete",
        COMP_WORDS="clm-sessions show a",
        COMP_CWORD="2",
    )
    done = subprocess.run([sys.executable, "-m", "clm_sessions"], capture_output=True, text=True, env=env, check=True)
    assert (done.stdout.strip(), done.stderr) == ("", "")


# -- tables ---------------------------------------------------------------------------------------------------------


def test_a_table_counts_cells_not_characters():
    columns = [Column(title="A", least=4), Column(title="N", right=True)]
    rows = list(lines(columns, [["水やり水やり", "1"], ["café", "22"], ["👩‍🌾 x", "3"]], None, 12))
    assert {wide(row) for row in rows[1:]} == {12}
    assert re.match(r"水やり…", rows[1])


@pytest.mark.parametrize(
    ("text_", "width", "cut"), [("kale", 4, "kale"), ("kale soup", 5, "kale…"), ("kale", 0, ""), ("水やり", 4, "水…")]
)
def test_a_text_that_is_too_wide_ends_in_an_ellipsis(text_, width, cut):
    assert fit(text_, width) == cut


def test_columns_that_matter_least_go_first():
    columns = [Column(title="NAME", least=4), Column(title="MORE", drop=1), Column(title="LESS", drop=2)]
    row = ["a long name of a thing", "1234567890", "1234567890"]
    heads = [next(lines(columns, [row], None, width)).split() for width in (60, 24, 10)]
    assert heads == [["NAME", "MORE", "LESS"], ["NAME", "MORE"], ["NAME"]]
