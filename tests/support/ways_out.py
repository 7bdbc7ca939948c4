"""All ways in which others get something of a database. One more way out is one more function in ``WAYS``."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from html import unescape
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
    wanted += [f"/{name}/{table}{form}" for table in tables for form in ("", ".json?_size=max", ".csv?_size=max")]
    wanted += [f"/{name}/-/search?q={word}" for word in ("redacted", "plan", "password")]
    with served("--immutable", database, *settings) as base, httpx.Client(base_url=base, timeout=60) as client:
        asked = dict.fromkeys(wanted)
        for number, address in enumerate(list(asked)):
            answer = client.get(address)
            yield address, answer.content
            if "html" in answer.headers.get("content-type", "") and number < 4 * most:
                links = (unescape(link) for link in _LINK.findall(answer.text))
                asked.update(dict.fromkeys(link for link in links if _kind(link) not in {_kind(one) for one in asked}))
            while (answer := _next(client, answer)) is not None:
                yield address, answer.content
        for address in list(asked)[len(wanted) :]:
            yield address, client.get(address).content


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


_CELLS = """
import jupyter_clm as jc, sys
db = jc.open(sys.argv[1])
for frame in (jc.sessions_df, jc.chunks_df, jc.messages_df, jc.tool_calls_df, jc.requests_df, jc.files_df, jc.issues_df):
    table = frame(sys.argv[1])
    print(table.to_csv(), repr(table), table._repr_html_())
print(db, repr(db.sessions), db.sessions._repr_html_())
for sid in sys.argv[2:]:
    session = db[sid]
    bundle = session._repr_mimebundle_()
    print(session, repr(session), bundle)
    print([(repr(chunk), chunk) for chunk in session.chunks], [call for call in session.tool_calls])
    view = session.view()
    print(view._repr_mimebundle_() if hasattr(view, "_repr_mimebundle_") else repr(view))
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


WAYS: dict[str, Callable[[Path, int], Out]] = {"file": file, "pages": pages}
if MODERN:  # the same on either line of Datasette
    WAYS |= {"commands": commands, "notebook": notebook, "saved notebook": saved_notebook}
