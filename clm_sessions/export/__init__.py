"""Sessions and tables as files: Markdown, JSON, one HTML page, CSV, JSON Lines, Parquet. Nothing is redacted here."""

from clm_sessions.export.session import PRIVATE, to_html, to_json, to_markdown

__all__ = ["PRIVATE", "to_html", "to_json", "to_markdown"]
