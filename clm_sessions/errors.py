"""The exceptions that cross a room's border.

ClmError
├── UsageError        the caller asked for something that cannot be (also a missing extra)
├── NoSessionError    no such session, or more than one
├── NotALogError      no format claims a file the caller named
├── DatabaseError     not our database, newer than us, locked, full, damaged
├── Refused           a format refuses a whole file; caught by the core and recorded as an issue
└── PluginError       a plugin raised or broke its promises; caught by the core and recorded as an issue

Bad input is data, not an exception: it becomes a ``model.Issue``. Messages are one line: what, where, what to do.
"""

from __future__ import annotations


class ClmError(Exception):
    """Base of all errors of this project; ``str()`` is one line for a person."""


class UsageError(ClmError):
    """The request cannot be met as put."""


class NoSessionError(ClmError):
    """No session has that id, or several have that prefix."""


class NotALogError(ClmError):
    """No format recognises the file."""


class DatabaseError(ClmError):
    """The database cannot be used."""


class Refused(ClmError):  # noqa: N818 - a refusal is an outcome, not an error
    """A format refuses the whole file (clm: a newer format version)."""


class PluginError(ClmError):
    """A plugin raised, or gave back what its interface does not allow."""

    @classmethod
    def of(cls, plugin: str, what: str, error: BaseException) -> PluginError:
        """The error for what ``plugin`` raised in its method ``what``."""
        return cls(f"plugin {plugin}: {what}: {one_line(error)}")


def one_line(error: BaseException) -> str:
    """``ValueError: what it says``, in one line of at most 500 characters."""
    text = "".join(c if c.isprintable() else " " for c in str(error))
    return f"{type(error).__name__}: {' '.join(text.split())}".rstrip(": ")[:500]


def plain(text: str) -> str:
    """Text on one line that cannot move the cursor or reorder what stands beside it."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
