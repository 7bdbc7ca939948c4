"""A static site: whole, the same every time, safe to open, careful with what lies in its folder."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from clm_sessions import open_db, plugins
from clm_sessions.cli import cli
from clm_sessions.errors import UsageError
from clm_sessions.model import SessionInfo
from clm_sessions.publish import Choices, publish
from clm_sessions.redact import Secrets
from clm_sessions.site.activity import strip
from clm_sessions.site.folder import MARKER
from clm_sessions.site.frame import POLICY
from clm_sessions.site.names import file_names
from clm_sessions.site.words import words
from clm_sessions.store.connect import open_reader
from support.attacks import CANARY, MARKUP
from support.hostile import write_hostile
from support.logs import import_logs, session_id, turn, write_log
from support.planted import plant
from support.secret_logs import plant as plant_secrets
from support.secret_logs import secrets
from support.static_site import Html, data, files, made

DEMO = Path(__file__).parents[2] / "demo" / "logs"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo logs as a database and as a site."""
    folder = tmp_path_factory.mktemp("site")
    import_logs(folder / "demo.db", DEMO)
    made(folder / "demo.db", folder / "out")
    return folder


@pytest.fixture
def small(tmp_path):
    """A database of two sessions."""
    for number in (1, 2):
        log = turn(1, f"prompt {number}", f"reply {number}", session=session_id(number))
        write_log(tmp_path / "logs" / "p" / f"{session_id(number)}.jsonl", log)
    import_logs(tmp_path / "a.db", tmp_path / "logs")
    return tmp_path / "a.db"


def pages(folder):
    return {name: Html(held.decode()) for name, held in files(folder).items() if name.endswith(".html")}


def run(*arguments):
    registry = plugins.build(entry_points=False)
    return CliRunner().invoke(cli, [str(one) for one in arguments], obj={"registry": registry})


# -- what is in it ----------------------------------------------------------------------------------------------


def test_every_chunk_of_every_session_stands_on_a_page_and_every_session_in_the_list(demo):
    everything = pages(demo / "out")
    listed = {name for name, _place in everything["index.html"].links("index.html")}
    with open_db(demo / "demo.db") as db:
        names = file_names(row[0] for row in db.db.execute("SELECT id FROM sessions"))
        assert len(names) > 30
        for sid, count, role in db.db.execute("SELECT id, chunks, role FROM sessions"):
            own = [
                page for name, page in everything.items() if re.fullmatch(rf"sessions/{names[sid]}(\.\d+)?\.html", name)
            ]
            assert {f"c{seq}" for seq in range(count)} <= set().union(*(page.ids for page in own))
            assert f"sessions/{names[sid]}.html" in listed or role not in {"main", "orphan"}


def test_every_link_leads_to_a_place_in_the_site(demo):
    everything = pages(demo / "out")
    there = set(files(demo / "out"))
    found = 0
    for name, page in everything.items():
        for file, place in page.links(name):
            assert file in there, (name, file)
            assert not place or place in everything[file].ids or place.startswith("month="), (name, file, place)
            found += 1
    for group, _count in data(demo / "out", "search")["groups"]:
        for href, _what, _text in data(demo / "out", f"text-{group}"):
            file, _, place = href.partition("#")
            assert not place or place in everything[f"sessions/{file}"].ids
            found += 1
    assert found > 1_000


def test_a_subagent_stands_inside_the_step_that_started_it_and_on_a_page_that_leads_back(demo):
    parent = (demo / "out" / "sessions" / "69d5afd4-ebdf-4ad5-abc9-c82100df5484.html").read_text()
    nested = parent.partition('class="clm-nest"')[2]
    assert "Write docs/database.md" in nested
    agent = next(name for name in pages(demo / "out") if "69d5afd4" in name and "a9b1e77e" in name)
    assert f'href="{Path(agent).name}">Open the subagent transcript' in parent
    back = pages(demo / "out")[agent].links(agent)
    assert ("sessions/69d5afd4-ebdf-4ad5-abc9-c82100df5484.html", "c1") in back


def test_the_index_has_every_word_of_every_prompt_title_and_reply(demo):
    manifest = data(demo / "out", "search")
    index: dict[str, set[int]] = {}
    firsts = []
    for number in range(len(manifest["starts"])):
        file = data(demo / "out", f"words-{number}")
        firsts.append(file["words"].split(" ")[0])
        for word, steps in zip(file["words"].split(" "), file["places"], strict=True):
            index[word] = {sum(steps[: n + 1]) for n in range(len(steps))}
    assert firsts == manifest["starts"]
    texts = [place for group, _count in manifest["groups"] for place in data(demo / "out", f"text-{group}")]
    assert sum(count for _group, count in manifest["groups"]) == len(texts)
    for number, (_href, _what, text) in enumerate(texts):
        assert {word for word in words(text) if number not in index[word]} == set()
    assert {"Title", "Prompt", "Reply", "Summary", "Subagent", "Subagent: Reply"} <= {
        what for _href, what, _text in texts
    }


def test_words_are_folded_and_scripts_without_spaces_are_pairs():
    assert words("Café, ﬁne ÉTÉ") == {"cafe", "fine", "ete"}
    assert words("庭の水やり now") == {"庭の", "の水", "水や", "やり", "り", "now"}
    assert words("x" * 100) == {"x" * 40}
    assert words("a_b __proto__") == {"a", "b", "proto"}


@pytest.mark.parametrize(
    ("days", "said", "bars"),
    [((0, 0), "", 0), ((0, 9), "per day", 10), ((0, 100), "per week", 15), ((0, 900), "per 16 days", 57)],
)
def test_the_strip_above_the_list_shows_when_it_was(days, said, bars):
    start = 1_772_442_840_000  # a Monday
    infos = [SessionInfo(id=str(day), native_id="", format="clm", started_at=start + day * 86_400_000) for day in days]
    page = Html(strip([*infos, SessionInfo(id="x", native_id="", format="clm")]))
    assert said in page.words
    assert len([tag for tag, _given in page.elements if tag == "a"]) == bars
    assert page.words.count("1 session") == min(2, bars)


def test_parents_in_a_circle_lose_no_session(demo, tmp_path):
    shutil.copy(demo / "demo.db", tmp_path / "b.db")
    with closing(sqlite3.connect(tmp_path / "b.db")) as db:
        one, two = [row[0] for row in db.execute("SELECT id FROM sessions WHERE role = 'main' ORDER BY id LIMIT 2")]
        db.execute("UPDATE sessions SET parent_id = ? WHERE id = ?", (one, two))
        db.execute("UPDATE sessions SET parent_id = ? WHERE id = ?", (two, one))
        db.commit()
    made(tmp_path / "b.db", tmp_path / "out")
    names = file_names((one, two))
    listed = {name for name, _place in pages(tmp_path / "out")["index.html"].links("index.html")}
    assert {f"sessions/{names[sid]}.html" for sid in (one, two)} <= listed & set(files(tmp_path / "out"))


def test_a_long_session_is_cut_into_pages_and_links_find_their_page(tmp_path):
    log = [line for n in range(130) for line in turn(n, f"prompt {n}", f"reply {n}")]
    write_log(tmp_path / "logs" / "p" / f"{session_id()}.jsonl", log)
    import_logs(tmp_path / "a.db", tmp_path / "logs")
    assert made(tmp_path / "a.db", tmp_path / "out").pages == 3
    everything = pages(tmp_path / "out")
    second = everything[f"sessions/{session_id()}.2.html"]
    assert {"c100", "c199"} <= second.ids
    assert (f"sessions/{session_id()}.3.html", "c258") in second.links(f"sessions/{session_id()}.2.html")
    places = data(tmp_path / "out", f"text-{session_id()}")
    assert [f"{session_id()}.3.html#c258", "Prompt", "prompt 129"] in places


# -- the same, and nothing private ------------------------------------------------------------------------------


def test_the_same_database_gives_the_same_bytes_in_a_new_folder_and_over_the_old_one(demo, tmp_path):
    before = files(demo / "out")
    made(demo / "demo.db", tmp_path / "again")
    assert files(tmp_path / "again") == before
    made(demo / "demo.db", tmp_path / "again")
    assert files(tmp_path / "again") == before
    assert [path.name for path in tmp_path.iterdir()] == ["again"]


def test_a_private_database_is_refused_until_it_is_said_that_this_is_meant(small, tmp_path):
    done = run("site", small, tmp_path / "out")
    assert done.exit_code == 1
    assert "clm-sessions publish" in done.output
    assert "--private" in done.output
    assert not (tmp_path / "out").exists()
    done = run("site", small, tmp_path / "out", "--private")
    assert done.exit_code == 0, done.output
    assert "2 sessions on 2 pages" in done.output
    assert all("nothing was redacted" in page.words for page in pages(tmp_path / "out").values())
    for told in (run("check", tmp_path / "out"), run("check", tmp_path / "out" / "index.html")):
        assert told.exit_code == 1
        assert "index.html: private: a page of a private database" in told.output
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "out").rglob("*")} == {0}
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700


def test_a_published_copy_makes_a_site_that_a_web_server_may_read(small, tmp_path):
    with closing(open_reader(small)) as db:
        publish(db, tmp_path / "b.db", [session_id(1)], [Secrets()])
    done = run("site", tmp_path / "b.db", tmp_path / "out", "--title", "Our <b>garden</b>")
    assert done.exit_code == 0, done.output
    index = pages(tmp_path / "out")["index.html"]
    assert "Our <b>garden</b>" in index.words
    assert "were redacted before this was published; left out: images" in index.words
    assert "nothing was redacted" not in index.words
    assert (tmp_path / "out" / "index.html").stat().st_mode & 0o044 == 0o044


def forms(value):
    plain = value.encode()
    yield from (plain, plain.hex().encode(), value.encode("utf-16-le"), value.replace('"', '\\"').encode())
    yield from (plain.replace(b"&", b"&amp;").replace(b"<", b"&lt;"), plain.replace(b"<", b"\\u003c"))


def test_no_secret_of_any_kind_in_any_field_is_in_any_file_of_a_published_site(tmp_path):
    plant_secrets(DEMO, tmp_path / "logs", "\n".join(text for _value, text in secrets().values()))
    import_logs(tmp_path / "a.db", tmp_path / "logs")
    with open_db(tmp_path / "a.db") as db:
        publish(db.db, tmp_path / "b.db", [one.id for one in db], [Secrets()], Choices(left_out=frozenset()))
    made(tmp_path / "b.db", tmp_path / "out", private=False)
    held, private = b"\0".join(files(tmp_path / "out").values()).lower(), (tmp_path / "a.db").read_bytes()
    for kind, (value, _text) in secrets().items():
        folded = value.lower()
        assert not [form for form in forms(folded) if form in held], kind
        assert value.encode() in private, f"{kind} was not planted"
    assert b"[redacted github-token" in held


# -- the text of a log ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The site of a database with an attack in every field of a log, and one with attacks in every column, keys too."""
    folder = tmp_path_factory.mktemp("hostile")
    write_hostile(folder / "logs", MARKUP[::3])
    import_logs(folder / "a.db", folder / "logs", DEMO)
    runs = [attack.encode("utf-8", "replace").decode() for attack in MARKUP]
    plant(
        folder / "a.db", folder / "b.db", lambda _c, before, row: runs[row % len(runs)] + before, words=True, keys=True
    )
    made(folder / "a.db", folder / "out")
    made(folder / "b.db", folder / "columns")
    return folder


@pytest.mark.parametrize("site", ["out", "columns"])
def test_no_attack_becomes_an_element_an_attribute_or_the_name_of_a_file(hostile, site):
    everything = pages(hostile / site)
    assert len(everything) > 25
    for name, page in everything.items():
        scripts = [given for tag, given in page.elements if tag == "script"]
        kind = "search" if name == "index.html" else "session"
        up = "" if name == "index.html" else "../"
        assert scripts == [{"src": f"{up}assets/{one}.js"} for one in ("theme", "site", kind)]
        metas = [given for tag, given in page.elements if tag == "meta"]
        assert metas[1] == {"http-equiv": "Content-Security-Policy", "content": POLICY}
        assert len(metas) == 5
        for tag, given in page.elements:
            assert tag not in {"style", "iframe", "object", "embed", "base", "svg", "math", "template"}, (name, tag)
            assert not [one for one in given if one.startswith("on") or one == "style"], (name, tag, given)
            assert tag == "link" or not given.get("href", "").lower().startswith(
                ("javascript", "data", "vbscript", "//")
            ), (name, given)
    assert sum(page.words.count(CANARY) for page in everything.values()) > 500


@pytest.mark.parametrize("site", ["out", "columns"])
def test_data_are_scripts_of_plain_ascii_that_hold_one_value_and_no_markup(hostile, site):
    names = [path.stem for path in (hostile / site / "data").iterdir()]
    assert len(names) > 20
    for name in names:
        data(hostile / site, name)
        held = (hostile / site / "data" / f"{name}.js").read_bytes()
        assert not set(held) & {*b"<>&'", *range(0x0A), *range(0x0B, 0x20), *range(0x7F, 0x100)}


# -- the folder -------------------------------------------------------------------------------------------------


def test_a_folder_with_something_else_in_it_is_left_alone(small, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    for name in ("out", "file", "link"):
        with pytest.raises(UsageError, match="name a new"):
            made(small, tmp_path / name)
    assert files(tmp_path / "out") == {"thesis.txt": b"mine"}
    (tmp_path / "empty").mkdir()
    assert made(small, tmp_path / "empty").sessions == 2


def test_what_others_put_beside_the_pages_stays_and_pages_of_sessions_that_are_gone_go(small, tmp_path):
    out = tmp_path / "out"
    made(small, out)
    (out / "CNAME").write_text("garden.example")
    (out / "sessions" / "notes.html").write_text("mine")
    with closing(open_reader(small)) as db:
        publish(db, tmp_path / "b.db", [session_id(1)], [Secrets()])
    made(tmp_path / "b.db", out, private=False)
    there = files(out)
    assert there["CNAME"] == b"garden.example"
    assert there["sessions/notes.html"] == b"mine"
    assert f"sessions/{session_id(1)}.html" in there
    assert not [name for name in there if session_id(2) in name]
    assert {path.stat().st_mode & 0o055 for path in (out, out / "sessions", out / "data")} == {0o055}
    assert b"prompt 2" not in b"".join(there.values())


def test_a_file_or_link_of_somebody_else_in_the_way_stops_it_before_anything_changes(small, tmp_path):
    out = tmp_path / "out"
    made(small, out)
    (tmp_path / "elsewhere").mkdir()
    before = files(out)
    page = out / "sessions" / f"{session_id(1)}.html"
    page.unlink()
    page.symlink_to(tmp_path / "elsewhere" / "x.html")
    with pytest.raises(UsageError, match="in the way"):
        made(small, out)
    shutil.rmtree(out / "sessions")
    (out / "sessions").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="in the way"):
        made(small, out)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert files(out)["index.html"] == before["index.html"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_list_of_files_that_somebody_else_wrote_takes_nothing_away(small, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "mine").write_text("mine")
    (out / "mine").write_text("mine")
    (out / MARKER).write_text(
        '{"files": ["../mine", "mine", "/etc/hostname", "data/../mine", "sessions/", 7, "data/x.js"]}'
    )
    (out / "data").mkdir()
    (out / "data" / "x.js").symlink_to(tmp_path / "mine")
    made(small, out)
    assert (tmp_path / "mine").read_text() == "mine"
    assert (out / "mine").read_text() == "mine"


def test_an_interrupted_site_leaves_nothing_and_the_earlier_one_as_it_was(small, tmp_path):
    def stop(done, _all):
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(small, tmp_path / "out", progress=stop)
    assert not (tmp_path / "out").exists()
    made(small, tmp_path / "out")
    before = files(tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        made(small, tmp_path / "out", title="new", progress=stop)
    assert files(tmp_path / "out") == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_names_of_files_are_plain_and_differ_where_a_file_system_knows_no_upper_case():
    keys = ["abc", "ABC", "a:b", "a/b", "../../etc/passwd", "con", "", "x" * 300, "ünï", "a.2", "-", "ab-"]
    names = file_names(keys)
    assert names == file_names(reversed(keys))
    assert names["abc"] == "abc"
    assert len({name.lower() for name in names.values()}) == len(keys)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]{0,79}", name) for name in names.values())
    stolen = file_names(["ABC", names["ABC"]])
    assert len(set(stolen.values())) == 2
