"""All ways in which others get something of a database. One more way out is one more function in ``WAYS``."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from html import unescape
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from clm_sessions import plugins
from clm_sessions.cli import cli
from clm_sessions.publish.serve import SETTINGS
from clm_sessions.store.columns import NAMES
from support.addresses import addresses
from support.site import MODERN, ROOT, served

Out = Iterator[tuple[str, bytes]]
"""Where something was seen, and what."""
_LINKS = 30
_LINK = re.compile(r"""\s(?:href|src)=["']?(/[^"'# >]*)""")


def _rows(database: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as db:
        return db.execute(sql).fetchall()


def sessions(database: Path) -> list[str]:
    """The keys of the sessions, those with the most chunks first."""
    return [str(row[0]) for row in _rows(database, "SELECT id FROM sessions ORDER BY chunks DESC, id")]


def file(database: Path, _most: int) -> Out:
    """The bytes of the file, what is packed in its cells, and the words of its search indexes."""
    yield "the file", database.read_bytes()
    with closing(sqlite3.connect(database)) as db:
        for name, sql in db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
            if "fts5" in (sql or ""):
                db.execute(f"CREATE VIRTUAL TABLE temp.words_of_{name} USING fts5vocab(main, {name}, row)")
                words = db.execute(f"SELECT term FROM words_of_{name}").fetchall()
                yield f"the words of {name}", b"\n".join(str(word).encode() for (word,) in words)
            elif not sql or "_fts" in name:
                continue
            for row in db.execute(f"SELECT * FROM [{name}]"):
                for cell in row:
                    if isinstance(cell, bytes):
                        yield from ((f"packed in {name}", plain) for plain in _unpacked(cell))


def _unpacked(cell: bytes) -> Iterator[bytes]:
    for bits in (15, -15, 31):
        with suppress(zlib.error):
            yield zlib.decompress(cell, bits)
    if cell.startswith(b"\x28\xb5\x2f\xfd"):
        import zstandard

        yield zstandard.ZstdDecompressor().decompressobj().decompress(cell)


def pages(database: Path, most: int) -> Out:
    """A Datasette as ``publish`` says to serve it, asked over HTTP: our pages of ``most`` sessions, in every form, what is
    linked on them, every table with all its rows, and what Datasette itself has to say."""
    name, settings = database.stem, [word for pair in SETTINGS.items() for word in ("--setting", *pair)]
    wanted = ["/", "/-/databases.json", "/-/metadata.json", f"/{name}", f"/{name}.json"]
    for sid in sessions(database)[:most]:
        with closing(sqlite3.connect(database)) as db:
            row = db.execute("SELECT max(seq) FROM chunks WHERE session_id = ?", (sid,)).fetchone()
        wanted += addresses({"database": name, "session": sid, "chunk": str(row[0] or 0), "message": "0"})
    tables = [row[0] for row in _rows(database, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
    forms = ("", ".json?_size=max", ".csv?_size=max")
    wanted += [f"/{name}/{table}{form}" for table in tables for form in (forms[1:2] if "_fts" in str(table) else forms)]
    wanted += [f"/{name}/-/search?q={word}" for word in ("redacted", "plan", "password")]
    with served("--immutable", database, *settings) as base, httpx.Client(base_url=base, timeout=60) as client:
        kinds = {_kind(address): address for address in wanted}
        links: list[str] = []
        for address in wanted:
            answer: httpx.Response | None = client.get(address)
            while answer is not None:
                yield address, answer.content
                if "html" in answer.headers.get("content-type", ""):
                    links += [unescape(link) for link in _LINK.findall(answer.text)]
                answer = _next(client, answer)
        for link in islice((link for link in links if kinds.setdefault(_kind(link), link) is link), _LINKS * most):
            yield link, client.get(link).content


def _kind(link: str) -> str:
    """Links that differ in numbers and words only lead to pages of one kind."""
    parts = urlsplit(link)
    return (
        re.sub(r"[\w~-]*\d[\w~-]*", "0", parts.path) + "?" + "&".join(sorted(re.findall(r"[\w.-]+(?==)", parts.query)))
    )


def _next(client: httpx.Client, answer: httpx.Response) -> httpx.Response | None:
    with suppress(ValueError, AttributeError):
        following = answer.json().get("next_url") if "json" in answer.headers["content-type"] else None
        return client.get(following) if following else None
    return None


def commands(database: Path, most: int) -> Out:
    """What the commands print, in a terminal and in a pipe, and every export."""
    from click.testing import CliRunner

    asked = [["list", "--limit", "0"], ["list", "--json"], ["stats", "--by", "session"], ["stats", "--by", "project"]]
    asked += [
        ["search", "redacted", "--limit", "0", "--json"],
        ["search", "password"],
        ["verify"],
        ["check"],
        ["prices"],
    ]
    asked += [["export-table", table, form] for table in NAMES for form in ("--csv", "--ndjson")]
    for sid in sessions(database)[:most]:
        asked += [
            ["show", sid, "--full"],
            ["export", sid, "--md"],
            ["export", sid, "--json"],
            ["export", sid, "--html"],
        ]
    registry = plugins.build(entry_points=False)
    for words in asked:
        done = CliRunner().invoke(cli, [*words, str(database)], obj={"registry": registry})
        assert done.exception is None or isinstance(done.exception, SystemExit), (words, done.exception)
        yield " ".join(words), done.output.encode("utf-8", "surrogateescape")


def static_site(database: Path, _most: int) -> Out:
    """Every file of the static site, and the names of the files."""
    from click.testing import CliRunner

    with tempfile.TemporaryDirectory() as folder:
        words = ["site", str(database), f"{folder}/site", "--private"]
        done = CliRunner().invoke(cli, words, obj={"registry": plugins.build(entry_points=False)})
        assert done.exit_code == 0, done.output
        yield "what it says", done.output.encode()
        for path in sorted(Path(folder).rglob("*")):
            yield path.name, path.name.encode() + (path.read_bytes() if path.is_file() else b"")


_CELLS = """
import jupyter_clm as jc, sys
def show(*values):
    for value in values:
        print(value, repr(value), *(getattr(value, name)() for name in ("_repr_mimebundle_", "_repr_html_") if hasattr(value, name)))
db = jc.open(sys.argv[1])
for frame in (jc.sessions_df, jc.chunks_df, jc.messages_df, jc.tool_calls_df, jc.requests_df, jc.files_df, jc.issues_df):
    table = frame(sys.argv[1])
    print(table.to_csv())
    show(table)
show(db, db.sessions)
for sid in sys.argv[2:]:
    session = db[sid]
    show(session, session.view(), *session.chunks, *session.tool_calls)
"""


def notebook(database: Path, most: int) -> Out:
    """What Python prints and a notebook keeps: frames, reprs, the HTML of sessions, the snapshot of a view."""
    words = [sys.executable, "-c", _CELLS, str(database), *sessions(database)[:most]]
    done = subprocess.run(words, capture_output=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2_000:]
    yield "a notebook", done.stdout


def saved_notebook(database: Path, most: int) -> Out:
    """A notebook as it is saved after its cells ran in a real kernel."""
    import nbformat
    from nbclient import NotebookClient

    given = [str(database), *sessions(database)[: min(most, 3)]]
    cells = [
        f"import jupyter_clm as jc\ndb = jc.open({given[0]!r})\ndb.sessions",
        *(f"db[{sid!r}].view()" for sid in given[1:]),
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    done = NotebookClient(book, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    yield "a saved notebook", nbformat.writes(done).encode()
    yield "its outputs", json.dumps([cell.outputs for cell in done.cells]).encode()


WAYS: dict[str, Callable[[Path, int], Out]] = {"pages": pages}
if MODERN:  # the others are the same on either line of Datasette
    WAYS |= {
        "file": file,
        "commands": commands,
        "site": static_site,
        "notebook": notebook,
        "saved notebook": saved_notebook,
    }
