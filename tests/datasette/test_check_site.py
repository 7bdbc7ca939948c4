"""``clm-sessions check`` on a real Datasette: what it leaves open is told, and the published command closes it."""

from __future__ import annotations

import shlex

from click.testing import CliRunner

from clm_sessions import plugins
from clm_sessions.cli import cli
from support.site import served


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words], obj={"registry": plugins.build(entry_points=False)})


def test_the_command_that_publish_names_leaves_no_door_open_and_a_plain_one_does(full, tmp_path):
    path, _sid = full
    done = run("publish", path, tmp_path / "b.db", "--all", "--with-datasette-config")
    cd, folder, _then, _datasette, _serve, *words = shlex.split(done.stderr.split("serve it: ")[1])
    assert (cd, folder) == ("cd", str(tmp_path))
    with served(*words, folder=tmp_path) as base:
        found = run("check", f"{base}/-/versions.json")
        assert found.exit_code == 0, found.output
    with served(path) as base:
        found = run("check", f"{base}/-/versions.json")
        assert found.exit_code == 1
        for sign in ("allow_download", "default_allow_sql", "in which folder", "a private database is being served"):
            assert sign in found.stdout
