"""Secrets of the whole corpus, in every field of every format: none is in anything that others get of a published copy."""

from __future__ import annotations

import os

import pytest
from click.testing import CliRunner

from clm_sessions import plugins
from clm_sessions.cli import cli
from support.hostile import write_hostile
from support.leaks import Search, secrets
from support.logs import import_logs
from support.secret_logs import plant, plant_names
from support.site import MODERN, ROOT
from support.ways_out import WAYS, sessions

pytestmark = pytest.mark.slow
NIGHTLY = bool(os.environ.get("CLM_NIGHTLY"))
PARTS = 24
"""Each field holds one part of the secrets, the next field the next part; by night each part is in each field once."""
SESSIONS = 100 if NIGHTLY else 1


@pytest.fixture(scope="module")
def known():
    found = secrets()
    assert len(found) >= 335
    return found


@pytest.fixture(scope="module", params=range(PARTS if NIGHTLY else 1))
def databases(request, known, tmp_path_factory):
    """The private database, the published copy, and what publishing wrote and said besides."""
    turn, folder = request.param, tmp_path_factory.mktemp("everywhere")
    parts = ["\n\n".join(secret.text for secret in known[part::PARTS]) for part in range(PARTS)]
    fields = plant(ROOT / "demo" / "logs", folder / "logs", lambda number: parts[(number + turn) % PARTS])
    assert fields > 400
    write_hostile(folder / "logs" / "hostile", [parts[turn], parts[(turn + 1) % PARTS]])
    plant_names(folder / "logs" / "names", [secret.text for secret in known[turn::PARTS]])
    private, out = folder / "private.db", folder / "out"
    out.mkdir()
    import_logs(private, folder / "logs")
    words = ("publish", private, out / "public.db", "--all", "--report", "--with-datasette-config", "--with-images")
    done = CliRunner().invoke(cli, list(map(str, words)), obj={"registry": plugins.build(entry_points=False)})
    assert done.exit_code == 0, done.output
    beside = [path.read_bytes() for path in out.iterdir() if path.suffix != ".db"]
    assert len(beside) == 2
    return private, out / "public.db", b"\n".join((done.output.encode(), *beside))


@pytest.fixture(scope="module")
def search(known):
    return Search(known)


def test_every_secret_is_in_the_private_database(databases, search, known):
    """Without this control, silence in the other tests would prove nothing."""
    assert {secret.name for secret in known} == set(search.found(databases[0].read_bytes()))


@pytest.mark.parametrize("way", WAYS)
def test_no_secret_goes_out(databases, search, way, proved):
    found = {}
    size = 0
    for place, data in WAYS[way](databases[1], SESSIONS):
        size += len(data)
        for name, form in search.found(data).items():
            found.setdefault(name, (place, form))
    assert found == {}
    assert size > 100_000
    proved(f"bytes looked through for secrets: {way}", size)


@pytest.mark.parametrize("way", WAYS)
def test_what_goes_out_of_a_private_database_does_hold_secrets(databases, search, known, way):
    """The same ways, taken from the private database, until enough was seen: they are ways out."""
    found = set()
    for _place, data in WAYS[way](databases[0], 2):
        found |= set(search.found(data))
        if len(found) > len(known) // PARTS:
            return
    pytest.fail(f"{len(found)} of {len(known)}")


def test_no_secret_is_in_what_publishing_says(databases, search):
    assert search.found(databases[2]) == {}


@pytest.mark.skipif(not MODERN, reason="exports are the same on either line of Datasette")
def test_no_secret_is_in_an_export_of_the_private_database(databases, search):
    """Exports are redacted by themselves, session by session."""
    registry = plugins.build(entry_points=False)
    found = {}
    for sid in sessions(databases[0])[: 12 * SESSIONS]:
        for form in ("--md", "--json", "--html"):
            words = ["export", sid, form, str(databases[0])]
            done = CliRunner().invoke(cli, words, obj={"registry": registry})
            assert done.exit_code == 0, done.output
            found |= search.found(done.output.encode("utf-8", "surrogateescape"))
    assert found == {}
