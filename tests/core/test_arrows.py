"""Imports point one way; the arrows are those of docs/design.md."""

import ast
from pathlib import Path

import clm_sessions
import datasette_clm
import jupyter_clm

PACKAGES = {p.__name__: Path(p.__file__).parent for p in (clm_sessions, datasette_clm, jupyter_clm)}
FOREIGN = {
    "clm_sessions": {"datasette", "ipywidgets", "IPython", "datasette_clm", "jupyter_clm"},
    "datasette_clm": {"jupyter_clm", "ipywidgets", "IPython"},
    "jupyter_clm": {"datasette_clm", "datasette"},
}
# A room may import the rooms named here, itself, and nothing else of the core.
VALUES = {"model", "errors", "times", "text", "zones"}
ROOMS = {
    "model": set(),
    "errors": set(),
    "times": set(),
    "text": set(),
    "zones": set(),
    "config": {"errors", "prices"},
    "cookbook": set(),
    "functions": {*VALUES, "prices", "view", "render"},
    "prices": VALUES,
    "view": VALUES,
    "redact": {"errors"},
    "hookspecs": {*VALUES, "view", "formats", "redact"},
    "formats": {*VALUES, "frames", "hookspecs"},
    "frames": VALUES,
    "tools": {*VALUES, "view", "hookspecs"},
    "derive": {*VALUES, "formats"},
    "sources": VALUES,
    "packed": VALUES,
    "spool": VALUES,
    "read": {*VALUES, "formats", "frames", "spool"},
    "plugins": {*VALUES, "formats", "hookspecs", "redact", "view"},
    "render": {*VALUES, "view"},
    "store": {*VALUES, "frames", "prices"},
    "export": {*VALUES, "view", "render", "redact", "store", "publish", "library"},
    "site": {*VALUES, "view", "render", "store", "library", "export"},
    "charts": {*VALUES, "view", "render"},
    "overview": VALUES,
    "stats": {*VALUES, "sources", "store"},
    "checklog": {*VALUES, "frames", "formats"},
    "ingest": {
        *VALUES,
        "formats",
        "frames",
        "plugins",
        "prices",
        "sources",
        "packed",
        "read",
        "spool",
        "derive",
        "store",
    },
    "library": {*VALUES, "formats", "plugins", "ingest", "derive", "store"},
    "check": {"errors", "redact", "publish", "export"},
    "publish": {*VALUES, "redact", "store"},
    "forget": {*VALUES, "ingest", "prices", "store"},
    "giveback": {*VALUES, "sources", "packed", "store"},
    "verify": {*VALUES, "formats", "plugins", "sources", "packed", "read", "derive", "ingest", "store"},
    "watch": {*VALUES, "plugins", "prices", "sources", "ingest"},
    "testing": {
        *VALUES,
        "formats",
        "frames",
        "prices",
        "sources",
        "read",
        "derive",
        "plugins",
        "ingest",
        "library",
        "store",
    },
    "cli": None,
    "__main__": {"cli"},
    "__init__": {"errors", "hookspecs", "library", "model"},
}


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_no_package_imports_a_front_end_it_must_not_know():
    wrong = [
        f"{file}: {name}"
        for package, folder in PACKAGES.items()
        for file in folder.rglob("*.py")
        for name in imported(file)
        if name.split(".")[0] in FOREIGN[package]
    ]
    assert not wrong


def test_every_arrow_between_rooms_of_the_core_is_an_allowed_one():
    top = PACKAGES["clm_sessions"]
    seen, wrong = set(), []
    for file in top.rglob("*.py"):
        room = file.relative_to(top).parts[0].removesuffix(".py")
        seen.add(room)
        allowed = ROOMS[room]
        for name in imported(file):
            parts = name.split(".")
            if (
                parts[0] != "clm_sessions"
                or len(parts) < 2
                or not ((top / parts[1]).is_dir() or (top / f"{parts[1]}.py").exists())
            ):
                continue
            if allowed is not None and parts[1] not in {room, *allowed}:
                wrong.append(f"{file.relative_to(top)} imports {parts[1]}")
    assert not wrong
    assert seen == set(ROOMS), "docs/design.md and this table name every room"
