"""Settings for a Datasette that serves a published file: those that close what Datasette leaves open by itself."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

SETTINGS = {"allow_download": "off", "default_allow_sql": "off", "suggest_facets": "off", "allow_csv_stream": "off"}
"""No download of the file, no SQL of strangers, no scan of whole tables on 0.65, no endless CSV."""


def metadata(out: Path) -> dict[str, Any]:
    """Metadata for either line of Datasette: what the file is, and no SQL, whatever the command line says."""
    about = "Sessions of AI agents, redacted by clm-sessions. Whoever finds a secret in them should tell the owner."
    return {"databases": {out.stem: {"description": about, "allow_sql": False}}}


def metadata_path(out: Path) -> Path:
    """Where the metadata of a published file lie."""
    return out.with_name(f"{out.stem}.metadata.json")


def write_metadata(out: Path) -> Path:
    """Write the metadata beside the file, over what was written before."""
    path = metadata_path(out)
    path.write_text(json.dumps(metadata(out), indent=2) + "\n", "utf-8")
    return path


def command(out: Path, *, with_metadata: bool = False) -> str:
    """The command that serves a published file, for a shell.

    It is run in the folder of the file: Datasette tells everybody the path that it was given (``/-/databases``).
    """
    words = ["datasette", "serve", "--immutable", out.name]
    words += ["--metadata", metadata_path(out).name] if with_metadata else []
    for name, value in SETTINGS.items():
        words += ["--setting", name, value]
    there = f"cd {shlex.quote(str(out.parent))} && " if out.parent != Path() else ""
    return there + shlex.join(words)
