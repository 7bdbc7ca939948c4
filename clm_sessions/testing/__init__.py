"""A kit for those who write a format: ``check_format`` holds it against the promises of docs/plugins.md.

It needs no test framework. A promise that is not kept is an AssertionError that names the promise and the log and,
where chance was involved, the bytes to see it again.
"""

from clm_sessions.testing.kit import Checked, check_format

__all__ = ["Checked", "check_format"]
