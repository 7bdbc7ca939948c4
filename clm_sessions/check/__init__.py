"""Look through anything that is about to be seen by others: secrets in it, what is private, and settings that leave doors open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from clm_sessions.check.database import check_database, is_database
from clm_sessions.check.files import PRIVATE_PAGE, private_page, texts
from clm_sessions.check.findings import Finder, Finding
from clm_sessions.check.web import check_site
from clm_sessions.errors import UsageError
from clm_sessions.export.redacted import PRIVATE
from clm_sessions.redact import Redactor

__all__ = ["Finding", "check"]

_JOURNALS = ("-wal", "-shm", "-journal")


def check(target: str, redactors: Sequence[Redactor]) -> Iterator[Finding]:
    """All that is wrong with a file, a folder, or a site on this machine (``http://127.0.0.1:8001/``).

    UsageError if there is no such thing, or the site is on another machine.
    """
    finder = Finder(redactors)
    if target.startswith(("http://", "https://")):
        yield from check_site(target, finder)
        return
    path = Path(target)
    if not path.exists():
        raise UsageError(
            f"{target}: no such file or folder; name what is to be checked, or an address http://127.0.0.1:…"
        )
    if path.is_dir():
        for each in sorted(path.rglob("*")):
            yield from _entry(each, finder)
    else:
        yield from _entry(path, finder)


def _entry(path: Path, finder: Finder) -> Iterator[Finding]:
    if path.is_symlink():
        yield Finding(place=str(path), kind="link", what="a link: what it leads to was not checked")
    elif path.is_file() and not _beside(path):
        try:
            yield from check_database(path, finder) if is_database(path) else _file(path, finder)
        except OSError as error:
            yield Finding(place=str(path), kind="unread", what=f"not checked: {error.strerror}")
    elif not path.is_dir() and not path.is_file():
        yield Finding(place=str(path), kind="unread", what="not checked: neither a file nor a folder")


def _beside(path: Path) -> bool:
    """Whether a file is the journal of a database, which is told of with its database."""
    ending = next((end for end in _JOURNALS if path.name.endswith(end)), None)
    return ending is not None and is_database(path.with_name(path.name.removesuffix(ending)))


def _file(path: Path, finder: Finder) -> Iterator[Finding]:
    data = path.read_bytes()
    if PRIVATE.encode() in data:
        yield Finding(place=str(path), kind="private", what="a session as it was written; export it without --private")
    elif private_page(data):
        yield Finding(place=str(path), kind="private", what=PRIVATE_PAGE)
    for place, text in texts(path.name, data):
        yield from finder(f"{path}{place}", text)
