"""Sessions and tables as files: Markdown, JSON, one HTML page, CSV, JSON Lines, Parquet.

``redacted`` makes of a session one that others may see; what is written as it is says that it is private.
"""

from clm_sessions.export.controls import Start
from clm_sessions.export.html import to_html
from clm_sessions.export.redacted import PRIVATE, Written, redacted
from clm_sessions.export.session import to_json, to_markdown

__all__ = ["PRIVATE", "Start", "Written", "redacted", "to_html", "to_json", "to_markdown"]
