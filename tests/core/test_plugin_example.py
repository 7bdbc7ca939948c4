"""The example of docs/plugins.md as a stranger meets it: installed by pip, seen in every front end; and the page itself."""

import dataclasses
import inspect
import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from clm_sessions import hookspecs, model, testing
from clm_sessions.formats import base
from support.logs import query
from support.tiny import command, environment

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "clm-sessions-ndchat"
LOG = EXAMPLE / "sample" / "beans.ndchat"
PAGE = (ROOT / "docs" / "plugins.md").read_text()
SEEN = (
    "Sowing beans",
    "When can I sow the runner beans?",
    "Frost dates",
    "last frost: 12 May",
    "bed 3 has no probe",
    "12 May",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder into which pip installed the example, from its source alone and without a network."""
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(EXAMPLE, folder / "source")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps"]
    done = subprocess.run(
        [*pip, "--no-build-isolation", "--target", folder / "site", folder / "source"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture
def env(site, tmp_path):
    return environment(site, HOME=str(tmp_path))


@pytest.fixture
def database(env, tmp_path):
    command(["import", tmp_path / "beans.db", LOG], env)
    return tmp_path / "beans.db"


def test_it_is_one_module_of_at_most_60_lines(site):
    assert len((EXAMPLE / "clm_sessions_ndchat.py").read_text().splitlines()) <= 60
    assert [path.name for path in site.glob("*.py")] == ["clm_sessions_ndchat.py"]


def test_it_is_listed_with_its_origin_hooks_and_format(env):
    found = json.loads(command(["plugins", "--json"], env).stdout)
    assert {"name": "ndchat", "label": "ndchat", "framer": "jsonl"} in found["formats"]
    assert found["plugins"][-1] == {
        "name": "ndchat", "origin": "clm-sessions-ndchat 1.0", "hooks": ["clm_describe_tool", "clm_register_formats"],
        "formats": ["ndchat"], "failure": None, "note": None,
    }  # fmt: skip
    assert (
        "ndchat  [clm-sessions-ndchat 1.0]  clm_describe_tool, clm_register_formats" in command(["plugins"], env).stdout
    )


def test_its_log_is_imported(env, database):
    assert query(
        database,
        "SELECT id, format, title, project_name, model, chunks, tool_calls, tool_errors, output_tokens FROM sessions",
    ) == [("beans", "ndchat", "Sowing beans", "allotment", "lark-2", 2, 2, 1, 62)]
    assert query(database, "SELECT name, status, duration_ms FROM tool_calls") == [
        ("frost_dates", "ok", 1000),
        ("soil_probe", "error", 1000),
    ]
    assert query(database, "SELECT type, disposition, records FROM record_types WHERE disposition = 'raw'") == [
        ("?", "raw", 1)
    ]
    assert query(database, "SELECT count(*) FROM ingest_issues") == [(0,)]
    again = json.loads(command(["import", database, LOG, "--json"], env).stdout)
    assert again["sources"] == {"new": 0, "changed": 0, "unchanged": 1, "gone": 0}


def test_its_default_folder_is_read(env, tmp_path):
    shutil.copytree(LOG.parent, tmp_path / ".ndchat")
    command(["import", tmp_path / "home.db"], env)
    assert query(tmp_path / "home.db", "SELECT id, format FROM sessions") == [("beans", "ndchat")]


def test_its_log_is_shown_in_the_terminal_from_the_log_and_from_the_database(env, database):
    shown = command(["show", LOG, "--full"], env).stdout
    assert [words for words in SEEN if words not in shown] == []
    assert command(["show", "beans", database, "--full"], env).stdout == shown


def test_its_log_is_shown_in_datasette(site, database, monkeypatch):
    from support.site import served

    monkeypatch.setenv("PYTHONPATH", environment(site)["PYTHONPATH"])
    with served(database) as url:
        with urllib.request.urlopen(f"{url}/beans/-/session/beans", timeout=30) as answer:
            page = answer.read().decode()
        with urllib.request.urlopen(f"{url}/beans/sessions.json?_shape=array", timeout=30) as answer:
            rows = json.load(answer)
    assert [words for words in SEEN if words not in page] == []
    assert "<strong>12 May</strong>" in page
    assert [(row["id"], row["format"]) for row in rows] == [("beans", "ndchat")]


def test_its_log_is_shown_in_the_notebook(env):
    script = "import sys, jupyter_clm as jc; print(jc.load(sys.argv[1])._repr_mimebundle_()['text/html'])"
    done = subprocess.run([sys.executable, "-c", script, LOG], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [words for words in SEEN if words not in done.stdout] == []
    assert "<strong>12 May</strong>" in done.stdout


def test_blocked_by_name_it_does_nothing_in_any_front_end(env, site, database, tmp_path, monkeypatch):
    from support.site import served

    blocked = {**env, "CLM_BLOCK_PLUGINS": "ndchat"}
    assert "no format recognises it" in command(["import", tmp_path / "x.db", LOG], blocked, check=1).stderr
    assert "Frost dates" not in command(["show", "beans", database, "--full"], blocked).stdout
    script = (
        "import sys, jupyter_clm as jc; print(jc.open(sys.argv[1]).sessions['beans']._repr_mimebundle_()['text/html'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, database], env=blocked, capture_output=True, text=True, check=True
    )
    assert "Frost dates" not in done.stdout
    monkeypatch.setenv("PYTHONPATH", env["PYTHONPATH"])
    monkeypatch.setenv("CLM_BLOCK_PLUGINS", "ndchat")
    with served(database) as url, urllib.request.urlopen(f"{url}/beans/-/session/beans", timeout=30) as answer:
        page = answer.read().decode()
    assert "Sowing beans" in page
    assert "Frost dates" not in page


# -- the page ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["clm_sessions_ndchat.py", "pyproject.toml", "sample/beans.ndchat"])
def test_the_page_holds_the_example_whole(file):
    assert f"\n{(EXAMPLE / file).read_text()}```\n" in PAGE


def signature(function, name):
    return f"{name}{inspect.signature(function)}".replace("'", "")


def public(kind):
    return {name: value for name, value in vars(kind).items() if not name.startswith("_")}


HOOKS = [name for name in public(hookspecs) if name.startswith("clm_")]
METHODS = [
    (kind, name)
    for kind in (base.LogFormat, base.Dialect, base.Reader)
    for name, value in public(kind).items()
    if inspect.isfunction(value)
]


@pytest.mark.parametrize("name", HOOKS)
def test_the_page_has_the_exact_signature_of_each_hook(name):
    assert f"### `def {signature(getattr(hookspecs, name), name)}`\n" in PAGE


def test_the_page_has_no_other_hooks():
    assert re.findall(r"^### `def (\w+)", PAGE, re.MULTILINE) == HOOKS


@pytest.mark.parametrize(("kind", "name"), METHODS, ids=[f"{kind.__name__}.{name}" for kind, name in METHODS])
def test_the_page_has_the_exact_signature_of_each_method(kind, name):
    assert f"| `{signature(getattr(kind, name), name)}` |" in PAGE.replace("\\|", "|")


def test_the_page_names_every_attribute_of_a_format_and_a_dialect():
    for kind in (base.LogFormat, base.Dialect):
        for name, value in public(kind).items():
            assert inspect.isfunction(value) or f"| `{name}` |" in PAGE, name


@pytest.mark.parametrize(
    "kind",
    [base.Located, base.Head, base.Claim, base.Decoded, base.StreamContext, base.Parsed, model.Message, model.Usage],
)
def test_the_page_names_every_field_of_the_values_a_format_meets(kind):
    assert f"`{kind.__name__}`" in PAGE
    assert [field.name for field in dataclasses.fields(kind) if f"`{field.name}`" not in PAGE] == []


def test_the_page_has_the_exact_signature_of_the_kit():
    assert f"`{signature(testing.check_format, 'check_format')}`" in PAGE


def test_the_page_names_every_kind_and_origin():
    from clm_sessions.testing.values import ORIGINS

    assert [word for word in ORIGINS if f"`{word}`" not in PAGE] == []
    assert [word for word in model.Kind.__args__ if f'`"{word}"`' not in PAGE] == []


def test_the_check_of_the_page_runs(env):
    check = PAGE.split("## The kit")[1].split("```python\n")[1].split("```")[0]
    done = subprocess.run(
        [sys.executable, "-c", f"{check}\ntest_ndchat_keeps_its_promises()"],
        cwd=EXAMPLE,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
