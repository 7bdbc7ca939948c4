"""The file of settings: where it is looked for, what it sets, and what is wrong with it."""

import pytest

from clm_sessions.config import Config, load_config
from clm_sessions.errors import UsageError
from support.logs import query, session_id, turn, write_log
from support.terminals import piped


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_nothing_is_set(tmp_path):
    assert load_config({}, tmp_path) == Config()


def test_the_file_is_found_by_option_variable_xdg_and_home_in_that_order(tmp_path):
    files = {
        name: write(tmp_path / name / "clm-sessions" / "config.toml", f'database = "/{name}.db"')
        for name in ("option", "variable", "xdg", ".config")
    }
    environ = {"CLM_SESSIONS_CONFIG": str(files["variable"]), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert load_config(environ, tmp_path, files["option"]).path == files["option"]
    assert load_config(environ, tmp_path).path == files["variable"]
    del environ["CLM_SESSIONS_CONFIG"]
    assert load_config(environ, tmp_path).path == files["xdg"]
    assert load_config({}, tmp_path).path == files[".config"]


def test_places_are_below_the_file_or_the_home_folder(tmp_path):
    path = write(
        tmp_path / "c" / "my.toml", 'database = "~/s.db"\nroots = ["logs", "/srv/x", "~"]\nexclude = ["*tmp*"]'
    )
    found = load_config({}, tmp_path / "home", path)
    assert found.database == tmp_path / "home" / "s.db"
    assert [str(root) for root in found.roots] == [str(tmp_path / "c" / "logs"), "/srv/x", str(tmp_path / "home")]
    assert found.exclude == ("*tmp*",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('root = ["x"]', "'root' is no setting; there are: database, roots, exclude"), ('roots = "x"', "roots must be a list"),
        ("roots = [1]", "roots must be a list"), ("database = 3", "database must be a text"), ('database = ""', "database must be"),
        ("exclude = {}", "exclude must be a list"), ("roots =", "no TOML"), ("[roots]\nx = 1", "roots must be a list"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_one_line_with_the_file_and_the_key(tmp_path, text, said):
    path = write(tmp_path / "my.toml", text)
    with pytest.raises(UsageError, match=r"my\.toml: ") as raised:
        load_config({}, tmp_path, path)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_named_file_must_be_there_and_be_text(tmp_path):
    with pytest.raises(UsageError, match="cannot read the settings"):
        load_config({}, tmp_path, tmp_path / "none.toml")
    with pytest.raises(UsageError, match="cannot read the settings"):
        load_config({"CLM_SESSIONS_CONFIG": str(tmp_path / "none.toml")}, tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="UTF-8"):
        load_config({}, tmp_path, tmp_path / "bytes.toml")


def test_the_commands_use_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for number, folder in ((1, "garden"), (2, "attic")):
        write_log(
            tmp_path / "logs" / folder / f"{session_id(number)}.jsonl",
            turn(1, folder, "ok", session=session_id(number)),
        )
    path = write(tmp_path / "my.toml", 'database = "mine.db"\nroots = ["logs"]\nexclude = ["attic"]')
    done = piped("--config", path, "import")
    assert done.exit_code == 0, done.output
    assert query(tmp_path / "mine.db", "SELECT id FROM sessions") == [(session_id(1),)]
    assert session_id(1) in piped("list", "--config", path).output
    monkeypatch.setenv("CLM_SESSIONS_CONFIG", str(path))
    assert "garden" in piped("search", "garden").output
    more = piped("import", tmp_path / "other.db", tmp_path / "logs", "--exclude", "garden")
    assert "left out  2 sessions" in more.output
    write(path, "nonsense = 1")
    failed = piped("stats")
    assert (failed.exit_code, len(failed.output.splitlines())) == (1, 1)
    assert "nonsense" in failed.output
